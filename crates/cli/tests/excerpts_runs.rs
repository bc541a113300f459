//! `noesc runs`: what the ledger tells of runs, together with those of which it tells nothing yet.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::panic)]

mod backgrounds;
mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime};

use backgrounds::Home;
use noesc_evidence::{CollectorKey, Kind, Ledger};
use serde_json::{Value, json};

fn store(home: &Home) -> PathBuf {
    let store = home.folder.path("state").join("noesc");
    fs::create_dir_all(&store).unwrap();
    fs::set_permissions(&store, fs::Permissions::from_mode(0o700)).unwrap();
    store
}

/// Writes events into the ledger, as a collector would.
fn tell(home: &Home, events: impl IntoIterator<Item = Value>) {
    let store = store(home);
    let path = store.join("collector.key");
    let key = CollectorKey::load(&path)
        .unwrap_or_else(|_| CollectorKey::create(&path, "example.com/ledger").unwrap());
    let mut ledger = Ledger::open(&store.join("ledger"), &key, Duration::from_secs(60)).unwrap();
    for event in events {
        ledger.append(SystemTime::now(), Kind::Run, &event).unwrap();
    }
}

fn id(n: u64) -> String {
    format!("01900000-{n:04}-7000-8000-000000000000")
}

fn event(n: u64) -> Value {
    let severity = ["none", "low", "high"][(n % 3) as usize];
    json!({
        "run": id(n), "started": format!("2026-01-{:02}T10:00:00.000Z", n + 1),
        "ended": format!("2026-01-{:02}T10:00:01.000Z", n + 1),
        "command": format!("make -j{n}"), "outcome": "exited", "code": n % 2,
        "findings": if n % 3 == 2 { vec!["clipboard-write"] } else { vec![] },
        "severity": severity, "bytes": n * 1000, "evidence": "not-kept", "artifact": null,
    })
}

/// The rows of `runs --json`.
#[track_caller]
fn listed(home: &Home, flags: &[&str]) -> Vec<Value> {
    let ended = home.noesc(&[&["runs", "--json"], flags].concat());
    assert_eq!((ended.err(), ended.code()), ("", 0), "{flags:?}");
    ended.out().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The numbers of the runs that are listed.
#[track_caller]
fn numbers(home: &Home, flags: &[&str]) -> Vec<u64> {
    let rows = listed(home, flags);
    rows.iter().map(|row| row["run"].as_str().unwrap()[9..13].parse().unwrap()).collect()
}

#[test]
fn without_runs_there_is_an_empty_table() {
    let home = Home::new("runs-none");
    assert_eq!(home.noesc(&["runs"]).out().lines().count(), 1);
    home.noesc(&["runs", "--json"]).is("", "", 0);
    // Nothing is made for a question.
    assert!(!home.folder.path("state").exists());
}

#[test]
fn the_ledger_is_listed_the_newest_first() {
    let home = Home::new("runs-ledger");
    tell(&home, (0..4).map(event));
    assert_eq!(numbers(&home, &[]), [3, 2, 1, 0]);
    tell(&home, (4..6).map(event));
    assert_eq!(numbers(&home, &[]), [5, 4, 3, 2, 1, 0]);
    let ended = home.noesc(&["runs"]);
    let row = format!(
        "{}  2026-01-06T10:00:00Z  exited 1          high             5000  make -j5",
        id(5)
    );
    assert_eq!(ended.out().lines().nth(1), Some(row.as_str()));
    assert_eq!(
        listed(&home, &[])[0],
        json!({
            "run": id(5), "state": "ended", "started": "2026-01-06T10:00:00.000Z",
            "ended": "2026-01-06T10:00:01.000Z", "command": "make -j5", "outcome": "exited",
            "code": 1, "findings": ["clipboard-write"], "severity": "high", "bytes": 5000,
            "evidence": "not-kept", "artifact": null, "in_ledger": true,
        })
    );
}

#[test]
fn runs_are_picked_by_what_is_known_of_them() {
    let home = Home::new("runs-filters");
    tell(&home, (0..6).map(event));
    tell(&home, [json!({"run": id(6), "outcome": "signalled", "code": 137, "command": "x"})]);
    for (flags, found) in [
        (&["--failed"][..], &[6, 5, 3, 1][..]),
        (&["--outcome", "signalled"], &[6]),
        (&["--finding", "clipboard-write"], &[5, 2]),
        (&["--severity", "low"], &[5, 4, 2, 1]),
        (&["--severity", "high", "--failed"], &[5]),
        (&["--command", "^make -j[35]$"], &[5, 3]),
        (&["--command", "nothing"], &[]),
        (&["--since", "2026-01-03"], &[5, 4, 3, 2]),
        (&["--since", "2026-01-03T10:00:00.001Z"], &[5, 4, 3]),
        (&["--since", "2026-01-03T10:00", "--until", "2026-01-05T10:00:00Z"], &[3, 2]),
        (&["--until", "2026-01-02"], &[6, 0]),
        (&["--since", "500ms"], &[]),
    ] {
        assert_eq!(numbers(&home, flags), found, "{flags:?}");
    }
    for wrong in [
        "--since=yesterday",
        "--since=2026-1-3",
        "--since=2026-13-01",
        "--since=2026-01-01T24:00Z",
        "--until=2026-01-01 10:00",
        "--since=99999999999999999999d",
        "--since=\u{1b}",
        "--limit=0",
        "--severity=none",
        "--outcome=bogus",
        "--command=(",
    ] {
        let ended = home.noesc(&["runs", wrong]);
        assert_eq!((ended.out(), ended.code()), ("", 2), "{wrong}");
    }
}

#[test]
fn no_more_are_listed_than_are_asked_for() {
    let home = Home::new("runs-limit");
    tell(&home, (0..51).map(|n| json!({"run": id(n), "outcome": "exited", "code": 0})));
    for (limit, count) in [("49", 49), ("50", 50), ("51", 51), ("52", 51)] {
        assert_eq!(numbers(&home, &["--limit", limit]).len(), count);
        let note = format!("noesc: there are more than {limit}; \"--limit\" lists more\n");
        let ended = home.noesc(&["runs", "--limit", limit]);
        assert_eq!(ended.err(), if count < 51 { &note } else { "" });
    }
    assert_eq!(numbers(&home, &[]).len(), 50);
}

#[test]
fn a_run_of_which_the_ledger_tells_nothing_yet_is_listed_too() {
    let home = Home::new("runs-folders");
    let running = home.start(&[], "printf 'a\\033]52;c;aGk=\\007'; exec sleep 1000");
    home.until_printed(&running, "a");
    let failed = home.start(&[], "exit 7");
    home.noesc(&["wait", "-q", &failed]);
    tell(&home, (0..2).map(event));
    let ids = |flags: &[&str]| {
        let rows = listed(&home, flags);
        rows.iter().map(|row| row["run"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&[]), [failed.clone(), running.clone(), id(1), id(0)]);
    assert_eq!(ids(&["--limit", "3"]), [failed.clone(), running.clone(), id(1)]);
    assert_eq!(ids(&["--failed"]), [failed.clone(), id(1)]);
    assert_eq!(ids(&["--outcome", "running"]), [running.as_str()]);
    assert_eq!(ids(&["--since", "1h"]), [failed.clone(), running.clone()]);
    let rows = listed(&home, &["--command", "^sh -c exit"]);
    assert_eq!((&rows[0]["code"], &rows[0]["in_ledger"]), (&7.into(), &true.into()));
    assert_eq!((&rows[0]["evidence"], &rows[0]["artifact"]), (&"not-kept".into(), &Value::Null));
    // What the ledger tells last is what counts, and it is listed once.
    tell(&home, [json!({"run": failed, "outcome": "exited", "code": 7, "command": "told"})]);
    let rows = listed(&home, &["--failed"]);
    assert_eq!((&rows[0]["command"], &rows[0]["in_ledger"]), (&"told".into(), &true.into()));
    assert_eq!(rows.len(), 2);
    assert_eq!(ids(&["--command", "^sh -c exit"]), [""; 0]);
    home.noesc(&["stop", &running]);
}

#[test]
fn a_forged_ledger_is_inert() {
    let home = Home::new("runs-forged");
    let hostile = "a\u{1b}]0;t\u{7}b\u{202e}c\nnoesc: error: forged\u{9b}2J";
    tell(
        &home,
        [
            json!({
                "run": id(0), "started": hostile, "ended": hostile, "command": hostile,
                "outcome": hostile, "code": 0, "findings": [hostile], "severity": hostile,
                "bytes": u64::MAX, "evidence": hostile, "artifact": hostile,
            }),
            json!({"run": hostile}),
            json!({"run": id(1), "command": "x".repeat(60_000)}),
            json!({"run": ["x"], "bytes": -1}),
        ],
    );
    for flags in [&["runs"][..], &["runs", "--json"], &["runs", "--command", "a"]] {
        let ended = home.noesc(flags);
        let out = common::escaped(&ended.stdout);
        assert!(
            ended.stdout.iter().all(|b| matches!(b, b'\n' | b' '..=b'~') || *b > 0x7f),
            "{out}"
        );
        assert_eq!(noesc::clean(&ended.stdout).as_bytes(), ended.stdout, "{out}");
        assert!(!ended.out().lines().any(|line| line.starts_with("noesc:")), "{out}");
        assert!(ended.out().len() < 20_000);
        assert_eq!(ended.err(), "");
    }
    assert_eq!(numbers(&home, &[]), [1, 0]);
}

#[test]
fn a_ledger_that_can_not_be_read_is_said_and_hides_nothing_else() {
    let home = Home::new("runs-damaged");
    tell(&home, (0..4).map(event));
    let run = home.start(&[], "true");
    home.noesc(&["wait", "-q", &run]);
    let ledger = store(&home).join("ledger");
    let good = fs::read(&ledger).unwrap();
    let look = |shown: usize, why: &str| {
        for _ in 0..2 {
            let ended = home.noesc(&["runs"]);
            assert_eq!((ended.out().lines().count() - 1, ended.code()), (shown, 0), "{why}");
            assert!(ended.err().contains(why), "{why}: {}", ended.err());
            assert!(ended.out().contains(&run));
        }
    };
    let mut bad = good.clone();
    let line = good.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).unwrap().0;
    bad[line + 100] ^= 1;
    fs::write(&ledger, &bad).unwrap();
    look(3, "the ledger is not listed to its end: record 2 of the ledger");
    fs::write(&ledger, &good).unwrap();
    look(5, "");
    let key = store(&home).join("collector.key");
    fs::rename(&key, store(&home).join("elsewhere")).unwrap();
    look(1, "the ledger is not listed: ");
    CollectorKey::create(&key, "example.com/other").unwrap();
    fs::remove_file(store(&home).join("index.sqlite")).unwrap();
    look(1, "the ledger is not listed to its end: record 0 of the ledger");
    fs::remove_file(&ledger).unwrap();
    assert!(Command::new("mkfifo").arg(&ledger).status().unwrap().success());
    look(1, "expected a plain file");
}

#[test]
fn an_index_that_is_of_no_use_keeps_nobody_from_an_answer() {
    let home = Home::new("runs-index");
    tell(&home, (0..4).map(event));
    let index = store(&home).join("index.sqlite");
    let elsewhere = home.folder.write("elsewhere", "theirs");
    assert_eq!(numbers(&home, &[]).len(), 4);
    assert_eq!(fs::metadata(&index).unwrap().permissions().mode() & 0o777, 0o600);
    for damage in ["gone", "text", "link", "pipe", "folder", "read-only"] {
        let _ = fs::remove_file(&index);
        match damage {
            "text" => fs::write(&index, "\u{1b}]0;t\u{7}no database").unwrap(),
            "link" => std::os::unix::fs::symlink(&elsewhere, &index).unwrap(),
            "pipe" => assert!(Command::new("mkfifo").arg(&index).status().unwrap().success()),
            "folder" => fs::create_dir_all(index.join("full")).unwrap(),
            _ => {}
        }
        let mode = if damage == "read-only" { 0o500 } else { 0o700 };
        fs::set_permissions(store(&home), fs::Permissions::from_mode(0o700)).unwrap();
        let folder = home.folder.path("state").join("noesc");
        fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(numbers(&home, &[]), [3, 2, 1, 0], "{damage}");
        assert_eq!(numbers(&home, &["--failed"]), [3, 1], "{damage}");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        if damage == "folder" {
            fs::remove_dir_all(&index).unwrap();
        }
    }
    assert_eq!(fs::read(&elsewhere).unwrap(), b"theirs");
}

#[test]
fn an_index_whose_writer_was_killed_lacks_nothing() {
    let home = Home::new("runs-killed");
    tell(&home, (0..1500).map(|n| json!({"run": id(n), "outcome": "exited", "code": 0})));
    let index = store(&home).join("index.sqlite");
    for ms in 0..25 {
        if ms % 5 == 0 {
            let _ = fs::remove_file(&index);
        }
        let mut command = home.at(common::noesc(["runs", "--json", "--limit", "3000"]));
        let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(4 * ms));
        child.kill().unwrap();
        child.wait().unwrap();
        if ms % 5 == 4 {
            assert_eq!(numbers(&home, &["--limit", "3000"]).len(), 1500, "{ms}");
        }
    }
}

#[test]
fn a_question_to_many_at_once_is_answered_to_each() {
    let home = Home::new("runs-many");
    tell(&home, (0..9).map(event));
    let script = "for i in 1 2 3 4 5 6; do \"$N\" runs --json & done; wait";
    let ended = home.shell(script);
    assert_eq!((ended.out().lines().count(), ended.err()), (54, ""));
}
