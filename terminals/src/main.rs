#![forbid(unsafe_code)]
//! Plays every case of the corpus through the example `chat` into real terminals, and compares
//! each with the same terminal that was given nothing, or the same text without style.
//!
//! Hostile bytes reach nothing but the terminals under test, each of which is a child process with
//! limits. Whatever is printed here is escaped.

mod alacritty;
mod checks;
mod pane;
mod plays;
mod report;
mod terminal;
mod tmux;

use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use terminal::{Kind, Terminal};

const USAGE: &str = "\
usage: terminals --chat FILE --modules FOLDER [--terminal NAME]… [--case PART] [--show]

  --chat FILE       the built example `chat` of crates/boundary
  --modules FOLDER  the folder in which `npm` installed what terminals/package.json names
  --terminal NAME   only this one: alacritty, xterm, tmux
  --case PART       only cases whose name holds this, and no demand on the controls
  --show            print the states of every play, escaped
";

/// What the command line says.
#[derive(Default)]
pub(crate) struct Arguments {
    pub(crate) chat: PathBuf,
    pub(crate) modules: PathBuf,
    kinds: Vec<Kind>,
    case: Option<String>,
    show: bool,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["serve", "alacritty"] => alacritty::serve(),
        ["serve", "tmux", folder] => tmux::serve(folder.as_ref()),
        ["pane", socket] => pane::run(socket.as_ref()),
        _ => return run(&words),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("terminals: {}", noesc::audit(error.to_string().as_bytes()));
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> ExitCode {
    let Some(given) = arguments(words) else {
        eprint!("{USAGE}");
        return ExitCode::from(2);
    };
    match play_all(&given) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("terminals: {}", noesc::audit(error.as_bytes()));
            ExitCode::from(2)
        }
    }
}

fn arguments(words: &[&str]) -> Option<Arguments> {
    let mut given = Arguments::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--chat" => given.chat = words.next()?.into(),
            "--modules" => given.modules = words.next()?.into(),
            "--terminal" => given.kinds.push(Kind::named(words.next()?)?),
            "--case" => given.case = Some((*words.next()?).to_owned()),
            "--show" => given.show = true,
            _ => return None,
        }
    }
    if given.chat.as_os_str().is_empty() {
        return None;
    }
    if given.kinds.is_empty() {
        given.kinds = Kind::ALL.to_vec();
    }
    Some(given)
}

/// True: no view escaped, and the controls were caught.
fn play_all(given: &Arguments) -> Result<bool, String> {
    let plays = plays::make(&given.chat, given.case.as_deref())?;
    let results: Vec<_> = thread::scope(|scope| {
        let started: Vec<_> = given
            .kinds
            .iter()
            .map(|&kind| {
                let plays = &plays;
                scope.spawn(move || {
                    let mut terminal = Terminal::new(kind, given)?;
                    checks::run(&mut terminal, plays, given.show)
                })
            })
            .collect();
        let ended = started.into_iter().map(|thread| thread.join());
        ended.map(|end| end.unwrap_or_else(|_| Err("a thread panicked".into()))).collect()
    });
    let results = results.into_iter().collect::<Result<Vec<_>, String>>()?;
    Ok(report::print(&results, &plays, given.case.is_none()))
}
