//! What is deleted by policy, what is not, and what the ledger says of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
mod storing;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::time::SystemTime;

use noesc_evidence::{Kind, PRUNE_CRASH_POINTS, RunEntry};
use serde_json::{Value, json};
use storing::{DAY, Kept};

use common::ran;

fn usage(kept: &Kept) -> (Value, Value) {
    let (stats, code) = kept.json(&["store", "stats", "--json"]);
    assert_eq!(code, 0);
    (stats["used"].clone(), stats["told"].clone())
}

#[test]
fn raw_bytes_go_first_then_the_transcript_then_the_folder() {
    let mut kept = Kept::new("clocks");
    let [old, middle, new] = [91, 15, 13].map(|days| kept.run(days * DAY));
    kept.noesc(&["store", "prune"])
        .refused("the clock may be wrong: it went on by more than 30 days without a record", 2);
    let (dry, _) = kept.json(&["store", "prune", "--dry-run", "--json"]);
    assert!(old.artifact.exists() && middle.artifact.exists());
    let (swept, code) = kept.json(&["store", "prune", "--now", "--json"]);
    assert_eq!((code, &swept["deleted"], &swept["folders"]), (0, &dry["deleted"], &json!(1)));
    let whats: Vec<_> =
        swept["deleted"].as_array().unwrap().iter().map(|one| &one["what"]).collect();
    assert_eq!(whats, ["artifact", "transcript", "artifact"]);
    assert!(!old.folder.exists());
    assert!(!middle.artifact.exists() && middle.folder.join("stdout.txt").exists());
    assert!(new.artifact.exists());
    let (again, _) = kept.json(&["store", "prune", "--now", "--json"]);
    assert_eq!(again["deleted"], json!([]));
    let (used, told) = usage(&kept);
    assert_eq!(used, told);
}

#[test]
fn a_ledger_whose_moments_go_back_makes_the_clock_doubtful() {
    let mut kept = Kept::new("doubt");
    kept.run(DAY);
    kept.run(3 * DAY);
    let ended = kept.noesc(&["store", "prune"]);
    ended.refused("the clock may be wrong: it went back by more than a day", 2);
}

#[test]
fn a_tombstone_says_what_was_deleted() {
    let mut kept = Kept::new("tombstone");
    let old = kept.run(91 * DAY);
    let bytes = fs::metadata(&old.artifact).unwrap().len();
    kept.noesc(&["store", "prune", "--now"]).is(
        &format!(
            "deleted the artifact of {0} ({bytes} bytes)\n\
             deleted the transcript of {0} (8 bytes)\ndeleted 2 things ({1} bytes)\n",
            old.id,
            bytes + 8
        ),
        "",
        0,
    );
    assert!(!old.folder.exists());
    let hex = old.artifact.file_stem().unwrap().to_str().unwrap();
    let [artifact, transcript] = &kept.retention()[..] else { panic!() };
    let wanted = json!({
        "action": "deleted", "run": old.id, "what": "artifact", "bytes": bytes,
        "artifact": format!("restricted:sha256:{hex}"), "digests": {"stdout": "hmac-sha256:00"},
        "was_missing": false, "store": {"bytes": 8, "files": 1},
    });
    assert_eq!(artifact, &wanted);
    assert_eq!(transcript["store"], json!({"bytes": 0, "files": 0}));
    let digest = "sha256:ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356";
    assert_eq!(transcript["digests"]["record.json"], digest);
}

#[test]
fn a_prune_that_is_killed_is_finished_by_the_next() {
    let ledger = ["ledger-half-written", "ledger-written", "ledger-synced"];
    for point in PRUNE_CRASH_POINTS.iter().copied().chain(ledger) {
        let mut kept = Kept::new(&format!("killed-{point}"));
        let old = kept.run(91 * DAY);
        let mut command = kept.command(&["store", "prune", "--now"]);
        command.env("NOESC_CRASH_POINT", point);
        assert_eq!(ran(command).status.signal(), Some(9), "{point}");
        // What is gone has a tombstone.
        assert!(old.artifact.exists() || !kept.retention().is_empty(), "{point}");
        let (looked, _) = kept.json(&["store", "doctor", "--json"]);
        let findings = looked["findings"].as_array().unwrap();
        let wanted = ["prune-cut-short", "torn-tail"];
        assert!(
            findings.iter().all(|finding| wanted.iter().any(|code| finding["code"] == *code)),
            "{point}: {looked}"
        );
        assert_eq!(kept.noesc(&["store", "prune", "--now"]).code(), 0);
        assert!(!old.folder.exists(), "{point}");
        assert_eq!(kept.retention().len(), 2, "{point}");
        let nothing = json!({"bytes": 0, "files": 0});
        assert_eq!(usage(&kept), (nothing.clone(), nothing), "{point}");
        kept.noesc(&["store", "doctor"]).code();
    }
}

#[test]
fn a_held_run_stays_until_it_is_released() {
    let mut kept = Kept::new("held");
    let old = kept.run(91 * DAY);
    let held = kept.noesc(&["store", "hold", &old.id, "--reason", "incident \x1b[31m12"]);
    held.is(&format!("{} held\n", old.id), "", 0);
    kept.noesc(&["store", "hold", &old.id]).is(&format!("{} was held already\n", old.id), "", 0);
    let (swept, _) = kept.json(&["store", "prune", "--now", "--json"]);
    assert_eq!((&swept["deleted"], &swept["held"]), (&json!([]), &json!([old.id])));
    assert!(old.artifact.exists());
    let reason = "incident \\x1b[31m12";
    assert_eq!(kept.retention(), [json!({"action": "held", "run": old.id, "reason": reason})]);
    kept.noesc(&["store", "hold", "--release", &old.id]).is(
        &format!("{} released\n", old.id),
        "",
        0,
    );
    kept.noesc(&["store", "prune", "--now"]).code();
    assert!(!old.folder.exists());
    kept.noesc(&["store", "hold", "0000"]).refused("there is no run \"0000\"", 2);
}

#[test]
fn a_run_from_the_future_is_not_deleted_and_makes_no_other_young() {
    let mut kept = Kept::new("future");
    let future = kept.run_at(SystemTime::now() + 400 * DAY);
    let old = kept.run(91 * DAY);
    let (swept, _) = kept.json(&["store", "prune", "--now", "--raw-keep", "0s", "--json"]);
    assert_eq!(swept["future"], json!([future.id]));
    assert!(future.artifact.exists() && !old.artifact.exists());
}

#[test]
fn a_clock_that_was_behind_makes_no_run_old() {
    let mut kept = Kept::new("behind");
    kept.run(DAY);
    let behind = kept.run(5000 * DAY);
    let (swept, _) = kept.json(&["store", "prune", "--now", "--json"]);
    assert_eq!(swept["deleted"], json!([]));
    assert!(behind.artifact.exists());
}

#[test]
fn what_is_kept_is_counted_anew() {
    let mut kept = Kept::new("counted");
    let run = kept.run(DAY);
    fs::remove_file(&run.artifact).unwrap();
    let (swept, _) = kept.json(&["store", "prune", "--json"]);
    assert_eq!(swept["counted"]["store"], json!({"bytes": 8, "files": 1}));
    assert_eq!(kept.retention()[0]["action"], "counted");
    let (swept, _) = kept.json(&["store", "prune", "--json"]);
    assert_eq!(swept["counted"], json!(null));
}

#[test]
fn a_run_that_the_ledger_does_not_know_keeps_its_raw_bytes() {
    let mut kept = Kept::new("unknown");
    kept.run(DAY);
    let run = kept.untold(SystemTime::now() - 91 * DAY);
    let folder = fs::File::open(&run.folder).unwrap();
    folder.set_modified(SystemTime::now() - 91 * DAY).unwrap();
    let (swept, _) = kept.json(&["store", "prune", "--json"]);
    assert_eq!(swept["deleted"][0]["what"], "transcript", "{swept}");
    assert!(run.artifact.exists() && !run.folder.join("stdout.txt").exists());
}

#[test]
fn a_run_that_ends_prunes_once_a_day() {
    let mut kept = Kept::new("daily");
    let old = kept.run(29 * DAY);
    kept.weeks(3);
    let stamp = kept.store.root().join("pruned");
    kept.noesc(&["run", "--", "true"]).is("", "", 0);
    assert!(stamp.exists() && old.artifact.exists());
    kept.noesc(&["run", "--", "true"]).is("", "", 0);
    assert!(old.artifact.exists());
    fs::File::options()
        .write(true)
        .open(&stamp)
        .unwrap()
        .set_modified(SystemTime::now() - 2 * DAY)
        .unwrap();
    kept.noesc(&["run", "--", "sh", "-c", "exit 3"]).is("", "", 3);
    assert!(!old.artifact.exists() && old.folder.join("stdout.txt").exists());
}

#[test]
fn what_is_too_much_for_once_is_deleted_by_the_next_run() {
    const DAILY_MAX: usize = 200;
    let mut kept = Kept::new("daily-max");
    let old: Vec<_> = (0..=DAILY_MAX / 2).map(|_| kept.run(91 * DAY)).collect();
    kept.run(64 * DAY);
    for days in [40, 30, 20, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1, 1, 1] {
        kept.run(days * DAY);
    }
    kept.noesc(&["store", "hold", &old[0].id]).code();
    let stamp = kept.store.root().join("pruned");
    let stamp = fs::File::options().write(true).open(stamp).unwrap();
    stamp.set_modified(SystemTime::now() - 2 * DAY).unwrap();
    // Two of each are deleted, of all but the one that is held.
    kept.noesc(&["run", "--", "true"]).is("", "", 0);
    let left = |kept: &Kept| {
        (old.iter().filter(|old| old.folder.exists()).count(), kept.retention().len())
    };
    assert_eq!(left(&kept), (1, 1 + DAILY_MAX));
    assert!(kept.store.runs_path().join(&old[0].id).exists());
    kept.noesc(&["run", "--", "true"]).is("", "", 0);
    let deleted = kept.retention().len();
    assert_eq!(deleted, 1 + DAILY_MAX + 4, "the others have raw bytes that are due");
    kept.noesc(&["run", "--", "true"]).is("", "", 0);
    assert_eq!(kept.retention().len(), deleted);
}

#[test]
fn a_clock_in_doubt_stops_what_a_run_deletes() {
    let mut kept = Kept::new("daily-doubt");
    let old = kept.run(91 * DAY);
    kept.run(DAY);
    fs::write(kept.store.root().join("pruned"), "").unwrap();
    let stamp = fs::File::options().write(true).open(kept.store.root().join("pruned")).unwrap();
    stamp.set_modified(SystemTime::now() - 2 * DAY).unwrap();
    kept.noesc(&["run", "--", "true"]).is("", "", 0);
    assert!(old.artifact.exists());
}

#[test]
fn a_record_and_a_link_lead_out_of_no_store() {
    let mut kept = Kept::new("outside");
    let old = kept.run(91 * DAY);
    let outside = kept.folder.path("outside");
    fs::rename(&old.folder, &outside).unwrap();
    std::os::unix::fs::symlink(&outside, &old.folder).unwrap();
    let entry = RunEntry {
        run: "../../../outside".into(),
        artifact: Some(format!("restricted:sha256:{}", "0".repeat(64))),
        artifact_bytes: 8,
        transcript_bytes: 8,
        ..RunEntry::default()
    };
    let (key, at) = (kept.key(), SystemTime::now() - 91 * DAY);
    kept.store.ledger(&key).unwrap().append(at, Kind::Run, &entry).unwrap();
    let before = fs::read_dir(&outside).unwrap().count();
    let (swept, code) = kept.json(&["store", "prune", "--now", "--json"]);
    assert_eq!((code, swept["deleted"].as_array().unwrap().len()), (0, 2), "{swept}");
    assert!(swept["deleted"].as_array().unwrap().iter().all(|one| one["was_missing"] == true));
    assert_eq!(fs::read_dir(&outside).unwrap().count(), before);
    kept.noesc(&["store", "doctor"]).code();
    assert_eq!(fs::read_dir(&outside).unwrap().count(), before);
}

#[test]
fn stats_tell_how_much_there_is() {
    let mut kept = Kept::new("stats");
    let runs = [kept.run(20 * DAY), kept.run(DAY)];
    kept.noesc(&["store", "hold", &runs[1].id]).code();
    kept.store.ledger(&kept.key()).unwrap().checkpoint(SystemTime::now()).unwrap();
    let (stats, _) = kept.json(&["store", "stats", "--json"]);
    let bytes = |run: &storing::Run| fs::metadata(&run.artifact).unwrap().len();
    assert_eq!(stats["artifacts"], json!({"count": 2, "bytes": bytes(&runs[0]) + bytes(&runs[1])}));
    assert_eq!(stats["transcripts"], json!({"count": 2, "bytes": 16}));
    assert_eq!(stats["due"], json!({"count": 1, "bytes": bytes(&runs[0])}));
    assert_eq!((&stats["held"], &stats["records"]), (&json!(1), &json!(4)));
    assert_eq!(stats["checkpoint"]["records"], 3);
    let text = kept.noesc(&["store", "stats"]);
    let names: Vec<_> = text.out().lines().filter_map(|line| line.split(' ').next()).collect();
    let wanted = [
        "store",
        "runs",
        "artifacts",
        "transcripts",
        "used",
        "held",
        "due",
        "records",
        "checkpoint",
    ];
    assert_eq!(names, wanted);
}

#[test]
fn a_time_that_is_none_and_a_reason_that_is_too_long_are_refused() {
    let mut kept = Kept::new("refused");
    let run = kept.run(DAY);
    let ended = kept.noesc(&["store", "prune", "--raw-keep", "soon"]);
    ended.refused("\"raw_keep\" has a wrong value", 2);
    for (length, code) in [(1023, 0), (1024, 0), (1025, 2)] {
        let ended = kept.noesc(&["store", "hold", &run.id, "--reason", &"x".repeat(length)]);
        assert_eq!(ended.code(), code, "{length}");
        kept.noesc(&["store", "hold", "--release", &run.id]).code();
    }
}

#[test]
fn without_a_store_there_is_nothing_to_do() {
    let kept = Kept::new("nothing");
    fs::remove_dir_all(kept.folder.path("state")).unwrap();
    kept.noesc(&["store", "prune"]).is("deleted 0 things (0 bytes)\n", "", 0);
    let (stats, _) = kept.json(&["store", "stats", "--json"]);
    assert_eq!((&stats["runs"], &stats["records"]), (&json!(0), &json!(0)));
    assert!(!kept.folder.path("state").exists());
}
