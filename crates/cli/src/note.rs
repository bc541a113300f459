//! What a reader is told without asking.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

use noesc::{Report, Severity};

use crate::fail::say;

/// What to say when a finding is high or critical, such as
/// `high: clipboard-write ×2, first at byte 14`.
///
/// `name` is the stream's, where there are several.
pub(crate) fn findings(report: &Report, name: Option<&str>) -> Option<String> {
    let grave: Vec<_> =
        report.findings.iter().filter(|finding| finding.severity >= Severity::High).collect();
    let gravest = grave.first()?;
    let list: Vec<_> = grave
        .iter()
        .map(|finding| {
            let at = finding.spans.first().map_or(0, |span| span.0);
            match finding.count {
                1 => format!("{} at byte {at}", finding.kind),
                n => format!("{} ×{n}, first at byte {at}", finding.kind),
            }
        })
        .collect();
    let name = name.map_or(String::new(), |name| format!(" in {name}"));
    Some(format!("{}{name}: {}", gravest.severity.name(), list.join("; ")))
}

/// Which of our outputs end in a line without its end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OpenLines {
    pub(crate) stdout: bool,
    pub(crate) stderr: bool,
}

/// Says these on stderr, each on a line of its own: an open line is ended first.
pub(crate) fn tell(notes: impl IntoIterator<Item = String>, open: OpenLines) {
    let mut ends_line = open.stderr || open.stdout && is_one_output();
    for note in notes {
        if std::mem::take(&mut ends_line) {
            let _ = io::stderr().write_all(b"\n");
        }
        say(&note);
    }
}

/// Whether stdout and stderr go to the same terminal, pipe or file.
pub(crate) fn is_one_output() -> bool {
    let place = |fd: std::os::fd::BorrowedFd<'_>| -> io::Result<_> {
        let file = std::fs::File::from(fd.try_clone_to_owned()?).metadata()?;
        Ok((file.dev(), file.ino()))
    };
    match (place(io::stdout().as_fd()), place(io::stderr().as_fd())) {
        (Ok(stdout), Ok(stderr)) => stdout == stderr,
        _ => false,
    }
}
