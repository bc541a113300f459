//! `noesc open`: the original bytes of a run, for who holds the identity.

mod extract;
mod original;
mod place;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use clap::{Args, ValueEnum, ValueHint};
use noesc_evidence::{
    Given, Identity, OpenDecision, append_open, append_refused, append_seen, append_shown,
    crash_point, unlock,
};
use noesc_session::guard_memory;

use crate::config::Config;
use crate::evidence::{passphrase::passphrase, who};
use crate::fail::{Failure, Result, quoted};
use crate::kept::{OpenStore, placed};
use crate::say::say;
use original::Opening;

/// How long a decision to look holds: a sitting.
const DECISION_LASTS: Duration = Duration::from_secs(8 * 60 * 60);

/// Opens the sealed original of a run, for who holds the identity.
///
/// The decision to look is written to the ledger first, with its reason; so is a refused or failed
/// attempt. Then the viewer shows hex and the audit view side by side. No byte of the original is
/// ever written to the terminal as it is. With --range a bounded extract is printed instead, and
/// --as raw --to FILE writes the bytes into a file: that file is this user's, and whatever runs as
/// this user can read it. The passphrase is asked for at the terminal, never taken from stdin, a
/// flag or the environment.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noesc open last --reason 'what did the postinstall script print?'
  noesc open 0198c1a2 --line 120 --reason 'the line that the agent cited'
  noesc open 0198c1a2 --range 4096+512 --as hex --reason 'ticket 4711'
  noesc open 0198c1a2 --as raw --to ~/case/stdout.bin --reason 'ticket 4711'
  noesc open case.noesc --reason 'ticket 4711'        exported elsewhere")]
pub(crate) struct OpenArgs {
    /// The id of the run, its beginning or end, last, or a file that "noesc store export" wrote
    #[arg(value_name = "RUN")]
    run: String,

    /// The run of such a file, where it holds several
    #[arg(long = "run", value_name = "ID")]
    of_file: Option<String>,

    /// Why: it stands in the ledger
    #[arg(long, value_name = "TEXT")]
    reason: String,

    /// The stream: stdout, stderr, pty, extra; the first that has bytes
    #[arg(long, value_name = "STREAM")]
    stream: Option<String>,

    /// Print or write these bytes of it: OFFSET+LENGTH, each decimal or 0x…
    #[arg(long, value_name = "RANGE", value_parser = extract::range)]
    range: Option<(u64, u64)>,

    /// How an extract is given: hex, audit, clean, raw
    #[arg(long = "as", value_enum, value_name = "FORM", hide_possible_values = true)]
    form: Option<Form>,

    /// Write raw bytes to this file, which must not be there yet
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    to: Option<PathBuf>,

    /// Begin at the raw bytes of this line of the view
    #[arg(long, value_name = "N", conflicts_with_all = ["range", "form"])]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    line: Option<u64>,

    /// The identity that opens it, a file; else "identity" of the configuration
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    identity: Option<PathBuf>,

    /// Read FILE instead of the user's configuration file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    config: Option<PathBuf>,
}

/// How an extract is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Hex,
    Audit,
    Clean,
    Raw,
}

impl Form {
    fn word(self) -> &'static str {
        match self {
            Self::Hex => "hex",
            Self::Audit => "audit",
            Self::Clean => "clean",
            Self::Raw => "raw",
        }
    }
}

/// What is to be shown.
enum Wanted<'a> {
    Viewer,
    Extract { range: (u64, u64), form: Form },
    Raw { range: Option<(u64, u64)>, to: place::Place<'a> },
}

impl OpenArgs {
    /// `store` is where no raw byte goes.
    fn wanted(&self, store: &std::path::Path) -> Result<Wanted<'_>> {
        let refuse = |message: &str, hint: &str| Err(Failure::new(message).hint(hint));
        match (self.form, self.range, &self.to) {
            (None, None, None) => Ok(Wanted::Viewer),
            (Some(Form::Raw), range, Some(to)) => {
                Ok(Wanted::Raw { range, to: place::check(to, store)? })
            }
            (Some(Form::Raw), _, None) => refuse(
                "raw bytes are never written to the terminal",
                "name a file for them: --to FILE",
            ),
            (_, _, Some(_)) => refuse("\"--to\" is for raw bytes", "add \"--as raw\""),
            (form, Some(range), None) => {
                Ok(Wanted::Extract { range, form: form.unwrap_or(Form::Hex) })
            }
            (Some(_), None, None) => refuse(
                "an extract needs its bytes",
                "name them: --range OFFSET+LENGTH; without --as the viewer shows all",
            ),
        }
    }
}

pub(crate) fn open(args: &OpenArgs) -> Result<ExitCode> {
    let config = Config::load(false, args.config.as_deref())?;
    let place = placed(None, &config)?;
    let wanted = args.wanted(place.root())?;
    let store = OpenStore::made(place)?;
    let refused = |of: &str, failure: Failure| {
        // What can not be told to the ledger is still refused.
        let told = store.write().map_err(drop).and_then(|mut ledger| {
            let why = failure.message();
            append_refused(&mut ledger, SystemTime::now(), of, why).map_err(drop)
        });
        if told.is_err() {
            say("warning: the ledger does not take that this was refused");
        }
        failure
    };
    let found = original::find(&args.run, args.of_file.as_deref(), &store)
        .map_err(|failure| refused(&args.run, failure))?;
    show(args, &wanted, &config, &store, &found).map_err(|failure| refused(&found.run, failure))
}

fn show(
    args: &OpenArgs,
    wanted: &Wanted<'_>,
    config: &Config,
    store: &OpenStore,
    found: &original::Found,
) -> Result<ExitCode> {
    guard_memory();
    let artifact = found.verified()?;
    let identity = identity(args, config)?;
    let form = match wanted {
        Wanted::Viewer => "viewer",
        Wanted::Extract { form, .. } => form.word(),
        Wanted::Raw { .. } => Form::Raw.word(),
    };
    let range = match wanted {
        Wanted::Viewer => None,
        Wanted::Extract { range, .. } => Some(*range),
        Wanted::Raw { range, .. } => *range,
    };
    let who = who();
    let decision = OpenDecision {
        run: &found.run,
        artifact: &found.id.to_string(),
        range,
        form,
        given: Given { who: &who, reason: &args.reason },
        lasts: DECISION_LASTS,
    };
    let id = append_open(&mut store.write()?, SystemTime::now(), &decision)?;
    crash_point("decided");
    let mut opening = Opening::new((artifact, &found.run), &identity, args.stream.as_deref())?;
    let mut tell = |hmac: &str, bytes: u64| -> Result<()> {
        append_shown(&mut store.write()?, SystemTime::now(), &id, hmac, bytes)?;
        crash_point("shown-recorded");
        Ok(())
    };
    match wanted {
        Wanted::Viewer => {
            let viewed = original::view(&mut opening, found, args.line, &mut tell)?;
            append_seen(&mut store.write()?, SystemTime::now(), &id, &viewed.seen)?;
            Ok(viewed.code)
        }
        Wanted::Extract { range, form } => extract::print(&mut opening, *range, *form, &mut tell),
        Wanted::Raw { range, to } => place::write(&mut opening, *range, to, &mut tell),
    }
}

/// The identity that opens it, unlocked.
fn identity(args: &OpenArgs, config: &Config) -> Result<Identity> {
    let named = args.identity.as_deref().or(config.given("identity").map(std::path::Path::new));
    let Some(path) = named else {
        return Err(Failure::new("no identity is named")
            .hint("--identity FILE names the one that \"noesc init\" made"));
    };
    let shown = quoted(path.as_os_str());
    // Nobody is asked for the passphrase of nothing.
    std::fs::metadata(path)
        .map_err(|error| Failure::io("can not open the identity", path.as_os_str(), &error))?;
    let phrase = passphrase(&format!("the identity {shown}"))?;
    Ok(unlock(path, &phrase)?)
}
