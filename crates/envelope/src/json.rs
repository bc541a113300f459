//! JSON, strictly: one object on one line out; nothing twice in.

use std::collections::BTreeSet;
use std::fmt;
use std::io;

use serde::Deserialize;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde_json::ser::{CharEscape, Formatter};

use crate::record::Envelope;

/// Writes the record on one line, without a line end. Outside of strings JSON has no character
/// that a container could take for its own; inside, `<` `>` `&`, U+2028, U+2029, DEL, C1 controls
/// and U+FFFE, U+FFFF are written as `\u…`, besides what RFC 8259 asks for.
pub(crate) fn write(envelope: &Envelope) -> Result<String, serde_json::Error> {
    use serde::Serialize;
    let mut out = Vec::new();
    envelope.serialize(&mut serde_json::Serializer::with_formatter(&mut out, Inert))?;
    String::from_utf8(out).map_err(|_| serde::ser::Error::custom("the record is not UTF-8"))
}

/// Reads a record. Unknown keys are ignored; a key that stands twice in any object, a lone
/// surrogate and anything after the object are refused.
pub(crate) fn read(text: &str) -> Result<Envelope, serde_json::Error> {
    serde_json::from_str::<NoTwins>(text)?;
    serde_json::from_str(text)
}

/// The JSON Schema of the record, as it stands in `spec/envelope.schema.json`, with a final LF.
#[must_use]
pub fn schema() -> String {
    let mut schema = schemars::schema_for!(Envelope);
    schema.insert("title".to_owned(), "noesc.run/1".into());
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}

struct Inert;

impl Formatter for Inert {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        to: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(is_escaped) {
            to.write_all(&rest.as_bytes()[..at])?;
            let mut after = rest[at..].chars();
            if let Some(c) = after.next() {
                write!(to, "\\u{:04x}", u32::from(c))?;
            }
            rest = after.as_str();
        }
        to.write_all(rest.as_bytes())
    }

    fn write_char_escape<W: ?Sized + io::Write>(
        &mut self,
        to: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        serde_json::ser::CompactFormatter.write_char_escape(to, escape)
    }
}

fn is_escaped(c: char) -> bool {
    matches!(
        c,
        '<' | '>' | '&' | '\u{7F}'..='\u{9F}' | '\u{2028}' | '\u{2029}' | '\u{FFFE}' | '\u{FFFF}'
    )
}

/// Any JSON value in which no object has a key twice. It keeps nothing.
struct NoTwins;

impl<'de> Deserialize<'de> for NoTwins {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for NoTwins {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Self, A::Error> {
        while from.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Self, A::Error> {
        let mut keys = BTreeSet::new();
        while let Some(key) = from.next_key::<String>()? {
            from.next_value::<Self>()?;
            if !keys.insert(key) {
                return Err(A::Error::custom("a key stands twice in one object"));
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_twice_is_refused_however_deep_and_however_written() {
        for twins in [r#"{"a":1,"a":1}"#, r#"[{"b":{"a":1,"\u0061":2}}]"#, r#"{"":{},"":{}}"#] {
            assert!(serde_json::from_str::<NoTwins>(twins).is_err(), "{twins}");
        }
        for single in [r#"{"a":{"a":1},"b":[{"a":1},{"a":2}]}"#, "[]", "null", "-1.5", "\"a\""] {
            assert!(serde_json::from_str::<NoTwins>(single).is_ok(), "{single}");
        }
    }

    #[test]
    fn a_lone_surrogate_is_refused_also_where_the_key_is_unknown() {
        for text in [r#""\ud800""#, r#""\udc00""#, r#"{"x":"\ud83d"}"#, r#"{"\udfff":1}"#] {
            assert!(serde_json::from_str::<NoTwins>(text).is_err(), "{text}");
        }
        assert!(serde_json::from_str::<NoTwins>(r#""\ud83d\ude00""#).is_ok());
    }
}
