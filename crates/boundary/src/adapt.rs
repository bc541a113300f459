//! The boundary where bytes are read or written.

use std::fmt;
use std::io::{self, Read, Write};

use crate::boundary::Boundary;
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

/// Writes a view of what it is given to another writer. What a write decides reaches the inner
/// writer before the write returns.
///
/// ```
/// use std::io::Write;
///
/// let mut writer = noesc::Writer::new(Vec::new(), &noesc::Profile::AGENT)?;
/// writer.write_all(b"\x1b[2Jtext")?;
/// let (view, report) = writer.finish()?;
/// assert_eq!(view, b"text");
/// assert_eq!(report.kinds["erase"], 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Writer<W> {
    inner: W,
    boundary: Boundary,
    view: String,
}

impl<W: Write> Writer<W> {
    /// # Errors
    /// When the settings do not go together: see [`Profile::check`].
    pub fn new(inner: W, profile: &Profile) -> Result<Self, ProfileError> {
        Ok(Self { inner, boundary: Boundary::new(profile)?, view: String::new() })
    }

    /// Ends the stream: writes what was held back, flushes, and gives the inner writer and the
    /// report.
    ///
    /// # Errors
    /// Those of the inner writer.
    pub fn finish(mut self) -> io::Result<(W, Report)> {
        let report = self.boundary.finish(&mut self.view);
        self.drain()?;
        self.inner.flush()?;
        Ok((self.inner, report))
    }

    fn drain(&mut self) -> io::Result<()> {
        let result = self.inner.write_all(self.view.as_bytes());
        self.view.clear();
        result
    }
}

impl<W: Write> Write for Writer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = bytes.len().min(CHUNK_BYTES);
        self.boundary.push(&bytes[..n], &mut self.view);
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
///
/// let mut writer = noesc::FmtWriter::new(String::new(), &noesc::Profile::AGENT)?;
/// write!(writer, "{}", "\u{9b}31mred")?;
/// assert_eq!(writer.finish()?.0, "red");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FmtWriter<W> {
    inner: W,
    boundary: Boundary,
    view: String,
}

impl<W: fmt::Write> FmtWriter<W> {
    /// # Errors
    /// When the settings do not go together: see [`Profile::check`].
    pub fn new(inner: W, profile: &Profile) -> Result<Self, ProfileError> {
        Ok(Self { inner, boundary: Boundary::new(profile)?, view: String::new() })
    }

    /// Ends the stream: writes what was held back, and gives the inner writer and the report.
    ///
    /// # Errors
    /// Those of the inner writer.
    pub fn finish(mut self) -> Result<(W, Report), fmt::Error> {
        let report = self.boundary.finish(&mut self.view);
        self.inner.write_str(&self.view)?;
        Ok((self.inner, report))
    }
}

impl<W: fmt::Write> fmt::Write for FmtWriter<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.boundary.push(text.as_bytes(), &mut self.view);
        let result = self.inner.write_str(&self.view);
        self.view.clear();
        result
    }
}
