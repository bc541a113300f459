//! The contract of a run: each limit, what happens at it, and what is said of it.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
mod contract;

use std::time::Duration;

use common::{Folder, eventually, json, noesc, ran_sh, signal, spawned, status};
use contract::{Told, all_gone, is_alive, numbers, told, told_sh};
use serde_json::{Value, json};

fn by(signal: i32) -> Value {
    json!({"kind": "signalled", "signal": signal, "core": false})
}

fn stopped(which: &str, exit: Value) -> Value {
    json!({"kind": "stopped_by_limit", "which": which, "exit": exit})
}

const LEFT_RUNNING: &str = "still-running";

#[test]
fn a_run_whose_time_is_over_is_ended_with_what_it_printed() {
    let run = told_sh(&["--time-max", "3s"], "echo $$; echo partial; sleep 60 & echo $!; wait");
    let text = run.all("stdout");
    assert_eq!(text.lines().nth(1), Some("partial"));
    let pids = numbers(text);
    assert_eq!(pids.len(), 2);
    assert!(pids.iter().all(|pid| !is_alive(*pid)), "{pids:?}");
    assert_eq!(run.outcome(), json!({"kind": "timed_out", "exit": by(15)}));
    assert_eq!(run.record["processes"]["ended"], json!({"signal": 15, "killed": false}));
    assert_eq!(run.record["limits"]["time_max_ms"], json!({"value": 3000, "policy": "stop"}));
    assert_eq!(run.end("stdout"), (true, "time", true));
    assert!(run.duration_ms() >= 3000);
    assert_eq!(run.code, 124);
}

#[test]
fn a_run_that_does_not_listen_is_killed_after_the_grace() {
    let script = r#"trap "" TERM; sleep 60"#;
    let run = told_sh(&["--time-max", "2s", "--grace", "300ms"], script);
    assert_eq!(run.outcome(), json!({"kind": "timed_out", "exit": by(9)}));
    assert_eq!(run.record["processes"]["ended"], json!({"signal": 15, "killed": true}));
    assert!(run.duration_ms() >= 2300);
    assert_eq!(run.code, 124);
    let ended = ran_sh(&["--time-max", "2s", "--grace", "300ms"], script);
    let said = "noesc: timed out at 2000 ms; ended by signal 9 (signal 15 had not ended it)\n";
    ended.is("", said, 124);
}

#[test]
fn a_signal_of_the_childs_own_is_no_limit() {
    let run = told_sh(&[], "echo x; kill -9 $$");
    assert_eq!(run.all("stdout"), "x\n");
    assert_eq!(run.outcome(), json!({"kind": "signalled", "signal": 9, "core": false}));
    assert_eq!(run.record["processes"]["ended"], json!(null));
    assert_eq!(run.code, 137);
}

#[test]
fn what_the_command_prints_while_it_ends_is_read() {
    let script = "trap 'echo last words; exit 7' TERM; while :; do sleep 0.05; done";
    let run = told_sh(&["--time-max", "2s"], script);
    assert_eq!(run.all("stdout"), "last words\n");
    let exit = json!({"kind": "exited", "code": 7});
    assert_eq!(run.outcome(), json!({"kind": "timed_out", "exit": exit}));
    assert_eq!(run.code, 124);
}

#[test]
fn silence_is_a_limit_and_output_ends_it() {
    let run = told_sh(&["--idle-max", "2s"], "echo a; sleep 60");
    assert_eq!(run.outcome(), json!({"kind": "idle_out", "exit": by(15)}));
    assert_eq!((run.all("stdout"), run.code), ("a\n", 124));
    assert_eq!(run.end("stdout").1, "idle");
    assert_eq!(run.record["limits"]["idle_max_ms"], json!({"value": 2000, "policy": "stop"}));
    let talks = "for n in 1 2 3 4 5 6; do echo $n; sleep 1; done";
    let run = told_sh(&["--idle-max", "5s"], talks);
    assert_eq!(run.outcome(), json!({"kind": "exited", "code": 0}));
    assert!(run.duration_ms() >= 6000);
    // Output on stderr is output.
    let run = told_sh(&["--idle-max", "5s"], &format!("{{ {talks}; }} >&2"));
    assert_eq!(run.outcome(), json!({"kind": "exited", "code": 0}));
}

#[test]
fn a_slow_reader_of_ours_makes_nobody_idle() {
    let folder = Folder::new("slow-reader");
    let path = folder.name("report");
    // More than a pipe holds, so that the command waits for us, and we for the reader.
    let script = "head -c 400000 /dev/zero | tr '\\0' x; echo END";
    let arguments = ["run", "--idle-max", "2s", "--report", &path, "--", "sh", "-c", script];
    let mut child = spawned(noesc(arguments));
    std::thread::sleep(Duration::from_millis(4000));
    let mut text = Vec::new();
    std::io::Read::read_to_end(child.stdout.as_mut().unwrap(), &mut text).unwrap();
    assert_eq!(status(&mut child).code(), Some(0));
    assert_eq!(text.len(), 400_004);
    assert_eq!(json(path.as_ref())["outcome"]["kind"], "exited");
}

#[test]
fn the_rate_is_bytes_within_a_second() {
    for (bytes, over) in [(1023, false), (1024, false), (1025, true)] {
        let flags = ["--rate-max", "1KiB", "--grace", "5s"];
        let run = told_sh(
            &flags,
            &format!("head -c {bytes} /dev/zero; sleep {}", if over { 60 } else { 0 }),
        );
        let wanted = match over {
            true => stopped("rate", by(15)),
            false => json!({"kind": "exited", "code": 0}),
        };
        assert_eq!(run.outcome(), wanted, "{bytes}");
        assert_eq!(run.end("stdout").1, if over { "rate" } else { "none" });
        assert_eq!(run.code, if over { 124 } else { 0 });
    }
    let limit = json!({"value": 1024, "policy": "stop"});
    let run = told::<&str>(&["--rate-max", "1KiB"], &["true"]);
    assert_eq!(run.record["limits"]["rate_max_bytes_per_s"], limit);
}

/// Prints that many bytes and goes on.
fn printed(bytes: usize, flags: &[&str]) -> Told {
    told_sh(flags, &format!("head -c {bytes} /dev/zero | tr '\\0' x; sleep 0.4; echo END"))
}

#[test]
fn bytes_of_a_stream_are_kept_up_to_their_limit() {
    for bytes in [99, 100, 101] {
        let over = bytes > 100;
        let run = told_sh(
            &["--capture-bytes-max", "100:stop"],
            &format!("head -c {bytes} /dev/zero | tr '\\0' x; sleep {}", if over { 60 } else { 0 }),
        );
        let wanted = match over {
            true => stopped("bytes", by(15)),
            false => json!({"kind": "exited", "code": 0}),
        };
        assert_eq!(run.outcome(), wanted, "{bytes}");
        assert_eq!(run.bytes("stdout"), (bytes, bytes.min(100)));
        let cutoff = if over { "bytes" } else { "none" };
        assert_eq!(run.end("stdout"), (true, cutoff, !over), "{bytes}");
        assert_eq!(run.end("stderr"), (true, "none", true), "{bytes}");
        assert_eq!(run.code, if over { 124 } else { 0 });
    }
}

#[test]
fn what_is_drained_is_read_and_counted_and_its_end_is_shown() {
    let run = printed(101, &["--capture-bytes-max", "100"]);
    let limit = json!({"value": 100, "policy": "drain"});
    assert_eq!(run.record["limits"]["capture_bytes_max"], limit);
    assert_eq!(run.outcome(), json!({"kind": "exited", "code": 0}));
    assert_eq!(run.bytes("stdout"), (105, 100));
    assert_eq!(run.end("stdout"), (true, "bytes", false));
    assert!(run.all("stdout").ends_with("xEND\n"));
    assert_eq!(run.code, 0);
    // Each stream has a limit of its own.
    let run = told_sh(&["--capture-bytes-max", "3"], "echo abc; echo ab >&2");
    assert_eq!((run.bytes("stdout"), run.bytes("stderr")), ((4, 3), (3, 3)));
    assert_eq!((run.end("stdout").1, run.end("stderr").1), ("bytes", "none"));
}

#[test]
fn draining_has_an_end() {
    let script = "echo 0123456789abc; echo more; sleep 60";
    let flags = ["--capture-bytes-max", "10:drain", "--drain-max", "2s"];
    let run = told_sh(&flags, script);
    assert_eq!(run.outcome(), stopped("drain", by(15)));
    assert_eq!(run.bytes("stdout"), (19, 10));
    assert_eq!((run.end("stdout").1, run.code), ("bytes", 124));
    assert_eq!(run.record["limits"]["drain_max_ms"], 2000);
    let flags = ["--time-max", "2s:drain", "--drain-max", "300ms"];
    let ended = ran_sh(&flags, "echo a; sleep 60");
    ended.is("a\n", "noesc: stopped at the limit of 300 ms of draining; ended by signal 15\n", 124);
}

#[test]
fn a_run_that_ends_while_it_is_drained_has_its_own_status() {
    let flags = ["--time-max", "2s:drain"];
    let script = "echo a; sleep 6; echo b; exit 3";
    let run = told_sh(&flags, script);
    assert_eq!(run.outcome(), json!({"kind": "exited", "code": 3}));
    assert_eq!(run.bytes("stdout"), (4, 2));
    assert_eq!(run.end("stdout"), (true, "time", false));
    assert_eq!((run.all("stdout"), run.code), ("a\nb\n", 3));
    // The live output is never cut.
    ran_sh(&flags, script).is("a\nb\n", "", 3);
}

#[test]
fn a_partial_run_returns_and_goes_on_by_itself() {
    let folder = Folder::new("partial");
    let done = folder.name("done");
    // With SIGPIPE there would be no file.
    let script = format!("echo a; sleep 6; head -c 300000 /dev/zero && : >{done}");
    let run = told_sh(&["--time-max", "2s:partial"], &script);
    let unknown = json!({"kind": "unknown", "why": LEFT_RUNNING});
    assert_eq!(run.outcome(), json!({"kind": "timed_out", "exit": unknown}));
    assert_eq!((run.all("stdout"), run.code), ("a\n", 124));
    assert_eq!(run.end("stdout"), (false, "time", false));
    assert_eq!(run.record["processes"]["ended"], json!(null));
    assert!(run.record["processes"]["survivors"]["count"].as_u64().unwrap() >= 1);
    let survivors = run.survivors();
    eventually(|| if folder.path("done").exists() { Ok(()) } else { Err("not done") });
    all_gone(&survivors);
}

#[test]
fn processes_are_counted_with_the_command_itself() {
    let script = "sleep 2 & sleep 2 & (sleep 2; :) & wait";
    for (max, over) in [(4, true), (5, false), (6, false)] {
        let run = told_sh(&["--processes-max", &max.to_string()], script);
        let wanted = match over {
            true => stopped("processes", by(15)),
            false => json!({"kind": "exited", "code": 0}),
        };
        assert_eq!(run.outcome(), wanted, "{max}");
        assert_eq!(run.code, if over { 124 } else { 0 });
        let limit = json!({"value": max, "policy": "stop"});
        assert_eq!(run.record["limits"]["processes_max"], limit);
    }
}

#[test]
fn what_a_limit_did_is_told_in_text() {
    for (flags, script, text, said) in [
        (["--time-max", "2s"], "echo partial; sleep 60", "partial\n", "timed out at 2000 ms"),
        (["--idle-max", "2s"], "echo a; sleep 60", "a\n", "stopped: no output for 2000 ms"),
        (
            ["--rate-max", "4"],
            "echo 12345; sleep 60",
            "12345\n",
            "stopped at the limit of 4 bytes a second",
        ),
        (["--processes-max", "1"], "sleep 60; echo", "", "stopped at the limit of 1 process"),
    ] {
        let said = format!("noesc: {said}; ended by signal 15\n");
        ran_sh(&flags, script).is(text, &said, 124);
        ran_sh(&[flags[0], flags[1], "--quiet"], script).is(text, "", 124);
    }
}

#[test]
fn a_partial_run_is_told_in_text() {
    let ended = ran_sh(&["--time-max", "2s:partial"], "echo $$; exec sleep 60");
    let pid: u32 = ended.out().trim().parse().unwrap();
    assert!(is_alive(pid));
    signal("KILL", pid);
    let said = format!(
        "noesc: timed out at 2000 ms; left running\n\
         noesc: 1 process outlives the run: {pid} sleep\n"
    );
    assert_eq!((ended.err(), ended.code()), (said.as_str(), 124));
    all_gone(&[pid]);
}

#[test]
fn the_live_output_is_never_cut() {
    let folder = Folder::new("never-cut");
    let path = folder.name("report");
    let script = "head -c 300000 /dev/zero | tr '\\0' x; echo; sleep 0.5; echo END";
    let flags = ["--time-max", "200ms:drain", "--report", &path];
    let ended = ran_sh(&flags, script);
    assert_eq!(ended.stdout.len(), 300_005);
    assert!(ended.out().ends_with("xxx\nEND\n"));
    assert_eq!((ended.err(), ended.code()), ("", 0));
    let record = json(path.as_ref());
    assert_eq!(record["streams"]["stdout"]["bytes"]["observed"], 300_005);
    assert_eq!(record["limits"].get("capture_bytes_max"), None);
}
