//! The scan with vectors of x86-64: what is done with 64 bytes, over what each of its two kinds of
//! vector does with them.

mod avx2;
mod avx512;

use crate::masks::{BLOCK, Bytes, Carry, Masks, Words, below};
use crate::screen::{Found, find, without_joiner};
use crate::stretch::{SLACK, STRETCH_BYTES_MAX};

pub(crate) use avx2::{
    compress as compress_avx2, count, fill as fill_avx2, payload_len as payload_avx2,
    range_len as range_avx2, text as text_avx2, text_len as text_len_avx2,
};
pub(crate) use avx512::{
    compress as compress_avx512, fill as fill_avx512, text as text_avx512,
    text_len as text_len_avx512,
};

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

    /// The bytes that are this one when all of these bits are set in them.
    unsafe fn eq_but(self, set: u8, byte: u8) -> u64;

    /// The bytes from 40 to 7F, and from C0 on.
    unsafe fn sixth(self) -> u64;

    /// Goes through whole blocks as long as they are ASCII text, and gives how many bytes. Copies
    /// them where there is a `to`.
    ///
    /// # Safety
    /// `len` bytes are readable, and writable.
    unsafe fn pass_ascii(from: *const u8, to: Option<*mut u8>, len: usize) -> usize;

    /// Whether the block at `from` may hold anything that [`doubts`](Self::doubts) tells of.
    ///
    /// # Safety
    /// The 67 bytes from `from` on are readable.
    unsafe fn is_doubtful(from: *const u8) -> bool;

    /// The same for blocks that hold a byte from 80 on, as long as they are text without a doubt.
    ///
    /// # Safety
    /// `len` bytes are readable, and writable.
    unsafe fn pass_text(from: *const u8, to: Option<*mut u8>, len: usize) -> usize;

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
            parameter: block.eq_but(0x0F, 0x3F),
            private: block.eq_but(0x03, 0x3F),
            fin: block.sixth() & !stops,
            m: block.eq(b'm'),
            k: block.eq(b'K'),
            separator: block.eq_but(0x01, 0x3B),
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
            if !is_seen {
                limit = head(raw, at, limit);
            }
            // SAFETY: as above.
            if unsafe { L::is_doubtful(from) } {
                // SAFETY: as above.
                let doubts = unsafe { L::doubts(from) };
                let settled = settle(raw, at, doubts, limit);
                (bad, limit) = (settled.bad, settled.limit);
                masks.special[at / BLOCK] = settled.special;
                masks.any_special |= settled.special != 0;
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
            masks.cut(without_joiner(raw, stop));
            return;
        }
        at += BLOCK;
    }
    masks.len = at;
    masks.cut(limit.min(at));
    let len = if carry.is_open() { carry.open_at } else { char_border(raw, masks.len) };
    masks.cut(without_joiner(raw, len));
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

/// What came of doubts.
struct Settled {
    /// Where the first C1 control begins.
    bad: u64,
    /// Where characters begin that are no bases, up to there.
    special: u64,
    /// How far the bytes are well-formed.
    limit: usize,
}

/// Looks at the doubtful characters of the block at `at`, and at all of them where something is
/// ill-formed.
#[inline(never)]
fn settle(raw: &[u8], at: usize, (ill_formed, mut doubtful): (u64, u64), limit: usize) -> Settled {
    let mut settled = Settled { bad: 0, special: 0, limit };
    if ill_formed != 0 {
        settled.limit = limit.min(ill_formed_at(raw, at));
    }
    while doubtful != 0 {
        let bit = doubtful & doubtful.wrapping_neg();
        match find(raw, at + doubtful.trailing_zeros() as usize) {
            Found::Text(_) => {}
            Found::Special(_) => settled.special |= bit,
            Found::NoText => {
                settled.bad = bit;
                break;
            }
        }
        doubtful &= doubtful - 1;
    }
    settled
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
    // SAFETY: the place behind what is there is within the room, and so are the bytes of `raw`.
    let len = unsafe {
        let out = to.as_mut_ptr().add(to.len());
        text_len::<L>(raw, Some(out))
    };
    // SAFETY: so many bytes were written.
    unsafe { to.set_len(to.len() + len) };
    len
}

/// How many bytes of text there are at the head of `raw`, in whole blocks. They are copied where
/// there is a `to`.
///
/// # Safety
/// The processor has what `L` is for; `raw.len()` bytes are writable from `to` on.
#[inline(always)]
unsafe fn text_len<L: Lanes>(raw: &[u8], to: Option<*mut u8>) -> usize {
    let mut is_seen = false;
    let from = raw.as_ptr();
    let mut at = 0;
    while at + BLOCK + AHEAD <= raw.len() {
        // SAFETY: so many bytes are readable, and writable.
        let ascii = unsafe {
            let to = to.map(|to| to.add(at));
            L::pass_ascii(from.add(at), to, raw.len() - AHEAD - at)
        };
        at += ascii;
        if ascii > 0 {
            is_seen = false;
        }
        if at + BLOCK + AHEAD > raw.len() || !is_seen && head(raw, at, raw.len()) < raw.len() {
            break;
        }
        // SAFETY: as above.
        at += unsafe {
            let to = to.map(|to| to.add(at));
            L::pass_text(from.add(at), to, raw.len() - at)
        };
        if at + BLOCK + AHEAD > raw.len() {
            break;
        }
        // SAFETY: a block and three bytes more are readable, and a block is writable.
        unsafe {
            let block = L::load(from.add(at));
            let (stops, high) = (block.stops(), block.high());
            if high == 0 && stops == 0 {
                is_seen = false;
                continue;
            }
            if stops != high {
                break;
            }
            let doubts = L::doubts(from.add(at));
            let settled = settle(raw, at, doubts, raw.len());
            if settled.bad | settled.special != 0 || settled.limit < raw.len() {
                break;
            }
            if let Some(to) = to {
                block.store(to.add(at));
            }
        }
        is_seen = true;
        at += BLOCK;
    }
    let len = without_joiner(raw, char_border(raw, at));
    debug_assert!(str::from_utf8(&raw[..len]).is_ok());
    len
}
