//! The terminal device: its modes, and every way back to those that it had.

use std::fs::{File, OpenOptions};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::style::{Attribute, SetAttribute};
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

/// The terminal of the process, whatever its standard streams are.
const DEVICE: &str = "/dev/tty";

/// The terminal, opened by its device.
#[derive(Debug)]
pub(crate) struct Device {
    file: File,
    before: Termios,
    is_entered: AtomicBool,
}

impl Device {
    /// Opens the terminal; nothing is changed yet.
    pub(crate) fn open() -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(DEVICE)?;
        let before = tcgetattr(&file)?;
        Ok(Self { file, before, is_entered: AtomicBool::new(false) })
    }

    pub(crate) const fn file(&self) -> &File {
        &self.file
    }

    /// Columns and rows; 80 by 24 where the terminal does not know.
    pub(crate) fn size(&self) -> (u16, u16) {
        match tcgetwinsize(&self.file) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col, size.ws_row),
            _ => (80, 24),
        }
    }

    /// Keys come one by one and unseen; the other screen, without a cursor.
    pub(crate) fn enter(&self) -> io::Result<()> {
        let mut raw = self.before.clone();
        raw.make_raw();
        self.is_entered.store(true, Ordering::SeqCst);
        tcsetattr(&self.file, OptionalActions::Now, &raw)?;
        execute!(&self.file, EnterAlternateScreen, SetAttribute(Attribute::Reset), Hide)
    }

    /// Puts everything back. Nothing happens the second time.
    pub(crate) fn leave(&self) {
        if self.is_entered.swap(false, Ordering::SeqCst) {
            // A terminal that is gone needs nothing.
            let mut out = &self.file;
            let _ = execute!(out, SetAttribute(Attribute::Reset), LeaveAlternateScreen, Show);
            let _ = tcsetattr(&self.file, OptionalActions::Now, &self.before);
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.leave();
    }
}
