//! `cargo xtask bench-run`: what `noesc run` costs in front of a command: at its start, and for
//! every byte of its output.
//!
//! Starts of all commands take turns, and their medians are compared. Of the runs with much output
//! the fastest turns are compared: whatever else the machine does only ever adds to a time.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// Turns of each start that are counted, after a few that fill the caches.
const STARTS: usize = 200;
const WARM_STARTS: usize = 10;

/// Turns of each run with much output.
const TURNS: usize = 5;

/// Bytes of output where nothing else is asked for: 2 GiB.
const BYTES: u64 = 2 << 30;

/// Bytes of the log that is written again and again.
const LOG_BYTES: u64 = 64 << 20;

/// The promises: what a run may cost more than its command alone, and how fast output passes
/// beside `cat`.
const START_MS_MAX: f64 = 3.0;
const SPEED_MIN: f64 = 0.5;

/// A command line of words; the first one of noesc's is replaced by where it was built.
type Line = &'static [&'static str];

const PLAIN: Line = &["true"];
const RUN: Line = &["noesc", "run", "--", "true"];
const STARTED: [Line; 6] = [
    PLAIN,
    RUN,
    &["noesc", "run", "--format", "json", "--", "true"],
    &["noesc", "--version"],
    &["timeout", "60", "true"],
    &["sh", "-c", "true; true"],
];

/// Prints what was measured. Exit 0 when both promises are kept, 1 when one is not, 2 when it could
/// not be measured.
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let bytes = match arguments {
        [] => Ok(BYTES),
        [flag, bytes] if flag == "--bytes" => bytes.parse().map_err(|_| "--bytes needs a number"),
        _ => Err("it takes no argument but --bytes N"),
    };
    match bytes.map_err(str::to_owned).and_then(measure) {
        Ok(is_kept) => ExitCode::from(u8::from(!is_kept)),
        Err(message) => {
            eprintln!("xtask bench-run: error: {}", message.escape_default());
            ExitCode::from(2)
        }
    }
}

fn measure(bytes: u64) -> Result<bool, String> {
    let noesc = built(&["--bin", "noesc"])?.join("noesc");
    let capture = built(&["-p", "noesc-capture", "--example", "run"])?.join("examples/run");
    let extra_ms = starts(&noesc)?;
    println!("\nof this the supervisor: {:.2} ms\n", supervisor_ms(&capture)?);
    let speed = output(&noesc, bytes)?;
    Ok(extra_ms <= START_MS_MAX && speed >= SPEED_MIN)
}

/// What these arguments name, built for release; gives the folder.
pub(crate) fn built(what: &[&str]) -> Result<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut build = Command::new("cargo");
    build.args(["build", "--release", "--quiet"]).args(what).current_dir(&root);
    let status = build.status().map_err(|error| format!("cargo could not be run: {error}"))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
    match status.success() {
        true => Ok(root.join(target).join("release")),
        false => Err("the command could not be built".into()),
    }
}

/// Prints the table of starts, and gives what a run costs more than its command alone, in ms.
fn starts(noesc: &Path) -> Result<f64, String> {
    let mut commands = STARTED.map(|line| command(noesc, line));
    let mut times = STARTED.map(|_| Vec::with_capacity(STARTS));
    for turn in 0..WARM_STARTS + STARTS {
        for (command, times) in commands.iter_mut().zip(&mut times) {
            let time = time(command)?;
            if turn >= WARM_STARTS {
                times.push(time);
            }
        }
    }
    let fastest = times.each_ref().map(|times| times.iter().min().copied().unwrap_or_default());
    let medians = times.map(median_ms);
    let alone = medians[0];
    println!("| command, {STARTS} turns | median, ms | more than `true` | ratio | fastest, ms |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    let mut extra_ms = f64::INFINITY;
    for ((line, median), fastest) in STARTED.into_iter().zip(medians).zip(fastest) {
        let (words, more, ratio) = (words(line), median - alone, median / alone);
        let fastest = fastest.as_secs_f64() * 1e3;
        println!("| `{words}` | {median:.2} | {more:+.2} | {ratio:.2} | {fastest:.2} |");
        if line == RUN {
            extra_ms = more;
        }
    }
    Ok(extra_ms)
}

/// As a shell takes it.
fn words(line: Line) -> String {
    let quoted = line.iter().map(|word| match word.contains(' ') {
        true => format!("'{word}'"),
        false => (*word).to_owned(),
    });
    quoted.collect::<Vec<_>>().join(" ")
}

fn command(noesc: &Path, line: Line) -> Command {
    let mut words = line.iter();
    let mut command = match words.next() {
        Some(&"noesc") => Command::new(noesc),
        word => Command::new(word.unwrap_or(&"")),
    };
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null());
    // Cargo sets it for what it runs, and every start would look for its libraries there.
    command.env_remove("LD_LIBRARY_PATH");
    keep_nothing(&mut command);
    command
}

/// What is kept of a run is measured by itself, and is not to fill the store of who measures.
fn keep_nothing(command: &mut Command) {
    command.env("XDG_STATE_HOME", "/dev/null").env("XDG_CONFIG_HOME", "/nonexistent");
}

pub(crate) fn time(command: &mut Command) -> Result<Duration, String> {
    let start = Instant::now();
    let child = spawn(command)?;
    ended(child, command)?;
    Ok(start.elapsed())
}

fn spawn(command: &mut Command) -> Result<Child, String> {
    let child = command.spawn();
    child.map_err(|error| format!("{} could not be run: {error}", name(command)))
}

fn ended(mut child: Child, command: &Command) -> Result<(), String> {
    match child.wait().map_err(|error| error.to_string())?.success() {
        true => Ok(()),
        false => Err(format!("{} failed", name(command))),
    }
}

fn name(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

/// The one in the middle; of two in the middle, the mean.
pub(crate) fn median_ms(mut times: Vec<Duration>) -> f64 {
    times.sort();
    let low = times.get(times.len().saturating_sub(1) / 2).copied().unwrap_or_default();
    let high = times.get(times.len() / 2).copied().unwrap_or_default();
    (low + high).as_secs_f64() * 1e3 / 2.0
}

/// What the supervisor adds to a start: capture's own example, which runs a command and nothing
/// else, with one and without.
fn supervisor_ms(capture: &Path) -> Result<f64, String> {
    let started = |flags: &[&str]| {
        let mut command = Command::new(capture);
        command.arg("--null").args(flags).arg("true").stdin(Stdio::null()).stdout(Stdio::null());
        command
    };
    let mut commands = [started(&[]), started(&["--unsupervised"])];
    let mut times = [const { Vec::new() }; 2];
    for _ in 0..STARTS {
        for (command, times) in commands.iter_mut().zip(&mut times) {
            times.push(time(command)?);
        }
    }
    let [with, without] = times.map(median_ms);
    Ok(with - without)
}

/// Prints how fast output passes, and gives the speed beside that of `cat`.
fn output(noesc: &Path, bytes: u64) -> Result<f64, String> {
    let path = std::env::temp_dir().join(format!("noesc-bench-run-{}.log", std::process::id()));
    let times = write_log(&path, LOG_BYTES.min(bytes))
        .map_err(|error| format!("the log could not be written: {error}"))
        .and_then(|size| turns(noesc, &path, bytes.div_ceil(size)).map(|times| (times, size)));
    let _ = std::fs::remove_file(&path);
    let (times, size) = times?;
    let [through, piped] = times.map(|time| time.as_secs_f64());
    let mb = (bytes.div_ceil(size) * size) as f64 / 1e6;
    println!("| {mb:.0} MB of a log, fastest of {TURNS} | s | MB/s |");
    println!("| --- | ---: | ---: |");
    println!("| `noesc run -- cat LOG` | {through:.2} | {:.0} |", mb / through);
    println!("| `cat LOG \\| cat` | {piped:.2} | {:.0} |", mb / piped);
    println!("| ratio | {:.2} | |", piped / through);
    Ok(piped / through)
}

/// The fastest turn of a run, and of a pipe to `cat`, over a log that is written `count` times.
fn turns(noesc: &Path, log: &Path, count: u64) -> Result<[Duration; 2], String> {
    let logs = || (0..count).map(|_| log);
    let mut run = Command::new(noesc);
    run.args(["run", "--", "cat"]).args(logs()).stdin(Stdio::null()).stdout(Stdio::null());
    keep_nothing(&mut run);
    let mut fastest = [Duration::MAX; 2];
    for _ in 0..TURNS {
        fastest[0] = time(&mut run)?.min(fastest[0]);
        let mut writer = Command::new("cat");
        let start = Instant::now();
        let mut writing = spawn(writer.args(logs()).stdin(Stdio::null()).stdout(Stdio::piped()))?;
        let pipe = writing.stdout.take().map_or_else(Stdio::null, Stdio::from);
        let mut reader = Command::new("cat");
        let reading = spawn(reader.stdin(pipe).stdout(Stdio::null()))?;
        // With the reading end here, a reader that failed would leave the writer blocked for ever.
        drop(reader);
        ended(writing, &writer)?;
        ended(reading, &writer)?;
        fastest[1] = start.elapsed().min(fastest[1]);
    }
    Ok(fastest)
}

/// Writes a log as a server writes one, the same at each call, of at least `bytes`; gives its size.
fn write_log(path: &Path, bytes: u64) -> io::Result<u64> {
    let mut file = BufWriter::new(File::create(path)?);
    let (mut written, mut line, mut seed) = (0, String::new(), 1);
    while written < bytes {
        line.clear();
        log_line(&mut seed, &mut line);
        file.write_all(line.as_bytes())?;
        written += line.len() as u64;
    }
    file.flush()?;
    Ok(written)
}

fn log_line(seed: &mut u64, to: &mut String) {
    const LEVELS: [&str; 4] = ["DEBUG", "INFO", "INFO", "WARN"];
    const WHAT: [&str; 4] = [
        "GET /api/v1/orders",
        "POST /api/v1/basket/items",
        "cache miss for key session",
        "slow query: SELECT id, name, price FROM items WHERE vendor =",
    ];
    let mut below = |bound: u64| {
        // A linear congruential generator; its high bits are random enough for a log.
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (*seed >> 33) % bound
    };
    let (minute, second, ms) = (below(60), below(60), below(1000));
    let (level, what) = (LEVELS[below(4) as usize], WHAT[below(4) as usize]);
    let (worker, id, took) = (below(64), below(1_000_000), below(900));
    *to += &format!(
        "2026-03-01T12:{minute:02}:{second:02}.{ms:03}Z {level:5} worker[{worker}]: \
         {what} {id} status=200 took={took}ms\n"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        let ms =
            |times: &[u64]| median_ms(times.iter().map(|&n| Duration::from_millis(n)).collect());
        assert_eq!(ms(&[9, 1, 2]), 2.0);
        assert_eq!(ms(&[9, 1, 2, 4]), 3.0);
        assert_eq!(ms(&[]), 0.0);
    }

    #[test]
    fn the_log_is_plain_and_always_the_same() {
        let log = || {
            let (mut seed, mut text) = (1, String::new());
            (0..100).for_each(|_| log_line(&mut seed, &mut text));
            text
        };
        assert_eq!(log(), log());
        assert_eq!(log().lines().count(), 100);
        assert!(log().bytes().all(|byte| byte == b'\n' || matches!(byte, b' '..=b'~')));
    }
}
