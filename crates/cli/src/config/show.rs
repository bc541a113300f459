//! `noesc config`: the values in force and where each came from.

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::{Map, Value, json};

use super::{BY_PROFILE, Config, KEYS, Kind, Origin};
use crate::args::ConfigArgs;
use crate::fail::{Result, quoted};
use crate::input::write;

pub(crate) fn config(args: &ConfigArgs) -> Result<ExitCode> {
    let text = if args.schema {
        format!("{:#}\n", schema())
    } else {
        let config = args.settings.settings()?.1;
        match args.json {
            true => format!("{}\n", as_json(&config)),
            false => as_text(&config, args.settings.is_off()),
        }
    };
    write(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn as_text(config: &Config, off: bool) -> String {
    let mut text = String::new();
    if off {
        text.push_str("off          = true         # flag: NOT INERT, everything passes\n");
    }
    for key in KEYS {
        let value = config.given(key.name).unwrap_or(key.default);
        let value = match key.kind {
            Kind::Switch => value.to_owned(),
            _ if value == BY_PROFILE => value.to_owned(),
            _ => quoted(value.as_ref()),
        };
        let origin = match config.origin(key.name) {
            None => "default".into(),
            Some(Origin::Flag) => "flag".into(),
            Some(Origin::User(path)) => quoted(path.as_os_str()),
            Some(Origin::Project(path)) => format!("project {}", quoted(path.as_os_str())),
        };
        let _ = writeln!(text, "{:<12} = {value:<12} # {origin}", key.name);
    }
    if let Some(path) = &config.user_file {
        let there = if path.is_file() { "" } else { " (not there)" };
        let _ = writeln!(text, "# user file: {}{there}", quoted(path.as_os_str()));
    }
    text
}

fn as_json(config: &Config) -> Value {
    let mut keys = Map::new();
    for key in KEYS {
        let value = config.given(key.name).unwrap_or(key.default);
        let value = match key.kind {
            Kind::Switch => json!(value == "true"),
            _ if value == BY_PROFILE => Value::Null,
            _ => json!(noesc::audit(value.as_bytes())),
        };
        let (origin, file) = match config.origin(key.name) {
            None => ("default", None),
            Some(Origin::Flag) => ("flag", None),
            Some(Origin::User(path)) => ("user", Some(path)),
            Some(Origin::Project(path)) => ("project", Some(path)),
        };
        let mut entry = json!({ "value": value, "origin": origin });
        if let Some(path) = file {
            use std::os::unix::ffi::OsStrExt;
            entry["file"] = json!(noesc::audit(path.as_os_str().as_bytes()));
        }
        keys.insert(key.name.into(), entry);
    }
    Value::Object(keys)
}

/// A JSON Schema of the file, for editors.
fn schema() -> Value {
    let mut properties = Map::new();
    for key in KEYS {
        let mut property = match key.kind {
            Kind::Switch => json!({ "type": "boolean" }),
            Kind::Text => json!({ "type": "string" }),
            Kind::Word(words) => json!({ "enum": words }),
        };
        let project = match key.project {
            Some(value) => format!(" A project file may set it to \"{value}\" alone."),
            None => " A project file may not set it.".into(),
        };
        property["description"] = json!(format!("{}.{project}", key.says));
        properties.insert(key.name.into(), property);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "noesc configuration",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    })
}
