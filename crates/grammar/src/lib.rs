#![no_std]
#![forbid(unsafe_code)]
//! The byte grammar of noesc: what of a process's output is text and what is control.
//!
//! [`Parser`] reads bytes in any chunks and says what they are, in [`Event`]s that tile the input.
//! It keeps nothing of a control string's payload, allocates nothing, and its state has a fixed
//! size. What becomes of an event is not its business: see the crate `noesc` for views and reports.
//!
//! The rules are chosen, since terminals disagree: `spec/grammar.md` gives them with their reasons.

mod event;
mod kind;
mod parser;
mod rows;
mod run;
mod sgr;

pub use event::{Class, Ending, Event, Receiver, Sequence};
pub use kind::{Kind, Severity};
pub use parser::{CSI_BYTES_MAX, ESCAPE_BYTES_MAX, Parser, RAW_HOLD_MAX, STRING_BYTES_MAX};
pub use run::Scanner;
pub use sgr::{Colour, Sgr, SgrParameters};
