//! Vectors of AVX2, two for 64 bytes; single bits by BMI2.

use std::arch::x86_64::*;

use super::{Lanes, SLACK, Words};
use crate::masks::{Masks, below};
use crate::screen::{PAIRS, SCREENS, SIEVE, Screen};

#[derive(Clone, Copy)]
struct Avx2(__m256i, __m256i);

impl Avx2 {
    /// The bytes between two values, these included.
    #[inline(always)]
    unsafe fn within(self, first: u8, last: u8) -> u64 {
        // SAFETY: AVX2 is here.
        unsafe { bits(between(self.0, first, last), between(self.1, first, last)) }
    }
}

/// The bits of two vectors of bytes, of which each is 00 or has its highest bit set.
#[inline(always)]
unsafe fn bits(low: __m256i, high: __m256i) -> u64 {
    // SAFETY: the caller is where AVX2 is.
    let [low, high] = unsafe { [_mm256_movemask_epi8(low), _mm256_movemask_epi8(high)] };
    u64::from(low.cast_unsigned()) | u64::from(high.cast_unsigned()) << 32
}

// SAFETY of all methods: they are called where AVX2 is; pointers are as the trait says.
impl Lanes for Avx2 {
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: 64 bytes are readable.
        unsafe { Self(_mm256_loadu_si256(from.cast()), _mm256_loadu_si256(from.add(32).cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: 64 bytes are writable.
        unsafe {
            _mm256_storeu_si256(to.cast(), self.0);
            _mm256_storeu_si256(to.add(32).cast(), self.1);
        }
    }

    #[inline(always)]
    unsafe fn stops(self) -> u64 {
        // SAFETY: AVX2 is here.
        unsafe { bits(stops(self.0), stops(self.1)) }
    }

    #[inline(always)]
    unsafe fn high(self) -> u64 {
        // SAFETY: AVX2 is here.
        unsafe { bits(self.0, self.1) }
    }

    #[inline(always)]
    unsafe fn eq(self, byte: u8) -> u64 {
        // SAFETY: AVX2 is here.
        unsafe {
            let byte = _mm256_set1_epi8(byte.cast_signed());
            bits(_mm256_cmpeq_epi8(self.0, byte), _mm256_cmpeq_epi8(self.1, byte))
        }
    }

    #[inline(always)]
    unsafe fn eq_but(self, set: u8, byte: u8) -> u64 {
        // SAFETY: AVX2 is here.
        unsafe {
            let set = _mm256_set1_epi8(set.cast_signed());
            Self(_mm256_or_si256(self.0, set), _mm256_or_si256(self.1, set)).eq(byte)
        }
    }

    #[inline(always)]
    unsafe fn sixth(self) -> u64 {
        // SAFETY: AVX2 is here. Bit 6 of each byte is moved to where its highest one is.
        unsafe { bits(_mm256_slli_epi16(self.0, 1), _mm256_slli_epi16(self.1, 1)) }
    }

    #[inline(always)]
    unsafe fn pass_ascii(from: *const u8, to: Option<*mut u8>, len: usize) -> usize {
        let mut at = 0;
        while at + 64 <= len {
            // SAFETY: AVX2 is here; the block is readable and writable.
            unsafe {
                let block = Self::load(from.add(at));
                let stops = _mm256_or_si256(stops(block.0), stops(block.1));
                if _mm256_testz_si256(stops, stops) == 0 {
                    break;
                }
                if let Some(to) = to {
                    block.store(to.add(at));
                }
            }
            at += 64;
        }
        at
    }

    #[inline(always)]
    unsafe fn pass_text(from: *const u8, to: Option<*mut u8>, len: usize) -> usize {
        let mut at = 0;
        while at + 64 + super::AHEAD <= len {
            // SAFETY: AVX2 is here; 67 bytes are readable and 64 writable.
            unsafe {
                let from = from.add(at);
                let block = Self::load(from);
                let doubts = _mm256_or_si256(doubt(from), doubt(from.add(32)));
                let controls = _mm256_or_si256(control(block.0), control(block.1));
                let any = _mm256_or_si256(doubts, controls);
                if _mm256_testz_si256(any, any) == 0 || block.high() == 0 {
                    break;
                }
                if let Some(to) = to {
                    block.store(to.add(at));
                }
            }
            at += 64;
        }
        at
    }

    #[inline(always)]
    unsafe fn doubts(from: *const u8) -> (u64, u64) {
        // SAFETY: 67 bytes are readable.
        unsafe { doubts(from) }
    }

    #[inline(always)]
    unsafe fn is_doubtful(from: *const u8) -> bool {
        // SAFETY: 67 bytes are readable.
        unsafe {
            let any = _mm256_or_si256(doubt(from), doubt(from.add(32)));
            _mm256_testz_si256(any, any) == 0
        }
    }
}

/// Where a byte is not 20–7E, TAB or LF: FF; else 00.
#[inline(always)]
unsafe fn stops(v: __m256i) -> __m256i {
    // SAFETY: AVX2 is here.
    unsafe {
        // Signed, so that 80–FF is below 20 too.
        let below = _mm256_cmpgt_epi8(_mm256_set1_epi8(0x20), v);
        let tab = _mm256_cmpeq_epi8(v, _mm256_set1_epi8(0x09));
        let lf = _mm256_cmpeq_epi8(v, _mm256_set1_epi8(0x0A));
        let del = _mm256_cmpeq_epi8(v, _mm256_set1_epi8(0x7F));
        _mm256_or_si256(_mm256_andnot_si256(_mm256_or_si256(tab, lf), below), del)
    }
}

/// Where a byte is between two values: FF; else 00.
#[inline(always)]
unsafe fn between(v: __m256i, first: u8, last: u8) -> __m256i {
    // SAFETY: AVX2 is here.
    unsafe {
        let moved = _mm256_sub_epi8(v, _mm256_set1_epi8(first.cast_signed()));
        let most = _mm256_set1_epi8((last - first).cast_signed());
        _mm256_cmpeq_epi8(_mm256_min_epu8(moved, most), moved)
    }
}

/// Two vectors, of which the same is done: what is looked up is then loaded once.
type Two = (__m256i, __m256i);

/// Where anything is: FF; else 00.
#[inline(always)]
unsafe fn is_set(v: Two) -> Two {
    // SAFETY: AVX2 is here.
    unsafe {
        let (zero, ones) = (_mm256_setzero_si256(), _mm256_set1_epi8(-1));
        let (low, high) = (_mm256_cmpeq_epi8(v.0, zero), _mm256_cmpeq_epi8(v.1, zero));
        (_mm256_xor_si256(low, ones), _mm256_xor_si256(high, ones))
    }
}

/// The cells that nibbles look up.
#[inline(always)]
unsafe fn look(cells: &[u8; 16], nibbles: Two) -> Two {
    // SAFETY: AVX2 is here; sixteen bytes are readable.
    unsafe {
        let cells = _mm256_broadcastsi128_si256(_mm_loadu_si128(cells.as_ptr().cast()));
        (_mm256_shuffle_epi8(cells, nibbles.0), _mm256_shuffle_epi8(cells, nibbles.1))
    }
}

#[inline(always)]
unsafe fn and(a: Two, b: Two) -> Two {
    // SAFETY: AVX2 is here.
    unsafe { (_mm256_and_si256(a.0, b.0), _mm256_and_si256(a.1, b.1)) }
}

#[inline(always)]
unsafe fn or(a: Two, b: Two) -> Two {
    // SAFETY: AVX2 is here.
    unsafe { (_mm256_or_si256(a.0, b.0), _mm256_or_si256(a.1, b.1)) }
}

/// The 64 bytes from `from` on.
#[inline(always)]
unsafe fn load(from: *const u8) -> Two {
    // SAFETY: AVX2 is here; 64 bytes are readable.
    unsafe { (_mm256_loadu_si256(from.cast()), _mm256_loadu_si256(from.add(32).cast())) }
}

#[inline(always)]
unsafe fn low(v: Two) -> Two {
    // SAFETY: AVX2 is here.
    unsafe {
        let nibble = _mm256_set1_epi8(0x0F);
        and(v, (nibble, nibble))
    }
}

#[inline(always)]
unsafe fn high(v: Two) -> Two {
    // SAFETY: AVX2 is here.
    unsafe { low((_mm256_srli_epi16(v.0, 4), _mm256_srli_epi16(v.1, 4))) }
}

/// Those of the classes of a screen that its leads are in whose other bytes are as well.
#[inline(always)]
unsafe fn classes(screen: &Screen, leads: Two, second: (Two, Two), third: (Two, Two)) -> Two {
    // SAFETY: AVX2 is here.
    unsafe {
        let second = and(look(&screen[2], second.0), look(&screen[3], second.1));
        let third = and(look(&screen[4], third.0), look(&screen[5], third.1));
        and(leads, and(second, third))
    }
}

/// Of 64 bytes: see [`Lanes::doubts`]. Apart from the loop, which keeps its registers for itself.
#[target_feature(enable = "avx2")]
#[inline(never)]
unsafe fn doubts(from: *const u8) -> (u64, u64) {
    // SAFETY: 67 bytes are readable.
    unsafe {
        let (v0, v1, v2) = (load(from), load(from.add(1)), load(from.add(2)));
        let third = (high(v2), low(v2));

        // The third byte behind is the one at hand, the second the one before it.
        let pair = and(look(&PAIRS[0], third.0), look(&PAIRS[1], third.1));
        let pair = and(pair, look(&PAIRS[2], high(load(from.add(3)))));
        let (tails_low, tails_high) = (tails(v0.0, v1.0), tails(v0.1, v1.1));
        let ill_formed =
            is_set((_mm256_xor_si256(pair.0, tails_low), _mm256_xor_si256(pair.1, tails_high)));

        let first = (high(v0), low(v0));
        let second = (high(v1), low(v1));
        let mut found = (_mm256_setzero_si256(), _mm256_setzero_si256());
        for screen in &SCREENS {
            let leads = and(look(&screen[0], first.0), look(&screen[1], first.1));
            found = or(found, classes(screen, leads, second, third));
        }
        let found = is_set(found);
        (bits(ill_formed.0, ill_formed.1), bits(found.0, found.1))
    }
}

/// Where a third or fourth byte of a character must be: 80; else 00. `v0` and `v1` are the bytes
/// three and two before.
#[inline(always)]
unsafe fn tails(v0: __m256i, v1: __m256i) -> __m256i {
    // SAFETY: AVX2 is here.
    unsafe {
        let third = _mm256_subs_epu8(v1, _mm256_set1_epi8(0x60));
        let fourth = _mm256_subs_epu8(v0, _mm256_set1_epi8(0x70));
        let tail = _mm256_set1_epi8(0x80_u8.cast_signed());
        _mm256_and_si256(_mm256_or_si256(third, fourth), tail)
    }
}

/// The cells that nibbles of one vector look up.
#[inline(always)]
unsafe fn one(cells: &[u8; 16], nibbles: __m256i) -> __m256i {
    // SAFETY: AVX2 is here; sixteen bytes are readable.
    unsafe {
        let cells = _mm256_broadcastsi128_si256(_mm_loadu_si128(cells.as_ptr().cast()));
        _mm256_shuffle_epi8(cells, nibbles)
    }
}

/// Where a byte is 00–1F but for TAB and LF, or DEL: FF; else 00.
#[inline(always)]
unsafe fn control(v: __m256i) -> __m256i {
    // SAFETY: AVX2 is here.
    unsafe {
        let below = _mm256_cmpeq_epi8(_mm256_min_epu8(v, _mm256_set1_epi8(0x1F)), v);
        let tab = _mm256_cmpeq_epi8(v, _mm256_set1_epi8(0x09));
        let lf = _mm256_cmpeq_epi8(v, _mm256_set1_epi8(0x0A));
        let del = _mm256_cmpeq_epi8(v, _mm256_set1_epi8(0x7F));
        _mm256_or_si256(_mm256_andnot_si256(_mm256_or_si256(tab, lf), below), del)
    }
}

/// Of 32 bytes: something is set where [`Lanes::is_doubtful`] says so.
#[inline(always)]
unsafe fn doubt(from: *const u8) -> __m256i {
    // SAFETY: AVX2 is here; 35 bytes are readable.
    unsafe {
        let nibble = _mm256_set1_epi8(0x0F);
        let v0 = _mm256_loadu_si256(from.cast());
        let v1 = _mm256_loadu_si256(from.add(1).cast());
        let v2 = _mm256_loadu_si256(from.add(2).cast());
        let v3 = _mm256_loadu_si256(from.add(3).cast());
        let low2 = _mm256_and_si256(v2, nibble);
        let high2 = _mm256_and_si256(_mm256_srli_epi16(v2, 4), nibble);
        let high3 = _mm256_and_si256(_mm256_srli_epi16(v3, 4), nibble);
        let pair = _mm256_and_si256(one(&PAIRS[0], high2), one(&PAIRS[1], low2));
        let pair = _mm256_and_si256(pair, one(&PAIRS[2], high3));
        let ill_formed = _mm256_xor_si256(pair, tails(v0, v1));

        let low0 = _mm256_and_si256(v0, nibble);
        let high0 = _mm256_and_si256(_mm256_srli_epi16(v0, 4), nibble);
        let low1 = _mm256_and_si256(v1, nibble);
        let high1 = _mm256_and_si256(_mm256_srli_epi16(v1, 4), nibble);
        let first = _mm256_and_si256(one(&SIEVE[0], high0), one(&SIEVE[1], low0));
        let second = _mm256_and_si256(one(&SIEVE[2], high1), one(&SIEVE[3], low1));
        let third = _mm256_and_si256(one(&SIEVE[4], high2), one(&SIEVE[5], low2));
        let found = _mm256_and_si256(_mm256_and_si256(first, second), third);
        _mm256_or_si256(ill_formed, found)
    }
}

/// See [`super::fill`].
pub(crate) fn fill(raw: &[u8], masks: &mut Masks) {
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn inner(raw: &[u8], masks: &mut Masks) {
        // SAFETY: AVX2 is here.
        unsafe { super::fill::<Avx2>(raw, masks) }
    }
    // SAFETY: this path is chosen where AVX2 and BMI2 are, and all that have these have the rest.
    unsafe { inner(raw, masks) }
}

/// See [`super::text`]. There is room for what it appends.
pub(crate) fn text(raw: &[u8], to: &mut Vec<u8>) -> usize {
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn inner(raw: &[u8], to: &mut Vec<u8>) -> usize {
        // SAFETY: AVX2 is here; there is room.
        unsafe { super::text::<Avx2>(raw, to) }
    }
    to.reserve(raw.len() + SLACK);
    // SAFETY: as for `fill`.
    unsafe { inner(raw, to) }
}

/// See [`super::text_len`].
pub(crate) fn text_len(raw: &[u8]) -> usize {
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn inner(raw: &[u8]) -> usize {
        // SAFETY: AVX2 is here; nothing is written.
        unsafe { super::text_len::<Avx2>(raw, None) }
    }
    // SAFETY: as for `fill`.
    unsafe { inner(raw) }
}

/// For each set of eight bytes, the places of those in it, moved together.
const PLACES: [u64; 256] = {
    let mut table = [0; 256];
    let mut set = 0;
    while set < 256 {
        let (mut byte, mut n) = (0, 0);
        while byte < 8 {
            if set >> byte & 1 == 1 {
                table[set] |= byte << (8 * n);
                n += 1;
            }
            byte += 1;
        }
        set += 1;
    }
    table
};

/// How many bits of the first words are set.
pub(crate) fn count(words: &[u64]) -> usize {
    #[target_feature(enable = "popcnt")]
    fn inner(words: &[u64]) -> usize {
        words.iter().map(|word| word.count_ones() as usize).sum()
    }
    // SAFETY: this path is chosen where AVX2 is, and POPCNT is older.
    unsafe { inner(words) }
}

/// Appends the bytes of `raw` that are in `text`, which are all before its end; an LF for those in
/// `line_ends`.
pub(crate) fn compress(raw: &[u8], text: &Words, line_ends: Option<&Words>, to: &mut Vec<u8>) {
    to.reserve(raw.len() + SLACK);
    // SAFETY: this path is chosen where AVX2 and BMI2 are; there is room.
    unsafe { compress_all(raw, text, line_ends, to) }
}

/// # Safety
/// There is room for `raw.len() + SLACK` bytes, and no bit of `text` is set behind `raw`.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn compress_all(raw: &[u8], text: &Words, line_ends: Option<&Words>, to: &mut Vec<u8>) {
    let mut end = [0; 64];
    // SAFETY: what is written lies within the room: 64 bytes at most behind what counts.
    unsafe {
        let begin = to.as_mut_ptr().add(to.len());
        let mut out = begin;
        for (index, (block, &word)) in raw.chunks(64).zip(text).enumerate() {
            let from = if block.len() == 64 {
                block.as_ptr()
            } else {
                end[..block.len()].copy_from_slice(block);
                end.as_ptr()
            };
            if word == !0 {
                Avx2::load(from).store(out);
            } else {
                let (mut to, mut rest) = (out, word);
                for eight in 0..8 {
                    let set = (rest & 0xFF) as usize;
                    let places = _mm_cvtsi64_si128(PLACES[set].cast_signed());
                    let bytes = _mm_loadl_epi64(from.add(8 * eight).cast());
                    _mm_storel_epi64(to.cast(), _mm_shuffle_epi8(bytes, places));
                    to = to.add(set.count_ones() as usize);
                    rest >>= 8;
                }
            }
            let mut rest = line_ends.map_or(0, |words| words[index]);
            while rest != 0 {
                *out.add((word & below(rest.trailing_zeros() as usize)).count_ones() as usize) =
                    b'\n';
                rest &= rest - 1;
            }
            out = out.add(word.count_ones() as usize);
        }
        to.set_len(to.len() + out.offset_from_unsigned(begin));
    }
}

/// How many bytes at the head of a payload need no rule; see [`crate::payload_len`].
pub(crate) fn payload_len(bytes: &[u8]) -> usize {
    // SAFETY: this path is chosen where AVX2 is.
    unsafe { payload(bytes) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn payload(bytes: &[u8]) -> usize {
    let mut len = 0;
    for block in bytes.chunks_exact(64) {
        // SAFETY: a chunk is 64 bytes.
        let found = unsafe {
            let block = Avx2::load(block.as_ptr());
            let (below, high) = (block.within(0, 0x1F), block.high());
            if below | high == 0 { 0 } else { rules(block) }
        };
        if found != 0 {
            return len + found.trailing_zeros() as usize;
        }
        len += 64;
    }
    len + crate::prefix::payload_by_step(&bytes[len..])
}

/// The bytes of a payload that have a rule of their own.
#[inline(always)]
unsafe fn rules(block: Avx2) -> u64 {
    // SAFETY: AVX2 is here.
    unsafe {
        let ends = block.eq(0x07) | block.eq(0x18) | block.within(0x1A, 0x1B) | block.eq(0x9C);
        ends | block.eq(0x0A) | block.eq(0x0D) | block.within(0xC2, 0xF4)
    }
}

/// How many bytes at the head lie in a range; see [`crate::range_len`].
pub(crate) fn range_len(bytes: &[u8], first: u8, last: u8) -> usize {
    // SAFETY: this path is chosen where AVX2 is.
    unsafe { range(bytes, first, last) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn range(bytes: &[u8], first: u8, last: u8) -> usize {
    let mut len = 0;
    for block in bytes.chunks_exact(64) {
        // SAFETY: a chunk is 64 bytes.
        let others = unsafe { !Avx2::load(block.as_ptr()).within(first, last) };
        if others != 0 {
            return len + others.trailing_zeros() as usize;
        }
        len += 64;
    }
    len + bytes[len..].iter().take_while(|b| (first..=last).contains(*b)).count()
}
