//! Verbs that answer from what is stored of a run: `show`, `search`, `report`, `digest` and `runs`.
//!
//! All that they show has passed the boundary once more, and is bounded.

mod digest;
mod find;
mod pattern;
mod report;
mod runs;
mod search;
mod show;
mod transcript;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use noesc_session::StoredRun;
use noesc_session::envelope::{Envelope, StreamName};

use crate::config::Config;
use crate::fail::{Failure, Result};
use crate::limits::size_of;

pub(crate) use digest::{DigestArgs, digest};
pub(crate) use report::{ReportArgs, report};
pub(crate) use runs::{RunsArgs, runs};
pub(crate) use search::{SearchArgs, search};
pub(crate) use show::{ShowArgs, show};
pub(crate) use transcript::Transcript;

/// A parser for the name of a stream.
fn stream() -> impl TypedValueParser<Value = StreamName> {
    PossibleValuesParser::new(StreamName::ALL.map(StreamName::name)).map(|word| {
        let named = StreamName::ALL.into_iter().find(|stream| stream.name() == word);
        // No other word is let through.
        named.unwrap_or(StreamName::Stdout)
    })
}

/// Bytes of view of each stream that are given: the flag, or what a run has without one.
fn view_bytes_max(flag: Option<&str>) -> Result<usize> {
    let mut config = Config::default();
    config.flag("view_bytes_max", flag);
    Ok(usize::try_from(size_of(&config, "view_bytes_max")?).unwrap_or(usize::MAX))
}

/// A run and its record.
fn found(part: &str) -> Result<(StoredRun, Envelope)> {
    let run = crate::runs::find(part)?;
    let record = crate::runs::record(&run)?;
    Ok((run, record))
}

/// The streams that are meant: the one that is named, or all of the record.
fn streams(record: &Envelope, named: Option<StreamName>) -> Result<Vec<StreamName>> {
    let all: Vec<_> = record.streams.keys().copied().collect();
    match named {
        Some(name) if all.contains(&name) => Ok(vec![name]),
        Some(name) => Err(no_stream(record, name.name())),
        None if all.is_empty() => Err(Failure::new(format!("{} has no streams", record.run))
            .hint(format!("\"noesc report {}\" says how it ended", record.run))),
        None => Ok(all),
    }
}

fn no_stream(record: &Envelope, name: &str) -> Failure {
    let has: Vec<_> = record.streams.keys().map(|name| name.name()).collect();
    let hint = match has.is_empty() {
        true => "it has none: the command was not started, or its output was not collected".into(),
        false => format!("it has {}", has.join(" and ")),
    };
    Failure::new(format!("{} has no {name}", record.run)).hint(hint)
}

/// That nothing is stored of a view.
fn not_stored(run: &StoredRun, name: StreamName) -> Failure {
    Failure::new(format!("no transcript is kept of the {} of {}", name.name(), run.id())).hint(
        "it was pruned, it was an artifact by \"--expect\", or \"noesc config\" says to keep none",
    )
}

/// Leaves these streams in a record, and the order of what is given of them.
fn only(record: &mut Envelope, names: impl Iterator<Item = StreamName>) {
    let names: Vec<_> = names.collect();
    record.streams.retain(|name, _| names.contains(name));
    // What is stored is the record of a run, and no excerpt.
    record.search = None;
    for stream in record.streams.values_mut() {
        (stream.view.parts, stream.view.found) = (None, None);
    }
    // Offsets into a view that keeps style are none into what is stored, which has none.
    let is_plain = record.streams.values().all(|stream| is_plain(stream.view.profile.as_str()));
    record.order.retain(|entry| is_plain && names.contains(&entry.stream));
    for stream in record.streams.values_mut().filter(|_| !is_plain) {
        stream.view.profile = "agent".into();
    }
}

/// Whether views of this profile are stored as they are.
pub(crate) fn is_plain(profile: &str) -> bool {
    ["agent", "audit"].contains(&profile)
}
