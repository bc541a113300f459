//! The original of a run: where it is, and what the viewer is given of it.

use std::path::Path;
use std::process::ExitCode;

use noesc::{Boundary, Profile};
use noesc_evidence::{
    Artifact, ArtifactError, ArtifactId, Artifacts, Exported, Identity, LEDGER_WAIT, Opened,
    RunEntry, read,
};
use noesc_session::{Runs, StoredRun};
use noesc_viewer::{Ended, Original, Start, StreamInfo, colour_wanted, view as run_viewer};
use serde::Deserialize;

use crate::fail::{Failure, Result, escaped, quoted};
use crate::input::write;
use crate::kept::OpenStore;
use crate::runs;
use crate::say::say;

/// Bytes that are read at once.
const PIECE: usize = 64 * 1024;

/// A run whose original is sealed somewhere.
pub(super) struct Found {
    pub(super) run: String,
    pub(super) id: ArtifactId,
    /// Its command, for the title.
    command: String,
    artifact: std::cell::Cell<Option<Artifact>>,
}

impl Found {
    /// The artifact, if it is the one that the ledger names.
    pub(super) fn verified(&self) -> Result<Artifact> {
        let artifact = self.artifact.take().ok_or_else(|| Failure::new("it was opened before"))?;
        artifact.verify(self.id).map_err(unusable)?;
        Ok(artifact)
    }
}

fn unusable(error: ArtifactError) -> Failure {
    Failure::new(escaped(&error)).hint(error.hint())
}

/// The run of this name, or the one of this file. What names it is verified before.
pub(super) fn find(part: &str, of_file: Option<&str>, store: &OpenStore) -> Result<Found> {
    let path = Path::new(part);
    // A file that is called as a run is, such as `last`, is named by a path: ./last.
    let is_run = !part.contains('/') && of_file.is_none() && stored(part, store).is_ok();
    match std::fs::symlink_metadata(path) {
        Ok(seen) if seen.is_file() && !is_run => find_exported(path, of_file),
        _ if of_file.is_some() || part.contains('/') => {
            Err(Failure::new(format!("there is no file {}", quoted(part.as_ref())))
                .hint("an exported run is named by its file, another one by its id"))
        }
        _ => find_stored(part, store),
    }
}

/// The run that was exported to a file. Its records are proved to be those of a ledger, whose key
/// is told: whether that is the right one, only who knows it can say.
fn find_exported(path: &Path, wanted: Option<&str>) -> Result<Found> {
    let exported = Exported::read(path).map_err(|error| {
        let message = format!("{} can not be used: {}", quoted(path.as_os_str()), escaped(&error));
        Failure::new(message).hint("it is damaged, or no file that \"noesc store export\" wrote")
    })?;
    say(&format!("exported from the ledger of {}", escaped(&exported.key)));
    let count = exported.runs.len();
    let mut runs = exported.runs.into_iter();
    let one = match wanted {
        Some(part) => runs.find(|one| one.run.starts_with(part) || one.run.ends_with(part)),
        None if count == 1 => runs.next(),
        None => {
            let ids: Vec<String> = runs.map(|one| escaped(&one.run)).collect();
            return Err(Failure::new(format!("the file holds {count} runs: {}", ids.join(", ")))
                .hint("name one of them: --run ID"));
        }
    };
    let shown = quoted(path.as_os_str());
    let one = one.ok_or_else(|| {
        Failure::new(format!("{shown} holds no such run")).hint("without --run it says which")
    })?;
    let (id, artifact) = one.artifact.ok_or_else(|| {
        Failure::new(format!("{shown} holds nothing raw of {}", escaped(&one.run)))
            .hint("nothing was kept, or it was pruned before")
    })?;
    let artifact = std::cell::Cell::new(Some(artifact));
    Ok(Found { run: one.run, id, command: one.entry.command, artifact })
}

fn stored(part: &str, store: &OpenStore) -> Result<StoredRun> {
    runs::find_in(&Runs::at(store.place.runs_path()), part)
}

/// The run of this name, by the ledger: all of that is verified before.
fn find_stored(part: &str, store: &OpenStore) -> Result<Found> {
    let run = stored(part, store)?.id().to_string();
    let mut entry: Option<RunEntry> = None;
    read(&store.place.ledger_path(), store.key.verifier(), LEDGER_WAIT, |record, _| {
        if let "run" | "recovered" = record.kind
            && let Ok(told) = serde_json::from_str::<RunEntry>(record.event)
            && told.run == run
        {
            entry = Some(told);
        }
    })?;
    let Some(entry) = entry else {
        return Err(Failure::new(format!("the ledger does not know the run {run}"))
            .hint("one that goes on can be opened when it is over"));
    };
    let Some(name) = &entry.artifact else {
        let why = entry.reason.unwrap_or_else(|| "no reason is given".into());
        return Err(Failure::new(format!("nothing raw was kept of {run}: {}", escaped(why)))
            .hint("\"noesc init\" makes what runs are sealed to"));
    };
    let id: ArtifactId = name.parse().map_err(|error| Failure::new(escaped(error)))?;
    let artifact = store.place.open(&run, id).map_err(|error| match error {
        ArtifactError::Io(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Failure::new(format!("the artifact of {run} is not there"))
                .hint("it was pruned, or removed by hand: \"noesc store doctor\" tells")
        }
        error => unusable(error),
    })?;
    let artifact = std::cell::Cell::new(Some(artifact));
    Ok(Found { run, id, command: entry.command, artifact })
}

/// What the opening manifest says that is of use here.
#[derive(Deserialize)]
struct Manifest {
    run: String,
    #[serde(default)]
    streams: Vec<String>,
}

/// An original that was opened, as the viewer takes it.
pub(super) struct Opening<'k> {
    opened: Opened<'k>,
    streams: Vec<StreamInfo>,
    /// Of each stream that has a name here, its number in the artifact.
    numbers: Vec<usize>,
    /// The one that is meant.
    pub(super) stream: usize,
}

impl<'k> Opening<'k> {
    pub(super) fn new(
        (artifact, run): (Artifact, &str),
        identity: &'k Identity,
        wanted: Option<&str>,
    ) -> Result<Self> {
        let opened = artifact.unlock(identity).map_err(unusable)?;
        let manifest: Manifest = serde_json::from_slice(opened.opening()).map_err(|_| {
            Failure::new("its manifest is damaged").hint("see \"noesc store doctor\"")
        })?;
        if manifest.run != run {
            return Err(Failure::new("what is sealed there is of another run")
                .hint("somebody has put it there: see \"noesc store doctor\""));
        }
        let (mut streams, mut numbers) = (Vec::new(), Vec::new());
        for (number, name) in manifest.streams.into_iter().enumerate() {
            let bytes = opened.stream_bytes(number);
            if bytes > 0 || wanted == Some(name.as_str()) {
                streams.push(StreamInfo { name, bytes });
                numbers.push(number);
            }
        }
        let stream = match wanted {
            None => 0,
            Some(name) => {
                streams.iter().position(|stream| stream.name == name).ok_or_else(|| {
                    let name = quoted(name.as_ref());
                    Failure::new(format!("the run has no stream {name}"))
                        .hint("stdout, stderr, pty or extra")
                })?
            }
        };
        if streams.is_empty() {
            return Err(Failure::new("the run printed nothing").hint("there is nothing to show"));
        }
        Ok(Self { opened, streams, numbers, stream })
    }

    /// How many bytes the stream has.
    pub(super) fn bytes(&self) -> u64 {
        self.streams.get(self.stream).map_or(0, |stream| stream.bytes)
    }

    /// Reads of the stream that is meant.
    pub(super) fn piece(&mut self, offset: u64, to: &mut [u8]) -> Result<usize> {
        let number = self.numbers.get(self.stream).copied().unwrap_or_default();
        self.opened.read_at(number, offset, to).map_err(unusable)
    }

    /// The digest of bytes of it under the key of the run.
    pub(super) fn keyed(&mut self, offset: u64, bytes: u64) -> Result<String> {
        let number = self.numbers.get(self.stream).copied().unwrap_or_default();
        self.opened.keyed_digest(number, offset, bytes).map_err(unusable)
    }

    /// That its end is missing, where that is so.
    pub(super) fn fault(&self) -> Option<String> {
        match self.opened.fault() {
            Some(error) => Some(format!("the end can not be read: {}", escaped(error))),
            None if self.opened.closing().is_none() => {
                Some("the collector was killed: the end is missing".into())
            }
            None => None,
        }
    }

    /// Where the bytes begin that a line of the view came from.
    fn offset_of_line(&mut self, line: u64) -> Result<u64> {
        let mut boundary = Boundary::new(&Profile::AGENT)
            .map_err(|error| Failure::new(error.to_string()).hint(error.hint()))?;
        let (mut left, mut offset) = (line.saturating_sub(1), 0);
        let mut piece = vec![0; PIECE];
        while left > 0 {
            let before = boundary.clone();
            let count = self.piece(offset, &mut piece)?;
            if count == 0 {
                let lines = line - left;
                return Err(Failure::new(format!("the view has no line {line}"))
                    .hint(format!("the last is {lines}")));
            }
            let mut view = String::new();
            boundary.push(&piece[..count], &mut view);
            let ends = view.matches('\n').count() as u64;
            if ends < left {
                left -= ends;
                offset += count as u64;
                continue;
            }
            boundary = before;
            for byte in &piece[..count] {
                view.clear();
                boundary.push(std::slice::from_ref(byte), &mut view);
                offset += 1;
                left -= (view.matches('\n').count() as u64).min(left);
                if left == 0 {
                    break;
                }
            }
        }
        Ok(offset)
    }
}

impl Original for Opening<'_> {
    fn streams(&self) -> &[StreamInfo] {
        &self.streams
    }

    fn read_at(&mut self, stream: usize, offset: u64, to: &mut [u8]) -> std::io::Result<usize> {
        let number = self.numbers.get(stream).copied().unwrap_or(usize::MAX);
        self.opened.read_at(number, offset, to).map_err(std::io::Error::other)
    }
}

/// What came of a viewing.
pub(super) struct Viewed {
    pub(super) code: ExitCode,
    /// What was on the screen: a stream, and from which byte of it to which.
    pub(super) seen: Vec<(String, u64, u64)>,
}

/// Shows all of it in the viewer. What was copied is printed escaped when that is over.
pub(super) fn view(
    opening: &mut Opening<'_>,
    found: &Found,
    line: Option<u64>,
    tell: &mut dyn FnMut(&str, u64) -> Result<()>,
) -> Result<Viewed> {
    let offset = line.map_or(Ok(0), |line| opening.offset_of_line(line))?;
    let digest = opening.opened.keyed_digest_of_all().map_err(unusable)?;
    tell(&digest, opening.streams.iter().map(|stream| stream.bytes).sum())?;
    let mut title = format!("{}  {}", found.run, found.command);
    if let Some(fault) = opening.fault() {
        title = format!("{fault}  {title}");
    }
    let start = Start { title, stream: opening.stream, offset, colour: colour_wanted() };
    let seen = run_viewer(opening, &start)
        .map_err(|error| Failure::new(escaped(&error)).hint(error.hint()))?;
    for copied in &seen.copied {
        write(format!("{}\n", copied.text).as_bytes())?;
    }
    let code = match seen.ended {
        Ended::Signal(signal) => ExitCode::from(u8::try_from(128 + signal).unwrap_or(255)),
        _ => ExitCode::SUCCESS,
    };
    let name = |stream: usize| opening.streams.get(stream).map(|stream| stream.name.clone());
    let seen = seen
        .ranges
        .iter()
        .filter_map(|range| Some((name(range.stream)?, range.bytes.start, range.bytes.end)));
    Ok(Viewed { code, seen: seen.collect() })
}
