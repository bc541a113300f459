#![forbid(unsafe_code)]
//! What every sequence and control of a byte stream means, in words.
//!
//! [`Explainer`] writes an explanation of a stream that is safe to look at: every sequence and
//! control with its offset, name and meaning, and the text between them inert. [`Items`] gives the
//! same pieces to a caller that shows them in a way of its own, and [`describe`] names one
//! sequence.

mod characters;
mod control;
mod csi;
mod escape;
mod explainer;
mod hiding;
mod item;
mod items;
mod json;
mod meaning;
mod mode;
mod osc;
mod parameters;
mod payload;
mod rows;
mod shown;
mod strings;
mod style;
mod summary;
mod theme;

pub use control::describe_control;
pub use explainer::{Explainer, Layout, Options};
pub use item::{Deceiving, Explained, Form, Hidden, Item, LineEnd, What};
pub use items::{ILL_FORMED_BYTES_MAX, Items};
pub use meaning::{Meaning, describe};
pub use payload::PAYLOAD_BYTES_MAX;
pub use theme::Theme;

/// Compiles and runs the examples of the page.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/explain.md")]
struct Docs;
