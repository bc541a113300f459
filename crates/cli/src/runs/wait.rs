//! `noesc wait`: the record of a run, when it is over or as it is by now.

use std::io::Read;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use noesc::{Boundary, Profile};
use noesc_session::StoredRun;
use noesc_session::envelope::{Envelope, Format, StreamName, render};
use noesc_session::nonces;

use crate::args::RunFormat;
use crate::fail::{Failure, Result, escaped, reason};
use crate::input::write;
use crate::say::say;
use crate::status;

/// Waits until a run has ended, and tells it as "noesc run" would have.
///
/// With text, the transcripts are written: that of stdout to stdout, that of stderr to stderr. With
/// another format it is the record, with the views that fit. Exits as the command did; 124 when it
/// still goes on after --time-max, which tells what is there so far.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  run=$(noesc run --detach -- ./server)
  noesc wait --time-max 0s --format lines $run      what is there so far
  noesc wait $run                                   until it has ended")]
pub(crate) struct WaitArgs {
    /// Wait no longer than this: 500ms, 2s, 3m, 1h
    #[arg(long, value_name = "TIME", value_parser = crate::args::time)]
    time_max: Option<Duration>,

    /// How the run is told: text, or its record with the views as json, lines, fence, xml
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    format: RunFormat,

    /// The id of the run, or its beginning
    #[arg(value_name = "RUN")]
    run: String,
}

pub(crate) fn wait(args: &WaitArgs) -> Result<ExitCode> {
    let run = super::find(&args.run)?;
    let until = args.time_max.and_then(|time| Instant::now().checked_add(time));
    let has_ended = run.wait(until);
    let record = super::record(&run)?;
    tell(&run, &record, args.format)?;
    match has_ended {
        true => Ok(ExitCode::from(status::of_record(&record.outcome.kind))),
        false => {
            if args.format == RunFormat::Text {
                say(&format!("{} goes on", run.id()));
            }
            Ok(ExitCode::from(status::LIMIT))
        }
    }
}

/// Writes what is known of a run.
pub(super) fn tell(run: &StoredRun, record: &Envelope, format: RunFormat) -> Result<()> {
    let Some(format) = format.of_record() else {
        for name in record.streams.keys() {
            copy(run, *name)?;
        }
        return Ok(());
    };
    let text = match format {
        Format::Json => render(record, format, &mut nonces()),
        _ => render(&record.clone().without_value(), format, &mut nonces()),
    };
    let text = text.map_err(|error| {
        Failure::new(format!("no {} of the run: {}", format.name(), escaped(error)))
            .hint("\"--format json\" carries every view")
    })?;
    write(text.as_bytes()).map(drop)
}

/// Writes a transcript. It passes the boundary once more: any program of this user can write where
/// it is kept.
fn copy(run: &StoredRun, name: StreamName) -> Result<()> {
    let unread = |error: &std::io::Error| {
        let name = name.name();
        Failure::new(format!("can not read the {name} of {}: {}", run.id(), reason(error)))
    };
    let Some(mut file) = run.transcript(name).map_err(|error| unread(&error))? else {
        return Ok(());
    };
    let mut boundary = Boundary::new(&Profile::AGENT)
        .map_err(|error| Failure::new(error.to_string()).hint(error.hint()))?;
    let (mut bytes, mut view) = (vec![0; 64 * 1024], String::new());
    loop {
        let count = match file.read(&mut bytes) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            read => read.map_err(|error| unread(&error))?,
        };
        match bytes.get(..count).filter(|bytes| !bytes.is_empty()) {
            Some(bytes) => boundary.push(bytes, &mut view),
            None => drop(boundary.finish(&mut view)),
        }
        match name {
            // Nobody reads our stderr: no reason to fail.
            StreamName::Stderr => {
                drop(std::io::Write::write_all(&mut std::io::stderr(), view.as_bytes()))
            }
            _ => drop(write(view.as_bytes())?),
        }
        view.clear();
        if count == 0 {
            return Ok(());
        }
    }
}
