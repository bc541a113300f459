//! Whatever path the scan goes, a boundary gives what the rows give.

#![allow(clippy::unwrap_used, clippy::panic, reason = "shared by tests")]

use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};

use noesc::{Boundary, Profile, Removed, Report};
use noesc_scan::{Path, available, force};

use crate::common::{Whole, feed};

/// A path is chosen for the whole process.
static CHOOSING: Mutex<()> = Mutex::new(());

/// View, report, and whether a style is open at the end, for who wants no spans.
fn without_spans(chunks: &[&[u8]], profile: &Profile) -> (String, Report, bool) {
    let mut boundary = Boundary::new(profile).unwrap();
    let mut view = String::new();
    chunks.iter().for_each(|chunk| boundary.push(chunk, &mut view));
    let (report, is_open) = boundary.finish_open(&mut view);
    (view, report, is_open)
}

fn with_spans(chunks: &[&[u8]], profile: &Profile) -> Whole {
    feed(chunks.iter().copied(), profile)
}

/// Fails where a path gives something else for these chunks, or for all in one, than the rows.
#[track_caller]
pub(crate) fn agree(input: &[u8], chunks: &[&[u8]], profile: &Profile) {
    let one: &[&[u8]] = &[input];
    let _alone = CHOOSING.lock().unwrap_or_else(PoisonError::into_inner);
    force(Some(Path::Rows));
    let (spanned, plain) = (with_spans(one, profile), without_spans(one, profile));
    for path in available() {
        force(Some(path));
        let whole = (path != Path::Rows && chunks.len() > 1).then_some(one);
        for chunks in [chunks].into_iter().chain(whole) {
            let lens: Vec<usize> = chunks.iter().map(|chunk| chunk.len()).collect();
            let fail = |got: &dyn Debug, want: &dyn Debug| {
                panic!(
                    "{}, {lens:?}:\ngot {:.1500}\nwant {:.1500}\n{profile:?}\nb\"{:.3000}\"",
                    path.name(),
                    format!("{got:?}"),
                    format!("{want:?}"),
                    input.escape_ascii()
                );
            };
            let got = with_spans(chunks, profile);
            if got != spanned {
                fail(&got, &spanned);
            }
            let got = without_spans(chunks, profile);
            if got != plain {
                fail(&got, &plain);
            }
        }
    }
    force(None);
}

/// Fails where `clean` or `marked` give something else on a path than the view under the rows.
#[track_caller]
pub(crate) fn cleans(input: &[u8]) {
    let marks = Profile { removed: Removed::Mark, ..Profile::AGENT };
    let _alone = CHOOSING.lock().unwrap_or_else(PoisonError::into_inner);
    force(Some(Path::Rows));
    let want = [Profile::AGENT, marks].map(|profile| noesc::view(input, &profile).unwrap().text);
    for path in available() {
        force(Some(path));
        let got = [noesc::clean(input), noesc::marked(input)];
        assert_eq!(got, want, "{}: b\"{:.3000}\"", path.name(), input.escape_ascii());
    }
    force(None);
}
