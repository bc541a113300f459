//! What the tests of runs in the background share. Each test program uses a part of it.
#![allow(dead_code, unreachable_pub)]
// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::{Ended, Folder, PATIENCE, eventually, noesc, ran, shell};

/// A folder of runs of one test. What still goes on in it when it is dropped is stopped.
pub struct Home {
    pub folder: Folder,
}

impl Home {
    pub fn new(name: &str) -> Self {
        Self { folder: Folder::new(name) }
    }

    /// The runs are here.
    pub fn runs(&self) -> PathBuf {
        self.folder.path("state").join("noesc").join("runs")
    }

    /// The folder of a run.
    pub fn of(&self, run: &str) -> PathBuf {
        self.runs().join(run)
    }

    /// A command that finds its runs here.
    pub fn at(&self, mut command: Command) -> Command {
        command.env("HOME", self.folder.path("home"));
        command.env("XDG_STATE_HOME", self.folder.path("state"));
        command
    }

    /// The command under test with these arguments, run to its end.
    #[track_caller]
    pub fn noesc(&self, arguments: &[&str]) -> Ended {
        ran(self.at(noesc(arguments)))
    }

    /// A shell script with the command under test as `$N`.
    #[track_caller]
    pub fn shell(&self, script: &str) -> Ended {
        ran(self.at(shell(script)))
    }

    /// Starts a shell script in the background and gives the id of the run.
    #[track_caller]
    pub fn start(&self, flags: &[&str], script: &str) -> String {
        let ended = self.detached(flags, script);
        let id = ended.out().trim_end_matches('\n').to_owned();
        ended.is(&format!("{id}\n"), "", 0);
        assert!(is_id(&id), "{id:?}");
        id
    }

    /// `run --detach` of a shell script.
    #[track_caller]
    pub fn detached(&self, flags: &[&str], script: &str) -> Ended {
        self.noesc(&[&["run", "--detach"], flags, &["--", "sh", "-c", script]].concat())
    }

    /// Waits until the transcripts of a run are these.
    #[track_caller]
    pub fn until_printed(&self, run: &str, stdout: &str) {
        let look = || match self.noesc(&["wait", "-q", "--time-max", "0s", run]) {
            ended if ended.out() == stdout => Ok(()),
            ended => Err(ended),
        };
        eventually(look);
    }

    /// The record as `wait` gives it by now.
    #[track_caller]
    pub fn record(&self, run: &str) -> Value {
        let ended = self.noesc(&["wait", "--time-max", "0s", "--format", "json", run]);
        serde_json::from_str(ended.out()).unwrap_or_else(|_| panic!("{ended:?}"))
    }

    /// The rows of `ps --json`.
    #[track_caller]
    pub fn listed(&self, flags: &[&str]) -> Vec<Value> {
        let ended = self.noesc(&[&["ps", "--json"], flags].concat());
        assert_eq!((ended.err(), ended.code()), ("", 0));
        ended.out().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The row of a run, ended or not.
    #[track_caller]
    pub fn row(&self, run: &str) -> Value {
        let rows = self.listed(&["--all"]);
        let mut rows = rows.into_iter().filter(|row| row["run"] == run);
        rows.next().unwrap_or_else(|| panic!("no row of {run}"))
    }

    /// The state of a run.
    #[track_caller]
    pub fn state(&self, run: &str) -> String {
        self.row(run)["state"].as_str().unwrap().to_owned()
    }

    /// The names in the folder of a run, sorted.
    pub fn names(&self, run: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.of(run)).unwrap().flatten();
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let script = r#""$N" ps --json | sed 's/^{"run":"\([^"]*\)".*/\1/' | xargs -r "$N" stop"#;
        let mut command = self.at(shell(script));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let _ = command.status();
    }
}

/// Whether it is the id of a run.
pub fn is_id(id: &str) -> bool {
    id.len() == 36 && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// Whether there is a process of this number that has not ended.
pub fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The state stands behind the name, which is in brackets.
    let state = stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
    state.is_some_and(|state| state != 'Z' && state != 'X')
}

/// Waits for the end of processes.
#[track_caller]
pub fn until_gone(pids: &[&str]) {
    eventually(|| match pids.iter().filter(|pid| is_alive(pid)).collect::<Vec<_>>() {
        alive if alive.is_empty() => Ok(()),
        alive => Err(format!("{alive:?} after {PATIENCE:?}")),
    });
}

/// Waits for a file with a line end in it, and gives it without that.
#[track_caller]
pub fn until_written(path: PathBuf) -> String {
    eventually(|| match std::fs::read_to_string(&path) {
        Ok(text) if text.ends_with('\n') => Ok(text.trim_end_matches('\n').to_owned()),
        other => Err(format!("{other:?}")),
    })
}
