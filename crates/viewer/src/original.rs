//! What the viewer is given, and what it hands back.

use std::fmt;
use std::io;

use crate::seen::{Copied, SeenRange};

/// The bytes of a run, stream by stream, as they were observed.
///
/// They may be gigabytes: the viewer asks for the part that it shows, and for more only when it is
/// told to search. It never asks for more than 256 KiB at once.
///
/// ```
/// use noesc_viewer::{Bytes, Original};
///
/// let mut original = Bytes::new([("stdout", b"one\x1b[2Jtwo".to_vec())]);
/// let mut buffer = [0; 4];
/// assert_eq!(original.read_at(0, 3, &mut buffer)?, 4);
/// assert_eq!(buffer, *b"\x1b[2J");
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait Original {
    /// The streams, which do not change while they are viewed.
    fn streams(&self) -> &[StreamInfo];

    /// Reads bytes of a stream from an offset on, as many as there are room and bytes for, or
    /// fewer. Zero stands for the end.
    ///
    /// # Errors
    /// Those of whatever holds the bytes. The viewer shows the error, escaped, and goes on.
    fn read_at(&mut self, stream: usize, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;
}

/// One stream of an original.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamInfo {
    /// Its name: `stdout`, `stderr`, `pty`. The viewer escapes it.
    pub name: String,
    /// Its length.
    pub bytes: u64,
}

/// An original that is all in memory.
#[derive(Clone, Debug, Default)]
pub struct Bytes {
    streams: Vec<StreamInfo>,
    bytes: Vec<Vec<u8>>,
}

impl Bytes {
    /// Of streams with their names.
    #[must_use]
    pub fn new<'a>(streams: impl IntoIterator<Item = (&'a str, Vec<u8>)>) -> Self {
        let mut original = Self::default();
        for (name, bytes) in streams {
            let length = bytes.len() as u64;
            original.streams.push(StreamInfo { name: name.to_owned(), bytes: length });
            original.bytes.push(bytes);
        }
        original
    }
}

impl Original for Bytes {
    fn streams(&self) -> &[StreamInfo] {
        &self.streams
    }

    fn read_at(&mut self, stream: usize, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.bytes.get(stream).map(Vec::as_slice).unwrap_or_default();
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
        let rest = &bytes[from..];
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }
}

/// Where a viewing begins, and how it looks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// What is viewed, for the first row. Any text: the viewer escapes what is not printable ASCII.
    pub title: String,
    /// The stream shown first. One that there is none of stands for the last.
    pub stream: usize,
    /// The byte under the cursor. One behind the end stands for the last.
    pub offset: u64,
    /// Colours; otherwise bold, underlined and reversed text. See [`colour_wanted`].
    pub colour: bool,
}

/// Whether the environment leaves colours on: no `NO_COLOR`, as <https://no-color.org> has it.
#[must_use]
pub fn colour_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// What was looked at, for the record of a decision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Seen {
    /// The bytes that were on the screen, in order, without overlap. At most
    /// [`SEEN_RANGES_MAX`](crate::SEEN_RANGES_MAX); beyond that the nearest are joined, so that
    /// this says too much rather than too little.
    pub ranges: Vec<SeenRange>,
    /// What was copied, for the caller to print once the terminal is as it was.
    pub copied: Vec<Copied>,
    /// How the viewing ended.
    pub ended: Ended,
}

/// How a viewing ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// By the investigator.
    #[default]
    Quit,
    /// By a signal of this number; the caller is to end too.
    Signal(i32),
    /// The terminal went away, or failed.
    TerminalLost,
}

/// Why nothing was shown.
#[derive(Debug)]
#[non_exhaustive]
pub enum ViewerError {
    /// The process has no terminal, or it can't be opened.
    NoTerminal(io::Error),
    /// The terminal device is no terminal, or its modes can't be set.
    Modes(io::Error),
    /// `TERM` names a terminal that can't place text.
    DumbTerminal,
    /// The original has no stream.
    NoStream,
    /// Signals can't be received.
    Signals(io::Error),
}

impl ViewerError {
    /// One action that helps.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::NoTerminal(_) => "run it from a terminal, or ask for a bounded extract instead",
            Self::Modes(_) => "run it from an ordinary terminal",
            Self::DumbTerminal => "set TERM to what the terminal is",
            Self::NoStream => "nothing was kept of this run",
            Self::Signals(_) => "close files that are open, and try again",
        }
    }
}

impl fmt::Display for ViewerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTerminal(error) => write!(f, "no terminal to view on: {error}"),
            Self::Modes(error) => write!(f, "the modes of the terminal can't be set: {error}"),
            Self::DumbTerminal => f.write_str("the terminal can't place text (TERM is dumb)"),
            Self::NoStream => f.write_str("there is no stream to view"),
            Self::Signals(error) => write!(f, "signals can't be received: {error}"),
        }
    }
}

impl std::error::Error for ViewerError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NoTerminal(error) | Self::Modes(error) | Self::Signals(error) => Some(error),
            Self::DumbTerminal | Self::NoStream => None,
        }
    }
}
