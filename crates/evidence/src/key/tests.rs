use super::*;

// The example of Go's package for signed notes.
const PUBLIC: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const SECRET: &str =
    "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz\n";
const TEXT: &[u8] = b"If you think cryptography is the answer to your problem,\n\
    then you don't know what your problem is.\n";
const SIGNATURE: &str = "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdng\
    otpRZb6KE6RyyBwJnAM=";

#[test]
fn keys_are_those_of_other_tools_for_signed_notes() {
    let key = CollectorKey::parse_secret(SECRET).unwrap();
    assert_eq!(key.verifier().to_string(), PUBLIC);
    assert_eq!(*key.secret_text(), SECRET);
    assert_eq!(VerifierKey::parse(PUBLIC).unwrap(), *key.verifier());
    let signature = [&key.verifier().id()[..], &key.sign_bytes(TEXT)].concat();
    assert_eq!(Base64::encode_string(&signature), SIGNATURE);
}

#[test]
fn a_secret_is_not_shown() {
    let key = CollectorKey::parse_secret(SECRET).unwrap();
    assert_eq!(format!("{key:?}"), format!("CollectorKey({PUBLIC:?})"));
}

#[test]
fn other_texts_are_no_keys() {
    for text in [
        "",
        "PeterNeumann",
        "PeterNeumann+c74f20a3",
        &PUBLIC.replace("c74f20a3", "c74f20a4"),
        &PUBLIC.replace("c74f20a3", "C74F20A3"),
        &PUBLIC.replace("Peter", "Pete"),
        &PUBLIC.replace("ARpc", "Ahpc"),
        &format!("{PUBLIC}\n"),
        &PUBLIC[..PUBLIC.len() - 4],
        // A point of small order, for which anybody can sign.
        "PeterNeumann+efd4a34a+AQEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ] {
        let error = VerifierKey::parse(text).unwrap_err();
        assert!(matches!(error, KeyError::Form { .. }), "{text}");
    }
    for text in ["", PUBLIC, &SECRET[..SECRET.len() - 1], &SECRET.replace("c74f", "c75f")] {
        let error = CollectorKey::parse_secret(text).unwrap_err();
        assert!(matches!(error, KeyError::Form { .. }), "{text}");
    }
}

#[test]
fn a_name_has_key_name_bytes_max_and_no_more() {
    for (bytes, fits) in [
        (0, false),
        (1, true),
        (KEY_NAME_BYTES_MAX - 1, true),
        (KEY_NAME_BYTES_MAX, true),
        (KEY_NAME_BYTES_MAX + 1, false),
    ] {
        let name = "n".repeat(bytes);
        let made = CollectorKey::from_seed(&name, &[1; 32]);
        assert_eq!(made.is_ok(), fits, "{bytes}");
        if let Ok(key) = made {
            let secret = key.secret_text();
            assert!(secret.len() < usize::try_from(KEY_FILE_BYTES).unwrap());
            assert_eq!(CollectorKey::parse_secret(&secret).unwrap().verifier().name(), name);
        }
    }
    for name in ["a b", "a+b", "a\nb", "a\u{1b}", "\u{e9}", "a\u{7f}"] {
        let error = CollectorKey::from_seed(name, &[1; 32]).unwrap_err().to_string();
        assert!(
            error.bytes().all(|byte| (0x20..0x7f).contains(&byte)),
            "{}",
            error.escape_default()
        );
    }
}
