//! Modes by name: SM, RM, DECSET, DECRST and the queries for them.
//!
//! tidy: rule table

use crate::parameters::{Parameters, number};

/// Number, label, what it means to set the mode, what it means to reset it.
type Row = (u32, &'static str, &'static str, &'static str);

#[rustfmt::skip]
const ANSI: &[Row] = &[
    (1, "GATM", "move guarded areas too", "move unguarded areas alone"),
    (2, "KAM", "lock the keyboard", "unlock the keyboard"),
    (3, "CRM", "show controls instead of acting on them", "act on controls"),
    (4, "IRM", "text is inserted", "text replaces what is there"),
    (5, "SRTM", "report status at once", "report status when asked"),
    (6, "ERM", "erase protected text too", "spare protected text"),
    (7, "VEM", "insert lines above", "insert lines below"),
    (8, "BDSM", "the terminal orders bidirectional text", "the program orders bidirectional text"),
    (10, "HEM", "insert characters before", "insert characters after"),
    (12, "SRM", "do not echo what is typed", "echo what is typed"),
    (18, "TSM", "tab stops for each line", "tab stops for all lines"),
    (20, "LNM", "a line feed returns to the start of the line", "a line feed only goes down"),
];

#[rustfmt::skip]
const PRIVATE: &[Row] = &[
    (1, "DECCKM", "cursor keys send application codes", "cursor keys send cursor codes"),
    (2, "DECANM", "leave VT52 mode", "enter VT52 mode"),
    (3, "DECCOLM", "132 columns, and erase the screen", "80 columns, and erase the screen"),
    (4, "DECSCLM", "scroll smoothly", "scroll at once"),
    (5, "DECSCNM", "reverse the screen's colours", "the screen's normal colours"),
    (6, "DECOM", "positions count from the margins", "positions count from the top left"),
    (7, "DECAWM", "wrap long lines", "do not wrap long lines"),
    (8, "DECARM", "keys repeat", "keys do not repeat"),
    (9, "mouse, X10", "report mouse buttons going down", "stop mouse reports"),
    (10, "rxvt toolbar", "show the toolbar", "hide the toolbar"),
    (12, "cursor blink", "the cursor blinks", "the cursor is steady"),
    (13, "cursor blink", "the cursor blinks", "the cursor is steady"),
    (18, "DECPFF", "print a form feed after a page", "print no form feed after a page"),
    (19, "DECPEX", "print the whole screen", "print the scrolling region alone"),
    (25, "DECTCEM", "show the cursor", "hide the cursor"),
    (30, "rxvt scroll bar", "show the scroll bar", "hide the scroll bar"),
    (35, "rxvt fonts", "keys can change the font", "keys cannot change the font"),
    (38, "DECTEK", "enter Tektronix mode", "leave Tektronix mode"),
    (40, "132 columns allowed", "allow a change to 132 columns", "allow no change to 132 columns"),
    (41, "more fix", "work around a flaw of curses", "do not work around a flaw of curses"),
    (42, "DECNRCM", "national character sets on", "national character sets off"),
    (43, "DECGEPM", "print graphics expanded", "print graphics as they are"),
    (44, "margin bell", "ring at the right margin", "do not ring at the right margin"),
    (45, "reverse wrap", "backspace wraps to the line above", "backspace stays on its line"),
    (46, "log", "write a log file", "stop the log file"),
    (47, "alternate screen", "switch to the alternate screen", "switch to the normal screen"),
    (66, "DECNKM", "keypad sends application codes", "keypad sends digits"),
    (67, "DECBKM", "backarrow key sends BS", "backarrow key sends DEL"),
    (69, "DECLRMM", "left and right margins can be set", "no left and right margins"),
    (80, "DECSDM", "sixel images do not scroll", "sixel images scroll"),
    (95, "DECNCSM", "keep the screen when columns change", "erase the screen when columns change"),
    (1000, "mouse, buttons", "report mouse buttons", "stop mouse reports"),
    (1001, "mouse, highlight", "report the mouse with highlighting", "stop mouse reports"),
    (1002, "mouse, drag", "report mouse buttons and dragging", "stop mouse reports"),
    (1003, "mouse, motion", "report all motion of the mouse", "stop mouse reports"),
    (1004, "focus reports", "report when the window gains or loses focus", "stop focus reports"),
    (1005, "mouse, UTF-8", "mouse reports in UTF-8", "mouse reports not in UTF-8"),
    (1006, "mouse, SGR", "mouse reports in SGR form", "mouse reports not in SGR form"),
    (1007, "alternate scroll", "the wheel sends cursor keys on the alternate screen",
        "the wheel sends no cursor keys"),
    (1010, "scroll on output", "scroll to the bottom on output", "do not scroll on output"),
    (1011, "scroll on key", "scroll to the bottom on a key", "do not scroll on a key"),
    (1014, "fast scroll", "scroll fast", "scroll normally"),
    (1015, "mouse, urxvt", "mouse reports in urxvt form", "mouse reports not in urxvt form"),
    (1016, "mouse, pixels", "mouse reports in pixels", "mouse reports in cells"),
    (1034, "meta key", "Meta sets the eighth bit", "Meta does not set the eighth bit"),
    (1035, "Num Lock modifier", "Alt and Num Lock are modifiers", "they are no modifiers"),
    (1036, "meta key", "Meta sends ESC before the key", "Meta sends no ESC"),
    (1037, "delete key", "Delete sends DEL", "Delete sends its function code"),
    (1039, "alt key", "Alt sends ESC before the key", "Alt sends no ESC"),
    (1040, "selection", "keep the selection without highlight", "drop it without highlight"),
    (1041, "selection", "select to the clipboard", "select to the primary selection"),
    (1042, "urgent bell", "the bell marks the window urgent", "the bell does not mark the window"),
    (1043, "raising bell", "the bell raises the window", "the bell does not raise the window"),
    (1044, "clipboard", "keep the last clipboard", "do not keep the last clipboard"),
    (1045, "reverse wrap", "backspace wraps up to the scrollback", "backspace does not wrap so"),
    (1046, "alternate screen allowed", "allow the alternate screen", "allow no alternate screen"),
    (1047, "alternate screen", "switch to the alternate screen",
        "erase the alternate screen and switch to the normal one"),
    (1048, "saved cursor", "save the cursor", "restore the cursor"),
    (1049, "alternate screen", "save the cursor, switch to the alternate screen and erase it",
        "switch to the normal screen and restore the cursor"),
    (1050, "function keys", "function keys by terminfo", "function keys not by terminfo"),
    (1051, "function keys", "function keys as Sun has them", "function keys not as Sun has them"),
    (1052, "function keys", "function keys as HP has them", "function keys not as HP has them"),
    (1053, "function keys", "function keys as SCO has them", "function keys not as SCO has them"),
    (1060, "legacy keyboard", "keyboard of X11R6", "keyboard not of X11R6"),
    (1061, "VT220 keyboard", "keyboard of the VT220", "keyboard not of the VT220"),
    (1070, "sixel palette", "a palette for each sixel image", "one palette for all sixel images"),
    (2001, "readline mouse", "a click moves the cursor of readline", "a click does not"),
    (2002, "readline mouse", "a click moves the cursor of readline", "a click does not"),
    (2003, "readline mouse", "a click deletes in readline", "a click does not"),
    (2004, "bracketed paste", "mark pasted text", "do not mark pasted text"),
    (2005, "readline quoting", "quote pasted characters", "do not quote pasted characters"),
    (2006, "readline paste", "paste newlines literally", "do not paste newlines literally"),
    (2017, "full keyboard", "report all keys as sequences", "report keys as usual"),
    (2026, "synchronized output", "hold back drawing until the end of the update",
        "draw the update"),
    (2027, "grapheme clusters", "width by grapheme cluster", "width by character"),
    (2031, "colour scheme", "report when colours turn dark or light", "stop these reports"),
    (2048, "size reports", "report when the window is resized", "stop these reports"),
    (5522, "paste events", "report pastes with their types", "stop these reports"),
    (7727, "escape key", "the Escape key sends its own code", "the Escape key sends ESC"),
    (8452, "sixel cursor", "the cursor stays beside a sixel image",
        "the cursor goes below a sixel image"),
    (9001, "win32 input", "report keys as the Windows console has them", "report keys as usual"),
];

fn find(table: &'static [Row], number: u32) -> Option<&'static Row> {
    table.iter().find(|row| row.0 == number)
}

/// The words for each mode of a list, a comma between them.
fn each(parameters: Parameters<'_>, say: impl Fn(u32) -> String) -> String {
    let said: Vec<_> = parameters.values().map(|value| say(value.unwrap_or(0))).collect();
    said.join(", ")
}

fn switched(table: &'static [Row], what: &str, parameters: Parameters<'_>, on: bool) -> String {
    each(parameters, |n| match find(table, n) {
        Some(&(_, label, set, reset)) => format!("{} ({label})", if on { set } else { reset }),
        None => format!("turn {what} {} {}", number(n), if on { "on" } else { "off" }),
    })
}

/// `CSI … h` and `CSI … l`.
pub(crate) fn ansi(parameters: Parameters<'_>, on: bool) -> String {
    switched(ANSI, "mode", parameters, on)
}

/// `CSI ? … h` and `CSI ? … l`.
pub(crate) fn private(parameters: Parameters<'_>, on: bool) -> String {
    switched(PRIVATE, "private mode", parameters, on)
}

/// `CSI … $ p`.
pub(crate) fn ask_ansi(parameters: Parameters<'_>) -> String {
    each(parameters, |n| match find(ANSI, n) {
        Some(row) => format!("ask for mode {}", row.1),
        None => format!("ask for mode {}", number(n)),
    })
}

/// A verb and the labels of private modes.
pub(crate) fn labelled(verb: &str, parameters: Parameters<'_>) -> String {
    let labels = each(parameters, |n| match find(PRIVATE, n) {
        Some(row) => row.1.to_owned(),
        None => format!("private mode {}", number(n)),
    });
    format!("{verb} {labels}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_order_and_single() {
        for table in [ANSI, PRIVATE] {
            assert!(table.windows(2).all(|rows| rows[0].0 < rows[1].0));
        }
    }

    #[test]
    fn words() {
        let private = |p: &[u8], on| super::private(Parameters(p), on);
        assert_eq!(private(b"25", false), "hide the cursor (DECTCEM)");
        assert_eq!(private(b"2004", true), "mark pasted text (bracketed paste)");
        assert_eq!(
            private(b"25;7777", true),
            "show the cursor (DECTCEM), turn private mode 7777 on"
        );
        assert_eq!(ansi(Parameters(b"4"), true), "text is inserted (IRM)");
        assert_eq!(ansi(Parameters(b""), false), "turn mode 0 off");
        assert_eq!(labelled("save", Parameters(b"1049;1")), "save alternate screen, DECCKM");
    }
}
