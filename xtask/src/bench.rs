//! `cargo xtask bench`: how fast output becomes a view, beside others that strip sequences. Builds
//! and runs the program of `bench/`, a workspace of its own, whose usage says what it takes.

use std::path::Path;
use std::process::{Command, ExitCode};

/// Runs it with these arguments, and gives its exit status: 0 when it is done, 1 when it could not
/// be, 2 when it was misused. Also 2 when it could not be run; 101 when it could not be built.
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench/Cargo.toml");
    let mut bench = Command::new("cargo");
    bench.args(["run", "--release", "--quiet", "--manifest-path"]).arg(manifest);
    match bench.arg("--").args(arguments).status() {
        Ok(status) => {
            let code = status.code().and_then(|code| u8::try_from(code).ok());
            ExitCode::from(code.unwrap_or(2))
        }
        Err(error) => {
            eprintln!("xtask bench: error: cargo could not be run: {error}");
            ExitCode::from(2)
        }
    }
}
