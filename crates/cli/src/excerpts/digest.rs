//! `noesc digest`: the digests in the record of a run, and whether one is known.

use std::fmt::Write;
use std::process::ExitCode;

use clap::Args;
use noesc_session::envelope::{Covers, Digest, Digests, Envelope, RawDigest, StreamName};

use crate::fail::{Failure, Result};
use crate::input::write;

/// Exit status of "not equal".
const DIFFERS: u8 = 1;

/// Prints the digests of a run, or compares that of its raw bytes with a known one.
///
/// For each stream: the SHA-256 of the raw bytes (raw_sha256), or a keyed digest (raw_hmac) where
/// the view does not give the bytes away, and the SHA-256 of the whole view (view_sha256). With
/// --equals it exits with 0 when the SHA-256 of the raw bytes is the one that is given, with 1 when
/// it is another one, and with 2 when that can not be said: a keyed digest is never compared, since
/// hidden text could be guessed from the answers.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noesc digest last
  noesc digest last --equals $(sha256sum <expected.txt | cut -d' ' -f1)")]
pub(crate) struct DigestArgs {
    /// The id of the run, its beginning or end, or last
    #[arg(value_name = "RUN")]
    run: String,

    /// The stream: stdout, stderr, pty; all by default, and stdout or pty with --equals
    #[arg(long, value_name = "NAME", value_parser = super::stream(), hide_possible_values = true)]
    stream: Option<StreamName>,

    /// Say whether the raw bytes of the stream have this SHA-256, 64 hexadecimal digits
    #[arg(long, value_name = "HEX", value_parser = digest_of)]
    equals: Option<Digest>,
}

fn digest_of(text: &str) -> std::result::Result<Digest, String> {
    let digits = text.strip_prefix("sha256:").unwrap_or(text).to_ascii_lowercase();
    Digest::try_from(digits).map_err(|_| "a SHA-256 has 64 hexadecimal digits".to_owned())
}

pub(crate) fn digest(args: &DigestArgs) -> Result<ExitCode> {
    let (_, record) = super::found(&args.run)?;
    match &args.equals {
        Some(expected) => compare(&record, args.stream, expected),
        None => {
            let mut text = String::new();
            for name in super::streams(&record, args.stream)? {
                if let Some(stream) = record.streams.get(&name) {
                    rows(name, &stream.digest, &mut text);
                }
            }
            write(text.as_bytes())?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn rows(name: StreamName, digest: &Digests, text: &mut String) {
    let name = name.name();
    let (word, raw) = match &digest.raw {
        RawDigest::Plain(raw) => ("raw_sha256", raw),
        RawDigest::Keyed(raw) => ("raw_hmac", raw),
    };
    let covers = match digest.covers {
        Covers::All => "all",
        Covers::ObservedPart => "observed-part",
    };
    let _ = writeln!(text, "{name} {word:11} {raw} {covers}");
    let _ = writeln!(text, "{name} {:11} {}", "view_sha256", digest.view_sha256);
}

/// Says whether the raw bytes of a stream have this digest.
fn compare(record: &Envelope, named: Option<StreamName>, expected: &Digest) -> Result<ExitCode> {
    let has = |name: &StreamName| record.streams.contains_key(name);
    let name = named.unwrap_or_else(|| {
        let first = [StreamName::Stdout, StreamName::Pty].into_iter().find(has);
        first.unwrap_or(StreamName::Stdout)
    });
    let stream = record.streams.get(&name).ok_or_else(|| super::no_stream(record, name.name()))?;
    let what = format!("the {} of {}", name.name(), record.run);
    if record.outcome.kind.is_running() {
        return Err(Failure::new(format!("{what} can not be compared: the run goes on"))
            .hint(format!("\"noesc wait {}\" waits until it is over", record.run)));
    }
    let RawDigest::Plain(raw) = &stream.digest.raw else {
        return Err(Failure::new(format!("{what} can not be compared: its digest is keyed"))
            .hint("what the view hides could be guessed otherwise; the sealed original has it"));
    };
    let is_equal = raw == expected;
    let part = match stream.digest.covers {
        Covers::All => "",
        Covers::ObservedPart => " (the part that was observed)",
    };
    let says = if is_equal { "equal" } else { "not equal" };
    write(format!("{says}{part}\n").as_bytes())?;
    Ok(if is_equal { ExitCode::SUCCESS } else { ExitCode::from(DIFFERS) })
}
