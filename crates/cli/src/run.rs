//! `noesc run`: a transparent wrapper, or a record of what a command printed.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::process::ExitCode;

use noesc::{Form, Profile, Style};
use noesc_session::envelope::{Envelope, Format, Recorded, StreamName, render};
use noesc_session::{
    Answer, CollectError, Command, Expect, Limits, Outlet, Runs, Settings, Size, Stdin, collect,
    live, named_descriptors, nonces, told,
};

use crate::args::{ExpectKind, RunArgs, RunFormat};
use crate::config::Config;
use crate::descriptors;
use crate::evidence::approved;
use crate::fail::{Failure, Result, WRAPPER, escaped};
use crate::input::{create, stdin, unwritten};
use crate::kept;
use crate::limits::{limits, size_of};
use crate::note;
use crate::runs::{detach, write_record};
use crate::say::{is_one_output, lines_are_open, say};
use crate::status::exit;
use crate::store;

pub(crate) fn run(args: &RunArgs) -> Result<ExitCode> {
    run_inner(args).map_err(|failure| failure.code_if_misuse(WRAPPER))
}

fn run_inner(args: &RunArgs) -> Result<ExitCode> {
    if args.detach {
        detach::check(args)?;
    }
    descriptors::check(args)?;
    if args.format == RunFormat::Text && args.view_bytes_max.is_some() && !args.detach {
        return Err(Failure::new("\"--view-bytes-max\" does not go with the format text")
            .hint("it bounds the views of a record: add \"--format json\", lines, fence or xml"));
    }
    let (mut settings, mut config) = args.settings.settings()?;
    args.limits.give(&mut config);
    config.flag("record_command", args.record_command.as_deref());
    config.flag("evidence", args.evidence.as_deref());
    config.flag("raw_digest", args.raw_digest.as_deref());
    config.flag("view_bytes_max", args.view_bytes_max.as_deref());
    config.flag("transcript_bytes_max", args.transcript_bytes_max.as_deref());
    config.flag("json_bytes_max", args.json_bytes_max.as_deref());
    let limits = limits(&config, args.format == RunFormat::Text, args.detach)?;
    if args.detach && settings.profile.form == Form::Off {
        return Err(Failure::new("\"--off\" does not go with \"--detach\"")
            .hint("what is stored of a run is made inert"));
    }
    if let Some(format) = args.format.of_record() {
        check_format(format, &settings.profile)?;
    }
    let command = command(args)?;
    let view_bytes_max = usize::try_from(size_of(&config, "view_bytes_max")?).unwrap_or(usize::MAX);
    settings.expect = expect(args, &config)?;
    settings.shell = args.shell;
    settings.answers = answers(args)?;
    settings.recorded = match config.given("record_command") {
        Some("executable") => Recorded::Executable,
        Some("digest") => Recorded::Digest,
        _ => Recorded::Full,
    };
    let mut records = Records::open(args)?;
    settings.record = !records.files.is_empty();
    settings.one_output = is_one_output();
    settings.keyed_digests = config.given("raw_digest") == Some("keyed");
    settings.evidence = kept::evidence(&config)?;
    if let Some(id) = &args.decision {
        approved::use_decision(id, &command.argv, &config, &settings.profile)?;
    }
    let policy = kept::policy(&config)?;
    if args.in_background {
        let transcript_bytes_max = size_of(&config, "transcript_bytes_max")?;
        let ended =
            detach::back(&command, &limits, &settings, view_bytes_max, transcript_bytes_max);
        if let Some(evidence) = &settings.evidence {
            store::daily(&evidence.store, policy);
        }
        return ended;
    }
    if args.detach {
        return detach::front(args, command.keep_fds.as_deref().unwrap_or_default());
    }
    settings.runs = kept::store(&config).map(|store| Runs::at(store.runs_path()));
    let quiet = args.quiet.unwrap_or(config.is_on("quiet")) || args.facts_fd.is_some();
    let run = Run { command, limits, settings, view_bytes_max };
    let ended = run.begin(args.format, quiet, &mut records);
    if let Some(evidence) = &run.settings.evidence {
        store::daily(&evidence.store, policy);
    }
    ended
}

fn command(args: &RunArgs) -> Result<Command> {
    let mut command = Command::new(argv(args));
    let is_text = args.format == RunFormat::Text;
    command.stdin =
        if (is_text && !args.detach) || args.stdin { Stdin::Inherit } else { Stdin::Null };
    let mut keep = args.keep_fd.clone();
    if is_text {
        keep.extend(named_descriptors(&args.argv, std::env::var_os("MAKEFLAGS").as_deref()));
    }
    // What the command could write to would be no place for facts.
    keep.retain(|fd| !args.facts_fd.is_some_and(|facts| descriptors::is_same(facts, *fd)));
    command.keep_fds = Some(keep);
    command.extra_fd = args.json_fd;
    if args.size.is_some() && !args.pty {
        return Err(
            Failure::new("\"--size\" is of a terminal, and there is none").hint("add \"--pty\"")
        );
    }
    command.terminal = args.pty.then(|| args.size.unwrap_or_default());
    if args.plain {
        let plain = [("NO_COLOR", "1"), ("TERM", "dumb"), ("CI", "1")];
        command.env.extend(plain.map(|(name, value)| (name.into(), value.into())));
    }
    if let Some(size) = command.terminal {
        command.env.extend(environment_of_terminal(size, args.plain));
    }
    Ok(command)
}

/// The command, or the shell that runs it.
fn argv(args: &RunArgs) -> Vec<OsString> {
    let mut argv = args.argv.clone();
    if args.shell {
        // What follows the line is its $0, $1, …
        argv.insert(1.min(argv.len()), "sh".into());
        argv.splice(0..0, ["sh", "-c"].map(OsString::from));
    }
    argv
}

/// What a program believes before it asks the terminal, put right where it would be wrong.
fn environment_of_terminal(size: Size, is_plain: bool) -> Vec<(OsString, OsString)> {
    let mut environment = Vec::new();
    for (name, value) in [("COLUMNS", size.columns), ("LINES", size.rows)] {
        if std::env::var_os(name).is_some() {
            environment.push((name.into(), value.to_string().into()));
        }
    }
    let terminal = std::env::var_os("TERM").unwrap_or_default();
    if !is_plain && (terminal.is_empty() || terminal == "dumb") {
        environment.push(("TERM".into(), "xterm-256color".into()));
    }
    environment
}

/// The questions to its terminal that the command is answered.
fn answers(args: &RunArgs) -> Result<Vec<Answer>> {
    if !args.answer.is_empty() && !args.pty {
        return Err(
            Failure::new("\"--answer\" is for a terminal, and there is none").hint("add \"--pty\"")
        );
    }
    let all = Answer::ALL.into_iter();
    Ok(all.filter(|answer| args.answer.iter().any(|name| name == answer.name())).collect())
}

/// A run that can begin.
struct Run {
    command: Command,
    limits: Limits,
    settings: Settings,
    view_bytes_max: usize,
}

/// What the command is to print; flags that do not go together are refused.
fn expect(args: &RunArgs, config: &Config) -> Result<Option<Expect>> {
    let json_bytes_max = size_of(config, "json_bytes_max")?;
    let bytes_max = usize::try_from(json_bytes_max).unwrap_or(usize::MAX);
    let expect = args.expect.map(|kind| match kind {
        ExpectKind::Text => Expect::Text,
        ExpectKind::Json => Expect::Json { bytes_max },
        ExpectKind::Artifact => Expect::Artifact,
    });
    let refuse = |message: &str, hint| Err(Failure::new(message).hint(hint));
    let is_json = args.expect == Some(ExpectKind::Json);
    if !is_json && (args.json_fd.is_some() || args.json_bytes_max.is_some()) {
        return refuse("no JSON is expected", "add \"--expect json\"");
    }
    if expect == Some(Expect::Artifact) && args.format == RunFormat::Text {
        let hint = "add \"--format json\": it records how much there was";
        return refuse("\"--expect artifact\" has no text to show", hint);
    }
    if let Some(fd) = args.json_fd {
        if args.format != RunFormat::Json {
            return refuse("\"--json-fd\" needs a place for the value", "add \"--format json\"");
        }
        if args.facts_fd == Some(fd) || args.keep_fd.contains(&fd) {
            let hint = "take another number: what the caller has there the command does not get";
            return refuse("\"--json-fd\" names a descriptor that is given away", hint);
        }
    }
    Ok(expect)
}

impl Run {
    fn begin(&self, format: RunFormat, quiet: bool, records: &mut Records<'_>) -> Result<ExitCode> {
        match format {
            RunFormat::Text => self.text(quiet, records),
            RunFormat::Json => self.record(Format::Json, records),
            RunFormat::Lines => self.record(Format::Lines, records),
            RunFormat::Fence => self.record(Format::Fence, records),
            RunFormat::Xml => self.record(Format::Xml, records),
        }
    }

    /// The transparent wrapper.
    fn text(&self, quiet: bool, records: &mut Records<'_>) -> Result<ExitCode> {
        let Self { command, limits, settings, .. } = self;
        let stdout = outlet("stdout", Outlet::duplicate(std::io::stdout()))?;
        let stderr = outlet("stderr", Outlet::duplicate(std::io::stderr()))?;
        let ran = live(command, limits, settings, stdout, stderr).map_err(unstarted)?;
        let is_open = |stderr: bool| {
            let mut streams = ran.streams.iter();
            streams.any(|(name, ran)| (*name == StreamName::Stderr) == stderr && ran.is_line_open)
        };
        lines_are_open(is_open(false), is_open(true));
        if let Some(record) = &ran.record {
            records.write(record)?;
        }
        if !quiet {
            let found = ran
                .streams
                .iter()
                .map(|(name, ran)| note::findings(&ran.report, Some(name.name())));
            let unmet = ran.expected.as_ref().filter(|expected| !expected.met);
            let notes = found.flatten().chain(unmet.map(ToString::to_string));
            notes.chain(told(&ran.captured, limits)).for_each(|note| say(&note));
        }
        if let Some(note) = ran.record.as_ref().and_then(|record| note::evidence(&record.evidence))
        {
            say(&note);
        }
        for (name, stream) in &ran.streams {
            if let Some(kind) = stream.failure {
                return Err(unwritten(OsStr::new(name.name()), &kind.into()));
            }
        }
        exit(&ran.captured, self.name())
    }

    /// The record with its views, in a format whose parser no child misleads.
    fn record(&self, format: Format, records: &mut Records<'_>) -> Result<ExitCode> {
        let Self { command, limits, settings, .. } = self;
        let run = collect(command, limits, settings, self.view_bytes_max).map_err(unstarted)?;
        if let Some(note) = note::evidence(&run.envelope.evidence) {
            say(&note);
        }
        records.write(&run.envelope)?;
        write_record(&run.envelope, format)?;
        exit(&run.captured, self.name())
    }

    fn name(&self) -> &OsStr {
        self.command.argv.first().map_or(OsStr::new(""), |name| name)
    }
}

/// Whether a format carries the views of a profile.
fn check_format(format: Format, profile: &Profile) -> Result<()> {
    let is_off = profile.form == Form::Off;
    if format != Format::Json && (is_off || keeps_style(profile)) {
        let what = if is_off { "\"--off\"" } else { "style kept" };
        let message = format!("\"--format {}\" does not go with {what}", format.name());
        return Err(Failure::new(message).hint("use json, or a profile that removes style"));
    }
    Ok(())
}

fn keeps_style(profile: &Profile) -> bool {
    matches!(profile.style, Style::Keep(_))
}

fn outlet(name: &str, outlet: std::io::Result<Outlet>) -> Result<Outlet> {
    outlet.map_err(|error| Failure::io("can not write to", OsStr::new(name), &error))
}

fn unstarted(error: CollectError) -> Failure {
    let hint = match &error {
        CollectError::Profile(error) => error.hint(),
        _ => "nothing was run",
    };
    Failure::new(error.to_string()).hint(hint)
}

/// Where the record goes besides the output, opened before anything is run.
struct Records<'a> {
    files: Vec<(&'a OsStr, File)>,
}

impl<'a> Records<'a> {
    fn open(args: &'a RunArgs) -> Result<Self> {
        let mut files = Vec::new();
        if let Some(fd) = args.facts_fd {
            let opened = OpenOptions::new().append(true).open(format!("/dev/fd/{fd}"));
            let file = opened.map_err(|error| {
                Failure::io("\"--facts-fd\" can not write to", fd.to_string().as_ref(), &error)
                    .hint("open it in the shell: 3>facts.json")
            })?;
            files.push((OsStr::new("the descriptor of --facts-fd"), file));
        }
        if let Some(path) = &args.report {
            let stdin = stdin();
            let used: Vec<_> = stdin.iter().chain(files.iter().map(|(_, file)| file)).collect();
            let file = create("--report", path, &used)?;
            files.push((path.as_os_str(), file));
        }
        Ok(Self { files })
    }

    /// Writes the record without its views, on one line.
    fn write(&mut self, envelope: &Envelope) -> Result<()> {
        if self.files.is_empty() {
            return Ok(());
        }
        let facts = render(&envelope.without_views(), Format::Json, &mut nonces())
            .map_err(|error| Failure::new(format!("no record of the run: {}", escaped(error))))?;
        let line = format!("{}\n", facts.trim_end_matches('\n'));
        // Each is tried: what one place does not take, another may.
        let mut result = Ok(());
        for (name, file) in &mut self.files {
            let written = file.write_all(line.as_bytes()).map_err(|error| unwritten(name, &error));
            result = result.and(written);
        }
        result
    }
}
