//! The scan with vectors of x86-64: what is done with 64 bytes, over what each of its two kinds of
//! vector does with them.

mod avx2;
mod avx512;

use crate::masks::{BLOCK, Bytes, Carry, Masks, Words, below};
use crate::screen::base_len;
use crate::stretch::{SLACK, STRETCH_BYTES_MAX};

pub(crate) use avx2::{
    compress as compress_avx2, fill as fill_avx2, payload_len as payload_avx2,
    range_len as range_avx2, text as text_avx2,
};
pub(crate) use avx512::{compress as compress_avx512, fill as fill_avx512, text as text_avx512};

/// Bytes behind a block that are looked at: a character that begins in it may end in them.
const AHEAD: usize = 3;

/// Sixty-four bytes in vectors.
///
/// # Safety
/// Every method may be called only where the processor has what the implementation is for.
trait Lanes: Copy {
    /// Loads a block.
    ///
    /// # Safety
    /// The 64 bytes from `from` on are readable.
    unsafe fn load(from: *const u8) -> Self;

    /// Stores the block.
    ///
    /// # Safety
    /// The 64 bytes from `to` on are writable.
    unsafe fn store(self, to: *mut u8);

    /// The bytes that are not 20–7E, TAB or LF.
    unsafe fn stops(self) -> u64;

    /// The bytes from 80 on.
    unsafe fn high(self) -> u64;

    /// The bytes that are this one.
    unsafe fn eq(self, byte: u8) -> u64;

    /// The bytes between two values, these included.
    unsafe fn between(self, first: u8, last: u8) -> u64;

    /// Copies whole blocks as long as they are ASCII text, and gives how many bytes.
    ///
    /// # Safety
    /// `len` bytes are readable and writable.
    unsafe fn copy_ascii(from: *const u8, to: *mut u8, len: usize) -> usize;

    /// Of the block at `from`: where ill-formed UTF-8 is found, three bytes behind; and where a
    /// character begins that may be no base.
    ///
    /// # Safety
    /// The 67 bytes from `from` on are readable.
    unsafe fn doubts(from: *const u8) -> (u64, u64);
}

/// What the bytes of a block are.
#[inline(always)]
unsafe fn compare<L: Lanes>(block: L, stops: u64, high: u64, esc: u64) -> Bytes {
    // SAFETY: the caller is where these vectors are.
    unsafe {
        Bytes {
            stops,
            high,
            esc,
            cr: block.eq(b'\r'),
            bracket: block.eq(b'['),
            parameter: block.between(0x30, 0x3F),
            private: block.between(0x3C, 0x3F),
            fin: block.between(0x40, 0x7E),
            m: block.eq(b'm'),
            k: block.eq(b'K'),
            separator: block.between(0x3A, 0x3B),
            zero: block.eq(b'0'),
            one: block.eq(b'1'),
            four_eight: block.eq(b'4') | block.eq(b'8'),
        }
    }
}

/// Finds a stretch at the head of `raw`.
///
/// # Safety
/// The processor has what `L` is for.
#[inline(always)]
unsafe fn fill<L: Lanes>(raw: &[u8], masks: &mut Masks) {
    let mut limit = raw.len().min(STRETCH_BYTES_MAX);
    // The block before was looked at for doubts, and so were the first bytes of this one.
    let mut is_seen = false;
    let mut carry = Carry::default();
    let mut end = [0; 2 * BLOCK + AHEAD];
    let whole = raw.len().saturating_sub(AHEAD) / BLOCK * BLOCK;
    let mut at = 0;
    while at < limit {
        // SAFETY: before `whole` a block and three bytes more are in `raw`; behind it there are at
        // most 66 bytes, which are copied to where 131 are.
        let from = unsafe {
            if at < whole {
                raw.as_ptr().add(at)
            } else {
                if at == whole {
                    end[..raw.len() - at].copy_from_slice(&raw[at..]);
                }
                end.as_ptr().add(at - whole)
            }
        };
        // SAFETY: 67 bytes from `from` on are readable.
        let (block, stops) = unsafe {
            let block = L::load(from);
            (block, block.stops())
        };
        let index = at / BLOCK;
        if stops == 0 && !carry.is_open() && at + BLOCK <= limit {
            masks.text[index] = !0;
            carry.passed();
            is_seen = false;
            at += BLOCK;
            continue;
        }
        // SAFETY: as above.
        let (high, esc) = unsafe { (block.high(), block.eq(0x1B)) };
        let mut bad = 0;
        if high != 0 {
            // SAFETY: as above.
            let (ill_formed, doubtful) = unsafe { L::doubts(from) };
            if !is_seen {
                limit = head(raw, at, limit);
            }
            if ill_formed | doubtful != 0 {
                (bad, limit) = settle(raw, at, ill_formed != 0, doubtful, limit);
            }
        }
        is_seen = high != 0;
        if limit < at + BLOCK {
            bad |= !below(limit - at);
        }
        let stop = if esc == 0 && !carry.is_open() {
            // SAFETY: as above.
            let cr = unsafe { block.eq(b'\r') };
            carry.text(at, cr, stops & !high & !cr | bad, masks)
        } else {
            // SAFETY: as above.
            carry.block(at, &unsafe { compare(block, stops, high, esc) }, bad, masks)
        };
        if let Some(stop) = stop {
            masks.len = at + BLOCK;
            masks.cut(stop);
            return;
        }
        at += BLOCK;
    }
    masks.len = at;
    masks.cut(limit.min(at));
    if carry.is_open() {
        masks.len = carry.open_at;
    } else {
        let len = char_border(raw, masks.len);
        if len < masks.len {
            masks.cut(len);
        }
    }
}

/// The first ill-formed byte of the three at a border of characters, of which no doubts are told;
/// else `limit`.
#[inline(always)]
fn head(raw: &[u8], at: usize, limit: usize) -> usize {
    let mut at = at;
    let end = limit.min(at + AHEAD);
    while at < end {
        match raw[at] {
            0..0x80 => at += 1,
            _ => match crate::screen::char_at(&raw[at..]) {
                Some((_, len)) => at += len,
                None => return at,
            },
        }
    }
    limit
}

/// Looks at the doubtful characters of the block at `at`, and at all of them where something is
/// ill-formed. Gives the bits of those that are no bases, and how far the bytes are well-formed.
#[inline(never)]
fn settle(
    raw: &[u8],
    at: usize,
    is_ill_formed: bool,
    mut doubtful: u64,
    mut limit: usize,
) -> (u64, usize) {
    if is_ill_formed {
        limit = limit.min(ill_formed_at(raw, at));
    }
    while doubtful != 0 {
        let bit = doubtful.trailing_zeros();
        if raw.get(at + bit as usize..).is_none_or(|rest| base_len(rest) == 0) {
            return (1 << bit, limit);
        }
        doubtful &= doubtful - 1;
    }
    (0, limit)
}

/// Where the first ill-formed sequence begins in the block at `at` and the three bytes behind it.
fn ill_formed_at(raw: &[u8], at: usize) -> usize {
    let end = raw.len().min(at + BLOCK + AHEAD);
    let mut at = at;
    // What a character of the block before left.
    while at < end && (0x80..0xC0).contains(&raw[at]) && char_border(raw, at) < at {
        at += 1;
    }
    while at < end {
        match raw[at] {
            0..0x80 => at += 1,
            _ => match crate::screen::char_at(&raw[at..]) {
                Some((_, len)) => at += len,
                None => return at,
            },
        }
    }
    usize::MAX
}

/// Where the character begins that `at` is in the middle of; else `at`.
fn char_border(raw: &[u8], at: usize) -> usize {
    if !raw.get(at).is_some_and(|b| (0x80..0xC0).contains(b)) {
        return at;
    }
    for before in 1..=AHEAD.min(at) {
        let start = at - before;
        if let Some((_, len)) = crate::screen::char_at(&raw[start..]) {
            return if len > before { start } else { at };
        }
    }
    at
}

/// Appends the text at the head of `raw` and gives its length.
///
/// # Safety
/// The processor has what `L` is for; `to` has room for `raw.len() + SLACK` bytes more.
#[inline(always)]
unsafe fn text<L: Lanes>(raw: &[u8], to: &mut Vec<u8>) -> usize {
    let mut is_seen = false;
    let from = raw.as_ptr();
    // SAFETY: the place behind what is there is within the room.
    let out = unsafe { to.as_mut_ptr().add(to.len()) };
    let mut at = 0;
    while at + BLOCK + AHEAD <= raw.len() {
        // SAFETY: so many bytes are readable, and writable.
        let ascii = unsafe { L::copy_ascii(from.add(at), out.add(at), raw.len() - AHEAD - at) };
        if ascii > 0 {
            at += ascii;
            is_seen = false;
            continue;
        }
        // SAFETY: a block and three bytes more are readable, and a block is writable.
        unsafe {
            let block = L::load(from.add(at));
            let stops = block.stops();
            block.store(out.add(at));
            if stops != block.high() || !is_seen && head(raw, at, raw.len()) < raw.len() {
                break;
            }
            let (ill_formed, doubtful) = L::doubts(from.add(at));
            if ill_formed | doubtful != 0
                && settle(raw, at, ill_formed != 0, doubtful, raw.len()) != (0, raw.len())
            {
                break;
            }
        }
        is_seen = true;
        at += BLOCK;
    }
    let len = char_border(raw, at);
    debug_assert!(str::from_utf8(&raw[..len]).is_ok());
    // SAFETY: so many bytes were written.
    unsafe { to.set_len(to.len() + len) };
    len
}

/// What [`fill`] and [`text`] do, for the tests of the vectors alone.
#[cfg(test)]
mod tests;
