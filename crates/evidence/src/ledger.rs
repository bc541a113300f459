//! The writer of a ledger: one at a time, each record on disk before it is acknowledged.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use serde_json::json;

use crate::checkpoint::Checkpoint;
use crate::crash::crash_point;
use crate::error::LedgerError;
use crate::files;
use crate::key::CollectorKey;
use crate::record::{self, Fault, Kind, RECORD_BYTES_MAX, Record};
use crate::tree::{Digest, leaf_hash};
use crate::verify::walk;

/// Bytes that a full disk is made to give up, so that the ledger can say that it is full: as many
/// as the longest record has.
pub const RESERVE_BYTES: usize = RECORD_BYTES_MAX;

/// The ledger, held by this writer alone until it is dropped. Others wait meanwhile: hold it for as
/// long as it takes to write a record, and no longer. A process that is forked off holds it too.
#[derive(Debug)]
pub struct Ledger<'k> {
    file: File,
    path: PathBuf,
    key: &'k CollectorKey,
    /// Where the next record begins.
    end: u64,
    /// The number of the next record, and the hash of the one before it.
    next: (u64, Digest),
}

impl<'k> Ledger<'k> {
    /// Opens a ledger for writing, or makes it, and waits up to `wait` for other writers.
    ///
    /// A last record that is incomplete or ill-formed is cut, and a `recovered` record in its place
    /// says how much was cut. A last record in the right form but with a wrong signature, or an
    /// ill-formed one before, is an error: nothing is written behind it.
    pub fn open(path: &Path, key: &'k CollectorKey, wait: Duration) -> Result<Self, LedgerError> {
        let failed = |doing| io_error(doing, path);
        let file = open_or_make(path).map_err(failed("open"))?;
        if !file.metadata().map_err(failed("read"))?.is_file() {
            return Err(LedgerError::NotAFile { path: path.to_owned() });
        }
        if !files::lock(&file, false, wait).map_err(failed("lock"))? {
            return Err(LedgerError::Busy { path: path.to_owned(), waited: wait });
        }
        let bytes = Window::read(&file).map_err(failed("read"))?;
        let Tail { end, next, torn } = bytes.tail(key)?;
        let mut ledger = Self { file, path: path.to_owned(), key, end, next };
        if end == 0 {
            files::sync_folder(path).map_err(failed("make"))?;
        }
        if !torn.is_empty() {
            ledger.recover(torn)?;
        }
        ledger.keep_reserve();
        Ok(ledger)
    }

    /// Writes one record and returns its index when it is on disk. Its moment is the caller's; one
    /// that is earlier than the last is written as it is. `event` has to become a JSON object.
    ///
    /// After an error the ledger is as it was before, and another record can be tried. Where there
    /// was no room, a `full` record of the reserve says so.
    pub fn append(
        &mut self,
        time: SystemTime,
        kind: Kind,
        event: &impl Serialize,
    ) -> Result<u64, LedgerError> {
        let line = self.render(time, kind, event)?;
        let index = self.next.0;
        match self.put(&line) {
            Ok(()) => {
                self.keep_reserve();
                Ok(index)
            }
            Err(source) if is_full(&source) => {
                self.cut();
                let said = json!({"bytes": line.len(), "refused": kind.as_str()});
                let full = self.render(time, Kind::Full, &said)?;
                let recorded = self.free_reserve() && self.put(&full).is_ok();
                if !recorded {
                    self.cut();
                }
                Err(LedgerError::Full { recorded, source })
            }
            Err(source) => {
                self.cut();
                Err(io_error("write", &self.path)(source))
            }
        }
    }

    /// Makes a checkpoint of all records, after it has verified them, and writes a `checkpoint`
    /// record that says so. That one is not covered by it.
    pub fn checkpoint(&mut self, time: SystemTime) -> Result<Checkpoint, LedgerError> {
        let tree = walk((&self.file, &self.path), self.end, self.key.verifier(), |_, _, _| ())?;
        let (size, root) = (tree.size(), tree.root());
        self.append(time, Kind::Checkpoint, &json!({"root": root.to_string(), "size": size}))?;
        Ok(Checkpoint::sign(self.key, size, root))
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Where the records end.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Verifies all records and hands each on, while nobody else can write one.
    pub(crate) fn read(&self, mut visit: impl FnMut(&Record<'_>)) -> Result<(), LedgerError> {
        let opened = (&self.file, self.path.as_path());
        walk(opened, self.end, self.key.verifier(), |record, _, _| visit(record)).map(drop)
    }

    /// How many records there are.
    pub fn records(&self) -> u64 {
        self.next.0
    }

    /// Whether a full disk would leave room for a record that says so.
    pub fn has_reserve(&self) -> bool {
        let seen = fs::symlink_metadata(self.reserve());
        seen.is_ok_and(|seen| seen.is_file() && seen.len() >= RESERVE_BYTES as u64)
    }

    /// Writes over the torn tail before anything of it is cut, so that no moment leaves a ledger
    /// that has lost something and does not say so.
    fn recover(&mut self, torn: &[u8]) -> Result<(), LedgerError> {
        let said = json!({"cut_bytes": torn.len(), "cut_sha256": Digest::of(torn).to_string()});
        let line = self.render(SystemTime::now(), Kind::Recovered, &said)?;
        self.put(&line)
            .or_else(|e| if is_full(&e) && self.free_reserve() { self.put(&line) } else { Err(e) })
            .map_err(io_error("recover", &self.path))
    }

    fn render(
        &self,
        time: SystemTime,
        kind: Kind,
        event: &impl Serialize,
    ) -> Result<Vec<u8>, LedgerError> {
        record::render(self.key, self.next, time, kind, event)
            .map_err(|fault| LedgerError::Event { fault })
    }

    /// Writes a line at the end and makes it durable; nothing is left behind it.
    fn put(&mut self, line: &[u8]) -> io::Result<()> {
        #[cfg(debug_assertions)]
        self.write_half(line)?;
        self.file.write_all_at(line, self.end)?;
        crash_point("ledger-written");
        let end = self.end + line.len() as u64;
        if self.file.metadata()?.len() > end {
            self.file.set_len(end)?;
        }
        self.file.sync_data()?;
        crash_point("ledger-synced");
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        self.end = end;
        self.next = (after(self.next.0), leaf_hash(line));
        Ok(())
    }

    /// A write that is not whole, where a test wants to be killed after one.
    #[cfg(debug_assertions)]
    fn write_half(&self, line: &[u8]) -> io::Result<()> {
        self.file.write_all_at(&line[..line.len() / 2], self.end)?;
        crash_point("ledger-half-written");
        Ok(())
    }

    /// Takes away what a failed write left. Where that fails too, the next record is written over
    /// it, or the next writer finds a torn tail.
    fn cut(&self) {
        let _ = self.file.set_len(self.end);
    }

    fn reserve(&self) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(".reserve");
        name.into()
    }

    /// Makes the reserve if it is missing and there is room. Its bytes are random, so that no file
    /// system stores them in less.
    fn keep_reserve(&self) {
        if self.has_reserve() {
            return;
        }
        let make = || {
            let mut bytes = vec![0; RESERVE_BYTES];
            getrandom::fill(&mut bytes).map_err(io::Error::other)?;
            let mut options = OpenOptions::new();
            let mut file = files::open(&self.reserve(), options.write(true).create_new(true))?;
            file.write_all(&bytes)?;
            file.sync_all()
        };
        let _ = fs::remove_file(self.reserve());
        if make().is_err() {
            let _ = fs::remove_file(self.reserve());
        }
    }

    /// Gives the reserve up; `false` when there was none.
    fn free_reserve(&self) -> bool {
        self.has_reserve()
            && fs::remove_file(self.reserve()).is_ok()
            && files::sync_folder(&self.path).is_ok()
    }
}

pub(crate) fn io_error<'p>(
    doing: &'static str,
    path: &'p Path,
) -> impl Fn(io::Error) -> LedgerError + 'p {
    move |source| LedgerError::Io { doing, path: path.to_owned(), source }
}

fn open_or_make(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    match files::open(path, &mut options) {
        Err(e) if e.kind() == ErrorKind::NotFound => {}
        other => return other,
    }
    match files::open(path, options.create_new(true)) {
        // Another writer was quicker.
        Err(e) if e.kind() == ErrorKind::AlreadyExists => {
            files::open(path, options.create_new(false))
        }
        other => other,
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

/// The number after one. Whoever has the key may have signed the last that there is.
fn after(index: u64) -> u64 {
    index.saturating_add(1)
}

/// The last bytes of a ledger: the last record and the one before are among them.
struct Window {
    /// Where in the file they begin.
    start: u64,
    bytes: Vec<u8>,
}

/// What a writer has to know of the records that there are.
struct Tail<'a> {
    end: u64,
    next: (u64, Digest),
    /// A last record that is none.
    torn: &'a [u8],
}

impl Window {
    fn read(file: &File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        let start = len.saturating_sub(2 * RECORD_BYTES_MAX as u64);
        let mut bytes = vec![0; usize::try_from(len - start).unwrap_or_default()];
        file.read_exact_at(&mut bytes, start)?;
        Ok(Self { start, bytes })
    }

    /// The last line of the first `end` bytes, and where it begins. The LF that ends it is part of
    /// it.
    fn last_line(&self, end: usize) -> Result<(usize, &[u8]), LedgerError> {
        let bytes = &self.bytes[..end];
        let before = bytes.split_last().map_or(bytes, |(_, before)| before);
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let line = &bytes[start..];
        if line.len() > RECORD_BYTES_MAX {
            return Err(self.damaged(None, start, Fault::TooLong));
        }
        Ok((start, line))
    }

    fn damaged(&self, index: Option<u64>, at: usize, fault: Fault) -> LedgerError {
        LedgerError::Damaged { index, offset: self.start + at as u64, fault }
    }

    fn tail(&self, key: &CollectorKey) -> Result<Tail<'_>, LedgerError> {
        let (start, last) = self.last_line(self.bytes.len())?;
        let is_torn = parse_line(last).is_err();
        let (torn, end) = if is_torn { (last, start) } else { (&[][..], self.bytes.len()) };
        let offset = self.start + end as u64;
        if offset == 0 {
            return Ok(Tail { end: 0, next: (0, Digest::default()), torn });
        }
        let (start, line) = self.last_line(end)?;
        let record = parse_line(line).map_err(|fault| self.damaged(None, start, fault))?;
        record
            .check_signature(key.verifier())
            .map_err(|fault| self.damaged(Some(record.index), start, fault))?;
        Ok(Tail { end: offset, next: (after(record.index), record.hash()), torn })
    }
}

fn parse_line(line: &[u8]) -> Result<Record<'_>, Fault> {
    Record::parse(line.strip_suffix(b"\n").ok_or(Fault::Incomplete)?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_last_number_that_there_is_stops_nobody() {
        let name = format!("noesc-evidence-last-number-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let key = CollectorKey::from_seed("example.com/ledger", &[7; 32]).unwrap();
        let last = (u64::MAX, Digest::default());
        let line = record::render(&key, last, SystemTime::now(), Kind::Run, &json!({})).unwrap();
        fs::write(&path, line).unwrap();
        let mut ledger = Ledger::open(&path, &key, Duration::ZERO).unwrap();
        for _ in 0..2 {
            let written = ledger.append(SystemTime::now(), Kind::Run, &json!({}));
            assert_eq!(written.unwrap(), u64::MAX);
        }
        let error = ledger.checkpoint(SystemTime::now()).unwrap_err();
        let expected = Fault::Index { expected: 0, found: u64::MAX };
        assert!(matches!(error, LedgerError::Damaged { fault, .. } if fault == expected));
        fs::remove_file(ledger.reserve()).unwrap();
        fs::remove_file(path).unwrap();
    }
}
