//! SGR in words.
//!
//! tidy: rule table

use noesc_grammar::{Colour, Sgr, SgrParameters};

use crate::parameters::{Parameters, number, value};

/// The first sixteen colours of the palette.
const PALETTE: [&str; 16] = [
    "black",
    "red",
    "green",
    "yellow",
    "blue",
    "magenta",
    "cyan",
    "white",
    "bright black",
    "bright red",
    "bright green",
    "bright yellow",
    "bright blue",
    "bright magenta",
    "bright cyan",
    "bright white",
];

/// What a parameter that is no colour asks for.
#[rustfmt::skip]
const ATTRIBUTES: &[(u32, &str)] = &[
    (0, "reset"),
    (1, "bold"),
    (2, "faint"),
    (3, "italic"),
    (4, "underline"),
    (5, "blink"),
    (6, "blink fast"),
    (7, "reverse video"),
    (8, "conceal"),
    (9, "strike out"),
    (10, "default font"),
    (20, "blackletter"),
    (21, "double underline"),
    (22, "bold and faint off"),
    (23, "italic off"),
    (24, "underline off"),
    (25, "blink off"),
    (26, "proportional spacing"),
    (27, "reverse video off"),
    (28, "conceal off"),
    (29, "strike out off"),
    (50, "proportional spacing off"),
    (51, "frame"),
    (52, "encircle"),
    (53, "overline"),
    (54, "frame and circle off"),
    (55, "overline off"),
    (59, "default underline colour"),
    (60, "ideogram underline"),
    (61, "ideogram double underline"),
    (62, "ideogram overline"),
    (63, "ideogram double overline"),
    (64, "ideogram stress mark"),
    (65, "ideogram attributes off"),
    (73, "superscript"),
    (74, "subscript"),
    (75, "superscript and subscript off"),
];

/// `4:n`.
const UNDERLINES: [&str; 6] = [
    "underline off",
    "underline",
    "double underline",
    "curly underline",
    "dotted underline",
    "dashed underline",
];

/// What all parameters ask for, in their order.
pub(crate) fn words(parameters: Parameters<'_>) -> String {
    let said: Vec<_> =
        SgrParameters::new(parameters.0).map(|(sgr, bytes)| one(sgr, bytes)).collect();
    said.join(", ")
}

fn one(sgr: Sgr, bytes: &[u8]) -> String {
    let digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    let (code, rest) = bytes.split_at(digits);
    let code = match rest.first() {
        None | Some(b';' | b':') => value(code),
        _ => crate::parameters::UNREADABLE,
    };
    match sgr {
        Sgr::Foreground(of) => format!("foreground {}", colour(of)),
        Sgr::Background(of) => format!("background {}", colour(of)),
        Sgr::Broken => format!("{} without a colour (terminals differ)", number(code)),
        _ if code == 58 => format!("underline colour {}", colour(underline(rest))),
        _ => attribute(code, rest),
    }
}

fn attribute(code: u32, rest: &[u8]) -> String {
    let sub = rest.strip_prefix(b":").map(value);
    match (code, sub) {
        (4, Some(style)) => match usize::try_from(style).ok().and_then(|n| UNDERLINES.get(n)) {
            Some(words) => (*words).to_owned(),
            None => format!("underline style {}", number(style)),
        },
        (11..=19, _) => format!("font {}", code - 10),
        _ => match ATTRIBUTES.iter().find(|(n, _)| *n == code) {
            Some(&(_, words)) => words.to_owned(),
            None => format!("attribute {}", number(code)),
        },
    }
}

/// 58 takes the same operands as 38.
fn underline(operands: &[u8]) -> Colour {
    let as_foreground = [b"38", operands].concat();
    match SgrParameters::new(&as_foreground).next() {
        Some((Sgr::Foreground(colour), _)) => colour,
        _ => Colour::Default,
    }
}

fn colour(colour: Colour) -> String {
    match colour {
        Colour::Default => "default".to_owned(),
        Colour::Index(index) => match PALETTE.get(usize::from(index)) {
            Some(name) => (*name).to_owned(),
            None => format!("palette {index}"),
        },
        Colour::Rgb(red @ ..=255, green @ ..=255, blue @ ..=255) => {
            format!("#{red:02x}{green:02x}{blue:02x}")
        }
        Colour::Rgb(red, green, blue) => format!("rgb({red}, {green}, {blue})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_in_words() {
        for (parameters, said) in [
            (&b""[..], "reset"),
            (b"0", "reset"),
            (b"1;91", "bold, foreground bright red"),
            (b"38;5;208;48;5;8", "foreground palette 208, background bright black"),
            (b"38;2;255;136;0", "foreground #ff8800"),
            (b"38:2::10:20:30", "foreground #0a141e"),
            (b"48;2;300;0;0", "background rgb(300, 0, 0)"),
            (b"58;5;1;4:3", "underline colour red, curly underline"),
            (b"58:2::1:2:3", "underline colour #010203"),
            (b"08", "conceal"),
            (b"8:1", "conceal"),
            (b"4:9", "underline style 9"),
            (b"38;8", "38 without a colour (terminals differ), conceal"),
            (b"39;49", "foreground default, background default"),
            (b"12;99", "font 2, attribute 99"),
            (b"1?", "attribute an unreadable number"),
        ] {
            assert_eq!(words(Parameters(parameters)), said, "{}", parameters.escape_ascii());
        }
    }
}
