//! `noesc audit`: every byte, printable.

use std::process::ExitCode;

use crate::args::AuditArgs;
use crate::fail::Result;
use crate::input::{Input, Wanted, write};

pub(crate) fn audit(args: &AuditArgs) -> Result<ExitCode> {
    let mut input = Input::open(args.file.as_deref())?;
    let mut any = false;
    loop {
        let chunk = input.next()?;
        if chunk.is_empty() {
            break;
        }
        any = true;
        let text = noesc::audit(chunk);
        let text = if args.lines { text.replace(r"\x0a", "\\x0a\n") } else { text };
        if write(text.as_bytes())? == Wanted::No {
            return Ok(ExitCode::SUCCESS);
        }
    }
    // A view has no line end of its own; a terminal is easier to read with one.
    if any && std::io::IsTerminal::is_terminal(&std::io::stdout()) {
        write(b"\n")?;
    }
    Ok(ExitCode::SUCCESS)
}
