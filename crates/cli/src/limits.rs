//! The limits of a run: flags, keys of a configuration, and what they mean.

use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use clap::Args;
use clap::builder::{StringValueParser, TypedValueParser};
use noesc_session::{AtLimit, Limited, Limits, Size};

use crate::config::{Config, Kind, Origin, key_named};
use crate::fail::{Failure, Result};

/// When noesc ends a run, or stops waiting for it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// How long the run may take: 500ms, 2s, 1.5s, 3m, 1h, or none. Behind this and every MAX may
    /// stand what happens then, as in 2s:drain. stop: the processes are ended. drain: nothing more
    /// is kept, but read. partial: noesc returns, they go on
    #[arg(long, alias = "timeout", value_name = "MAX", value_parser = checked("time_max"))]
    time_max: Option<String>,

    /// How long it may print nothing: 10s, …
    #[arg(long, value_name = "MAX", value_parser = checked("idle_max"))]
    idle_max: Option<String>,

    /// Bytes that it may print within a second: 65536, 64KiB, 1MiB, …
    #[arg(long, value_name = "MAX", value_parser = checked("rate_max"))]
    rate_max: Option<String>,

    /// Bytes of each stream that are kept (64MiB:drain); not with text, which is never cut
    #[arg(long, value_name = "MAX", value_parser = checked("capture_bytes_max"))]
    capture_bytes_max: Option<String>,

    /// Processes that there may be at once, looked at ten times a second
    #[arg(long, value_name = "MAX", value_parser = checked("processes_max"))]
    processes_max: Option<String>,

    /// How long is read on after a limit that says drain, before the processes are ended (60s)
    #[arg(long, value_name = "TIME", value_parser = checked("drain_max"))]
    drain_max: Option<String>,

    /// How long a process that the command left behind is listened to without new bytes (250ms)
    #[arg(long, value_name = "TIME", value_parser = checked("linger"))]
    linger: Option<String>,

    /// How long it is listened to at most (2s)
    #[arg(long, value_name = "TIME", value_parser = checked("linger_max"))]
    linger_max: Option<String>,

    /// How long processes may take to end when they are asked to, before they are killed (2s)
    #[arg(long, value_name = "TIME", value_parser = checked("grace"))]
    grace: Option<String>,
}

impl LimitArgs {
    /// Puts what was given on top of a configuration.
    pub(crate) fn give(&self, config: &mut Config) {
        for (name, value) in [
            ("time_max", &self.time_max),
            ("idle_max", &self.idle_max),
            ("rate_max", &self.rate_max),
            ("capture_bytes_max", &self.capture_bytes_max),
            ("processes_max", &self.processes_max),
            ("drain_max", &self.drain_max),
            ("linger", &self.linger),
            ("linger_max", &self.linger_max),
            ("grace", &self.grace),
        ] {
            config.flag(name, value.as_deref());
        }
    }
}

/// The limits in force. The live output of `text` is never cut, and nothing of it is kept. A run
/// in the background may be a server: its transcript is bounded, and without a word on it it is
/// not ended for what it prints.
pub(crate) fn limits(config: &Config, is_text: bool, is_detached: bool) -> Result<Limits> {
    let is_text = is_text && !is_detached;
    let is_none = config.given("capture_bytes_max") == Some("none");
    if is_text && !is_none && config.origin("capture_bytes_max") == Some(&Origin::Flag) {
        let message = "\"--capture-bytes-max\" does not go with the format text";
        return Err(Failure::new(message)
            .hint("live output is never cut: \"--rate-max\" and \"--time-max\" hold there too"));
    }
    let mut limits = Limits::default();
    let ms = Duration::from_millis;
    limits.time_max = limit(config, "time_max", ms)?;
    limits.idle_max = limit(config, "idle_max", ms)?;
    limits.rate_max = limit(config, "rate_max", |bytes| bytes)?;
    limits.capture_bytes_max = limit(config, "capture_bytes_max", |bytes| bytes)?;
    let is_meant = !is_detached || config.given("capture_bytes_max").is_some();
    limits.capture_bytes_max = limits.capture_bytes_max.filter(|_| !is_text && is_meant);
    let count = |count| u32::try_from(count).unwrap_or(u32::MAX);
    limits.processes_max = limit(config, "processes_max", count)?;
    limits.drain_max = time_of(config, "drain_max")?;
    limits.linger = time_of(config, "linger")?;
    limits.linger_max = time_of(config, "linger_max")?;
    limits.grace = time_of(config, "grace")?;
    let is_flag = |name| config.origin(name) == Some(&Origin::Flag);
    if limits.linger > limits.linger_max && is_flag("linger") && is_flag("linger_max") {
        return Err(Failure::new("\"--linger\" is longer than \"--linger-max\"")
            .hint("the first is the silence, the second all of the time"));
    }
    if config.given("linger_max").is_none() {
        limits.linger_max = limits.linger_max.max(limits.linger);
    }
    Ok(limits)
}

fn limit<T>(config: &Config, name: &str, value: impl Fn(u64) -> T) -> Result<Option<Limited<T>>> {
    let Some(key) = key_named(name) else { return Ok(None) };
    let text = config.given(name).unwrap_or(key.default);
    let limit = parsed(key.kind, text).map_err(|wrong| wrong.failure(name))?;
    Ok(limit.map(|limit| Limited { max: value(limit.max), then: limit.then }))
}

fn time_of(config: &Config, name: &str) -> Result<Duration> {
    let time = limit(config, name, Duration::from_millis)?;
    Ok(time.map_or(Duration::ZERO, |time| time.max))
}

/// The value of a key that is a number of bytes.
pub(crate) fn size_of(config: &Config, name: &str) -> Result<u64> {
    let size = limit(config, name, |bytes| bytes)?;
    Ok(size.map_or(0, |size| size.max))
}

/// A parser for a flag that is a time.
pub(crate) fn time(text: &str) -> std::result::Result<Duration, Wrong> {
    time_ms(text).map(Duration::from_millis)
}

/// What a number is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Time,
    Bytes,
    Processes,
    Count,
}

/// Why a text is no such value, in words that quote nothing unescaped, and what would be one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) why: String,
    pub(crate) hint: String,
}

impl Wrong {
    fn new(why: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { why: why.into(), hint: hint.into() }
    }

    fn failure(self, name: &str) -> Failure {
        Failure::new(format!("\"{name}\" has a wrong value: {}", self.why)).hint(self.hint)
    }
}

impl Display for Wrong {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for Wrong {}

/// A parser for the flag of a key, which leaves the text as it is.
pub(crate) fn checked(name: &'static str) -> impl TypedValueParser<Value = String> {
    StringValueParser::new().try_map(move |text| match key_named(name) {
        Some(key) => parsed(key.kind, &text).map(|_| text),
        None => Ok(text),
    })
}

const TIMES: &str = "a time is a number and its unit: 500ms, 2s, 1.5s, 3m, 1h or 14d";
const SIZES: &str = "a size is a number of bytes: 65536, 64KiB, 1MiB or 1GiB";
const COUNTS: &str = "it is a number of processes, as 64";
const NUMBERS: &str = "it is a number, as 200000";
const POLICIES: &str = "what may stand behind the colon is stop, drain or partial";
const NO_LIMIT: &str = "\"none\" is no limit";

/// A limit, or a time. `none` is no limit.
pub(crate) fn parsed(kind: Kind, text: &str) -> std::result::Result<Option<Limited<u64>>, Wrong> {
    let (unit, mut then) = match kind {
        Kind::Limit(unit, then) => (unit, then),
        Kind::Time => {
            return Ok(Some(Limited { max: number(Unit::Time, text)?, then: AtLimit::Stop }));
        }
        Kind::Size => {
            return Ok(Some(Limited { max: number(Unit::Bytes, text)?, then: AtLimit::Stop }));
        }
        Kind::Count => {
            return Ok(Some(Limited { max: number(Unit::Count, text)?, then: AtLimit::Stop }));
        }
        Kind::Word(_) | Kind::Switch | Kind::Text | Kind::Recipients => return Ok(None),
    };
    if text == "none" {
        return Ok(None);
    }
    let (value, policy) = match text.split_once(':') {
        Some((value, policy)) => (value, Some(policy)),
        None => (text, None),
    };
    let max = number(unit, value)?;
    if let Some(policy) = policy {
        then = match policy {
            "stop" => AtLimit::Stop,
            "drain" => AtLimit::Drain,
            "partial" => AtLimit::Partial,
            _ => return Err(Wrong::new("it names no policy", POLICIES)),
        };
    }
    match max {
        0 => Err(Wrong::new("it must be more than 0", NO_LIMIT)),
        max => Ok(Some(Limited { max, then })),
    }
}

/// What a value is.
pub(crate) const fn expected(unit: Unit) -> &'static str {
    match unit {
        Unit::Time => TIMES,
        Unit::Bytes => SIZES,
        Unit::Processes => COUNTS,
        Unit::Count => NUMBERS,
    }
}

fn number(unit: Unit, text: &str) -> std::result::Result<u64, Wrong> {
    match unit {
        Unit::Time => time_ms(text),
        Unit::Bytes => bytes(text)
            .ok_or_else(|| Wrong::new("it is no size", SIZES))?
            .ok_or_else(|| Wrong::new("it is too large", SIZES)),
        Unit::Processes => match text.parse::<u32>() {
            Ok(count) if !text.starts_with('+') => Ok(count.into()),
            _ => Err(Wrong::new("it is no number of processes", COUNTS)),
        },
        Unit::Count => match text.parse::<u64>() {
            Ok(count) if !text.starts_with('+') => Ok(count),
            _ => Err(Wrong::new("it is no number", NUMBERS)),
        },
    }
}

/// A number of bytes, with KiB, MiB or GiB behind it: outer `None` if it is none, inner `None` if
/// it is too large.
pub(crate) fn bytes(text: &str) -> Option<Option<u64>> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit: u64 = match &text[digits.len()..] {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse::<u64>().ok()?.checked_mul(unit))
}

/// The longest time in milliseconds: a year, which every clock can add to now.
const TIME_MS_MAX: u64 = 365 * 24 * 3_600_000;

/// Digits behind a point: more would be less than a millisecond of an hour.
const FRACTION_DIGITS_MAX: usize = 7;

/// A time in milliseconds.
fn time_ms(text: &str) -> std::result::Result<u64, Wrong> {
    let no_time = || Wrong::new("it is no time", TIMES);
    let is_of_number = |c: char| c.is_ascii_digit() || c == '.';
    let end = text.find(|c| !is_of_number(c)).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (whole, fraction) = match number.split_once('.') {
        Some((_, "")) => return Err(no_time()),
        Some((whole, fraction)) => (whole, fraction),
        None => (number, ""),
    };
    if whole.is_empty() || fraction.contains('.') {
        return Err(no_time());
    }
    let unit_ms = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 24 * 3_600_000,
        "" => {
            let short = if text.len() <= 8 { text } else { "5" };
            let hint = format!("a time has its unit: {short}ms, {short}s, {short}m or {short}h");
            return Err(Wrong::new("it has no unit", hint));
        }
        _ => return Err(no_time()),
    };
    let fine = || Wrong::new("it is finer than a millisecond", TIMES);
    let parts = match fraction.len() {
        0 => 0,
        1..=FRACTION_DIGITS_MAX => fraction.parse::<u64>().map_err(|_| no_time())? * unit_ms,
        _ => return Err(fine()),
    };
    let of_one = 10_u64.pow(u32::try_from(fraction.len()).unwrap_or(0));
    if parts % of_one != 0 {
        return Err(fine());
    }
    let whole_ms = whole.parse::<u64>().ok().and_then(|whole| whole.checked_mul(unit_ms));
    let time = whole_ms.and_then(|whole| whole.checked_add(parts / of_one));
    time.filter(|time| *time <= TIME_MS_MAX)
        .ok_or_else(|| Wrong::new("it is too long", "the longest time is a year: 8760h"))
}

/// The most columns, and rows, of a terminal.
const SIDE_MAX: u16 = 1000;

/// The size of a terminal.
pub(crate) fn window(text: &str) -> std::result::Result<Size, Wrong> {
    let side = |text: &str| match text.bytes().all(|byte| byte.is_ascii_digit()) {
        true => text.parse().ok().filter(|side| (1..=SIDE_MAX).contains(side)),
        false => None,
    };
    let sides =
        text.split_once('x').and_then(|(columns, rows)| Some((side(columns)?, side(rows)?)));
    match sides {
        Some((columns, rows)) => Ok(Size { columns, rows }),
        None => Err(Wrong::new(
            "it is no size of a terminal",
            format!("a size is columns and rows, each 1 to {SIDE_MAX}: 80x24"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> std::result::Result<u64, String> {
        time_ms(text).map_err(|wrong| wrong.why)
    }

    #[test]
    fn a_time_is_a_number_and_its_unit() {
        for (text, ms) in [
            ("0ms", 0),
            ("500ms", 500),
            ("2s", 2000),
            ("1.5s", 1500),
            ("1.050s", 1050),
            ("0.001s", 1),
            ("3m", 180_000),
            ("0.5m", 30_000),
            ("1h", 3_600_000),
            ("007s", 7000),
            ("1.0000000h", 3_600_000),
            ("14d", 14 * 24 * 3_600_000),
            ("0.5d", 12 * 3_600_000),
        ] {
            assert_eq!(time(text), Ok(ms), "{text}");
        }
        for text in [
            "", "s", ".5s", "5.s", "1.2.3s", "-5s", "+5s", "5 s", " 5s", "5S", "5sec", "1e3s", "٥s",
        ] {
            assert_eq!(time(text).unwrap_err(), "it is no time", "{text}");
        }
        for text in ["0.0005s", "0.5ms", "0.00000001h", "0.0000001h"] {
            assert_eq!(time(text).unwrap_err(), "it is finer than a millisecond", "{text}");
        }
        let hint = |text| time_ms(text).unwrap_err().hint;
        assert_eq!(hint("5"), "a time has its unit: 5ms, 5s, 5m or 5h");
        assert_eq!(hint("123456789"), "a time has its unit: 5ms, 5s, 5m or 5h");
    }

    #[test]
    fn a_time_has_a_most() {
        let ms = |ms: u64| time(&format!("{ms}ms"));
        assert_eq!(ms(TIME_MS_MAX - 1), Ok(TIME_MS_MAX - 1));
        assert_eq!(ms(TIME_MS_MAX), Ok(TIME_MS_MAX));
        assert_eq!(time("8760h"), Ok(TIME_MS_MAX));
        assert_eq!(time("365d"), Ok(TIME_MS_MAX));
        for text in ["8760.5h", "31536000001ms", "99999999999999999999s", "6000000000000000h"] {
            assert_eq!(time(text).unwrap_err(), "it is too long", "{text}");
        }
        assert_eq!(ms(TIME_MS_MAX + 1).unwrap_err(), "it is too long");
    }

    #[test]
    fn a_fraction_has_a_most_of_digits() {
        let digits = |count: usize| time(&format!("1.{}s", "0".repeat(count)));
        assert_eq!(digits(FRACTION_DIGITS_MAX - 1), Ok(1000));
        assert_eq!(digits(FRACTION_DIGITS_MAX), Ok(1000));
        assert_eq!(digits(FRACTION_DIGITS_MAX + 1).unwrap_err(), "it is finer than a millisecond");
    }

    #[test]
    fn a_limit_has_a_value_and_perhaps_a_policy() {
        let kind = Kind::Limit(Unit::Bytes, AtLimit::Drain);
        let limit = |text| parsed(kind, text).map_err(|wrong| wrong.why);
        let of = |max, then| Ok(Some(Limited { max, then }));
        assert_eq!(limit("none"), Ok(None));
        assert_eq!(limit("1"), of(1, AtLimit::Drain));
        assert_eq!(limit("2"), of(2, AtLimit::Drain));
        assert_eq!(limit("64KiB:stop"), of(65_536, AtLimit::Stop));
        assert_eq!(limit("1MiB:drain"), of(1 << 20, AtLimit::Drain));
        assert_eq!(limit("1GiB:partial"), of(1 << 30, AtLimit::Partial));
        assert_eq!(limit("18446744073709551615"), of(u64::MAX, AtLimit::Drain));
        for (text, why) in [
            ("0", "it must be more than 0"),
            ("0:stop", "it must be more than 0"),
            ("18446744073709551616", "it is too large"),
            ("17179869184GiB", "it is too large"),
            ("", "it is no size"),
            (":stop", "it is no size"),
            ("KiB", "it is no size"),
            ("1.5KiB", "it is no size"),
            ("1k", "it is no size"),
            ("-1", "it is no size"),
            ("none:stop", "it is no size"),
            ("1:", "it names no policy"),
            ("1:stop:stop", "it names no policy"),
            ("1:Stop", "it names no policy"),
        ] {
            assert_eq!(limit(text).unwrap_err(), why, "{text}");
        }
        let stop = |text| parsed(Kind::Limit(Unit::Time, AtLimit::Stop), text);
        assert_eq!(stop("2s").unwrap(), Some(Limited::stop(2000)));
        assert_eq!(stop("0s").unwrap_err().hint, NO_LIMIT);
        // A time by itself may be none at all, but is always there.
        assert_eq!(parsed(Kind::Time, "0s").unwrap().unwrap().max, 0);
        assert!(parsed(Kind::Time, "none").is_err());
        assert!(parsed(Kind::Time, "2s:stop").is_err());
    }

    #[test]
    fn processes_are_counted_up_to_what_a_system_can_have() {
        let count = |text| number(Unit::Processes, text).map_err(|wrong| wrong.why);
        assert_eq!(count("4294967294"), Ok(4_294_967_294));
        assert_eq!(count("4294967295"), Ok(4_294_967_295));
        for text in ["4294967296", "", "+1", "-1", "1.5", "64KiB"] {
            assert_eq!(count(text).unwrap_err(), "it is no number of processes", "{text}");
        }
    }

    #[test]
    fn a_terminal_has_a_size() {
        for (text, columns, rows) in [
            ("80x24", 80, 24),
            ("1x1", 1, 1),
            ("2x2", 2, 2),
            ("999x1000", SIDE_MAX - 1, SIDE_MAX),
            ("1000x999", SIDE_MAX, SIDE_MAX - 1),
        ] {
            assert_eq!(window(text), Ok(Size { columns, rows }), "{text}");
        }
        for text in
            ["", "x", "80", "80x", "x24", "0x24", "80x0", "1001x24", "80x1001", "80X24", "80x24x1"]
        {
            assert!(window(text).is_err(), "{text}");
        }
        assert!(window("+8x24").is_err() && window("80x 24").is_err() && window("٨x24").is_err());
    }

    #[test]
    fn what_the_keys_say_is_the_default_of_a_run() {
        let found = limits(&Config::default(), true, false).unwrap();
        assert_eq!(found, Limits::default());
        let kept = Limited { max: 64 << 20, then: AtLimit::Drain };
        let found = limits(&Config::default(), false, false).unwrap();
        assert_eq!(found.capture_bytes_max, Some(kept));
    }
}
