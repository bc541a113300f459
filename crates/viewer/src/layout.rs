//! Which rows and columns belong to what.

/// Cells of a screen at most, in each direction.
pub(crate) const CELLS_MAX: u16 = 1000;

/// Bytes of a row, the widest first that fits is taken.
const ROW_BYTES: [u16; 5] = [16, 8, 4, 2, 1];

/// A row is an offset, the bytes in hexadecimal, and the same bytes as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) width: u16,
    /// Rows of bytes.
    pub(crate) body: u16,
    /// Rows of the panel, its heading included.
    pub(crate) panel: u16,
    /// The first row is a title, the last one is the status.
    pub(crate) title: u16,
    pub(crate) status: u16,
    pub(crate) row_bytes: u16,
    pub(crate) offset_digits: u16,
}

impl Layout {
    pub(crate) fn new(width: u16, height: u16, stream_bytes: u64) -> Self {
        let (width, height) = (width.min(CELLS_MAX), height.min(CELLS_MAX));
        let title = u16::from(height >= 4);
        let status = u16::from(height >= 2);
        let panel = match height {
            0..=5 => 0,
            6..=9 => 2,
            10..=15 => 4,
            16..=23 => 6,
            _ => 8,
        };
        let digits = u16::try_from(format!("{stream_bytes:x}").len()).unwrap_or(16).max(4);
        let fits = |bytes: &&u16| digits + 2 + **bytes * 3 + 1 + **bytes * 4 <= width;
        Self {
            width,
            body: height - title - status - panel,
            panel,
            title,
            status,
            row_bytes: ROW_BYTES.iter().find(fits).copied().unwrap_or(1),
            offset_digits: digits,
        }
    }

    pub(crate) fn row(self) -> u64 {
        u64::from(self.row_bytes)
    }

    pub(crate) fn page(self) -> u64 {
        u64::from(self.body.max(1)) * self.row()
    }

    /// Rows of a list or of the help, which take the place of body and panel.
    pub(crate) fn sheet(self) -> u16 {
        self.body + self.panel
    }

    /// The column where the hexadecimal begins.
    pub(crate) fn hex(self) -> u16 {
        self.offset_digits + 1
    }

    /// The column where the text begins.
    pub(crate) fn text(self) -> u16 {
        self.hex() + self.row_bytes * 3 + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_as_long_as_the_terminal_is_wide() {
        let bytes = |width| Layout::new(width, 24, 5000).row_bytes;
        assert_eq!([bytes(200), bytes(119), bytes(118)], [16, 16, 8]);
        assert_eq!(
            [bytes(80), bytes(63), bytes(62), bytes(40), bytes(20), bytes(0)],
            [8, 8, 4, 4, 1, 1]
        );
    }

    #[test]
    fn every_row_of_a_screen_is_given_away_once() {
        for height in 0..60 {
            let layout = Layout::new(80, height, 0);
            assert_eq!(layout.title + layout.body + layout.panel + layout.status, height);
        }
        for height in [CELLS_MAX - 1, CELLS_MAX, CELLS_MAX + 1] {
            let layout = Layout::new(80, height, 0);
            assert_eq!(layout.body, height.min(CELLS_MAX) - 10);
        }
    }
}
