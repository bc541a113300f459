//! Every corpus file is read by a test: the reader walks `corpus/` and takes each `*.case`, so a
//! file that lies or is named otherwise would prove nothing, silently.

use super::{Violation, extension};

/// The folder that the reader walks.
const FOLDER: &str = "corpus/";

/// The violations among the tracked paths.
pub(super) fn check(paths: &[String]) -> Vec<Violation> {
    let mut found = Vec::new();
    for path in paths {
        let Some(inside) = path.strip_prefix(FOLDER) else {
            if extension(path) == "case" {
                let what = "a case outside corpus/ is read by no test";
                found.push(Violation::new(path, 0, "corpus", what));
            }
            continue;
        };
        if inside.split('/').any(|part| part.starts_with('.')) {
            let what = "a hidden file or folder is not walked";
            found.push(Violation::new(path, 0, "corpus", what));
        } else if extension(inside) != "case" && !inside.ends_with("README.md") {
            let what = "only *.case is read as a case, and README.md may explain it";
            found.push(Violation::new(path, 0, "corpus", what));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str) -> usize {
        check(&[path.to_owned()]).len()
    }

    #[test]
    fn cases_that_the_reader_meets_hold() {
        assert_eq!(count("corpus/csi/csi-empty-params.case"), 0);
        assert_eq!(count("corpus/README.md"), 0);
        assert_eq!(count("crates/testkit/src/lib.rs"), 0);
    }

    #[test]
    fn files_that_the_reader_misses_are_found() {
        assert_eq!(count("crates/grammar/tests/one.case"), 1);
        assert_eq!(count("corpus/csi/one.txt"), 1);
        assert_eq!(count("corpus/csi/one"), 1);
        assert_eq!(count("corpus/csi/one.md"), 1);
        assert_eq!(count("corpus/.old/one.case"), 1);
    }
}
