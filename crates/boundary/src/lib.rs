#![forbid(unsafe_code)]
//! The boundary between process output and everything that reads it afterwards.
//!
//! Terminal output is untrusted input: somebody else chose the bytes. This crate turns them into a
//! *view*, text that is inert, and a *report* of what was removed, without ever looking at a
//! terminal, a file, a clock or the environment.
//!
//! ```
//! let output = b"build: \x1b[31mFAIL\x1b[0m\n\x1b]52;c;cm0gLXJm\x07checking\r\x1b[Kdone\n";
//!
//! assert_eq!(noesc::clean(output), "build: FAIL\nchecking\ndone\n");
//!
//! let view = noesc::view(output, &noesc::Profile::AGENT)?;
//! assert_eq!(view.report.kinds["clipboard-write"], 1);
//! # Ok::<(), noesc::ProfileError>(())
//! ```
//!
//! What a view promises is in `spec/views.md`; what counts as a sequence, in `spec/grammar.md`.

mod adapt;
mod attributes;
mod audit;
mod boundary;
mod content;
mod edit;
pub mod fit;
mod floor;
mod lossy;
mod modes;
pub mod osc;
mod page;
mod profile;
mod report;
mod sheet;
mod span;
mod style;
mod swift;
mod view;
mod window;

pub use adapt::{Filter, FmtWriter, Reader, Writer};
pub use audit::{audit, unaudit};
pub use boundary::Boundary;
pub use content::{Content, ContentClass, Sanitize, second_pass};
pub use floor::Floor;
pub use noesc_grammar::{CSI_BYTES_MAX, ESCAPE_BYTES_MAX, RAW_HOLD_MAX, STRING_BYTES_MAX};
pub use noesc_text::{UNICODE_VERSION, Unescape, UnescapeError, VARIATION_PAIRS_VERSION};
pub use profile::{
    Conceal, Cr, Form, HiddenText, Invisible, Profile, ProfileError, Removed, Separators, Style,
    UnknownValue,
};
pub use report::{
    Collapsed, Counts, FINDING_SPANS_MAX, Finding, HeldBack, Overwritten, RemovedCounts, Report,
    Severity,
};
pub use span::{Fate, Run, SpanReceiver};
pub use view::{View, clean, marked, view, view_with_spans};
pub use window::LINE_CELLS_MAX;

/// The Rust examples of the README and of the book compile and hold.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
#[doc = include_str!("../../../docs/library.md")]
#[doc = include_str!("../../../docs/terminal-programs.md")]
struct Documents;
