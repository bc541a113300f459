//! The stored view of a stream, read piece by piece.

use std::fs::File;
use std::io::{ErrorKind, Read};

use noesc::{Boundary, Profile};
use noesc_session::StoredRun;
use noesc_session::envelope::{Envelope, StreamName};

use crate::fail::{Failure, Result, reason};

/// Bytes that are read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// What is stored of a view. It passes the boundary once more: any program of this user can write
/// where it is kept.
pub(crate) struct Transcript {
    source: Source,
    boundary: Boundary,
    view: String,
    read: u64,
    is_over: bool,
    what: String,
}

enum Source {
    File(File, Vec<u8>),
    /// The view in a record that holds all of it.
    Record(Vec<u8>),
}

impl Transcript {
    /// Opens the transcript of a stream; `None` where there is none.
    pub(crate) fn open(run: &StoredRun, name: StreamName) -> Result<Option<Self>> {
        let what = format!("the {} of {}", name.name(), run.id());
        let file = run.transcript(name).map_err(|error| unread(&what, &error))?;
        file.map(|file| Self::new(Source::File(file, vec![0; CHUNK_BYTES]), what)).transpose()
    }

    /// Opens the transcript of a stream, or else the view in its record where that is whole.
    pub(crate) fn stored(
        run: &StoredRun,
        record: &Envelope,
        name: StreamName,
    ) -> Result<Option<Self>> {
        if let Some(transcript) = Self::open(run, name)? {
            return Ok(Some(transcript));
        }
        let view = record.streams.get(&name).map(|stream| &stream.view);
        let whole = view.filter(|view| view.omitted.bytes == 0).and_then(|view| view.text.as_ref());
        let what = format!("the {} of {}", name.name(), run.id());
        let source = whole.map(|text| Source::Record(text.head.clone().into_bytes()));
        source.map(|source| Self::new(source, what)).transpose()
    }

    fn new(source: Source, what: String) -> Result<Self> {
        let boundary = Boundary::new(&Profile::AGENT)
            .map_err(|error| Failure::new(error.to_string()).hint(error.hint()))?;
        Ok(Self { source, boundary, view: String::new(), read: 0, is_over: false, what })
    }

    /// Bytes that were read so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.read
    }

    /// The next piece of the view, which may be empty; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<&str>> {
        if self.is_over {
            return Ok(None);
        }
        self.view.clear();
        let bytes: &[u8] = match &mut self.source {
            Source::Record(text) => {
                self.boundary.push(text, &mut self.view);
                self.read += text.len() as u64;
                &[]
            }
            Source::File(file, chunk) => {
                let count = loop {
                    match file.read(chunk) {
                        Err(error) if error.kind() == ErrorKind::Interrupted => {}
                        read => break read.map_err(|error| unread(&self.what, &error))?,
                    }
                };
                chunk.get(..count).unwrap_or_default()
            }
        };
        self.read += bytes.len() as u64;
        match bytes.is_empty() {
            false => self.boundary.push(bytes, &mut self.view),
            true => {
                self.boundary.finish(&mut self.view);
                self.is_over = true;
            }
        }
        Ok(Some(&self.view))
    }
}

fn unread(what: &str, error: &std::io::Error) -> Failure {
    Failure::new(format!("can not read {what}: {}", reason(error)))
        .hint("\"noesc wait --format lines\" takes it from the record")
}
