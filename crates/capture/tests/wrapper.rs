//! The example program in place of a command: signals, readers, memory.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use common::{Folder, eventually, example};

struct Wrapped {
    child: Child,
    stdout: Option<BufReader<ChildStdout>>,
    folder: Folder,
}

impl Wrapped {
    fn start(name: &str, argv: &[&str]) -> Self {
        let mut program = Command::new(example());
        program.args(argv);
        Self::of(name, program)
    }

    fn of(name: &str, mut program: Command) -> Self {
        let folder = Folder::new(name);
        program.env("CAPTURE_RECORD", folder.file("record"));
        program.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = program.spawn().unwrap();
        let stdout = child.stdout.take().map(BufReader::new);
        Self { child, stdout, folder }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.as_mut().unwrap().read_line(&mut line).unwrap();
        line
    }

    fn rest(&mut self) -> String {
        let mut rest = String::new();
        self.stdout.as_mut().unwrap().read_to_string(&mut rest).unwrap();
        rest
    }

    fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([&format!("-{signal}"), &pid]).status().unwrap();
        assert!(sent.success());
    }

    fn code(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// The record in one line.
    fn record(&self) -> String {
        let text = std::fs::read_to_string(self.folder.file("record")).unwrap();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn peak_kib(&self) -> u64 {
        let record = self.record();
        let (_, peak) = record.split_once("VmHWM:").unwrap();
        peak.split_whitespace().next().unwrap().parse().unwrap()
    }
}

#[test]
fn each_signal_is_passed_on_and_the_childs_own_end_is_waited_for() {
    for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1), ("QUIT", 3)] {
        let script = format!(
            "trap 'echo got; sleep 0.2; echo done; exit 7' {name}; echo ready; \
             while :; do sleep 0.05; done"
        );
        let mut wrapped = Wrapped::start(name, &["sh", "-c", &script]);
        assert_eq!(wrapped.line(), "ready\n");
        wrapped.signal(name);
        assert_eq!(wrapped.rest(), "got\ndone\n");
        assert_eq!(wrapped.code(), Some(128 + number));
        let wanted = format!("Cancelled {{ signal: {number}, exit: Exited {{ code: 7, }}, }}");
        assert!(wrapped.record().contains(&wanted), "{}", wrapped.record());
    }
}

#[test]
fn the_whole_group_gets_it() {
    let mut wrapped = Wrapped::start("group", &["sh", "-c", "sh -c 'echo ready; sleep 300'; :"]);
    assert_eq!(wrapped.line(), "ready\n");
    wrapped.signal("TERM");
    assert_eq!(wrapped.rest(), "");
    assert_eq!(wrapped.code(), Some(143));
    let record = wrapped.record();
    assert!(record.contains("Signalled { signal: 15, core: false, }"), "{record}");
}

/// A child that does not mind a signal.
fn stubborn(name: &str) -> Wrapped {
    let script = "trap '' TERM; echo ready; sleep 300";
    let mut wrapped = Wrapped::start(name, &["sh", "-c", script]);
    assert_eq!(wrapped.line(), "ready\n");
    wrapped
}

#[test]
fn a_child_that_does_not_end_is_killed_after_the_grace() {
    let mut wrapped = stubborn("grace");
    let since = Instant::now();
    wrapped.signal("TERM");
    assert_eq!(wrapped.rest(), "");
    assert_eq!(wrapped.code(), Some(143));
    let took = since.elapsed();
    assert!(took >= Duration::from_millis(1900), "{took:?}");
    let wanted = "Cancelled { signal: 15, exit: Signalled { signal: 9, core: false, }, }";
    assert!(wrapped.record().contains(wanted), "{}", wrapped.record());
}

#[test]
fn a_second_signal_kills_at_once() {
    let mut wrapped = stubborn("second");
    let since = Instant::now();
    wrapped.signal("TERM");
    std::thread::sleep(Duration::from_millis(300));
    wrapped.signal("INT");
    assert_eq!(wrapped.code(), Some(143));
    assert!(since.elapsed() < Duration::from_millis(1900), "{:?}", since.elapsed());
    let wanted = "Cancelled { signal: 15, exit: Signalled { signal: 9, core: false, }, }";
    assert!(wrapped.record().contains(wanted), "{}", wrapped.record());
}

#[test]
fn a_signal_that_was_ignored_stays_ignored() {
    let mut program = Command::new("sh");
    program.args(["-c", "trap '' HUP; exec \"$@\"", "sh"]).arg(example());
    program.args(["sh", "-c", "echo ready; sleep 0.5; echo done"]);
    let mut wrapped = Wrapped::of("nohup", program);
    assert_eq!(wrapped.line(), "ready\n");
    wrapped.signal("HUP");
    assert_eq!(wrapped.rest(), "done\n");
    assert_eq!(wrapped.code(), Some(0));
}

#[test]
fn a_signal_arrives_although_nobody_reads_our_output() {
    let mut wrapped = Wrapped::start("unread", &["yes"]);
    assert_eq!(wrapped.line(), "y\n");
    // Long enough for every pipe in between to be full.
    std::thread::sleep(Duration::from_millis(500));
    wrapped.signal("TERM");
    let code = eventually(|| match wrapped.child.try_wait().unwrap() {
        Some(status) => Ok(status.code()),
        None => Err("still there"),
    });
    assert_eq!(code, Some(143));
    assert!(wrapped.record().contains("cutoff: Caller"), "{}", wrapped.record());
}

#[test]
fn a_stopped_child_without_a_terminal_still_gets_the_signal() {
    let mut program = Command::new("setsid");
    program.arg(example()).args(["sh", "-c", "echo ready; kill -STOP $$; echo never"]);
    let mut wrapped = Wrapped::of("stopped", program);
    assert_eq!(wrapped.line(), "ready\n");
    std::thread::sleep(Duration::from_millis(200));
    wrapped.signal("TERM");
    assert_eq!(wrapped.rest(), "");
    assert_eq!(wrapped.code(), Some(143));
    let wanted = "exit: Signalled { signal: 15, core: false, }";
    assert!(wrapped.record().contains(wanted), "{}", wrapped.record());
}

#[test]
fn a_reader_that_went_away_ends_the_child_as_it_would_without_us() {
    let mut wrapped = Wrapped::start("head", &["yes"]);
    assert_eq!(wrapped.line(), "y\n");
    wrapped.stdout = None;
    assert_eq!(wrapped.code(), Some(128 + 13));
    let record = wrapped.record();
    assert!(record.contains("outcome: Signalled { signal: 13, core: false, }"), "{record}");
    assert!(record.contains("cutoff: Caller"), "{record}");
}

#[test]
fn memory_is_flat_whatever_the_output() {
    let small = flat("small", "head -c 1000 /dev/zero", 1000);
    let large = flat("large", "head -c 100000000 /dev/zero", 100_000_000);
    let both = "head -c 50000000 /dev/zero & head -c 50000000 /dev/zero >&2; wait";
    let both = flat("both", both, 50_000_000);
    assert!(large < small + 1024 && both < small + 1024, "{small} {large} {both} KiB");
}

/// Reads all the output slowly at first, and gives the peak of the wrapper's memory.
fn flat(name: &str, script: &str, bytes: u64) -> u64 {
    let mut program = Command::new(example());
    program.args(["sh", "-c", script]).stderr(Stdio::null());
    let mut wrapped = Wrapped::of(name, program);
    std::thread::sleep(Duration::from_millis(300));
    let mut stdout = wrapped.stdout.take().unwrap();
    let read = std::io::copy(&mut stdout, &mut std::io::sink()).unwrap();
    assert_eq!((read, wrapped.code()), (bytes, Some(0)));
    wrapped.peak_kib()
}

#[test]
fn the_input_passes_through() {
    let mut program = Command::new("sh");
    program.args(["-c", "echo typed | \"$@\"", "sh"]).arg(example()).arg("cat");
    let mut wrapped = Wrapped::of("input", program);
    assert_eq!((wrapped.rest().as_str(), wrapped.code()), ("typed\n", Some(0)));
}

#[test]
fn an_output_in_a_file_is_complete() {
    let folder = Folder::new("file");
    let path: PathBuf = folder.file("out");
    let mut program = Command::new("sh");
    program.args(["-c", "file=$1; shift; \"$@\" > $file", "sh"]).arg(&path).arg(example());
    program.args(["head", "-c", "1000000", "/dev/zero"]);
    assert_eq!(Wrapped::of("to-file", program).code(), Some(0));
    assert_eq!(std::fs::metadata(path).unwrap().len(), 1_000_000);
}
