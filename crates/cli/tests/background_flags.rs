//! The flags of `noesc run` under `--detach`.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod backgrounds;
mod common;

use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;

use backgrounds::Home;
use common::{ended, ran, spawned};
use serde_json::{Value, json};

#[test]
fn what_a_run_in_the_background_can_not_have_is_refused() {
    let home = Home::new("bg-refused");
    let report = home.folder.name("report");
    for (flags, flag) in [
        (&["--report", report.as_str()][..], "--report"),
        (&["--facts-fd", "3"], "--facts-fd"),
        (&["--stdin"], "--stdin"),
    ] {
        let ended = home.noesc(&[&["run", "--detach"], flags, &["--", "true"]].concat());
        ended.refused(&format!("\"{flag}\" does not go with \"--detach\""), 125);
    }
    assert!(!home.folder.path("report").exists());
    assert!(home.listed(&["--all"]).is_empty());
}

#[test]
fn settings_hold_in_the_background() {
    let home = Home::new("bg-settings");
    let wait = |run: &str| home.noesc(&["wait", run]);
    let run = home.start(&["--encoding", "gbk"], r"printf '\304\343\272\303\n'");
    wait(&run).is("你好\n", "", 0);
    assert_eq!(home.record(&run)["streams"]["stdout"]["encoding"], "GBK");
    let run = home.start(&["--plain"], "echo $NO_COLOR-$TERM-$CI");
    wait(&run).is("1-dumb-1\n", "", 0);
    let run = home.start(&["--cr", "overwrite"], r"printf '10%%\r20%%\n'");
    wait(&run).is("20%\n", "", 0);
    let run = home.start(&["--mark", "-q"], r"printf 'a\033]0;t\007b\n'");
    wait(&run).is("a\u{241b}b\n", "", 0);
    let flags = ["--view-bytes-max", "4", "--transcript-bytes-max", "6B"];
    let run = home.start(&flags, "printf abcdefgh; sleep 0.05; echo");
    wait(&run).is("abcdef", "noesc: 3 bytes of the view of stdout are not stored\n", 0);
    let record = home.record(&run);
    let view = &record["streams"]["stdout"]["view"];
    assert_eq!((&view["head"], &view["tail"]), (&json!("ab"), &json!("h\n")));
    assert_eq!(record["limits"]["transcript_bytes_max"], 6);
    assert_eq!(record["limits"]["view_bytes_max"], 4);
}

#[test]
fn stdin_is_empty() {
    let home = Home::new("bg-stdin");
    let mut command = home.at(common::noesc(["run", "--detach", "--", "cat"]));
    command.stdin(std::process::Stdio::piped());
    let mut child = spawned(command);
    let stdin = child.stdin.take();
    let run = ended(child).out().trim_end().to_owned();
    home.noesc(&["wait", &run]).is("", "", 0);
    assert_eq!(home.record(&run)["command"]["stdin"], "null");
    drop(stdin);
}

#[test]
fn a_promise_is_told_when_it_is_over() {
    let home = Home::new("bg-promise");
    let run = home.start(&["--expect", "json", "--format", "text"], "echo '{'");
    let said = "noesc: expected json at descriptor 1: not met, ";
    let ended = home.noesc(&["wait", &run]);
    assert!(ended.err().starts_with(said) && ended.err().lines().count() == 1, "{ended:?}");
    assert_eq!((ended.out(), ended.code()), ("{\n", 0));
    let run = home.start(&["--expect", "text"], "echo a");
    home.noesc(&["wait", &run]).is("a\n", "", 0);
    let flags = ["--format", "json", "--expect", "json", "--json-fd", "5"];
    let ended = home.detached(&flags, "echo log; echo '[1,2]' >&5; sleep 60");
    let record: Value = serde_json::from_str(ended.out()).unwrap();
    // Nothing can be said of it before its end.
    assert_eq!((&record["expected"], ended.code()), (&json!(null), 0));
    let ended = home.detached(&flags, "echo log; echo '[1,2]' >&5");
    let record: Value = serde_json::from_str(ended.out()).unwrap();
    assert_eq!(record["expected"]["value"], json!([1, 2]));
    let run = record["run"].as_str().unwrap();
    home.noesc(&["wait", run]).is("log\n", "", 0);
}

#[test]
fn a_descriptor_that_is_kept_reaches_the_command() {
    let home = Home::new("bg-keep");
    let file = home.folder.name("file");
    let script = format!(
        r#"exec 5>{file} 6>{file}.6
        "$N" run --detach --keep-fd 5 -- sh -c 'echo five >&5; echo six >&6'"#
    );
    let run = home.shell(&script).out().trim_end().to_owned();
    let waited = home.noesc(&["wait", "-q", &run]);
    assert_ne!(waited.code(), 0);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "five\n");
    assert_eq!(std::fs::read_to_string(format!("{file}.6")).unwrap(), "");
}

#[test]
fn findings_are_told_by_who_shows_the_output() {
    let home = Home::new("bg-findings");
    let script = r"printf 'a\033]52;c;YQ==\007b\n'; printf '\033]9;hi\007\033]9;ho\007x\n' >&2";
    let run = home.start(&[], script);
    let said = "x\nnoesc: high in stdout: clipboard-write at byte 1\n\
                noesc: high in stderr: notification ×2, first at byte 0\n";
    home.noesc(&["wait", &run]).is("ab\n", said, 0);
    home.noesc(&["wait", "--quiet", &run]).is("ab\n", "x\n", 0);
    // A record tells them itself.
    let ended = home.noesc(&["wait", "--format", "json", &run]);
    assert_eq!((ended.err(), ended.code()), ("", 0));
    // The same as in the foreground.
    home.noesc(&["run", "--", "sh", "-c", script]).is("ab\n", said, 0);
}

#[test]
fn what_is_shown_is_ended_before_we_say_something() {
    let home = Home::new("bg-open-line");
    let run = home.start(&["--time-max", "300ms"], "printf open; exec sleep 60");
    let said = "noesc: timed out at 300 ms; ended by signal 15\n";
    home.noesc(&["wait", &run]).is("open", said, 124);
    let both = home.shell(&format!(r#""$N" wait {run} 2>&1"#));
    both.is(&format!("open\n{said}"), "", 124);
}

#[test]
fn the_command_is_found_where_the_front_was() {
    let home = Home::new("bg-where");
    std::fs::create_dir(home.folder.path("there")).unwrap();
    home.folder.program("there/script", "#!/bin/sh\npwd\n");
    let mut command = home.at(common::noesc(["run", "--detach", "--", "./script"]));
    command.current_dir(home.folder.path("there"));
    let run = ran(command).out().trim_end().to_owned();
    let there = std::fs::canonicalize(home.folder.path("there")).unwrap();
    home.noesc(&["wait", &run]).is(&format!("{}\n", there.display()), "", 0);
    assert_eq!(home.row(&run)["argv"], json!(["./script"]));
}

#[test]
fn a_configuration_holds_in_the_background() {
    let home = Home::new("bg-config");
    std::fs::create_dir_all(home.folder.path("config/noesc")).unwrap();
    home.folder.write("config/noesc/config.toml", "removed = \"mark\"\n");
    let mut command =
        home.at(common::noesc(["run", "--detach", "--", "printf", "a\\033]0;t\\007b"]));
    command.env("XDG_CONFIG_HOME", home.folder.path("config"));
    let run = ran(command).out().trim_end().to_owned();
    home.noesc(&["wait", &run]).is("a\u{241b}b", "", 0);
}

#[test]
fn why_nothing_was_begun_is_told() {
    let home = Home::new("bg-not-begun");
    std::fs::create_dir_all(home.runs()).unwrap();
    let owner = std::fs::metadata(home.runs()).unwrap();
    // Root may write anywhere: another user stands in for it.
    let is_root = std::os::unix::fs::MetadataExt::uid(&owner) == 0;
    let mut command = common::noesc(["run", "--detach", "--", "true"]);
    if is_root {
        for folder in ["", "state", "state/noesc", "state/noesc/runs"] {
            chown(home.folder.path(folder), Some(65534), Some(65534)).unwrap();
        }
        command.uid(65534).gid(65534);
    }
    std::fs::set_permissions(home.runs(), std::fs::Permissions::from_mode(0o500)).unwrap();
    let ended = ran(home.at(command));
    let said = "noesc: error: can not begin the run: no folder for it: permission denied\n\
                noesc: hint: nothing was run\n";
    ended.is("", said, 125);
    std::fs::set_permissions(home.runs(), std::fs::Permissions::from_mode(0o700)).unwrap();
    if is_root {
        for folder in ["state/noesc/runs", "state/noesc", "state", ""] {
            chown(home.folder.path(folder), Some(0), Some(0)).unwrap();
        }
    }
}
