//! Bytes in memory: where they end or begin with what may be read, and at any place of 64.

use std::ffi::c_void;
use std::ptr::null_mut;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

/// A page of any machine, or some of them.
const PAGE: usize = 65_536;

/// Readable memory between two pages that may not be touched.
pub(crate) struct Fenced {
    start: *mut u8,
}

impl Fenced {
    pub(crate) fn new() -> Self {
        // SAFETY: new memory, of which nothing else knows; the middle of it stays readable.
        unsafe {
            let all = ProtFlags::READ | ProtFlags::WRITE;
            let start = mmap_anonymous(null_mut(), 3 * PAGE, all, MapFlags::PRIVATE).unwrap();
            mprotect(start, PAGE, MprotectFlags::empty()).unwrap();
            mprotect(start.byte_add(2 * PAGE), PAGE, MprotectFlags::empty()).unwrap();
            Self { start: start.cast() }
        }
    }

    /// These bytes where what is behind them may not be read.
    pub(crate) fn at_end(&mut self, bytes: &[u8]) -> &[u8] {
        self.put(bytes, PAGE - bytes.len())
    }

    /// These bytes where what is before them may not be read.
    pub(crate) fn at_start(&mut self, bytes: &[u8]) -> &[u8] {
        self.put(bytes, 0)
    }

    fn put(&mut self, bytes: &[u8], at: usize) -> &[u8] {
        assert!(at + bytes.len() <= PAGE);
        // SAFETY: they lie within the page that may be read and written, and `self` is borrowed as
        // long as they are.
        unsafe {
            let to = self.start.add(PAGE + at);
            to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            std::slice::from_raw_parts(to, bytes.len())
        }
    }
}

impl Drop for Fenced {
    fn drop(&mut self) {
        // SAFETY: this is what was mapped, and no slice of it lives longer than `self`.
        unsafe { munmap(self.start.cast::<c_void>(), 3 * PAGE).unwrap() }
    }
}

/// Room for bytes at any distance from a border of 64.
pub(crate) struct Aligned(Vec<u8>);

impl Aligned {
    pub(crate) fn new() -> Self {
        Self(Vec::new())
    }

    /// These bytes at `place` bytes behind a border of 64, among bytes of `around`.
    pub(crate) fn at(&mut self, place: usize, bytes: &[u8], around: u8) -> &[u8] {
        self.0.clear();
        self.0.resize(bytes.len() + 256, around);
        let from = self.0.as_ptr().align_offset(64) + place % 64;
        self.0[from..from + bytes.len()].copy_from_slice(bytes);
        if from > 0 {
            // The lead of a character, or an ESC, right before is none of theirs.
            self.0[from - 1] = if around == b'm' { 0x1B } else { 0xE4 };
        }
        &self.0[from..from + bytes.len()]
    }
}
