//! Manual pages, in ASCII: what is beyond it is written as roff names it.

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory};

use crate::args::Arguments;
use crate::fail::{Failure, Result};

/// The page of a verb, or of noesc itself.
pub(crate) fn page(verb: Option<&str>) -> Result<String> {
    let mut all = Arguments::command();
    all.build();
    let command = match verb {
        None => &all,
        Some(verb) => all.find_subcommand(verb).ok_or_else(|| {
            Failure::new(format!("unknown verb {}", crate::fail::quoted(verb.as_ref())))
                .hint("\"noesc --help\" lists the verbs")
        })?,
    };
    let mut page = Page(String::new());
    let name = verb.map_or("noesc".into(), |verb| format!("noesc-{verb}"));
    let version = all.get_version().unwrap_or_default();
    let title = escaped(&name.to_uppercase());
    page.line(&format!(".TH {title} 1 \"\" \"noesc {version}\" \"noesc\""));
    page.section("NAME");
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    page.fill(&format!("{} \\- {}", escaped(&name), prose(&about)));
    page.section("SYNOPSIS");
    page.line(&prose(&synopsis(command)));
    page.section("DESCRIPTION");
    let about = command.get_long_about().map_or(about, ToString::to_string);
    page.paragraphs(&about);
    page.arguments(command);
    if verb.is_none() {
        page.section("COMMANDS");
        for verb in all.get_subcommands() {
            let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
            page.entry(&format!("{}(1)", bold(&format!("noesc-{}", verb.get_name()))), &about);
        }
    }
    for (title, entries) in tables(verb) {
        page.section(title);
        entries.iter().for_each(|(term, says)| page.entry(&bold(term), says));
    }
    page.examples(command);
    page.section("SEE ALSO");
    let verbs = all.get_subcommands().map(|verb| format!("noesc-{}", verb.get_name()));
    let others = std::iter::once("noesc".to_owned()).chain(verbs).filter(|other| *other != name);
    let others: Vec<_> = others.map(|other| format!("{}(1)", bold(&other))).collect();
    page.fill(&others.join(", "));
    Ok(page.0)
}

fn synopsis(command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    let name = command.get_bin_name().unwrap_or_default();
    format!("`{name}`{}", usage.strip_prefix(name).unwrap_or(usage))
}

/// Columns of a page's source.
const COLUMNS: usize = 80;

struct Page(String);

impl Page {
    fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    /// Text that may break at any blank.
    fn fill(&mut self, roff: &str) {
        let mut line = String::new();
        for word in roff.split(' ').filter(|word| !word.is_empty()) {
            if !line.is_empty() && line.len() + word.len() >= COLUMNS {
                self.text(&std::mem::take(&mut line));
            }
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
        self.text(&line);
    }

    /// A line that is no request, however it begins.
    fn text(&mut self, line: &str) {
        let guard = if line.starts_with(['.', '\'']) { "\\&" } else { "" };
        self.line(&format!("{guard}{line}"));
    }

    fn section(&mut self, title: &str) {
        self.line(&format!(".SH \"{title}\""));
    }

    fn paragraphs(&mut self, text: &str) {
        for (at, paragraph) in text.split("\n\n").enumerate() {
            if at > 0 {
                self.line(".PP");
            }
            self.fill(&prose(paragraph));
        }
    }

    /// A term, in roff, and what is said of it.
    fn entry(&mut self, term: &str, says: &str) {
        self.line(".TP");
        self.line(term);
        self.fill(&prose(says));
    }

    /// What the command takes: its arguments, then its flags, by their headings.
    fn arguments(&mut self, command: &Command) {
        let shown: Vec<_> = command.get_arguments().filter(|arg| !arg.is_hide_set()).collect();
        let (places, flags): (Vec<_>, Vec<_>) =
            shown.into_iter().partition(|arg| arg.is_positional());
        if !places.is_empty() {
            self.section("ARGUMENTS");
            places.iter().for_each(|arg| self.argument(arg));
        }
        self.section("OPTIONS");
        let mut headings: Vec<_> = flags.iter().map(|arg| arg.get_help_heading()).collect();
        headings.dedup();
        headings.sort_by_key(Option::is_some);
        headings.dedup();
        for heading in headings {
            if let Some(heading) = heading {
                self.line(&format!(".SS \"{}\"", escaped(heading)));
            }
            let below = flags.iter().filter(|arg| arg.get_help_heading() == heading);
            below.for_each(|arg| self.argument(arg));
        }
    }

    fn argument(&mut self, arg: &Arg) {
        let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string);
        let mut help = match arg.get_id() == "help" {
            true => "Print help".to_owned(),
            false => help.unwrap_or_default(),
        };
        let takes_values = arg.get_action().takes_values();
        if takes_values && !arg.is_hide_possible_values_set() {
            let values = arg.get_possible_values();
            let names: Vec<_> = values.iter().map(|value| value.get_name()).collect();
            if !names.is_empty() {
                let _ = write!(help, ": {}", names.join(", "));
            }
        }
        if let [default] = arg.get_default_values()
            && takes_values
            && !arg.is_hide_default_value_set()
        {
            let _ = write!(help, " (default: {})", default.to_string_lossy());
        }
        self.entry(&term(arg), &help);
    }

    /// What stands behind `Examples:` in the help, as it is.
    fn examples(&mut self, command: &Command) {
        let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let Some(examples) = after.strip_prefix("Examples:\n") else { return };
        self.section("EXAMPLES");
        self.line(".nf");
        for line in examples.lines() {
            self.text(&literal(line.strip_prefix("  ").unwrap_or(line)));
        }
        self.line(".fi");
    }
}

/// How an argument is written, in roff.
fn term(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    let value = format!("\\fI{}\\fR", escaped(names.first().map_or("", |name| name.as_str())));
    if arg.is_positional() {
        return value;
    }
    let short = arg.get_short().map(|short| bold(&format!("-{short}")));
    let long = arg.get_long().map(|long| bold(&format!("--{long}")));
    let names: Vec<_> = short.into_iter().chain(long).collect();
    let value = match (arg.get_action().takes_values(), arg.is_require_equals_set()) {
        (true, true) => format!("[={value}]"),
        (true, false) => format!(" {value}"),
        (false, _) => String::new(),
    };
    format!("{}{value}", names.join(", "))
}

fn bold(text: &str) -> String {
    format!("\\fB{}\\fR", literal(text))
}

/// Text whose quotation marks are those of a shell.
fn literal(text: &str) -> String {
    let text = escaped(text).replace('\'', "\\(aq").replace('`', "\\(ga");
    text.replace('^', "\\(ha").replace('~', "\\(ti")
}

/// Text in which backticks hold what is typed.
fn prose(text: &str) -> String {
    let pieces = text.split('`').enumerate();
    let roff = pieces.map(|(at, piece)| match at % 2 {
        0 => escaped(piece).replace('\n', " "),
        _ => bold(piece),
    });
    roff.collect()
}

/// Text without a character that roff reads, and in ASCII.
fn escaped(text: &str) -> String {
    let mut roff = String::new();
    for c in text.chars() {
        match c {
            '\\' => roff.push_str("\\(rs"),
            '-' => roff.push_str("\\-"),
            c if c.is_ascii() => roff.push(c),
            c => {
                let _ = write!(roff, "\\[u{:04X}]", u32::from(c));
            }
        }
    }
    roff
}

type Table = (&'static str, &'static [(&'static str, &'static str)]);

/// What the command line does not say of itself.
fn tables(verb: Option<&str>) -> Vec<Table> {
    let status = (
        "EXIT STATUS",
        match verb {
            None => STATUS_OF_ALL,
            Some("run") => STATUS_OF_RUN,
            Some("scan") => STATUS_OF_SCAN,
            Some(_) => STATUS,
        },
    );
    let (environment, files): (&[_], &[_]) = match verb {
        Some("run") => (ENVIRONMENT_OF_RUN, FILES),
        Some("filter" | "config") | None => (&[CONFIG_HOME], FILES),
        Some("explain") => (ENVIRONMENT_OF_EXPLAIN, &[]),
        Some("scan") => (&[("TMPDIR", "Where stdin waits while it is scanned; else `/tmp`.")], &[]),
        Some(_) => (&[], &[]),
    };
    let all = [status, ("ENVIRONMENT", environment), ("FILES", files)];
    all.into_iter().filter(|(_, entries)| !entries.is_empty()).collect()
}

const STATUS: &[(&str, &str)] = &[
    ("0", "Done; also when the reader of the output went away."),
    ("2", "Misused, or something could not be read or written."),
];

const STATUS_OF_ALL: &[(&str, &str)] = &[
    ("0", "Done."),
    ("1", "`noesc scan` found something."),
    ("2", "Misused, or something could not be read or written."),
    ("125", "`noesc run` failed or was misused; else it exits as the command did."),
];

const STATUS_OF_RUN: &[(&str, &str)] = &[
    ("125", "noesc itself failed or was misused."),
    ("126", "The command can not be run."),
    ("127", "The command was not found."),
    ("128+n", "Signal n ended the command, or noesc was told to stop by it."),
    ("else", "That of the command."),
];

const STATUS_OF_SCAN: &[(&str, &str)] = &[
    ("0", "Nothing at or above `--fail-on` was found."),
    ("1", "Something was."),
    ("2", "Misused, or something could not be read; the rest was scanned all the same."),
];

const CONFIG_HOME: (&str, &str) =
    ("XDG_CONFIG_HOME", "The folder of configuration files; else `~/.config`.");

const ENVIRONMENT_OF_RUN: &[(&str, &str)] = &[
    ("PATH", "Where the command is looked for."),
    ("MAKEFLAGS", "The descriptors of a jobserver that it names are the command's too."),
    CONFIG_HOME,
];

const ENVIRONMENT_OF_EXPLAIN: &[(&str, &str)] = &[
    ("NO_COLOR", "With any value but an empty one, `--color auto` uses no colour."),
    ("TERM", "If it is `dumb`, neither."),
];

const FILES: &[(&str, &str)] = &[
    ("~/.config/noesc/config.toml", "Your settings; `noesc config --schema` describes it."),
    (".noesc.toml", "Those of a project, in its folder: they can only tighten."),
];
