//! Each kind of finding in words.

use noesc::Severity;

use super::examine::{Found, MIXED_SCRIPT, Of};

/// A kind of finding.
pub(super) struct Rule {
    pub(super) kind: &'static str,
    /// What it is, in a few words.
    pub(super) words: &'static str,
    /// The gravest that it gets by itself.
    pub(super) severity: Severity,
}

/// The words of a kind.
pub(super) fn words(kind: &str) -> &'static str {
    RULES.iter().find(|rule| rule.kind == kind).map_or("something that noesc reports", |r| r.words)
}

const fn rule(kind: &'static str, severity: Severity, words: &'static str) -> Rule {
    Rule { kind, words, severity }
}

const CRITICAL: Severity = Severity::Critical;
const HIGH: Severity = Severity::High;
const LOW: Severity = Severity::Low;
const INFO: Severity = Severity::Info;

/// Every kind that a scan can find, as `spec/grammar.md` and `spec/views.md` name them.
#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    // Sequences.
    rule("style", LOW, "a sequence sets colours or attributes"),
    rule("conceal", HIGH, "a sequence hides the text that follows"),
    rule("cursor", LOW, "a sequence moves the cursor"),
    rule("erase", LOW, "a sequence erases text"),
    rule("scroll", LOW, "a sequence scrolls, or inserts or deletes lines"),
    rule("repeat", HIGH, "a sequence repeats a character"),
    rule("rectangle", HIGH, "a sequence copies or fills an area of the screen"),
    rule("alternate-screen", HIGH, "a sequence switches to the other screen"),
    rule("mode", HIGH, "a sequence sets a mode of the terminal"),
    rule("keyboard-protocol", HIGH, "a sequence changes how keys are sent"),
    rule("mouse", HIGH, "a sequence makes the terminal send mouse events"),
    rule("report-query", HIGH, "a sequence makes the terminal type an answer"),
    rule("window-title", LOW, "a sequence sets the window title"),
    rule("window-op", LOW, "a sequence moves or resizes the window"),
    rule("clipboard-write", HIGH, "a sequence writes the clipboard"),
    rule("clipboard-read", HIGH, "a sequence reads the clipboard"),
    rule("hyperlink", LOW, "a sequence puts a link behind text"),
    rule("notification", HIGH, "a sequence shows a notification"),
    rule("palette", LOW, "a sequence changes the colours of the terminal"),
    rule("font", HIGH, "a sequence changes the font"),
    rule("image", LOW, "a sequence draws an image"),
    rule("shell-integration", HIGH, "a sequence poses as the shell's marks"),
    rule("cwd", LOW, "a sequence tells the terminal a working folder"),
    rule("media-copy", HIGH, "a sequence prints"),
    rule("passthrough", HIGH, "a sequence reaches through a multiplexer"),
    rule("device", HIGH, "a sequence programs keys or glyphs"),
    rule("charset-shift", HIGH, "a sequence or control changes the character set"),
    rule("reset", LOW, "a sequence resets the terminal"),
    rule("other", LOW, "a sequence that has no other name"),
    // Characters.
    rule("invisible-bidi-control", HIGH, "a bidi control reorders the text around it"),
    rule("invisible-bidi-mark", LOW, "an invisible bidi mark"),
    rule("invisible-tag", CRITICAL, "invisible tag characters, which can spell a hidden message"),
    rule("invisible-variation-selector", CRITICAL,
        "variation selectors out of place, which can carry hidden bytes"),
    rule("invisible-joiner", LOW, "a joiner or non-joiner out of place"),
    rule("invisible-zero-width", HIGH, "a zero-width character or soft hyphen"),
    rule("invisible-ignorable", HIGH, "a format character that shows nothing"),
    rule("invisible-annotation", LOW, "an interlinear annotation character"),
    rule("invisible-filler", LOW, "a filler that looks like a space or like nothing"),
    rule("invisible-mongolian-selector", LOW, "a Mongolian selector out of place"),
    rule("invisible-combining-mark", LOW, "more than eight marks on one character"),
    rule("invisible-noncharacter", LOW, "a noncharacter"),
    rule("private-use", INFO, "a private-use character, which no standard gives a meaning"),
    rule("line-separator", INFO, "a line separator that is no line end to most programs"),
    rule(MIXED_SCRIPT, HIGH, "a word mixes Latin with letters of another script"),
    // Notices.
    rule("held-back-lines", CRITICAL, "a control string swallows lines"),
    rule("unterminated-string", HIGH, "a control string never ends"),
    rule("split-introducer", HIGH, "a sequence is cut by a line end, its introducer follows"),
    rule("hidden-text", HIGH, "text is hidden by its colour or by conceal"),
    rule("utf-16-suspected", LOW, "the text looks like UTF-16"),
    rule("encoding-suspected", LOW, "ill-formed UTF-8, perhaps another encoding"),
    rule("mode-left-on", HIGH, "a mode of the terminal is still on at the end"),
];

/// What a finding is, in words: those of its kind, and what is known beyond it.
pub(super) fn message(found: &Found) -> String {
    let words = match (found.encoding, found.kind, found.severity) {
        (Some(encoding), ..) => format!("ill-formed UTF-8, perhaps {encoding}"),
        (None, MIXED_SCRIPT, Severity::High) => {
            "a word passes for Latin, with letters of another script in it".into()
        }
        _ => words(found.kind).into(),
    };
    match found.of {
        Of::Text => words,
        Of::Name => words + ", in its name",
        Of::Bytes => words + ", in the bytes as they are",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_one_row() {
        let mut kinds: Vec<_> = RULES.iter().map(|rule| rule.kind).collect();
        kinds.sort_unstable();
        assert!(kinds.is_sorted_by(|a, b| a < b), "{kinds:?}");
    }

    /// Whatever the boundary finds in the corpus has words of its own.
    #[test]
    fn every_finding_of_the_corpus_has_words() {
        let mut seen = 0;
        for case in noesc_testkit::corpus::load(&noesc_testkit::corpus::root()).unwrap() {
            let bytes = case.input();
            let report = noesc::view(&bytes, &noesc::Profile::AGENT).unwrap().report;
            for finding in report.findings {
                let rule = RULES.iter().find(|rule| rule.kind == finding.kind);
                let rule = rule.unwrap_or_else(|| panic!("{} in {}", finding.kind, case.name));
                assert!(finding.severity <= rule.severity, "{} in {}", rule.kind, case.name);
                seen += 1;
            }
        }
        assert!(seen > 100, "{seen}");
    }
}
