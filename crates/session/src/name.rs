//! Keeping a child from writing lines that look like ours.

use noesc_text::is_glyphless;
use unicode_width::UnicodeWidthChar;

/// Our own lines begin with this.
const NAME: &[u8] = b"noesc:";
const CHILD: &[u8] = b"child: ";

/// Bytes held at the start of a line. Only what is not seen within the name can make it more than
/// the name: such a line is taken for a forged one.
const NAME_HELD_MAX: usize = 256;

/// Keeps a child from writing lines that look like ours. At the start of a line it holds back what
/// may become `noesc:`, with any style and any character that is not seen in front and within.
///
/// ```
/// let (mut guard, mut shown) = (noesc_session::NameGuard::default(), Vec::new());
/// guard.push("ok\nno", &mut shown);
/// guard.push("esc: error: forged\n", &mut shown);
/// guard.finish(&mut shown);
/// assert_eq!(shown, b"ok\nchild: noesc: error: forged\n");
/// ```
#[derive(Debug, Default)]
pub struct NameGuard {
    /// What the line so far may be the beginning of; `None` further on in a line.
    held: Vec<u8>,
    inside: bool,
    /// Bytes of the name seen.
    matched: usize,
    /// Inside a style sequence.
    style: bool,
}

impl NameGuard {
    /// Adds to `to` what `view` decides.
    pub fn push(&mut self, view: &str, to: &mut Vec<u8>) {
        let mut rest = view;
        while let Some(c) = rest.chars().next() {
            if self.inside {
                let end = rest.find('\n').map_or(rest.len(), |at| at + 1);
                let (line, after) = rest.split_at(end);
                to.extend_from_slice(line.as_bytes());
                self.inside = !line.ends_with('\n');
                rest = after;
                continue;
            }
            let (first, after) = rest.split_at(c.len_utf8());
            rest = after;
            self.held.extend_from_slice(first.as_bytes());
            self.start_of_line(c, to);
        }
    }

    fn start_of_line(&mut self, c: char, to: &mut Vec<u8>) {
        match c {
            '\n' => self.leave(to, false),
            _ if self.held.len() > NAME_HELD_MAX => self.forged(to),
            '\x1b' => self.style = true,
            'm' if self.style => {
                self.style = false;
                self.unseen(to);
            }
            _ if self.style => {}
            c if reorders(c) => self.forged(to),
            c if u32::from(c) == u32::from(NAME[self.matched]) => {
                self.matched += 1;
                if self.matched == NAME.len() {
                    self.forged(to);
                }
            }
            // Terminals differ on what they show of marks and of new letters. Within the name none
            // is believed to be seen.
            c if is_unseen(c) || self.matched > 0 && !c.is_ascii() => self.unseen(to),
            _ => self.leave(to, true),
        }
    }

    /// Shown at once, as the name can't be before it; held within the name.
    fn unseen(&mut self, to: &mut Vec<u8>) {
        if self.matched == 0 {
            to.append(&mut self.held);
        }
    }

    fn forged(&mut self, to: &mut Vec<u8>) {
        to.extend_from_slice(CHILD);
        self.leave(to, true);
    }

    fn leave(&mut self, to: &mut Vec<u8>, inside: bool) {
        to.append(&mut self.held);
        self.matched = 0;
        self.style = false;
        self.inside = inside;
    }

    /// Adds what was held back: nothing follows.
    pub fn finish(&mut self, to: &mut Vec<u8>) {
        self.leave(to, false);
    }
}

/// Whether a character may show what follows before what stands in front of it: any text becomes
/// the name by that. Settings may keep such characters.
fn reorders(c: char) -> bool {
    matches!(c, '\u{61C}' | '\u{200E}'..='\u{200F}')
        || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character leaves no sign of its own: it has no width, as a mark on a letter has none,
/// or is a control or another one that a terminal may leave out. Settings may keep such characters.
fn is_unseen(c: char) -> bool {
    match u32::from(c) {
        0x09 => false,
        // Annotations and noncharacters.
        0xFFF9..=0xFFFB | 0xFDD0..=0xFDEF => true,
        point if point & 0xFFFE == 0xFFFE => true,
        _ => is_glyphless(c) || c.width().is_none_or(|width| width == 0),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    const PIECES: &[&str] = &[
        "n", "o", "e", "s", "c", ":", "no", "esc", "noesc:", "\n", "x", "\x1b[m", "\u{200b}",
        "\u{301}", "\u{feff}", "\u{e9}",
    ];

    const CHILD_TEXT: &str = "child: ";

    fn guard(pieces: &[&str]) -> String {
        let mut guard = NameGuard::default();
        let mut out = Vec::new();
        for piece in pieces {
            guard.push(piece, &mut out);
        }
        guard.finish(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_line_of_the_child_is_not_taken_for_ours() {
        assert_eq!(guard(&["noesc: forged\n"]), "child: noesc: forged\n");
        assert_eq!(guard(&["a\nno", "esc", ": x"]), "a\nchild: noesc: x");
        assert_eq!(guard(&["\x1b[1mno\x1b[0mesc: x"]), "\x1b[1mchild: no\x1b[0mesc: x");
        assert_eq!(guard(&["a noesc: b\n\nnoesc:"]), "a noesc: b\n\nchild: noesc:");
    }

    #[test]
    fn what_a_terminal_may_not_show_hides_no_name() {
        for text in [
            "no\u{2d7f}esc: x",
            "\u{1171e}noesc: x",
            "n\u{13430}\u{13438}oesc: x",
            "no\u{e9}esc: x",
            "\u{202b}.\u{200f}noesc: x",
            "\u{2067}!\u{2066}x",
            "\u{200e}x",
        ] {
            assert_eq!(guard(&[text]).matches(CHILD_TEXT).count(), 1, "{}", text.escape_unicode());
        }
    }

    #[test]
    fn other_lines_pass_unchanged() {
        for text in ["", "n", "noesc", "noes\nnoesd:\n", "\x1b[1m\x1b[31mx\n", "\n\nno"] {
            assert_eq!(guard(&[text]), text);
        }
    }

    #[test]
    fn style_within_the_name_is_held_up_to_the_limit() {
        let styled = |n: usize| format!("n{}oesc: x", "\x1b[m".repeat(n));
        let below = styled((NAME_HELD_MAX - 7) / 3);
        assert_eq!(guard(&[&below]), format!("child: {below}"));
        let above = styled(NAME_HELD_MAX / 3 + 1);
        assert_eq!(guard(&[&above]), format!("child: {above}"));
    }

    #[test]
    fn what_is_not_seen_does_not_hide_the_name() {
        for c in ['\u{feff}', '\u{200b}', '\u{301}', '\u{ad}', '\u{e0041}', '\u{fe0f}', '\0'] {
            assert_eq!(guard(&[&format!("{c}noesc: x\n")]), format!("{c}child: noesc: x\n"));
            let within = format!("no{c}\x1b[m{c}esc{c}: x\n");
            assert_eq!(guard(&[&within]), format!("child: {within}"));
            let other = format!("no{c}\n{c}ise: x\nnoe{c}l");
            assert_eq!(guard(&[&other]), other);
        }
        // An override shows `:cseon` as the name.
        assert_eq!(guard(&["\u{202e}x :cseon\n"]), "child: \u{202e}x :cseon\n");
        assert_eq!(guard(&["no\u{202e}:cse\n"]), "child: no\u{202e}:cse\n");
        assert_eq!(guard(&["now \u{202e}:cse\n"]), "now \u{202e}:cse\n");
    }

    #[test]
    fn blanks_and_letters_are_seen() {
        for c in ['\t', ' ', '\u{a0}', 'a', '\u{e9}', '\u{4f60}', '\u{2800}', '\u{241b}'] {
            assert!(!is_unseen(c), "{c:?}");
            let other = format!("{c}noesc: x\n");
            assert_eq!(guard(&[&other]), other);
            // Within the name only ASCII is sure to be seen.
            let within = format!("no{c}esc: x\n");
            let shown = if c.is_ascii() { within.clone() } else { format!("child: {within}") };
            assert_eq!(guard(&[&within]), shown);
        }
    }

    #[test]
    fn what_is_not_seen_within_the_name_is_held_up_to_the_limit() {
        let filled = |n: usize| format!("n{}oesc? x", "\u{200b}".repeat(n));
        let most = filled((NAME_HELD_MAX - 6) / 3);
        assert_eq!(guard(&[&most]), most);
        let above = filled(NAME_HELD_MAX / 3 + 1);
        assert_eq!(guard(&[&above]), format!("child: {above}"));
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(4000)
        })]

        /// Where a view is cut changes nothing; without what is not seen, no line is ours.
        #[test]
        fn any_pieces(pieces in proptest::collection::vec(select(PIECES), 0..40)) {
            let whole = pieces.concat();
            let guarded = guard(&[&whole]);
            prop_assert_eq!(&guard(&pieces), &guarded);
            let seen = guarded.replace("\x1b[m", "").replace(|c| is_unseen(c) && c != '\n', "");
            prop_assert!(!seen.lines().any(|line| line.starts_with("noesc:")), "{:?}", whole);
            prop_assert_eq!(guarded.replace("child: ", ""), whole);
        }
    }

    #[test]
    fn what_can_not_become_the_name_is_not_held() {
        let mut guard = NameGuard::default();
        let mut out = Vec::new();
        guard.push("password? ", &mut out);
        assert_eq!(out, b"password? ");
    }
}
