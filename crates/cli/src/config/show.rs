//! `noesc config`: the values in force and where each came from.

use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;
use std::str::FromStr;

use noesc::{Cr, Form, Invisible, Profile, Removed, Separators, Style};
use serde_json::{Map, Value, json};

use super::{BY_PROFILE, Config, KEYS, Key, Kind, Origin, trust};
use crate::args::{ConfigArgs, ConfigVerb};
use crate::fail::{Result, quoted};
use crate::input::write;
use crate::limits::Unit;
use crate::settings::removed;

pub(crate) fn config(args: &ConfigArgs) -> Result<ExitCode> {
    if let Some(ConfigVerb::Trust { file }) = &args.verb {
        return trust::trust(file.as_deref());
    }
    let text = if args.schema {
        format!("{:#}\n", schema())
    } else {
        let (settings, mut config) = args.settings.settings()?;
        args.limits.give(&mut config);
        match args.json {
            true => format!("{}\n", as_json(&config, &settings.profile)?),
            false => as_text(&config, &settings.profile)?,
        }
    };
    write(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// A key, its value in force, and who decided.
struct Shown<'c> {
    key: &'static Key,
    value: String,
    origin: Option<&'c Origin>,
    /// The other key that decided.
    by: Option<&'static str>,
    by_profile: bool,
}

fn shown<'c>(config: &'c Config, profile: &Profile) -> Result<Vec<Shown<'c>>> {
    let decides = removed(config)?.1;
    let rows = KEYS.iter().map(|key| {
        let of_profile = match key.name {
            "mark" => Some(if profile.removed == Removed::Mark { "true" } else { "false" }),
            "removed" => name(Removed::NAMES, profile.removed),
            "cr" => name(Cr::NAMES, profile.cr),
            "invisible" => name(Invisible::NAMES, profile.invisible),
            "separators" => name(Separators::NAMES, profile.separators),
            "style" if profile.style == Style::Remove => Some("remove"),
            "style" => Some("keep"),
            _ => None,
        };
        let decider = if matches!(key.name, "mark" | "removed") { decides } else { key.name };
        let value = of_profile.or(config.given(key.name)).unwrap_or(key.default).to_owned();
        let origin = config.origin(decider);
        let by = (decider != key.name && origin.is_some()).then_some(decider);
        Shown { key, value, origin, by, by_profile: origin.is_none() && key.default == BY_PROFILE }
    });
    Ok(rows.collect())
}

/// The name of a value.
fn name<T: FromStr + PartialEq>(names: &[&'static str], value: T) -> Option<&'static str> {
    names.iter().copied().find(|name| name.parse().is_ok_and(|named: T| named == value))
}

fn as_text(config: &Config, profile: &Profile) -> Result<String> {
    let mut text = String::new();
    match profile.form {
        Form::Off => text.push_str(
            "off                  = true          # flag: NOT INERT, everything passes\n",
        ),
        Form::Audit => {
            text.push_str("# audit writes every byte: what is said of text has no effect\n")
        }
        Form::Text => {}
    }
    for Shown { key, value, origin, by, by_profile } in shown(config, profile)? {
        let value = match key.kind {
            Kind::Switch => value,
            Kind::Recipients => {
                let items = value.split(',').filter(|item| !item.is_empty());
                format!(
                    "[{}]",
                    items.map(|item| quoted(item.as_ref())).collect::<Vec<_>>().join(", ")
                )
            }
            _ => quoted(value.as_ref()),
        };
        let mut origin = match origin {
            None if by_profile => format!("profile {}", config.given("profile").unwrap_or("agent")),
            None => "default".into(),
            Some(Origin::Flag) => "flag".into(),
            Some(Origin::User(path)) => quoted(path.as_os_str()),
            Some(Origin::Project(path)) => format!("project {}", quoted(path.as_os_str())),
        };
        if let Some(by) = by {
            let _ = write!(origin, ", by {by}");
        }
        if key.name == "conceal" && profile.style == Style::Remove {
            origin.push_str(", without effect: no style is kept");
        }
        let _ = writeln!(text, "{:<20} = {value:<13} # {origin}", key.name);
    }
    if let Some(path) = &config.user_file {
        let there = if path.is_file() { "" } else { " (not there)" };
        let _ = writeln!(text, "# user file: {}{there}", quoted(path.as_os_str()));
    }
    Ok(text)
}

fn as_json(config: &Config, profile: &Profile) -> Result<Value> {
    let mut keys = Map::new();
    for Shown { key, value, origin, by, by_profile } in shown(config, profile)? {
        let value = match key.kind {
            Kind::Switch => json!(value == "true"),
            Kind::Recipients => {
                json!(value.split(',').filter(|item| !item.is_empty()).collect::<Vec<_>>())
            }
            _ => json!(noesc::audit(value.as_bytes())),
        };
        let (origin, file) = match origin {
            None if by_profile => ("profile", None),
            None => ("default", None),
            Some(Origin::Flag) => ("flag", None),
            Some(Origin::User(path)) => ("user", Some(path)),
            Some(Origin::Project(path)) => ("project", Some(path)),
        };
        let mut entry = json!({ "value": value, "origin": origin });
        if let Some(by) = by {
            entry["by"] = json!(by);
        }
        if let Some(path) = file {
            entry["file"] = json!(noesc::audit(path.as_os_str().as_bytes()));
        }
        keys.insert(key.name.into(), entry);
    }
    Ok(Value::Object(keys))
}

/// A JSON Schema of the file, for editors.
fn schema() -> Value {
    let mut properties = Map::new();
    for key in KEYS {
        let mut property = match key.kind {
            Kind::Switch => json!({ "type": "boolean" }),
            Kind::Text | Kind::Time | Kind::Limit(Unit::Time, _) => json!({ "type": "string" }),
            Kind::Limit(..) | Kind::Size | Kind::Count => {
                json!({ "type": ["string", "integer"] })
            }
            Kind::Recipients => json!({ "type": "array", "items": { "type": "string" } }),
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
