//! Operating system commands by name.
//!
//! tidy: rule table

use noesc_grammar::Kind;

use crate::meaning::Meaning;
use crate::parameters::{UNREADABLE, value};

/// How the words depend on what follows the number and its `;`.
#[derive(Clone, Copy)]
enum Words {
    /// They do not.
    Is(&'static str),
    /// To set, and to ask.
    Ask(&'static str, &'static str),
    /// In a way of its own.
    By(fn(&[u8], Kind) -> String),
}

use Words::{Ask, By, Is};

/// Number and words, sorted by the number.
#[rustfmt::skip]
const ROWS: &[(u32, Words)] = &[
    (0, Is("set the window title and the icon title")),
    (1, Is("set the icon title")),
    (2, Is("set the window title")),
    (3, Is("set a property of the window (X11)")),
    (4, By(palette)),
    (5, Ask("set a special colour", "ask for a special colour")),
    (6, Is("set the tab colour, the document or a special colour (terminals differ)")),
    (7, Is("say which folder is the current one")),
    (8, By(hyperlink)),
    (9, By(osc_9)),
    (10, Ask("set the foreground colour", "ask for the foreground colour")),
    (11, Ask("set the background colour", "ask for the background colour")),
    (12, Ask("set the cursor colour", "ask for the cursor colour")),
    (13, Ask("set the mouse foreground colour", "ask for the mouse foreground colour")),
    (14, Ask("set the mouse background colour", "ask for the mouse background colour")),
    (15, Ask("set the Tektronix foreground colour", "ask for the Tektronix foreground colour")),
    (16, Ask("set the Tektronix background colour", "ask for the Tektronix background colour")),
    (17, Ask("set the highlight background colour", "ask for the highlight background colour")),
    (18, Ask("set the Tektronix cursor colour", "ask for the Tektronix cursor colour")),
    (19, Ask("set the highlight foreground colour", "ask for the highlight foreground colour")),
    (21, Ask("set colours (kitty)", "ask for colours (kitty)")),
    (22, Ask("set the shape of the pointer", "ask for the shape of the pointer")),
    (30, Is("set the tab title (Konsole)")),
    (46, Is("set the name of the log file")),
    (50, Ask("set the font", "ask for the font")),
    (51, Is("message to Emacs")),
    (52, By(clipboard)),
    (60, By(|_, _| "ask which features are allowed (xterm)".to_owned())),
    (61, By(|_, _| "ask which features are forbidden (xterm)".to_owned())),
    (66, Is("write text in another size (kitty)")),
    (83, Is("run a command of screen (GNU screen)")),
    (99, Is("raise a notification (kitty)")),
    (104, By(reset_palette)),
    (105, Is("reset special colours")),
    (106, Is("enable or disable special colours")),
    (110, Is("reset the foreground colour")),
    (111, Is("reset the background colour")),
    (112, Is("reset the cursor colour")),
    (113, Is("reset the mouse foreground colour")),
    (114, Is("reset the mouse background colour")),
    (115, Is("reset the Tektronix foreground colour")),
    (116, Is("reset the Tektronix background colour")),
    (117, Is("reset the highlight background colour")),
    (118, Is("reset the Tektronix cursor colour")),
    (119, Is("reset the highlight foreground colour")),
    (133, By(prompt)),
    (176, Is("set the application id of the window (foot)")),
    (440, Is("play a sound (mintty)")),
    (633, By(vs_code)),
    (697, Is("mark for a completion tool (Fig)")),
    (701, Ask("set the locale (rxvt)", "ask for the locale (rxvt)")),
    (777, By(rxvt)),
    (1337, By(iterm2)),
    (3008, By(context)),
    (5113, Is("transfer files (kitty)")),
    (5522, By(kitty_clipboard)),
];

/// Marks of a shell, by their letter.
#[rustfmt::skip]
const MARKS: &[(u8, &str)] = &[
    (b'A', "prompt begins"),
    (b'B', "prompt ends, command begins"),
    (b'C', "command ends, output begins"),
    (b'D', "output ends"),
    (b'I', "command begins"),
    (b'L', "fresh line"),
    (b'N', "prompt begins, the command before ended"),
    (b'P', "prompt of a kind begins"),
];

/// Those that only VS Code has.
#[rustfmt::skip]
const VS_CODE: &[(u8, &str)] = &[
    (b'E', "the command line that runs"),
    (b'F', "continuation prompt begins"),
    (b'G', "continuation prompt ends"),
    (b'H', "right prompt begins"),
    (b'I', "right prompt ends"),
    (b'P', "set a property"),
];

/// Items of OSC 1337, by what they begin with.
#[rustfmt::skip]
const ITERM2: &[(&[u8], &str)] = &[
    (b"CopyToClipboard", "write the clipboard: it takes the text that follows"),
    (b"Copy", "write the clipboard"),
    (b"EndCopy", "end of the text for the clipboard"),
    (b"FilePart=", "part of an image or file"),
    (b"FileEnd", "end of an image or file"),
    (b"File=", "show an image, or offer a file for download"),
    (b"File", "show an image, or offer a file for download"),
    (b"MultipartFile", "begin an image or a file in parts"),
    (b"CurrentDir=", "say which folder is the current one"),
    (b"SetMark", "set a mark in the scrollback"),
    (b"RemoteHost=", "say which user and host this is"),
    (b"ShellIntegrationVer", "say which shell integration this is"),
    (b"ReportCellSize", "ask for the size of a cell"),
    (b"ReportVariable", "ask for a variable of the session"),
    (b"Report", "ask for a report"),
    (b"RequestUpload", "ask the user for files to upload"),
    (b"SetUserVar=", "set a user variable"),
    (b"SetProfile=", "change the profile"),
    (b"SetColors=", "change colours"),
    (b"SetBadgeFormat=", "set the badge"),
    (b"SetBackgroundImageFile=", "show a file as the background"),
    (b"SetKeyLabel=", "label a key of the touch bar"),
    (b"PushKeyLabels", "save the labels of the touch bar"),
    (b"PopKeyLabels", "restore the labels of the touch bar"),
    (b"StealFocus", "take the keyboard focus"),
    (b"ClearScrollback", "erase the scrollback"),
    (b"ClearCapturedOutput", "forget captured output"),
    (b"CursorShape=", "set the cursor shape"),
    (b"HighlightCursorLine=", "highlight the line of the cursor"),
    (b"RequestAttention=", "ask for attention (bounce the icon, fireworks)"),
    (b"AddAnnotation=", "annotate the text that follows"),
    (b"AddHiddenAnnotation=", "annotate the text that follows, hidden"),
    (b"UnicodeVersion=", "set the version of Unicode"),
    (b"OpenURL=", "open a link in the browser"),
    (b"Block=", "mark a block that can be folded"),
    (b"Button=", "show a button"),
    (b"Custom=", "message to a script of the terminal"),
    (b"Disinter", "show a buried session"),
    (b"Capabilities", "ask what the terminal can do"),
];

/// The number at the start of a payload, if a `;` or nothing follows it. Zeros before it go.
pub(crate) fn number(payload: &[u8]) -> Option<u32> {
    let digits = payload.iter().take_while(|b| b.is_ascii_digit()).count();
    let (number, rest) = payload.split_at(digits);
    match (value(number), rest.first()) {
        (UNREADABLE, _) => None,
        (n, None | Some(b';')) if digits > 0 => Some(n),
        _ => None,
    }
}

/// The name and the meaning, by the kind and the head of the payload.
pub(crate) fn describe(kind: Kind, payload: &[u8]) -> Meaning {
    let Some(number) = number(payload) else { return unnumbered(kind, payload) };
    let rest = payload.iter().position(|&b| b == b';').map_or(&b""[..], |at| &payload[at + 1..]);
    let asks = matches!(kind, Kind::ReportQuery | Kind::ClipboardRead);
    let words = match ROWS.iter().find(|row| row.0 == number) {
        Some(&(_, Is(words))) if asks => format!("ask about: {words}"),
        Some(&(_, Is(words))) => words.to_owned(),
        Some(&(_, Ask(set, ask))) => (if asks { ask } else { set }).to_owned(),
        Some(&(_, By(say))) => say(rest, kind),
        None if asks => "ask for something that no table names".to_owned(),
        None => return Meaning::unknown("operating system command that no table names"),
    };
    Meaning::new(format!("OSC {number}"), words)
}

/// Those of Linux and dtterm, which begin with a letter.
fn unnumbered(kind: Kind, payload: &[u8]) -> Meaning {
    let (name, words) = match payload.first() {
        _ if kind == Kind::ReportQuery => ("OSC", "ask for something that no table names"),
        Some(b'P') => ("OSC P", "set a colour of the palette (Linux)"),
        Some(b'R') => ("OSC R", "reset the palette (Linux)"),
        Some(b'l') => ("OSC l", "set the window title (dtterm)"),
        Some(b'L') => ("OSC L", "set the icon title (dtterm)"),
        Some(b'I') => ("OSC I", "set the icon (dtterm)"),
        None => ("OSC", "operating system command with nothing in it"),
        _ => return Meaning::unknown("operating system command that no table names"),
    };
    Meaning::new(name, words)
}

fn fields(rest: &[u8]) -> impl Iterator<Item = &[u8]> {
    rest.split(|&b| b == b';')
}

/// A field of digits alone.
fn numeric(field: Option<&[u8]>) -> Option<u32> {
    let field = field.filter(|f| !f.is_empty() && f.iter().all(u8::is_ascii_digit))?;
    Some(value(field)).filter(|&n| n != UNREADABLE)
}

fn palette(rest: &[u8], kind: Kind) -> String {
    let verb = if kind == Kind::ReportQuery { "ask for" } else { "set" };
    match numeric(fields(rest).next()) {
        Some(n) => format!("{verb} colour {n} of the palette"),
        None => format!("{verb} a colour of the palette"),
    }
}

fn reset_palette(rest: &[u8], _: Kind) -> String {
    match numeric(fields(rest).next()) {
        Some(n) => format!("reset colour {n} of the palette"),
        None => "reset the palette".to_owned(),
    }
}

fn hyperlink(rest: &[u8], _: Kind) -> String {
    match fields(rest).nth(1) {
        None | Some(b"") if rest.len() < 2 || rest.ends_with(b";") => "end of a hyperlink",
        _ => "text that follows is a hyperlink",
    }
    .to_owned()
}

/// A notification; ConEmu has many other meanings for the same number.
fn osc_9(rest: &[u8], _: Kind) -> String {
    let mut fields = fields(rest);
    let first = fields.next().unwrap_or_default();
    let (second, third) = (numeric(fields.next()), numeric(fields.next()));
    match (first, second) {
        (b"4", Some(0)) => "hide the progress bar".to_owned(),
        (b"4", Some(3)) => "progress bar without a value".to_owned(),
        (b"4", Some(state)) => {
            let state = match state {
                2 => " (error)",
                4 => " (paused)",
                _ => "",
            };
            match third {
                Some(percent) => format!("progress bar at {percent} %{state}"),
                None => format!("progress bar{state}"),
            }
        }
        (b"9", _) => "say which folder is the current one (ConEmu)".to_owned(),
        _ => "raise a notification".to_owned(),
    }
}

fn clipboard(rest: &[u8], kind: Kind) -> String {
    let verb = if kind == Kind::ClipboardRead { "read" } else { "write" };
    let selections = fields(rest).next().unwrap_or_default();
    let named = selections.iter().all(|b| matches!(b, b'c' | b'p' | b'q' | b's' | b'0'..=b'7'));
    match selections {
        b"" => format!("{verb} the clipboard"),
        _ if named && selections.len() <= 12 => {
            let letters: String = selections.iter().copied().map(char::from).collect();
            format!("{verb} the clipboard ({letters})")
        }
        _ => format!("{verb} the clipboard (selection without a name)"),
    }
}

fn kitty_clipboard(rest: &[u8], _: Kind) -> String {
    let metadata = fields(rest).next().unwrap_or_default();
    let is = |key: &[u8]| metadata.split(|&b| b == b':').any(|pair| pair == key);
    match () {
        () if is(b"type=read") => "read the clipboard (kitty)",
        () if is(b"type=write") => "write the clipboard (kitty)",
        () if is(b"type=wdata") => "write the clipboard (kitty): a part of it",
        () if is(b"type=walias") => "write the clipboard (kitty): another type for it",
        () => "use the clipboard (kitty)",
    }
    .to_owned()
}

/// One letter, perhaps with fields behind it.
fn mark(rest: &[u8], tables: &[&[(u8, &'static str)]]) -> String {
    let mut fields = fields(rest);
    let [letter] = fields.next().unwrap_or_default() else { return "mark of a shell".to_owned() };
    let words = tables.iter().find_map(|table| table.iter().find(|(mark, _)| mark == letter));
    match (words, numeric(fields.next())) {
        (Some((b'D', words)), Some(status)) => format!("mark: {words}, exit status {status}"),
        (Some((_, words)), _) => format!("mark: {words}"),
        (None, _) => "mark of a shell".to_owned(),
    }
}

fn prompt(rest: &[u8], _: Kind) -> String {
    mark(rest, &[MARKS])
}

fn vs_code(rest: &[u8], _: Kind) -> String {
    format!("{} (VS Code)", mark(rest, &[VS_CODE, MARKS]))
}

fn rxvt(rest: &[u8], _: Kind) -> String {
    match fields(rest).next() {
        Some(b"notify") => "raise a notification (rxvt)",
        Some(b"precmd" | b"preexec") => "mark of a shell (rxvt, VTE)",
        _ => "call an extension (rxvt)",
    }
    .to_owned()
}

fn iterm2(rest: &[u8], _: Kind) -> String {
    let item = ITERM2.iter().find(|(key, _)| rest.starts_with(key));
    format!("{} (iTerm2)", item.map_or("item that no table names", |&(_, words)| words))
}

fn context(rest: &[u8], _: Kind) -> String {
    match rest {
        [b's', b't', b'a', b'r', b't', b'=', ..] => "a context begins (systemd)",
        [b'e', b'n', b'd', b'=', ..] => "a context ends (systemd)",
        _ => "mark of a context (systemd)",
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_order_and_single() {
        assert!(ROWS.windows(2).all(|rows| rows[0].0 < rows[1].0));
    }

    #[test]
    fn a_key_is_not_hidden_by_a_shorter_one_before_it() {
        for (i, (key, _)) in ITERM2.iter().enumerate() {
            assert!(!ITERM2[..i].iter().any(|(before, _)| key.starts_with(before)));
        }
    }

    #[test]
    fn names_and_words() {
        for (kind, payload, said) in [
            (Kind::WindowTitle, &b"0;x"[..], "OSC 0: set the window title and the icon title"),
            (Kind::WindowTitle, b"002;x", "OSC 2: set the window title"),
            (Kind::Palette, b"4;7;rgb:00/00/00", "OSC 4: set colour 7 of the palette"),
            (Kind::ReportQuery, b"4;1;?", "OSC 4: ask for colour 1 of the palette"),
            (Kind::ReportQuery, b"11;?", "OSC 11: ask for the background colour"),
            (Kind::Palette, b"104", "OSC 104: reset the palette"),
            (Kind::Hyperlink, b"8;;", "OSC 8: end of a hyperlink"),
            (Kind::Hyperlink, b"8;id=1;http://x", "OSC 8: text that follows is a hyperlink"),
            (Kind::Notification, b"9;text", "OSC 9: raise a notification"),
            (Kind::Notification, b"9;4;1;50", "OSC 9: progress bar at 50 %"),
            (Kind::Notification, b"9;4;0", "OSC 9: hide the progress bar"),
            (Kind::Cwd, b"9;9;x", "OSC 9: say which folder is the current one (ConEmu)"),
            (Kind::ClipboardWrite, b"52;c;eA==", "OSC 52: write the clipboard (c)"),
            (Kind::ClipboardRead, b"52;;?", "OSC 52: read the clipboard"),
            (
                Kind::ClipboardWrite,
                b"52;xy;",
                "OSC 52: write the clipboard (selection without a \
                                               name)",
            ),
            (Kind::ShellIntegration, b"133;D;1", "OSC 133: mark: output ends, exit status 1"),
            (
                Kind::ShellIntegration,
                b"633;E;x",
                "OSC 633: mark: the command line that runs (VS \
                                                  Code)",
            ),
            (Kind::Other, b"1337;StealFocus", "OSC 1337: take the keyboard focus (iTerm2)"),
            (Kind::Other, b"83;x", "OSC 83: run a command of screen (GNU screen)"),
            (Kind::Other, b"84;x", "unknown: operating system command that no table names"),
            (Kind::Other, b"7x", "unknown: operating system command that no table names"),
            (Kind::Palette, b"P7ffffff", "OSC P: set a colour of the palette (Linux)"),
            (Kind::Other, b"", "OSC: operating system command with nothing in it"),
        ] {
            let Meaning { name, words } = describe(kind, payload);
            assert_eq!(format!("{name}: {words}"), said, "{}", payload.escape_ascii());
        }
    }
}
