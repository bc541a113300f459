//! Several processes, killed ones, and disks without room: what was acknowledged is there.
#![allow(clippy::unwrap_used, reason = "functions that tests share")]

mod common;

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{Place, example};
use noesc_evidence::{LedgerError, RESERVE_BYTES};

/// The example in a process of its own, on the ledger of a place.
fn writer(place: &Place, count: u64) -> Command {
    let mut command = Command::new(example());
    command.arg("append").arg(&place.ledger).arg(&place.key_file).arg(count.to_string());
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// The indices that a writer was told are on disk. A line that was cut off is none.
fn acknowledged(output: &str) -> Vec<u64> {
    let lines = output.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    lines.filter_map(|line| line.strip_prefix("acknowledged ")?.parse().ok()).collect()
}

/// A number that differs from run to run.
fn random(below: u64) -> u64 {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).unwrap();
    u64::from_le_bytes(bytes) % below
}

#[test]
fn several_writers_lose_nothing() {
    const COUNT: u64 = 25;
    let place = Place::new();
    let writers: Vec<_> = (0..4).map(|_| writer(&place, COUNT).spawn().unwrap()).collect();
    let mut indices = Vec::new();
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        let output = String::from_utf8(output.stdout).unwrap();
        let own = acknowledged(&output);
        assert_eq!(own.len() as u64, COUNT, "{}", output.escape_default());
        assert!(own.is_sorted());
        indices.extend(own);
    }
    indices.sort_unstable();
    assert_eq!(indices, (0..4 * COUNT).collect::<Vec<_>>());
    assert_eq!(place.verify().unwrap().records, 4 * COUNT);
}

#[test]
fn what_was_acknowledged_survives_kill_at_any_moment() {
    let place = Place::new();
    let (mut last, mut torn) = (None, 0);
    for round in 0..60 {
        let mut child = writer(&place, 1_000_000).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(random(30_000)));
        child.kill().unwrap();
        let mut output = String::new();
        child.stdout.take().unwrap().read_to_string(&mut output).unwrap();
        child.wait().unwrap();
        let indices = acknowledged(&output);
        assert!(!output.contains("error"), "{}", output.escape_default());
        assert!(last.into_iter().chain(indices.iter().copied()).is_sorted_by(|a, b| a < b));
        last = indices.last().copied().or(last);
        // A killed process rarely leaves half a record; a lost machine does.
        let bytes = place.bytes();
        if round % 3 == 0 && !bytes.is_empty() {
            torn += 1;
            let part = bytes.len().min(1 + usize::try_from(random(200)).unwrap());
            place.write(&[&bytes[..], &bytes[..part]].concat());
        }
    }
    drop(place.open().unwrap());
    let records = place.verify().unwrap().records;
    assert!(last.is_some_and(|last| records > last), "{last:?} of {records}");
    let recovered = place.told().iter().filter(|(kind, _)| kind == "recovered").count();
    assert!(recovered >= torn, "{recovered} of {torn}");
}

#[test]
fn a_file_that_may_not_grow_leaves_a_ledger_that_opens() {
    const KIB: u64 = 80;
    let limited = |place: &Place, trap: &str| {
        // Whoever started us may ignore it, which bash can not undo.
        let heed = if trap.is_empty() { "env --default-signal=XFSZ" } else { "" };
        let script = format!("{trap} ulimit -f {KIB}; exec {heed} \"$@\"");
        let mut command = Command::new("bash");
        command.args(["-c", &script, "bash"]).arg(example());
        command.arg("append").arg(&place.ledger).arg(&place.key_file).arg("1000");
        command.output().unwrap()
    };
    let output = |stdout: &[u8]| String::from_utf8(stdout.to_vec()).unwrap();

    // The writer is told: nothing is left of the record that had no room.
    let place = Place::new();
    let done = limited(&place, "trap '' XFSZ;");
    let text = output(&done.stdout);
    assert!(text.contains("error: cannot write the ledger "), "{}", text.escape_default());
    let count = acknowledged(&text).len() as u64;
    assert_eq!(place.verify().unwrap().records, count);
    assert!(place.bytes().len() as u64 > KIB * 1024 - 1024);
    assert_eq!(place.open().unwrap().records(), count);

    // The writer is killed in the middle of the record: the next one cuts it.
    let place = Place::new();
    let done = limited(&place, "");
    assert_eq!(done.status.signal(), Some(25), "SIGXFSZ");
    let count = acknowledged(&output(&done.stdout)).len() as u64;
    assert_eq!(place.bytes().len() as u64, KIB * 1024);
    assert!(matches!(place.verify(), Err(LedgerError::Damaged { .. })));
    // Without room for the record that says so, nothing is cut.
    let text = output(&limited(&place, "trap '' XFSZ;").stdout);
    assert!(text.starts_with("error: cannot recover the ledger "), "{}", text.escape_default());
    assert_eq!(place.bytes().len() as u64, KIB * 1024);
    assert_eq!(place.open().unwrap().records(), count + 1);
    assert_eq!(place.told().last().unwrap().0, "recovered");
}

/// What is done on a disk of its own: `$1` a folder to mount it on, `$2` the example, `$3` the key.
const SCRIPT: &str = r#"
set -e
mount -t tmpfs -o size=320k none "$1"
head -c 32768 /dev/zero >"$1/ballast"
write() { "$2" append "$1/ledger" "$3" "$4" || true; }
write "$1" "$2" "$3" 100000; echo "-- still full"
head -c 4194304 /dev/zero >"$1/filler" 2>/dev/null || true
write "$1" "$2" "$3" 100; echo "-- torn while full"
printf '{"index"' | dd of="$1/ledger" bs=1 oflag=append conv=notrunc status=none || true
rm "$1/ballast" "$1/filler"
write "$1" "$2" "$3" 3
[ -s "$1/ledger.reserve" ] && echo "-- reserve is back"
mount -o remount,bind,ro "$1"
write "$1" "$2" "$3" 1
"$2" verify "$1/ledger" "$3"
cp "$1/ledger" "$1/../ledger"
"#;

/// What a script printed that had a small disk of its own; `None` where that is not allowed here.
fn on_small_disk(place: &Place, script: &str) -> Option<String> {
    let mount = place.folder.join("disk");
    std::fs::create_dir(&mount).unwrap();
    let allowed = Command::new("unshare").args(["-rm", "true"]).output();
    if !allowed.is_ok_and(|done| done.status.success()) {
        eprintln!("skipped: this user cannot mount a small disk");
        return None;
    }
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", script, "sh"]).arg(&mount).arg(example());
    let done = command.arg(&place.key_file).output().unwrap();
    Some(String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned())
}

/// Records up to shortly before the end of a page, a torn tail up to its end, and a full disk: the
/// record that replaces the tail needs a page that is not there.
const TORN_SCRIPT: &str = r#"
set -e
mount -t tmpfs -o size=320k none "$1"
size() { echo $(( $(stat -c %s "$1/ledger") % 4096 )); }
"$2" append "$1/ledger" "$3" 1 >/dev/null
while [ "$(size "$1")" -lt 3800 ]; do "$2" append "$1/ledger" "$3" 1 >/dev/null; done
head -c $(( 4096 - $(size "$1") )) /dev/zero >>"$1/ledger"
head -c 4194304 /dev/zero >"$1/filler" 2>/dev/null || true
"$2" append "$1/ledger" "$3" 1
cp "$1/ledger" "$1/../ledger"
"#;

#[test]
fn a_full_disk_takes_the_record_of_a_torn_tail() {
    let place = Place::new();
    let Some(text) = on_small_disk(&place, TORN_SCRIPT) else { return };
    assert!(text.starts_with("acknowledged "), "{}", text.escape_default());
    let told = place.told();
    let kinds: Vec<&str> = told.iter().rev().map(|(kind, _)| kind.as_str()).take(3).collect();
    assert_eq!(kinds, ["run", "recovered", "run"]);
}

#[test]
fn a_full_disk_takes_one_record_that_says_so() {
    let place = Place::new();
    let Some(text) = on_small_disk(&place, SCRIPT) else { return };
    let shown = text.escape_default().to_string().replace("\\n", "\n");
    let errors: Vec<&str> = text.lines().filter(|line| line.starts_with("error")).collect();
    let full = "error: there is no room for a record in the ledger, and it";
    assert_eq!(errors.len(), 3, "{shown}");
    assert!(errors[0].starts_with(&format!("{full} says so: ")), "{shown}");
    assert!(errors[1].starts_with(&format!("{full} cannot say so: ")), "{shown}");
    assert!(errors[2].starts_with("error: cannot open the ledger "), "{shown}");
    assert!(text.contains("-- reserve is back"), "{shown}");

    // Every record that was acknowledged is there, and one more: that there was no room.
    let told = place.told();
    let full = told.iter().filter(|(kind, _)| kind == "full").count();
    let recovered = told.iter().filter(|(kind, _)| kind == "recovered").count();
    let indices = acknowledged(&text);
    assert_eq!((full, told.len()), (1, indices.len() + 1 + recovered), "{shown}");
    assert!(text.contains(&format!("verified {} records", told.len())), "{shown}");
    assert!(told.iter().any(|(_, event)| event.ends_with(",\"refused\":\"run\"}")), "{shown}");
    assert!(place.bytes().len() > RESERVE_BYTES, "{shown}");
}
