//! `noesc decide`, and `noesc run --decision`.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
mod typing;

use std::time::SystemTime;

use common::{Ended, PATIENCE, ended, ran, spawned};
use noesc_evidence::{ApproverKey, CollectorKey, Kind, Ledger};
use serde_json::{Value, json};
use typing::Home;

const PASSPHRASE: &str = "correct horse battery";
const COMMAND: [&str; 2] = ["echo", "approved"];

/// A decision of the approver on [`COMMAND`], by its id.
fn decided(home: &Home, flags: &[&str]) -> String {
    let start = ["decide", "--command", "--reason", "because"];
    let mut decide = home.typed(&[&start, flags, &["--"], &COMMAND].concat());
    decide.answer("Passphrase for the approver's key", PASSPHRASE);
    let end = decide.succeeds();
    assert!(!end.shown.contains(PASSPHRASE));
    let id = end.stdout.strip_suffix('\n').unwrap();
    assert_eq!((id.len(), id.bytes().all(|byte| byte.is_ascii_hexdigit())), (32, true));
    id.to_owned()
}

fn run(home: &Home, id: &str, flags: &[&str], command: &[&str]) -> Ended {
    ran(home.noesc(&[&["run", "--decision", id], flags, &["--"], command].concat()))
}

#[track_caller]
fn refused(ended: &Ended, why: &str) {
    ended.refused(&format!("the decision does not allow this: {why}"), 125);
}

fn events(home: &Home) -> Vec<Value> {
    let shown = ran(home.noesc(&["ledger", "show", "--json"]));
    shown.out().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_command_that_was_approved_runs_once() {
    let home = Home::new("decide-once");
    home.approver(PASSPHRASE);
    let id = decided(&home, &[]);
    run(&home, &id, &[], &COMMAND).is("approved\n", "", 0);
    refused(&run(&home, &id, &[], &COMMAND), "the decision was used before");
    let mut told = events(&home);
    // The run itself is told of, too.
    told.retain(|record| record["kind"] == "decision");
    let (used, refused) = (&told[told.len() - 2]["event"], &told[told.len() - 1]["event"]);
    assert_eq!((&used["action"], &used["decision"]), (&json!("used"), &json!(id)));
    assert_eq!((&refused["action"], &refused["why"]), (&json!("refused"), &json!("used")));
    let detached = ran(home.noesc(&["run", "--detach", "--decision", &id, "--", "true"]));
    detached.refused("\"--decision\" does not go with \"--detach\"", 125);
}

#[test]
fn an_approval_of_one_thing_is_none_of_another() {
    let home = Home::new("decide-other");
    home.approver(PASSPHRASE);
    let id = decided(&home, &["--time-max", "10m"]);
    let time = ["--time-max", "10m"];
    let other = run(&home, &id, &time, &["echo", "other"]);
    refused(&other, "the decision is for another command: '\"echo\" \"approved\"'");
    let policy = "the decision is for other settings or limits";
    refused(&run(&home, &id, &[], &COMMAND), policy);
    refused(&run(&home, &id, &["--time-max", "20m"], &COMMAND), policy);
    refused(&run(&home, &id, &[&time[..], &["--mark"]].concat(), &COMMAND), policy);
    let line = [&["run", "--decision", &id], &time[..], &["--"], &COMMAND].concat();
    let mut elsewhere = home.noesc(&line);
    elsewhere.current_dir(home.folder.path(""));
    let work = home.folder.path("work").canonicalize().unwrap();
    let why = format!("the decision is for another folder: '{}'", work.to_str().unwrap());
    refused(&ran(elsewhere), &why);
    run(&home, &id, &time, &COMMAND).is("approved\n", "", 0);
    for id in ["", "nothing", "0", "\u{1b}[2J"] {
        let why = "expected the id of a decision, found another text";
        refused(&run(&home, id, &[], &COMMAND), why);
    }
    let why = "the ledger has no decision of this id on a command";
    refused(&run(&home, &"0".repeat(32), &[], &COMMAND), why);
    let short = decided(&home, &["--expires", "1ms"]);
    let late = run(&home, &short, &[], &COMMAND);
    assert!(late.err().contains("the decision held until 20"), "{}", late.err());
    assert_eq!((late.out(), late.code()), ("", 125));
}

/// The agent has the same user id: the key of the ledger, the configuration, and terminals of its
/// own.
#[test]
fn an_agent_gets_no_decision() {
    let home = Home::new("decide-agent");
    let approver = home.approver(PASSPHRASE);
    let claim = ["decide", "--command", "--reason", "please", "--unsigned", "--"];
    let claimed = ran(home.noesc(&[&claim[..], &COMMAND].concat()));
    assert_eq!(claimed.code(), 0);
    assert!(claimed.err().contains("noesc: claimed: nobody has signed it"));
    let claimed = claimed.out().trim_end().to_owned();
    let why = "the decision is claimed: no approver has signed it";
    refused(&run(&home, &claimed, &[], &COMMAND), why);
    // It does not know the passphrase, and no other way is taken.
    let ask = ["decide", "--command", "--reason", "please", "--"];
    let mut guess = home.typed(&[&ask[..], &COMMAND].concat());
    guess.answer("Passphrase", "password");
    guess.refused("the passphrase does not open ");
    let detached = ran(home.detached(&[&ask[..], &COMMAND].concat()));
    assert!(detached.err().contains("noesc: error: there is no terminal to ask at\n"));
    // It makes an approver of its own, and names it in the configuration.
    let own = home.folder.path("own.age");
    let verifier = ApproverKey::create(&own, "own passphrase").unwrap();
    let own = own.to_str().unwrap();
    let before = home.config();
    home.write_config(&format!("approver = \"{verifier}\"\napprover_identity = \"{own}\"\n"));
    let mut decide = home.typed(&[&ask[..], &COMMAND].concat());
    decide.answer("Passphrase", "own passphrase");
    decide.refused("expected the key of the approver noesc.approver/");
    let mut init = home.typed(&["init", "--approver", own]);
    init.answer("Passphrase", "own passphrase");
    init.refused("the ledger names the approver noesc.approver/");
    home.write_config(&format!("approver_identity = \"{approver}\"\n"));
    let mut init = home.typed(&["init", "--approver", own]);
    init.answer("Passphrase", "own passphrase");
    init.answer("Passphrase for the key of the approver noesc.approver/", "own passphrase");
    init.refused("the passphrase does not open ");
    home.write_config(&before);
}

/// The same agent writes into the ledger itself.
#[test]
fn an_agent_with_the_key_of_the_ledger_gets_no_decision() {
    let home = Home::new("decide-ledger");
    home.approver(PASSPHRASE);
    let before = home.config();
    let own = home.folder.path("own.age");
    let verifier = ApproverKey::create(&own, "own passphrase").unwrap();
    let own = own.to_str().unwrap();
    let key = CollectorKey::load(&home.folder.path("state/noesc/collector.key")).unwrap();
    let write = |kind, event: &Value| {
        let path = home.folder.path("state/noesc/ledger");
        let mut ledger = Ledger::open(&path, &key, PATIENCE).unwrap();
        ledger.append(SystemTime::now(), kind, event).unwrap();
    };
    let verifier = verifier.to_string();
    write(
        Kind::Recipients,
        &json!({
            "action": "init", "recipients": [], "fingerprints": [], "from": [],
            "approver": verifier, "signature": null,
        }),
    );
    home.write_config(&format!("approver = \"{verifier}\"\napprover_identity = \"{own}\"\n"));
    let ask = ["decide", "--command", "--reason", "please", "--"];
    let mut decide = home.typed(&[&ask[..], &COMMAND].concat());
    decide.answer("Passphrase", "own passphrase");
    decide.refused("expected the key of the approver noesc.approver/");
    home.write_config(&before);
    let id = decided(&home, &[]);
    let signed = events(&home).pop().unwrap()["event"].clone();
    // Of two at once one runs.
    let line = [&["run", "--decision", &id, "--"], &COMMAND[..]].concat();
    let both = [home.noesc(&line), home.noesc(&line)].map(spawned).map(ended);
    assert_eq!(both.iter().filter(|ended| ended.out() == "approved\n").count(), 1, "{both:?}");
    assert_eq!(both.iter().filter(|ended| ended.code() == 125).count(), 1, "{both:?}");
    // It gives a used one another id, another command, another end.
    for (name, value) in
        [("argv_sha256", json!("0".repeat(64))), ("expires", json!("9999-12-31T23:59:59.999Z"))]
    {
        let mut other = signed.clone();
        other["id"] = json!("0123456789abcdef0123456789abcdef");
        other[name] = value;
        write(Kind::Decision, &other);
        let id = other["id"].as_str().unwrap();
        let ended = run(&home, id, &[], &COMMAND);
        assert_eq!((ended.out(), ended.code()), ("", 125), "{name}");
    }
    let verified = ran(home.noesc(&["ledger", "verify"]));
    assert_eq!(verified.code(), 0);
    let warned = "noesc: warning: record 1 names an approver without the one before\n";
    assert!(verified.err().contains(warned), "{}", verified.err());
}

#[test]
fn a_verdict_is_signed_or_claimed_and_names_a_run() {
    let home = Home::new("decide-verdict");
    home.approver(PASSPHRASE);
    let key = CollectorKey::load(&home.folder.path("state/noesc/collector.key")).unwrap();
    for run in ["0198-a", "0198-b"] {
        let path = home.folder.path("state/noesc/ledger");
        let mut ledger = Ledger::open(&path, &key, PATIENCE).unwrap();
        ledger.append(SystemTime::now(), Kind::Run, &json!({"run": run})).unwrap();
    }
    let unsigned =
        |run: &str| ran(home.noesc(&["decide", run, "denied", "--reason", "no", "--unsigned"]));
    unsigned("0198").refused("\"0198\" is the beginning of several: 0198-a, 0198-b", 2);
    unsigned("7").refused("there is no run \"7\" in the ledger", 2);
    assert_eq!(unsigned("last").code(), 0);
    let mut decide = home.typed(&["decide", "0198-a", "approved", "--reason", "fine"]);
    decide.answer("Passphrase for the approver's key", PASSPHRASE);
    assert!(decide.succeeds().shown.contains("noesc: signed by noesc.approver/"));
    let told = events(&home);
    let (claimed, signed) = (&told[told.len() - 2]["event"], &told[told.len() - 1]["event"]);
    assert_eq!((&claimed["run"], &claimed["verdict"]), (&json!("0198-b"), &json!("denied")));
    assert_eq!((&claimed["claimed"], claimed.get("signature")), (&json!(true), None));
    assert_eq!((&signed["run"], &signed["verdict"]), (&json!("0198-a"), &json!("approved")));
    assert!(signed["signature"].is_string() && signed.get("claimed").is_none());
    let empty = ran(home.noesc(&["decide", "last", "denied", "--reason", "", "--unsigned"]));
    empty.refused("expected a reason of 1 to 4096 bytes, found one of 0", 2);
}

#[test]
fn an_approver_hands_over_with_its_passphrase() {
    let home = Home::new("decide-handover");
    let old = home.approver(PASSPHRASE);
    let id = decided(&home, &[]);
    let new = home.folder.name("new.age");
    let mut init = home.typed(&["init", "--approver", &new]);
    init.answer("New passphrase for the approver's key", "another passphrase");
    init.answer("The same once more", "another passphrase");
    init.answer("Passphrase for the key of the approver noesc.approver/", PASSPHRASE);
    init.succeeds();
    assert!(home.config().contains(&format!("approver_identity = \"{new}\"\n")));
    let why = "expected the signature of the approver of this ledger, found another";
    refused(&run(&home, &id, &[], &COMMAND), why);
    let ask = ["decide", "--command", "--reason", "because"];
    let mut decide = home.typed(&[&ask[..], &["--approver", &old, "--"], &COMMAND].concat());
    decide.answer("Passphrase", PASSPHRASE);
    decide.refused("expected the key of the approver noesc.approver/");
    let mut decide = home.typed(&[&ask[..], &["--"], &COMMAND].concat());
    decide.answer("Passphrase", "another passphrase");
    let id = decide.succeeds().stdout;
    run(&home, id.trim_end(), &[], &COMMAND).is("approved\n", "", 0);
}

#[test]
fn an_argument_is_not_taken_for_two() {
    let home = Home::new("decide-quotes");
    home.approver(PASSPHRASE);
    let shown = |argv: &[&str]| {
        let given = ["decide", "--command", "--unsigned", "--reason", "x", "--"];
        ran(home.noesc(&[&given[..], argv].concat())).err().lines().next().unwrap().to_owned()
    };
    assert_eq!(shown(&["echo", "a", "b"]), r#"noesc: command "echo" "a" "b""#);
    assert_eq!(shown(&["echo", r#"a" "b"#]), r#"noesc: command "echo" "a\x22 \x22b""#);
    let told = events(&home);
    let decisions = told.iter().filter(|record| record["event"]["action"] == "command");
    let argv: Vec<_> = decisions.map(|record| record["event"]["argv"].as_str().unwrap()).collect();
    assert_eq!(argv, [r#""echo" "a" "b""#, r#""echo" "a\x22 \x22b""#]);
}

#[test]
fn a_run_is_looked_for_in_the_store_that_is_named() {
    let home = Home::new("decide-store");
    assert_eq!(ran(home.noesc(&["run", "--", "true"])).code(), 0);
    let state = home.folder.path("state/noesc");
    let elsewhere = home.folder.path("work/elsewhere");
    std::fs::rename(&state, &elsewhere).unwrap();
    // The last one of the user's own store is another.
    assert_eq!(ran(home.noesc(&["run", "--", "true"])).code(), 0);
    let decide =
        ["decide", "last", "denied", "--unsigned", "--reason", "because", "--store", "elsewhere"];
    let decided = ran(home.noesc(&decide));
    assert_eq!(decided.code(), 0, "{decided:?}");
    assert!(decided.err().contains(": denied\n"), "{decided:?}");
}
