//! How much of a chunk needs no rule: text that is kept as it is, and complete control sequences
//! between it.
//!
//! The rows of `noesc-grammar` and the rules of `noesc-text` stay the definition of what a byte is.
//! This crate finds the bytes of which nothing but the obvious is to be said, as many at a time as
//! the processor can compare, and leaves all others to the rows. Each [`Path`] finds the same text.
//!
//! It is the one crate of the boundary that holds `unsafe`: the vector instructions, and text that
//! was found to be well-formed taken as such.

mod masks;
mod path;
mod prefix;
mod screen;
mod stretch;
mod swar;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(feature = "forced")]
pub use path::force;
pub use path::{Path, available, in_use};
pub use prefix::{as_text, payload_len, range_len, text_into};
pub use stretch::{Aborted, Piece, Pieces, SLACK, STRETCH_BYTES_MAX, Stretch};
