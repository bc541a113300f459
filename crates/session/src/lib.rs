#![forbid(unsafe_code)]
//! Capture and boundary put together: one run, start to end.
//!
//! [`Viewer`] is one stream on its way to a view. [`live`] runs a command as a transparent wrapper:
//! each stream's view goes out as it is decided.

mod answer;
mod collect;
mod decode;
mod expect;
mod inherit;
mod keep;
mod live;
mod lock;
mod name;
mod record;
mod recover;
mod room;
mod runs;
mod stored;
mod suspect;
mod tap;
mod told;
mod viewer;

pub use answer::Answer;
pub use collect::{
    Background, CollectError, Collected, VIEW_BYTES, collect, collect_in_background,
};
pub use decode::{Decoder, EncodingError};
pub use expect::{Expect, JSON_BYTES};
pub use inherit::named_descriptors;
pub use keep::{Evidence, RECIPIENTS_GONE};
pub use live::{Ran, RanStream, Settings, live};
pub use name::NameGuard;
pub use noesc_capture::{
    AtLimit, Captured, Command, Cutoff, Exit, Interrupt, Interrupts, Limited, Limits, Outcome,
    Outlet, Size, SpawnReason, Stdin, StreamRecord, Unknown, detach, guard_memory,
    outlive_file_limits,
};
pub use noesc_envelope as envelope;
pub use record::{NoRandomness, nonces, spawn_reason_of};
pub use recover::{RecoverError, Recovered, recover};
pub use room::TRANSCRIPT_BYTES;
pub use runs::{FindError, RECORD, RECORD_BYTES_MAX, RunFile, RunFolder, Runs};
pub use stored::{Keeper, RecordError, StoredRun};
pub use suspect::Suspicion;
pub use told::told;
pub use viewer::Viewer;
