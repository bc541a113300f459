//! Style kept: rebuilt from its parsed parameters, never copied.

use noesc_grammar::{Sequence, Sgr, SgrParameters};

use crate::profile::Conceal;

/// Parameters of one kept SGR; more drop the whole sequence. What terminals read without loss
/// (xterm 30, VTE 32).
pub(crate) const SGR_PARAMETERS_MAX: usize = 32;

/// Value of one parameter; a larger one drops the whole sequence.
pub(crate) const SGR_VALUE_MAX: u32 = 65_535;

/// A rebuilt style sequence.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rebuilt {
    pub(crate) text: String,
    /// It does nothing but reset.
    pub(crate) resets: bool,
}

/// Whether a sequence is an SGR that may be kept, at all.
pub(crate) fn is_style(sequence: &Sequence<'_>) -> bool {
    sequence.is_sound()
        && sequence.class == noesc_grammar::Class::Csi
        && sequence.final_byte == b'm'
        && sequence.collected.iter().all(|b| matches!(b, b'0'..=b'9' | b';' | b':'))
}

/// Rebuilds a style sequence; `None` drops it.
pub(crate) fn rebuild(parameters: &[u8], conceal: Conceal) -> Option<Rebuilt> {
    if parameters.split(|&b| b == b';').count() > SGR_PARAMETERS_MAX {
        return None;
    }
    let mut text = String::from("\x1b[");
    let mut resets = true;
    for (sgr, bytes) in SgrParameters::new(parameters) {
        match (sgr, conceal) {
            (Sgr::Broken, _) | (Sgr::Conceal, Conceal::Sequence) => return None,
            (Sgr::Conceal, Conceal::Parameter) => continue,
            (Sgr::Reset, _) => {}
            _ => resets = false,
        }
        if text.len() > 2 {
            text.push(';');
        }
        numbers(bytes, &mut text)?;
    }
    if text.len() == 2 {
        return None;
    }
    text.push('m');
    Some(Rebuilt { text, resets })
}

/// Writes each number without leading zeros, an empty one as 0, with its separators.
fn numbers(bytes: &[u8], text: &mut String) -> Option<()> {
    let mut number: u32 = 0;
    for &byte in bytes {
        match byte {
            b'0'..=b'9' => {
                number = number * 10 + u32::from(byte - b'0');
                if number > SGR_VALUE_MAX {
                    return None;
                }
            }
            _ => {
                text.push_str(&number.to_string());
                text.push(char::from(byte));
                number = 0;
            }
        }
    }
    text.push_str(&number.to_string());
    Some(())
}
