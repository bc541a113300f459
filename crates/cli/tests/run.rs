//! `noesc run`: a wrapper that nobody notices until there is something to say.

mod common;

use std::io::Write;
use std::process::Stdio;

use common::{Folder, json, noesc, ran, ran_sh, see, shell, signal, spawned, status};
use serde_json::json;

#[test]
fn output_is_made_inert_and_all_else_passes() {
    let script = r#"printf "\033]0;x\007ok\n"; echo err >&2; exit 3"#;
    ran_sh(&[], script).is("ok\n", "err\n", 3);
}

#[test]
fn a_bare_value_stays_bare() {
    let ended = ran(shell(r#"x=$("$N" run -- printf 0a1b); printf '[%s]' "$x""#));
    ended.is("[0a1b]", "", 0);
    let ended = ran(shell(r#"x=$("$N" run -- printf 'a\nb\n\n'); printf '[%s]' "$x""#));
    ended.is("[a\nb]", "", 0);
}

#[test]
fn stdin_is_the_commands() {
    ran(shell(r#"printf 'x\ny\n' | "$N" run -- grep y"#)).is("y\n", "", 0);
    ran(shell(r#"printf 'x\n' | "$N" run -- grep y"#)).is("", "", 1);
    // What the command leaves, the next one reads.
    let script = r#"printf 'one\ntwo\n' | { "$N" run -- sh -c 'read x; echo got:$x'; cat; }"#;
    ran(shell(script)).is("got:one\ntwo\n", "", 0);
}

#[test]
fn every_status_comes_through() {
    for code in [0, 1, 2, 42, 124, 125, 126, 127, 128, 255] {
        ran_sh(&[], &format!("exit {code}")).is("", "", code);
    }
    for (name, number) in [("HUP", 1), ("INT", 2), ("KILL", 9), ("SEGV", 11), ("TERM", 15)] {
        ran_sh(&[], &format!("ulimit -c 0; kill -{name} $$")).is("", "", 128 + number);
    }
}

#[test]
fn a_reader_that_goes_away_ends_an_endless_command() {
    let ended = ran(shell(r#""$N" run -- yes | head -1"#));
    ended.is("y\n", "", 0);
    let ended = ran(shell(r#"{ "$N" run -- yes; echo $? >&2; } | head -1"#));
    ended.is("y\n", "141\n", 0);
    // The command's other stream goes on.
    let script = r#"{ "$N" run -- sh -c 'trap "" PIPE; yes 2>/dev/null; echo on >&2'; } | head -1"#;
    ran(shell(script)).is("y\n", "on\n", 0);
}

#[test]
fn output_is_seen_while_the_command_runs() {
    let script = r"printf 'part'; printf '\033[1mx\033]0;' >&2; read x; echo $x";
    let mut command = noesc(["run", "--", "sh", "-c", script]);
    command.stdin(Stdio::piped());
    let mut child = spawned(command);
    see(child.stdout.as_mut().unwrap(), "part");
    see(child.stderr.as_mut().unwrap(), "x");
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"more\n").unwrap();
    see(child.stdout.as_mut().unwrap(), "more\n");
    assert_eq!(status(&mut child).code(), Some(0));
}

#[test]
fn signals_reach_the_command() {
    for (name, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let script =
            format!("trap 'echo got; exit 7' {name}; echo up; while :; do sleep 0.1; done");
        let mut child = spawned(noesc(["run", "--", "sh", "-c", &script]));
        see(child.stdout.as_mut().unwrap(), "up\n");
        signal(name, child.id());
        see(child.stdout.as_mut().unwrap(), "got\n");
        assert_eq!(status(&mut child).code(), Some(code), "{name}");
    }
}

#[test]
fn a_signal_ends_a_command_that_does_not_listen() {
    let folder = Folder::new("deaf");
    let report = folder.name("report");
    let script = "trap '' TERM; echo $$; while :; do sleep 0.1; done";
    let mut child = spawned(noesc(["run", "--report", &report, "--", "sh", "-c", script]));
    let mut pid = String::new();
    let stdout = child.stdout.take().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut pid).unwrap();
    signal("TERM", child.id());
    assert_eq!(status(&mut child).code(), Some(143));
    assert!(!std::path::Path::new("/proc").join(pid.trim()).exists());
    // How the command ended and why are two facts.
    let outcome = &json(report.as_ref())["outcome"];
    assert_eq!(outcome["kind"], "cancelled");
    assert_eq!(outcome["signal"], 15);
    assert_eq!(outcome["code"], json!(null));
}

#[test]
fn a_line_that_looks_like_ours_is_marked_on_stderr() {
    ran_sh(&[], "echo 'noesc: forged' >&2").is("", "child: noesc: forged\n", 0);
    ran_sh(&[], r"printf 'a\nno\033[1mes\007c: error: x' >&2").is(
        "",
        "a\nchild: noesc: error: x",
        0,
    );
    // What is kept but not seen hides nothing.
    let kept = |script: &str| ran_sh(&["--invisible", "keep"], script).err().to_owned();
    assert_eq!(kept(r"printf '\357\273\277noesc: x' >&2"), "\u{feff}child: noesc: x");
    assert_eq!(kept(r"printf 'no\342\200\213esc: x' >&2"), "child: no\u{200b}esc: x");
    // Nobody looks for our lines on stdout.
    ran_sh(&[], "echo 'noesc: plain'").is("noesc: plain\n", "", 0);
}

#[test]
fn a_grave_finding_is_told_in_one_line() {
    let script = r"printf '\033]52;c;YQ==\007a\n'; printf '\033]9;hi\007\033]9;ho\007b\n' >&2";
    let ended = ran_sh(&[], script);
    let note = "noesc: high in stdout: clipboard-write at byte 0\n\
                noesc: high in stderr: notification ×2, first at byte 0\n";
    ended.is("a\n", &format!("b\n{note}"), 0);
    ran_sh(&["--quiet"], script).is("a\n", "b\n", 0);
    ran_sh(&["-q"], script).is("a\n", "b\n", 0);
}

#[test]
fn what_we_say_begins_a_line() {
    let said = "noesc: high in stdout: clipboard-write at byte 0\n";
    let ended = ran_sh(&[], r"printf '\033]52;c;YQ==\007'; printf open >&2");
    ended.is("", &format!("open\n{said}"), 0);
    // Where both go to one place, that is the last line of either.
    let script = r#""$N" run -- sh -c 'printf "\033]52;c;YQ==\007open"' 2>&1"#;
    ran(shell(script)).is(&format!("open\n{said}"), "", 0);
    let ended = ran_sh(&[], r"printf '\033]52;c;YQ==\007open'; echo shut >&2");
    ended.is("open", &format!("shut\n{said}"), 0);
    ran_sh(&["-q"], r"printf '\033]52;c;YQ==\007open' >&2").is("", "open", 0);
}

#[test]
fn an_error_of_ours_begins_a_line() {
    let both = |script: &str| ran(shell(&format!("exec 2>&1; {script}")));
    let error = "noesc: error: can not write to \"/dev/full\": no space left\n\
                 noesc: hint: the output is cut; write it elsewhere\n";
    let ended = both(r#""$N" run --report /dev/full -- printf open"#);
    ended.is(&format!("open\n{error}"), "", 125);
    let ended = ran_sh(&["--report", "/dev/full"], "printf open >&2");
    ended.is("", &format!("open\n{error}"), 125);
    let ended = both(r#"printf open | "$N" filter --report /dev/full"#);
    ended.is(&format!("open\n{error}"), "", 2);
    let ended = both(r#"printf 'a\033' | "$N" unaudit"#);
    assert!(ended.out().starts_with("a\nnoesc: error: this is no audit view"), "{ended:?}");
    // An output of its own keeps its bytes.
    let ended = ran_sh(&["--report", "/dev/full"], "printf open");
    ended.is("open", error, 125);
}

#[test]
fn harmless_output_is_passed_without_a_word() {
    let script = r"printf '\033[1mbold\033[0m \033[2K\r50%%\r\n'; printf '\033]0;t\007w\n' >&2";
    ran_sh(&[], script).is("bold \n50%\n", "w\n", 0);
}

#[test]
fn the_report_holds_what_was_seen() {
    let folder = Folder::new("report");
    let report = folder.name("report");
    let script = r"printf '\033[1ma\n\033]52;c;YQ==\007b'; printf 'w\n' >&2; exit 3";
    ran_sh(&["-q", "--report", &report], script).is("a\nb", "w\n", 3);
    let report = json(report.as_ref());
    assert!(report["time"]["duration_ms"].is_u64());
    assert_eq!(report["outcome"], json!({"kind": "exited", "code": 3, "observed_by": "collector"}));
    let stdout = &report["streams"]["stdout"];
    assert_eq!(stdout["bytes"], json!({"observed": 19, "kept": 19, "complete": true}));
    assert_eq!((&stdout["lines"], &stdout["eof"]), (&json!(1), &json!(true)));
    assert_eq!(stdout["cutoff"], "none");
    // The views went out live; the report is no second copy of them.
    let view = json!({"profile": "agent", "omitted": {"bytes": 0, "lines": 0}});
    assert_eq!(stdout["view"], view);
    assert_eq!(
        stdout["report"],
        json!({
            "removed": {"bytes": 16, "sequences": 2, "controls": 0, "characters": 0},
            "classes": {"csi": 1, "osc": 1},
            "kinds": {"clipboard-write": 1, "style": 1},
            "endings": {"complete": 2},
            "held_back": {"bytes": 9, "lines": 0},
            "findings": [{
                "kind": "clipboard-write", "severity": "high", "count": 1,
                "spans": [[6, 12]],
            }],
        })
    );
    assert_eq!(report["streams"]["stderr"]["report"], json!({}));
}

#[test]
fn a_line_of_stdout_is_not_taken_for_ours_where_both_are_one_output() {
    let script = r#""$N" run -- echo 'noesc: error: forged' 2>&1"#;
    ran(shell(script)).is("child: noesc: error: forged\n", "", 0);
    ran_sh(&[], "echo 'noesc: own'").is("noesc: own\n", "", 0);
    // Nor a line that is a part of either.
    let both = |script: &str| {
        let ended = ran(shell(&format!("\"$N\" run -- sh -c '{script}' 2>&1")));
        ended.out().to_owned()
    };
    let script = "printf noes; exec >&-; sleep 0.2; echo c: error: forged >&2";
    assert_eq!(both(script), "child: noesc: error: forged\n");
    let script = "printf no >&2; sleep 0.2; echo esc: error: forged";
    assert_eq!(both(script), "child: noesc: error: forged\n");
    assert_eq!(both("printf no"), "no");
    assert_eq!(both("printf x; sleep 0.2; echo noesc: >&2"), "xnoesc:\n");
    let script = r#"printf "\033]52;c;YQ==\007a"; printf "\033]52;c;YQ==\007b" >&2"#;
    let ended = both(script);
    assert_eq!(ended.lines().count(), 3, "{ended:?}");
}

#[test]
fn a_script_without_an_interpreter_is_given_to_sh() {
    let folder = Folder::new("without");
    let script = folder.program("script", "echo ran; exit 5\n");
    ran(noesc(["run", "--", &script])).is("ran\n", "", 5);
}

#[test]
fn a_status_is_never_invented() {
    let folder = Folder::new("status");
    let path = folder.name("report");
    let outcome = |argv: &[&str]| {
        ran(noesc(["run", "--report", &path, "--"].iter().chain(argv)));
        json(path.as_ref())["outcome"].take()
    };
    let killed = outcome(&["sh", "-c", "kill -KILL $$"]);
    let wanted = json!({
        "kind": "signalled", "signal": 9, "core": false, "observed_by": "collector",
    });
    assert_eq!(killed, wanted);
    let wanted = json!({
        "kind": "spawn_failed", "reason": "not-found", "path": "./missing",
        "observed_by": "collector",
    });
    assert_eq!(outcome(&["./missing"]), wanted);
    let wanted = json!({"kind": "exited", "code": 0, "observed_by": "collector"});
    assert_eq!(outcome(&["true"]), wanted);
}

#[test]
fn a_reader_that_goes_away_is_in_the_report() {
    let folder = Folder::new("caller");
    let path = folder.name("report");
    let mut command = shell(r#""$N" run --report "$R" -- yes | head -1"#);
    command.env("R", &path);
    ran(command).is("y\n", "", 0);
    let report = json(path.as_ref());
    assert_eq!(report["streams"]["stdout"]["cutoff"], "caller");
    assert_eq!(report["streams"]["stdout"]["eof"], false);
    assert_eq!(report["streams"]["stderr"]["cutoff"], "none");
    assert_eq!(report["outcome"]["signal"], 13);
}

#[test]
fn a_process_left_behind_does_not_hold_us() {
    let folder = Folder::new("behind");
    let path = folder.name("report");
    let ended = ran_sh(&["--report", &path], "echo before; sleep 20 & echo $!");
    let mut lines = ended.out().lines();
    assert_eq!((lines.next(), ended.code()), (Some("before"), 0));
    let pid = lines.next().unwrap();
    signal("KILL", pid.parse().unwrap());
    let said = format!(
        "noesc: 1 process outlives the run: {pid} sleep\n\
         noesc: stdout and stderr are still held: what is written there from now on is not shown\n"
    );
    assert_eq!(ended.err(), said);
    let report = json(path.as_ref());
    assert_eq!(report["streams"]["stdout"]["cutoff"], "writer-alive");
    assert_eq!(report["streams"]["stdout"]["eof"], false);
    assert_eq!(report["outcome"]["code"], 0);
}

#[test]
fn the_substitution_returns_while_a_process_is_left_behind() {
    let script = r#"x=$("$N" run -q -- sh -c 'sleep 20 & echo $!'); kill -KILL $x; echo done"#;
    ran(shell(script)).is("done\n", "", 0);
}

#[test]
fn settings_hold_for_both_streams() {
    let script = r"printf '\033[1ma\r\nb\rc\n'; printf '\033[1md\re\n' >&2";
    ran_sh(&["--mark"], script).is("\u{241b}a\nb\nc\n", "\u{241b}d\ne\n", 0);
    ran_sh(&["--profile", "display"], script).is("\x1b[1ma\nbc\n\x1b[0m", "\x1b[1mde\n\x1b[0m", 0);
    ran_sh(&["--profile", "audit"], script).is(
        r"\x1b[1ma\x0d\x0ab\x0dc\x0a",
        r"\x1b[1md\x0de\x0a",
        0,
    );
    ran_sh(&["--cr", "overwrite"], script).is("a\nc\n", "e\n", 0);
    let script = r"printf '\304\343\272\303'; printf '\304\343' >&2";
    ran_sh(&["--encoding", "gbk"], script).is("你好", "你", 0);
    ran_sh(&["--profile", "display", "--off"], r"printf '\033]0;x\007a'").is(
        "\x1b]0;x\x07a",
        "",
        0,
    );
}

#[test]
fn flags_after_the_command_are_the_commands() {
    ran(noesc(["run", "echo", "--mark", "-q", "--help"])).is("--mark -q --help\n", "", 0);
    ran(noesc(["run", "--", "echo", "--", "x"])).is("-- x\n", "", 0);
    ran(noesc(["run", "--mark", "echo", "x"])).is("x\n", "", 0);
}

#[test]
fn arguments_arrive_as_they_are() {
    let ended = ran(noesc(["run", "--", "printf", "[%s]", "", "a b", "*", "$HOME", "'\"\\"]));
    ended.is("[][a b][*][$HOME]['\"\\]", "", 0);
}

#[test]
fn a_mebibyte_of_arguments_arrives() {
    let word = "x".repeat(100 * 1024);
    let words = vec![word.as_str(); 11];
    let ended = ran(noesc(["run", "--", "printf", "%s"].iter().chain(&words)));
    ended.is(&words.concat(), "", 0);
    // And is refused in one line where it is none of a command.
    let ended = ran(noesc(["filter"].iter().chain(&words)));
    assert_eq!((ended.err().lines().count(), ended.code()), (2, 2));
}

#[test]
fn no_output_at_all() {
    ran(noesc(["run", "true"])).is("", "", 0);
    ran(noesc(["run", "--profile", "display", "true"])).is("", "", 0);
    ran(noesc(["run", "--profile", "audit", "true"])).is("", "", 0);
}

#[test]
fn a_run_within_a_run() {
    let mut command = noesc(["run", "--", common::binary(), "run", "--", "sh", "-c"]);
    command.arg(r"printf '\033]52;c;YQ==\007a\n'; exit 4");
    let said = "child: noesc: high in stdout: clipboard-write at byte 0\n";
    ran(command).is("a\n", said, 4);
}
