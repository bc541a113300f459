//! Every sequence that the table of kinds knows has a name.

use noesc_explain::{Explained, Items, What};
use noesc_grammar::{Class, Ending, Kind};
use noesc_testkit::corpus;
use noesc_testkit::sequences::SEQUENCES;

/// Calls back with every sequence of an input.
fn each_sequence(input: &[u8], mut see: impl FnMut(&Explained<'_>)) {
    let mut sink = |item: noesc_explain::Item<'_>| {
        if let What::Sequence(explained) = &item.what {
            see(explained);
        }
    };
    let mut items = Items::new(80);
    items.push(input, &mut sink);
    items.finish(&mut sink);
}

/// What must hold of each sequence, whatever it is.
fn assert_said(explained: &Explained<'_>, of: &str) {
    let inert = |text: &str| text.bytes().all(|b| matches!(b, 0x20..=0x7E)) && !text.is_empty();
    let said = format!("{} {:?}", explained.notation, explained.meaning);
    assert!(inert(&explained.meaning.name) && inert(&explained.meaning.words), "{of}: {said}");
    assert!(inert(&explained.notation), "{of}: {said}");
    let whole = explained.sequence.ending == Ending::Complete;
    if whole && explained.sequence.kind != Kind::Other {
        assert!(explained.meaning.is_known(), "{of}: {said}");
    }
}

#[test]
fn each_sequence_of_the_testkit() {
    for (kind, bytes) in SEQUENCES {
        let mut seen = 0;
        each_sequence(bytes, |explained| {
            seen += 1;
            assert_said(explained, &bytes.escape_ascii().to_string());
            assert_eq!(explained.sequence.kind.name(), *kind);
        });
        assert_eq!(seen, 1, "{}", bytes.escape_ascii());
    }
}

#[test]
fn each_sequence_of_the_corpus() {
    let cases = corpus::load(&corpus::root()).expect("the corpus can be read");
    let mut seen = 0;
    for case in &cases {
        each_sequence(&case.input(), |explained| {
            seen += 1;
            assert_said(explained, &case.name);
        });
    }
    assert!(cases.len() > 300 && seen > 300, "{} cases, {seen} sequences", cases.len());
}

/// Every CSI, escape and OSC that can be written with one parameter: where the table of kinds has
/// a word, there is a name.
#[test]
fn each_short_sequence_of_a_known_kind() {
    let mut unnamed = Vec::new();
    let mut try_one = |bytes: &[u8]| {
        each_sequence(bytes, |explained| {
            let sequence = &explained.sequence;
            if sequence.kind != Kind::Other && !explained.meaning.is_known() {
                unnamed.push(bytes.escape_ascii().to_string());
            }
        });
    };
    for last in 0x40..=0x7E {
        for mark in [&b""[..], b"<", b"=", b">", b"?"] {
            for parameters in [&b""[..], b"1", b"22;1"] {
                try_one(&[b"\x1b[", mark, parameters, &[last]].concat());
                for between in 0x20..=0x2F {
                    try_one(&[b"\x1b[", mark, parameters, &[between, last]].concat());
                }
            }
        }
    }
    for last in 0x30..=0x7E {
        try_one(&[0x1B, last]);
        for between in 0x20..=0x2F {
            try_one(&[0x1B, between, last]);
        }
    }
    for number in 0..10_000 {
        for rest in ["", ";", ";x", ";?", ";9;x"] {
            try_one(format!("\x1b]{number}{rest}\x07").as_bytes());
        }
    }
    assert_eq!(unnamed, [""; 0]);
}

#[test]
fn strings_of_each_class_have_a_name() {
    for (bytes, class, name) in [
        (&b"\x1bXx\x1b\\"[..], Class::Sos, "SOS"),
        (b"\x1b^x\x1b\\", Class::Pm, "PM"),
        (b"\x1b_x\x1b\\", Class::Apc, "APC"),
        (b"\x1bkx\x1b\\", Class::Title, "title"),
        (b"\x1bP\x1b[m", Class::Dcs, "screen"),
    ] {
        let mut named = Vec::new();
        each_sequence(bytes, |e| named.push((e.sequence.class, e.meaning.name.to_string())));
        assert_eq!(named[0], (class, name.to_owned()));
    }
}
