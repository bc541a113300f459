//! The generators emit what they are there for. Without this a property test can pass for years
//! because nothing dangerous ever reached it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use noesc_testkit::dangerous;
use noesc_testkit::sequences::SEQUENCES;
use noesc_testkit::twin::{self, Item};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

const SAMPLES: usize = 3000;

/// The longer before the shorter that it ends with.
const TERMINATORS: [&[u8]; 4] = [b"\x07", b"\x1b\\", b"\xc2\x9c", b"\x9c"];

/// How many inputs showed each thing.
#[derive(Default)]
struct Seen(BTreeMap<String, usize>);

impl Seen {
    fn note(&mut self, thing: impl Into<String>) {
        *self.0.entry(thing.into()).or_default() += 1;
    }

    fn require(&self, things: impl IntoIterator<Item = String>) {
        let missing: Vec<String> = things.into_iter().filter(|t| !self.0.contains_key(t)).collect();
        assert!(missing.is_empty(), "never emitted: {missing:?}");
    }
}

fn sample(strategy: &impl Strategy<Value = Vec<u8>>, count: usize, mut look: impl FnMut(&[u8])) {
    let mut runner = TestRunner::deterministic();
    for _ in 0..count {
        match strategy.new_tree(&mut runner) {
            Ok(tree) => look(&tree.current()),
            Err(reason) => assert!(reason.message().is_empty(), "{reason}"),
        }
    }
}

fn contains(input: &[u8], part: &[u8]) -> bool {
    input.windows(part.len()).any(|window| window == part)
}

/// How a parser that follows the grammar takes the input.
fn note_parse(seen: &mut Seen, input: &[u8]) {
    let parsed = twin::parse(input);
    for s in &parsed.sequences {
        seen.note(format!("{} {}", s.class, s.ending));
        seen.note(format!("kind {}", s.kind));
        if s.malformed {
            seen.note(format!("malformed {}", s.class));
        }
        if s.bel && s.class != "osc" {
            seen.note("string other than OSC ended by BEL");
        }
        if s.ending == "complete" && !matches!(s.class, "csi" | "escape") {
            let opened = match input[s.start] {
                0x1b => "7-bit",
                0xc2 => "encoded",
                _ => "raw",
            };
            let end = &input[s.start..s.end];
            let closed = TERMINATORS.iter().find(|t| end.ends_with(t)).copied();
            seen.note(format!("{opened} to {}", closed.unwrap_or_default().escape_ascii()));
        }
        if s.payload_lines > 0 {
            seen.note("held-back lines");
        }
        if (4094..=4098).contains(&s.payload) {
            seen.note(format!("payload {} {}", s.payload, s.ending));
        }
        if matches!(input[s.start], 0x90 | 0x98 | 0x9d..=0x9f) {
            seen.note(format!("raw {:02x}", input[s.start]));
            seen.note(format!("raw hold {}", s.payload));
        }
        let length = s.end - s.start;
        let sgr = input[s.start..s.end].iter().filter(|&&b| b == b';').count() + 1;
        match s.class {
            "csi" if input[s.start] == 0x1b => seen.note(format!("csi bytes {}", length - 2)),
            "escape" if input[s.start] == 0x1b => seen.note(format!("escape bytes {length}")),
            _ => {}
        }
        if s.kind == "style" {
            seen.note(format!("SGR parameters {sgr}"));
        }
    }
    let parts: Vec<usize> = parsed
        .items
        .iter()
        .filter_map(|i| match i {
            Item::SequencePart { sequence, .. } => Some(*sequence),
            _ => None,
        })
        .collect();
    if parts.windows(2).any(|pair| pair[0] == pair[1]) {
        seen.note("control or TAB inside a sequence");
    }
    for item in &parsed.items {
        match item {
            Item::Control { code, .. } => seen.note(format!("control {code:02x}")),
            Item::IllFormed { start, end } => seen.note(format!("ill-formed {}", end - start)),
            _ => {}
        }
    }
}

static PARSED: LazyLock<Seen> = LazyLock::new(|| {
    let mut seen = Seen::default();
    sample(&dangerous::input(), SAMPLES, |input| note_parse(&mut seen, input));
    seen
});

#[test]
fn dangerous_input_holds_every_kind_of_danger() {
    let seen = &*PARSED;

    for class in ["csi", "osc", "dcs", "sos", "pm", "apc", "title", "escape"] {
        let endings = ["complete", "aborted", "overlong", "unterminated"];
        let strings = ["osc", "dcs", "apc", "title", "csi", "escape"];
        let endings = endings.iter().filter(|&&e| e != "overlong" || strings.contains(&class));
        seen.require(endings.map(|ending| format!("{class} {ending}")));
        seen.require([format!("malformed {class}")]);
    }
    seen.require(SEQUENCES.iter().map(|(kind, _)| format!("kind {kind}")));
    let plain = (0..0x20u32).filter(|c| !matches!(c, 0x09 | 0x0a | 0x1b));
    let c1 = (0x80..=0x9f).filter(|c| !matches!(c, 0x90 | 0x98 | 0x9b | 0x9d..=0x9f));
    seen.require(plain.chain([0x7f]).chain(c1).map(|code| format!("control {code:02x}")));
    seen.require((1..=3).map(|length| format!("ill-formed {length}")));
    seen.require(["held-back lines", "string other than OSC ended by BEL"].map(str::to_owned));
    seen.require(["control or TAB inside a sequence".to_owned()]);
    for opened in ["7-bit", "encoded", "raw"] {
        for closed in TERMINATORS.map(|t| format!("{opened} to {}", t.escape_ascii())) {
            // Far more than without the pieces that are terminators.
            assert!(seen.0.get(&closed).is_some_and(|&n| n >= 20), "{closed}: {:?}", seen.0);
        }
    }
    seen.require([0x90, 0x98, 0x9d, 0x9e, 0x9f].map(|byte| format!("raw {byte:02x}")));
}

#[test]
fn dangerous_input_reaches_both_sides_of_every_limit() {
    let seen = &*PARSED;

    seen.require(["payload 4095 aborted", "payload 4095 complete"].map(str::to_owned));
    seen.require(["payload 4096 aborted", "payload 4096 complete"].map(str::to_owned));
    seen.require([4096, 4097].map(|n| format!("payload {n} overlong")));
    seen.require((255..=256).map(|n| format!("raw hold {n}")));
    // The final byte counts too here.
    seen.require((256..=258).map(|n| format!("csi bytes {n}")));
    seen.require((17..=19).map(|n| format!("escape bytes {n}")));
    seen.require((31..=33).map(|n| format!("SGR parameters {n}")));
}

#[test]
fn dangerous_input_holds_every_unit() {
    let mut parts: Vec<Vec<u8>> = noesc_testkit::units::UNITS.map(<[u8]>::to_vec).into();
    parts.extend((0u8..=0xff).map(|byte| vec![byte]));
    parts
        .extend(["[", "]", "P", "X", "^", "_", "k", "\\"].map(|c| format!("\x1b{c}").into_bytes()));
    parts.extend((0x80u8..=0x9f).map(|byte| vec![0xc2, byte]));
    for c in "\u{e9}\u{754c}\u{1f600}\u{e0041}".chars() {
        let bytes = c.to_string().into_bytes();
        parts.extend((1..bytes.len()).map(|length| bytes[..length].to_vec()));
    }
    for bytes in
        [&b"\xc0\x9b"[..], b"\xe0\x82\x9b", b"\xf0\x82\x82\x9c", b"\xed\xa0\x80", b"\r\r\n"]
    {
        parts.push(bytes.to_vec());
    }
    for part in
        ["38;8", "38;5;8", "38:5:8", "38:2::8:8:8", "48;2;8", "65535", "65536", "007", "8:1"]
    {
        parts.extend(["m", ";"].map(|after| format!("{part}{after}").into_bytes()));
    }
    sample(&dangerous::input(), SAMPLES, |input| parts.retain(|part| !contains(input, part)));
    let missing: Vec<String> = parts.iter().map(|p| p.escape_ascii().to_string()).collect();
    assert!(missing.is_empty(), "never emitted: {missing:?}");
}

#[test]
fn long_output_is_long_and_mostly_usual() {
    let mut seen = Seen::default();
    let usual = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | 0x20..=0x7e);
    let (mut bytes, mut controls) = (0, 0);
    sample(&dangerous::long_output(), 500, |input| {
        let mut runs = input.chunk_by(|a, b| usual(a) == usual(b));
        if runs.any(|run| usual(&run[0]) && run.len() >= 200) {
            seen.note("200 bytes of ASCII");
        }
        if input.len() > 2200 {
            seen.note("more than one stretch");
        }
        for (what, part) in [
            ("CR LF", &b"\r\n"[..]),
            ("bare CR", b"\rone"),
            ("EL", b"\x1b[K"),
            ("plain style", b"\x1b[31m"),
            ("background", b"\x1b[34;44m"),
            ("conceal", b"\x1b[8m"),
            ("emoji with modifier", "\u{1f44d}\u{1f3fd}".as_bytes()),
            ("mark", "e\u{301}".as_bytes()),
            ("wide", "\u{4e2d}".as_bytes()),
        ] {
            if contains(input, part) {
                seen.note(what);
            }
        }
        note_parse(&mut seen, input);
        bytes += input.len();
        controls += twin::parse(input)
            .items
            .iter()
            .filter(|item| !matches!(item, Item::Text { .. } | Item::SequencePart { .. }))
            .count();
    });
    let wanted = ["200 bytes of ASCII", "more than one stretch", "CR LF", "bare CR", "EL"];
    seen.require(wanted.map(str::to_owned));
    let wanted = ["plain style", "background", "conceal", "emoji with modifier", "mark", "wide"];
    seen.require(wanted.map(str::to_owned));
    seen.require(["osc complete", "csi aborted", "ill-formed 1"].map(str::to_owned));
    assert!(controls * 10 < bytes, "{controls} controls in {bytes} bytes");
}

/// The table of invisible and reordering characters, as the first and last of each range.
const INVISIBLE: &[(u32, u32)] = &[
    (0x202a, 0x202e),
    (0x2066, 0x2069),
    (0x200e, 0x200f),
    (0x61c, 0x61c),
    (0xe0001, 0xe0001),
    (0xe0020, 0xe007f),
    (0xfe00, 0xfe0f),
    (0xe0100, 0xe01ef),
    (0x200c, 0x200c),
    (0x200d, 0x200d),
    (0x200b, 0x200b),
    (0x2060, 0x2060),
    (0xfeff, 0xfeff),
    (0x34f, 0x34f),
    (0xad, 0xad),
    (0x2061, 0x2065),
    (0x206a, 0x206f),
    (0xfff0, 0xfff8),
    (0x1bca0, 0x1bca3),
    (0x1d173, 0x1d17a),
    (0x17b4, 0x17b5),
    (0xe0000, 0xe0000),
    (0xe0002, 0xe001f),
    (0xe0080, 0xe00ff),
    (0xe01f0, 0xe0fff),
    (0xfff9, 0xfffb),
    (0x3164, 0x3164),
    (0xffa0, 0xffa0),
    (0x115f, 0x1160),
    (0x2800, 0x2800),
    (0x180b, 0x180d),
    (0x180e, 0x180e),
    (0x180f, 0x180f),
    (0xfdd0, 0xfdef),
    (0xfffe, 0xffff),
    (0x1fffe, 0x1ffff),
    (0x10fffe, 0x10ffff),
];

#[test]
fn deceiving_text_holds_every_class_of_characters_kept_and_dropped() {
    let range_of =
        |c: char| INVISIBLE.iter().find(|(first, last)| (*first..=*last).contains(&u32::from(c)));
    let mut emitted = Seen::default();
    let mut kept = Seen::default();
    sample(&dangerous::deceiving_text(), SAMPLES, |input| {
        let count = |text: &str, seen: &mut Seen| {
            for (first, _) in text.chars().filter_map(range_of) {
                seen.note(format!("{first:x}"));
            }
        };
        count(&String::from_utf8_lossy(input), &mut emitted);
        count(&twin::view(input, false), &mut kept);
    });
    emitted.require(INVISIBLE.iter().map(|(first, _)| format!("{first:x}")));
    let sometimes =
        [0xe0020, 0xfe00, 0xe0100, 0x200c, 0x200d, 0x115f, 0x2800, 0x180b, 0x180e, 0x180f];
    kept.require(sometimes.map(|first| format!("{first:x}")));
    let kept: Vec<&String> = kept.0.keys().collect();
    assert_eq!(kept.len(), sometimes.len(), "kept though the table drops it: {kept:?}");
}
