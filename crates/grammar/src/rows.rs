//! The grammar itself: one row a byte range, with the action and the next state.
//!
//! tidy: rule table
//!
//! The rows of a state must name every byte exactly once; [`spread`] stops the build otherwise.
//! `next` is also the state in which a byte is read again, for the actions whose name ends in
//! `Again`.
//!
//! Deviations from ECMA-48 and from Williams's parser, all of them on purpose:
//!
//! * LF and CR end an escape, a CSI, a title and a string opened by an encoded C1, and any string
//!   that has reached its limit. Williams executes them and stays.
//! * BEL ends every control string, not only OSC.
//! * Bytes ≥ 80 abort an escape and a CSI; a sequence never swallows a character.
//! * The colon is a parameter byte like any other; nothing leads to an "ignore" state, a sequence
//!   that breaks a rule is marked malformed and goes on to its final byte.
//! * NUL and DEL inside a sequence are part of it and make it malformed.
//! * `ESC k` opens a title, as GNU screen and tmux have it.
//! * A raw C1 introducer of a string is tentative: on a terminal that reads Latin-1 it is a
//!   string, in most real output it is a letter of an undeclared encoding.

use Action::*;
use State::*;

/// Where the parser stands between two bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum State {
    /// Outside of any sequence.
    Ground,
    /// Inside a character: one, two, three continuation bytes to come.
    Tail1,
    Tail2,
    Tail3,
    /// Inside a character whose second byte is restricted, named by its lead.
    TailC2,
    TailE0,
    TailEd,
    TailF0,
    TailF4,
    /// After ESC, after ESC and an intermediate.
    Escape,
    EscapeInter,
    /// After CSI, after an intermediate of it.
    Csi,
    CsiInter,
    /// Inside a control string; ESC or C2 was read and may begin ST.
    Str,
    StrEsc,
    StrC2,
    /// Inside a character of a control string (so that its 9C is no ST).
    StrTail1,
    StrTail2,
    StrTail3,
    StrE0,
    StrEd,
    StrF0,
    StrF4,
    /// After a raw C1 introducer: all is held until a terminator decides.
    Raw,
    RawEsc,
    RawC2,
}

/// What is done with a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Action {
    /// The byte is text.
    Text,
    /// The byte is a single control.
    Control,
    /// The byte is an ill-formed sequence of its own.
    IllFormed,
    /// The byte begins a character, goes on with it, ends it.
    Lead,
    Tail,
    Char,
    /// The held character is cut: ill-formed; the byte is read again.
    CutAgain,
    /// The byte ends an encoded C1 that is a single control, or one that begins a sequence.
    C1,
    C1Open,
    /// ESC or raw CSI: a sequence begins.
    Open,
    /// A raw C1 introducer of a string: held.
    Hold,
    /// Part of the sequence, which is malformed.
    Skip,
    /// Acts as in ground while the sequence stays open, malformed.
    Act,
    /// CAN and SUB: the sequence ends aborted, with this byte.
    Abort,
    /// The sequence ends aborted before this byte, which is read again.
    AbortAgain,
    /// The same for LF and CR, after which a split introducer is looked for.
    LineAgain,
    /// `[ ] P X ^ _ k` directly after ESC.
    Introduce,
    /// Intermediate or parameter; a parameter where none may stand.
    Collect,
    Late,
    /// Final byte: the sequence is complete.
    Final,
    /// A byte of a control string.
    Payload,
    /// LF or CR in a control string: its limit and its introducer decide.
    Line,
    /// BEL, or the last byte of ST.
    Close,
    /// ESC or C2 that may begin ST.
    Perhaps,
    /// The held C2 and this byte are payload; the held C2 is, and the byte is read again.
    Both,
    C2Again,
    /// A character of the payload is cut; nothing to do, the byte is read again.
    Again,
    /// The string ended at the ESC before this byte, which is read again after that ESC.
    EscAgain,
    /// A byte of a tentative string.
    Held,
    /// The tentative string is one.
    HeldClose,
    /// It is none: introducer ill-formed, held bytes text; the byte is read again in ground, after
    /// the ESC, or after the C2 that might have begun ST.
    HeldAgain,
    HeldEscAgain,
    HeldC2Again,
}

/// One cell of the table.
#[derive(Clone, Copy)]
pub(crate) struct Rule {
    pub(crate) action: Action,
    pub(crate) next: State,
}

type Row = (u8, u8, Action, State);

/// Spreads rows over the 256 bytes. Stops the build if a byte has no rule, or two.
const fn spread(rows: &[Row]) -> [Rule; 256] {
    let mut cells = [Rule { action: Text, next: Ground }; 256];
    let mut ruled = [false; 256];
    let mut r = 0;
    while r < rows.len() {
        let (first, last, action, next) = rows[r];
        assert!(first <= last, "a row is upside down");
        let mut byte = first as usize;
        while byte <= last as usize {
            assert!(!ruled[byte], "a byte has two rules");
            ruled[byte] = true;
            cells[byte] = Rule { action, next };
            byte += 1;
        }
        r += 1;
    }
    let mut byte = 0;
    while byte < 256 {
        assert!(ruled[byte], "a byte has no rule");
        byte += 1;
    }
    cells
}

/// The rows of a state inside a character: bytes `first..=last` go on, all others are read again.
const fn tail(first: u8, last: u8, on: (Action, State), off: (Action, State)) -> [Rule; 256] {
    if last == 0xFF {
        return spread(&[(0x00, first - 1, off.0, off.1), (first, last, on.0, on.1)]);
    }
    spread(&[
        (0x00, first - 1, off.0, off.1),
        (first, last, on.0, on.1),
        (last + 1, 0xFF, off.0, off.1),
    ])
}

const CUT: (Action, State) = (CutAgain, Ground);
const STR: (Action, State) = (Again, Str);

pub(crate) static TABLE: [[Rule; 256]; 26] = [
    // Ground
    spread(&[
        (0x00, 0x08, Control, Ground),
        (0x09, 0x0A, Text, Ground), // TAB, LF
        (0x0B, 0x1A, Control, Ground),
        (0x1B, 0x1B, Open, Escape),
        (0x1C, 0x1F, Control, Ground),
        (0x20, 0x7E, Text, Ground),
        (0x7F, 0x7F, Control, Ground), // DEL
        (0x80, 0x8F, IllFormed, Ground),
        (0x90, 0x90, Hold, Raw), // DCS
        (0x91, 0x97, IllFormed, Ground),
        (0x98, 0x98, Hold, Raw), // SOS
        (0x99, 0x9A, IllFormed, Ground),
        (0x9B, 0x9B, Open, Csi),
        (0x9C, 0x9C, IllFormed, Ground), // a lone ST
        (0x9D, 0x9F, Hold, Raw),         // OSC, PM, APC
        (0xA0, 0xC1, IllFormed, Ground),
        (0xC2, 0xC2, Lead, TailC2),
        (0xC3, 0xDF, Lead, Tail1),
        (0xE0, 0xE0, Lead, TailE0),
        (0xE1, 0xEC, Lead, Tail2),
        (0xED, 0xED, Lead, TailEd),
        (0xEE, 0xEF, Lead, Tail2),
        (0xF0, 0xF0, Lead, TailF0),
        (0xF1, 0xF3, Lead, Tail3),
        (0xF4, 0xF4, Lead, TailF4),
        (0xF5, 0xFF, IllFormed, Ground),
    ]),
    // Tail1, Tail2, Tail3
    tail(0x80, 0xBF, (Char, Ground), CUT),
    tail(0x80, 0xBF, (Tail, Tail1), CUT),
    tail(0x80, 0xBF, (Tail, Tail2), CUT),
    // TailC2
    spread(&[
        (0x00, 0x7F, CutAgain, Ground),
        (0x80, 0x8F, C1, Ground),
        (0x90, 0x90, C1Open, Str), // DCS
        (0x91, 0x97, C1, Ground),
        (0x98, 0x98, C1Open, Str), // SOS
        (0x99, 0x9A, C1, Ground),
        (0x9B, 0x9B, C1Open, Csi),
        (0x9C, 0x9C, C1, Ground),  // a lone ST
        (0x9D, 0x9F, C1Open, Str), // OSC, PM, APC
        (0xA0, 0xBF, Char, Ground),
        (0xC0, 0xFF, CutAgain, Ground),
    ]),
    // TailE0, TailEd, TailF0, TailF4: no overlong form, no surrogate, nothing above 10FFFF
    tail(0xA0, 0xBF, (Tail, Tail1), CUT),
    tail(0x80, 0x9F, (Tail, Tail1), CUT),
    tail(0x90, 0xBF, (Tail, Tail2), CUT),
    tail(0x80, 0x8F, (Tail, Tail2), CUT),
    // Escape
    spread(&[
        (0x00, 0x00, Skip, Escape), // NUL
        (0x01, 0x09, Act, Escape),
        (0x0A, 0x0A, LineAgain, Ground), // LF
        (0x0B, 0x0C, Act, Escape),
        (0x0D, 0x0D, LineAgain, Ground), // CR
        (0x0E, 0x17, Act, Escape),
        (0x18, 0x18, Abort, Ground), // CAN
        (0x19, 0x19, Act, Escape),
        (0x1A, 0x1A, Abort, Ground),      // SUB
        (0x1B, 0x1B, AbortAgain, Ground), // ESC
        (0x1C, 0x1F, Act, Escape),
        (0x20, 0x2F, Collect, EscapeInter),
        (0x30, 0x4F, Final, Ground),
        (0x50, 0x50, Introduce, Str), // P: DCS
        (0x51, 0x57, Final, Ground),
        (0x58, 0x58, Introduce, Str), // X: SOS
        (0x59, 0x5A, Final, Ground),
        (0x5B, 0x5B, Introduce, Csi), // [
        (0x5C, 0x5C, Final, Ground),
        (0x5D, 0x5F, Introduce, Str), // ] ^ _: OSC, PM, APC
        (0x60, 0x6A, Final, Ground),
        (0x6B, 0x6B, Introduce, Str), // k: title
        (0x6C, 0x7E, Final, Ground),
        (0x7F, 0x7F, Skip, Escape), // DEL
        (0x80, 0xFF, AbortAgain, Ground),
    ]),
    // EscapeInter: an introducer here is an ordinary final byte
    spread(&[
        (0x00, 0x00, Skip, EscapeInter),
        (0x01, 0x09, Act, EscapeInter),
        (0x0A, 0x0A, LineAgain, Ground),
        (0x0B, 0x0C, Act, EscapeInter),
        (0x0D, 0x0D, LineAgain, Ground),
        (0x0E, 0x17, Act, EscapeInter),
        (0x18, 0x18, Abort, Ground),
        (0x19, 0x19, Act, EscapeInter),
        (0x1A, 0x1A, Abort, Ground),
        (0x1B, 0x1B, AbortAgain, Ground),
        (0x1C, 0x1F, Act, EscapeInter),
        (0x20, 0x2F, Collect, EscapeInter),
        (0x30, 0x7E, Final, Ground),
        (0x7F, 0x7F, Skip, EscapeInter),
        (0x80, 0xFF, AbortAgain, Ground),
    ]),
    // Csi
    spread(&[
        (0x00, 0x00, Skip, Csi),
        (0x01, 0x09, Act, Csi),
        (0x0A, 0x0A, LineAgain, Ground),
        (0x0B, 0x0C, Act, Csi),
        (0x0D, 0x0D, LineAgain, Ground),
        (0x0E, 0x17, Act, Csi),
        (0x18, 0x18, Abort, Ground),
        (0x19, 0x19, Act, Csi),
        (0x1A, 0x1A, Abort, Ground),
        (0x1B, 0x1B, AbortAgain, Ground),
        (0x1C, 0x1F, Act, Csi),
        (0x20, 0x2F, Collect, CsiInter),
        (0x30, 0x3F, Collect, Csi),
        (0x40, 0x7E, Final, Ground),
        (0x7F, 0x7F, Skip, Csi),
        (0x80, 0xFF, AbortAgain, Ground),
    ]),
    // CsiInter
    spread(&[
        (0x00, 0x00, Skip, CsiInter),
        (0x01, 0x09, Act, CsiInter),
        (0x0A, 0x0A, LineAgain, Ground),
        (0x0B, 0x0C, Act, CsiInter),
        (0x0D, 0x0D, LineAgain, Ground),
        (0x0E, 0x17, Act, CsiInter),
        (0x18, 0x18, Abort, Ground),
        (0x19, 0x19, Act, CsiInter),
        (0x1A, 0x1A, Abort, Ground),
        (0x1B, 0x1B, AbortAgain, Ground),
        (0x1C, 0x1F, Act, CsiInter),
        (0x20, 0x2F, Collect, CsiInter),
        (0x30, 0x3F, Late, CsiInter),
        (0x40, 0x7E, Final, Ground),
        (0x7F, 0x7F, Skip, CsiInter),
        (0x80, 0xFF, AbortAgain, Ground),
    ]),
    // Str
    spread(&[
        (0x00, 0x06, Payload, Str),
        (0x07, 0x07, Close, Ground), // BEL
        (0x08, 0x09, Payload, Str),
        (0x0A, 0x0A, Line, Str),
        (0x0B, 0x0C, Payload, Str),
        (0x0D, 0x0D, Line, Str),
        (0x0E, 0x17, Payload, Str),
        (0x18, 0x18, Abort, Ground), // CAN
        (0x19, 0x19, Payload, Str),
        (0x1A, 0x1A, Abort, Ground),   // SUB
        (0x1B, 0x1B, Perhaps, StrEsc), // perhaps ST
        (0x1C, 0x9B, Payload, Str),
        (0x9C, 0x9C, Close, Ground), // raw ST
        (0x9D, 0xC1, Payload, Str),
        (0xC2, 0xC2, Perhaps, StrC2), // perhaps an encoded ST
        (0xC3, 0xDF, Payload, StrTail1),
        (0xE0, 0xE0, Payload, StrE0),
        (0xE1, 0xEC, Payload, StrTail2),
        (0xED, 0xED, Payload, StrEd),
        (0xEE, 0xEF, Payload, StrTail2),
        (0xF0, 0xF0, Payload, StrF0),
        (0xF1, 0xF3, Payload, StrTail3),
        (0xF4, 0xF4, Payload, StrF4),
        (0xF5, 0xFF, Payload, Str),
    ]),
    // StrEsc
    spread(&[
        (0x00, 0x5B, EscAgain, Escape),
        (0x5C, 0x5C, Close, Ground),
        (0x5D, 0xFF, EscAgain, Escape),
    ]),
    // StrC2
    spread(&[
        (0x00, 0x7F, C2Again, Str),
        (0x80, 0x9B, Both, Str),
        (0x9C, 0x9C, Close, Ground),
        (0x9D, 0xBF, Both, Str),
        (0xC0, 0xFF, C2Again, Str),
    ]),
    // StrTail1, StrTail2, StrTail3, StrE0, StrEd, StrF0, StrF4
    tail(0x80, 0xBF, (Payload, Str), STR),
    tail(0x80, 0xBF, (Payload, StrTail1), STR),
    tail(0x80, 0xBF, (Payload, StrTail2), STR),
    tail(0xA0, 0xBF, (Payload, StrTail1), STR),
    tail(0x80, 0x9F, (Payload, StrTail1), STR),
    tail(0x90, 0xBF, (Payload, StrTail2), STR),
    tail(0x80, 0x8F, (Payload, StrTail2), STR),
    // Raw
    spread(&[
        (0x00, 0x06, HeldAgain, Ground),
        (0x07, 0x07, HeldClose, Ground), // BEL
        (0x08, 0x08, HeldAgain, Ground),
        (0x09, 0x09, Held, Raw), // TAB
        (0x0A, 0x1A, HeldAgain, Ground),
        (0x1B, 0x1B, Perhaps, RawEsc),
        (0x1C, 0x1F, HeldAgain, Ground),
        (0x20, 0x7E, Held, Raw),
        (0x7F, 0x9B, HeldAgain, Ground),
        (0x9C, 0x9C, HeldClose, Ground), // raw ST
        (0x9D, 0xC1, HeldAgain, Ground),
        (0xC2, 0xC2, Perhaps, RawC2),
        (0xC3, 0xFF, HeldAgain, Ground),
    ]),
    // RawEsc
    spread(&[
        (0x00, 0x5B, HeldEscAgain, Escape),
        (0x5C, 0x5C, HeldClose, Ground),
        (0x5D, 0xFF, HeldEscAgain, Escape),
    ]),
    // RawC2
    spread(&[
        (0x00, 0x9B, HeldC2Again, TailC2),
        (0x9C, 0x9C, HeldClose, Ground),
        (0x9D, 0xFF, HeldC2Again, TailC2),
    ]),
];

const _: () = assert!(RawC2 as usize + 1 == TABLE.len(), "a state has no rows");
