//! Counts the instructions of the engine, each of its paths in a process of its own under
//! callgrind, which sums those of each pass apart. `cargo xtask bench-instructions` runs it.

use gungraun::{
    Callgrind, EntryPoint, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
};
use noesc_bench::{LIST, Passes};

/// What is counted. A part of the sums ends where it returns.
const PASS: &str = "noesc_bench::counted::pass";

fn counting() -> LibraryBenchmarkConfig {
    let mut callgrind = Callgrind::with_args(["cache-sim=no", "dump-line=no"]);
    callgrind.args([format!("dump-after={PASS}")]);
    callgrind.entry_point(EntryPoint::Custom(PASS.to_owned()));
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(callgrind).pass_through_env(LIST);
    // Of an instruction that repeats itself, callgrind counts every time. The C library copies and
    // fills without such ones, whose speed that would not tell.
    config.env("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-ERMS");
    config
}

#[library_benchmark]
#[bench::avx2(args = ("avx2"), setup = Passes::over)]
#[bench::swar(args = ("swar"), setup = Passes::over)]
#[bench::rows(args = ("rows"), setup = Passes::over)]
fn path(mut passes: Passes) -> Passes {
    passes.run();
    passes
}

library_benchmark_group!(name = engine, benchmarks = path);
main!(config = counting(); library_benchmark_groups = engine);
