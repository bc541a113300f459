//! A third pipe, at a descriptor of the child's own.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{captured, command, sh};
use noesc_capture::{Outcome, SpawnReason, Stream};

#[test]
fn what_the_child_writes_there_is_a_stream_of_its_own() {
    for number in (3..30).chain([200]) {
        let mut command = command(&["bash", "-c"]);
        let script = format!("echo out; echo err >&2; printf 'a\\nb' >&{number}");
        command.argv.push(script.into());
        command.extra_fd = Some(number);
        let (captured, keep) = captured(&command);
        assert_eq!(captured.outcome, Outcome::Exited { code: 0 });
        assert_eq!((keep.stdout().as_str(), keep.stderr().as_str()), ("out\n", "err\n"));
        assert_eq!(keep.bytes(Stream::Extra), b"a\nb");
        let extra = captured.extra.unwrap();
        assert_eq!((extra.bytes, extra.lines, extra.end.eof), (3, 1, true));
        assert_eq!(keep.ends.iter().filter(|(stream, _)| *stream == Stream::Extra).count(), 1);
    }
}

#[test]
fn without_it_the_child_has_no_such_descriptor() {
    let (captured, _) = captured(&sh("echo x >&3"));
    assert_ne!(captured.outcome, Outcome::Exited { code: 0 });
    assert!(captured.extra.is_none());
}

#[test]
fn a_descriptor_of_ours_at_that_number_is_not_lost_nor_inherited() {
    use std::io::{Read, Write};
    use std::os::fd::AsRawFd;
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    let number = writer.as_raw_fd();
    let mut command = command(&["bash", "-c"]);
    command.argv.push(format!("printf child >&{number}").into());
    command.extra_fd = Some(number);
    command.keep_fds = Some(vec![number]);
    let (_, keep) = captured(&command);
    assert_eq!(keep.bytes(Stream::Extra), b"child");
    writer.write_all(b"ours").unwrap();
    drop(writer);
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert_eq!(text, "ours");
}

#[test]
fn a_number_that_can_not_be_is_refused_before_anything_is_started() {
    for number in [-1, 0, 2, i32::MAX] {
        let mut command = sh("echo started");
        command.extra_fd = Some(number);
        let (captured, keep) = captured(&command);
        let refused = Outcome::SpawnFailed { reason: SpawnReason::Refused(0), path: None };
        assert_eq!(std::mem::discriminant(&captured.outcome), std::mem::discriminant(&refused));
        assert!(keep.chunks.is_empty() && keep.ends.is_empty());
    }
}

#[test]
fn a_failure_to_start_is_still_told_when_the_number_is_the_next_one() {
    for number in 3..40 {
        let mut command = command(&["/dev/null/none"]);
        command.extra_fd = Some(number);
        let (captured, _) = captured(&command);
        assert!(matches!(captured.outcome, Outcome::SpawnFailed { .. }), "{number}");
        // The file is there, so that it is `exec` that fails.
        let mut command = common::command(&["/etc/passwd"]);
        command.extra_fd = Some(number);
        let (captured, _) = common::captured(&command);
        assert!(matches!(captured.outcome, Outcome::SpawnFailed { .. }), "{number}");
    }
}
