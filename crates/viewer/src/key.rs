//! Keys, and the bytes that a terminal sends for them.

/// A key that was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Key {
    /// A character, with Shift as it is.
    Char(char),
    /// A letter with Ctrl, in lower case.
    Ctrl(char),
    /// Enter.
    Enter,
    /// Escape.
    Esc,
    /// Tab.
    Tab,
    /// Shift and Tab.
    BackTab,
    /// Backspace.
    Backspace,
    /// An arrow.
    Up,
    /// An arrow.
    Down,
    /// An arrow.
    Left,
    /// An arrow.
    Right,
    /// A page back.
    PageUp,
    /// A page on.
    PageDown,
    /// Home.
    Home,
    /// End.
    End,
}

/// Bytes of a key that are waited for: more are dropped.
const PENDING_BYTES_MAX: usize = 32;

/// From the bytes of a terminal to keys. What no key is known for is dropped.
#[derive(Clone, Debug, Default)]
pub(crate) struct Decoder {
    pending: Vec<u8>,
}

impl Decoder {
    pub(crate) fn push(&mut self, bytes: &[u8], keys: &mut impl FnMut(Key)) {
        for &byte in bytes {
            self.pending.push(byte);
            self.step(keys);
            if self.pending.len() > PENDING_BYTES_MAX {
                self.pending.clear();
            }
        }
    }

    /// Whether a key has begun that may go on.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Nothing came for a while: an ESC alone is the key.
    pub(crate) fn settle(&mut self, keys: &mut impl FnMut(Key)) {
        if self.pending.first() == Some(&0x1B) {
            keys(Key::Esc);
        }
        self.pending.clear();
    }

    fn step(&mut self, keys: &mut impl FnMut(Key)) {
        match *self.pending.as_slice() {
            [0x1B] | [0x1B, b'[' | b'O'] => return,
            [0x1B, 0x1B] => {
                keys(Key::Esc);
                self.pending.remove(0);
                return;
            }
            [0x1B, b'[', .., last] => match last {
                0x40..=0x7E => named(&self.pending[2..]).into_iter().for_each(keys),
                0x20..=0x3F => return,
                _ => {}
            },
            [0x1B, b'O', last] => named(&[last]).into_iter().for_each(keys),
            [0x1B, byte] => {
                keys(Key::Esc);
                single(byte).into_iter().for_each(keys);
            }
            [byte] if byte < 0x80 => single(byte).into_iter().for_each(keys),
            _ => match std::str::from_utf8(&self.pending) {
                Ok(text) => text.chars().map(Key::Char).for_each(keys),
                Err(error) if error.error_len().is_none() => return,
                Err(_) => {}
            },
        }
        self.pending.clear();
    }
}

fn single(byte: u8) -> Option<Key> {
    Some(match byte {
        b'\r' | b'\n' => Key::Enter,
        b'\t' => Key::Tab,
        0x08 | 0x7F => Key::Backspace,
        0x01..=0x1A => Key::Ctrl(char::from(byte | 0x60)),
        b' '..=b'~' => Key::Char(char::from(byte)),
        _ => return None,
    })
}

/// The key of a control sequence, without its introducer.
fn named(rest: &[u8]) -> Option<Key> {
    Some(match rest {
        [.., b'A'] => Key::Up,
        [.., b'B'] => Key::Down,
        [.., b'C'] => Key::Right,
        [.., b'D'] => Key::Left,
        [.., b'H'] | b"1~" | b"7~" => Key::Home,
        [.., b'F'] | b"4~" | b"8~" => Key::End,
        b"5~" => Key::PageUp,
        b"6~" => Key::PageDown,
        b"3~" => Key::Backspace,
        b"Z" => Key::BackTab,
        b"M" => Key::Enter,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(chunks: &[&[u8]]) -> Vec<Key> {
        let (mut decoder, mut keys) = (Decoder::default(), Vec::new());
        for chunk in chunks {
            decoder.push(chunk, &mut |key| keys.push(key));
        }
        decoder.settle(&mut |key| keys.push(key));
        assert!(!decoder.is_waiting());
        keys
    }

    #[test]
    fn bytes_are_keys_however_they_come() {
        use Key::{Backspace, Char, Ctrl, Down, Enter, Esc, Home, PageDown, Tab, Up};
        let bytes = b"a\x1b[A\x1bOB\t\r\x7f\x03\x1b[6~\x1b[1~\xc3\xa9";
        let wanted =
            [Char('a'), Up, Down, Tab, Enter, Backspace, Ctrl('c'), PageDown, Home, Char('\u{e9}')];
        assert_eq!(keys(&[bytes]), wanted);
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(keys(&single), wanted);
        assert_eq!(keys(&[b"\x1b"]), [Esc]);
        assert_eq!(keys(&[b"\x1b\x1b"]), [Esc, Esc]);
        assert_eq!(keys(&[b"\x1bn"]), [Esc, Char('n')]);
    }

    #[test]
    fn what_is_no_key_is_dropped() {
        assert_eq!(keys(&[b"\x1b[200~x\x1b[<0;1;1M\xff\x00"]), [Key::Char('x')]);
        for length in [PENDING_BYTES_MAX - 1, PENDING_BYTES_MAX, PENDING_BYTES_MAX + 1] {
            let mut decoder = Decoder::default();
            let mut long = b"\x1b[".to_vec();
            long.resize(length, b'1');
            decoder.push(&long, &mut |_| {});
            assert_eq!(decoder.is_waiting(), length <= PENDING_BYTES_MAX);
        }
    }
}
