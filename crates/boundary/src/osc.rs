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
        Some(rest) if HOST_SCHEMES.contains(&&*scheme) => {
            rest.split(['/', '?', '#', '\\']).next()?
        }
        None if scheme == "mailto" => rest.split('?').next()?,
        // Whatever stands there, it is no host that the reader gets to.
        _ => return None,
    };
    Some(host_name(authority))
}

/// Schemes whose addresses name the host that answers.
const HOST_SCHEMES: &[&str] =
    &["http", "https", "ws", "wss", "ftp", "ftps", "sftp", "ssh", "git", "gemini", "gopher"];

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
    let label: String = label.chars().filter_map(folded).collect();
    label.split(|c: char| !(c.is_alphanumeric() || "-_.:/@%[]".contains(c))).any(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && !"/[]".contains(c));
        let Some(named) = named_host(word) else { return false };
        let is_file = is_file_of(word, target);
        !is_file && (of_target.as_deref() != Some(named.as_str()) || adds_recipients(word, target))
    })
}

/// A character of a label as a reader takes it in an address: marks of direction are not seen, and
/// wide or slanted forms stand for the plain ones.
fn folded(c: char) -> Option<char> {
    Some(match c {
        '\u{200E}' | '\u{200F}' | '\u{61C}' => return None,
        '\u{3002}' | '\u{FF61}' | '\u{2024}' => '.',
        '\\' | '\u{2044}' | '\u{2215}' | '\u{29F8}' => '/',
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(u32::from(c) - 0xFEE0)?,
        _ => c,
    })
}

/// The host that a word names: `https://bank.example`, `//bank.example`, `bank.example/login`,
/// `user@bank.example`, `192.0.2.1`, `[2001:db8::1]`, `localhost:8080`.
fn named_host(word: &str) -> Option<String> {
    let after_scheme = match word.split_once(':') {
        // A port, or an address in brackets, is no scheme.
        Some((before, after)) if !before.contains('[') && !is_port(after) => after,
        _ => word,
    };
    let authority = after_scheme.trim_start_matches('/').split('/').next()?;
    let host = host_name(authority);
    let is_ip = host.starts_with('[') && host.ends_with(']')
        || host.split('.').count() == 4 && host.split('.').all(|part| part.parse::<u8>().is_ok());
    if is_ip || host == "localhost" {
        return Some(host);
    }
    let (name, top) = host.rsplit_once('.')?;
    let is_label = |label: &str| {
        !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || "-_".contains(c))
    };
    let is_top =
        top.chars().count() >= 2 && top.chars().all(char::is_alphabetic) || top.starts_with("xn--");
    (is_top && name.split('.').all(is_label)).then_some(host)
}

fn is_port(text: &str) -> bool {
    let digits = text.split('/').next().unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

/// Names of files that look like hosts, in the links of those who write of software.
const FILE_ENDINGS: &[&str] = &[
    "c", "cc", "cpp", "css", "csv", "go", "h", "html", "java", "js", "json", "lock", "log", "md",
    "pdf", "png", "py", "rs", "sh", "svg", "toml", "ts", "txt", "xml", "yaml", "yml",
];

/// Whether the word is the name of the file that the target's path ends with.
fn is_file_of(word: &str, target: &str) -> bool {
    let ending = word.rsplit_once('.').map(|(_, ending)| ending.to_lowercase());
    let is_file = ending.is_some_and(|ending| FILE_ENDINGS.contains(&&*ending));
    let has_path = scheme(target).is_some_and(|scheme| target[scheme.len()..].starts_with("://"));
    is_file && has_path && target.strip_suffix(word).is_some_and(|before| before.ends_with('/'))
}

/// Whether a letter goes to more than the one whom the label names.
fn adds_recipients(word: &str, target: &str) -> bool {
    let Some(address) = target.get(7..).filter(|_| scheme(target).as_deref() == Some("mailto"))
    else {
        return false;
    };
    let (to, rest) = address.split_once('?').unwrap_or((address, ""));
    let fields = rest.to_ascii_lowercase();
    let adds =
        fields.split('&').any(|field| ["to=", "cc=", "bcc="].iter().any(|f| field.starts_with(f)));
    word.contains('@') && (adds || !to.eq_ignore_ascii_case(word))
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
            ("https://evilbank.example", "bank.example"),
            ("https://evil.example/bank.example", "bank.example"),
            ("https://evil.example/?x=bank.example", "bank.example"),
            ("javascript://bank.example/%0aalert(1)", "bank.example"),
            ("https://evil.example/", "bank\u{200e}.example"),
            ("https://evil.example/", "//bank.example"),
            ("https://evil.example/", "https:/bank.example"),
            ("https://evil.example/", "https:\\\\bank.example"),
            ("https://evil.example/", "bank\u{3002}example"),
            ("https://evil.example/", "bank\u{ff0e}example"),
            ("https://evil.example/", "bank.xn--p1ai"),
            ("https://evil.example/", "192.0.2.1/login"),
            ("https://evil.example/", "[2001:db8::1]:443/x"),
            ("https://evil.example/", "localhost:8080"),
            ("https://evil.example/", "visit:bank.example"),
            ("https://evil.example/", "url=bank.example,login"),
            ("https://evil.example/", "my_bank.example"),
            ("mailto:x@bank.example,y@evil.example", "x@bank.example"),
            ("mailto:x@bank.example?cc=y@evil.example", "x@bank.example"),
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
