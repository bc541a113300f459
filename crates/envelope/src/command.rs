//! What was run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ident::{Digest, Escaped};
use crate::record::{present, without_default};

/// What was run. Arguments and paths are audit-escaped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "CommandKeys")]
pub struct Command {
    /// How much of the command is recorded.
    pub recorded: Recorded,
    /// The name of the program, then its arguments; empty unless `recorded` is `full`.
    pub argv: Vec<Escaped>,
    /// A keyed digest of the arguments, each followed by a NUL, where `recorded` is `digest`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argv_hmac: Option<Digest>,
    /// Whether the caller asked for a shell line.
    pub shell: bool,
    /// The file that was executed; null where it was not found, or not recorded.
    pub executable: Option<Escaped>,
    /// The working folder; null where it is not known, or not recorded.
    pub cwd: Option<Escaped>,
    /// The size of the child's terminal; null under pipes.
    pub terminal: Option<WindowSize>,
    /// What the child found at descriptor 0.
    pub stdin: StdinKind,
}

/// The keys as they come.
#[derive(Deserialize, JsonSchema)]
#[schemars(extend(
    "oneOf" = [
        {"properties": {"recorded": {"const": "full"}, "argv_hmac": false}},
        {"properties": {
            "recorded": {"const": "executable"}, "argv": {"maxItems": 0}, "argv_hmac": false,
        }},
        {
            "properties": {"recorded": {"const": "digest"}, "argv": {"maxItems": 0}},
            "required": ["argv_hmac"],
        },
    ],
    "anyOf" = [
        {"properties": {"stdin": {"not": {"const": "pty"}}}},
        {"properties": {"terminal": {"not": {"type": "null"}}}, "required": ["terminal"]},
    ],
))]
struct CommandKeys {
    /// How much of the command is recorded.
    recorded: Recorded,
    /// The name of the program, then its arguments; empty unless `recorded` is `full`.
    argv: Vec<Escaped>,
    /// A keyed digest of the arguments, each followed by a NUL. It is there where `recorded` is
    /// `digest`, and only there.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Digest", transform = without_default)]
    argv_hmac: Option<Digest>,
    /// Whether the caller asked for a shell line.
    shell: bool,
    /// The file that was executed; null where it was not found, or not recorded.
    executable: Option<Escaped>,
    /// The working folder; null where it is not known, or not recorded.
    cwd: Option<Escaped>,
    /// The size of the child's terminal; null under pipes.
    terminal: Option<WindowSize>,
    /// What the child found at descriptor 0; `pty` only where `terminal` is not null.
    stdin: StdinKind,
}

impl TryFrom<CommandKeys> for Command {
    type Error = &'static str;

    fn try_from(keys: CommandKeys) -> Result<Self, Self::Error> {
        let CommandKeys { recorded, argv, argv_hmac, shell, executable, cwd, terminal, stdin } =
            keys;
        if recorded != Recorded::Full && !argv.is_empty() {
            return Err("arguments that are said not to be recorded");
        }
        if (recorded == Recorded::Digest) != argv_hmac.is_some() {
            return Err("expected argv_hmac where a digest is recorded, and only there");
        }
        if stdin == StdinKind::Pty && terminal.is_none() {
            return Err("a pty as stdin without a terminal");
        }
        Ok(Self { recorded, argv, argv_hmac, shell, executable, cwd, terminal, stdin })
    }
}

/// How much of a command a record holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recorded {
    /// All of it.
    #[default]
    Full,
    /// The executed file, no arguments.
    Executable,
    /// A digest.
    Digest,
}

/// What a child finds at descriptor 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StdinKind {
    /// The null device.
    #[default]
    Null,
    /// The standard input of the caller.
    Inherited,
    /// The terminal of the run.
    Pty,
}

/// A size in cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WindowSize {
    /// Columns.
    pub columns: u16,
    /// Rows.
    pub rows: u16,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(recorded: &str, argv: &str, more: &str) -> Result<Command, String> {
        let text = format!(
            r#"{{"recorded":"{recorded}","argv":{argv},"shell":false,"executable":null,
                "cwd":null{more}}}"#
        );
        serde_json::from_str(&text).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_recorded_is_there_and_nothing_else() {
        let hmac = format!(r#","argv_hmac":"{}","stdin":"null""#, "ab".repeat(32));
        let none = r#","stdin":"null""#;
        for (recorded, argv, more, right) in [
            ("full", r#"["a"]"#, none, true),
            ("full", "[]", none, true),
            ("full", r#"["a"]"#, &hmac, false),
            ("executable", "[]", none, true),
            ("executable", r#"["a"]"#, none, false),
            ("executable", "[]", &hmac, false),
            ("digest", "[]", &hmac, true),
            ("digest", r#"["a"]"#, &hmac, false),
            ("digest", "[]", none, false),
            ("digest", "[]", r#","argv_hmac":null,"stdin":"null""#, false),
        ] {
            let command = read(recorded, argv, more);
            assert_eq!(command.is_ok(), right, "{recorded} {argv} {more}: {command:?}");
            if let Ok(command) = command {
                let text = serde_json::to_string(&command).unwrap();
                assert_eq!(serde_json::from_str::<Command>(&text).unwrap(), command);
            }
        }
    }

    #[test]
    fn a_pty_as_stdin_is_a_terminal() {
        let terminal = r#","terminal":{"columns":80,"rows":24}"#;
        for (stdin, terminal, right) in [
            ("pty", terminal, true),
            ("pty", r#","terminal":null"#, false),
            ("pty", "", false),
            ("null", terminal, true),
            ("inherited", r#","terminal":null"#, true),
        ] {
            let more = format!(r#"{terminal},"stdin":"{stdin}""#);
            assert_eq!(read("full", "[]", &more).is_ok(), right, "{more}");
        }
    }
}
