//! Keys, decisions and the ledger: `init`, `decide`, `ledger`.

pub(crate) mod approved;
mod config_file;
mod decide;
mod init;
mod ledger;
pub(crate) mod passphrase;

use std::path::{Path, PathBuf};
use std::time::Duration;

use etcetera::BaseStrategy;
use noesc_evidence::{
    CheckpointError, CollectorKey, DecisionError, KeyError, Ledger, LedgerError, ProtectedError,
    RecipientError,
};

use crate::config::Config;
use crate::fail::{Failure, Result, escaped, reason};

pub(crate) use decide::{DecideArgs, decide};
pub(crate) use init::{InitArgs, configured, init};
pub(crate) use ledger::{LedgerArgs, ledger};

/// How long another writer of the ledger is waited for.
pub(crate) const WAIT: Duration = Duration::from_secs(10);

/// The folder of the store: a flag, a key of the configuration, or the platform's place.
pub(crate) fn root(flag: Option<&Path>, config: &Config) -> Result<PathBuf> {
    if let Some(named) = flag.or(config.given("store").map(Path::new)) {
        return Ok(named.to_path_buf());
    }
    let base = etcetera::choose_base_strategy().map_err(|_| {
        Failure::new("there is no place for the store: no home folder is known")
            .hint("set HOME, or name one: --store DIR")
    })?;
    let state = base.state_dir().unwrap_or_else(|| base.data_dir());
    Ok(state.join("noesc"))
}

/// The ledger of a store, and the key of its collector.
pub(crate) struct Store {
    pub(crate) ledger: PathBuf,
    pub(crate) key: CollectorKey,
}

impl Store {
    /// Opens the store, and makes what of it is missing.
    pub(crate) fn open(root: &Path) -> Result<Self> {
        let place = noesc_evidence::Store::at(root);
        place.prepare().map_err(|error| {
            Failure::io("can not use the store", root.as_os_str(), &error)
                .hint("give it to yourself alone (chmod 700), or name another folder: --store DIR")
        })?;
        Ok(Self { ledger: place.ledger_path(), key: place.key()? })
    }

    /// Opens a store that is there.
    pub(crate) fn existing(root: &Path) -> Result<Self> {
        let key = CollectorKey::load(&root.join("collector.key"))?;
        Ok(Self { ledger: root.join("ledger"), key })
    }

    pub(crate) fn write(&self) -> Result<Ledger<'_>> {
        Ok(Ledger::open(&self.ledger, &self.key, WAIT)?)
    }
}

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
