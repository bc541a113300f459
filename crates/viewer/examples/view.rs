#![forbid(unsafe_code)]
//! Shows files as an investigator sees them: `view FILE…`, one stream a file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::process::ExitCode;

use noesc_text::AuditEscape;
use noesc_viewer::{Ended, Original, Start, StreamInfo, colour_wanted, view};

struct Files {
    streams: Vec<StreamInfo>,
    files: Vec<File>,
}

impl Files {
    fn open(names: &[String]) -> io::Result<Self> {
        let mut opened = Self { streams: Vec::new(), files: Vec::new() };
        for name in names {
            let file = File::open(name)?;
            let bytes = file.metadata()?.len();
            opened.streams.push(StreamInfo { name: name.clone(), bytes });
            opened.files.push(file);
        }
        Ok(opened)
    }
}

impl Original for Files {
    fn streams(&self) -> &[StreamInfo] {
        &self.streams
    }

    fn read_at(&mut self, stream: usize, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.files.get(stream).map_or(Ok(0), |file| file.read_at(buffer, offset))
    }
}

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let mut files = match Files::open(&names) {
        Ok(files) => files,
        Err(error) => {
            eprintln!("noesc: error: {}", AuditEscape(error.to_string().as_bytes()));
            return ExitCode::from(2);
        }
    };
    let start = Start { title: names.join(" "), colour: colour_wanted(), ..Start::default() };
    match view(&mut files, &start) {
        Err(error) => {
            eprintln!("noesc: error: {error}\nnoesc: hint: {}", error.hint());
            ExitCode::from(2)
        }
        Ok(seen) => {
            for copied in &seen.copied {
                println!("{}", copied.text);
            }
            let bytes: u64 = seen.ranges.iter().map(|r| r.bytes.end - r.bytes.start).sum();
            println!("seen: {bytes} bytes");
            match seen.ended {
                Ended::Signal(number) => ExitCode::from(u8::try_from(128 + number).unwrap_or(255)),
                _ => ExitCode::SUCCESS,
            }
        }
    }
}
