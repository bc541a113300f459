//! Which characters may need a judgement, as products of sets of nibbles, and the same for
//! ill-formed UTF-8: what vector code can look up sixteen cells at a time.
//!
//! A class is a set of values for each of six nibbles: the high and the low one of the first, the
//! second and the third byte of a character. Eight classes are one screen: each bit of a cell says
//! whether the nibble is in the set of a class, and a character is in a class where all six cells
//! have its bit.

/// For each of six nibbles, sixteen cells of eight classes.
pub(crate) type Screen = [[u8; 16]; 6];

/// The sets of one class; bit n: nibble n is in the set.
type Class = [u16; 6];

const ANY: u16 = 0xFFFF;

/// The set of these nibbles.
const fn set(nibbles: &[u8]) -> u16 {
    let mut set = 0;
    let mut i = 0;
    while i < nibbles.len() {
        set |= 1 << nibbles[i];
        i += 1;
    }
    set
}

/// The set of the nibbles from the first to the last.
const fn run(first: u8, last: u8) -> u16 {
    let mut set = 0;
    let mut nibble = first;
    while nibble <= last {
        set |= 1 << nibble;
        nibble += 1;
    }
    set
}

const fn screen(classes: &[Class]) -> Screen {
    assert!(classes.len() <= 8, "a cell has eight bits");
    let mut screen = [[0; 16]; 6];
    let mut class = 0;
    while class < classes.len() {
        let mut nibble = 0;
        while nibble < 6 {
            let mut value = 0;
            while value < 16 {
                if classes[class][nibble] >> value & 1 == 1 {
                    screen[nibble][value] |= 1 << class;
                }
                value += 1;
            }
            nibble += 1;
        }
        class += 1;
    }
    screen
}

/// The second byte of a character begins with one of these.
const TAIL: u16 = run(0x8, 0xB);

/// Every character that is no base (see `noesc_text::is_base`), and some that are: what they are
/// is looked up one by one. The third one is asked only where a first byte of it stands.
pub(crate) const SCREENS: [Screen; 3] = [
    screen(&[
        // C1 controls; the soft hyphen; combining marks
        [set(&[0xC]), set(&[2]), set(&[8, 9]), ANY, ANY, ANY],
        [set(&[0xC]), set(&[2]), set(&[0xA]), set(&[0xD]), ANY, ANY],
        [set(&[0xC]), set(&[0xC, 0xD]), TAIL, ANY, ANY, ANY],
        // 200B–200F, 2028–202E, 2040–207F and 20C0–20FF
        [set(&[0xE]), set(&[2]), set(&[8]), set(&[0]), set(&[8]), run(0xB, 0xF)],
        [set(&[0xE]), set(&[2]), set(&[8]), set(&[0]), set(&[0xA]), run(0x8, 0xE)],
        [set(&[0xE]), set(&[2]), set(&[8]), set(&[1, 3]), ANY, ANY],
        // 3020–302F and 3160–316F, 3099 and 309A
        [set(&[0xE]), set(&[3]), set(&[8]), set(&[0, 5]), set(&[0xA]), ANY],
        [set(&[0xE]), set(&[3]), set(&[8]), set(&[2]), set(&[9]), set(&[0x9, 0xA])],
    ]),
    screen(&[
        // 0800–0FFF and E000–EFFF; F000–FAFF; FB00–FBFF is letters, FDC0 and on
        [set(&[0xE]), set(&[0, 0xE]), TAIL, ANY, ANY, ANY],
        [set(&[0xE]), set(&[0xF]), set(&[8, 9, 0xA]), ANY, ANY, ANY],
        [set(&[0xE]), set(&[0xF]), set(&[0xB]), set(&[7, 8, 0xB, 0xE, 0xF]), ANY, ANY],
        // 1000–1BFF and A000–AFFF but for A000–A5FF; 1C00–1DFF
        [set(&[0xE]), set(&[1, 0xA]), set(&[8, 9, 0xA]), ANY, ANY, ANY],
        [set(&[0xE]), set(&[1]), set(&[0xB]), run(0, 7), ANY, ANY],
        // beyond the BMP: planes 3 to 16; 10000–1EFFF; noncharacters
        [set(&[0xF]), run(3, 4), TAIL, ANY, ANY, ANY],
        [set(&[0xF]), set(&[0]), set(&[9]), run(0, 0xE), ANY, ANY],
        [set(&[0xF]), run(0, 2), TAIL, set(&[0xF]), set(&[0xB]), set(&[0xF])],
    ]),
    screen(&[
        // 0480–04BF, 05C0–05CF and 0740–074F; Hebrew, Arabic, Syriac, Thaana, NKo
        [set(&[0xD]), set(&[2, 7, 0xD]), set(&[8]), ANY, ANY, ANY],
        [set(&[0xD]), set(&[6, 8, 9, 0xB, 0xC]), set(&[9]), ANY, ANY, ANY],
        [set(&[0xD]), set(&[9]), set(&[8]), run(0xB, 0xF), ANY, ANY],
        [set(&[0xD]), set(&[9, 0xE]), set(&[0xB]), set(&[0]), ANY, ANY],
        [set(&[0xD]), set(&[6, 0xC, 0xF]), set(&[0xB]), ANY, ANY, ANY],
        [set(&[0xD]), set(&[6, 0xB, 0xE, 0xF]), set(&[0xA]), ANY, ANY, ANY],
        // the rest of E2: 2800; 2CC0–2CFF, 2D40–2D7F, 2DC0–2DFF
        [set(&[0xE]), set(&[2]), set(&[0xA]), set(&[0]), set(&[8]), set(&[0])],
        [set(&[0xE]), set(&[2]), set(&[0xB]), set(&[3, 5, 7]), ANY, ANY],
    ]),
];

/// The same with more in vain, for a first look: one screen in place of three.
pub(crate) const SIEVE: Screen = screen(&[
    // 0080–00BF, 0300–037F; 0480–053F, 0580–07FF and planes 2 to 16
    [set(&[0xC]), set(&[2, 0xC, 0xD]), TAIL, ANY, ANY, ANY],
    [set(&[0xD, 0xF]), run(2, 4) | run(6, 0xF), TAIL, ANY, ANY, ANY],
    // 0800–1FFF, A000–AFFF, E000–EFFF and planes 0 and 1 beyond
    [set(&[0xE, 0xF]), set(&[0, 1, 0xA, 0xE]), TAIL, ANY, ANY, ANY],
    // 2000–203F and 2800–283F in part; 2040–2DFF and FBxx–FFFF in part; F000–FAFF
    [set(&[0xE]), set(&[2]), set(&[8, 0xA]), set(&[0]), set(&[8, 0xA]), set(&[0]) | run(8, 0xF)],
    [
        set(&[0xE]),
        set(&[2, 0xF]),
        set(&[8, 0xA, 0xB]),
        set(&[1, 3, 5, 7, 8, 0xB, 0xE, 0xF]),
        ANY,
        ANY,
    ],
    [set(&[0xE]), set(&[0xF]), set(&[8, 9, 0xA]), ANY, ANY, ANY],
    // 3020–302F and 3160–316F, 3099 and 309A
    [set(&[0xE]), set(&[3]), set(&[8]), set(&[0, 5]), set(&[0xA]), ANY],
    [set(&[0xE]), set(&[3]), set(&[8]), set(&[2]), set(&[9]), set(&[0x9, 0xA])],
]);

/// Pairs of neighbouring bytes, and so their first three nibbles, that well-formed UTF-8 does not
/// hold; the eighth class is two continuation bytes, which it holds just where a longer character
/// asks for them. The classes are those of Keiser and Lemire, "Validating UTF-8 in less than one
/// instruction per byte" (2020).
pub(crate) const PAIRS: Screen = screen(&[
    [run(0xC, 0xF), ANY, run(0, 7) | run(0xC, 0xF), ANY, ANY, ANY],
    [run(0, 7), ANY, TAIL, ANY, ANY, ANY],
    [set(&[0xC]), set(&[0, 1]), TAIL, ANY, ANY, ANY],
    [set(&[0xE]), set(&[0]), set(&[8, 9]), ANY, ANY, ANY],
    [set(&[0xE]), set(&[0xD]), set(&[0xA, 0xB]), ANY, ANY, ANY],
    [set(&[0xF]), run(4, 0xF), set(&[9, 0xA, 0xB]), ANY, ANY, ANY],
    [set(&[0xF]), set(&[0]) | run(5, 0xF), set(&[8]), ANY, ANY, ANY],
    [TAIL, ANY, TAIL, ANY, ANY, ANY],
]);

/// The character at the head of these bytes and its length, if they begin with a well-formed one
/// beyond ASCII.
#[inline]
pub(crate) fn char_at(bytes: &[u8]) -> Option<(char, usize)> {
    let bits = |byte: u8| u32::from(byte & 0x3F);
    let (point, least, len) = match *bytes {
        [a @ 0xC2..=0xDF, b @ 0x80..=0xBF, ..] => (u32::from(a & 0x1F) << 6 | bits(b), 0x80, 2),
        [a @ 0xE0..=0xEF, b @ 0x80..=0xBF, c @ 0x80..=0xBF, ..] => {
            (u32::from(a & 0x0F) << 12 | bits(b) << 6 | bits(c), 0x800, 3)
        }
        [a @ 0xF0..=0xF4, b @ 0x80..=0xBF, c @ 0x80..=0xBF, d @ 0x80..=0xBF, ..] => {
            let high = u32::from(a & 0x07) << 18 | bits(b) << 12;
            (high | bits(c) << 6 | bits(d), 0x1_0000, 4)
        }
        _ => return None,
    };
    let c = char::from_u32(point).filter(|_| point >= least)?;
    Some((c, len))
}

/// What the scan makes of a character beyond ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Ill-formed, or a C1 control.
    NoText,
    /// Kept where it stands, and so many bytes long.
    Text(usize),
    /// To be judged, and so many bytes long.
    Special(usize),
}

/// What the character at `at` is.
#[inline]
pub(crate) fn find(raw: &[u8], at: usize) -> Found {
    match raw.get(at..).and_then(char_at) {
        None | Some(('\u{80}'..='\u{9F}', _)) => Found::NoText,
        Some((c, len)) if noesc_text::is_base(c) => Found::Text(len),
        Some((c, len)) => match is_at_home(raw, at, c, len) {
            true => Found::Text(len),
            false => Found::Special(len),
        },
    }
}

/// Whether a character is kept whatever was before its neighbours. Of these only the ones beyond
/// ASCII count: an ASCII byte may be the last one of a sequence.
fn is_at_home(raw: &[u8], at: usize, c: char, len: usize) -> bool {
    let mut end = at;
    let before = std::iter::from_fn(move || {
        let (c, len) = char_before(&raw[..end])?;
        end -= len;
        Some(c)
    });
    let after = raw.get(at + len..).and_then(char_at).map(|(c, _)| c);
    noesc_text::is_at_home(c, before, after)
}

/// The character at the end of these bytes and its length, if it is a well-formed one beyond ASCII.
fn char_before(bytes: &[u8]) -> Option<(char, usize)> {
    (2..=4).find_map(|len| {
        let start = bytes.len().checked_sub(len)?;
        char_at(&bytes[start..]).filter(|&(_, found)| found == len)
    })
}

/// Where a text ends that is to have no joiner at its end, which waits for the character behind.
pub(crate) fn without_joiner(raw: &[u8], len: usize) -> usize {
    match raw[..len] {
        [.., 0xE2, 0x80, 0x8C | 0x8D] => without_joiner(raw, len - 3),
        _ => len,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_base(c: char) -> bool {
        c >= '\u{A0}' && noesc_text::is_base(c)
    }

    /// What vector code looks up, for the first three bytes of a character.
    fn is_flagged(screen: &Screen, bytes: [u8; 3]) -> bool {
        let nibbles = bytes.iter().flat_map(|b| [b >> 4, b & 15]);
        nibbles.zip(screen).fold(0xFF, |all, (nibble, cells)| all & cells[usize::from(nibble)]) != 0
    }

    #[test]
    fn every_character_that_is_no_base_is_flagged_whatever_follows() {
        for c in ('\u{80}'..=char::MAX).filter(|&c| !is_base(c)) {
            for next in [0x00, 0x1B, 0x41, 0x7F, 0x80, 0xBF, 0xC2, 0xE2, 0xFF] {
                let mut bytes = [next; 4];
                c.encode_utf8(&mut bytes);
                let first = [bytes[0], bytes[1], bytes[2]];
                let flagged = SCREENS.iter().any(|screen| is_flagged(screen, first));
                assert!(flagged, "U+{:04X} before {next:02X}", u32::from(c));
                assert!(is_flagged(&SIEVE, first), "U+{:04X} before {next:02X}", u32::from(c));
            }
        }
    }

    #[test]
    fn few_characters_of_running_text_are_flagged_in_vain() {
        let blocks = [(0xA0, 0x2FF), (0x380, 0x47F), (0x5D0, 0x5EA), (0x620, 0x64A)];
        let more = [(0x2010, 0x2027), (0x2190, 0x27FF), (0x3001, 0x301F), (0x3041, 0x3098)];
        let wide = [(0x30A0, 0x30FF), (0x3400, 0x9FFF), (0xAC00, 0xD7A3), (0xFF01, 0xFF9F)];
        let emoji = [(0x1F300, 0x1FAFF)];
        let blocks = blocks.into_iter().chain(more).chain(wide).chain(emoji);
        let mut in_vain = Vec::new();
        for c in blocks.flat_map(|(first, last)| first..=last).filter_map(char::from_u32) {
            let mut bytes = [b' '; 4];
            c.encode_utf8(&mut bytes);
            let first = [bytes[0], bytes[1], bytes[2]];
            let flagged = SCREENS.iter().any(|screen| is_flagged(screen, first));
            if flagged && noesc_text::is_base(c) {
                in_vain.push(u32::from(c));
            }
        }
        in_vain.retain(|c| !(0xFF80..=0xFF9F).contains(c)); // the end of the halfwidth kana
        assert!(in_vain.is_empty(), "{in_vain:04X?}");
    }

    #[test]
    fn the_pairs_are_those_that_well_formed_text_does_not_hold() {
        for first in 0..=0xFF_u8 {
            // A byte that begins no character is found with the one behind it.
            for second in (0..=0xFF_u8).filter(|b| !matches!(b, 0xC0 | 0xC1 | 0xF5..)) {
                let known = [first, second];
                let flagged = is_flagged(&PAIRS, [first, second, 0]);
                // Somewhere in well-formed text, as its first bytes or in its middle.
                let starts = [&[][..], b"\xE1", b"\xF1", b"\xF1\x80", b"\xC3", b"\xE1\x80"];
                let ends =
                    [&[][..], b"\x80", b"\x80\x80", b"\x80\x80\x80", b"\xA0\x80", b"\x90\x80\x80"];
                let held = starts.iter().any(|start| {
                    ends.iter()
                        .any(|end| std::str::from_utf8(&[start, &known[..], end].concat()).is_ok())
                });
                let two_tails = (0x80..0xC0).contains(&first) && (0x80..0xC0).contains(&second);
                assert_eq!(flagged, !held || two_tails, "{known:02X?}");
            }
        }
    }
}
