//! `noesc scan`: files and folders, for what deceives a reader or acts on a terminal.

mod baseline;
mod binary;
mod digest;
mod examine;
mod human;
mod json;
mod locate;
mod quick;
mod rules;
mod sarif;
mod scanned;
mod source;
mod store;
mod walk;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, IsTerminal, Seek};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};
use indicatif::{ProgressBar, ProgressStyle};
use noesc::Severity;

use crate::fail::{Failure, MISUSE, Result, quoted, reason};
use crate::file_id::file_id;
use crate::input::{create, in_use, is_at, is_output, stdin, unwritten, write};
use crate::say::say;
use baseline::Baseline;
use examine::What;
use scanned::{Scanned, Unread};
use source::Buffer;

/// Exit status when something at or above `--fail-on` was found.
const FOUND: u8 = 1;

/// How often the progress is drawn.
const TICK: Duration = Duration::from_millis(100);

/// Finds what deceives a reader or acts on a terminal in files and folders.
///
/// Everything below a folder is scanned, names and hidden files too: that is where hiding happens.
/// Binary files, symlinks, pipes, devices and the object stores of git are skipped and counted.
/// Exit status 1 when something at or above `--fail-on` was found, 2 when something could not be
/// read (the rest is scanned all the same), else 0.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noesc scan .
  noesc scan --fail-on low --format sarif . >noesc.sarif
  noesc scan --write-baseline known.json .     accept what is there now
  noesc scan --baseline known.json .           fail on what is new
  noesc scan --baseline known.json --write-baseline known.json FILE
  git diff | noesc scan -")]
pub(crate) struct ScanArgs {
    /// Exit with 1 when there is a finding of this severity or a graver one: info, low, high,
    /// critical, never
    #[arg(long, value_name = "LEVEL", default_value = "high", hide_possible_values = true)]
    fail_on: Level,

    /// Show findings from this severity on, and count the others: info, low, high, critical
    /// [default: that of `--fail-on`]
    #[arg(long, value_name = "LEVEL", value_parser = shown(), hide_possible_values = true)]
    show: Option<Level>,

    /// human: for people. json: for programs. sarif: SARIF 2.1.0, for CI services and editors
    #[arg(long, value_name = "FORMAT", default_value = "human", hide_possible_values = true)]
    format: Format,

    /// No summary: of files where nothing is shown nothing is printed. `json` and `sarif` have
    /// theirs on stderr, for the log
    #[arg(short, long)]
    quiet: bool,

    /// Leave out what `.gitignore`, `.ignore` and git's other ignore files name
    #[arg(long)]
    respect_ignore: bool,

    /// Accept the findings that FILE knows
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    baseline: Option<PathBuf>,

    /// Write the findings to FILE, for `--baseline`, and fail on none. With `--baseline`, what that
    /// knows stays, unless it was looked for and is gone
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    write_baseline: Option<PathBuf>,

    /// Files and folders; `-` is stdin, which is text whatever it holds. What several reach
    /// is scanned once
    #[arg(required = true, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    paths: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Level {
    Info,
    Low,
    High,
    Critical,
    Never,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Human,
    Json,
    Sarif,
}

/// `never` is no level from which on to show.
fn shown() -> impl TypedValueParser<Value = Level> {
    PossibleValuesParser::new(["info", "low", "high", "critical"])
        .try_map(|name| Level::from_str(&name, false))
}

impl Level {
    const fn severity(self) -> Option<Severity> {
        match self {
            Self::Info => Some(Severity::Info),
            Self::Low => Some(Severity::Low),
            Self::High => Some(Severity::High),
            Self::Critical => Some(Severity::Critical),
            Self::Never => None,
        }
    }
}

impl ScanArgs {
    /// What is shown: as asked, else what can fail, else what fails by default.
    fn shown(&self) -> Severity {
        self.show.unwrap_or(self.fail_on).severity().unwrap_or(Severity::High)
    }
}

pub(crate) fn scan(args: &ScanArgs) -> Result<ExitCode> {
    let mut known = args.baseline.as_deref().map(Baseline::read).transpose()?;
    if let Some(path) = &args.write_baseline {
        check_unwritten(path, args)?;
    }
    let show = args.shown();
    let mut scanned = scan_paths(args, known.as_ref().map(Baseline::paths))?;
    scanned.sort();
    if let Some(known) = &mut known {
        known.accept(&mut scanned);
    }
    if let Some(path) = &args.write_baseline {
        write_baseline(&scanned, show, known.as_ref(), path)?;
    }
    let code = status(&scanned, args);
    let text = match args.format {
        Format::Human => Ok(human::human(&scanned, show, args.quiet)),
        Format::Json => json::json(&scanned, show),
        Format::Sarif => sarif::sarif(&scanned, show, code),
    };
    let text = text.map_err(|error| Failure::new(format!("no JSON of the findings: {error}")))?;
    write(text.as_bytes())?;
    if !args.quiet && !matches!(args.format, Format::Human) {
        say(&human::summary(&scanned, show));
    }
    for Unread { path, error } in &scanned.unread {
        let name = quoted(walk::shown(path));
        say(&format!("error: can not read {name}: {}", reason(error)));
    }
    // A path that was given, and not a file that went away meanwhile.
    let is_missing = |Unread { path, error }: &Unread| {
        error.kind() == io::ErrorKind::NotFound && args.paths.contains(path)
    };
    if scanned.unread.iter().any(is_missing) {
        say("hint: \"noesc scan .\" scans all below this folder, \"noesc scan -\" scans stdin");
    }
    Ok(ExitCode::from(code))
}

fn status(scanned: &Scanned, args: &ScanArgs) -> u8 {
    let fails = |severity| scanned.at_least(severity).next().is_some();
    match args.fail_on.severity() {
        _ if !scanned.unread.is_empty() => MISUSE,
        _ if args.write_baseline.is_some() => 0,
        Some(severity) if fails(severity) => FOUND,
        _ => 0,
    }
}

fn scan_paths(args: &ScanArgs, noted: Option<&BTreeSet<String>>) -> Result<Scanned> {
    let progress = progress();
    let mut scanned = Scanned::default();
    let (stdin, mut roots): (Vec<_>, Vec<_>) =
        args.paths.iter().cloned().partition(|path| path == Path::new("-"));
    if !stdin.is_empty() {
        scan_stdin(&mut scanned)?;
        if let Some(noted) = noted {
            walk::note(Path::new("-"), noted, &mut scanned);
        }
    }
    let (mut names, mut places) = (BTreeSet::new(), BTreeSet::new());
    roots.retain(|root| names.insert(root.clone()));
    roots.retain(|root| match std::fs::metadata(root) {
        Ok(seen) => places.insert(file_id(&seen)),
        Err(error) => {
            scanned.unread.push(Unread::new(root, error));
            false
        }
    });
    // A baseline is no part of what it is of.
    let left_out = [&args.baseline, &args.write_baseline];
    let left_out = left_out.map(|path| path.as_deref().and_then(walk::id_at));
    // Paths are noted only for the baseline to be written.
    let noted = noted.filter(|_| args.write_baseline.is_some());
    let apart = walk::Apart { roots: &places, left_out, noted };
    scanned.add(walk::walk(&roots, args.respect_ignore, apart, &progress));
    progress.finish_and_clear();
    Ok(scanned)
}

/// On a terminal alone; drawn on stderr.
fn progress() -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let progress = ProgressBar::new_spinner();
    let style = ProgressStyle::with_template("{spinner} {human_pos} files, {elapsed}");
    progress.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    progress.enable_steady_tick(TICK);
    progress
}

/// Scans stdin under the name `-`. What does not fit in memory waits in a file without a name,
/// since a finding is located by reading again.
fn scan_stdin(scanned: &mut Scanned) -> Result<()> {
    let failed = |error: &io::Error| Failure::io("can not read", OsStr::new("stdin"), error);
    let name = Path::new("-");
    let mut stdin =
        io::stdin().as_fd().try_clone_to_owned().map(File::from).map_err(|error| failed(&error))?;
    let mut spool =
        tempfile::tempfile().map_err(|error| unwritten(OsStr::new("a temporary file"), &error))?;
    let result = io::copy(&mut stdin, &mut spool).and_then(|len| {
        spool.rewind()?;
        walk::scan_file((&spool, What::Stream), len, name, &mut Buffer::default(), scanned)
    });
    if let Err(error) = result {
        scanned.unread.push(Unread::new(name, error));
    }
    Ok(())
}

/// Refuses to write a baseline over a file that is in use or holds something else, before anything
/// is scanned. A baseline among the paths is none of what is scanned.
fn check_unwritten(path: &Path, args: &ScanArgs) -> Result<()> {
    let Ok(seen) = std::fs::metadata(path) else { return Ok(()) };
    if !seen.is_file() {
        return Ok(());
    }
    let there = file_id(&seen);
    let reads_stdin = args.paths.iter().any(|path| path == Path::new("-"));
    let is_read = reads_stdin && stdin().is_some_and(|stdin| is_at(&stdin, there));
    if is_read || is_output(there) {
        return Err(in_use("\"--write-baseline\"", path));
    }
    if seen.len() > 0 && Baseline::read(path).is_err() {
        let name = quoted(path.as_os_str());
        let why = format!("\"--write-baseline\" can not be {name}: it holds no baseline");
        return Err(Failure::new(why).hint("name a new file, or remove that one first"));
    }
    Ok(())
}

fn write_baseline(
    scanned: &Scanned,
    show: Severity,
    older: Option<&Baseline>,
    path: &Path,
) -> Result<()> {
    use io::Write;
    let text = baseline::baseline(scanned, show, older)
        .map_err(|error| Failure::new(format!("no JSON of the findings: {error}")))?;
    let mut file = create("--write-baseline", path, &[])?;
    file.write_all(text.as_bytes()).map_err(|error| unwritten(path.as_os_str(), &error))
}
