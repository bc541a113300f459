//! The ways the engine can scan, of which one can be forced to be measured.
//!
//! There is one as yet. Where the engine has several, they take the place of these three, and
//! nothing else here changes.

/// A way of scanning. All give the same view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Path {
    /// The rows of the grammar, byte for byte, with what they skip.
    Rows,
}

impl Path {
    /// One word.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Rows => "rows",
        }
    }
}

/// Those that this processor can take; the one that is taken unless another is forced, first.
pub(crate) fn available() -> Vec<Path> {
    vec![Path::Rows]
}

/// Takes this one from now on, for the whole process; with `None`, the one that suits best.
pub(crate) fn force(_: Option<Path>) {}
