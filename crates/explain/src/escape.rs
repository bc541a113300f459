//! Escape sequences by name.
//!
//! tidy: rule table

use crate::meaning::Meaning;

/// Intermediates, final byte, name, words.
type Row = (&'static [u8], u8, &'static str, &'static str);

#[rustfmt::skip]
const ROWS: &[Row] = &[
    (b"", b'7', "DECSC", "save cursor, style and character set"),
    (b"", b'8', "DECRC", "restore cursor, style and character set"),
    (b"", b'D', "IND", "move the cursor down 1 line, scrolling at the bottom"),
    (b"", b'M', "RI", "move the cursor up 1 line, scrolling at the top"),
    (b"", b'E', "NEL", "move the cursor to the start of the next line"),
    (b"", b'H', "HTS", "set a tab stop in this column"),
    (b"", b'6', "DECBI", "move the cursor left 1 column, scrolling at the margin"),
    (b"", b'9', "DECFI", "move the cursor right 1 column, scrolling at the margin"),
    (b"", b'=', "DECKPAM", "keypad sends application codes"),
    (b"", b'>', "DECKPNM", "keypad sends digits"),
    (b"", b'Z', "DECID", "ask what terminal this is"),
    (b"", b'N', "SS2", "take the next character from set G2"),
    (b"", b'O', "SS3", "take the next character from set G3"),
    (b"", b'n', "LS2", "shift to set G2"),
    (b"", b'o', "LS3", "shift to set G3"),
    (b"", b'~', "LS1R", "shift the right half to set G1"),
    (b"", b'}', "LS2R", "shift the right half to set G2"),
    (b"", b'|', "LS3R", "shift the right half to set G3"),
    (b"", b'c', "RIS", "reset the terminal"),
    (b"", b'<', "DECANM", "leave VT52 mode"),
    (b"", b'Y', "VT52 Y", "move the cursor (VT52; the next two characters say where)"),
    (b"", b'\\', "ST", "end of a control string, with none open"),
    (b"", b'`', "DMI", "disable manual input"),
    (b"", b'a', "INT", "interrupt"),
    (b"", b'b', "EMI", "enable manual input"),
    (b"", b'd', "CMD", "coding method delimiter"),
    (b"", b'l', "MEMLOCK", "lock memory above the cursor (HP)"),
    (b"", b'm', "MEMUNLOCK", "unlock memory (HP)"),
    (b"", b'@', "PAD", "padding"),
    (b"", b'A', "HOP", "high octet preset (VT52: cursor up)"),
    (b"", b'B', "BPH", "a line may break here (VT52: cursor down)"),
    (b"", b'C', "NBH", "a line may not break here (VT52: cursor right)"),
    (b"", b'F', "SSA", "selected area begins (HP: cursor to the lower left)"),
    (b"", b'G', "ESA", "selected area ends"),
    (b"", b'I', "HTJ", "tabulation with justification (VT52: reverse line feed)"),
    (b"", b'J', "VTS", "set a line tab stop (VT52: erase to the end of the screen)"),
    (b"", b'K', "PLD", "move down half a line (VT52: erase to the end of the line)"),
    (b"", b'L', "PLU", "move up half a line"),
    (b"", b'Q', "PU1", "private use 1"),
    (b"", b'R', "PU2", "private use 2"),
    (b"", b'S', "STS", "set transmit state"),
    (b"", b'T', "CCH", "cancel the character before"),
    (b"", b'U', "MW", "message waiting"),
    (b"", b'V', "SPA", "guarded area begins"),
    (b"", b'W', "EPA", "guarded area ends"),
    (b"#", b'3', "DECDHL", "this line: top half of double height"),
    (b"#", b'4', "DECDHL", "this line: bottom half of double height"),
    (b"#", b'5', "DECSWL", "this line: single width"),
    (b"#", b'6', "DECDWL", "this line: double width"),
    (b"#", b'8', "DECALN", "fill the screen with E"),
    (b" ", b'F', "S7C1T", "the terminal answers with 7-bit controls"),
    (b" ", b'G', "S8C1T", "the terminal answers with 8-bit controls"),
    (b" ", b'L', "ACS", "announce conformance to ANSI level 1"),
    (b" ", b'M', "ACS", "announce conformance to ANSI level 2"),
    (b" ", b'N', "ACS", "announce conformance to ANSI level 3"),
    (b"%", b'@', "DOCS", "select ISO 2022 as the encoding"),
    (b"%", b'G', "DOCS", "select UTF-8 as the encoding"),
    (b"%", b'8', "DOCS", "select UTF-8 as the encoding (obsolete form)"),
];

/// Character sets by their designation, for sets of 94 characters.
#[rustfmt::skip]
const SETS_94: &[(&[u8], &str)] = &[
    (b"0", "DEC line drawing"),
    (b"1", "alternate ROM characters"),
    (b"2", "alternate ROM graphics"),
    (b"4", "Dutch"),
    (b"5", "Finnish"),
    (b"6", "Norwegian and Danish"),
    (b"7", "Swedish"),
    (b"9", "French Canadian"),
    (b"<", "user-preferred supplemental"),
    (b"=", "Swiss"),
    (b">", "DEC technical"),
    (b"@", "ISO 646 IRV"),
    (b"A", "British"),
    (b"B", "ASCII"),
    (b"C", "Finnish"),
    (b"E", "Norwegian and Danish"),
    (b"H", "Swedish"),
    (b"I", "JIS katakana"),
    (b"J", "JIS roman"),
    (b"K", "German"),
    (b"Q", "French Canadian"),
    (b"R", "French"),
    (b"U", "the console's own font (Linux)"),
    (b"Y", "Italian"),
    (b"Z", "Spanish"),
    (b"`", "Norwegian and Danish"),
    (b"f", "French"),
    (b"%5", "DEC supplemental"),
    (b"%6", "Portuguese"),
    (b"%2", "Turkish"),
    (b"%0", "DEC Turkish"),
    (b"%=", "Hebrew"),
    (b"&4", "DEC Cyrillic"),
    (b"&5", "Russian"),
    (b"\"4", "DEC Hebrew"),
    (b"\"?", "DEC Greek"),
    (b"\">", "Greek"),
];

/// The same for sets of 96 characters.
#[rustfmt::skip]
const SETS_96: &[(&[u8], &str)] = &[
    (b"A", "Latin-1"),
    (b"B", "Latin-2"),
    (b"F", "ISO Greek"),
    (b"H", "ISO Hebrew"),
    (b"L", "ISO Latin and Cyrillic"),
    (b"M", "Latin-5"),
];

/// The name and the meaning, by intermediates and final byte (0 if there is none).
pub(crate) fn describe(intermediates: &[u8], final_byte: u8) -> Meaning {
    if final_byte == 0 {
        return Meaning::new("ESC", "escape sequence without its final byte");
    }
    if let Some(row) = ROWS.iter().find(|row| (row.0, row.1) == (intermediates, final_byte)) {
        return Meaning::new(row.2, row.3);
    }
    match intermediates {
        [set @ b'('..=b'+', rest @ ..] => designate(set - b'(', rest, final_byte, SETS_94),
        [set @ b'-'..=b'/', rest @ ..] => designate(set - b',', rest, final_byte, SETS_96),
        [b'$', ..] => Meaning::new("SCS", "designate a set of multi-byte characters"),
        [b'%', ..] => Meaning::new("DOCS", "select another encoding"),
        [b' ', ..] => Meaning::new("ACS", "announce how the code is used"),
        [b'!', ..] => Meaning::new("CZD", "designate a set of C0 controls"),
        [b'"', ..] => Meaning::new("C1D", "designate a set of C1 controls"),
        [b'&', ..] => Meaning::new("IRR", "identify a revised registration of a set"),
        [] if final_byte < 0x40 => Meaning::unknown("private escape sequence without a name"),
        _ => Meaning::unknown("escape sequence that no table names"),
    }
}

fn designate(into: u8, rest: &[u8], final_byte: u8, sets: &[(&[u8], &'static str)]) -> Meaning {
    let key = [rest, &[final_byte]].concat();
    let set = sets.iter().find(|(designation, _)| *designation == key);
    let set = set.map_or("another character set", |&(_, name)| name);
    Meaning::new("SCS", format!("make G{into} the set: {set}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_words() {
        for (intermediates, final_byte, said) in [
            (&b""[..], b'c', "RIS: reset the terminal"),
            (b"(", b'0', "SCS: make G0 the set: DEC line drawing"),
            (b")", b'B', "SCS: make G1 the set: ASCII"),
            (b"-", b'A', "SCS: make G1 the set: Latin-1"),
            (b"(%", b'5', "SCS: make G0 the set: DEC supplemental"),
            (b"*", b'\'', "SCS: make G2 the set: another character set"),
            (b"%", b'G', "DOCS: select UTF-8 as the encoding"),
            (b" ", b'F', "S7C1T: the terminal answers with 7-bit controls"),
            (b"(", 0, "ESC: escape sequence without its final byte"),
        ] {
            let Meaning { name, words } = describe(intermediates, final_byte);
            assert_eq!(format!("{name}: {words}"), said);
        }
    }
}
