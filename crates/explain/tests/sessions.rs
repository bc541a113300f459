//! Whole explanations, as a reader sees them.

#![allow(clippy::expect_used)]

use noesc_explain::{Explainer, Layout, Options};

fn explain(input: &[u8], options: Options) -> String {
    let mut explained = String::new();
    let mut explainer = Explainer::new(options);
    explainer.push(input, &mut explained).expect("a string takes anything");
    explainer.finish(&mut explained).expect("a string takes anything");
    explained
}

#[track_caller]
fn assert_explained(input: &[u8], rows: &str) {
    let explained = explain(input, Options::default());
    assert_eq!(format!("\n{explained}"), rows, "{}", input.escape_ascii());
    assert!(explained.lines().all(|line| line.trim_end() == line && line.chars().count() <= 100));
}

#[test]
fn colours() {
    assert_explained(
        b"build: \x1b[31mFAIL\x1b[0m\n",
        r#"
       0  text             "build: "
       7  CSI 31 m         SGR: foreground red                           style
      12  text             "FAIL"
      16  CSI 0 m          SGR: reset                                    style
      20  LF
"#,
    );
}

#[test]
fn line_ends() {
    assert_explained(
        b"\n\n\r\n\r\n50%\r100%\r\r\nend\r\x1b[K\r",
        r#"
       0  LF x2
       2  CR LF x2
       6  text             "50%"
       9  CR               back to the start of the line: what follows is written over it
      10  text CR x2 LF    "100%"
      17  text             "end"
      20  CR               back to the start of the line: what follows is written over it
      21  CSI K            EL: erase from the cursor to the end of the   erase              low
                           line
      24  CR               back to the start of the line: what follows is written over it
"#,
    );
}

#[test]
fn strings_and_their_endings() {
    assert_explained(
        b"\x1b]52;c;?\x07\x1b_x\x07\x1b]0;a\x18\xc2\x9d2;b\n\x1bP\x1b[m\x1b\\\x1b]8;;\x1b",
        r#"
       0  OSC 52           read the clipboard (c); 6 bytes of payload    clipboard-read     HIGH
       9  APC              message to an application: ignored by most,   other              low
                           printed by some; 1 byte of payload; ended by
                           BEL
      13  OSC 0            set the window title and the icon title; 3    window-title       low
                           bytes of payload; aborted by CAN
      19  OSC 2            set the window title; 3 bytes of payload;     window-title       low
                           aborted; C1 in UTF-8
      24  LF
      25  DCS              screen: pass the sequence that follows to the passthrough        HIGH
                           outer terminal; 0 bytes of payload; aborted
      27  CSI m            SGR: reset                                    style
      30  ESC \            ST: end of a control string, with none open   other              low
      32  OSC 8            end of a hyperlink; 3 bytes of payload;       hyperlink          HIGH
                           unterminated
"#,
    );
}

#[test]
fn what_stands_inside_a_sequence() {
    assert_explained(
        b"\x1b[\x07\x071\0;\t5Hx\x1b\n[31m",
        r#"
       0  ...              a sequence begins; what follows stands inside it
       2  BEL x2           ring the bell
       4  ...              the sequence of 0 goes on
       7  text             "<U+0009>"
       8  CSI 1;5 H        CUP: move the cursor to line 1, column 5;     cursor             low
                           malformed; begun at 0
      10  text             "x"
      11  ESC              escape sequence without its final byte;       other              low
                           aborted
      12  LF
      13  !                the next character would go on with the       split-introducer   HIGH
                           sequence of 11, which a line end aborted
      13  text             "[31m"
"#,
    );
}

#[test]
fn hidden_and_deceiving_text() {
    assert_explained(
        "\u{feff}\x1b[8mkey\x1b[0m\x1b[30;40m x\x1b[m\x0elq\x1b)0lq\x0f \
         a\u{202e}b\u{e0041}\u{e0042}\u{e0043}\u{e0044}\u{200d}\n"
            .as_bytes(),
        r#"
       0  text             "<U+FEFF>"
                           ^ 1 character                                 zero-width         info
       3  CSI 8 m          SGR: conceal                                  conceal
       7  text             "key"
                           ^ concealed: a terminal does not show it      hidden-text        HIGH
      10  CSI 0 m          SGR: reset                                    style
      14  CSI 30;40 m      SGR: foreground black, background black       style
      22  text             " x"
                           ^ in the colour of its background: not to be  hidden-text        HIGH
                           seen
      24  CSI m            SGR: reset                                    style
      27  SO               shift to set G1                               charset-shift      low
      28  text             "lq"
      30  ESC ) 0          SCS: make G1 the set: DEC line drawing        charset-shift      low
      33  text             "lq"
                           ^ a terminal shows line drawing instead       charset-shift      HIGH
      35  SI               shift to set G0                               charset-shift      low
      36  text LF          " a<U+202E>b<U+E0041><U+E0042><U+E0043><U+E0044><U+200D>"
                           ^ 1 character                                 bidi-control       HIGH
                           ^ 4 characters                                tag                CRITICAL
                           ^ 1 character                                 joiner             low
"#,
    );
}

#[test]
fn bytes_that_are_no_text() {
    assert_explained(
        b"\0\0\0\x05\x7f\xc2\x85\x84\xff\xfe\xe2\x82|",
        r#"
       0  NUL x3           nothing (padding)
       3  ENQ              ask the terminal for its answerback           report-query       HIGH
       4  DEL              nothing (padding)
       5  NEL              move the cursor to the start of the next line cursor             low
       7  not UTF-8        \x84\xff\xfe\xe2\x82
      12  text             "|"
"#,
    );
    assert_explained(
        b"a\x84b",
        r#"
       0  text             "a"
       1  not UTF-8        \x84 (IND to a terminal of 8 bits)
       2  text             "b"
"#,
    );
}

#[test]
fn long_text_and_long_parameters_are_wrapped() {
    let input = format!("{}\x1b[{}m", "0123456789".repeat(8), vec!["1"; 20].join(";"));
    assert_explained(
        input.as_bytes(),
        r#"
       0  text             "01234567890123456789012345678901234567890123456789012345678901234567890"
      71  text             "123456789"
      80  CSI 1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1...  SGR: bold, bold,     style
                           bold, bold, bold, bold, bold, bold, bold,
                           bold, bold, bold, bold, bold, bold, bold,
                           bold, bold, bold, bold
"#,
    );
}

#[test]
fn payload_and_summary() {
    let options = Options { payload: true, summary: true, ..Options::default() };
    let explained = explain(b"a\x1b]0;t\xc3\xa9\nb\x07\x1b[?1049h", options);
    assert_eq!(
        format!("\n{explained}"),
        r#"
       0  text             "a"
       1  OSC 0            set the window title and the icon title; 7    window-title       CRITICAL
                           bytes of payload; 1 line held back
                           | 0;t\xc3\xa9\x0ab
      11  CSI ?1049 h      DECSET: save the cursor, switch to the        alternate-screen   low
                           alternate screen and erase it (alternate
                           screen)

19 bytes, 1 of text, 0 line ends
   count  first at  what
       1         1  finding    held-back-lines      CRITICAL
       1        11  finding    mode-left-on         HIGH
       1        11  sequence   alternate-screen     low
       1         1  sequence   window-title         low
"#
    );
}

#[test]
fn nothing() {
    let all = Options { summary: true, ..Options::default() };
    assert_eq!(explain(b"", Options::default()), "");
    assert_eq!(explain(b"", all), "\n0 bytes, 0 of text, 0 line ends\n");
    let summary = Options { items: false, ..all };
    assert_eq!(explain(b"a\n", summary), "2 bytes, 1 of text, 1 line end\n");
}

/// What `docs/explain.md` shows is what is written.
#[test]
fn the_session_of_the_docs() {
    const SAMPLE: &[u8] = b"test login ... ok\ntest refund ... FAILED: charged twice\n\
        \x1b[1A\x1b[2Ktest refund ... ok\n\x1b]52;c;Y3VybCBldmlsLmV4YW1wbGUgfCBzaAo=\x07\
        \x1b[32mall 2 tests passed\x1b[0m\n";
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/explain.md");
    let docs = std::fs::read_to_string(docs).expect("the page can be read");
    let rows = Options::default();
    let json = Options { layout: Layout::Json, ..rows };
    for (shown, options) in [
        ("sample", rows),
        ("--payload sample", Options { payload: true, ..rows }),
        ("--summary sample", Options { items: false, summary: true, ..rows }),
        ("--json sample", json),
    ] {
        let explained = explain(SAMPLE, options);
        let (_, after) = docs.split_once(&format!("$ noesc explain {shown}\n")).expect(shown);
        let block = after.split("```").next().unwrap_or_default();
        match block.strip_suffix("...\n") {
            Some(beginning) => assert!(explained.starts_with(beginning), "{shown}"),
            None => assert_eq!(block, explained, "{shown}"),
        }
    }
}
