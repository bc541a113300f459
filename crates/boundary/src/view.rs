//! Views of bytes that are all there.

use std::borrow::Cow;

use crate::boundary::Boundary;
use crate::profile::{Profile, ProfileError, Removed};
use crate::report::Report;
use crate::span::Run;

/// A view with its report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct View {
    /// The text that a reader is given.
    pub text: String,
    /// What was removed, and what a reader should know.
    pub report: Report,
}

/// The clean view of bytes, under [`Profile::AGENT`]. Borrows when nothing changes.
///
/// ```
/// use std::borrow::Cow;
///
/// assert!(matches!(noesc::clean("naïve".as_bytes()), Cow::Borrowed("naïve")));
/// assert_eq!(noesc::clean(b"\x1b[1mbold\x1b[0m"), "bold");
/// ```
#[must_use]
pub fn clean(bytes: &[u8]) -> Cow<'_, str> {
    view_or_borrow(bytes, &Profile::AGENT)
}

/// The marked view of bytes: the clean one, with `␛` where a sequence or control was removed.
/// Borrows when nothing changes.
///
/// ```
/// assert_eq!(noesc::marked(b"\x1b[1mbold\x1b[0m"), "␛bold␛");
/// ```
#[must_use]
pub fn marked(bytes: &[u8]) -> Cow<'_, str> {
    view_or_borrow(bytes, &Profile { removed: Removed::Mark, ..Profile::AGENT })
}

fn view_or_borrow<'a>(bytes: &'a [u8], profile: &Profile) -> Cow<'a, str> {
    if let Some(same) = noesc_scan::as_text(bytes) {
        return Cow::Borrowed(same);
    }
    let text = match view(bytes, profile) {
        Ok(view) => view.text,
        Err(_) => String::new(), // not for a shipped profile
    };
    match std::str::from_utf8(bytes) {
        Ok(same) if same == text => Cow::Borrowed(same),
        _ => Cow::Owned(text),
    }
}

/// The view of bytes under a profile, with its report.
///
/// # Errors
/// When the settings do not go together: see [`Profile::check`].
pub fn view(bytes: &[u8], profile: &Profile) -> Result<View, ProfileError> {
    let mut boundary = Boundary::new(profile)?;
    let mut text = String::with_capacity(bytes.len() + noesc_scan::SLACK);
    boundary.push(bytes, &mut text);
    let report = boundary.finish(&mut text);
    Ok(View { text, report })
}

/// The same, with the runs that map the view to the bytes.
///
/// # Errors
/// When the settings do not go together: see [`Profile::check`].
///
/// ```
/// use noesc::{Fate, Profile};
///
/// let (view, runs) = noesc::view_with_spans(b"a\x1b[mb", &Profile::AGENT)?;
/// assert_eq!(view.text, "ab");
/// let removed = runs.iter().find(|run| run.fate == Fate::Removed).unwrap();
/// assert_eq!((removed.view, removed.raw, removed.raw_len), (1, 1, 3));
/// # Ok::<(), noesc::ProfileError>(())
/// ```
pub fn view_with_spans(bytes: &[u8], profile: &Profile) -> Result<(View, Vec<Run>), ProfileError> {
    let mut boundary = Boundary::new(profile)?;
    let mut text = String::with_capacity(bytes.len() + noesc_scan::SLACK);
    let mut runs = Vec::new();
    boundary.push_with_spans(bytes, &mut text, &mut runs);
    let report = boundary.finish_with_spans(&mut text, &mut runs);
    Ok((View { text, report }, runs))
}
