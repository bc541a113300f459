use super::*;

fn recipient() -> Recipient {
    Recipient::new(age::x25519::Identity::generate().to_public())
}

#[test]
fn a_recipient_has_one_text() {
    let text = recipient().to_string();
    let parsed: Recipient = text.parse().unwrap();
    assert_eq!(parsed.to_string(), text);
    assert_eq!(parsed.fingerprint().len(), "sha256:".len() + FINGERPRINT_DIGITS);
    let mut other = text.clone().into_bytes();
    let last = other.last_mut().unwrap();
    *last = if *last == b'q' { b'p' } else { b'q' };
    let other = String::from_utf8(other).unwrap();
    for wrong in ["", "age1", "age1\u{1b}[2J", &other, &text[..text.len() - 1], &format!("{text} ")]
    {
        let error = wrong.parse::<Recipient>().unwrap_err();
        assert!(matches!(error, RecipientError::Form { .. }), "{error}");
        assert!(error.to_string().bytes().all(|byte| byte >= b' '), "{error}");
    }
    let long = "x".repeat(SHOWN_BYTES + 1).parse::<Recipient>().unwrap_err();
    assert_eq!(long, RecipientError::Form { found: "x".repeat(SHOWN_BYTES) });
}

#[test]
fn the_point_of_a_text_is_its_key() {
    let identity = age::x25519::Identity::generate();
    let point = point_of(&identity.to_public().to_string()).unwrap();
    // The text of a secret key differs in its first part alone.
    let lower = identity.to_string().expose_secret().to_lowercase();
    let scalar = point_of(&lower.replace("age-secret-key-", "age")).unwrap();
    assert_eq!(x25519_dalek::x25519(scalar, x25519_dalek::X25519_BASEPOINT_BYTES), point);
}

/// Zero, one, and the others: points that everybody has the same secret with.
#[test]
fn a_key_of_small_order_is_refused() {
    for text in [
        "age1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq5cu47z",
        "age1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqj7vrya",
        "age1anlllllllllllllllllllllllllllllllllllllllllllllllals4n2t7m",
        "age1ahlllllllllllllllllllllllllllllllllllllllllllllllalsn46ayy",
        "age1amlllllllllllllllllllllllllllllllllllllllllllllllalselrwrv",
        "age1ur4h5lpmgxu2u9jku0a0r87ydtdqnr0tnsetrlvxvgz3vh6fhqqqzyt4v9",
        "age1t7wft09r2zxzfvwsk92eeql0tvzyghxytqwgapkcyf8dm5ylz9ts6wm9s8",
    ] {
        assert_eq!(text.parse::<Recipient>().unwrap_err(), RecipientError::Weak, "{text}");
    }
}

#[test]
fn there_are_one_to_eight_recipients_and_each_once() {
    let all: Vec<_> = (0..=RECIPIENTS_MAX).map(|_| recipient()).collect();
    for count in [1, RECIPIENTS_MAX - 1, RECIPIENTS_MAX] {
        let list = Recipients::new(all[..count].to_vec()).unwrap();
        assert_eq!(list.iter().len(), count);
        assert!(list.fingerprints().is_sorted());
    }
    for count in [0, RECIPIENTS_MAX + 1] {
        let error = Recipients::new(all[..count].to_vec()).unwrap_err();
        assert_eq!(error, RecipientError::Count { found: count });
    }
    let twice = vec![all[0].clone(), all[1].clone(), all[0].clone()];
    let fingerprint = all[0].fingerprint();
    assert_eq!(Recipients::new(twice).unwrap_err(), RecipientError::Twice { fingerprint });
}

struct Temporary(std::path::PathBuf);

impl Temporary {
    fn new(name: &str) -> Self {
        let name = format!("noesc-identity-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn an_identity_opens_what_is_sealed_to_its_recipient() {
    use std::os::unix::fs::MetadataExt;
    let folder = Temporary::new("open");
    let path = folder.0.join("identity");
    let recipient = create_identity(&path, "correct horse").unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o7777, 0o600);
    let identity = unlock(&path, "correct horse").unwrap();
    assert_eq!(identity.recipients(), std::slice::from_ref(&recipient));
    let sealed = recipient.seal_message(b"message").unwrap();
    assert_eq!(*identity.open_message(sealed.as_bytes()).unwrap(), b"message");
    let other = self::recipient().seal_message(b"message").unwrap();
    assert!(identity.open_message(other.as_bytes()).is_none());
    for (len, is_opened) in
        [(MESSAGE_BYTES_MAX - 1, true), (MESSAGE_BYTES_MAX, true), (MESSAGE_BYTES_MAX + 1, false)]
    {
        let sealed = recipient.seal_message(&vec![0; usize::try_from(len).unwrap()]).unwrap();
        assert_eq!(identity.open_message(sealed.as_bytes()).is_some(), is_opened, "{len}");
    }
}

#[test]
fn a_file_holds_one_to_eight_identities() {
    let folder = Temporary::new("several");
    for (count, is_read) in [(0, false), (1, true), (7, true), (8, true), (9, false)] {
        let path = folder.0.join(count.to_string());
        let mut text = "# comment\n\n".to_owned();
        for _ in 0..count {
            let key = age::x25519::Identity::generate();
            text.push_str(key.to_string().expose_secret());
            text.push_str("\r\n");
        }
        protected::protect_by(4, &path, "p", &text).unwrap();
        assert_eq!(unlock(&path, "p").is_ok(), is_read, "{count}");
    }
    assert_eq!(IDENTITIES_MAX, 8);
}
