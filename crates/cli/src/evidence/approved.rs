//! `noesc run --decision`: a command that a person has approved.

use std::ffi::OsString;
use std::time::SystemTime;

use noesc::Profile;
use noesc_evidence::{Asked, append_refused, use_up};
use sha2::{Digest as _, Sha256};

use crate::config::{Config, KEYS};
use crate::fail::{Failure, Result};
use crate::kept::{OpenStore, placed};

/// What names the settings and limits in force, as a decision binds to them.
pub(super) fn policy(config: &Config, profile: &Profile) -> String {
    let mut text = format!("noesc.policy/1\nform {:?}\n", profile.form);
    for key in KEYS.iter().filter(|key| key.is_policy) {
        let name = key.name;
        if let Some(value) = config.given(name) {
            text.push_str(&format!("{name} {}\n", noesc::audit(value.as_bytes())));
        }
    }
    let digest: String = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digest}")
}

/// Uses a decision up for a command that is about to start. Nothing may run when it is refused.
pub(crate) fn use_decision(
    id: &str,
    argv: &[OsString],
    config: &Config,
    profile: &Profile,
) -> Result<()> {
    let store = OpenStore::existing(placed(None, config)?)?;
    let cwd = std::env::current_dir().map_err(|error| {
        Failure::new(format!("there is no working folder: {}", crate::fail::reason(&error)))
            .hint("nothing was run")
    })?;
    let policy = policy(config, profile);
    let asked = Asked { argv, cwd: &cwd, policy: &policy };
    let mut ledger = store.write()?;
    let now = SystemTime::now();
    match use_up(&mut ledger, id, &asked, None, now) {
        Ok(_) => Ok(()),
        Err(error) => {
            // That it can not be written down either changes nothing: nothing is run.
            let _ = append_refused(&mut ledger, now, id, error.word());
            let failure = Failure::from(error);
            Err(failure.prefixed("the decision does not allow this: "))
        }
    }
}
