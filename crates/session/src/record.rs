//! The record of a run: what the collector observed, in the envelope's words.

use std::os::unix::ffi::OsStrExt;
use std::time::{SystemTime, UNIX_EPOCH};

use hmac::{Hmac, KeyInit, Mac};
use noesc_capture::{
    AtLimit, Captured, Command, Cutoff, Exit, Limited, Limits, Outcome, Scope, SpawnReason, Stdin,
    Unknown,
};
use noesc_envelope::{self as envelope, Escaped, RunId};
use sha2::{Digest, Sha256};

use crate::expect::Expect;
use crate::live::Settings;

/// The system gave no random bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoRandomness;

impl std::fmt::Display for NoRandomness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the system gives no random bytes")
    }
}

impl std::error::Error for NoRandomness {}

/// A key drawn per run. A digest of what a view does not show is given under it, so that nobody
/// who reads the record can confirm a guess.
pub(crate) struct RunKey([u8; 32]);

impl RunKey {
    /// The key itself, for the sealed manifest alone.
    pub(crate) fn hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// HMAC-SHA-256 of a SHA-256 digest.
    pub(crate) fn digest(&self, digest: &[u8]) -> [u8; 32] {
        match <Hmac<Sha256> as KeyInit>::new_from_slice(&self.0) {
            Ok(mut mac) => {
                mac.update(digest);
                mac.finalize().into_bytes().into()
            }
            // A key of any length is taken; without a digest nothing can be guessed either.
            Err(_) => [0; 32],
        }
    }
}

/// What identifies a run, drawn before the child starts.
pub(crate) struct Identity {
    pub(crate) run: RunId,
    pub(crate) key: RunKey,
}

impl Identity {
    /// # Errors
    /// When the system gives no random bytes.
    pub(crate) fn draw() -> Result<Self, NoRandomness> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let unix_ms = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        Ok(Self { run: RunId::new(unix_ms, random()?), key: RunKey(random()?) })
    }
}

/// Random bytes of the system.
fn random<const N: usize>() -> Result<[u8; N], NoRandomness> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| NoRandomness)?;
    Ok(bytes)
}

/// A source of nonces for [`envelope::render`].
pub fn nonces() -> impl envelope::NonceSource {
    || random::<16>().ok()
}

/// The record, with the streams as they were observed.
pub(crate) fn envelope(
    identity: &Identity,
    command: &Command,
    captured: &Captured,
    settings: &Settings,
    limits: envelope::Limits,
    streams: Vec<(envelope::StreamName, envelope::Stream)>,
    order: Vec<envelope::OrderEntry>,
) -> envelope::Envelope {
    let started = !matches!(captured.outcome, Outcome::SpawnFailed { .. });
    envelope::Envelope {
        schema: envelope::Schema::default(),
        run: identity.run.clone(),
        tool: envelope::Tool {
            name: "noesc".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            unicode: noesc::UNICODE_VERSION.into(),
        },
        command: recorded(identity, command, captured, settings),
        time: envelope::Time {
            started: captured.started.into(),
            ended: captured.ended.into(),
            duration_ms: u64::try_from(captured.duration.as_millis()).unwrap_or(u64::MAX),
        },
        outcome: envelope::Outcome {
            kind: match (outcome(&captured.outcome), settings.recorded) {
                // The path is what was asked for.
                (envelope::OutcomeKind::SpawnFailed { reason, .. }, envelope::Recorded::Digest) => {
                    envelope::OutcomeKind::SpawnFailed { reason, path: None }
                }
                (kind, _) => kind,
            },
            observed_by: envelope::Observer::Collector,
        },
        processes: processes(captured),
        collector: envelope::Collector {
            undumpable: captured.undumpable,
            privileged: captured.privileged,
            attended: captured.attended,
        },
        // Of a process that was not started no stream was observed.
        streams: if started { streams.into_iter().collect() } else { Default::default() },
        expected: None,
        search: None,
        order,
        policy: envelope::Policy {
            profile: settings.profile.name().into(),
            fingerprint: fingerprint(settings, &limits),
        },
        limits,
        redaction: None,
        screen: None,
        disagreement: None,
        evidence: envelope::Evidence::NotKept { reason: "no store".into() },
    }
}

/// The command, as much of it as is to be recorded.
fn recorded(
    identity: &Identity,
    command: &Command,
    captured: &Captured,
    settings: &Settings,
) -> envelope::Command {
    use envelope::Recorded::{Digest, Executable, Full};
    let recorded = settings.recorded;
    let executable = captured.executable.as_ref().map(Escaped::os);
    let digest = || {
        let mut text = Vec::new();
        for argument in &command.argv {
            text.extend_from_slice(argument.as_bytes());
            text.push(0);
        }
        identity.key.digest(&Sha256::digest(text)).into()
    };
    envelope::Command {
        recorded,
        argv: match recorded {
            Full => command.argv.iter().map(Escaped::os).collect(),
            Executable | Digest => Vec::new(),
        },
        argv_hmac: (recorded == Digest).then(digest),
        shell: settings.shell,
        executable: executable.filter(|_| recorded != Digest),
        cwd: working_folder(command).filter(|_| recorded == Full),
        terminal: command
            .terminal
            .map(|size| envelope::WindowSize { columns: size.columns, rows: size.rows }),
        stdin: match (command.terminal, captured.stdin) {
            (Some(_), _) => envelope::StdinKind::Pty,
            (None, Stdin::Inherit) => envelope::StdinKind::Inherited,
            (None, _) => envelope::StdinKind::Null,
        },
    }
}

pub(crate) fn processes(captured: &Captured) -> envelope::Processes {
    let survivors = &captured.survivors;
    envelope::Processes {
        scope: match captured.scope {
            Scope::Tree => envelope::Scope::Tree,
            Scope::Group => envelope::Scope::Group,
        },
        ended: captured
            .ended_by
            .map(|ended| envelope::Ended { signal: ended.signal, killed: ended.killed }),
        survivors: envelope::Survivors {
            count: survivors.count,
            listed: survivors
                .listed
                .iter()
                .map(|one| envelope::Survivor { pid: one.pid, name: Escaped::new(&one.name) })
                .collect(),
        },
        drained_bytes: None,
    }
}

fn working_folder(command: &Command) -> Option<Escaped> {
    let folder = command.cwd.clone().or_else(|| std::env::current_dir().ok())?;
    Some(Escaped::new(folder.as_os_str().as_bytes()))
}

/// SHA-256 of the settings and limits in force: the same only for the same version.
fn fingerprint(settings: &Settings, limits: &envelope::Limits) -> Escaped {
    let version = env!("CARGO_PKG_VERSION");
    let Settings { profile, encoding, expect, answers, recorded, .. } = settings;
    let text = format!(
        "noesc {version}\n{profile:?}\n{encoding:?}\n{expect:?}\n{answers:?}\n{recorded:?}\n\
         {limits:?}\n"
    );
    let digest: envelope::Digest = <[u8; 32]>::from(Sha256::digest(text)).into();
    Escaped::new(format!("sha256:{digest}"))
}

/// The times of a run, and what its views and its value may hold.
pub(crate) fn limits(
    limits: &Limits,
    settings: &Settings,
    view_bytes_max: Option<usize>,
) -> envelope::Limits {
    let ms = |time: std::time::Duration| u64::try_from(time.as_millis()).ok();
    let json_bytes_max = match settings.expect {
        Some(Expect::Json { bytes_max }) => Some(bytes_max as u64),
        _ => None,
    };
    let of_json = |max: usize| json_bytes_max.map(|_| max as u64);
    fn limited<T>(
        limit: Option<Limited<T>>,
        value: impl Fn(T) -> u64,
    ) -> Option<envelope::Limited> {
        limit.map(|limit| envelope::Limited {
            value: value(limit.max),
            policy: match limit.then {
                AtLimit::Stop => envelope::LimitPolicy::Stop,
                AtLimit::Drain => envelope::LimitPolicy::Drain,
                AtLimit::Partial => envelope::LimitPolicy::Partial,
            },
        })
    }
    let whole_ms = |time| ms(time).unwrap_or(u64::MAX);
    envelope::Limits {
        capture_bytes_max: limited(limits.capture_bytes_max, |bytes| bytes),
        time_max_ms: limited(limits.time_max, whole_ms),
        idle_max_ms: limited(limits.idle_max, whole_ms),
        rate_max_bytes_per_s: limited(limits.rate_max, |bytes| bytes),
        processes_max: limited(limits.processes_max, u64::from),
        drain_max_ms: ms(limits.drain_max),
        view_bytes_max: view_bytes_max.map(|bytes| bytes as u64),
        transcript_bytes_max: settings.evidence.as_ref().and_then(|kept| kept.transcript_bytes_max),
        json_bytes_max,
        json_depth_max: of_json(envelope::VALUE_DEPTH_MAX),
        json_values_max: of_json(envelope::VALUE_COUNT_MAX),
        linger_ms: ms(limits.linger),
        linger_max_ms: ms(limits.linger_max),
        grace_ms: ms(limits.grace),
    }
}

pub(crate) fn outcome(outcome: &Outcome) -> envelope::OutcomeKind {
    use envelope::OutcomeKind as To;
    match outcome {
        Outcome::Exited { code } => To::Exited { code: *code },
        Outcome::Signalled { signal, core } => To::Signalled { signal: *signal, core: *core },
        Outcome::TimedOut { exit } => To::TimedOut { exit: self::exit(*exit) },
        Outcome::IdleOut { exit } => To::IdleOut { exit: self::exit(*exit) },
        Outcome::StoppedByLimit { which, exit } => To::StoppedByLimit {
            which: match which {
                noesc_capture::Limit::Rate => envelope::LimitName::Rate,
                noesc_capture::Limit::Drain => envelope::LimitName::Drain,
                noesc_capture::Limit::Processes => envelope::LimitName::Processes,
                _ => envelope::LimitName::Bytes,
            },
            exit: self::exit(*exit),
        },
        Outcome::SpawnFailed { reason, path } => {
            To::SpawnFailed { reason: spawn_reason(*reason), path: path.as_ref().map(Escaped::os) }
        }
        Outcome::Cancelled { signal, exit } => {
            To::Cancelled { signal: *signal, exit: self::exit(*exit) }
        }
        Outcome::Unknown { why } => To::Unknown { why: unknown(*why) },
    }
}

fn exit(exit: Exit) -> envelope::Exit {
    match exit {
        Exit::Exited { code } => envelope::Exit::Exited { code },
        Exit::Signalled { signal, core } => envelope::Exit::Signalled { signal, core },
        Exit::Unknown { why } => envelope::Exit::Unknown { why: unknown(why) },
    }
}

fn unknown(why: Unknown) -> Escaped {
    match why {
        Unknown::NotStarted => "not-started".into(),
        Unknown::CollectedElsewhere => "collected-elsewhere".into(),
        Unknown::SupervisorLost => "supervisor-lost".into(),
        Unknown::StillRunning => envelope::STILL_RUNNING.into(),
        Unknown::NotTold(errno) => Escaped::new(format!("not-told: errno {errno}")),
        _ => "other".into(),
    }
}

fn spawn_reason(reason: SpawnReason) -> Escaped {
    let word = match reason {
        SpawnReason::EmptyArgv => "empty-argv",
        SpawnReason::Nul => "nul",
        SpawnReason::NotFound => "not-found",
        SpawnReason::NotExecutable => "not-executable",
        SpawnReason::IsFolder => "is-folder",
        SpawnReason::InterpreterNotFound => "interpreter-not-found",
        SpawnReason::NotAProgram => "not-a-program",
        SpawnReason::WorkingFolder => "working-folder",
        SpawnReason::TooLong => "too-long",
        SpawnReason::Terminal => "terminal",
        SpawnReason::Refused(errno) => {
            return Escaped::new(format!("refused: errno {errno}"));
        }
        _ => "other",
    };
    word.into()
}

/// The reason that a record has for a process that was not started; `None` where this version has
/// none of that name.
///
/// ```
/// use noesc_session::{SpawnReason, spawn_reason_of};
/// assert_eq!(spawn_reason_of("not-found"), Some(SpawnReason::NotFound));
/// assert_eq!(spawn_reason_of("refused: errno 11"), Some(SpawnReason::Refused(11)));
/// ```
#[must_use]
pub fn spawn_reason_of(word: &str) -> Option<SpawnReason> {
    if let Some(errno) = word.strip_prefix("refused: errno ") {
        return errno.parse().ok().map(SpawnReason::Refused);
    }
    let all = [
        SpawnReason::EmptyArgv,
        SpawnReason::Nul,
        SpawnReason::NotFound,
        SpawnReason::NotExecutable,
        SpawnReason::IsFolder,
        SpawnReason::InterpreterNotFound,
        SpawnReason::NotAProgram,
        SpawnReason::WorkingFolder,
        SpawnReason::TooLong,
        SpawnReason::Terminal,
    ];
    all.into_iter().find(|reason| spawn_reason(*reason).as_str() == word)
}

pub(crate) fn cutoff(cutoff: Cutoff) -> envelope::Cutoff {
    match cutoff {
        Cutoff::None => envelope::Cutoff::None,
        Cutoff::Bytes => envelope::Cutoff::Bytes,
        Cutoff::Time => envelope::Cutoff::Time,
        Cutoff::Idle => envelope::Cutoff::Idle,
        Cutoff::Rate => envelope::Cutoff::Rate,
        Cutoff::Processes => envelope::Cutoff::Processes,
        Cutoff::WriterAlive => envelope::Cutoff::WriterAlive,
        // A closed list that may grow: whoever asked for the stop is the caller.
        _ => envelope::Cutoff::Caller,
    }
}
