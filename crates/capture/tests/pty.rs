//! A child with a terminal of its own.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::time::Duration;

use common::{Keep, sh};
use noesc_capture::{
    Captured, Chunk, Command, Cutoff, End, Flow, Limited, Limits, Outcome, Sink, Size, Stream, run,
};

fn in_terminal(script: &str, columns: u16, rows: u16) -> Command {
    let mut command = sh(script);
    command.terminal = Some(Size { columns, rows });
    command
}

fn ran(command: &Command) -> (Captured, String) {
    let mut keep = Keep::default();
    let captured = run(command, &Limits::default(), &mut keep);
    let text = String::from_utf8_lossy(&keep.bytes(Stream::Pty)).into_owned();
    assert!(keep.stdout().is_empty() && keep.stderr().is_empty());
    (captured, text)
}

#[test]
fn all_three_descriptors_are_a_terminal_of_this_size() {
    let script =
        "stty size; for fd in 0 1 2; do test -t $fd && echo $fd; done; echo err >&2; exit 4";
    let (captured, text) = ran(&in_terminal(script, 100, 30));
    assert_eq!(text, "30 100\r\n0\r\n1\r\n2\r\nerr\r\n");
    assert_eq!(captured.outcome, Outcome::Exited { code: 4 });
    let pty = captured.pty.unwrap();
    assert_eq!((pty.bytes, pty.end.eof, pty.end.cutoff), (text.len() as u64, true, Cutoff::None));
    assert_eq!((captured.stdout.bytes, captured.stderr.bytes), (0, 0));
}

#[test]
fn it_is_the_controlling_terminal_of_a_session_of_its_own() {
    let script = "echo up > /dev/tty; \
                  read pid name state parent group session rest < /proc/$$/stat; \
                  test $session = $$ && test $group = $$ && echo leads";
    assert_eq!(ran(&in_terminal(script, 80, 24)).1, "up\r\nleads\r\n");
}

#[test]
fn a_question_to_the_terminal_gets_no_answer() {
    let script = "stty raw -echo min 0 time 5; printf '\\033[6n\\033[c\\033[5n'; \
                  answer=$(dd bs=64 count=1 2>/dev/null | od -An -c); echo \"got:$answer:\"";
    let (_, text) = ran(&in_terminal(script, 80, 24));
    assert!(text.ends_with("got::\n"), "{}", text.escape_debug());
}

#[test]
fn what_the_sink_types_is_read() {
    #[derive(Default)]
    struct Typist(String, bool);
    impl Sink for Typist {
        fn chunk(&mut self, chunk: Chunk<'_>) -> Flow {
            self.0.push_str(&String::from_utf8_lossy(chunk.bytes));
            Flow::Continue
        }
        fn end(&mut self, _: Stream, _: End) -> Flow {
            Flow::Continue
        }
        fn typed(&mut self) -> Vec<u8> {
            let is_asked = self.0.contains("name?") && !std::mem::replace(&mut self.1, true);
            if is_asked { b"Ada\n".to_vec() } else { Vec::new() }
        }
    }
    let mut typist = Typist::default();
    let command = in_terminal("stty -echo; echo name?; read name; echo hello $name", 80, 24);
    let captured = run(&command, &Limits::default(), &mut typist);
    assert_eq!(typist.0, "name?\r\nhello Ada\r\n");
    assert_eq!(captured.outcome, Outcome::Exited { code: 0 });
}

#[test]
fn a_terminal_that_something_else_holds_is_cut_off() {
    let (captured, text) = ran(&in_terminal("trap '' HUP; sleep 3 & echo b", 80, 24));
    assert_eq!(text, "b\r\n");
    let pty = captured.pty.unwrap();
    assert_eq!((pty.end.eof, pty.end.cutoff), (false, Cutoff::WriterAlive));
    assert_eq!(captured.survivors.count, Some(1));
}

#[test]
fn a_terminal_that_is_closed_and_opened_again_is_the_same() {
    let script = "exec 0<&- 1>&- 2>&-; sleep 0.3; echo again >/dev/tty && exit 5";
    let (captured, text) = ran(&in_terminal(script, 80, 24));
    assert_eq!((text.as_str(), captured.outcome), ("again\r\n", Outcome::Exited { code: 5 }));
    assert!(captured.pty.unwrap().end.eof);
}

#[test]
fn a_limit_ends_it_too() {
    let mut limits = Limits::default();
    limits.time_max = Some(Limited::stop(Duration::from_millis(300)));
    let mut keep = Keep::default();
    let captured = run(&in_terminal("echo up; sleep 300", 80, 24), &limits, &mut keep);
    assert!(matches!(captured.outcome, Outcome::TimedOut { .. }));
    assert_eq!(keep.bytes(Stream::Pty), b"up\r\n");
    assert_eq!(captured.survivors.count, Some(0));
}

#[test]
fn all_of_a_large_output_arrives() {
    let (captured, text) = ran(&in_terminal("seq 1 200000", 80, 24));
    let lines: Vec<_> = text.lines().collect();
    assert_eq!((lines.len(), lines[199_999]), (200_000, "200000"));
    assert_eq!(captured.pty.unwrap().lines, 200_000);
}
