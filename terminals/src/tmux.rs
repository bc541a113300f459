//! tmux: a server of our own, a new pane for each play, asked through its control mode.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::checks::NEXT_LINE;
use crate::terminal::unhex;

/// What a tmux that trusts its panes is set to: all that the content could use is on.
const CONFIGURATION: &str = "\
set -s set-clipboard on
set -s extended-keys on
set -s focus-events on
set -g allow-passthrough on
set -g allow-rename on
set -g automatic-rename off
set -g monitor-bell on
set -g history-limit 20000
set -g status off
set -g default-terminal tmux-256color
set -g set-titles on
set -g destroy-unattached on
";

const TITLE: &str = "#{pane_title}|#{window_name}|#{pane_path}";
const MODE: &str = "cursor #{cursor_flag} insert #{insert_flag} keypad #{keypad_flag} \
    #{keypad_cursor_flag} origin #{origin_flag} wrap #{wrap_flag} mouse #{mouse_any_flag} \
    #{mouse_all_flag} #{mouse_button_flag} #{mouse_standard_flag} #{mouse_sgr_flag} \
    #{mouse_utf8_flag} margins #{scroll_region_upper} #{scroll_region_lower} tabs #{pane_tabs} \
    copy #{pane_in_mode} key #{pane_key_mode}";

/// The time of an answer of the pane.
const PANE_WAIT: Duration = Duration::from_secs(15);

pub(crate) fn serve(folder: &Path) -> io::Result<()> {
    let mut server = Server::start(folder)?;
    let served = io::stdin().lock().lines().try_for_each(|line| {
        let bytes = unhex(&line?).ok_or(io::ErrorKind::InvalidData)?;
        let state = server.played(&bytes)?;
        writeln!(io::stdout(), "{state}")
    });
    server.end();
    served
}

struct Server {
    client: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    panes: UnixListener,
    /// The command line of a new window.
    new_window: String,
}

impl Server {
    fn start(folder: &Path) -> io::Result<Self> {
        let configuration = folder.join("tmux.conf");
        std::fs::write(&configuration, CONFIGURATION)?;
        let socket = folder.join(format!("pane-{}", std::process::id()));
        let panes = UnixListener::bind(&socket)?;
        let this = std::env::current_exe()?;
        let quoted = |path: &Path| format!("'{}'", path.display());
        let new_window = format!(
            "new-window -d -n chat -P -F '#{{pane_id}}' {} pane {}",
            quoted(&this),
            quoted(&socket)
        );
        let mut client = Command::new("tmux")
            .arg("-u")
            .arg("-S")
            .arg(folder.join(format!("server-{}", std::process::id())))
            .arg("-f")
            .arg(configuration)
            .args(["-C", "new-session", "-n", "base", "cat"])
            .env_remove("TMUX")
            .env("TERM", "xterm-256color")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(commands), Some(stdout)) = (client.stdin.take(), client.stdout.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let answers = BufReader::new(stdout);
        let mut server = Self { client, commands, answers, panes, new_window };
        // The answer to new-session.
        server.answer()?;
        server.ask("refresh-client -f no-output")?;
        server.ask("refresh-client -C 80x24")?;
        Ok(server)
    }

    /// Ends the server: without a client it has no session, and then ends by itself.
    fn end(mut self) {
        let _ = writeln!(self.commands, "kill-server");
        drop(self.commands);
        let _ = self.client.wait();
    }

    /// One command, and the lines of its answer.
    fn ask(&mut self, command: &str) -> io::Result<Vec<String>> {
        writeln!(self.commands, "{command}")?;
        self.commands.flush()?;
        self.answer()
    }

    fn answer(&mut self) -> io::Result<Vec<String>> {
        let mut answer = Vec::new();
        let mut begun: Option<String> = None;
        loop {
            let mut line = Vec::new();
            if self.answers.read_until(b'\n', &mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let line = String::from_utf8_lossy(line.strip_suffix(b"\n").unwrap_or(&line));
            match &begun {
                // Notifications stand between answers.
                None => begun = line.strip_prefix("%begin ").map(str::to_owned),
                // What a pane shows may look like an end, but not have its numbers.
                Some(numbers) => match line.strip_suffix(numbers.as_str()) {
                    Some("%end ") => return Ok(answer),
                    Some("%error ") => return Err(io::Error::other(answer.join(" "))),
                    _ => answer.push(line.into_owned()),
                },
            }
        }
    }

    fn played(&mut self, bytes: &[u8]) -> io::Result<Value> {
        let pane = self.ask(&self.new_window.clone())?.concat();
        let (mut program, _) = self.panes.accept()?;
        program.set_read_timeout(Some(PANE_WAIT))?;
        let reply = said(&mut program, bytes)?;
        let mut state = self.state(&pane)?;
        state["reply"] = reply.into();
        let swallowed = said(&mut program, NEXT_LINE)?;
        let at: usize = self.shown(&pane, "#{cursor_y}")?.parse().unwrap_or(0);
        let next = self.ask(&format!("capture-pane -p -e -C -N -t {pane} -S {at} -E {at}"))?;
        state["next"] = json!([swallowed, next]);
        self.ask(&format!("kill-window -t {pane}"))?;
        for buffer in self.ask("list-buffers -F '#{buffer_name}'")? {
            self.ask(&format!("delete-buffer -b {buffer}"))?;
        }
        Ok(state)
    }

    fn shown(&mut self, pane: &str, format: &str) -> io::Result<String> {
        Ok(self.ask(&format!("display-message -p -t {pane} '{format}'"))?.join("\n"))
    }

    fn state(&mut self, pane: &str) -> io::Result<Value> {
        let rows = "-S - -E -";
        let styled = self.ask(&format!("capture-pane -p -e -C -N -t {pane} {rows}"))?;
        let mut text = self.ask(&format!("capture-pane -p -C -t {pane} {rows}"))?;
        for line in &mut text {
            line.truncate(line.trim_end().len());
        }
        let buffers = self.ask("list-buffers -F '#{buffer_size} #{buffer_sample}'")?;
        Ok(json!({
            "cursor": [
                self.shown(pane, "#{e|+:#{history_size},#{cursor_y}}")?,
                self.shown(pane, "#{cursor_x}")?,
            ],
            "text": text,
            "prompt": styled.first(),
            "title": self.shown(pane, TITLE)?,
            "clipboard": buffers,
            "mode": self.shown(pane, MODE)?,
            "screen": self.shown(pane, "#{alternate_on}")?,
            "bell": self.shown(pane, "#{window_bell_flag}")?,
            "hidden": styled.iter().filter(|line| conceals(line)).count(),
        }))
    }
}

/// Whether a line of `capture-pane -e -C` has a style with 8 among its parameters.
fn conceals(line: &str) -> bool {
    line.split("\\033[").skip(1).any(|style| {
        let parameters = style.split('m').next().unwrap_or_default();
        // A colour is `38;5;8` or `38:5:8`.
        parameters
            .split(';')
            .scan((0, 0), |before, number| {
                let number: u32 = number.parse().unwrap_or(0);
                let is_colour = matches!(before, (38 | 48 | 58, 5));
                *before = (before.1, number);
                Some(number == 8 && !is_colour)
            })
            .any(|is_concealed| is_concealed)
    })
}

/// Lets the program in the pane write `bytes`, and gives what the terminal replied, escaped.
fn said(program: &mut UnixStream, bytes: &[u8]) -> io::Result<String> {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    writeln!(program, "{hex}")?;
    let mut answer = Vec::new();
    let mut byte = [0];
    while program.read(&mut byte)? == 1 && byte != *b"\n" {
        answer.extend(byte);
    }
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
