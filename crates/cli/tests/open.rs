//! `noesc open`: who holds the identity sees the original, after the ledger knows of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
mod sealing;
mod typing;

use std::os::unix::fs::PermissionsExt;

use common::{escaped, ran};
use sealing::{PASSPHRASE, Sealed};

/// A title, a clipboard and text that is hidden, in what is printed.
const SCRIPT: &str = "printf 'one\\n\\033]0;title\\007two\\n\\033]52;c;aGlkZGVu\\007three\\n'\n";
const RAW: &[u8] = b"one\n\x1b]0;title\x07two\n\x1b]52;c;aGlkZGVu\x07three\n";

fn printed() -> Sealed {
    let sealed = Sealed::new("open");
    assert_eq!(sealed.run(&[], SCRIPT).out(), "one\ntwo\nthree\n");
    sealed
}

#[test]
fn an_extract_is_printed_in_a_form_that_acts_on_nothing() {
    let sealed = printed();
    let extract = |form: &str, range: &str| {
        let end = sealed.open(&["last", "--as", form, "--range", range], PASSPHRASE);
        assert_eq!(end.status.code(), Some(0), "{}", escaped(end.shown.as_bytes()));
        end.stdout
    };
    assert_eq!(extract("audit", "4+13"), "\\x1b]0;title\\atwo\n".replace("\\a", "\\x07"));
    assert_eq!(
        extract("hex", "4+3"),
        "00000004  1b 5d 30                                          |.]0|\n"
    );
    assert_eq!(extract("clean", "0+4096"), "one\ntwo\nthree\n");
    let [open, shown, ..] = &sealed.decisions()[..] else { panic!() };
    assert_eq!((open["action"].as_str(), open["form"].as_str()), (Some("open"), Some("audit")));
    assert_eq!(
        (open["range"]["offset"].as_u64(), open["range"]["bytes"].as_u64()),
        (Some(4), Some(13))
    );
    assert_eq!(open["reason"], "a test");
    assert_eq!((shown["action"].as_str(), &shown["decision"]), (Some("shown"), &open["id"]));
    assert_eq!(shown["bytes"], 13);
    assert!(shown["hmac"].as_str().unwrap().starts_with("hmac-sha256:"));
}

#[test]
fn the_digest_of_what_was_shown_is_that_of_the_bytes() {
    let sealed = printed();
    for range in ["0+4096", "0+5", "1+5"] {
        sealed.open(&["last", "--as", "hex", "--range", range], PASSPHRASE);
    }
    let shown: Vec<String> = sealed
        .decisions()
        .iter()
        .filter(|event| event["action"] == "shown")
        .map(|event| event["hmac"].as_str().unwrap().to_owned())
        .collect();
    // All of a stream has the digest that the ledger has of it; others have others.
    assert_eq!(shown[0], sealed.entries()[0].1.raw["stdout"]);
    assert!(shown[1] != shown[0] && shown[2] != shown[1]);
}

#[test]
fn what_fails_is_in_the_ledger_and_shows_nothing() {
    let sealed = printed();
    let wrong = sealed.open(&["last", "--range", "0+9"], "another passphrase");
    assert!(wrong.shown.contains("does not open"), "{}", wrong.shown);
    let end = sealed.open(&["last", "--range", "4096+1"], PASSPHRASE);
    assert!(end.shown.contains("the stream has 40 bytes: there is none at 4096"), "{}", end.shown);
    let large = sealed.open(&["last", "--range", "0+1048577"], PASSPHRASE);
    assert!(large.shown.contains("at most 1048576 bytes"), "{}", large.shown);
    assert_eq!(sealed.open(&["last", "--range", "0+1048576"], PASSPHRASE).status.code(), Some(0));
    let args = ["open", "last", "--identity", &sealed.identity, "--reason", "x"];
    let none = ran(sealed.home.detached(&args));
    none.refused("there is no terminal to ask at", 2);
    let why: Vec<String> = sealed
        .decisions()
        .iter()
        .filter(|event| event["action"] == "refused")
        .map(|event| event["why"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(why.len(), 4, "{why:?}");
    assert!(why[0].contains("passphrase") && why[3].contains("terminal"), "{why:?}");
}

#[test]
fn raw_bytes_go_into_a_new_file_elsewhere_and_nowhere_else() {
    let sealed = printed();
    let elsewhere = sealed.home.folder.name("raw.bin");
    let end = sealed.open(&["last", "--as", "raw", "--to", &elsewhere], PASSPHRASE);
    assert_eq!((end.status.code(), end.stdout.as_str()), (Some(0), ""));
    assert!(std::fs::read(&elsewhere).unwrap() == RAW);
    let mode = std::fs::metadata(&elsewhere).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(end.shown.contains("40 raw bytes are in"), "{}", end.shown);
    let refused = |to: &str, message: &str| {
        let args = ["last", "--as", "raw", "--to", to];
        sealed.opening(&args).refused(message);
    };
    refused(&elsewhere, "there is a file already");
    refused("here.bin", "raw bytes are not written into the working folder");
    let store = sealed.home.folder.name("state/noesc/raw.bin");
    refused(&store, "raw bytes are not written into the store");
    let args = ["open", "last", "--as", "raw", "--reason", "x"];
    ran(sealed.home.noesc(&args)).refused("raw bytes are never written to the terminal", 2);
}

#[test]
fn a_folder_that_is_changed_while_it_is_asked_leads_nowhere_else() {
    let sealed = printed();
    let (folder, work) = (sealed.home.folder.path("case"), sealed.home.folder.path("work"));
    std::fs::create_dir(&folder).unwrap();
    let to = folder.join("raw.bin");
    let mut open = sealed.opening(&["last", "--as", "raw", "--to", to.to_str().unwrap()]);
    open.see("Passphrase for the identity");
    std::fs::rename(&folder, sealed.home.folder.path("moved")).unwrap();
    std::os::unix::fs::symlink(&work, &folder).unwrap();
    open.answer("Passphrase for the identity", PASSPHRASE);
    assert_eq!(open.end().status.code(), Some(0));
    assert!(!work.join("raw.bin").exists());
    assert!(std::fs::read(sealed.home.folder.path("moved/raw.bin")).unwrap() == RAW);
}

#[test]
fn a_file_that_is_called_as_a_run_is_opened_by_its_path_alone() {
    let sealed = printed();
    std::fs::write(sealed.home.folder.path("work/last"), "planted").unwrap();
    let end = sealed.open(&["last", "--as", "audit", "--range", "0+3"], PASSPHRASE);
    assert_eq!(end.stdout, "one\n");
    let args = ["open", "./last", "--identity", &sealed.identity, "--reason", "x"];
    let refused = ran(sealed.home.noesc(&args));
    assert!(refused.err().contains("can not be used"), "{}", refused.err());
    // What is refused before anything is found is in the ledger as well.
    let told = sealed.decisions();
    assert_eq!(told.last().unwrap()["of"], "./last");
}

#[test]
fn an_artifact_of_another_run_is_not_taken_for_it() {
    let sealed = printed();
    sealed.run(&[], "echo other");
    let entries = sealed.entries();
    let [(_, one), (_, other)] = &entries[..] else { panic!("{entries:?}") };
    let file = |entry: &noesc_evidence::RunEntry| {
        let name = entry.artifact.as_ref().unwrap().rsplit(':').next().unwrap();
        sealed.store().runs_path().join(&entry.run).join(format!("{name}.sealed"))
    };
    // Whoever has the collector's key lets the ledger name it.
    let planted = file(one).with_file_name(file(other).file_name().unwrap());
    std::fs::copy(file(other), planted).unwrap();
    let key = sealed.store().key().unwrap();
    let forged = noesc_evidence::RunEntry { artifact: other.artifact.clone(), ..one.clone() };
    let now = std::time::SystemTime::now();
    let mut ledger = sealed.store().ledger(&key).unwrap();
    ledger.append(now, noesc_evidence::Kind::Run, &forged).unwrap();
    drop(ledger);
    let end = sealed.open(&[&one.run, "--range", "0+9"], PASSPHRASE);
    assert!(end.shown.contains("what is sealed there is of another run"), "{}", end.shown);
}

#[test]
fn a_damaged_artifact_is_not_opened() {
    let sealed = printed();
    let (_, entry) = sealed.entries().remove(0);
    let name = format!("{}.sealed", entry.artifact.unwrap().rsplit(':').next().unwrap());
    let path = sealed.store().runs_path().join(&entry.run).join(name);
    let mut bytes = std::fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&path, bytes).unwrap();
    sealed.opening(&["last", "--range", "0+9"]).refused("expected restricted:sha256:");
    std::fs::remove_file(&path).unwrap();
    sealed.opening(&["last", "--range", "0+9"]).refused("the artifact of");
}

#[test]
fn the_decision_is_durable_before_the_first_byte_is_shown() {
    let sealed = printed();
    for (point, actions) in [("decided", &["open"][..]), ("shown-recorded", &["open", "shown"])] {
        let before = sealed.decisions().len();
        let mut open = sealed.home.typed_with(
            &[("NOESC_CRASH_POINT", point)],
            &["open", "last", "--identity", &sealed.identity, "--reason", "x", "--range", "0+9"],
        );
        open.answer("Passphrase for the identity", PASSPHRASE);
        let end = open.end();
        assert_eq!((end.stdout.as_str(), end.status.code()), ("", None), "{point}");
        let decisions = sealed.decisions().split_off(before);
        let told: Vec<_> =
            decisions.iter().map(|event| event["action"].as_str().unwrap()).collect();
        assert_eq!(told, actions, "{point}");
    }
}

#[test]
fn an_exported_run_is_opened_elsewhere_with_a_decision_there() {
    let sealed = printed();
    let (_, entry) = sealed.entries().remove(0);
    let file = sealed.home.folder.name("case.noesc");
    let exported = ran(sealed.home.noesc(&["store", "export", &entry.run, "--to", &file]));
    assert_eq!(exported.code(), 0, "{}", exported.err());
    let elsewhere = typing::Home::new("open-elsewhere");
    let given = ["--identity", &sealed.identity, "--reason", "x", "--as", "audit"];
    let arguments = [&["open", &file][..], &given, &["--range", "0+9"]].concat();
    let mut open = elsewhere.typed(&arguments);
    open.answer("Passphrase for the identity", PASSPHRASE);
    let end = open.succeeds();
    assert_eq!(end.stdout, "one\\x0a\\x1b]0;t\n");
    assert!(end.shown.contains("exported from the ledger of noesc.ledger/"), "{}", end.shown);
    let shown = ran(elsewhere.noesc(&["ledger", "show", "--json"]));
    assert!(shown.out().contains(&entry.run) && shown.out().contains("\"shown\""));
    // Nothing of it is in the ledger of the machine that exported it.
    assert_eq!(sealed.decisions().len(), 0);
    let other = [&["open", &file][..], &given[..4], &["--run", "ff"]].concat();
    let other = ran(elsewhere.noesc(&other));
    assert!(other.err().contains("holds no such run"), "{}", other.err());
}

#[test]
fn a_run_says_by_flags_what_is_to_be_kept() {
    let sealed = Sealed::new("flags");
    let script = "printf 'shown\\n'";
    assert_eq!(sealed.run(&["--evidence", "off"], script).out(), "shown\n");
    assert_eq!(sealed.entries().len(), 0);
    sealed.run(&["--evidence", "required"], script);
    sealed.run(&["--raw-digest", "keyed"], script);
    let raw: Vec<_> =
        sealed.entries().into_iter().map(|(_, entry)| entry.raw["stdout"].clone()).collect();
    assert!(raw[0].starts_with("sha256:") && raw[1].starts_with("hmac-sha256:"), "{raw:?}");
    let none = typing::Home::new("flags-none");
    let args = ["run", "--evidence", "required", "--", "touch", "witness"];
    ran(none.noesc(&args)).refused("no evidence of it can be kept: no recipient", 125);
    assert!(!none.folder.path("work/witness").exists());
    let again = ran(none.noesc(&["run", "--evidence", "required", "--no-config", "--", "true"]));
    assert_eq!(again.code(), 125);
}

#[test]
fn a_run_in_the_foreground_is_one_that_goes_on() {
    let sealed = Sealed::new("front");
    sealed.run(&[], "echo before");
    let go = sealed.home.folder.name("go");
    let script = format!("echo so far; while ! test -e {go}; do sleep 0.02; done");
    let child = common::spawned(sealed.home.noesc(&["run", "--", "sh", "-c", &script]));
    let rows = || ran(sealed.home.noesc(&["runs", "--outcome", "running", "--json"]));
    let row = common::eventually(|| {
        let listed = rows();
        match serde_json::from_str::<serde_json::Value>(listed.out()) {
            Ok(row) if row["outcome"] == "running" || row["command"] != "" => Ok(row),
            other => Err(format!("{other:?}")),
        }
    });
    let run = row["run"].as_str().unwrap();
    // The last one is the last that is over: who asks may be in this one.
    assert_eq!(ran(sealed.home.noesc(&["show", "last"])).out(), "before\n");
    common::eventually(|| match ran(sealed.home.noesc(&["show", run])).out() {
        "so far\n" => Ok(()),
        other => Err(other.to_owned()),
    });
    let refused = ran(sealed.home.noesc(&["stop", run]));
    assert!(refused.err().contains("goes on in the foreground"), "{}", refused.err());
    assert!(ran(sealed.home.noesc(&["ps", "--all"])).out().lines().count() >= 1);
    std::fs::write(go, "").unwrap();
    assert_eq!(common::ended(child).out(), "so far\n");
    assert_eq!(rows().out(), "");
    assert_eq!(ran(sealed.home.noesc(&["show", "last"])).out(), "so far\n");
}

#[test]
fn a_run_whose_collector_was_killed_can_be_read() {
    let sealed = Sealed::new("killed");
    let script = "printf 'one\\n\\033]0;hidden\\007two\\n'; exec sleep 600";
    let mut child = common::spawned(sealed.home.noesc(&["run", "--", "sh", "-c", script]));
    // Sealed after two seconds.
    let runs = sealed.store().runs_path();
    let folder = common::eventually(|| {
        let folder = std::fs::read_dir(&runs).map_err(|e| e.to_string())?.flatten().next();
        let folder = folder.ok_or("no folder")?.path();
        match std::fs::metadata(folder.join("sealed.part")) {
            Ok(part) if part.len() > 0 => Ok(folder),
            other => Err(format!("{other:?}")),
        }
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let run = folder.file_name().unwrap().to_str().unwrap();
    let looked = ran(sealed.home.noesc(&["store", "doctor"]));
    assert!(looked.out().contains(run), "{}", looked.out());
    assert_eq!(ran(sealed.home.noesc(&["show", run])).out(), "one\ntwo\n");
    let record = ran(sealed.home.noesc(&["show", run, "--format", "json"]));
    assert!(record.out().contains("collector-lost"), "{}", record.out());
    let (kind, entry) = sealed.entries().remove(0);
    assert_eq!((kind.as_str(), entry.outcome.as_str()), ("recovered", "unknown"));
    assert!(entry.command.starts_with("sh -c printf"), "{}", entry.command);
    let end = sealed.open(&[run, "--range", "0+99", "--as", "audit"], PASSPHRASE);
    assert_eq!(end.stdout, "one\\x0a\\x1b]0;hidden\\x07two\\x0a\n");
    assert!(end.shown.contains("the end is missing"), "{}", end.shown);
}
