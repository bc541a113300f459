//! The text cases of the corpus, through the context rules alone.

mod common;

use common::{Column, Step, view};
use noesc_testkit::corpus;

/// Decodes as the grammar does and takes out what these cases hold besides text: `ESC [ … m`,
/// single controls, and the controls that the agent profile writes as line ends.
fn decode(input: &[u8]) -> Vec<Step> {
    let text = String::from_utf8_lossy(input);
    let mut steps = Vec::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        steps.push(match c {
            '\x1b' => {
                let sequence: Vec<char> = chars.by_ref().take_while(|&c| c != 'm').collect();
                assert!(sequence.first() == Some(&'['), "only SGR is known here");
                Step::Interrupt
            }
            '\n' | '\x0b' | '\x0c' | '\u{85}' => Step::LineEnd,
            '\t' => Step::Char(c),
            c if c.is_control() => Step::Interrupt,
            c => Step::Char(c),
        });
    }
    steps
}

#[test]
fn every_text_case_reads_as_the_corpus_says() {
    let cases = corpus::load(&corpus::root().join("text")).unwrap_or_else(|e| panic!("{e}"));
    let mut wrong = Vec::new();
    for case in &cases {
        let expected = case.agent.as_ref().expect(&case.name);
        let found = view(&decode(&case.input()), Column::Agent);
        if found != *expected {
            wrong.push(format!(
                "{}: expected {}, found {}",
                case.name,
                expected.escape_unicode(),
                found.escape_unicode()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
