use serde_json::{Value, json};

use std::fs::File;

use super::*;
use crate::testing::{Place, WAIT, moment};

fn recipient() -> Recipient {
    age::x25519::Identity::generate().to_public().to_string().parse().unwrap()
}

fn list(recipients: &[&Recipient]) -> Option<Recipients> {
    let all = recipients.iter().map(|recipient| (*recipient).clone()).collect::<Vec<_>>();
    Recipients::new(all).ok()
}

fn state(place: &Place, recipients: &[&Recipient]) -> RecipientsState {
    let configured = list(recipients);
    recipients_state(&place.path, place.key.verifier(), configured.as_ref(), WAIT).unwrap()
}

fn tell(place: &Place, action: RecipientsAction, recipients: &[&Recipient], from: &[&Recipient]) {
    let recipients: Vec<_> = recipients.iter().map(|one| (*one).clone()).collect();
    let from: Vec<_> = from.iter().map(|one| one.fingerprint()).collect();
    let (recipients, from) = (&*recipients, &*from);
    let change = RecipientsChange { action, recipients, from, approver: None, before: None };
    append_recipients(&mut place.open(), moment(0), &change).unwrap();
}

fn run(recipients: &[&Recipient], changed: bool) -> Value {
    let recipients: Vec<_> = recipients.iter().map(|one| one.fingerprint()).collect();
    json!({"run": "0", "recipients": recipients, "recipients_changed": changed})
}

fn changed(from: &[&Recipient], to: &[&Recipient], is_recorded: bool) -> RecipientsState {
    let prints = |all: &[&Recipient]| sorted(all.iter().map(|one| one.fingerprint()).collect());
    RecipientsState::Changed { from: prints(from), to: prints(to), is_recorded }
}

#[test]
fn a_change_is_one_until_it_is_confirmed() {
    let place = Place::new();
    let (a, b) = (recipient(), recipient());
    assert_eq!(state(&place, &[]), RecipientsState::Unset);
    assert_eq!(state(&place, &[&a]), RecipientsState::Unset);
    tell(&place, RecipientsAction::Init, &[&a, &b], &[]);
    assert_eq!(state(&place, &[&b, &a]), RecipientsState::Same);
    assert_eq!(state(&place, &[&b]), changed(&[&a, &b], &[&b], false));
    assert_eq!(state(&place, &[]), changed(&[&a, &b], &[], false));
    tell(&place, RecipientsAction::Changed, &[&b], &[&a, &b]);
    assert_eq!(state(&place, &[&b]), changed(&[&a, &b], &[&b], true));
    assert_eq!(state(&place, &[&a]), changed(&[&a, &b], &[&a], false));
    // What was before is the same again.
    assert_eq!(state(&place, &[&a, &b]), RecipientsState::Same);
    let known = confirmed_recipients(&place.path, place.key.verifier(), WAIT).unwrap();
    assert_eq!(known, [a.clone(), b.clone()]);
    tell(&place, RecipientsAction::Confirmed, &[&b], &[&a, &b]);
    assert_eq!(state(&place, &[&b]), RecipientsState::Same);
    tell(&place, RecipientsAction::Lost, &[&a], &[&b]);
    assert_eq!(state(&place, &[&a]), RecipientsState::Same);
    let known = confirmed_recipients(&place.path, place.key.verifier(), WAIT).unwrap();
    assert_eq!(known, [a]);
}

#[test]
fn the_last_run_tells_as_well() {
    let place = Place::new();
    let (a, b) = (recipient(), recipient());
    tell(&place, RecipientsAction::Init, &[&a], &[]);
    place.write(Kind::Run, &run(&[&a], false));
    assert_eq!(state(&place, &[&a]), RecipientsState::Same);
    assert_eq!(state(&place, &[&b]), changed(&[&a], &[&b], false));
    tell(&place, RecipientsAction::Changed, &[&b], &[&a]);
    place.write(Kind::Run, &run(&[&b], true));
    place.write(Kind::Run, &run(&[&b], true));
    assert_eq!(state(&place, &[&b]), changed(&[&a], &[&b], true));
    assert_eq!(state(&place, &[&a]), RecipientsState::Same);
    // Other records say nothing, nor do runs of another version.
    place.write(Kind::Decision, &json!({"recipients": []}));
    place.write(Kind::Run, &json!({"recipients": 1}));
    assert_eq!(state(&place, &[&b]), changed(&[&a], &[&b], true));
}

#[test]
fn nothing_hides_it_behind_many_records() {
    let place = Place::new();
    let (a, b) = (recipient(), recipient());
    tell(&place, RecipientsAction::Init, &[&a], &[]);
    for len in [0, 1, 60_000, 60_001, 30_000, 65_000, 64_000, 63_999] {
        place.write(Kind::Decision, &json!({"n": "x".repeat(len)}));
        assert_eq!(state(&place, &[&a]), RecipientsState::Same, "{len}");
        assert_eq!(state(&place, &[&b]), changed(&[&a], &[&b], false), "{len}");
    }
}

#[test]
fn what_the_key_has_not_signed_says_nothing() {
    let place = Place::new();
    let (a, b) = (recipient(), recipient());
    tell(&place, RecipientsAction::Init, &[&a], &[]);
    place.write(Kind::Run, &run(&[&a], false));
    let sound = std::fs::read_to_string(&place.path).unwrap();
    let line = sound.lines().last().unwrap();
    let forged = line.replace(&a.fingerprint(), &b.fingerprint());
    for torn in [&*forged, &format!("{forged}\n"), &line[..line.len() / 2], "\n\n", "\u{0}"] {
        std::fs::write(&place.path, format!("{sound}{torn}")).unwrap();
        assert_eq!(state(&place, &[&a]), RecipientsState::Same);
        assert_eq!(state(&place, &[&b]), changed(&[&a], &[&b], false));
    }
}

#[test]
fn lines_come_from_the_last_to_the_first_whatever_their_lengths() {
    let place = Place::new();
    let window = crate::tail::WINDOW_BYTES;
    for lengths in [
        vec![],
        vec![1],
        vec![0, 0, 1, 0],
        vec![window - 1, 1, window / 2, window / 2],
        vec![window / 2 - 1, window / 2 - 1, window / 2 - 1],
        vec![1, window - 2, 3],
        vec![5; 1000],
    ] {
        let lines: Vec<_> = lengths.iter().map(|&len| "x".repeat(len)).collect();
        let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
        std::fs::write(&place.path, &text).unwrap();
        let file = File::open(&place.path).unwrap();
        let mut seen = Vec::new();
        backwards(&file, text.len() as u64, |line| {
            seen.push(line.len());
            true
        })
        .unwrap();
        let expected: Vec<_> =
            lengths.iter().rev().copied().filter(|&len| len > 0 && len < window - 1).collect();
        let seen: Vec<_> = seen.into_iter().filter(|&len| len < window - 1).collect();
        assert_eq!(seen, expected, "{:?}", &lengths[..lengths.len().min(5)]);
    }
}
