//! How each sort of piece looks.

use noesc_grammar::Severity;
use ratatui::style::{Color, Modifier, Style};

use crate::piece::Sort;

/// Styles, with colours or without.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Theme {
    pub(crate) colour: bool,
}

impl Theme {
    pub(crate) fn of(self, sort: Sort, severity: Option<Severity>) -> Style {
        let style = match (self.colour, sort) {
            (true, _) => Style::new().fg(colour(sort)),
            (false, Sort::Text) => Style::new(),
            (false, Sort::LineEnd | Sort::Style) => Style::new().add_modifier(Modifier::DIM),
            (false, _) => Style::new().add_modifier(Modifier::UNDERLINED),
        };
        match severity {
            Some(Severity::High) => style.add_modifier(Modifier::BOLD),
            Some(Severity::Critical) if self.colour => {
                style.bg(Color::Red).fg(Color::White).add_modifier(Modifier::BOLD)
            }
            Some(Severity::Critical) => {
                style.add_modifier(Modifier::BOLD.union(Modifier::UNDERLINED))
            }
            _ => style,
        }
    }

    /// The byte under the cursor, a chosen row, the first row.
    pub(crate) fn chosen(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// Bytes between the mark and the cursor, and what a search found.
    pub(crate) fn marked(self, style: Style) -> Style {
        match self.colour {
            true => style.bg(Color::Blue).fg(Color::White),
            false => style.add_modifier(Modifier::UNDERLINED.union(Modifier::BOLD)),
        }
    }

    pub(crate) fn faint(self) -> Style {
        match self.colour {
            true => Style::new().fg(Color::DarkGray),
            false => Style::new().add_modifier(Modifier::DIM),
        }
    }

    pub(crate) fn severity(self, severity: Severity) -> Style {
        match severity {
            Severity::High | Severity::Critical => self.of(Sort::Acting, Some(severity)),
            _ => Style::new(),
        }
    }
}

const fn colour(sort: Sort) -> Color {
    match sort {
        Sort::Text => Color::Reset,
        Sort::Deceiving => Color::LightRed,
        Sort::LineEnd => Color::DarkGray,
        Sort::Control => Color::Yellow,
        Sort::IllFormed => Color::LightBlue,
        Sort::Style => Color::Cyan,
        Sort::Layout => Color::Green,
        Sort::Acting => Color::Magenta,
        Sort::Open => Color::LightMagenta,
    }
}
