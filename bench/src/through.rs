//! What each peer lets through, in counts. Nothing of it is printed.

use crate::inputs::Input;
use crate::peers::{Buffers, Does, PEERS, Peer};

/// What is left of an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Left {
    bytes: usize,
    escapes: usize,
    /// Other C0 controls and DEL, but for LF and TAB.
    controls: usize,
    /// C1 controls as characters, and bytes 80 to 9F that stand alone.
    c1: usize,
    /// Characters that reorder text or are invisible, wherever they stand.
    hidden: usize,
    /// Bytes that are no UTF-8.
    ill_formed: usize,
}

impl Left {
    fn count(&mut self, left: &[u8]) {
        self.bytes += left.len();
        for piece in left.utf8_chunks() {
            for character in piece.valid().chars() {
                match character {
                    '\x1b' => self.escapes += 1,
                    '\n' | '\t' => {}
                    '\0'..='\x1f' | '\x7f' => self.controls += 1,
                    '\u{80}'..='\u{9f}' => self.c1 += 1,
                    character if is_hidden(character) => self.hidden += 1,
                    _ => {}
                }
            }
            self.ill_formed += piece.invalid().len();
            self.c1 += piece.invalid().iter().filter(|byte| (0x80..0xA0).contains(*byte)).count();
        }
    }
}

fn is_hidden(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// A line for each input and peer that removes something: the bytes that are left, and what is
/// among them.
pub(crate) fn table(inputs: &[Input]) -> String {
    let mut text =
        "input\tpeer\tbytes_in\tbytes_left\tescapes\tcontrols\tc1\thidden\till_formed\n".to_owned();
    for input in inputs {
        for peer in PEERS.iter().filter(|peer| peer.does != Does::Bound && (peer.takes)(input)) {
            let (name, size, left) = (peer.name, input.bytes().len(), left(peer, input));
            let Left { bytes, escapes, controls, c1, hidden, ill_formed } = left;
            text += &format!("{}\t{name}\t{size}\t{bytes}\t{escapes}\t", input.name);
            text += &format!("{controls}\t{c1}\t{hidden}\t{ill_formed}\n");
        }
    }
    text
}

/// What is left after one pass. A character that is cut by the end of a chunk counts as ill-formed.
fn left(peer: &Peer, input: &Input) -> Left {
    let mut left = Left::default();
    if let Some(pass) = peer.passes.first() {
        pass(input, &mut Buffers::new(), &mut |bytes| left.count(bytes));
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_counted() {
        let mut left = Left::default();
        left.count(b"a\n\t\x1b\x07\x7f\xc2\x9b\xe2\x80\x8b\x9b\xff");
        let expected = Left { bytes: 13, escapes: 1, controls: 2, c1: 2, hidden: 1, ill_formed: 2 };
        assert_eq!(left, expected);
    }

    #[test]
    fn a_bound_lets_everything_through_and_ours_no_control() {
        let input = Input::new("a", b"a\x1b[31mb\x1b]52;c;x\x07\x9b\r".to_vec());
        for peer in &PEERS {
            let left = left(peer, &input);
            match peer.does {
                Does::Bound => assert_eq!((left.bytes, left.escapes), (input.bytes().len(), 2)),
                Does::Ours => assert_eq!((left.escapes, left.controls, left.c1), (0, 0, 0)),
                Does::Strips | Does::OursToo => {}
            }
        }
    }
}
