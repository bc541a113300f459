//! The boundary where bytes are read or written.

use std::fmt;
use std::io::{self, Read, Write};

use crate::boundary::Boundary;
use crate::content::Content;
use crate::floor::Floor;
use crate::profile::{Profile, ProfileError};
use crate::report::Report;

/// Bytes read from the inner reader at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// Reads a view of what another reader gives.
///
/// ```
/// use std::io::Read;
///
/// let mut view = String::new();
/// let mut reader = noesc::Reader::new(&b"\x1b]0;title\x07text"[..], &noesc::Profile::AGENT)?;
/// reader.read_to_string(&mut view)?;
/// assert_eq!(view, "text");
/// assert_eq!(reader.report().unwrap().kinds["window-title"], 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Reader<R> {
    inner: R,
    boundary: Boundary,
    chunk: Vec<u8>,
    view: String,
    taken: usize,
    report: Option<Report>,
}

impl<R: Read> Reader<R> {
    /// # Errors
    /// When the settings do not go together: see [`Profile::check`].
    pub fn new(inner: R, profile: &Profile) -> Result<Self, ProfileError> {
        let boundary = Boundary::new(profile)?;
        let chunk = vec![0; CHUNK_BYTES];
        Ok(Self { inner, boundary, chunk, view: String::new(), taken: 0, report: None })
    }

    /// The report, once the end was read.
    #[must_use]
    pub fn report(&self) -> Option<&Report> {
        self.report.as_ref()
    }
}

impl<R: Read> Read for Reader<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.view.len() && self.report.is_none() {
            self.view.clear();
            self.taken = 0;
            match self.inner.read(&mut self.chunk)? {
                0 => self.report = Some(self.boundary.finish(&mut self.view)),
                n => self.boundary.push(&self.chunk[..n], &mut self.view),
            }
        }
        let rest = &self.view.as_bytes()[self.taken..];
        let n = rest.len().min(to.len());
        to[..n].copy_from_slice(&rest[..n]);
        self.taken += n;
        Ok(n)
    }
}

/// What stands between bytes and a view: a [`Boundary`] or [`Content`], or a [`Floor`].
pub trait Filter {
    /// Reads a chunk and appends to `view` what is decided.
    fn push(&mut self, chunk: &[u8], view: &mut String);

    /// Ends the stream: appends what was held back, closes an open style, and gives the report.
    /// The filter is then at the beginning of another stream.
    fn finish(&mut self, view: &mut String) -> Report;

    /// The same, and leaves an open style to the caller: the answer says whether one is.
    fn finish_open(&mut self, view: &mut String) -> (Report, bool);
}

macro_rules! filter {
    ($($type:ty),*) => {$(
        impl Filter for $type {
            fn push(&mut self, chunk: &[u8], view: &mut String) {
                <$type>::push(self, chunk, view);
            }

            fn finish(&mut self, view: &mut String) -> Report {
                <$type>::finish(self, view)
            }

            fn finish_open(&mut self, view: &mut String) -> (Report, bool) {
                <$type>::finish_open(self, view)
            }
        }
    )*};
}

filter!(Boundary, Content, Floor);

/// Writes a view of what it is given to another writer. What a write decides reaches the inner
/// writer before the write returns.
///
/// ```
/// use std::io::Write;
///
/// let mut writer = noesc::Writer::new(Vec::new(), &noesc::Profile::AGENT)?;
/// writer.write_all(b"\x1b[2Jtext")?;
/// let report = writer.finish()?;
/// assert_eq!(writer.into_inner(), b"text");
/// assert_eq!(report.kinds["erase"], 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Writer<W, F = Boundary> {
    inner: W,
    filter: F,
    view: String,
}

impl<W: Write> Writer<W> {
    /// # Errors
    /// When the settings do not go together: see [`Profile::check`].
    pub fn new(inner: W, profile: &Profile) -> Result<Self, ProfileError> {
        Ok(Self::with(inner, Boundary::new(profile)?))
    }
}

impl<W: Write, F: Filter> Writer<W, F> {
    /// A writer through this filter.
    pub fn with(inner: W, filter: F) -> Self {
        Self { inner, filter, view: String::new() }
    }

    /// Ends the stream: writes what was held back, closes an open style, flushes, and gives the
    /// report. What is written next is another stream.
    ///
    /// # Errors
    /// Those of the inner writer.
    pub fn finish(&mut self) -> io::Result<Report> {
        let report = self.filter.finish(&mut self.view);
        self.drain()?;
        self.inner.flush()?;
        Ok(report)
    }

    /// The same, and leaves an open style to the caller: the answer says whether one is.
    ///
    /// # Errors
    /// Those of the inner writer.
    pub fn finish_open(&mut self) -> io::Result<(Report, bool)> {
        let ended = self.filter.finish_open(&mut self.view);
        self.drain()?;
        self.inner.flush()?;
        Ok(ended)
    }

    /// The inner writer. What was not finished is lost.
    pub fn into_inner(self) -> W {
        self.inner
    }

    fn drain(&mut self) -> io::Result<()> {
        let result = self.inner.write_all(self.view.as_bytes());
        self.view.clear();
        result
    }
}

impl<W: Write, F: Filter> Write for Writer<W, F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = bytes.len().min(CHUNK_BYTES);
        self.filter.push(&bytes[..n], &mut self.view);
        self.drain()?;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// The same for text that is formatted.
///
/// ```
/// use std::fmt::Write;
/// use noesc::{Content, ContentClass, FmtWriter};
///
/// let mut writer = FmtWriter::with(String::new(), Content::new(ContentClass::Derived));
/// write!(writer, "{}\n{}", "\u{9b}31mred", "title")?;
/// writer.finish()?;
/// assert_eq!(writer.into_inner(), "red title");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FmtWriter<W, F = Boundary> {
    inner: W,
    filter: F,
    view: String,
}

impl<W: fmt::Write> FmtWriter<W> {
    /// # Errors
    /// When the settings do not go together: see [`Profile::check`].
    pub fn new(inner: W, profile: &Profile) -> Result<Self, ProfileError> {
        Ok(Self::with(inner, Boundary::new(profile)?))
    }
}

impl<W: fmt::Write, F: Filter> FmtWriter<W, F> {
    /// A writer through this filter.
    pub fn with(inner: W, filter: F) -> Self {
        Self { inner, filter, view: String::new() }
    }

    /// Ends the stream: writes what was held back, closes an open style, and gives the report. What
    /// is written next is another stream.
    ///
    /// # Errors
    /// Those of the inner writer.
    pub fn finish(&mut self) -> Result<Report, fmt::Error> {
        let report = self.filter.finish(&mut self.view);
        self.drain()?;
        Ok(report)
    }

    /// The same, and leaves an open style to the caller: the answer says whether one is.
    ///
    /// # Errors
    /// Those of the inner writer.
    pub fn finish_open(&mut self) -> Result<(Report, bool), fmt::Error> {
        let ended = self.filter.finish_open(&mut self.view);
        self.drain()?;
        Ok(ended)
    }

    /// The inner writer. What was not finished is lost.
    pub fn into_inner(self) -> W {
        self.inner
    }

    fn drain(&mut self) -> fmt::Result {
        let result = self.inner.write_str(&self.view);
        self.view.clear();
        result
    }
}

impl<W: fmt::Write, F: Filter> fmt::Write for FmtWriter<W, F> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.filter.push(text.as_bytes(), &mut self.view);
        self.drain()
    }
}
