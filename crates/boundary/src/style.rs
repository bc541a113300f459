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

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(parameters: &str) -> Option<String> {
        rebuild(parameters.as_bytes(), Conceal::Sequence).map(|rebuilt| rebuilt.text)
    }

    #[test]
    fn parameters_and_values_are_kept_up_to_their_limits() {
        for n in [SGR_PARAMETERS_MAX - 1, SGR_PARAMETERS_MAX, SGR_PARAMETERS_MAX + 1] {
            let parameters = vec!["1"; n].join(";");
            assert_eq!(kept(&parameters).is_some(), n <= SGR_PARAMETERS_MAX);
        }
        for n in [SGR_VALUE_MAX - 1, SGR_VALUE_MAX, SGR_VALUE_MAX + 1, u32::MAX] {
            let rebuilt = (n <= SGR_VALUE_MAX).then(|| format!("\x1b[1;{n}m"));
            assert_eq!(kept(&format!("1;{n}")), rebuilt);
        }
        assert_eq!(kept("99999999999999999999999999"), None);
    }

    #[test]
    fn a_style_is_rebuilt_from_its_numbers() {
        for (parameters, rebuilt) in [
            ("", "0"),
            (";", "0;0"),
            ("0001", "1"),
            ("1;;31", "1;0;31"),
            ("4:3", "4:3"),
            ("38;5;8", "38;5;8"),
            ("38;2;1;2;3;1", "38;2;1;2;3;1"),
            ("38:2::10:20:30", "38:2:0:10:20:30"),
            ("38:5:8", "38:5:8"),
            ("58;5;8;4", "58;5;8;4"),
            ("48;2;;;", "48;2;0;0;0"),
        ] {
            assert_eq!(kept(parameters), Some(format!("\x1b[{rebuilt}m")), "{parameters}");
        }
        for parameters in [
            "8", "08", "8:1", "1;8", "38;5;8;8", "38:5:1;8", "38", "38;5", "38;2;1;2", "38;9;1",
            "38;8", "38:9", "38:5", "38;5:8", "48;5;8:1",
        ] {
            assert_eq!(kept(parameters), None, "{parameters}");
        }
    }

    #[test]
    fn the_parameter_alone_may_go() {
        let kept = |p: &str| rebuild(p.as_bytes(), Conceal::Parameter).map(|rebuilt| rebuilt.text);
        assert_eq!(kept("1;8;31").as_deref(), Some("\x1b[1;31m"));
        assert_eq!(kept("08;1").as_deref(), Some("\x1b[1m"));
        assert_eq!(kept("8"), None);
        assert_eq!(kept("8;8:1"), None);
    }
}
