//! The keys, as the overlay lists them.

/// Each key and what it does. `docs/viewer.md` has the same list.
pub(crate) const KEYS: [(&str, &str); 27] = [
    ("h j k l, arrows", "move the cursor"),
    ("Space b, PgDn PgUp", "a page on, a page back"),
    ("Ctrl-D Ctrl-U", "half a page"),
    ("g G, Home End", "first byte, last byte"),
    ("0 $", "first, last byte of the row"),
    (":123 :0x7b", "go to an offset"),
    (":line 5", "go to a line of the stream"),
    ("n N", "next, previous finding"),
    ("s", "only findings this grave, or worse"),
    ("f", "list of findings; Enter goes there"),
    ("/text", "search; \\x1b stands for a byte"),
    ("/x1b 5d", "search for bytes"),
    ("; ,", "search again, backwards"),
    ("c", "searches of either case, or not"),
    ("Tab Shift-Tab", "next, previous stream"),
    ("v", "mark from here; again: no mark"),
    ("y", "copy as text: mark to cursor,"),
    ("", "or what is under the cursor;"),
    ("", "told when you leave"),
    ("i", "read all before this screen"),
    ("I", "read all of the stream"),
    ("Esc Ctrl-C", "give up a search"),
    ("Ctrl-L", "read and draw again"),
    ("Ctrl-Z", "stop; fg goes on"),
    ("?", "this help"),
    ("q", "leave"),
    ("~", "before an offset: not exact yet"),
];

pub(crate) const fn rows() -> u16 {
    KEYS.len() as u16
}
