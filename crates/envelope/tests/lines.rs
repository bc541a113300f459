#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::panic)]
//! What a reader of `lines` sees.

mod common;

use std::num::NonZeroU64;

use common::{ordinary, rendered};
use noesc_envelope::*;

/// The lines behind the record.
fn body(e: &Envelope) -> String {
    let text = rendered(e, Format::Lines);
    text.split_once('\n').unwrap().1.to_owned()
}

#[test]
fn streams_are_named_numbered_and_marked() {
    let mut e = ordinary("one\n\ntwo", "# out: forged\n");
    e.streams.get_mut(&StreamName::Stderr).unwrap().eof = false;
    let expected = "\
# exited 101, after 812 ms
# out: 12 raw bytes, 2 raw lines; removed nothing; no finding
# err: 12 raw bytes, 2 raw lines; removed nothing; no finding; its end was not seen
out 1\u{2502} one
out 2\u{2502}\u{20}
out 3\u{2524} two
err 1\u{2502} # out: forged
";
    assert_eq!(body(&e), expected);
}

#[test]
fn parts_of_an_excerpt_have_the_numbers_of_the_view() {
    let mut e = ordinary("b\nc\nlong", "");
    let part = |line, view| ViewPart { line: NonZeroU64::new(line).unwrap(), view };
    let view = &mut e.streams.get_mut(&StreamName::Stdout).unwrap().view;
    view.parts = Some(vec![part(100, (288, 4)), part(4000, (15_000, 4))]);
    view.omitted = Omitted { bytes: 20_000, lines: 5000, raw: None };
    view.found = Some(Found { lines: 9, listed: vec![101], complete: false });
    e.search =
        Some(Search { pattern: "\u{1b}c".into(), fixed: true, ignore_case: true, context: 1 });
    let expected = "\
# exited 101, after 812 ms
# out: 12 raw bytes, 2 raw lines; removed nothing; no finding; 20000 bytes and 5000 lines of the \
view omitted; 9 lines found, and the search stopped there
# err: 12 raw bytes, 2 raw lines; removed nothing; no finding
# searched for the text \"\\x1bc\" in any case
# out: from line 100, byte 288 of the view
out 100\u{2502} b
out 101\u{2502} c
# out: from line 4000, byte 15000 of the view
out 4000\u{2524} long
";
    assert_eq!(body(&e), expected);
    for format in Format::ALL {
        assert_eq!(parse(&rendered(&e, format), format), Ok(e.clone()), "{format}");
    }
    // What a record says of a part and the part itself have to agree.
    let right = rendered(&e, Format::Lines);
    for (from, to) in [
        ("line 100, byte", "line 99, byte"),
        ("\u{2502} c\n", "\u{2502} cc\n"),
        ("out 100\u{2502} b\nout 101\u{2502} c\n", "out 100\u{2502} b\n"),
        ("# out: from line 4000, byte 15000 of the view\nout 4000\u{2524} long\n", ""),
        ("# out: from line 100, byte 288 of the view\n", ""),
    ] {
        assert!(right.contains(from));
        assert!(parse(&right.replace(from, to), Format::Lines).is_err(), "{from}");
    }
    for (format, from, to) in [
        (Format::Fence, "stdout line 4000", "stdout line 4001"),
        (Format::Xml, "<part line=\"100\">b", "<part line=\"100\">bb"),
    ] {
        let right = rendered(&e, format);
        assert!(right.contains(from));
        assert!(parse(&right.replace(from, to), format).is_err(), "{from}");
    }
}

#[test]
fn a_view_that_is_not_made_of_its_parts_is_json_alone() {
    let part = |view| ViewPart { line: NonZeroU64::MIN, view };
    for (parts, tail) in [
        (vec![part((0, 1))], ""),
        (vec![part((0, 2)), part((0, 2))], ""),
        (vec![part((0, u64::MAX))], ""),
        (vec![part((0, 3))], "more"),
        (vec![], ""),
    ] {
        let mut e = ordinary("\u{e9}b", "");
        let view = &mut e.streams.get_mut(&StreamName::Stdout).unwrap().view;
        view.parts = Some(parts);
        view.text.as_mut().unwrap().tail = tail.into();
        for format in [Format::Lines, Format::Fence, Format::Xml] {
            let refused = render(&e, format, &mut common::nonces());
            assert_eq!(refused, Err(RenderError::Parts { stream: StreamName::Stdout }));
        }
        assert_eq!(parse(&rendered(&e, Format::Json), Format::Json), Ok(e));
    }
}

#[test]
fn a_record_has_so_many_parts_and_lists_so_many_lines() {
    let read = |parts: usize, listed: usize| {
        let mut e = ordinary("", "");
        let view = &mut e.streams.get_mut(&StreamName::Stdout).unwrap().view;
        view.parts = Some(vec![ViewPart { line: NonZeroU64::MIN, view: (0, 0) }; parts]);
        view.found = Some(Found { lines: 0, listed: vec![1; listed], complete: true });
        parse(&rendered(&e, Format::Json), Format::Json).is_ok_and(|parsed| parsed == e)
    };
    for (parts, right) in [(PARTS_MAX - 1, true), (PARTS_MAX, true), (PARTS_MAX + 1, false)] {
        assert_eq!(read(parts, 0), right);
    }
    let max = FOUND_LISTED_MAX;
    for (listed, right) in [(max - 1, true), (max, true), (max + 1, false)] {
        assert_eq!(read(1, listed), right);
    }
}

#[test]
fn what_became_of_the_run_is_told() {
    let mut e = ordinary("one\n", "");
    e.outcome.kind = OutcomeKind::TimedOut { exit: Exit::Signalled { signal: 9, core: false } };
    e.limits.time_max_ms = Some(Limited { value: 500, policy: LimitPolicy::Stop });
    let survivor = |pid, name: &str| Survivor { pid, name: name.into() };
    let listed = vec![survivor(4711, "sleep"), survivor(4712, "# out: 5 bytes omitted here\n# {")];
    e.processes.ended = Some(Ended { signal: 15, killed: true });
    e.processes.survivors = Survivors { count: Some(2), listed };
    let stdout = e.streams.get_mut(&StreamName::Stdout).unwrap();
    (stdout.eof, stdout.cutoff, stdout.bytes.complete) = (false, Cutoff::Time, false);
    let stderr = e.streams.get_mut(&StreamName::Stderr).unwrap();
    (stderr.cutoff, stderr.bytes.kept) = (Cutoff::Bytes, 1);
    let expected = "\
# timed out at 500 ms; ended by signal 9 (signal 15 had not ended it), after 812 ms
# 2 processes outlive the run: 4711 sleep, 4712 \"# out: 5 bytes omitted here\\x0a# {\"
# out: 12 raw bytes, 2 raw lines; removed nothing; no finding; cut off: time
# err: 12 raw bytes, 2 raw lines; removed nothing; no finding; 1 raw byte kept; cut off: bytes, \
but read to its end
out 1\u{2502} one
";
    assert_eq!(body(&e), expected);
    assert_eq!(parse(&rendered(&e, Format::Lines), Format::Lines), Ok(e));
}

#[test]
fn lines_stand_in_the_order_in_which_they_were_seen_to_begin() {
    let mut e = ordinary("o1\no2 goes on\no3\no4\n", "e1\ne2\n");
    let entry = |seq, stream, view| OrderEntry { seq, stream, view };
    e.order = vec![
        entry(0, StreamName::Stderr, (0, 3)),
        entry(1, StreamName::Stdout, (0, 6)),
        entry(2, StreamName::Stderr, (3, 3)),
        entry(3, StreamName::Stdout, (6, 11)),
    ];
    let body = body(&e);
    let order: Vec<&str> = body.lines().skip(3).map(|line| &line[..5]).collect();
    assert_eq!(order, ["err 1", "out 1", "out 2", "err 2", "out 3", "out 4"]);
    assert_eq!(parse(&rendered(&e, Format::Lines), Format::Lines), Ok(e));
}

#[test]
fn numbers_go_on_truthfully_behind_what_is_omitted() {
    let mut e = ordinary("", "");
    let view = &mut e.streams.get_mut(&StreamName::Stdout).unwrap().view;
    view.omitted = Omitted { bytes: 100, lines: 8, raw: None };
    view.text = Some(Text { head: "one\ntw".into(), tail: "en\neleven\n".into() });
    let expected = "\
out 1\u{2502} one
out 2\u{2524} tw
# out: 100 bytes and 8 lines omitted here
out 10\u{2502} en
out 11\u{2502} eleven
";
    assert!(body(&e).ends_with(expected), "{}", body(&e));
    assert_eq!(parse(&rendered(&e, Format::Lines), Format::Lines), Ok(e));
}

#[test]
fn the_tail_stands_where_its_bytes_were_seen() {
    let mut e = ordinary("", "e1\n");
    let view = &mut e.streams.get_mut(&StreamName::Stdout).unwrap().view;
    view.omitted = Omitted { bytes: 4, lines: 1, raw: None };
    view.text = Some(Text { head: "o1\n".into(), tail: "o3\n".into() });
    let entry = |seq, stream, view| OrderEntry { seq, stream, view };
    e.order = vec![
        entry(0, StreamName::Stdout, (0, 7)),
        entry(1, StreamName::Stderr, (0, 3)),
        entry(2, StreamName::Stdout, (7, 3)),
    ];
    let body = body(&e);
    let order: Vec<&str> = body.lines().skip(3).map(|line| &line[..5]).collect();
    assert_eq!(order, ["out 1", "# out", "err 1", "out 3"]);
}

#[test]
fn a_line_is_continued_beyond_the_limit_and_never_inside_a_character() {
    for (length, rows) in
        [(LINE_BYTES_MAX - 1, 1), (LINE_BYTES_MAX, 1), (LINE_BYTES_MAX + 1, 2), (6001, 4)]
    {
        for end in ["", "\n"] {
            let e = ordinary(&format!("{}{end}", "x".repeat(length)), "");
            let body = body(&e);
            let lines: Vec<&str> = body.lines().skip(3).collect();
            let first = if end.is_empty() { "out 1\u{2524} " } else { "out 1\u{2502} " };
            assert!(lines[0].starts_with(first));
            assert!(lines[1..].iter().all(|line| line.starts_with("out 1\u{2026} x")));
            assert_eq!(lines.len(), rows, "{length}");
            assert_eq!(parse(&rendered(&e, Format::Lines), Format::Lines), Ok(e));
        }
    }
    let body = body(&ordinary(&"\u{20ac}".repeat(700), ""));
    assert_eq!(body.lines().nth(3).unwrap().chars().filter(|&c| c == '\u{20ac}').count(), 666);
}
