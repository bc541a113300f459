//! What is to be kept of runs, as the configuration says.

use etcetera::BaseStrategy;
use noesc_evidence::{Quota, Store};
use noesc_session::Evidence;

use crate::config::Config;
use crate::evidence;
use crate::fail::{Failure, Result};
use crate::limits::size_of;

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
        quota: Quota::default(),
    }))
}
