//! Named moments at which a test can have the process killed, in builds for tests alone.

/// The variable that names the moment.
#[cfg(debug_assertions)]
const VARIABLE: &str = "NOESC_CRASH_POINT";

/// Ends this process at once, as `kill -9` does, where a test has asked for it by this name.
///
/// In a release build it does nothing.
pub fn crash_point(name: &str) {
    #[cfg(debug_assertions)]
    if std::env::var_os(VARIABLE).is_some_and(|wanted| wanted == name) {
        let _ =
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
    #[cfg(not(debug_assertions))]
    let _ = name;
}

/// All of them, in the order in which a run comes by.
pub const CRASH_POINTS: &[&str] = &[
    "begun",
    "segment-written",
    "artifact-written",
    "artifact-synced",
    "artifact-renamed",
    "artifact-settled",
    "run-recorded",
    "ledger-half-written",
    "ledger-written",
    "ledger-synced",
    "told",
];

/// Those of a prune, in the order in which it comes by, for each thing that it deletes.
pub const PRUNE_CRASH_POINTS: &[&str] = &["prune-begun", "prune-tombstoned", "prune-deleted"];
