//! What is to be kept of runs, as the configuration says.

use std::path::Path;
use std::time::Duration;

use etcetera::BaseStrategy;
use noesc_evidence::{CollectorKey, Ledger, Policy, Quota, Store};
use noesc_session::Evidence;

use crate::config::Config;
use crate::evidence;
use crate::fail::{Failure, Result};
use crate::limits::{bytes, size_of, time};

/// Where everything is kept that outlives a run: where the configuration says, else by the
/// platform's convention; `None` without a home.
pub(crate) fn store(config: &Config) -> Option<Store> {
    if let Some(path) = config.given("store") {
        return Some(Store::at(path));
    }
    let base = etcetera::choose_base_strategy().ok()?;
    // Some platforms have no place for state of their own.
    let state = base.state_dir().unwrap_or_else(|| base.data_dir());
    Some(Store::at(state.join("noesc")))
}

/// The store of a flag, or else the one of [`store`], whether it is there or not.
///
/// # Errors
/// When there is no place for one.
pub(crate) fn placed(flag: Option<&Path>, config: &Config) -> Result<Store> {
    flag.map(Store::at).or_else(|| store(config)).ok_or_else(|| {
        Failure::new("there is no place for the store: no home folder is known")
            .hint("set HOME, or name one: --store DIR")
    })
}

/// A store, and the key of its collector.
pub(crate) struct OpenStore {
    pub(crate) place: Store,
    pub(crate) key: CollectorKey,
}

impl OpenStore {
    /// Opens a store, and makes what of it is missing.
    pub(crate) fn made(store: Store) -> Result<Self> {
        store.prepare().map_err(|error| unusable(&store, &error))?;
        Ok(Self { key: store.key()?, place: store })
    }

    /// Opens a store that is there.
    pub(crate) fn existing(store: Store) -> Result<Self> {
        Ok(Self { key: CollectorKey::load(&store.key_path())?, place: store })
    }

    /// The ledger, for writing.
    pub(crate) fn write(&self) -> Result<Ledger<'_>> {
        Ok(self.place.ledger(&self.key)?)
    }
}

/// That a store is of no use.
pub(crate) fn unusable(store: &Store, error: &std::io::Error) -> Failure {
    Failure::io("can not use the store", store.root().as_os_str(), error)
        .hint("give it to yourself alone (chmod 700), or name another folder: --store DIR")
}

/// What is to be kept of a run; `None` where nothing is.
///
/// # Errors
/// When it can not be as the configuration says, and a run that is not kept must not begin.
pub(crate) fn evidence(config: &Config) -> Result<Option<Evidence>> {
    let is_required = config.given("evidence") == Some("required");
    if config.given("evidence") == Some("off") {
        return Ok(None);
    }
    let Some(store) = store(config) else {
        return match is_required {
            true => Err(Failure::new("there is no place for evidence: no home folder is known")
                .hint("set HOME, or name one by \"store\" in the configuration")),
            false => Ok(None),
        };
    };
    let transcripts = config.given("transcript") != Some("false");
    let transcript_bytes_max = size_of(config, "transcript_bytes_max")?;
    Ok(Some(Evidence {
        store,
        recipients: evidence::configured(config)?,
        is_required,
        transcript_bytes_max: transcripts.then_some(transcript_bytes_max),
        quota: quota(config)?,
    }))
}

/// How much may be kept, as the configuration says.
///
/// # Errors
/// When a value is none.
pub(crate) fn quota(config: &Config) -> Result<Quota> {
    let Quota { artifact_bytes_max, store_bytes_max, store_files_max, run_reserve_bytes } =
        Quota::default();
    let size = |name: &str, default| match config.given(name) {
        None => Ok(default),
        Some(text) => bytes(text)
            .flatten()
            .ok_or_else(|| wrong(name, "a size is a number of bytes: 65536, 64KiB, 1MiB or 1GiB")),
    };
    let count = |name: &str, default| match config.given(name) {
        None => Ok(default),
        Some(text) => text.parse().map_err(|_| wrong(name, "it is a number of files, as 200000")),
    };
    Ok(Quota {
        artifact_bytes_max: size("artifact_bytes_max", artifact_bytes_max)?,
        store_bytes_max: size("store_bytes_max", store_bytes_max)?,
        store_files_max: count("store_files_max", store_files_max)?,
        run_reserve_bytes: size("run_reserve", run_reserve_bytes)?,
    })
}

/// How long it is kept, as the configuration says.
///
/// # Errors
/// When a value is none.
pub(crate) fn policy(config: &Config) -> Result<Policy> {
    let Policy { raw_keep, transcript_keep } = Policy::default();
    let keep = |name: &str, default| match config.given(name) {
        None => Ok(default),
        Some("none") => Ok(None),
        Some(text) => time_kept(text)
            .map(Some)
            .ok_or_else(|| wrong(name, "it is a number and its unit, or none: 14d, 12h, 30m, 0s")),
    };
    Ok(Policy {
        raw_keep: keep("raw_keep", raw_keep)?,
        transcript_keep: keep("transcript_keep", transcript_keep)?,
    })
}

fn wrong(name: &str, hint: &str) -> Failure {
    Failure::new(format!("\"{name}\" has a wrong value")).hint(hint)
}

/// A time in days, or in a shorter unit.
fn time_kept(text: &str) -> Option<Duration> {
    let Some(days) = text.strip_suffix('d') else { return time(text).ok() };
    let days =
        days.parse::<u32>().ok().filter(|_| days.bytes().all(|byte| byte.is_ascii_digit()))?;
    Some(Duration::from_secs(u64::from(days) * 24 * 3600))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_is_kept_may_be_days() {
        let hours = |hours: u64| Some(Duration::from_secs(hours * 3600));
        for (text, wanted) in [
            ("14d", hours(14 * 24)),
            ("0d", hours(0)),
            ("36h", hours(36)),
            ("0s", hours(0)),
            ("d", None),
            ("+1d", None),
            ("1.5d", None),
            ("14", None),
            ("-1h", None),
        ] {
            assert_eq!(time_kept(text), wanted, "{text}");
        }
    }
}
