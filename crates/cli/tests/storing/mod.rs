//! A store of evidence for the tests of what keeps it in order.
#![allow(dead_code, unreachable_pub)]
// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use noesc_evidence::{
    Artifacts, CollectorKey, Identity, Kind, LEDGER_WAIT, Recipients, RunEntry, SealOptions,
    Sealer, Store, Usage, read,
};
use serde_json::Value;

use crate::common::{Ended, Folder, noesc, ran};

pub const DAY: Duration = Duration::from_secs(24 * 3600);

/// A folder that holds a store in `state/noesc`, and an empty `config`.
pub struct Kept {
    pub folder: Folder,
    pub store: Store,
    pub identity: Identity,
    usage: Usage,
    count: u64,
}

/// One run that is kept.
#[derive(Clone)]
pub struct Run {
    pub id: String,
    pub folder: PathBuf,
    pub artifact: PathBuf,
}

impl Kept {
    pub fn new(name: &str) -> Self {
        let folder = Folder::new(name);
        fs::create_dir(folder.path("config")).unwrap();
        let store = Store::at(folder.path("state").join("noesc"));
        store.prepare().unwrap();
        fs::create_dir(store.runs_path()).unwrap();
        only_ours(&store.runs_path());
        let usage = Usage::default();
        Self { folder, store, identity: Identity::generate(), usage, count: 0 }
    }

    pub fn key(&self) -> CollectorKey {
        self.store.key().unwrap()
    }

    /// A run that ended so long ago, sealed and told of.
    pub fn run(&mut self, age: Duration) -> Run {
        self.run_at(SystemTime::now() - age)
    }

    pub fn run_at(&mut self, at: SystemTime) -> Run {
        let run = self.untold(at);
        self.tell(&run, at);
        run
    }

    /// What there is of a run on disk, without a record of it.
    pub fn untold(&mut self, at: SystemTime) -> Run {
        self.count += 1;
        let ms = at.duration_since(UNIX_EPOCH).unwrap().as_millis() & 0xffff_ffff_ffff;
        let id = format!("{:08x}-{:04x}-7000-8000-{:012x}", ms >> 16, ms & 0xffff, self.count);
        let folder = self.store.runs_path().join(&id);
        fs::create_dir(&folder).unwrap();
        only_ours(&folder);
        let recipients = Recipients::new(self.identity.recipients()).unwrap();
        let options = SealOptions { recipients, bytes_max: 1 << 30 };
        let mut sealer = Sealer::new(self.store.begin(&id).unwrap(), &options, b"{}");
        sealer.push(0, 0, b"what was printed");
        let sealed = sealer.finish(b"{}");
        self.store.settle(&id, sealed.id).unwrap();
        for (name, text) in [("stdout.txt", "printed\n"), ("record.json", "{}\n")] {
            fs::write(folder.join(name), text).unwrap();
            fs::set_permissions(folder.join(name), PermissionsExt::from_mode(0o600)).unwrap();
        }
        let artifact = folder.join(format!("{}.sealed", sealed.id.hex()));
        Run { id, folder, artifact }
    }

    pub fn tell(&mut self, run: &Run, at: SystemTime) {
        let bytes = fs::metadata(&run.artifact).unwrap().len();
        self.usage.bytes += bytes + 8;
        self.usage.files += 2;
        let hex = run.artifact.file_stem().unwrap().to_str().unwrap();
        let entry = RunEntry {
            run: run.id.clone(),
            outcome: "exited".into(),
            evidence: "sealed".into(),
            severity: "none".into(),
            artifact: Some(format!("restricted:sha256:{hex}")),
            artifact_bytes: bytes,
            transcript_bytes: 8,
            raw: [("stdout".to_owned(), "hmac-sha256:00".to_owned())].into(),
            store: self.usage,
            ..RunEntry::default()
        };
        let key = self.key();
        self.store.ledger(&key).unwrap().append(at, Kind::Run, &entry).unwrap();
    }

    /// Records that show that the clock is right: one a week.
    pub fn weeks(&mut self, count: u64) {
        for week in (0..count).rev() {
            self.run(u32::try_from(week).unwrap() * 7 * DAY);
        }
    }

    /// The command, with this store.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = noesc(arguments);
        command.env("XDG_STATE_HOME", self.folder.path("state"));
        command.env("XDG_CONFIG_HOME", self.folder.path("config"));
        command.env("HOME", &self.folder.0).current_dir(&self.folder.0);
        command
    }

    pub fn noesc(&self, arguments: &[&str]) -> Ended {
        ran(self.command(arguments))
    }

    /// What the command says in JSON, and its status.
    pub fn json(&self, arguments: &[&str]) -> (Value, i32) {
        let ended = self.noesc(arguments);
        let value = serde_json::from_str(ended.out());
        let value = value.unwrap_or_else(|_| panic!("{:?}", ended.err()));
        (value, ended.code())
    }

    /// Kind and event of each record.
    pub fn told(&self) -> Vec<(String, Value)> {
        let mut told = Vec::new();
        let key = self.key();
        read(&self.store.ledger_path(), key.verifier(), LEDGER_WAIT, |record, _| {
            told.push((record.kind.to_owned(), serde_json::from_str(record.event).unwrap()));
        })
        .unwrap();
        told
    }

    /// Events of `retention` records.
    pub fn retention(&self) -> Vec<Value> {
        let told = self.told().into_iter();
        told.filter(|(kind, _)| kind == "retention").map(|(_, event)| event).collect()
    }
}

pub fn only_ours(folder: &std::path::Path) {
    fs::set_permissions(folder, PermissionsExt::from_mode(0o700)).unwrap();
}
