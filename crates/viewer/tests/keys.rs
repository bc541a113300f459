//! What the keys do, without a terminal.

use noesc_viewer::{Bytes, Key, Start, Viewer};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

fn screen(viewer: &mut Viewer<'_>, columns: u16, rows: u16) -> Vec<String> {
    let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
    viewer.draw(&mut buffer);
    (0..rows)
        .map(|y| (0..columns).map(|x| buffer[(x, y)].symbol()).collect::<String>())
        .map(|row| row.trim_end().to_owned())
        .collect()
}

#[test]
fn a_sequence_is_named() {
    let bytes = b"plain\n\x1b]52;c;aGk=\x07more\xe2\x80\xae\xff\r\n".to_vec();
    let mut original = Bytes::new([("stdout", bytes)]);
    let mut viewer = Viewer::new(&mut original, &Start::default());
    viewer.key(Key::Char('n'));
    while viewer.work() {}
    let rows = screen(&mut viewer, 80, 24);
    assert_eq!(rows[1], r"0000 70 6c 61 69 6e 0a 1b 5d  plain\x0a\x1b]");
    assert_eq!(rows[3], r"0010 3d 07 6d 6f 72 65 e2 80  =\x07more\xe2\x80");
    assert_eq!(
        rows[15..21],
        [
            " OSC 52  clipboard-write HIGH",
            " OSC 52: write the clipboard (c)",
            " bytes 6-17 (0x6), 12 in all",
            " complete, 12 bytes, ended by BEL, 7-bit",
            " payload: 9 bytes, 0 line ends",
            " 52;c;aGk=",
        ]
    );
    assert!(rows[23].starts_with("high: clipboard-write at byte 6  "));
}
