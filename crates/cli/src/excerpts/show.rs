//! `noesc show`: a part of what is stored of a run.

use std::num::NonZeroU64;
use std::process::ExitCode;

use clap::Args;
use noesc_session::envelope::{Envelope, Excerpt, Omitted, Stream, StreamName, Text, ViewPart};

use super::Transcript;
use crate::args::RunFormat;
use crate::fail::Result;
use crate::figures::count;
use crate::limits;
use crate::runs::{Output, missing, write_record};
use crate::say::say;

/// Shows what is stored of the output of a run, or the lines of it that are asked for.
///
/// It answers from the transcripts: the clean view, never a raw byte. Line numbers are those of the
/// whole transcript, from 1; in the format lines they stand before each line. What does not fit the
/// limit is left out of the middle, and what is left out is said. With text, the view of stdout
/// goes to stdout and that of stderr to stderr; a stream that is named goes to stdout.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noesc show last
  noesc show last --stream stderr --lines 100-160
  noesc show 0198c1a2 --lines 2000- --format lines      for an agent to read
  noesc show last --view-bytes-max 1MiB --format json | jq .streams.stdout.view")]
pub(crate) struct ShowArgs {
    /// The id of the run, its beginning or end, or last
    #[arg(value_name = "RUN")]
    run: String,

    /// The stream: stdout, stderr, pty; all by default
    #[arg(long, value_name = "NAME", value_parser = super::stream(), hide_possible_values = true)]
    stream: Option<StreamName>,

    /// The lines of each stream: 100-160, 100- to the end, 100 alone
    #[arg(long, value_name = "RANGE", value_parser = range)]
    lines: Option<Range>,

    /// How they are told: text, or the record of the run with them as json, lines, fence, xml
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    format: RunFormat,

    /// Bytes of each stream that are shown: 65536, 64KiB, 1MiB, … (32KiB)
    #[arg(long, value_name = "SIZE", value_parser = limits::checked("view_bytes_max"))]
    view_bytes_max: Option<String>,
}

/// Lines from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    first: NonZeroU64,
    last: u64,
}

fn range(text: &str) -> std::result::Result<Range, String> {
    let wrong = || "lines are 100-160, 100- or 100, counted from 1".to_owned();
    let number = |text: &str| {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u64>().ok().filter(|_| is_number).ok_or_else(wrong)
    };
    let (first, last) = match text.split_once('-') {
        Some((first, "")) => (number(first)?, u64::MAX),
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(text)?, number(text)?),
    };
    let first = NonZeroU64::new(first).filter(|first| first.get() <= last).ok_or_else(wrong)?;
    Ok(Range { first, last })
}

pub(crate) fn show(args: &ShowArgs) -> Result<ExitCode> {
    let (run, record) = super::found(&args.run)?;
    let budget = super::view_bytes_max(args.view_bytes_max.as_deref())?;
    let mut shown = Vec::new();
    let mut notes = Vec::new();
    let names = super::streams(&record, args.stream)?;
    for &name in &names {
        let Some(transcript) = Transcript::stored(&run, &record, name)? else {
            match names.len() {
                1 => return Err(super::not_stored(&run, name)),
                _ => notes.push(format!("no transcript is kept of {}", name.name())),
            }
            continue;
        };
        let part = Shown::read(transcript, args.lines, budget)?;
        notes.extend(part.notes(name, record.streams.get(&name)));
        shown.push((name, part));
    }
    if shown.is_empty() {
        return Err(super::not_stored(&run, StreamName::Stdout));
    }
    if args.lines.is_some() && shown.iter().all(|(_, part)| part.is_empty()) {
        let has = |(name, part): &(StreamName, Shown)| {
            format!("{} has {}", name.name(), count(part.lines_begun(), "line"))
        };
        notes.extend(shown.iter().map(has));
    }
    match args.format.of_record() {
        None => text(&shown, args.stream.is_some())?,
        Some(format) => {
            let record = excerpt_of(record, shown, budget, args.lines.is_some());
            return write_record(&record, format).map(|()| ExitCode::SUCCESS);
        }
    }
    notes.iter().for_each(|note| say(note));
    Ok(ExitCode::SUCCESS)
}

/// What is shown of a stream.
struct Shown {
    head: String,
    tail: String,
    /// Between the two.
    omitted: Omitted,
    /// The number of the line in which the first begins, and its offset.
    line: NonZeroU64,
    at: u64,
    /// Bytes and LFs of all that is stored.
    bytes: u64,
    lines: u64,
    /// Whether it ends in a line without LF.
    is_open: bool,
    /// Bytes that were read, before they passed the boundary.
    stored: u64,
}

impl Shown {
    fn read(mut transcript: Transcript, lines: Option<Range>, budget: usize) -> Result<Self> {
        let mut excerpt = Excerpt::new(budget);
        let first = lines.map_or(NonZeroU64::MIN, |range| range.first);
        let last = lines.map_or(u64::MAX, |range| range.last);
        // The line that is being read, from 1, what was read, and where the range begins.
        let (mut line, mut bytes, mut begins) = (1_u64, 0_u64, None);
        let mut is_open = false;
        while let Some(piece) = transcript.next()? {
            let mut range = piece.len()..piece.len();
            let mut at = 0;
            for part in piece.split_inclusive('\n') {
                if (first.get()..=last).contains(&line) {
                    range.start = range.start.min(at);
                    range.end = at + part.len();
                }
                at += part.len();
                line += u64::from(part.ends_with('\n'));
            }
            range.end = range.end.max(range.start);
            if !range.is_empty() {
                begins.get_or_insert(bytes + range.start as u64);
            }
            excerpt.push(piece.get(range).unwrap_or_default());
            bytes += piece.len() as u64;
            is_open = if piece.is_empty() { is_open } else { !piece.ends_with('\n') };
        }
        let selection = excerpt.finish();
        Ok(Self {
            head: selection.head,
            tail: selection.tail,
            omitted: selection.omitted,
            line: first,
            at: begins.unwrap_or(bytes),
            bytes,
            lines: line - 1,
            is_open,
            stored: transcript.bytes(),
        })
    }

    /// Lines, one without LF at the end included.
    fn lines_begun(&self) -> u64 {
        self.lines + u64::from(self.is_open)
    }

    fn is_empty(&self) -> bool {
        self.head.is_empty() && self.tail.is_empty() && self.omitted.bytes == 0
    }

    /// The number of the line in which the head ends, or the one after where it ends with an LF.
    fn cut_line(&self) -> u64 {
        self.line.get().saturating_add(self.head.matches('\n').count() as u64)
    }

    /// The parts of the view that it is made of.
    fn parts(&self) -> Vec<ViewPart> {
        let head = ViewPart { line: self.line, view: (self.at, self.head.len() as u64) };
        let line = self.cut_line().saturating_add(self.omitted.lines);
        let tail = ViewPart {
            line: NonZeroU64::new(line).unwrap_or(NonZeroU64::MIN),
            view: (self.at + head.view.1 + self.omitted.bytes, self.tail.len() as u64),
        };
        [head, tail].into_iter().filter(|part| part.view.1 > 0).collect()
    }

    /// What is to be said of it where no record says it.
    fn notes(&self, name: StreamName, stream: Option<&Stream>) -> Vec<String> {
        let mut notes = Vec::new();
        let name = name.name();
        if self.omitted.bytes > 0 {
            let Omitted { bytes, lines, .. } = self.omitted;
            let line = self.cut_line();
            let hint = match lines {
                0 => "\"--view-bytes-max\" shows more".to_owned(),
                _ => format!("\"--lines {line}-\" shows them"),
            };
            let (bytes, lines) = (count(bytes, "byte"), count(lines, "line"));
            notes.push(format!(
                "{name}: {bytes} and {lines} left out in line {line} and after; {hint}"
            ));
        }
        if let Some(missing) = stream.and_then(|stream| missing(stream, self.stored)) {
            notes.push(format!("{} of the view of {name} are not stored", count(missing, "byte")));
        }
        notes
    }
}

/// The record of the run with what is shown in place of its views.
fn excerpt_of(
    record: Envelope,
    shown: Vec<(StreamName, Shown)>,
    budget: usize,
    is_range: bool,
) -> Envelope {
    let mut record = record.without_value();
    super::only(&mut record, shown.iter().map(|(name, _)| *name));
    record.limits.view_bytes_max = Some(budget as u64);
    for (name, part) in shown {
        let Some(stream) = record.streams.get_mut(&name) else { continue };
        let missing = missing(stream, part.stored).unwrap_or(0);
        let is_whole = !is_range && missing == 0;
        if is_whole {
            stream.view.omitted = part.omitted;
            stream.view.text = Some(Text { head: part.head, tail: part.tail });
            continue;
        }
        let parts = part.parts();
        let given = (part.head.len() + part.tail.len()) as u64;
        let lfs = |text: &str| text.matches('\n').count() as u64;
        stream.view.omitted = Omitted {
            bytes: part.bytes.saturating_add(missing).saturating_sub(given),
            lines: part.lines.saturating_sub(lfs(&part.head) + lfs(&part.tail)),
            raw: None,
        };
        stream.view.text = Some(Text { head: part.head + &part.tail, tail: String::new() });
        stream.view.parts = Some(parts);
    }
    record
}

/// Writes the texts: one that is asked for to stdout.
fn text(shown: &[(StreamName, Shown)], is_named: bool) -> Result<()> {
    let mut output = Output::new();
    for (name, part) in shown {
        let name = if is_named { StreamName::Stdout } else { *name };
        let is_cut = part.omitted.bytes > 0 && !part.head.is_empty() && !part.head.ends_with('\n');
        for text in [part.head.as_str(), if is_cut { "\n" } else { "" }, &part.tail] {
            output.write(name, text)?;
        }
    }
    output.finish();
    Ok(())
}
