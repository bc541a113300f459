//! Control sequences by name.
//!
//! tidy: rule table

use std::borrow::Cow;

use crate::meaning::Meaning;
use crate::mode;
use crate::parameters::Words::{By, Count, Is, Pick, Value};
use crate::parameters::{Parameters, Words, counted, number, rectangle};
use crate::style;

/// One control sequence: private marker (0 if none), intermediates, final byte, name, words.
type Row = (u8, &'static [u8], u8, &'static str, Words);

/// Sorted by what they do. No two rows have the same first three columns (a test says so).
#[rustfmt::skip]
const ROWS: &[Row] = &[
    (0, b"", b'm', "SGR", By(style::words)),
    // Cursor.
    (0, b"", b'A', "CUU", Count("move the cursor up", "line")),
    (0, b"", b'B', "CUD", Count("move the cursor down", "line")),
    (0, b"", b'C', "CUF", Count("move the cursor right", "column")),
    (0, b"", b'D', "CUB", Count("move the cursor left", "column")),
    (0, b"", b'E', "CNL", Count("move the cursor to the start of the line, down", "line")),
    (0, b"", b'F', "CPL", Count("move the cursor to the start of the line, up", "line")),
    (0, b"", b'G', "CHA", By(column)),
    (0, b"", b'H', "CUP", By(position)),
    (0, b"", b'I', "CHT", Count("move the cursor forward", "tab stop")),
    (0, b"", b'Z', "CBT", Count("move the cursor back", "tab stop")),
    (0, b"", b'`', "HPA", By(column)),
    (0, b"", b'a', "HPR", Count("move the cursor right", "column")),
    (0, b"", b'd', "VPA", By(line)),
    (0, b"", b'e', "VPR", Count("move the cursor down", "line")),
    (0, b"", b'f', "HVP", By(position)),
    (0, b"", b'j', "HPB", Count("move the cursor left", "column")),
    (0, b"", b'k', "VPB", Count("move the cursor up", "line")),
    (0, b"", b'g', "TBC", Pick(&[
        (0, "clear the tab stop of this column"),
        (3, "clear all tab stops"),
    ], "clear tab stops")),
    (0, b"", b'W', "CTC", Pick(&[
        (0, "set a tab stop in this column"),
        (2, "clear the tab stop of this column"),
        (5, "clear all tab stops"),
    ], "control tab stops")),
    (b'?', b"", b'W', "DECST8C", Pick(&[
        (5, "set a tab stop every 8 columns"),
    ], "set tab stops")),
    (0, b"", b'u', "SCORC", Is("restore the cursor")),
    // Erase.
    (0, b"", b'J', "ED", Pick(&[
        (0, "erase from the cursor to the end of the screen"),
        (1, "erase from the start of the screen to the cursor"),
        (2, "erase the screen"),
        (3, "erase the scrollback"),
    ], "erase in the screen")),
    (0, b"", b'K', "EL", Pick(&[
        (0, "erase from the cursor to the end of the line"),
        (1, "erase from the start of the line to the cursor"),
        (2, "erase the line"),
    ], "erase in the line")),
    (b'?', b"", b'J', "DECSED", Pick(&[
        (0, "erase what is unprotected from the cursor to the end of the screen"),
        (1, "erase what is unprotected from the start of the screen to the cursor"),
        (2, "erase what is unprotected on the screen"),
    ], "erase what is unprotected in the screen")),
    (b'?', b"", b'K', "DECSEL", Pick(&[
        (0, "erase what is unprotected from the cursor to the end of the line"),
        (1, "erase what is unprotected from the start of the line to the cursor"),
        (2, "erase what is unprotected in the line"),
    ], "erase what is unprotected in the line")),
    (0, b"", b'P', "DCH", Count("delete", "character")),
    (0, b"", b'X', "ECH", Count("erase", "character")),
    (0, b"", b'N', "EF", Pick(&[
        (0, "erase from the cursor to the end of the field"),
        (1, "erase from the start of the field to the cursor"),
        (2, "erase the field"),
    ], "erase in the field")),
    (0, b"", b'O', "EA", Pick(&[
        (0, "erase from the cursor to the end of the area"),
        (1, "erase from the start of the area to the cursor"),
        (2, "erase the area"),
    ], "erase in the area")),
    (0, b"\"", b'q', "DECSCA", Pick(&[
        (0, "text that follows can be erased selectively"),
        (1, "protect text that follows from selective erasing"),
        (2, "text that follows can be erased selectively"),
    ], "protect text that follows")),
    // Scroll.
    (0, b"", b'S', "SU", Count("scroll up", "line")),
    (0, b"", b'T', "SD", By(scroll_down)),
    (0, b"", b'^', "SD", Count("scroll down", "line")),
    (0, b"", b'L', "IL", Count("insert", "line")),
    (0, b"", b'M', "DL", Count("delete", "line")),
    (0, b"", b'@', "ICH", Count("insert", "blank character")),
    (0, b"", b'r', "DECSTBM", By(margins_of_lines)),
    (0, b"", b's', "DECSLRM", By(margins_of_columns)),
    (0, b"'", b'}', "DECIC", Count("insert", "column")),
    (0, b"'", b'~', "DECDC", Count("delete", "column")),
    (0, b" ", b'@', "SL", Count("scroll left", "column")),
    (0, b" ", b'A', "SR", Count("scroll right", "column")),
    (0, b"", b'U', "NP", Count("show the next page, ahead", "page")),
    (0, b"", b'V', "PP", Count("show the page before, back", "page")),
    (0, b" ", b'P', "PPA", Value("move to page")),
    (0, b" ", b'Q', "PPR", Count("move forward", "page")),
    (0, b" ", b'R', "PPB", Count("move back", "page")),
    // Repeat, rectangles.
    (0, b"", b'b', "REP", Count("repeat the character before,", "time")),
    (0, b"$", b'x', "DECFRA", By(fill)),
    (0, b"$", b'v', "DECCRA", By(copy)),
    (0, b"$", b'z', "DECERA", By(|p| format!("erase {}", rectangle(p, 0)))),
    (0, b"$", b'{', "DECSERA", By(|p| format!("erase what is unprotected in {}", rectangle(p, 0)))),
    (0, b"$", b'r', "DECCARA", By(|p| format!("change the attributes of {}", rectangle(p, 0)))),
    (0, b"$", b't', "DECRARA", By(|p| format!("reverse attributes in {}", rectangle(p, 0)))),
    (0, b"*", b'x', "DECSACE", Pick(&[
        (0, "changes of attributes run from start to end, wrapped"),
        (1, "changes of attributes run from start to end, wrapped"),
        (2, "changes of attributes cover the exact rectangle"),
    ], "set the extent of changes of attributes")),
    // Modes.
    (b'?', b"", b'h', "DECSET", By(|p| mode::private(p, true))),
    (b'?', b"", b'l', "DECRST", By(|p| mode::private(p, false))),
    (0, b"", b'h', "SM", By(|p| mode::ansi(p, true))),
    (0, b"", b'l', "RM", By(|p| mode::ansi(p, false))),
    (b'?', b"", b's', "XTSAVE", By(|p| mode::labelled("save", p))),
    (b'?', b"", b'r', "XTRESTORE", By(|p| mode::labelled("restore", p))),
    (b'=', b"", b'h', "SM =", Is("set a screen mode of the PC console (ANSI.SYS)")),
    (b'=', b"", b'l', "RM =", Is("reset a screen mode of the PC console (ANSI.SYS)")),
    (b'>', b"", b'h', "SM >", Is("set a private mode of this terminal")),
    (b'>', b"", b'l', "RM >", Is("reset a private mode of this terminal")),
    (b'<', b"", b'h', "SM <", Is("set a private mode of this terminal")),
    (b'<', b"", b'l', "RM <", Is("reset a private mode of this terminal")),
    (0, b" ", b'q', "DECSCUSR", Pick(&[
        (0, "the default cursor shape"),
        (1, "blinking block as the cursor"),
        (2, "steady block as the cursor"),
        (3, "blinking underline as the cursor"),
        (4, "steady underline as the cursor"),
        (5, "blinking bar as the cursor"),
        (6, "steady bar as the cursor"),
    ], "set the cursor shape")),
    (b'?', b"", b'c', "LINUX ?c", Is("set the cursor shape of the Linux console (as input: DA1)")),
    (0, b"", b'q', "DECLL", Pick(&[
        (0, "all keyboard lights off"),
        (1, "Num Lock light on"),
        (2, "Caps Lock light on"),
        (3, "Scroll Lock light on"),
        (21, "Num Lock light off"),
        (22, "Caps Lock light off"),
        (23, "Scroll Lock light off"),
    ], "set keyboard lights")),
    (0, b"\"", b'p', "DECSCL", Pick(&[
        (61, "act as a VT100"),
        (62, "act as a VT200"),
        (63, "act as a VT300"),
        (64, "act as a VT400"),
        (65, "act as a VT500"),
    ], "set the conformance level")),
    (0, b" ", b't', "DECSWBV", Value("set the volume of the bell to")),
    (0, b" ", b'u', "DECSMBV", Value("set the volume of the margin bell to")),
    (0, b"$", b'|', "DECSCPP", By(columns_per_page)),
    (0, b"*", b'|', "DECSNLS", Value("set the lines of the screen to")),
    (0, b"$", b'}', "DECSASD", Pick(&[
        (0, "write to the main screen"),
        (1, "write to the status line"),
    ], "select where to write")),
    (0, b"$", b'~', "DECSSDT", Pick(&[
        (0, "no status line"),
        (1, "status line shows the terminal's state"),
        (2, "status line can be written"),
    ], "select the status line")),
    (0, b"#", b'{', "XTPUSHSGR", Is("save colours and attributes on a stack")),
    (0, b"#", b'p', "XTPUSHSGR", Is("save colours and attributes on a stack")),
    (0, b"#", b'}', "XTPOPSGR", Is("restore colours and attributes from the stack")),
    (0, b"#", b'q', "XTPOPSGR", Is("restore colours and attributes from the stack")),
    (0, b"#", b'P', "XTPUSHCOLORS", Is("save the palette on a stack")),
    (0, b"#", b'Q', "XTPOPCOLORS", Is("restore the palette from the stack")),
    (0, b"#", b'R', "XTREPORTCOLORS", Is("report the stack of palettes")),
    (0, b"#", b'|', "XTREPORTSGR", By(|p| format!("report the attributes in {}", rectangle(p, 0)))),
    (0, b"#", b'y', "XTCHECKSUM", Value("set the kind of checksum to")),
    (0, b",", b'|', "DECAC", Is("assign colours to an item of the screen")),
    (0, b",", b'}', "DECATC", Is("set the colours of an attribute")),
    (0, b"+", b'p', "DECSR", Value("reset the terminal; confirm with number")),
    (0, b"*", b'z', "DECINVM", Value("run the stored macro")),
    // Keyboard and mouse.
    (b'>', b"", b'u', "KITTY >u", Value("push keyboard flags (kitty):")),
    (b'<', b"", b'u', "KITTY <u", Count("pop keyboard flags (kitty),", "time")),
    (b'=', b"", b'u', "KITTY =u", By(kitty_keys)),
    (b'?', b"", b'u', "KITTY ?u", Is("ask for keyboard flags (kitty)")),
    (b'>', b"", b'm', "XTMODKEYS", By(modify_keys)),
    (b'>', b"", b'n', "XTMODKEYS", By(modify_keys_off)),
    (b'>', b"", b'f', "XTFMTKEYS", Is("set how modified keys are reported")),
    (b'>', b"", b'p', "XTSMPOINTER", Pick(&[
        (0, "never hide the pointer"),
        (1, "hide the pointer while the mouse is not tracked"),
        (2, "hide the pointer while it is in the window"),
        (3, "hide the pointer always"),
    ], "set when the pointer is hidden")),
    (b'>', b"", b's', "XTSHIFTESCAPE", Is("set what Shift does to mouse reports")),
    (b'<', b"", b'M', "mouse", Is("a button went down (report of the mouse, as input)")),
    (b'<', b"", b'm', "mouse", Is("a button went up (report of the mouse, as input)")),
    (0, b"'", b'z', "DECELR", Pick(&[
        (0, "do not report the locator"),
        (1, "report the locator"),
        (2, "report the locator once"),
    ], "report the locator")),
    (0, b"'", b'{', "DECSLE", Is("select which events of the locator are reported")),
    (0, b"'", b'w', "DECEFR", Is("report when the locator leaves a rectangle")),
    (0, b"", b'~', "DECFNK", Pick(&[
        (200, "pasted text begins (as input)"),
        (201, "pasted text ends (as input)"),
    ], "a function key (as input)")),
    (0, b"", b'_', "WIN32 key", Is("a key of the Windows console (as input)")),
    // Queries: the terminal types the answer as if the user had.
    (0, b"", b'c', "DA1", Is("ask what terminal this is")),
    (b'>', b"", b'c', "DA2", Is("ask for type and version of the terminal")),
    (b'=', b"", b'c', "DA3", Is("ask for the serial number of the terminal")),
    (b'<', b"", b'c', "DA <", Is("private request for attributes of the terminal")),
    (0, b"", b'n', "DSR", Pick(&[
        (0, "the terminal is well (as input)"),
        (3, "the terminal has a fault (as input)"),
        (5, "ask for the status of the terminal"),
        (6, "ask for the position of the cursor"),
    ], "ask for a status")),
    (b'?', b"", b'n', "DECDSR", Pick(&[
        (6, "ask for the position of the cursor with its page"),
        (15, "ask for the status of the printer"),
        (25, "ask whether user-defined keys are locked"),
        (26, "ask for the kind of keyboard"),
        (53, "ask for the status of the locator"),
        (55, "ask for the status of the locator"),
        (56, "ask for the kind of locator"),
        (62, "ask for the room for macros"),
        (63, "ask for a checksum of memory"),
        (75, "ask for the integrity of data"),
        (85, "ask for the multiple sessions"),
        (996, "ask whether colours are dark or light"),
        (997, "colours are dark or light now (as input)"),
    ], "ask for a status")),
    (0, b"", b'R', "CPR", Is("position of the cursor (report, as input)")),
    (b'?', b"", b'R', "DECXCPR", Is("position of the cursor with its page (report, as input)")),
    (0, b"$", b'p', "DECRQM", By(mode::ask_ansi)),
    (b'?', b"$", b'p', "DECRQM", By(|p| mode::labelled("ask for", p))),
    (0, b"$", b'y', "DECRPM", Is("state of a mode (report, as input)")),
    (b'?', b"$", b'y', "DECRPM", Is("state of a private mode (report, as input)")),
    (b'>', b"", b'q', "XTVERSION", Is("ask for name and version of the terminal")),
    (0, b"*", b'y', "DECRQCRA", By(|p| {
        format!("ask for a checksum of {} (reads the screen)", rectangle(p, 2))
    })),
    (b'?', b"", b'm', "XTQMODKEYS", Is("ask how modified keys are reported")),
    (b'?', b"", b'g', "XTQFMTKEYS", Is("ask for the format of modified keys")),
    (b'?', b"", b'S', "XTSMGRAPHICS", Is("ask for or set the limits of graphics")),
    (0, b"", b'x', "DECREQTPARM", Is("ask for the parameters of the line")),
    (0, b"$", b'w', "DECRQPSR", Pick(&[
        (1, "ask for the state of the cursor"),
        (2, "ask for the tab stops"),
    ], "ask for the state of the screen")),
    (0, b"$", b'u', "DECRQTSR", Pick(&[
        (1, "ask for the state of the terminal"),
        (2, "ask for the table of colours"),
    ], "ask for the state of the terminal")),
    (0, b"&", b'u', "DECRQUPSS", Is("ask for the preferred supplemental set")),
    (0, b"\"", b'v', "DECRQDE", Is("ask which part of the page is shown")),
    (0, b"\"", b'w', "DECRPDE", Is("the part of the page that is shown (report, as input)")),
    (0, b"'", b'|', "DECRQLP", Is("ask for the position of the locator")),
    (0, b"&", b'w', "DECLRP", Is("the position of the locator (report, as input)")),
    // Windows.
    (0, b"", b't', "XTWINOPS", By(window)),
    (b'>', b"", b't', "XTSMTITLE", Is("set how titles are encoded")),
    (b'>', b"", b'T', "XTRMTITLE", Is("reset how titles are encoded")),
    (b'?', b"", b't', "XTWINOPS ?", Is("private window operation of this terminal")),
    (b'<', b"", b't', "XTWINOPS <", Is("private window operation of this terminal")),
    (b'=', b"", b't', "XTWINOPS =", Is("private window operation of this terminal")),
    // Printing, reset.
    (0, b"", b'i', "MC", Pick(&[
        (0, "print the screen"),
        (4, "stop sending output to the printer"),
        (5, "send what follows to the printer, not to the screen"),
    ], "print")),
    (b'?', b"", b'i', "DECMC", Pick(&[
        (1, "print the line of the cursor"),
        (4, "stop printing each line"),
        (5, "print each line as it is written"),
        (10, "print the whole display"),
        (11, "print all pages"),
    ], "print")),
    (0, b"!", b'p', "DECSTR", Is("reset the modes of the terminal (soft reset)")),
    (0, b"", b'y', "DECTST", Is("run a self-test of the terminal")),
    // Rest of ECMA-48 that a stream may hold.
    (0, b"", b'Q', "SEE", Value("set the extent of editing to")),
    (0, b"", b'[', "SRS", Is("begin or end a reversed string")),
    (0, b"", b']', "SDS", Is("begin or end a string of given direction (Linux: set the console)")),
    (0, b"", b'\\', "PTX", Is("begin or end parallel texts")),
    (0, b"", b'o', "DAQ", Is("begin a qualified area")),
    (0, b" ", b'B', "GSM", Is("set height and width of characters")),
    (0, b" ", b'C', "GSS", Is("set the size of characters")),
    (0, b" ", b'D', "FNT", Is("select a font")),
    (0, b" ", b'F', "JFY", Is("justify the lines")),
    (0, b" ", b'H', "QUAD", Is("align the line")),
    (0, b" ", b'S', "SPD", Is("select the directions of writing")),
];

/// The name and the meaning, by what was collected and the final byte (0 if there is none).
pub(crate) fn describe(collected: &[u8], final_byte: u8) -> Meaning {
    if final_byte == 0 {
        return Meaning::new("CSI", "control sequence without its final byte");
    }
    let mark = collected.first().copied().filter(|b| (0x3C..=0x3F).contains(b)).unwrap_or(0);
    let start = usize::from(mark != 0);
    let end = collected.iter().position(|b| (0x20..=0x2F).contains(b)).unwrap_or(collected.len());
    let parameters = Parameters(collected.get(start..end).unwrap_or_default());
    // A parameter after an intermediate makes it malformed; some terminals execute it all the same.
    let between = collected.iter().filter(|b| (0x20..=0x2F).contains(*b));
    let row = ROWS
        .iter()
        .find(|row| (row.0, row.2) == (mark, final_byte) && row.1.iter().eq(between.clone()));
    match row {
        Some(&(0, b"", b's', ..)) if parameters.0.is_empty() => {
            Meaning::new("SCOSC", "save the cursor")
        }
        Some(&(_, _, _, name, words)) => Meaning::new(name, words.say(parameters)),
        None => Meaning::unknown("control sequence that no table names"),
    }
}

fn column(parameters: Parameters<'_>) -> String {
    format!("move the cursor to column {}", number(parameters.at_least_one(0)))
}

fn line(parameters: Parameters<'_>) -> String {
    format!("move the cursor to line {}", number(parameters.at_least_one(0)))
}

fn position(parameters: Parameters<'_>) -> String {
    match (parameters.at_least_one(0), parameters.at_least_one(1)) {
        (1, 1) => "move the cursor to the top left".to_owned(),
        (line, column) => {
            format!("move the cursor to line {}, column {}", number(line), number(column))
        }
    }
}

/// With five parameters, xterm's highlight tracking of the mouse.
fn scroll_down(parameters: Parameters<'_>) -> String {
    match parameters.count() {
        0..=4 => format!("scroll down {}", counted(parameters.at_least_one(0), "line")),
        _ => "highlight a region while the mouse is tracked".to_owned(),
    }
}

fn margins(parameters: Parameters<'_>, what: &str, of: &str) -> String {
    let first = parameters.at_least_one(0);
    match parameters.values().nth(1).flatten() {
        None | Some(0) if first == 1 => format!("scroll in the whole {of}"),
        None | Some(0) => format!("scroll only from {what} {} on", number(first)),
        Some(last) => format!("scroll only {what}s {} to {}", number(first), number(last)),
    }
}

fn margins_of_lines(parameters: Parameters<'_>) -> String {
    margins(parameters, "line", "screen")
}

fn margins_of_columns(parameters: Parameters<'_>) -> String {
    margins(parameters, "column", "width")
}

fn fill(parameters: Parameters<'_>) -> String {
    let character = match parameters.get(0, 0) {
        code @ (0x20..=0x7E | 0xA0..) => format!("character {}", number(code)),
        _ => "blanks".to_owned(),
    };
    format!("fill {} with {character}", rectangle(parameters, 1))
}

fn copy(parameters: Parameters<'_>) -> String {
    format!(
        "copy {} to line {}, column {}",
        rectangle(parameters, 0),
        number(parameters.at_least_one(5)),
        number(parameters.at_least_one(6)),
    )
}

fn columns_per_page(parameters: Parameters<'_>) -> String {
    match parameters.get(0, 0) {
        0 => "set the screen to 80 columns".to_owned(),
        columns => format!("set the screen to {} columns", number(columns)),
    }
}

fn kitty_keys(parameters: Parameters<'_>) -> String {
    let flags = number(parameters.get(0, 0));
    match parameters.get(1, 1) {
        2 => format!("add keyboard flags (kitty): {flags}"),
        3 => format!("remove keyboard flags (kitty): {flags}"),
        _ => format!("set keyboard flags (kitty): {flags}"),
    }
}

/// A resource that decides how xterm reports modified keys.
fn key_resource(number: u32) -> &'static str {
    match number {
        0 => "modifyKeyboard",
        1 => "modifyCursorKeys",
        2 => "modifyFunctionKeys",
        3 => "modifyKeypadKeys",
        4 => "modifyOtherKeys",
        6 => "modifyModifierKeys",
        7 => "modifySpecialKeys",
        _ => "a resource of modified keys",
    }
}

fn modify_keys(parameters: Parameters<'_>) -> String {
    let Some(resource) = parameters.values().next().flatten().map(key_resource) else {
        return "set how modified keys are reported to the default".to_owned();
    };
    match parameters.values().nth(1).flatten() {
        Some(value) => format!("set {resource} to {}", number(value)),
        None => format!("set {resource} to the default"),
    }
}

fn modify_keys_off(parameters: Parameters<'_>) -> String {
    format!("turn {} off", key_resource(parameters.get(0, 2)))
}

/// xterm's window operations, after those of dtterm.
fn window(parameters: Parameters<'_>) -> String {
    let second = parameters.get(1, 0);
    let size = |unit: &str| {
        let [height, width] = [1, 2].map(|place| match parameters.values().nth(place).flatten() {
            None => "as it is".to_owned(),
            Some(0) => "that of the screen".to_owned(),
            Some(n) => number(n),
        });
        format!("resize the window: height {height}, width {width} ({unit})")
    };
    let which = match second {
        1 => "icon title",
        2 => "window title",
        _ => "window and icon title",
    };
    let words: Cow<'static, str> = match (parameters.get(0, 0), second) {
        (1, _) => "open the window that is an icon".into(),
        (2, _) => "make the window an icon".into(),
        (3, _) => {
            let (x, y) = (number(second), number(parameters.get(2, 0)));
            format!("move the window to {x}, {y} (pixels)").into()
        }
        (4, _) => size("pixels").into(),
        (5, _) => "raise the window".into(),
        (6, _) => "lower the window".into(),
        (7, _) => "draw the window anew".into(),
        (8, _) => size("characters").into(),
        (9, 0) => "undo that the window is maximized".into(),
        (9, _) => "maximize the window".into(),
        (10, 0) => "leave full screen".into(),
        (10, 1) => "go to full screen".into(),
        (10, _) => "toggle full screen".into(),
        (11, _) => "ask whether the window is an icon".into(),
        (13, _) => "ask for the position of the window".into(),
        (14, _) => "ask for the size of the window in pixels".into(),
        (15, _) => "ask for the size of the screen in pixels".into(),
        (16, _) => "ask for the size of a character in pixels".into(),
        (18, _) => "ask for the size of the window in characters".into(),
        (19, _) => "ask for the size of the screen in characters".into(),
        (20, _) => "ask for the icon title (what was set is typed as input)".into(),
        (21, _) => "ask for the window title (what was set is typed as input)".into(),
        (22, _) => format!("save the {which} on a stack").into(),
        (23, _) => format!("restore the {which} from the stack").into(),
        (lines @ 24.., _) => format!("resize the window to {} lines", number(lines)).into(),
        (other, _) => format!("window operation {}", number(other)).into(),
    };
    words.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_rows_are_for_the_same_sequence() {
        for (i, row) in ROWS.iter().enumerate() {
            let key = |row: &Row| (row.0, row.1, row.2);
            assert!(!ROWS[..i].iter().any(|other| key(other) == key(row)), "{}", row.3);
        }
    }

    #[test]
    fn names_and_words() {
        for (collected, final_byte, said) in [
            (&b""[..], b'A', "CUU: move the cursor up 1 line"),
            (b"0", b'A', "CUU: move the cursor up 1 line"),
            (b"12", b'B', "CUD: move the cursor down 12 lines"),
            (b"", b'H', "CUP: move the cursor to the top left"),
            (b"2;3", b'H', "CUP: move the cursor to line 2, column 3"),
            (b";5", b'f', "HVP: move the cursor to line 1, column 5"),
            (b"2", b'J', "ED: erase the screen"),
            (b"9", b'J', "ED: erase in the screen: value 9"),
            (
                b"?1",
                b'K',
                "DECSEL: erase what is unprotected from the start of the line to the \
                            cursor",
            ),
            (b"", b's', "SCOSC: save the cursor"),
            (b"5;10", b's', "DECSLRM: scroll only columns 5 to 10"),
            (b"", b'r', "DECSTBM: scroll in the whole screen"),
            (b"3", b'r', "DECSTBM: scroll only from line 3 on"),
            (b"5", b'T', "SD: scroll down 5 lines"),
            (b"1;2;3;4;5", b'T', "SD: highlight a region while the mouse is tracked"),
            (b"5 ", b'q', "DECSCUSR: blinking bar as the cursor"),
            (b"88;1;1;2;2$", b'x', "DECFRA: fill lines 1 to 2, columns 1 to 2 with character 88"),
            (
                b"1;1;1;3;1;2;1;1$",
                b'v',
                "DECCRA: copy lines 1 to 1, columns 1 to 3 to line 2, column 1",
            ),
            (b"8;24;", b't', "XTWINOPS: resize the window: height 24, width as it is (characters)"),
            (b"22;2", b't', "XTWINOPS: save the window title on a stack"),
            (b">4;2", b'm', "XTMODKEYS: set modifyOtherKeys to 2"),
            (b">", b'n', "XTMODKEYS: turn modifyFunctionKeys off"),
            (b">1", b'u', "KITTY >u: push keyboard flags (kitty): 1"),
            (b"?2026$", b'p', "DECRQM: ask for synchronized output"),
            (
                b"1;1;1;1;1;80*",
                b'y',
                "DECRQCRA: ask for a checksum of lines 1 to 1, columns 1 to 80 (reads the screen)",
            ),
            (b"1?", b'A', "CUU: move the cursor up an unreadable number lines"),
            (b"1", 0, "CSI: control sequence without its final byte"),
            (b"1", b'z', "unknown: control sequence that no table names"),
        ] {
            let Meaning { name, words } = describe(collected, final_byte);
            assert_eq!(format!("{name}: {words}"), said, "{}", collected.escape_ascii());
        }
    }
}
