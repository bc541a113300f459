//! A bounded extract of an original, printed in an inert form.

use std::fmt::Write;
use std::process::ExitCode;

use noesc::{Boundary, Profile, audit};

use super::Form;
use super::original::Opening;
use crate::fail::{Failure, Result};
use crate::input::write;
use crate::say::say;

/// Bytes of an extract that are printed: what a reader goes through; the viewer shows any number.
pub(super) const EXTRACT_BYTES_MAX: u64 = 1024 * 1024;

/// Bytes of a row of hex.
const ROW: usize = 16;

/// Reads `OFFSET+LENGTH`.
pub(super) fn range(text: &str) -> std::result::Result<(u64, u64), String> {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    };
    let parsed = text.split_once('+').and_then(|(at, count)| Some((number(at)?, number(count)?)));
    match parsed {
        Some((at, count)) if count > 0 && at.checked_add(count).is_some() => Ok((at, count)),
        _ => Err("it is OFFSET+LENGTH, such as 4096+512 or 0x1000+0x200".into()),
    }
}

/// Prints it, after the ledger knows what is printed.
pub(super) fn print(
    opening: &mut Opening<'_>,
    (offset, count): (u64, u64),
    form: Form,
    tell: &mut dyn FnMut(&str, u64) -> Result<()>,
) -> Result<ExitCode> {
    if count > EXTRACT_BYTES_MAX {
        return Err(Failure::new(format!(
            "an extract has at most {EXTRACT_BYTES_MAX} bytes, not {count}"
        ))
        .hint("without --range the viewer shows all; --as raw --to FILE writes any number"));
    }
    let end = opening.bytes();
    if offset >= end {
        return Err(Failure::new(format!("the stream has {end} bytes: there is none at {offset}"))
            .hint("offsets count from 0"));
    }
    let mut bytes = vec![0; usize::try_from(count.min(end - offset)).unwrap_or_default()];
    let read = opening.piece(offset, &mut bytes)?;
    bytes.truncate(read);
    let text = match form {
        Form::Hex | Form::Raw => hex(offset, &bytes),
        Form::Audit => format!("{}\n", audit(&bytes)),
        Form::Clean => clean(&bytes)?,
    };
    tell(&opening.keyed(offset, bytes.len() as u64)?, bytes.len() as u64)?;
    if let Some(fault) = opening.fault() {
        say(&fault);
    }
    write(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn hex(offset: u64, bytes: &[u8]) -> String {
    let mut text = String::new();
    for (row, bytes) in bytes.chunks(ROW).enumerate() {
        let _ = write!(text, "{:08x} ", offset + (row * ROW) as u64);
        for column in 0..ROW {
            let gap = if column == ROW / 2 { " " } else { "" };
            let _ = match bytes.get(column) {
                Some(byte) => write!(text, "{gap} {byte:02x}"),
                None => write!(text, "{gap}   "),
            };
        }
        let shown = bytes.iter().map(|byte| match byte {
            b' '..=b'~' => char::from(*byte),
            _ => '.',
        });
        let _ = writeln!(text, "  |{}|", shown.collect::<String>());
    }
    text
}

fn clean(bytes: &[u8]) -> Result<String> {
    let mut boundary = Boundary::new(&Profile::AGENT)
        .map_err(|error| Failure::new(error.to_string()).hint(error.hint()))?;
    let mut view = String::new();
    boundary.push(bytes, &mut view);
    boundary.finish(&mut view);
    if !view.ends_with('\n') && !view.is_empty() {
        view.push('\n');
    }
    Ok(view)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_read() {
        assert_eq!(range("4096+512"), Ok((4096, 512)));
        assert_eq!(range("0x1000+0x2"), Ok((4096, 2)));
        for wrong in ["", "+", "1", "1+", "+1", "1+0", "-1+1", "18446744073709551615+1", "1+1+1"] {
            assert!(range(wrong).is_err(), "{wrong}");
        }
    }

    /// The verb is tested at its limit in tests/open.rs; here that the number there is this one.
    #[test]
    fn an_extract_has_its_limit() {
        assert_eq!(EXTRACT_BYTES_MAX, 1_048_576);
    }

    #[test]
    fn hex_has_no_byte_of_the_original_that_acts() {
        let all: Vec<u8> = (0..=255).collect();
        let text = hex(0, &all);
        assert!(text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n')));
        assert_eq!(
            text.lines().nth(1),
            Some("00000010  10 11 12 13 14 15 16 17  18 19 1a 1b 1c 1d 1e 1f  |................|")
        );
        assert_eq!(
            hex(32, b"A\x1b"),
            "00000020  41 1b                                             |A.|\n"
        );
    }
}
