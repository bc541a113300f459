//! What each key does.

use noesc_grammar::Severity;

use crate::job::Job;
use crate::key::Key;
use crate::pattern::Pattern;
use crate::viewer::{Mode, Viewer, escaped};

/// Characters that a prompt takes.
pub(crate) const PROMPT_CHARS_MAX: usize = 1024;

/// Keys that wait until work is done.
pub(crate) const KEYS_WAITING_MAX: usize = 256;

impl Viewer<'_> {
    /// Takes a key. Whatever is to be read for it is read in later steps, and other keys wait until
    /// they are done.
    pub fn key(&mut self, key: Key) {
        if self.job.is_some() {
            return self.key_while_working(key);
        }
        if !matches!(self.mode, Mode::Prompt { .. }) {
            self.message.clear();
        }
        match self.mode {
            Mode::Browse => self.browse(key),
            Mode::Prompt { .. } => self.prompt(key),
            Mode::List { chosen } => self.list(key, chosen),
            Mode::Help { top } => self.help(key, top),
        }
    }

    fn key_while_working(&mut self, key: Key) {
        match key {
            Key::Esc | Key::Ctrl('c') => {
                self.job = None;
                self.waiting.clear();
                self.say("given up");
            }
            Key::Char('q') => self.leave(),
            _ if self.waiting.len() < KEYS_WAITING_MAX => self.waiting.push_back(key),
            _ => {}
        }
    }

    /// Takes the keys that waited for work to end.
    pub(crate) fn take_waiting(&mut self) {
        while self.job.is_none()
            && let Some(key) = self.waiting.pop_front()
        {
            self.key(key);
        }
    }

    fn browse(&mut self, key: Key) {
        if !self.moves(key) {
            self.acts(key);
        }
    }

    /// Keys that move the cursor.
    fn moves(&mut self, key: Key) -> bool {
        let (row, page) = (self.layout.row(), self.layout.page());
        let cursor = self.here().cursor;
        let last = self.here().bytes.saturating_sub(1);
        let column = cursor % row;
        let to = match key {
            Key::Left | Key::Char('h') => cursor.saturating_sub(1),
            Key::Right | Key::Char('l') => cursor.saturating_add(1),
            Key::Up | Key::Char('k') => cursor.checked_sub(row).unwrap_or(cursor),
            Key::Down | Key::Char('j') if cursor + row <= last => cursor + row,
            // The last row may be shorter.
            Key::Down | Key::Char('j') if last - last % row > cursor => last,
            Key::Down | Key::Char('j') => cursor,
            Key::PageUp | Key::Char('b') | Key::Ctrl('b') => return self.scroll(page, false),
            Key::PageDown | Key::Char(' ') | Key::Ctrl('f') => return self.scroll(page, true),
            Key::Ctrl('u') => return self.scroll(page / row / 2 * row, false),
            Key::Ctrl('d') => return self.scroll(page / row / 2 * row, true),
            Key::Home | Key::Char('g') => 0,
            Key::End | Key::Char('G') => last,
            Key::Char('0' | '^') => cursor - column,
            Key::Char('$') => cursor - column + row - 1,
            _ => return false,
        };
        self.jump(to);
        true
    }

    fn scroll(&mut self, bytes: u64, on: bool) -> bool {
        let row = self.layout.row();
        let bytes = bytes.max(row);
        let stream = self.here_mut();
        let last = stream.bytes.saturating_sub(1);
        if on {
            let last_row = last - last % row;
            stream.top = stream.top.saturating_add(bytes).min(last_row);
            stream.cursor = stream.cursor.saturating_add(bytes).min(last);
        } else {
            stream.top = stream.top.saturating_sub(bytes);
            stream.cursor = stream.cursor.saturating_sub(bytes);
        }
        self.follow();
        true
    }

    fn acts(&mut self, key: Key) {
        let cursor = self.here().cursor;
        let least = self.least;
        match key {
            Key::Char('q') => self.leave(),
            Key::Char('?') => self.mode = Mode::Help { top: 0 },
            Key::Char(sign @ ('/' | ':')) => {
                self.mode = Mode::Prompt { sign, text: String::new() };
            }
            Key::Char('n') => self.begin(Job::Next { after: cursor, least, scan: None }),
            Key::Char('N') => self.begin(Job::Previous { before: cursor, least, end: cursor }),
            Key::Char(';') => self.search(true),
            Key::Char(',') => self.search(false),
            Key::Char('i') => self.begin(Job::Read { to: self.page.wanted.end }),
            Key::Char('I') => self.begin(Job::Read { to: self.here().bytes }),
            Key::Char('f') => {
                let findings = self.listed();
                let chosen = findings.partition_point(|of| of.at < cursor);
                self.mode = Mode::List { chosen: chosen.min(findings.len().saturating_sub(1)) };
            }
            Key::Char('c') => {
                self.any_case = !self.any_case;
                let case = if self.any_case { "either case" } else { "case as typed" };
                self.say(format!("searches: {case}"));
            }
            Key::Char('s') => self.next_severity(),
            Key::Char('v') => {
                self.mark = if self.mark.is_some() { None } else { Some(cursor) };
                self.say(if self.mark.is_some() { "marked from here" } else { "no mark" });
            }
            Key::Char('y') => self.copy(),
            Key::Tab => self.switch(1),
            Key::BackTab => self.switch(self.streams.len() - 1),
            Key::Esc | Key::Ctrl('c') => {
                self.mark = None;
                self.hit = 0..0;
                self.say("q leaves, ? is help");
            }
            Key::Ctrl('l') => self.page = crate::page::Page::default(),
            _ => self.say("no such key: ? is help"),
        }
    }

    fn next_severity(&mut self) {
        self.least = match self.least {
            Severity::Info => Severity::Low,
            Severity::Low => Severity::High,
            Severity::High => Severity::Critical,
            Severity::Critical => Severity::Info,
        };
        self.say(format!("findings from {} on", self.least.name()));
    }

    fn search(&mut self, on: bool) {
        let Some(pattern) = self.pattern.clone() else {
            return self.say("nothing to search for: / asks");
        };
        let cursor = self.here().cursor;
        if on {
            self.begin(Job::Forward { pattern, at: cursor.saturating_add(1) });
        } else {
            self.begin(Job::Backward { pattern, below: cursor, end: cursor.saturating_add(256) });
        }
    }

    fn prompt(&mut self, key: Key) {
        let Mode::Prompt { sign, text } = &mut self.mode else { return };
        match key {
            Key::Esc | Key::Ctrl('c') => self.mode = Mode::Browse,
            Key::Ctrl('u') => text.clear(),
            Key::Backspace if text.is_empty() => self.mode = Mode::Browse,
            Key::Backspace => {
                text.pop();
            }
            Key::Char(typed) => {
                let typed = match typed {
                    ' '..='~' => typed.to_string(),
                    _ => escaped(&typed.to_string()),
                };
                if text.len() + typed.len() <= PROMPT_CHARS_MAX {
                    text.push_str(&typed);
                }
            }
            Key::Enter => {
                let (sign, text) = (*sign, std::mem::take(text));
                self.mode = Mode::Browse;
                match sign {
                    '/' => self.search_for(&text),
                    _ => self.go(text.trim()),
                }
            }
            _ => {}
        }
    }

    /// An empty pattern is the last one again.
    fn search_for(&mut self, text: &str) {
        if text.is_empty() {
            return self.search(true);
        }
        match Pattern::parse(text, self.any_case) {
            Err(what) => self.say(what),
            Ok(pattern) => {
                self.pattern = Some(pattern.clone());
                self.begin(Job::Forward { pattern, at: self.here().cursor });
            }
        }
    }

    /// `:123`, `:0x7b`, `:line 5`, `:q`.
    fn go(&mut self, to: &str) {
        if to.is_empty() {
            return;
        }
        if to == "q" {
            return self.leave();
        }
        if let Some(line) = to.strip_prefix("line ").map(str::trim) {
            return match line.parse::<u64>() {
                Ok(line) if line > 0 => self.begin(Job::Line { line, from: None }),
                _ => self.say("a line is a number from 1 on"),
            };
        }
        let offset = match to.strip_prefix("0x").or(to.strip_prefix("0X")) {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => to.parse::<u64>(),
        };
        match offset {
            Ok(offset) if offset < self.here().bytes => self.jump(offset),
            Ok(_) => self.say(format!("the stream has {} bytes", self.here().bytes)),
            Err(_) => self.say("expected :OFFSET, :0xOFFSET or :line N"),
        }
    }

    fn list(&mut self, key: Key, chosen: usize) {
        let findings = self.listed();
        let last = findings.len().saturating_sub(1);
        let page = usize::from(self.layout.sheet().max(2)) - 1;
        let to = match key {
            Key::Up | Key::Char('k' | 'N') => chosen.saturating_sub(1),
            Key::Down | Key::Char('j' | 'n') => chosen + 1,
            Key::PageUp | Key::Char('b') => chosen.saturating_sub(page),
            Key::PageDown | Key::Char(' ') => chosen + page,
            Key::Home | Key::Char('g') => 0,
            Key::End | Key::Char('G') => last,
            Key::Enter => {
                let finding = findings.get(chosen).copied();
                self.mode = Mode::Browse;
                if let Some(of) = finding {
                    self.go_to(of);
                }
                return;
            }
            Key::Char('I' | 'r') => return self.begin(Job::Read { to: self.here().bytes }),
            Key::Char('s') => {
                self.next_severity();
                0
            }
            Key::Char('?') => {
                self.mode = Mode::Help { top: 0 };
                return;
            }
            _ => {
                self.mode = Mode::Browse;
                return;
            }
        };
        self.mode = Mode::List { chosen: to.min(last) };
    }

    fn help(&mut self, key: Key, top: u16) {
        let to = match key {
            Key::Up | Key::Char('k') => top.saturating_sub(1),
            Key::Down | Key::Char('j') => top + 1,
            Key::PageUp | Key::Char('b') => top.saturating_sub(self.layout.sheet()),
            Key::PageDown | Key::Char(' ') => top + self.layout.sheet(),
            _ => {
                self.mode = Mode::Browse;
                return;
            }
        };
        self.mode = Mode::Help { top: to.min(crate::help::rows()) };
    }
}
