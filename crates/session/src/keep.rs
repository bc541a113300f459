//! What is kept of a run: its folder, its sealed bytes, and what the ledger says of it.

use std::collections::BTreeMap;
use std::io;
use std::time::Instant;

use noesc_capture::{Chunk, Command, Stream};
use noesc_envelope::{
    self as envelope, Envelope, Escaped, OutcomeKind, RawDigest, RunId, StreamName,
};
use noesc_evidence::{
    Artifacts, COMMAND_BYTES_MAX, CollectorKey, FINDINGS_MAX, Kind, Quota, Recipients, RunEntry,
    SealOptions, Sealed, Sealer, Store, crash_point,
};
use serde_json::json;

use crate::live::Settings;
use crate::lock::Held;
use crate::record::Identity;
use crate::room::Transcript;
use crate::runs::{ATTENDED, COLLECTED, RunFolder, Runs};
use crate::tap::Tap;

/// Bytes of a command that a manifest holds, and of its environment.
const MANIFEST_TEXT_BYTES_MAX: usize = 1024 * 1024;

/// Why nothing raw is kept where there were recipients, and now there are none.
pub const RECIPIENTS_GONE: &str = "recipient changed: there is none any more";

/// Why nothing raw is kept where nobody was named who could open it.
const NO_RECIPIENT: &str = "no recipient";

/// What is to be kept of runs, and where.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// Where.
    pub store: Store,
    /// Who may open what was printed; with nobody no raw byte is kept.
    pub recipients: Option<Recipients>,
    /// A run that can not be kept is not begun.
    pub is_required: bool,
    /// View bytes of each stream that are stored; `None` for no transcripts.
    pub transcript_bytes_max: Option<u64>,
    /// How much.
    pub quota: Quota,
}

impl Evidence {
    /// The folders of its runs.
    #[must_use]
    pub fn runs(&self) -> Runs {
        Runs::at(self.store.runs_path())
    }
}

/// The folder of a run that its collector holds.
pub(crate) struct Place {
    pub(crate) folder: RunFolder,
    lock: &'static str,
    _held: Held,
}

impl Place {
    /// Makes the folder of a run, and takes the lock that says how it is collected.
    pub(crate) fn make(runs: &Runs, run: &RunId, lock: &'static str) -> io::Result<Self> {
        let folder = runs.create(run)?;
        let held = folder.hold(lock)?;
        Ok(Self { folder, lock, _held: held })
    }

    /// Says that the run was not started, and that the ledger says all that there is to say. Who
    /// has begun one in the background looks once more.
    fn is_over(&self) {
        match self.lock {
            ATTENDED => self.folder.clear(),
            _ => self.is_whole(),
        }
    }

    /// Says that nothing is missing of the run: it needs no recovery.
    fn is_whole(&self) {
        self.folder.unmark(self.lock);
    }
}

/// Why there are no raw bytes.
enum Without {
    NotKept(String),
    Failed(String),
}

/// What a run that goes on is kept by.
pub(crate) struct Keep<'a> {
    evidence: &'a Evidence,
    key: CollectorKey,
    run: &'a RunId,
    sealer: Result<Sealer, Without>,
    streams: &'static [(Stream, StreamName)],
    /// Whether there is room for transcripts.
    pub(crate) transcript_bytes_max: u64,
}

impl<'a> Keep<'a> {
    /// Begins to keep a run, or says why that can not be.
    pub(crate) fn begin(
        evidence: &'a Evidence,
        identity: &'a Identity,
        command: &Command,
        streams: &'static [(Stream, StreamName)],
        lock: &'static str,
    ) -> Result<(Self, Place), String> {
        let words = |error: io::Error| words_of(&error);
        evidence.store.prepare().map_err(words)?;
        let key = evidence.store.key().map_err(|error| without_number(&error.to_string()))?;
        let room = evidence.quota.room(evidence.store.usage().map_err(words)?);
        let place = Place::make(&evidence.runs(), &identity.run, lock).map_err(words)?;
        let sealer = sealer(evidence, identity, command, streams, room);
        if let (true, Err(Without::NotKept(why) | Without::Failed(why))) =
            (evidence.is_required, &sealer)
        {
            let why = why.clone();
            let _ = place.folder.remove();
            return Err(why);
        }
        let transcript_bytes_max = match room {
            Some(_) => evidence.transcript_bytes_max.unwrap_or(0),
            None => 0,
        };
        let run = &identity.run;
        crash_point("begun");
        Ok((Self { evidence, key, run, sealer, streams, transcript_bytes_max }, place))
    }

    /// Takes what is to be kept of a chunk.
    pub(crate) fn push(&mut self, chunk: &Chunk<'_>) {
        let Ok(sealer) = &mut self.sealer else { return };
        let stream = self.streams.iter().position(|(stream, _)| *stream == chunk.stream);
        // A descriptor of the child's own has no view, but what it printed is evidence.
        let stream = stream.unwrap_or(self.streams.len());
        let kept = chunk.bytes.get(..chunk.kept).unwrap_or(chunk.bytes);
        if !kept.is_empty() {
            sealer.push(stream, chunk.seq, kept);
        }
    }

    pub(crate) fn wake_at(&self) -> Option<Instant> {
        self.sealer.as_ref().ok()?.due()
    }

    pub(crate) fn wake(&mut self) {
        if let Ok(sealer) = &mut self.sealer {
            sealer.look();
        }
    }

    /// Ends what is kept and tells the ledger: first what was sealed is durable, then the record of
    /// the run is in its folder, then the ledger names both. Gives the record with what became of
    /// the raw bytes.
    pub(crate) fn finish(
        self,
        place: &Place,
        mut record: Envelope,
        digests: &BTreeMap<&'static str, String>,
        transcript_bytes: u64,
    ) -> Envelope {
        let Self { evidence, key, run, sealer, .. } = self;
        let was_started = !matches!(record.outcome.kind, OutcomeKind::SpawnFailed { .. });
        let sealed = sealer.and_then(|sealer| {
            if !was_started {
                return Err(Without::NotKept("it was not started".into()));
            }
            let sealed = sealer.finish(closing(&record, digests).as_bytes());
            settle(&evidence.store, run, sealed)
        });
        let mut entry = entry(&record, transcript_bytes);
        entry.recipients = fingerprints(evidence);
        record.evidence = told(sealed, &mut entry);
        let write = |record: &Envelope| {
            // That there is no room is no reason to fail.
            let _ = match evidence.transcript_bytes_max {
                Some(_) => place.folder.write_last_record(record),
                None => place.folder.write_last_record(&record.without_views()),
            };
        };
        write(&record);
        crash_point("run-recorded");
        let configured = evidence.recipients.as_ref();
        let recorded = evidence.store.record_run(&key, Kind::Run, &mut entry, configured);
        if let Err(error) = recorded {
            let error = without_number(&error.to_string());
            let reason = format!("the ledger does not take it: {error}");
            let raw_artifact = entry.artifact.as_ref().map(Escaped::new);
            record.evidence = unkept(configured.is_some(), &reason, raw_artifact);
            write(&record);
        } else {
            if entry.recipients_changed {
                record.evidence = changed(record.evidence);
                write(&record);
            }
            match was_started {
                true => place.is_whole(),
                false => place.is_over(),
            }
        }
        crash_point("told");
        record
    }
}

/// The same of a run whose recipients are others than were confirmed.
fn changed(evidence: envelope::Evidence) -> envelope::Evidence {
    match evidence {
        envelope::Evidence::Sealed { raw_artifact, recipients, kept_bytes, .. } => {
            let recipients_changed = true;
            envelope::Evidence::Sealed { raw_artifact, recipients, recipients_changed, kept_bytes }
        }
        envelope::Evidence::NotKept { reason } if reason.as_str() == NO_RECIPIENT => {
            envelope::Evidence::NotKept { reason: RECIPIENTS_GONE.into() }
        }
        other => other,
    }
}

/// That the run is not kept. Where nobody could have opened the raw bytes, they are not what is
/// missing.
fn unkept(is_raw_missing: bool, why: &str, raw_artifact: Option<Escaped>) -> envelope::Evidence {
    match is_raw_missing {
        true => envelope::Evidence::Failed { reason: Escaped::new(why), raw_artifact },
        false => {
            let reason = Escaped::new(format!("{NO_RECIPIENT}; the run is not kept: {why}"));
            envelope::Evidence::NotKept { reason }
        }
    }
}

fn fingerprints(evidence: &Evidence) -> Vec<String> {
    evidence.recipients.as_ref().map(Recipients::fingerprints).unwrap_or_default()
}

/// What is kept of a run, or why nothing is.
#[derive(Default)]
pub(crate) struct Keeping<'a> {
    keep: Option<Keep<'a>>,
    place: Option<Place>,
    /// Nothing is kept: whether something raw was to be, and why not.
    failure: Option<(bool, String)>,
}

impl<'a> Keeping<'a> {
    /// Begins to keep a run as the settings say. That it can not be kept is an error where it has
    /// to be alone.
    pub(crate) fn begin(
        settings: &'a Settings,
        identity: &'a Identity,
        command: &Command,
        streams: &'static [(Stream, StreamName)],
        lock: &'static str,
    ) -> Result<Self, String> {
        let Some(evidence) = &settings.evidence else { return Ok(Self::default()) };
        match Keep::begin(evidence, identity, command, streams, lock) {
            Ok((keep, place)) => Ok(Self { keep: Some(keep), place: Some(place), failure: None }),
            Err(why) if evidence.is_required => Err(why),
            Err(why) => {
                let failure = Some((evidence.recipients.is_some(), why));
                Ok(Self { failure, ..Self::default() })
            }
        }
    }

    /// Makes the folder of a run that has to have one.
    pub(crate) fn make_place(&mut self, runs: &Runs, run: &RunId) -> io::Result<()> {
        if self.place.is_none() {
            self.place = Some(Place::make(runs, run, COLLECTED)?);
        }
        Ok(())
    }

    pub(crate) fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    /// Whether the record has something to say of it.
    pub(crate) fn is_told(&self) -> bool {
        self.keep.is_some() || self.failure.is_some()
    }

    /// Whether the ledger will tell of the run.
    pub(crate) fn is_kept(&self) -> bool {
        self.keep.is_some()
    }

    /// Bytes of each view that are stored; none where nothing is kept.
    pub(crate) fn transcript_bytes_max(&self) -> u64 {
        self.keep.as_ref().map_or(0, |keep| keep.transcript_bytes_max)
    }

    pub(crate) fn push(&mut self, chunk: &Chunk<'_>) {
        if let Some(keep) = &mut self.keep {
            keep.push(chunk);
        }
    }

    pub(crate) fn wake_at(&self) -> Option<Instant> {
        self.keep.as_ref()?.wake_at()
    }

    pub(crate) fn wake(&mut self) {
        if let Some(keep) = &mut self.keep {
            keep.wake();
        }
    }

    /// Writes what is known when the run has begun: there is a record of it, whatever becomes of
    /// us.
    pub(crate) fn begun(&self, record: impl FnOnce() -> Envelope) {
        if let (Some(keep), Some(place)) = (&self.keep, &self.place) {
            let _ = match keep.evidence.transcript_bytes_max {
                Some(_) => place.folder.write_record(&record()),
                None => place.folder.write_record(&record().without_views()),
            };
        }
    }

    /// Ends it, and gives the record with what became of the raw bytes.
    pub(crate) fn finish<'t>(
        &mut self,
        record: Envelope,
        taps: impl Iterator<Item = (StreamName, &'t Tap, Option<&'t Transcript>)>,
    ) -> Envelope {
        let (mut digests, mut stored) = (BTreeMap::new(), 0);
        for (name, tap, transcript) in taps {
            digests.extend(tap.raw_sha256().map(|digest| (name.name(), digest)));
            stored += transcript.map_or(0, Transcript::bytes);
        }
        let record = match &self.failure {
            Some((is_raw_missing, why)) => {
                Envelope { evidence: unkept(*is_raw_missing, why, None), ..record }
            }
            None => record,
        };
        match (self.keep.take(), &self.place) {
            (Some(keep), Some(place)) => keep.finish(place, record, &digests, stored),
            (_, Some(place)) => {
                // That there is no room is no reason to fail.
                let _ = place.folder.write_last_record(&record);
                place.is_whole();
                record
            }
            (_, None) => record,
        }
    }
}

/// What takes the raw bytes of a run, where they are to be kept and can be.
fn sealer(
    evidence: &Evidence,
    identity: &Identity,
    command: &Command,
    streams: &[(Stream, StreamName)],
    room: Option<u64>,
) -> Result<Sealer, Without> {
    let Some(recipients) = evidence.recipients.clone() else {
        return Err(Without::NotKept(NO_RECIPIENT.into()));
    };
    let Some(bytes_max) = room else {
        return Err(Without::NotKept("no room in the store".into()));
    };
    let file = evidence.store.begin(identity.run.as_str());
    let file = file.map_err(|error| Without::Failed(words_of(&error)))?;
    let opening = opening(identity, command, streams);
    Ok(Sealer::new(file, &SealOptions { recipients, bytes_max }, opening.as_bytes()))
}

/// Makes what was sealed the artifact of the run.
fn settle(store: &Store, run: &RunId, sealed: Sealed) -> Result<Sealed, Without> {
    let failed = |error: &io::Error| Without::Failed(words_of(error));
    if sealed.segments == 0 {
        let _ = store.abandon(run.as_str());
        let error = sealed.failure.unwrap_or_else(|| io::Error::other("nothing was written"));
        return Err(failed(&error));
    }
    store.settle(run.as_str(), sealed.id).map_err(|error| failed(&error))?;
    Ok(sealed)
}

/// What the record says of the raw bytes, and the entry with it.
fn told(sealed: Result<Sealed, Without>, entry: &mut RunEntry) -> envelope::Evidence {
    let (state, reason, evidence) = match sealed {
        Ok(sealed) => {
            let id = sealed.id.to_string();
            entry.artifact_bytes = sealed.bytes;
            entry.segments = sealed.segments;
            entry.kept_bytes = sealed.kept;
            entry.artifact = Some(id.clone());
            match sealed.failure {
                None => {
                    let recipients = entry.recipients.iter().map(Escaped::new).collect();
                    let evidence = envelope::Evidence::Sealed {
                        raw_artifact: Escaped::new(id),
                        recipients,
                        recipients_changed: entry.recipients_changed,
                        kept_bytes: sealed.kept,
                    };
                    ("sealed", None, evidence)
                }
                Some(error) => {
                    let (why, raw_artifact) = (words_of(&error), Some(Escaped::new(id)));
                    let reason = Escaped::new(&why);
                    ("failed", Some(why), envelope::Evidence::Failed { reason, raw_artifact })
                }
            }
        }
        Err(Without::NotKept(why)) => {
            let reason = Escaped::new(&why);
            ("not-kept", Some(why), envelope::Evidence::NotKept { reason })
        }
        Err(Without::Failed(why)) => {
            let reason = Escaped::new(&why);
            let evidence = envelope::Evidence::Failed { reason, raw_artifact: None };
            ("failed", Some(why), evidence)
        }
    };
    entry.evidence = state.into();
    entry.reason = reason;
    evidence
}

/// What is known before the run, for who may open it.
fn opening(identity: &Identity, command: &Command, streams: &[(Stream, StreamName)]) -> String {
    let mut room = MANIFEST_TEXT_BYTES_MAX;
    let mut text = |text: &std::ffi::OsStr| {
        let text = Escaped::os(text).as_str().to_owned();
        let end = text.floor_char_boundary(room);
        room -= end;
        text[..end].to_owned()
    };
    let argv: Vec<String> = command.argv.iter().map(|argument| text(argument)).collect();
    let environment: Vec<[String; 2]> =
        command.env.iter().map(|(name, value)| [text(name), text(value)]).collect();
    let cwd = command.cwd.clone().or_else(|| std::env::current_dir().ok());
    let streams: Vec<&str> = streams.iter().map(|(_, name)| name.name()).chain(["extra"]).collect();
    json!({
        "schema": "noesc.manifest/1",
        "run": identity.run.as_str(),
        "argv": argv,
        "environment": environment,
        "cwd": cwd.map(|cwd| text(cwd.as_os_str())),
        "streams": streams,
        "key": identity.key.hex(),
    })
    .to_string()
}

/// What is known when the run is over, for who may open it.
fn closing(record: &Envelope, digests: &BTreeMap<&'static str, String>) -> String {
    json!({
        "started": record.time.started,
        "ended": record.time.ended,
        "outcome": record.outcome,
        "raw_sha256": digests,
        "bytes": record.streams.iter().map(|(name, stream)| (name.name(), stream.bytes.observed))
            .collect::<BTreeMap<_, _>>(),
    })
    .to_string()
}

/// What the ledger says of a run, by its record.
pub(crate) fn entry(record: &Envelope, transcript_bytes: u64) -> RunEntry {
    let mut findings: Vec<String> = Vec::new();
    let mut severity = None;
    for stream in record.streams.values() {
        severity = severity.max(stream.report.severity());
        findings.extend(stream.report.findings.iter().map(|finding| finding.kind.to_string()));
    }
    findings.sort();
    findings.dedup();
    findings.truncate(FINDINGS_MAX);
    let word = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let outcome = serde_json::to_value(&record.outcome.kind).unwrap_or_default();
    RunEntry {
        run: record.run.to_string(),
        started: record.time.started.to_string(),
        ended: record.time.ended.to_string(),
        command: command(&record.command),
        outcome: word(outcome["kind"].clone()),
        code: match record.outcome.kind {
            OutcomeKind::Exited { code } => Some(code),
            OutcomeKind::Signalled { signal, .. } => u8::try_from(128 + signal).ok(),
            _ => None,
        },
        findings,
        severity: severity
            .and_then(|severity| serde_json::to_value(severity).ok())
            .map_or_else(|| "none".into(), word),
        bytes: record.streams.values().map(|stream| stream.bytes.observed).sum(),
        raw: record
            .streams
            .iter()
            .map(|(name, stream)| (name.name().to_owned(), digest(&stream.digest.raw)))
            .collect(),
        transcript_bytes,
        ..RunEntry::default()
    }
}

fn digest(raw: &RawDigest) -> String {
    match raw {
        RawDigest::Plain(digest) => format!("sha256:{digest}"),
        RawDigest::Keyed(digest) => format!("hmac-sha256:{digest}"),
    }
}

/// A command in a line, as much of it as is recorded and finds room.
fn command(command: &envelope::Command) -> String {
    let words: Vec<&str> = match (command.argv.is_empty(), &command.executable) {
        (true, Some(executable)) => vec![executable.as_str()],
        _ => command.argv.iter().map(Escaped::as_str).collect(),
    };
    let text = words.join(" ");
    text[..text.floor_char_boundary(COMMAND_BYTES_MAX)].to_owned()
}

/// What the system says, without its number.
pub(crate) fn words_of(error: &io::Error) -> String {
    without_number(&error.to_string()).to_ascii_lowercase()
}

fn without_number(text: &str) -> String {
    text.split(" (os error ").next().unwrap_or_default().to_owned()
}
