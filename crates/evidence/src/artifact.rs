//! A sealed artifact: its name, its file, and what it holds for who has an identity.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::str::FromStr;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::files;
use crate::identity::Identity;
use crate::part::{Part, Parts, STREAMS_MAX};
use crate::seal::SEGMENT_BYTES_MAX;
use crate::tree::Digest;

/// What the file of an artifact begins with.
pub(crate) const HEADER: &[u8] = b"noesc.sealed/1\n";

/// What the name of an artifact begins with: its reader may know it, and can not open it.
const NAME: &str = "restricted:sha256:";

/// Bytes of a segment as it is sealed: more than any that a sealer makes.
const FRAME_BYTES_MAX: u32 = 2 * SEGMENT_BYTES_MAX as u32;

/// Bytes that are copied at once.
const COPIED_BYTES: usize = 64 * 1024;

/// Bytes that no age message goes without: fewer are no segment, and a file that says so would make
/// its reader remember more than there is.
const FRAME_BYTES_MIN: u32 = 128;

/// Plain bytes of a segment that are taken: what a sealer makes, with its manifests.
const PLAIN_BYTES_MAX: usize = 2 * SEGMENT_BYTES_MAX;

/// The name of an artifact: the SHA-256 of the list of its segments. Its text is
/// `restricted:sha256:` and 64 hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArtifactId(Digest);

impl ArtifactId {
    /// The digest alone, in hex: what the file is called by.
    #[must_use]
    pub fn hex(&self) -> String {
        self.0.to_string()
    }

    pub(crate) fn from_hex(hex: &str) -> Option<Self> {
        Digest::from_hex(hex).map(Self)
    }
}

impl fmt::Display for ArtifactId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{NAME}{}", self.0)
    }
}

/// A text that names no artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoArtifactId;

impl fmt::Display for NoArtifactId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {NAME} and 64 hex digits, found another text")
    }
}

impl std::error::Error for NoArtifactId {}

impl FromStr for ArtifactId {
    type Err = NoArtifactId;

    fn from_str(text: &str) -> Result<Self, NoArtifactId> {
        let hex = text.strip_prefix(NAME).ok_or(NoArtifactId)?;
        Digest::from_hex(hex).map(Self).ok_or(NoArtifactId)
    }
}

/// The digest of a list of segments, one line for each: the SHA-256 of the sealed bytes in hex, a
/// blank, their number, LF.
#[derive(Clone, Default)]
pub(crate) struct SegmentList {
    text: Sha256,
    count: u64,
}

impl SegmentList {
    pub(crate) fn push(&mut self, segment: &[u8]) {
        self.text.update(format!("{} {}\n", Digest::of(segment), segment.len()));
        self.count += 1;
    }

    /// The name, and how many segments there are.
    pub(crate) fn finish(self) -> (ArtifactId, u64) {
        (ArtifactId(Digest(self.text.finalize().into())), self.count)
    }
}

/// Why an artifact can not be trusted, or not be opened.
#[derive(Debug)]
#[non_exhaustive]
pub enum ArtifactError {
    /// The operating system refused something.
    Io(io::Error),
    /// The file is not in the form of an artifact.
    Form {
        /// What was expected.
        expected: &'static str,
        /// Where, in bytes from its beginning.
        at: u64,
    },
    /// It is not the one that was recorded.
    Other {
        /// The one that was recorded.
        expected: ArtifactId,
        /// The one that is there.
        found: ArtifactId,
    },
    /// A segment does not open with this identity.
    Sealed {
        /// The number of the segment, from 0.
        segment: usize,
        /// Whether the identity is none of its recipients; else it was damaged.
        is_for_others: bool,
    },
    /// What a segment holds is not in the form of one.
    Content {
        /// The number of the segment, from 0.
        segment: usize,
    },
}

impl fmt::Display for ArtifactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "can not read the artifact: {error}"),
            Self::Form { expected, at } => write!(f, "expected {expected} at byte {at}"),
            Self::Other { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::Sealed { segment, is_for_others: true } => {
                write!(f, "segment {segment} is sealed to others than this identity")
            }
            Self::Sealed { segment, .. } => write!(f, "segment {segment} is damaged"),
            Self::Content { segment } => write!(f, "segment {segment} holds no parts"),
        }
    }
}

impl std::error::Error for ArtifactError {}

impl ArtifactError {
    /// What to do about it, in a line.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Io(_) => "see who may read the folder of the run",
            Self::Form { .. } | Self::Other { .. } | Self::Content { .. } => {
                "it was changed since it was written; \"noesc store doctor\" looks at all of them"
            }
            Self::Sealed { is_for_others: true, .. } => {
                "name the identity of a recipient; \"noesc show RUN --format json\" names them"
            }
            Self::Sealed { .. } => "what is before it can be opened by a range",
        }
    }
}

impl From<io::Error> for ArtifactError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Where a segment is in the file.
#[derive(Clone, Copy, Debug)]
struct Frame {
    at: u64,
    bytes: u32,
}

/// The segments of a file, in order; what follows the last whole one is torn.
struct Frames {
    frames: Vec<Frame>,
    /// Where the last whole one ends.
    end: u64,
    /// Whether something follows it.
    is_torn: bool,
}

impl Frames {
    /// Of the bytes of a file from `start` to before `limit`.
    fn read(file: &File, start: u64, limit: u64) -> Result<Self, ArtifactError> {
        let mut header = [0; HEADER.len()];
        let found = read_at_most(file, &mut header, start, limit)?;
        if header[..found] != HEADER[..found] {
            return Err(ArtifactError::Form { expected: "the header of an artifact", at: 0 });
        }
        let (mut frames, mut end) = (Vec::new(), start + found as u64);
        loop {
            let mut bytes = [0; 4];
            let found = read_at_most(file, &mut bytes, end, limit)?;
            let bytes = u32::from_be_bytes(bytes);
            if found == 0 {
                let is_torn = end - start < HEADER.len() as u64;
                return Ok(Self { frames, end, is_torn });
            }
            let at = end + 4;
            let is_whole = found == 4 && at + u64::from(bytes) <= limit;
            if found == 4 && !(FRAME_BYTES_MIN..=FRAME_BYTES_MAX).contains(&bytes) {
                let at = end - start;
                return Err(ArtifactError::Form { expected: "the length of a segment", at });
            }
            if !is_whole {
                return Ok(Self { frames, end, is_torn: true });
            }
            frames.push(Frame { at, bytes });
            end = at + u64::from(bytes);
        }
    }
}

fn read_at_most(file: &File, to: &mut [u8], at: u64, limit: u64) -> io::Result<usize> {
    let room = usize::try_from(limit.saturating_sub(at)).unwrap_or(usize::MAX);
    let room = room.min(to.len());
    let (to, mut filled) = (&mut to[..room], 0);
    while filled < to.len() {
        match file.read_at(&mut to[filled..], at + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// The file of an artifact, for who may not open it: it can be verified.
#[derive(Debug)]
pub struct Artifact {
    file: File,
    frames: Vec<Frame>,
    bytes: u64,
    is_torn: bool,
}

impl Artifact {
    /// Opens the file. A symbolic link at the end of its path is not followed.
    ///
    /// # Errors
    /// [`ArtifactError`] where it is not in the form of one.
    pub fn open(path: &Path) -> Result<Self, ArtifactError> {
        let file = files::open_plain(path, OpenOptions::new().read(true))?;
        let bytes = file.metadata()?.len();
        Self::within(file, 0, bytes)
    }

    /// The artifact in a part of a file: so many bytes from `start` on.
    pub(crate) fn within(file: File, start: u64, bytes: u64) -> Result<Self, ArtifactError> {
        let limit = start.saturating_add(bytes);
        let Frames { frames, end, is_torn } = Frames::read(&file, start, limit)?;
        Ok(Self { file, frames, bytes: end - start, is_torn })
    }

    /// How many segments it has.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.frames.len()
    }

    /// Bytes up to the end of its last whole segment.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether an incomplete segment follows the last whole one, as a collector that was killed
    /// leaves it.
    #[must_use]
    pub fn is_torn(&self) -> bool {
        self.is_torn
    }

    /// Its name, from its bytes.
    ///
    /// # Errors
    /// When it can not be read.
    pub fn id(&self) -> Result<ArtifactId, ArtifactError> {
        let mut list = SegmentList::default();
        let mut segment = Vec::new();
        for frame in &self.frames {
            self.read(*frame, &mut segment)?;
            list.push(&segment);
        }
        Ok(list.finish().0)
    }

    /// Whether it is the one that was recorded, whole and unchanged.
    ///
    /// # Errors
    /// [`ArtifactError::Other`] when it is not.
    pub fn verify(&self, expected: ArtifactId) -> Result<(), ArtifactError> {
        if self.is_torn {
            let at = self.bytes;
            return Err(ArtifactError::Form { expected: "nothing after a segment", at });
        }
        match self.id()? {
            found if found == expected => Ok(()),
            found => Err(ArtifactError::Other { expected, found }),
        }
    }

    /// Copies the file up to the end of its last whole segment; it is at the beginning of it.
    pub(crate) fn copy_to(&self, to: &mut impl io::Write) -> io::Result<()> {
        let (mut at, mut piece) = (0, vec![0; COPIED_BYTES]);
        while at < self.bytes {
            let count = usize::try_from(self.bytes - at).unwrap_or(COPIED_BYTES).min(COPIED_BYTES);
            self.file.read_exact_at(&mut piece[..count], at)?;
            to.write_all(&piece[..count])?;
            at += count as u64;
        }
        Ok(())
    }

    fn read(&self, frame: Frame, to: &mut Vec<u8>) -> io::Result<()> {
        to.resize(frame.bytes as usize, 0);
        self.file.read_exact_at(to, frame.at)
    }

    /// Opens a segment.
    fn plain(
        &self,
        number: usize,
        identity: &Identity,
    ) -> Result<Zeroizing<Vec<u8>>, ArtifactError> {
        let frame = *self.frames.get(number).ok_or(ArtifactError::Content { segment: number })?;
        let mut sealed = Vec::new();
        self.read(frame, &mut sealed)?;
        let damaged = |is_for_others| ArtifactError::Sealed { segment: number, is_for_others };
        let age = age::Decryptor::new_buffered(BufReader::new(&sealed[..]))
            .map_err(|_| damaged(false))?;
        let identities = identity.keys().map(|key| key as &dyn age::Identity);
        let reader = age
            .decrypt(identities)
            .map_err(|error| damaged(matches!(error, age::DecryptError::NoMatchingKeys)))?;
        let mut plain = Zeroizing::new(Vec::with_capacity(sealed.len()));
        let max = PLAIN_BYTES_MAX as u64 + 1;
        reader.take(max).read_to_end(&mut plain).map_err(|_| damaged(false))?;
        if plain.len() > PLAIN_BYTES_MAX {
            return Err(ArtifactError::Content { segment: number });
        }
        Ok(plain)
    }

    /// Opens it for an identity: finds where the bytes of each stream are. All segments are opened
    /// once, and one is held in memory at a time.
    ///
    /// # Errors
    /// [`ArtifactError`] when no segment opens. Of one that is damaged further on, what is before
    /// it can be read, and [`Opened::fault`] says so.
    pub fn unlock(self, identity: &Identity) -> Result<Opened<'_>, ArtifactError> {
        let mut opened = Opened {
            artifact: self,
            identity,
            opening: Vec::new(),
            closing: None,
            ranges: vec![Vec::new(); STREAMS_MAX],
            fault: None,
            cached: None,
        };
        for number in 0..opened.artifact.frames.len() {
            if let Err(error) = opened.index(number) {
                if number == 0 {
                    return Err(error);
                }
                opened.fault = Some(error);
                break;
            }
        }
        Ok(opened)
    }
}

/// Where bytes of a stream are.
#[derive(Clone, Copy, Debug)]
struct Range {
    segment: usize,
    /// Offset in its stream of the first.
    offset: u64,
    bytes: u64,
}

/// An artifact that was opened. Its bytes are in memory, one segment at a time, and nowhere else.
pub struct Opened<'k> {
    artifact: Artifact,
    identity: &'k Identity,
    opening: Vec<u8>,
    closing: Option<Vec<u8>>,
    /// For each stream, the segments with bytes of it, in order.
    ranges: Vec<Vec<Range>>,
    fault: Option<ArtifactError>,
    cached: Option<(usize, Zeroizing<Vec<u8>>)>,
}

impl fmt::Debug for Opened<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened").field("artifact", &self.artifact).finish_non_exhaustive()
    }
}

impl Opened<'_> {
    fn index(&mut self, number: usize) -> Result<(), ArtifactError> {
        let plain = self.artifact.plain(number, self.identity)?;
        for part in Parts::new(&plain) {
            match part.ok_or(ArtifactError::Content { segment: number })? {
                Part::Opening(json) if number == 0 => self.opening = json.to_vec(),
                Part::Opening(_) => {}
                Part::Closing(json) => self.closing = Some(json.to_vec()),
                Part::Chunk(chunk) => {
                    let ranges = &mut self.ranges[chunk.stream];
                    let bytes = chunk.bytes.len() as u64;
                    let end = ranges.last().map_or(0, |last| last.offset + last.bytes);
                    match ranges.last_mut().filter(|last| last.segment == number) {
                        Some(range) => range.bytes += bytes,
                        None => ranges.push(Range { segment: number, offset: end, bytes }),
                    }
                }
            }
        }
        Ok(())
    }

    /// What was known before the run: JSON, as the collector wrote it.
    #[must_use]
    pub fn opening(&self) -> &[u8] {
        &self.opening
    }

    /// What was known when the run was over; `None` where the collector did not come to that.
    #[must_use]
    pub fn closing(&self) -> Option<&[u8]> {
        self.closing.as_deref()
    }

    /// Why the end of it can not be read, where that is so.
    #[must_use]
    pub fn fault(&self) -> Option<&ArtifactError> {
        self.fault.as_ref()
    }

    /// How many bytes of a stream can be read.
    #[must_use]
    pub fn stream_bytes(&self, stream: usize) -> u64 {
        let ranges = self.ranges.get(stream);
        ranges.and_then(|ranges| ranges.last()).map_or(0, |last| last.offset + last.bytes)
    }

    /// Reads bytes of a stream from an offset. Gives how many were read: fewer than asked for at
    /// the end of the stream alone, and none behind it.
    ///
    /// # Errors
    /// When the file has changed since it was opened.
    pub fn read_at(
        &mut self,
        stream: usize,
        offset: u64,
        to: &mut [u8],
    ) -> Result<usize, ArtifactError> {
        let mut filled = 0;
        while filled < to.len() {
            let at = offset.saturating_add(filled as u64);
            let ranges = self.ranges.get(stream).map(Vec::as_slice).unwrap_or_default();
            let next = ranges.partition_point(|range| range.offset + range.bytes <= at);
            let Some(range) = ranges.get(next).copied() else { break };
            let copied = self.copy(stream, range, at - range.offset, &mut to[filled..])?;
            if copied == 0 {
                return Err(ArtifactError::Content { segment: range.segment });
            }
            filled += copied;
        }
        Ok(filled)
    }

    /// The digest of bytes of a stream under the key of the run, as `hmac-sha256:` and hex: HMAC of
    /// their SHA-256. Who does not know the key can not confirm a guess by it.
    ///
    /// # Errors
    /// When they can not be read, or the opening manifest has no key.
    pub fn keyed_digest(
        &mut self,
        stream: usize,
        offset: u64,
        bytes: u64,
    ) -> Result<String, ArtifactError> {
        let digest = self.digest(stream, offset, bytes)?;
        self.keyed(&digest)
    }

    /// The same of all of them: HMAC of the SHA-256 over the SHA-256 of each stream that has bytes.
    ///
    /// # Errors
    /// As [`keyed_digest`](Self::keyed_digest).
    pub fn keyed_digest_of_all(&mut self) -> Result<String, ArtifactError> {
        let mut all = Sha256::new();
        for stream in 0..STREAMS_MAX {
            let bytes = self.stream_bytes(stream);
            if bytes > 0 {
                all.update(self.digest(stream, 0, bytes)?);
            }
        }
        self.keyed(&all.finalize().into())
    }

    fn digest(&mut self, stream: usize, at: u64, bytes: u64) -> Result<[u8; 32], ArtifactError> {
        let (mut digest, mut at, end) = (Sha256::new(), at, at.saturating_add(bytes));
        let mut piece = Zeroizing::new(vec![0; 256 * 1024]);
        while at < end {
            let want = usize::try_from(end - at).unwrap_or(piece.len()).min(piece.len());
            let read = self.read_at(stream, at, &mut piece[..want])?;
            if read == 0 {
                break;
            }
            digest.update(&piece[..read]);
            at += read as u64;
        }
        Ok(digest.finalize().into())
    }

    fn keyed(&self, digest: &[u8; 32]) -> Result<String, ArtifactError> {
        #[derive(serde::Deserialize)]
        struct Key {
            key: String,
        }
        let none = ArtifactError::Content { segment: 0 };
        let key = serde_json::from_slice::<Key>(&self.opening).ok();
        let key = key.and_then(|manifest| Digest::from_hex(&manifest.key));
        let Some(Digest(key)) = key else { return Err(none) };
        let Ok(mut mac) = <Hmac<Sha256> as KeyInit>::new_from_slice(&key) else {
            return Err(none);
        };
        mac.update(digest);
        Ok(format!("hmac-sha256:{}", Digest(mac.finalize().into_bytes().into())))
    }

    /// Copies what a segment has of a stream, from so many bytes of it on.
    fn copy(
        &mut self,
        stream: usize,
        range: Range,
        mut skip: u64,
        to: &mut [u8],
    ) -> Result<usize, ArtifactError> {
        let mut filled = 0;
        let segment = self.segment(range.segment)?;
        for part in Parts::new(segment) {
            let Some(Part::Chunk(chunk)) = part else { continue };
            if chunk.stream != stream {
                continue;
            }
            let bytes = chunk.bytes.len() as u64;
            let start = usize::try_from(skip.min(bytes)).unwrap_or_default();
            skip -= start as u64;
            let count = (chunk.bytes.len() - start).min(to.len() - filled);
            to[filled..filled + count].copy_from_slice(&chunk.bytes[start..start + count]);
            filled += count;
            if filled == to.len() {
                break;
            }
        }
        Ok(filled)
    }

    fn segment(&mut self, number: usize) -> Result<&[u8], ArtifactError> {
        let is_cached = self.cached.as_ref().is_some_and(|(cached, _)| *cached == number);
        if !is_cached {
            self.cached = Some((number, self.artifact.plain(number, self.identity)?));
        }
        Ok(self.cached.as_ref().map_or(&[], |(_, plain)| plain))
    }
}
