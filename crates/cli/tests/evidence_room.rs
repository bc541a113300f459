//! A run whose store has no room for it: its result reaches the caller all the same.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
mod sealing;
mod typing;

use std::process::{Command, Stdio};

use common::{binary, ran};
use sealing::Sealed;

/// A shell in the home of these runs.
fn shell(sealed: &Sealed, script: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).env("N", binary()).stdin(Stdio::null());
    shell.env("XDG_CONFIG_HOME", sealed.home.folder.path("config"));
    shell.env("XDG_STATE_HOME", sealed.home.folder.path("state"));
    shell
}

#[test]
fn files_that_may_not_grow_end_no_run() {
    for blocks in [0, 1, 2, 8, 64, 200] {
        let sealed = Sealed::new(&format!("fsize-{blocks}"));
        let run = |command: &str| {
            ran(shell(&sealed, &format!("ulimit -f {blocks}; \"$N\" run -- {command}")))
        };
        let ended = run("sh -c 'seq 1 9999; exit 7'");
        assert_eq!((ended.out().lines().count(), ended.code()), (9999, 7), "{blocks}");
        let is_told = ended.err().contains("the original is not kept whole");
        // Some 50 kB are sealed, and a block has 512 bytes.
        assert_eq!(is_told, blocks < 100, "{blocks}: {}", ended.err());
        // What the command itself does is between it and the limit.
        let file = sealed.home.folder.name("file");
        let ended = run(&format!("sh -c 'exec head -c 999999 /dev/zero >{file}'"));
        assert_eq!(ended.code(), 128 + 25, "{blocks}");
        // Without the limit all goes on.
        assert_eq!(sealed.run(&[], "echo next").out(), "next\n");
        let looked = ran(sealed.home.noesc(&["store", "doctor"]));
        assert_eq!(looked.code(), 0, "{blocks}: {}", looked.out());
    }
}
