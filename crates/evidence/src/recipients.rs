//! Whom originals are sealed to, as the ledger tells it, and who approves.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::approver::{ApproverKey, are_lines, is_approvers, text_of};
use crate::error::LedgerError;
use crate::files;
use crate::identity::{Recipient, Recipients};
use crate::key::{VerifierKey, decode_signature};
use crate::ledger::{Ledger, io_error};
use crate::record::{Kind, Record};
use crate::tail::backwards;
use crate::tree::Digest;
use crate::verify::read;

/// The first line of what an approver signs when it hands over to another.
const CONTEXT: &str = "noesc.recipients/1";

/// What a `recipients` event says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum RecipientsAction {
    /// These are the first.
    Init,
    /// The configuration names others, and nobody has confirmed it.
    Changed,
    /// Whoever has the identity of the old ones has confirmed these.
    Confirmed,
    /// These are new, and the identity of the old ones is lost.
    Lost,
}

/// What a `recipients` event holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Event {
    action: RecipientsAction,
    recipients: Vec<String>,
    fingerprints: Vec<String>,
    /// The fingerprints that were confirmed before.
    from: Vec<String>,
    approver: Option<String>,
    /// The signature of the approver before, where another one is named.
    signature: Option<String>,
}

impl Event {
    /// What the approver before signs; `None` where nothing can be signed.
    fn signed(&self, before: &Binding) -> Option<String> {
        let approver = self.approver.as_deref()?;
        let (recipients, ledger) = (self.recipients.join(","), before.record.to_string());
        let lines = [("recipients", &*recipients), ("approver", approver), ("ledger", &*ledger)];
        are_lines(&lines).then(|| text_of(CONTEXT, &lines))
    }
}

/// Who approves, and the record that says so: its hash is what decisions of this ledger name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The approver's key.
    pub approver: VerifierKey,
    /// The hash of the record that named it.
    pub record: Digest,
}

/// Finds who approves, record by record from the first. The first approver that is named is bound;
/// another one has to be named with the signature of the one before.
#[derive(Clone, Debug, Default)]
pub struct Approvers {
    bound: Option<Binding>,
    refused: Vec<u64>,
}

impl Approvers {
    /// Takes the next record.
    pub fn take(&mut self, record: &Record<'_>) {
        if record.kind != Kind::Recipients.as_str() {
            return;
        }
        let event = serde_json::from_str::<Event>(record.event).ok();
        let named = event.as_ref().and_then(|event| event.approver.as_deref());
        let (Some(event), Some(named)) = (&event, named) else { return };
        let approver = VerifierKey::parse(named).ok().filter(is_approvers);
        let is_bound = match (&approver, &self.bound) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(named), Some(bound)) if *named == bound.approver => return,
            (Some(_), Some(bound)) => {
                let signature = event.signature.as_deref().and_then(decode_signature);
                let signed = event.signed(bound).zip(signature);
                signed.is_some_and(|(text, by)| bound.approver.verify(text.as_bytes(), &by))
            }
        };
        match approver.filter(|_| is_bound) {
            Some(approver) => self.bound = Some(Binding { approver, record: record.hash() }),
            None => self.refused.push(record.index),
        }
    }

    /// Who approves by now.
    pub fn bound(&self) -> Option<&Binding> {
        self.bound.as_ref()
    }

    /// The records that name an approver without a right to.
    pub fn refused(&self) -> &[u64] {
        &self.refused
    }
}

/// Who approves, after the whole ledger has been verified.
pub fn bound_approver(
    path: &Path,
    key: &VerifierKey,
    wait: Duration,
) -> Result<Option<Binding>, LedgerError> {
    let mut approvers = Approvers::default();
    read(path, key, wait, |record, _| approvers.take(record))?;
    Ok(approvers.bound)
}

/// The recipients that were confirmed last, after the whole ledger has been verified.
pub fn confirmed_recipients(
    path: &Path,
    key: &VerifierKey,
    wait: Duration,
) -> Result<Vec<Recipient>, LedgerError> {
    let mut texts = Vec::new();
    read(path, key, wait, |record, _| {
        if record.kind != Kind::Recipients.as_str() {
            return;
        }
        match serde_json::from_str::<Event>(record.event) {
            Ok(event) if event.action != RecipientsAction::Changed => texts = event.recipients,
            _ => {}
        }
    })?;
    Ok(texts.iter().filter_map(|text| text.parse().ok()).collect())
}

/// What becomes of recipients and approver.
#[derive(Clone, Copy, Debug)]
pub struct RecipientsChange<'a> {
    /// What is told.
    pub action: RecipientsAction,
    /// Whom is sealed to from now on; nobody where it is empty.
    pub recipients: &'a [Recipient],
    /// The fingerprints that were confirmed before.
    pub from: &'a [String],
    /// Who approves from now on; nothing is said of it without one.
    pub approver: Option<&'a VerifierKey>,
    /// Who has approved up to now and hands over.
    pub before: Option<&'a ApproverKey>,
}

/// Writes a `recipients` record.
pub fn append_recipients(
    ledger: &mut Ledger<'_>,
    time: SystemTime,
    change: &RecipientsChange<'_>,
) -> Result<u64, LedgerError> {
    let mut fingerprints: Vec<_> = change.recipients.iter().map(Recipient::fingerprint).collect();
    fingerprints.sort();
    let mut event = Event {
        action: change.action,
        recipients: change.recipients.iter().map(ToString::to_string).collect(),
        fingerprints,
        from: change.from.to_vec(),
        approver: change.approver.map(ToString::to_string),
        signature: None,
    };
    if let Some(before) = change.before {
        let mut approvers = Approvers::default();
        ledger.read(|record| approvers.take(record))?;
        let text = approvers.bound().and_then(|bound| event.signed(bound));
        event.signature = text.map(|text| before.sign(&text));
    }
    ledger.append(time, Kind::Recipients, &event)
}

/// What the ledger says of the recipients that are configured.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecipientsState {
    /// It knows of none.
    Unset,
    /// They are those that it knows.
    Same,
    /// They are others, and nobody has confirmed it.
    Changed {
        /// The fingerprints that it knows.
        from: Vec<String>,
        /// The fingerprints that are configured.
        to: Vec<String>,
        /// Whether a `recipients` record says so already.
        is_recorded: bool,
    },
}

/// Compares the recipients that are configured with what the ledger says, from its end: the last
/// run or the last change tells, and no more is read. A ledger that is not there knows of none.
pub fn recipients_state(
    path: &Path,
    key: &VerifierKey,
    configured: Option<&Recipients>,
    wait: Duration,
) -> Result<RecipientsState, LedgerError> {
    let to = configured.map(Recipients::fingerprints).unwrap_or_default();
    let file = match files::open(path, OpenOptions::new().read(true)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Known::default().state(to));
        }
        other => other.map_err(io_error("open", path))?,
    };
    if !file.metadata().map_err(io_error("read", path))?.is_file() {
        return Err(LedgerError::NotAFile { path: path.to_owned() });
    }
    if !files::lock(&file, true, wait).map_err(io_error("lock", path))? {
        return Err(LedgerError::Busy { path: path.to_owned(), waited: wait });
    }
    let len = file.metadata().map_err(io_error("read", path))?.len();
    files::unlock(&file).map_err(io_error("lock", path))?;
    state_of(&file, len, key, configured).map_err(io_error("read", path))
}

/// The same of a ledger that is open, up to its end.
pub(crate) fn state_of(
    file: &File,
    end: u64,
    key: &VerifierKey,
    configured: Option<&Recipients>,
) -> io::Result<RecipientsState> {
    let mut known = Known::default();
    backwards(file, end, |line| known.take(line, key))?;
    Ok(known.state(configured.map(Recipients::fingerprints).unwrap_or_default()))
}

/// What the last records say of recipients.
#[derive(Debug, Default)]
struct Known {
    /// The confirmed fingerprints, once they are known.
    confirmed: Option<Vec<String>>,
    /// The fingerprints of a change that is not confirmed.
    changed: Option<Vec<String>>,
}

/// What of a `run` event says whom it was sealed to.
#[derive(Deserialize)]
struct Ran {
    #[serde(default)]
    recipients: Vec<String>,
    #[serde(default)]
    recipients_changed: bool,
}

impl Known {
    /// Takes a record, from the last; `false` when enough is known. What is none, as the torn end
    /// of a ledger, says nothing; neither does what the key has not signed.
    fn take(&mut self, line: &[u8], key: &VerifierKey) -> bool {
        let Ok(record) = Record::parse(line) else { return true };
        if record.kind == Kind::Run.as_str() {
            let Ok(ran) = serde_json::from_str::<Ran>(record.event) else { return true };
            if ran.recipients_changed || record.check_signature(key).is_err() {
                return true;
            }
            self.confirmed = Some(sorted(ran.recipients));
            return false;
        }
        if record.kind != Kind::Recipients.as_str() || record.check_signature(key).is_err() {
            return true;
        }
        let Ok(event) = serde_json::from_str::<Event>(record.event) else { return true };
        self.confirmed = match event.action {
            RecipientsAction::Changed => {
                self.changed = Some(sorted(event.fingerprints));
                Some(sorted(event.from))
            }
            _ => Some(sorted(event.fingerprints)),
        };
        false
    }

    fn state(&self, to: Vec<String>) -> RecipientsState {
        match &self.confirmed {
            Some(known) if *known == to => match to.is_empty() {
                true => RecipientsState::Unset,
                false => RecipientsState::Same,
            },
            Some(known) if !known.is_empty() => {
                let is_recorded = self.changed.as_ref() == Some(&to);
                RecipientsState::Changed { from: known.clone(), to, is_recorded }
            }
            _ => RecipientsState::Unset,
        }
    }
}

fn sorted(mut fingerprints: Vec<String>) -> Vec<String> {
    fingerprints.sort();
    fingerprints
}

#[cfg(test)]
mod tests;
