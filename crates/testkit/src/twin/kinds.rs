//! The kind of a sequence, by the closed table of the grammar.

use super::Open;

/// What a kind weighs by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing, unless the rest of the stream makes it matter (conceal with text after it).
    None,
    /// Reported; more for modes left on and for text under a line-drawing charset.
    Low,
    /// Reported loudly.
    High,
}

/// The classifier compares no more of a payload than this.
const PREFIX_BYTES: usize = 24;

pub(super) fn classify(open: &Open) -> (&'static str, Severity) {
    let kind = match open.class {
        "csi" => csi(open),
        "escape" => escape(open),
        "osc" => osc(&open.payload),
        "dcs" => dcs(open),
        "apc" if open.payload.starts_with(b"G") => "image",
        "title" => "window-title",
        _ => "other",
    };
    (kind, severity(kind, &open.payload))
}

fn severity(kind: &str, payload: &[u8]) -> Severity {
    match kind {
        "style" | "conceal" => Severity::None,
        "repeat" | "rectangle" | "report-query" | "clipboard-write" | "clipboard-read"
        | "notification" | "font" | "media-copy" | "passthrough" | "device" => Severity::High,
        "shell-integration" if matches!(osc_number(payload), Some(133 | 633)) => Severity::High,
        _ => Severity::Low,
    }
}

/// An escape without a final byte is `other`. An overlong one, which a terminal may well act on, is
/// what its final byte and its first intermediates say.
fn escape(open: &Open) -> &'static str {
    let Some(last) = open.last else { return "other" };
    match (open.intermediates.as_slice(), last) {
        ([], b'7' | b'8' | b'D' | b'E' | b'H' | b'M') => "cursor",
        ([], b'=' | b'>') => "mode",
        ([], b'Z') => "report-query",
        ([], b'c') => "reset",
        ([], b'N' | b'O' | b'n' | b'o' | b'|' | b'}' | b'~') => "charset-shift",
        ([b'#'], b'8') => "rectangle",
        ([b'#'], b'3' | b'4' | b'6') => "charset-shift",
        ([b'%' | b'(' | b')' | b'*' | b'+' | b'-' | b'.' | b'/' | b'$', ..], _) => "charset-shift",
        _ => "other",
    }
}

/// A CSI without a final byte is `other`. An overlong one, which a terminal may well act on, is
/// what its final byte and its first bytes say.
fn csi(open: &Open) -> &'static str {
    let Some(last) = open.last else { return "other" };
    let (marker, parameters) = match open.parameters.split_first() {
        Some((marker @ b'<'..=b'?', rest)) => (Some(*marker), rest),
        _ => (None, open.parameters.as_slice()),
    };
    let values = values(parameters);
    let first = values.first().copied().unwrap_or(0);
    match (marker, open.intermediates.as_slice(), last) {
        (None, [], b'm') => style(parameters),
        (Some(b'>'), [], b'm') => "keyboard-protocol",
        (Some(_), [], b'u') => "keyboard-protocol",
        (None, [], b'A'..=b'I' | b'Z' | b'`' | b'a' | b'd' | b'e' | b'f' | b'g') => "cursor",
        (None, [], b'J' | b'K' | b'X' | b'P') | (Some(b'?'), [], b'J' | b'K') => "erase",
        (None, [], b'S' | b'T' | b'L' | b'M' | b'@' | b'r' | b's') => "scroll",
        (None, [b'\''], b'}' | b'~') => "scroll",
        (None, [], b'b') => "repeat",
        (None, [b'$'], b'x' | b'v' | b'z' | b'{' | b'r' | b't') => "rectangle",
        (Some(b'?'), [], b'h' | b'l') => private_mode(&values),
        (None, [], b'h' | b'l') | (None, [b' '], b'q') => "mode",
        (None | Some(b'>' | b'='), [], b'c') => "report-query",
        (None | Some(b'?'), [], b'n' | b'R') | (None | Some(b'?'), [b'$'], b'p') => "report-query",
        (Some(b'>'), [], b'q') | (None, [b'*'], b'y') => "report-query",
        (None, [], b't') => match first {
            11 | 13..=16 | 18..=21 => "report-query",
            22 | 23 => "window-title",
            _ => "window-op",
        },
        (None | Some(b'?'), [], b'i') => "media-copy",
        (None, [b'!'], b'p') => "reset",
        _ => "other",
    }
}

/// Of several modes in one sequence the weightiest names it.
fn private_mode(values: &[u32]) -> &'static str {
    let any = |wanted: &dyn Fn(u32) -> bool| values.iter().any(|&v| wanted(v));
    if any(&|v| matches!(v, 47 | 1047 | 1048 | 1049)) {
        "alternate-screen"
    } else if any(&|v| matches!(v, 9 | 1000..=1016)) {
        "mouse"
    } else if any(&|v| v == 2017) {
        "keyboard-protocol"
    } else {
        "mode"
    }
}

/// The number that each `;`-field begins with; an empty one is 0, a huge one stays huge.
fn values(parameters: &[u8]) -> Vec<u32> {
    parameters.split(|&b| b == b';').map(|field| number(&field[..digits(field)])).collect()
}

fn digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|b| b.is_ascii_digit()).count()
}

fn number(digits: &[u8]) -> u32 {
    digits.iter().fold(0u32, |n, &b| n.saturating_mul(10).saturating_add(u32::from(b - b'0')))
}

/// Conceal is a standalone 8, not the operand of a colour.
fn style(parameters: &[u8]) -> &'static str {
    let fields: Vec<&[u8]> = parameters.split(|&b| b == b';').collect();
    let plain = |at: usize| fields.get(at).is_some_and(|f| !f.contains(&b':'));
    let mut at = 0;
    while at < fields.len() {
        let value = number(&fields[at][..digits(fields[at])]);
        if value == 8 {
            return "conceal";
        }
        let is_colour = matches!(value, 38 | 48 | 58) && plain(at);
        let form = if is_colour && plain(at + 1) { number(fields[at + 1]) } else { 0 };
        at += match form {
            5 if plain(at + 2) => 3,
            2 if (2..=4).all(|n| plain(at + n)) => 5,
            // Terminals differ on what they execute after any other form: 8 conceals.
            _ => 1,
        };
    }
    "style"
}

/// The number before the first `;`, when nothing but digits stands there.
fn osc_number(payload: &[u8]) -> Option<u32> {
    let head = &payload[..payload.len().min(PREFIX_BYTES)];
    let count = digits(head);
    let ends = payload.len() == count || head.get(count) == Some(&b';');
    (count > 0 && ends).then(|| number(&head[..count]))
}

fn osc(payload: &[u8]) -> &'static str {
    let head = &payload[..payload.len().min(PREFIX_BYTES)];
    let query = payload.rsplit(|&b| b == b';').next() == Some(b"?");
    let number = osc_number(payload);
    let body = &head[(digits(head) + 1).min(head.len())..];
    match number {
        Some(52) if query => "clipboard-read",
        _ if query => "report-query",
        Some(0..=2) => "window-title",
        Some(52 | 5522) => "clipboard-write",
        Some(1337) if body.starts_with(b"Copy") => "clipboard-write",
        Some(8) => "hyperlink",
        Some(9) if body == b"9" || body.starts_with(b"9;") => "cwd",
        Some(9 | 99 | 777) => "notification",
        Some(4 | 5 | 10..=19 | 104 | 105 | 110..=119) => "palette",
        Some(50) => "font",
        Some(1337) if body.starts_with(b"File=") || body.starts_with(b"MultipartFile") => "image",
        Some(1337) if body.starts_with(b"SetMark") => "shell-integration",
        Some(133 | 633 | 3008) => "shell-integration",
        Some(7) => "cwd",
        None if matches!(head.first(), Some(b'P' | b'R')) => "palette",
        _ => "other",
    }
}

fn dcs(open: &Open) -> &'static str {
    let payload = &open.payload;
    if payload.is_empty() && open.by_escape {
        // What screen passes on begins with an ESC, which aborts the string here.
        return "passthrough";
    }
    let head = &payload[..payload.len().min(PREFIX_BYTES)];
    if head.starts_with(b"tmux;") {
        return "passthrough";
    }
    let parameters = head.iter().take_while(|b| matches!(b, b'0'..=b'?')).count();
    let (parameters, rest) = head.split_at(parameters);
    let intermediates = rest.iter().take_while(|b| matches!(b, b' '..=b'/')).count();
    let (intermediates, rest) = rest.split_at(intermediates);
    let marked = matches!(parameters.first(), Some(b'<'..=b'?'));
    match (marked, intermediates, rest.first()) {
        (false, b"$" | b"+", Some(b'q')) => "report-query",
        (false, b"$", Some(b'p')) => "device",
        (false, b"", Some(b'q')) => "image",
        (false, b"", Some(b'|' | b'{')) => "device",
        (false, b"", Some(b'p')) if matches!(number_of(parameters), 1000 | 2000) => "passthrough",
        _ => "other",
    }
}

fn number_of(parameters: &[u8]) -> u32 {
    if digits(parameters) == parameters.len() { number(parameters) } else { 0 }
}
