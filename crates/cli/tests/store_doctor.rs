//! Each fault of a store is named with a hint, and none keeps the result of a run from its caller.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
mod storing;

use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use noesc_evidence::Identity;
use serde_json::{Value, json};
use storing::{DAY, Kept};

use common::{Ended, binary, ran};

const HOUR: Duration = Duration::from_secs(3600);

/// A healthy store with two runs.
fn healthy(name: &str) -> Kept {
    let mut kept = Kept::new(name);
    kept.run(2 * HOUR);
    kept.run(HOUR);
    kept
}

/// Codes of what was found, each once and in order, by grade.
fn codes(looked: &Value, grade: &str) -> Vec<String> {
    let found = looked["findings"].as_array().unwrap().iter();
    let found = found.filter(|finding| finding["grade"] == grade);
    let mut codes: Vec<String> =
        found.map(|finding| finding["code"].as_str().unwrap().to_owned()).collect();
    codes.dedup();
    codes
}

/// Asserts the faults that the doctor finds, each with a hint, and that a run goes on as ever.
#[track_caller]
fn is_found(kept: &Kept, flags: &[&str], wanted: &[&str]) -> Value {
    let arguments: Vec<&str> = ["store", "doctor", "--json"].iter().chain(flags).copied().collect();
    let (looked, code) = kept.json(&arguments);
    assert_eq!(codes(&looked, "fault"), wanted, "{looked}");
    assert_eq!(
        (code, &looked["healthy"]),
        (i32::from(!wanted.is_empty()), &json!(wanted.is_empty()))
    );
    for finding in looked["findings"].as_array().unwrap() {
        assert!(finding["grade"] == "note" || finding["hint"].is_string(), "{finding}");
    }
    kept.noesc(&["run", "--", "sh", "-c", "echo out; exit 3"]).is("out\n", "", 3);
    looked
}

#[test]
fn a_store_in_order_is_healthy() {
    let kept = healthy("healthy");
    kept.noesc(&["store", "doctor"]).is("looked at 2 records and 2 artifacts: healthy\n", "", 0);
    let looked = is_found(&kept, &[], &[]);
    assert_eq!((&looked["records"], &looked["artifacts"]), (&json!(2), &json!(2)));
    is_found(&kept, &["--fast"], &[]);
}

#[test]
fn no_store_is_no_fault_and_a_file_is_no_store() {
    let kept = Kept::new("absent");
    fs::remove_dir_all(kept.store.root()).unwrap();
    let said = "note: there is no store yet: the first run makes it\n\
                looked at 0 records and 0 artifacts: healthy\n";
    kept.noesc(&["store", "doctor"]).is(said, "", 0);
    fs::write(kept.store.root(), "").unwrap();
    is_found(&kept, &[], &["no-folder"]);
    let ended =
        kept.noesc(&["store", "doctor", "--store", "folder\x1b[31m/noesc\0".trim_matches('\0')]);
    assert_eq!(ended.code(), 0);
}

#[test]
fn a_damaged_artifact() {
    let mut kept = healthy("damaged");
    let run = kept.run(Duration::ZERO);
    let mut bytes = fs::read(&run.artifact).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&run.artifact, &bytes).unwrap();
    is_found(&kept, &[], &["artifact-damaged"]);
    is_found(&kept, &["--fast"], &[]);
    fs::write(&run.artifact, &bytes[..middle]).unwrap();
    is_found(&kept, &["--fast"], &["artifact-damaged"]);
    fs::remove_file(&run.artifact).unwrap();
    is_found(&kept, &[], &["artifact-missing"]);
}

#[test]
fn a_damaged_ledger() {
    let kept = healthy("changed");
    let path = kept.store.ledger_path();
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("exited", "exitex", 1)).unwrap();
    let looked = is_found(&kept, &[], &["key-of-another"]);
    assert!(looked["findings"][0]["message"].as_str().unwrap().contains("collector.key"));
    let (first, second) = text.split_once('\n').unwrap();
    fs::write(&path, format!("{first}\n{}", second.replacen("exited", "exitex", 1))).unwrap();
    is_found(&kept, &[], &["ledger-damaged"]);
    fs::write(&path, second).unwrap();
    is_found(&kept, &[], &["ledger-damaged"]);
}

#[test]
fn a_cut_ledger() {
    let mut kept = healthy("cut");
    let path = kept.store.ledger_path();
    let text = fs::read_to_string(&path).unwrap();
    let checkpoint = kept.store.ledger(&kept.key()).unwrap().checkpoint(SystemTime::now()).unwrap();
    let since = kept.folder.write("checkpoint", checkpoint.to_string());
    is_found(&kept, &["--since", &since], &[]);
    // A torn tail is cut, and what it told of is not known any more.
    fs::write(&path, &text[..text.len() - 20]).unwrap();
    let looked = is_found(&kept, &[], &["artifact-unnamed"]);
    assert_eq!(codes(&looked, "note"), ["torn-tail"]);
    // A cut at the end of a record leaves a ledger in order.
    let first = text.find('\n').unwrap() + 1;
    fs::write(&path, &text[..first]).unwrap();
    is_found(&kept, &["--since", &since], &["changed-since", "artifact-unnamed"]);
    kept.run(Duration::ZERO);
    fs::remove_file(&path).unwrap();
    is_found(&kept, &[], &["ledger-missing"]);
    let ended = kept.noesc(&["store", "doctor", "--since", "missing"]);
    assert!(ended.code() == 2 || ended.code() == 1, "{ended:?}");
}

#[test]
fn modes_owners_and_links() {
    let kept = healthy("modes");
    let ours =
        |path: &Path, mode| fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    ours(&kept.store.ledger_path(), 0o644);
    is_found(&kept, &[], &["mode"]);
    ours(&kept.store.ledger_path(), 0o600);
    ours(&kept.store.runs_path(), 0o755);
    is_found(&kept, &[], &["mode"]);
    ours(&kept.store.runs_path(), 0o700);
    ours(&kept.store.key_path(), 0o640);
    is_found(&kept, &[], &["mode", "key-mode"]);
    ours(&kept.store.key_path(), 0o600);
    for name in 0..25 {
        let path = kept.store.root().join(name.to_string());
        fs::write(&path, "").unwrap();
        ours(&path, 0o604);
    }
    let looked = is_found(&kept, &[], &["mode"]);
    assert_eq!(
        (looked["findings"].as_array().unwrap().len(), &looked["more"]),
        (20, &json!({"mode": 5}))
    );
    (0..25).for_each(|name| fs::remove_file(kept.store.root().join(name.to_string())).unwrap());
    let link = kept.store.root().join("link");
    symlink("/etc/passwd", &link).unwrap();
    is_found(&kept, &[], &["no-file"]);
    fs::remove_file(link).unwrap();
    is_found(&kept, &[], &[]);
}

#[test]
fn a_key_that_is_gone_or_another() {
    let kept = healthy("keys");
    let key = fs::read(kept.store.key_path()).unwrap();
    fs::remove_file(kept.store.key_path()).unwrap();
    is_found(&kept, &[], &["key-missing"]);
    let other = Kept::new("keys-other");
    other.key();
    fs::copy(other.store.key_path(), kept.store.key_path()).unwrap();
    is_found(&kept, &[], &["key-of-another"]);
    fs::write(kept.store.key_path(), key).unwrap();
    is_found(&kept, &[], &[]);
}

#[test]
fn a_wrong_clock() {
    let mut kept = healthy("clock");
    kept.run(20 * DAY);
    let looked = is_found(&kept, &[], &[]);
    assert_eq!(codes(&looked, "note"), ["clock-back"]);
    kept.run_at(SystemTime::now() + 400 * DAY);
    is_found(&kept, &[], &["clock"]);
}

#[test]
fn what_a_killed_collector_left_is_made_whole() {
    let mut kept = healthy("unfinished");
    let run = kept.untold(SystemTime::now());
    fs::write(run.folder.join("attended"), "").unwrap();
    fs::set_permissions(run.folder.join("attended"), PermissionsExt::from_mode(0o600)).unwrap();
    let looked = is_found(&kept, &[], &[]);
    assert_eq!(codes(&looked, "note"), ["recovered"]);
    assert_eq!(kept.told()[2].0, "recovered");
}

#[test]
fn what_can_not_be_made_whole_keeps_no_other_from_it() {
    let mut kept = healthy("hopeless");
    let hopeless = kept.untold(SystemTime::now() - HOUR);
    fs::rename(&hopeless.artifact, hopeless.folder.join("sealed.part")).unwrap();
    let part = fs::File::options().write(true).open(hopeless.folder.join("sealed.part")).unwrap();
    part.set_len(0).unwrap();
    part.write_all_at(&[0; 4096], 0).unwrap();
    let run = kept.untold(SystemTime::now());
    for folder in [&hopeless.folder, &run.folder] {
        fs::write(folder.join("attended"), "").unwrap();
        fs::set_permissions(folder.join("attended"), PermissionsExt::from_mode(0o600)).unwrap();
    }
    is_found(&kept, &[], &["unfinished"]);
    let told = kept.told();
    let recovered: Vec<_> = told.iter().filter(|(kind, _)| kind == "recovered").collect();
    assert_eq!((recovered.len(), &recovered[0].1["run"]), (1, &json!(run.id)));
}

#[test]
fn a_hold_of_a_run_that_was_cut_short_does_not_hide_it() {
    let mut kept = healthy("held-unfinished");
    let run = kept.untold(SystemTime::now());
    fs::write(run.folder.join("attended"), "").unwrap();
    kept.noesc(&["store", "hold", &run.id]).is(&format!("{} held\n", run.id), "", 0);
    kept.noesc(&["store", "doctor"]).code();
    assert_eq!(kept.told()[3].0, "recovered");
    let (swept, _) = kept.json(&["store", "prune", "--raw-keep", "0s", "--json"]);
    assert_eq!(swept["held"], json!([run.id]));
}

#[test]
fn transcripts_of_another_length() {
    let mut kept = healthy("transcripts");
    let run = kept.run(HOUR);
    let path = run.folder.join("stdout.txt");
    let before = fs::read(&path).unwrap();
    for changed in [&b""[..], b"longer than it was before, and somebody else's\n"] {
        fs::write(&path, changed).unwrap();
        is_found(&kept, &[], &["transcript-changed"]);
    }
    fs::remove_file(&path).unwrap();
    is_found(&kept, &["--fast"], &["transcript-changed"]);
    fs::write(&path, before).unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    is_found(&kept, &[], &[]);
}

#[test]
fn a_secret_key_that_lies_open() {
    let mut kept = Kept::new("exposed");
    let secret = {
        let command = Command::new("age-keygen").output();
        command.ok().and_then(|done| String::from_utf8(done.stdout).ok())
    };
    // Where age is not there, the one of its documentation.
    let secret = secret.filter(|text| text.contains("AGE-SECRET-KEY-1")).unwrap_or_else(|| {
        "AGE-SECRET-KEY-1GQ9778VQXMMJVE8SK7J6VT8UJ4HDQAJUVSFCWCM02D8GEWQ72PVQ2Y5J33".into()
    });
    let found = noesc_evidence::exposed(secret.as_bytes());
    let recipient = found[0].to_string();
    kept.run(HOUR);
    let config = kept.folder.path("config").join("noesc");
    fs::create_dir(&config).unwrap();
    fs::write(config.join("config.toml"), format!("recipients = [\"{recipient}\"]\n")).unwrap();
    let sealed_to = found[0].fingerprint();
    let entry = noesc_evidence::RunEntry {
        run: "0198c1a2-0000-7000-8000-000000000001".into(),
        recipients: vec![sealed_to.clone()],
        store: noesc_evidence::Usage { bytes: 0, files: 0 },
        ..Default::default()
    };
    let key = kept.key();
    let kind = noesc_evidence::Kind::Run;
    kept.store.ledger(&key).unwrap().append(SystemTime::now(), kind, &entry).unwrap();
    is_found(&kept, &[], &[]);
    for name in ["notes.txt", ".age", ".config/age/keys.txt", "config/sops/age/keys.txt"] {
        let path = kept.folder.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("# {recipient}\n{secret}\n")).unwrap();
        let looked = is_found(&kept, &[], &["identity-exposed"]);
        let text = looked.to_string();
        assert!(text.contains(&sealed_to) && !text.contains("SECRET"), "{text}");
        fs::remove_file(path).unwrap();
    }
    // Another's key opens nothing.
    drop(Identity::generate());
    is_found(&kept, &[], &[]);
}

#[test]
fn recipients_that_were_not_confirmed_and_a_figure_that_is_wrong() {
    let kept = healthy("recipients");
    let entry = noesc_evidence::RunEntry {
        run: "0198c1a2-0000-7000-8000-000000000001".into(),
        recipients_changed: true,
        store: noesc_evidence::Usage { bytes: 15 << 30, files: 3 },
        ..Default::default()
    };
    let (key, kind) = (kept.key(), noesc_evidence::Kind::Run);
    kept.store.ledger(&key).unwrap().append(SystemTime::now(), kind, &entry).unwrap();
    let (looked, _) = kept.json(&["store", "doctor", "--json"]);
    assert_eq!(codes(&looked, "fault"), ["recipients"], "what is not there fills no store");
    assert_eq!(codes(&looked, "note"), ["counted"]);
    let (stats, _) = kept.json(&["store", "stats", "--json"]);
    assert_eq!(stats["used"], stats["told"]);
}

#[test]
fn an_index_that_is_none_is_made_anew() {
    let kept = healthy("index");
    let index = kept.store.index_path();
    fs::write(&index, "none").unwrap();
    fs::set_permissions(&index, PermissionsExt::from_mode(0o600)).unwrap();
    let looked = is_found(&kept, &[], &[]);
    assert_eq!(codes(&looked, "note"), ["index"]);
    assert!(!index.exists());
}

/// What a script printed that has mounts of its own; `None` where that is not allowed here. It
/// knows the store as `$S`, and the command as `$N`.
fn mounted(kept: &Kept, script: &str) -> Option<Ended> {
    let allowed = Command::new("unshare").args(["-rm", "true"]).output();
    if !allowed.is_ok_and(|done| done.status.success()) {
        eprintln!("skipped: this user can not mount");
        return None;
    }
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", script]).env("N", binary()).env("S", kept.store.root());
    command.env("XDG_STATE_HOME", kept.folder.path("state")).env("HOME", &kept.folder.0);
    command.env("XDG_CONFIG_HOME", kept.folder.path("config")).current_dir(&kept.folder.0);
    Some(ran(command))
}

#[test]
fn a_store_that_can_not_be_written_to() {
    let kept = healthy("read-only");
    let script = r#"
        mount --bind "$S" "$S" && mount -o remount,ro,bind "$S" || exit 99
        "$N" run -- sh -c 'echo out; exit 3'; echo "code $?"
        "$N" store doctor; echo "code $?"
        "$N" store prune --now --raw-keep 0s 2>/dev/null; echo "code $?"
    "#;
    let Some(ended) = mounted(&kept, script).filter(|ended| ended.code() != 99) else { return };
    let said = "out\ncode 3\nfault: the store can not be written to\n  hint: no run is kept: mount \
                it for writing, or chmod 700 the folder and 600 the ledger\nlooked at 2 records \
                and 2 artifacts: 1 fault\ncode 1\ncode 2\n";
    ended.is(said, "", 0);
}

#[test]
fn a_disk_that_is_full() {
    let mut kept = Kept::new("full");
    let old = kept.run(91 * DAY);
    kept.run(HOUR);
    let script = r#"
        mkdir copy && cp -a "$S/." copy && mount -t tmpfs -o size=256k,mode=700 none "$S" || exit 99
        cp -a copy/. "$S"
        head -c 4194304 /dev/zero >"$S/filler" 2>/dev/null
        chmod 600 "$S/filler"
        "$N" run -- sh -c 'echo out; exit 3'; echo "code $?"
        "$N" store doctor --json >faults; echo "code $?"
        "$N" store prune --now --json >pruned; echo "code $?"
    "#;
    let Some(ended) = mounted(&kept, script).filter(|ended| ended.code() != 99) else { return };
    ended.is("out\ncode 3\ncode 1\ncode 0\n", "", 0);
    let looked = common::json(&kept.folder.path("faults"));
    assert!(codes(&looked, "fault").contains(&"disk-full".into()), "{looked}");
    let pruned = common::json(&kept.folder.path("pruned"));
    assert_eq!(pruned["deleted"][0]["run"], old.id.as_str(), "{pruned}");
}
