//! The reader of `corpus/`; its format is defined in `corpus/README.md`.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// Counts of a report by closed word, in the order of the words.
pub type Counts = BTreeMap<String, u64>;

/// What control strings held back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldBack {
    /// Payload bytes of all control strings.
    pub bytes: u64,
    /// LFs among these bytes.
    pub lines: u64,
}

/// One attack, or one piece of ordinary output, and what a reader must be given for it.
///
/// An expectation that a file does not state is `None`: nothing may be concluded from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Case {
    /// The file that holds the case.
    pub path: PathBuf,
    /// The file name without its extension, which names the attack.
    pub name: String,
    /// The class, `csi` or finer `text/zwj`; its first part is the folder.
    pub class: String,
    /// Why the case exists.
    pub why: String,
    /// The input, in the pieces in which it arrives; at least one, each of any size.
    pub chunks: Vec<Vec<u8>>,
    /// The view under the `agent` profile.
    pub agent: Option<String>,
    /// The same with marks.
    pub marked: Option<String>,
    /// Flags of `noesc filter`, none for most cases.
    pub flags: Vec<String>,
    /// The view under `flags`.
    pub view: Option<String>,
    /// Sequences by class.
    pub classes: Option<Counts>,
    /// Sequences by ending.
    pub endings: Option<Counts>,
    /// Sequences by kind.
    pub kinds: Option<Counts>,
    /// Single controls by mnemonic.
    pub controls: Option<Counts>,
    /// Removed or replaced characters by class.
    pub characters: Option<Counts>,
    /// Payload that no view shows.
    pub held_back: Option<HeldBack>,
    /// Findings as (kind, severity), in the order of the file.
    pub findings: Option<Vec<(String, String)>>,
}

impl Case {
    /// The whole input: all chunks in one piece.
    ///
    /// ```
    /// let case = noesc_testkit::corpus::parse("why: x\nin: a\\x1b\ncut:\nin: [m\n").unwrap();
    /// assert_eq!(case.input(), b"a\x1b[m");
    /// assert_eq!(case.chunks.len(), 2);
    /// ```
    #[must_use]
    pub fn input(&self) -> Vec<u8> {
        self.chunks.concat()
    }
}

/// Why the corpus could not be read, with the place.
#[derive(Debug)]
pub struct CorpusError {
    /// The file or folder.
    pub path: PathBuf,
    /// The line, from 1; 0 where the whole file is meant.
    pub line: usize,
    /// What was expected and what was found, escaped.
    pub reason: String,
}

impl fmt::Display for CorpusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.to_string_lossy();
        write!(f, "{}:{}: {}", path.escape_default(), self.line, self.reason)
    }
}

impl std::error::Error for CorpusError {}

/// The corpus folder of this repository.
///
/// ```
/// assert!(noesc_testkit::corpus::root().join("README.md").is_file());
/// ```
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")
}

/// Reads every `*.case` file below `dir`, in the order of their paths.
///
/// # Errors
/// The first file that cannot be read or breaks the format; a file of any other name but
/// `README.md`; a folder without a case, so that no test passes for want of cases.
pub fn load(dir: &Path) -> Result<Vec<Case>, CorpusError> {
    let mut files = Vec::new();
    walk(dir, &mut files)?;
    files.sort();
    let whole = |path: &Path, reason: String| CorpusError { path: path.into(), line: 0, reason };
    if files.is_empty() {
        return Err(whole(dir, "expected at least one case, found none".into()));
    }
    files
        .iter()
        .map(|path| {
            let text = fs::read_to_string(path).map_err(|e| whole(path, e.to_string()))?;
            let mut case = parse(&text).map_err(|e| CorpusError { path: path.clone(), ..e })?;
            let part = |name: Option<&std::ffi::OsStr>| {
                name.unwrap_or_default().to_string_lossy().into_owned()
            };
            let folder = part(path.parent().and_then(Path::file_name));
            if case.class.is_empty() {
                case.class.clone_from(&folder);
            } else if case.class.split('/').next() != Some(&folder) {
                let reason = format!("class {:?} in the folder {folder:?}", case.class);
                return Err(whole(path, reason));
            }
            case.name = part(path.file_stem());
            case.path.clone_from(path);
            Ok(case)
        })
        .collect()
}

fn walk(dir: &Path, files: &mut Vec<PathBuf>) -> Result<(), CorpusError> {
    let failed =
        |e: std::io::Error| CorpusError { path: dir.into(), line: 0, reason: e.to_string() };
    for entry in fs::read_dir(dir).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            walk(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "case") {
            files.push(path);
        } else if path.file_name().is_none_or(|n| n != "README.md") {
            let reason = "expected *.case or README.md".into();
            return Err(CorpusError { path, line: 0, reason });
        }
    }
    Ok(())
}

/// Reads one case from the text of its file. `path`, `name` and, where the text states none,
/// `class` stay empty: only `load` knows the file.
///
/// # Errors
/// The first line that breaks the format; `path` is empty in the error.
pub fn parse(text: &str) -> Result<Case, CorpusError> {
    let mut case = Case { chunks: vec![Vec::new()], ..Case::default() };
    for (at, line) in text.split('\n').enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        read_line(&mut case, line).map_err(|reason| CorpusError {
            path: PathBuf::new(),
            line: at + 1,
            reason: format!("{reason} in {line:?}"),
        })?;
    }
    if case.why.is_empty() {
        let reason = "expected a line `why`, found none".into();
        return Err(CorpusError { path: PathBuf::new(), line: 0, reason });
    }
    Ok(case)
}

fn read_line(case: &mut Case, line: &str) -> Result<(), String> {
    if line.bytes().any(|b| !(0x20..=0x7e).contains(&b)) || line.ends_with(' ') {
        return Err("expected printable ASCII without a trailing blank".into());
    }
    let (key, value) = line.split_once(':').ok_or("expected `key: value`")?;
    let value = match value.strip_prefix(' ') {
        Some(value) => value,
        None if value.is_empty() => "",
        None => return Err("expected a blank after the colon".into()),
    };
    let (key, times) = match key.split_once('*') {
        Some((key @ ("in" | "agent" | "marked" | "view"), n)) => {
            (key, n.parse::<usize>().map_err(|e| e.to_string())?)
        }
        Some(_) => return Err("only in, agent, marked and view repeat".into()),
        None => (key, 1),
    };
    match key {
        "why" if case.why.is_empty() => case.why = value.to_owned(),
        "why" => {
            case.why.push(' ');
            case.why.push_str(value);
        }
        "in" => {
            let bytes = unescape_bytes(value)?.repeat(times);
            case.chunks.last_mut().ok_or("no chunk")?.extend(bytes);
        }
        "cut" if value.is_empty() => case.chunks.push(Vec::new()),
        "agent" => append(&mut case.agent, value, times)?,
        "marked" => append(&mut case.marked, value, times)?,
        "view" => append(&mut case.view, value, times)?,
        "class" if case.class.is_empty() => case.class = value.to_owned(),
        "flags" if case.flags.is_empty() => {
            case.flags = value.split_whitespace().map(str::to_owned).collect();
        }
        "classes" => once(&mut case.classes, counts(value)?)?,
        "endings" => once(&mut case.endings, counts(value)?)?,
        "kinds" => once(&mut case.kinds, counts(value)?)?,
        "controls" => once(&mut case.controls, counts(value)?)?,
        "characters" => once(&mut case.characters, counts(value)?)?,
        "held-back" => once(&mut case.held_back, held_back(value)?)?,
        "findings" => once(&mut case.findings, pairs(value)?)?,
        _ => return Err("unknown or repeated key".into()),
    }
    Ok(())
}

fn append(view: &mut Option<String>, value: &str, times: usize) -> Result<(), String> {
    view.get_or_insert_default().push_str(&unescape_view(value)?.repeat(times));
    Ok(())
}

fn once<T>(slot: &mut Option<T>, value: T) -> Result<(), String> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err("repeated key".into()),
    }
}

fn pairs(value: &str) -> Result<Vec<(String, String)>, String> {
    value
        .split_whitespace()
        .map(|field| match field.split_once('=') {
            Some((word, other)) => Ok((word.to_owned(), other.to_owned())),
            None => Err("expected word=value".to_owned()),
        })
        .collect()
}

fn counts(value: &str) -> Result<Counts, String> {
    let mut counts = Counts::new();
    for (word, count) in pairs(value)? {
        let count = count.parse().map_err(|_| "expected a count after `=`")?;
        if counts.insert(word, count).is_some() {
            return Err("a word that stands twice".into());
        }
    }
    Ok(counts)
}

fn held_back(value: &str) -> Result<HeldBack, String> {
    let counts = counts(value)?;
    match (counts.get("bytes"), counts.get("lines"), counts.len()) {
        (Some(&bytes), Some(&lines), 2) => Ok(HeldBack { bytes, lines }),
        _ => Err("expected bytes=N lines=N".into()),
    }
}

fn unescape_bytes(value: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut rest = value;
    while let Some(first) = rest.chars().next() {
        let taken = if first != '\\' {
            bytes.push(u8::try_from(u32::from(first)).map_err(|e| e.to_string())?);
            1
        } else if rest.starts_with("\\\\") {
            bytes.push(b'\\');
            2
        } else {
            let digits = rest.strip_prefix("\\x").and_then(|r| r.get(..2));
            bytes.push(hex(digits)? as u8);
            4
        };
        rest = &rest[taken..];
    }
    Ok(bytes)
}

fn unescape_view(value: &str) -> Result<String, String> {
    let mut view = String::new();
    let mut rest = value;
    while let Some(first) = rest.chars().next() {
        let taken = if first != '\\' {
            view.push(first);
            1
        } else if rest.starts_with("\\\\") {
            view.push('\\');
            2
        } else {
            let digits = rest.strip_prefix("\\u{").and_then(|r| r.split_once('}')).map(|r| r.0);
            let digits = digits.filter(|d| (1..=6).contains(&d.len()));
            view.push(char::from_u32(hex(digits)?).ok_or("expected a scalar value")?);
            4 + digits.map_or(0, str::len)
        };
        rest = &rest[taken..];
    }
    Ok(view)
}

fn hex(digits: Option<&str>) -> Result<u32, String> {
    digits
        .filter(|d| d.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))
        .and_then(|d| u32::from_str_radix(d, 16).ok())
        .ok_or_else(|| "expected \\xNN, \\u{...} or \\\\".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> String {
        parse(&format!("why: x\n{line}\n")).expect_err(line).reason
    }

    #[test]
    fn the_whole_corpus_is_read() {
        let cases = load(&root()).unwrap();
        assert!(cases.len() >= 363, "{}", cases.len());
        for case in &cases {
            assert!(!case.why.is_empty() && !case.name.is_empty(), "{:?}", case.path);
        }
    }

    #[test]
    fn a_case_holds_what_its_lines_say() {
        let text = "# comment\n\nwhy: two\nwhy: lines\nin*3: a\\x1b\nin: \\\\\ncut:\nin: b\\x20\n\
                    agent: \\u{20}\\u{241b}\nagent*2: \\\\x\nclasses: csi=1 osc=2\nendings:\n\
                    held-back: bytes=5 lines=0\nflags: --cr collapse\nview:\n\
                    findings: held-back-lines=critical\n";
        let case = parse(text).unwrap();
        assert_eq!(case.why, "two lines");
        assert_eq!(case.chunks, [b"a\x1ba\x1ba\x1b\\".to_vec(), b"b ".to_vec()]);
        assert_eq!(case.agent.as_deref(), Some(" \u{241b}\\x\\x"));
        assert_eq!(case.marked, None);
        assert_eq!(case.view.as_deref(), Some(""));
        assert_eq!(case.classes.unwrap()["osc"], 2);
        assert_eq!(case.endings, Some(Counts::new()));
        assert_eq!(case.held_back, Some(HeldBack { bytes: 5, lines: 0 }));
        assert_eq!(case.flags, ["--cr", "collapse"]);
        assert_eq!(case.findings.unwrap(), [("held-back-lines".into(), "critical".into())]);
    }

    #[test]
    fn a_broken_line_is_refused_with_its_number() {
        for line in [
            "in",
            "in:x",
            "in: a ",
            "in: \\x1",
            "in: \\x1B",
            "in: \\n",
            "in: \\u{1b}",
            "cut: x",
            "agent: \\x1b",
            "agent: \\u{d800}",
            "agent: \\u{}",
            "agent: \\u{0000001}",
            "what: x",
            "classes: osc",
            "classes: osc=a",
            "classes: osc=1 osc=2",
            "held-back: bytes=1",
            "why*2: x",
            "in*x: a",
            "in: \u{e9}",
            "in: a\tb",
        ] {
            let error = parse(&format!("why: x\n{line}\n")).expect_err(line);
            assert_eq!(error.line, 2, "{line:?}");
        }
        assert!(refused("endings:\nendings:").contains("repeated key"));
        assert!(parse("in: a\n").is_err());
    }
}
