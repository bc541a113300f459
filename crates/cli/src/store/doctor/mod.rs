//! `noesc store doctor`: what is wrong with a store, and what to do about it.

mod artifacts;
mod identity;
mod ledger;
mod place;
mod space;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::SystemTime;

use clap::{Args, ValueHint};
use noesc_evidence::Store;
use serde::Serialize;

use crate::config::Config;
use crate::fail::Result;
use crate::figures::count;
use crate::input::write;
use crate::kept::{self, unusable};

/// Exit status when there is a fault.
const FAULTY: u8 = 1;

/// How often the same is said.
const SAME_MAX: usize = 20;

/// Looks at everything in the store and names each fault, with what to do about it.
///
/// Modes and owners, the key, the ledger and its chain, the clock, runs that were cut short, every
/// artifact by its digest, secret keys that lie open, room and quota. What a killed collector left
/// is made whole, and what the ledger says that everything takes is put right; nothing is deleted.
/// Exit status 0: healthy; 1: there is a fault; 2: it could not be looked.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noesc store doctor
  noesc store doctor --since checkpoint.txt    nothing before it was changed, either
  noesc store doctor --fast --json")]
pub(in crate::store) struct DoctorArgs {
    /// Compare the ledger with a checkpoint that was exported before
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    since: Option<PathBuf>,

    /// Look at the size of artifacts alone
    #[arg(long)]
    fast: bool,

    /// Write JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Grade {
    Fault,
    /// Nothing is wrong any more, or it can not be helped.
    Note,
}

#[derive(Debug, Serialize)]
struct Finding {
    grade: Grade,
    /// A word that stays, for programs.
    code: &'static str,
    message: String,
    hint: Option<&'static str>,
}

/// What was looked at, and what was found.
#[derive(Debug, Default, Serialize)]
struct Looked {
    healthy: bool,
    store: String,
    records: u64,
    artifacts: u64,
    findings: Vec<Finding>,
    /// How many more there are of each.
    more: BTreeMap<&'static str, usize>,
    #[serde(skip)]
    faults: usize,
}

impl Looked {
    /// Something is wrong. The message is inert.
    fn fault(&mut self, code: &'static str, message: impl Into<String>, hint: &'static str) {
        self.find(Grade::Fault, code, message.into(), Some(hint));
    }

    fn note(&mut self, code: &'static str, message: impl Into<String>) {
        self.find(Grade::Note, code, message.into(), None);
    }

    fn find(
        &mut self,
        grade: Grade,
        code: &'static str,
        message: String,
        hint: Option<&'static str>,
    ) {
        self.faults += usize::from(grade == Grade::Fault);
        let same = self.findings.iter().filter(|finding| finding.code == code).count();
        match same < SAME_MAX {
            true => self.findings.push(Finding { grade, code, message, hint }),
            false => *self.more.entry(code).or_default() += 1,
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for Finding { grade, message, hint, .. } in &self.findings {
            let grade = match grade {
                Grade::Fault => "fault",
                Grade::Note => "note",
            };
            let _ = writeln!(text, "{grade}: {message}");
            if let Some(hint) = hint {
                let _ = writeln!(text, "  hint: {hint}");
            }
        }
        for (code, more) in &self.more {
            let _ = writeln!(text, "and {more} more of {code}");
        }
        let records = count(self.records, "record");
        let artifacts = count(self.artifacts, "artifact");
        let verdict = match self.faults {
            0 => "healthy".into(),
            faults => count(faults as u64, "fault"),
        };
        let _ = writeln!(text, "looked at {records} and {artifacts}: {verdict}");
        text
    }
}

pub(in crate::store) fn doctor(args: &DoctorArgs, config: &Config) -> Result<ExitCode> {
    let store = kept::placed(None, config)?;
    let shown = noesc::audit(store.root().as_os_str().as_encoded_bytes());
    let mut looked = Looked { store: shown, ..Looked::default() };
    match std::fs::symlink_metadata(store.root()) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            looked.note("none", "there is no store yet: the first run makes it");
        }
        Err(error) => return Err(unusable(&store, &error)),
        Ok(_) => look(args, config, &store, &mut looked)?,
    }
    looked.healthy = looked.faults == 0;
    let text = match args.json {
        true => serde_json::to_string(&looked).unwrap_or_default() + "\n",
        false => looked.text(),
    };
    write(text.as_bytes())?;
    Ok(if looked.healthy { ExitCode::SUCCESS } else { ExitCode::from(FAULTY) })
}

fn look(args: &DoctorArgs, config: &Config, store: &Store, looked: &mut Looked) -> Result<()> {
    let now = SystemTime::now();
    let Some(is_sound) = place::look(store, looked)? else { return Ok(()) };
    let is_writable = space::look(config, store, looked)?;
    let key = ledger::key(store, looked);
    let mut chronicle = None;
    if let Some(key) = &key {
        let may_write = is_sound && is_writable;
        chronicle = ledger::look(store, key, now, may_write, looked);
        if chronicle.is_some() {
            ledger::configured(config, store, key, looked)?;
        }
        if let Some(path) = &args.since {
            ledger::since(store, key, path, looked)?;
        }
    }
    if let (Some(chronicle), true) = (&chronicle, is_sound) {
        artifacts::look(store, chronicle, || ledger::again(store, key.as_ref()), args.fast, looked);
        let key = key.as_ref().filter(|_| is_writable);
        let counted = key.and_then(|key| artifacts::recount(store, key, looked));
        space::quota(config, counted.unwrap_or(chronicle.usage), looked)?;
    }
    identity::look(config, store, chronicle.as_ref(), looked)
}
