//! Lines and columns of offsets.

use sha2::{Digest, Sha256};

/// Where an offset is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Point {
    /// From 1; a line ends with LF.
    pub(super) line: u64,
    /// From 1, in code points of the line's lossy decoding: each maximal subpart of ill-formed
    /// UTF-8 is one.
    pub(super) column: u64,
    /// SHA-256 of the bytes of the line, without its LF.
    pub(super) digest: [u8; 32],
}

/// Finds the points of ascending offsets in a stream. Its state has a fixed size beside these.
pub(super) struct Locator {
    targets: Vec<u64>,
    points: Vec<Point>,
    /// Points of the line being read are without their digest.
    settled: usize,
    offset: u64,
    line: u64,
    columns: Columns,
    digest: Sha256,
}

impl Locator {
    /// `targets` ascend.
    pub(super) fn new(targets: Vec<u64>) -> Self {
        let columns = Columns::default();
        let (points, digest) = (Vec::with_capacity(targets.len()), Sha256::new());
        Self { targets, points, settled: 0, offset: 0, line: 1, columns, digest }
    }

    /// Reads on; false when all is known.
    pub(super) fn push(&mut self, chunk: &[u8]) -> bool {
        let mut rest = chunk;
        while !rest.is_empty() && !self.is_done() {
            let end = memchr::memchr(b'\n', rest);
            let line = &rest[..end.unwrap_or(rest.len())];
            self.piece(line, end.is_some());
            rest = &rest[line.len() + usize::from(end.is_some())..];
        }
        !self.is_done()
    }

    fn is_done(&self) -> bool {
        self.settled == self.targets.len()
    }

    /// A part of a line, the last of it if `ends`.
    fn piece(&mut self, bytes: &[u8], ends: bool) {
        let after = self.offset + bytes.len() as u64;
        let mut told = 0;
        // The LF itself is in the last column of its line; what is at the end of a piece that
        // does not end the line comes with the next.
        while let Some(&target) = self.targets.get(self.points.len())
            && (target < after || ends && target == after)
        {
            let at = usize::try_from(target - self.offset).unwrap_or(bytes.len());
            self.columns.push(&bytes[told..at]);
            told = at;
            self.point();
        }
        self.offset = after + u64::from(ends);
        if !ends {
            self.columns.push(&bytes[told..]);
            self.digest.update(bytes);
            return;
        }
        if self.settled < self.points.len() {
            self.digest.update(bytes);
        }
        self.settle();
        self.line += 1;
    }

    fn point(&mut self) {
        let column = self.columns.count() + 1;
        self.points.push(Point { line: self.line, column, digest: [0; 32] });
    }

    /// The line has ended.
    fn settle(&mut self) {
        let digest = std::mem::take(&mut self.digest).finalize().into();
        for point in &mut self.points[self.settled..] {
            point.digest = digest;
        }
        self.settled = self.points.len();
        self.columns = Columns::default();
    }

    /// The points, one for each offset. Those behind the end are at the end.
    pub(super) fn finish(mut self) -> Vec<Point> {
        while self.points.len() < self.targets.len() {
            self.point();
        }
        self.settle();
        self.points
    }
}

/// Counts code points of a lossy decoding.
#[derive(Default)]
struct Columns {
    count: u64,
    /// A character that is not complete yet.
    cut: Vec<u8>,
}

impl Columns {
    fn push(&mut self, mut bytes: &[u8]) {
        while let (Some(&byte), false) = (bytes.first(), self.cut.is_empty()) {
            self.cut.push(byte);
            match std::str::from_utf8(&self.cut) {
                Err(error) if error.error_len().is_none() => {}
                // The byte does not go on with what was cut.
                Err(_) => {
                    self.cut.clear();
                    self.count += 1;
                    break;
                }
                Ok(_) => {
                    self.cut.clear();
                    self.count += 1;
                }
            }
            bytes = &bytes[1..];
        }
        self.whole(bytes);
    }

    fn whole(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let error = match std::str::from_utf8(bytes) {
                Ok(text) => return self.count += text.chars().count() as u64,
                Err(error) => error,
            };
            let (valid, rest) = bytes.split_at(error.valid_up_to());
            self.count += String::from_utf8_lossy(valid).chars().count() as u64;
            match error.error_len() {
                None => return self.cut = rest.to_vec(),
                Some(len) => {
                    self.count += 1;
                    bytes = &rest[len..];
                }
            }
        }
    }

    /// The count so far; a character that was cut here is one.
    fn count(&mut self) -> u64 {
        self.count += u64::from(!std::mem::take(&mut self.cut).is_empty());
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines and columns of every offset, by the book.
    fn slow(bytes: &[u8]) -> Vec<(u64, u64)> {
        let mut places = Vec::new();
        for at in 0..=bytes.len() {
            let before = &bytes[..at];
            let start = before.iter().rposition(|&b| b == b'\n').map_or(0, |lf| lf + 1);
            let line = before.iter().filter(|&&b| b == b'\n').count() as u64 + 1;
            let column = String::from_utf8_lossy(&before[start..]).chars().count() as u64 + 1;
            places.push((line, column));
        }
        places
    }

    #[test]
    fn places_are_exact_in_any_chunks() {
        let texts: [&[u8]; 6] = [
            b"",
            b"ab\ncd\n",
            b"\n\n\x1b[m\r\n x",
            "\u{e9}\u{4e2d}\u{1f600}x\n\u{301}y".as_bytes(),
            b"\xe2\x80\xff\x9b\xf0\x9f\x98\n\xe2\x80",
            b"a\xc3\nb\xe2\x82\xacc",
        ];
        for bytes in texts {
            // Offsets at the start of a character, each alone: so a finding has them.
            for (at, &place) in slow(bytes).iter().enumerate() {
                for size in 1..=bytes.len().max(1) {
                    let mut locator = Locator::new(vec![at as u64]);
                    for chunk in bytes.chunks(size) {
                        locator.push(chunk);
                    }
                    let point = locator.finish()[0];
                    assert_eq!((point.line, point.column), place, "{at} of {bytes:?}/{size}");
                    let line = bytes.split(|&b| b == b'\n').nth(point.line as usize - 1).unwrap();
                    assert_eq!(point.digest, <[u8; 32]>::from(Sha256::digest(line)));
                }
            }
        }
    }

    #[test]
    fn points_of_one_line_share_its_digest() {
        let mut locator = Locator::new(vec![0, 1, 1, 2, 4, 9]);
        assert!(locator.push(b"a"));
        assert!(locator.push(b"b\nc"));
        let points = locator.finish();
        let places: Vec<_> = points.iter().map(|p| (p.line, p.column)).collect();
        assert_eq!(places, [(1, 1), (1, 2), (1, 2), (1, 3), (2, 2), (2, 2)]);
        assert_eq!(points[0].digest, points[3].digest);
        assert_eq!(points[4].digest, <[u8; 32]>::from(Sha256::digest(b"c")));
    }
}
