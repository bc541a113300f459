//! What somebody thinks of a run that is over. It never changes what the record of the run says.

use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::{DecisionError, Given, NAME_BYTES, escaped, sign};
use crate::approver::ApproverKey;
use crate::error::LedgerError;
use crate::key::VerifierKey;
use crate::ledger::Ledger;
use crate::moment;
use crate::record::{Kind, Record};
use crate::tree::Digest;
use crate::verify::read;

/// What was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// It is all right.
    Approved,
    /// It is not.
    Denied,
}

impl Ruling {
    /// The word in the record.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Denied => "denied",
        }
    }
}

/// A verdict on a run.
#[derive(Clone, Copy, Debug)]
pub struct Verdict<'a> {
    /// The whole id of the run.
    pub run: &'a str,
    /// What was decided.
    pub ruling: Ruling,
    /// Who decided, and why.
    pub given: Given<'a>,
    /// When.
    pub created: SystemTime,
}

#[derive(Serialize)]
struct Event {
    action: &'static str,
    run: String,
    record: String,
    verdict: &'static str,
    who: String,
    reason: String,
    created: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    approver: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    claimed: bool,
}

impl Event {
    fn lines(&self) -> [(&'static str, &str); 7] {
        [
            ("action", self.action),
            ("run", &self.run),
            ("record", &self.record),
            ("verdict", self.verdict),
            ("who", &self.who),
            ("reason", &self.reason),
            ("created", &self.created),
        ]
    }
}

/// What of a `run` event says which run it is.
#[derive(Deserialize)]
struct Ran {
    run: String,
}

impl Ran {
    fn of(record: &Record<'_>) -> Option<Self> {
        let is_run = record.kind == Kind::Run.as_str();
        is_run.then(|| serde_json::from_str(record.event).ok()).flatten()
    }
}

/// The word for the run that was recorded last.
const LAST: &str = "last";

/// The ids of the runs in a ledger that begin so, or of the last one, in the order of the ledger.
/// Two are enough to know that there are several.
pub fn find_runs(
    path: &Path,
    key: &VerifierKey,
    part: &str,
    wait: Duration,
) -> Result<Vec<String>, LedgerError> {
    let (mut found, mut last) = (Vec::new(), None);
    read(path, key, wait, |record, _| {
        let Some(Ran { run }) = Ran::of(record) else { return };
        if run.starts_with(part) && found.len() < 2 && !found.contains(&run) {
            found.push(run.clone());
        }
        last = Some(run);
    })?;
    Ok(if part == LAST { last.into_iter().collect() } else { found })
}

/// Writes a verdict, which names the ledger's record of the run by its hash. With a key it is
/// signed, and has to be the key of the approver of the ledger; without, it is only claimed.
pub fn append_verdict(
    ledger: &mut Ledger<'_>,
    verdict: &Verdict<'_>,
    key: Option<&ApproverKey>,
) -> Result<Digest, DecisionError> {
    let mut record = None;
    ledger.read(|seen| {
        if Ran::of(seen).is_some_and(|ran| ran.run == verdict.run) {
            record = Some(seen.hash());
        }
    })?;
    let record = record.ok_or(DecisionError::UnknownRun)?;
    let mut event = Event {
        action: "verdict",
        // As it stands in the ledger; a run's id is a word.
        run: escaped(verdict.run, NAME_BYTES),
        record: record.to_string(),
        verdict: verdict.ruling.as_str(),
        who: verdict.given.who(),
        reason: verdict.given.reason()?,
        created: moment::render(verdict.created),
        approver: None,
        signature: None,
        claimed: key.is_none(),
    };
    if let Some((bound, signature)) = sign(ledger, key, &event.lines())? {
        event.approver = Some(bound.approver.to_string());
        event.signature = Some(signature);
    }
    ledger.append(verdict.created, Kind::Decision, &event)?;
    Ok(record)
}
