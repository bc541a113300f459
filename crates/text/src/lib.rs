#![no_std]
#![forbid(unsafe_code)]
//! Which characters deceive a reader, and the one visible notation for them.
//!
//! [`category`] says what a character is; [`Context`] judges it beside its neighbours, in one pass
//! and with a state of fixed size; [`Visible`] and [`AuditEscape`] write what must not be printed.

mod audit;
mod category;
mod context;
mod mixed;
mod mixed_tables;
mod tables;
mod verdict;
mod visible;

pub use audit::{AuditEscape, EscapedByte, Unescape, UnescapeError, UnescapeReason, escape_byte};
pub use category::{
    Category, JoiningScript, category, is_base, is_glyphless, is_mark, is_ordinary, is_seen,
};
pub use context::{Context, HOLD_MAX, MARKS_MAX, is_at_home};
pub use mixed::{MixedWord, MixedWords, PASSING_LETTERS_MIN, SYMBOL_LATIN_MIN, Script, script};
pub use tables::{UNICODE_VERSION, VARIATION_PAIRS_VERSION};
pub use verdict::{Class, Severity, Verdict};
pub use visible::Visible;
