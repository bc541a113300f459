//! Asking at the terminal device itself: never stdin, a flag or the environment.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::AsFd;

use noesc_session::{Interrupt, Interrupts, guard_memory};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

use crate::fail::{Failure, Result};
use crate::say::say;

/// Characters that a new passphrase has at least.
const CHARS_MIN: usize = 8;

/// Below this many characters a new passphrase is warned of.
const CHARS_GOOD: usize = 14;

/// Bytes of an answer: what a terminal takes in a line.
const ANSWER_BYTES_MAX: usize = 1024;

/// A new passphrase, typed twice.
pub(super) fn new_passphrase(what: &str) -> Result<Zeroizing<String>> {
    let first = ask(&format!("New passphrase for {what}: "), true)?;
    let count = first.chars().count();
    if count < CHARS_MIN {
        return Err(Failure::new(format!(
            "expected a passphrase of at least {CHARS_MIN} characters, found one of {count}"
        ))
        .hint("take four words that nobody would guess"));
    }
    if *ask("The same once more: ", true)? != *first {
        return Err(Failure::new("the two passphrases differ").hint("nothing was made; try again"));
    }
    if count < CHARS_GOOD {
        say(&format!(
            "warning: a passphrase of {count} characters is guessed by who copies the file"
        ));
    }
    Ok(first)
}

/// A passphrase that is there already.
pub(crate) fn passphrase(what: &str) -> Result<Zeroizing<String>> {
    ask(&format!("Passphrase for {what}: "), true)
}

/// A line that may be seen while it is typed.
pub(super) fn answer(prompt: &str) -> Result<Zeroizing<String>> {
    ask(prompt, false)
}

/// Asks a person at the terminal. `prompt` is printable.
fn ask(prompt: &str, is_secret: bool) -> Result<Zeroizing<String>> {
    let opened = OpenOptions::new().read(true).write(true).open("/dev/tty");
    let terminal = opened.map_err(|_| {
        Failure::new("there is no terminal to ask at")
            .hint("a passphrase is typed at a terminal, never given by stdin, flag or environment")
    })?;
    if is_secret {
        guard_memory();
    }
    let mut interrupts = Interrupts::take();
    let mut line = Zeroizing::new(Vec::with_capacity(ANSWER_BYTES_MAX));
    loop {
        let asked = {
            let quiet = is_secret.then(|| Quiet::new(&terminal));
            if quiet.as_ref().is_some_and(Option::is_none) {
                return Err(Failure::new("the terminal can not hide what is typed")
                    .hint("ask in a terminal, in the foreground"));
            }
            read_line(&terminal, prompt, &mut interrupts, &mut line)
        };
        match asked {
            Asked::Line => break,
            Asked::Interrupted(Interrupt::Stop) => {
                if let Some(interrupts) = &mut interrupts {
                    interrupts.stop();
                }
                line.clear();
            }
            Asked::Interrupted(interrupt) => {
                if let (Some(held), Interrupt::End(number)) = (interrupts.take(), interrupt) {
                    held.end(number);
                }
                return Err(Failure::new("the question was interrupted").hint("nothing was made"));
            }
            Asked::Ended => {
                return Err(Failure::new("nothing was typed").hint("nothing was made"));
            }
            Asked::TooLong => {
                let message = format!("more than {ANSWER_BYTES_MAX} bytes were typed");
                return Err(Failure::new(message).hint("nothing was made"));
            }
        }
    }
    let text = std::str::from_utf8(&line).map_err(|_| {
        Failure::new("what was typed is not UTF-8").hint("set the terminal to UTF-8")
    })?;
    Ok(Zeroizing::new(text.to_owned()))
}

enum Asked {
    Line,
    Interrupted(Interrupt),
    Ended,
    TooLong,
}

/// Reads what is typed up to a line end.
fn read_line(
    mut terminal: &File,
    prompt: &str,
    interrupts: &mut Option<Interrupts>,
    line: &mut Vec<u8>,
) -> Asked {
    if terminal.write_all(prompt.as_bytes()).is_err() {
        return Asked::Ended;
    }
    loop {
        let signals = interrupts.as_ref().and_then(Interrupts::fd);
        let mut ready = vec![PollFd::new(terminal, PollFlags::IN)];
        ready.extend(signals.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        // A signal that ends a wait is in the pipe by now.
        let _ = poll(&mut ready, None);
        let is_typed = !ready[0].revents().is_empty();
        if let Some(interrupt) = interrupts.as_mut().and_then(Interrupts::next_interrupt) {
            return Asked::Interrupted(interrupt);
        }
        if !is_typed {
            continue;
        }
        let mut bytes = Zeroizing::new([0; ANSWER_BYTES_MAX]);
        let count = match terminal.read(&mut *bytes) {
            Ok(0) => return Asked::Ended,
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return Asked::Ended,
        };
        let typed = &bytes[..count];
        let end = typed.iter().position(|&byte| byte == b'\n');
        let typed = &typed[..end.unwrap_or(count)];
        // What was there at first is all that is ever there: a copy would stay in memory.
        if line.len() + typed.len() > ANSWER_BYTES_MAX {
            return Asked::TooLong;
        }
        line.extend_from_slice(typed);
        if end.is_some() {
            return Asked::Line;
        }
    }
}

/// A terminal that does not show what is typed, until dropped. What was typed before is forgotten.
struct Quiet<'t> {
    terminal: &'t File,
    before: Termios,
}

impl<'t> Quiet<'t> {
    fn new(terminal: &'t File) -> Option<Self> {
        let before = tcgetattr(terminal.as_fd()).ok()?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO);
        quiet.local_modes.insert(LocalModes::ECHONL | LocalModes::ICANON | LocalModes::ISIG);
        tcsetattr(terminal.as_fd(), OptionalActions::Flush, &quiet).ok()?;
        Some(Self { terminal, before })
    }
}

impl Drop for Quiet<'_> {
    fn drop(&mut self) {
        let _ = tcsetattr(self.terminal.as_fd(), OptionalActions::Now, &self.before);
    }
}
