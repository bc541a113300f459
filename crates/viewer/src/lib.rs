#![forbid(unsafe_code)]
//! The investigator's viewer: the original bytes of a run, on a terminal that none of them reaches.
//!
//! [`view`] shows bytes in hexadecimal and in the audit notation side by side, names the sequence
//! under the cursor, and goes from finding to finding. Every cell that it draws is printable ASCII,
//! so that nothing in the bytes acts on the terminal. [`Viewer`] is the same without a terminal.

mod device;
mod draw;
mod finding;
mod help;
mod index;
mod job;
mod key;
mod keys;
mod layout;
mod original;
mod page;
mod pattern;
mod piece;
mod scan;
mod seen;
mod signals;
mod source;
#[cfg(test)]
mod tests;
mod theme;
mod view;
mod viewer;

pub use key::Key;
pub use original::{Bytes, Ended, Original, Seen, Start, StreamInfo, ViewerError, colour_wanted};
pub use seen::{Copied, SEEN_RANGES_MAX, SeenRange};
pub use view::view;
pub use viewer::{COPIED_BYTES_MAX, Viewer};

/// Compiles the example of the page.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/viewer.md")]
struct Docs;
