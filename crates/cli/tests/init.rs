//! `noesc init`, typed at.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
mod typing;

use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use common::{ran, signal};
use noesc_evidence::{CollectorKey, Recipients, RecipientsState, recipients_state, unlock};
use typing::Home;

const PASSPHRASE: &str = "correct horse battery";

/// Recipients of which nobody has the identity.
const ONE: &str = "age1lvyvwawkr0mcnnnncaghunadrqkmuf9e6507x9y920xxpp866cnql7dp2z";
const OTHER: &str = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";

/// Makes an identity, and returns the name of its file and what was shown.
fn identity(home: &Home, name: &str) -> (String, String) {
    let path = home.folder.name(name);
    let mut init = home.typed(&["init", "--identity", &path]);
    init.answer("New passphrase for the identity", PASSPHRASE);
    init.answer("The same once more", PASSPHRASE);
    (path, init.succeeds().shown)
}

fn events(home: &Home, kind: &str) -> Vec<serde_json::Value> {
    let shown = ran(home.noesc(&["ledger", "show", "--json"]));
    let lines = shown.out().lines().map(|line| serde_json::from_str(line).unwrap());
    lines.filter(|record: &serde_json::Value| record["kind"] == kind).collect()
}

#[test]
fn keys_are_made_protected_and_named() {
    let home = Home::new("init-keys");
    home.write_config("# mine\nmark = true # stays\n");
    let (identity, approver) = (home.folder.name("id.age"), home.folder.name("approver.age"));
    let mut init = home.typed(&["init", "--identity", &identity, "--approver", &approver]);
    init.see("New passphrase for the identity");
    assert!(!init.echoes());
    if cfg!(target_os = "linux") {
        let limits = std::fs::read_to_string(format!("/proc/{}/limits", init.pid())).unwrap();
        let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
        assert_eq!(core.split_whitespace().skip(4).take(2).collect::<Vec<_>>(), ["0", "0"]);
    }
    // A stop of a job that nobody could continue does not take place; it is asked again.
    init.forget();
    init.press("\u{1a}");
    init.answer("New passphrase for the identity", PASSPHRASE);
    init.answer("The same once more", PASSPHRASE);
    init.answer("New passphrase for the approver's key", "another passphrase");
    init.answer("The same once more", "another passphrase");
    let end = init.succeeds();
    assert!(!end.shown.contains(PASSPHRASE) && !end.shown.contains("another passphrase"));
    assert_eq!(end.stdout, "");
    assert_eq!(end.shown.matches("\nnoesc: ").count() + 1, 8, "{}", end.shown);
    for path in [&identity, &approver] {
        assert_eq!(std::fs::metadata(path).unwrap().mode() & 0o7777, 0o600);
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.starts_with("-----BEGIN AGE ENCRYPTED FILE-----\n"));
    }
    let recipient = unlock(Path::new(&identity), PASSPHRASE).unwrap().recipients().remove(0);
    let config = home.config();
    let expected = format!(
        "# mine\nmark = true # stays\nidentity = \"{identity}\"\nrecipients = [\"{recipient}\"]\n"
    );
    assert!(config.starts_with(&expected), "{config}");
    assert!(config.contains("\napprover = \"noesc.approver/"), "{config}");
    assert!(config.ends_with(&format!("\napprover_identity = \"{approver}\"\n")), "{config}");
    let told = &events(&home, "recipients")[0]["event"];
    assert_eq!(told["action"], "init");
    assert_eq!(told["recipients"][0], recipient.to_string());
    assert_eq!(told["fingerprints"][0], recipient.fingerprint());
    assert!(config.contains(told["approver"].as_str().unwrap()));
    // The secret is nowhere but in the two files.
    let state = home.folder.path("state/noesc");
    for entry in std::fs::read_dir(state).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("AGE-SECRET-KEY"));
    }
}

#[test]
fn a_key_that_is_there_is_used_and_never_written_over() {
    let home = Home::new("init-again");
    let (path, _) = identity(&home, "id.age");
    let before = std::fs::read(&path).unwrap();
    std::fs::remove_file(home.folder.path("config/noesc/config.toml")).unwrap();
    let mut init = home.typed(&["init", "--identity", &path]);
    init.answer("Passphrase for", "wrong passphrase");
    init.refused("the passphrase does not open ");
    assert_eq!(home.config(), "");
    let mut init = home.typed(&["init", "--identity", &path]);
    init.answer("Passphrase for", PASSPHRASE);
    init.succeeds();
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert!(home.config().contains("recipients = [\"age1"));
}

#[test]
fn a_recipient_from_elsewhere_needs_no_terminal() {
    let home = Home::new("init-recipient");
    let init = ran(home.detached(&["init", "--recipient", ONE, "--recipient", OTHER]));
    assert_eq!((init.out(), init.code()), ("", 0), "{}", init.err());
    let expected = format!("recipients = [\n    \"{ONE}\",\n    \"{OTHER}\",\n]\n");
    assert_eq!(home.config(), expected);
    assert!(init.err().contains(&format!("noesc: recipient {ONE}, fingerprint sha256:")));
    let shown = ran(home.noesc(&["config"]));
    assert!(shown.out().contains(&format!("recipients           = [\"{ONE}\", \"{OTHER}\"] # ")));
    for (wrong, shown) in [("age1", "age1"), ("\u{1b}[2J", "\\x1b[2J")] {
        let message = format!("expected a recipient, found '{shown}'");
        ran(home.detached(&["init", "--recipient", wrong])).refused(&message, 2);
    }
    let twice = ran(home.detached(&["init", "--recipient", ONE, "--recipient", ONE]));
    assert_eq!(twice.code(), 2);
    assert_eq!(home.config(), expected);
}

#[test]
fn nothing_is_made_without_a_terminal_or_a_good_passphrase() {
    let home = Home::new("init-refused");
    let path = home.folder.name("id.age");
    let init = ran(home.detached(&["init", "--identity", &path]));
    assert!(init.err().contains("noesc: error: there is no terminal to ask at\n"), "{init:?}");
    let mut init = home.typed(&["init", "--identity", &path]);
    init.answer("New passphrase", "1234567");
    init.refused("expected a passphrase of at least 8 characters, found one of 7");
    let mut init = home.typed(&["init", "--identity", &path]);
    init.answer("New passphrase", PASSPHRASE);
    init.answer("The same once more", "correct horse batterx");
    init.refused("the two passphrases differ");
    let mut init = home.typed(&["init", "--identity", &path]);
    init.see("New passphrase");
    init.press("\u{4}");
    init.refused("nothing was typed");
    assert!(!Path::new(&path).exists());
    assert_eq!(home.config(), "");
    let init = ran(home.detached(&["init"]));
    assert!(init.err().ends_with(
        "noesc: error: nothing was said of whom to seal to\nnoesc: hint: make an identity, \
         --identity FILE, or name one made elsewhere, --recipient age1\u{2026}\n"
    ));
}

#[test]
fn the_terminal_is_put_back_by_whatever_ends_it() {
    let home = Home::new("init-interrupted");
    let path = home.folder.name("id.age");
    for (how, number) in [("key", 2), ("INT", 2), ("TERM", 15), ("HUP", 1), ("QUIT", 3)] {
        let mut init = home.typed(&["init", "--identity", &path]);
        init.see("New passphrase");
        assert!(!init.echoes());
        match how {
            "key" => init.press("\u{3}"),
            name => signal(name, init.pid()),
        }
        let end = init.end();
        assert_eq!(end.status.signal(), Some(number), "{how}");
        assert!(end.echoes, "{how}");
        // No core file holds what was typed.
        assert!(!end.status.core_dumped());
    }
    assert!(!Path::new(&path).exists());
}

#[test]
fn a_change_is_loud_until_the_old_identity_confirms_it() {
    let home = Home::new("init-change");
    let (old, _) = identity(&home, "old.age");
    let (_, shown) = identity(&home, "new.age");
    assert!(shown.contains("noesc: warning: recipient changed: every run says so"), "{shown}");
    // Who has it not can not.
    let mut init = home.typed(&["init", "--confirm"]);
    init.answer("Answer: ", "0123456789abcdef0123456789abcdef");
    init.refused("that is not what the challenge says");
    let new = home.folder.name("new.age");
    let mut init = home.typed(&["init", "--confirm", "--old-identity", &new]);
    init.answer("Passphrase for", PASSPHRASE);
    init.refused("that is not what the challenge says");
    assert_eq!(events(&home, "recipients").last().unwrap()["event"]["action"], "changed");
    let mut init = home.typed(&["init", "--confirm", "--old-identity", &old]);
    init.answer("Passphrase for", PASSPHRASE);
    init.succeeds();
    let told = &events(&home, "recipients")[2]["event"];
    assert_eq!((&told["action"], told["from"].as_array().unwrap().len()), (&"confirmed".into(), 1));
    let again = ran(home.noesc(&["init", "--confirm"]));
    again.refused("there is nothing to confirm: the recipients are those of the ledger", 2);
}

#[test]
fn a_lost_identity_is_recorded() {
    let home = Home::new("init-lost");
    assert_eq!(ran(home.noesc(&["init", "--recipient", ONE])).code(), 0);
    // Somebody edits the configuration.
    home.write_config(&format!("recipients = [\"{OTHER}\"]\n"));
    let key = CollectorKey::load(&home.folder.path("state/noesc/collector.key")).unwrap();
    let ledger = home.folder.path("state/noesc/ledger");
    let state = || {
        let configured = Recipients::parse(&[OTHER]).unwrap();
        recipients_state(&ledger, key.verifier(), Some(&configured), common::PATIENCE).unwrap()
    };
    assert!(matches!(state(), RecipientsState::Changed { is_recorded: false, .. }));
    // No program says so by itself.
    let lost = ran(home.detached(&["init", "--old-identity-lost"]));
    assert!(lost.err().starts_with("noesc: error: there is no terminal to ask at\n"), "{lost:?}");
    let mut lost = home.typed(&["init", "--old-identity-lost"]);
    lost.answer("Type \"lost\"", "no");
    lost.refused("that is not \"lost\"");
    let mut lost = home.typed(&["init", "--old-identity-lost"]);
    lost.answer("Type \"lost\"", "lost");
    let shown = lost.succeeds().shown;
    assert!(shown.contains("noesc: warning: recorded as lost"), "{shown}");
    assert_eq!(state(), RecipientsState::Same);
    assert_eq!(events(&home, "recipients")[1]["event"]["action"], "lost");
}

#[test]
fn where_there_is_an_approver_it_says_that_an_identity_is_lost() {
    let home = Home::new("init-lost-approver");
    home.approver(PASSPHRASE);
    assert_eq!(ran(home.noesc(&["init", "--recipient", ONE])).code(), 0);
    let changed = home.config().replace(ONE, OTHER);
    home.write_config(&changed);
    let mut lost = home.typed(&["init", "--old-identity-lost"]);
    lost.answer("Passphrase for the key of the approver noesc.approver/", "a guess of it");
    lost.refused("the passphrase does not open ");
    let mut lost = home.typed(&["init", "--old-identity-lost"]);
    lost.answer("Passphrase for the key of the approver noesc.approver/", PASSPHRASE);
    lost.succeeds();
    assert_eq!(events(&home, "recipients").last().unwrap()["event"]["action"], "lost");
}

#[test]
fn what_a_forged_record_calls_a_fingerprint_acts_on_nothing() {
    let home = Home::new("init-forged");
    ran(home.noesc(&["init", "--recipient", ONE]));
    let store = noesc_evidence::Store::at(home.folder.path("state/noesc"));
    let key = store.key().unwrap();
    let hostile = "\u{1b}]0;title\u{7}\u{9b}2J";
    let event = serde_json::json!({
        "action": "confirmed", "recipients": [ONE], "fingerprints": [hostile], "from": [],
        "approver": null, "signature": null,
    });
    let now = std::time::SystemTime::now();
    let mut ledger = store.ledger(&key).unwrap();
    ledger.append(now, noesc_evidence::Kind::Recipients, &event).unwrap();
    drop(ledger);
    for verb in [&["init", "--confirm"][..], &["store", "doctor"], &["run", "--", "true"]] {
        let ended = ran(home.noesc(verb));
        let said = [ended.stdout, ended.stderr].concat();
        let text = String::from_utf8(said).unwrap();
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{}", text.escape_debug());
    }
}
