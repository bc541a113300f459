//! Readers of a ledger. They believe no record of which one before is not in order.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use crate::checkpoint::Checkpoint;
use crate::error::LedgerError;
use crate::files;
use crate::key::VerifierKey;
use crate::ledger::io_error;
use crate::record::{Fault, RECORD_BYTES_MAX, Record};
use crate::tree::{Digest, Tree};

/// What holds for a ledger in order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// How many records it has.
    pub records: u64,
    /// The root over all of them.
    pub root: Digest,
    /// Records with an earlier moment than the one before them: a clock was set back.
    pub backwards: u64,
    /// The first of these.
    pub first_backwards: Option<u64>,
}

/// Verifies all of a ledger: the form of each record, its number, the hash of the one before, its
/// signature. An empty ledger is in order. Waits up to `wait` for a writer to finish its record.
///
/// That the last records were cut off does not show here, but in [`verify_since`].
pub fn verify(path: &Path, key: &VerifierKey, wait: Duration) -> Result<Verified, LedgerError> {
    read(path, key, wait, |_, _| ())
}

/// Verifies all of a ledger, and that its beginning is what it was at the checkpoint.
pub fn verify_since(
    path: &Path,
    key: &VerifierKey,
    checkpoint: &Checkpoint,
    wait: Duration,
) -> Result<Verified, LedgerError> {
    read_since(path, key, checkpoint, wait, |_, _| ())
}

/// Hands each record on as [`read`] does, and says at the end what [`verify_since`] says.
pub fn read_since(
    path: &Path,
    key: &VerifierKey,
    checkpoint: &Checkpoint,
    wait: Duration,
    mut visit: impl FnMut(&Record<'_>, u64),
) -> Result<Verified, LedgerError> {
    let mut then = (checkpoint.size() == 0).then(|| Tree::default().root());
    let verified = read_with(path, key, wait, |record, offset, tree| {
        visit(record, offset);
        if tree.size() == checkpoint.size() {
            then = Some(tree.root());
        }
    })?;
    let (size, expected) = (checkpoint.size(), checkpoint.root());
    match then {
        None => Err(LedgerError::Short { expected: size, found: verified.records }),
        Some(found) if found != expected => Err(LedgerError::Changed { size, expected, found }),
        Some(_) => Ok(verified),
    }
}

/// Verifies all of a ledger and hands each record on, with its place in the file, once it and all
/// before it are known to be in order. What [`verify`] says of the whole comes at the end.
pub fn read(
    path: &Path,
    key: &VerifierKey,
    wait: Duration,
    mut visit: impl FnMut(&Record<'_>, u64),
) -> Result<Verified, LedgerError> {
    read_with(path, key, wait, |record, offset, _| visit(record, offset))
}

/// How far a ledger was read. The default is its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// How many records.
    pub records: u64,
    /// Where the last of them begins.
    pub last: u64,
    /// Where it ends.
    pub end: u64,
    /// Its hash.
    pub hash: Digest,
}

/// Reads on from a position that was believed before: verifies that its record still stands there,
/// and each one behind it as [`verify`] does. Hands each on, with the position up to it.
///
/// What lies before the position is not looked at: [`verify`] does.
///
/// # Errors
/// [`LedgerError::Moved`] where the record of the position is not there.
pub fn read_from(
    path: &Path,
    key: &VerifierKey,
    from: Position,
    wait: Duration,
    visit: impl FnMut(&Record<'_>, Position),
) -> Result<Position, LedgerError> {
    let (file, len) = open_whole(path, wait)?;
    if from.end > len || !stands(&file, from).map_err(io_error("read", path))? {
        return Err(LedgerError::Moved { records: from.records, offset: from.last });
    }
    walk_from((&file, path), from, len, key, visit)
}

/// Whether the record of a position is there.
fn stands(mut file: &File, at: Position) -> std::io::Result<bool> {
    if at.records == 0 {
        return Ok(at == Position::default());
    }
    let length = at.end.saturating_sub(at.last);
    if length == 0 || length > RECORD_BYTES_MAX as u64 {
        return Ok(false);
    }
    file.seek(SeekFrom::Start(at.last))?;
    let mut line = Vec::new();
    file.take(length).read_to_end(&mut line)?;
    let record = line.strip_suffix(b"\n").and_then(|line| Record::parse(line).ok());
    Ok(record.is_some_and(|it| it.index.checked_add(1) == Some(at.records) && it.hash() == at.hash))
}

/// Opens a ledger, and gives the length that it has while nobody writes: it ends with a record
/// then. What is there does not change any more, so that writers need not wait for the rest.
fn open_whole(path: &Path, wait: Duration) -> Result<(File, u64), LedgerError> {
    let file = files::open(path, OpenOptions::new().read(true)).map_err(io_error("open", path))?;
    let seen = file.metadata().map_err(io_error("read", path))?;
    if !seen.is_file() {
        return Err(LedgerError::NotAFile { path: path.to_owned() });
    }
    if !files::lock(&file, true, wait).map_err(io_error("lock", path))? {
        return Err(LedgerError::Busy { path: path.to_owned(), waited: wait });
    }
    let len = file.metadata().map_err(io_error("read", path))?.len();
    files::unlock(&file).map_err(io_error("lock", path))?;
    Ok((file, len))
}

fn read_with(
    path: &Path,
    key: &VerifierKey,
    wait: Duration,
    mut visit: impl FnMut(&Record<'_>, u64, &Tree),
) -> Result<Verified, LedgerError> {
    let (file, len) = open_whole(path, wait)?;
    let (mut backwards, mut first_backwards) = (0, None);
    let mut last_time = String::new();
    let tree = walk((&file, path), len, key, |record, offset, tree| {
        if record.time < last_time.as_str() {
            backwards += 1;
            first_backwards.get_or_insert(record.index);
        }
        record.time.clone_into(&mut last_time);
        visit(record, offset, tree);
    })?;
    Ok(Verified { records: tree.size(), root: tree.root(), backwards, first_backwards })
}

/// Verifies the first `len` bytes of a ledger; `visit` sees each record that is in order, where it
/// begins, and the tree up to it.
pub(crate) fn walk(
    place: (&File, &Path),
    len: u64,
    key: &VerifierKey,
    mut visit: impl FnMut(&Record<'_>, u64, &Tree),
) -> Result<Tree, LedgerError> {
    let mut tree = Tree::default();
    walk_from(place, Position::default(), len, key, |record, position| {
        tree.push(position.hash);
        visit(record, position.last, &tree);
    })?;
    Ok(tree)
}

/// Verifies what lies between a position and a length.
fn walk_from(
    (mut file, path): (&File, &Path),
    from: Position,
    len: u64,
    key: &VerifierKey,
    mut visit: impl FnMut(&Record<'_>, Position),
) -> Result<Position, LedgerError> {
    file.seek(SeekFrom::Start(from.end)).map_err(io_error("read", path))?;
    let mut reader = BufReader::new(file).take(len.saturating_sub(from.end));
    let mut at = from;
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut limited = reader.by_ref().take(RECORD_BYTES_MAX as u64 + 1);
        let read = limited.read_until(b'\n', &mut line).map_err(io_error("read", path))?;
        if read == 0 {
            return Ok(at);
        }
        let (index, offset) = (at.records, at.end);
        let damaged = |fault| LedgerError::Damaged { index: Some(index), offset, fault };
        let missing = if read > RECORD_BYTES_MAX { Fault::TooLong } else { Fault::Incomplete };
        let whole = line.strip_suffix(b"\n").ok_or(missing).map_err(damaged)?;
        let record = Record::parse(whole).map_err(damaged)?;
        record.check(index, at.hash, key).map_err(damaged)?;
        let end = offset + read as u64;
        at = Position { records: index + 1, last: offset, end, hash: record.hash() };
        visit(&record, at);
    }
}
