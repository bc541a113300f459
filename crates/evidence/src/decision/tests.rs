use std::ffi::OsString;
use std::path::Path;
use std::time::SystemTime;

use serde_json::{Value, json};

use super::*;
use crate::record::Kind;
use crate::testing::{Place, WAIT, approver, moment};

const LASTS: Duration = Duration::from_secs(3600);
const GIVEN: Given<'_> = Given { who: "alice", reason: "because" };
const POLICY: &str = "sha256:00";

fn argv(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

/// What most of these tests ask for.
fn with<T>(ask: impl FnOnce(&Asked<'_>) -> T) -> T {
    let argv = argv(&["rm", "-r", "it"]);
    ask(&Asked { argv: &argv, cwd: Path::new("/repo"), policy: POLICY })
}

fn decide(place: &Place, key: Option<&ApproverKey>) -> Result<String, DecisionError> {
    with(|&asked| {
        let decision = CommandDecision { asked, given: GIVEN, created: moment(0), lasts: LASTS };
        decide_command(&mut place.open(), &decision, key)
    })
}

fn checked(place: &Place, id: &str, now: SystemTime) -> Result<Grant, DecisionError> {
    with(|asked| check((&place.path, place.key.verifier()), id, asked, now, WAIT))
}

/// Why a decision does not count.
fn refused(place: &Place, id: &str) -> &'static str {
    let error = checked(place, id, moment(1)).unwrap_err();
    with(|asked| {
        let used = use_up(&mut place.open(), id, asked, None, moment(1)).unwrap_err();
        assert_eq!(used.word(), error.word());
    });
    assert!(!error.hint().is_empty() && !error.to_string().is_empty());
    error.word()
}

#[test]
fn a_decision_holds_once() {
    let alice = approver(1);
    let place = Place::of(&alice);
    let id = decide(&place, Some(&alice)).unwrap();
    let grant = checked(&place, &id, moment(1)).unwrap();
    assert_eq!((&*grant.who, &*grant.reason, &grant.id), ("alice", "because", &id));
    // To look at it changes nothing.
    assert_eq!(checked(&place, &id, moment(2)).unwrap(), grant);
    let used = with(|asked| use_up(&mut place.open(), &id, asked, Some("run"), moment(3)));
    assert_eq!(used.unwrap(), grant);
    assert_eq!(place.last(), json!({"action": "used", "decision": id, "run": "run"}));
    assert_eq!(refused(&place, &id), "used");
    // The same words of the approver once more do not bring it back.
    let again = decide(&place, Some(&alice)).unwrap();
    let mut event = place.last();
    assert!(checked(&place, &again, moment(1)).is_ok());
    event["id"] = json!(id);
    place.write(Kind::Decision, &event);
    assert_eq!(refused(&place, &id), "used");
}

#[test]
fn one_of_many_at_once_uses_it() {
    let alice = approver(1);
    let place = Place::of(&alice);
    let id = decide(&place, Some(&alice)).unwrap();
    let uses = std::thread::scope(|scope| {
        let use_it =
            || with(|asked| use_up(&mut place.open(), &id, asked, None, moment(1)).is_ok());
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(use_it)).collect();
        threads
            .into_iter()
            .filter(|_| true)
            .map(|thread| thread.join().unwrap())
            .collect::<Vec<_>>()
    });
    assert_eq!(uses.iter().filter(|is_used| **is_used).count(), 1);
}

#[test]
fn an_approval_of_one_thing_is_none_of_another() {
    let alice = approver(1);
    let place = Place::of(&alice);
    let id = decide(&place, Some(&alice)).unwrap();
    let key = (place.path.as_path(), place.key.verifier());
    let ask = |words: &[&str], cwd: &str, policy| {
        let (argv, cwd) = (argv(words), Path::new(cwd));
        let asked = Asked { argv: &argv, cwd, policy };
        check(key, &id, &asked, moment(1), WAIT).map(drop).map_err(|error| error.word())
    };
    let right = &["rm", "-r", "it"][..];
    assert_eq!(ask(right, "/repo", POLICY), Ok(()));
    for other in [
        &["rm", "-r", "all"][..],
        &["rm", "-r it"],
        &["rm", "-r", "it", ""],
        &["rm", "-r"],
        &["rm-r", "it"],
        &[],
    ] {
        assert_eq!(ask(other, "/repo", POLICY), Err("command"), "{other:?}");
    }
    for other in ["/", "/repo/", "/repo/..", "/Repo"] {
        assert_eq!(ask(right, other, POLICY), Err("folder"), "{other}");
    }
    assert_eq!(ask(right, "/repo", "sha256:01"), Err("policy"));
}

#[test]
fn a_decision_has_its_time() {
    let alice = approver(1);
    let place = Place::of(&alice);
    let id = decide(&place, Some(&alice)).unwrap();
    let at = |now| checked(&place, &id, now).map(drop).map_err(|error| error.word());
    assert_eq!(at(moment(3599)), Ok(()));
    assert_eq!(at(moment(3600)), Err("expired"));
    assert_eq!(at(moment(0) - CLOCK_AHEAD_MAX), Ok(()));
    assert_eq!(at(moment(0) - CLOCK_AHEAD_MAX - Duration::from_secs(1)), Err("early"));
    let second = Duration::from_secs(1);
    for (lasts, is_made) in [
        (Duration::ZERO, false),
        (DECISION_LASTS_MAX - second, true),
        (DECISION_LASTS_MAX, true),
        (DECISION_LASTS_MAX + second, false),
    ] {
        let made = with(|&asked| {
            let decision = CommandDecision { asked, given: GIVEN, created: moment(0), lasts };
            decide_command(&mut place.open(), &decision, Some(&alice))
        });
        assert_eq!(made.is_ok(), is_made, "{lasts:?}");
    }
}

#[test]
fn what_is_only_claimed_does_not_count() {
    let (alice, mallory) = (approver(1), approver(2));
    let place = Place::new();
    // The key of the ledger itself is no approver's.
    let named = json!({
        "action": "init", "recipients": [], "fingerprints": [], "from": [], "signature": null,
        "approver": place.key.verifier().to_string(),
    });
    place.write(Kind::Recipients, &named);
    let claimed = decide(&place, None).unwrap();
    assert_eq!(place.last()["claimed"], true);
    assert_eq!(refused(&place, &claimed), "claimed");
    assert!(matches!(decide(&place, Some(&alice)), Err(DecisionError::NoApprover)));
    place.name(&alice, None);
    assert_eq!(refused(&place, &claimed), "claimed");
    assert!(matches!(decide(&place, Some(&mallory)), Err(DecisionError::OtherApprover { .. })));
    assert_eq!(refused(&place, "00000000000000000000000000000000"), "unknown");
    for id in ["", "0", "\u{1b}[2J", &claimed.to_uppercase(), &format!("{claimed}0")] {
        if id != claimed {
            assert_eq!(refused(&place, id), "id");
        }
    }
}

/// The agent holds the collector's key, and may write whatever it likes behind what is there.
#[test]
fn an_agent_with_the_key_of_the_ledger_gets_no_decision() {
    let (alice, mallory) = (approver(1), approver(2));
    let place = Place::of(&alice);
    // It claims one, and signs it with a key of its own.
    let id = decide(&place, None).unwrap();
    let claimed = place.last();
    let own = Place::of(&mallory);
    let own_id = decide(&own, Some(&mallory)).unwrap();
    let mut event = own.last();
    place.write(Kind::Decision, &event);
    assert_eq!(refused(&place, &own_id), "signature");
    // It names itself: with no signature, its own, or one of the approver for something else.
    place.name(&mallory, None);
    place.name(&mallory, Some(&mallory));
    let decided = decide(&place, Some(&alice)).unwrap();
    let mut named = json!({"action": "init", "recipients": [], "fingerprints": [], "from": []});
    named["approver"] = json!(mallory.verifier().to_string());
    named["signature"] = place.last()["signature"].clone();
    place.write(Kind::Recipients, &named);
    assert_eq!(refused(&place, &own_id), "signature");
    let mut approvers = Approvers::default();
    place.open().read(|record| approvers.take(record)).unwrap();
    assert_eq!(approvers.bound().unwrap().approver, *alice.verifier());
    assert_eq!(approvers.refused().len(), 3);
    // It puts the approver's signature under other words.
    event["signature"] = place.last()["signature"].clone();
    for (name, value) in claimed.as_object().unwrap() {
        event[name] = value.clone();
    }
    place.write(Kind::Decision, &event);
    assert_eq!(refused(&place, &id), "claimed");
    // The true one still counts, whatever else has its id.
    event["id"] = json!(decided);
    place.write(Kind::Decision, &event);
    assert!(checked(&place, &decided, moment(1)).is_ok());
}

#[test]
fn each_part_of_a_decision_is_signed() {
    let alice = approver(1);
    let place = Place::of(&alice);
    let id = decide(&place, Some(&alice)).unwrap();
    let event = place.last();
    let binding = std::fs::read(&place.path).unwrap();
    let first = binding.split_inclusive(|&byte| byte == b'\n').next().unwrap();
    for (name, value) in event.as_object().unwrap() {
        // It is not signed, and not believed.
        if name == "approver" {
            continue;
        }
        let text = value.as_str().unwrap();
        for at in (0..text.len()).step_by(1 + text.len() / 8) {
            let mut other = text.as_bytes().to_vec();
            other[at] ^= 1;
            let mut changed = event.clone();
            changed[name] = json!(String::from_utf8(other).unwrap());
            std::fs::write(&place.path, first).unwrap();
            place.write(Kind::Decision, &changed);
            let word = checked(&place, &id, moment(1)).unwrap_err().word();
            let expected = if matches!(&**name, "id" | "action") { "unknown" } else { "signature" };
            assert_eq!(word, expected, "{name} {at}");
        }
    }
}

#[test]
fn a_decision_is_one_of_its_ledger() {
    let alice = approver(1);
    let (one, other) = (Place::of(&alice), Place::new());
    // The same approver, but not the same record of it.
    other.write(Kind::Run, &json!({}));
    other.name(&alice, None);
    let id = decide(&one, Some(&alice)).unwrap();
    other.write(Kind::Decision, &one.last());
    assert_eq!(refused(&other, &id), "signature");
}

#[test]
fn an_approver_hands_over() {
    let (alice, bob, mallory) = (approver(1), approver(2), approver(3));
    let place = Place::of(&alice);
    let id = decide(&place, Some(&alice)).unwrap();
    place.name(&bob, Some(&alice));
    let handed = place.last();
    // What was decided before is void.
    assert_eq!(refused(&place, &id), "signature");
    let id = decide(&place, Some(&bob)).unwrap();
    assert!(checked(&place, &id, moment(1)).is_ok());
    // The old one has no say, and neither has what it said, once more.
    place.name(&mallory, Some(&alice));
    assert!(checked(&place, &id, moment(1)).is_ok());
    place.name(&alice, Some(&bob));
    place.write(Kind::Recipients, &handed);
    let id = decide(&place, Some(&alice)).unwrap();
    assert!(checked(&place, &id, moment(1)).is_ok());
}

#[test]
fn texts_are_escaped_and_bounded() {
    let alice = approver(1);
    let place = Place::of(&alice);
    let long = "\u{1b}".repeat(10_000);
    let argv = argv(&["\u{1b}[2J", &long]);
    let asked = Asked { argv: &argv, cwd: Path::new("/\u{202e}"), policy: "\u{7}" };
    let decide = |who: &str, reason: &str| {
        let given = Given { who, reason };
        let decision = CommandDecision { asked, given, created: moment(0), lasts: LASTS };
        decide_command(&mut place.open(), &decision, Some(&alice))
    };
    let id = decide(&long, &"\u{1b}".repeat(REASON_BYTES_MAX)).unwrap();
    let event = place.last();
    for (name, value) in event.as_object().unwrap() {
        let printable = value.as_str().unwrap().bytes().all(|byte| matches!(byte, 0x20..=0x7E));
        assert!(printable, "{name}");
    }
    assert!(event["argv"].as_str().unwrap().starts_with(r#""\x1b[2J" "\x1b\x1b"#));
    assert!(check((&place.path, place.key.verifier()), &id, &asked, moment(1), WAIT).is_ok());
    for (len, is_made) in
        [(0, false), (1, true), (REASON_BYTES_MAX - 1, true), (REASON_BYTES_MAX + 1, false)]
    {
        assert_eq!(decide("alice", &"x".repeat(len)).is_ok(), is_made, "{len}");
    }
    // No escape is cut in two.
    for len in 4..20 {
        let text = cut("\\x1b".repeat(10), len);
        assert_eq!(text, format!("{}...", "\\x1b".repeat(len / 4)));
    }
}

#[test]
fn what_is_opened_is_told_before_and_once() {
    let place = Place::new();
    let open = |reason, lasts| {
        let given = Given { who: "alice", reason };
        let (run, artifact, range) = ("run", "restricted:sha256:00", Some((4096, 512)));
        let decision = OpenDecision { run, artifact, range, form: "hex", given, lasts };
        append_open(&mut place.open(), moment(0), &decision)
    };
    assert!(matches!(open("", LASTS), Err(DecisionError::Reason { found: 0 })));
    assert!(matches!(open("why", DECISION_LASTS_MAX * 2), Err(DecisionError::Lasts)));
    let id = open("why", LASTS).unwrap();
    assert_eq!(place.last()["range"], json!({"offset": 4096, "bytes": 512}));
    let shown = |id: &str, now| append_shown(&mut place.open(), now, id, "hmac:00", 512);
    assert!(matches!(shown("0", moment(1)), Err(DecisionError::Id)));
    let other = "00000000000000000000000000000000";
    assert!(matches!(shown(other, moment(1)), Err(DecisionError::Unknown)));
    assert!(matches!(shown(&id, moment(3600)), Err(DecisionError::Expired { .. })));
    shown(&id, moment(1)).unwrap();
    let expected = json!({"action": "shown", "decision": id, "hmac": "hmac:00", "bytes": 512});
    assert_eq!(place.last(), expected);
    assert!(matches!(shown(&id, moment(1)), Err(DecisionError::Used)));
    append_refused(&mut place.open(), moment(1), "\u{1b}", "passphrase").unwrap();
    assert_eq!(place.last(), json!({"action": "refused", "of": "\\x1b", "why": "passphrase"}));
    // A command that is approved is not an original that is opened.
    let command = decide(&place, None).unwrap();
    assert!(matches!(shown(&command, moment(1)), Err(DecisionError::Unknown)));
    assert_eq!(refused(&place, &id), "unknown");
}

#[test]
fn a_verdict_names_the_record_of_its_run() {
    let alice = approver(1);
    let place = Place::of(&alice);
    for run in ["0198a", "0198b", "7"] {
        place.write(Kind::Run, &json!({"run": run}));
    }
    let find = |part| find_runs(&place.path, place.key.verifier(), part, WAIT).unwrap();
    assert_eq!(find("0198"), ["0198a", "0198b"]);
    assert_eq!(find("0198a"), ["0198a"]);
    assert_eq!(find("last"), ["7"]);
    assert!(find("1").is_empty());
    let verdict = |run, key| {
        let verdict = Verdict { run, ruling: Ruling::Denied, given: GIVEN, created: moment(1) };
        append_verdict(&mut place.open(), &verdict, key)
    };
    assert!(matches!(verdict("0", None), Err(DecisionError::UnknownRun)));
    let record = verdict("0198a", Some(&alice)).unwrap();
    let event = place.last();
    assert_eq!(
        (&event["verdict"], &event["record"]),
        (&json!("denied"), &json!(record.to_string()))
    );
    assert_eq!(event["approver"], alice.verifier().to_string());
    let mut hash = None;
    place.open().read(|record| hash = (record.index == 1).then(|| record.hash()).or(hash)).unwrap();
    assert_eq!(hash, Some(record));
    verdict("0198a", None).unwrap();
    let claimed: Value = place.last();
    assert_eq!((&claimed["claimed"], claimed.get("signature")), (&json!(true), None));
}

#[test]
fn what_was_seen_has_a_bound_and_says_what_is_left_out() {
    let place = Place::new();
    let id = "0".repeat(32);
    for (count, left) in [(SEEN_MAX - 1, 0), (SEEN_MAX, 0), (SEEN_MAX + 1, 1)] {
        let ranges: Vec<_> =
            (0..count as u64).map(|at| ("stdout".to_owned(), at, at + 1)).collect();
        append_seen(&mut place.open(), moment(0), &id, &ranges).unwrap();
        let mut told = Value::Null;
        let visit = |record: &crate::record::Record<'_>, _: u64| {
            told = serde_json::from_str(record.event).unwrap();
        };
        crate::verify::read(&place.path, place.key.verifier(), WAIT, visit).unwrap();
        assert_eq!(told["ranges"].as_array().unwrap().len(), count - left);
        assert_eq!(told["omitted"], left);
    }
    assert!(append_seen(&mut place.open(), moment(0), "no id", &[]).is_err());
}

#[test]
fn a_clock_that_is_set_back_makes_no_decision_hold_again() {
    let alice = approver(1);
    let place = Place::of(&alice);
    let id = decide(&place, Some(&alice)).unwrap();
    assert!(checked(&place, &id, moment(1)).is_ok());
    // Something was written when it was over.
    append_refused(&mut place.open(), moment(3600), &id, "late").unwrap();
    assert_eq!(checked(&place, &id, moment(1)).unwrap_err().word(), "expired");
    // A decision of now holds all the same, whatever the clock once said.
    append_refused(&mut place.open(), moment(999_999), "other", "by a wrong clock").unwrap();
    let later = decide(&place, Some(&alice)).unwrap();
    assert!(checked(&place, &later, moment(1)).is_ok());
}
