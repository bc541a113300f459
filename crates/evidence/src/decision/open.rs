//! That an original may be opened, and what was shown of it.

use std::time::{Duration, SystemTime};

use serde::Deserialize;
use serde_json::json;

use super::{
    DECISION_LASTS_MAX, DecisionError, Given, NAME_BYTES, SHOWN_BYTES, escaped, is_id, new_id,
};
use crate::ledger::Ledger;
use crate::moment;
use crate::record::Kind;

/// A decision to look at an original.
#[derive(Clone, Copy, Debug)]
pub struct OpenDecision<'a> {
    /// The id of the run.
    pub run: &'a str,
    /// The name of the artifact.
    pub artifact: &'a str,
    /// First byte and number of bytes; all of it without.
    pub range: Option<(u64, u64)>,
    /// How it is shown: `hex`, `audit`, …
    pub form: &'a str,
    /// Who decides, and why.
    pub given: Given<'a>,
    /// How long it holds.
    pub lasts: Duration,
}

const OPEN: &str = "open";
const SHOWN: &str = "shown";
const SEEN: &str = "seen";

/// Ranges that a record has room for.
pub(super) const SEEN_MAX: usize = 256;

const REFUSED: &str = "refused";

/// Writes the decision to open, and returns its id. It is on disk when this returns: decrypt after
/// it, never before.
pub fn append_open(
    ledger: &mut Ledger<'_>,
    now: SystemTime,
    decision: &OpenDecision<'_>,
) -> Result<String, DecisionError> {
    let OpenDecision { run, artifact, range, form, given, lasts } = *decision;
    if lasts.is_zero() || lasts > DECISION_LASTS_MAX {
        return Err(DecisionError::Lasts);
    }
    let id = new_id()?;
    let range = range.map(|(offset, bytes)| json!({"offset": offset, "bytes": bytes}));
    let event = json!({
        "action": OPEN,
        "id": id,
        "run": escaped(run, NAME_BYTES),
        "artifact": escaped(artifact, NAME_BYTES),
        "range": range,
        "form": escaped(form, NAME_BYTES),
        "who": given.who(),
        "reason": given.reason()?,
        "created": moment::render(now),
        "expires": moment::render(now + lasts),
    });
    ledger.append(now, Kind::Decision, &event)?;
    Ok(id)
}

/// Writes what is about to be shown by a decision: a keyed digest of the exact bytes, and how many.
/// It is on disk when this returns: show after it, never before. A decision is for one showing.
pub fn append_shown(
    ledger: &mut Ledger<'_>,
    now: SystemTime,
    id: &str,
    hmac: &str,
    bytes: u64,
) -> Result<(), DecisionError> {
    #[derive(Deserialize)]
    struct Seen {
        action: String,
        id: Option<String>,
        decision: Option<String>,
        expires: Option<String>,
    }
    if !is_id(id) {
        return Err(DecisionError::Id);
    }
    let (mut until, mut is_shown) = (None, false);
    ledger.read(|record| {
        if record.kind != Kind::Decision.as_str() {
            return;
        }
        let Ok(seen) = serde_json::from_str::<Seen>(record.event) else { return };
        if seen.action == OPEN && seen.id.as_deref() == Some(id) && until.is_none() {
            until = seen.expires.filter(|text| moment::is_moment(text));
        }
        is_shown |= seen.action == SHOWN && seen.decision.as_deref() == Some(id);
    })?;
    let until = until.ok_or(DecisionError::Unknown)?;
    if is_shown {
        return Err(DecisionError::Used);
    }
    if until <= moment::render(now) {
        return Err(DecisionError::Expired { until });
    }
    let hmac = escaped(hmac, NAME_BYTES);
    let event = json!({"action": SHOWN, "decision": id, "hmac": hmac, "bytes": bytes});
    ledger.append(now, Kind::Decision, &event)?;
    Ok(())
}

/// Writes what was on the screen by a decision, when the viewing is over: of each stream, from
/// which byte to which. It says less than `shown`, which binds all that could be looked at.
pub fn append_seen(
    ledger: &mut Ledger<'_>,
    now: SystemTime,
    id: &str,
    ranges: &[(String, u64, u64)],
) -> Result<(), DecisionError> {
    if !is_id(id) {
        return Err(DecisionError::Id);
    }
    let told = ranges.iter().take(SEEN_MAX).map(
        |(stream, from, to)| json!({"stream": escaped(stream, NAME_BYTES), "from": from, "to": to}),
    );
    let told: Vec<_> = told.collect();
    let omitted = ranges.len().saturating_sub(SEEN_MAX);
    let event = json!({"action": SEEN, "decision": id, "ranges": told, "omitted": omitted});
    ledger.append(now, Kind::Decision, &event)?;
    Ok(())
}

/// Writes that an attempt failed or was refused: `of` says at what, as an id or the name of a run,
/// and `why` in a word or a sentence.
pub fn append_refused(
    ledger: &mut Ledger<'_>,
    now: SystemTime,
    of: &str,
    why: &str,
) -> Result<(), DecisionError> {
    let (of, why) = (escaped(of, NAME_BYTES), escaped(why, SHOWN_BYTES));
    let event = json!({"action": REFUSED, "of": of, "why": why});
    ledger.append(now, Kind::Decision, &event)?;
    Ok(())
}
