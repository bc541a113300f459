//! What the tests of this crate share. Each test program uses a part of it.
#![allow(dead_code, unreachable_pub)]

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use noesc_capture::{Captured, Chunk, Command, End, Flow, Limits, Sink, Stream, run};

/// Keeps everything, in the order in which it came.
#[derive(Debug, Default)]
pub struct Keep {
    pub chunks: Vec<(u64, Stream, u64, Vec<u8>)>,
    pub ends: Vec<(Stream, End)>,
}

impl Keep {
    pub fn bytes(&self, stream: Stream) -> Vec<u8> {
        let of_stream = self.chunks.iter().filter(|chunk| chunk.1 == stream);
        of_stream.flat_map(|chunk| chunk.3.clone()).collect()
    }

    pub fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.bytes(Stream::Stdout)).into_owned()
    }

    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.bytes(Stream::Stderr)).into_owned()
    }
}

impl Sink for Keep {
    fn chunk(&mut self, chunk: Chunk<'_>) -> Flow {
        self.chunks.push((chunk.seq, chunk.stream, chunk.offset, chunk.bytes.to_vec()));
        Flow::Continue
    }

    fn end(&mut self, stream: Stream, end: End) -> Flow {
        self.ends.push((stream, end));
        Flow::Continue
    }
}

/// Makes this process, and so what it starts, heed every signal. Whoever started the tests may
/// ignore some: `nohup` does, and so does a script for a job in its background.
pub fn heed_signals() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        for signal in (1..32).filter(|signal| *signal != libc::SIGPIPE) {
            let mut old = std::mem::MaybeUninit::<libc::sigaction>::uninit();
            // SAFETY: the kernel writes an action to a place of ours that has room for it; that it
            // is read only where the call succeeded. SIG_DFL is valid for each of these signals.
            unsafe {
                let known = libc::sigaction(signal, std::ptr::null(), old.as_mut_ptr()) == 0;
                if known && old.assume_init().sa_sigaction == libc::SIG_IGN {
                    libc::signal(signal, libc::SIG_DFL);
                }
            }
        }
    });
}

/// A command whose run does without signal handlers, since tests share a process.
pub fn command(argv: &[&str]) -> Command {
    heed_signals();
    let mut command = Command::new(argv);
    command.attended = false;
    command
}

/// A command whose name is looked for where every user may look.
pub fn command_by_name(name: &str) -> Command {
    let mut command = command(&[name]);
    command.env.push(("PATH".into(), "/usr/bin:/bin".into()));
    command
}

pub fn sh(script: &str) -> Command {
    command(&["sh", "-c", script])
}

pub fn captured(command: &Command) -> (Captured, Keep) {
    let mut keep = Keep::default();
    let captured = run(command, &Limits::default(), &mut keep);
    (captured, keep)
}

/// The example program of this crate, which `cargo test -p noesc-capture` builds.
pub fn example() -> PathBuf {
    heed_signals();
    let test = std::env::current_exe().unwrap();
    let path = test.parent().unwrap().parent().unwrap().join("examples/run");
    assert!(
        path.exists(),
        "no example program: `cargo build -p noesc-capture --examples` makes it"
    );
    path
}

/// A folder for one test, gone when dropped. No two have the same path, whatever their names.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        heed_signals();
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let unique = format!("noesc-capture-{}-{count}-{name}", std::process::id());
        let path = std::env::temp_dir().join(unique);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Ends one process by its id.
pub fn kill(pid: &str) {
    let pid = pid.trim();
    assert!(!pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit()), "{pid:?}");
    let _ = std::process::Command::new("kill").args(["-KILL", pid]).status();
}

/// Waits until `look` finds something, for at most two minutes.
pub fn eventually<T, S: Debug>(mut look: impl FnMut() -> Result<T, S>) -> T {
    let until = Instant::now() + Duration::from_secs(120);
    loop {
        match look() {
            Ok(found) => return found,
            Err(seen) => assert!(Instant::now() < until, "never came: {seen:?}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
