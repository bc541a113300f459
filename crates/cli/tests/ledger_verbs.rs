//! `noesc ledger`.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
mod typing;

use std::io::Write as _;

use common::ran;
use typing::Home;

const ONE: &str = "age1lvyvwawkr0mcnnnncaghunadrqkmuf9e6507x9y920xxpp866cnql7dp2z";

/// A home with a ledger of some records.
fn home(name: &str) -> Home {
    let home = Home::new(name);
    for _ in 0..3 {
        assert_eq!(ran(home.noesc(&["init", "--recipient", ONE])).code(), 0);
    }
    home
}

#[test]
fn a_ledger_in_order_verifies_and_another_does_not() {
    let home = home("ledger-verify");
    let verified = ran(home.noesc(&["ledger", "verify"]));
    assert!(verified.out().starts_with("3 records in order, root "), "{verified:?}");
    assert_eq!((verified.err(), verified.code()), ("", 0));
    let path = home.folder.path("state/noesc/ledger");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[10] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    for verb in [&["verify"][..], &["show"], &["checkpoint", "--to", "-"]] {
        let ended = ran(home.noesc(&[&["ledger"], verb].concat()));
        let message = "noesc: error: record 0 of the ledger, at byte 0: ";
        assert!(ended.err().contains(message), "{}", ended.err());
        assert_eq!((ended.out(), ended.code()), ("", 1), "{verb:?}");
    }
}

#[test]
fn a_checkpoint_shows_what_was_cut_or_written_anew() {
    let home = home("ledger-checkpoint");
    let path = home.folder.path("state/noesc/ledger");
    let before = std::fs::read(&path).unwrap();
    let made = ran(home.noesc(&["ledger", "checkpoint", "--to", "mark"]));
    assert_eq!((made.out(), made.code()), ("", 0), "{made:?}");
    let note = std::fs::read_to_string(home.folder.path("work/mark")).unwrap();
    assert_eq!(note.lines().nth(1), Some("3"));
    let printed = ran(home.noesc(&["ledger", "checkpoint", "--to", "-"]));
    assert_eq!(printed.out().lines().nth(1), Some("4"));
    let since = || ran(home.noesc(&["ledger", "verify", "--since", "mark"]));
    assert_eq!(since().err(), "noesc: the first 3 records are what they were\n");
    assert_eq!(since().code(), 0);
    // From another machine, as by <(ssh …).
    let (pipe, mut other) = std::io::pipe().unwrap();
    other.write_all(note.as_bytes()).unwrap();
    drop(other);
    let mut piped = home.noesc(&["ledger", "verify", "--since", "/dev/stdin"]);
    piped.stdin(pipe);
    assert_eq!(ran(piped).err(), "noesc: the first 3 records are what they were\n");
    let end = before.iter().take(before.len() - 1).rposition(|&byte| byte == b'\n').unwrap();
    std::fs::write(&path, &before[..=end]).unwrap();
    assert_eq!(ran(home.noesc(&["ledger", "verify"])).code(), 0);
    since().refused("expected at least the 3 records of the checkpoint, found 2", 1);
    home.folder.write("work/mark", "nothing\n");
    let expected = "expected a text, an empty line and signatures in the checkpoint, found another \
                    text";
    since().refused(expected, 2);
    let none = ran(home.noesc(&["ledger", "verify", "--since", "none"]));
    none.refused("can not read the checkpoint \"none\": no such file or folder", 2);
}

#[test]
fn records_are_shown_one_a_line() {
    let home = home("ledger-show");
    let shown = ran(home.noesc(&["ledger", "show"]));
    assert_eq!(shown.out().lines().count(), 3);
    assert!(shown.out().lines().all(|line| line.contains("  recipients  {\"action\":\"")));
    let json = ran(home.noesc(&["ledger", "show", "--json"]));
    for (at, line) in json.out().lines().enumerate() {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!((&record["index"], &record["kind"]), (&at.into(), &"recipients".into()));
        assert_eq!(record["event"]["recipients"][0], ONE);
    }
}

#[test]
fn a_store_is_where_it_is_said() {
    let home = home("ledger-store");
    let none = ran(home.noesc(&["ledger", "verify", "--store", "elsewhere"]));
    none.refused("cannot open the key elsewhere/collector.key: no such file or folder", 2);
    let init = ran(home.noesc(&["init", "--recipient", ONE, "--store", "elsewhere"]));
    assert_eq!(init.code(), 0, "{}", init.err());
    let store = home.folder.path("work/elsewhere");
    assert!(home.config().contains(&format!("store = \"{}\"", store.to_str().unwrap())));
    // It is configured from now on.
    let verified = ran(home.noesc(&["ledger", "verify"]));
    assert!(verified.out().starts_with("1 records in order"), "{verified:?}");
}
