//! The contract of a run: what a command leaves behind neither hangs the run nor is harmed, and a
//! run that was ended leaves nothing behind.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
// Trees of processes are seen and ended as a whole on Linux.
#![cfg(target_os = "linux")]

mod common;
mod contract;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Instant;

use common::{Ended, Folder, binary, ended, eventually, json, noesc, ran, ran_sh, see, shell};
use common::{signal, spawned, status};
use contract::{Told, all_gone, end, is_alive, numbers, told, told_sh};
use serde_json::json;

/// Less than what holds the output lives, and far more than a run takes that does not wait for it.
const BACK_MS: u64 = 100_000;

#[test]
fn a_daemon_that_holds_the_output_does_not_hang_the_run() {
    for start in ["sleep 300 &", "setsid sleep 300 &", r#"sh -c "sleep 300 &";"#] {
        let run = told_sh(&[], &format!("echo a; {start} echo b"));
        let survivors = run.survivors();
        assert!(survivors.iter().all(|pid| is_alive(*pid)), "{start}: a survivor was killed");
        run.end_survivors();
        assert_eq!(run.all("stdout"), "a\nb\n", "{start}");
        assert_eq!(run.outcome(), json!({"kind": "exited", "code": 0}), "{start}");
        for stream in ["stdout", "stderr"] {
            assert_eq!(run.end(stream), (false, "writer-alive", false), "{start} {stream}");
        }
        assert!(run.duration_ms() < BACK_MS, "{start}: {} ms", run.duration_ms());
        let processes = &run.record["processes"];
        assert_eq!((&processes["scope"], &processes["ended"]), (&json!("tree"), &json!(null)));
        assert_eq!(processes["survivors"]["count"], 1, "{start}");
        assert_eq!(processes["survivors"]["listed"][0]["name"], "sleep", "{start}");
        assert_eq!(run.code, 0);
    }
}

#[test]
fn nothing_that_was_printed_before_is_lost() {
    let script = r#"sleep 300 & head -c 3000000 /dev/zero | tr "\0" x; echo END"#;
    let run = told_sh(&[], script);
    run.end_survivors();
    let (head, tail) = run.view("stdout");
    assert!(head.starts_with("xxx") && tail.ends_with("xxxEND\n"), "{}", tail.len());
    assert_eq!(run.bytes("stdout"), (3_000_004, 3_000_004));
    assert_eq!(run.end("stdout"), (false, "writer-alive", false));
    assert_eq!(run.outcome(), json!({"kind": "exited", "code": 0}));
}

#[test]
fn what_is_left_behind_goes_on_writing() {
    let folder = Folder::new("left-writing");
    let (go, done) = (folder.name("go"), folder.name("done"));
    // With SIGPIPE, or an error, there would be no last file.
    let loop_ =
        format!("while ! [ -e {go} ]; do sleep 0.05; done; head -c 300000 /dev/zero && : >{done}");
    let run = told_sh(&[], &format!("({loop_}) & echo up"));
    assert_eq!(run.all("stdout"), "up\n");
    let survivors = run.survivors();
    assert_eq!(run.end("stdout"), (false, "writer-alive", false));
    folder.write("go", "");
    eventually(|| if folder.path("done").exists() { Ok(()) } else { Err("not done") });
    all_gone(&survivors);
}

#[test]
fn a_substitution_of_the_shell_returns() {
    let before = Instant::now();
    let script = r#"x=$("$N" run -q -- sh -c 'sleep 300 >&2 & echo $!; sleep 300 & echo $!; echo b')
        echo "$x""#;
    let ended = ran(shell(script));
    let took = before.elapsed();
    numbers(ended.out()).into_iter().for_each(end);
    assert_eq!((ended.out().lines().nth(2), ended.err(), ended.code()), (Some("b"), "", 0));
    assert!(took.as_millis() < u128::from(BACK_MS), "{took:?}");
}

fn bash(script: &str) -> Ended {
    let mut command = Command::new("bash");
    command.args(["--norc", "-c", script]).env("N", binary()).stdin(Stdio::null());
    command.env("XDG_CONFIG_HOME", common::NO_CONFIG);
    ran(command)
}

#[test]
fn substituted_processes_are_readable() {
    bash(r#""$N" run -- diff <(echo a) <(echo a)"#).is("", "", 0);
    bash(r#""$N" run -- diff <(echo a) <(echo b)"#).is("1c1\n< a\n---\n> b\n", "", 1);
    bash(r#""$N" run --shell -- 'cat "$1" "$2"' <(echo a) <(echo b)"#).is("a\nb\n", "", 0);
}

#[test]
fn a_jobserver_is_passed_on() {
    let folder = Folder::new("jobserver");
    folder.write(
        "Makefile",
        "all:\n\t+@\"$(N)\" run -- $(MAKE) -s below\nbelow: a b c\na b c:\n\t@echo $@\n",
    );
    for version in ["make -s -j4", "\"$N\" run -- make -s -j4"] {
        let mut command = shell(&format!("cd \"$F\" && {version}"));
        command.env("F", &folder.0).env_remove("MAKEFLAGS").env_remove("MFLAGS");
        let ended = ran(command);
        let mut lines: Vec<_> = ended.out().lines().collect();
        lines.sort_unstable();
        // A jobserver that is not there is warned of on stderr.
        assert_eq!((lines, ended.err(), ended.code()), (vec!["a", "b", "c"], "", 0));
    }
}

/// A shell script that starts one of each kind, prints the ids of all, and waits.
const TREE: &str = r#"
    trap "" TERM HUP INT
    echo $$
    sleep 300 & echo $!
    setsid sh -c 'echo $$; exec sleep 300' &
    sh -c 'sh -c "echo \$\$; exec sleep 300" &'
    sh -c '(setsid sh -c "echo \$\$; exec sleep 300") &'
    wait
    sleep 300
"#;
const TREE_SIZE: usize = 5;

#[test]
fn nothing_of_the_tree_outlives_a_collector_that_is_killed() {
    let mut child = spawned(noesc(["run", "--", "sh", "-c", TREE]));
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    while numbers(&text).len() < TREE_SIZE {
        assert!(stdout.read_line(&mut text).unwrap() > 0, "{text:?}");
    }
    let pids = numbers(&text);
    assert!(pids.iter().all(|pid| is_alive(*pid)), "{pids:?}");
    signal("KILL", child.id());
    all_gone(&pids);
    child.wait().unwrap();
}

#[test]
fn nothing_of_the_tree_outlives_a_run_that_is_stopped() {
    let run = told_sh(&["--time-max", "5s", "--grace", "200ms"], TREE);
    let pids = numbers(run.all("stdout"));
    assert_eq!(pids.len(), TREE_SIZE, "{pids:?}");
    assert_eq!(pids.iter().filter(|pid| is_alive(**pid)).count(), 0, "{pids:?}");
    let killed = json!({"kind": "signalled", "signal": 9, "core": false});
    assert_eq!(run.outcome(), json!({"kind": "timed_out", "exit": killed}));
    assert_eq!(run.record["processes"]["ended"], json!({"signal": 15, "killed": true}));
    assert_eq!(run.record["processes"]["survivors"], json!({"count": 0, "listed": []}));
    assert_eq!(run.code, 124);
}

#[test]
fn an_interrupt_is_the_childs_and_its_own_summary_arrives() {
    let folder = Folder::new("interrupt");
    let path = folder.name("report");
    let script = "trap 'echo summary; exit 3' INT; echo up; while :; do sleep 0.05; done";
    let mut child = spawned(noesc(["run", "--report", &path, "--", "sh", "-c", script]));
    see(child.stdout.as_mut().unwrap(), "up\n");
    signal("INT", child.id());
    see(child.stdout.as_mut().unwrap(), "summary\n");
    let ended = ended(child);
    ended.is("", "", 130);
    let record = json(path.as_ref());
    let exit = json!({"kind": "exited", "code": 3});
    let wanted =
        json!({"kind": "cancelled", "signal": 2, "exit": exit, "observed_by": "collector"});
    assert_eq!(record["outcome"], wanted);
    assert_eq!(record["processes"]["ended"], json!({"signal": 2, "killed": false}));
}

#[test]
fn a_second_interrupt_kills() {
    let folder = Folder::new("interrupts");
    let path = folder.name("report");
    let script = "trap 'echo got' INT; echo up; while :; do sleep 0.05; done";
    let arguments = ["run", "--grace", "1h", "--report", &path, "--", "sh", "-c", script];
    let mut child = spawned(noesc(arguments));
    see(child.stdout.as_mut().unwrap(), "up\n");
    signal("INT", child.id());
    see(child.stdout.as_mut().unwrap(), "got\n");
    // Within a tenth of a second it would count as the same one.
    std::thread::sleep(std::time::Duration::from_millis(150));
    signal("INT", child.id());
    assert_eq!(status(&mut child).code(), Some(130));
    let record = json(path.as_ref());
    let exit = json!({"kind": "signalled", "signal": 9, "core": false});
    let wanted =
        json!({"kind": "cancelled", "signal": 2, "exit": exit, "observed_by": "collector"});
    assert_eq!(record["outcome"], wanted);
    let told = ended(child);
    let said = "noesc: cancelled by signal 2; ended by signal 9 (signal 2 had not ended it)\n";
    assert_eq!(told.err(), said);
}

#[test]
fn who_outlives_a_run_is_told_in_text_too() {
    let ended = ran_sh(&[], "sleep 300 >/dev/null 2>&1 & echo $!");
    let pid = ended.out().trim().to_owned();
    end(pid.parse().unwrap());
    assert_eq!(ended.err(), format!("noesc: 1 process outlives the run: {pid} sleep\n"));
    assert_eq!(ended.code(), 0);
    let ended = ran_sh(&["-q"], "sleep 300 & echo $!");
    end(ended.out().trim().parse().unwrap());
    assert_eq!((ended.err(), ended.code()), ("", 0));
}

#[test]
fn a_run_that_leaves_nothing_says_so() {
    let run: Told = told::<&str>(&[], &["true"]);
    assert_eq!(run.record["processes"]["survivors"], json!({"count": 0, "listed": []}));
    assert_eq!(run.record["processes"]["ended"], json!(null));
    assert_eq!(run.record["collector"]["attended"], true);
    assert_eq!(run.record["collector"]["undumpable"], true);
}
