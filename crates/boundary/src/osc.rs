//! Titles and hyperlinks that a program makes of text it did not write.
//!
//! What is given here stands inside of a control string of ours: whatever the setting, no C0, no
//! DEL and no C1 gets into it, so that neither terminator (BEL, `ESC \`) can come from the text.

use std::fmt::{self, Write as _};

use crate::content::{Content, ContentClass};

/// Bytes of a title; the rest is left out. No window shows as much.
pub const TITLE_BYTES_MAX: usize = 1024;

/// Bytes of a target; a longer one makes no link. What terminals in use read.
pub const URI_BYTES_MAX: usize = 2083;

/// Bytes of the `id` of a link; a longer one is left out. What terminals in use read.
pub const ID_BYTES_MAX: usize = 250;

/// Bytes of a hyperlink sequence that the [`Floor`](crate::Floor) holds; a longer one is dropped.
pub const LINK_BYTES_MAX: usize = 4096;

/// Ends a hyperlink.
pub(crate) const CLOSE_LINK: &str = "\x1b]8;;\x1b\\";

/// The sequence that sets the title of a window: `OSC 2`.
///
/// ```
/// use noesc::osc::title;
///
/// assert_eq!(title("build\x07\x1b[31m ok"), "\x1b]2;build ok\x1b\\");
/// ```
#[must_use]
pub fn title(text: &str) -> String {
    let text = plain(text);
    let end = text.floor_char_boundary(TITLE_BYTES_MAX);
    format!("\x1b]2;{}\x1b\\", text.get(..end).unwrap_or_default())
}

/// A link, or a label alone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hyperlink {
    /// What is written to the terminal.
    pub text: String,
    /// The target, cleaned; `None` where there is no link: its scheme is not allowed, or it is
    /// empty or too long.
    pub target: Option<String>,
    /// The label looks like another address than the target. Show the target then.
    pub mismatch: bool,
}

impl fmt::Display for Hyperlink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A label that links to a target of any scheme: `OSC 8`.
///
/// The label is one line without style. Of the target every control is removed, and what is not
/// printable ASCII is percent-encoded. An empty label is the target.
///
/// ```
/// use noesc::osc::hyperlink;
///
/// let link = hyperlink("https://evil.example/\x1b\\", "https://bank.example/login");
/// assert_eq!(link.target.as_deref(), Some("https://evil.example/\\"));
/// assert!(link.mismatch);
/// assert!(!hyperlink("https://bank.example/login", "Bank.example").mismatch);
/// ```
#[must_use]
pub fn hyperlink(uri: &str, label: &str) -> Hyperlink {
    link(uri, label, None)
}

/// The same for a list of schemes, such as `["https", "mailto"]`, in lower case; another target
/// makes no link.
///
/// ```
/// use noesc::osc::hyperlink_within;
///
/// let link = hyperlink_within("ssh://host", "here", &["https"]);
/// assert_eq!((link.text.as_str(), link.target), ("here", None));
/// ```
#[must_use]
pub fn hyperlink_within(uri: &str, label: &str, schemes: &[&str]) -> Hyperlink {
    link(uri, label, Some(schemes))
}

fn link(uri: &str, label: &str, schemes: Option<&[&str]>) -> Hyperlink {
    let target = target(uri);
    let allowed = |target: &String| {
        schemes.is_none_or(|schemes| scheme(target).is_some_and(|s| schemes.contains(&&*s)))
    };
    let mut label = plain(label);
    if label.is_empty() {
        label = target.clone().unwrap_or_default();
    }
    let mismatch = target.as_ref().is_some_and(|target| names_another(&label, target));
    let target = target.filter(allowed);
    let text = match &target {
        Some(target) => format!("\x1b]8;;{target}\x1b\\{label}{CLOSE_LINK}"),
        None => label,
    };
    Hyperlink { text, target, mismatch }
}

/// One line without style and without a control.
fn plain(text: &str) -> String {
    let mut view = String::new();
    let mut content = Content::new(ContentClass::Derived);
    content.push(text.as_bytes(), &mut view);
    content.finish(&mut view);
    // The view has none; here it is the one thing that matters.
    view.retain(|c| !c.is_control());
    view
}

/// A target in printable ASCII; `None` where nothing is left, or too much.
fn target(uri: &str) -> Option<String> {
    let mut target = String::new();
    for c in uri.trim().chars().filter(|c| !c.is_control()) {
        match c {
            '!'..='~' => target.push(c),
            _ => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    let _ = write!(target, "%{byte:02X}");
                }
            }
        }
    }
    (!target.is_empty() && target.len() <= URI_BYTES_MAX).then_some(target)
}

/// A hyperlink sequence as it came, rebuilt; `None` where it is none, or may not be kept.
pub(crate) fn rebuilt(raw: &[u8]) -> Option<String> {
    let body = raw.strip_prefix(b"\x1b]")?;
    let body = body.strip_suffix(b"\x07").or_else(|| body.strip_suffix(b"\x1b\\"))?;
    let body = String::from_utf8_lossy(body);
    let mut parts = body.splitn(3, ';');
    let (_, parameters, uri) = (parts.next()?, parts.next()?, parts.next()?);
    let Some(target) = target(uri) else {
        // Too long a target ends the link before, as the empty one of the sequence that ends it.
        return Some(CLOSE_LINK.to_owned());
    };
    let is_plain = |c: u8| c.is_ascii_alphanumeric() || b"-_.".contains(&c);
    let id = parameters.split(':').find_map(|parameter| parameter.strip_prefix("id="));
    let id = id.filter(|id| id.len() <= ID_BYTES_MAX && id.bytes().all(is_plain));
    let id = id.map_or(String::new(), |id| format!("id={id}"));
    Some(format!("\x1b]8;{id};{target}\x1b\\"))
}

/// The scheme, in lower case.
fn scheme(uri: &str) -> Option<String> {
    let (scheme, _) = uri.split_once(':')?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    is_scheme.then(|| scheme.to_ascii_lowercase())
}

/// The host that an address leads to, as a browser reads it: what stands before the last `@` is a
/// name of its user. In lower case, without `www.` and port.
fn host(uri: &str) -> Option<String> {
    let scheme = scheme(uri)?;
    let rest = &uri[scheme.len() + 1..];
    let authority = match rest.strip_prefix("//") {
        Some(rest) => rest.split(['/', '?', '#', '\\']).next()?,
        None if scheme == "mailto" => rest.split('?').next()?,
        None => return None,
    };
    Some(host_name(authority))
}

fn host_name(authority: &str) -> String {
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = match host.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
        _ => host,
    };
    let host = host.trim_end_matches('.').to_lowercase();
    host.strip_prefix("www.").map_or(host.clone(), str::to_owned)
}

/// Whether a word of the label looks like an address that is not the target's.
fn names_another(label: &str, target: &str) -> bool {
    let of_target = host(target);
    label.split_whitespace().any(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/');
        let Some(named) = host(word).or_else(|| bare_host(word, target)) else { return false };
        of_target.as_deref() != Some(named.as_str())
    })
}

/// The host of an address without a scheme: `bank.example/login`, `user@bank.example`. A file name
/// that the target ends with is none.
fn bare_host(word: &str, target: &str) -> Option<String> {
    if target.ends_with(word) && word.len() < target.len() && !word.contains('@') {
        return None;
    }
    let authority = word.split(['/', '?', '#']).next()?;
    let host = host_name(authority);
    let (name, top) = host.rsplit_once('.')?;
    let is_label =
        |label: &str| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-');
    let is_top = top.chars().count() >= 2 && top.chars().all(char::is_alphabetic);
    (is_top && name.split('.').all(is_label)).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_terminator_comes_from_the_text() {
        let hostile = "a\x07b\x1b\\c\u{9c}d\x18e\x1a\r\nf\x7f\0\u{202e}";
        for made in [
            title(hostile),
            hyperlink(hostile, "label").text,
            hyperlink("https://x", hostile).text,
            hyperlink(hostile, hostile).text,
        ] {
            let bare = made.replace("\x1b]2;", "").replace("\x1b]8;;", "").replace("\x1b\\", "");
            assert!(!bare.contains(char::is_control), "{}", bare.escape_debug());
        }
    }

    #[test]
    fn titles_are_cut_at_their_limit() {
        let length = |n: usize| title(&"x".repeat(n)).len() - 6;
        for n in [TITLE_BYTES_MAX - 1, TITLE_BYTES_MAX, TITLE_BYTES_MAX + 1] {
            assert_eq!(length(n), n.min(TITLE_BYTES_MAX));
        }
        assert_eq!(title(&"\u{20ac}".repeat(400)).len() - 6, TITLE_BYTES_MAX / 3 * 3);
    }

    #[test]
    fn targets_have_a_limit() {
        for n in [URI_BYTES_MAX - 1, URI_BYTES_MAX, URI_BYTES_MAX + 1] {
            let link = hyperlink(&format!("x:{}", "a".repeat(n - 2)), "label");
            assert_eq!(link.target.is_some(), n <= URI_BYTES_MAX);
        }
        assert_eq!(hyperlink(" \x07 ", "label").text, "label");
        assert_eq!(
            hyperlink("https://ex.org/\u{e9} \u{202e}", "").target.as_deref(),
            Some("https://ex.org/%C3%A9%20%E2%80%AE")
        );
    }

    #[test]
    fn ids_have_a_limit_and_plain_characters() {
        let id = |id: &str| rebuilt(format!("\x1b]8;id={id};x:y\x07").as_bytes());
        for n in [ID_BYTES_MAX - 1, ID_BYTES_MAX, ID_BYTES_MAX + 1] {
            let kept = id(&"a".repeat(n)).is_some_and(|link| link.contains("id=a"));
            assert_eq!(kept, n <= ID_BYTES_MAX);
        }
        assert_eq!(id("a b").as_deref(), Some("\x1b]8;;x:y\x1b\\"));
    }

    #[test]
    fn a_label_that_looks_like_another_address_is_told() {
        for (uri, label) in [
            ("https://evil.example", "https://bank.example"),
            ("https://bank.example@evil.example/", "bank.example"),
            ("https://evil.example/bank.example", "https://bank.example"),
            ("https://evil.example", "see www.bank.example, please"),
            ("https://bank.example.evil.example", "bank.example"),
            ("https://apple.example", "\u{430}pple.example"),
            ("mailto:x@evil.example", "x@bank.example"),
            ("javascript:alert(1)", "https://bank.example"),
            ("file:///etc/passwd", "https://bank.example"),
            ("https:\\\\evil.example", "https://bank.example"),
        ] {
            assert!(hyperlink(uri, label).mismatch, "{uri} {label}");
        }
        for (uri, label) in [
            ("https://bank.example/login?x=1", "https://bank.example"),
            ("https://www.bank.example:443/", "Bank.Example"),
            ("https://bank.example", "log in here"),
            ("https://git.example/blob/README.md", "README.md"),
            ("file:///src/main.rs", "src/main.rs"),
            ("https://bank.example", "3.14, v1.2.3, e.g. and so on..."),
            ("mailto:x@bank.example?subject=y", "x@bank.example"),
            ("https://bank.example", ""),
        ] {
            assert!(!hyperlink(uri, label).mismatch, "{uri} {label}");
        }
    }
}
