//! The parameters of SGR (`CSI … m`), read as ECMA-48 and ISO 8613-6 have them.

/// A colour operand of 38 or 48, or one of the eight and sixteen short forms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colour {
    /// The terminal's own, whatever it is.
    #[default]
    Default,
    /// A palette index.
    Index(u16),
    /// Red, green, blue.
    Rgb(u16, u16, u16),
}

/// What one parameter of SGR asks for, as far as it matters to a boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sgr {
    /// 0: all attributes off.
    Reset,
    /// 8 on its own, however written.
    Conceal,
    /// 28: conceal off.
    Reveal,
    /// Foreground colour.
    Foreground(Colour),
    /// Background colour.
    Background(Colour),
    /// Anything else that is well-formed: bold, underline, the colour of the underline.
    Other,
    /// 38, 48 or 58 followed by something that is no colour. Terminals differ on what they then
    /// execute.
    Broken,
}

/// Splits the parameter bytes of an SGR sequence into what each asks for, together with the bytes
/// that say so.
///
/// Never fails and never stops early: after [`Sgr::Broken`] it goes on with the next parameter, so
/// that an 8 which only some terminals would execute is seen.
///
/// ```
/// use noesc_grammar::{Colour, Sgr, SgrParameters};
///
/// let asked: Vec<_> = SgrParameters::new(b"1;38;5;8;08").map(|(sgr, _)| sgr).collect();
/// assert_eq!(asked, [Sgr::Other, Sgr::Foreground(Colour::Index(8)), Sgr::Conceal]);
/// ```
#[derive(Clone, Debug)]
pub struct SgrParameters<'a> {
    rest: Option<&'a [u8]>,
}

impl<'a> SgrParameters<'a> {
    /// Reads digits, `;` and `:`. Of a parameter that holds other bytes the number before them
    /// counts, and it takes no operands: some terminals would read it so.
    #[must_use]
    pub const fn new(parameters: &'a [u8]) -> Self {
        Self { rest: Some(parameters) }
    }
}

impl<'a> Iterator for SgrParameters<'a> {
    type Item = (Sgr, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let all = self.rest?;
        let (first, after) = cut(all, b';');
        let (head, group) = cut(first, b':');
        let number = value(head);
        let is_plain = head.iter().all(u8::is_ascii_digit);
        let (sgr, operands) = match (number, group) {
            (38 | 48 | 58, Some(group)) => (coloured(number, colour_group(group)), 0),
            (38 | 48 | 58, None) if is_plain => {
                let (colour, operands) = colour_list(after);
                (coloured(number, colour), operands)
            }
            (8, _) => (Sgr::Conceal, 0),
            (0, None) => (Sgr::Reset, 0),
            (28, None) => (Sgr::Reveal, 0),
            (39, None) => (Sgr::Foreground(Colour::Default), 0),
            (49, None) => (Sgr::Background(Colour::Default), 0),
            (30..=37, None) => (Sgr::Foreground(Colour::Index(number - 30)), 0),
            (90..=97, None) => (Sgr::Foreground(Colour::Index(number - 82)), 0),
            (40..=47, None) => (Sgr::Background(Colour::Index(number - 40)), 0),
            (100..=107, None) => (Sgr::Background(Colour::Index(number - 92)), 0),
            _ => (Sgr::Other, 0),
        };
        let mut rest = after;
        for _ in 0..operands {
            rest = rest.and_then(|bytes| cut(bytes, b';').1);
        }
        self.rest = rest;
        let used = all.len() - rest.map_or(0, |bytes| bytes.len() + 1);
        Some((sgr, &all[..used]))
    }
}

fn coloured(number: u16, colour: Option<Colour>) -> Sgr {
    match (number, colour) {
        (_, None) => Sgr::Broken,
        (38, Some(colour)) => Sgr::Foreground(colour),
        (48, Some(colour)) => Sgr::Background(colour),
        _ => Sgr::Other,
    }
}

/// `5;n` or `2;r;g;b`, and how many parameters that is.
fn colour_list(bytes: Option<&[u8]>) -> (Option<Colour>, usize) {
    let mut operands = [0; 4];
    let mut count = 0;
    let mut rest = bytes;
    while let (Some(bytes), true) = (rest, count < 4) {
        let (operand, after) = cut(bytes, b';');
        if !operand.iter().all(u8::is_ascii_digit) {
            break;
        }
        operands[count] = value(operand);
        count += 1;
        rest = after;
    }
    match (operands, count) {
        ([5, index, ..], 2..) => (Some(Colour::Index(index)), 2),
        ([2, red, green, blue], 4) => (Some(Colour::Rgb(red, green, blue)), 4),
        _ => (None, 0),
    }
}

/// `5:n`, `2:r:g:b` or, as ISO 8613-6 has it, `2:space:r:g:b` with up to two more values.
fn colour_group(group: &[u8]) -> Option<Colour> {
    let mut values = [0; 7];
    let mut count = 0;
    let mut rest = Some(group);
    while let Some(bytes) = rest {
        let (field, after) = cut(bytes, b':');
        *values.get_mut(count)? = value(field);
        count += 1;
        rest = after;
    }
    match (values[0], count) {
        (5, 2) => Some(Colour::Index(values[1])),
        (2, 4) => Some(Colour::Rgb(values[1], values[2], values[3])),
        (2, 5..) => Some(Colour::Rgb(values[2], values[3], values[4])),
        _ => None,
    }
}

/// The bytes before the first separator, and those after it if there is one.
fn cut(bytes: &[u8], separator: u8) -> (&[u8], Option<&[u8]>) {
    match bytes.iter().position(|&b| b == separator) {
        Some(at) => (&bytes[..at], Some(&bytes[at + 1..])),
        None => (bytes, None),
    }
}

/// The decimal number at the head of a parameter; empty is 0, what is too large is the largest.
pub(crate) fn value(parameter: &[u8]) -> u16 {
    let digits = parameter.iter().take_while(|b| b.is_ascii_digit());
    digits.fold(0, |n: u16, b| n.saturating_mul(10).saturating_add(u16::from(b - b'0')))
}
