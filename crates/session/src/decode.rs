//! Output that is declared to be in another encoding.

use std::fmt;

use encoding_rs::{DecoderResult, Encoding};

/// A byte that is never part of UTF-8: stands for what could not be decoded, so that the boundary
/// counts it and writes U+FFFD.
const UNDECODABLE: u8 = 0xFF;

/// Bytes decoded at once.
const PIECE_BYTES: usize = 16 * 1024;

/// Turns a declared encoding into UTF-8, chunk by chunk. Nothing is ever guessed.
pub struct Decoder {
    inner: encoding_rs::Decoder,
    encoding: &'static Encoding,
    text: Vec<u8>,
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").field("encoding", &self.name()).finish_non_exhaustive()
    }
}

/// Why an encoding can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodingError {
    /// No encoding of the Encoding Standard has this label.
    Unknown,
    /// It uses control bytes itself, or does not keep ASCII bytes for ASCII characters: what is a
    /// control in it can't be told byte by byte.
    NotAsciiCompatible,
}

impl EncodingError {
    /// One action that mends it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Unknown => {
                "use a label of the Encoding Standard: gbk, shift_jis, windows-1252, …"
            }
            Self::NotAsciiCompatible => "convert the output with iconv first",
        }
    }
}

impl fmt::Display for EncodingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "no such encoding",
            Self::NotAsciiCompatible => "this encoding uses control bytes itself",
        })
    }
}

impl std::error::Error for EncodingError {}

impl Decoder {
    /// A decoder for a label of the Encoding Standard (`gbk`, `latin1`, `utf-16le`, …), or `None`
    /// for UTF-8, which the boundary reads itself.
    ///
    /// # Errors
    /// When there is no such encoding, or it is one that the boundary can't stand behind.
    ///
    /// ```
    /// use noesc_session::Decoder;
    ///
    /// let mut text = Vec::new();
    /// let mut decoder = Decoder::for_label("gbk")?.unwrap();
    /// decoder.push(b"\xC4\xE3\xBA", &mut text);
    /// decoder.push(b"\xC3", &mut text);
    /// decoder.finish(&mut text);
    /// assert_eq!(text, "你好".as_bytes());
    /// assert!(Decoder::for_label("iso-2022-jp").is_err());
    /// # Ok::<(), noesc_session::EncodingError>(())
    /// ```
    pub fn for_label(label: &str) -> Result<Option<Self>, EncodingError> {
        let label = label.trim_ascii();
        // The Encoding Standard maps these to an encoding that decodes nothing.
        let escaping = ["iso-2022", "hz", "utf-7", "utf7", "csiso2022"];
        let lower = label.to_ascii_lowercase();
        if escaping.iter().any(|name| lower.starts_with(name)) {
            return Err(EncodingError::NotAsciiCompatible);
        }
        let encoding = Encoding::for_label(label.as_bytes()).ok_or(EncodingError::Unknown)?;
        if encoding == encoding_rs::UTF_8 {
            return Ok(None);
        }
        let wide = encoding == encoding_rs::UTF_16LE || encoding == encoding_rs::UTF_16BE;
        if !wide && !encoding.is_ascii_compatible() {
            return Err(EncodingError::NotAsciiCompatible);
        }
        let inner = encoding.new_decoder_with_bom_removal();
        Ok(Some(Self { inner, encoding, text: vec![0; 4 * PIECE_BYTES] }))
    }

    /// The name of the encoding in the Encoding Standard.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.encoding.name()
    }

    /// Decodes a chunk and appends UTF-8, with a byte FF for each thing that could not be decoded.
    pub fn push(&mut self, chunk: &[u8], to: &mut Vec<u8>) {
        for piece in chunk.chunks(PIECE_BYTES) {
            self.decode(piece, false, to);
        }
    }

    /// Ends the stream.
    pub fn finish(&mut self, to: &mut Vec<u8>) {
        self.decode(b"", true, to);
    }

    fn decode(&mut self, mut bytes: &[u8], last: bool, to: &mut Vec<u8>) {
        loop {
            let (result, read, written) =
                self.inner.decode_to_utf8_without_replacement(bytes, &mut self.text, last);
            to.extend_from_slice(&self.text[..written]);
            bytes = &bytes[read..];
            match result {
                DecoderResult::InputEmpty => return,
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(..) => to.push(UNDECODABLE),
            }
        }
    }
}
