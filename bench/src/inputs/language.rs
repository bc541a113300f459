//! Running text in several scripts.

use crate::random::Random;

/// Sentences of a language, one a line.
const TEXTS: [(&str, &str); 6] = [
    ("cjk", include_str!("../../texts/cjk.txt")),
    ("cyrillic", include_str!("../../texts/cyrillic.txt")),
    ("french", include_str!("../../texts/french.txt")),
    ("arabic", include_str!("../../texts/arabic.txt")),
    ("hindi", include_str!("../../texts/hindi.txt")),
    ("thai", include_str!("../../texts/thai.txt")),
];

/// One character each, plain and composed: with a selector, a skin, joined, a flag, a keycap.
const EMOJI: [&str; 12] = [
    "\u{1f600}",
    "\u{1f680}",
    "\u{2705}",
    "\u{1f389}",
    "\u{2764}\u{fe0f}",
    "\u{26a0}\u{fe0f}",
    "\u{1f44d}\u{1f3fd}",
    "\u{1f469}\u{200d}\u{1f4bb}",
    "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
    "\u{1f1ef}\u{1f1f5}",
    "\u{1f1e8}\u{1f1f3}",
    "3\u{fe0f}\u{20e3}",
];

/// The sentences of a language; none of an unknown one.
fn sentences(language: &str) -> Vec<&'static str> {
    let text = TEXTS.iter().find(|(name, _)| *name == language);
    text.map_or_else(Vec::new, |(_, text)| text.lines().collect())
}

/// One line of one to four sentences in any order. With `emoji_every`, an emoji follows every
/// sentence of so many.
pub(super) fn text(
    language: &str,
    emoji_every: Option<usize>,
    random: &mut Random,
    out: &mut Vec<u8>,
) {
    let sentences = sentences(language);
    for index in 0..=random.below(4) {
        if index > 0 && language != "cjk" {
            out.push(b' ');
        }
        out.extend(random.of(&sentences).as_bytes());
        if emoji_every.is_some_and(|count| random.one_in(count)) {
            out.extend(random.of(&EMOJI).as_bytes());
        }
    }
    out.push(b'\n');
}

/// One line as of a log in Chinese, Japanese or Korean: a coloured word, a number, a sentence of
/// which a part is bold.
pub(super) fn coloured(random: &mut Random, out: &mut Vec<u8>) {
    const LEVELS: [&str; 4] = [
        "\u{1b}[32m信息\u{1b}[0m",
        "\u{1b}[33m警告\u{1b}[0m",
        "\u{1b}[1;31mエラー\u{1b}[0m",
        "\u{1b}[38;5;244m디버그\u{1b}[0m",
    ];
    let sentence = random.of(&sentences("cjk"));
    let middle = sentence.floor_char_boundary(sentence.len() / 2);
    let (first, second) = sentence.split_at(middle);
    let (level, number) = (random.of(&LEVELS), random.below(100_000));
    out.extend(
        format!("{level} \x1b[2m{number:05}\x1b[22m \x1b[1m{first}\x1b[22m{second}\n").as_bytes(),
    );
}
