//! `noesc run --detach`, and `ps`, `wait` and `stop` from the side of who calls them.

mod backgrounds;
mod common;

use std::time::{Duration, Instant};

use backgrounds::Home;
use common::{noesc, ran};
use serde_json::json;

#[test]
fn a_run_goes_on_and_is_told_when_it_is_over() {
    let home = Home::new("bg-on");
    let wait = home.folder.name("go");
    let script = format!("echo one; echo err >&2; while ! test -e {wait}; do sleep 0.05; done");
    let id = home.start(&[], &format!("{script}; echo two; exit 5"));
    home.until_printed(&id, "one\n");
    let goes_on = format!("err\nnoesc: {id} goes on\n");
    home.noesc(&["wait", "--time-max", "0s", &id]).is("one\n", &goes_on, 124);
    home.noesc(&["wait", "--time-max", "100ms", &id]).is("one\n", &goes_on, 124);
    assert_eq!(home.state(&id), "running");
    home.folder.write("go", "");
    home.noesc(&["wait", &id]).is("one\ntwo\n", "err\n", 5);
    // As often as it is asked for.
    home.noesc(&["wait", "--time-max", "0s", &id]).is("one\ntwo\n", "err\n", 5);
    assert_eq!(home.state(&id), "ended");
    home.noesc(&["ps", "--json"]).is("", "", 0);
}

#[test]
fn a_record_tells_what_there_is_so_far() {
    let home = Home::new("bg-so-far");
    let script = "printf 'a\\033[31mb\\n'; echo err >&2; sleep 60";
    let ended = home.detached(&["--format", "json"], script);
    assert_eq!((ended.err(), ended.code()), ("", 0));
    let record: serde_json::Value = serde_json::from_str(ended.out()).unwrap();
    let outcome = json!({"kind": "unknown", "why": "still-running", "observed_by": "collector"});
    assert_eq!(record["outcome"], outcome);
    assert_eq!(record["streams"]["stdout"]["view"]["head"], "ab\n");
    assert_eq!(record["streams"]["stdout"]["eof"], false);
    assert_eq!(record["streams"]["stdout"]["cutoff"], "none");
    assert_eq!(record["streams"]["stderr"]["view"]["head"], "err\n");
    let id = record["run"].as_str().unwrap();
    assert_eq!(home.state(id), "running");
    // Later it has run for longer, though it printed nothing.
    std::thread::sleep(Duration::from_millis(900));
    let (before, now) = (record["time"].clone(), home.record(id)["time"].clone());
    assert_eq!(now["started"], before["started"]);
    let ran = |time: &serde_json::Value| time["duration_ms"].as_u64().unwrap();
    assert!(ran(&now) >= ran(&before) + 300, "{before} {now}");
    assert!(now["ended"].as_str() > before["ended"].as_str(), "{before} {now}");
    home.noesc(&["stop", id]).is("", "", 0);
    home.noesc(&["wait", "-q", id]).is("ab\n", "err\n", 143);
}

#[test]
fn every_format_has_the_run_so_far_and_when_it_is_over() {
    let home = Home::new("bg-formats");
    for format in ["lines", "fence", "xml"] {
        let ended = home.detached(&["--format", format], "echo 'a<b'; sleep 60");
        assert_eq!((ended.err(), ended.code()), ("", 0));
        let text = ended.out();
        assert!(text.contains("\"why\":\"still-running\""), "{text}");
        let line = match format {
            "lines" => "out 1│ a<b\n",
            "xml" => "a&lt;b\n",
            _ => "\na<b\n",
        };
        assert!(text.contains(line), "{text}");
        let at = text.find("\"run\":\"").unwrap() + 7;
        let id = &text[at..at + 36];
        home.noesc(&["stop", id]).is("", "", 0);
        let ended = home.noesc(&["wait", "--format", format, id]);
        assert_eq!((ended.err(), ended.code()), ("", 143));
        assert!(ended.out().contains("\"kind\":\"cancelled\",\"signal\":15"), "{}", ended.out());
        assert!(ended.out().contains(line), "{}", ended.out());
    }
}

#[test]
fn one_that_is_over_at_once_is_told_whole() {
    let home = Home::new("bg-at-once");
    let ended = home.detached(&["--format", "json"], "echo a; exit 3");
    assert_eq!((ended.err(), ended.code()), ("", 3));
    let record: serde_json::Value = serde_json::from_str(ended.out()).unwrap();
    assert_eq!(record["outcome"]["code"], 3);
    assert_eq!(record["streams"]["stdout"]["eof"], true);
    let id = record["run"].as_str().unwrap();
    home.noesc(&["wait", id]).is("a\n", "", 3);
}

#[test]
fn every_status_is_given_by_wait() {
    let home = Home::new("bg-status");
    for code in [0, 1, 2, 124, 125, 126, 127, 255] {
        let id = home.start(&[], &format!("exit {code}"));
        home.noesc(&["wait", "-q", &id]).is("", "", code);
    }
    for (name, number) in [("HUP", 1), ("INT", 2), ("KILL", 9), ("TERM", 15)] {
        let id = home.start(&[], &format!("kill -{name} $$"));
        home.noesc(&["wait", "-q", &id]).is("", "", 128 + number);
    }
}

#[test]
fn what_can_not_be_run_leaves_nothing() {
    let home = Home::new("bg-spawn");
    let folder = home.folder.name("");
    let flat = home.folder.write("flat", "x");
    for format in ["text", "json", "lines", "fence", "xml"] {
        for (command, why, code) in [
            ("noesc-no-such-command", "not found", 127),
            (folder.as_str(), "it is a folder", 126),
            (flat.as_str(), "not executable", 126),
        ] {
            // A folder that may not be searched would make a name one that may not be executed.
            let with_path = |arguments: &[&str]| {
                let mut command = home.at(noesc(arguments));
                command.env("PATH", "/usr/bin:/bin");
                ran(command)
            };
            let ended = with_path(&["run", "--detach", "--format", format, "--", command]);
            let said = format!("noesc: error: can not run \"{command}\": {why}\n");
            assert!(ended.err().starts_with(&said), "{}", ended.err());
            assert_eq!((ended.code(), ended.out().is_empty()), (code, format == "text"));
            // The same in the foreground.
            let front = with_path(&["run", "--", command]);
            assert_eq!(ended.err(), front.err());
        }
    }
    assert_eq!(std::fs::read_dir(home.runs()).unwrap().count(), 0);
}

#[test]
fn a_substitution_returns_at_once() {
    let home = Home::new("bg-returns");
    for script in [
        r#"x=$("$N" run --detach -- sleep 300); echo "${#x}""#,
        r#"x=$("$N" run --detach -- sleep 300 2>&1); echo "${#x}""#,
        r#"x=$(exec 7>&1 8>&2; "$N" run --detach -- sleep 300 7>&1 9>&1); echo "${#x}""#,
        r#"x=$("$N" run --detach --format json -- sleep 300 7>&1 | wc -l); echo "36""#,
    ] {
        let start = Instant::now();
        home.shell(script).is("36\n", "", 0);
        assert!(start.elapsed() < Duration::from_secs(100), "{script}: {:?}", start.elapsed());
    }
    assert_eq!(home.listed(&[]).len(), 4);
}

#[test]
fn a_run_is_named_by_the_beginning_of_its_id() {
    let home = Home::new("bg-prefix");
    let one = home.start(&[], "echo one");
    let other = home.start(&[], "echo other");
    home.noesc(&["wait", &one[..36]]).is("one\n", "", 0);
    let common = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    home.noesc(&["wait", &one[..=common]]).is("one\n", "", 0);
    home.noesc(&["wait", &other[..=common]]).is("other\n", "", 0);
    let (first, second) = if one < other { (&one, &other) } else { (&other, &one) };
    for (verb, code) in [("wait", 125), ("stop", 2)] {
        let ambiguous = &one[..common];
        let message = format!(
            "\"{ambiguous}\" is the beginning or end of several runs: {first}, {second}, …"
        );
        home.noesc(&[verb, ambiguous]).refused(&message, code);
        home.noesc(&[verb, "ffff"]).refused("there is no run \"ffff\"", code);
        home.noesc(&[verb, "\u{1b}[2J"]).refused("there is no run \"\\x1b[2J\"", code);
        home.noesc(&[verb, "../.."]).refused("there is no run \"../..\"", code);
    }
    home.noesc(&["wait", ""]).refused("there is no run \"\"", 125);
}

#[test]
fn several_runs_are_listed_and_stopped_at_once() {
    let home = Home::new("bg-several");
    let ids: Vec<String> = (0..3).map(|_| home.start(&[], "sleep 60")).collect();
    let rows = home.listed(&[]);
    let listed: Vec<_> = rows.iter().map(|row| row["run"].as_str().unwrap()).collect();
    assert_eq!(listed, ids);
    // None is stopped when one is not known.
    let ended = home.noesc(&["stop", &ids[0], "ffff", &ids[1]]);
    ended.refused("there is no run \"ffff\"", 2);
    assert_eq!(home.listed(&[]).len(), 3);
    home.noesc(&["stop", &ids[0], &ids[2]]).is("", "", 0);
    let rows = home.listed(&[]);
    assert_eq!(rows.len(), 1);
    assert_eq!((&rows[0]["run"], &rows[0]["state"]), (&json!(ids[1]), &json!("running")));
}

#[test]
fn many_at_once_are_each_told() {
    let home = Home::new("bg-many");
    let script = r#"
        i=0; while test $i -lt 24; do
            "$N" run --detach -- sh -c "head -c 200000 /dev/zero | tr '\\0' x; echo $i; exit $i" &
            i=$((i+1))
        done; wait"#;
    let ids = home.shell(script);
    let ids: Vec<_> = ids.out().lines().collect();
    assert_eq!(ids.len(), 24);
    let mut codes = Vec::new();
    for id in ids {
        let ended = home.noesc(&["wait", id]);
        assert_eq!(ended.err(), "");
        let number = ended.out().trim_start_matches('x').trim_end().to_owned();
        assert_eq!(ended.out().len(), 200_000 + number.len() + 1);
        assert_eq!(ended.code().to_string(), number);
        codes.push(ended.code());
    }
    codes.sort_unstable();
    assert_eq!(codes, (0..24).collect::<Vec<_>>());
    assert!(home.listed(&[]).is_empty());
}

#[test]
fn bash_completes_the_ids_of_runs() {
    let home = Home::new("bg-complete");
    let (over, on) = (home.start(&[], "true"), home.start(&[], "sleep 60"));
    home.noesc(&["wait", &over]).is("", "", 0);
    std::os::unix::fs::symlink(common::binary(), home.folder.path("noesc")).unwrap();
    let offered = |words: &str| {
        let script = format!(
            r#"PATH=$HERE:$PATH; eval "$(noesc completions bash)"
            COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
            _noesc_run noesc "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD - 1]}}"
            printf '%s\n' "${{COMPREPLY[@]}}""#
        );
        let mut command = home.at(std::process::Command::new("bash"));
        command.args(["--norc", "-c", &script]).env("HERE", &home.folder.0);
        let ended = ran(command);
        assert_eq!((ended.err(), ended.code()), ("", 0), "{words}");
        ended.out().to_owned()
    };
    assert_eq!(offered("noesc stop ''"), format!("{on}\n"));
    // The newest is the first.
    assert_eq!(offered("noesc wait ''"), format!("{on}\n{over}\n"));
    assert_eq!(offered(&format!("noesc wait -q {over} {}", &on[..30])), format!("{on}\n"));
    assert_eq!(offered("noesc wait ffff"), "\n");
    assert_eq!(offered("noesc wait --format x"), "xml\n");
    assert_eq!(offered("noesc wait --quie"), "--quiet\n");
}

#[test]
fn without_a_home_there_is_no_place() {
    let mut command = noesc(["ps"]);
    command.env_remove("HOME").env_remove("XDG_STATE_HOME");
    // The home of the password file is one, too.
    let ended = ran(command);
    assert!(ended.code() == 0 || ended.err().contains("no home folder"), "{ended:?}");
}
