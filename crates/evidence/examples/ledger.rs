#![forbid(unsafe_code)]
//! Writes records to a ledger, each as a writer of its own, and tells of each when it is on disk.
//!
//!     ledger append LEDGER KEY COUNT    # `acknowledged N` for each; ends at the first error
//!     ledger verify LEDGER KEY          # `verified N records`

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use noesc_evidence::{CollectorKey, Kind, Ledger, verify};

const WAIT: Duration = Duration::from_secs(60);

fn append(path: &Path, key: &CollectorKey, count: u64) -> Result<(), Box<dyn std::error::Error>> {
    for n in 0..count {
        let mut ledger = Ledger::open(path, key, WAIT)?;
        let event = serde_json::json!({"process": std::process::id(), "n": n});
        let index = ledger.append(SystemTime::now(), Kind::Run, &event)?;
        writeln!(std::io::stdout(), "acknowledged {index}")?;
    }
    Ok(())
}

fn run(arguments: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    match arguments {
        [verb, path, key, count] if verb == "append" => {
            append(Path::new(path), &CollectorKey::load(Path::new(key))?, count.parse()?)
        }
        [verb, path, key] if verb == "verify" => {
            let key = CollectorKey::load(Path::new(key))?;
            let verified = verify(Path::new(path), key.verifier(), WAIT)?;
            println!("verified {} records", verified.records);
            Ok(())
        }
        _ => Err("expected append LEDGER KEY COUNT, or verify LEDGER KEY".into()),
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
