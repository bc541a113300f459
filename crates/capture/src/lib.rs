//! One process and its output, observed.
//!
//! `capture` starts one process and owns its output. It does not know what an escape sequence is:
//! it hands every byte to a [`Sink`] as it arrives and reports what it saw, and only that.
//!
//! ```
//! use noesc_capture::{Chunk, Command, End, Flow, Limits, Outcome, Sink, Stream, run};
//!
//! #[derive(Default)]
//! struct Keep(Vec<u8>);
//!
//! impl Sink for Keep {
//!     fn chunk(&mut self, chunk: Chunk<'_>) -> Flow {
//!         self.0.extend_from_slice(chunk.bytes);
//!         Flow::Continue
//!     }
//!     fn end(&mut self, _: Stream, _: End) -> Flow {
//!         Flow::Continue
//!     }
//! }
//!
//! let mut kept = Keep::default();
//! let captured = run(&Command::new(["echo", "hello"]), &Limits::default(), &mut kept);
//! assert_eq!(kept.0, b"hello\n");
//! assert_eq!(captured.outcome, Outcome::Exited { code: 0 });
//! assert!(captured.stdout.end.eof);
//! ```
//!
//! What is not here yet: a pty, limits of bytes, time, idleness and rate, a drainer for the
//! processes that outlive a run. A process that still holds a pipe when the linger time is over
//! finds its reading end closed.

mod command;
mod descriptors;
mod drain;
mod outcome;
mod outlet;
mod reap;
mod signal;
mod sink;
mod spawn;
mod terminal;

pub use command::{Command, Limits, Stdin};
pub use drain::run;
pub use outcome::{
    Captured, Cutoff, End, Exit, Limit, Observer, Outcome, SpawnReason, StreamRecord, Unknown,
};
pub use outlet::Outlet;
pub use sink::{CHUNK_BYTES_MAX, Chunk, Flow, Sink, Stream};
