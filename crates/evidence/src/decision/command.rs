//! That a command may run: once, in one folder, under one policy, and not for long.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use noesc_text::AuditEscape;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    CLOCK_AHEAD_MAX, DECISION_LASTS_MAX, DecisionError, Given, SHOWN_BYTES, cut, escaped, is_id,
    is_signed, new_id, sign,
};
use crate::approver::ApproverKey;
use crate::key::VerifierKey;
use crate::ledger::Ledger;
use crate::moment;
use crate::recipients::{Approvers, Binding};
use crate::record::{Kind, Record};
use crate::tree::Digest;
use crate::verify::read;

/// Bytes of a run's id in a record.
const RUN_BYTES: usize = 64;

/// Decisions of the same id that are looked at. One is right; whoever writes more wants to hide it.
const SAME_ID_MAX: usize = 64;

/// What is to be run.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The command and its arguments.
    pub argv: &'a [OsString],
    /// The folder that it runs in.
    pub cwd: &'a Path,
    /// What names the settings and limits that it runs under: printable ASCII.
    pub policy: &'a str,
}

impl Asked<'_> {
    /// The digest of all arguments, each behind its length.
    fn digest(&self) -> String {
        let mut bytes = Vec::new();
        for argument in self.argv {
            bytes.extend((argument.len() as u64).to_be_bytes());
            bytes.extend(argument.as_bytes());
        }
        Digest::of(&bytes).to_string()
    }

    /// The command as people read it: each argument escaped and between quotes, with a blank
    /// between them. Printable ASCII, at most four times as long as the arguments, and quotes.
    ///
    /// ```
    /// use noesc_evidence::Asked;
    ///
    /// let argv = ["echo".into(), "a\" \u{1b}[2J".into()];
    /// let asked = Asked { argv: &argv, cwd: "/".as_ref(), policy: "" };
    /// assert_eq!(asked.command(), r#""echo" "a\x22 \x1b[2J""#);
    /// ```
    #[must_use]
    pub fn command(&self) -> String {
        let words = self.argv.iter().map(|word| {
            // A quote within an argument is none that ends it.
            format!("\"{}\"", AuditEscape(word.as_bytes()).to_string().replace('"', "\\x22"))
        });
        words.collect::<Vec<_>>().join(" ")
    }

    fn folder(&self) -> String {
        AuditEscape(self.cwd.as_os_str().as_bytes()).to_string()
    }

    fn policy(&self) -> String {
        escaped(self.policy, SHOWN_BYTES)
    }
}

/// A decision that a command may run.
#[derive(Clone, Copy, Debug)]
pub struct CommandDecision<'a> {
    /// What may run.
    pub asked: Asked<'a>,
    /// Who says so, and why.
    pub given: Given<'a>,
    /// When.
    pub created: SystemTime,
    /// How long it holds.
    pub lasts: Duration,
}

/// What the ledger holds of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Event {
    action: String,
    id: String,
    verdict: String,
    argv_sha256: String,
    argv: String,
    cwd: String,
    policy: String,
    who: String,
    reason: String,
    created: String,
    expires: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    approver: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    claimed: bool,
}

const ACTION: &str = "command";
const APPROVED: &str = "approved";

impl Event {
    fn lines(&self) -> [(&'static str, &str); 11] {
        [
            ("action", &self.action),
            ("id", &self.id),
            ("verdict", &self.verdict),
            ("argv_sha256", &self.argv_sha256),
            ("argv", &self.argv),
            ("cwd", &self.cwd),
            ("policy", &self.policy),
            ("who", &self.who),
            ("reason", &self.reason),
            ("created", &self.created),
            ("expires", &self.expires),
        ]
    }

    /// Whether it allows what is asked now.
    fn judge(
        &self,
        bound: &Binding,
        asked: &Asked<'_>,
        (now, later): (SystemTime, &str),
    ) -> Result<(), DecisionError> {
        let signature = self.signature.as_deref().ok_or(DecisionError::Claimed)?;
        let moments = [&self.created, &self.expires];
        if self.verdict != APPROVED
            || !is_signed(&self.lines(), signature, bound)
            || !moments.iter().all(|text| moment::is_moment(text))
        {
            return Err(DecisionError::Signature);
        }
        // Moments in the form are in the order of their texts.
        if self.created > moment::render(now + CLOCK_AHEAD_MAX) {
            return Err(DecisionError::Early { created: self.created.clone() });
        }
        let now = moment::render(now);
        if self.expires.as_str() <= now.as_str().max(later) {
            return Err(DecisionError::Expired { until: self.expires.clone() });
        }
        if self.argv_sha256 != asked.digest() {
            return Err(DecisionError::Command { expected: self.argv.clone() });
        }
        if self.cwd != asked.folder() {
            return Err(DecisionError::Folder { expected: self.cwd.clone() });
        }
        if self.policy != asked.policy() { Err(DecisionError::Policy) } else { Ok(()) }
    }
}

/// Writes the decision that a command may run, and returns its id. With a key it is signed, and has
/// to be the key of the approver of the ledger; without, it is only claimed.
pub fn decide_command(
    ledger: &mut Ledger<'_>,
    decision: &CommandDecision<'_>,
    key: Option<&ApproverKey>,
) -> Result<String, DecisionError> {
    let CommandDecision { asked, given, created, lasts } = *decision;
    if lasts.is_zero() || lasts > DECISION_LASTS_MAX {
        return Err(DecisionError::Lasts);
    }
    let mut event = Event {
        action: ACTION.into(),
        id: new_id()?,
        verdict: APPROVED.into(),
        argv_sha256: asked.digest(),
        argv: cut(asked.command(), SHOWN_BYTES),
        cwd: asked.folder(),
        policy: asked.policy(),
        who: given.who(),
        reason: given.reason()?,
        created: moment::render(created),
        expires: moment::render(created + lasts),
        approver: None,
        signature: None,
        claimed: key.is_none(),
    };
    if let Some((bound, signature)) = sign(ledger, key, &event.lines())? {
        event.approver = Some(bound.approver.to_string());
        event.signature = Some(signature);
    }
    ledger.append(created, Kind::Decision, &event)?;
    Ok(event.id)
}

/// A decision that allows what was asked. Its texts are of whoever signed it: escape them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Grant {
    /// Its id.
    pub id: String,
    /// Who decided.
    pub who: String,
    /// Why.
    pub reason: String,
    /// Until when it holds.
    pub expires: String,
}

/// Looks for a decision in a verified ledger.
#[derive(Debug, Default)]
struct Search<'a> {
    id: &'a str,
    approvers: Approvers,
    found: Vec<Event>,
    is_used: bool,
    /// The latest moment of a record since it was found: it is no earlier than that now, whatever
    /// the clock says.
    later: String,
}

/// What of a decision's event says which one it is of.
#[derive(Deserialize)]
struct Named {
    action: String,
    id: Option<String>,
    decision: Option<String>,
}

impl<'a> Search<'a> {
    fn new(id: &'a str) -> Result<Self, DecisionError> {
        if is_id(id) { Ok(Self { id, ..Self::default() }) } else { Err(DecisionError::Id) }
    }

    fn take(&mut self, record: &Record<'_>) {
        self.approvers.take(record);
        if !self.found.is_empty() && record.time > self.later.as_str() {
            record.time.clone_into(&mut self.later);
        }
        if record.kind != Kind::Decision.as_str() {
            return;
        }
        let Ok(named) = serde_json::from_str::<Named>(record.event) else { return };
        if named.action == USED && named.decision.as_deref() == Some(self.id) {
            self.is_used = true;
        }
        let is_it = named.action == ACTION && named.id.as_deref() == Some(self.id);
        if is_it && self.found.len() < SAME_ID_MAX {
            self.found.extend(serde_json::from_str::<Event>(record.event));
        }
    }

    fn judge(self, asked: &Asked<'_>, now: SystemTime) -> Result<Grant, DecisionError> {
        let first = self.found.first().ok_or(DecisionError::Unknown)?;
        let Some(bound) = self.approvers.bound() else {
            let is_signed = first.signature.is_some();
            return Err(if is_signed { DecisionError::NoApprover } else { DecisionError::Claimed });
        };
        let mut refused = None;
        for event in self.found {
            match event.judge(bound, asked, (now, &self.later)) {
                Ok(()) if self.is_used => return Err(DecisionError::Used),
                Ok(()) => {
                    let Event { id, who, reason, expires, .. } = event;
                    return Ok(Grant { id, who, reason, expires });
                }
                // What the approver has signed says more than what others wrote beside it.
                Err(DecisionError::Signature | DecisionError::Claimed) if refused.is_some() => {}
                Err(error) => refused = Some(error),
            }
        }
        Err(refused.unwrap_or(DecisionError::Unknown))
    }
}

const USED: &str = "used";

/// Whether a decision allows what is asked now. The whole ledger is verified.
pub fn check(
    (path, key): (&Path, &VerifierKey),
    id: &str,
    asked: &Asked<'_>,
    now: SystemTime,
    wait: Duration,
) -> Result<Grant, DecisionError> {
    let mut search = Search::new(id)?;
    read(path, key, wait, |record, _| search.take(record))?;
    search.judge(asked, now)
}

/// Looks once more whether a decision allows what is asked, while nobody else can write, and uses
/// it up: from then on it allows nothing, also when we end here. `run` is the id of the run, if it
/// has one already.
pub fn use_up(
    ledger: &mut Ledger<'_>,
    id: &str,
    asked: &Asked<'_>,
    run: Option<&str>,
    now: SystemTime,
) -> Result<Grant, DecisionError> {
    let mut search = Search::new(id)?;
    ledger.read(|record| search.take(record))?;
    let grant = search.judge(asked, now)?;
    let run = run.map(|run| escaped(run, RUN_BYTES));
    ledger.append(now, Kind::Decision, &json!({"action": USED, "decision": id, "run": run}))?;
    Ok(grant)
}
