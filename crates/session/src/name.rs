//! Keeping a child from writing lines that look like ours.

/// Our own lines begin with this.
const NAME: &[u8] = b"noesc:";
const CHILD: &[u8] = b"child: ";

/// Bytes held at the start of a line. Only style within the name can make it more than the name:
/// such a line is taken for a forged one.
const NAME_HELD_MAX: usize = 256;

/// Keeps a child from writing lines that look like ours. At the start of a line it holds back what
/// may become `noesc:`, with any style in front.
#[derive(Debug, Default)]
pub(crate) struct NameGuard {
    /// What the line so far may be the beginning of; `None` further on in a line.
    held: Vec<u8>,
    inside: bool,
    /// Bytes of the name seen.
    matched: usize,
    /// Inside a style sequence.
    style: bool,
}

impl NameGuard {
    pub(crate) fn push(&mut self, view: &str, to: &mut Vec<u8>) {
        let mut rest = view.as_bytes();
        while let Some((&byte, after)) = rest.split_first() {
            if self.inside {
                let end = rest.iter().position(|&b| b == b'\n').map_or(rest.len(), |at| at + 1);
                to.extend_from_slice(&rest[..end]);
                self.inside = !rest[..end].ends_with(b"\n");
                rest = &rest[end..];
                continue;
            }
            rest = after;
            self.held.push(byte);
            self.start_of_line(byte, to);
        }
    }

    fn start_of_line(&mut self, byte: u8, to: &mut Vec<u8>) {
        match byte {
            0x1B if self.held.len() <= NAME_HELD_MAX => self.style = true,
            b'm' if self.style => {
                self.style = false;
                // Style shows at once; the name can't be before it.
                if self.matched == 0 {
                    to.append(&mut self.held);
                }
            }
            _ if self.held.len() > NAME_HELD_MAX => {
                to.extend_from_slice(CHILD);
                self.leave(to, true);
            }
            _ if self.style => {}
            byte if byte == NAME[self.matched] => {
                self.matched += 1;
                if self.matched == NAME.len() {
                    to.extend_from_slice(CHILD);
                    self.leave(to, true);
                }
            }
            b'\n' => self.leave(to, false),
            _ => self.leave(to, true),
        }
    }

    fn leave(&mut self, to: &mut Vec<u8>, inside: bool) {
        to.append(&mut self.held);
        self.matched = 0;
        self.style = false;
        self.inside = inside;
    }

    pub(crate) fn finish(&mut self, to: &mut Vec<u8>) {
        self.leave(to, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn what_can_not_become_the_name_is_not_held() {
        let mut guard = NameGuard::default();
        let mut out = Vec::new();
        guard.push("password? ", &mut out);
        assert_eq!(out, b"password? ");
    }
}
