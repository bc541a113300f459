//! Object stores of git: thousands of compressed files that hold what is scanned elsewhere.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Tells the files of object stores, in a work tree's `.git` and in bare repositories.
///
/// A store is a folder `objects` beside `HEAD` and `refs`. Only names that git gives to objects
/// are its files, so that a folder made to look like a store hides nothing else.
#[derive(Default)]
pub(super) struct Stores {
    /// The folder `objects` asked for last, and whether it is one.
    last: Option<(PathBuf, bool)>,
}

impl Stores {
    /// Whether a file is an object, a pack or an index of a store.
    pub(super) fn holds(&mut self, path: &Path) -> bool {
        let Some(folder) = path.parent() else { return false };
        let Some(objects) = folder.parent() else { return false };
        if objects.file_name().is_none_or(|name| name != "objects") {
            return false;
        }
        let name = |path: &Path| path.file_name().map(|name| name.as_bytes().to_vec());
        let (Some(folder), Some(file)) = (name(folder), name(path)) else { return false };
        is_of_git(&folder, &file) && self.is_store(objects)
    }

    fn is_store(&mut self, objects: &Path) -> bool {
        if let Some((last, is)) = &self.last
            && last == objects
        {
            return *is;
        }
        let beside = |name| objects.with_file_name(name);
        let is = beside("HEAD").is_file() && beside("refs").is_dir();
        self.last = Some((objects.to_owned(), is));
        is
    }
}

/// `ab/` and the other 38 (SHA-1) or 62 (SHA-256) hex digits, or what `pack/` holds.
fn is_of_git(folder: &[u8], file: &[u8]) -> bool {
    let hex = |name: &[u8]| name.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if folder == b"pack" {
        let name = file.strip_prefix(b"pack-").or(file.strip_prefix(b"multi-pack-index-"));
        let Some((name, extension)) = name.and_then(|name| split_extension(name)) else {
            return file == b"multi-pack-index";
        };
        let known: [&[u8]; 6] = [b"pack", b"idx", b"rev", b"bitmap", b"mtimes", b"midx"];
        return hex(name) && matches!(name.len(), 40 | 64) && known.contains(&extension);
    }
    folder.len() == 2 && hex(folder) && hex(file) && matches!(file.len(), 38 | 62)
}

fn split_extension(name: &[u8]) -> Option<(&[u8], &[u8])> {
    let dot = name.iter().rposition(|&byte| byte == b'.')?;
    Some((&name[..dot], &name[dot + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_git_gives_are_of_a_store() {
        let (sha1, sha256) = ("0123456789".repeat(4), "01234567".repeat(8));
        let is = |folder: &str, file: &str| is_of_git(folder.as_bytes(), file.as_bytes());
        assert!(is("0a", &sha1[2..]) && is("ff", &sha256[2..]));
        assert!(is("pack", &format!("pack-{sha1}.pack")));
        assert!(is("pack", &format!("pack-{sha256}.idx")) && is("pack", "multi-pack-index"));
        for (folder, file) in [
            ("0a", &sha1[1..]),
            ("0a", &sha1[3..]),
            ("0g", &sha1[2..]),
            ("0a", "evil.md"),
            ("info", "alternates"),
            ("pack", "pack-0.pack"),
            ("pack", &format!("pack-{sha1}.md")),
            ("pack", &format!("pack-{sha1}")),
            ("pack", "README"),
        ] {
            assert!(!is(folder, file), "{folder}/{file}");
        }
    }
}
