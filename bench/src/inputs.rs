//! What is measured: sets of bytes that are the same at every start.
//!
//! One of them, `build`, is what tools of this machine print, and is the same as long as it is
//! kept in the target folder.

mod finds;
mod hostile;
mod imitated;
mod language;
mod lines;
mod tools;

use std::ops::Range;

use crate::random::Random;

pub(crate) use finds::{escape, finds};
pub(crate) use hostile::FRAGMENTS;

/// Bytes of a set.
pub(crate) const SET_BYTES: usize = 1 << 20;

/// Bytes of a set whose instructions are counted, which takes a hundred times as long.
pub(crate) const COUNTED_BYTES: usize = 128 << 10;

/// Bytes that are pushed at once.
pub(crate) const CHUNK_BYTES: usize = 64 << 10;

/// Bytes of a set that is pushed as one chunk, to see what a call costs.
pub(crate) const CALL_BYTES: usize = 4 << 10;

/// A set of bytes, and how it is pushed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Input {
    pub(crate) name: String,
    /// A string where it is well-formed UTF-8.
    held: Result<String, Vec<u8>>,
    /// Where each chunk ends.
    ends: Vec<usize>,
}

impl Input {
    /// Cut into chunks of `CHUNK_BYTES`; of UTF-8, up to three bytes less, where a character would
    /// be cut, so that all peers can take the same chunks.
    pub(crate) fn new(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        let held = String::from_utf8(bytes).map_err(std::string::FromUtf8Error::into_bytes);
        let mut input = Self { name: name.into(), held, ends: Vec::new() };
        let (mut at, len) = (0, input.bytes().len());
        while at < len {
            let end = (at + CHUNK_BYTES).min(len);
            at = input.text().map_or(end, |text| text.floor_char_boundary(end));
            input.ends.push(at);
        }
        input
    }

    /// The whole set.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.held.as_ref().map_or_else(Vec::as_slice, String::as_bytes)
    }

    /// The whole set, where it is well-formed UTF-8.
    pub(crate) fn text(&self) -> Option<&str> {
        self.held.as_deref().ok()
    }

    /// Where each chunk begins and ends, in order.
    fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| start..end)
    }

    /// The chunks, in order.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        let bytes = self.bytes();
        self.ranges().filter_map(|range| bytes.get(range))
    }

    /// The chunks as text; none where the set is not UTF-8.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let text = self.text().unwrap_or_default();
        self.ranges().filter_map(|range| text.get(range))
    }
}

/// How a set is made.
#[derive(Clone, Copy)]
struct Recipe {
    name: &'static str,
    /// Makes one part; parts are joined until there is enough.
    part: fn(&mut Random, &mut Vec<u8>),
    /// What comes before the first part.
    head: &'static [u8],
}

/// A recipe whose set has nothing in front of its parts.
const fn of(name: &'static str, part: fn(&mut Random, &mut Vec<u8>)) -> Recipe {
    Recipe { name, part, head: b"" }
}

const RECIPES: [Recipe; 20] = [
    of("log", lines::log),
    of("build", |_, out| out.extend(tools::output())),
    of("style-8", lines::style),
    of("cjk-emoji", |random, out| language::text("cjk", Some(4), random, out)),
    of("cjk", |random, out| language::text("cjk", None, random, out)),
    of("cyrillic", |random, out| language::text("cyrillic", None, random, out)),
    of("french", |random, out| language::text("french", None, random, out)),
    of("arabic", |random, out| language::text("arabic", None, random, out)),
    of("hindi", |random, out| language::text("hindi", None, random, out)),
    of("thai", |random, out| language::text("thai", None, random, out)),
    of("colour-cjk", language::coloured),
    of("progress", |random, out| lines::progress(b"\r", random, out)),
    of("progress-erase", |random, out| lines::progress(b"\r\x1b[K", random, out)),
    of("random", |random, out| out.extend(random.bits().to_le_bytes())),
    of("hostile", hostile::mix),
    Recipe { name: "open-osc", part: lines::words, head: b"\x1b]52;c;" },
    Recipe { name: "endless-csi", part: hostile::digits, head: b"\x1b[" },
    of("esc-flood", |_, out| out.push(0x1B)),
    of("nested-csi", |_, out| out.extend(b"\x1b[")),
    of("c1-flood", |_, out| out.extend(b"\xc2\x9b")),
];

/// Stands for `build` where a set must be the same on every machine.
const IMITATED: Recipe =
    of("build-imitated", |_, out| out.extend(imitated::all(COUNTED_BYTES / imitated::TOOLS.len())));

/// All sets in the order of the table: those of the recipes, those of the finds, and those of one
/// call.
pub(crate) fn all() -> Result<Vec<Input>, String> {
    sets(&RECIPES, SET_BYTES)
}

/// The same, smaller, and the same on every machine.
pub(crate) fn counted() -> Result<Vec<Input>, String> {
    let stand_in = |recipe: Recipe| if recipe.name == "build" { IMITATED } else { recipe };
    sets(&RECIPES.map(stand_in), COUNTED_BYTES)
}

/// The sets of these recipes and of the finds, each of so many bytes, and those of one call.
fn sets(recipes: &[Recipe], bytes: usize) -> Result<Vec<Input>, String> {
    let mut inputs: Vec<Input> = recipes.iter().map(|recipe| made(recipe, bytes)).collect();
    for (index, find) in finds()?.into_iter().enumerate() {
        let bytes = fill(bytes, b"", |out| out.extend(&find.unit));
        inputs.push(Input::new(format!("find-{}", index + 1), bytes));
    }
    for name in ["log", "build", IMITATED.name] {
        let call = inputs.iter().find(|input| input.name == name).map(|input| {
            let bytes = input.bytes().iter().copied().take(CALL_BYTES).collect();
            Input::new(format!("{name}-4k"), whole_characters(bytes, CALL_BYTES))
        });
        inputs.extend(call);
    }
    Ok(inputs)
}

fn made(recipe: &Recipe, bytes: usize) -> Input {
    let mut random = Random::new(recipe.name);
    let bytes = fill(bytes, recipe.head, |out| (recipe.part)(&mut random, out));
    Input::new(recipe.name, bytes)
}

/// `bytes_max` bytes: the head, and parts until it is full.
fn fill(bytes_max: usize, head: &[u8], mut part: impl FnMut(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes_max + CHUNK_BYTES);
    out.extend(head);
    while out.len() < bytes_max {
        let before = out.len();
        part(&mut out);
        if out.len() == before {
            out.push(b'\n');
        }
    }
    whole_characters(out, bytes_max)
}

/// Exactly `bytes_max` of these bytes. Where that would cut the last character of well-formed
/// UTF-8, line ends stand in its place.
fn whole_characters(mut bytes: Vec<u8>, bytes_max: usize) -> Vec<u8> {
    bytes.truncate(bytes_max);
    let cut_at = match std::str::from_utf8(&bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    };
    bytes.truncate(cut_at);
    bytes.resize(bytes_max, b'\n');
    bytes
}

#[cfg(test)]
mod tests;
