//! What is kept of runs: sealed bytes, records in the ledger, transcripts.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use noesc_envelope::{Envelope, Evidence as State, StreamName};
use noesc_evidence::{
    Artifacts, Identity, Opened, Quota, Recipients, RunEntry, SEGMENT_BYTES_MAX, SealOptions,
    Sealer, Store, read,
};
use noesc_session::{
    Command, Evidence, Limits, Outlet, Recovered, Settings, collect, live, recover,
};

struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("noesc-keep-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }

    fn evidence(&self, to: Option<&Identity>) -> Evidence {
        Evidence {
            store: Store::at(&self.0),
            recipients: to.map(|to| Recipients::new(to.recipients()).unwrap()),
            is_required: false,
            transcript_bytes_max: Some(1024 * 1024),
            quota: Quota::default(),
        }
    }

    fn entries(&self) -> Vec<(String, RunEntry)> {
        let store = Store::at(&self.0);
        let mut entries = Vec::new();
        let wait = Duration::from_secs(60);
        let key = store.key().unwrap();
        read(&store.ledger_path(), key.verifier(), wait, |record, _| {
            if let "run" | "recovered" = record.kind {
                let entry = serde_json::from_str(record.event).unwrap();
                entries.push((record.kind.to_owned(), entry));
            }
        })
        .unwrap();
        entries
    }

    /// Everything in it, as bytes.
    fn holds(&self, word: &[u8]) -> bool {
        let mut folders = vec![self.0.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => {
                        let bytes = fs::read(&path).unwrap();
                        if bytes.windows(word.len()).any(|part| part == word) {
                            return true;
                        }
                    }
                }
            }
        }
        false
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The text that nobody is shown is put together by the shell: a record holds the command.
const SCRIPT: &str =
    r"printf 'shown\n\033]52;c;aGlk''ZGVu\007\033[31mred\n'; printf 'e\n' >&2; exit 3";

fn settings(evidence: Evidence) -> Settings {
    Settings { evidence: Some(evidence), ..Settings::default() }
}

fn sealed(record: &Envelope) -> String {
    match &record.evidence {
        State::Sealed { raw_artifact, .. } => raw_artifact.to_string(),
        other => panic!("{other:?}"),
    }
}

fn stream(opened: &mut Opened<'_>, number: usize) -> Vec<u8> {
    let mut bytes = vec![0; 1024];
    let count = opened.read_at(number, 0, &mut bytes).unwrap();
    bytes.truncate(count);
    bytes
}

#[test]
fn what_was_printed_is_sealed_and_the_ledger_tells_of_it() {
    let (place, identity) = (Place::new("sealed"), Identity::generate());
    let settings = settings(place.evidence(Some(&identity)));
    let command = Command::new(["sh", "-c", SCRIPT]);
    let run = collect(&command, &Limits::default(), &settings, 1024).unwrap();
    let (name, id) = (sealed(&run.envelope), run.envelope.run.to_string());
    let entries = place.entries();
    let [(kind, entry)] = &entries[..] else { panic!("{entries:?}") };
    assert_eq!((kind.as_str(), &entry.run, &entry.artifact), ("run", &id, &Some(name.clone())));
    assert_eq!((entry.outcome.as_str(), entry.code), ("exited", Some(3)));
    assert_eq!(
        (entry.findings.clone(), entry.severity.as_str()),
        (vec!["clipboard-write".into()], "high")
    );
    assert!(entry.raw["stdout"].starts_with("hmac-sha256:"), "{entry:?}");
    assert_eq!(entry.store.files, 2);
    let store = Store::at(&place.0);
    let artifact = store.open(&id, name.parse().unwrap()).unwrap();
    artifact.verify(name.parse().unwrap()).unwrap();
    let mut opened = artifact.unlock(&identity).unwrap();
    assert_eq!(stream(&mut opened, 0), b"shown\n\x1b]52;c;aGlkZGVu\x07\x1b[31mred\n");
    assert_eq!(stream(&mut opened, 1), b"e\n");
    let opening = str::from_utf8(opened.opening()).unwrap();
    assert!(opening.contains(r#""argv":["sh","-c","#), "{opening}");
    assert!(!place.holds(b"aGlkZGVu"));
    let folder = store.runs_path().join(&id);
    assert_eq!(fs::read_to_string(folder.join("stdout.txt")).unwrap(), "shown\nred\n");
    assert_eq!(fs::read_to_string(folder.join("stderr.txt")).unwrap(), "e\n");
}

#[test]
fn a_live_run_is_kept_as_well() {
    let (place, identity) = (Place::new("live"), Identity::generate());
    let settings = settings(place.evidence(Some(&identity)));
    let null = || Outlet::duplicate(fs::File::options().write(true).open("/dev/null").unwrap());
    let command = Command::new(["sh", "-c", SCRIPT]);
    let (out, err) = (null().unwrap(), null().unwrap());
    let ran = live(&command, &Limits::default(), &settings, out, err).unwrap();
    let record = ran.record.unwrap();
    let id = record.run.to_string();
    assert_eq!(place.entries()[0].1.run, id);
    let runs = noesc_session::Runs::at(Store::at(&place.0).runs_path());
    let stored = runs.find("x").err().map(|_| runs.find(&id).unwrap()).unwrap();
    assert_eq!(stored.record().unwrap().evidence, record.evidence);
    assert_eq!(record.streams[&StreamName::Stdout].report.findings.len(), 1);
    assert!(!place.holds(b"aGlkZGVu"));
}

#[test]
fn without_a_recipient_there_is_a_record_and_nothing_raw() {
    let place = Place::new("none");
    let settings = settings(place.evidence(None));
    let run = collect(&Command::new(["sh", "-c", SCRIPT]), &Limits::default(), &settings, 99);
    let expected = State::NotKept { reason: "no recipient".into() };
    assert_eq!(run.unwrap().envelope.evidence, expected);
    let entry = &place.entries()[0].1;
    assert_eq!((entry.evidence.as_str(), entry.artifact.as_deref()), ("not-kept", None));
    assert!(!place.holds(b"aGlkZGVu"));
}

#[test]
fn a_run_that_has_to_be_kept_is_not_begun_where_it_can_not_be() {
    let place = Place::new("required");
    let witness = std::env::temp_dir().join(format!("noesc-keep-ran-{}", std::process::id()));
    let evidence = Evidence { is_required: true, ..place.evidence(None) };
    let command = Command::new(["touch".into(), witness.clone().into_os_string()]);
    let error = collect(&command, &Limits::default(), &settings(evidence), 99).unwrap_err();
    assert_eq!(error.to_string(), "no evidence of it can be kept: no recipient");
    assert!(!witness.exists());
    assert_eq!(fs::read_dir(Store::at(&place.0).runs_path()).unwrap().count(), 0);
}

#[test]
fn a_store_that_can_not_be_used_stops_no_run() {
    let place = Place::new("file");
    fs::write(&place.0, b"in the way").unwrap();
    for (to, is_failed) in [(None, false), (Some(Identity::generate()), true)] {
        let settings = settings(place.evidence(to.as_ref()));
        let run = collect(&Command::new(["true"]), &Limits::default(), &settings, 99).unwrap();
        let evidence = run.envelope.evidence;
        assert_eq!(matches!(evidence, State::Failed { .. }), is_failed, "{evidence:?}");
    }
    fs::remove_file(&place.0).unwrap();
}

/// The folder of a run as a collector leaves it that is killed: how much was pushed.
fn left(place: &Place, to: &Identity, id: &str, bytes: usize) -> PathBuf {
    let store = Store::at(&place.0);
    store.prepare().unwrap();
    let folder = store.runs_path().join(id);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("attended"), "").unwrap();
    for folder in [store.runs_path(), folder.clone()] {
        fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    }
    let recipients = Recipients::new(to.recipients()).unwrap();
    let options = SealOptions { recipients, bytes_max: u64::MAX };
    let mut sealer = Sealer::new(store.begin(id).unwrap(), &options, b"{}");
    sealer.push(0, 0, &vec![b'x'; bytes]);
    if bytes > SEGMENT_BYTES_MAX {
        // What was handed on is written; the rest is lost with the process.
        drop(sealer.finish(b"{}"));
        let part = folder.join("sealed.part");
        let file = fs::File::options().write(true).open(&part).unwrap();
        file.set_len(fs::metadata(&part).unwrap().len() - 1).unwrap();
    }
    folder
}

#[test]
fn what_a_killed_collector_leaves_is_made_whole_once() {
    let (place, identity) = (Place::new("killed"), Identity::generate());
    let (one, two) =
        ("0198c1a2-0000-7000-8000-000000000001", "0198c1a2-0000-7000-8000-000000000002");
    left(&place, &identity, one, 10);
    left(&place, &identity, two, SEGMENT_BYTES_MAX + 10);
    let store = Store::at(&place.0);
    let recovered = recover(&store).unwrap();
    let [nothing, some] = &recovered[..] else { panic!("{recovered:?}") };
    assert_eq!((nothing.run.as_str(), nothing.artifact), (one, None));
    let Recovered { run, artifact: Some(id), is_complete: false } = some else {
        panic!("{some:?}")
    };
    assert_eq!(run.as_str(), two);
    let artifact = store.open(two, *id).unwrap();
    artifact.verify(*id).unwrap();
    let opened = artifact.unlock(&identity).unwrap();
    assert!(opened.stream_bytes(0) > SEGMENT_BYTES_MAX as u64 - 100);
    let entries = place.entries();
    let told: Vec<_> = entries
        .iter()
        .map(|(kind, entry)| (kind.as_str(), entry.run.as_str(), entry.evidence.as_str()))
        .collect();
    assert_eq!(told, [("recovered", one, "failed"), ("recovered", two, "sealed")]);
    assert_eq!(entries[0].1.started, "2025-08-19T09:21:16.288Z");
    assert_eq!(recover(&store).unwrap(), []);
    assert_eq!(place.entries().len(), 2);
}

#[test]
fn a_run_that_the_ledger_knows_is_not_told_again() {
    let (place, identity) = (Place::new("known"), Identity::generate());
    let settings = settings(place.evidence(Some(&identity)));
    let run = collect(&Command::new(["true"]), &Limits::default(), &settings, 99).unwrap();
    let folder = Store::at(&place.0).runs_path().join(run.envelope.run.as_str());
    assert!(!folder.join("attended").exists());
    fs::write(folder.join("attended"), "").unwrap();
    let recovered = recover(&Store::at(&place.0)).unwrap();
    assert!(recovered[0].is_complete && recovered[0].artifact.is_some());
    assert_eq!(place.entries().len(), 1);
    assert!(!folder.join("attended").exists());
}
