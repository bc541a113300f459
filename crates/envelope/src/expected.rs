//! What a command was to print, and whether it did.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ident::Escaped;
use crate::record::{Cutoff, Trust, present, without_default};
use crate::report::Report;
use crate::value::Value;

/// What the caller said that the command prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Promise {
    /// Text in the declared encoding: nothing ill-formed, no NUL.
    Text,
    /// One JSON value.
    Json,
    /// Bytes for a program. No view of them is given.
    Artifact,
}

impl Promise {
    /// The word of the record and of the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Artifact => "artifact",
        }
    }
}

/// A promise that was to be kept, and what was seen of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "ExpectedKeys")]
pub struct Expected {
    /// A reminder to whoever reads the value.
    pub trust: Trust,
    /// What was promised.
    pub kind: Promise,
    /// The descriptor of the child that it was to be written to.
    pub descriptor: i32,
    /// Bytes read there.
    pub bytes: u64,
    /// Whether its end was seen.
    pub eof: bool,
    /// Why reading stopped before its end.
    pub cutoff: Cutoff,
    /// Whether the promise was kept.
    pub met: bool,
    /// What was wrong, where it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mismatch: Option<Mismatch>,
    /// What was removed from the strings and keys of the value, without places: these are decoded,
    /// and no bytes of a stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Report>,
    /// The value; its strings and keys have passed the boundary after they were decoded. Absent in
    /// a record without views.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

/// The keys as they come.
#[derive(Deserialize, JsonSchema)]
struct ExpectedKeys {
    /// A reminder to whoever reads the value.
    trust: Trust,
    /// What was promised.
    kind: Promise,
    /// The descriptor of the child that it was to be written to.
    descriptor: i32,
    /// Bytes read there.
    bytes: u64,
    /// Whether its end was seen.
    eof: bool,
    /// Why reading stopped before its end.
    cutoff: Cutoff,
    /// Whether the promise was kept.
    met: bool,
    /// What was wrong; absent where the promise was kept.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Mismatch", transform = without_default)]
    mismatch: Option<Mismatch>,
    /// What was removed from the strings and keys of the value, without places.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Report", transform = without_default)]
    report: Option<Report>,
    /// The value; its strings and keys have passed the boundary after they were decoded.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Value", transform = without_default)]
    value: Option<Value>,
}

impl TryFrom<ExpectedKeys> for Expected {
    type Error = &'static str;

    fn try_from(keys: ExpectedKeys) -> Result<Self, Self::Error> {
        let ExpectedKeys { trust, kind, descriptor, bytes, eof, cutoff, .. } = keys;
        let ExpectedKeys { met, mismatch, report, value, .. } = keys;
        if met == mismatch.is_some() || (!met && value.is_some()) {
            return Err("a promise that was kept and was not");
        }
        Ok(Self { trust, kind, descriptor, bytes, eof, cutoff, met, mismatch, report, value })
    }
}

/// Why a promise was not kept: a closed union by `reason`. Offsets are in bytes of the text, which
/// is decoded where an encoding is declared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum Mismatch {
    /// Nothing was printed.
    Empty,
    /// The end was not seen: what was read may be a part.
    Incomplete,
    /// It is longer than it may be.
    TooLong {
        /// Bytes that it may have.
        max: u64,
    },
    /// It is not well-formed in its encoding.
    IllFormed,
    /// It holds a NUL.
    Nul,
    /// It is not JSON, as RFC 8259 has it.
    Syntax {
        /// Where it stops being JSON, give or take a byte.
        at: u64,
        /// What is wrong there.
        why: Escaped,
    },
    /// An object has a key twice.
    DuplicateKey {
        /// Where the object begins.
        at: u64,
    },
    /// Two keys of one object are the same when they have passed the boundary.
    KeysAlike,
    /// A number is no finite double, or is written at great length.
    Number {
        /// Where it begins.
        at: u64,
    },
    /// Too many arrays and objects stand within each other.
    TooDeep {
        /// As many as may.
        max: u64,
    },
    /// There are too many values.
    TooMany {
        /// As many as may be.
        max: u64,
    },
}

/// For people, without a byte of the child.
impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("nothing was printed"),
            Self::Incomplete => f.write_str("its end was not seen"),
            Self::TooLong { max } => write!(f, "it is longer than {max} bytes"),
            Self::IllFormed => f.write_str("it is not well-formed in its encoding"),
            Self::Nul => f.write_str("it holds a NUL"),
            Self::Syntax { at, why } => write!(f, "it is not JSON: {why}, near byte {at}"),
            Self::DuplicateKey { at } => write!(f, "the object at byte {at} has a key twice"),
            Self::KeysAlike => f.write_str("two keys differ only in what is removed"),
            Self::Number { at } => write!(f, "the number at byte {at} is no finite double"),
            Self::TooDeep { max } => write!(f, "it is more than {max} deep"),
            Self::TooMany { max } => write!(f, "it has more than {max} values"),
        }
    }
}

/// For people: `expected json at descriptor 1: met`.
impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {} at descriptor {}: ", self.kind.name(), self.descriptor)?;
        match &self.mismatch {
            None => f.write_str("met"),
            Some(mismatch) => write!(f, "not met, {mismatch}"),
        }
    }
}
