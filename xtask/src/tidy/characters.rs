//! What may stand in a tracked text file: no character that a reader cannot see or that acts on
//! a terminal, no trailing blank, no line of code over 100 columns, no registry host and no path
//! of one particular machine.

use super::{Violation, extension, is_generated};

/// Columns of a line of code, counted in characters.
const COLUMNS_MAX: usize = 100;

/// Extensions of files whose lines are code. A file without extension is code when it starts
/// with `#!`. Prose and corpus cases may have long lines: a table row cannot be broken.
const CODE_EXTENSIONS: [&str; 6] = ["rs", "toml", "sh", "py", "js", "c"];

/// Hosts of package registries, in halves so that this file does not name them itself.
const REGISTRY_HOSTS: [(&str, &str); 9] = [
    ("crates", ".io"),
    ("pypi", ".org"),
    ("pythonhosted", ".org"),
    ("npmjs", ".org"),
    ("npmjs", ".com"),
    ("deb.debian", ".org"),
    ("security.debian", ".org"),
    ("proxy.golang", ".org"),
    ("sparse", "+http"),
];

/// Folders at the root of a machine that hold somebody's work, without the slashes.
const MACHINE_FOLDERS: [&str; 3] = ["work", "root", "home"];

/// The violations of one file.
pub(super) fn check(path: &str, text: &str) -> Vec<Violation> {
    let mut found = Vec::new();
    let code = CODE_EXTENSIONS.contains(&extension(path))
        || (extension(path).is_empty() && text.starts_with("#!"));
    let columns = code && !is_generated(text);
    // Cargo writes its lock files, and the registry's index stands in them.
    let locked = path.ends_with("Cargo.lock");
    // A case is somebody's hostile output; a path in it is no path of ours.
    let case = path.starts_with("corpus/");
    for (index, line) in text.split('\n').enumerate() {
        let mut report = |rule, what: String| {
            found.push(Violation::new(path, index + 1, rule, what));
        };
        for c in line.chars() {
            if let Some(kind) = forbidden(c) {
                let what = format!("{kind} U+{:04X}: write it as an escape", u32::from(c));
                report("characters", what);
            }
        }
        if line.ends_with([' ', '\t']) {
            report("trailing-blank", "the line ends in a blank".to_owned());
        }
        let width = line.chars().count();
        if columns && width > COLUMNS_MAX {
            report("columns", format!("{width} columns, at most {COLUMNS_MAX}"));
        }
        if let Some(host) = registry_host(line).filter(|_| !locked) {
            report("registry-host", format!("names the registry host {host}"));
        }
        if let Some(folder) = machine_path(line).filter(|_| !case) {
            report("machine-path", format!("an absolute path under the folder {folder}"));
        }
    }
    found
}

/// The violations of a file's name.
pub(super) fn check_name(path: &str) -> Option<Violation> {
    let kind = path.chars().find_map(forbidden)?;
    Some(Violation::new(path, 0, "characters", format!("{kind} in the file's name")))
}

/// What kind of character must not stand raw in a file; `None` when it may. The classes are those
/// of the views (spec/views.md), with all blanks but SPACE added, since a reader of source cannot
/// tell them apart.
fn forbidden(c: char) -> Option<&'static str> {
    match u32::from(c) {
        0x09 => None,
        0x00..=0x1F => Some("control"),
        0x7F => Some("DEL"),
        0x80..=0x9F => Some("C1 control"),
        0x061C | 0x200E | 0x200F | 0x202A..=0x202E | 0x2066..=0x2069 => Some("bidi control"),
        0xA0 | 0x1680 | 0x2000..=0x200A | 0x202F | 0x205F | 0x3000 => Some("unusual blank"),
        0x2028 | 0x2029 => Some("line separator"),
        0xAD | 0x034F | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180B..=0x180F => Some("invisible"),
        0x200B..=0x200D | 0x2060..=0x2065 | 0x206A..=0x206F | 0x2800 | 0x3164 => Some("invisible"),
        0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB | 0x1BCA0..=0x1BCA3 => {
            Some("invisible")
        }
        0x1D173..=0x1D17A | 0xE0000..=0xE0FFF => Some("invisible"),
        0xE000..=0xF8FF | 0xF0000..=0x10FFFF => Some("private use or noncharacter"),
        0xFDD0..=0xFDEF => Some("noncharacter"),
        n if n & 0xFFFE == 0xFFFE => Some("noncharacter"),
        _ => None,
    }
}

/// The registry host that the line names, if any.
fn registry_host(line: &str) -> Option<String> {
    let line = line.to_ascii_lowercase();
    let hosts = REGISTRY_HOSTS.iter().map(|(name, end)| format!("{name}{end}"));
    hosts.into_iter().find(|host| line.contains(host))
}

/// The folder of an absolute path that belongs to one machine, if the line holds such a path. A
/// path inside a longer one or inside an address is none.
fn machine_path(line: &str) -> Option<&'static str> {
    MACHINE_FOLDERS.into_iter().find(|folder| {
        let path = format!("/{folder}/");
        line.match_indices(&path).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            !before.is_some_and(|c| c.is_alphanumeric() || "._-~*/}>$".contains(c))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(path: &str, text: &str) -> Vec<(usize, &'static str)> {
        check(path, text).iter().map(|v| (v.line, v.rule)).collect()
    }

    #[test]
    fn plain_text_holds() {
        assert_eq!(rules("a.md", "a\tb\n\n\u{e9} \u{2502} \u{241b} \u{2026}\n"), []);
    }

    #[test]
    fn every_class_of_hidden_character_is_found() {
        for c in [
            '\0',
            '\x07',
            '\r',
            '\x1b',
            '\x7f',
            '\u{80}',
            '\u{9b}',
            '\u{a0}',
            '\u{ad}',
            '\u{61c}',
            '\u{180e}',
            '\u{200b}',
            '\u{200d}',
            '\u{200f}',
            '\u{2028}',
            '\u{202e}',
            '\u{2066}',
            '\u{2060}',
            '\u{2800}',
            '\u{3000}',
            '\u{3164}',
            '\u{e000}',
            '\u{fe0f}',
            '\u{feff}',
            '\u{fdd0}',
            '\u{fff9}',
            '\u{ffff}',
            '\u{e0041}',
            '\u{e0100}',
            '\u{10ffff}',
        ] {
            let text = format!("one\ntwo{c}three\n");
            assert_eq!(rules("a.md", &text), [(2, "characters")], "{:?}", c.escape_unicode());
        }
    }

    #[test]
    fn neighbours_of_the_hidden_classes_are_allowed() {
        for c in [' ', '~', '\u{a1}', '\u{61b}', '\u{2010}', '\u{2801}', '\u{fffd}'] {
            assert_eq!(forbidden(c), None, "{:?}", c.escape_unicode());
        }
    }

    #[test]
    fn a_name_is_held_to_the_same_characters() {
        assert_eq!(check_name("corpus/csi/a.case"), None);
        assert!(check_name("corpus/csi/a\u{202e}.case").is_some());
        assert!(check_name("corpus/\x1b[m/a.case").is_some());
    }

    #[test]
    fn trailing_blanks_are_found() {
        assert_eq!(rules("a", "a \nb\t\nc\n"), [(1, "trailing-blank"), (2, "trailing-blank")]);
    }

    #[test]
    fn columns_hold_one_below_and_at_and_not_one_above() {
        for (width, count) in [(99, 0), (100, 0), (101, 1)] {
            assert_eq!(rules("a.rs", &"\u{e9}".repeat(width)).len(), count, "{width}");
        }
    }

    #[test]
    fn columns_bind_code_alone() {
        let long = "x".repeat(101);
        assert_eq!(rules("test", &format!("#!/bin/sh\n{long}")), [(2, "columns")]);
        assert_eq!(rules("a.md", &long), []);
        assert_eq!(rules("corpus/osc/a.case", &long), []);
        assert_eq!(rules("a.rs", &format!("// @generated\n{long}")), []);
    }

    #[test]
    fn every_registry_host_is_found_but_in_a_lock_file() {
        for (name, end) in REGISTRY_HOSTS {
            let text = format!("see {}{end}", name.to_uppercase());
            assert_eq!(rules("a.md", &text), [(1, "registry-host")], "{name}");
            assert_eq!(rules("xtask/Cargo.lock", &text), []);
        }
    }

    #[test]
    fn paths_of_one_machine_are_found() {
        for folder in MACHINE_FOLDERS {
            for before in ["", "see ", "\"", "=", "("] {
                let text = format!("{before}/{folder}/x");
                assert_eq!(rules("a.rs", &text), [(1, "machine-path")], "{text}");
            }
            for before in ["..", "a", "host.example", "$HOME", "/"] {
                assert_eq!(rules("a.rs", &format!("{before}/{folder}/x")), []);
            }
            assert_eq!(rules("corpus/osc/a.case", &format!("/{folder}/x")), []);
        }
    }
}
