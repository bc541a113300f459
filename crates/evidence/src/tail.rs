//! The last records of a ledger, read backwards and believed as they stand: what a run has to know
//! before it starts must not cost the reading of all that was before.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::record::{RECORD_BYTES_MAX, Record};

/// Bytes that are looked through: some thousand records.
const LOOKED_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Bytes that are read at once. A record is never longer.
const WINDOW: u64 = 2 * RECORD_BYTES_MAX as u64;

/// Asks the records before `end`, the last first, until one answers.
pub(crate) fn latest<T>(
    file: &File,
    end: u64,
    mut ask: impl FnMut(&Record<'_>) -> Option<T>,
) -> io::Result<Option<T>> {
    let mut end = end;
    let first = end.saturating_sub(LOOKED_BYTES_MAX);
    while end > first {
        let start = end.saturating_sub(WINDOW);
        let mut bytes = vec![0; usize::try_from(end - start).unwrap_or_default()];
        file.read_exact_at(&mut bytes, start)?;
        // The first line of a window may begin before it.
        let whole = match start {
            0 => 0,
            _ => bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1),
        };
        for line in bytes[whole..].split(|byte| *byte == b'\n').rev() {
            if let Some(answer) = Record::parse(line).ok().and_then(|record| ask(&record)) {
                return Ok(Some(answer));
            }
        }
        if whole == bytes.len() {
            return Ok(None);
        }
        end = start + whole as u64;
    }
    Ok(None)
}
