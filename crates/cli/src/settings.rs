//! The settings of a profile, as flags.

use std::ffi::OsStr;
use std::str::FromStr;

use clap::Args;
use clap::builder::PossibleValuesParser;
use noesc::{
    Conceal, Cr, Form, HiddenText, Invisible, Profile, Removed, Separators, Style, UnknownValue,
};
use noesc_session::{Decoder, Settings};

use crate::fail::{Failure, Result, quoted};

/// What survives.
#[derive(Debug, Args)]
#[command(next_help_heading = "What survives")]
pub(crate) struct SettingArgs {
    /// agent: plain text. display: colours stay, for a terminal program. audit: `\xNN`
    #[arg(long, value_name = "NAME", value_parser = names(Profile::NAMES))]
    #[arg(default_value = "agent", hide_possible_values = true)]
    profile: String,

    /// Leave `␛` where a sequence or control was removed
    #[arg(long)]
    mark: bool,

    /// Bare carriage returns: newline, collapse, overwrite, drop, mark
    #[arg(long, value_name = "POLICY", value_parser = names(Cr::NAMES))]
    #[arg(hide_possible_values = true)]
    cr: Option<String>,

    /// Invisible and reordering characters: drop, show, keep
    #[arg(long, value_name = "POLICY", value_parser = names(Invisible::NAMES))]
    #[arg(hide_possible_values = true)]
    invisible: Option<String>,

    /// Colours and attributes: remove, keep
    #[arg(long, value_name = "POLICY", value_parser = names(&["remove", "keep"]))]
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
    #[arg(value_parser = names(&["strip", "mark", "visualize"]), hide_possible_values = true)]
    removed: Option<String>,

    /// Text that a terminal would hide: keep, mark (between `⟦` and `⟧`)
    #[arg(long, value_name = "POLICY", value_parser = names(HiddenText::NAMES))]
    #[arg(hide_possible_values = true)]
    hidden_text: Option<String>,

    /// NOT INERT: let everything pass, with `--profile display` alone
    #[arg(long)]
    off: bool,

    /// The input is in this encoding (gbk, windows-1252, utf-16le, …), not in UTF-8
    #[arg(long, value_name = "LABEL", default_value = "utf-8", hide_default_value = true)]
    encoding: String,

    /// Read no configuration file: flags and defaults alone
    #[arg(long)]
    no_config: bool,
}

fn names(names: &'static [&'static str]) -> PossibleValuesParser {
    PossibleValuesParser::new(names)
}

/// Clap has checked the word against the same list.
fn value<T: FromStr<Err = UnknownValue>>(word: &str) -> Result<T> {
    word.parse().map_err(|error: UnknownValue| {
        Failure::new(format!("unknown value {}", quoted(OsStr::new(word)))).hint(error.to_string())
    })
}

impl SettingArgs {
    /// The profile that the flags make.
    pub(crate) fn profile(&self) -> Result<Profile> {
        let mut profile: Profile = value(&self.profile)?;
        set(&mut profile.cr, self.cr.as_deref())?;
        set(&mut profile.invisible, self.invisible.as_deref())?;
        set(&mut profile.separators, self.separators.as_deref())?;
        set(&mut profile.removed, self.removed.as_deref())?;
        set(&mut profile.hidden_text, self.hidden_text.as_deref())?;
        if self.mark {
            profile.removed = Removed::Mark;
        }
        match self.style.as_deref() {
            Some("remove") => profile.style = Style::Remove,
            Some(_) => profile.style = Style::Keep(Conceal::default()),
            None => {}
        }
        if let Some(word) = &self.conceal {
            profile.style = match profile.style {
                Style::Keep(_) => Style::Keep(value(word)?),
                Style::Remove => {
                    return Err(Failure::new("\"--conceal\" needs style kept")
                        .hint("add \"--style keep\" or \"--profile display\""));
                }
            };
        }
        if self.off {
            if self.profile != "display" {
                return Err(Failure::new("\"--off\" is for \"--profile display\" alone")
                    .hint("a reader other than a terminal program is never given raw output"));
            }
            profile.form = Form::Off;
        }
        profile.check().map_err(|error| Failure::new(error.to_string()).hint(error.hint()))?;
        Ok(profile)
    }

    /// A decoder for the declared encoding, or `None` for UTF-8.
    pub(crate) fn decoder(&self) -> Result<Option<Decoder>> {
        Decoder::for_label(&self.encoding).map_err(|error| {
            let label = quoted(OsStr::new(&self.encoding));
            Failure::new(format!("\"--encoding\" can not be {label}: {error}")).hint(error.hint())
        })
    }

    /// Both, for a run.
    pub(crate) fn settings(&self) -> Result<Settings> {
        self.decoder()?;
        Ok(Settings { profile: self.profile()?, encoding: Some(self.encoding.clone()) })
    }
}

fn set<T: FromStr<Err = UnknownValue>>(setting: &mut T, word: Option<&str>) -> Result<()> {
    if let Some(word) = word {
        *setting = value(word)?;
    }
    Ok(())
}
