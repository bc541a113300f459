//! Vectors of AVX-512, one for 64 bytes.

use std::arch::x86_64::*;

use super::{Lanes, SLACK, Words};
use crate::masks::Masks;
use crate::screen::{PAIRS, SCREENS, SIEVE, Screen};

#[derive(Clone, Copy)]
struct Avx512(__m512i);

// SAFETY of all methods: they are called where AVX-512 is; pointers are as the trait says.
impl Lanes for Avx512 {
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: 64 bytes are readable.
        unsafe { Self(_mm512_loadu_si512(from.cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: 64 bytes are writable.
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn stops(self) -> u64 {
        // SAFETY: AVX-512 is here.
        unsafe {
            // One more than 7E and less than 20 + 1, moved together by an addition that wraps.
            let moved = _mm512_sub_epi8(self.0, _mm512_set1_epi8(0x20));
            let others = _mm512_cmpgt_epu8_mask(moved, _mm512_set1_epi8(0x5E));
            others & !(self.eq(0x09) | self.eq(0x0A))
        }
    }

    #[inline(always)]
    unsafe fn high(self) -> u64 {
        // SAFETY: AVX-512 is here.
        unsafe { _mm512_movepi8_mask(self.0) }
    }

    #[inline(always)]
    unsafe fn eq(self, byte: u8) -> u64 {
        // SAFETY: AVX-512 is here.
        unsafe { _mm512_cmpeq_epi8_mask(self.0, _mm512_set1_epi8(byte.cast_signed())) }
    }

    #[inline(always)]
    unsafe fn eq_but(self, set: u8, byte: u8) -> u64 {
        // SAFETY: AVX-512 is here.
        unsafe { Self(_mm512_or_si512(self.0, _mm512_set1_epi8(set.cast_signed()))).eq(byte) }
    }

    #[inline(always)]
    unsafe fn sixth(self) -> u64 {
        // SAFETY: AVX-512 is here.
        unsafe { _mm512_test_epi8_mask(self.0, _mm512_set1_epi8(0x40)) }
    }

    #[inline(always)]
    unsafe fn pass_ascii(from: *const u8, to: Option<*mut u8>, len: usize) -> usize {
        let mut at = 0;
        while at + 64 <= len {
            // SAFETY: AVX-512 is here; the block is readable and writable.
            unsafe {
                let block = Self::load(from.add(at));
                if block.stops() != 0 {
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
            // SAFETY: 67 bytes are readable and 64 writable.
            unsafe {
                let from = from.add(at);
                let block = Self::load(from);
                let high = block.high();
                if block.stops() != high || high == 0 || Self::is_doubtful(from) {
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
    unsafe fn is_doubtful(from: *const u8) -> bool {
        // SAFETY: 67 bytes are readable.
        unsafe {
            let v0 = _mm512_loadu_si512(from.cast());
            let v1 = _mm512_loadu_si512(from.add(1).cast());
            let v2 = _mm512_loadu_si512(from.add(2).cast());
            let v3 = _mm512_loadu_si512(from.add(3).cast());
            let found = classes(&WIDE_SIEVE, v0, v1, v2) & is_lead(v0);
            ill_formed(v0, v1, v2, v3) | found != 0
        }
    }

    #[inline(always)]
    unsafe fn doubts(from: *const u8) -> (u64, u64) {
        // SAFETY: 67 bytes are readable.
        unsafe {
            let v0 = _mm512_loadu_si512(from.cast());
            let v1 = _mm512_loadu_si512(from.add(1).cast());
            let v2 = _mm512_loadu_si512(from.add(2).cast());
            let v3 = _mm512_loadu_si512(from.add(3).cast());
            let mut found = 0;
            for screen in &WIDE {
                found |= classes(screen, v0, v1, v2);
            }
            (ill_formed(v0, v1, v2, v3), found & is_lead(v0))
        }
    }
}

/// Where a byte is from C0 on.
#[inline(always)]
unsafe fn is_lead(v: __m512i) -> u64 {
    // SAFETY: AVX-512 is here.
    unsafe { _mm512_cmpge_epu8_mask(v, _mm512_set1_epi8(0xC0_u8.cast_signed())) }
}

/// Where ill-formed UTF-8 is found, three bytes behind: the third byte behind is the one at hand,
/// the second the one before it.
#[inline(always)]
unsafe fn ill_formed(v0: __m512i, v1: __m512i, v2: __m512i, v3: __m512i) -> u64 {
    // SAFETY: AVX-512 is here.
    unsafe {
        let (first, second) = (nibbles(&PAIRS[0], high(v2)), nibbles(&PAIRS[1], low(v2)));
        let third = nibbles(&PAIRS[2], high(v3));
        let pair = _mm512_and_si512(_mm512_and_si512(first, second), third);
        let third = _mm512_subs_epu8(v1, _mm512_set1_epi8(0x60));
        let fourth = _mm512_subs_epu8(v0, _mm512_set1_epi8(0x70));
        let tail = _mm512_set1_epi8(0x80_u8.cast_signed());
        let tails = _mm512_and_si512(_mm512_or_si512(third, fourth), tail);
        _mm512_cmpneq_epi8_mask(pair, tails)
    }
}

#[inline(always)]
unsafe fn low(v: __m512i) -> __m512i {
    // SAFETY: AVX-512 is here.
    unsafe { _mm512_and_si512(v, _mm512_set1_epi8(0x0F)) }
}

#[inline(always)]
unsafe fn high(v: __m512i) -> __m512i {
    // SAFETY: AVX-512 is here.
    unsafe { low(_mm512_srli_epi16(v, 4)) }
}

/// The cells that nibbles look up.
#[inline(always)]
unsafe fn nibbles(cells: &[u8; 16], nibbles: __m512i) -> __m512i {
    // SAFETY: AVX-512 is here; sixteen bytes are readable.
    unsafe {
        let cells = _mm512_broadcast_i32x4(_mm_loadu_si128(cells.as_ptr().cast()));
        _mm512_shuffle_epi8(cells, nibbles)
    }
}

/// The cells that the low six bits of bytes look up.
#[inline(always)]
unsafe fn bytes(cells: &[u8; 64], v: __m512i) -> __m512i {
    // SAFETY: AVX-512 is here; 64 bytes are readable.
    unsafe { _mm512_permutexvar_epi8(v, _mm512_loadu_si512(cells.as_ptr().cast())) }
}

/// Where a lead with the two bytes behind it is in a class of a screen. A third byte that is no
/// continuation byte is behind a character of two bytes: in all classes that ask for no third one.
#[inline(always)]
unsafe fn classes(screen: &[[u8; 64]; 3], v0: __m512i, v1: __m512i, v2: __m512i) -> u64 {
    // SAFETY: AVX-512 is here.
    unsafe {
        let two = _mm512_and_si512(bytes(&screen[0], v0), bytes(&screen[1], v1));
        _mm512_test_epi8_mask(two, bytes(&screen[2], v2))
    }
}

/// The screens by whole bytes: of the leads C0–FF, and of the continuation bytes 80–BF.
const WIDE: [[[u8; 64]; 3]; 3] = [wide(&SCREENS[0]), wide(&SCREENS[1]), wide(&SCREENS[2])];

const WIDE_SIEVE: [[u8; 64]; 3] = wide(&SIEVE);

const fn wide(screen: &Screen) -> [[u8; 64]; 3] {
    let mut table = [[0; 64]; 3];
    let mut byte = 0;
    while byte < 3 {
        let base = if byte == 0 { 0xC0 } else { 0x80 };
        let mut low = 0;
        while low < 64 {
            let value = base + low;
            table[byte][low] = screen[2 * byte][value >> 4] & screen[2 * byte + 1][value & 15];
            low += 1;
        }
        byte += 1;
    }
    table
}

macro_rules! here {
    (
        $(#[$doc:meta])*
        $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? $body:block
    ) => {
        $(#[$doc])*
        pub(crate) fn $name($($argument: $type),*) $(-> $result)? {
            #[target_feature(
                enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vbmi,avx512vbmi2"
            )]
            fn inner($($argument: $type),*) $(-> $result)? $body
            // SAFETY: this path is chosen where all of these are.
            unsafe { inner($($argument),*) }
        }
    };
}

here! {
    /// See [`super::fill`].
    fill(raw: &[u8], masks: &mut Masks) {
        // SAFETY: AVX-512 is here.
        unsafe { super::fill::<Avx512>(raw, masks) }
    }
}

here! {
    /// See [`super::text`].
    text(raw: &[u8], to: &mut Vec<u8>) -> usize {
        to.reserve(raw.len() + SLACK);
        // SAFETY: AVX-512 is here; there is room.
        unsafe { super::text::<Avx512>(raw, to) }
    }
}

here! {
    /// See [`super::text_len`].
    text_len(raw: &[u8]) -> usize {
        // SAFETY: AVX-512 is here; nothing is written.
        unsafe { super::text_len::<Avx512>(raw, None) }
    }
}

here! {
    /// Appends the bytes of `raw` that are in `text`, which are all before its end; an LF for those
    /// in `line_ends`.
    compress(raw: &[u8], text: &Words, line_ends: Option<&Words>, to: &mut Vec<u8>) {
        to.reserve(raw.len() + SLACK);
        // SAFETY: what is written lies within the room: 64 bytes at most behind what counts.
        unsafe {
            let begin = to.as_mut_ptr().add(to.len());
            let mut out = begin;
            for (index, (block, &word)) in raw.chunks(64).zip(text).enumerate() {
                let mask = !0 >> (64 - block.len());
                let bytes = _mm512_maskz_loadu_epi8(mask, block.as_ptr().cast());
                let line_ends = line_ends.map_or(0, |words| words[index]);
                let bytes = _mm512_mask_set1_epi8(bytes, line_ends, 0x0A);
                _mm512_storeu_si512(out.cast(), _mm512_maskz_compress_epi8(word, bytes));
                out = out.add(word.count_ones() as usize);
            }
            to.set_len(to.len() + out.offset_from_unsigned(begin));
        }
    }
}
