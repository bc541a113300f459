//! P7: the state has a fixed size, whatever the input. This binary counts what is allocated.

#![allow(clippy::unwrap_used, reason = "functions that tests share")]

mod common;

use std::sync::Mutex;

use noesc::{
    Boundary, Conceal, Cr, Form, HiddenText, Invisible, LINE_CELLS_MAX, Profile, Removed, Run,
    SpanReceiver, Style,
};
use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// One measurement at a time: the heap is one.
static MEASURING: Mutex<()> = Mutex::new(());

/// Bytes of a boundary that are no heap: a parser, eight spans for each finding there is, counts.
const BOUNDARY_BYTES_MAX: usize = 32 * 1024;

/// Heap of a boundary with a window: each cell and each piece beside one, twice while written,
/// grown by doubling.
const HEAP_BYTES_MAX: usize = LINE_CELLS_MAX * 128;

/// Bytes of each input.
const INPUT_BYTES: usize = 1_000_000;

/// Takes runs and keeps none.
struct Discard;

impl SpanReceiver for Discard {
    fn run(&mut self, _: Run) {}
}

/// What each input repeats, after its first bytes.
const INPUTS: &[(&[u8], &[u8])] = &[
    (b"", b"x"),
    (b"a\r", b"x"),
    (b"a\r", b"\x1b[1m"),
    (b"a\r", b"\x1b[m\x1b[1m"),
    (b"a\r", b"\x1b[K"),
    (b"a\r", b"\x00"),
    (b"a\r", b"\x07"),
    (b"a\r", b"\t"),
    (b"a\r", b"\xff"),
    (b"a\r", b"\xcc\x81"),
    (b"a\r", b"x\x1b[8my\x1b[m"),
    (b"a\r", b"\xe2\x80\xae"),
    (b"a\r", b"\xe2\x80\x8bx"),
    (b"a\r", b"\x1b]0;x\x07"),
    (b"", b"\r"),
    (b"a", b"\r\x00"),
    (b"", b"a\r"),
    (b"", b"a\rb\n"),
    (b"", b"abc\x08"),
    (b"", b"\x08"),
    (b"", b"\x1b"),
    (b"", b"\x1b["),
    (b"\x1b[", b"1;"),
    (b"\x1b[", b"\x00"),
    (b"\x1b[", b"\x08"),
    (b"\x1b[", b"\t"),
    (b"\x1b", b" "),
    (b"\x1b]", b"x"),
    (b"\x1b]", b"\n"),
    (b"", b"\x1b]"),
    (b"", b"\x1b]0;x\n"),
    (b"", b"\x9d"),
    (b"", b"\x9dx"),
    (b"", b"\xc2"),
    (b"", b"\xf3\xa0\x81"),
    (b"\xf0\x9f\x8f\xb4", b"\xf3\xa0\x81\xa7"),
    (b"", b"\xe2\x80\x8d"),
    (b"e", b"\xcc\x81"),
    (b"\xd8\xa8", b"\xe2\x80\x8c"),
    (b"", b"\xe2\xa0\x80"),
    (b"", b"\x1b[8mx\x1b[m"),
    (b"\x1b[8m", b"x"),
    (b"", b"\x1b[?1049h"),
    (b"", b"\x1b[4000Gx\r"),
    (b"", b"\x1b[9999G\x1b[1K"),
    (b"\x1b[4000Gxy", b"\x1b[1K"),
    (b"xy", b"\x1b[C\x1b[K"),
    (b"xy", b"\r\xcc\x81"),
    (b"", b"\xe7\x95\x8c\x08x"),
    (b"", b"\x0b"),
    (b"", b"\xe2\x80\xa8"),
];

fn profiles() -> [Profile; 6] {
    let all = Profile {
        removed: Removed::Mark,
        hidden_text: HiddenText::Mark,
        invisible: Invisible::Show,
        ..Profile::AGENT
    };
    [
        all,
        Profile { cr: Cr::Collapse, ..all },
        Profile { cr: Cr::Collapse, style: Style::Keep(Conceal::Parameter), ..all },
        Profile { cr: Cr::Overwrite, ..all },
        Profile::AUDIT,
        Profile { form: Form::Off, ..Profile::AGENT },
    ]
}

/// The most that was on the heap beyond what was there before, and what was there at the end.
fn heap_of(first: &[u8], again: &[u8], profile: &Profile) -> (usize, usize) {
    let chunk = again.repeat(4096 / again.len());
    let before = HEAP.current_usage();
    let mut boundary = Boundary::new(profile).unwrap();
    let mut view = String::new();
    let mut most = 0;
    boundary.push_with_spans(first, &mut view, &mut Discard);
    for _ in 0..INPUT_BYTES / chunk.len() {
        view = String::new();
        boundary.push_with_spans(&chunk, &mut view, &mut Discard);
        most = most.max(HEAP.current_usage().saturating_sub(before + view.capacity()));
    }
    view = String::new();
    let report = boundary.finish_with_spans(&mut view, &mut Discard);
    drop((report, boundary, view));
    (most, HEAP.current_usage().saturating_sub(before))
}

#[test]
fn the_state_has_a_fixed_size() {
    assert!(size_of::<Boundary>() <= BOUNDARY_BYTES_MAX, "{}", size_of::<Boundary>());
}

#[test]
fn no_input_makes_the_heap_grow() {
    let _alone = MEASURING.lock().unwrap();
    for &(first, again) in INPUTS {
        for profile in profiles() {
            let (most, left) = heap_of(first, again, &profile);
            let input = format!("b\"{}\", b\"{}\"…", first.escape_ascii(), again.escape_ascii());
            assert!(most <= HEAP_BYTES_MAX, "{most} bytes for {input} under {profile:?}");
            assert!(left < 16 * 1024, "{left} bytes leaked for {input} under {profile:?}");
        }
    }
}
