//! Every case of the corpus through the built command: as the output of a process, on both of its
//! streams, and with the flags that the case names.

// Functions that tests share count as code outside of tests.
#![allow(clippy::panic)]

mod common;

use common::{Folder, escaped, filtered, noesc, ran};
use noesc_testkit::corpus::{Case, load, root};

fn cases() -> Vec<Case> {
    let cases = load(&root()).unwrap_or_else(|error| panic!("{error}"));
    assert!(cases.len() >= 363, "{}", cases.len());
    cases
}

/// A child's line that begins as ours do is marked, on stderr alone.
fn on_stderr(view: &str) -> String {
    let line = |line: &str| match line.starts_with("noesc:") {
        true => format!("child: {line}"),
        false => line.to_owned(),
    };
    view.split_inclusive('\n').map(line).collect()
}

/// Both streams in one run, the bytes in one piece: how chunks fall is the boundary's to test.
fn through_run(folder: &Folder, case: &Case, flags: &[&str], view: &str) -> Option<String> {
    let file = folder.write("case", case.input());
    let script = r#"cat "$0"; exec cat "$0" >&2"#;
    let arguments = [&["run", "-q"], flags, &["--", "sh", "-c", script, &file]].concat();
    let ended = ran(noesc(arguments));
    let is_right = ended.stdout == view.as_bytes()
        && ended.stderr == on_stderr(view).as_bytes()
        && ended.status.code() == Some(0);
    (!is_right).then(|| {
        format!(
            "{} {flags:?}\n  wanted {}\n  stdout {}\n  stderr {}",
            case.path.display(),
            escaped(view.as_bytes()),
            escaped(&ended.stdout),
            escaped(&ended.stderr)
        )
    })
}

#[test]
fn the_output_of_a_process_becomes_the_view() {
    let folder = Folder::new("corpus");
    let mut wrong = Vec::new();
    for case in cases() {
        if let Some(view) = &case.agent {
            wrong.extend(through_run(&folder, &case, &[], view));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_output_of_a_process_becomes_the_marked_view() {
    let folder = Folder::new("marked");
    let mut wrong = Vec::new();
    for case in cases() {
        if let Some(view) = &case.marked {
            wrong.extend(through_run(&folder, &case, &["--mark"], view));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_flags_of_a_case_are_flags_of_the_command() {
    let folder = Folder::new("flags");
    let mut wrong = Vec::new();
    let cases: Vec<_> = cases().into_iter().filter(|case| !case.flags.is_empty()).collect();
    for case in &cases {
        let Some(view) = &case.view else { continue };
        let flags: Vec<_> = case.flags.iter().map(String::as_str).collect();
        wrong.extend(through_run(&folder, case, &flags, view));
        let ended = filtered(&[&["-q"], flags.as_slice()].concat(), case.input());
        if ended.stdout != view.as_bytes() {
            wrong.push(format!("{} {flags:?}: {}", case.path.display(), escaped(&ended.stdout)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
