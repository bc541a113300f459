//! Sealing: bytes go to their recipients while they are collected, and are never on disk before.
//!
//! A sealer takes chunks and writes segments, each an age message of its own, so that a collector
//! that is killed loses at most the last one. The first segments are sealed where they are made; a
//! run that goes on gets a thread for them, so that a quick one does not pay for it.

use std::fs::File;
use std::io::{self, Write};
use std::mem;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use zeroize::{Zeroize, Zeroizing};

use crate::artifact::{ArtifactId, HEADER, SegmentList};
use crate::crash::crash_point;
use crate::files;
use crate::identity::Recipients;
use crate::part::{Chunk, PART_HEAD_BYTES, push_chunk, push_manifest};

/// Plain bytes of a segment: what a collector that is killed loses at most, and what is held in
/// memory of one.
pub const SEGMENT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// How long bytes wait for their segment to be sealed.
pub const SEGMENT_TIME_MAX: Duration = Duration::from_secs(2);

/// Bytes that are left for the last segment, so that an artifact that has no more room still ends
/// with its closing manifest.
pub const CLOSING_BYTES: u64 = 64 * 1024;

/// Bytes that the frame and the header of an age message add for each recipient and each 64 KiB.
fn sealed_bytes(plain: usize, recipients: usize) -> u64 {
    let header = 200 + 200 * recipients as u64;
    plain as u64 + header + (plain as u64 / (64 * 1024) + 1) * 16
}

/// Who may open an artifact, and how large it may become.
#[derive(Clone, Debug)]
pub struct SealOptions {
    /// Each of them can open it alone.
    pub recipients: Recipients,
    /// Bytes of the file; what would be beyond is not kept.
    pub bytes_max: u64,
}

/// What became of an artifact.
#[derive(Debug)]
pub struct Sealed {
    /// Its name, by its segments.
    pub id: ArtifactId,
    /// How many segments it has.
    pub segments: u64,
    /// Bytes of its file.
    pub bytes: u64,
    /// Raw bytes of all streams that are in it.
    pub kept: u64,
    /// Raw bytes that found no room any more.
    pub left_out: u64,
    /// Why it ended early, where writing failed. What was written before is in it.
    pub failure: Option<io::Error>,
}

/// Takes the bytes of one run and writes its artifact.
pub struct Sealer {
    recipients: usize,
    plain: Zeroizing<Vec<u8>>,
    began: Instant,
    /// When the first byte of the open segment came.
    since: Option<Instant>,
    /// Bytes of the file that may still be written before the closing segment.
    room: u64,
    kept: u64,
    left_out: u64,
    writer: Arc<Mutex<Writer>>,
    /// What seals in place of this thread, of a run that has a second segment.
    worker: Option<Worker>,
}

impl std::fmt::Debug for Sealer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sealer").field("kept", &self.kept).finish_non_exhaustive()
    }
}

impl Sealer {
    /// A sealer that writes to an empty file. `opening` is what is known before the run, as JSON;
    /// it has to be smaller than a segment by far. Nothing is written yet.
    #[must_use]
    pub fn new(file: File, options: &SealOptions, opening: &[u8]) -> Self {
        let mut plain = Zeroizing::new(Vec::new());
        push_manifest(&mut plain, false, opening);
        let recipients = options.recipients.iter().count();
        let room = options.bytes_max.saturating_sub(CLOSING_BYTES);
        Self {
            recipients,
            plain,
            began: Instant::now(),
            since: None,
            room,
            kept: 0,
            left_out: 0,
            writer: Arc::new(Mutex::new(Writer::new(file, options.recipients.clone()))),
            worker: None,
        }
    }

    /// Takes bytes of a stream, by its number in the opening manifest.
    pub fn push(&mut self, stream: usize, seq: u64, mut bytes: &[u8]) {
        let now = Instant::now();
        let time_us = u64::try_from((now - self.began).as_micros()).unwrap_or(u64::MAX);
        while !bytes.is_empty() {
            let open = self.plain.len() + PART_HEAD_BYTES;
            let space = SEGMENT_BYTES_MAX.saturating_sub(open);
            let room = self.room.saturating_sub(sealed_bytes(open, self.recipients));
            let fits = space.min(usize::try_from(room).unwrap_or(usize::MAX)).min(bytes.len());
            if fits == 0 && (self.plain.is_empty() || room == 0) {
                self.left_out += bytes.len() as u64;
                // The room does not grow; what comes later is left out too.
                self.room = 0;
                return;
            }
            let (now_in, rest) = bytes.split_at(fits);
            if fits > 0 {
                self.grow(PART_HEAD_BYTES + fits);
                push_chunk(&mut self.plain, &Chunk { stream, seq, time_us, bytes: now_in });
                self.kept += fits as u64;
                self.since.get_or_insert(now);
            }
            bytes = rest;
            if !bytes.is_empty() && room > fits as u64 {
                self.flush();
            }
        }
    }

    /// When the open segment is to be sealed, if it is not full before.
    #[must_use]
    pub fn due(&self) -> Option<Instant> {
        self.since.map(|since| since + SEGMENT_TIME_MAX)
    }

    /// Seals the open segment if it is time.
    pub fn look(&mut self) {
        if self.due().is_some_and(|due| due <= Instant::now()) {
            self.flush();
        }
    }

    /// Ends the artifact with what is known when the run is over, as JSON, and makes its bytes
    /// durable. The name of its file is the caller's.
    #[must_use]
    pub fn finish(mut self, closing: &[u8]) -> Sealed {
        let is_lost = self.worker.take().is_some_and(|worker| worker.join().is_err());
        let mut writer = lock(&self.writer);
        if is_lost {
            writer.failure.get_or_insert(io::Error::other("the thread that seals has ended"));
        }
        if self.plain.len() + PART_HEAD_BYTES + closing.len() > SEGMENT_BYTES_MAX {
            writer.seal(&self.plain);
            self.plain.zeroize();
        }
        push_manifest(&mut self.plain, true, closing);
        writer.seal(&self.plain);
        crash_point("artifact-written");
        writer.sync();
        crash_point("artifact-synced");
        let (id, segments) = writer.list.clone().finish();
        let (kept, left_out) = (self.kept, self.left_out);
        Sealed { id, segments, bytes: writer.bytes, kept, left_out, failure: writer.failure.take() }
    }

    /// Makes room in the open segment, and no more than a segment has: doubling would take twice
    /// that.
    fn grow(&mut self, more: usize) {
        let (length, room) = (self.plain.len(), self.plain.capacity());
        if length + more > room {
            let wanted = (2 * room).min(SEGMENT_BYTES_MAX).max(length + more);
            self.plain.reserve_exact(wanted - length);
        }
    }

    /// Hands the open segment on.
    fn flush(&mut self) {
        self.since = None;
        if self.plain.is_empty() {
            return;
        }
        self.room = self.room.saturating_sub(sealed_bytes(self.plain.len(), self.recipients));
        if self.worker.is_none() {
            self.worker = Worker::start(&self.writer).ok();
        }
        match &self.worker {
            Some(worker) => {
                let spare = worker.spare();
                worker.take(mem::replace(&mut self.plain, spare));
            }
            // Without a thread it takes longer, and is done all the same.
            None => {
                lock(&self.writer).seal(&self.plain);
                self.plain.zeroize();
            }
        }
    }
}

/// A writer that a thread has left in the middle of a segment is one that has failed.
fn lock(writer: &Mutex<Writer>) -> MutexGuard<'_, Writer> {
    writer.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread that seals what it is handed. One segment waits while another is sealed.
struct Worker {
    to: SyncSender<Zeroizing<Vec<u8>>>,
    back: Receiver<Zeroizing<Vec<u8>>>,
    thread: JoinHandle<()>,
}

impl Worker {
    fn start(writer: &Arc<Mutex<Writer>>) -> io::Result<Self> {
        let (to, segments) = sync_channel::<Zeroizing<Vec<u8>>>(1);
        let (give_back, back) = sync_channel(2);
        let writer = Arc::clone(writer);
        let work = move || {
            for mut plain in segments {
                lock(&writer).seal(&plain);
                plain.zeroize();
                let _ = give_back.try_send(plain);
            }
        };
        let thread = std::thread::Builder::new().name("noesc-seal".into()).spawn(work)?;
        Ok(Self { to, back, thread })
    }

    /// A buffer that was sealed before, or a new one.
    fn spare(&self) -> Zeroizing<Vec<u8>> {
        self.back.try_recv().unwrap_or_default()
    }

    fn take(&self, plain: Zeroizing<Vec<u8>>) {
        // Where the thread has ended, joining tells.
        let _ = self.to.send(plain);
    }

    fn join(self) -> std::thread::Result<()> {
        let Self { to, back, thread } = self;
        drop((to, back));
        thread.join()
    }
}

/// Writes segments to the file, and knows what it has written.
struct Writer {
    file: File,
    recipients: Recipients,
    sealed: Vec<u8>,
    list: SegmentList,
    bytes: u64,
    failure: Option<io::Error>,
}

impl Writer {
    fn new(file: File, recipients: Recipients) -> Self {
        let list = SegmentList::default();
        Self { file, recipients, sealed: Vec::new(), list, bytes: 0, failure: None }
    }

    /// Seals a segment and writes it as a frame. After a failure nothing more is written, and
    /// nothing is left of what failed.
    fn seal(&mut self, plain: &[u8]) {
        if self.failure.is_none()
            && let Err(error) = self.try_seal(plain)
        {
            let _ = self.file.set_len(self.bytes);
            self.failure = Some(error);
        }
    }

    fn try_seal(&mut self, plain: &[u8]) -> io::Result<()> {
        self.sealed.clear();
        let length = sealed_bytes(plain.len(), self.recipients.iter().count());
        let length = usize::try_from(length).unwrap_or_default();
        self.sealed.reserve_exact(length);
        if self.bytes == 0 {
            self.sealed.extend_from_slice(HEADER);
        }
        let frame = self.sealed.len();
        self.sealed.extend_from_slice(&[0; 4]);
        let recipients = self.recipients.iter();
        let recipients = recipients.map(|recipient| recipient.age() as &dyn age::Recipient);
        let age = age::Encryptor::with_recipients(recipients).map_err(io::Error::other)?;
        let mut age = age.wrap_output(&mut self.sealed)?;
        age.write_all(plain)?;
        age.finish()?;
        let segment = &self.sealed[frame + 4..];
        let length = u32::try_from(segment.len()).map_err(io::Error::other)?;
        let mut list = self.list.clone();
        list.push(segment);
        self.sealed[frame..frame + 4].copy_from_slice(&length.to_be_bytes());
        if self.bytes + self.sealed.len() as u64 > files::file_bytes_max() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.file.write_all(&self.sealed)?;
        crash_point("segment-written");
        self.list = list;
        self.bytes += self.sealed.len() as u64;
        Ok(())
    }

    /// Makes durable what was written, all of it or up to a failure: the ledger will name it.
    fn sync(&mut self) {
        if let Err(error) = self.file.sync_all() {
            self.failure.get_or_insert(error);
        }
    }
}
