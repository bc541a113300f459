//! A collector that is killed at any moment: nothing that the ledger names is missing, and what is
//! missing is told.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
mod sealing;
mod typing;

use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::Duration;

use common::{ran, spawned};
use noesc_evidence::{CRASH_POINTS, LEDGER_WAIT, verify};
use noesc_session::recover;
use sealing::Sealed;

/// What holds after every crash, once somebody has looked at the store.
fn check(sealed: &Sealed, what: &str) {
    let store = sealed.store();
    recover(&store).unwrap_or_else(|error| panic!("{what}: {error}"));
    let key = store.key().unwrap();
    verify(&store.ledger_path(), key.verifier(), LEDGER_WAIT)
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    sealed.check_artifacts();
    // Every run that left a folder is told of, once.
    let entries = sealed.entries();
    for run in sealed.home_runs() {
        let told = entries.iter().filter(|(_, entry)| entry.run == run).count();
        assert_eq!(told, 1, "{what}: {run}");
    }
    assert_eq!(recover(&store).unwrap(), [], "{what}");
}

#[test]
fn at_every_named_moment_nothing_is_lost_unseen() {
    let sealed = Sealed::new("points");
    for point in CRASH_POINTS {
        let before = sealed.entries().len();
        let mut run = sealed.home.noesc(&["run", "--", "echo", "printed"]);
        run.env("NOESC_CRASH_POINT", point);
        let ended = ran(run);
        assert_eq!(ended.status.signal(), Some(9), "{point}");
        check(&sealed, point);
        let entries = sealed.entries();
        let (kind, entry) = entries.last().unwrap();
        assert_eq!(entries.len(), before + 1, "{point}");
        // What was sealed before the kill is there: all that was printed, but before that.
        let (kept, is_told) = match *point {
            "begun" => ("failed", false),
            "ledger-written" | "ledger-synced" | "told" => ("sealed", true),
            _ => ("sealed", false),
        };
        assert_eq!((entry.evidence.as_str(), kind == "run"), (kept, is_told), "{point}: {entry:?}");
        assert_eq!(entry.reason.is_some(), !is_told, "{point}");
        // The store goes on.
        assert_eq!(ran(sealed.home.noesc(&["run", "--", "echo", "next"])).out(), "next\n");
        check(&sealed, point);
    }
}

#[test]
fn at_200_random_moments_nothing_is_lost_unseen() {
    let sealed = Sealed::new("moments");
    let script = sealed.home.folder.write(
        "script.sh",
        "i=0; while [ $i -lt 40 ]; do printf 'line %s of some length\\n' $i; i=$((i+1)); done\n",
    );
    let mut seed = 0x9E37_79B9_u64;
    for _ in 0..200 {
        let mut run = sealed.home.noesc(&["run", "--", "sh", &script]);
        run.stdin(Stdio::null());
        let mut child = spawned(run);
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        std::thread::sleep(Duration::from_micros((seed >> 33) % 60_000));
        let _ = child.kill();
        child.wait().unwrap();
    }
    check(&sealed, "random moments");
}
