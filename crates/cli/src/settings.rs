//! The settings of a profile, as flags.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Arg, Args, Command, ValueHint};
use noesc::{
    Conceal, Cr, Form, HiddenText, Invisible, Profile, Removed, Separators, Style, UnknownValue,
};
use noesc_session::{Decoder, Settings};

use crate::config::{Config, Origin, REMOVED_WORDS, STYLE_WORDS};
use crate::fail::{Failure, Result, quoted};

/// What survives.
#[derive(Debug, Args)]
#[command(next_help_heading = "What survives")]
pub(crate) struct SettingArgs {
    /// agent: plain text. display: colours stay, for a terminal program. audit: `\xNN`
    #[arg(long, value_name = "NAME", value_parser = names(Profile::NAMES))]
    #[arg(hide_possible_values = true)]
    profile: Option<String>,

    /// Leave `␛` where a sequence or control was removed
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", hide_possible_values = true)]
    mark: Option<bool>,

    /// Bare carriage returns: newline, collapse, overwrite, drop, mark
    #[arg(long, value_name = "POLICY", value_parser = names(Cr::NAMES))]
    #[arg(hide_possible_values = true)]
    cr: Option<String>,

    /// Invisible and reordering characters: drop, show, keep
    #[arg(long, value_name = "POLICY", value_parser = names(Invisible::NAMES))]
    #[arg(hide_possible_values = true)]
    invisible: Option<String>,

    /// Colours and attributes: remove, keep
    #[arg(long, value_name = "POLICY", value_parser = names(STYLE_WORDS))]
    #[arg(hide_possible_values = true)]
    style: Option<String>,

    /// What goes of a kept style that conceals: sequence, parameter
    #[arg(long, value_name = "WHAT", value_parser = names(Conceal::NAMES))]
    #[arg(hide_possible_values = true)]
    conceal: Option<String>,

    /// VT, FF, NEL, U+2028 and U+2029: newline, drop
    #[arg(long, value_name = "POLICY", value_parser = names(Separators::NAMES))]
    #[arg(hide_possible_values = true)]
    separators: Option<String>,

    /// What removed things leave: strip, mark (or visualize)
    #[arg(long, value_name = "WHAT", conflicts_with = "mark")]
    #[arg(value_parser = names(REMOVED_WORDS), hide_possible_values = true)]
    removed: Option<String>,

    /// Text that a terminal would hide: keep, mark (between `⟦` and `⟧`)
    #[arg(long, value_name = "POLICY", value_parser = names(HiddenText::NAMES))]
    #[arg(hide_possible_values = true)]
    hidden_text: Option<String>,

    /// NOT INERT: let everything pass, with `--profile display` alone
    #[arg(long)]
    off: bool,

    /// The input is in this encoding (gbk, windows-1252, utf-16le, …), not in UTF-8
    #[arg(long, value_name = "LABEL", value_parser = Label, hide_possible_values = true)]
    encoding: Option<String>,

    /// Read no configuration file: flags and defaults alone
    #[arg(long)]
    no_config: bool,

    /// Read FILE instead of the user's configuration file
    #[arg(long, value_name = "FILE", conflicts_with = "no_config")]
    #[arg(value_hint = ValueHint::FilePath)]
    config: Option<PathBuf>,
}

fn names(names: &'static [&'static str]) -> PossibleValuesParser {
    PossibleValuesParser::new(names)
}

/// Encodings that are met, for a shell to complete. Every label that the decoder knows is taken.
const LABELS: &[&str] = &[
    "utf-8",
    "utf-16le",
    "utf-16be",
    "windows-1250",
    "windows-1251",
    "windows-1252",
    "windows-1253",
    "windows-1254",
    "windows-1255",
    "windows-1256",
    "iso-8859-1",
    "iso-8859-2",
    "iso-8859-15",
    "koi8-r",
    "koi8-u",
    "ibm866",
    "macintosh",
    "gbk",
    "gb18030",
    "big5",
    "shift_jis",
    "euc-jp",
    "euc-kr",
];

#[derive(Clone)]
struct Label;

impl TypedValueParser for Label {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> std::result::Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(LABELS.iter().map(PossibleValue::new)))
    }
}

impl SettingArgs {
    /// The configuration, with these flags on top.
    pub(crate) fn config(&self) -> Result<Config> {
        let mut config = Config::load(self.no_config, self.config.as_deref())?;
        let flags = [
            ("profile", &self.profile),
            ("cr", &self.cr),
            ("invisible", &self.invisible),
            ("style", &self.style),
            ("conceal", &self.conceal),
            ("separators", &self.separators),
            ("removed", &self.removed),
            ("hidden_text", &self.hidden_text),
            ("encoding", &self.encoding),
        ];
        for (name, value) in flags {
            config.flag(name, value.as_deref());
        }
        config.switch("mark", self.mark);
        Ok(config)
    }

    /// What survives, and how the input is decoded.
    pub(crate) fn settings(&self) -> Result<(Settings, Config)> {
        let config = self.config()?;
        let mut profile = profile(&config)?;
        if self.off {
            if config.given("profile") != Some("display") {
                return Err(Failure::new("\"--off\" is for \"--profile display\" alone")
                    .hint("a reader other than a terminal program is never given raw output"));
            }
            profile.form = Form::Off;
        }
        profile.check().map_err(|error| Failure::new(error.to_string()).hint(error.hint()))?;
        let encoding = config.given("encoding").map(str::to_owned);
        decoder(encoding.as_deref())?;
        Ok((Settings { profile, encoding, ..Settings::default() }, config))
    }
}

/// The profile that a configuration makes.
fn profile(config: &Config) -> Result<Profile> {
    let mut profile: Profile = value(config.given("profile").unwrap_or("agent"))?;
    set(&mut profile.cr, config.given("cr"))?;
    set(&mut profile.invisible, config.given("invisible"))?;
    set(&mut profile.separators, config.given("separators"))?;
    set(&mut profile.hidden_text, config.given("hidden_text"))?;
    profile.removed = removed(config)?.0;
    match config.given("style") {
        Some("remove") => profile.style = Style::Remove,
        Some(_) => profile.style = Style::Keep(Conceal::default()),
        None => {}
    }
    if let Some(word) = config.given("conceal") {
        profile.style = match profile.style {
            Style::Keep(_) => Style::Keep(value(word)?),
            Style::Remove if config.origin("conceal") == Some(&Origin::Flag) => {
                return Err(Failure::new("\"--conceal\" needs style kept")
                    .hint("add \"--style keep\" or \"--profile display\""));
            }
            Style::Remove => Style::Remove,
        };
    }
    Ok(profile)
}

/// What removed things leave, and the key that decides it: `mark` and `removed` are one setting,
/// and the one nearer to the command line wins.
pub(crate) fn removed(config: &Config) -> Result<(Removed, &'static str)> {
    let (mark, removed) = (config.origin("mark"), config.origin("removed"));
    match (config.given("mark"), config.given("removed")) {
        (Some("true"), _) if mark >= removed => Ok((Removed::Mark, "mark")),
        (Some(_), Some(_)) if mark > removed => Ok((Removed::Strip, "mark")),
        (_, Some(word)) => Ok((value(word)?, "removed")),
        (_, None) => Ok((Removed::Strip, "mark")),
    }
}

/// A decoder for the declared encoding, or `None` for UTF-8.
pub(crate) fn decoder(label: Option<&str>) -> Result<Option<Decoder>> {
    let label = label.unwrap_or("utf-8");
    Decoder::for_label(label).map_err(|error| {
        let label = quoted(OsStr::new(label));
        Failure::new(format!("\"--encoding\" can not be {label}: {error}")).hint(error.hint())
    })
}

/// The word was checked against the same list when it was given.
fn value<T: FromStr<Err = UnknownValue>>(word: &str) -> Result<T> {
    word.parse().map_err(|error: UnknownValue| {
        Failure::new(format!("unknown value {}", quoted(OsStr::new(word)))).hint(error.to_string())
    })
}

fn set<T: FromStr<Err = UnknownValue>>(setting: &mut T, word: Option<&str>) -> Result<()> {
    if let Some(word) = word {
        *setting = value(word)?;
    }
    Ok(())
}
