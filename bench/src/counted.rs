//! The instructions of the engine for a byte, on each path and for each input that is the same on
//! every machine: this program runs itself under callgrind, which sums those of each pass apart.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::inputs::{self, Input};
use crate::paths;
use crate::peers::{Buffers, Does, PEERS};

/// The word that makes this program do the passes of the path that the next word names.
pub(crate) const PASSES: &str = "--passes";

/// The paths that valgrind can go.
const PATHS: [&str; 3] = ["avx2", "swar", "rows"];

/// What is counted.
const PASS: &str = "noesc_bench::counted::pass";

/// A line for each path and input: the input, the path, and the instructions for a byte, with tabs
/// between. A path that this processor can't go has none.
pub(crate) fn table() -> Result<String, String> {
    let folder = std::env::temp_dir().join(format!("noesc-bench-counts-{}", std::process::id()));
    fs::create_dir(&folder).map_err(|error| format!("no folder could be made: {error}"))?;
    // All of them begin before one is waited for.
    let runs = PATHS.map(|path| (path, start(path, &folder)));
    let tables = runs.map(|(path, run)| run.and_then(|run| counts(path, run, &folder)));
    let _ = fs::remove_dir_all(&folder);
    tables.into_iter().collect()
}

/// This program under callgrind, which writes to files of this folder, named by the path.
fn start(path: &str, folder: &Path) -> Result<Child, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--quiet", "--tool=callgrind"]);
    valgrind.args(["toggle-collect", "dump-after"].map(|option| format!("--{option}={PASS}")));
    valgrind.arg(format!("--callgrind-out-file={path}")).arg(program).args([PASSES, path]);
    valgrind.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped());
    let kept = std::env::var_os("PATH").map(|value| ("PATH", value));
    valgrind.env_clear().envs(kept);
    // Of an instruction that repeats itself, callgrind counts every time. The C library copies and
    // fills without such ones, whose speed that would not tell.
    valgrind.env("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-ERMS");
    valgrind.spawn().map_err(|error| format!("valgrind could not be run: {error}"))
}

/// The lines of a path, of what it printed and of what callgrind wrote after each pass.
fn counts(path: &str, run: Child, folder: &Path) -> Result<String, String> {
    let output = run.wait_with_output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("nothing was counted of {path}: valgrind failed"));
    }
    let passes = String::from_utf8_lossy(&output.stdout);
    let mut lines = String::new();
    for (index, pass) in passes.lines().enumerate() {
        let part = format!("{path}.{}", index + 1);
        let written = fs::read_to_string(folder.join(&part)).unwrap_or_default();
        let (input, bytes) = pass.split_once('\t').unwrap_or_default();
        match (summary(&written), bytes.parse::<f64>()) {
            (Some(count), Ok(bytes)) => lines += &format!("{input}\t{path}\t{}\n", count / bytes),
            _ => return Err(format!("{part} holds no count")),
        }
    }
    Ok(lines)
}

/// The instructions that a file of callgrind sums.
fn summary(written: &str) -> Option<f64> {
    written.lines().find_map(|line| line.strip_prefix("summary: "))?.trim().parse().ok()
}

/// Does one pass over each input on the path of this name, and prints before each what it is: the
/// name of the input, a tab, and its bytes. Does none where this processor can't go the path;
/// `None` where no input could be made.
pub(crate) fn passes(path: &str) -> Option<()> {
    let forced = paths::available().into_iter().find(|known| known.name() == path);
    if !forced.is_some_and(|path| paths::force(Some(path))) {
        return Some(());
    }
    let inputs = inputs::counted().ok()?;
    let mut buffers = Buffers::new();
    // What is done once in the life of a process is not of the first input.
    engine(inputs.first()?, &mut buffers);
    for input in &inputs {
        println!("{}\t{}", input.name, input.bytes().len());
        pass(black_box(input), black_box(&mut buffers));
    }
    Some(())
}

/// The pass. Callgrind knows it by its name, and nobody else calls it.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_the_sum_of_a_file() {
        assert_eq!(summary("events: Ir\nsummary: 69133\n\nfn=a\n0 1\n"), Some(69133.0));
        assert_eq!(summary("events: Ir\n"), None);
    }
}
