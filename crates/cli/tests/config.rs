//! Configuration: the user's file, a project's, flags; which wins, and what a project may not do.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used)]

mod common;

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{Folder, noesc, ran};
use snapbox::str;

/// The command in a folder, with a user's configuration of this text.
fn configured(folder: &Folder, user: &str, arguments: &[&str]) -> Command {
    std::fs::create_dir_all(folder.path("home/noesc")).unwrap();
    folder.write("home/noesc/config.toml", user);
    let mut command = noesc(arguments);
    command.env("XDG_CONFIG_HOME", folder.path("home")).current_dir(folder.path(""));
    command
}

/// What `noesc config` prints of a key, and its warnings.
fn in_force(user: &str, project: &str, flags: &[&str], key: &str) -> (String, String) {
    static FOLDERS: AtomicUsize = AtomicUsize::new(0);
    let folder = Folder::new(&format!("config-{}", FOLDERS.fetch_add(1, Ordering::Relaxed)));
    if !project.is_empty() {
        folder.write(".noesc.toml", project);
    }
    let arguments: Vec<_> = [&["config"], flags].concat();
    let ended = ran(configured(&folder, user, &arguments));
    let line = ended.out().lines().find(|line| line.starts_with(key)).unwrap().to_owned();
    let root = folder.name("");
    let plain = |text: &str| text.replace(root.trim_end_matches('/'), "DIR");
    (plain(&line), plain(ended.err()))
}

#[test]
fn the_nearer_to_the_command_line_wins() {
    let line = |user, project, flags: &[&str]| in_force(user, project, flags, "cr").0;
    assert_eq!(line("", "", &[]), "cr                   = \"newline\"     # profile agent");
    let user = "cr = \"drop\"";
    let expected = "cr                   = \"drop\"        # \"DIR/home/noesc/config.toml\"";
    assert_eq!(line(user, "", &[]), expected);
    let expected = "cr                   = \"mark\"        # flag";
    assert_eq!(line(user, "", &["--cr", "mark"]), expected);
    assert_eq!(
        line(user, "", &["--no-config"]),
        "cr                   = \"newline\"     # profile agent"
    );
}

#[test]
fn a_flag_undoes_a_switch() {
    let folder = Folder::new("config-switches");
    let input = folder.write("input", "a\x1b]52;c;YQ==\x07\n");
    let filter = |user, flags: &[&str]| {
        let arguments: Vec<_> = [&["filter", &input], flags].concat();
        let ended = ran(configured(&folder, user, &arguments));
        (ended.out().to_owned(), ended.err().is_empty())
    };
    let both = "mark = true\nquiet = true";
    assert_eq!(filter(both, &[]), ("a\u{241b}\n".into(), true));
    assert_eq!(filter(both, &["--mark=false", "--quiet=false"]), ("a\n".into(), false));
    assert_eq!(filter("removed = \"mark\"", &["--mark=false"]).0, "a\n");
    for on in [&["--mark", "--quiet"][..], &["--mark=true", "-q"], &["--mark", "--quiet=true"]] {
        assert_eq!(filter("", on), ("a\u{241b}\n".into(), true));
    }
    let run = ["run", "--quiet=false", "--", "printf", r"\033]52;c;YQ==\007"];
    let ended = ran(configured(&folder, both, &run));
    assert!(ended.err().contains("clipboard-write"), "{ended:?}");
}

#[test]
fn what_is_shown_is_in_force() {
    let line = |user, flags: &[&str], key| in_force(user, "", flags, key).0;
    let (user, flag) = ("# \"DIR/home/noesc/config.toml\"", "# flag");
    let by_mark = format!("\"mark\"        {flag}, by mark");
    for (file, flags, mark, removed) in [
        // One setting, by two names.
        ("", &["--mark"][..], format!("true          {flag}"), by_mark),
        (
            "mark = true",
            &["--removed", "strip"],
            format!("false         {flag}, by removed"),
            format!("\"strip\"       {flag}"),
        ),
        (
            "removed = \"visualize\"",
            &[],
            format!("true          {user}, by removed"),
            format!("\"mark\"        {user}"),
        ),
        (
            "removed = \"mark\"",
            &["--mark=false"],
            format!("false         {flag}"),
            format!("\"strip\"       {flag}, by mark"),
        ),
        ("", &[], "false         # default".into(), "\"strip\"       # default".into()),
    ] {
        assert_eq!(line(file, flags, "mark"), format!("mark                 = {mark}"));
        assert_eq!(line(file, flags, "removed"), format!("removed              = {removed}"));
    }
    let display = &["--profile", "display"];
    assert_eq!(
        line("", display, "style"),
        "style                = \"keep\"        # profile display"
    );
    assert_eq!(line("", display, "cr"), "cr                   = \"drop\"        # profile display");
    assert_eq!(line("", display, "conceal"), "conceal              = \"sequence\"    # default");
    let without = format!("\"parameter\"   {user}, without effect: no style is kept");
    let shown = line("conceal = \"parameter\"", &[], "conceal");
    assert_eq!(shown, format!("conceal              = {without}"));
    let ended = ran(noesc(["config", "--json", "--mark"]));
    let shown: serde_json::Value = serde_json::from_str(ended.out()).unwrap();
    assert_eq!(shown["cr"], serde_json::json!({"value": "newline", "origin": "profile"}));
    let by = serde_json::json!({"value": "mark", "origin": "flag", "by": "mark"});
    assert_eq!(shown["removed"], by);
}

#[test]
fn a_project_may_tighten() {
    for (key, value) in [
        ("profile", "\"audit\""),
        ("mark", "true"),
        ("invisible", "\"show\""),
        ("evidence", "\"required\""),
    ] {
        let (line, warnings) = in_force("", &format!("{key} = {value}"), &[], key);
        assert!(line.contains(value) && line.ends_with("# project \"DIR/.noesc.toml\""), "{line}");
        assert_eq!(warnings, "");
    }
}

#[test]
fn a_project_may_not_loosen() {
    for (key, value) in [
        ("profile", "\"display\""),
        ("profile", "\"agent\""),
        ("mark", "false"),
        ("invisible", "\"keep\""),
        ("invisible", "\"drop\""),
        ("cr", "\"drop\""),
        ("style", "\"keep\""),
        ("conceal", "\"parameter\""),
        ("separators", "\"drop\""),
        ("removed", "\"mark\""),
        ("hidden_text", "\"mark\""),
        ("encoding", "\"gbk\""),
        ("quiet", "true"),
        ("record_command", "\"digest\""),
        ("evidence", "\"off\""),
        ("evidence", "\"auto\""),
        ("store", "\"elsewhere\""),
        ("recipients", "[]"),
        ("identity", "\"elsewhere\""),
        ("approver", "\"elsewhere\""),
        ("approver_identity", "\"elsewhere\""),
        ("raw_digest", "\"keyed\""),
        ("transcript", "false"),
        ("raw_keep", "\"1d\""),
        ("transcript_keep", "\"1d\""),
        ("artifact_bytes_max", "1"),
        ("store_bytes_max", "1"),
        ("store_files_max", "1"),
        ("run_reserve", "1"),
        ("time_max", "\"1s\""),
        ("idle_max", "\"1s\""),
        ("rate_max", "1024"),
        ("capture_bytes_max", "\"none\""),
        ("processes_max", "9"),
        ("drain_max", "\"1s\""),
        ("linger", "\"1s\""),
        ("linger_max", "\"1s\""),
        ("grace", "\"1s\""),
    ] {
        let (line, warnings) = in_force("", &format!("{key} = {value}"), &[], key);
        let (untouched, _) = in_force("", "", &[], key);
        assert_eq!(line, untouched);
        assert!(
            warnings.contains("in \"DIR/.noesc.toml\" is ignored: a project may "),
            "{warnings}"
        );
        assert_eq!(warnings.lines().count(), 1, "{warnings}");
    }
}

#[test]
fn a_hostile_project_file_is_warned_of_and_ignored() {
    for project in ["\"\\u001b]0;x\\u0007\" = 1", "mark = \"\u{202e}", "encoding = \"a\\u001b[2J\""]
    {
        let (line, warnings) = in_force("", project, &[], "profile");
        assert!(line.ends_with("# default"), "{line}");
        assert!(warnings.starts_with("noesc: warning: "), "{warnings:?}");
        assert!(warnings.bytes().all(|b| matches!(b, b'\n' | 0x20..=0x7E)), "{warnings:?}");
    }
}

#[test]
fn what_is_wrong_in_a_project_file_switches_nothing_else_off() {
    let project = "mark = true\ncolour = 1\ncr = \"dorp\"";
    let (line, warnings) = in_force("", project, &[], "mark");
    assert!(line.contains("true") && line.contains("project"), "{line}");
    assert_eq!(warnings.lines().count(), 2, "{warnings}");
    assert!(warnings.contains("unknown key \"colour\"; it is ignored"), "{warnings}");
    // A project does not speak at length in our voice.
    let project = format!("{} = 1", "a".repeat(60_000));
    let (_, warnings) = in_force("", &project, &[], "mark");
    assert!(warnings.len() < 300, "{warnings}");
    let many: String = (0..100).map(|n| format!("k{n} = 1\n")).collect();
    assert_eq!(in_force("", &many, &[], "mark").1.lines().count(), 8);
}

#[test]
fn settings_that_do_not_go_are_refused_and_off_is_shown() {
    let refused = ran(noesc(["config", "--profile", "display", "--cr", "overwrite"]));
    assert_eq!(refused.code(), 2);
    assert_eq!(ran(noesc(["config", "--encoding", "nope"])).code(), 2);
    assert_eq!(ran(noesc(["config", "--off"])).code(), 2);
    let off = ran(noesc(["config", "--profile", "display", "--off"]));
    assert!(off.out().starts_with("off                  = true"), "{}", off.out());
}

#[test]
fn a_mistake_of_the_users_own_is_an_error_with_a_suggestion() {
    let folder = Folder::new("config-mistakes");
    let mut said = String::new();
    for user in [
        "\nproflie = \"agent\"",
        "mark = 1",
        "cr = \"dorp\"",
        "zzz = 1",
        "cr = [1,,",
        "a = \"",
        "mark = tru",
        "cr = \"a\"\n\ncr = \"b\"",
        "[x",
        "time_max = 5",
        "time_max = 1.5",
        "grace = \"5\"",
        "rate_max = \"1k\"",
        "rate_max = 0x400",
        "idle_max = \"9s:halt\"",
        "record_command = \"some\"",
    ] {
        let ended = ran(configured(&folder, user, &["filter"]));
        assert_eq!(ended.code(), 2);
        said.push_str(&ended.err().replace(folder.name("").trim_end_matches('/'), "DIR"));
    }
    snapbox::assert_data_eq!(
        said,
        str![[r#"
noesc: error: "DIR/home/noesc/config.toml" line 2: unknown key "proflie"
noesc: hint: did you mean "profile"?
noesc: error: "DIR/home/noesc/config.toml" line 1: "mark" has a wrong value
noesc: hint: it is true or false
noesc: error: "DIR/home/noesc/config.toml" line 1: "cr" has a wrong value
noesc: hint: it is one of newline, collapse, overwrite, drop, mark
noesc: error: "DIR/home/noesc/config.toml" line 1: unknown key "zzz"
noesc: hint: "noesc config --schema" lists the keys
noesc: error: "DIR/home/noesc/config.toml" line 1 column 9: extra comma in array, expected value
noesc: hint: the file is TOML: one KEY = VALUE a line, such as cr = "drop"
noesc: error: "DIR/home/noesc/config.toml" line 1 column 6: invalid basic string, expected `"`
noesc: hint: the file is TOML: one KEY = VALUE a line, such as cr = "drop"
noesc: error: "DIR/home/noesc/config.toml" line 1 column 8: invalid boolean, expected `true`
noesc: hint: the file is TOML: one KEY = VALUE a line, such as cr = "drop"
noesc: error: "DIR/home/noesc/config.toml" line 3 column 1: duplicate key
noesc: hint: the file is TOML: one KEY = VALUE a line, such as cr = "drop"
noesc: error: "DIR/home/noesc/config.toml" line 1 column 3: unclosed table, expected `]`
noesc: hint: the file is TOML: one KEY = VALUE a line, such as cr = "drop"
noesc: error: "DIR/home/noesc/config.toml" line 1: "time_max" has a wrong value: it has no unit
noesc: hint: a time has its unit: 5ms, 5s, 5m or 5h
noesc: error: "DIR/home/noesc/config.toml" line 1: "time_max" has a wrong value
noesc: hint: a time is a number and its unit: 500ms, 2s, 1.5s, 3m, 1h or 14d
noesc: error: "DIR/home/noesc/config.toml" line 1: "grace" has a wrong value: it has no unit
noesc: hint: a time has its unit: 5ms, 5s, 5m or 5h
noesc: error: "DIR/home/noesc/config.toml" line 1: "rate_max" has a wrong value: it is no size
noesc: hint: a size is a number of bytes: 65536, 64KiB, 1MiB or 1GiB
noesc: error: "DIR/home/noesc/config.toml" line 1: "rate_max" has a wrong value
noesc: hint: a size is a number of bytes: 65536, 64KiB, 1MiB or 1GiB
noesc: error: "DIR/home/noesc/config.toml" line 1: "idle_max" has a wrong value: it names no policy
noesc: hint: what may stand behind the colon is stop, drain or partial
noesc: error: "DIR/home/noesc/config.toml" line 1: "record_command" has a wrong value
noesc: hint: it is one of full, executable, digest

"#]]
    );
}

#[test]
fn settings_take_effect() {
    let folder = Folder::new("config-effect");
    let input = folder.write("input", "a\x1b[1mb\rc\n");
    let view = |user, flags: &[&str]| {
        let arguments: Vec<_> = [&["filter", &input], flags].concat();
        ran(configured(&folder, user, &arguments)).out().to_owned()
    };
    assert_eq!(view("", &[]), "ab\nc\n");
    assert_eq!(view("mark = true", &[]), "a\u{241b}b\nc\n");
    assert_eq!(view("mark = true", &["--removed", "strip"]), "ab\nc\n");
    assert_eq!(view("removed = \"strip\"", &["--mark"]), "a\u{241b}b\nc\n");
    assert_eq!(view("profile = \"display\"", &[]), "a\x1b[1mbc\n\x1b[0m");
    assert_eq!(view("conceal = \"parameter\"", &[]), "ab\nc\n");
    assert_eq!(view("profile = \"audit\"", &[]), r"a\x1b[1mb\x0dc\x0a");
}

#[test]
fn limits_of_the_users_own_hold_for_a_run() {
    let folder = Folder::new("config-limits");
    let outcome = |user, flags: &[&str]| {
        let run = ["run", "--format", "json"];
        let arguments: Vec<_> = [&run[..], flags, &["--", "sleep", "0.4"]].concat();
        let ended = ran(configured(&folder, user, &arguments));
        assert_eq!(ended.err(), "");
        let record: serde_json::Value = serde_json::from_str(ended.out()).unwrap();
        (record["outcome"]["kind"].as_str().unwrap().to_owned(), record["limits"].clone())
    };
    let (kind, limits) = outcome("time_max = \"100ms\"\nrate_max = 1024\ngrace = \"1s\"", &[]);
    assert_eq!(kind, "timed_out");
    assert_eq!(limits["time_max_ms"], serde_json::json!({"value": 100, "policy": "stop"}));
    assert_eq!(limits["rate_max_bytes_per_s"]["value"], 1024);
    assert_eq!(limits["grace_ms"], 1000);
    // A flag may undo what the file says.
    let (kind, limits) = outcome("time_max = \"100ms\"", &["--time-max", "none"]);
    assert_eq!((kind.as_str(), limits.get("time_max_ms")), ("exited", None));
    // What is kept has a limit in the file, and text is not cut by it.
    let user = "capture_bytes_max    = \"1:stop\"";
    ran(configured(&folder, user, &["run", "--", "printf", "abc"])).is("abc", "", 0);
}

#[test]
fn a_named_file_must_be_there() {
    let ended = ran(noesc(["filter", "--config", "missing.toml"]));
    assert_eq!(ended.code(), 2);
    assert!(ended.err().starts_with("noesc: error: can not open \"missing.toml\""));
}

#[test]
fn the_schema_knows_every_key() {
    let schema = ran(noesc(["config", "--schema"])).out().to_owned();
    let config = ran(noesc(["config", "--no-config"])).out().to_owned();
    for line in config.lines().filter(|line| !line.starts_with('#')) {
        let key = line.split_whitespace().next().unwrap();
        assert!(schema.contains(&format!("\"{key}\": {{")), "{key}");
    }
}

#[test]
fn a_project_that_is_trusted_says_how_output_looks_until_it_changes() {
    let folder = Folder::new("config-trust");
    let state = folder.path("state");
    let run = |arguments: &[&str]| {
        let mut command = configured(&folder, "", arguments);
        command.env("XDG_STATE_HOME", &state);
        ran(command)
    };
    let shown = |key: &str| {
        let ended = run(&["config"]);
        let line = ended.out().lines().find(|line| line.starts_with(key)).unwrap().to_owned();
        (line, ended.err().to_owned())
    };
    run(&["config", "trust"]).refused("there is no file of a project", 2);
    let text = "cr = \"drop\"\nstore = \"elsewhere\"\n";
    folder.write(".noesc.toml", text);
    assert!(shown("cr ").0.ends_with("# profile agent"));
    let trusted = run(&["config", "trust"]);
    assert_eq!(trusted.code(), 0);
    let path = folder.name(".noesc.toml");
    let said = format!(
        "noesc: \"{path}\" is trusted until it is changed\nnoesc: cr = \"drop\" is taken\n\
         noesc: store = \"elsewhere\" is never taken from a project\n"
    );
    assert_eq!(trusted.err(), said);
    let (line, warnings) = shown("cr ");
    assert!(line.contains("\"drop\"") && line.contains("# project "), "{line}");
    assert_eq!(warnings.matches("noesc: warning: ").count(), 1, "{warnings}");
    assert!(warnings.contains("store = \"elsewhere\"") && warnings.contains("may not set it"));
    assert!(shown("store ").0.ends_with("# default"));
    // What is never taken is not, whoever trusts the file.
    for (key, value) in [
        ("recipients", "[]"),
        ("encoding", "\"gbk\""),
        ("raw_digest", "\"keyed\""),
        ("evidence", "\"off\""),
        ("time_max", "\"1s\""),
        ("view_bytes_max", "1"),
        ("raw_keep", "\"1d\""),
    ] {
        folder.write(".noesc.toml", format!("{key} = {value}\n"));
        assert_eq!(run(&["config", "trust"]).code(), 0);
        let (line, warnings) = shown(key);
        assert!(
            line.ends_with("# default") && warnings.contains("is ignored"),
            "{line} {warnings}"
        );
    }
    folder.write(".noesc.toml", "style = \"keep\"\n");
    let (line, warnings) = shown("style ");
    assert!(line.ends_with("# profile agent"), "{line}");
    let changed = format!("noesc: warning: \"{path}\" was changed since it was trusted");
    assert!(warnings.starts_with(&changed), "{warnings}");
    // A folder of the same name elsewhere is another one.
    let list = std::fs::read_to_string(folder.path("state/noesc/trusted")).unwrap();
    assert_eq!(list.lines().count(), 1, "{list}");
}

#[test]
fn recipients_are_checked_where_they_are_configured() {
    let one = "age1lvyvwawkr0mcnnnncaghunadrqkmuf9e6507x9y920xxpp866cnql7dp2z";
    let folder = Folder::new("config-recipients");
    let shown = ran(configured(&folder, &format!("recipients = [\"{one}\"]"), &["config"]));
    assert!(shown.out().contains(&format!("recipients           = [\"{one}\"] # ")), "{shown:?}");
    for (value, why) in [
        ("\"age1\"", ""),
        ("[1]", ""),
        ("[\"age1\"]", ": expected a recipient, found 'age1'"),
        (&*format!("[\"{one}\", \"{one}\"]"), ": expected each recipient once, found sha256:"),
    ] {
        let ended = ran(configured(&folder, &format!("recipients = {value}"), &["config"]));
        let expected = format!("line 1: \"recipients\" has a wrong value{why}");
        assert!(ended.err().contains(&expected), "{}", ended.err());
    }
}
