//! `noesc decide`: what a person decides on a command or a run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use clap::{Args, ValueHint};
use noesc_evidence::{
    ApproverKey, Asked, CommandDecision, Given, LEDGER_WAIT, Ruling, Verdict, append_verdict,
    bound_approver, decide_command, find_runs,
};
use noesc_session::Runs;

use super::passphrase::passphrase;
use super::who;
use crate::config::Config;
use crate::fail::{Failure, Result, escaped, quoted};
use crate::input::write;
use crate::kept::{OpenStore, placed};
use crate::limits::{LimitArgs, time};
use crate::runs::find_in;
use crate::say::say;
use crate::settings::SettingArgs;

/// How long a decision on a command holds.
const LASTS: Duration = Duration::from_secs(3600);

/// Records what a person decides: on a run that is over, or on a command before it runs.
///
/// It is signed with the approver's key, whose passphrase is asked for at the terminal. With
/// --unsigned it is only claimed, and `noesc run --decision` refuses it. A decision on a command
/// holds once, for these arguments, in this folder, under these settings and limits.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noesc decide 0198 approved --reason 'the diff is what was asked for'
  noesc decide --command --reason 'release 1.2' -- ./publish.sh 1.2
  noesc run --decision ID -- ./publish.sh 1.2")]
pub(crate) struct DecideArgs {
    /// The run: its id, the beginning of it, or last
    #[arg(value_name = "RUN", required_unless_present = "command")]
    run: Option<String>,

    /// approved or denied
    #[arg(value_name = "VERDICT", value_enum, required_unless_present = "command")]
    #[arg(hide_possible_values = true)]
    verdict: Option<Word>,

    /// Approve the command behind --, and print the id for noesc run --decision
    #[arg(long, conflicts_with_all = ["run", "verdict"], requires = "argv")]
    command: bool,

    /// Why, in a sentence
    #[arg(long, value_name = "TEXT")]
    reason: String,

    /// How long a decision on a command holds: 30m, 1h, 2d, … (1h)
    #[arg(long, value_name = "TIME", value_parser = time, requires = "command")]
    expires: Option<Duration>,

    /// Sign with the approver's key in FILE, in place of the one of the configuration
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    approver: Option<PathBuf>,

    /// Claim it without a signature
    #[arg(long, conflicts_with = "approver")]
    unsigned: bool,

    /// The folder of the store
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    store: Option<PathBuf>,

    /// The command and its arguments
    #[arg(last = true, value_name = "COMMAND", value_hint = ValueHint::CommandWithArguments)]
    #[arg(requires = "command")]
    argv: Vec<OsString>,

    // Last: their headings would be those of what follows.
    #[command(flatten)]
    limits: LimitArgs,

    #[command(flatten)]
    settings: SettingArgs,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Word {
    Approved,
    Denied,
}

pub(crate) fn decide(args: &DecideArgs) -> Result<ExitCode> {
    let (settings, mut config) = args.settings.settings()?;
    args.limits.give(&mut config);
    let store = OpenStore::existing(placed(args.store.as_deref(), &config)?)?;
    let who = who();
    let given = Given { who: &who, reason: &args.reason };
    if let (Some(run), Some(word)) = (&args.run, args.verdict) {
        return verdict(args, &store, &config, (run, word), given);
    }
    let cwd = std::env::current_dir().map_err(|error| {
        Failure::new(format!("there is no working folder: {}", crate::fail::reason(&error)))
            .hint("go to the folder that the command is to run in")
    })?;
    let policy = super::approved::policy(&config, &settings.profile);
    let asked = Asked { argv: &args.argv, cwd: &cwd, policy: &policy };
    let lasts = args.expires.unwrap_or(LASTS);
    say(&format!("command {}", asked.command()));
    say(&format!("folder {}, settings and limits {policy}", quoted(cwd.as_os_str())));
    say(&format!("holds once, for {} minutes", lasts.as_secs().div_ceil(60)));
    let key = key(args, &store, &config)?;
    let decision = CommandDecision { asked, given, created: SystemTime::now(), lasts };
    let id = decide_command(&mut store.write()?, &decision, key.as_ref())?;
    tell(key.as_ref());
    write(format!("{id}\n").as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn verdict(
    args: &DecideArgs,
    store: &OpenStore,
    config: &Config,
    (run, word): (&str, Word),
    given: Given<'_>,
) -> Result<ExitCode> {
    // By its end, or as the last, a run is found as long as it has a folder.
    let folders = Runs::at(store.place.runs_path());
    let found = find_in(&folders, run).map(|run| run.id().to_string());
    let run = found.as_deref().unwrap_or(run);
    let runs = find_runs(&store.place.ledger_path(), store.key.verifier(), run, LEDGER_WAIT)?;
    let name = quoted(run.as_ref());
    let run = match &runs[..] {
        [run] => run,
        [] => {
            return Err(Failure::new(format!("there is no run {name} in the ledger"))
                .hint("\"noesc ledger show\" lists what is there"));
        }
        [one, other, ..] => {
            let (one, other) = (escaped(one), escaped(other));
            return Err(Failure::new(format!(
                "{name} is the beginning of several: {one}, {other}"
            ))
            .hint("give more of the id"));
        }
    };
    let ruling = match word {
        Word::Approved => Ruling::Approved,
        Word::Denied => Ruling::Denied,
    };
    let key = key(args, store, config)?;
    let verdict = Verdict { run, ruling, given, created: SystemTime::now() };
    let record = append_verdict(&mut store.write()?, &verdict, key.as_ref())?;
    say(&format!("run {}, record {record}: {}", escaped(run), ruling.as_str()));
    tell(key.as_ref());
    Ok(ExitCode::SUCCESS)
}

/// The approver's key, unlocked; nothing where the decision is only claimed.
fn key(args: &DecideArgs, store: &OpenStore, config: &Config) -> Result<Option<ApproverKey>> {
    if args.unsigned {
        return Ok(None);
    }
    let configured = config.given("approver_identity").map(Path::new);
    let path = args.approver.as_deref().or(configured).ok_or_else(|| {
        Failure::new("there is no approver's key")
            .hint("make one, \"noesc init --approver FILE\", or claim the decision, \"--unsigned\"")
    })?;
    let bound = bound_approver(&store.place.ledger_path(), store.key.verifier(), LEDGER_WAIT)?;
    if bound.is_none() {
        return Err(noesc_evidence::DecisionError::NoApprover.into());
    }
    let what = format!("the approver's key {}", quoted(path.as_os_str()));
    Ok(Some(ApproverKey::unlock(path, &passphrase(&what)?)?))
}

fn tell(key: Option<&ApproverKey>) {
    match key {
        Some(key) => say(&format!("signed by {}", escaped(key.verifier().name()))),
        None => say("claimed: nobody has signed it, and noesc run --decision refuses it"),
    }
}
