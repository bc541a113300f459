//! Keys, decisions and the ledger: `init`, `decide`, `ledger`.

pub(crate) mod approved;
mod config_file;
mod decide;
mod init;
mod ledger;
pub(crate) mod passphrase;

use noesc_evidence::{
    CheckpointError, DecisionError, KeyError, LedgerError, ProtectedError, RecipientError,
};

use crate::fail::{Failure, escaped, reason};

pub(crate) use decide::{DecideArgs, decide};
pub(crate) use init::{InitArgs, configured, init};
pub(crate) use ledger::{LedgerArgs, checkpoint_bytes, ledger};

/// What an error says, with the system's reason in our words. Its names are escaped already.
fn said(error: &(dyn std::error::Error + 'static)) -> String {
    let io = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
    let text = error.to_string();
    let text = io.map_or(text.clone(), |io| text.replace(&io.to_string(), &reason(io)));
    if text.bytes().all(|byte| matches!(byte, 0x20..=0x7E)) { text } else { escaped(text) }
}

macro_rules! failures {
    ($($error:ty),*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Failure::new(said(&error)).hint(error.hint())
            }
        }
    )*};
}

failures!(LedgerError, CheckpointError, KeyError, ProtectedError, RecipientError, DecisionError);

/// The name of whoever runs this, and the number that the system knows them by.
pub(crate) fn who() -> String {
    let name = ["LOGNAME", "USER"].into_iter().find_map(std::env::var_os);
    let name = name.map(|name| format!("{} ", name.to_string_lossy())).unwrap_or_default();
    format!("{name}(uid {})", rustix::process::getuid().as_raw())
}
