#![forbid(unsafe_code)]
//! The record of a run, `noesc.run/1`, and the formats in which a reader is given it.
//!
//! An [`Envelope`] holds what the collector observed, and a view of each stream. [`render`] writes
//! it as `json`, `lines`, `fence` or `xml`; [`parse`] reads any of them back, and
//! `parse(render(e)) == e`. Whatever a child printed, a parser of the format never takes it for a
//! field of the record. The formats are specified in `spec/envelope.md`.
//!
//! [`Excerpt`] chooses which part of a long view an envelope holds: its head and its tail. An
//! envelope that answers a question for more holds parts of it, each with the number of its line.

mod command;
mod excerpt;
mod expected;
mod fence;
mod format;
mod ident;
mod json;
mod lines;
mod order;
mod outcome;
mod part;
mod processes;
mod record;
mod report;
mod told;
mod value;
mod xml;

pub use command::{Command, Recorded, StdinKind, WindowSize};
pub use excerpt::{CLUSTER_BYTES_MAX, Excerpt, STYLE_BYTES_MAX, Selection};
pub use expected::{Expected, Mismatch, Promise};
pub use format::{
    Format, NONCE_DRAWS_MAX, NonceSource, ParseError, RenderError, UnknownFormat, parse, render,
};
pub use ident::{Digest, Escaped, IdentError, RunId, Timestamp};
pub use json::schema;
pub use lines::LINE_BYTES_MAX;
pub use order::{ORDER_MAX, Order};
pub use outcome::{Exit, LimitName, Observer, Outcome, OutcomeKind, STILL_RUNNING};
pub use part::{FOUND_LISTED_MAX, Found, PARTS_MAX, Search, ViewPart};
pub use processes::{Collector, Ended, Processes, SURVIVORS_MAX, Scope, Survivor, Survivors};
pub use record::{
    Bytes, Covers, Cutoff, Digests, Disagreement, Envelope, Evidence, LimitPolicy, Limited, Limits,
    Omitted, OrderEntry, Policy, RawDigest, Redaction, Schema, Screen, Stream, StreamName, Text,
    Time, Tool, Trust, View,
};
pub use report::{Collapsed, Counts, Finding, HeldBack, Overwritten, Removed, Report, Severity};
pub use told::SURVIVORS_TOLD_MAX;
pub use value::{NUMBER_BYTES_MAX, Number, VALUE_COUNT_MAX, VALUE_DEPTH_MAX, Value, ValueError};
