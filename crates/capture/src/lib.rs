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
//! On Linux a supervisor stands between: a small process that sees and ends the whole tree, that
//! notices when the collector dies, and that listens to what outlives a run. Elsewhere there is
//! none; the record says so ([`Scope::Group`]), and only the process group is seen and ended.

mod clock;
mod command;
mod descriptors;
mod interrupt;
mod lane;
mod launch;
#[cfg(target_os = "linux")]
mod leftover;
mod limits;
#[cfg(target_os = "linux")]
mod link;
mod outcome;
mod outlet;
mod own;
mod process;
mod pty;
mod run;
mod signal;
mod sink;
mod spawn;
#[cfg(target_os = "linux")]
mod supervisor;
mod terminal;
#[cfg(target_os = "linux")]
mod tree;
mod wire;

pub use command::{Command, Size, Stdin};
pub use descriptors::detach;
pub use interrupt::{Interrupt, Interrupts, guard_memory};
#[cfg(target_os = "linux")]
pub use leftover::COUNT_DIGITS;
pub use limits::{AtLimit, Limited, Limits, PROCESSES_LOOK};
pub use outcome::{
    Captured, Cutoff, End, Ended, Exit, Limit, Observer, Outcome, Scope, SpawnReason, StreamRecord,
    Survivor, Survivors, Unknown,
};
pub use outlet::Outlet;
pub use run::run;
pub use signal::outlive_file_limits;
pub use sink::{CHUNK_BYTES_MAX, Chunk, Flow, Sink, Stream};
