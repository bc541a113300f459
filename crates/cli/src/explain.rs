//! `noesc explain`: every sequence and control, in words.

use std::io::IsTerminal;
use std::process::ExitCode;

use noesc_explain::{Explainer, Layout, Options, Theme};

use crate::args::{ExplainArgs, When};
use crate::fail::{Failure, Result};
use crate::input::{Input, Wanted, write};

pub(crate) fn explain(args: &ExplainArgs) -> Result<ExitCode> {
    let mut explainer = Explainer::new(options(args));
    let mut input = Input::open(args.file.as_deref())?;
    let mut text = String::new();
    let mut failed = None;
    loop {
        text.clear();
        match input.next() {
            Ok(b"") => break,
            Ok(chunk) => explainer.push(chunk, &mut text).map_err(unformatted)?,
            Err(failure) => {
                failed = Some(failure);
                break;
            }
        }
        if write(text.as_bytes())? == Wanted::No {
            return Ok(ExitCode::SUCCESS);
        }
    }
    text.clear();
    explainer.finish(&mut text).map_err(unformatted)?;
    write(text.as_bytes())?;
    failed.map_or(Ok(ExitCode::SUCCESS), Err)
}

fn options(args: &ExplainArgs) -> Options {
    let coloured = match args.color {
        When::Always => true,
        When::Never => false,
        // https://no-color.org: any value but the empty one.
        When::Auto => {
            std::io::stdout().is_terminal()
                && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
                && std::env::var_os("TERM").is_none_or(|value| value != "dumb")
        }
    };
    Options {
        layout: if args.json { Layout::Json } else { Layout::Rows },
        items: !args.summary,
        summary: args.summary,
        payload: args.payload,
        hex_offsets: args.hex,
        theme: if coloured { Theme::COLOUR } else { Theme::PLAIN },
        width: args.width.unwrap_or(100).into(),
    }
}

/// Writing to a `String` does not fail.
fn unformatted(error: std::fmt::Error) -> Failure {
    Failure::new(format!("no explanation: {error}"))
}
