//! One pass of the engine over each input that is the same on every machine, for who counts the
//! instructions of it.

use std::fs::OpenOptions;
use std::hint::black_box;
use std::io::{self, Write as _};

use crate::inputs::{self, Input};
use crate::paths;
use crate::peers::{Buffers, Does, PEERS};

/// The variable that names the file where the passes are listed, in their order.
pub const LIST: &str = "NOESC_BENCH_PASSES";

/// The inputs, and the room for what becomes of them.
#[derive(Debug)]
pub struct Passes {
    inputs: Vec<Input>,
    buffers: Buffers,
}

impl Passes {
    /// Makes the engine go the path of this name, and adds a line to the list for each pass that
    /// is to come: path, input and its bytes, with tabs between. There is none where this
    /// processor can't go the path, where no input can be made, or where the list can't be written.
    #[must_use]
    pub fn over(path: &str) -> Self {
        let forced = paths::available().into_iter().find(|known| known.name() == path);
        let is_forced = forced.is_some_and(|path| paths::force(Some(path)));
        let mut inputs = if is_forced { inputs::counted().unwrap_or_default() } else { Vec::new() };
        if list(path, &inputs).is_err() {
            inputs.clear();
        }
        let mut buffers = Buffers::new();
        // What is done once in the life of a process is not of the first input.
        inputs.first().into_iter().for_each(|input| engine(input, &mut buffers));
        Self { inputs, buffers }
    }

    /// Does one pass after the other.
    pub fn run(&mut self) {
        for input in &self.inputs {
            pass(black_box(input), black_box(&mut self.buffers));
        }
    }
}

fn list(path: &str, inputs: &[Input]) -> io::Result<()> {
    let Some(file) = std::env::var_os(LIST) else { return Ok(()) };
    let mut file = OpenOptions::new().append(true).open(file)?;
    let lines = inputs.iter().map(|input| {
        let (name, bytes) = (&input.name, input.bytes().len());
        format!("{path}\t{name}\t{bytes}\n")
    });
    file.write_all(lines.collect::<String>().as_bytes())
}

/// The pass. Who counts knows it by its name, and nobody else calls it.
#[inline(never)]
fn pass(input: &Input, buffers: &mut Buffers) {
    engine(input, buffers);
}

fn engine(input: &Input, buffers: &mut Buffers) {
    let ours = PEERS.iter().find(|peer| peer.does == Does::Ours);
    for pass in ours.into_iter().flat_map(|peer| peer.passes) {
        pass(input, buffers, &mut |left| {
            black_box(left);
        });
    }
}
