//! The table of the specification, a row a line: input, what column A keeps of it.

mod common;

use common::{Column, Step, clean, judge, severities, view};
use noesc_text::Severity::{Critical, High, Info, Low};
use noesc_text::{
    Category, Class, MARKS_MAX, Severity, UNICODE_VERSION, VARIATION_PAIRS_VERSION, Verdict,
    category,
};

fn check(rows: &[(&str, &str)]) {
    for (input, expected) in rows {
        let found = clean(input);
        assert!(
            found == *expected,
            "{}: expected {}, found {}",
            input.escape_unicode(),
            expected.escape_unicode(),
            found.escape_unicode()
        );
    }
}

fn check_kept(rows: &[&str]) {
    check(&rows.iter().map(|row| (*row, *row)).collect::<Vec<_>>());
}

#[test]
fn zero_width_non_joiners() {
    check_kept(&[
        "\u{94d}\u{200c}",                      // after a virama (Mn)
        "\u{1b44}\u{200c}",                     // after a virama (Mc)
        "\u{628}\u{200c}\u{628}",               // between letters of one script
        "\u{628}\u{64e}\u{651}\u{200c}\u{628}", // marks before it skipped
        "\u{628}\u{94d}\u{200c}a",              // a virama needs no letters
        "\u{1e922}\u{200c}\u{1e923}",           // Adlam
    ]);
    check(&[
        ("\u{628}\u{200c}\u{64e}\u{628}", "\u{628}\u{64e}\u{628}"), // the next follows directly
        ("\u{628}\u{200c}\u{710}", "\u{628}\u{710}"),               // two scripts
        ("\u{621}\u{200c}\u{628}", "\u{621}\u{628}"),               // hamza does not join
        ("\u{628}\u{200c}\u{200c}\u{628}", "\u{628}\u{628}"),       // neither has two letters
        ("\u{94d}\u{200c}\u{200c}", "\u{94d}\u{200c}"),             // one after a virama
        ("\u{94d}\u{301}\u{200c}", "\u{94d}\u{301}"),               // directly after it
        ("\u{628}\u{200b}\u{200c}\u{628}", "\u{628}\u{628}"),
        ("\u{628}\u{200c}\u{200b}\u{628}", "\u{628}\u{628}"),
        ("\u{628}\u{200c}\n\u{628}", "\u{628}\n\u{628}"),
        ("\u{628}\u{200c}", "\u{628}"),
        ("a\u{200c}b", "ab"),
    ]);
}

#[test]
fn zero_width_joiners() {
    check_kept(&[
        "\u{628}\u{200d}",                             // after a joining letter
        "\u{628}\u{64e}\u{200d} ",                     // marks skipped
        "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f466}", // family
        "\u{1f468}\u{1f3fb}\u{200d}\u{1f4bb}",         // modifier
        "\u{1f3f4}\u{200d}\u{2620}\u{fe0f}",           // black flag is a pictograph
        "\u{2764}\u{fe0f}\u{200d}\u{1f525}",
    ]);
    check(&[
        ("\u{628}\u{200d}\u{200d}", "\u{628}\u{200d}"),
        ("\u{628}\u{200d}\u{64e}\u{200d}", "\u{628}\u{200d}\u{64e}"), // a joiner is no mark
        ("\u{1f3fb}\u{200d}\u{1f468}", "\u{1f3fb}\u{1f468}"),         // a modifier of nothing
        ("\u{1f468}\u{1f3fb}\u{fe0f}\u{200d}\u{1f468}", "\u{1f468}\u{1f3fb}\u{1f468}"),
        ("\u{2764}\u{fe0e}\u{200d}\u{1f525}", "\u{2764}\u{fe0e}\u{1f525}"), // FE0F alone
        ("\u{1f468}\u{fe0f}\u{fe0f}\u{200d}\u{1f468}", "\u{1f468}\u{fe0f}\u{1f468}"),
        ("1\u{fe0f}\u{200d}\u{1f468}", "1\u{fe0f}\u{1f468}"),
        ("\u{1f468}\u{200d}", "\u{1f468}"),
        ("\u{1f468}\u{200d}\u{200b}\u{1f468}", "\u{1f468}\u{1f468}"),
    ]);
}

#[test]
fn tags() {
    let flag = "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}";
    check_kept(&[flag, &flag.repeat(3)]);
    let cut = &flag[..flag.len() - 4];
    check(&[
        (cut, "\u{1f3f4}"),
        (&format!("{cut}a"), "\u{1f3f4}a"),
        (&format!("{cut}\u{e0041}\u{e007f}"), "\u{1f3f4}"),
        (&format!("{flag}\u{e0041}"), flag),
        (&format!("{cut}{flag}"), &format!("\u{1f3f4}{flag}")),
        (&format!("{cut}\n\u{e007f}"), "\u{1f3f4}\n"),
        (
            "\u{1f3f4}\u{fe0f}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
            "\u{1f3f4}\u{fe0f}",
        ),
    ]);
}

#[test]
fn selectors() {
    check_kept(&[
        "\u{a9}\u{fe0f}",                     // pictograph
        "#\u{fe0f}\u{20e3}",                  // listed
        "0\u{fe00}",                          // listed, standardized
        "\u{845b}\u{e0100}\u{6f22}\u{e01ef}", // ideographs
        "\u{1820}\u{180b}\u{1820}\u{180f}",   // Mongolian
        "\u{1820}\u{180e}\u{1821}",
        "\u{1880}\u{180b}", // a letter that does not join
    ]);
    check(&[
        ("1\u{fe00}", "1"),
        ("a\u{fe0f}", "a"),
        ("\u{200b}\u{fe0f}", ""),
        ("\u{2764}\u{200b}\u{fe0f}", "\u{2764}"),
        ("\u{2764}\u{fe0e}\u{fe0f}", "\u{2764}\u{fe0e}"),
        ("\u{f900}\u{e0100}", "\u{f900}"), // a compatibility ideograph
        ("\u{1820}\u{180b}\u{180c}", "\u{1820}\u{180b}"),
        ("\u{1807}\u{180b}", "\u{1807}"), // joins and is no letter
        ("\u{1820}\u{180e}", "\u{1820}"),
        ("\u{1820}\u{180e}\u{180e}\u{1820}", "\u{1820}\u{1820}"),
        ("\u{180e}\u{1820}", "\u{1820}"),
    ]);
}

#[test]
fn fillers() {
    check_kept(&[
        "\u{115f}\u{1161}",
        "\u{1100}\u{1160}\u{11a8}",
        "\u{1160}\u{d7cb}",
        "\u{2801}\u{2800}\u{2800}\u{28ff}\u{2800}",
    ]);
    check(&[
        ("\u{115f}\u{1160}", ""), // fillers are no jamo
        ("\u{115f}\u{1160}\u{11a8}", "\u{1160}\u{11a8}"),
        ("\u{1100}\u{115f}\u{1160}", "\u{1100}\u{115f}"),
        ("\u{1160}\u{200b}\u{1100}", "\u{1100}"),
        ("\u{ac00}\u{1160}", "\u{ac00}"), // a syllable is no jamo
        ("\u{3164}\u{ffa0}", ""),
        ("\u{2800}\u{2801}", " \u{2801}"), // before its run, not after
        ("\u{2801}\u{2800}\u{200b}\u{2800}", "\u{2801}\u{2800} "),
        ("\u{2801} \u{2800}", "\u{2801}  "),
    ]);
}

#[test]
fn marks_are_counted_on_what_is_kept() {
    let max = usize::from(MARKS_MAX);
    assert_eq!(max, 8);
    for (marks, kept) in [(max - 1, max - 1), (max, max), (max + 1, max)] {
        let input = format!("a{}b", "\u{301}".repeat(marks));
        assert_eq!(clean(&input), format!("a{}b", "\u{301}".repeat(kept)));
    }
    // (what stands between eight marks and one more, whether the one more is kept)
    let rows = [
        ("", false),
        ("\u{200b}", false),
        ("\u{202e}", false),
        ("\u{489}", false),
        ("a", true),
        ("\u{903}", true),  // a spacing mark is a base
        ("\u{2800}", true), // becomes a space
        ("\u{fdd0}", true), // becomes U+FFFD
        ("\n", true),
        ("\u{2028}", true),
        ("\u{e000}", true),
    ];
    for (between, kept) in rows {
        let marks = "\u{301}".repeat(max);
        let found = clean(&format!("a{marks}{between}\u{302}"));
        assert_eq!(found.ends_with('\u{302}'), kept, "{}", between.escape_unicode());
    }
    // A kept joiner and a kept selector reset nothing either.
    let marks = "\u{64e}".repeat(max);
    assert_eq!(clean(&format!("\u{628}{marks}\u{200d}\u{64e}")), format!("\u{628}{marks}\u{200d}"));
}

#[test]
fn marks_are_counted_across_interrupts_and_not_across_line_ends() {
    let marks = [Step::Char('\u{301}'); 8];
    for (step, kept) in [(Step::Interrupt, false), (Step::LineEnd, true)] {
        let input = [&marks[..], &[step, Step::Char('\u{302}')]].concat();
        assert_eq!(view(&input, Column::Agent).ends_with('\u{302}'), kept, "{step:?}");
    }
}

#[test]
fn nothing_is_a_neighbour_across_an_interrupt() {
    let texts = [
        "\u{628}\u{200d}",
        "\u{94d}\u{200c}",
        "\u{2764}\u{fe0f}",
        "\u{845b}\u{e0100}",
        "\u{1820}\u{180b}",
        "\u{1100}\u{1160}",
        "\u{1160}\u{1100}",
    ];
    for text in texts {
        let chars: Vec<char> = text.chars().collect();
        let input = [Step::Char(chars[0]), Step::Interrupt, Step::Char(chars[1])];
        assert_eq!(clean(text), text, "{}", text.escape_unicode());
        assert_eq!(view(&input, Column::Agent).chars().count(), 1, "{}", text.escape_unicode());
    }
}

#[test]
fn severities_rise_in_a_row() {
    // (a character, how many in a row are low, what follows)
    let rows = [
        ('\u{e0041}', 3, Critical),
        ('\u{fe00}', 1, High),
        ('\u{e0100}', 3, Critical),
        ('\u{200b}', 7, High),
        ('\u{2062}', 7, High),
    ];
    for (c, low, raised) in rows {
        let mut expected = vec![Low; low];
        expected.extend([raised, raised]);
        assert_eq!(severities(&c.to_string().repeat(low + 2)), expected, "{}", c.escape_unicode());
        // Another character between them begins a new row.
        let parted = format!("{}x{c}", c.to_string().repeat(low));
        assert_eq!(severities(&parted), vec![Low; low + 1], "{}", c.escape_unicode());
    }
    // The kept selector is the first in its row.
    assert_eq!(severities("\u{2764}\u{fe0f}\u{fe0f}"), [High]);
}

#[test]
fn each_class_has_its_severity() {
    let rows: &[(&str, Class, Severity)] = &[
        ("\u{202e}", Class::BidiControl, High),
        ("\u{200e}", Class::BidiMark, Low),
        ("\u{e0001}", Class::Tag, Low),
        ("\u{fe01}", Class::VariationSelector, Low),
        ("\u{200d}", Class::Joiner, Low),
        ("\u{ad}", Class::ZeroWidth, Low),
        ("\u{feff}", Class::ZeroWidth, Info),
        ("\u{e0fff}", Class::Ignorable, Low),
        ("\u{fffb}", Class::Annotation, Low),
        ("\u{3164}", Class::Filler, Low),
        ("\u{180e}", Class::MongolianSelector, Low),
    ];
    for &(text, class, severity) in rows {
        let steps = common::steps(text);
        let verdict = judge(&steps, Column::Agent)[0].1;
        assert_eq!(verdict, Verdict::Drop(class, severity), "{}", text.escape_unicode());
    }
    let of = |c: char| judge(&[Step::Char(c)], Column::Agent)[0].1;
    assert_eq!(of('\u{2800}'), Verdict::Substitute(Class::Filler, ' ', Low));
    assert_eq!(of('\u{1fffe}'), Verdict::Substitute(Class::Noncharacter, '\u{fffd}', Low));
    assert_eq!(of('\u{2029}'), Verdict::Substitute(Class::LineSeparator, '\n', Low));
    assert_eq!(of('\u{f8ff}'), Verdict::Noted(Class::PrivateUse, Info));
    assert_eq!(of('\u{e0b0}'), Verdict::Keep);
    assert_eq!(severities("a\u{feff}"), [Low]);
    assert_eq!(severities("\u{feff}\u{feff}"), [Info, Low]);
    assert_eq!(
        judge(&[Step::Interrupt, Step::Char('\u{feff}')], Column::Agent),
        [('\u{feff}', Verdict::Drop(Class::ZeroWidth, Low))]
    );
}

#[test]
fn visible_format_characters_are_ordinary() {
    let visible = [
        '\u{600}',
        '\u{605}',
        '\u{6dd}',
        '\u{70f}',
        '\u{890}',
        '\u{891}',
        '\u{8e2}',
        '\u{110bd}',
        '\u{110cd}',
        '\u{fffc}',
        '\u{fffd}',
        '\u{a0}',
        '\u{3000}',
        '\u{202f}',
        '\u{1f1e6}',
    ];
    for c in visible {
        assert_eq!(category(c), Category::Ordinary, "{}", c.escape_unicode());
    }
}

/// Every code point of the rows that the specification gives by code point, ends included.
#[test]
fn the_rows_by_code_point() {
    let rows: &[(u32, u32, Category)] = &[
        (0x202A, 0x202E, Category::BidiControl),
        (0x2066, 0x2069, Category::BidiControl),
        (0x200E, 0x200F, Category::BidiMark),
        (0xE0020, 0xE007F, Category::Tag),
        (0xFE00, 0xFE0E, Category::TextSelector),
        (0xFE0F, 0xFE0F, Category::EmojiSelector),
        (0xE0100, 0xE01EF, Category::IdeographSelector),
        (0x2061, 0x2065, Category::Ignorable),
        (0x206A, 0x206F, Category::Ignorable),
        (0xFFF0, 0xFFF8, Category::Ignorable),
        (0xE0002, 0xE001F, Category::Ignorable),
        (0xE0080, 0xE00FF, Category::Ignorable),
        (0xE01F0, 0xE0FFF, Category::Ignorable),
        (0xFFF9, 0xFFFB, Category::Annotation),
        (0x1100, 0x115E, Category::Jamo),
        (0xD7B0, 0xD7FF, Category::Jamo),
        (0x2801, 0x28FF, Category::Braille),
        (0x180B, 0x180D, Category::MongolianSelector),
        (0xFDD0, 0xFDEF, Category::Noncharacter),
        (0x10FFFE, 0x10FFFF, Category::Noncharacter),
    ];
    for &(first, last, what) in rows {
        let of = |point| char::from_u32(point).map(category);
        for point in first..=last {
            assert_eq!(of(point), Some(what), "U+{point:04X}");
        }
        assert_ne!(of(first - 1), Some(what), "before U+{first:04X}");
        assert_ne!(of(last + 1), Some(what), "after U+{last:04X}");
    }
    assert!((0x20..0x7Fu8).all(|b| category(char::from(b)) == Category::Ordinary));
}

#[test]
fn versions_are_stated() {
    assert_eq!(UNICODE_VERSION, "18.0");
    assert_eq!(VARIATION_PAIRS_VERSION, "15.0");
}
