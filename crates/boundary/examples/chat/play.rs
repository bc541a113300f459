//! One content of one class among chrome, for whoever tests terminals with it.

use std::io::{self, Read, Write};

use noesc::{Content, ContentClass, Sanitize, Writer};

/// The line that the program draws before the content: nothing in the content may change it.
const PROMPT: &str = "\x1b[7m chat \x1b[0m \x1b[1myou>\x1b[0m show it\n";

/// Shows stdin as content.
pub(crate) fn play(
    class: ContentClass,
    sanitize: Sanitize,
    style_free: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    write!(out, "{PROMPT}\x1b[2m{}>\x1b[0m ", class.name())?;
    let content = Content::new(class).sanitize(sanitize).style(!style_free);
    let mut writer = Writer::with(&mut *out, content);
    writer.write_all(&bytes)?;
    writer.finish()?;
    Ok(())
}
