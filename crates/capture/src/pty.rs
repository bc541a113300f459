//! A terminal for the child, and what is typed into it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OptionalActions, Termios, Winsize, tcgetattr, tcsetattr};

use crate::Size;

/// What is held of input that the child does not read: what a line of a terminal holds.
const TYPED_BYTES_MAX: usize = 4096;

/// The character that ends the input of a terminal (`VEOF` as a new terminal has it).
const END_OF_INPUT: u8 = 0x04;

/// Opens a terminal of a size. Gives the collector's side, which does not block, and the child's.
pub(crate) fn open(size: Size) -> io::Result<(OwnedFd, OwnedFd)> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | cloexec())?;
    rustix::io::fcntl_setfd(&ours, rustix::io::FdFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let theirs = rustix::fs::open(name.as_c_str(), flags, Mode::empty())?;
    let (ws_row, ws_col) = (size.rows, size.columns);
    rustix::termios::tcsetwinsize(&ours, Winsize { ws_row, ws_col, ws_xpixel: 0, ws_ypixel: 0 })?;
    let flags = rustix::fs::fcntl_getfl(&ours)?;
    rustix::fs::fcntl_setfl(&ours, flags | OFlags::NONBLOCK)?;
    Ok((ours, theirs))
}

#[cfg(target_os = "linux")]
fn cloexec() -> OpenptFlags {
    OpenptFlags::CLOEXEC
}

#[cfg(not(target_os = "linux"))]
fn cloexec() -> OpenptFlags {
    OpenptFlags::empty()
}

/// What is typed into the child's terminal: our standard input, if it is passed on, and what the
/// sink says.
pub(crate) struct Keyboard {
    terminal: OwnedFd,
    /// Our standard input, until it has ended.
    stdin: Option<Input>,
    pending: Vec<u8>,
    /// The last byte that was typed ended a line.
    is_at_start: bool,
    /// Something came from our standard input.
    has_typed: bool,
}

impl Keyboard {
    pub(crate) fn new(terminal: OwnedFd, passes_stdin: bool) -> Self {
        let stdin = passes_stdin.then(Input::new);
        Self { terminal, stdin, pending: Vec::new(), is_at_start: true, has_typed: false }
    }

    /// What to wait for before more can be read: our standard input.
    pub(crate) fn source(&self) -> Option<BorrowedFd<'_>> {
        let is_full = self.pending.len() >= TYPED_BYTES_MAX;
        self.stdin.as_ref().filter(|_| !is_full).map(|_| rustix::stdio::stdin())
    }

    /// What to wait for before more can be written: the terminal.
    pub(crate) fn target(&self) -> Option<BorrowedFd<'_>> {
        (!self.pending.is_empty()).then(|| self.terminal.as_fd())
    }

    /// Types these bytes; what does not find room is dropped.
    pub(crate) fn press(&mut self, bytes: &[u8]) {
        let room = TYPED_BYTES_MAX.saturating_sub(self.pending.len());
        self.pending.extend(bytes.iter().take(room));
        self.write();
    }

    /// Reads what our standard input has.
    pub(crate) fn read(&mut self) {
        let mut bytes = [0_u8; TYPED_BYTES_MAX];
        let room = TYPED_BYTES_MAX.saturating_sub(self.pending.len());
        let Some(buffer) = bytes.get_mut(..room) else { return };
        match rustix::io::read(rustix::stdio::stdin(), &mut *buffer) {
            Ok(0) => self.end(),
            Ok(count) => {
                self.has_typed = true;
                self.is_at_start = buffer.get(count - 1) == Some(&b'\n');
                self.pending.extend(bytes.iter().take(count));
                self.write();
            }
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => self.end(),
        }
    }

    /// Writes what the terminal takes.
    pub(crate) fn write(&mut self) {
        while !self.pending.is_empty() {
            match rustix::io::write(&self.terminal, &self.pending) {
                Ok(count) => drop(self.pending.drain(..count)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                // Nobody has the other side.
                Err(_) => self.pending.clear(),
            }
        }
    }

    /// Our standard input has ended: the child is told as a terminal tells it. Within a line the
    /// first such character only ends the line. Where nothing came at all, nobody typed, and
    /// nothing is typed.
    fn end(&mut self) {
        self.stdin = None;
        if !self.has_typed {
            return;
        }
        let count = if self.is_at_start { 1 } else { 2 };
        self.press(&[END_OF_INPUT; 2][..count]);
    }
}

/// Our standard input while it is passed on. A terminal hands on every key as it is, so that the
/// child's terminal edits lines and makes signals; it is put back when this is dropped.
struct Input {
    saved: Option<Termios>,
}

impl Input {
    fn new() -> Self {
        let stdin = rustix::stdio::stdin();
        let is_ours = rustix::termios::tcgetpgrp(stdin)
            .is_ok_and(|group| group == rustix::process::getpgrp());
        // In the background it would stop us.
        let saved = is_ours.then(|| tcgetattr(stdin).ok()).flatten();
        if let Some(saved) = &saved {
            use rustix::termios::InputModes;
            let mut keys = saved.clone();
            keys.local_modes -=
                LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN;
            keys.input_modes -= InputModes::ICRNL | InputModes::INLCR | InputModes::IXON;
            let _ = tcsetattr(stdin, OptionalActions::Drain, &keys);
        }
        Self { saved }
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        if let Some(saved) = &self.saved {
            let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Drain, saved);
        }
    }
}
