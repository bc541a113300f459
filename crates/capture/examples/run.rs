//! Runs a command and passes its output through: `run [--null] [--unsupervised] command
//! argument…`.
//!
//! Ends with the command's exit code, 128 + n for a signal. With `CAPTURE_RECORD` in the
//! environment, the record of the run and the peak of the memory used go to the file it names.

use std::ffi::OsString;
use std::io;
use std::os::fd::BorrowedFd;
use std::process::ExitCode;

use noesc_capture::{Captured, Chunk, Command, End, Exit, Flow, Limits, Outcome, Outlet};
use noesc_capture::{Sink, Stdin, Stream, run};

struct Through {
    stdout: Outlet,
    stderr: Outlet,
}

impl Through {
    fn outlet(&mut self, stream: Stream) -> &mut Outlet {
        match stream {
            Stream::Stdout => &mut self.stdout,
            _ => &mut self.stderr,
        }
    }
}

impl Sink for Through {
    fn chunk(&mut self, chunk: Chunk<'_>) -> Flow {
        self.outlet(chunk.stream).push(chunk.bytes)
    }

    fn end(&mut self, stream: Stream, _: End) -> Flow {
        self.outlet(stream).write()
    }

    fn blocked_on(&self, stream: Stream) -> Option<BorrowedFd<'_>> {
        match stream {
            Stream::Stdout => Some(self.stdout.fd()),
            _ => Some(self.stderr.fd()),
        }
    }

    fn abandoned(&mut self, stream: Stream) {
        self.outlet(stream).abandon();
    }

    fn writable(&mut self, stream: Stream) -> Flow {
        self.outlet(stream).write()
    }
}

fn main() -> io::Result<ExitCode> {
    let mut argv: Vec<OsString> = std::env::args_os().skip(1).collect();
    let mut flag = |name: &str| {
        let is_there = argv.first().is_some_and(|first| first == name);
        argv.drain(..usize::from(is_there));
        is_there
    };
    let (null, alone) = (flag("--null"), flag("--unsupervised"));
    let mut command = Command::new(argv);
    command.supervised = !alone;
    command.stdin = if null { Stdin::Null } else { Stdin::Inherit };
    let mut sink = Through {
        stdout: Outlet::duplicate(io::stdout())?,
        stderr: Outlet::duplicate(io::stderr())?,
    };
    let captured = run(&command, &Limits::default(), &mut sink);
    if let Some(file) = std::env::var_os("CAPTURE_RECORD") {
        std::fs::write(file, format!("{captured:#?}\n{}\n", peak()))?;
    }
    Ok(ExitCode::from(code(&captured)))
}

fn code(captured: &Captured) -> u8 {
    let signalled = |signal: i32| u8::try_from(128 + signal).unwrap_or(125);
    match (&captured.outcome, captured.exit) {
        (Outcome::SpawnFailed { reason, .. }, _) => reason.shell_code(),
        (Outcome::Cancelled { signal, .. }, _) => signalled(*signal),
        (_, Exit::Exited { code }) => code,
        (_, Exit::Signalled { signal, .. }) => signalled(signal),
        _ => 125,
    }
}

fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM unknown").to_owned()
}
