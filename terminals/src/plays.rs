//! The bytes of each play: what the example writes for a case.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use noesc::ContentClass;
use noesc_testkit::corpus;

/// What one case is played as.
pub(crate) struct Case {
    /// `csi/erase-display`, for a message.
    pub(crate) name: String,
    /// The content of each class through its writer, in the order of `ContentClass::ALL`.
    pub(crate) views: Vec<Vec<u8>>,
    /// The same without any style.
    pub(crate) style_free: Vec<Vec<u8>>,
    /// Known-bad: the bytes as they are.
    pub(crate) raw: Vec<u8>,
    /// Known-bad: the bytes less what [`without_colour`] finds.
    pub(crate) regex: Vec<u8>,
}

/// All that is played.
pub(crate) struct Plays {
    /// Empty content of each class: the terminal before the content.
    pub(crate) blank: Vec<Vec<u8>>,
    pub(crate) cases: Vec<Case>,
}

/// How the example is called.
#[derive(Clone, Copy)]
enum Call {
    View,
    StyleFree,
    Off,
}

/// Plays the corpus through the example at `chat`.
pub(crate) fn make(chat: &Path, part: Option<&str>) -> Result<Plays, String> {
    let cases = corpus::load(&corpus::root()).map_err(|error| error.to_string())?;
    let each = |input: &[u8], call: Call| -> Result<Vec<Vec<u8>>, String> {
        ContentClass::ALL.iter().map(|&class| written(chat, class, call, input)).collect()
    };
    let one = |input: &[u8]| written(chat, ContentClass::ToolOutput, Call::Off, input);
    let mut plays = Plays { blank: each(b"", Call::View)?, cases: Vec::new() };
    for case in cases {
        let folder = case.class.split('/').next().unwrap_or_default();
        let name = format!("{folder}/{}", case.name);
        if part.is_some_and(|part| !name.contains(part)) {
            continue;
        }
        let input = case.input();
        plays.cases.push(Case {
            name,
            views: each(&input, Call::View)?,
            style_free: each(&input, Call::StyleFree)?,
            raw: one(&input)?,
            regex: one(&without_colour(&input, b""))?,
        });
    }
    for bytes in plays.cases.iter().flat_map(|case| &case.style_free) {
        only_text(bytes)?;
    }
    Ok(plays)
}

fn written(chat: &Path, class: ContentClass, call: Call, input: &[u8]) -> Result<Vec<u8>, String> {
    let mut command = Command::new(chat);
    command.args(["--play", class.name()]);
    match call {
        Call::View => &mut command,
        Call::StyleFree => command.arg("--style-free"),
        Call::Off => command.args(["--sanitize", "off"]),
    };
    let fail = |error: std::io::Error| format!("{}: {error}", chat.display());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(fail)?;
    // The example reads all before it writes.
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input).map_err(fail)?;
    }
    let output = child.wait_with_output().map_err(fail)?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(format!("{}: {}", chat.display(), output.status)),
    }
}

/// The reference must not be able to do anything, whatever the library believes: behind the
/// program's own header it holds no control but TAB and LF.
fn only_text(bytes: &[u8]) -> Result<(), String> {
    let content = content_at(bytes).ok_or("the example wrote no header")?;
    let text = String::from_utf8_lossy(&bytes[content..]);
    match text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        None => Ok(()),
        Some(c) => Err(format!("a view without style holds {}", c.escape_unicode())),
    }
}

/// Where the content begins: behind the line of the prompt and the label of its class.
fn content_at(bytes: &[u8]) -> Option<usize> {
    const LABEL_END: &[u8] = b">\x1b[0m ";
    let line = bytes.iter().position(|&byte| byte == b'\n')?;
    let is_end = |part: &[u8]| part == LABEL_END;
    let label = bytes[line..].windows(LABEL_END.len()).position(is_end)?;
    Some(line + label + LABEL_END.len())
}

/// A view with each style sequence of the content emptied: `ESC[m`, which sets nothing. `None`
/// unless the view is its style-free text and such sequences.
pub(crate) fn emptied(view: &[u8], style_free: &[u8]) -> Option<Vec<u8>> {
    let (header, content) = view.split_at(content_at(view)?);
    let is_styled_text = [header, &without_colour(content, b"")].concat() == style_free;
    is_styled_text.then(|| [header, &without_colour(content, b"\x1b[m")].concat())
}

/// What is often taken for enough: `s/\x1b\[[0-9;]*m//g`, or with `instead` between the slashes.
fn without_colour(input: &[u8], instead: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(input.len());
    let mut rest = input;
    while let [first, after @ ..] = rest {
        let parameters = rest.strip_prefix(b"\x1b[").map(|rest| {
            let length = rest.iter().take_while(|b| b.is_ascii_digit() || **b == b';').count();
            &rest[length..]
        });
        match parameters {
            Some([b'm', after @ ..]) => {
                out.extend_from_slice(instead);
                rest = after;
            }
            _ => {
                out.push(*first);
                rest = after;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &[u8] = b"\x1b[7mc\x1b[0m \x1b[1myou>\x1b[0m it\n\x1b[2mtool-output>\x1b[0m ";

    #[test]
    fn only_the_style_of_the_content_is_emptied() {
        let of = |content: &[u8], text: &[u8]| {
            emptied(&[HEADER, content].concat(), &[HEADER, text].concat())
        };
        assert_eq!(of(b"a\x1b[31mb\x1b[0m", b"ab"), Some([HEADER, b"a\x1b[mb\x1b[m"].concat()));
        assert_eq!(of(b"a\x1b[31mb\x1b[2J", b"ab"), None);
        assert_eq!(of(b"a\x1b[31mb", b"a"), None);
    }

    #[test]
    fn the_regex_removes_colours_and_nothing_else() {
        let without = |input: &[u8]| without_colour(input, b"");
        assert_eq!(without(b"a\x1b[1;31mb\x1b[m\x1b[2Jc\x1b[3"), b"ab\x1b[2Jc\x1b[3");
        assert_eq!(without(b"\x1b\x1b[0m[2J"), b"\x1b[2J");
    }

    #[test]
    fn a_reference_that_holds_a_control_is_refused() {
        let with = |text: &[u8]| only_text(&[HEADER, text].concat());
        assert_eq!(with(b"a\tb>\n"), Ok(()));
        assert!(with(b"\x1b[m").is_err());
        assert!(with(b"\r").is_err());
        assert!(with("\u{9b}".as_bytes()).is_err());
        assert!(only_text(b"").is_err());
    }
}
