//! The hooks of the guide, as it prints them.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
mod scanning;

use std::ffi::OsString;
use std::fs::remove_file;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Ended, Folder, ran};
use scanning::HIGH;

/// The block of shell behind these words in a page of the guide.
#[track_caller]
fn block(page: &str, words: &str) -> String {
    let guide = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let guide = std::fs::read_to_string(guide).unwrap();
    let text = guide.split_once(words).expect(words).1;
    text.split_once("```sh\n").unwrap().1.split_once("```\n").unwrap().0.to_owned()
}

/// Git in this folder, with the program on the `PATH`.
fn git(folder: &Folder, arguments: &[&str]) -> Ended {
    let mut command = Command::new("git");
    let settings = ["user.name=a", "user.email=a@b", "commit.gpgsign=false", "gc.auto=0"];
    for setting in settings {
        command.args(["-c", setting]);
    }
    command.args(arguments).current_dir(&folder.0);
    for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
        command.env_remove(name);
    }
    let mut path = OsString::from(Path::new(common::binary()).parent().unwrap());
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    command.env("PATH", path);
    ran(command)
}

#[track_caller]
fn done(folder: &Folder, arguments: &[&str]) {
    let ended = git(folder, arguments);
    assert_eq!(ended.code(), 0, "{arguments:?}: {ended:?}");
}

/// Makes a repository with one commit and this hook.
fn repository(name: &str, hook: &str, script: &str) -> Folder {
    let folder = Folder::new(name);
    done(&folder, &["init", "-q", "-b", "main", "."]);
    folder.write("clean", "text\n");
    symlink("clean", folder.path("link")).unwrap();
    done(&folder, &["add", "."]);
    done(&folder, &["commit", "-q", "-m", "one"]);
    folder.program(format!(".git/hooks/{hook}"), script);
    folder
}

fn commit(folder: &Folder) -> Ended {
    done(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "-m", "more"])
}

#[test]
fn the_plain_hook_refuses_whatever_is_new_in_a_commit() {
    let script = block("scan.md", "As `.git/hooks/pre-commit`");
    let folder = repository("plain-hook", "pre-commit", &script);
    folder.write("other name", "text\n");
    assert_eq!(commit(&folder).code(), 0);
    remove_file(folder.path("clean")).unwrap();
    assert_eq!(commit(&folder).code(), 0, "a file is deleted");
    // What is staged counts, whatever the work tree holds.
    folder.write("new", HIGH);
    done(&folder, &["add", "new"]);
    folder.write("new", "text\n");
    assert_eq!(git(&folder, &["commit", "-q", "-m", "x"]).code(), 1);
    assert_eq!(commit(&folder).code(), 0);
    // A symlink turned into a file.
    remove_file(folder.path("link")).unwrap();
    folder.write("link", HIGH);
    let ended = commit(&folder);
    assert_eq!(ended.code(), 1, "{ended:?}");
    assert!(ended.err().contains("link:1:3: high: clipboard-write: "), "{ended:?}");
    folder.write("link", "text\n");
    assert_eq!(commit(&folder).code(), 0);
}

#[test]
fn a_merge_without_conflicts_runs_the_hook_under_its_other_name() {
    let script = block("scan.md", "As `.git/hooks/pre-commit`");
    let folder = repository("merge-hook", "pre-commit", &script);
    let link = block("scan.md", "`git merge` without conflicts");
    let mut shell = Command::new("sh");
    shell.args(["-c", &link]).current_dir(&folder.0);
    assert_eq!(ran(shell).code(), 0);
    done(&folder, &["checkout", "-q", "-b", "side"]);
    folder.write("bad", HIGH);
    done(&folder, &["add", "bad"]);
    done(&folder, &["commit", "-q", "--no-verify", "-m", "bad"]);
    done(&folder, &["checkout", "-q", "main"]);
    folder.write("good", "text\n");
    assert_eq!(commit(&folder).code(), 0);
    let ended = git(&folder, &["merge", "-q", "--no-edit", "side"]);
    assert_eq!(ended.code(), 1, "{ended:?}");
    assert!(ended.err().contains("bad:1:3: high: clipboard-write: "), "{ended:?}");
}

/// The quicker hook, which is handed the names.
#[test]
fn the_quick_hook_reads_the_work_tree() {
    let line = block("scan.md", "It is quicker");
    let folder = repository("quick-hook", "pre-commit", &format!("#!/bin/sh\n{line}"));
    folder.write("good", "text\n");
    assert_eq!(commit(&folder).code(), 0);
    remove_file(folder.path("link")).unwrap();
    folder.write("link", HIGH);
    assert_eq!(commit(&folder).code(), 1);
}

#[test]
fn the_hook_of_a_server_looks_at_messages_names_and_files() {
    let script = block("recipes.md", "`pre-receive`, on the\nserver");
    let folder = repository("server-hook", "unused", "");
    done(&folder, &["init", "-q", "--bare", "bare.git"]);
    folder.write(".git/info/exclude", "bare.git\n");
    folder.program("bare.git/hooks/pre-receive", script);
    let push = |name: &str| git(&folder, &["push", "-q", "bare.git", name]);
    let refused = |name: &str, why: &str| {
        let ended = push(name);
        assert_eq!(ended.code(), 1, "{name}: {ended:?}");
        assert!(ended.err().contains(why), "{name}: {ended:?}");
    };
    let back = || done(&folder, &["reset", "-q", "--hard", "HEAD^"]);
    assert_eq!(push("main").code(), 0, "a new branch");
    folder.write("good name", "text\n");
    assert_eq!(commit(&folder).code(), 0);
    assert_eq!(push("main").code(), 0, "a branch that goes on");
    folder.write("bad", HIGH);
    assert_eq!(commit(&folder).code(), 0);
    refused("main", "bad:1:3: high: clipboard-write: ");
    refused("main:other", "bad:1:3: high: clipboard-write: ");
    back();
    folder.write("x\u{202e}y", "text\n");
    assert_eq!(commit(&folder).code(), 0);
    refused("main", "invisible-bidi-control: a bidi control reorders the text around it, in its n");
    back();
    done(&folder, &["commit", "-q", "--allow-empty", "-m", "x\u{202e}y"]);
    refused("main", "invisible-bidi-control");
    back();
    done(&folder, &["tag", "-m", "x\u{202e}y", "bad"]);
    refused("bad", "invisible-bidi-control");
    done(&folder, &["tag", "-m", "fine", "fine"]);
    assert_eq!(push("fine").code(), 0);
    refused("main:refs/heads/x\u{202e}y", "invisible-bidi-control");
    assert_eq!(push(":fine").code(), 0, "a tag is deleted");
}
