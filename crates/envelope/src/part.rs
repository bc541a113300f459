//! Excerpts of a stored view: which parts of it a record gives, and what was searched for.

use std::num::NonZeroU64;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ident::Escaped;
use crate::record::{Text, View, at_most};

/// Parts of a view that an excerpt gives. What lies at more places is no narrow question.
pub const PARTS_MAX: usize = 256;

/// Lines that a search names by number. All are counted.
pub const FOUND_LISTED_MAX: usize = 1024;

/// A part of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ViewPart {
    /// The number of the line in which it begins, from 1.
    pub line: NonZeroU64,
    /// Offset and length in bytes of the view.
    pub view: (u64, u64),
}

/// What was searched for in the views of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Search {
    /// The pattern.
    pub pattern: Escaped,
    /// Whether it is a text, and no regular expression.
    pub fixed: bool,
    /// Whether upper and lower case are alike.
    pub ignore_case: bool,
    /// Lines that are given before and behind each that was found.
    pub context: u64,
}

/// What a search found in a view.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Found {
    /// How many lines.
    pub lines: u64,
    /// The numbers of those that are given, from 1: at most 1,024.
    #[serde(deserialize_with = "at_most::<FOUND_LISTED_MAX, _, _>")]
    #[schemars(length(max = FOUND_LISTED_MAX))]
    pub listed: Vec<u64>,
    /// Whether the search went on to the end of what is stored.
    pub complete: bool,
}

/// The parts of a view with their texts. `None` where the text is not made of them: there is a
/// tail, or a length is not that of a piece of it. A view without parts has one: its head.
pub(crate) fn pieces<'t>(view: &View, text: &'t Text) -> Option<Vec<(ViewPart, &'t str)>> {
    let Some(parts) = &view.parts else { return Some(Vec::new()) };
    let mut rest = text.head.as_str();
    let mut pieces = Vec::with_capacity(parts.len());
    for part in parts {
        let (piece, after) = rest.split_at_checked(usize::try_from(part.view.1).ok()?)?;
        pieces.push((*part, piece));
        rest = after;
    }
    (rest.is_empty() && text.tail.is_empty()).then_some(pieces)
}
