//! Sealed artifacts: what goes in comes out for who has the identity, and for nobody else.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use noesc_evidence::{
    Artifact, ArtifactError, CLOSING_BYTES, Identity, Opened, Recipients, SEGMENT_BYTES_MAX,
    SEGMENT_TIME_MAX, SealOptions, Sealed, Sealer,
};
use proptest::collection::vec;
use proptest::prelude::*;

struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("noesc-seal-{name}-{}", std::process::id()));
        let _ = fs::remove_file(&path);
        Self(path)
    }

    fn seal(&self, to: &Identity, bytes_max: u64, chunks: &[(usize, &[u8])]) -> Sealed {
        let file = OpenOptions::new().write(true).create(true).truncate(true).open(&self.0);
        let options = SealOptions { recipients: recipients(to), bytes_max };
        let mut sealer = Sealer::new(file.unwrap(), &options, br#"{"opening":1}"#);
        for (seq, (stream, bytes)) in chunks.iter().enumerate() {
            sealer.push(*stream, seq as u64, bytes);
        }
        sealer.finish(br#"{"closing":1}"#)
    }

    fn open(&self) -> Artifact {
        Artifact::open(&self.0).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn recipients(of: &Identity) -> Recipients {
    Recipients::new(of.recipients()).unwrap()
}

fn stream(opened: &mut Opened<'_>, stream: usize) -> Vec<u8> {
    let mut bytes = vec![0; opened.stream_bytes(stream) as usize + 10];
    let count = opened.read_at(stream, 0, &mut bytes).unwrap();
    bytes.truncate(count);
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn what_goes_in_comes_out(
        chunks in vec((0..3_usize, vec(any::<u8>(), 1..90)), 0..40),
        from in 0..400_u64,
        count in 0..300_usize,
    ) {
        let (place, identity) = (Place::new("round"), Identity::generate());
        let given: Vec<_> = chunks.iter().map(|(of, bytes)| (*of, &bytes[..])).collect();
        let sealed = place.seal(&identity, u64::MAX, &given);
        prop_assert!(sealed.failure.is_none());
        prop_assert_eq!(sealed.bytes, fs::metadata(&place.0).unwrap().len());
        let artifact = place.open();
        artifact.verify(sealed.id).unwrap();
        let mut opened = artifact.unlock(&identity).unwrap();
        prop_assert_eq!(opened.opening(), br#"{"opening":1}"#);
        prop_assert_eq!(opened.closing(), Some(&br#"{"closing":1}"#[..]));
        for number in 0..3 {
            let of = chunks.iter().filter(|(of, _)| *of == number);
            let expected: Vec<u8> = of.flat_map(|(_, bytes)| bytes.clone()).collect();
            prop_assert_eq!(&stream(&mut opened, number), &expected);
            let mut part = vec![0; count];
            let read = opened.read_at(number, from, &mut part).unwrap();
            let tail = expected.get(from as usize..).unwrap_or_default();
            prop_assert_eq!(&part[..read], &tail[..tail.len().min(count)]);
        }
    }
}

/// Bytes that do not repeat.
fn counted(length: usize) -> Vec<u8> {
    (0..length as u64).map(|n| (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect()
}

#[test]
fn a_long_stream_has_segments_and_is_read_anywhere() {
    let (place, identity) = (Place::new("long"), Identity::generate());
    let bytes = counted(2 * SEGMENT_BYTES_MAX + 12345);
    let chunks: Vec<(usize, &[u8])> = bytes.chunks(64 * 1024).map(|chunk| (1, chunk)).collect();
    let sealed = place.seal(&identity, u64::MAX, &chunks);
    assert_eq!((sealed.segments, sealed.kept, sealed.left_out), (3, bytes.len() as u64, 0));
    let mut opened = place.open().unlock(&identity).unwrap();
    assert!(stream(&mut opened, 1) == bytes);
    for at in [0, 1, SEGMENT_BYTES_MAX - 100, SEGMENT_BYTES_MAX, bytes.len() - 1] {
        let mut some = [0; 200];
        let count = opened.read_at(1, at as u64, &mut some).unwrap();
        assert!(some[..count] == bytes[at..(at + 200).min(bytes.len())], "{at}");
    }
}

#[test]
fn nothing_that_was_sealed_stands_in_the_file() {
    let (place, identity) = (Place::new("plain"), Identity::generate());
    let marker = b"the marker that nobody may find";
    place.seal(&identity, u64::MAX, &[(0, marker)]);
    let file = fs::read(&place.0).unwrap();
    for word in [&marker[..], b"marker", b"opening", b"closing"] {
        assert!(!file.windows(word.len()).any(|part| part == word));
    }
}

#[test]
fn another_identity_opens_nothing() {
    let (place, identity) = (Place::new("other"), Identity::generate());
    place.seal(&identity, u64::MAX, &[(0, b"abc")]);
    let error = place.open().unlock(&Identity::generate()).unwrap_err();
    assert!(matches!(error, ArtifactError::Sealed { segment: 0, is_for_others: true }), "{error}");
}

#[test]
fn a_changed_bit_is_seen_by_who_may_not_open_it_and_by_who_may() {
    let (place, identity) = (Place::new("flip"), Identity::generate());
    let sealed = place.seal(&identity, u64::MAX, &[(0, b"abc")]);
    let whole = fs::read(&place.0).unwrap();
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        fs::write(&place.0, &changed).unwrap();
        let verified = Artifact::open(&place.0).and_then(|artifact| artifact.verify(sealed.id));
        assert!(verified.is_err(), "byte {at}");
    }
    let mut changed = whole.clone();
    *changed.last_mut().unwrap() ^= 1;
    fs::write(&place.0, &changed).unwrap();
    let error = place.open().unlock(&identity).unwrap_err();
    assert!(matches!(error, ArtifactError::Sealed { segment: 0, is_for_others: false }), "{error}");
}

#[test]
fn a_cut_file_gives_its_whole_segments() {
    let (place, identity) = (Place::new("torn"), Identity::generate());
    let bytes = counted(SEGMENT_BYTES_MAX + 5);
    let sealed = place.seal(&identity, u64::MAX, &[(0, &bytes)]);
    assert_eq!(sealed.segments, 2);
    let whole = place.open();
    let first = {
        let mut length = [0; 4];
        let file = fs::File::open(&place.0).unwrap();
        file.read_exact_at(&mut length, 15).unwrap();
        19 + u64::from(u32::from_be_bytes(length))
    };
    let file = OpenOptions::new().write(true).open(&place.0).unwrap();
    for cut in [whole.bytes() - 1, first + 5, first + 4, first + 3, first + 1] {
        file.set_len(cut).unwrap();
        let artifact = place.open();
        assert_eq!((artifact.segments(), artifact.bytes(), artifact.is_torn()), (1, first, true));
        assert!(artifact.verify(sealed.id).is_err());
    }
    file.set_len(first).unwrap();
    let artifact = place.open();
    assert_eq!((artifact.segments(), artifact.is_torn()), (1, false));
    assert!(artifact.id().unwrap() != sealed.id);
    let mut opened = artifact.unlock(&identity).unwrap();
    assert_eq!(opened.closing(), None);
    let kept = stream(&mut opened, 0);
    assert!(kept.len() > SEGMENT_BYTES_MAX - 100 && kept == bytes[..kept.len()]);
    for cut in [first - 1, 19, 18, 16, 15, 14, 1, 0] {
        file.set_len(cut).unwrap();
        let artifact = place.open();
        assert_eq!((artifact.segments(), artifact.is_torn()), (0, cut != 15), "{cut}");
    }
}

#[test]
fn an_artifact_has_no_more_bytes_than_it_may() {
    let (place, identity) = (Place::new("bound"), Identity::generate());
    let bytes = counted(64 * 1024);
    // What one byte less leaves out is kept with one byte more.
    let left_out = |max: u64| {
        let sealed = place.seal(&identity, max, &[(0, &bytes), (0, b"later")]);
        assert!(sealed.bytes <= max, "{} of {max}", sealed.bytes);
        assert_eq!(sealed.kept + sealed.left_out, bytes.len() as u64 + 5);
        let mut opened = place.open().unlock(&identity).unwrap();
        assert_eq!(stream(&mut opened, 0).len() as u64, sealed.kept);
        assert!(opened.closing().is_some());
        sealed.left_out
    };
    let (mut too_few, mut enough) = (CLOSING_BYTES, 4 * CLOSING_BYTES);
    while too_few + 1 < enough {
        let middle = u64::midpoint(too_few, enough);
        let is_enough = left_out(middle) == 0;
        *(if is_enough { &mut enough } else { &mut too_few }) = middle;
    }
    assert_eq!(left_out(enough + 1), 0);
    assert!(left_out(enough - 1) > 0);
    assert_eq!(left_out(CLOSING_BYTES), bytes.len() as u64 + 5);
}

#[test]
fn a_full_disk_leaves_what_was_written() {
    let identity = Identity::generate();
    // Every write to it fails as on a full disk.
    let file = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let options = SealOptions { recipients: recipients(&identity), bytes_max: u64::MAX };
    let mut sealer = Sealer::new(file, &options, b"{}");
    sealer.push(0, 0, &counted(2 * SEGMENT_BYTES_MAX));
    let sealed = sealer.finish(b"{}");
    assert_eq!(sealed.failure.unwrap().kind(), std::io::ErrorKind::StorageFull);
    assert_eq!((sealed.segments, sealed.bytes), (0, 0));
}

#[test]
fn a_segment_has_at_least_the_bytes_of_an_empty_message() {
    const FRAME_BYTES_MIN: u32 = 128;
    let place = Place::new("least");
    for (bytes, is_taken) in [
        (0, false),
        (FRAME_BYTES_MIN - 1, false),
        (FRAME_BYTES_MIN, true),
        (FRAME_BYTES_MIN + 1, true),
    ] {
        let segment = vec![b'x'; bytes as usize];
        let file = [&b"noesc.sealed/1\n"[..], &bytes.to_be_bytes(), &segment].concat();
        fs::write(&place.0, file).unwrap();
        assert_eq!(Artifact::open(&place.0).is_ok(), is_taken, "{bytes}");
    }
}

#[test]
fn a_segment_is_due_when_its_first_byte_is_old_enough() {
    let (place, identity) = (Place::new("due"), Identity::generate());
    let file = OpenOptions::new().write(true).create(true).truncate(true).open(&place.0).unwrap();
    let options = SealOptions { recipients: recipients(&identity), bytes_max: u64::MAX };
    let mut sealer = Sealer::new(file, &options, b"{}");
    assert_eq!(sealer.due(), None);
    let before = Instant::now();
    sealer.push(0, 0, b"first");
    let due = sealer.due().unwrap();
    assert!((before..=Instant::now()).contains(&(due - SEGMENT_TIME_MAX)));
    sealer.push(0, 1, b"second");
    assert_eq!(sealer.due(), Some(due));
    sealer.look();
    assert_eq!(place.open().segments(), 0);
    std::thread::sleep(due.saturating_duration_since(Instant::now()));
    sealer.look();
    assert_eq!(sealer.due(), None);
    // The thread that seals needs its time.
    while place.open().segments() == 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(sealer);
}
