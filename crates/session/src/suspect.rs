//! Output that is likely to be in an encoding that nobody declared.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

/// Bytes that the detector is given. Its guess settles within a few lines.
const DETECTOR_BYTES_MAX: usize = 64 * 1024;

/// Watches a stream for ill-formed UTF-8 and names the encoding that it is likely to be in. The
/// guess is reported, never used.
pub struct Suspicion {
    detector: EncodingDetector,
    room: usize,
}

impl std::fmt::Debug for Suspicion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Suspicion").field("room", &self.room).finish_non_exhaustive()
    }
}

impl Default for Suspicion {
    fn default() -> Self {
        let detector = EncodingDetector::new(Iso2022JpDetection::Deny);
        Self { detector, room: DETECTOR_BYTES_MAX }
    }
}

impl Suspicion {
    /// Looks at a chunk. Plain ASCII costs one pass and tells nothing.
    pub fn push(&mut self, chunk: &[u8]) {
        if self.room == 0 || chunk.is_ascii() {
            return;
        }
        let n = chunk.len().min(self.room);
        self.detector.feed(&chunk[..n], false);
        self.room -= n;
    }

    /// The likely encoding of a stream that had ill-formed UTF-8.
    #[must_use]
    pub fn likely(&mut self) -> &'static str {
        self.detector.feed(b"", true);
        self.detector.guess(None, Utf8Detection::Deny).name()
    }
}
