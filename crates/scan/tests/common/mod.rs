//! What a scan must find, written from its contract alone: byte by byte, slow and obvious.

#![allow(dead_code, reason = "shared by tests")]

use noesc_scan::{Path, Piece, STRETCH_BYTES_MAX, Stretch, payload_len, range_len, text_into};
use noesc_text::is_base;

/// Bytes that are looked at together.
const BLOCK: usize = 64;

/// `CSI_BYTES_MAX` of the grammar: a control sequence with as many parameters is for the rows.
const PARAMETERS_MAX: usize = 256;

/// At how many places a stretch is asked what stands next: ordinarily, and to be sure.
const FEW: usize = 5;
const MANY: usize = 150;

/// What stands somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A character that is kept.
    Text,
    /// A CR.
    Cr,
    /// A complete control sequence that may be called plain.
    Plain,
    /// One that may not.
    Odd,
}

/// A character, a CR or a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) what: What,
    pub(crate) at: usize,
    pub(crate) len: usize,
}

impl Item {
    fn end(&self) -> usize {
        self.at + self.len
    }
}

/// The character of text at the head of these bytes: its length, or 0.
fn text_len(raw: &[u8]) -> usize {
    if let Some(0x09 | 0x0A | 0x20..=0x7E) = raw.first() {
        return 1;
    }
    for len in 2..=4 {
        let char = raw.get(..len).and_then(|bytes| str::from_utf8(bytes).ok());
        let char =
            char.filter(|char| char.chars().count() == 1).and_then(|char| char.chars().next());
        if char.is_some_and(|c| c >= '\u{a0}' && is_base(c)) {
            return len;
        }
    }
    0
}

/// Whether a parameter of SGR, or a part of one, asks for a background or for conceal, in any
/// reading; or is none.
fn may_hide(part: &[u8]) -> bool {
    let zeros = part.iter().take_while(|&&b| b == b'0').count();
    match &part[zeros..] {
        b"8" => true,
        [b'4', digit] | [b'1', b'0', digit] => match part[zeros] {
            b'4' => digit.is_ascii_digit(),
            _ => (b'0'..=b'7').contains(digit),
        },
        rest => !rest.iter().all(u8::is_ascii_digit),
    }
}

/// The complete control sequence at the head of these bytes.
fn sequence(raw: &[u8]) -> Option<(What, usize)> {
    let parameters = raw.strip_prefix(b"\x1b[")?;
    let len = parameters.iter().take_while(|b| (0x30..=0x3F).contains(*b)).count();
    let (parameters, rest) = parameters.split_at(len);
    let last = *rest.first().filter(|b| (0x40..=0x7E).contains(*b))?;
    let is_private = parameters.iter().any(|b| (0x3C..=0x3F).contains(b));
    let hides = || parameters.split(|b| matches!(b, b';' | b':')).any(may_hide);
    let is_plain = match last {
        b'm' => !is_private && !hides(),
        b'K' => !is_private,
        _ => false,
    };
    let what = if is_plain { What::Plain } else { What::Odd };
    (len < PARAMETERS_MAX).then_some((what, len + 3))
}

/// What the rows are not needed for, from the first byte on, as far as that goes.
pub(crate) fn items(raw: &[u8]) -> Vec<Item> {
    let mut items = Vec::new();
    let mut at = 0;
    while at < raw.len() {
        let (what, len) = match raw[at] {
            b'\r' => (What::Cr, 1),
            0x1B => sequence(&raw[at..]).unwrap_or((What::Odd, 0)),
            _ => (What::Text, text_len(&raw[at..])),
        };
        if len == 0 {
            break;
        }
        items.push(Item { what, at, len });
        at += len;
    }
    items
}

/// The end of the last one.
fn end(items: &[Item]) -> usize {
    items.last().map_or(0, Item::end)
}

/// How far a stretch goes at the least, where the rows are needed from `end` on: to the beginning
/// of the 64 bytes in which that is, or of what lies across that. A sequence that is itself as long
/// may be left to the rows.
fn least(items: &[Item], end: usize) -> usize {
    let block = end / BLOCK * BLOCK;
    let whole = items.iter().take_while(|item| item.len < BLOCK && item.end() <= block);
    whole.last().map_or(0, Item::end)
}

macro_rules! ensure {
    ($is:expr, $($what:tt)+) => { if !$is { return Err(format!($($what)+)); } };
}

macro_rules! same {
    ($what:expr, $got:expr, $want:expr) => {
        match ($got, $want) {
            (got, want) => ensure!(got == want, "{}: got {got:?}, want {want:?}", $what),
        }
    };
}

/// The pieces that a stretch of `len` bytes is made of. Odd may be what need not be.
fn pieces_are(stretch: &Stretch<'_>, items: &[Item], len: usize) -> Result<(), String> {
    let raw = stretch.raw();
    let mut items = items.iter().take_while(|item| item.at < len).peekable();
    let mut at = 0;
    for (place, piece) in stretch.pieces() {
        same!("the place of a piece", place, at);
        let Some(item) = items.next() else { return Err(format!("a piece too many: {piece:?}")) };
        match piece {
            Piece::Text(text) => {
                ensure!(item.what == What::Text, "at {at}: text, want {:?}", item.what);
                let mut end = item.end();
                while let Some(more) = items.next_if(|item| item.what == What::Text) {
                    end = more.end();
                }
                same!("the length of text", text.len(), end - at);
                ensure!(str::from_utf8(text.as_bytes()).is_ok(), "at {at}: ill-formed");
                same!("text", text.as_bytes(), &raw[at..end]);
                at = end;
            }
            Piece::Cr => {
                ensure!(item.what == What::Cr, "at {at}: a CR, want {:?}", item.what);
                at += 1;
            }
            Piece::Sequence { bytes, is_plain } => {
                let may_be = item.what == What::Odd && !is_plain || item.what == What::Plain;
                ensure!(may_be, "at {at}: a sequence, plain: {is_plain}, want {:?}", item.what);
                same!("a sequence", bytes, &raw[at..item.end()]);
                at = item.end();
            }
        }
    }
    same!("the end of the pieces", at, len);
    Ok(())
}

/// Where to ask what stands next: at so many places, and behind all.
fn places(len: usize, count: usize) -> impl Iterator<Item = usize> {
    let step = len / count + 1;
    (0..=len).step_by(step).chain([len, len + 1, STRETCH_BYTES_MAX, STRETCH_BYTES_MAX + 64])
}

/// Everything that a stretch says of itself agrees with its pieces, and with `line_ends`, the CRs
/// that are line ends. It is asked what stands next at `count` places.
fn agrees(stretch: &Stretch<'_>, line_ends: &[usize], count: usize) -> Result<(), String> {
    let (mut text, mut view) = (Vec::new(), String::new());
    let (mut crs, mut ends, mut odd, mut erases) = (vec![], vec![], vec![], vec![]);
    for (at, piece) in stretch.pieces() {
        match piece {
            Piece::Text(kept) => {
                text.extend(at..at + kept.len());
                view.extend(kept.char_indices().map(
                    |(i, c)| match line_ends.contains(&(at + i)) {
                        true => '\n',
                        false => c,
                    },
                ));
            }
            Piece::Cr => crs.push(at),
            Piece::Sequence { bytes, is_plain } => {
                let end = at + bytes.len() - 1;
                same!("sequence()", stretch.sequence(end), bytes);
                ends.push(end);
                let list = if is_plain { &mut erases } else { &mut odd };
                if !is_plain || bytes.ends_with(b"K") {
                    list.push(end);
                }
            }
        }
    }
    same!("len()", stretch.len(), stretch.raw().len());
    same!("is_empty()", stretch.is_empty(), stretch.raw().is_empty());
    same!("sequences()", stretch.sequences(), ends.len());
    same!("erases()", stretch.erases(), erases.len());
    same!("text_len()", stretch.text_len(), text.len());
    same!("line_ends()", stretch.line_ends(), line_ends.len());
    ensure!(stretch.has_odd() || odd.is_empty(), "has_odd()");
    ensure!(stretch.has_cr() || crs.is_empty() && line_ends.is_empty(), "has_cr()");
    for &end in &ends {
        same!("is_erase()", stretch.is_erase(end), erases.contains(&end));
    }
    let next = |of: &[usize], from| of.iter().copied().find(|&at| at >= from);
    let last = |of: &[usize], to| of.iter().copied().rfind(|&at| at < to);
    for at in places(stretch.len(), count) {
        same!(format_args!("next_end({at}, false)"), stretch.next_end(at, false), next(&ends, at));
        same!(format_args!("next_end({at}, true)"), stretch.next_end(at, true), next(&odd, at));
        same!(format_args!("last_end({at})"), stretch.last_end(at), last(&ends, at));
        same!(format_args!("next_erase({at})"), stretch.next_erase(at), next(&erases, at));
        same!(format_args!("next_cr({at})"), stretch.next_cr(at), next(&crs, at));
        same!(format_args!("next_text({at})"), stretch.next_text(at), next(&text, at));
        same!(format_args!("last_text({at})"), stretch.last_text(at), last(&text, at));
    }
    appends(stretch, &view)?;
    same!("tail()", stretch.tail(), tail(stretch, line_ends));
    Ok(())
}

/// The text is appended to what is there, whatever room there is.
fn appends(stretch: &Stretch<'_>, view: &str) -> Result<(), String> {
    let (mut empty, mut full) = (String::new(), String::from("\u{e9}\n"));
    full.shrink_to_fit();
    stretch.append_to(&mut empty);
    ensure!(str::from_utf8(empty.as_bytes()).is_ok(), "append_to() gives what is ill-formed");
    same!("append_to()", empty.as_str(), view);
    stretch.append_to(&mut full);
    same!("append_to() what is there", full.as_str(), format!("\u{e9}\n{view}"));
    Ok(())
}

/// Whole characters of the text at the very end, as many as eight bytes hold. A line end that was
/// a CR is none.
fn tail<'a>(stretch: &Stretch<'a>, line_ends: &[usize]) -> &'a str {
    let Some((at, Piece::Text(text))) = stretch.pieces().last() else { return "" };
    let from = line_ends.iter().map(|end| end + 1).filter(|&from| from >= at).max().unwrap_or(at);
    let mut text = &text[from - at..];
    while text.len() > 8 {
        text = &text[text.chars().next().map_or(0, char::len_utf8)..];
    }
    text
}

/// What the path in use finds is what the contract says.
pub(crate) fn finds(raw: &[u8], items: &[Item], path: Path) -> Result<(), String> {
    let stretch = Stretch::of(raw);
    let in_one = items.iter().take_while(|item| item.end() <= STRETCH_BYTES_MAX).count();
    let (most, len) = (end(&items[..in_one]), stretch.len());
    let within = if path == Path::Rows { 0..=0 } else { least(items, most)..=most };
    ensure!(within.contains(&len), "len() is {len}, want {within:?}");
    ensure!(std::ptr::eq(stretch.raw(), &raw[..len]), "raw() is not its bytes");
    pieces_are(&stretch, items, len)?;
    agrees(&stretch, &[], FEW)?;
    is_cut(&stretch, items, len / 2, FEW)?;
    takes_text(raw, items, path)
}

/// The pieces and the text, quicker.
pub(crate) fn finds_text(raw: &[u8], items: &[Item], path: Path) -> Result<(), String> {
    let stretch = Stretch::of(raw);
    let (most, len) = (end(items), stretch.len());
    let within = if path == Path::Rows { 0..=0 } else { least(items, most)..=most };
    ensure!(within.contains(&len), "len() is {len}, want {within:?}");
    pieces_are(&stretch, items, len)?;
    takes_text(raw, items, path)
}

/// `text_into` appends the text at the head, and may stop short of its end by less than 128 bytes.
fn takes_text(raw: &[u8], items: &[Item], path: Path) -> Result<(), String> {
    let head = items.iter().take_while(|item| item.what == What::Text);
    let head = head.last().map_or(0, Item::end);
    let mut text = String::from("\u{e9}");
    text.shrink_to_fit();
    let len = text_into(raw, &mut text);
    let within = if path == Path::Rows { 0..=0 } else { head.saturating_sub(127)..=head };
    ensure!(within.contains(&len), "text_into() is {len}, want {within:?}");
    ensure!(str::from_utf8(text.as_bytes()).is_ok(), "text_into() gives what is ill-formed");
    same!("text_into()", text.as_bytes(), [b"\xC3\xA9", &raw[..len]].concat());
    Ok(())
}

/// A stretch cut at a place is one; a cut within a sequence keeps text what it is.
fn is_cut(stretch: &Stretch<'_>, items: &[Item], at: usize, count: usize) -> Result<(), String> {
    let mut cut = stretch.clone();
    cut.cut(at);
    let at = at.min(stretch.len());
    let across = items.iter().find(|item| item.at < at && at < item.end());
    let checked = match across {
        Some(item) if item.what != What::Text => is_safe(&cut, at),
        _ => {
            let len = across.map_or(at, |item| item.at);
            pieces_are(&cut, items, len).and_then(|()| agrees(&cut, &[], count))
        }
    };
    checked.map_err(|reason| format!("cut at {at}: {reason}"))
}

/// What a stretch gives is text, whatever was done to it.
fn is_safe(stretch: &Stretch<'_>, len: usize) -> Result<(), String> {
    same!("len()", stretch.len(), len);
    let mut view = String::new();
    let mut pieces = String::new();
    stretch.append_to(&mut view);
    for (_, piece) in stretch.pieces() {
        if let Piece::Text(text) = piece {
            pieces.push_str(text);
        }
    }
    ensure!(str::from_utf8(view.as_bytes()).is_ok(), "append_to() gives what is ill-formed");
    same!("append_to()", &view, &pieces);
    let is_text = view.chars().all(|c| matches!(c, '\t' | '\n') || !c.is_control());
    ensure!(is_text, "a control in {view:?}");
    let _ = stretch.tail();
    Ok(())
}

/// A stretch cut anywhere is what it is up to there.
pub(crate) fn cuts(raw: &[u8], items: &[Item]) -> Result<(), String> {
    let stretch = Stretch::of(raw);
    agrees(&stretch, &[], MANY)?;
    (0..=stretch.len() + 2).try_for_each(|at| is_cut(&stretch, items, at, FEW))
}

/// Any of its CRs may become line ends, and it may be cut before or behind.
pub(crate) fn ends_lines(raw: &[u8]) -> Result<(), String> {
    let whole = Stretch::of(raw);
    let crs: Vec<usize> =
        whole.pieces().filter(|(_, piece)| *piece == Piece::Cr).map(|(at, _)| at).collect();
    for step in 1..=crs.len().min(4) {
        for first in 0..step {
            let mut stretch = whole.clone();
            let line_ends: Vec<usize> = crs.iter().copied().skip(first).step_by(step).collect();
            line_ends.iter().for_each(|&at| stretch.end_line(at));
            let of_it = |reason| format!("with {line_ends:?} as line ends: {reason}");
            agrees(&stretch, &line_ends, MANY).map_err(of_it)?;
            for cut in [line_ends[0], line_ends[0] + 1, line_ends[line_ends.len() - 1]] {
                let mut stretch = stretch.clone();
                stretch.cut(cut);
                let before: Vec<usize> = line_ends.iter().copied().filter(|&at| at < cut).collect();
                agrees(&stretch, &before, FEW)
                    .map_err(|reason| format!("{reason}, cut at {cut}"))?;
            }
        }
    }
    let mut stretch = whole.clone();
    (0..=whole.len() + 1).filter(|at| !crs.contains(at)).for_each(|at| stretch.end_line(at));
    agrees(&stretch, &[], FEW).map_err(|reason| format!("with no CR as line end: {reason}"))
}

/// The lengths of one kind of byte are exact.
pub(crate) fn measures(raw: &[u8]) -> Result<(), String> {
    let ends = |b: &u8| matches!(b, 0x07 | 0x0A | 0x0D | 0x18 | 0x1A | 0x1B | 0x9C | 0xC2..=0xF4);
    let want = raw.iter().position(ends).unwrap_or(raw.len());
    same!("payload_len()", payload_len(raw), want);
    for (first, last) in [(0x30, 0x3F), (0x20, 0x7E), (0x80, 0xBF), (0, 0xFF), (0x41, 0x41)] {
        let is_in = |b: &&u8| (first..=last).contains(*b);
        let want = raw.iter().take_while(is_in).count();
        same!(
            format_args!("range_len() {first:02X}-{last:02X}"),
            range_len(raw, first, last),
            want
        );
    }
    Ok(())
}
