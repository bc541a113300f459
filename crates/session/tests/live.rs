//! The transparent wrapper, called as a library.

#![allow(clippy::unwrap_used)]

use std::io::{PipeReader, Read};
use std::thread::{JoinHandle, spawn};

use noesc::{Cr, Profile};
use noesc_session::{Command, Cutoff, Limits, Outcome, Outlet, Ran, Settings, live};

fn outlet() -> (Outlet, JoinHandle<String>) {
    let (reader, writer) = std::io::pipe().unwrap();
    let read = |mut reader: PipeReader| {
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        text
    };
    (Outlet::new(writer.into()), spawn(move || read(reader)))
}

fn sh(script: &str) -> Command {
    let mut command = Command::new(["sh", "-c", script]);
    command.attended = false;
    command
}

fn ran(script: &str, settings: &Settings) -> (Ran, String, String) {
    let (stdout, out) = outlet();
    let (stderr, err) = outlet();
    let ran = live(&sh(script), &Limits::default(), settings, stdout, stderr).unwrap();
    (ran, out.join().unwrap(), err.join().unwrap())
}

#[test]
fn each_stream_has_its_view_and_its_report() {
    let script = r"printf '\033[1ma\n'; printf '\033]0;t\007b' >&2; exit 3";
    let (ran, out, err) = ran(script, &Settings::default());
    assert_eq!((out.as_str(), err.as_str()), ("a\n", "b"));
    assert_eq!(ran.captured.outcome, Outcome::Exited { code: 3 });
    assert_eq!(ran.streams[0].1.report.kinds["style"], 1);
    assert_eq!(ran.streams[1].1.report.kinds["window-title"], 1);
    assert_eq!((ran.streams[0].1.is_line_open, ran.streams[1].1.is_line_open), (false, true));
    assert_eq!((ran.streams[0].1.failure, ran.streams[1].1.failure), (None, None));
    assert_eq!((ran.captured.stdout.bytes, ran.captured.stderr.bytes), (6, 7));
}

#[test]
fn a_command_that_prints_nothing_has_empty_reports() {
    let (ran, out, err) = ran("", &Settings::default());
    assert_eq!((out.as_str(), err.as_str()), ("", ""));
    assert_eq!(ran.streams[0].1.report.removed.bytes, 0);
    assert!(!ran.streams[0].1.is_line_open && !ran.streams[1].1.is_line_open);
}

#[test]
fn a_command_that_is_not_there_has_no_status() {
    let (stdout, out) = outlet();
    let (stderr, _err) = outlet();
    let mut command = Command::new(["/nonexistent/command"]);
    command.attended = false;
    let ran = live(&command, &Limits::default(), &Settings::default(), stdout, stderr).unwrap();
    assert!(matches!(ran.captured.outcome, Outcome::SpawnFailed { .. }));
    assert_eq!(out.join().unwrap(), "");
}

#[test]
fn a_declared_encoding_holds_for_both() {
    let settings = Settings { encoding: Some("gbk".into()), ..Settings::default() };
    let (_, out, err) = ran(r"printf '\304\343'; printf '\272\303' >&2", &settings);
    assert_eq!((out.as_str(), err.as_str()), ("你", "好"));
}

#[test]
fn settings_that_do_not_go_together_start_nothing() {
    let mut profile = Profile::DISPLAY;
    profile.cr = Cr::Overwrite;
    let settings = Settings { profile, ..Settings::default() };
    let (stdout, out) = outlet();
    let (stderr, _err) = outlet();
    let refused = live(&sh("echo started"), &Limits::default(), &settings, stdout, stderr);
    assert!(refused.is_err());
    assert_eq!(out.join().unwrap(), "");
}

#[test]
fn a_reader_that_is_gone_cuts_its_stream_alone() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let (stderr, err) = outlet();
    let command = sh("trap '' PIPE; yes 2>/dev/null; echo on >&2");
    let stdout = Outlet::new(writer.into());
    let ran = live(&command, &Limits::default(), &Settings::default(), stdout, stderr).unwrap();
    assert_eq!(err.join().unwrap(), "on\n");
    assert_eq!(ran.captured.stdout.end.cutoff, Cutoff::Caller);
    assert_eq!(ran.captured.stderr.end.cutoff, Cutoff::None);
    // It is no failure of ours.
    assert_eq!(ran.streams[0].1.failure, None);
}

#[test]
fn a_write_that_fails_is_told() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let (stderr, _err) = outlet();
    let stdout = Outlet::new(full.into());
    let command = sh("echo x");
    let ran = live(&command, &Limits::default(), &Settings::default(), stdout, stderr).unwrap();
    assert_eq!(ran.streams[0].1.failure, Some(std::io::ErrorKind::StorageFull));
}
