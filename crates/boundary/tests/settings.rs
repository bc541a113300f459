//! What each setting does, a row a case.

#![allow(clippy::unwrap_used, reason = "functions that tests share")]

use noesc::{
    Conceal, Cr, FINDING_SPANS_MAX, Form, HiddenText, Invisible, LINE_CELLS_MAX, Profile, Removed,
    Report, Severity, Style, view,
};

const MARKED: Profile = Profile { removed: Removed::Mark, ..Profile::AGENT };

fn text(input: &[u8], profile: &Profile) -> String {
    view(input, profile).unwrap().text
}

fn report(input: &[u8], profile: &Profile) -> Report {
    view(input, profile).unwrap().report
}

/// Severity, count and spans.
type Found = (Severity, u64, Vec<(u64, u64)>);

/// The finding of a kind.
fn finding(input: &[u8], kind: &str) -> Option<Found> {
    let found = report(input, &Profile::AGENT).findings;
    let found = found.into_iter().find(|finding| finding.kind == kind)?;
    Some((found.severity, found.count, found.spans))
}

#[test]
fn bare_carriage_returns() {
    let with = |cr| Profile { cr, ..Profile::AGENT };
    for (input, newline, collapse, overwrite, drop, mark) in [
        ("a\rb", "a\nb", "a\nb", "b", "ab", "a\u{241b}b"),
        ("a\r\nb", "a\nb", "a\nb", "a\nb", "a\nb", "a\nb"),
        ("a\r\r\nb", "a\nb", "a\nb", "a\nb", "a\nb", "a\nb"),
        ("\ra", "a", "a", "a", "a", "\u{241b}a"),
        ("a\r\rb", "a\nb", "a\nb", "b", "ab", "a\u{241b}\u{241b}b"),
        (
            "1\r2\r3\r4\n",
            "1\n2\n3\n4\n",
            "1\n4\n",
            "4\n",
            "1234\n",
            "1\u{241b}2\u{241b}3\u{241b}4\n",
        ),
        ("abc\rx\n", "abc\nx\n", "abc\nx\n", "xbc\n", "abcx\n", "abc\u{241b}x\n"),
        ("a\r", "a\n", "a\n", "a", "a", "a\u{241b}"),
        ("a\n\r\nb", "a\n\nb", "a\n\nb", "a\n\nb", "a\n\nb", "a\n\nb"),
        ("a\r\x1b[K\nb", "a\nb", "a\nb", "\nb", "a\nb", "a\nb"),
    ] {
        for (cr, expected) in [
            (Cr::Newline, newline),
            (Cr::Collapse, collapse),
            (Cr::Overwrite, overwrite),
            (Cr::Drop, drop),
            (Cr::Mark, mark),
        ] {
            assert_eq!(text(input.as_bytes(), &with(cr)), expected, "{input:?} {cr:?}");
        }
    }
}

#[test]
fn a_line_is_edited_as_a_terminal_would() {
    let overwrite = Profile { cr: Cr::Overwrite, ..Profile::AGENT };
    for (input, expected, overwritten) in [
        ("evil\x08\x08\x08\x08good\n", "good\n", 4),
        ("abc\r\x1b[Kd", "d", 3),
        ("abc\x1b[1Kd", "   d", 3),
        ("abc\x1b[2Kd", "   d", 3),
        ("abc\x1b[2Gx", "axc", 1),
        ("abc\x1b[2Dx", "axc", 1),
        ("a\x1b[2Cb", "a  b", 0),
        ("\u{754c}b\r\x1b[Cx", " xb", 1),
        ("e\u{301}f\rg", "gf", 2),
        ("a\tb", "a\tb", 0),
        ("a\tb\r\tc", "a\tc", 1),
        ("10%\r20%\r30%\nnext\n", "30%\nnext\n", 6),
    ] {
        let view = view(input.as_bytes(), &overwrite).unwrap();
        assert_eq!(view.text, expected, "{input:?}");
        assert_eq!(view.report.overwritten.characters, overwritten, "{input:?}");
    }
    let refused = view(b"", &Profile { cr: Cr::Overwrite, ..Profile::DISPLAY });
    assert!(refused.is_err());
}

#[test]
fn a_window_is_edited_up_to_its_limit() {
    let overwrite = Profile { cr: Cr::Overwrite, ..Profile::AGENT };
    for n in [LINE_CELLS_MAX - 1, LINE_CELLS_MAX, LINE_CELLS_MAX + 1] {
        let input = ["x".repeat(n), "\ry\nb\rc".into()].concat();
        let view = view(input.as_bytes(), &overwrite).unwrap();
        let beyond = n > LINE_CELLS_MAX;
        let first = match beyond {
            false => format!("y{}", "x".repeat(n - 1)),
            true => format!("{}\ny", "x".repeat(n)),
        };
        assert_eq!(view.text, format!("{first}\nc"), "{n}");
        assert_eq!(view.report.overwritten.lines_beyond_window, u64::from(beyond));
    }
    let collapse = Profile { cr: Cr::Collapse, ..Profile::AGENT };
    for n in [LINE_CELLS_MAX - 1, LINE_CELLS_MAX, LINE_CELLS_MAX + 1] {
        let long = "x".repeat(n);
        let input = format!("a\r{long}\rb\n");
        let view = view(input.as_bytes(), &collapse).unwrap();
        let beyond = n > LINE_CELLS_MAX;
        let expected = if beyond { format!("a\n{long}\nb\n") } else { "a\nb\n".into() };
        assert_eq!(view.text, expected, "{n}");
        assert_eq!(view.report.collapsed.segments, u64::from(!beyond));
        assert_eq!(view.report.collapsed.segments_beyond_window, u64::from(beyond));
    }
}

#[test]
fn style_kept_is_rebuilt_closed_and_less_conceal() {
    for (input, expected) in [
        ("\x1b[31mr", "\x1b[31mr\x1b[0m"),
        ("\x1b[31mr\x1b[0m", "\x1b[31mr\x1b[0m"),
        ("\x1b[31mr\x1b[m", "\x1b[31mr\x1b[0m"),
        ("\x1b[031;mr", "\x1b[31;0mr\x1b[0m"),
        ("\x1b[8mh\x1b[28m", "h\x1b[28m\x1b[0m"),
        ("\u{9b}31mr", "\x1b[31mr\x1b[0m"),
        ("\x1b[3\x001mr", "r"),
        ("\x1b[>4;1mr\x1b[?4mr\x1b[1 mr", "rrr"),
        ("\x1b[2J\x1b]0;x\x07\x1b[1A\rr", "r"),
    ] {
        assert_eq!(text(input.as_bytes(), &Profile::DISPLAY), expected, "{input:?}");
    }
    let parameter = Profile { style: Style::Keep(Conceal::Parameter), ..Profile::DISPLAY };
    assert_eq!(text(b"\x1b[1;8;31mh", &parameter), "\x1b[1;31mh\x1b[0m");
}

/// A segment that is left out keeps its style: what follows is written in it.
#[test]
fn style_in_a_segment_that_is_left_out_stays() {
    let collapse = Profile { cr: Cr::Collapse, ..Profile::DISPLAY };
    for (input, expected) in [
        ("\x1b[31ma\rb\x1b[0m\rc\n", "\x1b[31ma\x1b[0m\nc\n"),
        ("a\r\x1b[31mb\rc\n", "a\x1b[31m\nc\n\x1b[0m"),
        ("a\rb\x1b[01mb\x1b[4mb\rc", "a\x1b[1m\x1b[4m\nc\x1b[0m"),
    ] {
        let (view, runs) = noesc::view_with_spans(input.as_bytes(), &collapse).unwrap();
        assert_eq!(view.text, expected, "{input:?}");
        assert_eq!(text(expected.as_bytes(), &collapse), expected);
        let mut raw = 0;
        for run in &runs {
            assert_eq!(run.raw, raw, "{input:?} {runs:?}");
            raw += run.raw_len;
        }
        assert_eq!(raw, input.len() as u64);
        let shown: u64 = runs.iter().map(|run| run.view_len).sum();
        assert_eq!(shown, view.text.len() as u64);
        let removed = runs.iter().filter(|run| run.fate == noesc::Fate::Removed);
        assert_eq!(removed.map(|run| run.raw_len).sum::<u64>(), view.report.removed.bytes);
    }
}

#[test]
fn marks() {
    for (input, expected) in [
        (&b"a\x1b[mb"[..], "a\u{241b}b"),
        (b"\x1b]0;x\x07", "\u{241b}"),
        (b"a\x07b\x00", "a\u{241b}b\u{241b}"),
        (b"a\x1b[3\x071mb", "a\u{241b}\u{241b}b"),
        (b"a\xc2\x84b", "a\u{241b}b"),
        (b"a\x0bb\x0cc\xc2\x85d", "a\nb\nc\nd"),
        (b"a\xe2\x80\x8bb\xff", "ab\u{fffd}"),
        (b"\x1b[K\rb", "\u{241b}b"),
        (b"a\r\x1b[Kb", "a\u{241b}\nb"),
    ] {
        assert_eq!(text(input, &MARKED), expected, "{}", input.escape_ascii());
    }
    let dropped = Profile { cr: Cr::Drop, ..MARKED };
    assert_eq!(text(b"a\r\rb\r\n", &dropped), "a\u{241b}\u{241b}b\n");
}

#[test]
fn hidden_text_is_found_and_can_be_marked() {
    let mark = Profile { hidden_text: HiddenText::Mark, ..Profile::AGENT };
    for (input, marked, found) in [
        ("a\x1b[8mhid\x1b[0mb", "a⟦hid⟧b", true),
        ("a\x1b[8mhid\x1b[28mb", "a⟦hid⟧b", true),
        ("\x1b[30;40mhid\x1b[mb", "⟦hid⟧b", true),
        ("\x1b[97;107mhid\x1b[39mb", "⟦hid⟧b", true),
        ("\x1b[38;5;1;41mhid", "⟦hid⟧", true),
        ("\x1b[38;2;1;2;3m\x1b[48:2::1:2:3mhid", "⟦hid⟧", true),
        ("\x1b[31mr\x1b[41mhid", "r⟦hid⟧", true),
        ("\x1b[8mone\ntwo\x1b[m", "⟦one⟧\n⟦two⟧", true),
        ("\x1b[8m \t\u{2588}\x1b[mb", " \t\u{2588}b", false),
        ("\x1b[31;42mseen", "seen", false),
        ("\x1b[38;5;8;48;5;7mseen", "seen", false),
        ("\x1b[8;28mseen", "seen", false),
        ("\x1b[30;40m\x1b[0mseen", "seen", false),
        ("\x1b[8mhid\x1b[1;31mhid\x1b[0mb", "⟦hidhid⟧b", true),
    ] {
        assert_eq!(text(input.as_bytes(), &mark), marked, "{input:?}");
        assert_eq!(finding(input.as_bytes(), "hidden-text").is_some(), found, "{input:?}");
    }
    let spans = finding(b"a\x1b[8mhid\x1b[0mb", "hidden-text");
    assert_eq!(spans, Some((Severity::High, 1, vec![(5, 3)])));
    // Conceal is a finding when text follows.
    assert_eq!(finding(b"\x1b[8m\x1b[0mx", "conceal"), None);
    assert_eq!(finding(b"\x1b[8mx", "conceal"), Some((Severity::High, 1, vec![(0, 4)])));
}

#[test]
fn colours_are_read_back_however_many_came_before() {
    // More noted style than the notes hold, and then a background in the last foreground.
    for n in 0..40 {
        let input = format!("{}\x1b[35mx\x1b[45mhid", "\x1b[1;32;3mx".repeat(n));
        let at = input.len() as u64 - 3;
        let found = finding(input.as_bytes(), "hidden-text");
        assert_eq!(found, Some((Severity::High, 1, vec![(at, 3)])), "{n}");
    }
}

#[test]
fn invisible_characters_by_column() {
    let show = Profile { invisible: Invisible::Show, ..Profile::AGENT };
    let keep = Profile { invisible: Invisible::Keep, ..Profile::AGENT };
    for (input, dropped, shown) in [
        ("a\u{202e}b", "ab", "a<U+202E>b"),
        ("a\u{2066}b", "ab", "a<U+2066>b"),
        ("a\u{200e}b", "ab", "a\u{200e}b"),
        ("a\u{e0041}b", "ab", "ab"),
        ("a\u{fe0f}b", "ab", "ab"),
        ("a\u{200d}b", "ab", "ab"),
        ("a\u{200b}b", "ab", "ab"),
        ("a\u{2062}b", "ab", "a<U+2062>b"),
        ("a\u{fff9}b", "ab", "a<U+FFF9>b"),
        ("a\u{3164}b", "ab", "a<U+3164>b"),
        ("a\u{2800}b", "a b", "a<U+2800>b"),
        ("a\u{180b}b", "ab", "a<U+180B>b"),
        ("a\u{ffff}b", "a\u{fffd}b", "a\u{fffd}b"),
        ("a\u{e123}b", "a\u{e123}b", "a\u{e123}b"),
    ] {
        assert_eq!(text(input.as_bytes(), &Profile::AGENT), dropped, "{input:?}");
        assert_eq!(text(input.as_bytes(), &show), shown, "{input:?}");
        if !input.contains('\u{ffff}') {
            assert_eq!(text(input.as_bytes(), &keep), input, "{input:?}");
        }
    }
    // Kept, and reported all the same.
    let kept = report("a\u{202e}b".as_bytes(), &keep);
    assert_eq!((kept.findings[0].kind, kept.removed.characters), ("invisible-bidi-control", 0));
    // U+2028 is a line end for a model, and nothing in a line of a terminal program.
    assert_eq!(text("a\u{2028}b".as_bytes(), &Profile::DISPLAY), "ab");
}

#[test]
fn rows_of_invisible_characters_weigh_more() {
    for (piece, kind, below, from, at) in [
        ("\u{e0041}", "invisible-tag", Severity::Low, 4, Severity::Critical),
        ("\u{fe01}", "invisible-variation-selector", Severity::Low, 2, Severity::High),
        ("\u{e0101}", "invisible-variation-selector", Severity::Low, 4, Severity::Critical),
        ("\u{200b}", "invisible-zero-width", Severity::Low, 8, Severity::High),
        ("\u{2062}", "invisible-ignorable", Severity::Low, 8, Severity::High),
    ] {
        for n in [from - 1, from, from + 1] {
            let input = format!("a{}", piece.repeat(n));
            let span = vec![(1, (piece.len() * n) as u64)];
            let severity = if n < from { below } else { at };
            let found = finding(input.as_bytes(), kind);
            assert_eq!(found, Some((severity, n as u64, span)), "{piece:?} {n}");
        }
    }
    let bom = finding("\u{feff}a".as_bytes(), "invisible-zero-width");
    assert_eq!(bom.map(|found| found.0), Some(Severity::Info));
}

#[test]
fn findings_beyond_the_kinds_of_sequence() {
    let high = |count, spans: &[(u64, u64)]| Some((Severity::High, count, spans.to_vec()));
    assert_eq!(
        finding(b"a\x1b]0;\nx\n\x07b", "held-back-lines"),
        Some((Severity::Critical, 1, vec![(1, 8)]))
    );
    assert_eq!(finding(b"a\x1b]0;x", "unterminated-string"), high(1, &[(1, 5)]));
    assert_eq!(finding(b"a\x1b[31", "unterminated-string"), None);
    for split in [&b"a\x1b\n[31m"[..], b"a\x1b\r[31m", b"a\x1b\n\n[31m", b"a\x1b\n\x00[31m"] {
        let span = [(1, split.len() as u64 - 4)];
        assert_eq!(finding(split, "split-introducer"), high(1, &span), "{}", split.escape_ascii());
    }
    assert_eq!(finding(b"a\x1b\nx[31m", "split-introducer"), None);
    assert_eq!(finding(b"\x1b[?1049h\x1b[?1000;2004hx", "mode-left-on").map(|f| f.1), Some(3));
    assert_eq!(finding(b"\x1b[?1049hx\x1b[?1049l", "mode-left-on"), None);
    assert_eq!(finding(b"\x1b[?1049hx\x1bc", "mode-left-on"), None);
    assert_eq!(finding(b"\x1b[?1:1049h", "mode-left-on").map(|f| f.1), Some(1));
    assert_eq!(finding(b"\x1b[?1049h\x1b[?1049:0l", "mode-left-on").map(|f| f.1), Some(1));
    assert_eq!(finding(b"\x1b[?25l\x1b[?7h", "mode-left-on"), None);
    for wide in [&b"W\0i\0n\0\r\0\n\0"[..], b"\xff\xfeW\0", b"\xfe\xff\0W", b"\0W\0i"] {
        assert!(finding(wide, "utf-16-suspected").is_some(), "{}", wide.escape_ascii());
    }
    for narrow in [&b"W\0"[..], b"\0\0\0\0", b"plain", b"a\0bc\0def\0ghij\0"] {
        assert!(finding(narrow, "utf-16-suspected").is_none(), "{}", narrow.escape_ascii());
    }
    // A line-drawing set is low until text is written under it.
    assert_eq!(finding(b"\x1b(0", "charset-shift").map(|f| f.0), Some(Severity::Low));
    assert_eq!(finding(b"\x1b(0lqqk\x1b(B", "charset-shift").map(|f| f.0), Some(Severity::High));
    assert_eq!(finding(b"\x1b)0\x0eq\x0f", "charset-shift").map(|f| f.0), Some(Severity::High));
    assert_eq!(finding(b"\x1b(0\x1b(Bq", "charset-shift").map(|f| f.0), Some(Severity::Low));
    // A single control that asks for an answer.
    assert_eq!(finding(b"\x05", "report-query"), high(1, &[(0, 1)]));
    assert!(report(b"\x05", &Profile::AGENT).kinds.is_empty());
}

#[test]
fn spans_are_listed_up_to_their_limit() {
    for n in [FINDING_SPANS_MAX - 1, FINDING_SPANS_MAX, FINDING_SPANS_MAX + 1] {
        let report = report("\x1b[5nx".repeat(n).as_bytes(), &Profile::AGENT);
        let found = &report.findings[0];
        assert_eq!((found.kind, found.count), ("report-query", n as u64));
        assert_eq!(found.spans.len(), n.min(FINDING_SPANS_MAX));
        assert_eq!(report.findings_omitted, n.saturating_sub(FINDING_SPANS_MAX) as u64);
    }
}

#[test]
fn off_lets_everything_pass_and_closes_the_style() {
    let off = Profile { form: Form::Off, ..Profile::DISPLAY };
    for (input, expected) in [
        (&b"\x1b[2J\x07a"[..], "\x1b[2J\x07a"),
        (b"\x1b[31ma", "\x1b[31ma\x1b[0m"),
        (b"\x1b[31ma\x1b[0m", "\x1b[31ma\x1b[0m"),
        (b"a\xffb\xe2\x82", "a\u{fffd}b\u{fffd}"),
    ] {
        assert_eq!(text(input, &off), expected, "{}", input.escape_ascii());
    }
}

#[test]
fn a_summary_for_people() {
    let said = |input: &[u8]| report(input, &Profile::AGENT).to_string();
    assert_eq!(said(b"plain"), "removed nothing");
    assert_eq!(said(b"\x1b[mx\x1b[my\x1b[A"), "removed 3 sequences (2 style, 1 cursor)");
    assert_eq!(
        said(b"a\rb\rc\x07\xff\xe2\x80\xae"),
        "removed 2 carriage returns, 1 control (1 bel), 1 character (1 bidi-control), \
         1 ill-formed byte sequence"
    );
}
