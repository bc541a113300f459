//! The transcript, message by message.

use std::io::{self, Write};

use noesc::Sanitize;

/// Shows the transcript.
pub fn show(_pretty: bool, _sanitize: Sanitize, _out: &mut impl Write) -> io::Result<()> {
    Ok(())
}
