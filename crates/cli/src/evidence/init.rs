//! `noesc init`: keys for originals and decisions, and who may open and decide.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use clap::{Args, ValueHint};
use noesc_evidence::{
    ApproverKey, Binding, LEDGER_WAIT, Recipient, Recipients, RecipientsAction, RecipientsChange,
    RecipientsState, VerifierKey, append_recipients, bound_approver, confirmed_recipients,
    create_identity, recipients_state, unlock,
};
use noesc_session::guard_memory;
use toml_edit::Value;
use zeroize::Zeroizing;

use super::config_file;
use super::passphrase::{answer, new_passphrase, passphrase};
use crate::config::Config;
use crate::fail::{Failure, Result, escaped, quoted};
use crate::input::write;
use crate::kept::{OpenStore, placed};
use crate::say::say;

/// Makes the keys that originals are sealed to and decisions are signed with.
///
/// Runs are sealed to recipients: who has the identity of one can open them, nobody else. An
/// identity is protected by a passphrase, asked for at the terminal. It belongs on another machine,
/// or on a disk that is not always there: what the agent can read and guess at is no secret.
/// Without a recipient nothing raw is kept.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noesc init --identity STICK/noesc.age
  noesc init --recipient age1… --recipient age1…     made elsewhere: the keys never come here
  noesc init --approver ~/approver.age               who signs decisions
  noesc init --confirm                               after the recipients were changed")]
pub(crate) struct InitArgs {
    /// Make an identity in FILE, or use the one that is there
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    identity: Option<PathBuf>,

    /// Make the approver's key in FILE, or use the one that is there
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    approver: Option<PathBuf>,

    /// Seal to this recipient, made elsewhere; may be given again
    #[arg(long, value_name = "RECIPIENT")]
    recipient: Vec<String>,

    /// Confirm changed recipients: answer a challenge that the old identity alone can read
    #[arg(long)]
    confirm: bool,

    /// Answer it with the old identity in FILE, here
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "confirm")]
    old_identity: Option<PathBuf>,

    /// Record that the old identity is lost, in place of an answer
    #[arg(long, conflicts_with = "confirm")]
    old_identity_lost: bool,

    /// The folder of the store
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    store: Option<PathBuf>,

    /// Read and write this configuration, in place of yours
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    config: Option<PathBuf>,
}

const EXPLANATION: [&str; 4] = [
    "what a run prints is sealed to recipients: only who has the identity of one can open it",
    "an identity is a file and a passphrase; keep the file where agents on this machine can not \
     read it, best on another machine: who has both opens everything",
    "the public half goes into your configuration, and a record into the ledger, so that a change \
     shows at every run",
    "there is no way back to a sealed run without the identity: two recipients are better than one",
];

pub(crate) fn init(args: &InitArgs) -> Result<ExitCode> {
    let config = Config::load_or_new(args.config.as_deref())?;
    let is_new = args.identity.is_some() || args.approver.is_some() || !args.recipient.is_empty();
    if !is_new && !args.confirm && !args.old_identity_lost {
        EXPLANATION.iter().for_each(|line| say(line));
        return Err(Failure::new("nothing was said of whom to seal to").hint(
            "make an identity, --identity FILE, or name one made elsewhere, --recipient age1…",
        ));
    }
    let given: Vec<Recipient> =
        args.recipient.iter().map(|text| Ok(text.parse()?)).collect::<Result<_>>()?;
    if is_new {
        EXPLANATION.iter().for_each(|line| say(line));
    }
    guard_memory();
    let file = config.user_file().map(Path::to_path_buf).ok_or_else(|| {
        Failure::new("there is no place for a configuration: no home folder is known")
            .hint("name one: --config FILE")
    })?;
    let store = OpenStore::made(placed(args.store.as_deref(), &config)?)?;
    // A ledger that is not there is made: what follows reads it.
    drop(store.write()?);
    let mut values = Vec::new();
    let recipients = recipients(args, &config, given, &mut values)?;
    let bound = bound_approver(&store.place.ledger_path(), store.key.verifier(), LEDGER_WAIT)?;
    let approver = approver(args, &config, bound.as_ref(), &mut values)?;
    if let Some(path) = &args.store {
        values.push(("store", config_file::path(path)?));
    }
    if !values.is_empty() {
        config_file::set(&file, &values)?;
        say(&format!("{} names them now", quoted(file.as_os_str())));
    }
    settle((args, &config), &store, recipients.as_ref(), &approver)?;
    Ok(ExitCode::SUCCESS)
}

/// Whom is sealed to from now on: who is named and made now, or else who is configured.
fn recipients(
    args: &InitArgs,
    config: &Config,
    mut given: Vec<Recipient>,
    values: &mut Vec<(&'static str, Value)>,
) -> Result<Option<Recipients>> {
    if let Some(path) = &args.identity {
        let name = quoted(path.as_os_str());
        let made = if path.exists() {
            say(&format!("the identity {name} is there already and is used"));
            unlock(path, &passphrase(&name)?)?.recipients()
        } else {
            vec![create_identity(path, &new_passphrase(&format!("the identity {name}"))?)?]
        };
        given.extend(made);
        values.push(("identity", config_file::path(path)?));
    }
    if given.is_empty() {
        return configured(config);
    }
    let recipients = Recipients::new(given)?;
    let texts: Vec<String> = recipients.iter().map(ToString::to_string).collect();
    for recipient in recipients.iter() {
        say(&format!("recipient {recipient}, fingerprint {}", recipient.fingerprint()));
    }
    for gone in config.list("recipients") {
        if !texts.iter().any(|text| text == gone) {
            say(&format!("{} is no recipient any more", escaped(gone)));
        }
    }
    values.push(("recipients", config_file::list(&texts)));
    Ok(Some(recipients))
}

/// The recipients of the configuration.
pub(crate) fn configured(config: &Config) -> Result<Option<Recipients>> {
    let texts = config.list("recipients");
    if texts.is_empty() { Ok(None) } else { Ok(Some(Recipients::parse(&texts)?)) }
}

/// The approver that is named now, and the key of the one before where that has to agree.
#[derive(Debug, Default)]
struct Approver {
    named: Option<VerifierKey>,
    before: Option<ApproverKey>,
}

fn approver(
    args: &InitArgs,
    config: &Config,
    bound: Option<&Binding>,
    values: &mut Vec<(&'static str, Value)>,
) -> Result<Approver> {
    let Some(path) = &args.approver else { return Ok(Approver::default()) };
    let name = quoted(path.as_os_str());
    let named = if path.exists() {
        say(&format!("the approver's key {name} is there already and is used"));
        ApproverKey::unlock(path, &passphrase(&name)?)?.verifier().clone()
    } else {
        ApproverKey::create(path, &new_passphrase(&format!("the approver's key {name}"))?)?
    };
    let before = match bound {
        Some(bound) if bound.approver != named => Some(key_before(config, path, bound)?),
        _ => None,
    };
    say(&format!("approver {named}"));
    values.push(("approver", Value::from(named.to_string())));
    values.push(("approver_identity", config_file::path(path)?));
    Ok(Approver { named: Some(named), before })
}

/// The key of the approver that the ledger names, who has to agree.
fn key_before(config: &Config, new: &Path, bound: &Binding) -> Result<ApproverKey> {
    let name = escaped(bound.approver.name());
    let refused = || {
        Failure::new(format!("the ledger names the approver {name}, who has to agree"))
            .hint("name its key as approver_identity in the configuration, and try again")
    };
    let path = config.given("approver_identity").map(Path::new).ok_or_else(refused)?;
    if path == new {
        return Err(refused());
    }
    let what = format!("the key of the approver {name}, {}", quoted(path.as_os_str()));
    let key = ApproverKey::unlock(path, &passphrase(&what)?)?;
    if *key.verifier() == bound.approver { Ok(key) } else { Err(refused()) }
}

/// Writes into the ledger what became of recipients and approver.
fn settle(
    (args, config): (&InitArgs, &Config),
    store: &OpenStore,
    recipients: Option<&Recipients>,
    approver: &Approver,
) -> Result<()> {
    let state = recipients_state(
        &store.place.ledger_path(),
        store.key.verifier(),
        recipients,
        LEDGER_WAIT,
    )?;
    let (action, from) = match state {
        RecipientsState::Changed { from, .. } if args.old_identity_lost => {
            affirm_loss(config, store, approver)?;
            say("warning: recorded as lost: runs sealed to the old recipients stay closed");
            (RecipientsAction::Lost, from)
        }
        RecipientsState::Changed { from, .. } if args.confirm => {
            say(&format!(
                "to confirm: sealed to {}, no longer to {}",
                fingerprints(recipients),
                escaped(from.join(", "))
            ));
            challenge(args, store, &from)?;
            (RecipientsAction::Confirmed, from)
        }
        RecipientsState::Changed { from, is_recorded, .. } => {
            say("warning: recipient changed: every run says so until it is confirmed");
            say("hint: \"noesc init --confirm\", or \"--old-identity-lost\"");
            if is_recorded && approver.named.is_none() {
                return Ok(());
            }
            (RecipientsAction::Changed, from)
        }
        _ if args.confirm || args.old_identity_lost => {
            return Err(Failure::new(
                "there is nothing to confirm: the recipients are those of the ledger",
            )
            .hint("nothing was recorded"));
        }
        RecipientsState::Same => (RecipientsAction::Confirmed, Vec::new()),
        _ => (RecipientsAction::Init, Vec::new()),
    };
    let recipients: Vec<_> = recipients.into_iter().flat_map(Recipients::iter).cloned().collect();
    let change = RecipientsChange {
        action,
        recipients: &recipients,
        from: &from,
        approver: approver.named.as_ref(),
        before: approver.before.as_ref(),
    };
    append_recipients(&mut store.write()?, SystemTime::now(), &change)?;
    say("recorded in the ledger");
    Ok(())
}

/// The fingerprints of recipients, or that there is none.
fn fingerprints(recipients: Option<&Recipients>) -> String {
    match recipients {
        Some(recipients) => recipients.fingerprints().join(", "),
        None => "nobody".into(),
    }
}

/// What no program says for a person: the approver has to agree that an identity is lost, or where
/// there is none, somebody at the terminal.
fn affirm_loss(config: &Config, store: &OpenStore, approver: &Approver) -> Result<()> {
    let bound = bound_approver(&store.place.ledger_path(), store.key.verifier(), LEDGER_WAIT)?;
    match bound {
        // It has just signed, or was unlocked just now.
        Some(bound) if approver.named.as_ref() == Some(&bound.approver) => Ok(()),
        Some(_) if approver.before.is_some() => Ok(()),
        Some(bound) => key_before(config, Path::new(""), &bound).map(drop),
        None if answer("Type \"lost\" if nobody has the old identity: ")?.trim() == "lost" => {
            Ok(())
        }
        None => Err(Failure::new("that is not \"lost\"").hint("nothing was recorded")),
    }
}

/// Asks for a text that was encrypted to the old recipients.
fn challenge(args: &InitArgs, store: &OpenStore, from: &[String]) -> Result<()> {
    let known =
        confirmed_recipients(&store.place.ledger_path(), store.key.verifier(), LEDGER_WAIT)?;
    let old = Recipients::new(known)?;
    if old.fingerprints() != from {
        return Err(Failure::new("the ledger does not hold the old recipients")
            .hint("\"noesc ledger verify\" says whether it is in order"));
    }
    let mut random = Zeroizing::new([0; 16]);
    getrandom::fill(&mut *random).map_err(|error| Failure::new(escaped(error)))?;
    let expected = Zeroizing::new(format!("{:032x}", u128::from_be_bytes(*random)));
    let sealed = old.seal_message(format!("{}\n", *expected).as_bytes());
    let sealed = sealed.map_err(|error| Failure::new(escaped(error)))?;
    let found = match &args.old_identity {
        Some(path) => {
            let identity = unlock(path, &passphrase(&quoted(path.as_os_str()))?)?;
            identity
                .open_message(sealed.as_bytes())
                .map(|text| Zeroizing::new(String::from_utf8_lossy(&text).into_owned()))
        }
        None => {
            write(sealed.as_bytes())?;
            say("decrypt this with the old identity (age -d -i IDENTITY), and type what it says");
            Some(answer("Answer: ")?)
        }
    };
    match found {
        Some(found) if found.trim() == *expected => Ok(()),
        _ => Err(Failure::new("that is not what the challenge says")
            .hint("nothing was recorded; it needs the identity of an old recipient")),
    }
}
