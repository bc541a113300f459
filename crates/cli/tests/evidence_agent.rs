//! A program that runs as the same user, and may read and write all that the user may, against
//! what runs have hidden.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
mod sealing;
mod typing;

use std::path::Path;
use std::process::Command;

use common::{escaped, eventually, ran, spawned};
use sealing::{PASSPHRASE, Sealed};

/// Prints a text that no view shows, which is drawn when it runs: it is in no file but this
/// witness, which the test takes away from the agent.
const HIDING: &str = r#"
marker=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
printf '%s' "$marker" >"$WITNESS"
printf 'shown\n\033]0;%s\007\033P%s\033\\' "$marker" "$marker"
printf '\033]8;;%s\007also shown\n' "$marker" >&2
"#;

/// Runs it, and gives the marker that nobody else knows.
fn hide(sealed: &Sealed, flags: &[&str]) -> String {
    let witness = sealed.home.folder.name("witness");
    let script = sealed.home.folder.write("script.sh", HIDING);
    let mut run = sealed.home.noesc(&[&["run"], flags, &["--", "sh", &script]].concat());
    run.env("WITNESS", &witness);
    let ended = ran(run);
    assert_eq!(ended.code(), 0, "{}", ended.err());
    let marker = std::fs::read_to_string(&witness).unwrap();
    std::fs::remove_file(witness).unwrap();
    assert_eq!(marker.len(), 32);
    for printed in [&ended.stdout, &ended.stderr] {
        assert!(!printed.windows(32).any(|part| part == marker.as_bytes()));
    }
    marker
}

#[test]
fn no_way_of_the_same_user_gives_the_marker_back_and_the_passphrase_does() {
    let sealed = Sealed::new("agent");
    let markers = [&[][..], &["--format", "json"], &["--format", "lines"], &["--pty"]]
        .map(|flags| hide(&sealed, flags));
    // Every file that there is, and what every verb says.
    for marker in &markers {
        assert_eq!(sealed.holding(marker), Vec::<std::path::PathBuf>::new());
    }
    let ids: Vec<String> = sealed.entries().into_iter().map(|(_, entry)| entry.run).collect();
    let mut said = Vec::new();
    for id in &ids {
        for verb in [
            &["show", id][..],
            &["show", id, "--format", "json"],
            &["show", id, "--stream", "stderr"],
            &["search", id, "."],
            &["report", id],
            &["report", id, "--json"],
            &["digest", id],
            &["wait", id],
            &["open", id, "--reason", "x", "--range", "0+999"],
            &["open", id, "--reason", "x", "--as", "raw", "--to", "/dev/stdout"],
        ] {
            let mut asked = sealed.home.detached(verb);
            asked.env("NOESC_IDENTITY", &sealed.identity);
            let ended = ran(asked);
            said.extend([ended.stdout, ended.stderr]);
        }
    }
    for verb in [&["runs", "--json"][..], &["ps", "--all", "--json"], &["ledger", "show"]] {
        let ended = ran(sealed.home.noesc(verb));
        said.extend([ended.stdout, ended.stderr]);
    }
    // A terminal of its own, and every passphrase but the right one.
    for guess in ["", "password", "correct horse batterx"] {
        let end = sealed.open(&[&ids[0], "--range", "0+999"], guess);
        assert_ne!(end.status.code(), Some(0));
        said.extend([end.stdout.into_bytes(), end.shown.into_bytes()]);
    }
    // Its own recipient, from now on: what was sealed before stays as it is.
    let own = sealed.home.folder.name("own.age");
    let recipient = noesc_evidence::create_identity(Path::new(&own), "own passphrase").unwrap();
    let config = sealed.home.config();
    sealed.home.write_config(&format!("recipients = [\"{recipient}\"]\n"));
    let loud = sealed.run(&[], "echo next");
    assert!(loud.err().contains("recipient changed"), "{}", loud.err());
    let args = ["open", &ids[0], "--identity", &own, "--reason", "x", "--range", "0+999"];
    let mut open = sealed.home.typed(&args);
    open.answer("Passphrase for the identity", "own passphrase");
    let end = open.refused("segment 0 is sealed to others than this identity");
    said.extend([end.stdout.into_bytes(), end.shown.into_bytes()]);
    sealed.home.write_config(&config);
    for text in said {
        for marker in &markers {
            assert!(!text.windows(32).any(|part| part == marker.as_bytes()), "{}", escaped(&text));
        }
    }
    // Who has the passphrase sees it.
    for (id, marker) in ids.iter().zip(&markers) {
        let end = sealed.open(&[id, "--as", "audit", "--range", "0+999"], PASSPHRASE);
        assert!(end.stdout.contains(marker.as_str()), "{} {}", end.stdout, end.shown);
    }
}

#[test]
fn nothing_raw_is_on_disk_or_in_what_a_process_shows_of_itself() {
    let sealed = Sealed::new("raw");
    let marker = "f00dfeedf00dfeed";
    let script = sealed.home.folder.write(
        "script.sh",
        // Two halves: the file of the script does not hold it either.
        "printf '\\033]0;%s%s\\007' f00dfeed f00dfeed\nread go\n",
    );
    let mut run = sealed.home.noesc(&["run", "--", "sh", &script]);
    run.stdin(std::process::Stdio::piped()).env("TMPDIR", sealed.home.folder.path("work"));
    let mut child = spawned(run);
    let pid = child.id();
    // The segment that is open after two seconds is on disk, sealed.
    let part = || {
        let runs = std::fs::read_dir(sealed.store().runs_path()).map_err(|e| e.to_string())?;
        let mut parts = runs.flatten().map(|run| run.path().join("sealed.part"));
        let length = parts.find_map(|part| Some(std::fs::metadata(part).ok()?.len()));
        length.filter(|length| *length > 0).ok_or_else(|| "no segment".to_owned())
    };
    eventually(part);
    assert_eq!(sealed.holding(marker), Vec::<std::path::PathBuf>::new());
    for name in ["environ", "cmdline"] {
        // Root may read them of a process that is not dumpable; nobody else.
        let shown = std::fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        assert!(!shown.windows(marker.len()).any(|part| part == marker.as_bytes()), "{name}");
    }
    drop(child.stdin.take());
    let ended = common::ended(child);
    assert!(!ended.out().contains(marker));
    assert_eq!(sealed.holding(marker), Vec::<std::path::PathBuf>::new());
    assert_eq!(sealed.entries().len(), 1);
}

#[test]
fn a_core_is_not_left_where_one_would_be() {
    let sealed = Sealed::new("core");
    let mut shell = Command::new("sh");
    shell.args(["-c", r#"ulimit -c unlimited; exec "$N" run -- sleep 600"#]);
    shell.env("N", common::binary()).current_dir(sealed.home.folder.path("work"));
    shell.env("XDG_CONFIG_HOME", sealed.home.folder.path("config"));
    shell.env("XDG_STATE_HOME", sealed.home.folder.path("state"));
    let child = spawned(shell);
    // The run has begun when its folder is there.
    eventually(|| match std::fs::read_dir(sealed.store().runs_path()).map(Iterator::count) {
        Ok(1) => Ok(()),
        seen => Err(seen),
    });
    common::signal("ABRT", child.id());
    let ended = common::ended(child);
    assert!(!ended.status.success());
    let left: Vec<_> = std::fs::read_dir(sealed.home.folder.path("work")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_hidden_number_is_confirmed_by_no_digest() {
    use sha2::{Digest, Sha256};
    let sealed = Sealed::new("guess");
    // Six digits that nobody is shown.
    let script = "printf 'a\\033]0;%s\\007\\n' 271828\n";
    assert_eq!(sealed.run(&["--format", "json"], script).code(), 0);
    sealed.open(&["last", "--range", "0+99"], PASSPHRASE);
    let everything: Vec<u8> = files(&sealed.home.folder.path("state")).concat();
    let text = String::from_utf8_lossy(&everything).into_owned();
    for raw in [&b"271828"[..], b"a\x1b]0;271828\x07\n", b"\x1b]0;271828\x07", b"0;271828"] {
        let hex: String = Sha256::digest(raw).iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(!text.contains(&hex), "{}", escaped(raw));
    }
    let raw = Sha256::digest(b"a\x1b]0;271828\x07\n");
    let hex: String = raw.iter().map(|byte| format!("{byte:02x}")).collect();
    let asked = ran(sealed.home.noesc(&["digest", "last", "--stream", "stdout", "--equals", &hex]));
    assert_eq!(asked.code(), 2, "{} {}", asked.out(), asked.err());
    let other = "0".repeat(64);
    let guessed =
        ran(sealed.home.noesc(&["digest", "last", "--stream", "stdout", "--equals", &other]));
    assert_eq!((guessed.out(), guessed.err()), (asked.out(), asked.err()));
}

/// Numbers that are hidden in what a filter takes for harmless.
#[test]
fn what_was_removed_is_confirmed_by_no_digest_however_harmless() {
    let sealed = Sealed::new("harmless");
    for printed in [
        "a\\033[271828Cb\\n",
        "a\\033[38;2;27;18;28mb\\n",
        "\\033[27;18Ha\\n",
        "\\033[2;7;1;8;2;8Ja\\n",
        "a\\r\\nb\\nc\\r\\n",
        "\\357\\273\\277a\\n",
    ] {
        let run = sealed.run(&["--format", "json"], &format!("printf '{printed}'"));
        let record: serde_json::Value = serde_json::from_str(run.out()).unwrap();
        let digest = &record["streams"]["stdout"]["digest"];
        assert!(digest.get("raw_hmac").is_some() && digest.get("raw_sha256").is_none(), "{digest}");
    }
    let run = sealed.run(&["--format", "json"], "printf 'what is seen\\n'");
    assert!(run.out().contains("raw_sha256"));
}

/// The ways by which whoever may write the store, and has not the collector's key, could have
/// another recipient taken for the confirmed one.
#[test]
fn a_changed_recipient_is_told_whatever_becomes_of_the_ledger_meanwhile() {
    let sealed = Sealed::new("loud");
    sealed.run(&[], "echo before");
    let own = sealed.home.folder.name("own.age");
    let recipient = noesc_evidence::create_identity(Path::new(&own), "own passphrase").unwrap();
    let ledger = sealed.store().ledger_path();
    let other = format!("recipients = [\"{recipient}\"]\n");
    // The ledger is away when the run begins, and there again when it ends.
    sealed.home.write_config(&other);
    let away = sealed.home.folder.path("away");
    std::fs::rename(&ledger, &away).unwrap();
    let back = format!("mv {} {}", away.display(), ledger.display());
    let run = sealed.run(&[], &back);
    assert!(run.err().contains("recipient changed"), "{}", run.err());
    // None is configured for a while.
    sealed.home.write_config("");
    assert!(sealed.run(&[], "echo none").err().contains("recipient changed"));
    sealed.home.write_config(&other);
    for _ in 0..2 {
        assert!(sealed.run(&[], "echo again").err().contains("recipient changed"));
    }
    let changed: Vec<_> =
        sealed.entries().iter().map(|(_, entry)| entry.recipients_changed).collect();
    assert_eq!(changed, [false, true, true, true, true]);
    let looked = ran(sealed.home.noesc(&["store", "doctor"]));
    assert!(looked.code() == 1 && looked.out().contains("as confirmed"), "{}", looked.out());
}

#[test]
fn a_ledger_without_an_end_keeps_no_run_from_its_command() {
    let sealed = Sealed::new("sparse");
    sealed.run(&[], "echo before");
    let ledger = std::fs::File::options().write(true).open(sealed.store().ledger_path()).unwrap();
    let length = ledger.metadata().unwrap().len();
    ledger.set_len(64 << 30).unwrap();
    let run = sealed.run(&[], "echo printed; exit 7");
    assert_eq!((run.out(), run.code()), ("printed\n", 7));
    assert!(run.err().contains("is not kept whole"), "{}", run.err());
    ledger.set_len(length).unwrap();
    assert_eq!(sealed.run(&[], "echo after").err(), "");
}

fn files(folder: &Path) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => all.extend(files(&path)),
            false => all.push(std::fs::read(path).unwrap()),
        }
    }
    all
}
