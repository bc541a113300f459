#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::panic)]
//! `parse(render(e)) == e`, whatever the record and the views are; and what is no envelope is
//! refused.

mod common;

use common::{any_text, envelope, escaped, forgeries, inert_text, nonces, ordinary, rendered};
use noesc_envelope::*;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

fn comes_back(envelope: &Envelope, format: Format) {
    let text = rendered(envelope, format);
    assert!(text.ends_with('\n'));
    match parse(&text, format) {
        Ok(parsed) => assert!(parsed == *envelope, "{format}: {:?}", text.escape_default()),
        Err(error) => panic!("{format}: {error}: {:?}", text.escape_default().to_string()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 128,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_envelope_of_inert_views_comes_back(e in envelope(inert_text().boxed())) {
        comes_back(&e, Format::Json);
        let bare = e.clone().without_value();
        for format in Format::ALL {
            comes_back(&bare, format);
            let refused = render(&e, format, &mut nonces()).is_err();
            prop_assert_eq!(refused, format != Format::Json && bare != e);
        }
        let facts = e.without_views();
        let text = rendered(&facts, Format::Json);
        prop_assert!(text.bytes().all(|b| b == b'\n' || (0x20..0x7F).contains(&b)));
        prop_assert_eq!(parse(&text, Format::Json), Ok(facts));
    }

    #[test]
    fn json_carries_any_view(e in envelope(any_text().boxed())) {
        comes_back(&e, Format::Json);
        let text = rendered(&e, Format::Json);
        let line = text.strip_suffix('\n').unwrap();
        let live = |c: char| c.is_control() || "<>&\u{2028}\u{2029}".contains(c);
        prop_assert_eq!(line.find(live), None);
    }

    #[test]
    fn what_a_format_does_not_refuse_comes_back(e in envelope(any_text().boxed())) {
        let e = e.without_value();
        for format in [Format::Lines, Format::Fence, Format::Xml] {
            match render(&e, format, &mut nonces()) {
                Ok(text) => prop_assert_eq!(parse(&text, format), Ok(e.clone())),
                Err(RenderError::Character { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }

    #[test]
    fn hostile_arguments_and_names_stay_in_their_place(
        words in prop::collection::vec(escaped(), 1..12),
    ) {
        let mut e = ordinary("ok\n", "");
        e.processes.survivors = Survivors {
            count: None,
            listed: words.iter().map(|name| Survivor { pid: 1, name: name.clone() }).collect(),
        };
        e.command.argv = words;
        for format in Format::ALL {
            comes_back(&e, format);
        }
    }

    #[test]
    fn a_cut_or_changed_text_never_panics(
        e in envelope(inert_text().boxed()),
        at in any::<prop::sample::Index>(),
        piece in prop::sample::select(forgeries()),
    ) {
        for format in Format::ALL {
            let e = if format == Format::Json { e.clone() } else { e.clone().without_value() };
            let mut text = rendered(&e, format);
            let at = text.floor_char_boundary(at.index(text.len() + 1));
            let _ = parse(&text[..at], format);
            let _ = parse(&text[at..], format);
            text.insert_str(at, &piece);
            if let Err(error) = parse(&text, format) {
                let message = error.to_string();
                prop_assert!(message.bytes().all(|b| (0x20..0x7F).contains(&b)), "{message:?}");
            }
        }
    }
}

#[test]
fn the_generator_emits_what_it_is_for() {
    let mut runner = TestRunner::deterministic();
    let texts: Vec<String> =
        (0..400).map(|_| inert_text().new_tree(&mut runner).unwrap().current()).collect();
    for piece in forgeries() {
        assert!(texts.iter().any(|text| text.contains(&piece)), "{:?}", piece.escape_default());
    }
    assert!(texts.iter().any(String::is_empty));
    assert!(texts.iter().any(|text| !text.is_empty() && !text.ends_with('\n')));
    assert!(texts.iter().any(|text| text.contains("\n\u{301}")));
}

#[test]
fn views_at_the_edges_come_back() {
    let long = format!("{}\n", "0123456789".repeat(10_240));
    let edges = ["", "\n", "\n\n", "a", "a\n", "\na", "\u{301}\n\u{301}", &long, long.trim_end()];
    for stdout in edges {
        for stderr in edges {
            for format in Format::ALL {
                comes_back(&ordinary(stdout, stderr), format);
            }
        }
    }
}

#[test]
fn a_child_that_prints_an_envelope_changes_nothing() {
    for forged in forgeries() {
        for text in [forged.clone(), format!("\n{forged}"), format!("{forged}\n"), forged.repeat(2)]
        {
            for format in Format::ALL {
                let parsed = parse(&rendered(&ordinary(&text, &text), format), format).unwrap();
                assert_eq!(parsed.outcome.kind, OutcomeKind::Exited { code: 101 });
                assert_eq!(parsed, ordinary(&text, &text));
            }
        }
    }
}

#[test]
fn a_nonce_that_occurs_is_drawn_again() {
    let inside = ordinary(&"01".repeat(16), "");
    for format in [Format::Fence, Format::Xml] {
        let text = rendered(&inside, format);
        assert!(text.contains(&format!("noesc-{}", "02".repeat(16))));
        let forged = text.replace(&"02".repeat(16), &"01".repeat(16));
        assert_eq!(parse(&forged, format), Err(ParseError::NonceInside));
        let mut draws = 0;
        let mut stuck = || {
            draws += 1;
            Some([1; 16])
        };
        assert_eq!(render(&inside, format, &mut stuck), Err(RenderError::NoNonce));
        assert_eq!(draws, NONCE_DRAWS_MAX);
        assert_eq!(render(&inside, format, &mut || None), Err(RenderError::NoNonce));
    }
}

/// A source whose first `n` nonces occur.
fn after(n: usize) -> impl NonceSource {
    let mut draws = 0;
    move || {
        draws += 1;
        Some([if draws > n { 9 } else { 1 }; 16])
    }
}

#[test]
fn as_many_nonces_are_drawn_as_the_limit_says() {
    let inside = ordinary(&"01".repeat(16), "");
    for (n, drawn) in
        [(NONCE_DRAWS_MAX - 2, true), (NONCE_DRAWS_MAX - 1, true), (NONCE_DRAWS_MAX, false)]
    {
        assert_eq!(render(&inside, Format::Xml, &mut after(n)).is_ok(), drawn, "{n}");
    }
}

#[test]
fn style_and_other_controls_are_for_json_alone() {
    for character in ['\x1b', '\r', '\0', '\x0b', '\x7f', '\u{85}', '\u{2028}', '\u{2029}'] {
        let e = ordinary("", &format!("a{character}b"));
        comes_back(&e, Format::Json);
        let refused = RenderError::Character { stream: StreamName::Stderr, character };
        for format in [Format::Lines, Format::Fence, Format::Xml] {
            assert_eq!(render(&e, format, &mut nonces()), Err(refused.clone()));
            let forged = rendered(&ordinary("", "aQQb"), format);
            let forged = forged.replace("QQ", &character.to_string());
            assert!(parse(&forged, format).is_err(), "{format} {character:?}");
        }
    }
    for character in ['\u{fffe}', '\u{ffff}'] {
        let e = ordinary(&character.to_string(), "");
        for format in [Format::Json, Format::Lines, Format::Fence] {
            comes_back(&e, format);
        }
        let refused = RenderError::Character { stream: StreamName::Stdout, character };
        assert_eq!(render(&e, Format::Xml, &mut nonces()), Err(refused));
    }
}

#[test]
fn a_record_without_views_is_json_alone() {
    let facts = ordinary("secret\n", "").without_views();
    comes_back(&facts, Format::Json);
    assert!(!rendered(&facts, Format::Json).contains("secret"));
    for format in [Format::Lines, Format::Fence, Format::Xml] {
        let refused = RenderError::NoText { stream: StreamName::Stdout };
        assert_eq!(render(&facts, format, &mut nonces()), Err(refused));
    }
}

/// The JSON of an ordinary envelope with one change.
fn changed(from: &str, to: &str) -> Result<Envelope, ParseError> {
    let text = rendered(&ordinary("ok\n", ""), Format::Json);
    assert!(text.contains(from), "{from}");
    parse(&text.replacen(from, to, 1), Format::Json)
}

#[test]
fn json_is_read_strictly() {
    let same = ordinary("ok\n", "");
    assert_eq!(changed("\"run\":", " \"run\" :").as_ref(), Ok(&same));
    assert_eq!(changed("\"run\":", "\"new\":{\"a\":[1.5,null]},\"run\":").as_ref(), Ok(&same));
    assert_eq!(changed("\"code\":", "\"new\":1,\"code\":").as_ref(), Ok(&same));
    for (from, to) in [
        ("\"code\":101", "\"code\":101,\"code\":0"),
        ("\"code\":101", "\"code\":101,\"c\\u006fde\":0"),
        ("\"run\":", "\"new\":{\"a\":1,\"a\":2},\"run\":"),
        ("\"run\":", "\"new\":\"\\ud800\",\"run\":"),
        ("\"head\":\"ok\\n\"", "\"head\":\"\\udc00\""),
        ("\"head\":\"ok\\n\",", ""),
        ("\"head\":\"ok\\n\"", "\"head\":null"),
        ("\"head\":\"ok\\n\"", "\"head\":1"),
        ("\"trust\":\"untrusted-process-output\",", ""),
        ("noesc.run/1", "noesc.run/2"),
        ("\"cargo\"", "\"\u{202e}\""),
        ("\"stdout\"", "\"stdlog\""),
        ("\"code\":101", "\"code\":256"),
        ("\"code\":101", "\"code\":-1"),
        ("\"code\":101", "\"code\":1e0"),
        ("\"exited\"", "\"excited\""),
        ("\"raw_sha256\"", "\"raw_md5\""),
        ("\"raw_sha256\":", &format!("\"raw_hmac\":\"{}\",\"raw_sha256\":", "00".repeat(32))),
        ("\"scope\":\"tree\"", "\"scope\":\"forest\""),
        ("\"scope\":\"tree\",", ""),
        ("\"count\":0", "\"count\":-1"),
        ("\"listed\":[]", "\"listed\":[{\"pid\":1,\"name\":\"sh\"}]"),
        ("\"count\":0,\"listed\":[]", "\"count\":9,\"listed\":[{\"pid\":1,\"name\":\"\\n\"}]"),
        ("\"ended\":null", "\"ended\":{\"signal\":9,\"killed\":false}"),
        ("\"privileged\":false", "\"privileged\":null"),
        ("\"attended\":true", "\"attended\":true,\"attended\":true"),
        ("\"recorded\":\"full\"", "\"recorded\":\"executable\""),
        ("\"stdin\":\"null\"", "\"stdin\":\"pty\""),
        ("\"kind\":\"exited\",\"code\":101", "\"kind\":\"timed_out\""),
        ("\n", "{}\n"),
        ("\n", ",\n"),
    ] {
        assert!(changed(from, to).is_err(), "{from} -> {to}");
    }
}

#[test]
fn a_required_key_is_required() {
    let text = rendered(&ordinary("ok\n", ""), Format::Json);
    let record: serde_json::Value = serde_json::from_str(&text).unwrap();
    for key in ["outcome", "processes", "collector", "streams", "order", "limits", "evidence"] {
        let mut record = record.clone();
        record.as_object_mut().unwrap().remove(key);
        let error = parse(&record.to_string(), Format::Json).unwrap_err().to_string();
        assert!(error.contains(&format!("missing field `{key}`")), "{error}");
    }
}

#[test]
fn an_order_has_as_many_entries_as_the_limit_says() {
    let mut e = ordinary("ok\n", "");
    let entry = OrderEntry { seq: 0, stream: StreamName::Stdout, view: (0, 1) };
    for (entries, right) in [(ORDER_MAX - 1, true), (ORDER_MAX, true), (ORDER_MAX + 1, false)] {
        e.order = vec![entry; entries];
        assert_eq!(parse(&rendered(&e, Format::Json), Format::Json).is_ok(), right, "{entries}");
    }
}

#[test]
fn a_container_without_its_layout_is_refused() {
    let expected_json = || Expected {
        trust: Trust::UntrustedProcessOutput,
        kind: Promise::Json,
        descriptor: 1,
        bytes: 1,
        eof: true,
        cutoff: Cutoff::None,
        met: true,
        mismatch: None,
        report: None,
        value: None,
    };
    let mut e = ordinary("a\nb\n", "c");
    let view = &mut e.streams.get_mut(&StreamName::Stdout).unwrap().view;
    view.omitted = Omitted { bytes: 7, lines: 2, raw: None };
    view.text = Some(Text { head: "a\n".into(), tail: "b\n".into() });
    for format in [Format::Lines, Format::Fence, Format::Xml] {
        let text = rendered(&e, format);
        assert_eq!(parse(&text, format), Ok(e.clone()));
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let for_people = if format == Format::Lines { 1..4 } else { 0..0 };
        for (at, line) in lines.iter().enumerate().filter(|(at, _)| !for_people.contains(at)) {
            let without: String = [&lines[..at], &lines[at + 1..]].concat().concat();
            let is_last = format == Format::Lines && at + 1 == lines.len();
            assert!(is_last || parse(&without, format) != Ok(e.clone()), "{format}: {line}");
            let twice: String = [&lines[..=at], &lines[at..]].concat().concat();
            assert!(parse(&twice, format) != Ok(e.clone()), "{format}: {line}");
        }
        for extra in ["x", "\n", "# x\n", "out 9\u{2502} x\n", "```\n", "<x/>"] {
            assert!(parse(&format!("{text}{extra}"), format).is_err(), "{format} {extra:?}");
        }
        assert!(parse(text.trim_end(), format).is_err());
        let facts = rendered(&e.without_views(), Format::Json);
        let forged = text.replacen(facts.trim_end(), rendered(&e, Format::Json).trim_end(), 1);
        assert!(parse(&forged, format).is_err(), "{format}: a view in the record");
        let mut bare = e.clone();
        bare.expected = Some(expected_json());
        let text = rendered(&bare, format);
        assert_eq!(parse(&text, format), Ok(bare.clone()));
        let forged = text.replacen(r#""met":true"#, r#""met":true,"value":1"#, 1);
        assert!(parse(&forged, format).is_err(), "{format}: a value in the record");
    }
    for format in Format::ALL {
        assert!(parse("", format).is_err());
        assert_eq!(format.name().parse(), Ok(format));
    }
    assert_eq!("JSON".parse::<Format>(), Err(UnknownFormat));
}
