//! Device control strings and application program commands by name.
//!
//! tidy: rule table

use noesc_grammar::Kind;

use crate::meaning::Meaning;

/// What follows the parameters, name, words. The first row that fits holds.
#[rustfmt::skip]
const DCS: &[(&[u8], &str, &str)] = &[
    (b"$q", "DECRQSS", "ask for a setting"),
    (b"$r", "DECRPSS", "a setting (report, as input)"),
    (b"$t", "DECRSPS", "restore the state of the screen"),
    (b"$u", "DECPSR", "the state of the cursor or the tab stops (report, as input)"),
    (b"$p", "DECRSTS", "restore the state of the terminal"),
    (b"$s", "DECTSR", "the state of the terminal or its colours (report, as input)"),
    (b"+q", "XTGETTCAP", "ask for capabilities"),
    (b"+r", "XTGETTCAP", "capabilities (report, as input)"),
    (b"+p", "XTSETTCAP", "set the description of the terminal"),
    (b"!u", "DECAUPSS", "assign the preferred supplemental set"),
    (b"!z", "DECDMAC", "store a macro"),
    (b"!|", "DECRPTUI", "the serial number of the terminal (report, as input)"),
    (b"!~", "DECCKSR", "a checksum (report, as input)"),
    (b"|", "DECUDK", "define function keys: text that a key will type"),
    (b"{", "DECDLD", "load glyphs into a font"),
    (b"\"x", "DECPFK", "define function keys: text that a key will type"),
    (b"q", "sixel", "show an image"),
    (b"p", "ReGIS", "draw in ReGIS"),
];

/// What a payload begins with, and which is no parameter.
#[rustfmt::skip]
const HEADS: &[(&[u8], &str, &str)] = &[
    (b"tmux;", "tmux", "pass a sequence to the terminal outside of tmux"),
    (b"1000p", "tmux -CC", "iTerm2: what follows speaks tmux's control mode"),
    (b"2000p", "ssh hook", "iTerm2: what follows is a hook for ssh"),
    (b"@kitty-cmd", "kitty", "remote command to the terminal"),
    (b"=1s", "BSU", "hold back drawing until the end of the update"),
    (b"=2s", "ESU", "draw the update"),
    (b">|", "XTVERSION", "name and version of the terminal (report, as input)"),
];

/// Intermediates and final byte of a device control string, after its parameters.
pub(crate) fn function(payload: &[u8]) -> Option<&[u8]> {
    let start = payload.iter().position(|b| !(0x30..=0x3F).contains(b))?;
    let rest = &payload[start..];
    let last = rest.iter().take(4).position(|b| !(0x20..=0x2F).contains(b))?;
    rest.get(..=last).filter(|function| (0x40..=0x7E).contains(&function[last]))
}

/// The word that a device control string begins with instead of parameters and a final byte.
pub(crate) fn keyword(payload: &[u8]) -> Option<&'static str> {
    ["tmux;", "@kitty-cmd"].into_iter().find(|word| payload.starts_with(word.as_bytes()))
}

/// A device control string, by its kind, the length of its payload and the head of it.
pub(crate) fn dcs(kind: Kind, payload_bytes: u64, payload: &[u8]) -> Meaning {
    if kind == Kind::Passthrough && payload_bytes == 0 {
        return Meaning::new("screen", "pass the sequence that follows to the outer terminal");
    }
    let without_zeros = payload.iter().position(|&b| b != b'0').unwrap_or(payload.len());
    for bytes in [payload, &payload[without_zeros..]] {
        if let Some(&(_, name, words)) = HEADS.iter().find(|(head, ..)| bytes.starts_with(head)) {
            return Meaning::new(name, words);
        }
    }
    let function = function(payload).unwrap_or_default();
    match DCS.iter().find(|(of, ..)| *of == function) {
        Some(&(_, name, words)) => Meaning::new(name, words),
        None => Meaning::unknown("device control string that no table names"),
    }
}

/// An application program command, by the head of its payload.
pub(crate) fn apc(payload: &[u8]) -> Meaning {
    let [b'G', rest @ ..] = payload else {
        return Meaning::new("APC", "message to an application: ignored by most, printed by some");
    };
    let keys = rest.split(|&b| b == b';').next().unwrap_or_default();
    let action = keys.split(|&b| b == b',').rfind(|pair| pair.starts_with(b"a="));
    let words = match action.and_then(|pair| pair.get(2)) {
        None | Some(b't') => "send an image",
        Some(b'T') => "send and show an image",
        Some(b'p') => "show an image that was sent",
        Some(b'd') => "delete images",
        Some(b'f') => "send a frame of an animation",
        Some(b'a') => "control an animation",
        Some(b'c') => "compose frames of an animation",
        Some(b'q') => "ask whether an image could be shown",
        Some(_) => "graphics command",
    };
    Meaning::new("kitty graphics", words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_words() {
        for (payload, said) in [
            (&b"$qm"[..], "DECRQSS: ask for a setting"),
            (b"+q544e", "XTGETTCAP: ask for capabilities"),
            (b"0;1|17/17", "DECUDK: define function keys: text that a key will type"),
            (b"1;1;1;10;0;2;20;0{ @~", "DECDLD: load glyphs into a font"),
            (b"q#0~~", "sixel: show an image"),
            (b"9;1q", "sixel: show an image"),
            (b"tmux;x", "tmux: pass a sequence to the terminal outside of tmux"),
            (b"01000p", "tmux -CC: iTerm2: what follows speaks tmux's control mode"),
            (b"pS(E)", "ReGIS: draw in ReGIS"),
            (b"1$px", "DECRSTS: restore the state of the terminal"),
            (b">|xterm", "XTVERSION: name and version of the terminal (report, as input)"),
            (b"zHID", "unknown: device control string that no table names"),
        ] {
            let Meaning { name, words } = dcs(Kind::Other, 9, payload);
            assert_eq!(format!("{name}: {words}"), said, "{}", payload.escape_ascii());
        }
        assert_eq!(apc(b"Ga=T;AAAA").words, "send and show an image");
        assert_eq!(apc(b"x").name, "APC");
    }
}
