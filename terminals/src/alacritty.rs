//! The emulator of alacritty, in this process.

use std::io::{self, BufRead as _, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use alacritty_terminal::event::{Event, EventListener, WindowSize};
use alacritty_terminal::grid::Dimensions as _;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::term::test::TermSize;
use alacritty_terminal::term::{Config, Osc52, TermMode};
use alacritty_terminal::vte::ansi::{Processor, Rgb};
use alacritty_terminal::{Term, term::color};
use serde_json::{Value, json};

use crate::checks::NEXT_LINE;
use crate::terminal::unhex;

/// What the emulator asked its window for.
#[derive(Clone, Default)]
struct Window(Arc<Mutex<Asked>>);

#[derive(Clone, Default)]
struct Asked {
    titles: Vec<String>,
    clipboard: Vec<String>,
    replies: Vec<String>,
    bells: usize,
}

impl EventListener for Window {
    fn send_event(&self, event: Event) {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Title(title) => asked.titles.push(title),
            Event::ResetTitle => asked.titles.push("reset".into()),
            Event::ClipboardStore(_, text) => asked.clipboard.push(text),
            Event::ClipboardLoad(_, reply) => asked.replies.push(reply("the clipboard")),
            Event::ColorRequest(_, reply) => asked.replies.push(reply(Rgb { r: 1, g: 2, b: 3 })),
            Event::PtyWrite(text) => asked.replies.push(text),
            Event::TextAreaSizeRequest(reply) => asked.replies.push(reply(WindowSize {
                num_lines: 24,
                num_cols: 80,
                cell_width: 8,
                cell_height: 16,
            })),
            Event::Bell => asked.bells += 1,
            _ => {}
        }
    }
}

pub(crate) fn serve() -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let bytes = unhex(&line?).ok_or(io::ErrorKind::InvalidData)?;
        let state = played(&bytes);
        writeln!(io::stdout(), "{state}")?;
    }
    Ok(())
}

fn played(bytes: &[u8]) -> Value {
    let window = Window::default();
    let config = Config {
        scrolling_history: 20_000,
        kitty_keyboard: true,
        osc52: Osc52::CopyPaste,
        ..Config::default()
    };
    let mut term = Term::new(config, &TermSize::new(80, 24), window.clone());
    let mut parser: Processor = Processor::new();
    parser.advance(&mut term, bytes);
    let asked = window.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let grid = term.grid();
    let history = grid.history_size();
    let top = -i32::try_from(history).unwrap_or(0);
    let lines = || (top..24).map(|line| &grid[Line(line)]);
    let cells = || lines().flat_map(|row| (0..80).map(|column| &row[Column(column)]));
    let text = |row: usize| -> String {
        let row = &grid[Line(top + i32::try_from(row).unwrap_or(0))];
        let text: String = (0..80).map(|column| characters(&row[Column(column)])).collect();
        text.trim_end().to_owned()
    };
    let cursor = &grid.cursor;
    let mut state = json!({
        "cursor": [cursor.point.line.0 - top, cursor.point.column.0, cursor.input_needs_wrap],
        "text": (0..history + 24).map(text).collect::<Vec<_>>(),
        "prompt": row_cells(&term, Line(top)),
        "title": asked.titles,
        "clipboard": asked.clipboard,
        "reply": asked.replies,
        "bell": asked.bells,
        "screen": term.mode().contains(TermMode::ALT_SCREEN),
        "mode": format!("{:?} {:?}", *term.mode() - TermMode::ALT_SCREEN, term.cursor_style()),
        "palette": (0..color::COUNT).filter(|&i| term.colors()[i].is_some()).collect::<Vec<_>>(),
        "hidden": cells().filter(|cell| cell.flags.contains(Flags::HIDDEN)).count(),
        "link": cells().filter(|cell| cell.hyperlink().is_some()).count(),
    });
    parser.advance(&mut term, NEXT_LINE);
    state["next"] = row_cells(&term, term.grid().cursor.point.line);
    state
}

fn characters(cell: &Cell) -> String {
    let base = if cell.c == '\t' { ' ' } else { cell.c };
    std::iter::once(base).chain(cell.zerowidth().unwrap_or_default().iter().copied()).collect()
}

fn row_cells(term: &Term<Window>, line: Line) -> Value {
    let row = &term.grid()[line];
    let cells = (0..80).map(|column| &row[Column(column)]);
    cells.map(|cell| format!("{cell:?}")).collect()
}
