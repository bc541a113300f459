//! The command line.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Command, CommandFactory, Parser, Subcommand, ValueHint};
use noesc_session::{Answer, Size};

use noesc_session::envelope::Format;

use crate::config::{DIGEST_WORDS, EVIDENCE_WORDS, RECORD_WORDS};
use crate::fail::{Failure, MISUSE, WRAPPER, quoted};
use crate::input::unwritten;
use crate::limits::{self, LimitArgs, Wrong};
use crate::settings::SettingArgs;

/// Puts a boundary between the output of a process and everything that reads it afterwards.
///
/// Terminal output is untrusted input: somebody else chose the bytes. noesc turns them into text
/// that is inert, and says what it removed.
#[derive(Debug, Parser)]
// A fixed `bin_name`: help would quote our argv[0] otherwise, and that is somebody's bytes too.
#[command(name = "noesc", bin_name = "noesc", version, after_help = EXAMPLES)]
#[command(arg_required_else_help = true)]
#[command(disable_help_subcommand = true, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

const EXAMPLES: &str = "\
Examples:
  noesc run -- cargo test              run a command, its output made inert
  curl -s https://example.org | noesc filter
  noesc filter --mark <build.log       show where something was removed
  noesc audit <build.log               every byte, printable";

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Run(Box<RunArgs>),
    Ps(crate::runs::PsArgs),
    Wait(crate::runs::WaitArgs),
    Stop(crate::runs::StopArgs),
    Runs(crate::excerpts::RunsArgs),
    Show(crate::excerpts::ShowArgs),
    Search(crate::excerpts::SearchArgs),
    Report(crate::excerpts::ReportArgs),
    Digest(crate::excerpts::DigestArgs),
    Filter(FilterArgs),
    Audit(AuditArgs),
    Unaudit(UnauditArgs),
    Scan(crate::scan::ScanArgs),
    Store(crate::store::StoreArgs),
    Explain(ExplainArgs),
    Init(crate::evidence::InitArgs),
    Open(Box<crate::open::OpenArgs>),
    Decide(Box<crate::evidence::DecideArgs>),
    Ledger(crate::evidence::LedgerArgs),
    Config(ConfigArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// Runs a command and shows its output, made inert, as it comes.
///
/// Stands in front of any command: its stdout stays stdout, its stderr stays stderr, stdin is the
/// same, signals are passed on, and noesc exits as the command did (128+n for signal n; 124 a limit
/// stopped it; 125 noesc itself failed or was misused; 126 the command can't be run; 127 it was not
/// found). What noesc
/// has to say goes to stderr and begins with `noesc:`. With another format than text the run is
/// told when it is over: what the collector observed, kept apart from what the command printed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noesc run -- cargo test
  rev=$(noesc run -- git rev-parse HEAD)
  noesc run --format lines -- cargo test        for an agent to read
  noesc run --format json -- make | jq .outcome
  noesc run --format json --expect json -- npm ls --json | jq .expected.value
  noesc run --time-max 10m --idle-max 60s -- ./build.sh
  noesc run --shell -- 'make 2>&1 | tail -5'
  noesc run --pty --size 120x40 -- ls --color=auto
  noesc run --mark --report record.json -- ./build.sh
  grep -v '^#' list | noesc run -- xargs ls")]
pub(crate) struct RunArgs {
    /// How the run is told: text (live), or its record with the views as json, lines, fence, xml
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub(crate) format: RunFormat,

    /// Bytes of view per stream that a record holds, head and tail together: 65536, 64KiB, 1MiB, …
    /// (32KiB); of no use with text
    #[arg(long, value_name = "SIZE", value_parser = limits::checked("view_bytes_max"))]
    pub(crate) view_bytes_max: Option<String>,

    /// What the command prints: text, json (read, and given as a value), artifact (no view)
    #[arg(long, value_enum, value_name = "KIND", hide_possible_values = true)]
    pub(crate) expect: Option<ExpectKind>,

    /// Expect the JSON at the command's descriptor N, not on its stdout
    #[arg(long, value_name = "N", value_parser = descriptor)]
    pub(crate) json_fd: Option<i32>,

    /// Bytes that the expected JSON may have, also with KiB, MiB or GiB behind (1MiB)
    #[arg(long, value_name = "SIZE", value_parser = limits::checked("json_bytes_max"))]
    pub(crate) json_bytes_max: Option<String>,

    /// Write the record without views to FILE, as JSON
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) report: Option<PathBuf>,

    /// Write the record without views to descriptor N, and no findings to stderr
    #[arg(long, value_name = "N", value_parser = descriptor)]
    pub(crate) facts_fd: Option<i32>,

    /// Give the command our stdin; in other formats than text it has none
    #[arg(long)]
    pub(crate) stdin: bool,

    /// Give the command a terminal of its own, for stdin, stdout and stderr; our stdin, where it is
    /// the command's, is typed there
    #[arg(long)]
    pub(crate) pty: bool,

    /// The size of that terminal in columns and rows: 100x30, … (80x24)
    #[arg(long, value_name = "SIZE", value_parser = limits::window)]
    pub(crate) size: Option<Size>,

    /// Questions to that terminal that are answered: da1, da2, status, size; none by default
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    #[arg(value_parser = PossibleValuesParser::new(Answer::ALL.map(Answer::name)))]
    #[arg(hide_possible_values = true)]
    pub(crate) answer: Vec<String>,

    /// Let `sh -c` run COMMAND, a line of shell; what follows are its arguments: $1, $2, …
    #[arg(long)]
    pub(crate) shell: bool,

    /// Ask the command for undecorated output: NO_COLOR=1, TERM=dumb, CI=1
    #[arg(long)]
    pub(crate) plain: bool,

    /// Let the command inherit descriptor N; may be given again
    #[arg(long, value_name = "N", value_parser = descriptor)]
    pub(crate) keep_fd: Vec<i32>,

    /// What is kept of the run: auto (all, raw bytes with a recipient), required (nothing is run
    /// where raw bytes can't be sealed), off (nothing)
    #[arg(long, value_name = "WHAT", value_parser = PossibleValuesParser::new(EVIDENCE_WORDS))]
    #[arg(hide_possible_values = true)]
    pub(crate) evidence: Option<String>,

    /// Digests of raw bytes: auto (plain where the view is the bytes), keyed (always under a key
    /// that is sealed with them)
    #[arg(long, value_name = "HOW", value_parser = PossibleValuesParser::new(DIGEST_WORDS))]
    #[arg(hide_possible_values = true)]
    pub(crate) raw_digest: Option<String>,

    /// Run the command only if this decision of the approver allows it, and use the decision up
    #[arg(long, value_name = "ID")]
    pub(crate) decision: Option<String>,

    /// Go on in the background; see "noesc ps", "noesc wait" and "noesc stop"
    #[arg(long)]
    pub(crate) detach: bool,

    /// Bytes of view per stream that are stored: 65536, 64KiB, 1MiB, … (16MiB)
    #[arg(long, value_name = "SIZE", value_parser = limits::checked("transcript_bytes_max"))]
    pub(crate) transcript_bytes_max: Option<String>,

    /// This is the process in the background
    #[arg(long, hide = true)]
    pub(crate) in_background: bool,

    /// How much of the command a record holds: full, executable (no arguments), digest
    #[arg(long, value_name = "HOW", value_parser = PossibleValuesParser::new(RECORD_WORDS))]
    #[arg(hide_possible_values = true)]
    pub(crate) record_command: Option<String>,

    /// Say nothing of findings, nor of how the run ended
    #[arg(short, long, value_name = "BOOL", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", hide_possible_values = true)]
    pub(crate) quiet: Option<bool>,

    /// The command and its arguments; no shell is involved without --shell
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    #[arg(value_hint = ValueHint::CommandWithArguments)]
    pub(crate) argv: Vec<OsString>,

    // Last: their headings would be those of what follows.
    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) settings: SettingArgs,
}

/// How a run is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum RunFormat {
    Text,
    Json,
    Lines,
    Fence,
    Xml,
}

impl RunFormat {
    /// The format of a record, where it is one.
    pub(crate) fn of_record(self) -> Option<Format> {
        match self {
            Self::Text => None,
            Self::Json => Some(Format::Json),
            Self::Lines => Some(Format::Lines),
            Self::Fence => Some(Format::Fence),
            Self::Xml => Some(Format::Xml),
        }
    }
}

/// What a command is to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ExpectKind {
    Text,
    Json,
    Artifact,
}

/// The number of a descriptor that is none of the three standard ones.
fn descriptor(text: &str) -> Result<i32, String> {
    let number = text.parse().ok().filter(|number| (3..=DESCRIPTOR_MAX).contains(number));
    number.ok_or_else(|| format!("it is the number of a descriptor, 3 to {DESCRIPTOR_MAX}"))
}

fn width(text: &str) -> Result<u16, String> {
    let number = text.parse().ok().filter(|number| (72..=1000).contains(number));
    number.ok_or_else(|| "it is a number of columns, 72 to 1000".into())
}

/// What a process may open unless it was told otherwise.
const DESCRIPTOR_MAX: i32 = 1023;

/// Reads bytes and writes their view.
///
/// What a read decides is written before the next read, so it can stand in a live pipe. A reader
/// that goes away ends it silently.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  journalctl -f | noesc filter
  noesc filter --cr overwrite <progress.log
  noesc filter --profile display <colours.log
  noesc filter --report report.json --spans spans.jsonl capture.bin >view.txt")]
pub(crate) struct FilterArgs {
    /// Write the report to FILE, as JSON
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) report: Option<PathBuf>,

    /// Write the runs that map the view to the input to FILE, one JSON object a line
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) spans: Option<PathBuf>,

    /// Say nothing of findings
    #[arg(short, long, value_name = "BOOL", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", hide_possible_values = true)]
    pub(crate) quiet: Option<bool>,

    /// The file to read; `-` or nothing is stdin
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,

    // Last: its heading would be that of what follows.
    #[command(flatten)]
    pub(crate) settings: SettingArgs,
}

/// Reads bytes and writes every one of them as printable ASCII or `\xNN`.
///
/// The view is one line, and `noesc unaudit` gives the bytes back.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noesc audit <suspicious.txt
  printf 'a\\033[31mb' | noesc audit        a\\x1b[31mb")]
pub(crate) struct AuditArgs {
    /// End each line of the view where a line of the input ends, for reading; not reversible
    #[arg(long)]
    pub(crate) lines: bool,

    /// The file to read; `-` or nothing is stdin
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
}

/// Gives back the bytes that `noesc audit` was given. They are not inert.
///
/// A line end at the very end of the input is taken for an editor's and ignored. A terminal is
/// refused as output without `--force`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noesc audit <capture.bin >capture.txt
  noesc unaudit <capture.txt >again.bin")]
pub(crate) struct UnauditArgs {
    /// Write to a terminal all the same
    #[arg(long)]
    pub(crate) force: bool,

    /// The file to read; `-` or nothing is stdin
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
}

/// Explains every sequence and control of its input, in words.
///
/// For each: offset, notation, name, meaning, kind, and how grave it is. Text stands between
/// quotes, with what would not be seen made visible. The output is inert for any input.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noesc explain suspicious.log
  noesc explain --summary <session.typescript
  noesc explain --payload --json <capture.bin | jq 'select(.severity == \"high\")'")]
pub(crate) struct ExplainArgs {
    /// Show the payload of control strings, escaped: up to 4 KiB of each
    #[arg(long)]
    pub(crate) payload: bool,

    /// Count by kind, with the offset of the first, in place of every item
    #[arg(long)]
    pub(crate) summary: bool,

    /// Write JSON, one object a line
    #[arg(long)]
    pub(crate) json: bool,

    /// Write offsets in hexadecimal
    #[arg(long)]
    pub(crate) hex: bool,

    /// Columns of a row: 72 to 1000
    #[arg(long, value_name = "N", value_parser = width)]
    pub(crate) width: Option<u16>,

    /// Colour the explanation: auto (on a terminal), always, never
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub(crate) color: When,

    /// The file to read; `-` or nothing is stdin
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum When {
    Auto,
    Always,
    Never,
}

/// Prints the settings in force and where each came from.
///
/// Settings are read from the user's file, from the nearest `.noesc.toml` of the working folder or
/// above it, and from flags; later ones win. A project's file may only tighten: its other keys are
/// ignored with a warning.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noesc config
  noesc config --profile display --json
  noesc config trust
  noesc config --schema >noesc.schema.json")]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) verb: Option<ConfigVerb>,

    /// Print them as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Print the JSON Schema of a configuration file, for editors
    #[arg(long, conflicts_with = "json")]
    pub(crate) schema: bool,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    // Last: its heading would be that of what follows.
    #[command(flatten)]
    pub(crate) settings: SettingArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigVerb {
    /// Take what a project's file says of the view, until the file is changed
    Trust {
        /// The file; nothing is the nearest .noesc.toml
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: Option<PathBuf>,
    },
}

/// Prints a completion script for a shell.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noesc completions bash >~/.local/share/bash-completion/completions/noesc
  noesc completions zsh >~/.zfunc/_noesc
  noesc completions fish >~/.config/fish/completions/noesc.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell: bash, elvish, fish, powershell, zsh
    #[arg(value_enum, hide_possible_values = true)]
    pub(crate) shell: clap_complete::Shell,
}

/// Every verb, in the order of the help.
const VERBS: [&str; 22] = [
    "run",
    "ps",
    "wait",
    "stop",
    "runs",
    "show",
    "search",
    "report",
    "digest",
    "filter",
    "audit",
    "unaudit",
    "scan",
    "store",
    "explain",
    "init",
    "open",
    "decide",
    "ledger",
    "config",
    "completions",
    "man",
];

/// Prints a manual page.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noesc man | man -l -
  noesc man run >noesc-run.1")]
pub(crate) struct ManArgs {
    /// The verb that it is of; nothing is noesc itself
    #[arg(value_parser = PossibleValuesParser::new(VERBS), hide_possible_values = true)]
    pub(crate) verb: Option<String>,
}

/// The verb that the first word names.
pub(crate) fn verb(argv: &[OsString]) -> Option<String> {
    let word = argv.get(1)?.to_str()?;
    Arguments::command().find_subcommand(word).map(|verb| verb.get_name().to_owned())
}

pub(crate) fn parse(argv: &[OsString]) -> Result<Arguments, clap::Error> {
    match parse_alone(argv) {
        Some(verb) => Ok(Arguments { verb }),
        None => Arguments::try_parse_from(argv),
    }
}

/// What the whole command line gives, by the description of the verb alone that its first word
/// names: to describe every verb takes longer than all else that a start does. `None` where that
/// does not succeed; the whole description then says why, or helps.
fn parse_alone(argv: &[OsString]) -> Option<Verb> {
    fn of<A: Args>(argv: &[OsString], verb: fn(A) -> Verb) -> Option<Verb> {
        let command = A::augment_args(Command::new("noesc"));
        let matches = command.try_get_matches_from(argv).ok()?;
        A::from_arg_matches(&matches).ok().map(verb)
    }
    let argv = argv.get(1..)?;
    match argv.first()?.to_str()? {
        "run" => of(argv, |args| Verb::Run(Box::new(args))),
        "ps" => of(argv, Verb::Ps),
        "wait" => of(argv, Verb::Wait),
        "stop" => of(argv, Verb::Stop),
        "runs" => of(argv, Verb::Runs),
        "show" => of(argv, Verb::Show),
        "search" => of(argv, Verb::Search),
        "report" => of(argv, Verb::Report),
        "digest" => of(argv, Verb::Digest),
        "filter" => of(argv, Verb::Filter),
        "audit" => of(argv, Verb::Audit),
        "unaudit" => of(argv, Verb::Unaudit),
        "scan" => of(argv, Verb::Scan),
        "store" => of(argv, Verb::Store),
        "explain" => of(argv, Verb::Explain),
        "init" => of(argv, Verb::Init),
        "open" => of(argv, |args| Verb::Open(Box::new(args))),
        "decide" => of(argv, |args| Verb::Decide(Box::new(args))),
        "ledger" => of(argv, Verb::Ledger),
        "config" => of(argv, Verb::Config),
        "completions" => of(argv, Verb::Completions),
        "man" => of(argv, Verb::Man),
        _ => None,
    }
}

/// Says what is wrong with the command line in one line, and what to do. Help and version are no
/// errors.
pub(crate) fn explain(error: &clap::Error, verb: Option<&str>) -> ExitCode {
    // A wrapper's own failures must not look like those of the command it runs.
    let misused = if matches!(verb, Some("run" | "wait")) { WRAPPER } else { MISUSE };
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            return match error.print() {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                    unwritten(OsStr::new("stdout"), &error).code(misused).tell()
                }
                _ => ExitCode::SUCCESS,
            };
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            return ExitCode::from(misused);
        }
        _ => {}
    }
    let words = |kind| words(error, kind);
    let argument = words(ContextKind::InvalidArg).join(" ");
    let name = named(&argument);
    let value = quoted(OsStr::new(&words(ContextKind::InvalidValue).join(" ")));
    let message = match error.kind() {
        ErrorKind::UnknownArgument => format!("unknown argument {}", quoted(OsStr::new(&argument))),
        ErrorKind::InvalidSubcommand => {
            let verb = words(ContextKind::InvalidSubcommand).join(" ");
            format!("unknown verb {}", quoted(OsStr::new(&verb)))
        }
        ErrorKind::InvalidValue if words(ContextKind::InvalidValue) == [""] => {
            match argument.starts_with('-') {
                true => format!("{name} needs a value"),
                false => "a file name is empty".into(),
            }
        }
        ErrorKind::TooManyValues => format!("{name} takes no value"),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let why = std::error::Error::source(error).map(crate::fail::escaped);
            let why = why.map_or(String::new(), |why| format!(": {why}"));
            format!("{name} can not be {value}{why}")
        }
        ErrorKind::MissingRequiredArgument => match argument.as_str() {
            "<COMMAND>..." => "the command to run is missing".into(),
            argument => format!("{} is missing", named(argument)),
        },
        ErrorKind::ArgumentConflict => {
            let other = words(ContextKind::PriorArg).join(" ");
            match other == argument {
                true => format!("{name} is given twice"),
                false => format!("{name} does not go with {}", named(&other)),
            }
        }
        ErrorKind::InvalidUtf8 => "an argument is not valid UTF-8".into(),
        kind => format!("the command line is not understood ({kind})"),
    };
    Failure::new(message).hint(hint(error, verb)).code(misused).tell()
}

/// The name in `--flag <VALUE>`, `--flag[=<VALUE>]`, `<PLACE>...` or `[PLACE]`, quoted.
fn named(argument: &str) -> String {
    let argument = argument.trim_start_matches(['<', '[']);
    let end = argument.find([' ', '[', '>', ']']).unwrap_or(argument.len());
    quoted(OsStr::new(&argument[..end]))
}

fn hint(error: &clap::Error, verb: Option<&str>) -> String {
    let wrong = std::error::Error::source(error).and_then(|source| source.downcast_ref::<Wrong>());
    if let Some(wrong) = wrong {
        return wrong.hint.clone();
    }
    let suggested = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand];
    let suggested: Vec<_> = suggested.into_iter().flat_map(|kind| words(error, kind)).collect();
    let known = words(error, ContextKind::ValidValue);
    match (suggested.first(), known.is_empty(), verb) {
        (Some(suggested), _, _) => format!("did you mean \"{suggested}\"?"),
        // There are more than a shell completes.
        (None, false, _) if words(error, ContextKind::InvalidArg).join("").contains("LABEL") => {
            "a label of the Encoding Standard: gbk, shift_jis, windows-1252, …".into()
        }
        (None, false, _) => format!("one of {}", known.join(", ")),
        (None, true, Some(verb)) => format!("\"noesc {verb} --help\" lists what it takes"),
        (None, true, None) => "\"noesc --help\" lists the verbs".into(),
    }
}

/// What the error says of this kind.
fn words(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(word)) => vec![word.clone()],
        Some(ContextValue::Strings(words)) => words.clone(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_verb_alone_is_read_as_it_is_within_the_whole() {
        let lines = [
            "noesc run -- true",
            "noesc run --format json --view-bytes-max 1KiB --keep-fd 3 --keep-fd=4 cat -n",
            "noesc run --time-max 2s:drain --pty --size 100x30 --answer da1,size -- true",
            "noesc ps --all --json",
            "noesc wait --time-max 1s 0198",
            "noesc stop 0198 0199",
            "noesc runs --failed --severity high --limit 3",
            "noesc search last -i --context 3 -e",
            "noesc show last --lines 100-160 --stream stderr --format lines",
            "noesc report --json last",
            "noesc digest 0198",
            "noesc filter --mark --cr=overwrite -q -",
            "noesc audit --lines FILE",
            "noesc unaudit",
            "noesc scan . --fail-on never",
            "noesc store prune --dry-run",
            "noesc explain --width 80 --color never",
            "noesc init --identity FILE --recipient age1 --confirm",
            "noesc decide last approved --reason why",
            "noesc decide --command --reason why --expires 2h --time-max 1m -- true -x",
            "noesc open last --reason why --range 0x10+16 --as hex --stream stdout",
            "noesc ledger verify --since FILE --store DIR",
            "noesc config trust FILE",
            "noesc config --profile display --json",
            "noesc completions bash",
            "noesc man run",
        ];
        for line in lines {
            let alone = parse_alone(&words(line)).map(|verb| format!("{verb:?}"));
            let whole = Arguments::try_parse_from(words(line)).map(|all| format!("{:?}", all.verb));
            assert_eq!(alone, whole.ok(), "{line}");
            assert!(alone.is_some(), "{line}");
        }
        assert!(VERBS.iter().all(|verb| lines.iter().any(|line| line.contains(verb))));
    }

    #[test]
    fn what_is_no_verb_with_its_arguments_is_left_to_the_whole() {
        for line in [
            "noesc",
            "noesc --help",
            "noesc --version run -- true",
            "noesc run --help",
            "noesc run -V -- true",
            "noesc run",
            "noesc filter --nothing",
            "noesc ru -- true",
            "noesc help run",
        ] {
            assert!(parse_alone(&words(line)).is_none(), "{line}");
            assert!(Arguments::try_parse_from(words(line)).is_err(), "{line}");
        }
    }

    #[test]
    fn descriptors_have_a_least_and_a_most() {
        for number in [3, DESCRIPTOR_MAX - 1, DESCRIPTOR_MAX] {
            assert_eq!(descriptor(&number.to_string()), Ok(number));
        }
        for number in [2, DESCRIPTOR_MAX + 1, i32::MAX] {
            assert!(descriptor(&number.to_string()).is_err());
        }
    }
}
