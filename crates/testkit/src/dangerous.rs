//! Strategies for inputs that are dangerous far more often than random bytes are.

use proptest::collection::vec;
use proptest::prelude::{BoxedStrategy, Just, Strategy, any, prop_oneof};
use proptest::sample::select;

use crate::sequences::SEQUENCES;

/// An input of up to 24 pieces, each of one of the kinds below. A few inputs hold a string of
/// some thousand bytes; most have less than 200.
///
/// What it emits is asserted in `tests/generators.rs`.
pub fn input() -> impl Strategy<Value = Vec<u8>> {
    vec(piece(), 0..=24).prop_map(|pieces| pieces.concat())
}

/// Text with many invisible, reordering and combining characters, and few sequences and controls.
pub fn deceiving_text() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        6 => word(), 12 => invisible(), 12 => script(), 2 => line_end(), 1 => sequence(),
        1 => ill_formed(),
    ];
    vec(piece, 0..=24).prop_map(|pieces| pieces.concat())
}

/// Output as programs print it, up to some thousand bytes: most of it is lines, styles, ELs and
/// CRs, in long runs of nothing else, so that whole blocks pass at once; here and there is one of
/// the pieces of [`input`].
pub fn long_output() -> impl Strategy<Value = Vec<u8>> {
    let usual = prop_oneof![
        10 => usual_text(),
        3 => usual_line_end(),
        5 => usual_sequence(),
        1 => style(),
    ];
    let run = prop_oneof![
        6 => vec(usual.clone(), 1..40).prop_map(|pieces| pieces.concat()),
        2 => (vec(usual, 1..4), 1usize..50).prop_map(|(unit, n)| unit.concat().repeat(n)),
        1 => (usual_text(), 1usize..60).prop_map(|(text, n)| text.repeat(n)),
    ];
    let seldom = prop_oneof![5 => Just(Vec::new()), 1 => piece()];
    vec((run, seldom), 0..=8)
        .prop_map(|runs| runs.into_iter().flat_map(|(a, b)| [a, b].concat()).collect())
}

/// Words and lines that are kept as they are.
fn usual_text() -> BoxedStrategy<Vec<u8>> {
    text_of(&[
        "a",
        "one two three ",
        "   Compiling noesc v0.1.0 (crates/boundary)\n",
        "[12/345] CC src/file.c\n",
        "\t= note: ",
        "caf\u{e9} ",
        "\u{41f}\u{440}\u{438}\u{432}\u{435}\u{442} ",
        "\u{4e2d}\u{6587}\u{8f93}\u{51fa}",
        "\u{2714} ",
        "\u{2501}\u{2501}\u{2501}",
        "\u{1f600}",
        "\u{1f44d}\u{1f3fd}",
        "\u{5d0}\u{5d1} ",
        "e\u{301}",
    ])
}

fn usual_line_end() -> BoxedStrategy<Vec<u8>> {
    bytes_of(&[b"\n", b"\n", b"\r\n", b"\r\n", b"\r", b"\r\r\n", b"\r\x1b[K", b"\x1b[K\r\n"])
}

fn usual_sequence() -> BoxedStrategy<Vec<u8>> {
    bytes_of(&[
        b"\x1b[m",
        b"\x1b[0m",
        b"\x1b[31m",
        b"\x1b[1;32m",
        b"\x1b[39m",
        b"\x1b[38;5;123m",
        b"\x1b[38;2;1;2;3m",
        b"\x1b[41m",
        b"\x1b[34;44m",
        b"\x1b[>4m",
        b"\x1b[H",
        b"\x1b[49m",
        b"\x1b[8m",
        b"\x1b[28m",
        b"\x1b[K",
        b"\x1b[2K",
        b"\x1b[2A",
        b"\x1b[?25l",
        b"\x1b(B",
    ])
}

/// One piece of [`input`].
pub fn piece() -> BoxedStrategy<Vec<u8>> {
    prop_oneof![
        12 => word(),
        6 => line_end(),
        12 => introducer(),
        7 => parameters(),
        3 => intermediates(),
        7 => last_byte(),
        9 => terminator(),
        3 => select(&[b"\x18", b"\x1a"][..]).prop_map(|b| b.to_vec()),
        4 => (0u8..0x20).prop_map(|b| vec![b]),
        2 => Just(vec![0x7f]),
        3 => c1(),
        6 => ill_formed(),
        8 => sequence(),
        5 => style(),
        6 => invisible(),
        6 => script(),
        1 => imitation(),
        1 => at_a_limit(),
        3 => vec(any::<u8>(), 1..4),
    ]
    .boxed()
}

fn bytes_of(list: &'static [&'static [u8]]) -> BoxedStrategy<Vec<u8>> {
    select(list).prop_map(<[u8]>::to_vec).boxed()
}

fn text_of(list: &'static [&'static str]) -> BoxedStrategy<Vec<u8>> {
    select(list).prop_map(|text| text.as_bytes().to_vec()).boxed()
}

/// Plain words; some have 9B or 9C as their second byte.
fn word() -> BoxedStrategy<Vec<u8>> {
    text_of(&[
        "a",
        "8",
        " ",
        "one two",
        "x=1;",
        "[31m",
        "]0;",
        "\\",
        "?",
        "\t",
        "caf\u{e9}",
        "\u{11b}",
        "\u{dc}",
        "\u{db}",
        "\u{15b}",
        "\u{754c}",
        "\u{1f71c}",
        "\u{fffd}",
        "\u{a0}",
        "\u{e0b0}",
        "\u{110bd}",
    ])
}

fn line_end() -> BoxedStrategy<Vec<u8>> {
    text_of(&[
        "\n", "\n", "\r\n", "\r", "\r", "\r\r\n", "\n\r", "\r\r", "\r\0\n", "\u{b}", "\u{c}",
        "\u{85}", "\u{2028}", "\u{2029}",
    ])
}

/// What opens a sequence: 7-bit, encoded C1 and raw C1, and the first with something inside.
fn introducer() -> BoxedStrategy<Vec<u8>> {
    let inside = select(vec![&b"\0"[..], b"\x7f", b"\x07", b"\t"]);
    prop_oneof![
        4 => Just(b"\x1b".to_vec()),
        1 => Just(b"\x1b\x1b".to_vec()),
        8 => select(b"[[]]PX^_k".as_slice()).prop_map(|byte| vec![0x1b, byte]),
        2 => (inside, select(b"[]PX^_k".as_slice()))
            .prop_map(|(inside, byte)| [b"\x1b", inside, &[byte]].concat()),
        4 => select(b"\x90\x98\x9b\x9d\x9e\x9f".as_slice()).prop_map(|byte| vec![0xc2, byte]),
        4 => select(b"\x90\x98\x9b\x9d\x9e\x9f".as_slice()).prop_map(|byte| vec![byte]),
    ]
    .boxed()
}

fn parameters() -> BoxedStrategy<Vec<u8>> {
    let byte = select(b"0123456789;;;;::<=>?8".as_slice());
    prop_oneof![
        3 => vec(byte, 1..8),
        1 => bytes_of(&[b"0;", b"52;c;", b"8;;", b"?25", b"?1049", b"38;5;", b"38:2::", b"1337;"]),
    ]
    .boxed()
}

fn intermediates() -> BoxedStrategy<Vec<u8>> {
    vec(0x20u8..=0x2f, 1..4).boxed()
}

fn last_byte() -> BoxedStrategy<Vec<u8>> {
    prop_oneof![select(b"mKHJhltun[]Pk\\0~@".as_slice()), 0x30u8..=0x7e]
        .prop_map(|b| vec![b])
        .boxed()
}

fn terminator() -> BoxedStrategy<Vec<u8>> {
    bytes_of(&[b"\x07", b"\x1b\\", b"\x9c", b"\xc2\x9c"])
}

/// C1 controls that introduce nothing, encoded and raw.
fn c1() -> BoxedStrategy<Vec<u8>> {
    (0x80u8..=0x9f, any::<bool>())
        .prop_map(|(byte, raw)| if raw { vec![byte] } else { vec![0xc2, byte] })
        .boxed()
}

/// Cut characters, every truncation of each; overlongs, surrogates and impossible bytes.
fn ill_formed() -> BoxedStrategy<Vec<u8>> {
    let characters = "\u{e9}\u{dc}\u{db}\u{9b}\u{754c}\u{6c5}\u{2028}\u{202e}\u{1f600}\u{1f71c}\
                      \u{e0041}\u{10ffff}";
    let truncations: Vec<Vec<u8>> = characters
        .chars()
        .flat_map(|c| {
            let bytes = c.to_string().into_bytes();
            (1..bytes.len()).map(move |length| bytes[..length].to_vec())
        })
        .collect();
    prop_oneof![
        2 => select(truncations),
        1 => bytes_of(&[
            b"\xe6\x9b", b"\xe7\x9c", b"\xc0\x9b", b"\xc1\x81", b"\xe0\x80\x9b", b"\xe0\x82\x9b",
            b"\xf0\x80\x80\x9b", b"\xf0\x82\x82\x9c", b"\xed\xa0\x80", b"\xed\xbf\xbf",
            b"\xed\xa0\xbd\xed\xb8\x80", b"\xf4\x90\x80\x80", b"\xf5", b"\xf8\x88\x80\x80\x80",
            b"\xfe\xff", b"\xff\xfe", b"\xa9", b"\x80",
        ]),
    ]
    .boxed()
}

fn sequence() -> BoxedStrategy<Vec<u8>> {
    select(SEQUENCES).prop_map(|(_, bytes)| bytes.to_vec()).boxed()
}

/// SGR with conceal, colours, colon forms, values around 65,535 and up to 34 parameters.
fn style() -> BoxedStrategy<Vec<u8>> {
    let parameter = select(
        &[
            "",
            "0",
            "1",
            "8",
            "08",
            "8:1",
            "28",
            "38;5;8",
            "48;5;8",
            "58;5;8",
            "38;2;8;8;8",
            "38:5:8",
            "38:2::8:8:8",
            "38;8",
            "38",
            "48;2;8",
            "38;5:8",
            "4:3",
            "4:8",
            "39",
            "65535",
            "65536",
            "007",
        ][..],
    );
    let introducer = select(vec![&b"\x1b["[..], b"\x9b", b"\xc2\x9b"]);
    let count = prop_oneof![6 => 0usize..5, 1 => 31usize..=34];
    (introducer, count.prop_flat_map(move |n| vec(parameter.clone(), n)))
        .prop_map(|(introducer, list)| [introducer, list.join(";").as_bytes(), b"m"].concat())
        .boxed()
}

/// Every character that the table of invisible and reordering characters names, in runs of up
/// to nine.
fn invisible() -> BoxedStrategy<Vec<u8>> {
    let classes: [&[(u32, u32)]; 12] = [
        &[(0x202a, 0x202e), (0x2066, 0x2069)],
        &[(0x200e, 0x200f), (0x61c, 0x61c)],
        &[(0xe0001, 0xe0001), (0xe0020, 0xe007f)],
        &[(0xfe00, 0xfe0f), (0xfe0f, 0xfe0f), (0xfe0e, 0xfe0f)],
        &[(0xe0100, 0xe01ef)],
        &[(0x200c, 0x200d), (0x200c, 0x200d)],
        &[(0x200b, 0x200b), (0x2060, 0x2060), (0xfeff, 0xfeff), (0x34f, 0x34f), (0xad, 0xad)],
        &[
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
        ],
        &[(0xfff9, 0xfffb)],
        &[(0x3164, 0x3164), (0xffa0, 0xffa0), (0x115f, 0x1160), (0x2800, 0x2800)],
        &[(0x180b, 0x180f)],
        &[(0xfdd0, 0xfdef), (0xfffe, 0xffff), (0x1fffe, 0x1ffff), (0x10fffe, 0x10ffff)],
    ];
    let classes: Vec<Vec<(u32, u32)>> = classes.iter().map(|ranges| ranges.to_vec()).collect();
    let character = select(classes)
        .prop_flat_map(select::<(u32, u32)>)
        .prop_flat_map(|(first, last)| first..=last)
        .prop_map(|code| char::from_u32(code).unwrap_or('\u{fffd}'));
    let count = prop_oneof![6 => Just(1usize), 1 => 2usize..=9];
    (character, count).prop_map(|(c, n)| c.to_string().repeat(n).into_bytes()).boxed()
}

/// What gives invisible characters their meaning: bases, letters, jamo, marks, flags.
fn script() -> BoxedStrategy<Vec<u8>> {
    text_of(&[
        "\u{e0041}",
        "\u{1f468}",
        "\u{1f468}\u{200d}\u{1f469}",
        "\u{2764}\u{fe0f}",
        "\u{1f44d}\u{1f3fd}",
        "\u{1f3fd}",
        "\u{200d}\u{1f525}",
        "\u{1f3f3}\u{fe0f}\u{200d}\u{1f308}",
        "\u{1f3f4}",
        "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
        "\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}",
        "1\u{fe0f}\u{20e3}",
        "\u{20e3}",
        "\u{a9}",
        "\u{845b}",
        "\u{845b}\u{e0100}",
        "\u{2229}\u{fe00}",
        "\u{915}",
        "\u{94d}",
        "\u{915}\u{94d}\u{200d}\u{937}",
        "\u{915}\u{94d}\u{200c}",
        "\u{1b13}\u{1b44}",
        "\u{628}",
        "\u{627}",
        "\u{62f}",
        "\u{640}",
        "\u{6cc}\u{200c}\u{62e}",
        "\u{628}\u{64e}",
        "\u{64e}",
        "\u{710}",
        "\u{1e922}\u{200d}\u{1e923}",
        "\u{a856}",
        "\u{1820}",
        "\u{1828}\u{180e}\u{1820}",
        "\u{1820}\u{180b}",
        "\u{1885}",
        "\u{1100}",
        "\u{1112}\u{1160}",
        "\u{115f}\u{1161}",
        "\u{11a8}",
        "\u{d7b0}",
        "\u{d7fc}",
        "\u{ac00}",
        "\u{2813}",
        "\u{2813}\u{2800}",
        "\u{2800}",
        "\u{301}",
        "\u{336}\u{336}\u{336}\u{336}",
        "\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\
        \u{301}\u{301}",
        "\u{488}",
        "\u{903}",
        "Z\u{336}",
        "\u{5d0}\u{5b8}",
        "\u{e01}\u{e38}",
    ])
}

/// What a child may print to be taken for noesc itself.
fn imitation() -> BoxedStrategy<Vec<u8>> {
    text_of(&[
        "\u{241b}",
        "\u{27e6}",
        "\u{27e7}",
        "<U+202E>",
        "noesc: ",
        "out 1\u{2502} ",
        "# {",
        "```",
        "</facts>",
        "\\x1b",
        "\\u{1b}",
    ])
}

/// Something one below, at, or one above each limit of the grammar.
fn at_a_limit() -> BoxedStrategy<Vec<u8>> {
    let open = select(vec![&b"\x1b]"[..], b"\x1bP", b"\x1b_", b"\x1bk", b"\xc2\x9d"]);
    let close = select(vec![&b"\x07"[..], b"\x1b\\", b"\n", b"\r", b"\x18", b"\x1b[m", b""]);
    let fill = select(&["x", "\u{e9}", "\u{754c}", "x\n", ";?"][..]);
    let raw = select(&[0x90u8, 0x98, 0x9d, 0x9e, 0x9f][..]);
    prop_oneof![
        (open, fill, 4095usize..=4097, close).prop_map(|(open, fill, length, close)| {
            let mut bytes = fill.repeat(length).into_bytes();
            bytes.truncate(length);
            [open, &bytes, close].concat()
        }),
        (raw, 255usize..=257, terminator())
            .prop_map(|(raw, length, close)| { [vec![raw], vec![b'x'; length], close].concat() }),
        (select(vec!["1", "8;", "$", ";"]), 255usize..=257, select(b"m hKi8".as_slice())).prop_map(
            |(fill, length, last)| {
                let fill = fill.repeat(length).into_bytes();
                [&b"\x1b["[..], &fill[..length], &[last, b'p']].concat()
            }
        ),
        (select(b" (#".as_slice()), 15usize..=17, select(b"E[(8".as_slice())).prop_map(
            |(fill, length, last)| [vec![0x1b], vec![fill; length], vec![last, b'q']].concat()
        ),
        (31usize..=33).prop_map(|count| format!("\x1b[{}m", vec!["1"; count].join(";")).into()),
    ]
    .boxed()
}
