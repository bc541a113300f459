//! The descriptors that a transparent wrapper passes on.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// Descriptors above 2 that a command line names, as a shell's process substitution does
/// (`/dev/fd/63`), and those of make's jobserver (`MAKEFLAGS`).
///
/// ```
/// use noesc_session::named_descriptors;
///
/// let argv = ["diff".into(), "/dev/fd/63".into(), "--to=/proc/self/fd/62".into()];
/// let makeflags = Some(" -j4 --jobserver-auth=3,4".as_ref());
/// assert_eq!(named_descriptors(&argv, makeflags), [63, 62, 3, 4]);
/// ```
#[must_use]
pub fn named_descriptors(argv: &[OsString], makeflags: Option<&OsStr>) -> Vec<i32> {
    let mut named = Vec::new();
    for argument in argv {
        for prefix in ["/dev/fd/", "/proc/self/fd/"] {
            named.extend(numbers_after(argument.as_bytes(), prefix.as_bytes()));
        }
    }
    let flags = makeflags.unwrap_or_default().as_bytes();
    for prefix in ["--jobserver-auth=", "--jobserver-fds="] {
        named.extend(numbers_after(flags, prefix.as_bytes()));
    }
    named.retain(|fd| *fd > 2);
    named
}

/// The numbers, with commas between, that stand directly after each occurrence of a prefix.
fn numbers_after(bytes: &[u8], prefix: &[u8]) -> Vec<i32> {
    let mut numbers = Vec::new();
    let starts = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(prefix));
    for start in starts {
        let rest = &bytes[start + prefix.len()..];
        let end = rest.iter().position(|b| !b.is_ascii_digit() && *b != b',');
        let list = str::from_utf8(&rest[..end.unwrap_or(rest.len())]).unwrap_or_default();
        numbers.extend(list.split(',').filter_map(|number| number.parse::<i32>().ok()));
    }
    numbers
}
