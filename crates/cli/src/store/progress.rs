//! How far a long work is, on a terminal alone; drawn on stderr.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// How often it is drawn.
const TICK: Duration = Duration::from_millis(100);

/// So many steps, each of which is `what`.
pub(super) fn progress(steps: usize, what: &'static str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let progress = ProgressBar::new(steps as u64).with_message(what);
    let style =
        ProgressStyle::with_template("{spinner} {human_pos} of {human_len} {msg}, {elapsed}");
    progress.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    progress.enable_steady_tick(TICK);
    progress
}
