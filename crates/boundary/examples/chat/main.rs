#![forbid(unsafe_code)]
//! A chat in a terminal that shows text of models, users and tools among its own.
//!
//!     cargo run --example chat                  a hostile transcript, shown safely
//!     cargo run --example chat -- --plain       the same without style, for a pipe
//!     cargo run --example chat -- --help
//!
//! What this program writes itself (names, rules, prompts) is *chrome* and trusted; what the
//! transcript says is *content* and goes through a writer of its class.

mod markdown;
mod play;
mod transcript;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use noesc::Sanitize;

const HELP: &str = "\
usage: chat [--plain|--pretty] [--sanitize strip|visualize|off]
       chat --play CLASS [--style-free] [--sanitize …] <content

  --plain        no style at all, as when the output is no terminal
  --pretty       the other way, as in a terminal
  --sanitize     what becomes of sequences in content (strip); off gives it the terminal
  --play CLASS   show stdin as content: tool-output, model-output, user-message, derived
  --style-free   with --play: drop the style of the content too
";

/// What the command line says.
#[derive(Default)]
struct Arguments {
    /// What was said of style, if anything.
    pretty: Option<bool>,
    sanitize: Sanitize,
    play: Option<noesc::ContentClass>,
    style_free: bool,
}

fn arguments() -> Result<Option<Arguments>, String> {
    let mut given = Arguments::default();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{} needs a value", quoted(&word)));
        match word.as_str() {
            "--help" => return Ok(None),
            "--plain" => given.pretty = Some(false),
            "--pretty" => given.pretty = Some(true),
            "--style-free" => given.style_free = true,
            "--sanitize" => given.sanitize = parsed(&value()?)?,
            "--play" => given.play = Some(parsed(&value()?)?),
            _ => return Err(format!("unknown argument {}", quoted(&word))),
        }
    }
    Ok(Some(given))
}

fn parsed<T: std::str::FromStr<Err = noesc::UnknownValue>>(word: &str) -> Result<T, String> {
    word.parse().map_err(|error| format!("{}: {error}", quoted(word)))
}

/// Somebody's words in a message of ours.
fn quoted(word: &str) -> String {
    format!("{:?}", noesc::audit(word.as_bytes()))
}

fn main() -> ExitCode {
    let given = match arguments() {
        Ok(Some(given)) => given,
        Ok(None) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(message) => {
            eprintln!("chat: {message}");
            return ExitCode::from(2);
        }
    };
    let mut out = io::stdout().lock();
    let shown = match given.play {
        Some(class) => play::play(class, given.sanitize, given.style_free, &mut out),
        None => {
            let pretty = given.pretty.unwrap_or_else(|| out.is_terminal());
            transcript::show(pretty, given.sanitize, &mut out)
        }
    };
    match shown.and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            eprintln!("chat: {}", noesc::audit(error.to_string().as_bytes()));
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}
