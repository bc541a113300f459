//! The collector's end of the socket to a supervisor.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, recv, sendmsg};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, kill_process, pidfd_open, waitpid};

use crate::leftover::PIPES;
use crate::outcome::Survivors;
use crate::process::{Left, News};
use crate::tree::{count_below, survivors_of};
use crate::wire::{Order, Word};

/// How long an answer of a supervisor may take: it only makes system calls.
const ANSWER_MAX: Duration = Duration::from_secs(2);

/// Supervisors that were released and may still listen to survivors.
static RELEASED: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// The supervisor is gone.
pub(crate) struct Lost;

pub(crate) struct Link {
    socket: Option<OwnedFd>,
    supervisor: Pid,
    /// The child as the system tells of its end, whatever became of the supervisor.
    child: Option<OwnedFd>,
    heard: VecDeque<Word>,
}

impl Link {
    /// A supervisor that was just forked.
    pub(crate) fn new(socket: OwnedFd, supervisor: Pid) -> Self {
        collect_released();
        Self { socket: Some(socket), supervisor, child: None, heard: VecDeque::new() }
    }

    /// How many processes the tree has, counted up to one more than `max`.
    pub(crate) fn count(&mut self, max: u32) -> Option<u32> {
        match count_below(self.supervisor, max) {
            // Where processes of others are hidden, so is the supervisor, being undumpable.
            Some(0) | None => self.survivors().count,
            count => count,
        }
    }

    pub(crate) fn end_fd(&self) -> Option<BorrowedFd<'_>> {
        self.child.as_ref().map(AsFd::as_fd)
    }

    pub(crate) fn ended(&mut self) {
        self.child = None;
        self.wake();
    }

    /// Lets a supervisor go on that somebody stopped.
    fn wake(&self) {
        let _ = kill_process(self.supervisor, Signal::CONT);
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        match &self.socket {
            Some(socket) => socket.as_fd(),
            // Only `release` takes it, and with it the link.
            None => rustix::stdio::stdin(),
        }
    }

    /// The first word: the child's number, or why there is none.
    pub(crate) fn started(&mut self) -> std::io::Result<Pid> {
        match self.answer(|word| matches!(word, Word::Started { .. } | Word::Failed { .. })) {
            Some(Word::Started { pid }) => {
                let pid = Pid::from_raw(pid).ok_or(Errno::CHILD)?;
                self.child = pidfd_open(pid, PidfdFlags::empty()).ok();
                Ok(pid)
            }
            Some(Word::Failed { errno }) => Err(std::io::Error::from_raw_os_error(errno)),
            _ => Err(Errno::CHILD.into()),
        }
    }

    pub(crate) fn news(&mut self) -> Result<Option<News>, Lost> {
        while let Some(word) = self.next()? {
            return Ok(Some(match word {
                Word::Ended { fate, is_alone } => News::Ended { exit: fate.exit(), is_alone },
                Word::Stopped { signal } => News::Stopped(signal),
                Word::Gone => News::Gone,
                Word::Started { .. }
                | Word::Failed { .. }
                | Word::Alive { .. }
                | Word::Listening => continue,
            }));
        }
        Ok(None)
    }

    /// Whether something was heard, while an answer was awaited, that nobody has asked for yet: the
    /// socket does not tell it any more.
    pub(crate) fn has_heard(&self) -> bool {
        !self.heard.is_empty()
    }

    fn next(&mut self) -> Result<Option<Word>, Lost> {
        match self.heard.pop_front() {
            Some(word) => Ok(Some(word)),
            None => self.receive(),
        }
    }

    /// The next word, if there is one.
    fn receive(&mut self) -> Result<Option<Word>, Lost> {
        let mut bytes = [0_u8; Word::BYTES_MAX];
        let received = rustix::io::retry_on_intr(|| {
            recv(self.fd(), bytes.as_mut_slice(), RecvFlags::DONTWAIT)
        });
        match received {
            Err(Errno::AGAIN) => Ok(None),
            Ok((0, _)) | Err(_) => Err(Lost),
            Ok((count, _)) => {
                Word::decode(bytes.get(..count).unwrap_or_default()).map(Some).ok_or(Lost)
            }
        }
    }

    /// Waits for a word; others are kept for later. `None` when none comes.
    fn answer(&mut self, is_wanted: impl Fn(&Word) -> bool) -> Option<Word> {
        let until = Instant::now() + ANSWER_MAX;
        loop {
            match self.receive() {
                Ok(Some(word)) if is_wanted(&word) => return Some(word),
                Ok(Some(word)) => self.heard.push_back(word),
                Err(Lost) => return None,
                Ok(None) => {
                    let left = until.saturating_duration_since(Instant::now());
                    let timeout = Timespec::try_from(left).ok()?;
                    let mut fds = [PollFd::from_borrowed_fd(self.fd(), PollFlags::IN)];
                    match poll(&mut fds, Some(&timeout)) {
                        Ok(0) => return None,
                        Ok(_) | Err(Errno::INTR) => {}
                        Err(_) => return None,
                    }
                }
            }
        }
    }

    pub(crate) fn order(&self, order: Order) {
        self.send(order, &[]);
    }

    fn send(&self, order: Order, fds: &[BorrowedFd<'_>]) -> bool {
        self.wake();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(PIPES + 1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !fds.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(fds)) {
            return false;
        }
        let bytes = [order as u8];
        let sent = rustix::io::retry_on_intr(|| {
            let buffers = [IoSlice::new(&bytes)];
            sendmsg(self.fd(), &buffers, &mut ancillary, SendFlags::NOSIGNAL)
        });
        // It is noticed where news are awaited that there is nobody.
        sent.is_ok()
    }

    pub(crate) fn survivors(&mut self) -> Survivors {
        self.order(Order::Count);
        match self.answer(|word| matches!(word, Word::Alive { .. })) {
            Some(Word::Alive { is_known: true, count, pids }) => {
                let count = usize::try_from(count).unwrap_or(usize::MAX);
                survivors_of(self.supervisor, &pids, count)
            }
            _ => Survivors::default(),
        }
    }

    /// Lets the supervisor end, or listen to what is left.
    pub(crate) fn release(mut self, left: &Left) {
        let order = if left.count.is_some() { Order::ReleaseCounted } else { Order::Release };
        let fds: Vec<_> = left.count.iter().chain(&left.outputs).map(AsFd::as_fd).collect();
        self.send(order, &fds);
        if left.count.is_some() {
            // Whoever asks from now on finds the lock taken.
            self.answer(|word| *word == Word::Listening);
        } else if fds.is_empty() && !left.outlives {
            // It collects the child and ends at once, which closes its end of the socket.
            self.answer(|_| false);
        }
        self.socket = None;
        if !self.has_ended(WaitOptions::NOHANG) {
            RELEASED.lock().unwrap_or_else(PoisonError::into_inner).push(self.supervisor);
        }
    }

    fn has_ended(&self, options: WaitOptions) -> bool {
        let waited = rustix::io::retry_on_intr(|| waitpid(Some(self.supervisor), options));
        !matches!(waited, Ok(None))
    }
}

impl Drop for Link {
    /// Only a sink that panicked leaves a run that was not released: with our end closed the
    /// supervisor ends the tree, which is waited for.
    fn drop(&mut self) {
        if self.socket.take().is_some() {
            self.wake();
            self.has_ended(WaitOptions::empty());
        }
    }
}

/// Collects those that have ended meanwhile: a caller with many runs has no zombies of ours.
fn collect_released() {
    let mut released = RELEASED.lock().unwrap_or_else(PoisonError::into_inner);
    released.retain(|pid| matches!(waitpid(Some(*pid), WaitOptions::NOHANG), Ok(None)));
}

#[cfg(test)]
mod tests {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, send, socketpair};

    use super::*;
    use crate::Exit;
    use crate::wire::{Fate, PIDS_MAX};

    fn say(socket: &OwnedFd, word: &Word) {
        let mut bytes = [0; Word::BYTES_MAX];
        let length = word.encode(&mut bytes);
        send(socket, &bytes[..length], SendFlags::empty()).unwrap();
    }

    #[test]
    fn what_comes_before_an_answer_is_news_afterwards() {
        let (family, kind) = (AddressFamily::UNIX, SocketType::SEQPACKET);
        let (ours, theirs) = socketpair(family, kind, SocketFlags::CLOEXEC, None).unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let mut link = Link::new(ours, Pid::from_child(&child));
        say(&theirs, &Word::Ended { fate: Fate::Exited(3), is_alone: true });
        say(&theirs, &Word::Alive { is_known: true, count: 0, pids: [0; PIDS_MAX] });
        assert!(!link.has_heard());
        assert_eq!(link.survivors().count, Some(0));
        assert!(link.has_heard());
        let ended = News::Ended { exit: Exit::Exited { code: 3 }, is_alone: true };
        assert_eq!(link.news().ok().flatten(), Some(ended));
        assert!(!link.has_heard());
        // It collects its supervisor, which leaves nothing for this.
        drop(link);
        let _ = child.wait();
    }
}
