//! The output of those that outlive a run: read, so that they can go on writing, and counted.
//!
//! Part of the supervisor: nothing here allocates.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;

use crate::descriptors::polled;

/// Pipes of a run: two streams and the descriptor of a promise.
pub(crate) const PIPES: usize = 3;

/// How often the count is written at most.
const COUNT_EVERY: Duration = Duration::from_millis(200);

/// Digits of the number in the file, enough for any, so that each number replaces the one before.
pub const COUNT_DIGITS: usize = 20;

pub(crate) struct Leftover {
    pipes: [Option<OwnedFd>; PIPES],
    file: Option<OwnedFd>,
    bytes: u64,
    written: Option<(u64, Instant)>,
}

impl Leftover {
    /// The first descriptor may be the file for the count. Whoever holds the file's lock is the
    /// one that listens, which tells others that it is alive and who it is.
    pub(crate) fn new(fds: [Option<OwnedFd>; PIPES + 1], is_counted: bool) -> Self {
        let [first, one, two, three] = fds;
        let (file, pipes) = match is_counted {
            true => (first, [one, two, three]),
            false => (None, [first, one, two]),
        };
        if let Some(file) = &file {
            crate::descriptors::lock(file);
        }
        let mut leftover = Self { pipes, file, bytes: 0, written: None };
        leftover.write_count();
        leftover
    }

    pub(crate) fn pipes(&self) -> impl Iterator<Item = &OwnedFd> {
        self.pipes.iter().flatten()
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.pipes.iter().all(Option::is_none)
    }

    /// How long until a count is due; `None` where nothing changed.
    pub(crate) fn next_count(&self) -> Option<Duration> {
        let (bytes, at) = self.written?;
        let due = at + COUNT_EVERY;
        (bytes != self.bytes).then(|| due.saturating_duration_since(Instant::now()))
    }

    /// Reads what is there, at most one buffer of each, and forgets those that are at their end.
    pub(crate) fn read(&mut self) {
        let mut buffer = [0_u8; 32 * 1024];
        for place in &mut self.pipes {
            let Some(pipe) = place else { continue };
            if polled(pipe, PollFlags::IN).is_empty() {
                continue;
            }
            match rustix::io::read(&*pipe, &mut buffer) {
                Ok(count @ 1..) => self.bytes += count as u64,
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                // A terminal whose last holder is gone gives an error.
                Ok(0) | Err(_) => *place = None,
            }
        }
        if self.next_count().is_some_and(|wait| wait.is_zero()) {
            self.write_count();
        }
    }

    /// Writes the last count.
    pub(crate) fn finish(&mut self) {
        self.write_count();
    }

    fn write_count(&mut self) {
        self.written = Some((self.bytes, Instant::now()));
        let Some(file) = &self.file else { return };
        let mut text = [b'0'; COUNT_DIGITS + 1];
        let mut rest = self.bytes;
        for place in text.iter_mut().take(COUNT_DIGITS).rev() {
            *place = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        if let Some(last) = text.last_mut() {
            *last = b'\n';
        }
        let _ = rustix::io::pwrite(file, &text, 0);
    }
}
