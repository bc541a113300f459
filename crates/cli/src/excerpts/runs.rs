//! `noesc runs`: the runs that are known, the newest first.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use clap::Args;
use clap::builder::PossibleValuesParser;
use noesc_evidence::{CollectorKey, LEDGER_WAIT, Query, RunEvent, RunIndex, SEVERITIES};
use noesc_session::envelope::{Envelope, Escaped, Evidence, OutcomeKind, Timestamp};
use noesc_session::{Keeper, StoredRun};
use serde::Serialize;

use super::pattern::Pattern;
use crate::config::Config;
use crate::fail::{Result, escaped};
use crate::input::write;
use crate::runs::cut;
use crate::say::say;
use crate::{kept, limits, status};

/// Runs that are listed unless more are asked for.
const LISTED: &str = "50";

/// The longest command that is looked at and shown.
const COMMAND_BYTES_MAX: usize = noesc_evidence::COMMAND_BYTES_MAX;

/// Kinds of outcomes.
const OUTCOMES: [&str; 9] = [
    "exited",
    "signalled",
    "timed_out",
    "idle_out",
    "stopped_by_limit",
    "spawn_failed",
    "cancelled",
    "unknown",
    "running",
];

/// Lists the runs that are known, the newest first.
///
/// They are those of which the ledger tells, and those that are stored and of which it tells
/// nothing yet. The ledger is read through an index that is made from it, and is made anew whenever
/// it is damaged or missing. SEVERITY is that of the gravest finding. The table is for people; its
/// commands are cut at 120 characters.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noesc runs
  noesc runs --failed --since 2h
  noesc runs --command '^cargo test' --severity high
  noesc runs --finding clipboard-write --json | jq -r .run")]
pub(crate) struct RunsArgs {
    /// Those whose command, as it is listed, has a match of this regular expression
    #[arg(long, value_name = "PATTERN")]
    command: Option<String>,

    /// Those with this outcome: exited, signalled, timed_out, idle_out, stopped_by_limit,
    /// spawn_failed, cancelled, unknown, running
    #[arg(long, value_name = "KIND", value_parser = PossibleValuesParser::new(OUTCOMES))]
    #[arg(hide_possible_values = true)]
    outcome: Option<String>,

    /// Those that ended, and not by an exit with 0
    #[arg(long)]
    failed: bool,

    /// Those with a finding of this kind: clipboard-write, …
    #[arg(long, value_name = "KIND")]
    finding: Option<String>,

    /// Those with a finding of this severity or a graver one: info, low, medium, high, critical
    #[arg(long, value_name = "LEVEL", value_parser = PossibleValuesParser::new(&SEVERITIES[1..]))]
    #[arg(hide_possible_values = true)]
    severity: Option<String>,

    /// Those that began then or later: 2026-01-31, 2026-01-31T12:00:00Z, or so long ago: 2h, 7d
    #[arg(long, value_name = "TIME", value_parser = moment)]
    since: Option<String>,

    /// Those that began before then
    #[arg(long, value_name = "TIME", value_parser = moment)]
    until: Option<String>,

    /// List so many at most (50)
    #[arg(long, value_name = "N", default_value = LISTED, hide_default_value = true)]
    limit: NonZeroUsize,

    /// Write JSON, one object a line
    #[arg(long)]
    json: bool,
}

/// A moment as the ledger writes it, in UTC with milliseconds.
fn moment(text: &str) -> std::result::Result<String, String> {
    let wrong = || {
        "a time is 2026-01-31, 2026-01-31T12:00:00Z in UTC, or how long ago: 30m, 2h, 7d".to_owned()
    };
    let days = text.strip_suffix('d').and_then(|days| days.parse::<u64>().ok());
    let ago = match days {
        Some(days) => days.checked_mul(24 * 3600).map(Duration::from_secs),
        None => limits::time(text).ok(),
    };
    if let Some(ago) = ago {
        let then = SystemTime::now().checked_sub(ago).ok_or_else(wrong)?;
        return Ok(Timestamp::from(then).to_string());
    }
    // What is not given of a time is 0.
    let form = "0000-01-01T00:00:00.000";
    let given = text.strip_suffix('Z').unwrap_or(text);
    let is_part = [10, 16, 19, 23].contains(&given.len());
    let rest = form.get(given.len()..).filter(|_| is_part && given.is_ascii()).ok_or_else(wrong)?;
    let whole = Timestamp::try_from(format!("{given}{rest}Z")).map_err(|_| wrong())?.to_string();
    let is_within = |at: std::ops::Range<usize>, least: u8, most: u8| {
        let number = whole.get(at).and_then(|digits| digits.parse::<u8>().ok());
        number.is_some_and(|number| (least..=most).contains(&number))
    };
    let is_moment = is_within(5..7, 1, 12)
        && is_within(8..10, 1, 31)
        && is_within(11..13, 0, 23)
        && is_within(14..16, 0, 59)
        && is_within(17..19, 0, 60);
    if is_moment { Ok(whole) } else { Err(wrong()) }
}

pub(crate) fn runs(args: &RunsArgs) -> Result<ExitCode> {
    let pattern = args.command.as_deref().map(|text| Pattern::new(text, false, false));
    let pattern = pattern.transpose()?;
    let query = Query {
        outcome: args.outcome.clone(),
        failed: args.failed,
        finding: args.finding.clone(),
        severity: args.severity.clone(),
        since: args.since.clone(),
        until: args.until.clone(),
    };
    let is_meant =
        |run: &RunEvent| pattern.as_ref().is_none_or(|pattern| pattern.is_in(&run.command));
    let stored = crate::runs::listed()?;
    // One more, to know whether there are more.
    let limit = args.limit.get().saturating_add(1);
    let ids: Vec<String> = stored.iter().map(|run| run.id().to_string()).collect();
    let (mut rows, known) = in_ledger(&ids, limit, &is_meant, &query);
    let others = stored.iter().rev().filter(|run| !known.contains(run.id().as_str()));
    let others = others.map(Row::of_folder);
    let is_asked = |row: &Row| {
        // Of one without a record nobody knows.
        let is_open = row.state == State::Running || row.event.outcome.is_empty();
        !(is_open && args.failed) && query.fits(&row.event) && is_meant(&row.event)
    };
    rows.extend(others.filter(is_asked).take(limit));
    rows.sort_by(|one, other| other.event.run.cmp(&one.event.run));
    let is_more = rows.len() >= limit;
    rows.truncate(args.limit.get());
    let text = if args.json { json(&rows) } else { table(&rows) };
    write(text.as_bytes())?;
    if is_more && !args.json {
        say(&format!("there are more than {}; \"--limit\" lists more", rows.len()));
    }
    Ok(ExitCode::SUCCESS)
}

/// The runs of which the ledger tells, and which of these ids are among all of those. That it can
/// not be read is said, and keeps nobody from what else is known.
fn in_ledger(
    ids: &[String],
    limit: usize,
    is_meant: &dyn Fn(&RunEvent) -> bool,
    query: &Query,
) -> (Vec<Row>, BTreeSet<String>) {
    let nothing = || (Vec::new(), BTreeSet::new());
    let Some(store) = kept::store(&Config::of_user()) else { return nothing() };
    let ledger = store.ledger_path();
    // Without a ledger there is nothing to make an index of.
    if std::fs::symlink_metadata(&ledger).is_err() {
        return nothing();
    }
    let key = match CollectorKey::load(&store.key_path()) {
        Ok(key) => key,
        Err(error) => {
            say(&format!("the ledger is not listed: {}", escaped(error)));
            return nothing();
        }
    };
    let index = RunIndex::at(store.index_path());
    match index.ask((&ledger, key.verifier()), LEDGER_WAIT, ids, limit, is_meant, query) {
        Ok(answer) => {
            if let Some(fault) = answer.fault {
                say(&format!("the ledger is not listed to its end: {}", escaped(fault)));
            }
            (
                answer.runs.into_iter().map(Row::of_ledger).collect(),
                answer.known.into_iter().collect(),
            )
        }
        Err(error) => {
            say(&format!("the ledger is not listed: {}", escaped(error)));
            nothing()
        }
    }
}

/// Whether a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Running,
    Outlived,
    Ended,
}

/// One run.
struct Row {
    event: RunEvent,
    state: State,
    in_ledger: bool,
}

#[derive(Serialize)]
struct Told<'a> {
    run: &'a str,
    state: State,
    started: Option<&'a str>,
    ended: Option<&'a str>,
    command: &'a str,
    outcome: Option<&'a str>,
    code: Option<i64>,
    findings: &'a [String],
    severity: &'a str,
    bytes: u64,
    evidence: Option<&'a str>,
    artifact: Option<&'a str>,
    in_ledger: bool,
}

impl Row {
    fn of_ledger(event: RunEvent) -> Self {
        Self { event, state: State::Ended, in_ledger: true }
    }

    fn of_folder(run: &StoredRun) -> Self {
        let state = match run.keeper() {
            Some(Keeper::Collector { .. }) => State::Running,
            Some(_) => State::Outlived,
            None if run.is_attended() => State::Running,
            None => State::Ended,
        };
        let event = match run.record() {
            Ok(record) => event_of(&record),
            Err(error) => RunEvent {
                run: run.id().to_string(),
                command: format!("(no record: {})", cut(&crate::runs::unread(error))),
                severity: "none".into(),
                ..RunEvent::default()
            },
        };
        Self { event, state, in_ledger: false }
    }

    /// How it ended, for people.
    fn outcome(&self) -> String {
        match (self.event.outcome.as_str(), self.event.code) {
            ("", _) => "-".into(),
            (outcome, Some(code)) => format!("{outcome} {code}"),
            (outcome, None) => outcome.into(),
        }
    }
}

/// What the ledger would tell of a run.
fn event_of(record: &Envelope) -> RunEvent {
    let kind = &record.outcome.kind;
    let argv: Vec<_> = record.command.argv.iter().map(Escaped::as_str).collect();
    let mut command = match (argv.is_empty(), &record.command.executable) {
        (true, Some(executable)) => executable.to_string(),
        _ => argv.join(" "),
    };
    command.truncate(COMMAND_BYTES_MAX);
    let reports = record.streams.values().map(|stream| &stream.report);
    let findings = reports.clone().flat_map(|report| &report.findings);
    let findings: BTreeSet<_> = findings.map(|finding| finding.kind.to_string()).collect();
    let severity = reports.filter_map(|report| report.severity()).max();
    let (evidence, artifact) = match &record.evidence {
        Evidence::Sealed { raw_artifact, .. } => ("sealed", Some(raw_artifact.to_string())),
        Evidence::NotKept { .. } => ("not-kept", None),
        Evidence::Failed { .. } => ("failed", None),
    };
    let is_running = kind.is_running();
    let has_code = !is_running && !matches!(kind, OutcomeKind::Unknown { .. });
    RunEvent {
        run: record.run.to_string(),
        started: record.time.started.to_string(),
        ended: if is_running { String::new() } else { record.time.ended.to_string() },
        command,
        outcome: if is_running { "running".into() } else { word(kind).into() },
        code: has_code.then(|| status::of_record(kind).into()),
        findings: findings.into_iter().take(noesc_evidence::WORDS_MAX).collect(),
        severity: severity.map_or("none", |severity| severity.name()).into(),
        bytes: record.streams.values().map(|it| it.bytes.observed).fold(0, u64::saturating_add),
        evidence: if is_running { "" } else { evidence }.into(),
        artifact,
    }
}

fn word(kind: &OutcomeKind) -> &'static str {
    match kind {
        OutcomeKind::Exited { .. } => "exited",
        OutcomeKind::Signalled { .. } => "signalled",
        OutcomeKind::TimedOut { .. } => "timed_out",
        OutcomeKind::IdleOut { .. } => "idle_out",
        OutcomeKind::StoppedByLimit { .. } => "stopped_by_limit",
        OutcomeKind::SpawnFailed { .. } => "spawn_failed",
        OutcomeKind::Cancelled { .. } => "cancelled",
        OutcomeKind::Unknown { .. } => "unknown",
    }
}

fn json(rows: &[Row]) -> String {
    fn some(text: &str) -> Option<&str> {
        Some(text).filter(|text| !text.is_empty())
    }
    let told = rows.iter().map(|Row { event, state, in_ledger }| Told {
        run: &event.run,
        state: *state,
        started: some(&event.started),
        ended: some(&event.ended),
        command: &event.command,
        outcome: some(&event.outcome),
        code: event.code,
        findings: &event.findings,
        severity: &event.severity,
        bytes: event.bytes,
        evidence: some(&event.evidence),
        artifact: event.artifact.as_deref(),
        in_ledger: *in_ledger,
    });
    let lines = told.filter_map(|told| serde_json::to_string(&told).ok());
    lines.map(|line| line + "\n").collect()
}

/// Columns for people; the id is whole, since it is what the other verbs take.
fn table(rows: &[Row]) -> String {
    let mut text = format!(
        "{:36}  {:20}  {:16}  {:8}  {:>11}  COMMAND\n",
        "RUN", "STARTED", "OUTCOME", "SEVERITY", "BYTES"
    );
    for row in rows {
        // Parts of a second are of no use here.
        let started = row.event.started.split('.').next().filter(|time| !time.is_empty());
        let _ = writeln!(
            text,
            "{:36}  {:20}  {:16}  {:8}  {:>11}  {}",
            row.event.run,
            started.map_or("-".into(), |time| format!("{}Z", time.trim_end_matches('Z'))),
            row.outcome(),
            row.event.severity,
            row.event.bytes,
            cut(&row.event.command)
        );
    }
    text
}
