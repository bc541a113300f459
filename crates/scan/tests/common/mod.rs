//! What a scan must find, written from its contract alone: byte by byte, slow and obvious.

#![allow(dead_code, reason = "shared by tests")]

use noesc_scan::{
    Aborted, Path, Piece, STRETCH_BYTES_MAX, Stretch, as_text, payload_len, range_len, text_into,
};
use noesc_text::{is_at_home, is_base};

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
    /// A base, TAB or LF.
    Text,
    /// A character that is kept where it stands.
    AtHome,
    /// Another character of text.
    Special,
    /// A CR.
    Cr,
    /// An ESC, or `ESC [` and parameters, that an ESC or a byte from 80 on cuts short.
    Aborted,
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

    fn is_text(&self) -> bool {
        matches!(self.what, What::Text | What::AtHome | What::Special)
    }

    fn is_kept(&self) -> bool {
        matches!(self.what, What::Text | What::AtHome)
    }

    fn is_joiner(&self, raw: &[u8]) -> bool {
        matches!(raw[self.at..self.end()], [0xE2, 0x80, 0x8C | 0x8D])
    }
}

/// The character of text at the head of these bytes.
fn text(raw: &[u8]) -> Option<char> {
    if let Some(&byte @ (0x09 | 0x0A | 0x20..=0x7E)) = raw.first() {
        return Some(char::from(byte));
    }
    for len in 2..=4 {
        let Ok(text) = str::from_utf8(raw.get(..len)?) else { continue };
        let mut chars = text.chars();
        if let (Some(c), None) = (chars.next(), chars.next()) {
            return (c >= '\u{a0}').then_some(c);
        }
    }
    None
}

/// What a character of text is, behind these items.
fn what(raw: &[u8], c: char, items: &[Item]) -> What {
    if c == '\n' || is_base(c) {
        return What::Text;
    }
    let at = items.last().map_or(0, Item::end);
    // An ASCII byte ends what is known of those before.
    let before = items.iter().rev().map_while(|item| text(&raw[item.at..]).filter(|c| *c > '~'));
    match is_at_home(c, before, text(&raw[at + c.len_utf8()..])) {
        true => What::AtHome,
        false => What::Special,
    }
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

/// The control sequence at the head of these bytes, which begin with ESC.
fn sequence(raw: &[u8]) -> Option<(What, usize)> {
    let cuts = |byte: u8| byte == 0x1B || byte >= 0x80;
    let Some(parameters) = raw.strip_prefix(b"\x1b[") else {
        return cuts(*raw.get(1)?).then_some((What::Aborted, 1));
    };
    let len = parameters.iter().take_while(|b| (0x30..=0x3F).contains(*b)).count();
    let (parameters, rest) = parameters.split_at(len);
    let last = *rest.first().filter(|_| len < PARAMETERS_MAX)?;
    let is_private = parameters.iter().any(|b| (0x3C..=0x3F).contains(b));
    let hides = || parameters.split(|b| matches!(b, b';' | b':')).any(may_hide);
    let is_plain = match last {
        byte if cuts(byte) => return Some((What::Aborted, len + 2)),
        b'm' => !is_private && !hides(),
        b'K' => !is_private,
        0x40..=0x7E => false,
        _ => return None,
    };
    Some((if is_plain { What::Plain } else { What::Odd }, len + 3))
}

/// What the rows are not needed for, from the first byte on, as far as that goes.
pub(crate) fn items(raw: &[u8]) -> Vec<Item> {
    let mut items = Vec::new();
    let mut at = 0;
    while at < raw.len() {
        let item = match raw[at] {
            b'\r' => Some((What::Cr, 1)),
            0x1B => sequence(&raw[at..]),
            _ => text(&raw[at..]).map(|c| (what(raw, c, &items), c.len_utf8())),
        };
        let Some((what, len)) = item else { break };
        items.push(Item { what, at, len });
        at += len;
    }
    items
}

/// The end of the last one.
fn end(items: &[Item]) -> usize {
    items.last().map_or(0, Item::end)
}

/// How far a stretch goes at the least that may go to `end`: to the beginning of the 64 bytes in
/// which the last byte is, or of what lies across that. A sequence that is itself as long may be
/// left to the rows. Joiners at the end wait for what follows.
fn least(raw: &[u8], items: &[Item], end: usize) -> usize {
    let block = end.saturating_sub(1) / BLOCK * BLOCK;
    let whole = items.iter().take_while(|item| item.len < BLOCK && item.end() <= block).count();
    let is_last = |item: &&Item| !item.is_joiner(raw);
    items[..whole].iter().rfind(is_last).map_or(0, Item::end)
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
                ensure!(item.is_text(), "at {at}: text, want {:?}", item.what);
                let mut end = item.end();
                while let Some(more) = items.next_if(|item| item.is_text()) {
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
            Piece::Aborted(bytes) => {
                ensure!(item.what == What::Aborted, "at {at}: cut short, want {:?}", item.what);
                same!("a sequence cut short", bytes, &raw[at..item.end()]);
                at = item.end();
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

/// The special characters are those that need a judgement, and none is a base.
fn specials_are(stretch: &Stretch<'_>, items: &[Item]) -> Result<(), String> {
    let mut special = stretch.next_special(0);
    for item in items.iter().take_while(|item| item.at < stretch.len()) {
        let is_special = special == Some(item.at);
        let may_be = match item.what {
            What::Special => is_special,
            What::AtHome => true,
            _ => !is_special,
        };
        ensure!(may_be, "at {}: special: {is_special}, want {:?}", item.at, item.what);
        if is_special {
            special = stretch.next_special(item.at + 1);
        }
    }
    same!("next_special()", special, None);
    Ok(())
}

/// Where to ask what stands next: at so many places, and behind all.
fn places(len: usize, count: usize) -> impl Iterator<Item = usize> {
    let step = len / count + 1;
    (0..=len).step_by(step).chain([len, len + 1, STRETCH_BYTES_MAX, STRETCH_BYTES_MAX + 64])
}

/// What a stretch is made of, as its pieces say: places of bytes.
#[derive(Default)]
struct Made {
    /// Of the text, and of the CRs in it that are line ends.
    text: Vec<usize>,
    line_ends: Vec<usize>,
    /// Where text begins and ends between all else, line ends that were CRs included.
    runs: Vec<(usize, usize)>,
    special: Vec<usize>,
    crs: Vec<usize>,
    /// The last bytes of complete sequences, of the odd ones, of ELs, and of plain styles.
    ends: Vec<usize>,
    odd: Vec<usize>,
    erases: Vec<usize>,
    styles: Vec<usize>,
    aborted: Vec<Aborted>,
    view: String,
}

impl Made {
    /// The CRs in `passed` stand before line ends.
    fn of(stretch: &Stretch<'_>, line_ends: &[usize], passed: &[usize]) -> Result<Self, String> {
        let mut made = Self { line_ends: line_ends.to_vec(), ..Self::default() };
        let mut special = stretch.next_special(0);
        while let Some(at) = special {
            made.special.push(at);
            special = stretch.next_special(at + 1);
        }
        for (at, piece) in stretch.pieces() {
            match piece {
                Piece::Text(text) => made.text(at, text),
                Piece::Cr if passed.contains(&at) => {}
                Piece::Cr => made.crs.push(at),
                Piece::Aborted(bytes) => {
                    same!("sequence()", stretch.sequence(at + bytes.len() - 1), bytes);
                    made.aborted(at, bytes);
                }
                Piece::Sequence { bytes, is_plain } => {
                    let end = at + bytes.len() - 1;
                    same!("sequence()", stretch.sequence(end), bytes);
                    made.ends.push(end);
                    let list = match (is_plain, bytes.ends_with(b"K")) {
                        (false, _) => &mut made.odd,
                        (true, true) => &mut made.erases,
                        (true, false) => &mut made.styles,
                    };
                    list.push(end);
                }
            }
        }
        Ok(made)
    }

    fn text(&mut self, at: usize, text: &str) {
        self.text.extend(at..at + text.len());
        let ends = self.line_ends.iter().copied().filter(|end| (at..at + text.len()).contains(end));
        let mut from = at;
        for end in ends.chain([at + text.len()]) {
            self.runs.push((from, end));
            from = end + 1;
        }
        for (i, c) in text.char_indices() {
            let is_line_end = self.line_ends.contains(&(at + i));
            self.view.push(if is_line_end { '\n' } else { c });
        }
    }

    fn aborted(&mut self, at: usize, bytes: &[u8]) {
        let (end, escapes) = (at + bytes.len(), u32::from(bytes == b"\x1b"));
        match self.aborted.last_mut().filter(|run| run.end == at) {
            Some(run) => {
                *run = Aborted {
                    start: run.start,
                    end,
                    count: run.count + 1,
                    escapes: run.escapes + escapes,
                };
            }
            None => self.aborted.push(Aborted { start: at, end, count: 1, escapes }),
        }
    }
}

/// Everything that a stretch says of itself agrees with its pieces, with `line_ends`, the CRs that
/// are line ends, and `passed`, the ones before LFs. It is asked what stands next at `count`
/// places.
fn agrees(
    stretch: &Stretch<'_>,
    line_ends: &[usize],
    passed: &[usize],
    count: usize,
) -> Result<(), String> {
    let made = Made::of(stretch, line_ends, passed)?;
    same!("len()", stretch.len(), stretch.raw().len());
    same!("is_empty()", stretch.is_empty(), stretch.raw().is_empty());
    same!("sequences()", stretch.sequences(), made.ends.len());
    same!("erases()", stretch.erases(), made.erases.len());
    same!("text_len()", stretch.text_len(), made.text.len());
    same!("line_ends()", stretch.line_ends(), line_ends.len());
    ensure!(stretch.has_odd() || made.odd.is_empty(), "has_odd()");
    ensure!(stretch.has_cr() || made.crs.is_empty() && line_ends.is_empty(), "has_cr()");
    ensure!(stretch.has_special() || made.special.is_empty(), "has_special()");
    ensure!(stretch.has_aborted() || made.aborted.is_empty(), "has_aborted()");
    for &end in &made.ends {
        same!("is_erase()", stretch.is_erase(end), made.erases.contains(&end));
    }
    for at in places(stretch.len(), count) {
        stands_next(stretch, &made, at)?;
    }
    for &at in made.special.iter().step_by(made.special.len() / count + 1) {
        stands_next(stretch, &made, at)?;
        runs_are(stretch, &made, at)?;
    }
    runs_are(stretch, &made, made.text.last().map_or(0, |last| last + 1))?;
    appends(stretch, &made.view)
}

/// The text before a place and from it on is what it says.
fn runs_are(stretch: &Stretch<'_>, made: &Made, at: usize) -> Result<(), String> {
    let start = made.runs.iter().find(|&&(start, end)| start < at && at <= end);
    let mut start = start.map_or(at, |&(start, _)| start.max(at.saturating_sub(64)));
    while stretch.raw().get(start).is_some_and(|b| (0x80..0xC0).contains(b)) {
        start += 1;
    }
    let end = made.runs.iter().find(|&&(start, end)| start <= at && at < end);
    let end = end.map_or(at, |&(_, end)| end);
    let (raw, (got, text)) = (stretch.raw(), stretch.run_before(at));
    same!(format_args!("run_before({at})"), (got, text.as_bytes()), (start, &raw[start..at]));
    same!(format_args!("run_from({at})"), stretch.run_from(at).as_bytes(), &raw[at..end]);
    Ok(())
}

/// What it says stands next at a place, and before it.
fn stands_next(stretch: &Stretch<'_>, made: &Made, at: usize) -> Result<(), String> {
    let next = |of: &[usize]| of.iter().copied().find(|&place| place >= at);
    let last = |of: &[usize]| of.iter().copied().rfind(|&place| place < at);
    same!(format_args!("next_end({at}, false)"), stretch.next_end(at, false), next(&made.ends));
    same!(format_args!("next_end({at}, true)"), stretch.next_end(at, true), next(&made.odd));
    same!(format_args!("last_style({at})"), stretch.last_style(at), last(&made.styles));
    same!(format_args!("next_erase({at})"), stretch.next_erase(at), next(&made.erases));
    same!(format_args!("next_cr({at})"), stretch.next_cr(at), next(&made.crs));
    same!(format_args!("next_text({at})"), stretch.next_text(at), next(&made.text));
    same!(format_args!("last_text({at})"), stretch.last_text(at), last(&made.text));
    same!(format_args!("next_special({at})"), stretch.next_special(at), next(&made.special));
    // Within a run it is not asked.
    if !made.aborted.iter().any(|run| run.start < at && at < run.end) {
        let want = made.aborted.iter().find(|run| run.start >= at).copied();
        same!(format_args!("next_aborted({at})"), stretch.next_aborted(at), want);
    }
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

/// What the path in use finds is what the contract says.
pub(crate) fn finds(raw: &[u8], items: &[Item], path: Path) -> Result<(), String> {
    let stretch = Stretch::of(raw);
    let in_one = items.iter().take_while(|item| item.end() <= STRETCH_BYTES_MAX).count();
    let (most, len) = (end(&items[..in_one]), stretch.len());
    let within = if path == Path::Rows { 0..=0 } else { least(raw, items, most)..=most };
    ensure!(within.contains(&len), "len() is {len}, want {within:?}");
    ensure!(std::ptr::eq(stretch.raw(), &raw[..len]), "raw() is not its bytes");
    pieces_are(&stretch, items, len)?;
    specials_are(&stretch, items)?;
    agrees(&stretch, &[], &[], FEW)?;
    is_cut(&stretch, items, len / 2, FEW)?;
    takes_text(raw, items, path)
}

/// The pieces and the text, quicker.
pub(crate) fn finds_text(raw: &[u8], items: &[Item], path: Path) -> Result<(), String> {
    let stretch = Stretch::of(raw);
    let (most, len) = (end(items), stretch.len());
    let within = if path == Path::Rows { 0..=0 } else { least(raw, items, most)..=most };
    ensure!(within.contains(&len), "len() is {len}, want {within:?}");
    pieces_are(&stretch, items, len)?;
    specials_are(&stretch, items)?;
    takes_text(raw, items, path)
}

/// `text_into` appends the text at the head that is kept where it stands, and may stop short of
/// what is none by less than 128 bytes. `as_text` gives all of it, where nothing waits for what
/// follows.
fn takes_text(raw: &[u8], items: &[Item], path: Path) -> Result<(), String> {
    let kept = items.iter().take_while(|item| item.is_kept()).count();
    let head = end(&items[..kept]);
    let mut text = String::from("\u{e9}");
    text.shrink_to_fit();
    let len = text_into(raw, &mut text);
    let within = if path == Path::Rows { 0..=0 } else { head.saturating_sub(127)..=head };
    ensure!(within.contains(&len), "text_into() is {len}, want {within:?}");
    ensure!(str::from_utf8(text.as_bytes()).is_ok(), "text_into() gives what is ill-formed");
    same!("text_into()", text.as_bytes(), [b"\xC3\xA9", &raw[..len]].concat());
    ensure!(!ends_in_joiner(&raw[..len]), "text_into() ends in a joiner");
    let is_all = path != Path::Rows && head == raw.len() && !ends_in_joiner(raw);
    same!("as_text()", as_text(raw).map(str::as_bytes), is_all.then_some(raw));
    Ok(())
}

fn ends_in_joiner(raw: &[u8]) -> bool {
    matches!(raw, [.., 0xE2, 0x80, 0x8C | 0x8D])
}

/// A stretch cut at a place is one; a cut within a sequence keeps text what it is.
fn is_cut(stretch: &Stretch<'_>, items: &[Item], at: usize, count: usize) -> Result<(), String> {
    let mut cut = stretch.clone();
    cut.cut(at);
    let at = at.min(stretch.len());
    let across = items.iter().find(|item| item.at < at && at < item.end());
    let checked = match across {
        Some(item) if !item.is_text() => is_safe(&cut, at),
        _ => {
            let len = across.map_or(at, |item| item.at);
            pieces_are(&cut, items, len)
                .and_then(|()| specials_are(&cut, items))
                .and_then(|()| agrees(&cut, &[], &[], count))
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
    Ok(())
}

/// A stretch cut anywhere is what it is up to there.
pub(crate) fn cuts(raw: &[u8], items: &[Item]) -> Result<(), String> {
    let stretch = Stretch::of(raw);
    agrees(&stretch, &[], &[], MANY)?;
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
            agree_cut(&stretch, &line_ends, &[])?;
        }
    }
    let mut stretch = whole.clone();
    (0..=whole.len() + 1).filter(|at| !crs.contains(at)).for_each(|at| stretch.end_line(at));
    agrees(&stretch, &[], &[], FEW).map_err(|reason| format!("with no line end: {reason}"))?;
    ends_all_lines(whole, &crs)
}

/// Of these CRs the ones directly behind text and, sequences aside, before text become line ends,
/// no LF among it; of those before an LF it need not be told.
fn ends_all_lines(mut stretch: Stretch<'_>, crs: &[usize]) -> Result<(), String> {
    let texts: Vec<usize> = Made::of(&stretch, &[], &[])?.text;
    let (raw, mut line_ends, mut passed) = (stretch.raw(), Vec::new(), Vec::new());
    for &at in crs {
        let before = at.checked_sub(1).filter(|at| texts.binary_search(at).is_ok());
        let after = texts.iter().copied().find(|&text| text > at);
        let after = after.filter(|&after| !crs.iter().any(|&cr| at < cr && cr < after));
        match (before.map(|at| raw[at]), after.map(|at| raw[at])) {
            // At the very beginning it is told.
            (_, Some(b'\n')) if at > 0 => passed.push(at),
            (Some(before), Some(after)) if before != b'\n' && after != b'\n' => line_ends.push(at),
            _ => {}
        }
    }
    same!("end_lines()", stretch.end_lines(), line_ends.len());
    agree_cut(&stretch, &line_ends, &passed)
}

/// With these line ends it agrees, whole and cut at them.
fn agree_cut(stretch: &Stretch<'_>, line_ends: &[usize], passed: &[usize]) -> Result<(), String> {
    let places = [
        line_ends.first().copied(),
        line_ends.first().map(|at| at + 1),
        line_ends.last().copied(),
        Some(stretch.len()),
    ];
    for cut in places.into_iter().flatten() {
        let mut stretch = stretch.clone();
        stretch.cut(cut);
        let before: Vec<usize> = line_ends.iter().copied().filter(|&at| at < cut).collect();
        let of_it = |reason| format!("with {before:?} as line ends, cut at {cut}: {reason}");
        agrees(&stretch, &before, passed, MANY).map_err(of_it)?;
    }
    Ok(())
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
