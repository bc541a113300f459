//! Writing values into the user's configuration, whose other lines and comments stay.

use std::io::{ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use toml_edit::{Array, DocumentMut, Item, Value};

use crate::fail::{Failure, Result, quoted};

/// Sets keys of a configuration file, which is made when it is not there.
pub(super) fn set(path: &Path, values: &[(&str, Value)]) -> Result<()> {
    let failed = |error: &std::io::Error| {
        Failure::io("can not write to", path.as_os_str(), error)
            .hint("name a file that you can write to: --config FILE")
    };
    // A link stays one: what it names is written.
    let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let text = match std::fs::read_to_string(&real) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed(&error)),
    };
    let mut document: DocumentMut = text.parse().map_err(|_| {
        Failure::new(format!("{} is no TOML", quoted(path.as_os_str())))
            .hint("\"noesc config\" says where it is wrong")
    })?;
    for (name, value) in values {
        match document.get_mut(name).and_then(Item::as_value_mut) {
            Some(old) => {
                let decor = old.decor().clone();
                *old = value.clone();
                *old.decor_mut() = decor;
            }
            None => {
                document.insert(name, Item::Value(value.clone()));
            }
        }
    }
    let folder = real.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.map_or(PathBuf::from("."), Path::to_path_buf);
    let write = || {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&folder)?;
        if let Ok(seen) = std::fs::metadata(&real) {
            file.as_file().set_permissions(seen.permissions())?;
        }
        file.write_all(document.to_string().as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(&real).map_err(|error| error.error).map(drop)
    };
    write().map_err(|error| failed(&error))
}

/// A list of strings as a value, one a line where there are several.
pub(super) fn list(texts: &[String]) -> Value {
    let mut array: Array = texts.iter().map(String::as_str).collect();
    if texts.len() > 1 {
        for item in array.iter_mut() {
            item.decor_mut().set_prefix("\n    ");
        }
        array.set_trailing("\n");
        array.set_trailing_comma(true);
    }
    Value::Array(array)
}

/// A path as a value: whole, so that it means the same from every folder.
pub(super) fn path(path: &Path) -> Result<Value> {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    match whole.to_str() {
        Some(text) => Ok(Value::from(text)),
        None => Err(Failure::new(format!("{} is not UTF-8", quoted(path.as_os_str())))
            .hint("a configuration can not name it; take another file name")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_lines_stay_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("noesc").join("config.toml");
        let two = ["age1a".to_owned(), "age1b".to_owned()];
        set(&path, &[("identity", Value::from("a\u{1b}b"))]).unwrap();
        let escaped = std::fs::read_to_string(&path).unwrap();
        assert_eq!(escaped.to_lowercase(), "identity = \"a\\u001bb\"\n");
        std::fs::write(&path, "# mine\nmark = true # yes\nrecipients = [] # none yet\n").unwrap();
        set(&path, &[("recipients", list(&two)), ("approver", Value::from("x"))]).unwrap();
        let expected = "# mine\nmark = true # yes\nrecipients = [\n    \"age1a\",\n    \
                        \"age1b\",\n] # none yet\napprover = \"x\"\n";
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
        std::fs::write(&path, "mark = [\n").unwrap();
        assert!(set(&path, &[]).is_err());
    }
}
