//! Output that is likely to be in an encoding that nobody declared.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

/// Bytes that the detector is given. Its guess settles within a few lines.
const DETECTOR_BYTES_MAX: usize = 64 * 1024;

/// Watches a stream for ill-formed UTF-8 and names the encoding that it is likely to be in. The
/// guess is reported, never used.
pub struct Suspicion {
    detector: EncodingDetector,
    room: usize,
    /// The last byte of a stream that was plain ASCII so far.
    before: Option<u8>,
    is_fed: bool,
}

impl std::fmt::Debug for Suspicion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Suspicion").field("room", &self.room).finish_non_exhaustive()
    }
}

impl Default for Suspicion {
    fn default() -> Self {
        let detector = EncodingDetector::new(Iso2022JpDetection::Deny);
        Self { detector, room: DETECTOR_BYTES_MAX, before: None, is_fed: false }
    }
}

impl Suspicion {
    /// Looks at a chunk. Plain ASCII costs one pass and tells nothing, up to the first byte that is
    /// none; from the byte before that one on, the detector is given everything, however chunked.
    pub fn push(&mut self, chunk: &[u8]) {
        if self.room == 0 || chunk.is_empty() {
            return;
        }
        let mut chunk = chunk;
        if !self.is_fed {
            // A whole piece is looked at faster than byte by byte.
            let clean = chunk.chunks(256).take_while(|piece| piece.is_ascii()).count() * 256;
            let rest = chunk.get(clean..).unwrap_or_default();
            let Some(first) = rest.iter().position(|byte| !byte.is_ascii()) else {
                self.before = chunk.last().copied();
                return;
            };
            let first = clean + first;
            self.is_fed = true;
            match (first, self.before) {
                (0, Some(before)) => self.feed(&[before]),
                (0, None) => {}
                (first, _) => chunk = &chunk[first - 1..],
            }
        }
        self.feed(chunk);
    }

    fn feed(&mut self, bytes: &[u8]) {
        let n = bytes.len().min(self.room);
        self.detector.feed(&bytes[..n], false);
        self.room -= n;
    }

    /// The likely encoding of a stream that had ill-formed UTF-8.
    #[must_use]
    pub fn likely(&mut self) -> &'static str {
        self.detector.feed(b"", true);
        self.detector.guess(None, Utf8Detection::Deny).name()
    }
}
