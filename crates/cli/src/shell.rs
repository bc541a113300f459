//! `noesc completions` and `noesc man`: what is made from the command line's own description.

use std::process::ExitCode;

use clap::CommandFactory;

use crate::args::{Arguments, CompletionsArgs, ManArgs};
use crate::fail::{Failure, Result};
use crate::input::write;

pub(crate) fn completions(args: &CompletionsArgs) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Arguments::command(), "noesc", &mut script);
    write(&script)?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn man(args: &ManArgs) -> Result<ExitCode> {
    let mut command = Arguments::command();
    command.build();
    let page = match &args.verb {
        None => command,
        Some(verb) => {
            let found = command.get_subcommands().find(|known| known.get_name() == verb);
            found.cloned().ok_or_else(|| {
                Failure::new(format!("unknown verb {}", crate::fail::quoted(verb.as_ref())))
                    .hint("\"noesc --help\" lists the verbs")
            })?
        }
    };
    let mut roff = Vec::new();
    let rendered = clap_mangen::Man::new(page).render(&mut roff);
    rendered.map_err(|error| {
        Failure::new(format!("no manual page: {}", crate::fail::escaped(error)))
    })?;
    write(&roff)?;
    Ok(ExitCode::SUCCESS)
}
