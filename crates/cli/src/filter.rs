//! `noesc filter`: stdin to stdout.

use std::fs::File;
use std::path::Path;
use std::process::ExitCode;

use noesc::{Report, SpanReceiver};
use noesc_session::Viewer;

use crate::args::FilterArgs;
use crate::fail::{Failure, Result};
use crate::input::{Input, Wanted, create, unwritten, write};
use crate::note;
use crate::say::say;
use crate::settings::decoder;
use crate::spans::SpansFile;

pub(crate) fn filter(args: &FilterArgs) -> Result<ExitCode> {
    let (settings, config) = args.settings.settings()?;
    let viewer = Viewer::new(&settings.profile, decoder(settings.encoding.as_deref())?)
        .map_err(|error| Failure::new(error.to_string()).hint(error.hint()))?;
    let input = Input::open(args.file.as_deref())?;
    let report_file = args.report.as_deref();
    let report_file = report_file.map(|path| create("--report", path, &[input.file()]));
    let report_file = report_file.transpose()?;
    let (report, wanted) = match &args.spans {
        None => pass(viewer, input, &mut ())?,
        Some(path) => {
            let mut used = vec![input.file()];
            used.extend(&report_file);
            let mut spans = SpansFile::new(create("--spans", path, &used)?);
            let passed = pass(viewer, input, &mut spans)?;
            let written = spans.finish();
            written.map_err(|error| unwritten(path.as_os_str(), &error))?;
            passed
        }
    };
    if let (Some(file), Some(path)) = (report_file, &args.report) {
        write_json(&report, file, path)?;
    }
    // To a reader that went away there is nothing to say.
    if let Some(note) = note::findings(&report, None)
        && wanted == Wanted::Yes
        && !args.quiet.unwrap_or(config.is_on("quiet"))
    {
        say(&note);
    }
    Ok(ExitCode::SUCCESS)
}

/// Passes the input through the boundary. A reader that goes away ends it; the report then is of
/// what was read.
fn pass(
    mut viewer: Viewer,
    mut input: Input,
    spans: &mut impl SpanReceiver,
) -> Result<(Report, Wanted)> {
    let mut view = String::new();
    let mut failed = None;
    let mut wanted = Wanted::Yes;
    loop {
        view.clear();
        match input.next() {
            Ok(b"") => break,
            Ok(chunk) => viewer.push(chunk, &mut view, spans),
            Err(failure) => {
                failed = Some(failure);
                break;
            }
        }
        wanted = write(view.as_bytes())?;
        if wanted == Wanted::No {
            break;
        }
    }
    view.clear();
    let report = viewer.finish(&mut view, spans);
    if wanted == Wanted::Yes {
        wanted = write(view.as_bytes())?;
    }
    failed.map_or(Ok((report, wanted)), Err)
}

/// Writes a value as one line of JSON.
pub(crate) fn write_json(value: &impl serde::Serialize, mut file: File, path: &Path) -> Result<()> {
    use std::io::Write;
    let text = serde_json::to_string(value)
        .map_err(|error| Failure::new(format!("no JSON of the report: {error}")))?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.write_all(b"\n"));
    written.map_err(|error| unwritten(path.as_os_str(), &error))
}
