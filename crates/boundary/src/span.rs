//! How a view maps back to the bytes it was made from.

/// What became of a run of raw bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// The view holds these very bytes.
    Kept,
    /// The view holds something else in their place.
    Replaced,
    /// The view holds something that no byte stands for: a mark, a closing reset, the line end of
    /// a bare CR. Its raw length is 0.
    Inserted,
    /// The view holds nothing. Its view length is 0.
    Removed,
}

impl Fate {
    /// The word of the spans file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Replaced => "replaced",
            Self::Inserted => "inserted",
            Self::Removed => "removed",
        }
    }
}

/// A run of bytes with one fate. Offsets and lengths are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Run {
    /// Offset in the view.
    pub view: u64,
    /// Length in the view.
    pub view_len: u64,
    /// Offset in the raw stream.
    pub raw: u64,
    /// Length in the raw stream.
    pub raw_len: u64,
    /// What became of it.
    pub fate: Fate,
}

impl Run {
    /// Adds a run that follows directly and shares the fate. Replaced runs are never joined: each
    /// is one replacement.
    pub(crate) fn join(&mut self, next: &Self) -> bool {
        let joins = self.fate == next.fate
            && self.fate != Fate::Replaced
            && self.view + self.view_len == next.view
            && self.raw + self.raw_len == next.raw;
        if joins {
            self.view_len += next.view_len;
            self.raw_len += next.raw_len;
        }
        joins
    }
}

/// Takes the runs of a view as they are decided.
///
/// Kept, replaced and removed runs tile the raw bytes exactly once. They come in raw order, but
/// for the lines that [`Cr::Overwrite`](crate::Cr::Overwrite) edits. `Vec<Run>` collects them;
/// `()` wants none, and then nothing is spent on them.
pub trait SpanReceiver {
    /// Whether runs are wanted at all.
    const WANTED: bool = true;

    /// One run, as long as it could be: neighbours of one fate are joined, whatever the chunks.
    fn run(&mut self, run: Run);
}

impl SpanReceiver for () {
    const WANTED: bool = false;

    fn run(&mut self, _: Run) {}
}

impl SpanReceiver for Vec<Run> {
    fn run(&mut self, run: Run) {
        self.push(run);
    }
}

/// The run that may still grow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Joiner {
    last: Option<Run>,
}

impl Joiner {
    pub(crate) fn add(&mut self, run: Run, to: &mut impl SpanReceiver) {
        let joined = self.last.as_mut().is_some_and(|last| last.join(&run));
        if !joined && let Some(done) = self.last.replace(run) {
            to.run(done);
        }
    }

    pub(crate) fn finish(&mut self, to: &mut impl SpanReceiver) {
        if let Some(done) = self.last.take() {
            to.run(done);
        }
    }
}
