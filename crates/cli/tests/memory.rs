//! Memory stays flat whatever the input: what `cargo xtask bench-memory` measures with 2 GB, here
//! with little for more inputs and settings.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used)]
// The peak comes from the process file system.
#![cfg(target_os = "linux")]

mod common;

use std::io::{Read, Write};
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use common::{Folder, noesc, status};

/// The bound on the peak of resident memory. Most of it are pages of an unoptimised build, which
/// has an SQLite in it.
const PEAK_KIB_MAX: u64 = 24 * 1024;

/// Input that an unoptimised build reads at once.
const LONG: usize = 64 << 20;

/// Input that it takes its time for.
const SHORT: usize = 768 << 10;

/// After this much every buffer has the size that it needs for one read.
const SETTLED: usize = 256 << 10;

/// What the allocator may still add after that. It is less than a third of what follows in the
/// shortest input, so that a byte held for each byte read is more.
const GROWTH_KIB_MAX: u64 = 128;
const _: () = assert!((3 * (GROWTH_KIB_MAX as usize)) << 10 < SHORT - SETTLED);

/// The most memory that the process held so far, or `None` once it has ended.
fn peak_kib(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

/// The memory that the process wrote itself, now and exactly. Not in it are pages of the program
/// file, which come as code first runs and say nothing of the input. `None` where the process may
/// not be looked into: `run` makes itself undumpable, and then only root may.
fn anonymous_kib(pid: u32) -> Option<u64> {
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Anonymous:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

/// What a process held while it read.
struct Held {
    /// The peak of all resident memory, the end of the stream included.
    peak: u64,
    /// Anonymous memory when buffers had settled, and when all was read.
    settled: Option<u64>,
    read: Option<u64>,
}

/// Feeds `start`, then `again` until `length` bytes were written.
fn fed(arguments: &[&str], start: &[u8], again: &[u8], length: usize) -> Held {
    let mut command = noesc(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let drain = drained(&mut child);
    let piece = again.repeat((64 << 10) / again.len());
    let mut settled = None;
    let mut written = start.len();
    stdin.write_all(start).unwrap();
    while written < length {
        stdin.write_all(&piece).unwrap();
        written += piece.len();
        if settled.is_none() && written >= SETTLED {
            settled = anonymous_kib(child.id());
        }
    }
    let read = anonymous_kib(child.id());
    let mut peak = peak_kib(child.id()).unwrap();
    drop(stdin);
    // The end of the stream is part of it.
    while let Some(kib) = peak_kib(child.id()) {
        peak = peak.max(kib);
        thread::sleep(Duration::from_micros(200));
    }
    assert!(status(&mut child).success(), "{arguments:?}");
    drain.join().unwrap();
    Held { peak, settled, read }
}

fn drained(child: &mut Child) -> thread::JoinHandle<()> {
    let mut stdout = child.stdout.take().unwrap();
    thread::spawn(move || {
        let mut bytes = vec![0; 256 << 10];
        while stdout.read(&mut bytes).unwrap() > 0 {}
    })
}

/// An input without an end: its name, what it begins with, and what follows for ever.
type Endless = (&'static str, &'static [u8], &'static [u8]);

/// Text and payload, which are read in long runs.
const FAST: &[Endless] = &[
    ("OSC", b"\x1b]", b"\0"),
    ("OSC", b"\x1b]", b"x"),
    ("DCS", b"\x1bP", b"x"),
    ("line", b"", b"x"),
    ("lines", b"", b"x\n"),
];

const SLOW: &[Endless] = &[
    ("APC with line ends", b"\x1b_", b"\n"),
    ("raw OSC", b"\x9d", b"x"),
    ("half an ST", b"\x1b]", b"x\x1b]"),
    ("CSI", b"\x1b[", b"1"),
    ("CSI with intermediates", b"\x1b[", b" "),
    ("escape with intermediates", b"\x1b", b" "),
    ("zeros", b"", b"\0"),
    ("carriage returns", b"", b"x\r"),
    ("only carriage returns", b"x", b"\r"),
    ("backspaces", b"x", b"xy\x08"),
    ("cursor movements", b"x", b"\x1b[99999C"),
    ("marks", b"e", b"\xcc\x81"),
    ("joiners", b"e", b"\xe2\x80\x8d"),
    ("selectors", b"e", b"\xef\xb8\x8f"),
    ("fillers", b"e", b"\xe2\xa0\x80"),
    ("tags", b"\xf0\x9f\x8f\xb4", b"\xf3\xa0\x81\xa7"),
    ("style", b"", b"\x1b[1m"),
    ("hidden text", b"", b"\x1b[8mx\x1b[m"),
    ("ill-formed bytes", b"", b"\xff"),
    ("raw introducers", b"", b"\x9dx"),
];

/// Those inputs that `wanted` picks, with these arguments; `long` bytes of the fast ones.
#[track_caller]
fn bounded(arguments: &[&str], long: usize, wanted: impl Fn(&str) -> bool) {
    let mut over = Vec::new();
    let fast = FAST.iter().map(|input| (input, long));
    for ((name, start, again), length) in fast.chain(SLOW.iter().map(|input| (input, SHORT))) {
        if wanted(name) {
            let Held { peak, settled, read } = fed(arguments, start, again, length);
            if peak > PEAK_KIB_MAX {
                over.push(format!("{name}: a peak of {peak} KiB"));
            }
            let (Some(settled), Some(read)) = (settled, read) else {
                assert_eq!(arguments[0], "run", "not to be looked into");
                continue;
            };
            let growth = read.saturating_sub(settled);
            if growth > GROWTH_KIB_MAX {
                over.push(format!("{name}: {growth} KiB more at the end, peak {peak} KiB"));
            }
        }
    }
    assert!(over.is_empty(), "{arguments:?}: {over:#?}");
}

#[test]
fn of_every_input() {
    bounded(&["filter", "-q"], LONG, |_| true);
}

#[test]
fn of_a_run() {
    bounded(&["run", "-q", "--", "cat"], LONG, |name| {
        ["OSC", "DCS", "line", "half an ST", "CSI"].contains(&name)
    });
}

#[test]
fn of_edited_lines() {
    for cr in ["overwrite", "collapse"] {
        bounded(&["filter", "-q", "--cr", cr], SHORT, |name| {
            let edits = ["line", "OSC", "carriage returns", "backspaces", "cursor movements"];
            edits.contains(&name) || ["CSI", "marks", "hidden text"].contains(&name)
        });
    }
}

#[test]
fn of_marks() {
    bounded(&["filter", "-q", "--mark"], SHORT, |name| {
        ["OSC", "line", "CSI", "half an ST", "zeros", "style"].contains(&name)
    });
}

#[test]
fn of_kept_style() {
    bounded(&["filter", "-q", "--profile", "display"], SHORT, |name| {
        ["line", "CSI", "style", "hidden text"].contains(&name)
    });
}

#[test]
fn of_spans() {
    let folder = Folder::new("memory");
    let spans = folder.name("spans");
    bounded(&["filter", "-q", "--spans", &spans], SHORT, |name| {
        ["OSC", "line", "CSI", "zeros", "carriage returns"].contains(&name)
    });
    bounded(&["filter", "-q", "--cr", "overwrite", "--spans", &spans], SHORT, |name| {
        ["line", "carriage returns", "backspaces"].contains(&name)
    });
}

#[test]
fn of_a_declared_encoding() {
    for encoding in ["gbk", "utf-16le"] {
        bounded(&["filter", "-q", "--encoding", encoding], SHORT, |name| {
            ["half an ST", "zeros", "ill-formed bytes"].contains(&name)
        });
    }
}

#[test]
fn of_audit() {
    bounded(&["audit"], SHORT, |name| ["line", "zeros"].contains(&name));
    bounded(&["unaudit"], SHORT, |name| name == "line");
}
