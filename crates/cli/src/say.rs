//! Our own lines on stderr. Each begins with `noesc: `, and each on a line of its own.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::file_id::{file_id, seen_at};

/// Whether what was written to our stdout, or stderr, last has no line end.
static STDOUT_OPEN: AtomicBool = AtomicBool::new(false);
static STDERR_OPEN: AtomicBool = AtomicBool::new(false);

/// These bytes went to stdout.
pub(crate) fn stdout_took(bytes: &[u8]) {
    if let Some(last) = bytes.last() {
        STDOUT_OPEN.store(*last != b'\n', Relaxed);
    }
}

/// These bytes of a command went to our stderr.
pub(crate) fn stderr_took(bytes: &[u8]) {
    if let Some(last) = bytes.last() {
        STDERR_OPEN.store(*last != b'\n', Relaxed);
    }
}

/// What a command printed went to both, and its last lines are open or not.
pub(crate) fn lines_are_open(stdout: bool, stderr: bool) {
    STDOUT_OPEN.store(stdout, Relaxed);
    STDERR_OPEN.store(stderr, Relaxed);
}

/// Writes one line of ours to stderr; an open line there is ended first. That nobody reads it is
/// no reason to fail.
pub(crate) fn say(line: &str) {
    let mut stderr = io::stderr();
    let stdout = is_one_output() && STDOUT_OPEN.swap(false, Relaxed);
    if STDERR_OPEN.swap(false, Relaxed) || stdout {
        let _ = stderr.write_all(b"\n");
    }
    let _ = writeln!(stderr, "noesc: {}", inert(line));
}

/// A line without a character that acts. Whoever quotes somebody's bytes escapes them; this is for
/// the one who forgets.
fn inert(line: &str) -> Cow<'_, str> {
    match line.contains(char::is_control) {
        true => Cow::Owned(line.split_inclusive(char::is_control).map(last_escaped).collect()),
        false => Cow::Borrowed(line),
    }
}

/// A piece of which the last character alone may act.
fn last_escaped(piece: &str) -> String {
    let start = piece.trim_end_matches(char::is_control);
    format!("{start}{}", noesc::audit(&piece.as_bytes()[start.len()..]))
}

/// Whether stdout and stderr go to the same terminal, pipe or file. Two terminals are taken for
/// one: `/dev/tty` is the name of any.
pub(crate) fn is_one_output() -> bool {
    if io::stdout().is_terminal() && io::stderr().is_terminal() {
        return true;
    }
    match (seen_at(io::stdout()), seen_at(io::stderr())) {
        (Ok(stdout), Ok(stderr)) => file_id(&stdout) == file_id(&stderr),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_escaped_and_nothing_else() {
        for (line, wanted) in [
            ("high in stdout: style ×2 …", "high in stdout: style ×2 …"),
            ("a\u{1b}[2J\nb\u{7f}", "a\\x1b[2J\\x0ab\\x7f"),
            ("\u{9b}\u{1b}\u{1b}", "\\xc2\\x9b\\x1b\\x1b"),
            ("", ""),
        ] {
            assert_eq!(inert(line), wanted);
        }
    }
}
