//! The processes of a tree, read from the system's list.

use rustix::process::Pid;

use crate::outcome::{Survivor, Survivors};
use crate::wire::PIDS_MAX;

/// How many processes descend from `pid`, counted up to one more than `max`.
pub(crate) fn count_below(pid: Pid, max: u32) -> Option<u32> {
    let max = usize::try_from(max).unwrap_or(usize::MAX);
    let found = with_descendants(vec![pid.as_raw_nonzero().get()], max.saturating_add(2));
    // The first is not of the tree.
    u32::try_from(found.len() - 1).ok()
}

/// These processes and those that descend from them, the nearest first, up to `max`.
fn with_descendants(mut found: Vec<i32>, max: usize) -> Vec<i32> {
    let mut at = 0;
    while let Some(pid) = found.get(at).filter(|_| found.len() < max) {
        for task in std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
            let children = std::fs::read_to_string(task.path().join("children"));
            // One that has ended meanwhile is none any more.
            let children = children.unwrap_or_default();
            found.extend(
                children.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok()),
            );
        }
        at += 1;
    }
    found.truncate(max);
    found
}

/// Processes that are looked at when survivors are counted: more than a run should leave.
const LOOKED_AT: usize = 4096;

/// Who is alive of the children of a supervisor and those that descend from them. It told how many
/// children it has, and the first of them.
pub(crate) fn survivors_of(supervisor: Pid, told: &[i32], count: usize) -> Survivors {
    let mut found = with_descendants(vec![supervisor.as_raw_nonzero().get()], LOOKED_AT);
    found.remove(0);
    let mut is_all = found.len() + 1 < LOOKED_AT;
    if found.len() < count {
        // Where processes of others are hidden, so is the supervisor, being undumpable.
        let told: Vec<i32> = told.iter().copied().filter(|pid| *pid > 0).collect();
        is_all = told.len() == count;
        found = with_descendants(told, LOOKED_AT);
        is_all &= found.len() < LOOKED_AT;
    }
    let mut listed: Vec<Survivor> = found.into_iter().filter_map(survivor).collect();
    let count = u32::try_from(listed.len()).ok().filter(|_| is_all);
    listed.truncate(PIDS_MAX);
    Survivors { count, listed }
}

/// A process that is alive, by a name for whoever reads a list: that of the program, at most 15
/// bytes.
fn survivor(pid: i32) -> Option<Survivor> {
    // `PID (NAME) STATE …`, where the name can hold anything.
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let start = stat.iter().position(|byte| *byte == b'(')? + 1;
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let is_alive = !matches!(stat.get(end + 2), None | Some(b'Z' | b'X'));
    let name = stat.get(start..end)?.to_vec();
    is_alive.then_some(Survivor { pid: u32::try_from(pid).ok()?, name })
}
