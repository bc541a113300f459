//! What outlives a run: listed, listened to, and ended when somebody asks for it.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod backgrounds;
mod common;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::time::{Duration, Instant};

use backgrounds::{Home, is_alive, until_gone, until_written};
use common::{Ended, eventually, ran};

/// The interpreter itself: what is found by its name may be a script that looks for one.
fn python() -> String {
    let mut command = Command::new("python3");
    command.args(["-c", "import sys; print(sys.executable)"]);
    ran(command).out().trim_end().to_owned()
}

/// Less than what is left behind lives, and far more than a run takes that does not wait for it.
const HANGS: Duration = Duration::from_secs(40);

/// A server in the background of a run that is over.
struct Server {
    home: Home,
    port: u16,
    run: String,
    ended: Ended,
}

impl Server {
    /// A web server that logs each request on its stderr, started by a shell that then ends. It
    /// begins when it is [let](Self::begin), so that its first words come when the run is over.
    fn start(name: &str, flags: &[&str]) -> Self {
        let home = Home::new(name);
        home.folder.write("page", "hello\n");
        assert_eq!(home.shell(&format!("mkfifo {}", home.folder.name("gate"))).code(), 0);
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let script = format!(
            "cd {} && {{ (read go <gate; exec {} -m http.server {port} --bind 127.0.0.1) & \
             echo up; }}",
            home.folder.name(""),
            python()
        );
        let start = Instant::now();
        let ended = home.noesc(&[&["run"], flags, &["--", "sh", "-c", &script]].concat());
        assert!(start.elapsed() < HANGS, "{:?}", start.elapsed());
        let rows = home.listed(&[]);
        assert_eq!(rows.len(), 1, "{rows:?}");
        let run = rows[0]["run"].as_str().unwrap().to_owned();
        Self { home, port, run, ended }
    }

    fn begin(&self) {
        self.home.folder.write("gate", "go\n");
    }

    /// Asks for the page, and gives it.
    fn get(&self) -> String {
        let mut stream = eventually(|| TcpStream::connect(("127.0.0.1", self.port)));
        stream.write_all(b"GET /page HTTP/1.0\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.rsplit("\r\n\r\n").next().unwrap().to_owned()
    }

    /// The first of those that outlive the run, which becomes the server.
    fn pid(&self) -> String {
        self.home.row(&self.run)["survivors"][0]["pid"].to_string()
    }

    fn drained(&self) -> u64 {
        self.home.row(&self.run)["drained_bytes"].as_u64().unwrap()
    }
}

#[test]
fn a_server_outlives_its_run_until_it_is_stopped() {
    let server = Server::start("bg-server", &[]);
    assert_eq!((server.ended.out(), server.ended.code()), ("up\n", 0));
    let row = server.home.row(&server.run);
    assert_eq!(row["state"], "outlived");
    assert_eq!(row["outcome"], "exited 0");
    assert_eq!(row["bytes"], 3);
    assert_eq!(row["argv"][1], "-c");
    let pid = server.pid();
    server.begin();
    // It logs each request: a pipe that nobody holds would end it.
    assert_eq!(server.get(), "hello\n");
    let before = eventually(|| match server.drained() {
        0 => Err("nothing drained"),
        bytes => Ok(bytes),
    });
    for _ in 0..3 {
        assert_eq!(server.get(), "hello\n");
    }
    eventually(|| match server.drained() {
        bytes if bytes > before => Ok(()),
        bytes => Err(bytes),
    });
    assert!(is_alive(&pid));
    server.home.noesc(&["stop", &server.run]).is("", "", 0);
    assert!(!is_alive(&pid));
    assert!(TcpStream::connect(("127.0.0.1", server.port)).is_err());
    assert!(server.home.listed(&[]).is_empty());
    let ended = server.home.row(&server.run);
    assert_eq!((&ended["state"], &ended["keeper_pid"]), (&"ended".into(), &().into()));
    assert!(ended["drained_bytes"].as_u64() > Some(before));
}

#[test]
fn a_server_of_a_run_in_the_background_is_not_waited_for() {
    let server = Server::start("bg-server-detached", &["--detach"]);
    // The collector ends when the shell has, and says so to whoever waits.
    let id = server.ended.out().trim_end().to_owned();
    assert_eq!(id, server.run);
    let ended = server.home.noesc(&["wait", &id]);
    let pid = server.pid();
    let said = format!(
        "noesc: 1 process outlives the run: {pid} sh\n\
         noesc: stdout and stderr are still held: what is written there from now on is counted, \
         and not kept\n"
    );
    ended.is("up\n", &said, 0);
    server.home.noesc(&["wait", "-q", &id]).is("up\n", "", 0);
    server.begin();
    assert_eq!(server.get(), "hello\n");
    server.home.noesc(&["stop", &id]).is("", "", 0);
    assert!(!is_alive(&pid));
    server.home.noesc(&["wait", &id]).is("up\n", "", 0);
}

#[test]
fn what_outlives_a_run_is_listed_whatever_the_format() {
    for format in ["text", "json", "lines", "fence", "xml"] {
        let home = Home::new(&format!("bg-outlive-{format}"));
        let pid = home.folder.path("pid");
        let script = format!("sleep 60 & echo $! >{}", pid.display());
        home.noesc(&["run", "-q", "--format", format, "--", "sh", "-c", &script]);
        let pid = until_written(pid);
        let rows = home.listed(&[]);
        assert_eq!(rows.len(), 1, "{rows:?}");
        assert_eq!(rows[0]["survivors"][0]["pid"].to_string(), pid);
        let run = rows[0]["run"].as_str().unwrap();
        assert_eq!(home.record(run)["outcome"]["code"], 0);
        let names = ["drained", "record.json", "stderr.txt", "stdout.txt"];
        assert_eq!(home.names(run), names);
        let ended = home.noesc(&["wait", run]);
        assert_eq!((ended.out(), ended.code()), ("", 0));
        home.noesc(&["stop", run]).is("", "", 0);
        assert!(!is_alive(&pid));
    }
}

#[test]
fn a_run_that_nothing_outlives_has_ended() {
    let home = Home::new("bg-nothing");
    for script in ["true", "sleep 0.05 & wait"] {
        home.noesc(&["run", "--", "sh", "-c", script]).is("", "", 0);
        home.noesc(&["run", "--format", "json", "--", "sh", "-c", script]);
    }
    assert!(home.listed(&[]).is_empty());
    let ended = home.listed(&["--all"]);
    assert_eq!(ended.iter().filter(|row| row["state"] == "ended").count(), 4, "{ended:?}");
}

#[test]
fn what_escapes_by_a_session_or_a_double_fork_is_ended_too() {
    let home = Home::new("bg-escape");
    for (name, script) in [
        ("setsid", "setsid sh -c 'echo $$ >PID; sleep 60' & echo up"),
        ("double", "(setsid sh -c 'sh -c \"echo \\$\\$ >PID; sleep 60\" &' &) ; echo up"),
        ("closed", "setsid sh -c 'echo $$ >PID; exec >&- 2>&-; sleep 60' & echo up"),
    ] {
        let path = home.folder.path(name);
        let script = script.replace("PID", path.to_str().unwrap());
        let start = Instant::now();
        let ended = home.noesc(&["run", "-q", "--", "sh", "-c", &script]);
        ended.is("up\n", "", 0);
        assert!(start.elapsed() < HANGS, "{:?}", start.elapsed());
        let pid = until_written(path);
        let rows = home.listed(&[]);
        assert_eq!((rows.len(), &rows[0]["state"]), (1, &"outlived".into()), "{name}");
        assert!(is_alive(&pid));
        home.noesc(&["stop", rows[0]["run"].as_str().unwrap()]).is("", "", 0);
        assert!(!is_alive(&pid), "{name}");
    }
}

#[test]
fn one_that_ignores_term_is_killed_after_the_grace() {
    let home = Home::new("bg-deaf");
    let path = home.folder.path("pid");
    let script = format!(
        "setsid sh -c 'trap \"\" TERM; echo $$ >{}; while :; do sleep 1; done' & echo up",
        path.display()
    );
    home.noesc(&["run", "-q", "--", "sh", "-c", &script]).is("up\n", "", 0);
    let pid = until_written(path);
    let run = home.listed(&[])[0]["run"].as_str().unwrap().to_owned();
    let start = Instant::now();
    home.noesc(&["stop", &run]).is("", "", 0);
    let took = start.elapsed();
    assert!(took > Duration::from_secs(2), "{took:?}");
    until_gone(&[&pid]);
}

#[test]
fn a_run_in_the_background_of_a_run_outlives_that() {
    let home = Home::new("bg-nested");
    let script = r#"x=$("$N" run -q -- "$N" run --detach -- sleep 60); echo "$x""#;
    let start = Instant::now();
    let inner = home.shell(script).out().trim_end().to_owned();
    assert!(start.elapsed() < HANGS, "{:?}", start.elapsed());
    let mut states =
        home.listed(&[]).into_iter().map(|row| (row["run"].clone(), row["state"].clone()));
    let (outer, state) = states.next().unwrap();
    assert_eq!(state, "outlived");
    assert_eq!(states.next(), Some((inner.clone().into(), "running".into())));
    // To end what outlives the outer one is to end the inner one, orderly.
    home.noesc(&["stop", outer.as_str().unwrap()]).is("", "", 0);
    home.noesc(&["wait", "-q", &inner]).is("", "", 143);
    assert!(home.listed(&[]).is_empty());
}

#[test]
fn what_ends_by_itself_is_listed_no_more() {
    let home = Home::new("bg-itself");
    let go = home.folder.name("go");
    let script = format!("(while ! test -e {go}; do sleep 0.05; done; echo 12345) & echo up");
    home.noesc(&["run", "-q", "--", "sh", "-c", &script]).is("up\n", "", 0);
    let rows = home.listed(&[]);
    let run = rows[0]["run"].as_str().unwrap().to_owned();
    assert_eq!((rows.len(), &rows[0]["drained_bytes"]), (1, &0.into()));
    home.folder.write("go", "");
    eventually(|| match home.state(&run).as_str() {
        "ended" => Ok(()),
        other => Err(other.to_owned()),
    });
    // What it wrote last is counted before it is told as ended.
    assert_eq!(home.row(&run)["drained_bytes"], 6);
    let said = format!("noesc: {run} had ended before\n");
    home.noesc(&["stop", &run]).is("", &said, 0);
}
