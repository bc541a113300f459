//! Decisions of people: that a command may run, that an original may be opened, what is thought of
//! a run.

mod command;
mod error;
mod open;
mod verdict;

use std::time::Duration;

use noesc_text::AuditEscape;

use crate::approver::{ApproverKey, are_lines, text_of};
use crate::error::LedgerError;
use crate::key::{VerifierKey, decode_signature};
use crate::ledger::Ledger;
use crate::recipients::{Approvers, Binding};

pub use command::{Asked, CommandDecision, Grant, check, decide_command, use_up};
pub use error::DecisionError;
#[cfg(test)]
use open::SEEN_MAX;
pub use open::{OpenDecision, append_open, append_refused, append_seen, append_shown};
pub use verdict::{Ruling, Verdict, append_verdict, find_runs};

/// Bytes of the reason of a decision, before they are escaped: some sentences.
pub const REASON_BYTES_MAX: usize = 4096;

/// How long a decision may hold: a week. What is approved is soon something else.
pub const DECISION_LASTS_MAX: Duration = Duration::from_secs(7 * 24 * 3600);

/// How far ahead of ours the clock may be that a decision was made by.
const CLOCK_AHEAD_MAX: Duration = Duration::from_secs(5 * 60);

/// Bytes of a name that a decision holds, before they are escaped.
const NAME_BYTES: usize = 256;

/// Bytes of an escaped command that a decision shows; its digest binds all of it.
const SHOWN_BYTES: usize = 4096;

/// The first line of what an approver signs when it decides.
const CONTEXT: &str = "noesc.decision/1";

/// Who made a decision and why. Neither has to be printable.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The name of whoever decided, as the system knows it.
    pub who: &'a str,
    /// The reason.
    pub reason: &'a str,
}

impl Given<'_> {
    fn who(&self) -> String {
        escaped(self.who, NAME_BYTES)
    }

    fn reason(&self) -> Result<String, DecisionError> {
        let found = self.reason.len();
        if (1..=REASON_BYTES_MAX).contains(&found) {
            Ok(escaped(self.reason, REASON_BYTES_MAX))
        } else {
            Err(DecisionError::Reason { found })
        }
    }
}

/// The first bytes of a text, escaped.
fn escaped(text: &str, bytes_max: usize) -> String {
    AuditEscape(&text.as_bytes()[..text.len().min(bytes_max)]).to_string()
}

/// A text that is escaped already, cut where no escape is.
fn cut(mut text: String, bytes_max: usize) -> String {
    if text.len() > bytes_max {
        let mut end = bytes_max;
        // An escape has four bytes, and a backslash stands nowhere else.
        if let Some(back) = text.as_bytes()[end - 3..end].iter().position(|&byte| byte == b'\\') {
            end -= 3 - back;
        }
        text.truncate(end);
        text.push_str("...");
    }
    text
}

/// 128 random bits, as 32 hex digits.
fn new_id() -> Result<String, DecisionError> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).map_err(|_| DecisionError::Randomness)?;
    Ok(format!("{:032x}", u128::from_be_bytes(bits)))
}

/// Whether a text is an id of a decision.
fn is_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The signature of the approver who is bound, over the lines of a decision, which name the record
/// that binds it. Nothing without a key.
fn sign(
    ledger: &Ledger<'_>,
    key: Option<&ApproverKey>,
    lines: &[(&str, &str)],
) -> Result<Option<(Binding, String)>, DecisionError> {
    let Some(key) = key else { return Ok(None) };
    let mut approvers = Approvers::default();
    ledger.read(|record| approvers.take(record))?;
    let bound = approvers.bound().ok_or(DecisionError::NoApprover)?;
    if bound.approver != *key.verifier() {
        let (expected, found) = (bound.approver.to_string(), key.verifier().to_string());
        return Err(DecisionError::OtherApprover { expected, found });
    }
    let signature = key.sign(&signed_text(lines, bound));
    Ok(Some((bound.clone(), signature)))
}

fn signed_text(lines: &[(&str, &str)], bound: &Binding) -> String {
    let (ledger, approver) = (bound.record.to_string(), bound.approver.to_string());
    text_of(CONTEXT, &[lines, &[("ledger", &*ledger), ("approver", &*approver)]].concat())
}

/// Whether the approver who is bound has signed the lines of a decision.
fn is_signed(lines: &[(&str, &str)], signature: &str, bound: &Binding) -> bool {
    let approver: &VerifierKey = &bound.approver;
    are_lines(lines)
        && decode_signature(signature).is_some_and(|signature| {
            approver.verify(signed_text(lines, bound).as_bytes(), &signature)
        })
}

impl From<LedgerError> for DecisionError {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}

#[cfg(test)]
mod tests;
