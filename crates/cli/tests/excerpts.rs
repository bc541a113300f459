//! `show`, `search`, `report` and `digest`: what is stored of a run, asked for narrowly.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::panic)]

mod backgrounds;
mod common;

use backgrounds::Home;
use common::Ended;
use noesc_session::envelope::{Envelope, Format, StreamName, parse};
use serde_json::Value;

/// A run that has ended, of a shell script.
#[track_caller]
fn ran(home: &Home, script: &str) -> String {
    let run = home.start(&[], script);
    home.noesc(&["wait", "-q", &run]);
    run
}

const FORMATS: [Format; 4] = Format::ALL;

/// What a verb answers in every format, read back; all are the same.
#[track_caller]
fn answered(home: &Home, arguments: &[&str]) -> Envelope {
    let read = |format: Format| {
        let ended = home.noesc(&[arguments, &["--format", format.name()]].concat());
        assert_eq!(ended.err(), "", "{arguments:?} {format}");
        parse(ended.out(), format).unwrap_or_else(|error| panic!("{format}: {error}"))
    };
    let envelopes = FORMATS.map(read);
    assert!(envelopes.iter().all(|envelope| *envelope == envelopes[0]), "{arguments:?}");
    envelopes.into_iter().next().unwrap()
}

/// Line, offset and text of the parts of a stream.
fn parts(envelope: &Envelope, name: StreamName) -> Vec<(u64, u64, String)> {
    let view = &envelope.streams[&name].view;
    let text = view.text.as_ref().unwrap();
    assert_eq!(text.tail, "");
    let mut rest = text.head.as_str();
    let parts = view.parts.as_ref().unwrap().iter().map(|part| {
        let (piece, after) = rest.split_at(usize::try_from(part.view.1).unwrap());
        rest = after;
        (part.line.get(), part.view.0, piece.to_owned())
    });
    parts.collect()
}

fn lines(ended: &Ended) -> Vec<&str> {
    ended.out().lines().filter(|line| !line.starts_with('#')).collect()
}

#[test]
fn lines_of_a_run_are_shown_with_their_true_numbers() {
    let home = Home::new("show-lines");
    ran(&home, "seq 1 300; echo one >&2; printf 'two' >&2");
    home.noesc(&["show", "last", "--lines", "100-102", "--stream", "stdout"]).is(
        "100\n101\n102\n",
        "",
        0,
    );
    home.noesc(&["show", "last", "--lines", "2"]).is("2\n", "two", 0);
    home.noesc(&["show", "last", "--stream", "stderr"]).is("one\ntwo", "", 0);
    home.noesc(&["show", "last", "--stream", "stdout", "--lines", "299-"]).is("299\n300\n", "", 0);
    let none = "noesc: stdout has 300 lines\nnoesc: stderr has 2 lines\n";
    home.noesc(&["show", "last", "--lines", "301-"]).is("", none, 0);
    home.noesc(&["show", "last", "--stream", "stdout", "--lines", "301-"]).is(
        "",
        "noesc: stdout has 300 lines\n",
        0,
    );

    let ended = home.noesc(&["show", "last", "--lines", "100-101", "--format", "lines"]);
    assert_eq!(lines(&ended), ["out 100\u{2502} 100", "out 101\u{2502} 101"]);
    assert!(ended.out().contains("\n# out: from line 100, byte 288 of the view\n"));
    let ended = home.noesc(&["show", "last", "--lines", "2-", "--format", "lines"]);
    assert_eq!(lines(&ended).last(), Some(&"err 2\u{2524} two"));

    let envelope = answered(&home, &["show", "last", "--lines", "100-101"]);
    assert_eq!(parts(&envelope, StreamName::Stdout), [(100, 288, "100\n101\n".to_owned())]);
    assert_eq!(parts(&envelope, StreamName::Stderr), []);
    let omitted = envelope.streams[&StreamName::Stdout].view.omitted;
    assert_eq!((omitted.bytes, omitted.lines), (1092 - 8, 298));
    // What is not asked for is not in it.
    let envelope = answered(&home, &["show", "last", "--stream", "stderr"]);
    assert_eq!(envelope.streams.keys().copied().collect::<Vec<_>>(), [StreamName::Stderr]);
    assert!(envelope.order.iter().all(|entry| entry.stream == StreamName::Stderr));
}

#[test]
fn what_does_not_fit_is_left_out_of_the_middle_and_said() {
    let home = Home::new("show-bounds");
    ran(&home, "seq 1 9");
    // The view has 18 bytes.
    for (max, out, err) in [
        (
            "17",
            "1\n2\n3\n4\n6\n7\n8\n9\n",
            "noesc: stdout: 2 bytes and 1 line left out in line 5 \
          and after; \"--lines 5-\" shows them\n",
        ),
        ("18", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", ""),
        ("19", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", ""),
    ] {
        home.noesc(&["show", "last", "--view-bytes-max", max]).is(out, err, 0);
    }
    let envelope = answered(&home, &["show", "last", "--view-bytes-max", "8", "--lines", "2-8"]);
    let stdout = parts(&envelope, StreamName::Stdout);
    assert_eq!(stdout, [(2, 2, "2\n3\n".to_owned()), (7, 12, "7\n8\n".to_owned())]);
    assert_eq!(envelope.limits.view_bytes_max, Some(8));
    // A whole view has the shape that "noesc run" gives it.
    let envelope = answered(&home, &["show", "last"]);
    let view = &envelope.streams[&StreamName::Stdout].view;
    assert_eq!((&view.parts, view.text.as_ref().unwrap().tail.as_str()), (&None, ""));
    assert_eq!(view.omitted.bytes, 0);
    let envelope = answered(&home, &["show", "last", "--view-bytes-max", "8"]);
    let view = &envelope.streams[&StreamName::Stdout].view;
    assert_eq!((view.omitted.bytes, view.text.as_ref().unwrap().tail.as_str()), (10, "8\n9\n"));
    // One that is cut within a line does not run into what follows.
    ran(&home, "printf '%060d' 0");
    let ended = home.noesc(&["show", "last", "--view-bytes-max", "8"]);
    assert_eq!(ended.out(), "0000\n0000");
}

#[test]
fn lines_are_the_same_wherever_a_read_ends() {
    let home = Home::new("show-chunks");
    // Lines of many lengths, beyond several reads, with characters of three bytes.
    let script = "i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); \
                  printf '%0*d\\342\\224\\202\\n' $((i % 97)) $i; done";
    let run = ran(&home, script);
    let whole = home.noesc(&["show", &run, "--stream", "stdout", "--view-bytes-max", "1MiB"]);
    let all: Vec<&str> = whole.out().split_inclusive('\n').collect();
    assert_eq!((all.len(), whole.err()), (3000, ""));
    for (first, last) in [(1, 1), (1, 3000), (1280, 1290), (1200, 2700), (3000, 4000)] {
        let range = format!("{first}-{last}");
        let flags = ["--stream", "stdout", "--view-bytes-max", "1MiB", "--lines", &range];
        let shown = home.noesc(&[&["show", &run][..], &flags].concat());
        assert_eq!(shown.out(), all[first - 1..last.min(3000)].concat(), "{range}");
        let record = home.noesc(&[&["show", &run, "--format", "json"][..], &flags].concat());
        let parts = parts(&parse(record.out(), Format::Json).unwrap(), StreamName::Stdout);
        let at = all[..first - 1].concat().len() as u64;
        assert_eq!((parts.len(), parts[0].0, parts[0].1), (1, first as u64, at), "{range}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let home = Home::new("excerpt-reader");
    ran(&home, "seq 1 50000");
    for verb in ["show last", "show last --format lines", "search last 1", "report last", "runs"] {
        let script = format!("\"$N\" {verb} --view-bytes-max 1MiB | :; echo done");
        let script = match verb.starts_with('s') {
            true => script,
            false => script.replace(" --view-bytes-max 1MiB", ""),
        };
        let ended = home.shell(&script);
        assert_eq!(ended.out(), "done\n", "{verb}");
        assert!(!ended.err().contains("error"), "{verb}: {}", ended.err());
    }
}

#[test]
fn what_is_no_range_is_refused() {
    let home = Home::new("show-range");
    ran(&home, "echo a");
    for range in ["0", "0-3", "3-2", "-3", "a", "1-b", "", "1-2-3", "+1", "99999999999999999999"] {
        let ended = home.noesc(&["show", "last", &format!("--lines={range}")]);
        assert_eq!((ended.out(), ended.code()), ("", 2), "{range}");
        assert!(ended.err().starts_with("noesc: error: \"--lines\" "), "{}", ended.err());
    }
    let ended = home.noesc(&["show", "last", "--stream", "pty"]);
    assert!(ended.err().contains("has no pty\nnoesc: hint: it has stdout and stderr\n"));
    assert_eq!(ended.code(), 2);
}

#[test]
fn a_run_is_named_by_last_or_a_part_of_its_id() {
    let home = Home::new("show-names");
    for verb in [&["show", "last"][..], &["report", "last"], &["search", "last", "x"]] {
        let ended = home.noesc(verb);
        assert!(ended.err().starts_with("noesc: error: there is no run yet\n"), "{}", ended.err());
        assert_eq!(ended.code(), 2);
    }
    let first = ran(&home, "echo first");
    let second = ran(&home, "echo second");
    home.noesc(&["show", "last"]).is("second\n", "", 0);
    for part in [&first[24..], &first] {
        home.noesc(&["show", part]).is("first\n", "", 0);
    }
    let ended = home.noesc(&["show", &second[..6]]);
    assert!(ended.err().contains("is the beginning or end of several runs"), "{}", ended.err());
    assert_eq!(ended.code(), 2);
    let ended = home.noesc(&["show", "x\u{1b}[2J"]);
    assert!(ended.err().contains("\"x\\x1b[2J\""), "{}", ended.err());
}

#[test]
fn lines_are_found_as_by_grep() {
    let home = Home::new("search");
    ran(&home, "seq 1 30; printf 'Error: a.b\\nerror: axb\\nlast error' >&2");
    home.noesc(&["search", "last", "^2.$", "--stream", "stdout", "-m", "2", "-C", "1"]).is(
        "19- 19\n20: 20\n21: 21\n22- 22\n",
        "noesc: stdout: not searched beyond line 22\n",
        0,
    );
    home.noesc(&["search", "last", "[17]$", "--stream", "stdout", "--context", "1"]).is(
        "1: 1\n2- 2\n--\n6- 6\n7: 7\n8- 8\n--\n10- 10\n11: 11\n12- 12\n--\n16- 16\n17: 17\n18- 18\n\
         --\n20- 20\n21: 21\n22- 22\n--\n26- 26\n27: 27\n28- 28\n",
        "",
        0,
    );
    home.noesc(&["search", "last", "error"]).is("err 2: error: axb\nerr 3: last error\n", "", 0);
    let found = "err 1: Error: a.b\nerr 2: error: axb\nerr 3: last error\n";
    home.noesc(&["search", "last", "-i", "ERROR"]).is(found, "", 0);
    home.noesc(&["search", "last", "a.b"]).is(&found[..36], "", 0);
    home.noesc(&["search", "last", "-F", "a.b"]).is(&found[..18], "", 0);
    home.noesc(&["search", "last", "--", "-nothing"]).is("", "", 1);
    for pattern in ["(", "a{9999999}", "[", "\\"] {
        let ended = home.noesc(&["search", "last", pattern]);
        assert_eq!((ended.out(), ended.code()), ("", 2), "{pattern}");
    }
    let ended = home.noesc(&["search", "last", "x\u{1b}]0;t\u{7}("]);
    assert_eq!(ended.code(), 2);
    assert!(ended.err().bytes().all(|byte| matches!(byte, b'\n' | b' '..=b'~')));
}

#[test]
fn what_is_found_comes_in_every_format() {
    let home = Home::new("search-formats");
    ran(&home, "seq 1 30; echo 7 >&2");
    let envelope = answered(&home, &["search", "last", "7", "--context", "1"]);
    assert_eq!(
        parts(&envelope, StreamName::Stdout),
        [
            (6, 10, "6\n7\n8\n".to_owned()),
            (16, 36, "16\n17\n18\n".to_owned()),
            (26, 66, "26\n27\n28\n".to_owned())
        ]
    );
    let found = envelope.streams[&StreamName::Stdout].view.found.as_ref().unwrap();
    assert_eq!((found.lines, &found.listed[..], found.complete), (3, &[7, 17, 27][..], true));
    let search = envelope.search.as_ref().unwrap();
    assert_eq!((search.pattern.as_str(), search.context), ("7", 1));
    let ended = home.noesc(&["search", "last", "7", "--format", "lines"]);
    assert_eq!(
        lines(&ended),
        ["out 7\u{2502} 7", "out 17\u{2502} 17", "out 27\u{2502} 27", "err 1\u{2502} 7"]
    );
    let ended = home.noesc(&["search", "last", "none", "--format", "json"]);
    assert_eq!(ended.code(), 1);
    assert_eq!(parts(&parse(ended.out(), Format::Json).unwrap(), StreamName::Stdout), []);
    let one = answered(&home, &["search", "last", "7", "-m", "1"]);
    let found = one.streams[&StreamName::Stdout].view.found.as_ref().unwrap();
    assert_eq!((found.lines, found.complete), (1, false));
}

#[test]
fn what_is_found_is_bounded_and_all_of_it_counted() {
    let home = Home::new("search-bounds");
    ran(&home, "seq 1 9");
    for (max, shown) in [("7", 3), ("8", 4), ("9", 4)] {
        let ended = home.noesc(&["search", "last", "[0-9]", "--view-bytes-max", max]);
        assert_eq!(ended.out().lines().count(), shown, "{max}");
        let note = format!(
            "noesc: stdout: 9 lines found, the first {shown} shown; \
             \"--view-bytes-max\" shows more\n"
        );
        assert_eq!(ended.err(), note);
    }
    for (max, shown) in [("17", 8), ("18", 9), ("19", 9)] {
        let ended = home.noesc(&["search", "last", "[0-9]", "--view-bytes-max", max]);
        assert_eq!(ended.out().lines().count(), shown, "{max}");
    }
    // Of the first a part is better than nothing.
    let ended = home.noesc(&["search", "last", "1", "--view-bytes-max", "1"]);
    assert_eq!(ended.out(), "out 1: 1 \u{2026}\n");
    // As many places as a record holds.
    for (places, shown) in [(255, 255), (256, 256), (257, 256)] {
        ran(&home, &format!("for i in $(seq 1 {places}); do echo x; echo y; done"));
        let envelope = answered(&home, &["search", "last", "x"]);
        assert_eq!(parts(&envelope, StreamName::Stdout).len(), shown);
        let found = envelope.streams[&StreamName::Stdout].view.found.clone().unwrap();
        assert_eq!((found.lines, found.listed.len()), (places, shown));
    }
    // As many lines as a record lists.
    for (lines, shown) in [(1023, 1023), (1024, 1024), (1025, 1024)] {
        ran(&home, &format!("yes x | head -n {lines}"));
        let envelope = answered(&home, &["search", "last", "x"]);
        let found = envelope.streams[&StreamName::Stdout].view.found.clone().unwrap();
        assert_eq!((found.lines, found.listed.len()), (lines, shown));
    }
    for (context, code) in [("99", 0), ("100", 0), ("101", 2)] {
        assert_eq!(home.noesc(&["search", "last", "x", "-C", context]).code(), code);
    }
}

#[test]
fn a_long_line_is_searched_piece_by_piece_and_shown_around_its_match() {
    let home = Home::new("search-long");
    // 300,000 digits with a word in the middle, and one at the end; then a line.
    let script = "printf '%0150000dneedle%0150000dend\\nneedle\\n' 0 0";
    ran(&home, script);
    let ended = home.noesc(&["search", "last", "needle"]);
    let out: Vec<_> = ended.out().lines().collect();
    assert_eq!(out.len(), 2, "{}", out.len());
    assert!(out[0].starts_with("out 1: \u{2026} 000") && out[0].contains("needle"));
    assert!(out[0].ends_with("0 \u{2026}") && out[0].len() < 2100, "{}", out[0].len());
    assert_eq!(out[1], "out 2: needle");
    let envelope = answered(&home, &["search", "last", "needle"]);
    let stdout = parts(&envelope, StreamName::Stdout);
    assert_eq!((stdout[0].0, stdout[0].1, stdout[0].2.len()), (1, 150_000 - 200, 2000));
    assert_eq!((stdout[1].0, stdout[1].1), (2, 300_010));
    // Neither end of a piece is one of the line, and a word across two pieces is found.
    for (pattern, found) in [
        ("^0", vec!["out 1"]),
        ("0$", vec![]),
        ("^needle", vec!["out 2"]),
        ("end$", vec!["out 1"]),
        ("\\bneedle", vec!["out 2"]),
        ("^", vec!["out 1", "out 2"]),
    ] {
        let ended = home.noesc(&["search", "last", pattern]);
        let rows: Vec<_> = ended.out().lines().map(|row| row.split(':').next().unwrap()).collect();
        assert_eq!(rows, found, "{pattern}");
    }
    for before in [65_530, 65_533, 65_536, 65_539] {
        ran(&home, &format!("printf '%0{before}dneedle%070000d' 0 0"));
        let ended = home.noesc(&["search", "last", "needle"]);
        assert_eq!((ended.out().lines().count(), ended.code()), (1, 0), "{before}");
    }
}

#[test]
fn a_report_tells_findings_and_what_was_removed() {
    let home = Home::new("report");
    let run = ran(&home, "printf 'a\\033]52;c;aGk=\\007b\\033[31mc\\n'; echo fine >&2; exit 3");
    let ended = home.noesc(&["report", "last"]);
    let text = ended.out().to_owned();
    ended.is(&text, "", 0);
    assert!(text.starts_with(&format!("{run}  exited 3")), "{text}");
    for row in [
        "\nstdout: 21 bytes, 1 line\n",
        "\n  high      clipboard-write \u{d7}1  at byte 1\n",
        "\n  removed: 17 bytes: 1 clipboard-write, 1 style\n",
        "\nstderr: 5 bytes, 1 line\n  no finding\n  removed: nothing\n",
    ] {
        assert!(text.contains(row), "{row:?} in {text}");
    }
    let ended = home.noesc(&["report", "last", "--json"]);
    let told: Value = serde_json::from_str(ended.out()).unwrap();
    assert_eq!((&told["run"], &told["severity"]), (&run.as_str().into(), &"high".into()));
    assert_eq!(told["outcome"]["code"], 3);
    let report = &told["streams"]["stdout"]["report"];
    assert_eq!(report, &home.record(&run)["streams"]["stdout"]["report"]);
    assert!(!text.contains("aGk=\u{7}") && !ended.out().contains("aGk=\u{7}"));
}

#[test]
fn a_digest_is_compared_only_where_the_record_shows_it() {
    let home = Home::new("digest");
    ran(&home, "printf 'open\\n'; printf 'hid\\033]0;123456\\007den\\n' >&2");
    // Of nothing in particular.
    let known = "b6d9c79b0fe72d0bf7f6ee2c3ee9a4a0c4ac5c2c1a39e4e2c4c1bc7d8b4ea5fd";
    let record = home.record("last");
    let digest = |stream: &str, kind: &str| record["streams"][stream]["digest"][kind].clone();
    let plain = digest("stdout", "raw_sha256").as_str().unwrap().to_owned();
    let keyed = digest("stderr", "raw_hmac").as_str().unwrap().to_owned();
    home.noesc(&["digest", "last", "--equals", &plain]).is("equal\n", "", 0);
    let upper = format!("sha256:{}", plain.to_uppercase());
    home.noesc(&["digest", "last", "--equals", &upper]).is("equal\n", "", 0);
    home.noesc(&["digest", "last", "--equals", known]).is("not equal\n", "", 1);
    // Not even with itself, nor with the true one.
    let raw = "hid\u{1b}]0;123456\u{7}den\n";
    let sum = home.shell(&format!("printf '{}' | sha256sum", raw.escape_default()));
    for guess in [&keyed, &sum.out()[..64.min(sum.out().len())].to_owned()] {
        let ended = home.noesc(&["digest", "last", "--stream", "stderr", "--equals", guess]);
        assert_eq!((ended.out(), ended.code()), ("", 2));
        assert!(ended.err().contains("its digest is keyed"), "{}", ended.err());
    }
    let ended = home.noesc(&["digest", "last"]);
    assert!(ended.out().contains(&format!("stdout raw_sha256  {plain} all\n")));
    assert!(ended.out().contains(&format!("stderr raw_hmac    {keyed} all\n")));
    assert_eq!(ended.out().lines().count(), 4);
    for wrong in ["", "12", &plain[1..], &format!("{plain}0"), &plain.replace('a', "g")] {
        if wrong != plain {
            assert_eq!(home.noesc(&["digest", "last", &format!("--equals={wrong}")]).code(), 2);
        }
    }
    assert_eq!(home.noesc(&["digest", "last", "--stream", "pty", "--equals", &plain]).code(), 2);
}

#[test]
fn a_run_that_goes_on_is_answered_for_by_what_is_there() {
    let home = Home::new("excerpt-running");
    let run = home.start(&[], "echo here; exec sleep 1000");
    home.until_printed(&run, "here\n");
    home.noesc(&["show", "last", "--stream", "stdout"]).is("here\n", "", 0);
    home.noesc(&["search", "last", "here"]).is("out 1: here\n", "", 0);
    let zeros = "0".repeat(64);
    let ended = home.noesc(&["digest", "last", "--equals", &zeros]);
    assert_eq!(ended.code(), 2);
    assert!(ended.err().contains("the run goes on"), "{}", ended.err());
    home.noesc(&["stop", &run]);
}

#[test]
fn a_transcript_that_ends_early_says_so() {
    let home = Home::new("excerpt-short");
    let run = home.start(&["--transcript-bytes-max", "6"], "seq 1 9");
    home.noesc(&["wait", "-q", &run]);
    let note = "noesc: 12 bytes of the view of stdout are not stored\n";
    home.noesc(&["show", "last"]).is("1\n2\n3\n", note, 0);
    let ended = home.noesc(&["search", "last", "9"]);
    let note = "noesc: 12 bytes of the view of stdout are not stored, and not searched\n";
    ended.is("", note, 1);
    let envelope = answered(&home, &["show", "last"]);
    assert_eq!(parts(&envelope, StreamName::Stdout), [(1, 0, "1\n2\n3\n".to_owned())]);
    assert_eq!(envelope.streams[&StreamName::Stdout].view.omitted.bytes, 12);
}
