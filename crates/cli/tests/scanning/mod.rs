//! What the tests of `noesc scan` share. Each test program uses a part of it.
#![allow(dead_code, unreachable_pub)]
// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::common::{Ended, Folder, fed, noesc, ran};

/// One finding of each severity.
pub const CRITICAL: &[u8] = b"a\x1b]0;x\nhidden\n\x07b\n";
pub const HIGH: &[u8] = b"x \x1b]52;c;aGk=\x07\n";
pub const LOW: &[u8] = b"x\x1b[2Ky\n";
pub const INFO: &[u8] = b"\xef\xbb\xbfx\n";

/// The scan of a folder, from within it.
#[track_caller]
pub fn scanned(folder: &Folder, arguments: &[&str]) -> Ended {
    let mut command = noesc(["scan"].iter().chain(arguments));
    command.current_dir(&folder.0);
    ran(command)
}

/// The same as JSON.
#[track_caller]
pub fn scanned_json(folder: &Folder, arguments: &[&str]) -> Value {
    let ended = scanned(folder, &[&["--format", "json"], arguments].concat());
    assert_eq!(ended.out().lines().count(), 1);
    serde_json::from_str(ended.out()).unwrap()
}

/// The log of a scan.
pub fn sarif_of(folder: &Folder, arguments: &[&str]) -> Value {
    let ended = scanned(folder, &[&["--format", "sarif"], arguments].concat());
    serde_json::from_str(ended.out()).unwrap()
}

/// The interpreter in whose environment the packages of `tests/python/requirements.txt` are.
pub fn python() -> PathBuf {
    let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let there = manifest.join("../../target/python/bin/python3");
    std::env::var_os("NOESC_TEST_PYTHON").map_or(there, PathBuf::from)
}

/// Holds a log against the schema of the standard.
#[track_caller]
pub fn validate(log: &str) {
    let ended = validated(log);
    assert_eq!((ended.code(), ended.out(), ended.err()), (0, "", ""));
}

/// What an independent validator says of a log.
#[track_caller]
pub fn validated(log: &str) -> Ended {
    assert!(
        python().exists(),
        "no Python with the packages of crates/cli/tests/python/requirements.txt; ./test installs \
         it, or set NOESC_TEST_PYTHON"
    );
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/python/sarif.py");
    let mut command = Command::new(python());
    command.arg(script);
    fed(command, log.as_bytes())
}
