//! The viewer in a real terminal, under `tmux`: nothing of a hostile file reaches it.
//!
//! Each test has a server of its own, which ends with it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "functions that tests share")]

mod common;

use std::fmt::Debug;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use common::hostile;
use noesc_grammar::{Class, Event, Parser};
use noesc_text::AuditEscape;
use noesc_viewer::{Original, Start, StreamInfo, view};

/// How long anything may take before a test says that it hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// Looks until it is there.
fn eventually<T, S: Debug>(mut look: impl FnMut() -> Result<T, S>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        match look() {
            Ok(found) => return found,
            Err(seen) => assert!(Instant::now() < until, "never came: {seen:?}"),
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The example, which `cargo test -p noesc-viewer` builds.
fn example() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let example = test.parent().unwrap().parent().unwrap().join("examples/view");
    assert!(example.exists(), "run `cargo build -p noesc-viewer --examples` first");
    example
}

/// What a terminal holds besides its cells, and what a hostile file would change.
const STATE: &str = "#{pane_title} #{cursor_x},#{cursor_y} #{cursor_flag} #{alternate_on} \
    #{insert_flag} #{keypad_cursor_flag} #{keypad_flag} #{origin_flag} #{wrap_flag} \
    #{mouse_any_flag} #{mouse_sgr_flag} #{mouse_utf8_flag} \
    #{scroll_region_upper}-#{scroll_region_lower} #{pane_tabs} #{pane_fg} #{pane_bg} \
    #{buffer_size} #{window_name} #{pane_path} #{pane_in_mode} #{session_alerts}";

struct Pane(tempfile::TempDir);

impl Pane {
    /// An interactive shell that knows the example as `$V`; all that the pane is sent is in a file.
    fn open(columns: u16, rows: u16) -> Self {
        let pane = Self(tempfile::tempdir().unwrap());
        let (x, y, folder) = (columns.to_string(), rows.to_string(), pane.path(""));
        let shell = "exec env -u NO_COLOR PS1='% ' bash --norc --noprofile -i";
        let start = ["-f", "/dev/null", "new-session", "-d", "-x", &x, "-y", &y, "-c", &folder];
        pane.tmux(&[&start[..], &[shell]].concat());
        for (option, value) in [
            ("set-clipboard", "on"),
            ("allow-rename", "on"),
            ("allow-passthrough", "on"),
            ("automatic-rename", "off"),
            ("monitor-bell", "on"),
            ("status", "off"),
        ] {
            pane.tmux(&["set", "-g", option, value]);
        }
        pane.tmux(&["select-pane", "-T", "untouched"]);
        pane.tmux(&["rename-window", "untouched"]);
        pane.see(|screen| screen.ends_with('%'));
        pane.type_line(&format!("V='{}'; PS1='$ '; clear", example().display()));
        pane.see(|screen| screen == "$");
        pane.tmux(&["pipe-pane", &format!("cat >'{}'", pane.path("sent"))]);
        pane
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).unwrap();
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

    fn state(&self) -> String {
        self.tmux(&["display-message", "-p", STATE])
    }

    /// Waits until the screen is as it should be.
    #[track_caller]
    fn see(&self, wanted: impl Fn(&str) -> bool) -> String {
        eventually(|| {
            let screen = self.screen();
            if wanted(&screen) { Ok(screen) } else { Err(screen) }
        })
    }

    /// Waits until the last row of the screen ends so.
    #[track_caller]
    fn see_end(&self, end: &str) -> String {
        self.see(|screen| screen.ends_with(end))
    }

    /// Waits until the pane's terminal is in this state again.
    #[track_caller]
    fn see_state(&self, wanted: &str) {
        eventually(|| {
            let state = self.state();
            if state == wanted { Ok(()) } else { Err(state) }
        });
    }

    /// What was sent to the terminal, once a line of it says that it is over.
    fn sent(&self) -> Vec<u8> {
        eventually(|| {
            let sent = std::fs::read(self.path("sent")).unwrap_or_default();
            let over = sent.windows(8).any(|window| window == b"all:over");
            if over { Ok(sent) } else { Err(sent.len()) }
        })
    }
}

impl Drop for Pane {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-S", &self.path("socket"), "kill-server"]).output();
    }
}

/// What the viewer may send: rows and columns, styles, the other screen, the cursor hidden.
fn is_ours(sequence: &noesc_grammar::Sequence<'_>) -> bool {
    let digits = |from: &[u8]| from.iter().all(|byte| byte.is_ascii_digit() || *byte == b';');
    let collected = sequence.collected;
    sequence.is_sound()
        && sequence.class == Class::Csi
        && match sequence.final_byte {
            b'm' | b'H' => digits(collected),
            b'J' => matches!(collected, b"" | b"2"),
            b'h' | b'l' => matches!(collected, b"?1049" | b"?25"),
            _ => false,
        }
}

/// Everything else that was sent, in words. The shell's own line ends, and the bytes that bash
/// itself sends for its prompt, are those before and behind the other screen.
fn foreign(sent: &[u8]) -> Vec<String> {
    let mut foreign = Vec::new();
    if !sent.is_ascii() {
        foreign.push("bytes beyond ASCII".to_owned());
    }
    let mut sink = |at: u64, event: Event<'_>| match event {
        Event::Text(text) if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) => {}
        Event::Part { .. } => {}
        Event::End(sequence) if is_ours(&sequence) => {}
        other => foreign.push(AuditEscape(format!("{at}: {other:?}").as_bytes()).to_string()),
    };
    let mut parser = Parser::new();
    parser.push(sent, &mut sink);
    parser.finish(&mut sink);
    foreign
}

/// From the first switch to the other screen to the last switch back, both included.
fn between(sent: &[u8]) -> &[u8] {
    let find = |what: &[u8]| memchr::memmem::find(sent, what);
    let (enter, leave) = (b"\x1b[?1049h", b"\x1b[?1049l");
    let from = find(enter).unwrap();
    let to = memchr::memmem::rfind(sent, leave).unwrap() + leave.len();
    &sent[from..to]
}

#[test]
fn a_hostile_file_does_nothing_to_the_terminal() {
    let pane = Pane::open(200, 60);
    let bytes = hostile();
    pane.write("hostile", &bytes);
    let before = pane.state();
    assert!(before.starts_with("untouched 2,0 1 0 "), "{before:?}");
    pane.type_line(r#"clear; "$V" hostile >/dev/null; clear; echo all:""over"#);
    pane.see(|screen| screen.contains("? for help"));
    let mut at = 0;
    let rows = 60 - 10;
    while at + rows * 16 < bytes.len() {
        at += rows * 16;
        pane.keys("Space");
        // The offset of the cursor, which is in the first row after a page.
        pane.see(|screen| screen.lines().last().unwrap_or_default().contains(&format!(" {at} 0x")));
        let state = pane.state();
        assert!(state.starts_with("untouched "), "{state:?}");
    }
    pane.keys("g");
    for _ in 0..40 {
        let here = pane.screen();
        pane.keys("n");
        pane.see(|screen| screen != here);
    }
    // Within: the other screen, and nothing else.
    let within = pane.state();
    let wanted = before.replacen(" 1 0 ", " 0 1 ", 1);
    let behind = |state: &str| state.split(' ').skip(2).collect::<Vec<_>>().join(" ");
    assert_eq!(behind(&within), behind(&wanted));
    pane.keys("q");
    pane.see(|screen| screen == "all:over\n$");
    pane.type_line("clear");
    pane.see(|screen| screen == "$");
    pane.see_state(&before);
    assert_eq!(pane.tmux(&["list-buffers"]), "");
    let sent = pane.sent();
    assert_eq!(foreign(between(&sent)), Vec::<String>::new());
    assert!(between(&sent).len() > bytes.len());
}

#[test]
fn the_check_of_what_is_sent_finds_what_is_foreign() {
    let ours = b"\x1b[?1049h\x1b[0m\x1b[?25l\x1b[2J\x1b[1;1H\x1b[38;5;8mtext\x1b[?1049l\x1b[?25h";
    assert_eq!(foreign(ours), Vec::<String>::new());
    for bytes in [
        &b"\x1b]0;t\x07"[..],
        b"\x1b[?1000h",
        b"\x1b[?2004h",
        b"\x1b[5;10r",
        b"\x1b[6n",
        b"\x1b[!p",
        b"\x1bc",
        b"\x07",
        b"\r",
        b"\n",
        b"\x0e",
        b"\xc2\x9b1m",
        b"\x9b1m",
        b"\xe2\x80\xae",
        b"\xff",
        b"\x1b[1\x07m",
        b"\x1b[",
    ] {
        assert_ne!(foreign(bytes), Vec::<String>::new(), "{}", AuditEscape(bytes));
    }
}

#[test]
fn standard_streams_are_neither_read_nor_written() {
    let pane = Pane::open(80, 24);
    pane.write("file", b"one\x1b[2Jtwo");
    pane.type_line(r#"clear; "$V" file </dev/null >out 2>&1; echo "code:$?""#);
    pane.see(|screen| screen.contains(r"0000 6f 6e 65 1b 5b 32 4a 74  one\x1b[2Jt"));
    pane.keys("y");
    pane.see(|screen| screen.contains("3 byte(s) copied"));
    pane.keys("q");
    pane.see_end("code:0\n$");
    assert_eq!(std::fs::read_to_string(pane.path("out")).unwrap(), "one\nseen: 10 bytes\n");
}

#[test]
fn without_a_terminal_it_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, b"one").unwrap();
    let mut command = Command::new("setsid");
    let output = command.args(["-w"]).arg(example()).arg(&file).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("noesc: error: no terminal to view on: "), "{said}");
    assert!(said.contains("\nnoesc: hint: "), "{said}");
}

#[test]
fn a_signal_that_ends_it_gives_the_terminal_back() {
    for (signal, number) in [("TERM", 15), ("HUP", 1), ("INT", 2), ("QUIT", 3)] {
        let pane = Pane::open(80, 24);
        pane.write("file", b"one\x1b[2Jtwo");
        let before = pane.state();
        pane.type_line(r#"sh -c 'echo $$ >pid; exec "$0" file' "$V"; echo "code:$?""#);
        pane.see(|screen| screen.contains("? for help"));
        let pid = std::fs::read_to_string(pane.path("pid")).unwrap();
        let kill = Command::new("kill").args(["-s", signal, pid.trim()]).status().unwrap();
        assert!(kill.success());
        pane.see_end(&format!("code:{}\n$", 128 + number));
        // Lines are edited and echoed again.
        pane.type_line("clear");
        pane.see(|screen| screen == "$");
        pane.see_state(&before);
    }
}

#[test]
fn it_stops_and_goes_on() {
    let pane = Pane::open(80, 24);
    pane.write("file", b"one\x1b[2Jtwo");
    pane.type_line(r#"clear; "$V" file; echo "code:$?""#);
    let first = pane.see(|screen| screen.contains("? for help"));
    pane.keys("C-z");
    pane.see(|screen| screen.contains("Stopped"));
    pane.type_line("stty -a >modes; clear; echo back");
    pane.see_end("back\n$");
    let modes = std::fs::read_to_string(pane.path("modes")).unwrap();
    assert!(modes.contains(" icanon") && modes.contains(" echo "), "{modes}");
    pane.type_line("fg");
    let again = pane.see(|screen| screen.contains("? for help"));
    assert_eq!(first, again);
    pane.keys("G");
    pane.see_end(" 9 0x9 line 1 100%");
    pane.keys("q");
    pane.see(|screen| screen.contains("seen: 10 bytes"));
    pane.see_end("$");
}

#[test]
fn it_draws_again_after_a_stop_that_it_did_not_see() {
    let pane = Pane::open(80, 24);
    pane.write("file", b"one\x1b[2Jtwo");
    pane.type_line(r#"sh -c 'echo $$ >pid; exec "$0" file' "$V""#);
    let first = pane.see(|screen| screen.contains("? for help"));
    let pid = std::fs::read_to_string(pane.path("pid")).unwrap();
    let kill = Command::new("kill").args(["-s", "STOP", pid.trim()]).status().unwrap();
    assert!(kill.success());
    pane.see(|screen| screen.contains("Stopped"));
    pane.type_line("clear; echo back");
    pane.see_end("back\n$");
    pane.type_line("fg");
    pane.see(|screen| screen == first);
    pane.keys("q");
    pane.see_end("seen: 10 bytes\n$");
}

#[test]
fn it_ends_with_its_terminal() {
    let pane = Pane::open(80, 24);
    pane.write("file", b"one\x1b[2Jtwo");
    pane.type_line(r#"sh -c 'echo $$ >pid; exec "$0" file' "$V""#);
    pane.see(|screen| screen.contains("? for help"));
    let pid = std::fs::read_to_string(pane.path("pid")).unwrap();
    pane.tmux(&["kill-server"]);
    eventually(|| {
        let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
        match state {
            Ok(state) if !state.contains(") Z ") => Err(state),
            _ => Ok(()),
        }
    });
}

#[test]
fn it_follows_the_size_of_the_terminal() {
    let pane = Pane::open(80, 24);
    pane.write("file", &[b'a'; 100]);
    pane.type_line(r#"clear; "$V" file"#);
    pane.see(|screen| screen.contains("\n0008 61 61 61 61 61 61 61 61  aaaaaaaa\n"));
    pane.tmux(&["resize-window", "-x", "40", "-y", "12"]);
    pane.see(|screen| {
        screen.contains("\n0004 61 61 61 61  aaaa\n") && screen.lines().count() == 12
    });
    pane.tmux(&["resize-window", "-x", "130", "-y", "30"]);
    let row = format!("\n0010 {} aaaaaaaaaaaaaaaa\n", "61 ".repeat(16));
    pane.see(|screen| screen.contains(&row) && screen.lines().count() == 30);
}

#[test]
fn an_escape_alone_is_a_key() {
    let pane = Pane::open(80, 24);
    pane.write("file", b"abc");
    pane.type_line(r#"clear; "$V" file"#);
    pane.see(|screen| screen.contains("? for help"));
    pane.keys("/");
    pane.see_end("\n/");
    pane.keys("Escape");
    pane.see(|screen| screen.contains(" 0 0x0 line 1 33%"));
    pane.keys("Right");
    pane.see(|screen| screen.contains(" 1 0x1 line 1 66%"));
}

struct Panicking([StreamInfo; 1]);

impl Original for Panicking {
    fn streams(&self) -> &[StreamInfo] {
        &self.0
    }

    fn read_at(&mut self, _: usize, _: u64, _: &mut [u8]) -> std::io::Result<usize> {
        panic!("a caller that panics")
    }
}

/// The other side of the next test.
#[test]
#[ignore = "it needs a terminal, and panics"]
fn child_that_panics() {
    let mut original = Panicking([StreamInfo { name: "stdout".to_owned(), bytes: 10 }]);
    let _ = view(&mut original, &Start::default());
}

#[test]
fn a_panic_gives_the_terminal_back() {
    let pane = Pane::open(80, 24);
    let before = pane.state();
    let test = std::env::current_exe().unwrap();
    let run = "--exact child_that_panics --ignored --nocapture >out 2>&1";
    pane.type_line(&format!("'{}' {run}; echo \"code:$?\"", test.display()));
    pane.see_end("code:101\n$");
    let said = std::fs::read_to_string(pane.path("out")).unwrap();
    assert!(said.contains("a caller that panics"), "{said}");
    pane.type_line("clear");
    pane.see(|screen| screen == "$");
    pane.see_state(&before);
}
