//! A JSON value as a child gave it: numbers in its own digits, members in its own order.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use schemars::JsonSchema;
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, SerializeMap};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// Arrays and objects within each other. Readers of JSON in use give up at 128 or more, and a value
/// stands three deep in a record.
pub const VALUE_DEPTH_MAX: usize = 100;

/// Values in a value, itself and those within it: each costs its reader memory beyond its text.
pub const VALUE_COUNT_MAX: usize = 100_000;

/// Bytes of a number. Every finite double that is written in full has less; longer integers are
/// refused by readers in use.
pub const NUMBER_BYTES_MAX: usize = 1024;

/// A JSON value. No object in it has a key twice.
///
/// ```
/// use noesc_envelope::{Value, ValueError};
///
/// let value = Value::parse(r#"{"id": 12345678901234567890.10, "name": "x"}"#)?;
/// assert_eq!(value.to_string(), r#"{"id":12345678901234567890.10,"name":"x"}"#);
/// assert!(matches!(Value::parse(r#"{"a": 1, "a": 2}"#), Err(ValueError::DuplicateKey { at: 0 })));
/// # Ok::<(), ValueError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Value>),
    /// The members of an object in their order.
    Object(Vec<(String, Value)>),
}

/// A number in the digits of whoever wrote it: a finite double of at most [`NUMBER_BYTES_MAX`]
/// bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number(String);

impl Number {
    /// The digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Why a text is no value. Offsets are in bytes from the start of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueError {
    /// It is not JSON, as RFC 8259 has it.
    Syntax {
        /// Where it stops being JSON, give or take a byte.
        at: usize,
        /// What is wrong there.
        why: String,
    },
    /// An object has a key twice.
    DuplicateKey {
        /// Where the object begins.
        at: usize,
    },
    /// A number is no finite double, or longer than [`NUMBER_BYTES_MAX`].
    Number {
        /// Where it begins.
        at: usize,
    },
    /// More than [`VALUE_DEPTH_MAX`] arrays and objects stand within each other.
    TooDeep,
    /// There are more than [`VALUE_COUNT_MAX`] values.
    TooMany,
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { at, why } => write!(f, "{why} at byte {at}"),
            Self::DuplicateKey { at } => write!(f, "a key twice in the object at byte {at}"),
            Self::Number { at } => write!(f, "a number that is no finite double at byte {at}"),
            Self::TooDeep => write!(f, "deeper than {VALUE_DEPTH_MAX}"),
            Self::TooMany => write!(f, "more than {VALUE_COUNT_MAX} values"),
        }
    }
}

impl std::error::Error for ValueError {}

impl Value {
    /// Reads a value: all of the text, blanks around it aside.
    ///
    /// # Errors
    /// [`ValueError`]; nothing is guessed or mended. A lone surrogate is a syntax error.
    pub fn parse(text: &str) -> Result<Self, ValueError> {
        let whole: &RawValue = serde_json::from_str(text).map_err(|error| syntax(text, &error))?;
        Reader { text, count: 0 }.read(whole, 0)
    }
}

/// What went wrong in a piece of the text, and where in that piece.
fn syntax(piece: &str, error: &serde_json::Error) -> ValueError {
    let before = piece.split_inclusive('\n').take(error.line().saturating_sub(1));
    let start: usize = before.map(str::len).sum();
    let at = (start + error.column().saturating_sub(1)).min(piece.len());
    let words = error.to_string();
    let why = words.split(" at line ").next().unwrap_or_default().to_owned();
    ValueError::Syntax { at, why }
}

/// Walks the text of a value that is known to be well-formed, piece by piece: what lies deeper is
/// looked at anew, so that numbers stay as they are written, and no call goes deeper than ours.
struct Reader<'a> {
    text: &'a str,
    count: usize,
}

impl<'a> Reader<'a> {
    fn read(&mut self, piece: &'a RawValue, depth: usize) -> Result<Value, ValueError> {
        self.count += 1;
        if self.count > VALUE_COUNT_MAX {
            return Err(ValueError::TooMany);
        }
        let piece = piece.get();
        let first = piece.bytes().next().unwrap_or_default();
        if matches!(first, b'{' | b'[') && depth == VALUE_DEPTH_MAX {
            return Err(ValueError::TooDeep);
        }
        Ok(match first {
            b'n' => Value::Null,
            b't' | b'f' => Value::Bool(first == b't'),
            b'"' => Value::String(self.parse(piece)?),
            b'[' => {
                let Items(items) = self.parse(piece)?;
                let items = items.into_iter().map(|item| self.read(item, depth + 1));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            b'{' => {
                let Members(members) = self.parse(piece)?;
                if members.len() > VALUE_COUNT_MAX {
                    return Err(ValueError::TooMany);
                }
                let mut keys = BTreeSet::new();
                if !members.iter().all(|(key, _)| keys.insert(key.as_str())) {
                    return Err(ValueError::DuplicateKey { at: self.offset(piece) });
                }
                let members = members.into_iter();
                let read = members.map(|(key, of)| Ok((key, self.read(of, depth + 1)?)));
                Value::Object(read.collect::<Result<_, _>>()?)
            }
            _ => {
                let is_finite = piece.parse().is_ok_and(f64::is_finite);
                if !is_finite || piece.len() > NUMBER_BYTES_MAX {
                    return Err(ValueError::Number { at: self.offset(piece) });
                }
                Value::Number(Number(piece.to_owned()))
            }
        })
    }

    fn parse<T: Deserialize<'a>>(&self, piece: &'a str) -> Result<T, ValueError> {
        serde_json::from_str(piece).map_err(|error| match syntax(piece, &error) {
            ValueError::Syntax { at, why } => {
                ValueError::Syntax { at: at + self.offset(piece), why }
            }
            other => other,
        })
    }

    /// Where a piece of the text begins in it.
    fn offset(&self, piece: &str) -> usize {
        piece.as_ptr().addr().saturating_sub(self.text.as_ptr().addr())
    }
}

/// The items of an array, each as its text.
struct Items<'a>(Vec<&'a RawValue>);

impl<'de> Deserialize<'de> for Items<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(Self(Vec::new()))
    }
}

impl<'de> Visitor<'de> for Items<'de> {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut from: A) -> Result<Self, A::Error> {
        // One more than may be is enough to tell.
        while self.0.len() <= VALUE_COUNT_MAX
            && let Some(item) = from.next_element()?
        {
            self.0.push(item);
        }
        while from.next_element::<serde::de::IgnoredAny>()?.is_some() {}
        Ok(self)
    }
}

/// The members of an object, each value as its text.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Self(Vec::new()))
    }
}

impl<'de> Visitor<'de> for Members<'de> {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut from: A) -> Result<Self, A::Error> {
        while self.0.len() <= VALUE_COUNT_MAX
            && let Some(member) = from.next_entry()?
        {
            self.0.push(member);
        }
        while from.next_entry::<serde::de::IgnoredAny, serde::de::IgnoredAny>()?.is_some() {}
        Ok(self)
    }
}

impl fmt::Display for Value {
    /// Compact JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

/// To JSON alone: numbers are written as they stand.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => to.serialize_unit(),
            Self::Bool(value) => to.serialize_bool(*value),
            Self::Number(Number(digits)) => {
                RawValue::from_string(digits.clone()).map_err(S::Error::custom)?.serialize(to)
            }
            Self::String(text) => to.serialize_str(text),
            Self::Array(items) => to.collect_seq(items),
            Self::Object(members) => {
                let mut map = to.serialize_map(Some(members.len()))?;
                for (key, value) in members {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(from)?;
        Self::parse(text.get()).map_err(D::Error::custom)
    }
}

impl JsonSchema for Value {
    fn schema_name() -> Cow<'static, str> {
        "Value".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "description": "Any JSON value; no object has a key twice." })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_what_was_written() {
        for text in [
            "null",
            "true",
            "-0.10e+5",
            "123456789012345678901234567890",
            r#""\u001b]52;c;x\u0007""#,
            r#"[[],{},"",[1,{"b":2,"a":[null,false]}]]"#,
            r#"{"b":1,"a":{"b":1}}"#,
        ] {
            let value = Value::parse(text).unwrap();
            assert_eq!(value.to_string(), text);
            assert_eq!(Value::parse(&format!(" \r\n\t{text} ")).unwrap(), value);
            let within: Value = serde_json::from_str(text).unwrap();
            assert_eq!(within, value);
        }
    }

    #[test]
    fn what_is_no_value_is_refused_where_it_goes_wrong() {
        let syntax = |text: &str| match Value::parse(text) {
            Err(ValueError::Syntax { at, .. }) => at,
            other => panic!("{text:?}: {other:?}"),
        };
        let near = |text: &str, place: usize| {
            let at = syntax(text);
            assert!(at.abs_diff(place) <= 1, "{text:?}: {at}");
        };
        near("", 0);
        near("  x", 2);
        near("{\"a\": 1}\n{\"a\": 2}", 9);
        near("[1,\n 2,\n é]", 9);
        near("[\"\u{1b}\"]", 2);
        for text in ["[1,]", "{a:1}", "NaN", "01", "'a'", "\u{feff}1", "[1", "\"\\x\"", "\"a\nb\""]
        {
            syntax(text);
        }
        let lone = r#"{"a": ["\ud800"]}"#;
        assert!((7..lone.len()).contains(&syntax(lone)));
        assert!((1..9).contains(&syntax(r#"{"\udc00": 1}"#)));
    }

    #[test]
    fn a_key_twice_is_refused_however_it_is_written() {
        let twice = |text| Value::parse(text).unwrap_err();
        assert_eq!(twice(r#" {"a":1,"\u0061":1}"#), ValueError::DuplicateKey { at: 1 });
        assert_eq!(twice(r#"[0,{"":{},"":{}}]"#), ValueError::DuplicateKey { at: 3 });
    }

    #[test]
    fn numbers_are_finite_and_of_bounded_length() {
        assert_eq!(Value::parse("[1e999]"), Err(ValueError::Number { at: 1 }));
        let long = |n: usize| Value::parse(&format!("0.{}", "1".repeat(n - 2)));
        assert!(long(NUMBER_BYTES_MAX - 1).is_ok() && long(NUMBER_BYTES_MAX).is_ok());
        assert_eq!(long(NUMBER_BYTES_MAX + 1), Err(ValueError::Number { at: 0 }));
    }

    #[test]
    fn depth_is_bounded() {
        let deep = |n: usize| Value::parse(&("[".repeat(n) + &"]".repeat(n)));
        assert!(deep(VALUE_DEPTH_MAX - 1).is_ok() && deep(VALUE_DEPTH_MAX).is_ok());
        assert_eq!(deep(VALUE_DEPTH_MAX + 1), Err(ValueError::TooDeep));
        assert_eq!(deep(10_000), Err(ValueError::TooDeep));
    }

    #[test]
    fn the_number_of_values_is_bounded() {
        // The array is one too.
        let many = |n: usize| Value::parse(&format!("[{}]", vec!["0"; n - 1].join(",")));
        assert!(many(VALUE_COUNT_MAX - 1).is_ok() && many(VALUE_COUNT_MAX).is_ok());
        assert_eq!(many(VALUE_COUNT_MAX + 1), Err(ValueError::TooMany));
        let members = vec!["\"\":0"; 2 * VALUE_COUNT_MAX].join(",");
        assert_eq!(Value::parse(&format!("{{{members}}}")), Err(ValueError::TooMany));
    }
}
