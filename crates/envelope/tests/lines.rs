#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::panic)]
//! What a reader of `lines` sees.

mod common;

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
