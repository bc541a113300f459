//! The record `noesc.run/1`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Serialize};

use crate::command::{Command, WindowSize};
use crate::excerpt::Selection;
use crate::expected::Expected;
use crate::ident::{Digest, Escaped, RunId, Timestamp};
use crate::order::ORDER_MAX;
use crate::outcome::Outcome;
use crate::part::{Found, PARTS_MAX, Search, ViewPart};
use crate::processes::{Collector, Processes};
use crate::report::Report;

/// What is known of a run, and a view of each of its streams.
///
/// Every field outside `streams.*.view` and `expected.value` is an observation of the collector. A
/// reader ignores keys that it does not know and refuses a key that stands twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Envelope {
    /// The name and version of this shape.
    pub schema: Schema,
    /// The id of the run.
    pub run: RunId,
    /// What collected and wrote this.
    pub tool: Tool,
    /// What was run.
    pub command: Command,
    /// When.
    pub time: Time,
    /// How it ended.
    pub outcome: Outcome,
    /// What became of its processes.
    pub processes: Processes,
    /// The process that observed all this.
    pub collector: Collector,
    /// What it printed, by stream.
    #[schemars(extend("propertyNames" = {"$ref": "#/$defs/StreamName"}))]
    pub streams: BTreeMap<StreamName, Stream>,
    /// What the command was to print, and whether it did; absent where nothing was said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expected>,
    /// What was searched for, in the answer to a search.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schemars(with = "Search", transform = without_default)]
    pub search: Option<Search>,
    /// The order in which the collector saw the streams, and nothing more: at most 1,024 entries
    /// from the start, in the order of `seq`.
    #[serde(deserialize_with = "at_most::<ORDER_MAX, _, _>")]
    #[schemars(length(max = ORDER_MAX))]
    pub order: Vec<OrderEntry>,
    /// The limits in force.
    pub limits: Limits,
    /// What decided on the views.
    pub policy: Policy,
    /// Masking of credentials; null where none was done.
    pub redaction: Option<Redaction>,
    /// What a terminal would show at the end; null where none was emulated.
    pub screen: Option<Screen>,
    /// Where screen and view disagree; null where they don't, or where there is no screen.
    pub disagreement: Option<Disagreement>,
    /// What became of the raw bytes.
    pub evidence: Evidence,
}

impl Envelope {
    /// The record without the value that was expected, which JSON alone can carry.
    #[must_use]
    pub fn without_value(mut self) -> Self {
        if let Some(expected) = &mut self.expected {
            expected.value = None;
        }
        self
    }

    /// The record without views: the same, with no text of a child in it. Rendered as JSON it has
    /// neither `head` nor `tail` nor `value`, and its bytes are printable ASCII.
    #[must_use]
    pub fn without_views(&self) -> Self {
        let mut record = self.clone();
        record.streams.values_mut().for_each(|stream| stream.view.text = None);
        record.without_value()
    }
}

/// The one value of `schema`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Schema {
    /// Version 1 of the record of a run.
    #[default]
    #[serde(rename = "noesc.run/1")]
    RunV1,
}

/// The program that wrote the record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// Its name.
    pub name: Escaped,
    /// Its version.
    pub version: Escaped,
    /// The version of Unicode of its tables.
    pub unicode: Escaped,
}

/// Begin and end by the wall clock, duration by one that is never set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Time {
    /// Just before the start.
    pub started: Timestamp,
    /// When the process had ended and its output was collected; of a run that still goes on, when
    /// the record was made.
    pub ended: Timestamp,
    /// Milliseconds between the two.
    pub duration_ms: u64,
}

/// The name of a stream.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum StreamName {
    /// Descriptor 1.
    Stdout,
    /// Descriptor 2.
    Stderr,
    /// The terminal of the run: both descriptors, mixed by the child.
    Pty,
}

impl StreamName {
    /// All names, in the order of every format.
    pub const ALL: [Self; 3] = [Self::Stdout, Self::Stderr, Self::Pty];

    /// The name in the record.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
            Self::Pty => "pty",
        }
    }
}

/// What was seen of one stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stream {
    /// A reminder to whoever reads the view.
    pub trust: Trust,
    /// What a reader is given of it.
    pub view: View,
    /// How much there was.
    pub bytes: Bytes,
    /// LFs among the bytes observed.
    pub lines: u64,
    /// Whether end of file was seen.
    pub eof: bool,
    /// What struck while it was open.
    pub cutoff: Cutoff,
    /// Digests of what was observed, and of the view.
    pub digest: Digests,
    /// The declared encoding, where it is not UTF-8. Raw offsets are then offsets into the decoded
    /// text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Escaped>,
    /// What was removed, and what a reader should know.
    pub report: Report,
}

/// The one value of `trust`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// Somebody else may have chosen this text.
    #[default]
    UntrustedProcessOutput,
}

/// What a reader is given of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "ViewKeys")]
pub struct View {
    /// The profile that made it.
    pub profile: Escaped,
    /// The text; `None` in a record without views.
    #[serde(flatten)]
    pub text: Option<Text>,
    /// What lies between head and tail; of an excerpt all that it does not give.
    pub omitted: Omitted,
    /// Of an excerpt the parts of the view that it gives: `head` holds them one after the other,
    /// and `tail` is empty. Absent in the record of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<ViewPart>>,
    /// What a search found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<Found>,
}

/// The text of a view. With nothing omitted, `head` is the whole view and `tail` is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Text {
    /// Its beginning.
    pub head: String,
    /// Its end.
    pub tail: String,
}

/// The keys of a view as they come.
#[derive(Deserialize, JsonSchema)]
#[schemars(extend("dependentRequired" = {"head": ["tail"], "tail": ["head"]}))]
struct ViewKeys {
    /// The profile that made it.
    profile: Escaped,
    /// The beginning of the view, or all of it. Absent, with `tail`, in a record without views.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "String", transform = without_default)]
    head: Option<String>,
    /// The end of the view; empty when nothing was omitted.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "String", transform = without_default)]
    tail: Option<String>,
    /// What lies between head and tail; of an excerpt all that it does not give.
    omitted: Omitted,
    /// Of an excerpt the parts of the view that it gives: `head` holds them one after the other,
    /// and `tail` is empty. Absent in the record of a run.
    #[serde(default, deserialize_with = "some_parts")]
    #[schemars(with = "Vec<ViewPart>", length(max = PARTS_MAX), transform = without_default)]
    parts: Option<Vec<ViewPart>>,
    /// What a search found.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Found", transform = without_default)]
    found: Option<Found>,
}

fn some_parts<'de, D: serde::Deserializer<'de>>(
    from: D,
) -> Result<Option<Vec<ViewPart>>, D::Error> {
    at_most::<PARTS_MAX, _, _>(from).map(Some)
}

/// The schema of such a key: absent is not null.
pub(crate) fn without_default(schema: &mut schemars::Schema) {
    schema.remove("default");
}

/// A key that may be absent, but not null.
pub(crate) fn present<'de, T: Deserialize<'de>, D: serde::Deserializer<'de>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// A list of at most this many.
pub(crate) fn at_most<'de, const MAX: usize, T: Deserialize<'de>, D: serde::Deserializer<'de>>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    let list = Vec::deserialize(from)?;
    match list.len() <= MAX {
        true => Ok(list),
        false => Err(D::Error::custom(format_args!("more than {MAX} in a list"))),
    }
}

impl TryFrom<ViewKeys> for View {
    type Error = &'static str;

    fn try_from(keys: ViewKeys) -> Result<Self, Self::Error> {
        let text = match (keys.head, keys.tail) {
            (Some(head), Some(tail)) => Some(Text { head, tail }),
            (None, None) => None,
            _ => return Err("one of head and tail without the other"),
        };
        let ViewKeys { profile, omitted, parts, found, .. } = keys;
        Ok(Self { profile, text, omitted, parts, found })
    }
}

impl View {
    /// A view made by `profile`, of which `selection` was chosen.
    #[must_use]
    pub fn new(profile: &str, selection: Selection) -> Self {
        Self {
            profile: profile.into(),
            text: Some(Text { head: selection.head, tail: selection.tail }),
            omitted: selection.omitted,
            parts: None,
            found: None,
        }
    }
}

/// What of a view is not shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Omitted {
    /// Bytes of the view.
    pub bytes: u64,
    /// LFs among them.
    pub lines: u64,
    /// Offset and length of the raw bytes between those that head and tail were made from; absent
    /// where nothing is omitted, or where no spans were recorded.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schemars(with = "(u64, u64)", transform = without_default)]
    pub raw: Option<(u64, u64)>,
}

/// How much of a stream there was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Bytes {
    /// Bytes read by the collector.
    pub observed: u64,
    /// Bytes of them that were kept, for the transcript and as evidence.
    pub kept: u64,
    /// Whether the end was seen and every byte kept.
    pub complete: bool,
}

/// What struck while a stream was open. Whether its end was seen all the same is another fact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cutoff {
    /// Nothing did.
    #[default]
    None,
    /// The limit of bytes.
    Bytes,
    /// The limit of time.
    Time,
    /// The limit of idleness.
    Idle,
    /// The limit of rate.
    Rate,
    /// The limit of processes.
    Processes,
    /// The process ended while something else held the pipe.
    WriterAlive,
    /// Whoever reads noesc's output went away, or told noesc to stop.
    Caller,
}

/// Digests of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "DigestKeys")]
pub struct Digests {
    /// Of the bytes observed.
    #[serde(flatten)]
    pub raw: RawDigest,
    /// What the digest of raw bytes covers.
    pub covers: Covers,
    /// SHA-256 of the whole view, what was omitted included.
    pub view_sha256: Digest,
}

/// A digest of raw bytes: plain only where the view is the bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub enum RawDigest {
    /// SHA-256.
    #[serde(rename = "raw_sha256")]
    Plain(Digest),
    /// HMAC-SHA-256 under a key drawn for the run and kept in the sealed manifest alone.
    #[serde(rename = "raw_hmac")]
    Keyed(Digest),
}

/// The keys of the digests as they come.
#[derive(Deserialize, JsonSchema)]
#[schemars(extend("oneOf" = [{"required": ["raw_sha256"]}, {"required": ["raw_hmac"]}]))]
struct DigestKeys {
    /// SHA-256 of the bytes observed, where the view is these bytes.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Digest", transform = without_default)]
    raw_sha256: Option<Digest>,
    /// HMAC-SHA-256 of the bytes observed, under a key kept in the sealed manifest alone.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Digest", transform = without_default)]
    raw_hmac: Option<Digest>,
    /// What the digest of raw bytes covers.
    covers: Covers,
    /// SHA-256 of the whole view, what was omitted included.
    view_sha256: Digest,
}

impl TryFrom<DigestKeys> for Digests {
    type Error = &'static str;

    fn try_from(keys: DigestKeys) -> Result<Self, Self::Error> {
        let raw = match (keys.raw_sha256, keys.raw_hmac) {
            (Some(digest), None) => RawDigest::Plain(digest),
            (None, Some(digest)) => RawDigest::Keyed(digest),
            _ => return Err("expected exactly one of raw_sha256 and raw_hmac"),
        };
        Ok(Self { raw, covers: keys.covers, view_sha256: keys.view_sha256 })
    }
}

/// What a digest of raw bytes covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Covers {
    /// All: end of file was seen.
    All,
    /// The bytes observed.
    ObservedPart,
}

/// A run of chunks of one stream, in the order in which the collector saw them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OrderEntry {
    /// Sequence number of the first of the chunks.
    pub seq: u64,
    /// The stream.
    pub stream: StreamName,
    /// Offset and length in bytes of what its view grew by.
    pub view: (u64, u64),
}

/// The limits in force. An absent one is not set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Limits {
    /// Bytes of each stream that are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capture_bytes_max: Option<Limited>,
    /// Milliseconds that the run may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_max_ms: Option<Limited>,
    /// Milliseconds without output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_max_ms: Option<Limited>,
    /// Bytes a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_max_bytes_per_s: Option<Limited>,
    /// Processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes_max: Option<Limited>,
    /// Milliseconds of reading on after a limit whose policy is `drain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drain_max_ms: Option<u64>,
    /// View bytes of each stream that a record holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view_bytes_max: Option<u64>,
    /// View bytes of each stream that are stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript_bytes_max: Option<u64>,
    /// Bytes of JSON that is expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json_bytes_max: Option<u64>,
    /// Arrays and objects within each other in such JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json_depth_max: Option<u64>,
    /// Values in such JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json_values_max: Option<u64>,
    /// Milliseconds without a new byte, after the process has ended, for a descendant that holds a
    /// pipe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linger_ms: Option<u64>,
    /// Milliseconds for the same at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linger_max_ms: Option<u64>,
    /// Milliseconds between asking the child to end and making it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace_ms: Option<u64>,
}

/// A limit, and what happens at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Limited {
    /// The limit, in the unit of its name.
    pub value: u64,
    /// What happens at it.
    pub policy: LimitPolicy,
}

/// What happens at a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LimitPolicy {
    /// The process tree is ended.
    Stop,
    /// Nothing more is kept, but all is read and counted.
    Drain,
    /// The run returns at once.
    Partial,
}

/// What decided on the views.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Policy {
    /// The profile.
    pub profile: Escaped,
    /// A digest of every setting in force.
    pub fingerprint: Escaped,
}

/// Masking of credentials.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Redaction {
    /// The set of rules.
    pub rules: Escaped,
    /// Places masked.
    pub hits: u64,
}

/// What a terminal would show at the end of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Screen {
    /// The size of the emulated terminal.
    pub size: WindowSize,
    /// Milliseconds from the start of the run to the snapshot.
    pub at_ms: u64,
    /// SHA-256 of the text of its rows, each ended by an LF, trailing blanks aside.
    pub text_sha256: Digest,
}

/// Where screen and view disagree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Disagreement {
    /// Rows of the screen whose text is no line of the view.
    pub rows: u64,
}

/// What became of the raw bytes: a closed union by `state`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum Evidence {
    /// They are sealed.
    Sealed {
        /// The name of the artifact: `restricted:sha256:…`.
        raw_artifact: Escaped,
        /// Fingerprints of those who can open it.
        recipients: Vec<Escaped>,
        /// Whether these are others than were confirmed.
        recipients_changed: bool,
        /// Raw bytes of all streams that are in it.
        kept_bytes: u64,
    },
    /// They were not to be kept.
    NotKept {
        /// Why.
        reason: Escaped,
    },
    /// They could not be kept.
    Failed {
        /// Why.
        reason: Escaped,
        /// The name of what was sealed before, where there is something.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        raw_artifact: Option<Escaped>,
    },
}
