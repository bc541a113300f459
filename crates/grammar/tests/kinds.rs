//! The table of kinds, a row a sequence: every one that the specification lists, with the severity
//! that stands there.

mod common;

use common::whole;
use noesc_testkit::twin::Severity;

/// Name, bytes.
type Row = (&'static str, &'static str);

fn all_are(kind: &str, severity: Severity, rows: &[Row]) {
    for (name, bytes) in rows {
        let parsed = whole(bytes.as_bytes()).parsed;
        let found: Vec<_> =
            parsed.sequences.iter().map(|s| (s.kind, s.severity, s.ending, s.malformed)).collect();
        assert_eq!(found, [(kind, severity, "complete", false)], "{name} {bytes:?}");
    }
}

#[test]
fn style_and_conceal() {
    all_are(
        "style",
        Severity::None,
        &[
            ("SGR", "\x1b[m"),
            ("SGR", "\x1b[0;1;31m"),
            ("38;5;8 is a colour", "\x1b[38;5;8m"),
            ("48;2;8;8;8 is a colour", "\x1b[48;2;8;8;8m"),
            ("58:5:8 is a colour", "\x1b[58:5:8m"),
            ("38:2::8:8:8 is a colour", "\x1b[38:2::8:8:8m"),
            ("28 reveals", "\x1b[28m"),
            ("80 is no 8", "\x1b[80m"),
        ],
    );
    all_are(
        "conceal",
        Severity::None,
        &[
            ("8", "\x1b[8m"),
            ("08", "\x1b[08m"),
            ("8:1", "\x1b[8:1m"),
            ("among others", "\x1b[1;8;31m"),
            ("after a colour", "\x1b[38;5;1;8m"),
            ("after no colour", "\x1b[38;8m"),
            ("after a colon group", "\x1b[38:5:1;8m"),
        ],
    );
}

#[test]
fn what_moves_erases_and_scrolls() {
    all_are(
        "cursor",
        Severity::Low,
        &[
            ("CUU", "\x1b[A"),
            ("CUD", "\x1b[2B"),
            ("CUF", "\x1b[3C"),
            ("CUB", "\x1b[4D"),
            ("CNL", "\x1b[E"),
            ("CPL", "\x1b[F"),
            ("CHA", "\x1b[5G"),
            ("CUP", "\x1b[2;3H"),
            ("VPA", "\x1b[2d"),
            ("HPA", "\x1b[2`"),
            ("HVP", "\x1b[2;3f"),
            ("HPR", "\x1b[2a"),
            ("VPR", "\x1b[2e"),
            ("CBT", "\x1b[Z"),
            ("CHT", "\x1b[I"),
            ("TBC", "\x1b[3g"),
            ("DECSC", "\x1b7"),
            ("DECRC", "\x1b8"),
            ("IND", "\x1bD"),
            ("RI", "\x1bM"),
            ("NEL", "\x1bE"),
            ("HTS", "\x1bH"),
        ],
    );
    all_are(
        "erase",
        Severity::Low,
        &[
            ("ED", "\x1b[2J"),
            ("EL", "\x1b[K"),
            ("ECH", "\x1b[4X"),
            ("DCH", "\x1b[2P"),
            ("DECSED", "\x1b[?2J"),
            ("DECSEL", "\x1b[?K"),
        ],
    );
    all_are(
        "scroll",
        Severity::Low,
        &[
            ("SU", "\x1b[S"),
            ("SD", "\x1b[2T"),
            ("IL", "\x1b[L"),
            ("DL", "\x1b[M"),
            ("ICH", "\x1b[@"),
            ("DECSTBM", "\x1b[1;5r"),
            ("DECSLRM", "\x1b[1;5s"),
            ("DECIC", "\x1b[2'}"),
            ("DECDC", "\x1b[2'~"),
        ],
    );
}

#[test]
fn what_repeats_and_fills() {
    all_are("repeat", Severity::High, &[("REP", "\x1b[9b")]);
    all_are(
        "rectangle",
        Severity::High,
        &[
            ("DECFRA", "\x1b[88;1;1;2;2$x"),
            ("DECCRA", "\x1b[1;1;1;3;1;2;1;1$v"),
            ("DECERA", "\x1b[1;1;2;2$z"),
            ("DECSERA", "\x1b[1;1;2;2${"),
            ("DECCARA", "\x1b[1;1;2;2;7$r"),
            ("DECRARA", "\x1b[1;1;2;2;7$t"),
            ("DECALN", "\x1b#8"),
        ],
    );
}

#[test]
fn modes() {
    all_are(
        "alternate-screen",
        Severity::Low,
        &[
            ("47", "\x1b[?47h"),
            ("1047", "\x1b[?1047l"),
            ("1048", "\x1b[?1048h"),
            ("1049", "\x1b[?1049h"),
            ("among others", "\x1b[?25;1049l"),
        ],
    );
    all_are(
        "mode",
        Severity::Low,
        &[
            ("SM", "\x1b[4h"),
            ("RM", "\x1b[4l"),
            ("DECSET", "\x1b[?25h"),
            ("DECRST", "\x1b[?7l"),
            ("DECSCUSR", "\x1b[2 q"),
            ("DECKPAM", "\x1b="),
            ("DECKPNM", "\x1b>"),
        ],
    );
    all_are(
        "keyboard-protocol",
        Severity::Low,
        &[
            ("push", "\x1b[>1u"),
            ("pop", "\x1b[<u"),
            ("set", "\x1b[=1;1u"),
            ("ask", "\x1b[?u"),
            ("XTMODKEYS", "\x1b[>4;2m"),
            ("2017", "\x1b[?2017h"),
        ],
    );
    all_are(
        "mouse",
        Severity::Low,
        &[("9", "\x1b[?9h"), ("1000", "\x1b[?1000h"), ("1016", "\x1b[?1016l")],
    );
}

#[test]
fn what_makes_the_terminal_answer() {
    all_are(
        "report-query",
        Severity::High,
        &[
            ("DA1", "\x1b[c"),
            ("DA2", "\x1b[>c"),
            ("DA3", "\x1b[=c"),
            ("DSR", "\x1b[5n"),
            ("DSR", "\x1b[?6n"),
            ("CPR", "\x1b[12;40R"),
            ("DECXCPR", "\x1b[?12;40;1R"),
            ("DECRQM", "\x1b[4$p"),
            ("DECRQM", "\x1b[?2026$p"),
            ("DECRQSS", "\x1bP$qm\x1b\\"),
            ("XTGETTCAP", "\x1bP+q544e\x1b\\"),
            ("XTVERSION", "\x1b[>q"),
            ("DECRQCRA", "\x1b[1;1;1;1;1;1*y"),
            ("DECID", "\x1bZ"),
            ("11 t", "\x1b[11t"),
            ("13 t", "\x1b[13t"),
            ("14 t", "\x1b[14t"),
            ("15 t", "\x1b[15t"),
            ("16 t", "\x1b[16t"),
            ("18 t", "\x1b[18t"),
            ("19 t", "\x1b[19t"),
            ("20 t", "\x1b[20t"),
            ("21 t", "\x1b[21t"),
            ("OSC 4", "\x1b]4;1;?\x07"),
            ("OSC 10", "\x1b]10;?\x1b\\"),
            ("OSC 5522", "\x1b]5522;?\x07"),
            ("OSC without number", "\x1b]Pa;?\x07"),
        ],
    );
}

#[test]
fn windows_and_clipboards() {
    all_are(
        "window-title",
        Severity::Low,
        &[
            ("OSC 0", "\x1b]0;t\x07"),
            ("OSC 1", "\x1b]1;t\x07"),
            ("OSC 2", "\x1b]2;t\x1b\\"),
            ("OSC 00", "\x1b]00;t\x1b\\"),
            ("title", "\x1bkt\x1b\\"),
            ("22 t", "\x1b[22;0t"),
            ("23 t", "\x1b[23;0t"),
        ],
    );
    all_are(
        "window-op",
        Severity::Low,
        &[("iconify", "\x1b[2t"), ("resize", "\x1b[8;99;99t"), ("maximise", "\x1b[9;1t")],
    );
    all_are(
        "clipboard-write",
        Severity::High,
        &[
            ("OSC 52", "\x1b]52;c;QQ==\x07"),
            ("OSC 0…052", "\x1b]0000000000000000000000000052;c;QQ==\x07"),
            ("iTerm2", "\x1b]1337;CopyToClipboard=\x07"),
            ("iTerm2", "\x1b]1337;Copy=:QQ==\x07"),
            ("kitty", "\x1b]5522;type=write\x1b\\"),
        ],
    );
    all_are("clipboard-read", Severity::High, &[("OSC 52", "\x1b]52;c;?\x07")]);
}

#[test]
fn operating_system_commands() {
    all_are(
        "hyperlink",
        Severity::Low,
        &[("open", "\x1b]8;;https://a.invalid/\x1b\\"), ("close", "\x1b]8;;\x07")],
    );
    all_are(
        "notification",
        Severity::High,
        &[
            ("OSC 9", "\x1b]9;text\x07"),
            ("OSC 99", "\x1b]99;;text\x1b\\"),
            ("OSC 777", "\x1b]777;notify;a;b\x07"),
        ],
    );
    all_are(
        "palette",
        Severity::Low,
        &[
            ("OSC 4", "\x1b]4;7;#000000\x07"),
            ("OSC 5", "\x1b]5;0;#000000\x07"),
            ("OSC 10", "\x1b]10;#000000\x07"),
            ("OSC 19", "\x1b]19;#000000\x07"),
            ("OSC 104", "\x1b]104\x07"),
            ("OSC 105", "\x1b]105\x07"),
            ("OSC 110", "\x1b]110\x07"),
            ("OSC 119", "\x1b]119\x07"),
            ("Linux P", "\x1b]P7ffffff\x07"),
            ("Linux R", "\x1b]R\x07"),
        ],
    );
    all_are("font", Severity::High, &[("OSC 50", "\x1b]50;fixed\x07")]);
    all_are(
        "shell-integration",
        Severity::High,
        &[("OSC 133", "\x1b]133;A\x07"), ("OSC 633", "\x1b]633;E;x\x07")],
    );
    all_are(
        "shell-integration",
        Severity::Low,
        &[("1337 mark", "\x1b]1337;SetMark\x07"), ("OSC 3008", "\x1b]3008;start=x\x1b\\")],
    );
    all_are(
        "cwd",
        Severity::Low,
        &[("OSC 7", "\x1b]7;file://a.invalid/tmp\x07"), ("OSC 9;9", "\x1b]9;9;x\x07")],
    );
}

#[test]
fn strings_for_devices() {
    all_are(
        "image",
        Severity::Low,
        &[
            ("sixel", "\x1bPq#0~\x1b\\"),
            ("sixel", "\x1bP0;1;0q~\x1b\\"),
            ("kitty", "\x1b_Ga=T;AA==\x1b\\"),
            ("iTerm2", "\x1b]1337;File=inline=1:AA==\x07"),
            ("iTerm2", "\x1b]1337;MultipartFile=inline=1\x07"),
        ],
    );
    all_are("media-copy", Severity::High, &[("MC", "\x1b[5i"), ("MC", "\x1b[?5i")]);
    all_are(
        "passthrough",
        Severity::High,
        &[
            ("tmux", "\x1bPtmux;x\x1b\\"),
            ("1000p", "\x1bP1000p\x1b\\"),
            ("2000p", "\x1bP2000p\x1b\\"),
        ],
    );
    // GNU screen's ends where the sequence in it begins.
    let screen = whole(b"\x1bP\x1b]0;t\x07").parsed.sequences;
    assert_eq!((screen[0].kind, screen[0].severity), ("passthrough", Severity::High));
    all_are(
        "device",
        Severity::High,
        &[
            ("DECUDK", "\x1bP0;1|17/17\x1b\\"),
            ("DECDLD", "\x1bP1;1;1{ @~\x1b\\"),
            ("DECRSTS", "\x1bP1$px\x1b\\"),
        ],
    );
    all_are(
        "charset-shift",
        Severity::Low,
        &[
            ("SCS G0", "\x1b(0"),
            ("SCS G1", "\x1b)B"),
            ("SCS G2", "\x1b*0"),
            ("SCS G3", "\x1b+0"),
            ("SCS 96", "\x1b-A"),
            ("SS2", "\x1bN"),
            ("SS3", "\x1bO"),
            ("LS2", "\x1bn"),
            ("LS3", "\x1bo"),
            ("LS1R", "\x1b~"),
            ("DOCS", "\x1b%G"),
            ("DECDHL", "\x1b#3"),
            ("DECDHL", "\x1b#4"),
            ("DECDWL", "\x1b#6"),
        ],
    );
    all_are("reset", Severity::Low, &[("RIS", "\x1bc"), ("DECSTR", "\x1b[!p")]);
    all_are(
        "other",
        Severity::Low,
        &[
            ("S7C1T", "\x1b F"),
            ("ST alone", "\x1b\\"),
            ("SOS", "\x1bXx\x1b\\"),
            ("PM", "\x1b^x\x1b\\"),
            ("APC", "\x1b_x\x07"),
            ("an unknown OSC", "\x1b]83;x\x07"),
            ("52 is not all of it", "\x1b]52x;c;QQ==\x07"),
        ],
    );
}
