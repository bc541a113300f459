//! The process that was started, as the collector knows it: its end, its stops, its tree.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::outcome::{Scope, Survivor, Survivors};
use crate::{Exit, Unknown};

/// What a run leaves.
#[derive(Default)]
pub(crate) struct Left {
    /// Whether something of the tree is, or may be, alive.
    pub(crate) outlives: bool,
    /// What it writes to.
    pub(crate) outputs: Vec<OwnedFd>,
    /// Where to count what it writes.
    pub(crate) count: Option<OwnedFd>,
}

/// What was learnt of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// It has ended. Alone: nothing of its tree is alive either.
    Ended { exit: Exit, is_alone: bool },
    /// A signal stopped it.
    Stopped(i32),
    /// After the tree was told to end: nothing of it is alive.
    Gone,
}

/// A child that leads its own group. Its status is collected only when the run is over, so that
/// neither its number nor its group's can become another process's meanwhile.
pub(crate) struct Process {
    pid: Pid,
    keeper: Keeper,
}

/// Who is the parent of the child.
enum Keeper {
    #[cfg(target_os = "linux")]
    Supervisor(supervised::Link),
    Own(own::Child),
}

impl Process {
    /// A child of a supervisor.
    #[cfg(target_os = "linux")]
    pub(crate) fn supervised(pid: Pid, link: supervised::Link) -> Self {
        Self { pid, keeper: Keeper::Supervisor(link) }
    }

    /// A child of this process.
    #[cfg_attr(target_os = "linux", expect(dead_code, reason = "for systems without supervisor"))]
    pub(crate) fn own(pid: Pid) -> Self {
        Self { pid, keeper: Keeper::Own(own::Child::new(pid)) }
    }

    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    /// Readable when there are news; `None` where the system has no such thing.
    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        match &self.keeper {
            #[cfg(target_os = "linux")]
            Keeper::Supervisor(link) => Some(link.fd()),
            Keeper::Own(child) => child.fd(),
        }
    }

    /// What was learnt since the last call.
    pub(crate) fn news(&mut self) -> Option<News> {
        match &mut self.keeper {
            #[cfg(target_os = "linux")]
            Keeper::Supervisor(link) => match link.news() {
                Ok(news) => news,
                Err(supervised::Lost) => {
                    // What it kept is ours if we are a subreaper, and nobody's otherwise.
                    let why = Unknown::SupervisorLost;
                    self.keeper = Keeper::Own(own::Child::inherited(self.pid, why));
                    self.news()
                }
            },
            Keeper::Own(child) => child.news(),
        }
    }

    /// How much of what the child starts is seen and ended.
    pub(crate) fn scope(&self) -> Scope {
        match &self.keeper {
            #[cfg(target_os = "linux")]
            Keeper::Supervisor(_) => Scope::Tree,
            Keeper::Own(_) => Scope::Group,
        }
    }

    /// Sends `signal` to every process of the group. A group that is gone is no error.
    pub(crate) fn signal_group(&self, signal: Signal) {
        if let Keeper::Own(child) = &self.keeper
            && child.is_collected()
        {
            return;
        }
        let _ = kill_process_group(self.pid, signal);
    }

    /// Asks what is not of the group to end, too.
    pub(crate) fn ask_tree(&mut self) {
        match &mut self.keeper {
            #[cfg(target_os = "linux")]
            Keeper::Supervisor(link) => link.order(crate::wire::Order::AskAll),
            Keeper::Own(child) => child.expect_gone(),
        }
    }

    /// Kills the group and everything else that is known of the tree.
    pub(crate) fn kill_tree(&mut self) {
        self.signal_group(Signal::KILL);
        match &mut self.keeper {
            #[cfg(target_os = "linux")]
            Keeper::Supervisor(link) => link.order(crate::wire::Order::KillAll),
            Keeper::Own(child) => child.expect_gone(),
        }
    }

    /// How many processes the tree has, counted up to one more than `max`; `None` where that can
    /// not be told.
    pub(crate) fn count(&self, max: u32) -> Option<u32> {
        match &self.keeper {
            #[cfg(target_os = "linux")]
            Keeper::Supervisor(link) => count_below(link.supervisor(), max),
            Keeper::Own(_) => None,
        }
    }

    /// Who is alive of the tree.
    pub(crate) fn survivors(&mut self) -> Survivors {
        match &mut self.keeper {
            #[cfg(target_os = "linux")]
            Keeper::Supervisor(link) => link.survivors(),
            Keeper::Own(_) => Survivors::default(),
        }
    }

    /// Ends the run. What is left of the tree keeps its pipes, where that can be.
    pub(crate) fn release(self, left: Left) {
        match self.keeper {
            #[cfg(target_os = "linux")]
            Keeper::Supervisor(link) => link.release(&left),
            Keeper::Own(mut child) => child.collect(),
        }
    }
}

/// How many processes descend from `pid`, counted up to one more than `max`.
#[cfg(target_os = "linux")]
fn count_below(pid: Pid, max: u32) -> Option<u32> {
    let mut todo = vec![pid.as_raw_nonzero().get()];
    let mut count = 0;
    while let Some(pid) = todo.pop() {
        for task in std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
            let children = std::fs::read_to_string(task.path().join("children"));
            // One that has ended meanwhile is none any more.
            let children = children.unwrap_or_default();
            todo.extend(
                children.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok()),
            );
        }
        count += 1;
        // The first is not of the tree.
        if count > max.saturating_add(1) {
            break;
        }
    }
    Some(count - 1)
}

/// A name for whoever reads a list of processes: that of the program, at most 15 bytes.
#[cfg(target_os = "linux")]
fn survivor(pid: i32) -> Option<Survivor> {
    let name = std::fs::read(format!("/proc/{pid}/comm")).ok()?;
    let name = name.strip_suffix(b"\n").unwrap_or(&name).to_vec();
    Some(Survivor { pid: u32::try_from(pid).ok()?, name })
}

/// How long an answer of a supervisor may take: it only makes system calls.
const ANSWER_MAX: Duration = Duration::from_secs(2);

#[cfg(target_os = "linux")]
pub(crate) mod supervised {
    //! The collector's end of the socket to a supervisor.

    use std::collections::VecDeque;
    use std::io::IoSlice;
    use std::mem::MaybeUninit;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::sync::{Mutex, PoisonError};
    use std::time::Instant;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::Errno;
    use rustix::net::{
        RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, recv, sendmsg,
    };
    use rustix::process::{Pid, WaitOptions, waitpid};

    use super::{ANSWER_MAX, Left, News, Survivors, survivor};
    use crate::leftover::PIPES;
    use crate::wire::{Order, Word};

    /// Supervisors that were released and may still listen to survivors.
    static RELEASED: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

    /// The supervisor is gone.
    pub(crate) struct Lost;

    pub(crate) struct Link {
        socket: Option<OwnedFd>,
        supervisor: Pid,
        heard: VecDeque<Word>,
    }

    impl Link {
        /// A supervisor that was just forked.
        pub(crate) fn new(socket: OwnedFd, supervisor: Pid) -> Self {
            collect_released();
            Self { socket: Some(socket), supervisor, heard: VecDeque::new() }
        }

        pub(crate) fn supervisor(&self) -> Pid {
            self.supervisor
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
                Some(Word::Started { pid }) => Ok(Pid::from_raw(pid).ok_or(Errno::CHILD)?),
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
                Some(Word::Alive { is_known: true, count, pids }) => Survivors {
                    count: u32::try_from(count).ok(),
                    listed: pids.into_iter().filter(|pid| *pid > 0).filter_map(survivor).collect(),
                },
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
                self.has_ended(WaitOptions::empty());
            }
        }
    }

    /// Collects those that have ended meanwhile: a caller with many runs has no zombies of ours.
    fn collect_released() {
        let mut released = RELEASED.lock().unwrap_or_else(PoisonError::into_inner);
        released.retain(|pid| matches!(waitpid(Some(*pid), WaitOptions::NOHANG), Ok(None)));
    }
}

pub(crate) mod own {
    //! A child of this process itself: its group is all that is known of its tree.

    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

    use rustix::io::Errno;
    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

    use super::News;
    use crate::wire::Fate;
    use crate::{Exit, Unknown};

    pub(crate) struct Child {
        pid: Pid,
        pidfd: Option<OwnedFd>,
        is_collected: bool,
        has_ended: bool,
        expects_gone: bool,
        /// What it means that it is no child of ours.
        otherwise: Unknown,
    }

    impl Child {
        pub(crate) fn new(pid: Pid) -> Self {
            Self::inherited(pid, Unknown::CollectedElsewhere)
        }

        pub(crate) fn inherited(pid: Pid, otherwise: Unknown) -> Self {
            let pidfd = open_pidfd(pid);
            let (is_collected, has_ended, expects_gone) = (false, false, false);
            Self { pid, pidfd, is_collected, has_ended, expects_gone, otherwise }
        }

        pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
            // Of one that has ended it would be readable for ever.
            self.pidfd.as_ref().filter(|_| !self.has_ended).map(AsFd::as_fd)
        }

        pub(crate) fn is_collected(&self) -> bool {
            self.is_collected
        }

        pub(crate) fn expect_gone(&mut self) {
            self.expects_gone = true;
        }

        pub(crate) fn news(&mut self) -> Option<News> {
            if !self.has_ended {
                let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
                if let Some(exit) = self.wait(options) {
                    self.has_ended = true;
                    return Some(News::Ended { exit, is_alone: false });
                }
                let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG;
                let stopped = waitid(WaitId::Pid(self.pid), options).ok().flatten();
                return stopped?.stopping_signal().map(News::Stopped);
            }
            // Whether others of the group have ended can't be told while it holds its leader.
            std::mem::take(&mut self.expects_gone).then_some(News::Gone)
        }

        /// Collects the status of a process that has ended. From now on its number may be reused.
        pub(crate) fn collect(&mut self) {
            if !self.is_collected {
                self.wait(WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
                self.is_collected = true;
            }
        }

        fn wait(&mut self, options: WaitIdOptions) -> Option<Exit> {
            let waited = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(self.pid), options));
            match waited {
                Ok(status) => status.map(|status| Fate::of(&status).exit()),
                Err(error) => {
                    self.is_collected = true;
                    let why = match error {
                        Errno::CHILD => self.otherwise,
                        other => Unknown::NotTold(other.raw_os_error()),
                    };
                    Some(Exit::Unknown { why })
                }
            }
        }
    }

    impl Drop for Child {
        /// Only a sink that panicked leaves a process uncollected: it is not left behind.
        fn drop(&mut self) {
            if !self.is_collected {
                let _ = kill_process_group(self.pid, Signal::KILL);
                self.wait(WaitIdOptions::EXITED);
            }
        }
    }

    #[cfg(target_os = "linux")]
    fn open_pidfd(pid: Pid) -> Option<OwnedFd> {
        rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
    }

    #[cfg(not(target_os = "linux"))]
    fn open_pidfd(_: Pid) -> Option<OwnedFd> {
        None
    }
}
