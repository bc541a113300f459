//! `noesc report`: what the boundary removed from the streams of a run, and what it found there.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::ExitCode;

use clap::Args;
use noesc_session::envelope::{
    Bytes, Cutoff, Envelope, Escaped, Finding, OutcomeKind, Report, RunId, Severity, Stream,
    StreamName,
};
use serde::Serialize;

use crate::fail::{Failure, Result, escaped};
use crate::figures::count;
use crate::input::write;

/// Places of a finding that a row for people has room for.
const PLACES_SHOWN: usize = 4;

/// Tells what was found in the output of a run, and what was removed from it.
///
/// It goes stream by stream. Findings come with how grave they are (info, low, high, critical), how
/// often, and where in the raw bytes. What was removed is told in counts and closed words: no byte
/// of the output is.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noesc report last
  noesc report last --json | jq '.streams[].report.findings'")]
pub(crate) struct ReportArgs {
    /// The id of the run, its beginning or end, or last
    #[arg(value_name = "RUN")]
    run: String,

    /// Write JSON: one object on one line
    #[arg(long)]
    json: bool,
}

pub(crate) fn report(args: &ReportArgs) -> Result<ExitCode> {
    let (_, record) = super::found(&args.run)?;
    let text = if args.json { json(&record)? } else { table(&record) };
    write(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Told<'a> {
    run: &'a RunId,
    outcome: &'a OutcomeKind,
    severity: &'static str,
    streams: BTreeMap<StreamName, ToldStream<'a>>,
}

#[derive(Serialize)]
struct ToldStream<'a> {
    bytes: Bytes,
    lines: u64,
    eof: bool,
    cutoff: Cutoff,
    severity: &'static str,
    report: &'a Report,
}

fn word(severity: Option<Severity>) -> &'static str {
    severity.map_or("none", Severity::name)
}

fn worst(record: &Envelope) -> Option<Severity> {
    record.streams.values().filter_map(|stream| stream.report.severity()).max()
}

fn json(record: &Envelope) -> Result<String> {
    fn stream(stream: &Stream) -> ToldStream<'_> {
        let Stream { bytes, lines, eof, cutoff, report, .. } = stream;
        let severity = word(report.severity());
        ToldStream { bytes: *bytes, lines: *lines, eof: *eof, cutoff: *cutoff, severity, report }
    }
    let told = Told {
        run: &record.run,
        outcome: &record.outcome.kind,
        severity: word(worst(record)),
        streams: record.streams.iter().map(|(name, of)| (*name, stream(of))).collect(),
    };
    let text = serde_json::to_string(&told);
    text.map(|text| text + "\n").map_err(|error| Failure::new(escaped(error)))
}

/// For people. All words in a record are escaped.
fn table(record: &Envelope) -> String {
    let mut text = String::new();
    let ended = record.outcome.kind.told(&record.limits, record.processes.ended);
    let argv: Vec<_> = record.command.argv.iter().map(Escaped::as_str).collect();
    let _ = writeln!(text, "{}  {ended}  {}", record.run, crate::runs::cut(&argv.join(" ")));
    if record.streams.is_empty() {
        text.push_str("no stream was observed\n");
    }
    for (name, stream) in &record.streams {
        let Stream { bytes, lines, report, .. } = stream;
        let (bytes, lines) = (count(bytes.observed, "byte"), count(*lines, "line"));
        let _ = writeln!(text, "\n{}: {bytes}, {lines}", name.name());
        findings(report, &mut text);
        removed(report, &mut text);
        if let Some(end) = stream.cutoff.told(stream.eof) {
            let _ = writeln!(text, "  {end}");
        }
    }
    text
}

fn findings(report: &Report, text: &mut String) {
    if report.findings.is_empty() {
        text.push_str("  no finding\n");
    }
    for Finding { kind, severity, count, spans, encoding } in &report.findings {
        let places: Vec<_> =
            spans.iter().take(PLACES_SHOWN).map(|(at, _)| at.to_string()).collect();
        let more = if *count > places.len() as u64 { ", …" } else { "" };
        let at = match places.is_empty() {
            true => String::new(),
            false => format!("  at byte {}{more}", places.join(", ")),
        };
        let encoding = encoding.as_ref().map_or(String::new(), |name| format!("  ({name})"));
        let _ = writeln!(text, "  {:8}  {kind} ×{count}{at}{encoding}", severity.name());
    }
}

fn removed(report: &Report, text: &mut String) {
    let Report { kinds, controls, characters, held_back, overwritten, collapsed, .. } = report;
    let words: Vec<_> = [kinds, controls, characters]
        .into_iter()
        .flatten()
        .map(|(word, n)| format!("{n} {word}"))
        .collect();
    let bytes = count(report.removed.bytes, "byte");
    match words.is_empty() {
        true => text.push_str("  removed: nothing\n"),
        false => {
            let _ = writeln!(text, "  removed: {bytes}: {}", words.join(", "));
        }
    }
    let counts = [
        (report.malformed, "malformed sequence"),
        (report.ill_formed, "place of ill-formed UTF-8"),
        (held_back.lines, "line held back in control strings"),
        (overwritten.characters, "character overwritten"),
        (collapsed.segments, "segment left out"),
    ];
    for (n, what) in counts.into_iter().filter(|(n, _)| *n > 0) {
        let (noun, rest) = what.split_once(' ').unwrap_or((what, ""));
        let blank = if rest.is_empty() { "" } else { " " };
        let _ = writeln!(text, "  {}{blank}{rest}", count(n, noun));
    }
}
