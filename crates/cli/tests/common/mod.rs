//! What the tests of the command share. Each test program uses a part of it.
#![allow(dead_code, unreachable_pub)]
// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::ffi::OsStr;
use std::fmt::Debug;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

/// How long anything may take before a test says that it hangs.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// The command under test, with nothing on its stdin.
pub fn noesc<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Command {
    let mut command = heedful(binary());
    command.args(arguments).env("XDG_CONFIG_HOME", NO_CONFIG).stdin(Stdio::null());
    command.env("XDG_STATE_HOME", NO_STATE);
    // The width of help is not that of whoever runs the tests.
    command.env_remove("COLUMNS").env_remove("LINES");
    command
}

/// A program that heeds every signal. Whoever started the tests may ignore some: `nohup` does, and
/// so does a script for a job in its background.
pub fn heedful(program: &str) -> Command {
    static CAN_RESET: LazyLock<bool> = LazyLock::new(|| {
        let tried = Command::new("env").args(["--default-signal", "true"]).output();
        tried.is_ok_and(|tried| tried.status.success())
    });
    if !*CAN_RESET {
        return Command::new(program);
    }
    let mut command = Command::new("env");
    command.args(["--default-signal", program]);
    command
}

/// Where no configuration is: whoever runs the tests may have one.
pub const NO_CONFIG: &str = "/nonexistent";

/// Where no run can be stored: what a test leaves running is not to be listed by who runs them.
pub const NO_STATE: &str = "/dev/null";

/// Where the command under test is.
pub fn binary() -> &'static str {
    env!("CARGO_BIN_EXE_noesc")
}

/// A shell that knows the command under test as `$N`, and nothing on its stdin.
pub fn shell(script: &str) -> Command {
    let mut command = heedful("sh");
    command.args(["-c", script]).env("N", binary()).env("XDG_CONFIG_HOME", NO_CONFIG);
    command.env("XDG_STATE_HOME", NO_STATE).stdin(Stdio::null());
    command
}

/// What a process printed and how it ended.
#[derive(Debug)]
pub struct Ended {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub status: ExitStatus,
}

impl Ended {
    /// Its stdout, which must be UTF-8.
    pub fn out(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap()
    }

    /// Its stderr, which must be UTF-8.
    pub fn err(&self) -> &str {
        std::str::from_utf8(&self.stderr).unwrap()
    }

    /// Its exit status; a signal is a failure of the test.
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| panic!("{:?}", self.status))
    }

    /// Asserts all of what it printed and its status.
    #[track_caller]
    pub fn is(&self, stdout: &str, stderr: &str, code: i32) {
        let (out, err) = (escaped(&self.stdout), escaped(&self.stderr));
        let wanted = (escaped(stdout.as_bytes()), escaped(stderr.as_bytes()), code);
        assert_eq!((out, err, self.code()), wanted);
    }

    /// Asserts that it said one thing, as an error and a hint, and printed nothing else.
    #[track_caller]
    pub fn refused(&self, message: &str, code: i32) {
        let first = self.err().lines().next().unwrap_or_default();
        assert_eq!(first.strip_prefix("noesc: error: "), Some(message), "{:?}", self.err());
        assert_eq!((self.out(), self.code()), ("", code));
    }
}

/// Runs to the end with these bytes on stdin.
#[track_caller]
pub fn fed(mut command: Command, input: &[u8]) -> Ended {
    command.stdin(Stdio::piped());
    let mut child = spawned(command);
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // That it reads no more is for the test to find in what it printed.
    std::thread::spawn(move || stdin.write_all(&input));
    ended(child)
}

/// Runs to the end.
#[track_caller]
pub fn ran(command: Command) -> Ended {
    ended(spawned(command))
}

/// `noesc filter` with these flags.
#[track_caller]
pub fn filtered(flags: &[&str], input: impl AsRef<[u8]>) -> Ended {
    fed(noesc(["filter"].iter().chain(flags)), input.as_ref())
}

/// `noesc run` of a shell script.
#[track_caller]
pub fn ran_sh(flags: &[&str], script: &str) -> Ended {
    ran(noesc(["run"].iter().chain(flags).chain(&["--", "sh", "-c", script])))
}

/// Starts it with pipes for stdout and stderr.
pub fn spawned(mut command: Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Waits for the end of a process and of its output. Also a place that every test passes:
/// the command has no fault of its own, whatever it is given.
#[track_caller]
pub fn ended(mut child: Child) -> Ended {
    let stdout = child.stdout.take().map(collected);
    let stderr = child.stderr.take().map(collected);
    let status = status(&mut child);
    let bytes = |stream: Option<std::sync::mpsc::Receiver<Vec<u8>>>| {
        stream.map_or(Vec::new(), |bytes| bytes.recv_timeout(PATIENCE).expect("end of output"))
    };
    let ended = Ended { stdout: bytes(stdout), stderr: bytes(stderr), status };
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(!said.contains("internal fault") && !said.contains("panicked"), "{said:?}");
    ended
}

fn collected(mut stream: impl Read + Send + 'static) -> std::sync::mpsc::Receiver<Vec<u8>> {
    let (to, from) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        to.send(bytes)
    });
    from
}

/// Waits for its end; one that does not come is a failure.
#[track_caller]
pub fn status(child: &mut Child) -> ExitStatus {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if Instant::now() > until {
            let _ = child.kill();
            panic!("it did not end");
        }
        std::thread::sleep(Duration::from_millis(3));
    }
}

/// Reads from a live stream until it has given this text.
#[track_caller]
pub fn see(stream: &mut impl Read, text: &str) {
    let mut seen = Vec::new();
    let mut byte = [0];
    while seen != text.as_bytes() {
        match stream.read(&mut byte).unwrap() {
            0 => panic!("the end after {:?}", escaped(&seen)),
            _ => seen.push(byte[0]),
        }
        assert!(text.as_bytes().starts_with(&seen), "{:?}", escaped(&seen));
    }
}

/// Sends a signal to one process.
pub fn signal(name: &str, pid: u32) {
    let status = Command::new("kill").args([format!("-{name}"), pid.to_string()]).status();
    assert!(status.unwrap().success());
}

/// Waits until `look` finds something.
#[track_caller]
pub fn eventually<T, S: Debug>(mut look: impl FnMut() -> Result<T, S>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        match look() {
            Ok(found) => return found,
            Err(seen) => assert!(Instant::now() < until, "never came: {seen:?}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Bytes as they can be printed.
pub fn escaped(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

/// A file of JSON.
pub fn json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A folder for one test, gone when dropped. No two have the same path, whatever their names.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let unique = format!("noesc-cli-{}-{count}-{name}", std::process::id());
        let path = std::env::temp_dir().join(unique);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub fn path(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.0.join(name.as_ref())
    }

    /// The path as an argument.
    pub fn name(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub fn write(&self, name: impl AsRef<OsStr>, bytes: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_string_lossy().into_owned()
    }

    /// A script that can be executed. Another process writes it: what this one has open, a child
    /// that another test has just forked holds a moment longer, and what somebody still holds for
    /// writing can not be executed.
    pub fn program(&self, name: impl AsRef<OsStr>, text: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        let mut command = Command::new("sh");
        command.args(["-c", r#"cat >"$0" && chmod 755 "$0""#]).arg(&path);
        fed(command, text.as_ref()).is("", "", 0);
        path.to_string_lossy().into_owned()
    }

    /// A copy of the command under test, which any user can execute; written as a script is.
    pub fn copy_of_noesc(&self) -> PathBuf {
        let path = self.path("noesc");
        let mut command = Command::new("install");
        command.args(["-m", "755", binary()]).arg(&path);
        ran(command).is("", "", 0);
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
