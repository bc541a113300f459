use super::*;

fn key(seed: u8) -> CollectorKey {
    CollectorKey::from_seed("example.com/ledger", &[seed; 32]).unwrap()
}

fn note() -> String {
    Checkpoint::sign(&key(7), 42, Digest([9; 32])).to_string()
}

/// A note of any text that the key has signed.
fn signed(text: &str) -> String {
    let key = key(7);
    let signature = [&key.verifier().id()[..], &key.sign_bytes(text.as_bytes())].concat();
    let signature = Base64::encode_string(&signature);
    format!("{text}\n\u{2014} {} {signature}\n", key.verifier().name())
}

fn parse(note: &str) -> Result<Checkpoint, CheckpointError> {
    Checkpoint::parse(note.as_bytes(), key(7).verifier())
}

#[test]
fn a_checkpoint_is_a_signed_note_and_comes_back() {
    let root = "CQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQk=";
    assert_eq!(note(), signed(&format!("example.com/ledger\n42\n{root}\n")));
    let checkpoint = parse(&note()).unwrap();
    assert_eq!((checkpoint.size(), checkpoint.root()), (42, Digest([9; 32])));
    assert_eq!(checkpoint.to_string(), note());
}

#[test]
fn every_single_bit_counts() {
    let note = note().into_bytes();
    for bit in 0..note.len() * 8 {
        let mut other = note.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        assert!(Checkpoint::parse(&other, key(7).verifier()).is_err(), "bit {bit}");
    }
}

#[test]
fn lines_of_other_signers_and_extensions_are_passed_over() {
    let other = note().lines().last().unwrap().replace("ledger", "witness");
    for note in [format!("{}{other}\n", note()), note().replace("\n\n", &format!("\n\n{other}\n"))]
    {
        assert_eq!(parse(&note).unwrap().size(), 42);
    }
    let text = note().split_once("\n\n").unwrap().0.to_owned();
    assert_eq!(parse(&signed(&format!("{text}\nextension\n"))).unwrap().size(), 42);
}

#[test]
fn the_key_has_to_have_signed() {
    let stranger = Checkpoint::parse(note().as_bytes(), key(8).verifier()).unwrap_err();
    assert_eq!(stranger, CheckpointError::Unsigned { expected: key(8).verifier().to_string() });
    let wrong = note().replace("\n42\n", "\n43\n");
    assert_eq!(parse(&wrong), Err(CheckpointError::Signature));
    // One right signature does not make up for a wrong one.
    let line = signed("x\n").lines().last().unwrap().to_owned();
    assert_eq!(parse(&format!("{}{line}\n", note())), Err(CheckpointError::Signature));
}

#[test]
fn other_forms_are_refused_even_where_they_are_signed() {
    let root = "CQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQk=";
    for (text, fits) in [
        (format!("example.com/ledger\n42\n{root}\n"), true),
        (format!("example.com/ledger\n0\n{root}\n"), true),
        (format!("example.com/ledger\n042\n{root}\n"), false),
        (format!("example.com/ledger\n-1\n{root}\n"), false),
        (format!("example.com/ledger\n18446744073709551616\n{root}\n"), false),
        (format!("example.com/ledger\n42\n{}\n", &root[4..]), false),
        (format!("example.com/ledger\n42\n{root}AAAA\n"), false),
        (format!("example.com/ledger\n42\n{}l=\n", &root[..42]), false),
        ("example.com/ledger\n42\n".to_owned(), false),
        (format!("example.com/ledger\n42\n{root}\n\nmore\n"), false),
        (format!("example.com/ledger\n42\n{root}\n\n"), false),
        (format!("example.com/ledger\n42\n{root}\n\ttab\n"), false),
        (String::new(), false),
    ] {
        let found = parse(&signed(&text));
        assert_eq!(found.is_ok(), fits, "{}: {found:?}", text.escape_default());
    }
    let other = parse(&signed(&format!("example.com/\u{202e}other\n42\n{root}\n"))).unwrap_err();
    let shown = "example.com/\\xe2\\x80\\xaeother";
    let text = format!("expected a checkpoint of 'example.com/ledger', found one of '{shown}'");
    assert_eq!(other.to_string(), text);
    let long = format!("{}\u{e9}\u{e9}", "o".repeat(SHOWN_BYTES - 1));
    let CheckpointError::Origin { found, .. } = parse(&signed(&format!("{long}\n"))).unwrap_err()
    else {
        panic!("it is of another origin")
    };
    assert_eq!(found.len(), SHOWN_BYTES - 1);
}

#[test]
fn a_checkpoint_has_checkpoint_bytes_max_and_no_more() {
    let root = "CQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQk=";
    let text = |extension: &str| signed(&format!("example.com/ledger\n42\n{root}\n{extension}\n"));
    let base = text("").len();
    for (bytes, fits) in [
        (CHECKPOINT_BYTES_MAX - 1, true),
        (CHECKPOINT_BYTES_MAX, true),
        (CHECKPOINT_BYTES_MAX + 1, false),
    ] {
        let found = parse(&text(&"x".repeat(bytes - base)));
        assert_eq!(found.is_ok(), fits, "{bytes}");
        if !fits {
            assert_eq!(found, Err(CheckpointError::TooLong { found: bytes }));
        }
    }
}
