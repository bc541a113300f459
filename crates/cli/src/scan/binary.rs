//! Whether a file is text, told from its start.

/// Noise has at least one byte in so many that begins ill-formed UTF-8, and at least one in so many
/// that is a control of no text. Texts in other encodings have the first alone; transcripts of
/// terminals and chat logs have other controls.
const ILL_FORMED_ONE_IN: usize = 16;
const CONTROL_ONE_IN: usize = 256;

/// Whether the start of a file is noise, NUL or not: a compressed file, a key, a table, whose bytes
/// spell sequences and words by chance. Never so for an empty start.
pub(super) fn is_noise(head: &[u8]) -> bool {
    let controls = head.iter().filter(|&&byte| is_of_no_text(byte)).count();
    let ill_formed = || head.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
    controls > 0
        && controls * CONTROL_ONE_IN >= head.len()
        && ill_formed() * ILL_FORMED_ONE_IN >= head.len()
}

/// A control that is none of those in texts: white space, BEL, BS, ESC, SO and SI of terminals,
/// 02, 03, 0F, 16, 1D and 1F of chat logs, and 1A, which ends files. NUL is looked for before.
const fn is_of_no_text(byte: u8) -> bool {
    matches!(byte, 0x01 | 0x04..=0x06 | 0x10..=0x15 | 0x17..=0x19 | 0x1C | 0x1E)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many bytes, with so many ill-formed ones and controls among them.
    fn head(len: usize, ill_formed: usize, controls: usize) -> Vec<u8> {
        let text = vec![b'x'; len - ill_formed - controls];
        [vec![0xFF; ill_formed], vec![0x01; controls], text].concat()
    }

    #[test]
    fn noise_has_enough_of_both() {
        let (ill_formed, controls) = (4096 / ILL_FORMED_ONE_IN, 4096 / CONTROL_ONE_IN);
        for more in [0, 1, 1000] {
            assert!(is_noise(&head(4096, ill_formed + more, controls)));
            assert!(is_noise(&head(4096, ill_formed, controls + more)));
        }
        assert!(!is_noise(&head(4096, ill_formed - 1, controls)));
        assert!(!is_noise(&head(4096, ill_formed, controls - 1)));
        assert!(!is_noise(&head(4096, 0, 2048)) && !is_noise(&head(4096, 2048, 0)));
        assert!(is_noise(b"\x06\xff") && !is_noise(b"\xff") && !is_noise(b""));
    }

    #[test]
    fn texts_in_other_encodings_and_transcripts_are_no_noise() {
        // KOI8-R with the controls of a chat log, of a terminal, and of an old end of file.
        let koi8 = b"\xd0\xd2\xc9\xd7\xc5\xd4 ".repeat(40);
        for controls in
            [&b"\x02\x03\x0f\x16\x1d\x1f"[..], b"\x1b[m\x07\x08\x0e\x0b\x0c\r\n", b"\x1a"]
        {
            assert!(!is_noise(&[&koi8, controls].concat()));
        }
    }
}
