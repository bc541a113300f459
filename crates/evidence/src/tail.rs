//! The last records of a ledger, read backwards: what a run has to know before it starts must not
//! cost the reading of all that was before. They are believed as they stand.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::record::{RECORD_BYTES_MAX, Record};

/// Bytes that are looked through, from the end: some ten thousand records. A run tells in each of
/// its own what is asked for here, so that more is of no use but to who wants us to wait.
const LOOKED_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Bytes that are read at once: a whole record is among them.
pub(crate) const WINDOW_BYTES: usize = 2 * RECORD_BYTES_MAX;

/// Asks the records before `end`, the last first, until one answers.
pub(crate) fn latest<T>(
    file: &File,
    end: u64,
    mut ask: impl FnMut(&Record<'_>) -> Option<T>,
) -> io::Result<Option<T>> {
    let mut answer = None;
    backwards(file, end, |line| {
        answer = Record::parse(line).ok().and_then(|record| ask(&record));
        answer.is_none()
    })?;
    Ok(answer)
}

/// Hands on each line of the first `len` bytes, from the last, without its LF, until `take` says
/// that it is enough. One window is in memory at a time; a line that is longer than a record is
/// left out.
pub(crate) fn backwards(
    file: &File,
    len: u64,
    mut take: impl FnMut(&[u8]) -> bool,
) -> io::Result<()> {
    let mut end = len;
    while end > 0 {
        if len - end > LOOKED_BYTES_MAX {
            return Err(io::Error::other("its last 16 MiB tell nothing of runs"));
        }
        let start = end.saturating_sub(WINDOW_BYTES as u64);
        let mut window = vec![0; usize::try_from(end - start).unwrap_or_default()];
        file.read_exact_at(&mut window, start)?;
        // The first line may begin before the window: it is the last one of the next.
        let head = match start {
            0 => Some(0),
            _ => window.iter().position(|&byte| byte == b'\n').map(|at| at + 1),
        };
        let Some(head) = head else {
            // No line ends here: what is there is no record.
            end = start;
            continue;
        };
        let mut lines = window[head..].rsplit(|&byte| byte == b'\n');
        if lines.any(|line| !line.is_empty() && !take(line)) {
            return Ok(());
        }
        end = if start == 0 { 0 } else { start + head as u64 - 1 };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window more than the bound may be read: it is kept by whole windows.
    #[test]
    fn no_more_is_looked_through_than_the_bound() {
        let name = format!("noesc-evidence-tail-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let file = File::create_new(&path).unwrap();
        let file = File::options().read(true).write(true).open(&path).map(|open| (open, file));
        let (file, _) = file.unwrap();
        let bound = LOOKED_BYTES_MAX + WINDOW_BYTES as u64;
        for (length, is_read) in [(bound - 1, true), (bound, true), (bound + 1, false)] {
            file.set_len(length).unwrap();
            assert_eq!(latest(&file, length, |_| None::<()>).is_ok(), is_read, "{length}");
        }
        std::fs::remove_file(path).unwrap();
    }
}
