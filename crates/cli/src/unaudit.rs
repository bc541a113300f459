//! `noesc unaudit`: the bytes of an audit view.

use std::io::IsTerminal;
use std::process::ExitCode;

use noesc::{Unescape, UnescapeError};

use crate::args::UnauditArgs;
use crate::fail::{Failure, Result};
use crate::input::{Input, Wanted, write};

pub(crate) fn unaudit(args: &UnauditArgs) -> Result<ExitCode> {
    if std::io::stdout().is_terminal() && !args.force {
        return Err(Failure::new("stdout is a terminal, and the bytes are not inert")
            .hint("redirect the output, or add \"--force\""));
    }
    let mut input = Input::open(args.file.as_deref())?;
    let mut unescape = Unescape::default();
    // A line end counts only when something follows it.
    let mut line_end = false;
    let mut bytes = Vec::new();
    loop {
        let chunk = input.next()?;
        if chunk.is_empty() {
            break;
        }
        bytes.clear();
        let mut wrong = None;
        for &byte in chunk {
            let held = std::mem::replace(&mut line_end, byte == b'\n');
            let step = if held { unescape.push(b'\n').map(|_| ()) } else { Ok(()) };
            let step = step.and_then(|()| match line_end {
                true => Ok(None),
                false => unescape.push(byte),
            });
            match step {
                Ok(byte) => bytes.extend(byte),
                Err(error) => {
                    wrong = Some(error);
                    break;
                }
            }
        }
        if write(&bytes)? == Wanted::No {
            return Ok(ExitCode::SUCCESS);
        }
        if let Some(error) = wrong {
            return Err(refused(&error));
        }
    }
    unescape.finish().map_err(|error| refused(&error))?;
    Ok(ExitCode::SUCCESS)
}

fn refused(error: &UnescapeError) -> Failure {
    Failure::new(format!("this is no audit view: {}", crate::fail::escaped(error)))
        .hint("give the output of \"noesc audit\", without \"--lines\"")
}
