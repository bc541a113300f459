#![forbid(unsafe_code)]
//! The program of the bench.

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    noesc_bench::main(&words)
}
