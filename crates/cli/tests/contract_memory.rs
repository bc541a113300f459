//! The contract of a run: whatever the output, memory is flat, the clock is kept, and what was
//! dropped is said.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
// The peak comes from the process file system.
#![cfg(target_os = "linux")]

mod common;
mod contract;

use std::io::Read;
use std::time::Duration;

use common::{Ended, noesc, spawned};
use contract::Told;
use serde_json::json;

/// The bound on the peak of resident memory. No byte is kept in memory but the view's 32 KiB.
const PEAK_KIB_MAX: u64 = 48 * 1024;

/// Bytes of a stream that are kept: few, so that there is something to drop on a slow machine too.
const KEPT: u64 = 64 * 1024;

/// It ends, on a slow machine too: these commands would not.
const ENDS_MS: u64 = 60_000;

/// A run with a limit of two seconds, and the most memory that it held.
fn flat(argv: &[&str]) -> Told {
    let flags = ["--format", "json", "--time-max", "2s", "--capture-bytes-max", "64KiB", "--"];
    let mut child = spawned(noesc(["run"].iter().chain(&flags).chain(argv)));
    let id = child.id();
    let mut stdout = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stdout.read_to_end(&mut bytes).unwrap();
        bytes
    });
    let mut peak = 0;
    while let Some(kib) = peak_kib(id) {
        peak = peak.max(kib);
        std::thread::sleep(Duration::from_millis(2));
    }
    let ended = common::ended(child);
    assert!(peak > 0 && peak < PEAK_KIB_MAX, "{argv:?}: a peak of {peak} KiB");
    Told::of(&Ended { stdout: reader.join().unwrap(), ..ended })
}

/// The most memory that the process held so far, or `None` once it has ended.
fn peak_kib(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

/// What was observed and not shown or kept is said to be so.
#[track_caller]
fn says_what_was_dropped(run: &Told) {
    let (observed, kept) = run.bytes("stdout");
    assert_eq!(kept, KEPT);
    assert!(observed > kept, "{observed}");
    let (_, cutoff, complete) = run.end("stdout");
    assert_eq!((cutoff, complete), ("bytes", false));
    let (head, tail) = run.view("stdout");
    assert!(head.len() + tail.len() <= 32 * 1024);
    assert!(!head.is_empty() && !tail.is_empty());
    assert!(run.stream("stdout")["view"]["omitted"]["bytes"].as_u64().unwrap() > 0);
}

#[test]
fn random_bytes_without_an_end() {
    let run = flat(&["cat", "/dev/urandom"]);
    says_what_was_dropped(&run);
    let exit = json!({"kind": "signalled", "signal": 15, "core": false});
    assert_eq!(run.outcome(), json!({"kind": "timed_out", "exit": exit}));
    assert!((2000..ENDS_MS).contains(&run.duration_ms()), "{} ms", run.duration_ms());
    assert_eq!(run.code, 124);
}

#[test]
fn lines_without_an_end() {
    let run = flat(&["yes"]);
    says_what_was_dropped(&run);
    let exit = json!({"kind": "signalled", "signal": 15, "core": false});
    assert_eq!(run.outcome(), json!({"kind": "timed_out", "exit": exit}));
    assert!((2000..ENDS_MS).contains(&run.duration_ms()), "{} ms", run.duration_ms());
    let (observed, _) = run.bytes("stdout");
    // A view of inert text is the text.
    let (head, tail) = run.view("stdout");
    let omitted = &run.stream("stdout")["view"]["omitted"];
    assert_eq!(omitted["bytes"], observed - (head.len() + tail.len()) as u64);
    assert_eq!(run.code, 124);
}

#[test]
fn one_line_of_157_megabytes() {
    let run = flat(&["sh", "-c", r#"head -c 157000000 /dev/zero | tr "\0" a"#]);
    says_what_was_dropped(&run);
    let (observed, _) = run.bytes("stdout");
    let (head, tail) = run.view("stdout");
    let omitted = &run.stream("stdout")["view"]["omitted"];
    assert_eq!(omitted["bytes"], observed - (head.len() + tail.len()) as u64);
    assert_eq!(omitted["lines"], 0);
    assert!(run.duration_ms() < ENDS_MS, "{} ms", run.duration_ms());
    // A slow machine does not get through in two seconds.
    match run.code {
        0 => assert_eq!(observed, 157_000_000),
        code => assert_eq!((code, &run.outcome()["kind"]), (124, &json!("timed_out"))),
    }
}
