//! Every way a process can end, or not begin.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use common::{Folder, captured, command, command_by_name, sh};
use noesc_capture::{
    Chunk, Command, End, Exit, Flow, Limits, Observer, Outcome, Sink, SpawnReason, Stdin, Stream,
    Unknown, run,
};

#[test]
fn exit_codes_are_reported_as_they_are() {
    for code in [0, 1, 2, 126, 127, 128, 254, 255] {
        let (captured, _) = captured(&sh(&format!("exit {code}")));
        assert_eq!(captured.outcome, Outcome::Exited { code });
        assert_eq!(captured.exit, Exit::Exited { code });
        assert_eq!(captured.observed_by, Observer::Collector);
    }
}

#[test]
fn only_the_low_eight_bits_of_a_status_exist() {
    let (captured, _) = captured(&command(&["bash", "-c", "exit 257"]));
    assert_eq!(captured.outcome, Outcome::Exited { code: 1 });
}

#[test]
fn a_signal_is_not_an_exit_code() {
    for signal in [1, 2, 9, 15] {
        let (captured, _) = captured(&sh(&format!("kill -{signal} $$")));
        assert_eq!(captured.outcome, Outcome::Signalled { signal, core: false });
    }
}

#[test]
fn a_real_time_signal_has_a_number_too() {
    let (captured, _) = captured(&sh("kill -40 $$"));
    assert_eq!(captured.outcome, Outcome::Signalled { signal: 40, core: false });
}

#[test]
fn facts_of_the_run_are_recorded() {
    let before = std::time::SystemTime::now();
    let (captured, keep) = captured(&sh("echo $$"));
    assert_eq!(keep.stdout().trim(), captured.pid.unwrap().to_string());
    assert!(captured.executable.unwrap().ends_with("sh"));
    assert!(captured.started >= before && captured.ended >= captured.started);
    assert_eq!(captured.chunks, keep.chunks.len() as u64);
    assert!(!captured.attended);
}

#[test]
fn the_child_leads_a_group_of_its_own() {
    let script = "read pid name state parent group rest < /proc/$$/stat; echo $group";
    let (captured, keep) = captured(&sh(script));
    assert_eq!(keep.stdout().trim(), captured.pid.unwrap().to_string());
}

#[test]
fn the_collector_is_undumpable_unless_told_otherwise() {
    let (captured, _) = captured(&command(&["true"]));
    assert!(captured.undumpable);
    let mut open = command(&["true"]);
    open.undumpable = false;
    assert!(!common::captured(&open).0.undumpable);
}

#[test]
fn the_null_input_is_at_its_end() {
    let (captured, keep) = captured(&sh("read x || echo end"));
    assert_eq!((keep.stdout().as_str(), captured.stdin), ("end\n", Stdin::Null));
}

#[test]
fn no_shell_sees_the_arguments() {
    let (_, keep) = captured(&command(&["printf", "%s|", "$HOME", "a b", "*", "; ls", ""]));
    assert_eq!(keep.stdout(), "$HOME|a b|*|; ls||");
}

#[test]
fn bytes_that_are_no_text_arrive() {
    let mut printf = command(&["printf", "%s"]);
    printf.argv.push(OsString::from_vec(vec![0xff, 0x1b, b'x']));
    let (_, keep) = captured(&printf);
    assert_eq!(keep.bytes(noesc_capture::Stream::Stdout), [0xff, 0x1b, b'x']);
}

#[test]
fn folder_and_variables_are_the_commands() {
    let folder = Folder::new("cwd");
    let mut pwd = sh("pwd -P; echo $NOESC_TEST");
    pwd.cwd = Some(folder.0.clone());
    pwd.env.push(("NOESC_TEST".into(), "set".into()));
    let real = std::fs::canonicalize(&folder.0).unwrap();
    assert_eq!(captured(&pwd).1.stdout(), format!("{}\nset\n", real.display()));
}

#[test]
fn a_relative_program_is_looked_for_in_the_commands_folder() {
    let folder = Folder::new("relative");
    script(&folder, "here", "#!/bin/sh\necho ran as $0\n", 0o755);
    let mut here = command(&["./here"]);
    here.cwd = Some(folder.0.clone());
    assert_eq!(captured(&here).1.stdout(), "ran as ./here\n");
    let mut named = command(&["here"]);
    named.cwd = Some(folder.0.clone());
    named.env.push(("PATH".into(), ":/nonexistent".into()));
    assert_eq!(captured(&named).0.outcome, Outcome::Exited { code: 0 });
}

/// A script that another process writes: what this one has open, a child that another test has just
/// forked holds a moment longer, and what somebody still holds for writing can not be executed.
fn script(folder: &Folder, name: &str, text: &str, mode: u32) -> PathBuf {
    let (path, source) = (folder.file(name), folder.file("source"));
    std::fs::write(&source, text).unwrap();
    let mut copy = std::process::Command::new("install");
    copy.arg(format!("-m{mode:o}")).arg(&source).arg(&path);
    assert!(copy.status().unwrap().success());
    path
}

/// The reason, its exit status for a shell, and the path to blame.
fn failure(command: &noesc_capture::Command) -> (SpawnReason, u8, Option<PathBuf>) {
    let (captured, keep) = captured(command);
    assert!(keep.chunks.is_empty() && keep.ends.is_empty(), "{keep:?}");
    assert_eq!(captured.pid, None);
    assert_eq!(captured.exit, Exit::Unknown { why: Unknown::NotStarted });
    match captured.outcome {
        Outcome::SpawnFailed { reason, path } => (reason, reason.shell_code(), path),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_program_that_is_nowhere() {
    for name in ["noesc-no-such-program", "/nonexistent/program", "./nonexistent", ""] {
        let found = failure(&command_by_name(name));
        assert_eq!(found, (SpawnReason::NotFound, 127, Some(name.into())));
    }
}

#[test]
fn a_file_that_may_not_be_executed() {
    let folder = Folder::new("modes");
    let path = script(&folder, "plain", "#!/bin/sh\n", 0o644);
    let found = failure(&command(&[path.to_str().unwrap()]));
    assert_eq!(found, (SpawnReason::NotExecutable, 126, Some(path.clone())));

    let mut named = command(&["plain"]);
    named.env.push(("PATH".into(), folder.0.clone().into()));
    assert_eq!(failure(&named), (SpawnReason::NotExecutable, 126, Some(path)));
}

#[test]
fn a_folder_is_no_program() {
    let found = failure(&command(&["/"]));
    assert_eq!(found, (SpawnReason::IsFolder, 126, Some("/".into())));
}

#[test]
fn an_interpreter_that_is_nowhere() {
    let folder = Folder::new("interpreter");
    let path = script(&folder, "lost", "#!/nonexistent/sh\n", 0o755);
    let found = failure(&command(&[path.to_str().unwrap()]));
    assert_eq!(found, (SpawnReason::InterpreterNotFound, 127, Some(path)));
}

#[test]
fn no_argument_at_all() {
    assert_eq!(failure(&command(&[])), (SpawnReason::EmptyArgv, 126, None));
}

#[test]
fn a_nul_byte_anywhere() {
    assert_eq!(failure(&command(&["e\0cho"])), (SpawnReason::Nul, 126, None));
    assert_eq!(failure(&command(&["echo", "a\0"])), (SpawnReason::Nul, 126, None));
    let mut folder = command(&["echo"]);
    folder.cwd = Some("/t\0mp".into());
    assert_eq!(failure(&folder), (SpawnReason::Nul, 126, None));
    let mut variable = command(&["echo"]);
    variable.env.push(("A".into(), "\0".into()));
    assert_eq!(failure(&variable), (SpawnReason::Nul, 126, None));
}

#[test]
fn a_working_folder_that_cannot_be_entered() {
    for path in ["/nonexistent", "/etc/passwd"] {
        let mut lost = command(&["echo"]);
        lost.cwd = Some(path.into());
        assert_eq!(failure(&lost), (SpawnReason::WorkingFolder, 125, Some(path.into())));
    }
}

#[test]
fn arguments_that_are_too_long() {
    let long = "x".repeat(1 << 20);
    let argv = ["echo", &long, &long, &long, &long];
    assert_eq!(failure(&command(&argv)), (SpawnReason::TooLong, 126, None));
}

#[test]
fn nobody_else_in_the_process_can_collect_the_status() {
    /// Waits for every child before the run does.
    struct Thief(String, Vec<bool>);
    impl Sink for Thief {
        fn chunk(&mut self, chunk: Chunk<'_>) -> Flow {
            self.0.push_str(&String::from_utf8_lossy(chunk.bytes));
            Flow::Continue
        }
        fn end(&mut self, stream: Stream, _: End) -> Flow {
            if stream == Stream::Stderr {
                let pid = rustix::process::Pid::from_raw(self.0.trim().parse().unwrap());
                let stolen = rustix::process::waitpid(pid, rustix::process::WaitOptions::empty());
                self.1.push(stolen.is_ok());
            }
            Flow::Continue
        }
    }
    let script = "echo $$; exec >&-; sleep 0.1; exec 2>&-; sleep 0.2; exit 7";
    let mut thief = Thief(String::new(), Vec::new());
    let captured = run(&sh(script), &Limits::default(), &mut thief);
    assert_eq!(thief.1, [false]);
    assert_eq!(captured.outcome, Outcome::Exited { code: 7 });
}

#[test]
fn a_status_that_the_supervisor_took_with_it_is_unknown() {
    let (captured, keep) = captured(&sh("echo up; kill -9 $PPID; exec sleep 0.3"));
    assert_eq!(keep.stdout(), "up\n");
    assert_eq!(captured.outcome, Outcome::Unknown { why: Unknown::SupervisorLost });
    assert_eq!(captured.scope, noesc_capture::Scope::Group);
    assert_eq!(captured.survivors.count, None);
}

#[test]
fn a_sink_that_panics_leaves_no_process_behind() {
    struct Panics(String);
    impl Sink for Panics {
        fn chunk(&mut self, chunk: Chunk<'_>) -> Flow {
            self.0.push_str(&String::from_utf8_lossy(chunk.bytes));
            panic!("on purpose");
        }
        fn end(&mut self, _: Stream, _: End) -> Flow {
            Flow::Continue
        }
    }
    let mut sink = Panics(String::new());
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        run(&sh("echo $$; exec sleep 300"), &Limits::default(), &mut sink)
    }));
    assert!(panicked.is_err());
    assert!(!std::path::Path::new("/proc").join(sink.0.trim()).exists());
}

#[test]
fn one_run_at_a_time_has_the_signal_handlers() {
    /// Runs another command while the first one still runs.
    struct Nested(Vec<bool>);
    impl Sink for Nested {
        fn chunk(&mut self, _: Chunk<'_>) -> Flow {
            let (inner, _) = captured(&Command::new(["true"]));
            assert_eq!(inner.outcome, Outcome::Exited { code: 0 });
            self.0.push(inner.attended);
            Flow::Continue
        }
        fn end(&mut self, _: Stream, _: End) -> Flow {
            Flow::Continue
        }
    }
    let mut nested = Nested(Vec::new());
    let outer = run(&Command::new(["echo"]), &Limits::default(), &mut nested);
    assert!(outer.attended);
    assert_eq!(nested.0, [false]);
}
