//! From what is known to cells: printable ASCII, and nothing else.

use noesc_text::escape_byte;
use ratatui::buffer::Buffer;
use ratatui::style::Style;

use crate::help::KEYS;
use crate::viewer::{Mode, Viewer};

/// Where text goes, and how far.
struct Pen<'a> {
    buffer: &'a mut Buffer,
    x: u16,
    y: u16,
    /// The column behind the last one that may be written.
    end: u16,
}

impl Pen<'_> {
    /// The only way into a cell: what is not printable ASCII becomes `?`. Whoever calls this has
    /// escaped it before; this is for the case that somebody forgot.
    fn put(&mut self, text: &str, style: Style) {
        for c in text.chars() {
            if self.x >= self.end {
                return;
            }
            let c = if matches!(c, ' '..='~') { c } else { '?' };
            if let Some(cell) = self.buffer.cell_mut((self.x, self.y)) {
                cell.set_char(c).set_style(style);
            }
            self.x += 1;
        }
    }

    fn fill(&mut self, style: Style) {
        while self.x < self.end {
            self.put(" ", style);
        }
    }
}

impl Viewer<'_> {
    /// Draws the screen, of the size that the buffer has, after reading what is to be on it.
    pub fn draw(&mut self, buffer: &mut Buffer) {
        let area = buffer.area;
        if (area.width, area.height) != self.size() {
            self.resize(area.width, area.height);
        }
        self.refresh();
        buffer.reset();
        if self.layout.title > 0 {
            self.draw_title(buffer);
        }
        match self.mode {
            Mode::Help { top } => self.draw_help(buffer, top),
            Mode::List { chosen } => self.draw_list(buffer, chosen),
            Mode::Browse | Mode::Prompt { .. } => self.draw_rows(buffer),
        }
        if self.layout.panel > 0 && self.mode.shows_rows() {
            self.draw_panel(buffer);
        }
        if self.layout.status > 0 {
            self.draw_status(buffer);
        }
    }

    /// A row of the screen.
    fn pen<'b>(&self, buffer: &'b mut Buffer, y: u16) -> Pen<'b> {
        let (x, y) = (buffer.area.x, buffer.area.y + y);
        Pen { end: x + self.layout.width, buffer, x, y }
    }

    fn draw_title(&self, buffer: &mut Buffer) {
        let stream = self.here();
        let style = self.theme.chosen();
        let mut pen = self.pen(buffer, 0);
        let place = format!("{}/{}", self.stream + 1, self.streams.len());
        pen.put(&format!(" {} [{place}] {} bytes  ", stream.name, stream.bytes), style);
        pen.put(&self.title, style);
        pen.fill(style);
    }

    fn draw_rows(&self, buffer: &mut Buffer) {
        let layout = self.layout;
        if self.here().bytes == 0 {
            self.pen(buffer, layout.title).put("no bytes", self.theme.faint());
            return;
        }
        for row in 0..layout.body {
            let at = self.here().top + u64::from(row) * layout.row();
            if at >= self.here().bytes {
                return;
            }
            self.draw_row(buffer, layout.title + row, at);
        }
    }

    fn draw_row(&self, buffer: &mut Buffer, y: u16, at: u64) {
        let layout = self.layout;
        let digits = usize::from(layout.offset_digits);
        self.pen(buffer, y).put(&format!("{at:0digits$x}"), self.theme.faint());
        let mut hex = self.pen(buffer, y);
        hex.x += layout.hex();
        let bytes = self.page.row(at, usize::from(layout.row_bytes));
        if bytes.is_empty() {
            return hex.put("(not read)", self.theme.faint());
        }
        let mut styles = Vec::with_capacity(bytes.len());
        for (at, &byte) in (at..).zip(bytes) {
            let style = self.style(at);
            styles.push(style);
            hex.put(&format!("{byte:02x}"), style);
            hex.put(" ", Style::new());
        }
        let mut text = self.pen(buffer, y);
        text.x += layout.text();
        for (&byte, style) in bytes.iter().zip(styles) {
            text.put(&escape_byte(byte).to_string(), style);
        }
    }

    fn style(&self, at: u64) -> Style {
        let piece = self.page.piece(at);
        let style = piece.map_or(Style::new(), |piece| self.theme.of(piece.sort, piece.severity));
        let cursor = self.here().cursor;
        if at == cursor {
            return style.patch(self.theme.chosen());
        }
        let marked = self.mark.is_some_and(|mark| {
            (mark.min(cursor)..mark.max(cursor)).contains(&at) || (cursor..=mark).contains(&at)
        });
        if marked || self.hit.contains(&at) { self.theme.marked(style) } else { style }
    }

    /// What is under the cursor.
    fn draw_panel(&mut self, buffer: &mut Buffer) {
        let cursor = self.here().cursor;
        let layout = self.layout;
        let top = layout.title + layout.body;
        let Some(piece) = self.page.piece(cursor).cloned() else {
            let mut pen = self.pen(buffer, top);
            return pen.fill(self.theme.chosen());
        };
        let bar = self.theme.chosen();
        let mut pen = self.pen(buffer, top);
        pen.put(&format!(" {} ", piece.title), bar);
        if let Some(severity) = piece.severity {
            let style = bar.patch(self.theme.severity(severity)).patch(bar);
            pen.put(&severity.name().to_uppercase(), style);
        }
        pen.fill(bar);
        let (start, end) = (piece.bytes.start, piece.bytes.end);
        let (last, length) = (end.saturating_sub(1), end - start);
        let mut rows = piece.words.clone();
        rows.insert(
            rows.len().min(1),
            format!("bytes {start}-{last} ({start:#x}), {length} in all"),
        );
        let room = layout.panel - 1;
        let mut y = 0;
        let payload = piece.payload_row();
        // The payload has its row whatever else there is to say.
        let kept = u16::from(payload.is_some() && room > 2);
        for row in &rows {
            y = self.draw_wrapped(buffer, top + 1 + y, top + 1 + room - kept, row) - top - 1;
        }
        if let Some(payload) = payload.filter(|_| y < room) {
            self.draw_wrapped(buffer, top + 1 + y, top + 1 + room, &payload);
            // Whatever its introducer, a payload begins within some bytes of the beginning.
            let shown = end.min(start + 64 + piece.payload.len() as u64);
            self.note_seen(start..shown);
        }
    }

    /// Draws a row of text in as many rows as it needs and there are; gives the next free one.
    fn draw_wrapped(&self, buffer: &mut Buffer, mut y: u16, end: u16, text: &str) -> u16 {
        let width = usize::from(self.layout.width.max(2)) - 1;
        let mut rest = text;
        while !rest.is_empty() && y < end {
            let cut = rest.char_indices().nth(width).map_or(rest.len(), |(at, _)| at);
            let mut pen = self.pen(buffer, y);
            pen.put(" ", Style::new());
            pen.put(&rest[..cut], Style::new());
            rest = &rest[cut..];
            y += 1;
        }
        y
    }

    fn draw_status(&self, buffer: &mut Buffer) {
        let layout = self.layout;
        let y = layout.title + layout.body + layout.panel;
        let mut pen = self.pen(buffer, y);
        match (&self.mode, &self.job) {
            (Mode::Prompt { sign, text }, _) => {
                pen.put(&sign.to_string(), Style::new());
                // The end of what is typed is what matters.
                let room = usize::from(layout.width.max(3)) - 2;
                pen.put(&text[text.len().saturating_sub(room)..], Style::new());
                return pen.put(" ", self.theme.chosen());
            }
            (_, Some((job, at))) => {
                let percent = percent(*at, self.here().bytes);
                pen.put(&format!("{} {percent}% (Esc gives up)", job.name()), Style::new());
            }
            _ if self.message.is_empty() && !self.page.pieces.exact => {
                pen.put("not exact: i reads what is before", Style::new());
            }
            _ => pen.put(&self.message, Style::new()),
        }
        let place = self.place();
        let width = place.len() as u16;
        if pen.x + width < pen.end {
            pen.x = pen.end - width;
            pen.put(&place, self.theme.faint());
        }
    }

    /// Where the cursor is, for the end of the status line.
    fn place(&self) -> String {
        let (cursor, bytes) = (self.here().cursor, self.here().bytes);
        let exact = if self.page.pieces.exact { "" } else { "~" };
        let line = self.page.pieces.line.map(|line| {
            let upto = usize::try_from(cursor.saturating_sub(self.page.wanted.start));
            let before = self.page.bytes.get(..upto.unwrap_or(0)).unwrap_or_default();
            line + memchr::memchr_iter(b'\n', before).count() as u64
        });
        let line = line.map(|line| format!(" line {line}")).unwrap_or_default();
        format!(" {exact}{cursor} {cursor:#x}{line} {}%", percent(cursor + 1, bytes))
    }

    fn draw_help(&self, buffer: &mut Buffer, top: u16) {
        let layout = self.layout;
        for (row, (key, does)) in (0..layout.sheet()).zip(KEYS.iter().skip(usize::from(top))) {
            let mut pen = self.pen(buffer, layout.title + row);
            pen.put(&format!(" {key:<19}"), Style::new());
            pen.put(does, Style::new());
        }
    }

    fn draw_list(&self, buffer: &mut Buffer, chosen: usize) {
        let layout = self.layout;
        let index = &self.here().index;
        let findings = self.listed();
        let mut pen = self.pen(buffer, layout.title);
        let read = percent(index.read_up_to(), self.here().bytes);
        let least = self.least.max(index.findings().least()).name();
        let head = format!(" {} findings, {least} or worse", findings.len());
        pen.put(&head, self.theme.faint());
        pen.put(&format!("; {read}% is read"), self.theme.faint());
        if !index.is_complete() {
            pen.put(", I reads all", self.theme.faint());
        } else if index.known(self.least) != Some(index.read_up_to()) {
            pen.put("; there are more", self.theme.faint());
        }
        let rows = usize::from(layout.sheet().max(1)) - 1;
        let top = (chosen + 1).saturating_sub(rows);
        for (row, of) in (1..).zip(findings.iter().skip(top).take(rows)) {
            let mut pen = self.pen(buffer, layout.title + row);
            let style = match top + usize::from(row) - 1 == chosen {
                true => self.theme.chosen(),
                false => self.theme.severity(of.severity),
            };
            let name = of.severity.name();
            pen.put(&format!(" {:>10} {name:<8} {}", of.at, of.kind), style);
        }
    }
}

/// How much of all, in whole percents; all of nothing is 100.
fn percent(part: u64, all: u64) -> u64 {
    let percent = u128::from(part) * 100 / u128::from(all.max(1));
    if all == 0 { 100 } else { u64::try_from(percent).unwrap_or(100).min(100) }
}
