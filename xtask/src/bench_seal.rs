//! `cargo xtask bench-seal`: what it costs to keep a run: at its end, and for every byte of it.
//!
//! The same command runs in three homes that differ in what is kept. They take turns: medians of
//! short runs are compared, and the fastest of long ones.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use crate::bench_run::{built, median_ms, time};

/// Turns of a run of one line, after a few that fill the caches.
const STARTS: usize = 100;
const WARM_STARTS: usize = 5;

/// Turns of a run with much output.
const TURNS: usize = 3;

/// Bytes of output where nothing else is asked for: 1 GiB.
const BYTES: u64 = 1 << 30;

/// The promises: what sealing adds to a run of one line, and to one of much output.
const START_MS_MAX: f64 = 5.0;
const RATIO_MAX: f64 = 2.0;

/// A recipient of which nobody has the identity.
const RECIPIENT: &str = "age1lvyvwawkr0mcnnnncaghunadrqkmuf9e6507x9y920xxpp866cnql7dp2z";

/// What is kept, and the configuration that says so.
const HOMES: [(&str, &str); 3] = [
    ("nothing", "evidence = \"off\"\n"),
    ("transcripts and ledger", ""),
    ("the same, and the sealed original", "RECIPIENT"),
];

/// Prints what was measured. Exit 0 when both promises are kept, 1 when one is not, 2 when it could
/// not be measured.
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let bytes = match arguments {
        [] => Ok(BYTES),
        [flag, bytes] if flag == "--bytes" => bytes.parse().map_err(|_| "--bytes needs a number"),
        _ => Err("it takes no argument but --bytes N"),
    };
    let root = std::env::temp_dir().join(format!("noesc-bench-seal-{}", std::process::id()));
    let measured = bytes.map_err(str::to_owned).and_then(|bytes| measure(&root, bytes));
    let _ = fs::remove_dir_all(&root);
    match measured {
        Ok(is_kept) => ExitCode::from(u8::from(!is_kept)),
        Err(message) => {
            eprintln!("xtask bench-seal: error: {}", message.escape_default());
            ExitCode::from(2)
        }
    }
}

fn measure(root: &Path, bytes: u64) -> Result<bool, String> {
    let noesc = built(&["--bin", "noesc"])?.join("noesc");
    let mut homes = Vec::new();
    for (number, (_, config)) in HOMES.iter().enumerate() {
        let home = root.join(number.to_string());
        let config = match *config {
            "RECIPIENT" => format!("recipients = [\"{RECIPIENT}\"]\n"),
            config => config.to_owned(),
        };
        fs::create_dir_all(home.join("config/noesc"))
            .and_then(|()| fs::write(home.join("config/noesc/config.toml"), config))
            .map_err(|error| format!("no home could be made: {error}"))?;
        homes.push(home);
    }
    let short = &["run", "--", "echo", "one line"][..];
    let starts = medians(&noesc, &homes, short)?;
    println!("| kept of a run of one line, {STARTS} turns | median, ms | more than nothing |");
    println!("| --- | ---: | ---: |");
    for ((what, _), median) in HOMES.iter().zip(&starts) {
        println!("| {what} | {median:.2} | {:+.2} |", median - starts[0]);
    }
    let script = format!("yes 'a line of a log, as long as they are' | head -c {bytes}");
    let long =
        ["run", "--format", "json", "--capture-bytes-max", "2GiB", "--", "sh", "-c", &script];
    let turns = fastest(&noesc, &homes, &long)?;
    let ratios: Vec<f64> = turns.iter().map(|turn| turn / turns[0]).collect();
    println!("\n| kept of {:.0} MB, fastest of {TURNS} | s | ratio |", bytes as f64 / 1e6);
    println!("| --- | ---: | ---: |");
    for (((what, _), turn), ratio) in HOMES.iter().zip(&turns).zip(&ratios) {
        println!("| {what} | {turn:.2} | {ratio:.2} |");
    }
    let (extra_ms, ratio) = (starts[2] - starts[0], ratios[2]);
    Ok(extra_ms <= START_MS_MAX && ratio <= RATIO_MAX)
}

fn command(noesc: &Path, home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(noesc);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
    command.env_remove("LD_LIBRARY_PATH");
    command.env("XDG_CONFIG_HOME", home.join("config")).env("XDG_STATE_HOME", home.join("state"));
    command
}

/// The median of each home, in ms.
fn medians(noesc: &Path, homes: &[PathBuf], arguments: &[&str]) -> Result<Vec<f64>, String> {
    let mut times = vec![Vec::with_capacity(STARTS); homes.len()];
    for turn in 0..WARM_STARTS + STARTS {
        for (home, times) in homes.iter().zip(&mut times) {
            let time = time(&mut command(noesc, home, arguments))?;
            if turn >= WARM_STARTS {
                times.push(time);
            }
        }
    }
    Ok(times.into_iter().map(median_ms).collect())
}

/// The fastest turn of each home, in seconds.
fn fastest(noesc: &Path, homes: &[PathBuf], arguments: &[&str]) -> Result<Vec<f64>, String> {
    let mut fastest = vec![Duration::MAX; homes.len()];
    for _ in 0..TURNS {
        for (home, fastest) in homes.iter().zip(&mut fastest) {
            *fastest = time(&mut command(noesc, home, arguments))?.min(*fastest);
            // The disk is not to be what is measured last.
            let _ = fs::remove_dir_all(home.join("state"));
        }
    }
    Ok(fastest.iter().map(Duration::as_secs_f64).collect())
}
