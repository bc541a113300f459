#![forbid(unsafe_code)]
//! Capture and boundary put together: one run, start to end.
//!
//! [`Viewer`] is one stream on its way to a view. [`live`] runs a command as a transparent wrapper:
//! each stream's view goes out as it is decided.

mod decode;
mod live;
mod suspect;
mod viewer;

pub use decode::{Decoder, EncodingError};
pub use live::{Ran, RanStream, Settings, live};
pub use noesc_capture::{
    Captured, Command, Cutoff, Exit, Limits, Outcome, Outlet, SpawnReason, Stdin, StreamRecord,
    Unknown,
};
pub use suspect::Suspicion;
pub use viewer::Viewer;
