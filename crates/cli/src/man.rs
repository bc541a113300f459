//! Manual pages: what the command line says of itself, and what it does not.

use std::io;

use clap::builder::StyledStr;
use clap::{Arg, Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, roman};

use crate::args::Arguments;
use crate::fail::{Failure, Result};

/// The page of a verb, or of noesc itself.
pub(crate) fn page(verb: Option<&str>) -> Result<String> {
    let mut all = Arguments::command().subcommand_help_heading("COMMANDS");
    all.build();
    let command = match verb {
        None => &all,
        Some(verb) => all.find_subcommand(verb).ok_or_else(|| {
            Failure::new(format!("unknown verb {}", crate::fail::quoted(verb.as_ref())))
                .hint("\"noesc --help\" lists the verbs")
        })?,
    };
    let page = sections(command, &all, verb)
        .map_err(|error| Failure::new(format!("no page: {}", crate::fail::escaped(error))))?;
    Ok(source(&String::from_utf8_lossy(&page)))
}

fn sections(command: &Command, all: &Command, verb: Option<&str>) -> io::Result<Vec<u8>> {
    // There is one help, whichever flag asks for it.
    let mut shown = command.clone().mut_arg("help", |help| help.help("Print help").long_help(None));
    let usage = shown.render_usage().to_string();
    let man = Man::new(shown.override_usage(usage.trim_start_matches("Usage: ").to_owned()));
    let name = name_of(command);
    let version = format!("noesc {}", all.get_version().unwrap_or_default());
    let mut page = Vec::new();
    // `Man` leaves an absent date out, and the next argument would be taken for it.
    let title = name.to_uppercase().replace('-', "\\-");
    let mut head = Roff::new();
    head.control("TH", [&*title, "1", "\"\"", &version, "noesc"]).to_writer(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if verb.is_none() {
        man.render_subcommands_section(&mut page)?;
    }
    if verb.is_some() && command.has_subcommands() {
        verbs_of(command).to_writer(&mut page)?;
    }
    let mut more = Roff::new();
    let parts: Vec<_> =
        command.get_subcommands().filter(|part| part.get_name() != "help").collect();
    if verb.is_some() && !parts.is_empty() {
        more.control("SH", ["COMMANDS"]);
    }
    for part in parts.into_iter().filter(|_| verb.is_some()) {
        more.control("TP", []).text([bold(part.get_name())]);
        more.text([roman(part.get_about().map(ToString::to_string).unwrap_or_default())]);
        for arg in part.get_arguments().filter(|arg| arg.get_id() != "help" && !arg.is_global_set())
        {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            more.control("TP", []).text([roman(arg.to_string())]).text([roman(help)]);
        }
    }
    for (title, entries) in tables(verb) {
        more.control("SH", [title]);
        for (term, says) in entries {
            more.control("TP", []).text([bold(*term)]).text([roman(*says)]);
        }
    }
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    if let Some(examples) = after.strip_prefix("Examples:\n") {
        more.control("SH", ["EXAMPLES"]).control("nf", []);
        for line in examples.lines() {
            more.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
        }
        more.control("fi", []);
    }
    let names = std::iter::once(all).chain(all.get_subcommands());
    let others = names.map(name_of).filter(|other| *other != name);
    let others = others.enumerate().flat_map(|(at, other)| {
        [roman(if at == 0 { "" } else { ", " }), bold(other), roman("(1)")]
    });
    more.control("SH", ["SEE ALSO"]).text(others.collect::<Vec<Inline>>());
    more.to_writer(&mut page)?;
    Ok(page)
}

/// The verbs of a verb, each with what it alone takes.
fn verbs_of(command: &Command) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["COMMANDS"]);
    let text = |text: Option<&StyledStr>| text.map(ToString::to_string).unwrap_or_default();
    for verb in command.get_subcommands() {
        let about = text(verb.get_long_about().or(verb.get_about())).replace("\n\n", " ");
        roff.control("TP", []).text([bold(verb.get_name())]).text([roman(about)]);
        roff.control("RS", []);
        let own = |arg: &&Arg| !arg.is_global_set() && arg.get_id() != "help";
        for arg in verb.get_arguments().filter(own) {
            let help = text(arg.get_help());
            roff.control("TP", []).text([bold(arg.to_string())]).text([roman(help)]);
        }
        roff.control("RE", []);
    }
    roff
}

/// The name of a page: `noesc-run`.
fn name_of(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// Columns of a page's source.
const COLUMNS: usize = 80;

/// The page in ASCII, in lines of a usual length. What stands in backticks is bold.
fn source(page: &str) -> String {
    let mut source = String::new();
    let (mut is_bold, mut as_is) = (false, false);
    // What the sections begin with says how an apostrophe is written.
    for line in page.lines().filter(|line| !line.starts_with(".ie ") && !line.starts_with(".el ")) {
        as_is = (as_is || line == ".nf") && line != ".fi";
        let roff = ascii(line, &mut is_bold);
        let mut len = 0;
        for (at, word) in roff.trim_end().split(' ').enumerate() {
            // A line that begins with a dot is a request.
            let fits = len + word.len() < COLUMNS || word.starts_with('.');
            let ends = !fits && !as_is && !line.starts_with('.');
            source.push_str(match (at, ends) {
                (0, _) => "",
                (_, true) => "\n",
                (_, false) => " ",
            });
            source.push_str(word);
            len = if ends { 0 } else { len + 1 } + word.len();
        }
        source.push('\n');
    }
    source
}

fn ascii(roff: &str, is_bold: &mut bool) -> String {
    let mut ascii = String::new();
    for c in roff.replace("\\*(Aq", "\\(aq").replace("\\\\", "\\(rs").chars() {
        match c {
            '`' => {
                *is_bold = !*is_bold;
                ascii.push_str(if *is_bold { "\\fB" } else { "\\fR" });
            }
            '~' => ascii.push_str("\\(ti"),
            '^' => ascii.push_str("\\(ha"),
            c if c.is_ascii() => ascii.push(c),
            c => ascii.push_str(&format!("\\[u{:04X}]", u32::from(c))),
        }
    }
    ascii
}

type Table = (&'static str, &'static [(&'static str, &'static str)]);

/// What the command line does not say of itself.
fn tables(verb: Option<&str>) -> Vec<Table> {
    let status = (
        "EXIT STATUS",
        match verb {
            None => STATUS_OF_ALL,
            Some("run") => STATUS_OF_RUN,
            Some("wait") => STATUS_OF_WAIT,
            Some("scan") => STATUS_OF_SCAN,
            Some("search") => STATUS_OF_SEARCH,
            Some("digest") => STATUS_OF_DIGEST,
            Some("ledger") => STATUS_OF_LEDGER,
            Some("store") => STATUS_OF_STORE,
            Some(_) => STATUS,
        },
    );
    let (environment, files): (&[_], &[_]) = match verb {
        Some("run") => (ENVIRONMENT_OF_RUN, FILES_OF_RUN),
        Some("ps" | "wait" | "stop" | "show" | "search" | "report" | "digest") => {
            (&[STATE_HOME], RUNS)
        }
        Some("runs") => (&[STATE_HOME], ALL_RUNS),
        Some("init" | "decide" | "ledger" | "open") => (&[CONFIG_HOME, STATE_HOME], STORE),
        Some("store") => (&[STATE_HOME, CONFIG_HOME], FILES_OF_STORE),
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
    (
        "1",
        "`noesc scan` found something, `noesc search` nothing; `noesc digest` differs; the ledger \
         is not in order; `noesc store doctor` found a fault.",
    ),
    ("2", "Misused, or something could not be read or written."),
    ("125", "`noesc run` or `noesc wait` failed or was misused; else as the command."),
];

const STATUS_OF_RUN: &[(&str, &str)] = &[
    ("124", "A limit stopped the command."),
    ("125", "noesc itself failed or was misused."),
    ("126", "The command can not be run."),
    ("127", "The command was not found."),
    ("128+n", "Signal n ended the command, or noesc was told to stop by it."),
    ("else", "That of the command."),
];

const STATUS_OF_WAIT: &[(&str, &str)] = &[
    ("124", "The run goes on after `--time-max`; or a limit of its own had stopped it."),
    ("125", "noesc failed or was misused, or the end of the run was not seen."),
    ("128+n", "Signal n ended the command, or the run was told to stop by it."),
    ("else", "That of the command."),
];

const STATUS_OF_SCAN: &[(&str, &str)] = &[
    ("0", "Nothing at or above `--fail-on` was found."),
    ("1", "Something was."),
    ("2", "Misused, or something could not be read; the rest was scanned all the same."),
];

const STATUS_OF_SEARCH: &[(&str, &str)] = &[
    ("0", "A line was found."),
    ("1", "None was."),
    ("2", "Misused, or something could not be read or written."),
];

const STATUS_OF_DIGEST: &[(&str, &str)] = &[
    ("0", "Done; with `--equals`, the raw bytes have that digest."),
    ("1", "They have another one."),
    ("2", "Misused, something could not be read or written, or the digest is never compared."),
];

const STATUS_OF_LEDGER: &[(&str, &str)] = &[
    ("0", "Done; also when the reader of the output went away."),
    ("1", "The ledger is not in order, or not what it was at the checkpoint."),
    ("2", "Misused, or something could not be read or written."),
];

const STATUS_OF_STORE: &[(&str, &str)] = &[
    ("0", "Done; for `doctor`, the store is healthy."),
    ("1", "`doctor` found a fault."),
    ("2", "Misused, or something could not be read or written."),
];

const CONFIG_HOME: (&str, &str) =
    ("XDG_CONFIG_HOME", "The folder of configuration files; else `~/.config`.");

const STATE_HOME: (&str, &str) =
    ("XDG_STATE_HOME", "The folder of what a program remembers; else `~/.local/state`.");

const ENVIRONMENT_OF_RUN: &[(&str, &str)] = &[
    ("PATH", "Where the command is looked for."),
    (
        "MAKEFLAGS",
        "The descriptors of a jobserver that it names are the command's too, with the format text.",
    ),
    ("COLUMNS, LINES, TERM", "Put right for the command under `--pty`."),
    CONFIG_HOME,
    STATE_HOME,
];

const ENVIRONMENT_OF_EXPLAIN: &[(&str, &str)] = &[
    ("NO_COLOR", "With any value but an empty one, `--color auto` uses no colour."),
    ("TERM", "If it is `dumb`, neither."),
];

const OWN_SETTINGS: (&str, &str) =
    ("~/.config/noesc/config.toml", "Your settings; `noesc config --schema` describes it.");
const PROJECT: (&str, &str) =
    (".noesc.toml", "Those of a project, in its folder: they can only tighten.");
const RUN_FOLDERS: (&str, &str) = (
    "~/.local/state/noesc/runs",
    "A folder for each run in the background, and for each that something outlives.",
);

const STORE_FOLDER: (&str, &str) =
    ("~/.local/state/noesc", "The store: the ledger, its key, and a folder for each run.");

const FILES: &[(&str, &str)] = &[OWN_SETTINGS, PROJECT];
const FILES_OF_RUN: &[(&str, &str)] = &[OWN_SETTINGS, PROJECT, RUN_FOLDERS];
const STORE: &[(&str, &str)] = &[
    OWN_SETTINGS,
    ("~/.local/state/noesc/ledger", "What happened, one record an event."),
    ("~/.local/state/noesc/collector.key", "What its records are signed with."),
];
const FILES_OF_STORE: &[(&str, &str)] = &[OWN_SETTINGS, STORE_FOLDER];
const RUNS: &[(&str, &str)] = &[RUN_FOLDERS];
const ALL_RUNS: &[(&str, &str)] = &[
    RUN_FOLDERS,
    ("~/.local/state/noesc/ledger", "What happened, in signed records."),
    (
        "~/.local/state/noesc/index.sqlite",
        "Made from the ledger, and made anew when it is damaged. It can be deleted at any time.",
    ),
];
