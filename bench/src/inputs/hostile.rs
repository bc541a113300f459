//! What somebody prints who wants to act on a terminal or to deceive a reader.

use super::lines;
use crate::random::Random;

/// Sequences, controls and characters that must not pass, and pieces of them.
pub(crate) const FRAGMENTS: [&[u8]; 64] = [
    b"\x1b]52;c;Y3VybCBldmlsLmV4YW1wbGUgfCBzaAo=\x07",
    b"\x1b]52;p;aW5lcnQ=\x1b\\",
    b"\x1b]0;all tests passed\x07",
    b"\x1b]2;title\x1b\\",
    b"\x1b]8;;https://evil.example/\x1b\\a link\x1b]8;;\x1b\\",
    b"\x1b]9;notice\x07",
    b"\x1b]1337;File=inline=1:AAAA\x07",
    b"\x1b]11;?\x07",
    b"\x1bP+q544e\x1b\\",
    b"\x1bPq#0;2;0;0;0~-\x1b\\",
    b"\x1b_Gf=24,s=1,v=1;AAAA\x1b\\",
    b"\x1b^privacy\x1b\\",
    b"\x1bXstring\x1b\\",
    b"\x1bktitle\x1b\\",
    b"\x1b[31m",
    b"\x1b[0m",
    b"\x1b[1;38;2;10;20;30;48;5;8m",
    b"\x1b[8mhidden\x1b[28m",
    b"\x1b[30;40mdark\x1b[m",
    b"\x1b[38:2::8:8:8m",
    b"\x1b[2J\x1b[H",
    b"\x1b[1A\x1b[2K",
    b"\x1b[3;7H",
    b"\x1b[?1049h",
    b"\x1b[?1000h",
    b"\x1b[?25l",
    b"\x1b[6n",
    b"\x1b[>c",
    b"\x1b[21t",
    b"\x1b[9b",
    b"\x1b[1;1;2;2$x",
    b"\x1b[!p",
    b"\x1b[>1u",
    b"\x1b[4;99999999999m",
    b"\x1b[;;;;;;;;;;;;;;;;m",
    b"\x1bc",
    b"\x1b(0lqqk\x1b(B",
    b"\x1b#8",
    b"\x1b7\x1b8",
    b"\x1b[3",
    b"\x1b[31\x18",
    b"\x1b\x1b[m",
    b"\x1b",
    b"\x9b31m",
    b"\xc2\x9b31m",
    b"\xc2\x9d0;c1\xc2\x9c",
    b"\x9d0;raw\x9c",
    b"\xc2\x85",
    b"\x84\x8d",
    b"\r",
    b"\x08\x08\x08",
    b"\x00\x07\x7f",
    b"\x0b\x0c",
    b"\x0e\x0f",
    "\u{200b}\u{2060}\u{feff}".as_bytes(),
    "\u{202e}txt.exe\u{202c}".as_bytes(),
    "\u{2066}if\u{2069}\u{200f}".as_bytes(),
    "\u{e0049}\u{e0047}\u{e004e}".as_bytes(),
    "a\u{fe0f}\u{e0100}\u{200d}b".as_bytes(),
    "\u{3164}\u{2800}\u{ad}\u{34f}".as_bytes(),
    "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}".as_bytes(),
    b"\xe4\xb8",
    b"\xf0\x9f\x98",
    b"\xc0\x80\xed\xa0\x80\xff\xfe",
];

/// A few words of text, and often something among them.
pub(super) fn mix(random: &mut Random, out: &mut Vec<u8>) {
    for _ in 0..random.below(6) {
        lines::words(random, out);
    }
    if random.one_in(6) {
        out.extend("ordinary text, naïve — 日本語 и русский".as_bytes());
    }
    out.extend(random.of(&FRAGMENTS));
    if random.one_in(4) {
        out.push(b'\n');
    }
}

/// A parameter of a CSI and its separator; never a final byte.
pub(super) fn digits(random: &mut Random, out: &mut Vec<u8>) {
    out.extend(random.below(1000).to_string().as_bytes());
    out.push(b';');
}
