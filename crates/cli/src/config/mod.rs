//! Configuration: what each key may be, where it came from, and who may set it.

mod file;
mod show;
mod trust;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use noesc::{Conceal, Cr, HiddenText, Invisible, Profile, Separators};
use noesc_session::AtLimit;

use crate::fail::{Failure, Result, quoted};
use crate::limits::Unit;
use crate::say::say;

use file::FileError;
pub(crate) use show::config;

/// The name of a file that a folder may hold for the commands that are run below it.
pub(crate) const PROJECT_FILE: &str = ".noesc.toml";

/// One key: of the file, and of the flag of the same name with `-` for `_`.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) default: &'static str,
    /// The one value that a project file may give it; it tightens.
    pub(crate) project: Option<&'static str>,
    /// How output looks and never where it goes: a project file may set it once its user trusts it.
    pub(crate) is_look: bool,
    /// What survives, or when a run ends: a decision on a command is for the value that it had.
    pub(crate) is_policy: bool,
    pub(crate) says: &'static str,
}

/// What a key's value is.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Word(&'static [&'static str]),
    Switch,
    Text,
    /// A limit or `none`, and what happens at it unless the value says so.
    Limit(Unit, AtLimit),
    /// A time.
    Time,
    /// A number of bytes.
    Size,
    /// A number of things.
    Count,
    /// Recipients: a list of strings, which stand here with commas between.
    Recipients,
}

const fn key(name: &'static str, kind: Kind, default: &'static str, says: &'static str) -> Key {
    Key { name, kind, default, project: None, is_look: false, is_policy: false, says }
}

impl Key {
    const fn project(mut self, value: &'static str) -> Self {
        self.project = Some(value);
        self
    }

    const fn look(mut self) -> Self {
        self.is_look = true;
        self
    }

    const fn policy(mut self) -> Self {
        self.is_policy = true;
        self
    }
}

/// A setting that the profile decides unless it is given.
pub(crate) const BY_PROFILE: &str = "by profile";

pub(crate) const STYLE_WORDS: &[&str] = &["remove", "keep"];
pub(crate) const RECORD_WORDS: &[&str] = &["full", "executable", "digest"];
pub(crate) const EVIDENCE_WORDS: &[&str] = &["auto", "required", "off"];
pub(crate) const DIGEST_WORDS: &[&str] = &["auto", "keyed"];
pub(crate) const REMOVED_WORDS: &[&str] = &["strip", "mark", "visualize"];

/// Every key there is.
pub(crate) const KEYS: &[Key] = &[
    key("profile", Kind::Word(Profile::NAMES), "agent", "the set of settings to begin with")
        .project("audit")
        .look()
        .policy(),
    key("mark", Kind::Switch, "false", "leave a mark where something was removed")
        .project("true")
        .look()
        .policy(),
    key("cr", Kind::Word(Cr::NAMES), BY_PROFILE, "bare carriage returns").look().policy(),
    key("invisible", Kind::Word(Invisible::NAMES), BY_PROFILE, "invisible characters")
        .project("show")
        .look()
        .policy(),
    key("style", Kind::Word(STYLE_WORDS), BY_PROFILE, "colours and attributes").look().policy(),
    key("conceal", Kind::Word(Conceal::NAMES), "sequence", "what goes of a style that conceals")
        .look()
        .policy(),
    key("separators", Kind::Word(Separators::NAMES), BY_PROFILE, "VT, FF, NEL, U+2028, U+2029")
        .look()
        .policy(),
    key("removed", Kind::Word(REMOVED_WORDS), "strip", "what removed things leave").look().policy(),
    key("hidden_text", Kind::Word(HiddenText::NAMES), "keep", "text that a terminal would hide")
        .look()
        .policy(),
    key("encoding", Kind::Text, "utf-8", "the encoding of the input").policy(),
    key("quiet", Kind::Switch, "false", "say nothing of findings").look(),
    key("record_command", Kind::Word(RECORD_WORDS), "full", "how much of a command is recorded")
        .look(),
    limit("time_max", Unit::Time, "none", "how long a run may take").policy(),
    limit("idle_max", Unit::Time, "none", "how long a run may print nothing").policy(),
    limit("rate_max", Unit::Bytes, "none", "bytes that a run may print within a second").policy(),
    key(
        "capture_bytes_max",
        Kind::Limit(Unit::Bytes, AtLimit::Drain),
        "64MiB:drain",
        "bytes of a stream that are kept, not in the format text",
    )
    .policy(),
    limit("processes_max", Unit::Processes, "none", "processes that a run may have at once")
        .policy(),
    key("view_bytes_max", Kind::Size, "32KiB", "bytes of view of a stream that a record holds"),
    key("transcript_bytes_max", Kind::Size, "16MiB", "bytes of view of a stream that a run stores"),
    key("json_bytes_max", Kind::Size, "1MiB", "bytes that expected JSON may have"),
    key("drain_max", Kind::Time, "60s", "how long is read on after a limit that says drain")
        .policy(),
    key("linger", Kind::Time, "250ms", "how long a process left behind may be silent").policy(),
    key("linger_max", Kind::Time, "2s", "how long a process left behind is listened to").policy(),
    key("grace", Kind::Time, "2s", "how long processes may take to end when they are asked to")
        .policy(),
    key("evidence", Kind::Word(EVIDENCE_WORDS), "auto", "whether raw output is kept, sealed")
        .project("required"),
    key("store", Kind::Text, "", "the folder of the store, where it is not the usual one"),
    key("recipients", Kind::Recipients, "", "whom raw output is sealed to"),
    key("identity", Kind::Text, "", "the file of the investigator's identity"),
    key("approver", Kind::Text, "", "the public key of who signs decisions"),
    key("approver_identity", Kind::Text, "", "the file of the approver's key"),
    key("raw_digest", Kind::Word(DIGEST_WORDS), "auto", "which digests of raw output are told"),
    key("transcript", Kind::Switch, "true", "keep the views of a run"),
    key("raw_keep", Kind::Time, "14d", "how long raw output is kept"),
    key("transcript_keep", Kind::Time, "90d", "how long the views of a run are kept"),
    key("artifact_bytes_max", Kind::Size, "2GiB", "bytes that the sealed output of a run may have"),
    key("store_bytes_max", Kind::Size, "16GiB", "bytes that the store may have"),
    key("store_files_max", Kind::Count, "200000", "files that the store may have"),
    key("run_reserve", Kind::Size, "8MiB", "bytes of the store that are left for each new run"),
];

/// A limit at which a run is stopped unless its value says otherwise.
const fn limit(name: &'static str, unit: Unit, default: &'static str, says: &'static str) -> Key {
    key(name, Kind::Limit(unit, AtLimit::Stop), default, says)
}

/// The key of this name.
pub(crate) fn key_named(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// Where a value came from; a later one wins.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    User(PathBuf),
    Project(PathBuf),
    Flag,
}

/// The values that were given, each with its origin. What is not there has its default.
#[derive(Debug, Default)]
pub(crate) struct Config {
    given: BTreeMap<&'static str, (String, Origin)>,
    /// The user's file, whether there is one or not.
    user_file: Option<PathBuf>,
}

impl Config {
    /// Reads the user's file and the project's, unless `no_config`. A project file that can not be
    /// used is warned of and ignored: somebody else wrote it, and it can only tighten.
    ///
    /// # Errors
    /// When the user's own file can not be read or understood.
    pub(crate) fn load(no_config: bool, named: Option<&Path>) -> Result<Self> {
        if no_config {
            return Ok(Self::default());
        }
        let mut config = Self::load_own(named)?;
        if let Some(path) = file::project_path() {
            match file::read_leniently(&path) {
                Ok(read) => {
                    read.faults.iter().for_each(|fault| warn_of(&path, fault));
                    config.take_project(read.values, &path, &read.sha256);
                }
                Err(error) => warn_ignored(&path, &error),
            }
        }
        Ok(config)
    }

    /// Reads the user's file alone.
    ///
    /// # Errors
    /// When it can not be read or understood.
    pub(crate) fn load_own(named: Option<&Path>) -> Result<Self> {
        let user_file = named.map(Path::to_path_buf).or_else(file::user_path);
        let mut config = Self { user_file, ..Self::default() };
        if let Some(path) = config.user_file.clone() {
            match file::read(&path) {
                Ok(Some(values)) => config.take(values, &Origin::User(path)),
                Ok(None) if named.is_some() => {
                    let missing = std::io::ErrorKind::NotFound.into();
                    return Err(Failure::io("can not open", path.as_os_str(), &missing)
                        .hint("\"--config\" takes a file that exists"));
                }
                Ok(None) => {}
                // Another user's folder, as after a change of user: as good as not there, but said.
                Err(error) if error.denied && named.is_none() => warn_ignored(&path, &error),
                Err(error) => return Err(error.failure(&path)),
            }
        }
        Ok(config)
    }

    /// The same, where the file that is named need not be there: it is about to be written.
    ///
    /// # Errors
    /// When it is there and can not be read or understood.
    pub(crate) fn load_or_new(named: Option<&Path>) -> Result<Self> {
        match named {
            Some(path) if !path.exists() => {
                Ok(Self { user_file: Some(path.to_path_buf()), ..Self::default() })
            }
            named => Self::load_own(named),
        }
    }

    /// The user's file alone, for verbs that take nothing else of it. One that can not be used is
    /// as good as not there: the verbs that need it say what is wrong.
    pub(crate) fn of_user() -> Self {
        let mut config = Self { user_file: file::user_path(), ..Self::default() };
        if let Some(path) = config.user_file.clone()
            && let Ok(Some(values)) = file::read(&path)
        {
            config.take(values, &Origin::User(path));
        }
        config
    }

    fn take(&mut self, values: Vec<(&'static Key, String)>, origin: &Origin) {
        for (key, value) in values {
            self.given.insert(key.name, (value, origin.clone()));
        }
    }

    fn take_project(&mut self, values: Vec<(&'static Key, String)>, path: &Path, sha256: &str) {
        let (mut may, may_not): (Vec<_>, Vec<_>) =
            values.into_iter().partition(|(key, value)| key.project == Some(value.as_str()));
        let is_trusted = !may_not.is_empty() && trust::is_trusted(path, sha256);
        for (key, value) in may_not {
            if is_trusted && key.is_look {
                may.push((key, value));
                continue;
            }
            let may = match key.project {
                Some(value) => format!("a project may only set it to \"{value}\""),
                None => "a project may not set it".into(),
            };
            let value = noesc::audit(value.as_bytes());
            let path = quoted(path.as_os_str());
            say(&format!("warning: {} = \"{value}\" in {path} is ignored: {may}", key.name));
        }
        self.take(may, &Origin::Project(path.to_path_buf()));
    }

    /// A flag was given.
    pub(crate) fn flag(&mut self, name: &'static str, value: Option<&str>) {
        if let Some(value) = value {
            self.given.insert(name, (value.to_owned(), Origin::Flag));
        }
    }

    /// A flag that may undo what a file says.
    pub(crate) fn switch(&mut self, name: &'static str, value: Option<bool>) {
        self.flag(name, value.map(|on| if on { "true" } else { "false" }));
    }

    /// The value that was given for a key.
    pub(crate) fn given(&self, name: &str) -> Option<&str> {
        self.given.get(name).map(|(value, _)| value.as_str())
    }

    pub(crate) fn origin(&self, name: &str) -> Option<&Origin> {
        self.given.get(name).map(|(_, origin)| origin)
    }

    /// The user's file, whether there is one or not.
    pub(crate) fn user_file(&self) -> Option<&Path> {
        self.user_file.as_deref()
    }

    /// What a list holds.
    pub(crate) fn list(&self, name: &str) -> Vec<&str> {
        let given = self.given(name).filter(|text| !text.is_empty());
        given.map(|text| text.split(',').collect()).unwrap_or_default()
    }

    /// Whether a switch is on.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.given(name) == Some("true")
    }
}

/// A key of a project's file that is ignored; the others count.
fn warn_of(path: &Path, fault: &FileError) {
    say(&format!("warning: in {}{fault}; it is ignored", quoted(path.as_os_str())));
}

fn warn_ignored(path: &Path, error: &FileError) {
    say(&format!("warning: ignored: {}{error}", quoted(path.as_os_str())));
}
