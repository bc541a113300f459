//! `noesc store stats`: how much is kept, how old it is, and what is due.

use std::fmt::Write;
use std::process::ExitCode;
use std::time::SystemTime;

use clap::Args;
use noesc_evidence::{Chronicle, Usage, What, begun};
use noesc_session::Runs;
use noesc_session::envelope::Timestamp;
use serde::Serialize;

use super::disk::{self, OnDisk};
use super::prune::failure;
use super::sweep::Sweep;
use super::{opened, read_chronicle};
use crate::config::Config;
use crate::fail::Result;
use crate::figures::{count, size};
use crate::input::write;
use crate::kept::{self, OpenStore, unusable};

/// Tells how much is kept, how old it is, and what is due to be deleted.
#[derive(Debug, Args)]
pub(super) struct StatsArgs {
    /// Write JSON
    #[arg(long)]
    json: bool,
}

#[derive(Default, Serialize)]
struct Amount {
    count: usize,
    bytes: u64,
}

impl Amount {
    fn add(&mut self, bytes: u64) {
        self.count += 1;
        self.bytes += bytes;
    }
}

#[derive(Default, Serialize)]
struct Stats {
    store: String,
    runs: usize,
    artifacts: Amount,
    transcripts: Amount,
    /// When the oldest run began of which something is kept, and the newest.
    oldest: Option<String>,
    newest: Option<String>,
    /// As it is on disk, and as the ledger says.
    used: Usage,
    told: Usage,
    store_bytes_max: u64,
    store_files_max: u64,
    held: usize,
    /// What a prune would delete now.
    due: Amount,
    records: u64,
    checkpoint: Option<CheckpointStats>,
}

#[derive(Serialize)]
struct CheckpointStats {
    time: String,
    age_s: u64,
    /// That it covers.
    records: u64,
}

pub(super) fn stats(args: &StatsArgs, config: &Config) -> Result<ExitCode> {
    let (store, quota) = (kept::placed(None, config)?, kept::quota(config)?);
    let mut stats = Stats {
        store: noesc::audit(store.root().as_os_str().as_encoded_bytes()),
        store_bytes_max: quota.store_bytes_max,
        store_files_max: quota.store_files_max,
        ..Stats::default()
    };
    if let Some(opened) = opened(config)? {
        let now = SystemTime::now();
        let chronicle = read_chronicle(&opened, now)?;
        stats.take(&opened, &chronicle, now)?;
        let OpenStore { place: store, key } = &opened;
        let policy = kept::policy(config)?;
        let (chronicle, is_dry) = (&chronicle, true);
        let sweep = Sweep { store, key, chronicle, policy, now, is_dry, max: usize::MAX };
        let due = sweep.run(|| ()).map_err(failure)?;
        stats.due = Amount { count: due.deleted.len(), bytes: due.bytes };
    }
    let text = match args.json {
        true => serde_json::to_string(&stats).unwrap_or_default() + "\n",
        false => stats.text(),
    };
    write(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

impl Stats {
    fn take(&mut self, opened: &OpenStore, chronicle: &Chronicle, now: SystemTime) -> Result<()> {
        let store = &opened.place;
        let failed = |error| unusable(store, &error);
        for run in Runs::at(store.runs_path()).list().map_err(failed)? {
            let id = run.id().as_str();
            let disk = OnDisk::read(store, id).map_err(failed)?;
            let told = chronicle.runs.get(id);
            disk.sealed.iter().for_each(|(_, bytes)| self.artifacts.add(*bytes));
            if let Some(bytes) = disk.bytes(What::Transcript, told) {
                self.transcripts.add(bytes);
            }
            self.runs += 1;
            let begun = Timestamp::from(begun(id)).to_string();
            self.oldest.get_or_insert_with(|| begun.clone());
            self.newest = Some(begun);
        }
        self.used = disk::usage(store, chronicle).map_err(failed)?;
        self.told = chronicle.usage;
        self.held = chronicle.held();
        self.records = chronicle.records;
        self.checkpoint = chronicle.checkpoint.map(|(time, records)| CheckpointStats {
            age_s: now.duration_since(time).unwrap_or_default().as_secs(),
            time: Timestamp::from(time).to_string(),
            records,
        });
        Ok(())
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let of = |amount: &Amount| format!("{} ({})", amount.count, size(amount.bytes));
        let span = match (&self.oldest, &self.newest) {
            (Some(oldest), Some(newest)) => format!("{} (from {oldest} to {newest})", self.runs),
            _ => self.runs.to_string(),
        };
        let percent = match self.store_bytes_max {
            0 => 100,
            max => u128::from(self.used.bytes) * 100 / u128::from(max),
        };
        let used = format!(
            "{} of {} ({percent} %), {} of {}",
            size(self.used.bytes),
            size(self.store_bytes_max),
            self.used.files,
            count(self.store_files_max, "file"),
        );
        let checkpoint = match &self.checkpoint {
            Some(told) => {
                format!(
                    "{} ({} ago, of {} records)",
                    told.time,
                    count(told.age_s / 86_400, "day"),
                    told.records
                )
            }
            None => "none".into(),
        };
        for (name, value) in [
            ("store", self.store.clone()),
            ("runs", span),
            ("artifacts", of(&self.artifacts)),
            ("transcripts", of(&self.transcripts)),
            ("used", used),
            ("held", self.held.to_string()),
            ("due", of(&self.due)),
            ("records", self.records.to_string()),
            ("checkpoint", checkpoint),
        ] {
            let _ = writeln!(text, "{name:12} {value}");
        }
        if self.used != self.told {
            let _ = writeln!(
                text,
                "{:12} {} by the ledger: \"noesc store prune\" puts it right",
                "",
                size(self.told.bytes)
            );
        }
        text
    }
}
