//! `noesc search`: the lines of a run that have a match.

use std::fmt::Write;
use std::num::NonZeroU64;
use std::process::ExitCode;

use clap::Args;
use noesc_session::envelope::{
    self, Envelope, Escaped, Found, Omitted, Stream, StreamName, Text, ViewPart,
};

use super::Transcript;
use super::find::{Bounds, Finds, Row, Search};
use super::pattern::Pattern;
use crate::args::RunFormat;
use crate::fail::Result;
use crate::figures::count;
use crate::input::write;
use crate::limits;
use crate::runs::{missing, write_record};
use crate::say::say;

/// Exit status when no line has a match, as that of grep.
const NOTHING_FOUND: u8 = 1;

/// Lines around a match that may be asked for. More is what "noesc show" is for.
const CONTEXT_MAX: u64 = 100;

/// Prints the lines of a run that match a pattern, with their numbers.
///
/// It searches the transcripts: the clean view, never a raw byte. PATTERN is a regular expression
/// as in Rust, looked for in each line on its own. A line of more than 64 KiB is searched piece by
/// piece, and of one of more than 2,000 bytes the part around its first match is shown. Exits with
/// 0 when a line was found, with 1 when none was, and with 2 when something went wrong.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noesc search last 'error|panicked' --context 3
  noesc search 0198c1a2 -F 'assert_eq!(' --stream stderr
  noesc search last -i warning --max-count 10 --format lines      for an agent to read")]
pub(crate) struct SearchArgs {
    /// The id of the run, its beginning or end, or last
    #[arg(value_name = "RUN")]
    run: String,

    /// The pattern
    #[arg(value_name = "PATTERN", allow_hyphen_values = true)]
    pattern: String,

    /// Lines to show before and after each line that was found: up to 100
    #[arg(short = 'C', long, value_name = "N", default_value = "0", hide_default_value = true)]
    #[arg(value_parser = clap::value_parser!(u64).range(..=CONTEXT_MAX))]
    context: u64,

    /// The stream: stdout, stderr, pty; all by default
    #[arg(long, value_name = "NAME", value_parser = super::stream(), hide_possible_values = true)]
    stream: Option<StreamName>,

    /// Take the pattern for a text
    #[arg(short = 'F', long)]
    fixed: bool,

    /// Take upper and lower case for alike
    #[arg(short, long)]
    ignore_case: bool,

    /// End the search of a stream after N lines that were found
    #[arg(short, long, value_name = "N")]
    max_count: Option<NonZeroU64>,

    /// How they are told: text, or the record of the run with them as json, lines, fence, xml
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    format: RunFormat,

    /// Bytes of each stream that are shown: 65536, 64KiB, 1MiB, … (32KiB)
    #[arg(long, value_name = "SIZE", value_parser = limits::checked("view_bytes_max"))]
    view_bytes_max: Option<String>,
}

pub(crate) fn search(args: &SearchArgs) -> Result<ExitCode> {
    let pattern = Pattern::new(&args.pattern, args.fixed, args.ignore_case)?;
    let (run, record) = super::found(&args.run)?;
    let budget = super::view_bytes_max(args.view_bytes_max.as_deref())?;
    let bounds = Bounds {
        context: usize::try_from(args.context).unwrap_or_default(),
        count_max: args.max_count.map_or(u64::MAX, NonZeroU64::get),
        bytes_max: budget,
    };
    let names = super::streams(&record, args.stream)?;
    let (mut all, mut notes) = (Vec::new(), Vec::new());
    for &name in &names {
        let Some(mut transcript) = Transcript::stored(&run, &record, name)? else {
            match names.len() {
                1 => return Err(super::not_stored(&run, name)),
                _ => notes.push(format!("no transcript is kept of {}", name.name())),
            }
            continue;
        };
        let mut search = Search::new(&pattern, bounds);
        while let Some(view) = transcript.next()? {
            search.push(view);
        }
        let finds = search.finish();
        let missing = record.streams.get(&name).and_then(|it| missing(it, transcript.bytes()));
        notes.extend(told(name, &finds, missing));
        all.push((name, finds, missing.unwrap_or(0)));
    }
    if all.is_empty() {
        return Err(super::not_stored(&run, StreamName::Stdout));
    }
    let is_found = all.iter().any(|(_, finds, _)| finds.found > 0);
    match args.format.of_record() {
        Some(format) => write_record(&answer(record, all, args, budget), format)?,
        None => {
            write(table(&all, args.stream.is_some()).as_bytes())?;
            notes.iter().for_each(|note| say(note));
        }
    }
    Ok(if is_found { ExitCode::SUCCESS } else { ExitCode::from(NOTHING_FOUND) })
}

/// What is to be said of a search where no record says it.
fn told(name: StreamName, finds: &Finds, missing: Option<u64>) -> Vec<String> {
    let name = name.name();
    let shown = finds.rows.iter().filter(|row| row.is_match).count() as u64;
    let mut notes = Vec::new();
    if shown < finds.found {
        let found = count(finds.found, "line");
        notes.push(format!(
            "{name}: {found} found, the first {shown} shown; \"--view-bytes-max\" shows more"
        ));
    }
    if let Some(line) = finds.ended_at {
        notes.push(format!("{name}: not searched beyond line {line}"));
    }
    if let Some(missing) = missing {
        let bytes = count(missing, "byte");
        notes.push(format!("{bytes} of the view of {name} are not stored, and not searched"));
    }
    notes
}

/// The record of the run with what was found in place of its views.
fn answer(
    record: Envelope,
    all: Vec<(StreamName, Finds, u64)>,
    args: &SearchArgs,
    budget: usize,
) -> Envelope {
    let mut record = record.without_value();
    super::only(&mut record, all.iter().map(|(name, ..)| *name));
    record.limits.view_bytes_max = Some(budget as u64);
    record.search = Some(envelope::Search {
        pattern: Escaped::from(args.pattern.as_str()),
        fixed: args.fixed,
        ignore_case: args.ignore_case,
        context: args.context,
    });
    for (name, finds, missing) in all {
        if let Some(stream) = record.streams.get_mut(&name) {
            put(stream, &finds, missing);
        }
    }
    record
}

fn put(stream: &mut Stream, finds: &Finds, missing: u64) {
    let mut parts: Vec<ViewPart> = Vec::new();
    let mut head = String::new();
    for row in &finds.rows {
        head.push_str(&row.text);
        let length = row.text.len() as u64;
        match parts.last_mut().filter(|part| part.view.0 + part.view.1 == row.at) {
            Some(part) => part.view.1 += length,
            None => {
                let line = NonZeroU64::new(row.number).unwrap_or(NonZeroU64::MIN);
                parts.push(ViewPart { line, view: (row.at, length) });
            }
        }
    }
    let lines = head.matches('\n').count() as u64;
    let matches = finds.rows.iter().filter(|row| row.is_match);
    stream.view.omitted = Omitted {
        bytes: finds.bytes.saturating_add(missing).saturating_sub(head.len() as u64),
        lines: finds.lines.saturating_sub(lines),
        raw: None,
    };
    stream.view.found = Some(Found {
        lines: finds.found,
        listed: matches.map(|row| row.number).collect(),
        complete: finds.ended_at.is_none(),
    });
    stream.view.text = Some(Text { head, tail: String::new() });
    stream.view.parts = Some(parts);
}

/// For people, as grep: a line that was found behind `12: `, one near it behind `11- `.
fn table(all: &[(StreamName, Finds, u64)], is_named: bool) -> String {
    let mut text = String::new();
    for (name, finds, _) in all {
        let name = match (is_named, name) {
            (true, _) => "",
            (_, StreamName::Stdout) => "out ",
            (_, StreamName::Stderr) => "err ",
            (_, StreamName::Pty) => "pty ",
        };
        let mut last: Option<&Row> = None;
        for row in &finds.rows {
            let follows = last.is_none_or(|last| last.number + 1 == row.number);
            if !follows {
                text.push_str("--\n");
            }
            let sign = if row.is_match { ':' } else { '-' };
            let (content, end) = match row.text.strip_suffix('\n') {
                Some(content) => (content, ""),
                None => (row.text.as_str(), if is_open(row, finds) { "" } else { " …" }),
            };
            let start = if row.is_cut { "… " } else { "" };
            let _ = writeln!(text, "{name}{}{sign} {start}{content}{end}", row.number);
            last = Some(row);
        }
    }
    text
}

/// Whether a row is the end of a view that has no LF at its end.
fn is_open(row: &Row, finds: &Finds) -> bool {
    row.at + row.text.len() as u64 == finds.bytes
}
