//! Every file below the paths given, in parallel.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ignore::{DirEntry, ParallelVisitor, ParallelVisitorBuilder, WalkBuilder, WalkState};
use indicatif::ProgressBar;
use rustix::fs::OFlags;

use super::examine::{Examined, What, examine, examine_name};
use super::scanned::{FileFindings, Scanned, Unread};
use super::source::{Buffer, Source};
use super::store::Stores;
use crate::file_id::{FileId, file_id};

/// What a walk does with some of what it meets.
#[derive(Clone, Copy)]
pub(super) struct Apart<'a> {
    /// The roots: what is one itself is scanned as that, and not below another.
    pub(super) roots: &'a BTreeSet<FileId>,
    /// Files that are not scanned at all.
    pub(super) left_out: [Option<FileId>; 2],
    /// Paths that are noted where they are met.
    pub(super) noted: Option<&'a BTreeSet<String>>,
}

/// Scans everything below `roots`. Symlinks are followed only where they are roots.
pub(super) fn walk(
    roots: &[PathBuf],
    respect_ignore: bool,
    apart: Apart<'_>,
    progress: &ProgressBar,
) -> Scanned {
    let all = Mutex::new(Scanned::default());
    let mut roots = roots.iter();
    if let Some(first) = roots.next() {
        let mut builder = WalkBuilder::new(first);
        for root in roots {
            builder.add(root);
        }
        builder.standard_filters(false).follow_links(false);
        builder.threads(std::thread::available_parallelism().map_or(1, Into::into));
        if respect_ignore {
            builder.parents(true).ignore(true);
            builder.git_ignore(true).git_global(true).git_exclude(true);
        }
        builder.build_parallel().visit(&mut Builder { all: &all, apart, progress });
    }
    all.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Where a file is, if it is there.
pub(super) fn id_at(path: &Path) -> Option<FileId> {
    std::fs::metadata(path).ok().map(|seen| file_id(&seen))
}

struct Builder<'s> {
    all: &'s Mutex<Scanned>,
    apart: Apart<'s>,
    progress: &'s ProgressBar,
}

impl<'s> ParallelVisitorBuilder<'s> for Builder<'s> {
    fn build(&mut self) -> Box<dyn ParallelVisitor + 's> {
        Box::new(Visitor {
            all: self.all,
            apart: self.apart,
            progress: self.progress,
            mine: Scanned::default(),
            buffer: Buffer::default(),
            stores: Stores::default(),
        })
    }
}

/// One thread's part.
struct Visitor<'s> {
    all: &'s Mutex<Scanned>,
    apart: Apart<'s>,
    progress: &'s ProgressBar,
    mine: Scanned,
    buffer: Buffer,
    stores: Stores,
}

impl Drop for Visitor<'_> {
    fn drop(&mut self) {
        let mine = std::mem::take(&mut self.mine);
        self.all.lock().unwrap_or_else(PoisonError::into_inner).add(mine);
    }
}

impl ParallelVisitor for Visitor<'_> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        match entry {
            Ok(entry) if self.is_other_root(&entry) => return WalkState::Skip,
            Ok(entry) => self.entry(&entry),
            Err(error) => self.mine.unread.push(unread(error)),
        }
        WalkState::Continue
    }
}

impl Visitor<'_> {
    /// Whether a folder or file below a root is a root itself. Costs nothing where there is one.
    fn is_other_root(&self, entry: &DirEntry) -> bool {
        let apart = &self.apart;
        apart.roots.len() > 1
            && entry.depth() > 0
            && entry.metadata().is_ok_and(|seen| apart.roots.contains(&file_id(&seen)))
    }

    fn entry(&mut self, entry: &DirEntry) {
        let path = entry.path();
        if let Some(noted) = self.apart.noted {
            note(path, noted, &mut self.mine);
        }
        self.name(path);
        let kind = match entry.depth() {
            // A root may be a symlink to what is meant.
            0 => std::fs::metadata(path).map(|metadata| metadata.file_type()),
            _ => entry.file_type().ok_or_else(|| io::Error::other("a file without a type")),
        };
        match kind {
            Ok(kind) => self.kind(entry, kind),
            Err(error) => self.mine.unread.push(Unread::new(path, error)),
        }
    }

    /// Looks at the last component of a path. A root such as `..` has no name of its own.
    fn name(&mut self, path: &Path) {
        match path.file_name().map_or_else(|| Ok(Vec::new()), |name| examine_name(name.as_bytes()))
        {
            Ok(findings) if findings.is_empty() => {}
            Ok(findings) => {
                let path = path.to_owned();
                self.mine.found.push(FileFindings { path, decoded: None, findings });
            }
            Err(error) => self.mine.unread.push(Unread::new(path, error)),
        }
    }

    fn kind(&mut self, entry: &DirEntry, kind: FileType) {
        let path = entry.path();
        if kind.is_dir() {
            return;
        }
        if kind.is_symlink() {
            self.mine.skipped.symlinks += 1;
        } else if !kind.is_file() {
            self.mine.skipped.special += 1;
        } else if entry.depth() > 0 && self.stores.holds(path) {
            self.mine.skipped.stored += 1;
        } else {
            self.file(path, entry.depth() == 0);
        }
    }

    fn file(&mut self, path: &Path, follow: bool) {
        let scanned = &mut self.mine;
        let result = open(path, follow).and_then(|file| match file {
            Some((_, seen)) if self.apart.left_out.contains(&Some(file_id(&seen))) => Ok(()),
            Some((file, seen)) => {
                scan_file((&file, What::File), seen.len(), path, &mut self.buffer, scanned)
            }
            None => {
                scanned.skipped.special += 1;
                Ok(())
            }
        });
        if let Err(error) = result {
            scanned.unread.push(Unread::new(path, error));
        }
        self.progress.inc(1);
    }
}

/// Notes that a path was met, if that is asked for.
pub(super) fn note(path: &Path, noted: &BTreeSet<String>, scanned: &mut Scanned) {
    let path = noesc::audit(shown(path).as_bytes());
    if noted.contains(&path) {
        scanned.met.insert(path);
    }
}

/// Opens a regular file and says what it is. Something else may have taken its place by now: that
/// is never waited for, and `None`.
fn open(path: &Path, follow: bool) -> io::Result<Option<(File, Metadata)>> {
    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    if !follow {
        flags |= OFlags::NOFOLLOW;
    }
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    Ok(metadata.is_file().then_some((file, metadata)))
}

/// Scans an open regular file of this length.
pub(super) fn scan_file(
    (file, what): (&File, What),
    len: u64,
    path: &Path,
    buffer: &mut Buffer,
    scanned: &mut Scanned,
) -> io::Result<()> {
    let mut source = Source::read(file, len, buffer)?;
    match examine(&mut source, what)? {
        Examined::Binary => scanned.skipped.binary += 1,
        Examined::Text(findings) => {
            scanned.files += 1;
            scanned.bytes += source.len;
            if !findings.is_empty() {
                let (path, decoded) = (path.to_owned(), source.decoded);
                scanned.found.push(FileFindings { path, decoded, findings });
            }
        }
    }
    Ok(())
}

/// What the walker could not read.
fn unread(error: ignore::Error) -> Unread {
    let mut path = PathBuf::new();
    let mut error = error;
    loop {
        error = match error {
            ignore::Error::WithPath { path: at, err } => {
                path = at;
                *err
            }
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
                *err
            }
            ignore::Error::Loop { child, .. } => {
                return Unread::new(&child, io::Error::other("a loop of links"));
            }
            ignore::Error::Io(error) => return Unread::new(&path, error),
            error => return Unread::new(&path, io::Error::other(error)),
        };
    }
}

/// The path as it is shown and compared: without a leading `./`.
pub(super) fn shown(path: &Path) -> &OsStr {
    let bytes = path.as_os_str().as_bytes();
    let short = bytes.strip_prefix(b"./").map(|rest| {
        let slashes = rest.iter().take_while(|&&byte| byte == b'/').count();
        &rest[slashes..]
    });
    OsStr::from_bytes(short.filter(|short| !short.is_empty()).unwrap_or(bytes))
}
