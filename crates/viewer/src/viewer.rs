//! The viewer without a terminal: keys in, cells out.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;

use noesc_grammar::Severity;
use noesc_text::AuditEscape;

use crate::finding::Finding;
use crate::index::{GAP_BYTES_MAX, Index};
use crate::job::{Job, Step};
use crate::key::Key;
use crate::layout::Layout;
use crate::original::{Ended, Original, Seen, Start};
use crate::page::Page;
use crate::pattern::Pattern;
use crate::seen::{Copied, Ranges};
use crate::source::{STREAM_BYTES_MAX, Source};
use crate::theme::Theme;

/// Bytes of one stream, and what is known of them.
#[derive(Debug)]
pub(crate) struct Stream {
    /// Printable ASCII.
    pub(crate) name: String,
    pub(crate) bytes: u64,
    pub(crate) cursor: u64,
    /// The first byte on the screen.
    pub(crate) top: u64,
    pub(crate) index: Index,
}

/// What the keys mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Browse,
    /// A row is typed after `/` or `:`.
    Prompt {
        sign: char,
        text: String,
    },
    /// The list of findings, with the place of the chosen one.
    List {
        chosen: usize,
    },
    Help {
        top: u16,
    },
}

impl Mode {
    /// Whether the bytes are on the screen.
    pub(crate) const fn shows_rows(&self) -> bool {
        matches!(self, Self::Browse | Self::Prompt { .. })
    }
}

/// The viewer without a terminal: for tests, and for a program with a screen of its own.
///
/// [`view`](crate::view) is this on a terminal. Reads happen in [`draw`](Self::draw), for what is
/// on the screen, and in [`work`](Self::work).
///
/// ```
/// use noesc_viewer::{Bytes, Key, Start, Viewer};
/// use ratatui::{buffer::Buffer, layout::Rect};
///
/// let mut original = Bytes::new([("stdout", b"one\x1b]0;hi\x07two".to_vec())]);
/// let mut viewer = Viewer::new(&mut original, &Start::default());
/// viewer.key(Key::Char('n'));
/// while viewer.work() {}
///
/// let mut buffer = Buffer::empty(Rect::new(0, 0, 120, 24));
/// viewer.draw(&mut buffer);
/// let cells: String = buffer.content().iter().map(|cell| cell.symbol()).collect();
/// assert!(cells.contains("one\\x1b]0;hi\\x07two"));
/// assert!(cells.contains("set the window title"));
/// ```
pub struct Viewer<'a> {
    pub(crate) original: &'a mut dyn Original,
    pub(crate) title: String,
    pub(crate) theme: Theme,
    pub(crate) streams: Vec<Stream>,
    pub(crate) stream: usize,
    pub(crate) layout: Layout,
    pub(crate) mode: Mode,
    pub(crate) job: Option<(Job, u64)>,
    /// Printable ASCII.
    pub(crate) message: String,
    pub(crate) pattern: Option<Pattern>,
    pub(crate) any_case: bool,
    /// Where the last search ended: what it found.
    pub(crate) hit: Range<u64>,
    /// Where a choice of bytes begins.
    pub(crate) mark: Option<u64>,
    pub(crate) least: Severity,
    pub(crate) page: Page,
    /// Keys that were pressed while there was work.
    pub(crate) waiting: VecDeque<Key>,
    copied: Vec<Copied>,
    copied_bytes: u64,
    seen: Ranges,
    is_done: bool,
    size: (u16, u16),
}

/// Bytes that can be copied in one viewing.
pub const COPIED_BYTES_MAX: u64 = 64 * 1024;

/// Characters of a message, a title, the name of a stream.
const MESSAGE_CHARS_MAX: usize = 200;

/// Printable ASCII of any text, and not too long.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = AuditEscape(text.as_bytes()).to_string();
    escaped.truncate(MESSAGE_CHARS_MAX);
    escaped
}

impl<'a> Viewer<'a> {
    /// At the place where the viewing begins. Reads nothing.
    #[must_use]
    pub fn new(original: &'a mut dyn Original, start: &Start) -> Self {
        let stream = |stream: &crate::original::StreamInfo| Stream {
            name: escaped(&stream.name),
            bytes: stream.bytes.min(STREAM_BYTES_MAX),
            cursor: 0,
            top: 0,
            index: Index::new(),
        };
        let mut streams: Vec<Stream> = original.streams().iter().map(stream).collect();
        if streams.is_empty() {
            let none = crate::original::StreamInfo { name: "no stream".to_owned(), bytes: 0 };
            streams.push(stream(&none));
        }
        let chosen = start.stream.min(streams.len() - 1);
        let mut viewer = Self {
            original,
            title: escaped(&start.title),
            theme: Theme { colour: start.colour },
            streams,
            stream: chosen,
            layout: Layout::default(),
            mode: Mode::Browse,
            job: None,
            message: String::from("? for help, q to leave"),
            pattern: None,
            any_case: false,
            hit: 0..0,
            mark: None,
            least: Severity::Low,
            page: Page::default(),
            waiting: VecDeque::new(),
            copied: Vec::new(),
            copied_bytes: 0,
            seen: Ranges::default(),
            is_done: false,
            size: (80, 24),
        };
        viewer.resize(80, 24);
        viewer.jump(start.offset);
        viewer
    }

    /// The screen has so many columns and rows now. [`draw`](Self::draw) tells it too.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.size = (columns, rows);
        self.layout = Layout::new(columns, rows, self.here().bytes);
        self.follow();
    }

    /// Whether the user wants to leave.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        self.is_done
    }

    /// Whether there is work to do in steps: a search, or reading on.
    #[must_use]
    pub const fn is_working(&self) -> bool {
        self.job.is_some()
    }

    /// What was looked at so far.
    #[must_use]
    pub fn seen(&self) -> Seen {
        let ended = Ended::Quit;
        Seen { ranges: self.seen.list(), copied: self.copied.clone(), ended }
    }

    /// Does a step of the work that was asked for, of some hundred KiB. True while there is more;
    /// [`Key::Esc`](crate::Key::Esc) gives it up.
    pub fn work(&mut self) -> bool {
        let Some((mut job, _)) = self.job.take() else { return false };
        let stream = &mut self.streams[self.stream];
        let mut source = Source::new(self.original, self.stream);
        match job.step(&mut source, &mut stream.index) {
            Ok(Step::On(at)) => self.job = Some((job, at)),
            Ok(Step::Found { at, bytes, what }) => self.arrive(at, bytes, what),
            Ok(Step::Nothing(what)) => self.say(what),
            Ok(Step::Done) => {
                let read = stream.index.read_up_to();
                self.say(format!("read up to byte {read}"));
            }
            Err(error) => self.fail(&error),
        }
        self.take_waiting();
        self.job.is_some()
    }

    pub(crate) fn here(&self) -> &Stream {
        &self.streams[self.stream]
    }

    pub(crate) fn here_mut(&mut self) -> &mut Stream {
        &mut self.streams[self.stream]
    }

    pub(crate) fn say(&mut self, message: impl Into<String>) {
        self.message = message.into();
    }

    pub(crate) fn fail(&mut self, error: &io::Error) {
        self.message = format!("can't read: {}", escaped(&error.to_string()));
    }

    pub(crate) fn begin(&mut self, job: Job) {
        let at = self.here().cursor;
        self.job = Some((job, at));
        self.message.clear();
    }

    pub(crate) fn leave(&mut self) {
        self.job = None;
        self.is_done = true;
    }

    fn arrive(&mut self, at: u64, bytes: u64, what: Option<Finding>) {
        self.jump(at);
        self.hit = at..at.saturating_add(bytes);
        match what {
            Some(of) => self.say(format!("{}: {} at byte {at}", of.severity.name(), of.kind)),
            None => self.say(format!("byte {at}")),
        }
    }

    /// The findings of the list, from the severity on that was chosen.
    pub(crate) fn listed(&self) -> Vec<Finding> {
        let list = self.here().index.findings().list();
        list.iter().filter(|of| of.severity >= self.least).copied().collect()
    }

    /// To a finding of the list.
    pub(crate) fn go_to(&mut self, finding: Finding) {
        self.arrive(finding.at, finding.bytes, Some(finding));
    }

    /// Puts the cursor on a byte, with some rows above it if it was off the screen.
    pub(crate) fn jump(&mut self, to: u64) {
        let layout = self.layout;
        let stream = self.here_mut();
        stream.cursor = to.min(stream.bytes.saturating_sub(1));
        let row = stream.cursor - stream.cursor % layout.row();
        if row < stream.top || row >= stream.top + layout.page() {
            stream.top = row.saturating_sub(u64::from(layout.body / 3) * layout.row());
        }
        self.follow();
    }

    /// Moves the screen so that the cursor is on it, and begins it at a row.
    pub(crate) fn follow(&mut self) {
        let layout = self.layout;
        let stream = self.here_mut();
        let row = stream.cursor - stream.cursor % layout.row();
        stream.top -= stream.top % layout.row();
        if row < stream.top {
            stream.top = row;
        } else if row >= stream.top.saturating_add(layout.page()) {
            stream.top = row + layout.row() - layout.page();
        }
    }

    pub(crate) fn switch(&mut self, step: usize) {
        self.job = None;
        self.mark = None;
        self.hit = 0..0;
        self.stream = (self.stream + step) % self.streams.len();
        let (columns, rows) = self.size;
        self.resize(columns, rows);
        let name = self.here().name.clone();
        self.say(format!("stream {name}"));
    }

    /// The bytes that `y` copies: from the mark to the cursor, or the piece under the cursor.
    fn chosen(&self) -> Range<u64> {
        let cursor = self.here().cursor;
        match self.mark {
            Some(mark) => mark.min(cursor)..mark.max(cursor) + 1,
            None => self.page.piece(cursor).map_or(cursor..cursor, |piece| piece.bytes.clone()),
        }
    }

    /// Keeps bytes as text, to be handed back.
    pub(crate) fn copy(&mut self) {
        let bytes = self.chosen();
        let length = bytes.end.saturating_sub(bytes.start);
        if self.copied_bytes.saturating_add(length) > COPIED_BYTES_MAX {
            let room = COPIED_BYTES_MAX - self.copied_bytes;
            return self.say(format!("{length} bytes are too many: there is room for {room}"));
        }
        let stream = self.stream;
        match Source::new(self.original, stream).all(bytes.clone()) {
            Ok(copied) if copied.is_empty() => self.say("nothing to copy"),
            Ok(copied) => {
                self.copied_bytes += copied.len() as u64;
                self.seen.add(stream, bytes.clone());
                self.copied.push(Copied { stream, bytes, text: AuditEscape(&copied).to_string() });
                self.mark = None;
                let count = copied.len();
                self.say(format!("{count} byte(s) copied as text, told when you leave"));
            }
            Err(error) => self.fail(&error),
        }
    }

    /// Reads what is to be on the screen, unless it is there, and notes that it was looked at.
    pub(crate) fn refresh(&mut self) {
        let top = self.here().top;
        let wanted = top..top.saturating_add(self.layout.page()).min(self.here().bytes);
        let (known, page) = (self.here().index.read_up_to(), &self.page);
        let is_there = page.wanted == wanted && page.stream == self.stream && page.error.is_none();
        let is_known = known.saturating_add(GAP_BYTES_MAX) >= top && page.read_up_to != known;
        if !is_there || (!page.pieces.exact && is_known) {
            let mut source = Source::new(self.original, self.stream);
            let index = &mut self.streams[self.stream].index;
            self.page = Page::read(&mut source, index, self.stream, wanted);
            if let Some(error) = self.page.error.take() {
                self.fail(&error);
            }
        }
        let shown = top..top + self.page.bytes.len() as u64;
        if self.layout.body > 0 && self.mode.shows_rows() {
            self.seen.add(self.stream, shown);
        }
    }

    pub(crate) const fn size(&self) -> (u16, u16) {
        self.size
    }

    /// Notes that bytes were shown beside the rows: a payload in the panel.
    pub(crate) fn note_seen(&mut self, bytes: Range<u64>) {
        self.seen.add(self.stream, bytes);
    }
}
