//! What is known of a run, written as "noesc run" would have.

use std::io::Write;

use noesc_session::envelope::{Cutoff, Envelope, Format, OutcomeKind, Stream, StreamName, render};
use noesc_session::{Keeper, NameGuard, StoredRun, nonces};

use crate::args::RunFormat;
use crate::excerpts::{Transcript, is_plain};
use crate::fail::{Failure, Result, escaped};
use crate::input::write;
use crate::note;
use crate::say::{is_one_output, stderr_took};

/// Writes what is known of a run. Gives what is to be said of it besides.
pub(super) fn tell(run: &StoredRun, record: &Envelope, format: RunFormat) -> Result<Vec<String>> {
    let Some(format) = format.of_record() else { return text(run, record) };
    write_record(record, format)?;
    Ok(Vec::new())
}

/// Writes a record in a format, with the value that was expected where the format carries it.
pub(crate) fn write_record(record: &Envelope, format: Format) -> Result<()> {
    let text = match format {
        Format::Json => render(record, format, &mut nonces()),
        _ => render(&record.clone().without_value(), format, &mut nonces()),
    };
    let text = text.map_err(|error| {
        Failure::new(format!("no {} of the run: {}", format.name(), escaped(error)))
            .hint("\"--format json\" carries every view")
    })?;
    write(text.as_bytes()).map(drop)
}

/// Writes the transcripts.
fn text(run: &StoredRun, record: &Envelope) -> Result<Vec<String>> {
    let mut output = Output::new();
    let mut notes = Vec::new();
    let mut has_any = false;
    for (name, stream) in &record.streams {
        let copied = output.copy(run, *name)?;
        has_any |= copied.is_some();
        notes.extend(note::recorded(&stream.report, name.name()));
        if let Some(missing) = copied.and_then(|copied| missing(stream, copied)) {
            let (name, unit) = (name.name(), if missing == 1 { "byte" } else { "bytes" });
            notes.push(format!("{missing} {unit} of the view of {name} are not stored"));
        }
    }
    output.finish();
    let is_started = !matches!(record.outcome.kind, OutcomeKind::SpawnFailed { .. });
    if !has_any && is_started {
        notes.push(format!("no transcript is kept of {}", run.id()));
    }
    notes.extend(record.expected.as_ref().filter(|it| !it.met).map(ToString::to_string));
    notes.extend(how_it_ended(record));
    notes.extend(outlives(run, record));
    Ok(notes)
}

/// Bytes of the view that a transcript of so many bytes does not have. What goes on may have
/// written more since the record was made. Style is never stored, so that nothing can be said of a
/// view that may hold some.
pub(crate) fn missing(stream: &Stream, copied: u64) -> Option<u64> {
    let is_plain = is_plain(stream.view.profile.as_str());
    let text = stream.view.text.as_ref().filter(|_| is_plain)?;
    let shown = (text.head.len() + text.tail.len()) as u64;
    let view = stream.view.omitted.bytes.saturating_add(shown);
    view.checked_sub(copied).filter(|missing| *missing > 0)
}

/// How a run ended where the status does not say it: at a limit, told to stop, or nobody knows.
fn how_it_ended(record: &Envelope) -> Option<String> {
    let ended = record.processes.ended;
    let is_told = match &record.outcome.kind {
        OutcomeKind::Exited { .. } | OutcomeKind::Signalled { .. } => false,
        _ => !record.outcome.kind.is_running(),
    };
    is_told.then(|| record.outcome.kind.told(&record.limits, ended))
}

/// Who outlives it, as long as somebody does.
fn outlives(run: &StoredRun, record: &Envelope) -> Vec<String> {
    if !matches!(run.keeper(), Some(Keeper::Listener { .. })) {
        return Vec::new();
    }
    let is_held = |stream: &&Stream| !stream.eof && stream.cutoff != Cutoff::None;
    let held = record.streams.iter().filter(|(_, stream)| is_held(stream));
    let names: Vec<_> = held.map(|(name, _)| name.name()).collect();
    let verb = if names.len() == 1 { "is" } else { "are" };
    let held = format!(
        "{} {verb} still held: what is written there from now on is counted, and not kept",
        names.join(" and ")
    );
    let held = Some(held).filter(|_| !names.is_empty());
    record.processes.survivors.told().into_iter().chain(held).collect()
}

/// Our stdout and stderr. A line of the child's that looks like ours is marked where ours are.
pub(crate) struct Output {
    guard: NameGuard,
    one: bool,
}

impl Output {
    pub(crate) fn new() -> Self {
        Self { guard: NameGuard::default(), one: is_one_output() }
    }

    /// Writes a transcript, if there is one, and gives its length.
    fn copy(&mut self, run: &StoredRun, name: StreamName) -> Result<Option<u64>> {
        let Some(mut transcript) = Transcript::open(run, name)? else { return Ok(None) };
        while let Some(view) = transcript.next()? {
            self.write(name, view)?;
        }
        Ok(Some(transcript.bytes()))
    }

    pub(crate) fn write(&mut self, name: StreamName, view: &str) -> Result<()> {
        if name != StreamName::Stderr && !self.one {
            return write(view.as_bytes()).map(drop);
        }
        let mut bytes = Vec::new();
        self.guard.push(view, &mut bytes);
        to_stderr(&bytes);
        Ok(())
    }

    pub(crate) fn finish(&mut self) {
        let mut bytes = Vec::new();
        self.guard.finish(&mut bytes);
        to_stderr(&bytes);
    }
}

/// That nobody reads our stderr is no reason to fail.
fn to_stderr(bytes: &[u8]) {
    let _ = std::io::stderr().write_all(bytes);
    stderr_took(bytes);
}
