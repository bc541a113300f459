//! What a child with a terminal of its own is told when it asks that terminal.

use noesc_capture::{Chunk, Command, Size, Stream};
use noesc_grammar::{Class, Ending, Event, Parser, Sequence};

/// A question that may be answered. None is, unless it was listed: an answer is input that the
/// child's own output causes. The position of the cursor is not among them: it would take a screen
/// to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answer {
    /// Primary device attributes (`CSI c`): a VT220, `CSI ? 62 c`.
    Da1,
    /// Secondary device attributes (`CSI > c`): type and version 0, `CSI > 0 ; 0 ; 0 c`.
    Da2,
    /// Device status (`CSI 5 n`): ready, `CSI 0 n`.
    Status,
    /// The size in cells (`CSI 18 t`): that of the run, `CSI 8 ; ROWS ; COLUMNS t`.
    Size,
}

impl Answer {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Da1, Self::Da2, Self::Status, Self::Size];

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Da1 => "da1",
            Self::Da2 => "da2",
            Self::Status => "status",
            Self::Size => "size",
        }
    }

    /// What a sequence asks.
    fn to(sequence: &Sequence<'_>) -> Option<Self> {
        if sequence.class != Class::Csi || sequence.ending != Ending::Complete || sequence.malformed
        {
            return None;
        }
        match (sequence.collected, sequence.final_byte) {
            (b"" | b"0", b'c') => Some(Self::Da1),
            (b">" | b">0", b'c') => Some(Self::Da2),
            (b"5", b'n') => Some(Self::Status),
            (b"18", b't') => Some(Self::Size),
            _ => None,
        }
    }

    fn text(self, size: Size) -> String {
        match self {
            Self::Da1 => "\x1b[?62c".into(),
            Self::Da2 => "\x1b[>0;0;0c".into(),
            Self::Status => "\x1b[0n".into(),
            Self::Size => format!("\x1b[8;{};{}t", size.rows, size.columns),
        }
    }
}

/// Listens for questions and holds the answers until they are typed.
pub(crate) struct Answers {
    wanted: Vec<Answer>,
    size: Size,
    parser: Parser,
    typed: Vec<u8>,
}

impl Answers {
    /// `None` where nothing is to be answered.
    pub(crate) fn new(command: &Command, wanted: &[Answer]) -> Option<Self> {
        let size = command.terminal.filter(|_| !wanted.is_empty())?;
        let (wanted, parser) = (wanted.to_vec(), Parser::default());
        Some(Self { wanted, size, parser, typed: Vec::new() })
    }

    pub(crate) fn push(&mut self, chunk: &Chunk<'_>) {
        if chunk.stream != Stream::Pty {
            return;
        }
        let Self { wanted, size, parser, typed } = self;
        parser.push(chunk.bytes, &mut |_, event: Event<'_>| {
            if let Event::End(sequence) = event
                && let Some(answer) = Answer::to(&sequence)
                && wanted.contains(&answer)
            {
                typed.extend(answer.text(*size).bytes());
            }
        });
    }

    /// What is to be typed now.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.typed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(wanted: &[Answer], asked: &[u8]) -> String {
        let mut command = Command::new(["true"]);
        command.terminal = Some(Size { columns: 100, rows: 30 });
        let Some(mut answers) = Answers::new(&command, wanted) else { return "none".into() };
        for (at, byte) in asked.iter().enumerate() {
            answers.push(&Chunk::new(at as u64, Stream::Pty, at as u64, &[*byte]));
        }
        String::from_utf8(answers.take()).unwrap()
    }

    #[test]
    fn what_is_listed_is_answered_and_nothing_else() {
        let all = b"a\x1b[cb\x1b[0c\x1b[>c\x1b[5n\x1b[18t\x1b[6n\x1b[?1$p\x1bZ\x05\x1b]11;?\x07";
        let every = "\x1b[?62c\x1b[?62c\x1b[>0;0;0c\x1b[0n\x1b[8;30;100t";
        assert_eq!(answered(&Answer::ALL, all), every);
        assert_eq!(answered(&[Answer::Size], all), "\x1b[8;30;100t");
        assert_eq!(answered(&[], all), "none");
    }

    #[test]
    fn only_whole_questions_count() {
        for asked in
            [&b"\x1b[5\nn"[..], b"\x1b[5\x18n", b"\x1b[1;5n", b"\x1b]5n\x07", b"\x1b[5\x00n"]
        {
            assert_eq!(answered(&Answer::ALL, asked), "", "{}", asked.escape_ascii());
        }
    }
}
