//! A search for the unit that takes longest for each of its bytes.
//!
//! It climbs: a unit of a few fragments is changed at random, and the change is kept where it is
//! slower. From time to time it begins anew, so that it ends on several hills, every other one
//! among units that are well-formed UTF-8. At the top a unit loses what does not make it slow.

use std::collections::BTreeSet;
use std::hint::black_box;
use std::time::{Duration, Instant};

use noesc::{Boundary, Profile};

use crate::inputs::{FRAGMENTS, escape};
use crate::paths::{self, Path};
use crate::random::Random;

/// The longest unit.
pub(crate) const UNIT_BYTES_MAX: usize = 64;

/// A unit is repeated to so many bytes.
const REPEATED_BYTES: usize = 64 << 10;

/// Passes of a first look, and of a closer one.
const LOOK: usize = 2;
const CLOSER_LOOK: usize = 7;
const LAST_LOOK: usize = 20;

/// Changes in a row that were no slower, after which it begins anew.
const PATIENCE: usize = 300;

/// Changes in a row that were no slower, after which the top is measured anew.
const DOUBT: usize = 30;

/// Hills of each kind that are printed.
const SHOWN: usize = 6;

/// Of the speed of a unit, what a shorter one may lack and still be the same hill.
const SAME: f64 = 0.03;

/// Small pieces, beside those of the hostile input: introducers, controls, characters whose
/// neighbours decide, and plain text.
const PIECES: [&[u8]; 40] = [
    b"\x1b",
    b"\x1b[",
    b"\x1b]",
    b"\x1bP",
    b"\x1b_",
    b"\x1b\\",
    b"\x1b(",
    b"\xc2\x9b",
    b"\xc2\x9d",
    b"\xc2\x9c",
    b"\xc2",
    b"\x9b",
    b"\x9d",
    b"\x9c",
    b"\x18",
    b"\x1a",
    b"\x07",
    b"\r",
    b"\r\n",
    b"\n",
    b"\t",
    b"\x08",
    b"\0",
    b"\x7f",
    b";",
    b"0",
    b"m",
    b"8m",
    b"H",
    b"a",
    b" ",
    b"abcdefgh",
    "é".as_bytes(),
    "日".as_bytes(),
    "क\u{94d}ष".as_bytes(),
    "\u{1f468}\u{200d}\u{1f469}".as_bytes(),
    "\u{1f1ef}\u{1f1f5}".as_bytes(),
    "\u{301}".as_bytes(),
    "\u{200d}".as_bytes(),
    "\u{fe0f}".as_bytes(),
];

/// A unit and what it costs.
#[derive(Clone, Debug, Default)]
struct Hill {
    unit: Vec<u8>,
    ns_per_byte: f64,
    /// Whether only well-formed UTF-8 is looked at.
    is_utf8: bool,
}

impl Hill {
    /// The bytes that it is made of. Of hills that differ in nothing else, one is shown.
    fn alphabet(&self) -> BTreeSet<u8> {
        self.unit.iter().copied().collect()
    }
}

/// Searches for so long over this path, and prints the slowest.
pub(crate) fn run(path: Path, time: Duration) {
    paths::force(Some(path));
    let end = Instant::now() + time;
    let mut random = Random::new(path.name());
    let mut hills: Vec<Hill> = Vec::new();
    let mut room = String::with_capacity(8 * REPEATED_BYTES);
    while Instant::now() < end {
        let mut hill = Hill { is_utf8: hills.len() % 2 == 1, ..Hill::default() };
        climb(&mut hill, &mut random, &mut room, end);
        shorten(&mut hill, &mut room);
        hills.push(hill);
    }
    // What was measured at a bad moment is not slow.
    hills.iter_mut().for_each(|hill| look_again(hill, LAST_LOOK, &mut room));
    paths::force(None);
    hills.sort_by(|a, b| b.ns_per_byte.total_cmp(&a.ns_per_byte));
    for (kind, is_utf8) in [("any bytes", false), ("UTF-8", true)] {
        let mut seen = BTreeSet::new();
        let is_new = |hill: &&Hill| hill.is_utf8 == is_utf8 && seen.insert(hill.alphabet());
        println!("{}, {kind}: ns/byte and the unit", path.name());
        for hill in hills.iter().filter(is_new).take(SHOWN) {
            println!("{:6.2}  {}", hill.ns_per_byte, escape(&hill.unit));
        }
    }
}

/// Measures the top anew, and takes the faster figure.
fn look_again(top: &mut Hill, passes: usize, room: &mut String) {
    top.ns_per_byte = top.ns_per_byte.min(fastest(passes, &repeated(&top.unit), room));
}

/// From a random unit, up until nothing is slower or the time is over.
fn climb(top: &mut Hill, random: &mut Random, room: &mut String, end: Instant) {
    for _ in 0..8 {
        let mut unit = Vec::new();
        for _ in 0..=random.below(4) {
            insert(random, &mut unit);
        }
        take_if_slower(unit, top, room);
    }
    let mut in_vain = 0;
    while in_vain < PATIENCE && Instant::now() < end {
        let mut unit = top.unit.clone();
        for _ in 0..=random.below(3) {
            change(random, &mut unit);
        }
        in_vain = if take_if_slower(unit, top, room) { 0 } else { in_vain + 1 };
        if in_vain % DOUBT == DOUBT - 1 {
            look_again(top, LOOK, room);
        }
    }
}

/// Leaves out what can be left out of the unit, a few bytes at a time.
fn shorten(top: &mut Hill, room: &mut String) {
    let enough = top.ns_per_byte * (1.0 - SAME);
    for len in [16, 8, 4, 3, 2, 1] {
        let mut at = 0;
        while at + len <= top.unit.len() {
            let mut unit = top.unit.clone();
            unit.drain(at..at + len);
            match takes(&unit, top.is_utf8).then(|| fastest(CLOSER_LOOK, &repeated(&unit), room)) {
                Some(ns_per_byte) if ns_per_byte >= enough => {
                    *top = Hill { unit, ns_per_byte, ..*top };
                }
                _ => at += 1,
            }
        }
    }
}

/// Whether this unit is slower than the top, which it then replaces.
fn take_if_slower(mut unit: Vec<u8>, top: &mut Hill, room: &mut String) -> bool {
    unit.truncate(UNIT_BYTES_MAX);
    if !takes(&unit, top.is_utf8) {
        return false;
    }
    let bytes = repeated(&unit);
    // What is no slower at a first look is so at a closer one: that can only be faster.
    if fastest(LOOK, &bytes, room) <= top.ns_per_byte {
        return false;
    }
    let ns_per_byte = fastest(CLOSER_LOOK, &bytes, room);
    // A little more is noise.
    let is_slower = ns_per_byte > top.ns_per_byte * 1.01;
    if is_slower {
        *top = Hill { unit, ns_per_byte, ..*top };
    }
    is_slower
}

/// Whether it is a unit of the kind that is looked for.
fn takes(unit: &[u8], is_utf8: bool) -> bool {
    !unit.is_empty() && (!is_utf8 || std::str::from_utf8(unit).is_ok())
}

fn repeated(unit: &[u8]) -> Vec<u8> {
    let mut bytes = unit.repeat(REPEATED_BYTES / unit.len().max(1) + 1);
    bytes.truncate(REPEATED_BYTES);
    bytes
}

/// The time of the fastest pass, in ns for each byte.
fn fastest(passes: usize, bytes: &[u8], room: &mut String) -> f64 {
    let times = (0..passes).filter_map(|_| {
        let start = Instant::now();
        room.clear();
        let mut boundary = Boundary::new(&Profile::AGENT).ok()?;
        boundary.push(bytes, room);
        black_box(boundary.finish(room));
        Some(start.elapsed())
    });
    times.min().map_or(0.0, |time| time.as_secs_f64() * 1e9 / bytes.len() as f64)
}

/// One change: something more, something less, something else, or the same twice.
fn change(random: &mut Random, unit: &mut Vec<u8>) {
    let (a, b) = (random.below(unit.len() + 1), random.below(unit.len() + 1));
    let range = a.min(b)..a.max(b);
    match random.below(6) {
        0 | 1 => insert(random, unit),
        2 => drop(unit.drain(range)),
        3 => {
            if let Some(byte) = unit.get_mut(a) {
                *byte = random.bits().to_le_bytes()[0];
            }
        }
        4 => {
            let again = unit.get(range).unwrap_or_default().to_vec();
            unit.splice(b..b, again);
        }
        _ => {
            unit.drain(range);
            insert(random, unit);
        }
    }
}

/// A piece somewhere.
fn insert(random: &mut Random, unit: &mut Vec<u8>) {
    let piece = if random.one_in(4) { random.of(&FRAGMENTS) } else { random.of(&PIECES) };
    let at = random.below(unit.len() + 1);
    unit.splice(at..at, piece.iter().copied());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_keeps_to_what_the_unit_may_be() {
        for is_utf8 in [false, true] {
            let mut random = Random::new("test");
            let (mut top, mut room) = (Hill { is_utf8, ..Hill::default() }, String::new());
            for _ in 0..50 {
                let mut unit = top.unit.clone();
                (0..4).for_each(|_| change(&mut random, &mut unit));
                take_if_slower(unit, &mut top, &mut room);
            }
            shorten(&mut top, &mut room);
            let text = std::str::from_utf8(&top.unit);
            assert!(!top.unit.is_empty() && top.unit.len() <= UNIT_BYTES_MAX);
            assert!(!is_utf8 || text.is_ok(), "{}", escape(&top.unit));
        }
    }

    #[test]
    fn nothing_is_no_unit() {
        assert!(!take_if_slower(Vec::new(), &mut Hill::default(), &mut String::new()));
        assert!(!takes(b"\xff", true) && takes(b"\xff", false));
    }

    #[test]
    fn every_change_is_made_and_every_piece_put_in() {
        let (mut random, mut seen) = (Random::new("pieces"), BTreeSet::new());
        for _ in 0..5000 {
            let mut unit = Vec::new();
            insert(&mut random, &mut unit);
            seen.insert(unit);
        }
        assert!(PIECES.iter().chain(&FRAGMENTS).all(|piece| seen.contains(*piece)));
    }
}
