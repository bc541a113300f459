//! The spans file: one JSON object a run.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use noesc::{Run, SpanReceiver};

/// Writes runs as they come; the first error is kept until the end.
pub(crate) struct SpansFile {
    file: BufWriter<File>,
    error: Option<io::Error>,
}

impl SpansFile {
    pub(crate) fn new(file: File) -> Self {
        Self { file: BufWriter::new(file), error: None }
    }

    pub(crate) fn finish(mut self) -> io::Result<()> {
        match self.error {
            Some(error) => Err(error),
            None => self.file.flush(),
        }
    }
}

impl SpanReceiver for SpansFile {
    fn run(&mut self, run: Run) {
        if self.error.is_none() {
            let line = writeln!(
                self.file,
                r#"{{"view":{},"view_len":{},"raw":{},"raw_len":{},"fate":"{}"}}"#,
                run.view,
                run.view_len,
                run.raw,
                run.raw_len,
                run.fate.name()
            );
            self.error = line.err();
        }
    }
}
