//! `cargo xtask bench-memory`: the peak memory of the built command on inputs without an end.
//!
//! The figures stand in docs/limits-and-figures.md; the tests of the command hold the bound with
//! less input. The peak is the kernel's own (`VmHWM`), so this is for Linux.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes fed where nothing else is asked for: 2 GB.
const BYTES: u64 = 2_000_000_000;

/// The promise for every row, in KiB.
const PEAK_KIB_MAX: u64 = 16 * 1024;

/// One row: what is fed, and to what.
struct Row {
    input: &'static str,
    start: &'static [u8],
    again: &'static [u8],
    arguments: &'static [&'static str],
}

const fn row(
    input: &'static str,
    start: &'static [u8],
    again: &'static [u8],
    arguments: &'static [&'static str],
) -> Row {
    Row { input, start, again, arguments }
}

const FILTER: &[&str] = &["filter", "-q"];
const MARK: &[&str] = &["filter", "-q", "--mark"];
const OVERWRITE: &[&str] = &["filter", "-q", "--cr", "overwrite"];
const COLLAPSE: &[&str] = &["filter", "-q", "--cr", "collapse"];
const DISPLAY: &[&str] = &["filter", "-q", "--profile", "display"];
const RUN: &[&str] = &["run", "-q", "--", "cat"];

const ROWS: &[Row] = &[
    row("`ESC ]`, then NUL for ever", b"\x1b]", b"\0", FILTER),
    row("`ESC ]`, then NUL for ever", b"\x1b]", b"\0", MARK),
    row("`ESC ]`, then NUL for ever", b"\x1b]", b"\0", OVERWRITE),
    row("`ESC ]`, then NUL for ever", b"\x1b]", b"\0", COLLAPSE),
    row("`ESC ]`, then NUL for ever", b"\x1b]", b"\0", RUN),
    row("`ESC P`, then text for ever", b"\x1bP", b"x", FILTER),
    row("half an ST: `ESC ]`, then `x ESC ]` for ever", b"\x1b]", b"x\x1b]", FILTER),
    row("half an ST: `ESC ]`, then `x ESC ]` for ever", b"\x1b]", b"x\x1b]", MARK),
    row("`ESC [`, then digits for ever", b"\x1b[", b"1", FILTER),
    row("`ESC [`, then digits for ever", b"\x1b[", b"1", DISPLAY),
    row("`ESC [`, then digits for ever", b"\x1b[", b"1", RUN),
    row("one line for ever", b"", b"x", FILTER),
    row("one line for ever", b"", b"x", OVERWRITE),
    row("one line for ever", b"", b"x", COLLAPSE),
    row("one line for ever", b"", b"x", RUN),
    row("segments between CRs for ever", b"", b"progress\r", FILTER),
    row("segments between CRs for ever", b"", b"progress\r", OVERWRITE),
    row("segments between CRs for ever", b"", b"progress\r", COLLAPSE),
    row("combining marks for ever", b"e", b"\xcc\x81", FILTER),
    row("style for ever", b"", b"\x1b[1m", DISPLAY),
];

/// Prints the table. Exit 0 when every row is within the bound, 1 when one is not, 2 when it could
/// not be measured.
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let bytes = match arguments {
        [] => Ok(BYTES),
        [flag, bytes] if flag == "--bytes" => bytes.parse().map_err(|_| "--bytes needs a number"),
        _ => Err("it takes no argument but --bytes N"),
    };
    match bytes.map_err(str::to_owned).and_then(table) {
        Ok(is_bounded) => ExitCode::from(u8::from(!is_bounded)),
        Err(message) => {
            eprintln!("xtask bench-memory: error: {}", message.escape_default());
            ExitCode::from(2)
        }
    }
}

fn table(bytes: u64) -> Result<bool, String> {
    let binary = built()?;
    println!("| input, {bytes} bytes | command | peak, KiB | seconds |");
    println!("| --- | --- | ---: | ---: |");
    let mut is_bounded = true;
    for row in ROWS {
        let begun = Instant::now();
        let peak = peak(&binary, row, bytes).map_err(|e| format!("{}: {e}", row.input))?;
        let seconds = begun.elapsed().as_secs_f64();
        println!("| {} | `noesc {}` | {peak} | {seconds:.1} |", row.input, row.arguments.join(" "));
        is_bounded &= peak <= PEAK_KIB_MAX;
    }
    Ok(is_bounded)
}

/// Builds the command as it is shipped, and says where it is.
fn built() -> Result<PathBuf, String> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let root = here.parent().unwrap_or(&here);
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--quiet", "--release", "--bin", "noesc"])
        .current_dir(root)
        .status()
        .map_err(|e| format!("cargo could not be run: {e}"))?;
    match status.success() {
        true => Ok(root.join(target).join("release/noesc")),
        false => Err("the command does not build".to_owned()),
    }
}

/// Feeds one row and gives the peak in KiB, the end of the stream included.
fn peak(binary: &PathBuf, row: &Row, bytes: u64) -> Result<u64, String> {
    let mut child = Command::new(binary)
        .args(row.arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| e.to_string())?;
    let pid = child.id();
    let (Some(mut stdin), Some(mut stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("no pipes".to_owned());
    };
    let reader = thread::spawn(move || {
        let mut piece = vec![0; 256 << 10];
        while stdout.read(&mut piece).is_ok_and(|n| n > 0) {}
    });
    let piece = row.again.repeat((256 << 10) / row.again.len());
    let mut written = row.start.len() as u64;
    let mut fed = stdin.write_all(row.start);
    while fed.is_ok() && written < bytes {
        let rest = usize::try_from(bytes - written).unwrap_or(usize::MAX).min(piece.len());
        fed = stdin.write_all(&piece[..rest]);
        written += rest as u64;
    }
    let mut peak = high_water_kib(pid);
    drop(stdin);
    while let Some(now) = high_water_kib(pid) {
        peak = peak.max(Some(now));
        thread::sleep(Duration::from_micros(100));
    }
    let status = child.wait().map_err(|e| e.to_string())?;
    let _ = reader.join();
    fed.map_err(|e| e.to_string())?;
    match peak {
        Some(peak) if status.success() => Ok(peak),
        Some(_) => Err(format!("it ended with {status}")),
        None => Err("the kernel does not tell the peak".to_owned()),
    }
}

fn high_water_kib(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    peak_of(&status)
}

fn peak_of(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read_from_the_status_of_a_process() {
        assert_eq!(peak_of("Name:\tx\nVmHWM:\t    3152 kB\nVmRSS:\t 1 kB\n"), Some(3152));
        assert_eq!(peak_of("Name:\tx\nState:\tZ (zombie)\n"), None);
    }

    #[test]
    fn every_row_goes_on_for_ever() {
        assert!(ROWS.iter().all(|row| !row.again.is_empty()));
    }
}
