//! The command in a real terminal, under an interactive shell with job control.
//!
//! Each test has a `tmux` server of its own, which ends with it.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::process::Command;

use common::{Folder, binary, eventually};
use noesc_testkit::corpus::{load, root};

struct Pane {
    folder: Folder,
}

impl Pane {
    /// An interactive shell in the test's folder that knows the command as `$N`.
    fn open(name: &str) -> Self {
        let pane = Self { folder: Folder::new(&format!("tmux-{name}")) };
        let shell = "exec env PS1='% ' bash --norc --noprofile -i";
        let folder = pane.path("");
        let size = ["-x", "80", "-y", "24", "-c", &folder];
        let start = ["-f", "/dev/null", "set", "-g", "history-limit", "100000", ";"];
        pane.tmux(&[&start, &["new-session", "-d"][..], &size, &[shell]].concat());
        pane.see_last("%");
        pane.type_line(&format!("N={}; PS1='$ '; clear", binary()));
        pane.see_last("$");
        pane
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let mut tmux = Command::new("tmux");
        let output = tmux.args(["-S", &self.path("socket")]).args(arguments).output().unwrap();
        assert!(output.status.success(), "{:?}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn keys(&self, key: &str) {
        self.tmux(&["send-keys", key]);
    }

    fn type_line(&self, line: &str) {
        self.tmux(&["send-keys", "-l", line]);
        self.keys("Enter");
    }

    fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"]).trim_end().to_owned()
    }

    /// Waits until a line of the screen is `text`, a key's echo aside.
    fn see(&self, text: &str) -> String {
        eventually(|| {
            let screen = self.screen();
            let seen = screen.lines().any(|line| line.trim_start_matches("^C") == text);
            if seen { Ok(screen) } else { Err(screen) }
        })
    }

    /// Waits until the last line of the screen is `text`.
    fn see_last(&self, text: &str) -> String {
        eventually(|| {
            let screen = self.screen();
            if screen.lines().last() == Some(text) { Ok(screen) } else { Err(screen) }
        })
    }

    fn path(&self, name: &str) -> String {
        self.folder.name(name)
    }
}

impl Drop for Pane {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-S", &self.path("socket"), "kill-server"]).output();
    }
}

#[test]
fn what_is_typed_is_echoed_and_arrives() {
    let pane = Pane::open("typed");
    pane.type_line(r#""$N" run -- sh -c 'echo ask; read x; echo "got:$x"'; echo "code:$?""#);
    // Until the shell has given the terminal away, keys are not echoed.
    pane.see("ask");
    pane.tmux(&["send-keys", "-l", "hello"]);
    // The terminal's echo, before the line ends.
    pane.see("hello");
    pane.keys("Enter");
    pane.see("got:hello");
    pane.see("code:0");
}

#[test]
fn the_terminal_by_another_name_is_the_same_output() {
    let pane = Pane::open("name");
    pane.type_line(r#""$N" run -- sh -c 'echo noesc: forged' 2>/dev/tty"#);
    pane.see("child: noesc: forged");
}

#[test]
fn an_interrupt_ends_the_command() {
    let pane = Pane::open("interrupt");
    pane.type_line(r#""$N" run -- sh -c 'echo up; sleep 300'; echo "code:$?""#);
    pane.see("up");
    pane.keys("C-c");
    pane.see("code:130");
    assert!(!pane.screen().contains("noesc: error"));
}

#[test]
fn a_stop_and_fg_pass_both_ways() {
    let pane = Pane::open("stop");
    pane.type_line(r#""$N" run -- sh -c 'echo ask; read x; echo "got:$x"'; echo "code:$?""#);
    pane.see("ask");
    pane.keys("C-z");
    eventually(|| {
        let screen = pane.screen();
        if screen.contains("Stopped") { Ok(()) } else { Err(screen) }
    });
    pane.type_line("echo shell:$?");
    pane.see("shell:0");
    pane.type_line("clear; fg");
    eventually(|| {
        let screen = pane.screen();
        if screen.starts_with("\"$N\" run") { Ok(()) } else { Err(screen) }
    });
    pane.type_line("hello");
    pane.see("got:hello");
}

#[test]
fn the_commands_stdin_is_the_terminal() {
    let pane = Pane::open("tty");
    pane.type_line(r#""$N" run -- sh -c 'test -t 0 && echo tty; test -t 1 || echo pipe'"#);
    pane.see("tty");
    pane.see("pipe");
}

#[test]
fn output_is_seen_as_it_comes() {
    let pane = Pane::open("slow");
    pane.type_line(r#""$N" run -- sh -c 'echo one; printf two; read x; echo "three:$x"'"#);
    pane.see("one");
    pane.see("two");
    pane.type_line("go");
    pane.see("three:go");
}

#[test]
fn bytes_that_are_not_inert_are_kept_from_the_terminal() {
    let pane = Pane::open("unaudit");
    pane.folder.write("view", r"\x1b]0;owned\x07plain");
    pane.type_line(r#""$N" unaudit view; echo "code:$?""#);
    let screen = pane.see("code:2");
    assert!(screen.contains("noesc: error: stdout is a terminal, and the bytes are not inert"));
    assert!(!screen.lines().any(|line| line.starts_with("plain")), "{screen:?}");
    assert_ne!(pane.tmux(&["display-message", "-p", "#{pane_title}"]).trim(), "owned");
    pane.type_line(r#"clear; "$N" unaudit --force view; echo; echo "code:$?""#);
    pane.see("plain");
    assert_eq!(pane.tmux(&["display-message", "-p", "#{pane_title}"]).trim(), "owned");
}

#[test]
fn an_audit_view_ends_its_line_on_a_terminal() {
    let pane = Pane::open("audit");
    pane.folder.write("bytes", "\x1b[31mred\n");
    pane.type_line(r#""$N" audit bytes; echo "code:$?""#);
    let screen = pane.see("code:0");
    assert!(screen.contains("\\x1b[31mred\\x0a\ncode:0"), "{screen:?}");
}

#[test]
fn help_fits_the_terminal() {
    let pane = Pane::open("help");
    pane.type_line(r#""$N" filter --help; echo "code:$?""#);
    pane.see("code:0");
    let history = pane.tmux(&["capture-pane", "-p", "-J", "-S", "-"]);
    assert!(history.contains("--hidden-text"));
    assert!(history.lines().all(|line| line.chars().count() <= 80), "{history:?}");
}

/// What a terminal holds besides its cells, and what a hostile file would change.
const STATE: &str = "#{pane_title} #{cursor_x},#{cursor_y} #{cursor_flag} #{alternate_on} \
    #{insert_flag} #{keypad_cursor_flag} #{keypad_flag} #{origin_flag} #{wrap_flag} \
    #{mouse_any_flag} #{mouse_sgr_flag} #{scroll_region_upper}-#{scroll_region_lower} \
    #{pane_tabs} #{pane_fg} #{pane_bg} #{buffer_size} #{window_name} #{pane_path}";

/// The cells, their colours and the state of a terminal after `script` ran in it.
fn shown(name: &str, prepare: impl Fn(&Folder)) -> (String, String) {
    let pane = Pane::open(name);
    prepare(&pane.folder);
    pane.tmux(&["set", "-g", "allow-rename", "on"]);
    pane.tmux(&["set", "-g", "set-clipboard", "on"]);
    pane.tmux(&["set", "-g", "automatic-rename", "off"]);
    pane.tmux(&["select-pane", "-T", "untouched"]);
    pane.tmux(&["rename-window", "untouched"]);
    pane.type_line(r#"clear; N="$N" sh script; echo "all:done""#);
    pane.see("all:done");
    pane.see_last("$");
    let cells = pane.tmux(&["capture-pane", "-p", "-e", "-S", "-"]);
    (cells, pane.tmux(&["display-message", "-p", STATE]))
}

#[test]
fn hostile_files_leave_the_terminal_as_their_text_would() {
    let cases = load(&root()).unwrap_or_else(|error| panic!("{error}"));
    let cases: Vec<_> = cases.into_iter().filter(|case| case.agent.is_some()).collect();
    let hostile = shown("hostile", |folder| {
        let mut script = String::new();
        for (at, case) in cases.iter().enumerate() {
            folder.write(format!("{at}"), case.input());
            script += &format!("\"$N\" filter -q {at}; echo; echo case {at}\n");
        }
        folder.write("script", script);
    });
    let plain = shown("plain", |folder| {
        let mut script = String::new();
        for (at, case) in cases.iter().enumerate() {
            folder.write(format!("{at}"), case.agent.as_deref().unwrap_or_default());
            script += &format!("cat {at}; echo; echo case {at}\n");
        }
        folder.write("script", script);
    });
    assert!(plain.1.starts_with("untouched "), "{:?}", plain.1);
    assert_eq!(hostile.1, plain.1);
    assert!(hostile.0 == plain.0, "the cells differ");
    // Plain text sets no colour.
    assert!(!hostile.0.contains('\x1b'));
}

#[test]
fn a_hostile_file_would_have_changed_it() {
    let bytes = "\x1b]2;owned\x07\x1b[?25l\x1b[?1000h\x1b[5;10r\x1b[31mred";
    let changed = shown("changed", |folder| {
        folder.write("bytes", bytes);
        folder.write("script", "cat bytes; echo; echo");
    });
    assert!(changed.1.starts_with("owned "), "{:?}", changed.1);
    assert!(changed.0.contains("\x1b[31mred"));
    let filtered = shown("filtered", |folder| {
        folder.write("bytes", bytes);
        folder.write("script", "\"$N\" filter -q bytes; echo; echo");
    });
    assert!(filtered.1.starts_with("untouched "), "{:?}", filtered.1);
    assert!(filtered.0.contains("red") && !filtered.0.contains('\x1b'));
}
