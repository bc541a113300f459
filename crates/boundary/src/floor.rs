//! The least that any text bound for a terminal gets.

use noesc_grammar::{Class, Event, Kind, Parser, Sequence};

use crate::boundary::Boundary;
use crate::osc::{self, CLOSE_LINK, LINK_BYTES_MAX};
use crate::profile::Profile;
use crate::report::Report;

const ERASE_TO_END_OF_LINE: &str = "\x1b[K";

/// The least filtering that any text bound for a terminal gets, one for each stream. It keeps what
/// the chrome of a program that prints lines is made of, and drops the rest:
///
/// * style, less conceal, as [`Profile::DISPLAY`] does;
/// * erase to the end of the line, `ESC[K`;
/// * hyperlinks, `ESC]8;…`, rebuilt: an `id` of plain characters, and a target of which every
///   control is removed and what is not printable ASCII is percent-encoded.
///
/// It stands behind the writers of the content, not in place of them: what is chrome and what is
/// content can't be told here any more. An open style and an open link are closed at the end.
///
/// ```
/// use noesc::Floor;
///
/// let mut floor = Floor::new();
/// let mut screen = String::new();
/// floor.push(b"\x1b[1mName\x1b[K \x1b]8;;https://example.org\x07here\x1b]8;;\x07", &mut screen);
/// floor.push(b"\x1b[2J\x1b]52;c;UVE=\x07\x1b[0m\n", &mut screen);
/// floor.finish(&mut screen);
/// let link = "\x1b]8;;https://example.org\x1b\\here\x1b]8;;\x1b\\";
/// assert_eq!(screen, format!("\x1b[1mName\x1b[K {link}\x1b[0m\n"));
/// ```
#[derive(Clone, Debug)]
pub struct Floor {
    boundary: Boundary,
    watch: Watch,
}

/// Finds the sequences that the floor keeps.
#[derive(Clone, Debug, Default)]
struct Watch {
    parser: Parser,
    /// Where the open sequence began.
    open: Option<u64>,
    /// Its bytes so far, from its beginning; `None` once they are too many, or not all known.
    bytes: Option<Vec<u8>>,
    /// The last byte of the chunk before: the parser may still have held it.
    last: Option<u8>,
    is_link_open: bool,
}

impl Default for Floor {
    fn default() -> Self {
        Self::new()
    }
}

impl Floor {
    /// A floor at the beginning of a stream.
    #[must_use]
    pub fn new() -> Self {
        Self { boundary: Boundary::of(&Profile::DISPLAY), watch: Watch::default() }
    }

    /// Reads a chunk and appends to `view` what is decided.
    pub fn push(&mut self, chunk: &[u8], view: &mut String) {
        let base = self.watch.parser.offset();
        let mut done = 0;
        for (end, kept) in self.watch.read(chunk) {
            // The boundary drops the sequence, and is done with what stood before it.
            let end = usize::try_from(end.saturating_sub(base)).unwrap_or(chunk.len());
            let end = end.clamp(done, chunk.len());
            self.boundary.push(&chunk[done..end], view);
            view.push_str(&kept);
            done = end;
        }
        self.boundary.push(&chunk[done..], view);
    }

    /// Ends the stream: an unfinished sequence is dropped, an open link and an open style are
    /// closed. The report counts what is kept here as the boundary would: as removed.
    pub fn finish(&mut self, view: &mut String) -> Report {
        let report = self.boundary.finish(view);
        self.close_link(view);
        report
    }

    /// The same, and leaves an open style to the caller: the answer says whether one is.
    pub fn finish_open(&mut self, view: &mut String) -> (Report, bool) {
        let ended = self.boundary.finish_open(view);
        self.close_link(view);
        ended
    }

    fn close_link(&mut self, view: &mut String) {
        if self.watch.is_link_open {
            view.push_str(CLOSE_LINK);
        }
        self.watch = Watch::default();
    }
}

impl Watch {
    /// What is kept of a chunk: where each sequence ends, and what is written for it.
    fn read(&mut self, chunk: &[u8]) -> Vec<(u64, String)> {
        let base = self.parser.offset();
        let mut found = Vec::new();
        // Where the bytes of the open sequence that are not yet taken begin in this chunk.
        let mut from = 0;
        let Self { parser, open, bytes, last, is_link_open } = self;
        parser.push(chunk, &mut |at: u64, event: Event<'_>| match event {
            Event::Part { .. } if open.is_none() => {
                *open = Some(at);
                *bytes = match base.saturating_sub(at) {
                    0 => Some(Vec::new()),
                    // An ESC of which it was not clear whether it ends the sequence before.
                    1 => last.map(|byte| vec![byte]),
                    // A raw C1, which is no chrome.
                    _ => None,
                };
                from = usize::try_from(at.saturating_sub(base)).unwrap_or(chunk.len());
            }
            Event::End(sequence) => {
                *open = None;
                let end = usize::try_from(sequence.end.saturating_sub(base)).unwrap_or(0);
                let rest = chunk.get(from..end).unwrap_or_default();
                take(bytes, rest);
                let raw = bytes.take().unwrap_or_default();
                if let Some(kept) = kept(&sequence, &raw, is_link_open) {
                    found.push((sequence.end, kept));
                }
            }
            _ => {}
        });
        self.last = chunk.last().copied().or(self.last);
        if self.open.is_some() {
            take(&mut self.bytes, chunk.get(from..).unwrap_or_default());
        }
        found
    }
}

/// Adds bytes to those of the open sequence, unless they become too many.
fn take(bytes: &mut Option<Vec<u8>>, more: &[u8]) {
    match bytes {
        Some(so_far) if so_far.len() + more.len() <= LINK_BYTES_MAX => so_far.extend(more),
        _ => *bytes = None,
    }
}

/// What is written for a sequence, if it is kept.
fn kept(sequence: &Sequence<'_>, raw: &[u8], is_link_open: &mut bool) -> Option<String> {
    if !sequence.is_sound() {
        return None;
    }
    match (sequence.class, sequence.kind) {
        (Class::Csi, _) if sequence.final_byte == b'K' => {
            matches!(sequence.collected, b"" | b"0").then(|| ERASE_TO_END_OF_LINE.to_owned())
        }
        (Class::Osc, Kind::Hyperlink) => {
            let link = osc::rebuilt(raw)?;
            *is_link_open = link != CLOSE_LINK;
            Some(link)
        }
        _ => None,
    }
}
