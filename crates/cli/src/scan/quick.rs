//! What most files are: text with nothing to find. Told at the speed of reading.

use noesc_text::{Category, Script, category, script};

/// What of a text needs a closer look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Look {
    /// Something that the boundary may report.
    pub(super) boundary: bool,
    /// A letter that may be mixed into a Latin word.
    pub(super) words: bool,
    /// Bytes of a character that the end of the chunk has cut.
    cut: [u8; 4],
    cut_len: usize,
}

/// Bytes told at once.
const STRIDE: usize = 64;

impl Look {
    /// Looks at a chunk. Once the boundary is needed there is nothing more to learn.
    pub(super) fn push(&mut self, mut chunk: &[u8]) {
        while self.cut_len > 0 && !chunk.is_empty() && !self.boundary {
            self.cut[self.cut_len] = chunk[0];
            let cut = self.cut;
            let len = self.cut_len + 1;
            chunk = &chunk[1..];
            match std::str::from_utf8(&cut[..len]) {
                Ok(text) => {
                    self.cut_len = 0;
                    text.chars().for_each(|c| self.character(c));
                }
                Err(error) if error.error_len().is_none() => self.cut_len = len,
                Err(_) => self.boundary = true,
            }
        }
        while !self.boundary {
            chunk = &chunk[plain(chunk)..];
            match chunk.first() {
                None => return,
                Some(0..0x80) => self.boundary = true,
                Some(_) => chunk = self.beyond_ascii(chunk),
            }
        }
    }

    /// At the end of the text.
    pub(super) fn finish(&mut self) {
        self.boundary |= self.cut_len > 0;
        self.words |= self.boundary;
    }

    /// Looks at a run of characters beyond ASCII and gives what is behind it.
    fn beyond_ascii<'a>(&mut self, chunk: &'a [u8]) -> &'a [u8] {
        let len = chunk.iter().take(STRIDE).take_while(|byte| !byte.is_ascii()).count();
        let (text, rest) = match std::str::from_utf8(&chunk[..len]) {
            Ok(text) => (text, &chunk[len..]),
            Err(error) if error.valid_up_to() > 0 => {
                let (text, rest) = chunk.split_at(error.valid_up_to());
                (std::str::from_utf8(text).unwrap_or_default(), rest)
            }
            Err(error) if error.error_len().is_none() && len == chunk.len() => {
                self.cut[..len].copy_from_slice(chunk);
                self.cut_len = len;
                return &[];
            }
            Err(_) => {
                self.boundary = true;
                return &[];
            }
        };
        text.chars().for_each(|c| self.character(c));
        rest
    }

    fn character(&mut self, c: char) {
        match c {
            '\u{80}'..='\u{9f}' => self.boundary = true,
            c if !is_kept(c) => self.boundary = true,
            c => self.words |= !self.words && script(c).is_some_and(|of| of != Script::Latin),
        }
    }
}

/// Whether a character beyond ASCII is kept whatever stands beside it, and bears on nothing but
/// characters that are not.
fn is_kept(c: char) -> bool {
    use Category as C;
    matches!(
        category(c),
        C::Ordinary
            | C::Ideograph
            | C::Joining(_)
            | C::MongolianLetter
            | C::Jamo
            | C::Braille
            | C::Pictograph
            | C::EmojiModifier
            | C::PrivateUseNerd
    )
}

/// How many bytes at the start are printable ASCII, TAB, LF, FF or CR: the boundary reports
/// nothing of them.
fn plain(bytes: &[u8]) -> usize {
    let strides = bytes.chunks_exact(STRIDE);
    let clean = strides.take_while(|stride| !stride.iter().fold(false, |any, &b| any | odd(b)));
    let clean = clean.count() * STRIDE;
    clean + bytes[clean..].iter().take_while(|&&byte| !odd(byte)).count()
}

#[inline]
fn odd(byte: u8) -> bool {
    let control = (byte < 0x20) & (byte != b'\n') & (byte != b'\t') & (byte != b'\r');
    (control & (byte != 0x0C)) | (byte >= 0x7F)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (boundary, words) of these bytes, however they are cut.
    fn look(bytes: &[u8]) -> (bool, bool) {
        let of = |chunks: &mut dyn Iterator<Item = &[u8]>| {
            let mut look = Look::default();
            chunks.for_each(|chunk| look.push(chunk));
            look.finish();
            (look.boundary, look.words)
        };
        let whole = of(&mut [bytes].into_iter());
        assert_eq!(of(&mut bytes.chunks(1)), whole, "{:?}", bytes.escape_ascii().to_string());
        assert_eq!(of(&mut bytes.chunks(3)), whole, "{:?}", bytes.escape_ascii().to_string());
        whole
    }

    #[test]
    fn plain_text_needs_nothing() {
        let long = "x".repeat(200);
        for text in ["", "a\tb\r\n\x0c", "caf\u{e9} \u{2014} \u{201c}\u{4e}\u{201d}", &long] {
            assert_eq!(look(text.as_bytes()), (false, false), "{}", text.escape_default());
        }
    }

    #[test]
    fn letters_of_the_set_need_the_words_alone() {
        for text in ["\u{430}", "\u{3bb}x", &format!("{}\u{13a0}", "x".repeat(99))] {
            assert_eq!(look(text.as_bytes()), (false, true), "{}", text.escape_default());
        }
    }

    #[test]
    fn everything_else_needs_the_boundary() {
        let late = [b"x".repeat(130), b"\x1b".to_vec()].concat();
        let cases: [&[u8]; 9] = [
            b"\x1b[m",
            b"\0",
            b"\x7f",
            b"\x9b",
            b"\xc2\x9b",
            b"\xe2\x80",
            b"\xe2\x80\xae",
            b"\xff",
            &late,
        ];
        for bytes in cases {
            assert_eq!(look(bytes), (true, true), "{:?}", bytes.escape_ascii().to_string());
        }
    }

    /// The short cut holds: of all that needs no boundary, the boundary reports nothing.
    #[test]
    fn the_boundary_has_nothing_to_say_of_what_does_not_need_it() {
        let clean = |c: &char| !look(c.encode_utf8(&mut [0; 4]).as_bytes()).0;
        let text: String = ('\0'..=char::MAX).filter(clean).collect();
        assert!(text.chars().count() > 800_000, "{}", text.chars().count());
        let view = noesc::view(text.as_bytes(), &noesc::Profile::AGENT).unwrap();
        assert_eq!(view.report.findings, []);
        // Whatever does have something to say is never passed by.
        let cases = noesc_testkit::corpus::load(&noesc_testkit::corpus::root()).unwrap();
        for case in cases {
            let bytes = case.input();
            let report = noesc::view(&bytes, &noesc::Profile::AGENT).unwrap().report;
            assert!(report.findings.is_empty() || look(&bytes).0, "{}", case.name);
        }
    }
}
