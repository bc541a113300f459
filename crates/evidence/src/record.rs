//! One record: a line of printable ASCII, and what can be wrong with it.

use std::fmt;
use std::str::FromStr;
use std::time::SystemTime;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::key::{CollectorKey, SIGNATURE_CHARS, VerifierKey, decode_signature};
use crate::moment;
use crate::tree::{Digest, leaf_hash};

/// Bytes of a record with its LF. A facts-only envelope fits several times; what is read at once to
/// find the end of a ledger stays small.
pub const RECORD_BYTES_MAX: usize = 64 * 1024;

/// Bytes of the word that says what a record tells of.
const KIND_BYTES_MAX: usize = 32;

/// What a signature covers before the record: no other text that the key signs begins so.
const CONTEXT: &[u8] = b"noesc.ledger/1\n";

const BEFORE_SIGNATURE: &str = ",\"signature\":\"";
const AFTER_SIGNATURE: &str = "\"}";

/// What a record tells of. A ledger may hold words of later versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A run, and what was kept of it.
    Run,
    /// A decision, or a refused or failed attempt at one.
    Decision,
    /// Whom originals are sealed to, and who approves.
    Recipients,
    /// Something was deleted or held by policy.
    Retention,
    /// A torn tail was cut; the ledger writes it itself.
    Recovered,
    /// A checkpoint was made; the ledger writes it itself.
    Checkpoint,
    /// There was no room for a record; the ledger writes it itself.
    Full,
}

impl Kind {
    /// Every kind, in the order above.
    pub const ALL: [Self; 7] = [
        Self::Run,
        Self::Decision,
        Self::Recipients,
        Self::Retention,
        Self::Recovered,
        Self::Checkpoint,
        Self::Full,
    ];

    /// The word in the record.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Decision => "decision",
            Self::Recipients => "recipients",
            Self::Retention => "retention",
            Self::Recovered => "recovered",
            Self::Checkpoint => "checkpoint",
            Self::Full => "full",
        }
    }

    /// The kind of a word; `None` where this version knows none.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// What is wrong with a record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The ledger ends within it.
    Incomplete,
    /// It has more than [`RECORD_BYTES_MAX`] bytes.
    TooLong,
    /// It is not in the form of a record.
    Form {
        /// What was to stand there.
        expected: &'static str,
        /// The byte of the record at which something else stands.
        at: usize,
    },
    /// It has not the number of its place.
    Index {
        /// The number of its place.
        expected: u64,
        /// Its own.
        found: u64,
    },
    /// It does not name the record before it.
    Previous {
        /// The hash of the record before.
        expected: Digest,
        /// The one that it holds.
        found: Digest,
    },
    /// Its signature is not one of the collector's key over it.
    Signature,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incomplete => write!(f, "expected a whole record, found the end of the ledger"),
            Self::TooLong => write!(f, "expected at most {RECORD_BYTES_MAX} bytes, found more"),
            Self::Form { expected, at } => {
                write!(f, "expected {expected} at byte {at} of it, found something else")
            }
            Self::Index { expected, found } => {
                write!(f, "expected the index {expected}, found {found}")
            }
            Self::Previous { expected, found } => {
                write!(f, "expected {expected} as the hash of the record before, found {found}")
            }
            Self::Signature => {
                write!(f, "expected a signature of the collector's key, found another one")
            }
        }
    }
}

/// A record as it was read. Only [`Record::check`] says that it can be believed.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Its place, from 0.
    pub index: u64,
    /// The hash of the record before; 32 zero bytes in the first.
    pub previous: Digest,
    /// When it was written, by the collector's clock: RFC 3339 in UTC with milliseconds.
    pub time: &'a str,
    /// The word of its kind.
    pub kind: &'a str,
    /// What it tells: a JSON object in printable ASCII.
    pub event: &'a str,
    signature: [u8; 64],
    line: &'a str,
}

impl<'a> Record<'a> {
    /// Reads a record from its line, without the LF. It has one form alone.
    pub fn parse(line: &'a [u8]) -> Result<Self, Fault> {
        if line.len() >= RECORD_BYTES_MAX {
            return Err(Fault::TooLong);
        }
        let printable = line.iter().take_while(|byte| matches!(byte, 0x20..=0x7E)).count();
        let (Ok(text), true) = (str::from_utf8(line), printable == line.len()) else {
            return Err(Fault::Form { expected: "printable ASCII", at: printable });
        };
        let mut cursor = Cursor { text, at: 0 };
        let index = cursor.field("{\"index\":", ",", "a number", number)?;
        let quote = "\",";
        let previous = cursor.field("\"previous\":\"", quote, "64 hex digits", Digest::from_hex)?;
        let is_moment = |text| moment::is_moment(text).then_some(text);
        let time = cursor.field("\"time\":\"", quote, "a moment in UTC", is_moment)?;
        let kind = cursor.field("\"kind\":\"", quote, "a kind", word)?;
        cursor.skip("\"event\":")?;
        let expected = "a signature at the end";
        let (signed, signature) = split_signature(text)
            .filter(|(signed, _)| signed.len() >= cursor.at)
            .ok_or(Fault::Form { expected, at: cursor.at })?;
        let signature = decode_signature(signature)
            .ok_or(Fault::Form { expected, at: signed.len() + BEFORE_SIGNATURE.len() })?;
        let event = &signed[cursor.at..];
        if !is_object(event) {
            return Err(Fault::Form { expected: "a JSON object", at: cursor.at });
        }
        Ok(Self { index, previous, time, kind, event, signature, line: text })
    }

    /// Whether it has its place in a ledger: the number, the hash of the record before, and the
    /// signature of the collector's key.
    pub fn check(&self, index: u64, previous: Digest, key: &VerifierKey) -> Result<(), Fault> {
        if self.index != index {
            return Err(Fault::Index { expected: index, found: self.index });
        }
        if self.previous != previous {
            return Err(Fault::Previous { expected: previous, found: self.previous });
        }
        self.check_signature(key)
    }

    pub(crate) fn check_signature(&self, key: &VerifierKey) -> Result<(), Fault> {
        let (signed, _) = split_signature(self.line).ok_or(Fault::Signature)?;
        let message = [CONTEXT, signed.as_bytes()].concat();
        if key.verify(&message, &self.signature) { Ok(()) } else { Err(Fault::Signature) }
    }

    /// All of it, without the LF.
    pub fn line(&self) -> &'a str {
        self.line
    }

    /// Its hash, which is that of its leaf in the tree.
    pub fn hash(&self) -> Digest {
        leaf_hash(self.line.as_bytes())
    }
}

/// The line of a record, with its LF; `None` where no reader would take it as one.
pub(crate) fn render(
    key: &CollectorKey,
    (index, previous): (u64, Digest),
    time: SystemTime,
    kind: Kind,
    event: &impl Serialize,
) -> Result<Vec<u8>, Fault> {
    let unfit = Fault::Form { expected: "a JSON object", at: 0 };
    let event = serde_json::to_string(event).map_err(|_| unfit.clone())?;
    if !is_object(&event) {
        return Err(unfit);
    }
    let time = moment::render(time);
    let mut line = format!(
        r#"{{"index":{index},"previous":"{previous}","time":"{time}","kind":"{}","event":"#,
        kind.as_str(),
    );
    push_ascii(&mut line, &event);
    let signature = key.sign(&[CONTEXT, line.as_bytes()].concat());
    line.extend([BEFORE_SIGNATURE, &signature, AFTER_SIGNATURE, "\n"]);
    if line.len() > RECORD_BYTES_MAX { Err(Fault::TooLong) } else { Ok(line.into_bytes()) }
}

/// JSON with everything that is not printable ASCII escaped: such characters stand in strings
/// alone.
fn push_ascii(to: &mut String, json: &str) {
    for c in json.chars() {
        match c {
            ' '..='~' => to.push(c),
            _ => {
                let mut units = [0; 2];
                to.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
            }
        }
    }
}

/// The part of a record that its signature covers, and the signature.
fn split_signature(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_suffix(AFTER_SIGNATURE)?;
    let (rest, signature) = rest.split_at_checked(rest.len().checked_sub(SIGNATURE_CHARS)?)?;
    Some((rest.strip_suffix(BEFORE_SIGNATURE)?, signature))
}

fn is_object(text: &str) -> bool {
    text.starts_with('{')
        && text.ends_with('}')
        && serde_json::from_str::<Map<String, Value>>(text).is_ok()
}

fn word(text: &str) -> Option<&str> {
    let is_word = text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'-'));
    (is_word && (1..=KIND_BYTES_MAX).contains(&text.len())).then_some(text)
}

/// A decimal number in its one form.
pub(crate) fn number(text: &str) -> Option<u64> {
    let number = u64::from_str(text).ok()?;
    (text == number.to_string()).then_some(number)
}

/// Where a reader stands in a record.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn skip(&mut self, key: &'static str) -> Result<(), Fault> {
        if !self.text[self.at..].starts_with(key) {
            return Err(Fault::Form { expected: "the next key", at: self.at });
        }
        self.at += key.len();
        Ok(())
    }

    /// What stands between a key and an end.
    fn field<T>(
        &mut self,
        key: &'static str,
        end: &'static str,
        expected: &'static str,
        read: impl Fn(&'a str) -> Option<T>,
    ) -> Result<T, Fault> {
        self.skip(key)?;
        let rest = &self.text[self.at..];
        let (value, len) = rest
            .split_once(end)
            .and_then(|(value, _)| Some((read(value)?, value.len())))
            .ok_or(Fault::Form { expected, at: self.at })?;
        self.at += len + end.len();
        Ok(value)
    }
}

#[cfg(test)]
mod tests;
