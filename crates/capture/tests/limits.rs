//! Limits: where they strike, what their policies do, and what is told of it.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::time::Duration;

use common::{Keep, sh};
use noesc_capture::{
    AtLimit, Captured, Chunk, Command, Cutoff, End, Ended, Exit, Flow, Limit, Limited, Limits,
    Outcome, Sink, Stream, Unknown, run,
};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn limited(command: &Command, set: impl FnOnce(&mut Limits)) -> (Captured, Keep) {
    let mut limits = Limits::default();
    set(&mut limits);
    let mut keep = Keep::default();
    let captured = run(command, &limits, &mut keep);
    (captured, keep)
}

const TERMED: Exit = Exit::Signalled { signal: 15, core: false };
const KILLED: Exit = Exit::Signalled { signal: 9, core: false };

#[test]
fn the_time_is_over() {
    let (captured, keep) = limited(&sh("echo partial; sleep 60"), |limits| {
        limits.time_max = Some(Limited::stop(ms(1500)));
    });
    assert_eq!(captured.outcome, Outcome::TimedOut { exit: TERMED });
    assert_eq!(captured.ended_by, Some(Ended { signal: 15, killed: false }));
    assert_eq!(keep.stdout(), "partial\n");
    // The limit struck while the stream was open; its end was seen after that.
    assert_eq!(captured.stdout.end.cutoff, Cutoff::Time);
    assert!(captured.stdout.end.eof);
    assert_eq!(captured.survivors.count, Some(0));
}

#[test]
fn what_does_not_end_is_killed_after_the_grace() {
    let script = "trap '' TERM; echo up; while :; do sleep 1; done";
    let (captured, keep) = limited(&sh(script), |limits| {
        limits.time_max = Some(Limited::stop(ms(1500)));
        limits.grace = ms(300);
    });
    assert_eq!(captured.outcome, Outcome::TimedOut { exit: KILLED });
    assert_eq!(captured.ended_by, Some(Ended { signal: 15, killed: true }));
    assert_eq!((keep.stdout().as_str(), captured.survivors.count), ("up\n", Some(0)));
}

#[test]
fn what_a_stopped_command_says_last_is_heard() {
    let script = "trap 'echo bye; exit 7' TERM; echo up; while :; do sleep 0.05; done";
    let (captured, keep) = limited(&sh(script), |limits| {
        limits.time_max = Some(Limited::stop(ms(1500)));
    });
    assert_eq!(captured.outcome, Outcome::TimedOut { exit: Exit::Exited { code: 7 } });
    assert_eq!(keep.stdout(), "up\nbye\n");
}

#[test]
fn a_command_within_its_limits_is_left_alone() {
    let (captured, keep) = limited(&sh("printf 12345678; exit 3"), |limits| {
        limits.time_max = Some(Limited::stop(ms(20_000)));
        limits.idle_max = Some(Limited::stop(ms(20_000)));
        limits.rate_max = Some(Limited::stop(8));
        limits.capture_bytes_max = Some(Limited::stop(8));
        limits.processes_max = Some(Limited::stop(4));
    });
    assert_eq!(captured.outcome, Outcome::Exited { code: 3 });
    assert_eq!((captured.ended_by, keep.stdout().as_str()), (None, "12345678"));
    assert_eq!((captured.stdout.end.eof, captured.stdout.end.cutoff), (true, Cutoff::None));
}

#[test]
fn bytes_are_kept_up_to_the_limit_and_all_are_read() {
    for (max, kept, cutoff) in
        [(9, 8, Cutoff::None), (8, 8, Cutoff::None), (7, 7, Cutoff::Bytes), (0, 0, Cutoff::Bytes)]
    {
        let (captured, keep) = limited(&sh("printf 12345678; printf err >&2"), |limits| {
            limits.capture_bytes_max = Some(Limited { max, then: AtLimit::Drain });
        });
        assert_eq!(captured.outcome, Outcome::Exited { code: 0 });
        assert_eq!((captured.stdout.bytes, captured.stdout.kept), (8, kept), "{max}");
        assert_eq!((captured.stdout.end.eof, captured.stdout.end.cutoff), (true, cutoff), "{max}");
        // All of it reaches the sink, which is told how much of it is to be kept.
        assert_eq!(keep.stdout(), "12345678");
        // Each stream has its own.
        assert_eq!(captured.stderr.kept, max.min(3));
    }
}

#[test]
fn bytes_can_stop_a_command() {
    let (captured, _) = limited(&sh("yes"), |limits| {
        limits.capture_bytes_max = Some(Limited::stop(100_000));
    });
    assert_eq!(captured.outcome, Outcome::StoppedByLimit { which: Limit::Bytes, exit: TERMED });
    assert_eq!((captured.stdout.kept, captured.stdout.end.cutoff), (100_000, Cutoff::Bytes));
    assert!(captured.stdout.bytes > 100_000);
}

#[test]
fn reading_on_has_an_end() {
    let (captured, _) = limited(&sh("yes"), |limits| {
        limits.capture_bytes_max = Some(Limited { max: 1000, then: AtLimit::Drain });
        limits.drain_max = ms(300);
    });
    assert_eq!(captured.outcome, Outcome::StoppedByLimit { which: Limit::Drain, exit: TERMED });
    assert_eq!((captured.stdout.kept, captured.stdout.end.cutoff), (1000, Cutoff::Bytes));
}

#[test]
fn silence_is_counted_from_the_last_byte() {
    let script = "for i in 1 2 3 4 5 6; do echo $i; sleep 0.2; done; sleep 60";
    let (captured, keep) = limited(&sh(script), |limits| {
        limits.idle_max = Some(Limited::stop(ms(3000)));
    });
    assert_eq!(captured.outcome, Outcome::IdleOut { exit: TERMED });
    assert_eq!(keep.stdout(), "1\n2\n3\n4\n5\n6\n");
    assert_eq!(captured.stdout.end.cutoff, Cutoff::Idle);
}

#[test]
fn time_blocked_on_the_reader_is_no_silence() {
    /// Does not take the first chunk for a while.
    struct Slow(Option<std::time::Instant>);
    impl Sink for Slow {
        fn chunk(&mut self, _: Chunk<'_>) -> Flow {
            self.0 = Some(std::time::Instant::now() + ms(900));
            Flow::Blocked
        }
        fn end(&mut self, _: Stream, _: End) -> Flow {
            Flow::Continue
        }
        fn writable(&mut self, _: Stream) -> Flow {
            match self.0 {
                Some(until) if std::time::Instant::now() < until => Flow::Blocked,
                _ => Flow::Continue,
            }
        }
    }
    let mut limits = Limits::default();
    limits.idle_max = Some(Limited::stop(ms(500)));
    let captured = run(&sh("echo a; sleep 0.9; echo b"), &limits, &mut Slow(None));
    assert_eq!(captured.outcome, Outcome::Exited { code: 0 });
}

#[test]
fn what_was_printed_before_the_end_is_read_whatever_the_limit() {
    /// Takes nothing until the limit is long over.
    struct Late(std::time::Instant);
    impl Sink for Late {
        fn chunk(&mut self, _: Chunk<'_>) -> Flow {
            self.writable(Stream::Stdout)
        }
        fn end(&mut self, _: Stream, _: End) -> Flow {
            self.writable(Stream::Stdout)
        }
        fn writable(&mut self, _: Stream) -> Flow {
            if self.0.elapsed() < ms(900) { Flow::Blocked } else { Flow::Continue }
        }
    }
    for then in [AtLimit::Stop, AtLimit::Partial] {
        let mut limits = Limits::default();
        limits.time_max = Some(Limited { max: ms(400), then });
        let script = "head -c 60000 /dev/zero; echo err >&2; exit 3";
        let mut late = Late(std::time::Instant::now());
        let captured = run(&sh(script), &limits, &mut late);
        assert_eq!(captured.outcome, Outcome::Exited { code: 3 }, "{then:?}");
        for (stream, bytes) in [(captured.stdout, 60_000), (captured.stderr, 4)] {
            assert_eq!((stream.bytes, stream.end.eof), (bytes, true), "{then:?}");
            assert_eq!(stream.end.cutoff, Cutoff::None, "{then:?}");
        }
    }
}

#[test]
fn nothing_is_killed_that_has_ended() {
    struct Never;
    impl Sink for Never {
        fn chunk(&mut self, _: Chunk<'_>) -> Flow {
            Flow::Blocked
        }
        fn end(&mut self, _: Stream, _: End) -> Flow {
            Flow::Blocked
        }
        fn writable(&mut self, _: Stream) -> Flow {
            Flow::Blocked
        }
    }
    let mut limits = Limits::default();
    limits.time_max = Some(Limited::stop(ms(1500)));
    limits.grace = ms(300);
    let captured = run(&sh("exec yes"), &limits, &mut Never);
    assert_eq!(captured.outcome, Outcome::TimedOut { exit: TERMED });
    assert_eq!(captured.ended_by, Some(Ended { signal: 15, killed: false }));
}

#[test]
fn a_rate_is_bytes_within_a_second() {
    for (max, outcome) in [
        (3001, Outcome::Exited { code: 0 }),
        (3000, Outcome::Exited { code: 0 }),
        (2999, Outcome::StoppedByLimit { which: Limit::Rate, exit: TERMED }),
    ] {
        // Twice as much, but not in one second.
        let script = "head -c 3000 /dev/zero; sleep 3; head -c 3000 /dev/zero; exec sleep 1";
        let (captured, _) = limited(&sh(script), |limits| {
            limits.rate_max = Some(Limited::stop(max));
        });
        assert_eq!(captured.outcome, outcome, "{max}");
    }
}

#[test]
fn processes_of_the_whole_tree_are_counted() {
    for (max, outcome) in [
        (4, Outcome::Exited { code: 0 }),
        (3, Outcome::Exited { code: 0 }),
        (2, Outcome::StoppedByLimit { which: Limit::Processes, exit: TERMED }),
    ] {
        let (captured, _) = limited(&sh("setsid sleep 2 & sleep 2 & wait"), |limits| {
            limits.processes_max = Some(Limited::stop(max));
        });
        assert_eq!(captured.outcome, outcome, "{max}");
        assert_eq!(captured.survivors.count, Some(0));
    }
}

#[test]
fn a_partial_run_returns_and_the_command_goes_on() {
    let folder = common::Folder::new("partial");
    let path = folder.file("later");
    let script = format!("echo $$; sleep 5; echo more && echo done > {}", path.display());
    let (captured, keep) = limited(&sh(&script), |limits| {
        limits.time_max = Some(Limited { max: ms(1500), then: AtLimit::Partial });
    });
    let running = Exit::Unknown { why: Unknown::StillRunning };
    assert_eq!(captured.outcome, Outcome::TimedOut { exit: running });
    assert_eq!((captured.exit, captured.ended_by), (running, None));
    assert_eq!((captured.stdout.end.eof, captured.stdout.end.cutoff), (false, Cutoff::Time));
    let pid = captured.pid.unwrap();
    assert_eq!(keep.stdout().trim(), pid.to_string());
    assert!(captured.survivors.listed.iter().any(|one| one.pid == pid));
    // Its output is read on, so it can print more and go on after that.
    common::eventually(|| {
        std::fs::read_to_string(&path).ok().filter(|text| !text.is_empty()).ok_or(())
    });
}

#[test]
fn every_policy_of_every_limit() {
    for then in [AtLimit::Stop, AtLimit::Drain, AtLimit::Partial] {
        for (place, cutoff) in
            [Cutoff::Time, Cutoff::Idle, Cutoff::Rate, Cutoff::Bytes].into_iter().enumerate()
        {
            let (captured, _) = limited(&sh("printf 12345678; sleep 1"), |limits| {
                let some = |yes| Some(Limited { max: ms(200), then }).filter(|_| yes);
                limits.time_max = some(place == 0);
                limits.idle_max = some(place == 1);
                let few = |yes| Some(Limited { max: 4, then }).filter(|_| yes);
                limits.rate_max = few(place == 2);
                limits.capture_bytes_max = few(place == 3);
            });
            let what = format!("{then:?} {cutoff:?}");
            assert_eq!(captured.stdout.end.cutoff, cutoff, "{what}");
            assert_eq!(captured.stdout.end.eof, then != AtLimit::Partial, "{what}");
            assert_eq!(captured.ended_by.is_some(), then == AtLimit::Stop, "{what}");
            let by_itself = captured.outcome == Outcome::Exited { code: 0 };
            assert_eq!(by_itself, then == AtLimit::Drain, "{what}: {:?}", captured.outcome);
        }
    }
}
