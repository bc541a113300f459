//! Why there is no decision that counts.

use std::fmt;

use noesc_text::AuditEscape;

use super::{DECISION_LASTS_MAX, REASON_BYTES_MAX};
use crate::error::LedgerError;

/// Why a decision could not be made, or does not count.
#[derive(Debug)]
#[non_exhaustive]
pub enum DecisionError {
    /// The ledger is of no use.
    Ledger(LedgerError),
    /// The system gave no random bytes.
    Randomness,
    /// The reason is empty, or has more than [`REASON_BYTES_MAX`] bytes.
    Reason {
        /// How many it has.
        found: usize,
    },
    /// It would hold for no time, or for longer than [`DECISION_LASTS_MAX`].
    Lasts,
    /// The text is no id of a decision.
    Id,
    /// The ledger has no decision of the id.
    Unknown,
    /// The ledger has no run of the id.
    UnknownRun,
    /// Nobody has signed it.
    Claimed,
    /// The ledger names no approver.
    NoApprover,
    /// The key is not the one of the approver that the ledger names.
    OtherApprover {
        /// The approver of the ledger.
        expected: String,
        /// The key.
        found: String,
    },
    /// The approver that the ledger names has not signed it, or not for this ledger.
    Signature,
    /// It was used before.
    Used,
    /// It holds no longer.
    Expired {
        /// Until when it held.
        until: String,
    },
    /// By our clock it is not made yet.
    Early {
        /// When it was made.
        created: String,
    },
    /// It is for another command.
    Command {
        /// The command that it is for, escaped and cut.
        expected: String,
    },
    /// It is for another folder.
    Folder {
        /// The folder that it is for, escaped.
        expected: String,
    },
    /// It is for other settings and limits.
    Policy,
}

impl DecisionError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Ledger(error) => error.hint(),
            Self::Randomness => "try again",
            Self::Reason { .. } => "say in a sentence why: --reason TEXT",
            Self::Lasts => "say how long it holds: --expires 1h",
            Self::Id | Self::Unknown => {
                "it is what \"noesc decide --command\" prints: 32 hex digits"
            }
            Self::UnknownRun => "\"noesc ledger show\" lists the runs",
            Self::Claimed => "let the approver decide, without --unsigned",
            Self::NoApprover => "name an approver first: noesc init --approver FILE",
            Self::OtherApprover { .. } => "use the file of the approver that the ledger names",
            Self::Signature => "let the approver that the ledger names decide",
            Self::Used | Self::Expired { .. } => "ask for a new decision",
            Self::Early { .. } => "put the clock right",
            Self::Command { .. } => "a decision is for one command, argument for argument",
            Self::Folder { .. } => "run it in the folder that it was decided for",
            Self::Policy => "run it with the settings and limits that it was decided with",
        }
    }

    /// A word for records.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Ledger(_) => "ledger",
            Self::Randomness => "randomness",
            Self::Reason { .. } => "reason",
            Self::Lasts => "lasts",
            Self::Id => "id",
            Self::Unknown => "unknown",
            Self::UnknownRun => "unknown-run",
            Self::Claimed => "claimed",
            Self::NoApprover => "no-approver",
            Self::OtherApprover { .. } => "other-approver",
            Self::Signature => "signature",
            Self::Used => "used",
            Self::Expired { .. } => "expired",
            Self::Early { .. } => "early",
            Self::Command { .. } => "command",
            Self::Folder { .. } => "folder",
            Self::Policy => "policy",
        }
    }
}

impl fmt::Display for DecisionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |text: &str| AuditEscape(text.as_bytes()).to_string();
        match self {
            Self::Ledger(error) => write!(f, "{error}"),
            Self::Randomness => write!(f, "expected random bytes of the system, found none"),
            Self::Reason { found } => write!(
                f,
                "expected a reason of 1 to {REASON_BYTES_MAX} bytes, found one of {found}"
            ),
            Self::Lasts => {
                let days = DECISION_LASTS_MAX.as_secs() / (24 * 3600);
                write!(f, "expected a decision that holds for some time, at most {days} days")
            }
            Self::Id => write!(f, "expected the id of a decision, found another text"),
            Self::Unknown => write!(f, "the ledger has no decision of this id on a command"),
            Self::UnknownRun => write!(f, "the ledger has no run of this id"),
            Self::Claimed => write!(f, "the decision is claimed: no approver has signed it"),
            Self::NoApprover => write!(f, "the ledger names no approver"),
            Self::OtherApprover { expected, found } => {
                let (expected, found) = (shown(expected), shown(found));
                write!(f, "expected the key of the approver {expected}, found {found}")
            }
            Self::Signature => {
                write!(f, "expected the signature of the approver of this ledger, found another")
            }
            Self::Used => write!(f, "the decision was used before"),
            Self::Expired { until } => write!(f, "the decision held until {}", shown(until)),
            Self::Early { created } => {
                write!(f, "the decision was made at {}, which is to come", shown(created))
            }
            Self::Command { expected } => {
                write!(f, "the decision is for another command: '{}'", shown_again(expected))
            }
            Self::Folder { expected } => {
                write!(f, "the decision is for another folder: '{}'", shown_again(expected))
            }
            Self::Policy => write!(f, "the decision is for other settings or limits"),
        }
    }
}

/// A text that its approver has escaped. Whatever else stands there is escaped all the same.
fn shown_again(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| matches!(byte, 0x20..=0x7E));
    if is_plain { text.to_owned() } else { AuditEscape(text.as_bytes()).to_string() }
}

impl std::error::Error for DecisionError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Ledger(error) => Some(error),
            _ => None,
        }
    }
}
