//! A home whose runs are sealed to an identity, and what tests look at in it.
#![allow(dead_code, unreachable_pub)]
// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::time::Duration;

use noesc_evidence::{Artifacts, RunEntry, Store, create_identity, read};

use crate::common::ran;
use crate::typing::{Home, Typed, TypedEnd};

pub const PASSPHRASE: &str = "correct horse battery";

/// A home with an identity of its investigator, made as `noesc init` makes it.
pub struct Sealed {
    pub home: Home,
    pub identity: String,
}

impl Sealed {
    pub fn new(name: &str) -> Self {
        let home = Home::new(name);
        let identity = home.folder.name("investigator.age");
        let recipient = create_identity(Path::new(&identity), PASSPHRASE).unwrap();
        home.write_config(&format!("recipients = [\"{recipient}\"]\n"));
        let init = ran(home.noesc(&["init", "--recipient", &recipient.to_string()]));
        assert_eq!(init.code(), 0, "{}", init.err());
        Self { home, identity }
    }

    pub fn store(&self) -> Store {
        Store::at(self.home.folder.path("state/noesc"))
    }

    /// Runs a script of shell that stands in a file, so that no command line holds it.
    pub fn run(&self, flags: &[&str], script: &str) -> crate::common::Ended {
        let script = self.home.folder.write("script.sh", script);
        ran(self.home.noesc(&[&["run"], flags, &["--", "sh", &script]].concat()))
    }

    /// What the ledger says of runs, the oldest first.
    pub fn entries(&self) -> Vec<(String, RunEntry)> {
        let (store, mut entries) = (self.store(), Vec::new());
        let key = store.key().unwrap();
        let wait = Duration::from_secs(60);
        read(&store.ledger_path(), key.verifier(), wait, |record, _| {
            if let "run" | "recovered" = record.kind
                && let Ok(entry) = serde_json::from_str::<RunEntry>(record.event)
                // A torn tail that was cut is of no run.
                && !entry.run.is_empty()
            {
                entries.push((record.kind.to_owned(), entry));
            }
        })
        .unwrap();
        entries
    }

    /// The events of decisions.
    pub fn decisions(&self) -> Vec<serde_json::Value> {
        let shown = ran(self.home.noesc(&["ledger", "show", "--json"]));
        let records = shown.out().lines().map(|line| serde_json::from_str(line).unwrap());
        let decisions = records.filter(|record: &serde_json::Value| record["kind"] == "decision");
        decisions.map(|record| record["event"].clone()).collect()
    }

    /// `noesc open` with the passphrase typed.
    pub fn open(&self, arguments: &[&str], passphrase: &str) -> TypedEnd {
        let mut open = self.opening(arguments);
        open.answer("Passphrase for the identity", passphrase);
        open.end()
    }

    pub fn opening(&self, arguments: &[&str]) -> Typed {
        let given = ["open", "--identity", &self.identity, "--reason", "a test"];
        self.home.typed(&[&given[..], arguments].concat())
    }

    /// That every artifact that the ledger names is there and is what it names.
    pub fn check_artifacts(&self) {
        for (_, entry) in self.entries() {
            if let Some(name) = entry.artifact {
                let id = name.parse().unwrap();
                self.store().open(&entry.run, id).unwrap().verify(id).unwrap();
            }
        }
    }

    /// The ids of runs that have a folder in which a collector began to keep something.
    pub fn home_runs(&self) -> Vec<String> {
        let folders = std::fs::read_dir(self.store().runs_path()).unwrap().map(Result::unwrap);
        // One that was killed before it held its lock has started nothing.
        let folders = folders.filter(|folder| {
            std::fs::read_dir(folder.path())
                .unwrap()
                .flatten()
                .any(|entry| !entry.file_name().to_string_lossy().ends_with(".new"))
        });
        folders.map(|folder| folder.file_name().into_string().unwrap()).collect()
    }

    /// Files below the home that hold a word.
    pub fn holding(&self, word: &str) -> Vec<PathBuf> {
        let (mut folders, mut found) = (vec![self.home.folder.0.clone()], Vec::new());
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                // What a run has just renamed or removed is not there.
                let Ok(seen) = std::fs::symlink_metadata(&path) else { continue };
                if seen.is_dir() {
                    folders.push(path);
                } else if seen.is_file() {
                    let bytes = std::fs::read(&path).unwrap_or_default();
                    if bytes.windows(word.len()).any(|part| part == word.as_bytes()) {
                        found.push(path);
                    }
                }
            }
        }
        found
    }
}
