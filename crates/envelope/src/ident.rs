//! Texts that can only be made in one form: escaped bytes, ids, digests, moments.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use noesc_text::{AuditEscape, Unescape};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// Why a text is not in the form that its place in the record asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IdentError {
    /// Not the audit escape of any bytes.
    NotEscaped,
    /// Not a UUID of version 7, in lower case.
    NotARunId,
    /// Not 64 lower-case hex digits.
    NotADigest,
    /// Not `YYYY-MM-DDThh:mm:ss.mmmZ`.
    NotAMoment,
}

impl fmt::Display for IdentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotEscaped => "expected audit-escaped text",
            Self::NotARunId => "expected a UUID of version 7 in lower case",
            Self::NotADigest => "expected 64 lower-case hex digits",
            Self::NotAMoment => "expected a moment as YYYY-MM-DDThh:mm:ss.mmmZ",
        })
    }
}

impl std::error::Error for IdentError {}

/// A text type: a `String` that holds its form whichever way it came about.
macro_rules! text_type {
    ($name:ident, $error:ident, $pattern:expr, $is:expr, $what:literal) => {
        impl $name {
            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdentError;

            fn try_from(text: String) -> Result<Self, IdentError> {
                let is: fn(&str) -> bool = $is;
                if is(&text) { Ok(Self(text)) } else { Err(IdentError::$error) }
            }
        }

        impl From<$name> for String {
            fn from(text: $name) -> Self {
                text.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({"type": "string", "description": $what, "pattern": $pattern})
            }
        }
    };
}

/// Somebody's bytes (an argument, a path, a word of another program) in the audit escape:
/// printable ASCII, every other byte and the backslash as `\xNN`. It can only be built by escaping
/// or by checking, so that no record holds such bytes as they are.
///
/// ```
/// use noesc_envelope::Escaped;
/// let name = Escaped::new(b"a\x1b[m\\");
/// assert_eq!(name.as_str(), "a\\x1b[m\\x5c");
/// assert_eq!(name.to_bytes(), b"a\x1b[m\\");
/// assert!(Escaped::try_from("a\u{202e}".to_owned()).is_err());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Escaped(String);

impl Escaped {
    /// Escapes these bytes. At most four times as long.
    #[must_use]
    pub fn new(bytes: impl AsRef<[u8]>) -> Self {
        Self(AuditEscape(bytes.as_ref()).to_string())
    }

    /// Escapes an argument or a path.
    #[must_use]
    pub fn os(text: impl AsRef<OsStr>) -> Self {
        Self::new(text.as_ref().as_encoded_bytes())
    }

    /// The bytes that were escaped.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        unescape(&self.0).unwrap_or_default()
    }
}

impl From<&str> for Escaped {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

fn unescape(text: &str) -> Option<Vec<u8>> {
    let (mut back, mut bytes) = (Unescape::default(), Vec::with_capacity(text.len()));
    for &byte in text.as_bytes() {
        bytes.extend(back.push(byte).ok()?);
    }
    back.finish().ok()?;
    Some(bytes)
}

text_type!(
    Escaped,
    NotEscaped,
    r"^([ -\[\]-~]|\\x([01][0-9a-f]|5c|7f|[89a-f][0-9a-f]))*$",
    |text| unescape(text).is_some(),
    "Bytes 20 to 7e but the backslash as they are, every other byte as \\xNN."
);

/// The id of a run: a UUID of version 7, in lower case.
///
/// ```
/// let id = noesc_envelope::RunId::new(1_700_000_000_000, [0xFF; 10]);
/// assert_eq!(id.as_str(), "018bcfe5-6800-7fff-bfff-ffffffffffff");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(String);

impl RunId {
    /// An id from milliseconds since 1970 (the low 48 bits count) and random bytes, of which 74
    /// bits count. RFC 9562, 5.7.
    #[must_use]
    pub fn new(unix_ms: u64, random: [u8; 10]) -> Self {
        let mut bytes = [0; 16];
        bytes[..6].copy_from_slice(&unix_ms.to_be_bytes()[2..]);
        bytes[6..].copy_from_slice(&random);
        bytes[6] = 0x70 | bytes[6] & 0x0F;
        bytes[8] = 0x80 | bytes[8] & 0x3F;
        let hex = hex(&bytes);
        let groups = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
        Self(groups.join("-"))
    }
}

fn is_run_id(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 36
        && bytes.iter().enumerate().all(|(at, &byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            14 => byte == b'7',
            19 => matches!(byte, b'8' | b'9' | b'a' | b'b'),
            _ => is_hex(byte),
        })
}

text_type!(
    RunId,
    NotARunId,
    "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$",
    is_run_id,
    "A UUID of version 7, in lower case."
);

/// A SHA-256 or HMAC-SHA-256: 64 lower-case hex digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(String);

impl From<[u8; 32]> for Digest {
    fn from(bytes: [u8; 32]) -> Self {
        Self(hex(&bytes))
    }
}

text_type!(
    Digest,
    NotADigest,
    "^[0-9a-f]{64}$",
    |text| text.len() == 64 && text.bytes().all(is_hex),
    "32 bytes in lower-case hex."
);

/// A moment: RFC 3339 in UTC with milliseconds.
///
/// ```
/// use noesc_envelope::Timestamp;
/// use std::time::{Duration, UNIX_EPOCH};
/// let moment = Timestamp::from(UNIX_EPOCH + Duration::from_millis(1_709_210_096_789));
/// assert_eq!(moment.as_str(), "2024-02-29T12:34:56.789Z");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Timestamp(String);

/// 9999-12-31T23:59:59.999Z, the last moment that RFC 3339 can write.
const LAST_MS: u128 = 253_402_300_799_999;

/// A moment before 1970 or after 9999 is written as the nearest one between.
impl From<SystemTime> for Timestamp {
    fn from(moment: SystemTime) -> Self {
        let since = moment.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let ms = u64::try_from(since.as_millis().min(LAST_MS)).unwrap_or_default();
        let (days, ms) = (ms / 86_400_000, ms % 86_400_000);
        let (year, month, day) = date(days);
        let (s, ms) = (ms / 1000, ms % 1000);
        let (hour, minute, second) = (s / 3600, s / 60 % 60, s % 60);
        Self(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z"))
    }
}

/// Year, month and day of a day since 1970-01-01, in the Gregorian calendar.
fn date(mut days: u64) -> (u64, u64, u64) {
    let mut year = 1970;
    while days >= days_of(year) {
        days -= days_of(year);
        year += 1;
    }
    let lengths = [31, days_of(year) - 337, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for length in lengths {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

fn days_of(year: u64) -> u64 {
    let leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    if leap { 366 } else { 365 }
}

fn is_moment(text: &str) -> bool {
    let form = b"0000-00-00T00:00:00.000Z";
    text.len() == form.len()
        && text.bytes().zip(form).all(|(byte, &form)| match form {
            b'0' => byte.is_ascii_digit(),
            _ => byte == form,
        })
}

text_type!(
    Timestamp,
    NotAMoment,
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$",
    is_moment,
    "RFC 3339, UTC, milliseconds."
);

/// Lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

pub(crate) fn is_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_text_comes_back_as_the_bytes() {
        for bytes in [&b""[..], b"x\" code=\"0", b"`\n\xff\xe2\x80\xae\\x41", &[0, 127, 128, 255]] {
            let text = Escaped::new(bytes);
            assert!(text.as_str().bytes().all(|byte| (0x20..0x7F).contains(&byte)), "{text:?}");
            assert_eq!(text.to_bytes(), bytes);
            assert_eq!(Escaped::try_from(text.as_str().to_owned()), Ok(text));
        }
    }

    #[test]
    fn text_in_another_form_is_refused() {
        for text in ["\\", "\\x4", "\\x41", "\\x5C", "\n", "\u{e9}"] {
            assert_eq!(Escaped::try_from(text.to_owned()), Err(IdentError::NotEscaped), "{text:?}");
        }
        let id = RunId::new(0, [0; 10]).0;
        assert_eq!(id, "00000000-0000-7000-8000-000000000000");
        assert!(RunId::try_from(id.clone()).is_ok());
        for wrong in [id.replace('7', "4"), id.replace('8', "c"), id.replace('-', ""), id + "0"] {
            assert_eq!(RunId::try_from(wrong), Err(IdentError::NotARunId));
        }
        assert!(Digest::try_from("a".repeat(64)).is_ok());
        for wrong in ["a".repeat(63), "a".repeat(65), "A".repeat(64), "g".repeat(64)] {
            assert_eq!(Digest::try_from(wrong), Err(IdentError::NotADigest));
        }
        assert!(Timestamp::try_from("2026-01-02T03:04:05Z".to_owned()).is_err());
    }

    #[test]
    fn moments_are_those_of_the_calendar() {
        let at = |s: u64| Timestamp::from(UNIX_EPOCH + Duration::from_secs(s)).0;
        assert_eq!(at(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00.000Z");
        assert_eq!(at(4_107_542_399), "2100-02-28T23:59:59.000Z");
        assert_eq!(at(4_107_542_400), "2100-03-01T00:00:00.000Z");
        assert_eq!(at(1_798_761_599), "2026-12-31T23:59:59.000Z");
        let before = Timestamp::from(UNIX_EPOCH - Duration::from_secs(1));
        assert_eq!(before.as_str(), "1970-01-01T00:00:00.000Z");
        assert_eq!(at(253_402_300_800), "9999-12-31T23:59:59.999Z");
    }
}
