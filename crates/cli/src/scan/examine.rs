//! What is in one file: the findings of the boundary, and words of mixed script.

use std::io;

use noesc::{Boundary, FINDING_SPANS_MAX, Profile, Report, Run, Severity, SpanReceiver};
use noesc_grammar::{Class, Ending, Event, Parser};
use noesc_session::Suspicion;
use noesc_text::{MixedWord, MixedWords};

use super::binary::is_noise;
use super::locate::Locator;
use super::quick::Look;
use super::source::Source;

/// The kind of a word of mixed script.
pub(super) const MIXED_SCRIPT: &str = "mixed-script";

/// From this many ill-formed sequences on, and when they outnumber the characters beyond ASCII, a
/// text is hardly UTF-8: what looks like a word of mixed script is chance, and low. Fewer could be
/// strewn in by who wants a word to be low.
pub(super) const ILL_FORMED_MIN: u64 = 32;

/// One kind of finding in one file.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) kind: &'static str,
    pub(super) severity: Severity,
    pub(super) of: Of,
    pub(super) count: u64,
    /// The first ones, at most [`FINDING_SPANS_MAX`].
    pub(super) places: Vec<Place>,
    /// The likely encoding, for `encoding-suspected`.
    pub(super) encoding: Option<&'static str>,
}

/// What a finding is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// The text, as it is or decoded.
    Text,
    /// The bytes of a text that was decoded: lines and columns mean nothing there.
    Bytes,
    /// The name of a file or folder: the last component of its path. It has no places.
    Name,
}

impl Of {
    /// As the forms name it, if it is not the text.
    pub(super) const fn name(self) -> Option<&'static str> {
        match self {
            Self::Text => None,
            Self::Bytes => Some("bytes"),
            Self::Name => Some("name"),
        }
    }
}

/// Where one occurrence is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// Offset and length in bytes: of the file, or of its decoded text.
    pub(super) offset: u64,
    pub(super) length: u64,
    pub(super) line: u64,
    pub(super) column: u64,
    /// Where it ends; the column is the first one after it.
    pub(super) end_line: u64,
    pub(super) end_column: u64,
    /// SHA-256 of the line where it begins.
    pub(super) digest: [u8; 32],
}

impl Found {
    /// Occurrences beyond the places listed.
    pub(super) fn more(&self) -> u64 {
        self.count.saturating_sub(self.places.len() as u64)
    }
}

/// What a file turned out to be.
pub(super) enum Examined {
    Binary,
    Text(Vec<Found>),
}

/// What is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A file, which may be binary.
    File,
    /// A stream, which is text whatever it holds.
    Stream,
}

/// Looks at one file or stream.
pub(super) fn examine(source: &mut Source<'_>, what: What) -> io::Result<Examined> {
    let may_be_binary = what == What::File;
    let head = source.head()?;
    match head {
        // UTF-32, or a UTF-16 text that begins with NUL: nothing that decodes to text.
        [0xFF, 0xFE, 0, 0, ..] if may_be_binary => return Ok(Examined::Binary),
        [0xFF, 0xFE, ..] => source.decoded = Some("utf-16le"),
        [0xFE, 0xFF, ..] => source.decoded = Some("utf-16be"),
        head if may_be_binary && head.contains(&0) => return Ok(Examined::Binary),
        _ => {}
    }
    let Some(mut found) = look_and_find(source, may_be_binary)? else {
        return Ok(Examined::Binary);
    };
    locate(source, &mut found)?;
    if let Some(label) = source.decoded.take() {
        found.extend(undecoded(source)?);
        source.decoded = Some(label);
    }
    found.sort_by_key(|found| {
        let at = found.places.first().map(|place| place.offset);
        (found.of != Of::Text, at, std::cmp::Reverse(found.severity))
    });
    Ok(Examined::Text(found))
}

/// What is in a text, or `None` for noise where that may be.
fn look_and_find(source: &mut Source<'_>, may_be_noise: bool) -> io::Result<Option<Vec<Found>>> {
    let mut look = Look::default();
    source.chunks(&mut |chunk| {
        look.push(chunk);
        !look.boundary
    })?;
    look.finish();
    if may_be_noise && look.boundary && source.decoded.is_none() && is_noise(source.head()?) {
        return Ok(None);
    }
    Ok(Some(match look {
        Look { boundary: true, .. } => through_boundary(source)?,
        Look { words: true, .. } => words_alone(source)?,
        _ => Vec::new(),
    }))
}

/// Looks at the name of a file or folder. Nearly all are plain ASCII: nothing is there to find.
pub(super) fn examine_name(name: &[u8]) -> io::Result<Vec<Found>> {
    if name.iter().all(|byte| matches!(byte, b' '..=b'~')) {
        return Ok(Vec::new());
    }
    let mut found = look_and_find(&mut Source::whole(name), false)?.unwrap_or_default();
    for found in &mut found {
        (found.of, found.places) = (Of::Name, Vec::new());
    }
    Ok(found)
}

/// Words of one severity.
#[derive(Clone, Debug, Default)]
struct Words {
    count: u64,
    spans: Vec<(u64, u64)>,
}

/// Words of mixed script by severity, so that a grave one is listed whatever stands before it.
#[derive(Clone, Debug, Default)]
struct Mixed([Words; 4]);

const SEVERITIES: [Severity; 4] =
    [Severity::Info, Severity::Low, Severity::High, Severity::Critical];

impl Mixed {
    fn add(&mut self, word: MixedWord) {
        let place = SEVERITIES.iter().position(|&of| of.name() == word.severity.name());
        let words = &mut self.0[place.unwrap_or_default()];
        words.count += 1;
        if words.spans.len() < FINDING_SPANS_MAX {
            words.spans.push((word.start, word.end));
        }
    }

    /// None is graver than low.
    fn lower(&mut self) {
        let [_, low, graver @ ..] = &mut self.0;
        for words in graver {
            let words = std::mem::take(words);
            low.count += words.count;
            low.spans.extend(words.spans);
        }
        low.spans.sort_unstable();
        low.spans.truncate(FINDING_SPANS_MAX);
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|words| words.count == 0)
    }

    /// Every offset in it, ascending: of the start, and of the last byte.
    fn offsets(&self) -> Vec<u64> {
        let spans = self.0.iter().flat_map(|words| &words.spans);
        let mut offsets: Vec<_> = spans.flat_map(|&(start, end)| [start, end - 1]).collect();
        offsets.sort_unstable();
        offsets.dedup();
        offsets
    }

    fn found(self, raw: impl Fn(u64) -> u64) -> impl Iterator<Item = Found> {
        let words = self.0.into_iter().zip(SEVERITIES).filter(|(words, _)| words.count > 0);
        words.map(move |(words, severity)| {
            let spans = words.spans.iter().map(|&(start, end)| (raw(start), raw(end - 1) + 1));
            let places = spans.map(|(start, end)| place(start, end - start)).collect();
            let count = words.count;
            let (kind, of) = (MIXED_SCRIPT, Of::Text);
            Found { kind, severity, of, count, places, encoding: None }
        })
    }
}

fn place(offset: u64, length: u64) -> Place {
    Place { offset, length, ..Place::default() }
}

/// Text of which the boundary would report nothing: offsets of characters are those of bytes.
fn words_alone(source: &mut Source<'_>) -> io::Result<Vec<Found>> {
    let mut mixed = Mixed::default();
    let mut words = MixedWords::default();
    let mut text = Text::default();
    source.chunks(&mut |chunk| {
        text.push(chunk, &mut |at, text| {
            words.push_str(at, text, &mut |word| mixed.add(word));
        });
        true
    })?;
    words.finish(&mut |word| mixed.add(word));
    Ok(mixed.found(|at| at).collect())
}

/// Decodes chunks of UTF-8.
#[derive(Default)]
struct Text {
    offset: u64,
    cut: Vec<u8>,
}

impl Text {
    fn push(&mut self, chunk: &[u8], take: &mut impl FnMut(u64, &str)) {
        let mut chunk = chunk;
        while !self.cut.is_empty() && !chunk.is_empty() {
            self.cut.push(chunk[0]);
            chunk = &chunk[1..];
            if let Ok(text) = std::str::from_utf8(&self.cut) {
                take(self.offset, text);
                self.offset += self.cut.len() as u64;
                self.cut.clear();
            }
        }
        let text = match std::str::from_utf8(chunk) {
            Ok(text) => text,
            Err(error) => {
                let (valid, cut) = chunk.split_at(error.valid_up_to());
                // The quick look has found it well-formed.
                self.cut = cut.iter().take(4).copied().collect();
                std::str::from_utf8(valid).unwrap_or_default()
            }
        };
        take(self.offset, text);
        self.offset += text.len() as u64;
    }
}

/// Text through the boundary. Words are read from its view, as a reader would: what stands unseen
/// within a word does not part it.
fn through_boundary(source: &mut Source<'_>) -> io::Result<Vec<Found>> {
    let mut mixed = Mixed::default();
    let mut words = MixedWords::default();
    let mut view = String::new();
    let mut offset = 0;
    let mut beyond_ascii = 0;
    let mut read = |view: &mut String| {
        beyond_ascii += view.bytes().filter(|&byte| byte >= 0xC0).count() as u64;
        words.push_str(offset, view, &mut |word| mixed.add(word));
        offset += view.len() as u64;
        view.clear();
    };
    let mut boundary = boundary()?;
    source.chunks(&mut |chunk| {
        boundary.push(chunk, &mut view);
        read(&mut view);
        true
    })?;
    let mut report = boundary.finish(&mut view);
    read(&mut view);
    words.finish(&mut |word| mixed.add(word));
    // Each ill-formed sequence is a U+FFFD in the view.
    let well_formed = beyond_ascii.saturating_sub(report.ill_formed);
    if report.ill_formed >= ILL_FORMED_MIN && report.ill_formed > well_formed {
        mixed.lower();
    }
    suspect(source, &mut report)?;
    let mut found: Vec<_> = report.findings.into_iter().map(of_report).collect();
    if !mixed.is_empty() {
        let raw = raw_offsets(source, mixed.offsets())?;
        found.extend(mixed.found(|at| raw.of(at)));
    }
    Ok(found)
}

fn boundary() -> io::Result<Boundary> {
    // The profile is one that ships; its settings go together.
    Boundary::new(&Profile::AGENT).map_err(io::Error::other)
}

fn of_report(finding: noesc::Finding) -> Found {
    let places = finding.spans.iter().map(|&(offset, length)| place(offset, length)).collect();
    Found {
        kind: finding.kind,
        severity: finding.severity,
        of: Of::Text,
        count: finding.count,
        places,
        encoding: finding.encoding,
    }
}

/// Names the encoding that ill-formed text is likely to be in.
fn suspect(source: &mut Source<'_>, report: &mut Report) -> io::Result<()> {
    let is_wide = report.findings.iter().any(|finding| finding.kind == "utf-16-suspected");
    if report.ill_formed > 0 && !is_wide && source.decoded.is_none() {
        let mut suspicion = Suspicion::default();
        source.chunks(&mut |chunk| {
            suspicion.push(chunk);
            true
        })?;
        report.suspect_encoding(suspicion.likely());
    }
    Ok(())
}

/// What a terminal that decodes nothing would obey in a text of UTF-16, and that it is one.
///
/// Characters make introducers by chance: U+5D1B is `ESC ]` in UTF-16LE. So only what is complete
/// and high by its kind counts, and no escape that is hardly longer than one character.
fn undecoded(source: &mut Source<'_>) -> io::Result<Vec<Found>> {
    let of = Of::Bytes;
    let bom = vec![place(0, 2)];
    let (kind, severity) = ("utf-16-suspected", Severity::Low);
    let mut found = vec![Found { kind, severity, of, count: 1, places: bom, encoding: None }];
    let mut parser = Parser::default();
    let mut take = |_: u64, event: Event<'_>| {
        let Event::End(sequence) = event else { return };
        let Some(severity) = sequence.severity.filter(|of| *of >= Severity::High) else { return };
        if sequence.ending != Ending::Complete || sequence.class == Class::Escape {
            return;
        }
        let kind = sequence.kind.name();
        let at = found.iter().position(|found| found.kind == kind).unwrap_or_else(|| {
            found.push(Found { kind, severity, of, count: 0, places: Vec::new(), encoding: None });
            found.len() - 1
        });
        let found = &mut found[at];
        found.severity = found.severity.max(severity);
        found.count += 1;
        if found.places.len() < FINDING_SPANS_MAX {
            found.places.push(place(sequence.start, sequence.end - sequence.start));
        }
    };
    source.chunks(&mut |chunk| {
        parser.push(chunk, &mut take);
        true
    })?;
    parser.finish(&mut take);
    locate(source, &mut found)?;
    Ok(found)
}

/// Maps some offsets of a view to raw ones.
struct RawOffsets {
    view: Vec<u64>,
    raw: Vec<u64>,
}

impl RawOffsets {
    fn of(&self, view: u64) -> u64 {
        let place = self.view.binary_search(&view).ok();
        place.and_then(|place| self.raw.get(place)).copied().unwrap_or_default()
    }
}

impl SpanReceiver for RawOffsets {
    fn run(&mut self, run: Run) {
        while let Some(&view) = self.view.get(self.raw.len())
            && view < run.view + run.view_len
        {
            // What is replaced has no offset within.
            let into = (view - run.view).min(run.raw_len.saturating_sub(1));
            self.raw.push(run.raw + into);
        }
    }
}

fn raw_offsets(source: &mut Source<'_>, view: Vec<u64>) -> io::Result<RawOffsets> {
    let mut offsets = RawOffsets { raw: Vec::with_capacity(view.len()), view };
    let mut boundary = boundary()?;
    let mut unread = String::new();
    source.chunks(&mut |chunk| {
        boundary.push_with_spans(chunk, &mut unread, &mut offsets);
        unread.clear();
        offsets.raw.len() < offsets.view.len()
    })?;
    boundary.finish_with_spans(&mut unread, &mut offsets);
    Ok(offsets)
}

/// Gives every place its line and column.
fn locate(source: &mut Source<'_>, found: &mut [Found]) -> io::Result<()> {
    let places = found.iter().flat_map(|found| &found.places);
    let mut offsets: Vec<_> =
        places.flat_map(|place| [place.offset, place.offset + place.length]).collect();
    offsets.sort_unstable();
    offsets.dedup();
    let mut locator = Locator::new(offsets.clone());
    source.chunks(&mut |chunk| locator.push(chunk))?;
    let points = locator.finish();
    let point = |offset| {
        let place = offsets.binary_search(&offset).ok();
        place.and_then(|place| points.get(place)).copied().unwrap_or_default()
    };
    for place in found.iter_mut().flat_map(|found| &mut found.places) {
        let (start, end) = (point(place.offset), point(place.offset + place.length));
        (place.line, place.column, place.digest) = (start.line, start.column, start.digest);
        (place.end_line, place.end_column) = (end.line, end.column);
    }
    Ok(())
}
