//! The whole tree of a command: seen, ended, outlasted.
#![cfg(target_os = "linux")]
// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use common::{Folder, Keep, captured, eventually, example, sh};
use noesc_capture::{
    COUNT_DIGITS, Chunk, Cutoff, End, Exit, Flow, Limited, Limits, Outcome, Scope, Sink, Stream,
    Survivors, run,
};

/// Ways for a process to leave its parent, which all print the number of the one that stays,
/// and go on when that is printed.
const DAEMONS: [&str; 3] = [
    "sleep 300 & echo $!",
    "exec 3>&1; echo $(setsid sh -c 'echo $$; exec sleep 300 >&3 3>&-' &)",
    "exec 3>&1; echo $( (setsid sh -c 'echo $$; exec sleep 300 >&3 3>&-' &) )",
];

fn is_alive(pid: &str) -> bool {
    assert!(pid.trim().parse::<u32>().is_ok(), "{pid:?}");
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    stat.is_ok_and(|stat| {
        !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z')
    })
}

#[test]
fn what_outlives_a_command_is_named_and_left_alone() {
    for daemon in DAEMONS {
        let mut keep = Keep::default();
        let captured =
            run(&sh(&format!("echo a; {daemon}; echo b")), &Limits::default(), &mut keep);
        assert_eq!(captured.outcome, Outcome::Exited { code: 0 });
        let text = keep.stdout();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!((lines[0], lines[2]), ("a", "b"), "{daemon}");
        assert!(!captured.stdout.end.eof);
        assert_eq!(captured.stdout.end.cutoff, Cutoff::WriterAlive);
        assert_eq!((captured.scope, captured.survivors.count), (Scope::Tree, Some(1)), "{daemon}");
        let survivor = &captured.survivors.listed[0];
        assert_eq!((survivor.pid.to_string().as_str(), &*survivor.name), (lines[1], &b"sleep"[..]));
        assert!(is_alive(lines[1]), "{daemon}");
        common::kill(lines[1]);
    }
}

#[test]
fn a_limit_ends_all_of_it() {
    for daemon in DAEMONS {
        let mut limits = Limits::default();
        limits.time_max = Some(Limited::stop(Duration::from_secs(2)));
        let mut keep = Keep::default();
        let captured = run(&sh(&format!("{daemon}; sleep 300")), &limits, &mut keep);
        assert!(matches!(captured.outcome, Outcome::TimedOut { .. }));
        assert_eq!(captured.survivors.count, Some(0), "{daemon}");
        assert!(!is_alive(&keep.stdout()), "{daemon}");
    }
}

#[test]
fn what_ignores_sigterm_far_below_is_killed() {
    let inner = r"trap : TERM; echo \$\$; while :; do sleep 1; done";
    let deep = format!(
        "setsid sh -c 'trap \"\" TERM; (setsid sh -c \"{inner}\" &); while :; do sleep 1; done' &"
    );
    let mut limits = Limits::default();
    limits.time_max = Some(Limited::stop(Duration::from_secs(2)));
    limits.grace = Duration::from_millis(300);
    let mut keep = Keep::default();
    let captured = run(&sh(&format!("{deep} sleep 300")), &limits, &mut keep);
    assert_eq!(captured.survivors.count, Some(0));
    assert!(captured.ended_by.unwrap().killed);
    assert!(!is_alive(&keep.stdout()));
}

#[test]
fn nothing_is_left_when_the_collector_is_killed() {
    for daemon in DAEMONS {
        let folder = Folder::new(&format!("orphans-{}", daemon.len()));
        let (main, other) = (folder.file("main"), folder.file("other"));
        let script =
            format!("({daemon}) > {}; echo $$ > {}; sleep 300", other.display(), main.display());
        let mut collector = std::process::Command::new(example())
            .args(["--null", "sh", "-c", &script])
            .spawn()
            .unwrap();
        let read = |path: &Path| {
            std::fs::read_to_string(path).ok().filter(|text| text.ends_with('\n')).ok_or(())
        };
        let pids = [eventually(|| read(&main)), eventually(|| read(&other))];
        assert!(pids.iter().all(|pid| is_alive(pid)), "{daemon}: {pids:?}");
        collector.kill().unwrap();
        collector.wait().unwrap();
        eventually(|| match pids.iter().filter(|pid| is_alive(pid)).count() {
            0 => Ok(()),
            left => Err(left),
        });
    }
}

#[test]
fn a_child_does_not_outlive_its_supervisor() {
    let mut keep = Keep::default();
    let script = "echo $$; kill -9 $PPID; sleep 300";
    let captured = run(&sh(script), &Limits::default(), &mut keep);
    assert!(matches!(captured.outcome, Outcome::Unknown { .. }));
    eventually(|| if is_alive(&keep.stdout()) { Err(()) } else { Ok(()) });
}

#[test]
fn a_child_ends_with_its_supervisor_when_nobody_can_see_to_it() {
    let folder = Folder::new("both");
    let path = folder.file("pids");
    let script = format!("echo $$ $PPID > {}; exec sleep 300", path.display());
    let collector = Ended(
        std::process::Command::new(example())
            .args(["--null", "sh", "-c", &script])
            .spawn()
            .unwrap(),
    );
    let text = eventually(|| {
        std::fs::read_to_string(&path).ok().filter(|text| text.ends_with('\n')).ok_or(())
    });
    let (child, supervisor) = text.trim().split_once(' ').unwrap();
    // A collector that is stopped does nothing about it.
    let pid = rustix::process::Pid::from_child(&collector.0);
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    common::kill(supervisor);
    eventually(|| if is_alive(child) { Err(()) } else { Ok(()) });
}

/// A process that is ended with its test, however that goes.
struct Ended(std::process::Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Gives a file for the count.
struct Counted {
    file: std::path::PathBuf,
    told: Vec<Survivors>,
    text: String,
}

impl Sink for Counted {
    fn chunk(&mut self, chunk: Chunk<'_>) -> Flow {
        self.text.push_str(&String::from_utf8_lossy(chunk.bytes));
        Flow::Continue
    }
    fn end(&mut self, _: Stream, _: End) -> Flow {
        Flow::Continue
    }
    fn outlived(&mut self, survivors: &Survivors) -> Option<OwnedFd> {
        self.told.push(survivors.clone());
        Some(std::fs::File::create_new(&self.file).unwrap().into())
    }
}

#[test]
fn what_outlives_a_run_can_go_on_writing_and_is_counted() {
    let folder = Folder::new("counted");
    let (file, end) = (folder.file("count"), folder.file("end"));
    let script = format!(
        "(sleep 3; head -c 300000 /dev/zero; echo err >&2 && echo ok > {}; sleep 0.3) & echo up",
        end.display()
    );
    let mut sink = Counted { file: file.clone(), told: Vec::new(), text: String::new() };
    let captured = run(&sh(&script), &Limits::default(), &mut sink);
    assert_eq!(captured.outcome, Outcome::Exited { code: 0 });
    assert_eq!((sink.text.as_str(), sink.told.len()), ("up\n", 1));
    assert_eq!(sink.told[0], captured.survivors);
    let count = || {
        let mut text = String::new();
        std::fs::File::open(&file).unwrap().read_to_string(&mut text).unwrap();
        text
    };
    assert_eq!(count(), format!("{:0>COUNT_DIGITS$}\n", 0));
    eventually(|| {
        Some(count())
            .filter(|text| *text == format!("{:0>COUNT_DIGITS$}\n", 300_004))
            .ok_or_else(count)
    });
    assert_eq!(std::fs::read_to_string(&end).unwrap(), "ok\n");
}

#[test]
fn nobody_is_told_of_a_run_that_nothing_outlives() {
    let folder = Folder::new("alone");
    let mut sink = Counted { file: folder.file("count"), told: Vec::new(), text: String::new() };
    let captured = run(&sh("sleep 0.1 & wait; echo done"), &Limits::default(), &mut sink);
    assert_eq!((captured.survivors.count, sink.told.len()), (Some(0), 0));
}

#[test]
fn a_supervisor_that_was_stopped_goes_on() {
    for (script, outcome) in [
        ("kill -STOP $PPID; exit 3", Outcome::Exited { code: 3 }),
        (
            "kill -STOP $PPID; exec sleep 300",
            Outcome::TimedOut { exit: Exit::Signalled { signal: 15, core: false } },
        ),
    ] {
        let mut limits = Limits::default();
        limits.time_max = Some(Limited::stop(Duration::from_secs(2)));
        let captured = run(&sh(script), &limits, &mut Keep::default());
        assert_eq!(captured.outcome, outcome, "{script}");
        assert_eq!(captured.survivors.count, Some(0));
    }
}

#[test]
fn a_supervisor_that_is_stopped_at_once_holds_nothing_back() {
    // Stopped as early as can be, on a processor that is busy with others who do the same.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    let captured = captured(&sh("kill -STOP $PPID; exit 3")).0;
                    assert_eq!(captured.outcome, Outcome::Exited { code: 3 });
                }
            });
        }
    });
}

#[test]
fn what_is_about_to_end_does_not_outlive_a_run() {
    let folder = Folder::new("ending");
    let mut sink = Counted { file: folder.file("count"), told: Vec::new(), text: String::new() };
    // The last one has closed its outputs and lives a moment longer.
    let script = "(exec >&- 2>&-; exec sleep 0.02) & echo done";
    for _ in 0..10 {
        let captured = run(&sh(script), &Limits::default(), &mut sink);
        assert_eq!(captured.survivors.count, Some(0));
    }
    assert!(sink.told.is_empty());
}
