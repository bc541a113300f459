//! Many runs at once: each is complete, and nothing of them stays.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used)]
// Descriptors and children are counted in the process file system.
#![cfg(target_os = "linux")]

mod common;

use std::sync::Barrier;

use common::{command, eventually};
use noesc_capture::{Chunk, End, Flow, Limits, Outcome, Sink, Stream, run};

const RUNS: usize = 200;
const BYTES: u64 = 1 << 20;

/// Counts, and sees that nothing but zeros comes.
#[derive(Default)]
struct Count {
    bytes: u64,
    others: u64,
    ends: usize,
}

impl Sink for Count {
    fn chunk(&mut self, chunk: Chunk<'_>) -> Flow {
        assert_eq!(chunk.offset, self.bytes);
        self.bytes += chunk.bytes.len() as u64;
        self.others += chunk.bytes.iter().map(|byte| u64::from(*byte != 0)).sum::<u64>();
        Flow::Continue
    }

    fn end(&mut self, _: Stream, end: End) -> Flow {
        assert!(end.eof);
        self.ends += 1;
        Flow::Continue
    }
}

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Children of any thread of this process, ended ones included.
fn children() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let lists = tasks.map(|task| std::fs::read_to_string(task.path().join("children")));
    let pids = lists.flat_map(|list| {
        let list = list.unwrap_or_default();
        list.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    });
    pids.collect()
}

/// Room for the pipes of all of them.
fn raise_descriptor_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
}

#[test]
fn two_hundred_at_once_are_complete_and_leave_nothing() {
    raise_descriptor_limit();
    let before = open_descriptors();
    let barrier = Barrier::new(RUNS);
    std::thread::scope(|scope| {
        for _ in 0..RUNS {
            scope.spawn(|| {
                let mut count = Count::default();
                let command = command(&["head", "-c", &BYTES.to_string(), "/dev/zero"]);
                barrier.wait();
                let captured = run(&command, &Limits::default(), &mut count);
                assert_eq!(captured.outcome, Outcome::Exited { code: 0 });
                assert_eq!((count.bytes, count.others, count.ends), (BYTES, 0, 2));
                assert_eq!(captured.stdout.bytes, BYTES);
                assert_eq!(captured.survivors.count, Some(0));
            });
        }
    });
    assert_eq!(open_descriptors(), before);
    // A supervisor that was just ending is collected with the next run.
    eventually(|| {
        let captured = run(&command(&["true"]), &Limits::default(), &mut Count::default());
        assert_eq!(captured.outcome, Outcome::Exited { code: 0 });
        let children = children();
        if children.is_empty() { Ok(()) } else { Err(children) }
    });
    assert_eq!(open_descriptors(), before);
}
