//! What a scan has seen.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use noesc::Severity;
use serde::Serialize;

use super::examine::Found;

/// Everything, in the order of the paths once it is [sorted](Self::sort).
#[derive(Default)]
pub(super) struct Scanned {
    /// Texts read to the end, and their bytes.
    pub(super) files: u64,
    pub(super) bytes: u64,
    pub(super) skipped: Skipped,
    pub(super) unread: Vec<Unread>,
    pub(super) found: Vec<FileFindings>,
    /// Paths met of those asked for, as they are shown.
    pub(super) met: BTreeSet<String>,
    /// Occurrences that the baseline knows.
    pub(super) known: u64,
}

/// Files that were not scanned, by reason.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Skipped {
    pub(super) binary: u64,
    pub(super) symlinks: u64,
    /// Pipes, devices, sockets.
    pub(super) special: u64,
    /// In object stores of git.
    pub(super) stored: u64,
}

/// Something that could not be read.
#[derive(Debug)]
pub(super) struct Unread {
    pub(super) path: PathBuf,
    pub(super) error: io::Error,
}

impl Unread {
    pub(super) fn new(path: &Path, error: io::Error) -> Self {
        Self { path: path.to_owned(), error }
    }
}

/// The findings in one file and in its name, or in the name of a folder.
pub(super) struct FileFindings {
    pub(super) path: PathBuf,
    /// The encoding that a BOM declares, if it is not UTF-8.
    pub(super) decoded: Option<&'static str>,
    pub(super) findings: Vec<Found>,
}

/// Occurrences by severity.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct BySeverity {
    pub(super) critical: u64,
    pub(super) high: u64,
    pub(super) low: u64,
    pub(super) info: u64,
}

impl Scanned {
    pub(super) fn add(&mut self, other: Self) {
        self.files += other.files;
        self.bytes += other.bytes;
        self.skipped.binary += other.skipped.binary;
        self.skipped.symlinks += other.skipped.symlinks;
        self.skipped.special += other.skipped.special;
        self.skipped.stored += other.skipped.stored;
        self.unread.extend(other.unread);
        self.found.extend(other.found);
        self.met.extend(other.met);
    }

    /// Whatever the threads did, the same tree gives the same order.
    pub(super) fn sort(&mut self) {
        self.found.sort_by(|a, b| bytes(&a.path).cmp(bytes(&b.path)));
        // What is in the name of a file was found before what is in the file.
        self.found.dedup_by(|file, before| {
            let same = file.path == before.path;
            if same {
                before.decoded = before.decoded.or(file.decoded);
                before.findings.append(&mut file.findings);
            }
            same
        });
        self.unread.sort_by(|a, b| bytes(&a.path).cmp(bytes(&b.path)));
    }

    pub(super) fn by_severity(&self) -> BySeverity {
        let mut counts = BySeverity::default();
        for found in self.found.iter().flat_map(|file| &file.findings) {
            *match found.severity {
                Severity::Critical => &mut counts.critical,
                Severity::High => &mut counts.high,
                Severity::Low => &mut counts.low,
                Severity::Info => &mut counts.info,
            } += found.count;
        }
        counts
    }

    /// The findings at or above a severity, with their files.
    pub(super) fn at_least(
        &self,
        severity: Severity,
    ) -> impl Iterator<Item = (&FileFindings, &Found)> {
        let all = self.found.iter().flat_map(|file| file.findings.iter().map(move |f| (file, f)));
        all.filter(move |(_, found)| found.severity >= severity)
    }
}

fn bytes(path: &Path) -> &[u8] {
    super::walk::shown(path).as_bytes()
}
