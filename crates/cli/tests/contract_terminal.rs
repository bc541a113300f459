//! The contract of a run: a command with a terminal of its own.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
mod contract;

use std::io::Write;
use std::process::{Command, Stdio};

use common::{Ended, ended, fed, noesc, ran, see, spawned};
use contract::{Told, all_gone, numbers, told_sh};
use serde_json::json;

fn sh<'a>(flags: &[&'a str], script: &'a str) -> Command {
    noesc(["run", "--pty"].iter().chain(flags).chain(&["--", "sh", "-c", script]))
}

#[test]
fn the_command_has_a_terminal_of_the_size_that_was_asked_for() {
    let script = "tput cols; stty size; test -t 0 && test -t 1 && test -t 2";
    ran(sh(&["--size", "100x30"], script)).is("100\n30 100\n", "", 0);
    let run = told_sh(&["--pty", "--size", "100x30"], script);
    assert_eq!(run.all("pty"), "100\n30 100\n");
    assert_eq!(run.outcome(), json!({"kind": "exited", "code": 0}));
    assert_eq!(run.end("pty"), (true, "none", true));
    assert_eq!(run.record["command"]["terminal"], json!({"columns": 100, "rows": 30}));
    assert_eq!(run.record["command"]["stdin"], "pty");
    assert_eq!(run.record["streams"].as_object().unwrap().len(), 1);
    let run = told_sh(&["--pty"], "stty size");
    assert_eq!(run.all("pty"), "24 80\n");
    assert_eq!(run.record["command"]["terminal"], json!({"columns": 80, "rows": 24}));
    for size in ["1x1", "1000x1000"] {
        let (columns, rows) = size.split_once('x').unwrap();
        ran(sh(&["--size", size], "stty size")).is(&format!("{rows} {columns}\n"), "", 0);
    }
    // Without it there is none.
    let run = told_sh(&[], "test -t 0 || test -t 1 || test -t 2");
    assert_eq!((run.code, &run.record["command"]["terminal"]), (1, &json!(null)));
}

/// The environment of a child, of which only these are set.
fn environment(flags: &[&str], set: &[(&str, &str)]) -> String {
    let mut command = sh(flags, r#"echo "${COLUMNS-unset} ${LINES-unset} ${TERM-unset}""#);
    for name in ["COLUMNS", "LINES", "TERM"] {
        command.env_remove(name);
    }
    command.envs(set.iter().copied());
    let ended = ran(command);
    assert_eq!((ended.err(), ended.code()), ("", 0));
    ended.out().trim_end().to_owned()
}

#[test]
fn the_environment_does_not_contradict_the_terminal() {
    let ours = [("COLUMNS", "211"), ("LINES", "99"), ("TERM", "dumb")];
    let size = ["--size", "100x30"];
    assert_eq!(environment(&size, &ours), "100 30 xterm-256color");
    assert_eq!(environment(&size, &[]), "unset unset xterm-256color");
    assert_eq!(environment(&size, &[("LINES", "99")]), "unset 30 xterm-256color");
    assert_eq!(environment(&[], &[("TERM", "")]), "unset unset xterm-256color");
    assert_eq!(environment(&[], &[("TERM", "tmux-256color")]), "unset unset tmux-256color");
    assert_eq!(environment(&["--plain"], &[("TERM", "tmux-256color")]), "unset unset dumb");
    // Under pipes nothing is put right.
    let mut command = noesc(["run", "--", "sh", "-c", r#"echo "$COLUMNS $LINES $TERM""#]);
    command.envs(ours);
    ran(command).is("211 99 dumb\n", "", 0);
}

/// Asks for the position of the cursor, as a program does that draws, and prints how many bytes
/// came as an answer within half a second.
const ASKS: &str =
    r"stty raw -echo min 0 time 5; printf '\033[6n'; dd bs=64 count=1 2>/dev/null | wc -c";

#[test]
fn a_question_to_the_terminal_gets_no_answer() {
    let run = told_sh(&["--pty"], ASKS);
    assert_eq!(run.all("pty").trim(), "0");
    assert_eq!(run.stream("pty")["report"]["kinds"], json!({"report-query": 1}));
    let mut command = sh(&[], ASKS);
    // Its end would be typed.
    command.stdin(Stdio::piped());
    let mut child = spawned(command);
    let stdin = child.stdin.take();
    let ended = ended(child);
    drop(stdin);
    assert_eq!((ended.out().trim(), ended.code()), ("0", 0));
    assert_eq!(ended.err(), "noesc: high in pty: report-query at byte 0\n");
}

#[test]
fn what_we_read_is_typed_in_text_and_only_when_asked_otherwise() {
    let reads = r#"read x; echo "got $x""#;
    // The terminal echoes.
    fed(sh(&[], reads), b"hello\n").is("hello\ngot hello\n", "", 0);
    let silent = r#"stty -echo; echo ready; read x; echo "got $x""#;
    let typed = |flags: &[&str]| -> Ended {
        let mut command = sh(flags, silent);
        command.stdin(Stdio::piped());
        let mut child = spawned(command);
        let mut stdin = child.stdin.take().unwrap();
        see(child.stdout.as_mut().unwrap(), "ready\n");
        stdin.write_all(b"hello\n").unwrap();
        ended(child)
    };
    typed(&[]).is("got hello\n", "", 0);
    // What is typed before the echo is off stands on the line before.
    let waits = "stty -icanon -echo min 0 time 5; dd bs=64 count=1 2>/dev/null | wc -c | \
                 { read n; printf '\\n%s\\n' $n; }";
    let told = |flags: &[&str]| {
        let flags = ["--format", "json"].iter().chain(flags).copied().collect::<Vec<_>>();
        Told::of(&fed(sh(&flags, waits), b"hello\n"))
    };
    let number = |run: &Told| run.all("pty").lines().last().unwrap().trim().to_owned();
    assert_eq!(number(&told(&[])), "0");
    // And its end, which is a key of the terminal.
    assert_eq!(number(&told(&["--stdin"])), "7");
}

#[test]
fn the_end_of_our_input_is_typed_as_a_terminal_has_it() {
    // Nobody typed.
    let empty = fed(sh(&["--time-max", "1s"], "stty -echo; cat"), b"");
    assert_eq!((empty.out(), empty.code()), ("", 124));
    let ended = fed(sh(&[], "stty -echo; cat; echo END"), b"one\ntwo");
    assert!(ended.out().ends_with("one\ntwoEND\n"), "{ended:?}");
    assert_eq!(ended.code(), 0);
}

#[test]
fn a_key_that_interrupts_reaches_the_command() {
    let script = "trap 'echo interrupted; exit 7' INT; echo up; while :; do sleep 0.05; done";
    let mut command = sh(&[], script);
    command.stdin(Stdio::piped());
    let mut child = spawned(command);
    let mut stdin = child.stdin.take().unwrap();
    see(child.stdout.as_mut().unwrap(), "up\n");
    stdin.write_all(b"\x03").unwrap();
    let ended = ended(child);
    assert!(ended.out().ends_with("interrupted\n"), "{ended:?}");
    assert_eq!(ended.code(), 7);
}

#[test]
fn a_tree_with_a_terminal_is_ended_as_a_whole() {
    let script = "echo $$; sleep 60 & echo $!; setsid sh -c 'echo $$; exec sleep 60' & wait";
    let run = told_sh(&["--pty", "--time-max", "3s"], script);
    let pids = numbers(run.all("pty"));
    assert_eq!(pids.len(), 3);
    all_gone(&pids);
    assert_eq!(run.outcome()["kind"], "timed_out");
    assert_eq!((run.end("pty").1, run.code), ("time", 124));
    assert_eq!(run.record["processes"]["survivors"]["count"], 0);
}

#[test]
fn a_daemon_does_not_hang_a_run_with_a_terminal() {
    // A hangup is what a daemon of a terminal has to expect.
    let run = told_sh(&["--pty"], "echo a; nohup sleep 300 >/dev/null & sleep 1; echo b");
    run.end_survivors();
    assert_eq!(run.outcome(), json!({"kind": "exited", "code": 0}));
    assert!(run.all("pty").starts_with("a\n") && run.all("pty").ends_with("b\n"), "{run:?}");
    assert!(run.duration_ms() < 100_000, "{}", run.duration_ms());
}

#[test]
fn what_can_not_be_run_is_the_same_with_a_terminal() {
    let ended = ran(noesc(["run", "--pty", "--format", "json", "--", "./missing"]));
    let record: serde_json::Value = serde_json::from_str(ended.out()).unwrap();
    let wanted = json!({
        "kind": "spawn_failed", "reason": "not-found", "path": "./missing",
        "observed_by": "collector",
    });
    assert_eq!((&record["outcome"], ended.code()), (&wanted, 127));
    assert_eq!(record["streams"], json!({}));
}
