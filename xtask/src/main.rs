#![forbid(unsafe_code)]
//! Chores of this repository: `cargo xtask NAME [ARGUMENT…]`, one line per chore below.

use std::process::ExitCode;

mod bench;
mod bench_instructions;
mod bench_memory;
mod bench_run;
mod bench_scan;
mod bench_seal;
mod gen_tables;
mod tidy;

const USAGE: &str = "usage: cargo xtask NAME [ARGUMENT...]

  bench [--quick] [--tsv] [--input NAME]...    compare the speed with others that strip sequences;
      with --through what they let through, with --search search for the slowest input
  bench-instructions [--record]    compare the engine's instructions for a byte with the record
  bench-memory [--bytes N]    measure the command's peak memory on endless inputs, 2 GB each
  bench-run [--bytes N]    measure what noesc run costs: its start, and 2 GiB of output
  bench-scan [FOLDER]    compare the speed of noesc scan with that of rg counting lines
  bench-seal [--bytes N]    measure what it costs to keep a run, and to seal 1 GiB of output
  gen-tables [--check]    generate crates/text/src/tables.rs, or compare it
  tidy    check the rules of the house over every tracked file
";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    match name.as_str() {
        "bench" => bench::run(&rest),
        "bench-instructions" => bench_instructions::run(&rest),
        "bench-memory" => bench_memory::run(&rest),
        "bench-run" => bench_run::run(&rest),
        "bench-scan" => bench_scan::run(&rest),
        "bench-seal" => bench_seal::run(&rest),
        "gen-tables" => gen_tables::run(&rest),
        "tidy" => tidy::run(&rest),
        _ => {
            eprint!("{USAGE}");
            ExitCode::from(2)
        }
    }
}
