//! What became of the processes of a run, and what the one that observed them could hold.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ident::Escaped;
use crate::record::{at_most, present, without_default};

/// Survivors that a record names. All are counted.
pub const SURVIVORS_MAX: usize = 64;

/// SIGKILL, on every system that has it.
pub(crate) const SIGKILL: i32 = 9;

/// What became of the processes of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Processes {
    /// Which processes the collector could see and end.
    pub scope: Scope,
    /// What it did to end them; null where it did nothing.
    pub ended: Option<Ended>,
    /// Those that were alive when the run was over.
    pub survivors: Survivors,
    /// Bytes that these have printed since, where the record was asked for later.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schemars(with = "u64", transform = without_default)]
    pub drained_bytes: Option<u64>,
}

/// The processes that a collector can see and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// The child and all that descend from it, whatever group or session they went to.
    Tree,
    /// The process group of the child. What left it is neither seen nor ended.
    Group,
}

/// What was done to end the processes of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "EndedKeys")]
pub struct Ended {
    /// Number of the first signal that was sent.
    pub signal: i32,
    /// Whether SIGKILL was sent, as that signal or after it.
    pub killed: bool,
}

/// The keys as they come.
#[derive(Deserialize, JsonSchema)]
#[schemars(extend("not" = {
    "properties": {"signal": {"const": SIGKILL}, "killed": {"const": false}},
    "required": ["signal", "killed"],
}))]
struct EndedKeys {
    /// Number of the first signal that was sent.
    signal: i32,
    /// Whether SIGKILL was sent, as that signal or after it.
    killed: bool,
}

impl TryFrom<EndedKeys> for Ended {
    type Error = &'static str;

    fn try_from(EndedKeys { signal, killed }: EndedKeys) -> Result<Self, Self::Error> {
        match signal == SIGKILL && !killed {
            true => Err("a SIGKILL that did not kill"),
            false => Ok(Self { signal, killed }),
        }
    }
}

/// Processes that were alive when the run was over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "SurvivorsKeys")]
pub struct Survivors {
    /// How many there were; null where that is not known, as where `scope` is `group`.
    pub count: Option<u32>,
    /// Some of them, at most [`SURVIVORS_MAX`].
    pub listed: Vec<Survivor>,
}

/// The keys as they come.
#[derive(Deserialize, JsonSchema)]
struct SurvivorsKeys {
    /// How many there were; null where that is not known, as where `scope` is `group`.
    count: Option<u32>,
    /// Some of them, at most 64 and no more than `count`.
    #[serde(deserialize_with = "at_most::<SURVIVORS_MAX, _, _>")]
    #[schemars(length(max = SURVIVORS_MAX))]
    listed: Vec<Survivor>,
}

impl TryFrom<SurvivorsKeys> for Survivors {
    type Error = &'static str;

    fn try_from(SurvivorsKeys { count, listed }: SurvivorsKeys) -> Result<Self, Self::Error> {
        match count {
            Some(count) if (count as usize) < listed.len() => Err("more survivors than there were"),
            _ => Ok(Self { count, listed }),
        }
    }
}

/// A process that was alive when the run was over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Survivor {
    /// Its id. Another process may have it by now.
    pub pid: u32,
    /// Its name as the system has it, which the process itself can choose.
    pub name: Escaped,
}

/// How the process that observed the run stood to the child.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Collector {
    /// Whether it had made itself undumpable before it started the child. An ordinary process of
    /// the same user can then neither look into it nor open its descriptors.
    pub undumpable: bool,
    /// Whether the child ran with the right to look into it all the same: as root, or with
    /// CAP_SYS_PTRACE. Such a child could have written to the outputs of the collector itself.
    pub privileged: bool,
    /// Whether it passed on to the child the signals that were sent to it.
    pub attended: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn survivors_are_listed_up_to_the_limit_and_no_more_than_there_were() {
        let read = |count: &str, listed: usize| {
            let listed = vec![r#"{"pid":1,"name":"sh"}"#; listed].join(",");
            let text = format!(r#"{{"count":{count},"listed":[{listed}]}}"#);
            serde_json::from_str::<Survivors>(&text).map_err(|error| error.to_string())
        };
        for count in ["null", "100"] {
            assert!(read(count, SURVIVORS_MAX - 1).is_ok());
            assert_eq!(read(count, SURVIVORS_MAX).unwrap().listed.len(), SURVIVORS_MAX);
            let error = read(count, SURVIVORS_MAX + 1).unwrap_err();
            assert!(error.starts_with("more than 64 in a list"), "{error}");
        }
        for (count, listed, right) in
            [("0", 0, true), ("0", 1, false), ("3", 2, true), ("3", 3, true), ("3", 4, false)]
        {
            assert_eq!(read(count, listed).is_ok(), right, "{count} {listed}");
        }
    }

    #[test]
    fn a_kill_kills() {
        let read = |signal: i32, killed: bool| {
            let text = format!(r#"{{"signal":{signal},"killed":{killed}}}"#);
            serde_json::from_str::<Ended>(&text).is_ok()
        };
        assert!(read(15, false) && read(15, true) && read(9, true));
        assert!(!read(9, false));
    }
}
