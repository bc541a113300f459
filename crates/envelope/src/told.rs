//! Facts in words, for people. Of what a child chose, nothing stands here but escaped names.

use std::fmt;

use crate::outcome::{Exit, LimitName, OutcomeKind, STILL_RUNNING};
use crate::processes::{Ended, SIGKILL, Survivor, Survivors};
use crate::record::{Cutoff, Limited, Limits};

/// Survivors that are named to people; a record can name more.
pub const SURVIVORS_TOLD_MAX: usize = 8;

/// `1 line`, `2 lines`, `2 processes`.
pub(crate) fn plural(n: u64, noun: &str) -> String {
    let end = match noun {
        _ if n == 1 => "",
        "process" => "es",
        _ => "s",
    };
    format!("{n} {noun}{end}")
}

impl OutcomeKind {
    /// What came of a run, in words: `exited 101`, or
    /// `timed out at 1000 ms; ended by signal 9 (signal 15 had not ended it)`.
    ///
    /// `limits` are those of the run, `ended` is [`Processes::ended`](crate::Processes::ended).
    ///
    /// ```
    /// use noesc_envelope::{Ended, Exit, LimitPolicy, Limited, Limits, OutcomeKind};
    /// let limit = Limited { value: 1000, policy: LimitPolicy::Stop };
    /// let limits = Limits { time_max_ms: Some(limit), ..Limits::default() };
    /// let outcome = OutcomeKind::TimedOut { exit: Exit::Exited { code: 0 } };
    /// let ended = Ended { signal: 15, killed: false };
    /// assert_eq!(outcome.told(&limits, Some(ended)), "timed out at 1000 ms; exited 0");
    /// ```
    #[must_use]
    pub fn told(&self, limits: &Limits, ended: Option<Ended>) -> String {
        let (why, exit) = match self {
            Self::SpawnFailed { reason, .. } => return format!("not started: {reason}"),
            Self::Unknown { why } if why.as_str() == STILL_RUNNING => {
                return "still running".to_owned();
            }
            Self::Exited { code } => (None, Exit::Exited { code: *code }),
            Self::Signalled { signal, core } => {
                (None, Exit::Signalled { signal: *signal, core: *core })
            }
            Self::Unknown { why } => (None, Exit::Unknown { why: why.clone() }),
            Self::TimedOut { exit } => (Some(at_time(limits)), exit.clone()),
            Self::IdleOut { exit } => (Some(at_idleness(limits)), exit.clone()),
            Self::StoppedByLimit { which, exit } => (Some(at_limit(*which, limits)), exit.clone()),
            Self::Cancelled { signal, exit } => {
                (Some(format!("cancelled by signal {signal}")), exit.clone())
            }
        };
        let why = why.map_or(String::new(), |why| why + "; ");
        let end = match (ended, &exit) {
            (Some(Ended { signal, killed: true }), Exit::Signalled { signal: SIGKILL, .. }) => {
                match signal {
                    SIGKILL => String::new(),
                    _ => format!(" (signal {signal} had not ended it)"),
                }
            }
            (Some(Ended { killed: true, .. }), _) => "; what was left was killed".to_owned(),
            _ => String::new(),
        };
        format!("{why}{exit}{end}")
    }
}

/// For people: `exited 3`.
impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited { code } => write!(f, "exited {code}"),
            Self::Signalled { signal, .. } => write!(f, "ended by signal {signal}"),
            Self::Unknown { why } if why.as_str() == STILL_RUNNING => f.write_str("left running"),
            Self::Unknown { why } => write!(f, "its end is unknown: {why}"),
        }
    }
}

fn at_time(limits: &Limits) -> String {
    match limits.time_max_ms {
        Some(Limited { value, .. }) => format!("timed out at {value} ms"),
        None => "timed out".to_owned(),
    }
}

fn at_idleness(limits: &Limits) -> String {
    match limits.idle_max_ms {
        Some(Limited { value, .. }) => format!("stopped: no output for {value} ms"),
        None => "stopped: no output for too long".to_owned(),
    }
}

fn at_limit(which: LimitName, limits: &Limits) -> String {
    let of = |limit: Option<Limited>| limit.map(|limit| limit.value);
    let (limit, unknown) = match which {
        LimitName::Bytes => {
            (of(limits.capture_bytes_max).map(|n| plural(n, "byte") + " of a stream"), "bytes")
        }
        LimitName::Rate => {
            (of(limits.rate_max_bytes_per_s).map(|n| plural(n, "byte") + " a second"), "rate")
        }
        LimitName::Drain => {
            (limits.drain_max_ms.map(|n| format!("{n} ms of draining")), "draining")
        }
        LimitName::Processes => {
            (of(limits.processes_max).map(|n| plural(n, "process")), "processes")
        }
    };
    format!("stopped at the limit of {}", limit.as_deref().unwrap_or(unknown))
}

/// For people: `4711 sleep`. A name that could be taken for more than one is quoted.
impl fmt::Display for Survivor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.as_str();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-+.:/@\\".contains(&byte);
        match !name.is_empty() && name.bytes().all(is_plain) {
            true => write!(f, "{} {name}", self.pid),
            false => write!(f, "{} \"{}\"", self.pid, name.replace('"', "\\x22")),
        }
    }
}

impl Survivors {
    /// Who outlives the run, in words, where somebody is known to:
    /// `2 processes outlive the run: 4711 sleep, 4712 sh`.
    ///
    /// ```
    /// use noesc_envelope::{Survivor, Survivors};
    /// let sleep = Survivor { pid: 4711, name: "sleep".into() };
    /// let survivors = Survivors { count: Some(1), listed: vec![sleep] };
    /// assert_eq!(survivors.told().as_deref(), Some("1 process outlives the run: 4711 sleep"));
    /// assert_eq!(Survivors::default().told(), None);
    /// ```
    #[must_use]
    pub fn told(&self) -> Option<String> {
        let listed = self.listed.len() as u64;
        let count = self.count.map_or(listed, |count| u64::from(count).max(listed));
        if count == 0 {
            return None;
        }
        let known = if self.count.is_some() { "" } else { "at least " };
        let verb = if count == 1 { "outlives" } else { "outlive" };
        let mut names: Vec<String> =
            self.listed.iter().take(SURVIVORS_TOLD_MAX).map(ToString::to_string).collect();
        let colon = if names.is_empty() { "" } else { ": " };
        let more = count - names.len() as u64;
        if more > 0 && !names.is_empty() {
            names.push(format!("and {more} more"));
        }
        let (processes, names) = (plural(count, "process"), names.join(", "));
        Some(format!("{known}{processes} {verb} the run{colon}{names}"))
    }
}

impl Cutoff {
    /// The word of the record.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Bytes => "bytes",
            Self::Time => "time",
            Self::Idle => "idle",
            Self::Rate => "rate",
            Self::Processes => "processes",
            Self::WriterAlive => "writer-alive",
            Self::Caller => "caller",
        }
    }

    /// How a stream ended, in words, where there is something to tell: `cut off: time`. `eof` is
    /// whether its end was seen.
    #[must_use]
    pub fn told(self, eof: bool) -> Option<String> {
        match (self, eof) {
            (Self::None, true) => None,
            (Self::None, false) => Some("its end was not seen".to_owned()),
            (cutoff, true) => Some(format!("cut off: {}, but read to its end", cutoff.name())),
            (cutoff, false) => Some(format!("cut off: {}", cutoff.name())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ident::Escaped;
    use crate::record::LimitPolicy;

    fn limits() -> Limits {
        let limit = |value| Some(Limited { value, policy: LimitPolicy::Stop });
        Limits {
            capture_bytes_max: limit(64),
            time_max_ms: limit(1000),
            idle_max_ms: limit(300),
            rate_max_bytes_per_s: limit(1),
            processes_max: limit(2),
            drain_max_ms: Some(60_000),
            ..Limits::default()
        }
    }

    #[test]
    fn a_stop_is_told_with_its_limit_where_that_is_known() {
        let exit = Exit::Exited { code: 0 };
        let stopped = |which| OutcomeKind::StoppedByLimit { which, exit: exit.clone() };
        for (kind, with, without) in [
            (OutcomeKind::TimedOut { exit: exit.clone() }, "timed out at 1000 ms", "timed out"),
            (
                OutcomeKind::IdleOut { exit: exit.clone() },
                "stopped: no output for 300 ms",
                "stopped: no output for too long",
            ),
            (
                stopped(LimitName::Bytes),
                "stopped at the limit of 64 bytes of a stream",
                "stopped at the limit of bytes",
            ),
            (
                stopped(LimitName::Rate),
                "stopped at the limit of 1 byte a second",
                "stopped at the limit of rate",
            ),
            (
                stopped(LimitName::Drain),
                "stopped at the limit of 60000 ms of draining",
                "stopped at the limit of draining",
            ),
            (
                stopped(LimitName::Processes),
                "stopped at the limit of 2 processes",
                "stopped at the limit of processes",
            ),
        ] {
            assert_eq!(kind.told(&limits(), None), format!("{with}; exited 0"));
            assert_eq!(kind.told(&Limits::default(), None), format!("{without}; exited 0"));
        }
    }

    #[test]
    fn an_end_is_told_with_what_brought_it_about() {
        let kill = |signal| Some(Ended { signal, killed: true });
        let asked = Some(Ended { signal: 15, killed: false });
        let by = |signal| Exit::Signalled { signal, core: false };
        let unknown = |why: &str| Exit::Unknown { why: why.into() };
        for (exit, ended, told) in [
            (by(9), kill(15), "ended by signal 9 (signal 15 had not ended it)"),
            (by(9), kill(9), "ended by signal 9"),
            (by(9), asked, "ended by signal 9"),
            (by(15), asked, "ended by signal 15"),
            (by(15), kill(15), "ended by signal 15; what was left was killed"),
            (Exit::Exited { code: 3 }, kill(15), "exited 3; what was left was killed"),
            (unknown(STILL_RUNNING), None, "left running"),
            (unknown("a\n"), None, "its end is unknown: a\\x0a"),
        ] {
            let kind = OutcomeKind::Cancelled { signal: 2, exit };
            assert_eq!(kind.told(&limits(), ended), format!("cancelled by signal 2; {told}"));
        }
        let not_found = OutcomeKind::SpawnFailed { reason: "not-found".into(), path: None };
        for (kind, ended, told) in [
            (OutcomeKind::Exited { code: 3 }, None, "exited 3"),
            (OutcomeKind::Exited { code: 3 }, kill(15), "exited 3; what was left was killed"),
            (OutcomeKind::Signalled { signal: 9, core: true }, None, "ended by signal 9"),
            (OutcomeKind::Unknown { why: STILL_RUNNING.into() }, None, "still running"),
            (OutcomeKind::Unknown { why: "other".into() }, None, "its end is unknown: other"),
            (not_found, None, "not started: not-found"),
        ] {
            assert_eq!(kind.told(&limits(), ended), told);
        }
    }

    #[test]
    fn survivors_are_named_up_to_the_limit_and_counted_beyond() {
        let told = |count, listed: usize| {
            let survivor = |pid| Survivor { pid, name: "sh".into() };
            Survivors { count, listed: (0..listed as u32).map(survivor).collect() }.told()
        };
        assert_eq!(told(None, 0), None);
        assert_eq!(told(Some(0), 0), None);
        assert_eq!(told(Some(1), 0).unwrap(), "1 process outlives the run");
        assert_eq!(told(Some(1), 1).unwrap(), "1 process outlives the run: 0 sh");
        assert_eq!(told(Some(2), 2).unwrap(), "2 processes outlive the run: 0 sh, 1 sh");
        assert_eq!(told(Some(3), 1).unwrap(), "3 processes outlive the run: 0 sh, and 2 more");
        assert_eq!(told(None, 1).unwrap(), "at least 1 process outlives the run: 0 sh");
        for (listed, end) in [
            (SURVIVORS_TOLD_MAX - 1, ", 6 sh"),
            (SURVIVORS_TOLD_MAX, ", 7 sh"),
            (SURVIVORS_TOLD_MAX + 1, ", 7 sh, and 1 more"),
        ] {
            assert!(told(Some(listed as u32), listed).unwrap().ends_with(end), "{listed}");
        }
    }

    #[test]
    fn a_hostile_name_is_told_as_one() {
        for (name, told) in [
            (&b"kworker/0:1"[..], "7 kworker/0:1"),
            (b"a\x1b[2J", "7 \"a\\x1b[2J\""),
            (b"\x07\\", "7 \\x07\\x5c"),
            (b"sh, 1 init", "7 \"sh, 1 init\""),
            (b"sh\", 1 \"init", "7 \"sh\\x22, 1 \\x22init\""),
            (b"", "7 \"\""),
        ] {
            let survivor = Survivor { pid: 7, name: Escaped::new(name) };
            assert_eq!(survivor.to_string(), told);
        }
    }

    #[test]
    fn the_end_of_a_stream_is_told_where_it_was_not_plain() {
        let told = |cutoff: Cutoff, eof| cutoff.told(eof).unwrap_or_default();
        assert_eq!(told(Cutoff::None, true), "");
        assert_eq!(told(Cutoff::None, false), "its end was not seen");
        for (cutoff, word) in [
            (Cutoff::Bytes, "bytes"),
            (Cutoff::Time, "time"),
            (Cutoff::Idle, "idle"),
            (Cutoff::Rate, "rate"),
            (Cutoff::WriterAlive, "writer-alive"),
            (Cutoff::Caller, "caller"),
        ] {
            assert_eq!(told(cutoff, false), format!("cut off: {word}"));
            assert_eq!(told(cutoff, true), format!("cut off: {word}, but read to its end"));
            assert_eq!(serde_json::to_value(cutoff).unwrap(), cutoff.name());
        }
    }
}
