//! How runs in the background end: by `noesc stop`, and when one of our own processes is killed.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod backgrounds;
mod common;

use std::io::Read;
use std::time::{Duration, Instant};

use backgrounds::{Home, is_alive, until_gone, until_written};
use common::{eventually, noesc, signal, spawned, status};

/// The number of the process that collects a run.
fn collector(home: &Home, run: &str) -> u32 {
    home.row(run)["keeper_pid"].as_u64().unwrap().try_into().unwrap()
}

/// A script that starts a tree: a child of the group, one in a session of its own, and one that was
/// forked twice. Each writes its number to a file.
fn tree(home: &Home) -> String {
    let path = |name: &str| home.folder.name(name);
    format!(
        "sleep 60 & echo $! >{}; setsid sh -c 'echo $$ >{}; sleep 60' & \
         (setsid sh -c 'sh -c \"echo \\$\\$ >{}; sleep 60\" &' &) ; echo up; wait; sleep 60",
        path("group"),
        path("session"),
        path("daemon")
    )
}

fn numbers(home: &Home) -> Vec<String> {
    ["group", "session", "daemon"].map(|name| until_written(home.folder.path(name))).to_vec()
}

#[test]
fn stop_ends_the_whole_tree() {
    let home = Home::new("bg-tree");
    let run = home.start(&[], &tree(&home));
    let pids = numbers(&home);
    assert!(pids.iter().all(|pid| is_alive(pid)));
    home.noesc(&["stop", &run]).is("", "", 0);
    // When it returns, nothing is left.
    assert!(!pids.iter().any(|pid| is_alive(pid)), "{pids:?}");
    let record = home.record(&run);
    assert_eq!(record["outcome"]["kind"], "cancelled");
    assert_eq!(record["outcome"]["signal"], 15);
    assert_eq!(record["processes"]["survivors"]["count"], 0);
    // It ended when it was asked to.
    assert_eq!(record["processes"]["ended"]["killed"], false);
    let said = "noesc: cancelled by signal 15; ended by signal 15\n";
    home.noesc(&["wait", &run]).is("up\n", said, 143);
}

#[test]
fn a_command_may_end_in_its_own_way() {
    let home = Home::new("bg-own-way");
    // The shell would say that its sleep was ended.
    let script = "exec 2>/dev/null; trap 'echo summary; exit 7' TERM; echo up; \
                  while :; do sleep 0.05; done";
    let run = home.start(&[], script);
    home.until_printed(&run, "up\n");
    home.noesc(&["stop", &run]).is("", "", 0);
    let said = "noesc: cancelled by signal 15; exited 7\n";
    home.noesc(&["wait", &run]).is("up\nsummary\n", said, 143);
}

#[test]
fn one_that_ignores_term_is_killed_after_the_grace() {
    let home = Home::new("bg-ignores");
    let path = home.folder.path("pid");
    let script =
        format!("trap '' TERM; echo up; echo $$ >{}; while :; do sleep 1; done", path.display());
    let run = home.start(&[], &script);
    let pid = until_written(path);
    let start = Instant::now();
    home.noesc(&["stop", &run]).is("", "", 0);
    let took = start.elapsed();
    assert!(took > Duration::from_secs(2), "{took:?}");
    assert!(!is_alive(&pid));
    let said = "noesc: cancelled by signal 15; ended by signal 9 (signal 15 had not ended it)\n";
    home.noesc(&["wait", &run]).is("up\n", said, 143);
    let record = home.record(&run);
    assert_eq!(record["processes"]["ended"]["killed"], true);
}

#[test]
fn one_that_was_started_with_signals_ignored_is_stopped_too() {
    let home = Home::new("bg-ignored");
    let started = home.shell(r#"trap '' TERM INT HUP QUIT; "$N" run --detach -- sleep 60"#);
    let run = started.out().trim_end();
    home.noesc(&["stop", run]).is("", "", 0);
    home.noesc(&["wait", "-q", run]).is("", "", 143);
    assert_eq!(home.record(run)["collector"]["attended"], true);
}

#[test]
fn a_run_that_has_ended_is_no_error() {
    let home = Home::new("bg-ended");
    let run = home.start(&[], "echo done");
    home.noesc(&["wait", &run]).is("done\n", "", 0);
    let goes_on = home.start(&[], "sleep 60");
    let said = format!("noesc: {run} had ended before\n");
    home.noesc(&["stop", &run]).is("", &said, 0);
    home.noesc(&["stop", &run, &goes_on]).is("", &said, 0);
    assert_eq!(home.state(&goes_on), "ended");
}

#[test]
fn when_the_collector_is_killed_the_tree_goes_with_it() {
    let home = Home::new("bg-killed");
    let run = home.start(&[], &tree(&home));
    let pids = numbers(&home);
    home.until_printed(&run, "up\n");
    signal("KILL", collector(&home, &run));
    until_gone(&pids.iter().map(String::as_str).collect::<Vec<_>>());
    eventually(|| match home.state(&run).as_str() {
        "ended" => Ok(()),
        other => Err(other.to_owned()),
    });
    assert!(home.listed(&[]).is_empty());
    // What was there is told, and that nobody saw the end.
    let said = "noesc: its end is unknown: collector-lost\n";
    home.noesc(&["wait", &run]).is("up\n", said, 125);
    let outcome = &home.record(&run)["outcome"];
    assert_eq!((&outcome["kind"], &outcome["why"]), (&"unknown".into(), &"collector-lost".into()));
    assert_eq!(home.row(&run)["outcome"], "its end is unknown: collector-lost");
    home.noesc(&["stop", &run]).is("", &format!("noesc: {run} had ended before\n"), 0);
}

#[test]
fn a_wait_ends_when_the_collector_is_killed() {
    let home = Home::new("bg-wait-killed");
    let run = home.start(&[], "echo up; sleep 60");
    home.until_printed(&run, "up\n");
    let mut waiting = spawned(home.at(noesc(["wait", &run])));
    std::thread::sleep(Duration::from_millis(100));
    assert!(waiting.try_wait().unwrap().is_none());
    signal("KILL", collector(&home, &run));
    common::ended(waiting).is("up\n", "noesc: its end is unknown: collector-lost\n", 125);
}

#[test]
fn when_the_front_is_killed_the_run_goes_on() {
    let home = Home::new("bg-front");
    let go = home.folder.name("go");
    let script = format!("while ! test -e {go}; do sleep 0.05; done; echo out; exit 4");
    // It waits for something to see, which is long enough for us.
    let front = home.at(noesc(["run", "--detach", "--format", "json", "--", "sh", "-c", &script]));
    let mut front = spawned(front);
    let run = eventually(|| match home.listed(&[]).pop() {
        Some(row) if row["argv"][0] == "sh" => Ok(row["run"].as_str().unwrap().to_owned()),
        other => Err(other),
    });
    assert!(front.try_wait().unwrap().is_none(), "it has seen enough");
    front.kill().unwrap();
    assert!(status(&mut front).code().is_none());
    let mut rest = String::new();
    front.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
    home.folder.write("go", "");
    home.noesc(&["wait", &run]).is("out\n", "", 4);
}

#[test]
fn signals_of_the_terminal_do_not_reach_it() {
    let home = Home::new("bg-session");
    let run = home.start(&[], "echo up; sleep 60");
    home.until_printed(&run, "up\n");
    let pid = collector(&home, &run).to_string();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<_> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    // State, parent, group, session, terminal: it leads a session that has none.
    assert_eq!((fields[2], fields[3], fields[4]), (pid.as_str(), pid.as_str(), "0"));
    // One that is sent to it is the command's, too.
    signal("HUP", pid.parse().unwrap());
    home.noesc(&["wait", "-q", &run]).is("up\n", "", 129);
}

#[test]
fn several_are_waited_for_together() {
    let home = Home::new("bg-together");
    let ids = [("echo a", 0), ("echo b; exit 3", 3), ("echo c; exit 4", 4)]
        .map(|(script, _)| home.start(&[], script));
    let all = |flags: &[&str]| {
        let ids = ids.iter().map(String::as_str);
        home.noesc(&[&["wait"], flags, &ids.collect::<Vec<_>>()].concat())
    };
    all(&[]).is("a\nb\nc\n", "", 3);
    let ended = all(&["--format", "json"]);
    assert_eq!((ended.out().lines().count(), ended.err(), ended.code()), (3, "", 3));
    for format in ["lines", "fence", "xml"] {
        all(&["--format", format]).refused("several runs are told as text or json alone", 125);
    }
    let goes_on = home.start(&[], "sleep 60");
    let said = format!("noesc: {goes_on}: goes on\n");
    home.noesc(&["wait", "--time-max", "100ms", &ids[0], &goes_on]).is("a\n", &said, 124);
}
