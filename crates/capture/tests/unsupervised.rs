//! Without a supervisor, as on systems that have none: the same facts, for the process group.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::time::Duration;

use common::{Keep, command_by_name, sh};
use noesc_capture::{
    Captured, Command, Cutoff, Ended, Exit, Limited, Limits, Outcome, Scope, SpawnReason, run,
};

fn ran(mut command: Command, time_max: Option<u64>) -> (Captured, Keep) {
    command.supervised = false;
    let mut limits = Limits::default();
    limits.time_max = time_max.map(|ms| Limited::stop(Duration::from_millis(ms)));
    limits.grace = Duration::from_millis(300);
    let mut keep = Keep::default();
    let captured = run(&command, &limits, &mut keep);
    assert_eq!(captured.scope, Scope::Group);
    assert_eq!(captured.survivors.count, None);
    (captured, keep)
}

#[test]
fn ends_are_seen() {
    let (captured, keep) = ran(sh("echo out; echo err >&2; exit 3"), None);
    assert_eq!(captured.outcome, Outcome::Exited { code: 3 });
    assert_eq!((keep.stdout().as_str(), keep.stderr().as_str()), ("out\n", "err\n"));
    assert!(captured.stdout.end.eof);
    let (captured, _) = ran(sh("kill -9 $$"), None);
    assert_eq!(captured.outcome, Outcome::Signalled { signal: 9, core: false });
    let path = std::path::Path::new("/proc").join(captured.pid.unwrap().to_string());
    assert!(!path.exists());
}

#[test]
fn failures_to_start_are_told() {
    let failed = |name: &str| match ran(command_by_name(name), None).0.outcome {
        Outcome::SpawnFailed { reason, .. } => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(failed("noesc-no-such-program"), SpawnReason::NotFound);
    assert_eq!(failed("/"), SpawnReason::IsFolder);
}

#[test]
fn the_group_is_ended_at_a_limit() {
    let (captured, keep) = ran(sh("echo $$; sleep 300 & wait"), Some(300));
    let exit = Exit::Signalled { signal: 15, core: false };
    assert_eq!(captured.outcome, Outcome::TimedOut { exit });
    assert_eq!(captured.ended_by, Some(Ended { signal: 15, killed: false }));
    assert!(captured.stdout.end.eof, "{captured:?}");
    assert_eq!(keep.stdout().trim(), captured.pid.unwrap().to_string());
    let (captured, _) = ran(sh("trap '' TERM; while :; do sleep 1; done"), Some(200));
    let exit = Exit::Signalled { signal: 9, core: false };
    assert_eq!(captured.outcome, Outcome::TimedOut { exit });
    assert_eq!(captured.ended_by, Some(Ended { signal: 15, killed: true }));
}

#[test]
fn what_still_holds_the_pipe_is_not_waited_for() {
    let (captured, keep) = ran(sh("sleep 5 & echo $!"), None);
    assert_eq!(captured.outcome, Outcome::Exited { code: 0 });
    let end = captured.stdout.end;
    assert_eq!((end.eof, end.cutoff), (false, Cutoff::WriterAlive));
    common::kill(&keep.stdout());
}
