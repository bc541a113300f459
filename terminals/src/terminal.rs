//! A terminal as a child process: one line with bytes in, one line with its state out.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::Arguments;

/// The time of one play. The slowest takes a hundredth of it.
const PLAY_SECONDS: u64 = 20;

/// Processor time of a terminal and of what it starts, each: a tmux that hangs ends by it.
const PROCESSOR_SECONDS: u64 = 300;

/// The terminals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Alacritty,
    Xterm,
    Tmux,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Alacritty, Self::Xterm, Self::Tmux];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Alacritty => "alacritty",
            Self::Xterm => "xterm",
            Self::Tmux => "tmux",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Address space in KiB. Node reserves much more than it uses.
    const fn address_kib(self) -> u64 {
        match self {
            Self::Alacritty | Self::Tmux => 1024 * 1024,
            Self::Xterm => 8 * 1024 * 1024,
        }
    }
}

/// Runs a command line under a limit of address space and one of processor time.
const LIMITED: &str = r#"ulimit -c 0; ulimit -v "$1" && ulimit -t "$2" && shift 2 && exec "$@""#;

/// What became of a play.
#[derive(Debug)]
pub(crate) enum Played {
    /// The terminal's state, a value for each check.
    State(Value),
    /// It ended, or was ended at a limit.
    Crashed,
}

/// A terminal that plays one thing after the other, each on a fresh screen.
pub(crate) struct Terminal {
    pub(crate) kind: Kind,
    words: Vec<OsString>,
    limit: Duration,
    running: Option<Running>,
    /// The same bytes on a fresh screen need no second play.
    played: HashMap<Vec<u8>, Arc<Played>>,
    /// Holds what the terminal needs as a file; removed at the end.
    folder: PathBuf,
}

struct Running {
    child: Child,
    stdin: ChildStdin,
    answers: Receiver<String>,
}

impl Terminal {
    pub(crate) fn new(kind: Kind, given: &Arguments) -> Result<Self, String> {
        let folder = folder(kind)?;
        let this = std::env::current_exe().map_err(|error| error.to_string())?.into_os_string();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/xterm.mjs");
        let words: Vec<OsString> = match kind {
            Kind::Alacritty => vec![this, "serve".into(), "alacritty".into()],
            Kind::Xterm => vec![
                "node".into(),
                "--max-old-space-size=512".into(),
                script.into(),
                std::path::absolute(&given.modules).map_err(|error| error.to_string())?.into(),
            ],
            Kind::Tmux => vec![this, "serve".into(), "tmux".into(), folder.clone().into()],
        };
        let limit = Duration::from_secs(PLAY_SECONDS);
        Ok(Self { kind, words, limit, running: None, played: HashMap::new(), folder })
    }

    /// What the terminal is like when the program has written `bytes`.
    pub(crate) fn play(&mut self, bytes: &[u8]) -> Result<Arc<Played>, String> {
        if let Some(played) = self.played.get(bytes) {
            return Ok(Arc::clone(played));
        }
        let played = Arc::new(self.play_now(bytes)?);
        self.played.insert(bytes.to_vec(), Arc::clone(&played));
        Ok(played)
    }

    fn play_now(&mut self, bytes: &[u8]) -> Result<Played, String> {
        let running = match &mut self.running {
            Some(running) => running,
            none => none.insert(start(self.kind, &self.words)?),
        };
        // A tmux pane has a real tty; the others get what one makes of the bytes.
        let line = if self.kind == Kind::Tmux { hex(bytes) } else { hex(&cooked(bytes)) };
        let sent = writeln!(running.stdin, "{line}").and_then(|()| running.stdin.flush());
        if let Ok(answer) = running.answers.recv_timeout(self.limit)
            && sent.is_ok()
        {
            return serde_json::from_str(&answer)
                .map(Played::State)
                .map_err(|error| format!("{} answered no JSON: {error}", self.kind.name()));
        }
        self.stop();
        Ok(Played::Crashed)
    }

    fn stop(&mut self) {
        if let Some(mut running) = self.running.take() {
            let _ = running.child.kill();
            let _ = running.child.wait();
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Some(Running { mut child, stdin, answers }) = self.running.take() {
            drop(stdin);
            // The end of its input ends it; what it still says ends with it.
            while answers.recv_timeout(Duration::from_secs(2)).is_ok() {}
            let _ = child.kill();
            let _ = child.wait();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn folder(kind: Kind) -> Result<PathBuf, String> {
    let name = format!("noesc-terminals-{}-{}", std::process::id(), kind.name());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    Ok(folder)
}

fn start(kind: Kind, words: &[OsString]) -> Result<Running, String> {
    let mut child = Command::new("sh")
        .args(["-c", LIMITED, "sh"])
        .args([kind.address_kib().to_string(), PROCESSOR_SECONDS.to_string()])
        .args(words)
        .env_remove("TMUX")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("{}: {error}", kind.name()))?;
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("a pipe is missing".into());
    };
    let (sender, answers) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    Ok(Running { child, stdin, answers })
}

/// What a tty makes of a program's output: CR LF of each LF.
fn cooked(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for &byte in bytes {
        if byte == b'\n' {
            out.push(b'\r');
        }
        out.push(byte);
    }
    out
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of a line that [`hex`] wrote.
pub(crate) fn unhex(line: &str) -> Option<Vec<u8>> {
    let digits = line.trim_end().as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of a play in a shell that does `script`.
    fn in_shell(script: &str) -> Arc<Played> {
        let words = ["sh", "-c", script].map(OsString::from).to_vec();
        let (kind, limit) = (Kind::Alacritty, Duration::from_millis(500));
        let folder = folder(kind).unwrap();
        let none = HashMap::new();
        Terminal { kind, words, limit, running: None, played: none, folder }.play(b"a").unwrap()
    }

    #[test]
    fn an_answer_is_a_state_and_no_answer_a_crash() {
        assert!(matches!(*in_shell("read line; echo '{}'"), Played::State(_)));
        assert!(matches!(*in_shell("read line; exit 1"), Played::Crashed));
        assert!(matches!(*in_shell("sleep 3"), Played::Crashed));
    }

    #[test]
    fn the_address_space_has_a_limit() {
        let with = |size: &str| {
            let dd = format!("dd if=/dev/zero of=/dev/null count=1 bs={size} 2>/dev/null");
            in_shell(&format!("{dd} && echo '{{}}'"))
        };
        assert!(matches!(*with("1M"), Played::State(_)));
        assert!(matches!(*with("1G"), Played::Crashed));
    }

    #[test]
    fn bytes_survive_the_line() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(unhex(&hex(&all)), Some(all));
        assert_eq!(unhex("0g"), None);
    }

    #[test]
    fn a_line_feed_is_cooked() {
        assert_eq!(cooked(b"a\nb\r\n"), b"a\r\nb\r\r\n");
    }
}
