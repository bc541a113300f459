//! What the tests of the contract of a run share. Each test program uses a part of it.
#![allow(dead_code, unreachable_pub)]
// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::ffi::OsStr;

use serde_json::Value;

use crate::common::{Ended, eventually, noesc, ran, signal};

/// A run told as JSON.
#[derive(Debug)]
pub struct Told {
    pub record: Value,
    pub code: i32,
}

impl Told {
    /// The record in what a run printed. It said nothing else.
    #[track_caller]
    pub fn of(ended: &Ended) -> Self {
        assert_eq!(ended.err(), "");
        assert_eq!(ended.out().lines().count(), 1, "{ended:?}");
        Self { record: serde_json::from_str(ended.out()).unwrap(), code: ended.code() }
    }

    /// Head and tail of the view of a stream.
    #[track_caller]
    pub fn view(&self, stream: &str) -> (&str, &str) {
        let view = &self.stream(stream)["view"];
        (view["head"].as_str().unwrap(), view["tail"].as_str().unwrap())
    }

    /// The view of a stream of which nothing was left out.
    #[track_caller]
    pub fn all(&self, stream: &str) -> &str {
        let (head, tail) = self.view(stream);
        assert_eq!(self.stream(stream)["view"]["omitted"]["bytes"], 0);
        assert_eq!(tail, "");
        head
    }

    #[track_caller]
    pub fn stream(&self, stream: &str) -> &Value {
        let stream = &self.record["streams"][stream];
        assert!(stream.is_object(), "{}", self.record);
        stream
    }

    /// The three facts of a stream: end seen, cutoff, all bytes kept.
    #[track_caller]
    pub fn end(&self, stream: &str) -> (bool, &str, bool) {
        let stream = self.stream(stream);
        (
            stream["eof"].as_bool().unwrap(),
            stream["cutoff"].as_str().unwrap(),
            stream["bytes"]["complete"].as_bool().unwrap(),
        )
    }

    /// Bytes observed and kept of a stream.
    #[track_caller]
    pub fn bytes(&self, stream: &str) -> (u64, u64) {
        let bytes = &self.stream(stream)["bytes"];
        (bytes["observed"].as_u64().unwrap(), bytes["kept"].as_u64().unwrap())
    }

    /// What came of the run, without who saw it.
    pub fn outcome(&self) -> Value {
        let mut outcome = self.record["outcome"].clone();
        let observer = outcome.as_object_mut().and_then(|keys| keys.remove("observed_by"));
        assert_eq!(observer, Some("collector".into()));
        outcome
    }

    pub fn duration_ms(&self) -> u64 {
        self.record["time"]["duration_ms"].as_u64().unwrap()
    }

    /// Processes that outlive the run.
    pub fn survivors(&self) -> Vec<u32> {
        let listed = self.record["processes"]["survivors"]["listed"].as_array().unwrap();
        listed.iter().map(|one| u32::try_from(one["pid"].as_u64().unwrap()).unwrap()).collect()
    }

    /// Ends what outlives the run.
    pub fn end_survivors(&self) {
        self.survivors().into_iter().for_each(end);
    }
}

/// `noesc run --format json` with these flags.
#[track_caller]
pub fn told<A: AsRef<OsStr>>(flags: &[&str], argv: &[A]) -> Told {
    let flags = ["run", "--format", "json"].iter().chain(flags).chain(&["--"]);
    let arguments = flags.map(OsStr::new).chain(argv.iter().map(AsRef::as_ref));
    Told::of(&ran(noesc(arguments)))
}

/// The same of a shell script.
#[track_caller]
pub fn told_sh(flags: &[&str], script: &str) -> Told {
    told(flags, &["sh", "-c", script])
}

/// Ends one process by its id, which has perhaps ended.
pub fn end(pid: u32) {
    if is_alive(pid) {
        signal("KILL", pid);
    }
}

/// Whether a process is there and has not ended.
pub fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

/// Waits until none of these processes is there.
#[track_caller]
pub fn all_gone(pids: &[u32]) {
    assert!(!pids.is_empty());
    eventually(|| {
        let alive: Vec<u32> = pids.iter().copied().filter(|pid| is_alive(*pid)).collect();
        if alive.is_empty() { Ok(()) } else { Err(alive) }
    });
}

/// The numbers that a text has on lines of their own.
pub fn numbers(text: &str) -> Vec<u32> {
    text.lines().filter_map(|line| line.parse().ok()).collect()
}
