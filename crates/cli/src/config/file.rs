//! Reading a configuration file.

use std::ffi::OsStr;
use std::fmt::{self, Display, Formatter};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use noesc_evidence::Recipients;
use sha2::{Digest as _, Sha256};
use toml::de::{DeArray, DeTable, DeValue};

use super::{KEYS, Key, Kind, PROJECT_FILE, key_named};
use crate::fail::{Failure, escaped, quoted, reason};
use crate::limits::{self, Unit};

/// Bytes of a configuration file. A project's is somebody else's; ours have a dozen lines.
const CONFIG_BYTES_MAX: u64 = 64 * 1024;

/// Bytes of an unknown key that are shown. Ours have at most a dozen.
const NAME_SHOWN: usize = 32;

/// Faults of a project's file that are told: one line each, of somebody else's making.
const FAULTS_SHOWN: usize = 8;

const SYNTAX: &str = "the file is TOML: one KEY = VALUE a line, such as cr = \"drop\"";

/// Why a file can not be used; `message` is escaped.
#[derive(Debug)]
pub(super) struct FileError {
    /// Line, and column where it says more.
    place: Option<(usize, Option<usize>)>,
    message: String,
    hint: Option<String>,
    /// The file may not be read.
    pub(super) denied: bool,
}

impl FileError {
    fn new(message: impl Into<String>) -> Self {
        Self { place: None, message: message.into(), hint: None, denied: false }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(super) fn failure(self, path: &Path) -> Failure {
        let failure = Failure::new(format!("{}{self}", quoted(path.as_os_str())));
        failure.hint(self.hint.unwrap_or_else(|| "\"noesc config --schema\" lists the keys".into()))
    }
}

/// Behind the name of the file: ` line 3 column 7: what is wrong`.
impl Display for FileError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.place {
            write!(f, " line {line}")?;
            column.map_or(Ok(()), |column| write!(f, " column {column}"))?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Where the user's file is, by the platform's convention, whether it is there or not.
pub(super) fn user_path() -> Option<PathBuf> {
    let base = etcetera::choose_base_strategy().ok()?;
    Some(base.config_dir().join("noesc").join("config.toml"))
}

/// The nearest project file, from the working folder upward.
pub(super) fn project_path() -> Option<PathBuf> {
    let cwd = std::env::current_dir().ok()?;
    cwd.ancestors().map(|folder| folder.join(PROJECT_FILE)).find(|path| path.is_file())
}

/// What one entry of a file sets, and what a file does.
type Value = (&'static Key, String);
type Values = Vec<Value>;

/// The keys and values of a file; `None` when there is none.
pub(super) fn read(path: &Path) -> Result<Option<Values>, FileError> {
    let Some(text) = text(path)? else { return Ok(None) };
    parse(&text).map(Some)
}

/// What a project's file says.
pub(super) struct Project {
    /// What of it can be understood.
    pub(super) values: Values,
    /// What is wrong with the rest.
    pub(super) faults: Vec<FileError>,
    /// The digest of the bytes that were read.
    pub(super) sha256: String,
}

/// The keys and values of a project's file that can be understood, and what is wrong with others.
pub(super) fn read_leniently(path: &Path) -> Result<Project, FileError> {
    let text = text(path)?.unwrap_or_default();
    let (mut values, mut faults) = (Values::new(), Vec::new());
    for entry in entries(&text)? {
        match entry {
            Ok(value) => values.push(value),
            Err(fault) => faults.push(fault),
        }
    }
    faults.truncate(FAULTS_SHOWN);
    Ok(Project { values, faults, sha256: sha256(&text) })
}

fn sha256(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn text(path: &Path) -> Result<Option<String>, FileError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            let denied = error.kind() == ErrorKind::PermissionDenied;
            return Err(FileError { denied, ..FileError::new(reason(&error)) });
        }
    };
    let mut text = String::new();
    let read = file.take(CONFIG_BYTES_MAX + 1).read_to_string(&mut text);
    read.map_err(|error| FileError::new(reason(&error)))?;
    if text.len() as u64 > CONFIG_BYTES_MAX {
        return Err(FileError::new(format!("more than {CONFIG_BYTES_MAX} bytes")));
    }
    Ok(Some(text))
}

fn parse(text: &str) -> Result<Values, FileError> {
    entries(text)?.into_iter().collect()
}

/// Each entry of a file by itself.
fn entries(text: &str) -> Result<Vec<Result<Value, FileError>>, FileError> {
    let line = |at: usize| 1 + text[..at].matches('\n').count();
    let column = |at: usize| 1 + text[..at].chars().rev().take_while(|c| *c != '\n').count();
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map(|span| text.floor_char_boundary(span.start));
        let place = at.map(|at| (line(at), Some(column(at))));
        let message = escaped(error.message().trim_end().replace('\n', "; "));
        FileError { place, ..FileError::new(message).hint(SYNTAX) }
    })?;
    let entry = |(name, value): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
        let place = Some((line(text.floor_char_boundary(name.span().start)), None));
        let at = |error: FileError| FileError { place, ..error };
        let name: &std::borrow::Cow<'_, str> = name.get_ref();
        let key = known(name).map_err(at)?;
        Ok((key, checked(key, value.get_ref()).map_err(at)?))
    };
    Ok(table.get_ref().iter().map(entry).collect())
}

/// A name quoted; a long one is somebody's text rather than a name.
fn shortened(name: &str) -> String {
    let end = name.floor_char_boundary(NAME_SHOWN);
    let more = if end < name.len() { "…" } else { "" };
    format!("{}{more}", quoted(OsStr::new(&name[..end])))
}

fn known(name: &str) -> Result<&'static Key, FileError> {
    if let Some(key) = key_named(name) {
        return Ok(key);
    }
    let error = FileError::new(format!("unknown key {}", shortened(name)));
    let close = KEYS.iter().map(|key| (strsim::jaro_winkler(key.name, name), key.name));
    match close.max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((likeness, near)) if likeness > 0.8 => {
            Err(error.hint(format!("did you mean \"{near}\"?")))
        }
        _ => Err(error),
    }
}

fn checked(key: &Key, value: &DeValue<'_>) -> Result<String, FileError> {
    let wrong = |expected: String| {
        FileError::new(format!("\"{}\" has a wrong value", key.name)).hint(expected)
    };
    match (key.kind, value) {
        (Kind::Switch, DeValue::Boolean(on)) => Ok(on.to_string()),
        (Kind::Switch, _) => Err(wrong("it is true or false".into())),
        (Kind::Word(words), DeValue::String(word)) if words.contains(&word.as_ref()) => {
            Ok(word.to_string())
        }
        (Kind::Word(words), _) => Err(wrong(format!("it is one of {}", words.join(", ")))),
        (Kind::Text, DeValue::String(text)) => Ok(text.to_string()),
        (Kind::Text, _) => Err(wrong("it is a string".into())),
        (Kind::Recipients, DeValue::Array(items)) => recipients(key, items),
        (Kind::Recipients, _) => Err(wrong("it is a list of strings".into())),
        (Kind::Limit(..) | Kind::Time | Kind::Size | Kind::Count, DeValue::String(text)) => {
            measured(key, text)
        }
        // A time that has no unit is told so.
        (Kind::Limit(..) | Kind::Time | Kind::Size | Kind::Count, DeValue::Integer(number))
            if number.radix() == 10 =>
        {
            measured(key, number.as_str())
        }
        (Kind::Limit(unit, _), _) => Err(wrong(limits::expected(unit).into())),
        (Kind::Time, _) => Err(wrong(limits::expected(Unit::Time).into())),
        (Kind::Size, _) => Err(wrong(limits::expected(Unit::Bytes).into())),
        (Kind::Count, _) => Err(wrong(limits::expected(Unit::Count).into())),
    }
}

/// A list of recipients, with commas between.
fn recipients(key: &Key, items: &DeArray<'_>) -> Result<String, FileError> {
    let text = |item: &toml::Spanned<DeValue<'_>>| match item.get_ref() {
        DeValue::String(text) => Ok(text.to_string()),
        _ => Err(FileError::new(format!("\"{}\" has a wrong value", key.name))
            .hint("it is a list of strings")),
    };
    let texts = items.iter().map(text).collect::<Result<Vec<_>, _>>()?;
    if !texts.is_empty() {
        Recipients::parse(&texts).map_err(|error| {
            let message = format!("\"{}\" has a wrong value: {error}", key.name);
            FileError::new(message).hint(error.hint())
        })?;
    }
    Ok(texts.join(","))
}

/// A limit or a time.
fn measured(key: &Key, text: &str) -> Result<String, FileError> {
    match limits::parsed(key.kind, text) {
        Ok(_) => Ok(text.to_owned()),
        Err(wrong) => {
            let message = format!("\"{}\" has a wrong value: {}", key.name, wrong.why);
            Err(FileError::new(message).hint(wrong.hint))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(bytes: u64) -> Result<usize, String> {
        let folder = std::env::temp_dir().join(format!("noesc-config-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(bytes.to_string());
        std::fs::write(&path, "#".repeat(bytes as usize)).unwrap();
        let values = read(&path).map(|values| values.unwrap().len()).map_err(|e| e.message);
        std::fs::remove_dir_all(&folder).unwrap();
        values
    }

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        assert_eq!(size(CONFIG_BYTES_MAX - 1), Ok(0));
        assert_eq!(size(CONFIG_BYTES_MAX), Ok(0));
        assert_eq!(size(CONFIG_BYTES_MAX + 1), Err("more than 65536 bytes".into()));
    }

    #[test]
    fn keys_and_values_are_checked() {
        let said = |text| match parse(text) {
            Ok(values) => {
                values.iter().map(|(key, value)| format!("{}={value}", key.name)).collect()
            }
            Err(e) => format!("{e} ({})", e.hint.as_deref().unwrap_or_default()),
        };
        assert_eq!(said("cr = \"drop\""), "cr=drop");
        assert_eq!(said("\nmark = true"), "mark=true");
        assert_eq!(
            said("\nproflie = \"agent\""),
            " line 2: unknown key \"proflie\" (did you mean \"profile\"?)"
        );
        assert_eq!(said("mark = 1"), " line 1: \"mark\" has a wrong value (it is true or false)");
        assert!(said("\"\\u001b[2J\" = 1").contains(r#"unknown key "\x1b[2J""#));
        assert!(said("cr = \"\n").starts_with(" line 1 column 7: "), "{}", said("cr = \"\n"));
        assert!(said("mark = true\n\u{e9} = [\n").starts_with(" line 2 "));
    }
}
