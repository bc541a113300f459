//! `cargo xtask bench-scan [FOLDER]`: how fast `noesc scan` is beside `rg -c ''`, which counts the
//! lines of the same files: hidden and ignored ones too, binary ones not.
//!
//! The two take turns over one folder, so that both find the same caches. The fastest turns are
//! compared: whatever else the machine does only ever adds to a time.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Turns of each.
const TURNS: usize = 15;

/// Prints the ratio. Exit 0 when noesc is at least as fast, 1 when it is slower, 2 when it could
/// not be measured.
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let folder = match arguments {
        [] => sources().ok_or_else(|| "the folder of the cargo registry is not known".to_owned()),
        [folder] => Ok(folder.into()),
        _ => Err("it takes one folder at most".to_owned()),
    };
    match folder.and_then(|folder| compare(&folder)) {
        Ok(ratio) => ExitCode::from(u8::from(ratio < 1.0)),
        Err(message) => {
            eprintln!("xtask bench-scan: error: {}", message.escape_default());
            ExitCode::from(2)
        }
    }
}

/// Where cargo keeps the sources of dependencies.
fn sources() -> Option<PathBuf> {
    let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo = cargo.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cargo")));
    Some(cargo?.join("registry/src"))
}

fn compare(folder: &Path) -> Result<f64, String> {
    let noesc = built()?;
    let (files, bytes) = scanned(&noesc, folder)?;
    let mut scan = Command::new(&noesc);
    scan.args(["scan", "--fail-on", "never"]).arg(folder);
    let mut count = Command::new("rg");
    count.args(["-uu", "-c", ""]).arg(folder);
    let mut fastest = [Duration::MAX; 2];
    for _ in 0..TURNS {
        for (command, fastest) in [&mut scan, &mut count].into_iter().zip(&mut fastest) {
            *fastest = time(command)?.min(*fastest);
        }
    }
    let [scan, count] = fastest.map(|time| time.as_secs_f64());
    let mb = bytes as f64 / 1e6;
    println!("{files} files, {mb:.1} MB, the fastest of {TURNS} turns each");
    println!("noesc scan  {:6.0} ms  {:7.0} MB/s", scan * 1e3, mb / scan);
    println!("rg -uu -c ''{:6.0} ms  {:7.0} MB/s", count * 1e3, mb / count);
    println!("ratio       {:.2}", count / scan);
    Ok(count / scan)
}

/// The command, built for release.
fn built() -> Result<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut build = Command::new("cargo");
    build.args(["build", "--release", "--quiet", "--bin", "noesc"]).current_dir(&root);
    let status = build.status().map_err(|error| format!("cargo could not be run: {error}"))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
    match status.success() {
        true => Ok(root.join(target).join("release/noesc")),
        false => Err("the command could not be built".into()),
    }
}

/// What there is to scan. Also fills the caches.
fn scanned(noesc: &Path, folder: &Path) -> Result<(u64, u64), String> {
    let mut command = Command::new(noesc);
    command.args(["scan", "--fail-on", "never", "--format", "json"]).arg(folder);
    let output = command.output().map_err(|error| format!("noesc could not be run: {error}"))?;
    let log: Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    let of = |key: &str| log["summary"][key].as_u64().ok_or_else(|| format!("no {key} counted"));
    match (of("files")?, of("bytes")?) {
        (_, 0) => Err(format!("nothing to scan in {}", folder.display())),
        found => Ok(found),
    }
}

fn time(command: &mut Command) -> Result<Duration, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let start = Instant::now();
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    let status = status.map_err(|error| {
        format!("{name} could not be run: {error}; rg is Debian's package ripgrep")
    })?;
    match status.success() {
        true => Ok(start.elapsed()),
        false => Err(format!("{name} failed")),
    }
}
