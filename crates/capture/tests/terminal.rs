//! The example program in a real terminal, under an interactive shell with job control.
//!
//! Each test has a `tmux` server of its own, which ends with it.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::process::Command;

use common::{Folder, eventually, example};

struct Pane {
    folder: Folder,
}

impl Pane {
    /// An interactive shell that knows the example program as `$R`.
    fn open(name: &str) -> Self {
        let pane = Self { folder: Folder::new(name) };
        let shell = "exec env PS1='% ' bash --norc --noprofile -i";
        let new = ["-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", shell];
        pane.tmux(&new);
        pane.see("% ");
        pane.type_line(&format!("R={}; PS1='$ '; clear", example().display()));
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

    /// Waits until a line of the screen begins with `text`, a key's echo aside.
    fn see(&self, text: &str) -> String {
        eventually(|| {
            let screen = self.screen();
            let seen = screen
                .lines()
                .any(|line| line.trim_start_matches("^C").starts_with(text.trim_end()));
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

    /// Continues the shell's one job, and waits until the shell has said so. What is typed before
    /// then, the shell's line editor would still get.
    fn fg(&self, command: &str) {
        self.type_line("clear; fg");
        // Not what an earlier `fg` has left on the screen.
        eventually(|| {
            let screen = self.screen();
            let is_new = screen.starts_with(command) && !screen.contains("Stopped");
            if is_new { Ok(()) } else { Err(screen) }
        });
    }

    /// Waits until the shell says that its one job is in this state.
    fn see_job(&self, state: &str) {
        let wanted = format!("[1]+  {state}");
        eventually(|| {
            self.type_line("clear; jobs");
            let screen = self.see_last("$");
            if screen.contains(&wanted) { Ok(()) } else { Err(screen) }
        });
    }

    /// Waits until this file of the test's folder has something in it.
    fn file(&self, name: &str) -> String {
        eventually(|| match std::fs::read_to_string(self.folder.file(name)) {
            Ok(text) if text.ends_with('\n') => Ok(text),
            other => Err(other),
        })
    }

    fn path(&self, name: &str) -> String {
        self.folder.file(name).display().to_string()
    }
}

impl Drop for Pane {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-S", &self.path("socket"), "kill-server"]).output();
    }
}

/// Prints its own group and the terminal's foreground group.
const GROUPS: &str = "read a b c d own f g fore rest < /proc/$$/stat; echo $own $fore";

#[test]
fn what_is_typed_arrives() {
    let pane = Pane::open("typed");
    pane.type_line("$R sh -c 'echo ask; read x; echo got:$x'; echo code:$?");
    pane.see("ask");
    pane.type_line("hello");
    pane.see("got:hello");
    pane.see("code:0");
}

#[test]
fn the_child_has_the_terminal_before_it_runs() {
    let pane = Pane::open("before");
    let script = format!("{GROUPS} > {}", pane.path("groups.$$"));
    pane.type_line(&format!("for i in {{1..20}}; do $R sh -c '{script}'; done; echo all:done"));
    pane.see("all:done");
    let mut runs = 0;
    for entry in std::fs::read_dir(&pane.folder.0).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with("socket") {
            continue;
        }
        let groups = std::fs::read_to_string(path).unwrap();
        let (own, foreground) = groups.trim().split_once(' ').unwrap();
        assert_eq!(own, foreground);
        runs += 1;
    }
    assert_eq!(runs, 20);
}

#[test]
fn the_terminal_comes_back_at_the_end() {
    let pane = Pane::open("back");
    pane.type_line("$R true; $R /nonexistent; $R /etc/passwd; echo now; read y; echo y:$y");
    pane.see("now");
    pane.type_line("mine");
    pane.see("y:mine");
    pane.type_line(&format!("$R true; sh -c '{GROUPS}' > {}", pane.path("groups")));
    let groups = pane.file("groups");
    let (own, foreground) = groups.trim().split_once(' ').unwrap();
    assert_eq!(own, foreground);
}

#[test]
fn an_interrupt_from_the_keyboard_ends_the_child() {
    let pane = Pane::open("interrupt");
    let record = pane.path("record");
    pane.type_line(&format!("CAPTURE_RECORD={record} $R sh -c 'echo up; sleep 300'; echo code:$?"));
    pane.see("up");
    pane.keys("C-c");
    pane.see("code:130");
    // The terminal sent it to the child, not to us.
    let record = pane.file("record");
    assert!(record.contains("outcome: Signalled {"), "{record:?}");
}

#[test]
fn a_stop_from_the_keyboard_and_fg_pass_both_ways() {
    let pane = Pane::open("stop");
    pane.type_line("$R sh -c 'echo ask; read x; echo got:$x'; echo code:$?");
    pane.see("ask");
    for round in 1..=3 {
        pane.keys("C-z");
        let screen = eventually(|| {
            let screen = pane.screen();
            if screen.contains("Stopped") { Ok(screen) } else { Err(screen) }
        });
        // For a stop by SIGSTOP instead of SIGTSTP the shell says `Stopped (signal)`.
        assert!(!screen.contains("(signal)"), "{screen:?}");
        pane.type_line(&format!("echo shell:{round}"));
        pane.see(&format!("shell:{round}"));
        pane.fg("$R sh");
    }
    pane.type_line("hello");
    pane.see("got:hello");
    pane.see_last("$");
}

#[test]
fn bg_and_fg_pass_both_ways() {
    let pane = Pane::open("bg");
    let go = pane.path("go");
    let script = format!("echo up; while ! test -e {go}; do sleep 0.05; done; read x; echo got:$x");
    pane.type_line(&format!("$R sh -c '{script}'"));
    pane.see("up");
    pane.keys("C-z");
    pane.see("[1]+  Stopped");
    pane.type_line("bg");
    // In the background it runs until it reads.
    pane.see_job("Running");
    std::fs::write(go, "").unwrap();
    pane.see_job("Stopped");
    pane.fg("$R sh");
    pane.type_line("late");
    pane.see("got:late");
    pane.see_last("$");
}

#[test]
fn a_run_begun_in_the_background_gets_the_terminal_with_fg() {
    let pane = Pane::open("background");
    pane.type_line("$R sh -c 'read x; echo got:$x' &");
    pane.see_job("Stopped");
    pane.fg("$R sh");
    pane.type_line("typed");
    pane.see("got:typed");
    pane.see_last("$");
}

#[test]
fn a_script_around_the_run_stops_with_it() {
    let pane = Pane::open("script");
    pane.type_line("sh -c '$0 sh -c \"echo up; read x; echo got:\\$x\"; echo after' $R");
    pane.see("up");
    pane.keys("C-z");
    pane.see("[1]+  Stopped");
    pane.fg("sh -c");
    pane.type_line("hello");
    pane.see("got:hello");
    pane.see("after");
}

#[test]
fn in_a_pipeline_the_child_gets_the_terminal_when_it_reads() {
    let pane = Pane::open("pipeline");
    pane.type_line("$R sh -c 'echo ask; read x; echo got:$x' | cat; echo code:$?");
    pane.see("ask");
    pane.type_line("hello");
    pane.see("got:hello");
    pane.see("code:0");
}

#[test]
fn in_a_pipeline_keys_that_signal_reach_the_child_too() {
    let pane = Pane::open("keys");
    pane.type_line("$R sh -c 'trap \"echo cleaned; exit 3\" INT; echo up; sleep 300' | cat");
    pane.see("up");
    pane.keys("C-z");
    pane.see("[1]+  Stopped");
    pane.fg("$R sh");
    pane.keys("C-c");
    pane.see_last("$");
    pane.type_line(
        "clear; $R sh -c 'trap \"echo cleaned >&2; exit 3\" INT; echo on; sleep 300' | cat",
    );
    pane.see("on");
    pane.keys("C-c");
    pane.see("cleaned");
}

#[test]
fn a_terminal_that_was_taken_back_is_given_again() {
    let pane = Pane::open("again");
    // A shell may give the terminal to its job once more, after the job has given it to its child.
    let script = "import os, signal\n\
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)\n\
        tty = os.open('/dev/tty', os.O_RDWR)\n\
        def read(word):\n    \
            print(word, flush=True)\n    \
            print('got:' + os.read(tty, 99).decode().strip(), flush=True)\n\
        read('ask')\n\
        above = open(f'/proc/{os.getppid()}/stat').read().rsplit(')', 1)[1].split()[1]\n\
        os.tcsetpgrp(tty, os.getpgid(int(above)))\n\
        read('again')\n";
    std::fs::write(pane.path("asks.py"), script).unwrap();
    pane.type_line(&format!("echo 1 | $R python3 {}; echo code:$?", pane.path("asks.py")));
    pane.see("ask");
    pane.type_line("one");
    pane.see("got:one");
    pane.see("again");
    pane.type_line("two");
    pane.see("got:two");
    pane.see("code:0");
}

#[test]
fn a_question_on_the_terminal_itself_is_answered() {
    let pane = Pane::open("question");
    pane.type_line("echo 1 | $R sh -c 'echo ask; read x < /dev/tty; echo got:$x'");
    pane.see("ask");
    pane.type_line("hello");
    pane.see("got:hello");
    pane.see_last("$");
}

#[test]
fn the_childs_input_cannot_write_to_the_terminal() {
    let pane = Pane::open("readonly");
    pane.type_line("$R sh -c 'printf \"wro%s\\n\" te >&0 2> /dev/null || echo refused'");
    let screen = pane.see("refused");
    assert!(!screen.contains("wrote"), "{screen:?}");
}

#[test]
fn a_terminal_that_stops_background_writers_does_not_stop_us() {
    let pane = Pane::open("tostop");
    pane.type_line("stty tostop; $R sh -c 'echo one; read x; echo got:$x'; echo code:$?");
    pane.see("one");
    pane.type_line("hello");
    pane.see("got:hello");
    pane.see("code:0");
}

#[test]
fn a_stopped_run_that_is_told_to_end_ends_with_its_child() {
    let pane = Pane::open("kill");
    let pid = pane.path("pid");
    pane.type_line(&format!("$R sh -c 'echo $$ > {pid}; echo up; exec sleep 300'"));
    pane.see("up");
    pane.keys("C-z");
    pane.see("[1]+  Stopped");
    pane.type_line("kill %1; wait; echo code:$?");
    pane.see("code:");
    let child = pane.file("pid");
    assert!(!std::path::Path::new("/proc").join(child.trim()).exists());
}

#[test]
fn a_terminal_that_is_gone_ends_the_child() {
    let pane = Pane::open("hangup");
    let pid = pane.path("pid");
    pane.type_line(&format!("$R sh -c 'echo $$ > {pid}; exec sleep 300'"));
    let child = pane.file("pid");
    pane.tmux(&["kill-server"]);
    let child = std::path::Path::new("/proc").join(child.trim());
    eventually(|| if child.exists() { Err("still there") } else { Ok(()) });
}
