//! What a command was to print, watched beside its views.

use std::collections::BTreeSet;

use noesc::{Form, Profile, Style};
use noesc_capture::{Captured, Chunk, Command, Outcome, Stream};
use noesc_envelope::{
    Expected, Mismatch, Promise, Report, Trust, VALUE_COUNT_MAX, VALUE_DEPTH_MAX, Value, ValueError,
};

use crate::collect::observed;
use crate::decode::Decoder;
use crate::live::Settings;
use crate::record::cutoff;

/// Bytes of JSON that is expected, unless the caller says otherwise: more than a reader takes in,
/// and little enough to be held.
pub const JSON_BYTES: usize = 1024 * 1024;

/// What the caller says that a command prints on stdout, or at [`Command::extra_fd`] where that is
/// set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expect {
    /// Text in the declared encoding: nothing ill-formed, no NUL.
    Text,
    /// One JSON value, of at most so many bytes.
    Json {
        /// The most bytes.
        bytes_max: usize,
    },
    /// Bytes for a program. A record gives no view of them.
    Artifact,
}

impl Expect {
    const fn promise(self) -> Promise {
        match self {
            Self::Text => Promise::Text,
            Self::Json { .. } => Promise::Json,
            Self::Artifact => Promise::Artifact,
        }
    }
}

/// Watches a run for what was promised. It holds no more than the limit of JSON, and one chunk.
pub(crate) struct Watch {
    expect: Expect,
    stream: Stream,
    descriptor: i32,
    decoder: Option<Decoder>,
    profile: Profile,
    /// JSON so far; of a text the end that may be the beginning of a character.
    text: Vec<u8>,
    /// More JSON than the limit.
    is_over: bool,
    /// What is wrong with a text, first found.
    flaw: Option<Mismatch>,
}

impl Watch {
    pub(crate) fn new(command: &Command, settings: &Settings) -> Option<Self> {
        let expect = settings.expect?;
        let stream = match (command.extra_fd, command.terminal) {
            (Some(_), _) => Stream::Extra,
            (None, Some(_)) => Stream::Pty,
            (None, None) => Stream::Stdout,
        };
        let label = settings.encoding.as_deref().unwrap_or("utf-8");
        Some(Self {
            expect,
            stream,
            descriptor: command.extra_fd.unwrap_or(1),
            decoder: Decoder::for_label(label).unwrap_or_default(),
            profile: plain(&settings.profile),
            text: Vec::new(),
            is_over: false,
            flaw: None,
        })
    }

    pub(crate) fn push(&mut self, chunk: &Chunk<'_>) {
        if chunk.stream != self.stream {
            return;
        }
        match &mut self.decoder {
            _ if self.expect == Expect::Artifact || self.is_over => return,
            Some(decoder) => decoder.push(chunk.bytes, &mut self.text),
            None => self.text.extend_from_slice(chunk.bytes),
        }
        self.look();
    }

    /// Looks at what is new: a text needs no more than that, JSON is held up to its limit.
    fn look(&mut self) {
        match self.expect {
            Expect::Json { bytes_max } if self.text.len() > bytes_max => {
                self.is_over = true;
                self.text = Vec::new();
            }
            Expect::Text => {
                if self.text.contains(&0) {
                    self.flaw.get_or_insert(Mismatch::Nul);
                }
                let seen = match std::str::from_utf8(&self.text) {
                    Err(error) if error.error_len().is_none() => error.valid_up_to(),
                    Err(_) => {
                        self.flaw.get_or_insert(Mismatch::IllFormed);
                        self.text.len()
                    }
                    Ok(_) => self.text.len(),
                };
                self.text.drain(..seen);
            }
            _ => {}
        }
    }

    fn text(&mut self) -> Result<(), Mismatch> {
        if let Some(decoder) = &mut self.decoder {
            decoder.finish(&mut self.text);
        }
        self.look();
        let rest = if self.text.is_empty() { None } else { Some(Mismatch::IllFormed) };
        self.flaw.take().or(rest).map_or(Ok(()), Err)
    }

    /// What came of it. Nothing where the process was not started.
    pub(crate) fn finish(mut self, captured: &Captured) -> Option<Expected> {
        let observed = observed(captured, self.stream);
        if matches!(captured.outcome, Outcome::SpawnFailed { .. }) {
            return None;
        }
        let result = match self.expect {
            _ if !observed.end.eof => Err(Mismatch::Incomplete),
            Expect::Text => self.text().map(|()| None),
            Expect::Artifact if observed.bytes == 0 => Err(Mismatch::Empty),
            Expect::Artifact => Ok(None),
            Expect::Json { bytes_max } => self.json(bytes_max).map(Some),
        };
        let (mismatch, found) = match result {
            Ok(found) => (None, found),
            Err(mismatch) => (Some(mismatch), None),
        };
        let (value, report) = found.unzip();
        Some(Expected {
            trust: Trust::UntrustedProcessOutput,
            kind: self.expect.promise(),
            descriptor: self.descriptor,
            bytes: observed.bytes,
            eof: observed.end.eof,
            cutoff: cutoff(observed.end.cutoff),
            met: mismatch.is_none(),
            mismatch,
            report,
            value,
        })
    }

    fn json(&mut self, bytes_max: usize) -> Result<(Value, Report), Mismatch> {
        if let Some(decoder) = &mut self.decoder {
            decoder.finish(&mut self.text);
        }
        self.look();
        if self.is_over {
            return Err(Mismatch::TooLong { max: bytes_max as u64 });
        }
        let text = std::str::from_utf8(&self.text).map_err(|_| Mismatch::IllFormed)?;
        // RFC 8259 lets a reader ignore it; nothing else is ignored. A decoder has removed one.
        let json = match self.decoder {
            None => text.strip_prefix('\u{FEFF}').unwrap_or(text),
            Some(_) => text,
        };
        if json.trim_ascii().is_empty() {
            return Err(Mismatch::Empty);
        }
        let start = text.len() - json.len();
        let value = Value::parse(json).map_err(|error| mismatch(error, start))?;
        let mut cleaner = Cleaner { profile: &self.profile, report: Report::default() };
        let value = cleaner.value(value)?;
        Ok((value, cleaner.report))
    }
}

/// The profile of decoded strings. Nobody shows them on a terminal as they are, so that no style is
/// kept and nothing passes as it is.
fn plain(profile: &Profile) -> Profile {
    let form = if profile.form == Form::Off { Form::Text } else { profile.form };
    Profile { form, style: Style::Remove, ..*profile }
}

fn mismatch(error: ValueError, start: usize) -> Mismatch {
    let place = |at: usize| (start + at) as u64;
    match error {
        ValueError::Syntax { at, why } => {
            Mismatch::Syntax { at: place(at), why: noesc_envelope::Escaped::new(why) }
        }
        ValueError::DuplicateKey { at } => Mismatch::DuplicateKey { at: place(at) },
        ValueError::Number { at } => Mismatch::Number { at: place(at) },
        ValueError::TooDeep => Mismatch::TooDeep { max: VALUE_DEPTH_MAX as u64 },
        ValueError::TooMany => Mismatch::TooMany { max: VALUE_COUNT_MAX as u64 },
    }
}

/// A value that was read from where others can write, its strings and keys as they should be.
///
/// # Errors
/// When two keys become the same by that.
pub(crate) fn cleaned(value: Value) -> Result<Value, Mismatch> {
    Cleaner { profile: &Profile::AGENT, report: Report::default() }.value(value)
}

/// Puts the strings and keys of a value through the boundary, each by itself.
struct Cleaner<'a> {
    profile: &'a Profile,
    report: Report,
}

impl Cleaner<'_> {
    /// No deeper than [`VALUE_DEPTH_MAX`].
    fn value(&mut self, value: Value) -> Result<Value, Mismatch> {
        Ok(match value {
            Value::String(text) => Value::String(self.text(&text)),
            Value::Array(items) => {
                let items = items.into_iter().map(|item| self.value(item));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            Value::Object(members) => {
                let mut cleaned = Vec::with_capacity(members.len());
                for (key, value) in members {
                    cleaned.push((self.text(&key), self.value(value)?));
                }
                let mut keys = BTreeSet::new();
                if !cleaned.iter().all(|(key, _)| keys.insert(key)) {
                    return Err(Mismatch::KeysAlike);
                }
                Value::Object(cleaned)
            }
            other => other,
        })
    }

    fn text(&mut self, text: &str) -> String {
        // The settings were checked when the run began; without a view there is no text.
        let view = noesc::view(text.as_bytes(), self.profile).unwrap_or_default();
        if view.report != noesc::Report::default() {
            self.report.add(&Report::from(&view.report));
        }
        view.text
    }
}
