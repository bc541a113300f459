//! One line under `cr = overwrite`, edited as a terminal would.

use unicode_width::UnicodeWidthChar;

/// Cells of a line that can be edited, and characters held for it; also the cells of one segment
/// under `cr = collapse`. Far wider than any terminal; small enough to be held per stream.
pub const LINE_CELLS_MAX: usize = 4096;

/// Cells that a cursor movement may go beyond the end of a line, as a terminal's margin would
/// stop it. Wider than terminals in use; without it eight bytes could become 4,096 spaces.
pub(crate) const GAP_CELLS_MAX: usize = 512;

const TAB_CELLS: usize = 8;

/// One cell.
#[derive(Clone, Copy, Debug)]
enum Cell {
    /// Nothing was written here: a space, where something stands behind it.
    Gap,
    /// A character and how many cells it takes.
    Char { glyph: Glyph, cells: u8 },
    /// The rest of a character of more than one cell.
    Rest,
}

/// A character of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Glyph {
    pub(crate) c: char,
    /// Its offset and length in the stream.
    pub(crate) at: u64,
    pub(crate) len: u8,
    /// U+FFFD stands for bytes that are none.
    pub(crate) ill_formed: bool,
    /// A terminal would hide it.
    pub(crate) hidden: bool,
}

/// What stands in a cell beside its character.
#[derive(Clone, Copy, Debug)]
struct Beside {
    /// The column after which it stands: 0 is before the first cell.
    column: usize,
    what: Piece,
}

/// A piece of the finished line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A character of the stream.
    Char(Glyph),
    /// A space that no byte stands for.
    Gap,
    /// A sequence or control was dropped here.
    Dropped,
}

/// The line no longer fits.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Overflow;

/// The line and its cursor.
#[derive(Clone, Debug, Default)]
pub(crate) struct Window {
    cells: Vec<Cell>,
    beside: Vec<Beside>,
    column: usize,
}

impl Window {
    /// Writes a character at the cursor. Those that it overwrites go to `gone`. False: it was a
    /// TAB that only moved the cursor over what stands there.
    pub(crate) fn put(
        &mut self,
        glyph: Glyph,
        gone: &mut impl FnMut(Glyph),
    ) -> Result<bool, Overflow> {
        let c = glyph.c;
        let width =
            if c == '\t' { TAB_CELLS - self.column % TAB_CELLS } else { c.width().unwrap_or(0) };
        if width == 0 {
            return self.add_beside(Piece::Char(glyph)).map(|()| true);
        }
        if self.column + width > LINE_CELLS_MAX {
            return Err(Overflow);
        }
        if c == '\t' && self.column < self.cells.len() {
            self.column += width;
            return Ok(false);
        }
        self.clear(self.column, self.column + width, gone);
        if self.cells.len() < self.column + width {
            self.cells.resize(self.column + width, Cell::Gap);
        }
        self.cells[self.column] = Cell::Char { glyph, cells: width as u8 };
        for cell in &mut self.cells[self.column + 1..self.column + width] {
            *cell = Cell::Rest;
        }
        self.column += width;
        Ok(true)
    }

    /// Adds a piece that takes no cell after the character before the cursor.
    pub(crate) fn add_beside(&mut self, what: Piece) -> Result<(), Overflow> {
        if self.beside.len() >= LINE_CELLS_MAX {
            return Err(Overflow);
        }
        let column = self.column;
        let after = self.beside.partition_point(|piece| piece.column <= column);
        self.beside.insert(after, Beside { column, what });
        Ok(())
    }

    /// CR.
    pub(crate) fn home(&mut self) {
        self.column = 0;
    }

    /// BS.
    pub(crate) fn back(&mut self) {
        self.column = self.column.saturating_sub(1);
    }

    /// CHA, CUF, CUB with their parameter (0 and 1 are the same).
    pub(crate) fn go(&mut self, final_byte: u8, n: usize) {
        let n = n.max(1);
        let column = match final_byte {
            b'G' => n - 1,
            b'C' => self.column.saturating_add(n),
            _ => self.column.saturating_sub(n),
        };
        self.column = column.min(self.cells.len() + GAP_CELLS_MAX).min(LINE_CELLS_MAX - 1);
    }

    /// EL with its parameter.
    pub(crate) fn erase(&mut self, n: usize, gone: &mut impl FnMut(Glyph)) {
        let (from, to) = match n {
            0 => (self.column, self.cells.len()),
            1 => (0, self.column + 1),
            _ => (0, self.cells.len()),
        };
        self.clear(from, to, gone);
        while matches!(self.cells.last(), Some(Cell::Gap)) {
            self.cells.pop();
        }
    }

    /// Empties cells. A character that has only a part of its cells here goes as a whole.
    fn clear(&mut self, from: usize, to: usize, gone: &mut impl FnMut(Glyph)) {
        let to = to.min(self.cells.len());
        let mut from = from.min(to);
        while from > 0 && from < to && matches!(self.cells[from], Cell::Rest) {
            from -= 1;
        }
        let mut column = from;
        while column < to {
            let mut end = column + 1;
            if let Cell::Char { glyph, cells } = self.cells[column] {
                gone(glyph);
                end = (column + usize::from(cells)).min(self.cells.len());
                self.cells[column..end].fill(Cell::Gap);
            }
            column = end;
        }
        // Once for all cells: an erased line may be erased again and again.
        let first = self.beside.partition_point(|piece| piece.column <= from);
        let after = self.beside.partition_point(|piece| piece.column <= column);
        for piece in self.beside.drain(first..after.max(first)) {
            if let Piece::Char(glyph) = piece.what {
                gone(glyph);
            }
        }
    }

    /// Takes the finished line, in reading order, and begins a new one.
    pub(crate) fn finish(&mut self, mut piece: impl FnMut(Piece)) {
        let mut beside = self.beside.iter().peekable();
        let mut upto = |column: usize, piece: &mut dyn FnMut(Piece)| {
            while let Some(next) = beside.next_if(|next| next.column <= column) {
                piece(next.what);
            }
        };
        for (column, cell) in self.cells.iter().enumerate() {
            upto(column, &mut piece);
            match *cell {
                Cell::Gap => piece(Piece::Gap),
                Cell::Char { glyph, .. } => piece(Piece::Char(glyph)),
                Cell::Rest => {}
            }
        }
        upto(usize::MAX, &mut piece);
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line that moving right by `n` and writing one character makes.
    fn gap(n: usize) -> usize {
        let mut window = Window::default();
        window.go(b'C', n);
        let glyph = Glyph { c: 'x', at: 0, len: 1, ill_formed: false, hidden: false };
        window.put(glyph, &mut |_| {}).unwrap();
        let mut gaps = 0;
        window.finish(|piece| gaps += usize::from(piece == Piece::Gap));
        gaps
    }

    #[test]
    fn a_movement_goes_beyond_the_line_up_to_its_limit() {
        assert_eq!(gap(GAP_CELLS_MAX - 1), GAP_CELLS_MAX - 1);
        assert_eq!(gap(GAP_CELLS_MAX), GAP_CELLS_MAX);
        assert_eq!(gap(GAP_CELLS_MAX + 1), GAP_CELLS_MAX);
        assert_eq!(gap(usize::MAX), GAP_CELLS_MAX);
    }
}
