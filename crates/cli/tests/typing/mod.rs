//! The command at a terminal of its own, typed at.
#![allow(dead_code, unreachable_pub)]
// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Instant;

use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};

use crate::common::{Folder, PATIENCE, binary, escaped, status};

/// A home of its own: configuration, state, and a folder to work in.
pub struct Home {
    pub folder: Folder,
}

impl Home {
    pub fn new(name: &str) -> Self {
        let folder = Folder::new(name);
        std::fs::create_dir(folder.path("work")).unwrap();
        Self { folder }
    }

    /// The command of this home, in its folder to work in.
    pub fn noesc(&self, arguments: &[&str]) -> Command {
        self.in_home(Command::new(binary()), arguments)
    }

    /// The same with a terminal of its own, if it is typed at.
    pub fn typed(&self, arguments: &[&str]) -> Typed {
        let mut setsid = Command::new("setsid");
        setsid.args(["-c", binary()]);
        Typed::start(self.in_home(setsid, arguments))
    }

    /// The same with these variables.
    pub fn typed_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Typed {
        let mut setsid = Command::new("setsid");
        setsid.args(["-c", binary()]).envs(variables.iter().copied());
        Typed::start(self.in_home(setsid, arguments))
    }

    /// The same with no terminal at all.
    pub fn detached(&self, arguments: &[&str]) -> Command {
        let mut setsid = Command::new("setsid");
        setsid.args(["-w", binary()]);
        self.in_home(setsid, arguments)
    }

    fn in_home(&self, mut command: Command, arguments: &[&str]) -> Command {
        command.args(arguments).stdin(Stdio::null()).current_dir(self.folder.path("work"));
        command.env("XDG_CONFIG_HOME", self.folder.path("config"));
        command.env("XDG_STATE_HOME", self.folder.path("state"));
        command
    }

    pub fn config(&self) -> String {
        std::fs::read_to_string(self.folder.path("config/noesc/config.toml")).unwrap_or_default()
    }

    pub fn write_config(&self, text: &str) {
        std::fs::create_dir_all(self.folder.path("config/noesc")).unwrap();
        self.folder.write("config/noesc/config.toml", text);
    }

    /// Makes an approver's key, bound by the ledger.
    pub fn approver(&self, passphrase: &str) -> String {
        let path = self.folder.name("approver.age");
        let mut init = self.typed(&["init", "--approver", &path]);
        init.answer("New passphrase for the approver's key", passphrase);
        init.answer("The same once more", passphrase);
        init.succeeds();
        path
    }
}

/// A process at a terminal.
pub struct Typed {
    child: Child,
    master: File,
    slave: File,
    chunks: Receiver<Vec<u8>>,
    seen: Vec<u8>,
    /// What was seen before it was last typed.
    at: usize,
}

impl Typed {
    fn start(mut command: Command) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let noctty = i32::try_from(OFlags::NOCTTY.bits()).unwrap();
        let open = || OpenOptions::new().read(true).write(true).custom_flags(noctty).open(&name);
        let slave = open().unwrap();
        command.stdin(open().unwrap()).stderr(open().unwrap()).stdout(Stdio::piped());
        let child = command.spawn().unwrap();
        drop(command);
        let master = File::from(master);
        let mut reader = master.try_clone().unwrap();
        let (to, chunks) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                if to.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { child, master, slave, chunks, seen: Vec::new(), at: 0 }
    }

    /// Waits until the terminal has shown this since it was last typed at.
    #[track_caller]
    pub fn see(&mut self, text: &str) {
        let until = Instant::now() + PATIENCE;
        while !self.seen[self.at..].windows(text.len()).any(|seen| seen == text.as_bytes()) {
            match self.chunks.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(chunk) => self.seen.extend(chunk),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    let _ = self.child.kill();
                    panic!("no {text:?} in {:?}", escaped(&self.seen));
                }
            }
        }
    }

    #[track_caller]
    pub fn answer(&mut self, prompt: &str, text: &str) {
        self.see(prompt);
        self.forget();
        self.press(&format!("{text}\n"));
    }

    /// What is seen from now on is what is meant.
    pub fn forget(&mut self) {
        self.at = self.seen.len();
    }

    pub fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether the terminal shows what is typed.
    pub fn echoes(&self) -> bool {
        tcgetattr(&self.slave).unwrap().local_modes.contains(LocalModes::ECHO)
    }

    /// What stdout was given, what the terminal has shown, and how it ended.
    #[track_caller]
    pub fn end(mut self) -> TypedEnd {
        let ended = status(&mut self.child);
        let mut stdout = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        let echoes = self.echoes();
        // The last words of a process that is gone come before what is typed now is echoed.
        if echoes {
            self.press("end of all\n");
            self.see("end of all");
        }
        assert!(!escaped(&self.seen).contains("internal fault"), "{}", escaped(&self.seen));
        let shown = String::from_utf8_lossy(&self.seen).into_owned();
        TypedEnd { stdout, shown, status: ended, echoes }
    }

    #[track_caller]
    pub fn succeeds(self) -> TypedEnd {
        let end = self.end();
        assert_eq!(end.status.code(), Some(0), "{}", escaped(end.shown.as_bytes()));
        assert!(end.echoes);
        end
    }

    /// Ends with an error of this text.
    #[track_caller]
    pub fn refused(self, message: &str) -> TypedEnd {
        let end = self.end();
        let said = format!("noesc: error: {message}");
        assert!(end.shown.contains(&said), "{}", escaped(end.shown.as_bytes()));
        assert!(end.status.code().is_some_and(|code| code != 0) && end.echoes);
        end
    }
}

#[derive(Debug)]
pub struct TypedEnd {
    pub stdout: String,
    pub shown: String,
    pub status: std::process::ExitStatus,
    pub echoes: bool,
}
