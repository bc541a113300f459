//! Completions and manual pages.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used)]

mod common;

use std::process::Command;

use common::{Folder, fed, noesc, ran};
use snapbox::assert_data_eq;
use snapbox::prelude::*;

fn verbs() -> Vec<String> {
    let help = ran(noesc(["--help"])).out().to_owned();
    let verbs = help.split("Commands:").nth(1).unwrap().split("\n\n").next().unwrap();
    verbs.lines().filter_map(|line| line.split_whitespace().next().map(Into::into)).collect()
}

fn script(shell: &str) -> String {
    let ended = ran(noesc(["completions", shell]));
    assert_eq!((ended.err(), ended.code()), ("", 0));
    ended.out().to_owned()
}

/// Whether a program is there; zsh, fish and mandoc need not be.
fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

#[test]
fn completions_name_every_verb() {
    let verbs = verbs();
    assert!(verbs.contains(&"filter".into()), "{verbs:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = script(shell);
        assert!(verbs.iter().all(|verb| script.contains(verb)), "{shell}");
    }
    // The others complete no values.
    for shell in ["bash", "zsh", "fish"] {
        assert!(script(shell).contains("windows-1252"), "{shell}");
    }
}

#[test]
fn completions_are_valid_scripts() {
    let folder = Folder::new("completions");
    for (shell, check) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        if shell != "bash" && !is_there(shell) {
            continue;
        }
        let path = folder.write(shell, script(shell));
        let mut command = Command::new(shell);
        command.args([check, &path]);
        ran(command).is("", "", 0);
    }
}

/// What bash offers where this line ends; `=` is a word of its own there.
fn offered(line: &str) -> Vec<String> {
    offered_among(line, &[])
}

/// The same where there are folders of runs with these ids, and `noesc` is the command under test.
fn offered_among(line: &str, runs: &[&str]) -> Vec<String> {
    let folder = Folder::new(&format!("offered-{}-{}", line.len(), runs.len()));
    folder.write("bin", "");
    std::fs::create_dir(folder.path("path")).unwrap();
    folder.program("path/noesc-test-program", "#!/bin/sh\n");
    std::os::unix::fs::symlink(common::binary(), folder.path("path/noesc")).unwrap();
    home_of(&folder, runs);
    let rest = r#"
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        "$(complete -p noesc | sed 's/.*-F \([^ ]*\).*/\1/')" noesc \
            "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let path = format!("{}:{}", folder.name("path"), std::env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    command.args(["--norc", "-s"]).env("PATH", path).current_dir(&folder.0);
    command.env("XDG_STATE_HOME", folder.path("state")).env("HOME", &folder.0);
    let input = format!("{}\nCOMP_WORDS=({line})\n{rest}", script("bash"));
    let ended = fed(command, input.as_bytes());
    assert_eq!((ended.err(), ended.code()), ("", 0), "{line}");
    ended.out().lines().map(Into::into).collect()
}

#[test]
fn bash_completes_a_command_behind_run() {
    let program = "noesc-test-program";
    for line in [
        "noesc run noesc-test",
        "noesc run -- noesc-test",
        "noesc run -q --mark --cr drop -- noesc-test",
        "noesc run --cr '=' drop noesc-test",
        "noesc run --mark '=' false noesc-test",
        "noesc run --keep-fd 3 --stdin noesc-test",
        "noesc run --time-max 5s --shell --pty --size 80x24 noesc-test",
    ] {
        assert_eq!(offered(line), [program], "{line}");
    }
    assert!(offered("noesc run ''").contains(&program.into()));
    assert!(offered("noesc run --view-b").contains(&"--view-bytes-max".into()));
    assert!(offered("noesc run --cr ''").contains(&"overwrite".into()));
    assert!(offered("noesc run --record-command ''").contains(&"digest".into()));
    assert!(offered("noesc run --idle").contains(&"--idle-max".into()));
    assert!(offered("noesc ru").contains(&"run".into()));
    assert!(offered("noesc man f").contains(&"filter".into()));
    assert!(offered("noesc filter --encoding gb").contains(&"gbk".into()));
    // The arguments of the command are its own.
    assert_eq!(offered("noesc run -- ls --view-b"), [""]);
}

/// A state folder with a folder for each of these ids.
fn home_of(folder: &Folder, runs: &[&str]) {
    let root = folder.path("state/noesc/runs");
    std::fs::create_dir_all(&root).unwrap();
    std::fs::set_permissions(&root, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    for run in runs {
        std::fs::create_dir(root.join(run)).unwrap();
    }
}

const RUNS: [&str; 3] = [
    "01900000-0000-7000-8000-00000000000a",
    "01900000-0001-7000-8000-00000000000b",
    "01910000-0000-7000-8000-00000000000c",
];

#[test]
fn bash_completes_the_id_of_a_run() {
    let [oldest, old, new] = RUNS;
    for verb in ["wait", "show", "search", "report", "digest"] {
        let offered = |rest: &str| offered_among(&format!("noesc {verb} {rest}"), &RUNS);
        assert_eq!(offered("''"), [new, old, oldest], "{verb}");
        assert_eq!(offered("0190"), [old, oldest], "{verb}");
        assert_eq!(offered("00c"), [new], "{verb}");
        assert_eq!(offered("la"), ["last"], "{verb}");
        assert_eq!(offered("x"), [""], "{verb}");
    }
    // Those that go on.
    assert_eq!(offered_among("noesc stop ''", &RUNS), [""]);
    assert_eq!(offered_among("noesc wait 019 0191", &RUNS), [new]);
    assert_eq!(offered_among("noesc show --stream stdout --lines '=' 3 0191", &RUNS), [new]);
    assert!(offered_among("noesc show --stream ''", &RUNS).contains(&"stderr".into()));
    assert!(!offered_among("noesc show --stream '=' ''", &RUNS).contains(&new.into()));
    assert!(offered_among("noesc wait --form", &RUNS).contains(&"--format".into()));
    // What follows is a pattern, or nothing.
    for line in ["noesc search 0191 0191", "noesc show 0191 0191"] {
        assert!(!offered_among(line, &RUNS).contains(&new.into()), "{line}");
    }
}

#[test]
fn fish_completes_the_id_of_a_run() {
    if !is_there("fish") {
        return;
    }
    let folder = Folder::new("fish");
    home_of(&folder, &RUNS);
    std::fs::create_dir(folder.path("path")).unwrap();
    std::os::unix::fs::symlink(common::binary(), folder.path("path/noesc")).unwrap();
    let file = folder.write("script", script("fish"));
    let path = format!("{}:{}", folder.name("path"), std::env::var("PATH").unwrap());
    let mut command = Command::new("fish");
    let line = format!("source {file}; complete -C 'noesc show 0190'");
    command.args(["--no-config", "-c", &line]).env("PATH", path).env("HOME", &folder.0);
    command.env("XDG_STATE_HOME", folder.path("state"));
    command.env("XDG_CONFIG_HOME", folder.path("config"));
    let ended = ran(command);
    assert_eq!(ended.out(), format!("{}\n{}\n", RUNS[1], RUNS[0]), "{}", ended.err());
}

#[test]
fn ids_are_offered_up_to_a_number_and_a_failure_offers_nothing() {
    let folder = Folder::new("many-ids");
    let runs: Vec<String> =
        (0..51).map(|n| format!("01900000-{n:04}-7000-8000-00000000000a")).collect();
    let offered = |count: usize| {
        let _ = std::fs::remove_dir_all(folder.path("state"));
        home_of(&folder, &runs[..count].iter().map(String::as_str).collect::<Vec<_>>());
        let mut command = noesc(["complete-runs", "show", "0190"]);
        command.env("XDG_STATE_HOME", folder.path("state"));
        ran(command).out().lines().count()
    };
    assert_eq!([49, 50, 51].map(offered), [49, 50, 50]);
    std::fs::write(folder.path("plain"), "").unwrap();
    for (words, state) in [
        (&["complete-runs", "show", "0190"][..], "plain"),
        (&["complete-runs", "show", "\u{1b}]0;x\u{7}"], "state"),
        (&["complete-runs", "show", "x", "y"], "state"),
        (&["complete-runs"], "missing"),
    ] {
        let mut command = noesc(words.iter());
        command.env("XDG_STATE_HOME", folder.path(state));
        ran(command).is("", "", 0);
    }
}

#[test]
fn every_verb_has_a_manual_page() {
    let folder = Folder::new("man");
    for verb in [""].into_iter().map(Into::into).chain(verbs()) {
        let name = if verb.is_empty() { "noesc".into() } else { format!("noesc-{verb}") };
        let ended = ran(noesc(["man", &verb].iter().filter(|word| !word.is_empty())));
        assert_eq!((ended.err(), ended.code()), ("", 0));
        let page = ended.out();
        assert!(page.bytes().all(|byte| matches!(byte, b'\n' | b' '..=b'~')), "{name}");
        let file = format!("{}/tests/snapshots/{name}.1", env!("CARGO_MANIFEST_DIR"));
        let wanted = snapbox::Data::read_from(file.as_ref(), None);
        let version = page.replace(env!("CARGO_PKG_VERSION"), "VERSION");
        assert_data_eq!(version.raw(), wanted.raw());
        let path = folder.write(&name, page);
        for (program, arguments) in [
            ("groff", &["-ww", "-man", "-Tutf8", "-z"][..]),
            ("mandoc", &["-T", "lint", "-W", "error"]),
        ] {
            if is_there(program) {
                let mut command = Command::new(program);
                command.args(arguments).arg(&path);
                ran(command).is("", "", 0);
            }
        }
    }
}
