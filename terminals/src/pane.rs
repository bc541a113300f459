//! The program in a pane of tmux: it writes what it is told, and says what the terminal replied.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use crate::terminal::unhex;

/// Three queries whose answers show that the terminal has read all before them. No case of the
/// corpus asks for these in this order.
const QUERY: &[u8] = b"\x1b[5n\x1b[>c\x1b[5n";
const ANSWER: &[u8] = b"\x1b[0n\x1b[>84;0;0c\x1b[0n";

/// The same, out of a string that swallowed the first: ST and CAN end any.
const RESCUE: &[u8] = b"\x1b\\\x18\x1b[>c\x1b[5n\x1b[>c";
const RESCUE_ANSWER: &[u8] = b"\x1b[>84;0;0c\x1b[0n\x1b[>84;0;0c";

/// A wait for the first answer. It decides about speed alone: the rescue's answer says whether
/// the first query was read.
const WAIT: Duration = Duration::from_millis(100);

/// Serves the adapter at `socket`: bytes in hex in, the reply in hex out.
pub(crate) fn run(socket: &Path) -> io::Result<()> {
    let mut stream = UnixStream::connect(socket)?;
    let mut tty = tcgetattr(io::stdin())?;
    // Replies come as they are; LF is still written as CR LF, as for any program.
    tty.local_modes -=
        LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN;
    tty.input_modes -= rustix::termios::InputModes::ICRNL | rustix::termios::InputModes::IXON;
    tcsetattr(io::stdin(), OptionalActions::Now, &tty)?;
    let replies = replies();
    let lines = BufReader::new(stream.try_clone()?).lines();
    for line in lines {
        let bytes = unhex(&line?).ok_or(io::ErrorKind::InvalidData)?;
        let reply = written(&bytes, &replies)?;
        writeln!(stream, "{}", noesc::audit(&reply))?;
    }
    Ok(())
}

fn replies() -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(length @ 1..) = io::stdin().lock().read(&mut bytes) {
            if sender.send(bytes[..length].to_vec()).is_err() {
                break;
            }
        }
    });
    receiver
}

/// Writes, and waits until the terminal has read it. Gives what it replied of itself; a query of
/// ours that was swallowed is told as such.
fn written(bytes: &[u8], replies: &Receiver<Vec<u8>>) -> io::Result<Vec<u8>> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.write_all(QUERY)?;
    stdout.flush()?;
    let mut seen = Vec::new();
    let mut rescued = false;
    loop {
        match replies.recv_timeout(WAIT) {
            Ok(more) => seen.extend(more),
            Err(RecvTimeoutError::Timeout) if !rescued => {
                stdout.write_all(RESCUE)?;
                stdout.flush()?;
                rescued = true;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(io::ErrorKind::BrokenPipe.into()),
        }
        let end = if rescued { RESCUE_ANSWER } else { ANSWER };
        if let Some(reply) = seen.strip_suffix(end) {
            return Ok(match reply.strip_suffix(ANSWER) {
                Some(reply) => reply.to_vec(),
                None if rescued => [reply, b" and the query was swallowed"].concat(),
                None => reply.to_vec(),
            });
        }
    }
}
