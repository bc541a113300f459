//! What a segment of an artifact holds once it is open: parts, one after another.
//!
//! A part is a tag, its lengths as LEB128 numbers, and its bytes (spec/evidence.md, chapter 2).

/// The tag of the opening manifest.
const OPENING: u8 = b'O';
/// The tag of the closing manifest.
const CLOSING: u8 = b'C';
/// The tag of a chunk of the first stream; those of the others follow.
const CHUNK: u8 = b'0';

/// Streams that an artifact may have: stdout, stderr, a descriptor of the child, a terminal.
pub const STREAMS_MAX: usize = 8;

/// Bytes of the lengths of a part with its tag: a tag and three numbers of at most ten bytes.
pub(crate) const PART_HEAD_BYTES: usize = 31;

/// One part of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    /// What was known before the run: JSON.
    Opening(&'a [u8]),
    /// What was known when it was over: JSON.
    Closing(&'a [u8]),
    /// Bytes as the collector read them.
    Chunk(Chunk<'a>),
}

/// Bytes as the collector read them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk<'a> {
    /// The number of its stream in the opening manifest.
    pub(crate) stream: usize,
    /// Its place in the order of all chunks.
    pub(crate) seq: u64,
    /// Microseconds since the run began.
    pub(crate) time_us: u64,
    pub(crate) bytes: &'a [u8],
}

/// Appends a manifest.
pub(crate) fn push_manifest(to: &mut Vec<u8>, is_closing: bool, json: &[u8]) {
    to.push(if is_closing { CLOSING } else { OPENING });
    push_number(to, json.len() as u64);
    to.extend_from_slice(json);
}

/// Appends a chunk.
pub(crate) fn push_chunk(to: &mut Vec<u8>, chunk: &Chunk<'_>) {
    // A stream has a number below STREAMS_MAX.
    to.push(CHUNK + u8::try_from(chunk.stream.min(STREAMS_MAX - 1)).unwrap_or_default());
    push_number(to, chunk.seq);
    push_number(to, chunk.time_us);
    push_number(to, chunk.bytes.len() as u64);
    to.extend_from_slice(chunk.bytes);
}

fn push_number(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push((number & 0x7F) as u8 | 0x80);
        number >>= 7;
    }
    to.push((number & 0x7F) as u8);
}

/// The parts of a segment, in order; `None` in place of what is no part, and nothing after it.
pub(crate) struct Parts<'a> {
    rest: &'a [u8],
}

impl<'a> Parts<'a> {
    pub(crate) fn new(segment: &'a [u8]) -> Self {
        Self { rest: segment }
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            let bits = u64::from(byte & 0x7F);
            if shift == 63 && bits > 1 {
                return None;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(bytes)
    }

    fn part(&mut self) -> Option<Part<'a>> {
        let (&tag, rest) = self.rest.split_first()?;
        self.rest = rest;
        match tag {
            OPENING => Some(Part::Opening(self.bytes()?)),
            CLOSING => Some(Part::Closing(self.bytes()?)),
            _ => {
                let stream = usize::from(tag.checked_sub(CHUNK)?);
                if stream >= STREAMS_MAX {
                    return None;
                }
                let (seq, time_us) = (self.number()?, self.number()?);
                Some(Part::Chunk(Chunk { stream, seq, time_us, bytes: self.bytes()? }))
            }
        }
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = Option<Part<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let part = self.part();
        if part.is_none() {
            self.rest = &[];
        }
        Some(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn bytes(max: usize) -> impl Strategy<Value = Vec<u8>> {
        vec(any::<u8>(), 0..max)
    }

    proptest! {
        #[test]
        fn parts_are_read_back(
            chunks in vec((0..STREAMS_MAX, any::<u64>(), any::<u64>(), bytes(300)), 0..20),
            json in bytes(300),
        ) {
            let mut segment = Vec::new();
            push_manifest(&mut segment, false, &json);
            let mut expected = vec![Some(Part::Opening(&json[..]))];
            for (stream, seq, time_us, bytes) in &chunks {
                let chunk = Chunk { stream: *stream, seq: *seq, time_us: *time_us, bytes };
                let before = segment.len();
                push_chunk(&mut segment, &chunk);
                prop_assert!(segment.len() - before <= PART_HEAD_BYTES + bytes.len());
                expected.push(Some(Part::Chunk(chunk)));
            }
            push_manifest(&mut segment, true, &json);
            expected.push(Some(Part::Closing(&json[..])));
            prop_assert_eq!(Parts::new(&segment).collect::<Vec<_>>(), expected);
        }

        #[test]
        fn no_bytes_make_a_reader_panic(bytes in bytes(200)) {
            let taken: usize = Parts::new(&bytes).map(|part| match part {
                Some(Part::Opening(bytes) | Part::Closing(bytes)) => bytes.len(),
                Some(Part::Chunk(chunk)) => chunk.bytes.len(),
                None => 0,
            }).sum();
            prop_assert!(taken <= bytes.len());
        }
    }

    #[test]
    fn what_is_no_part_ends_a_segment() {
        for wrong in [
            &b"X"[..],
            b"O",
            b"O\x05abc",
            b"8\0\0\0",
            b"0\0\0",
            b"O\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
        ] {
            assert_eq!(Parts::new(wrong).collect::<Vec<_>>(), [None], "{wrong:?}");
        }
    }
}
