#![forbid(unsafe_code)]
//! Material for the tests of every other crate: the reader of the corpus, splitters, generators
//! of dangerous bytes, and a slow second parser to compare the fast one with.
//!
//! Nothing here depends on the crates under test.

pub mod corpus;
pub mod dangerous;
pub mod sequences;
pub mod share;
pub mod split;
pub mod twin;
pub mod units;
