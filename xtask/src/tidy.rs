//! `cargo xtask tidy`: the rules of the house, checked over every tracked file.
//!
//! One violation is one line, `path:line: rule: what`; whatever comes from a file is escaped
//! before it is printed. The rules are described for people in CONTRIBUTING.md and
//! ARCHITECTURE.md; each has its tests beside it here.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

mod characters;
mod corpus;
mod crates;
mod rust;

/// Where `unsafe` may stand. Everywhere else the crate root forbids it.
const UNSAFE_ALLOWED: [&str; 3] = ["crates/scan/", "crates/capture/", "bindings/"];

/// Files that are no text, by extension. Every other tracked file must be UTF-8.
const BINARY_EXTENSIONS: [&str; 9] =
    ["png", "jpg", "jpeg", "gif", "ico", "pdf", "woff2", "gz", "bin"];

/// One place where a rule does not hold.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Violation {
    /// The file, relative to the repository, with `/` between folders.
    path: String,
    /// The line, from 1; 0 when the file as a whole is meant.
    line: usize,
    /// The rule's short name.
    rule: &'static str,
    /// What is wrong, one line; may quote the file, so it is escaped when printed.
    what: String,
}

impl Violation {
    fn new(path: &str, line: usize, rule: &'static str, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, rule, what: what.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, what) = (self.path.escape_default(), self.what.escape_default());
        write!(f, "{path}:{}: {}: {what}", self.line, self.rule)
    }
}

/// Checks every rule. Exit 0 when all hold, 1 after one line per violation, 2 when the tree
/// could not be read or an argument was given.
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    if !arguments.is_empty() {
        eprintln!("xtask tidy: error: it takes no argument");
        return ExitCode::from(2);
    }
    match check(&repository()) {
        Ok((files, violations)) => {
            for violation in &violations {
                println!("{violation}");
            }
            println!("tidy: {files} files, {} violations", violations.len());
            ExitCode::from(u8::from(!violations.is_empty()))
        }
        Err(message) => {
            eprintln!("xtask tidy: error: {}", message.escape_default());
            ExitCode::from(2)
        }
    }
}

/// The folder that holds `xtask/`.
fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// The number of files read, and the violations in order of path and line.
fn check(root: &Path) -> Result<(usize, Vec<Violation>), String> {
    let paths = tracked(root)?;
    let members = crates::members(root)?;
    let mut found = Vec::new();
    let mut texts = Vec::new();
    for path in &paths {
        // A file that is deleted but still in the index has nothing to check.
        let Ok(bytes) = std::fs::read(root.join(path)) else { continue };
        if BINARY_EXTENSIONS.contains(&extension(path)) {
            continue;
        }
        match String::from_utf8(bytes) {
            Ok(text) => texts.push((path.clone(), text)),
            Err(e) => {
                let at = e.utf8_error().valid_up_to();
                let what = format!("ill-formed UTF-8 at byte {at}");
                found.push(Violation::new(path, 0, "characters", what));
            }
        }
    }
    for (path, text) in &texts {
        found.extend(characters::check(path, text));
    }
    let roots: BTreeSet<String> = crates::roots(&members);
    found.extend(rust::check(&texts, &roots));
    found.extend(corpus::check(&paths));
    found.extend(paths.iter().filter_map(|path| characters::check_name(path)));
    let manifests = texts.iter().filter(|(path, _)| crates::is_member_manifest(path));
    found.extend(manifests.flat_map(|(path, text)| crates::check_manifest(path, text)));
    let drawing = texts.iter().find(|(path, _)| path == crates::DRAWING);
    let drawing = drawing.map_or("", |(_, text)| text.as_str());
    found.extend(crates::check(drawing, &members));
    found.sort();
    Ok((texts.len(), found))
}

/// The tracked paths, sorted, relative to the repository.
fn tracked(root: &Path) -> Result<Vec<String>, String> {
    let output = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(root)
        .output()
        .map_err(|e| format!("git ls-files could not be run: {e}"))?;
    if !output.status.success() {
        return Err("git ls-files failed; tidy needs a clone of the repository".to_owned());
    }
    let names = String::from_utf8(output.stdout).map_err(|_| "a file name is not UTF-8")?;
    Ok(names.split_terminator('\0').map(str::to_owned).collect())
}

/// What stands after the last dot of the file's name, or nothing.
fn extension(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// Whether the file says on its first line that a program wrote it.
fn is_generated(text: &str) -> bool {
    text.lines().next().is_some_and(|line| line.contains("@generated"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_is_one_escaped_line() {
        let v = Violation::new("a\u{1b}b", 3, "characters", "x\ny\u{202e}");
        assert_eq!(v.to_string(), "a\\u{1b}b:3: characters: x\\ny\\u{202e}");
    }

    #[test]
    fn the_extension_is_that_of_the_name_alone() {
        assert_eq!(extension("a.b/test"), "");
        assert_eq!(extension("docs/shot.png"), "png");
        assert_eq!(extension(".gitignore"), "gitignore");
    }

    #[test]
    fn only_the_first_line_marks_a_generated_file() {
        assert!(is_generated("// @generated by a chore\nfn a() {}"));
        assert!(!is_generated("fn a() {}\n// @generated"));
    }

    #[test]
    fn this_repository_is_listed_and_has_members() {
        let root = repository();
        assert!(tracked(&root).unwrap().iter().any(|p| p == "xtask/src/tidy.rs"));
        assert!(crates::members(&root).unwrap().iter().any(|m| m.package == "noesc"));
    }
}
