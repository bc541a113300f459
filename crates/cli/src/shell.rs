//! `noesc completions` and `noesc man`: what is made from the command line's own description.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Arg, Command, CommandFactory};
use clap_complete::Shell;
use noesc_session::StoredRun;

use crate::args::{Arguments, CompletionsArgs, ManArgs};
use crate::fail::Result;
use crate::input::write;
use crate::man;

pub(crate) fn completions(args: &CompletionsArgs) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Arguments::command(), "noesc", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    let script = match args.shell {
        Shell::Bash => script + &more_in_bash(),
        Shell::Zsh => runs_in_zsh(&script),
        Shell::Fish => script + &runs_in_fish(),
        _ => script,
    };
    write(script.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// What a completion script asks for: `noesc complete-runs VERB PREFIX`. It is no verb of the
/// command line: no help, page or script lists it.
pub(crate) const COMPLETE_RUNS: &str = "complete-runs";

/// Ids that are offered: a screen has no room for more.
const OFFERED_MAX: usize = 50;

/// Writes the ids of the runs that a verb takes and that begin so, the newest first, one a line;
/// where none begins so, those that end so. A failure would be written into a line that somebody
/// edits: it gives nothing.
pub(crate) fn complete_runs(words: &[OsString]) -> ExitCode {
    let word = |at: usize| words.get(at).and_then(|word| word.to_str()).unwrap_or_default();
    let (verb, part) = (word(0), word(1));
    let runs = crate::runs::listed().unwrap_or_default();
    let is_meant = |run: &&StoredRun| verb != "stop" || run.keeper().is_some();
    let runs = runs.iter().rev();
    let mut begin = runs.clone().filter(|run| run.id().as_str().starts_with(part)).peekable();
    let mut ids: Vec<&str> = match begin.peek() {
        Some(_) => begin.filter(is_meant).take(OFFERED_MAX).map(|run| run.id().as_str()).collect(),
        None => {
            let end = runs.filter(|run| run.id().as_str().ends_with(part));
            end.filter(is_meant).take(OFFERED_MAX).map(|run| run.id().as_str()).collect()
        }
    };
    if ids.is_empty() && !part.is_empty() && "last".starts_with(part) {
        ids.push("last");
    }
    let lines: String = ids.into_iter().flat_map(|id| [id, "\n"]).collect();
    let _ = write(lines.as_bytes());
    ExitCode::SUCCESS
}

pub(crate) fn man(args: &ManArgs) -> Result<ExitCode> {
    write(man::page(args.verb.as_deref())?.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Verbs that take the id of a run, and whether they take several.
const OF_RUNS: [(&str, bool); 7] = [
    ("wait", true),
    ("stop", true),
    ("show", false),
    ("search", false),
    ("report", false),
    ("digest", false),
    ("open", false),
];

/// Those that there are.
fn verbs_of_runs(command: &Command) -> impl Iterator<Item = (&'static str, bool)> {
    OF_RUNS.into_iter().filter(|(verb, _)| command.find_subcommand(verb).is_some())
}

/// The flags of a verb behind which a word of its own is their value.
fn flags_with_values(verb: Option<&Command>) -> BTreeSet<String> {
    let takes_word = |arg: &&Arg| !arg.is_require_equals_set() && arg.get_action().takes_values();
    let flags = verb.into_iter().flat_map(Command::get_opts).filter(takes_word);
    let names = flags.flat_map(|arg| {
        let long = arg.get_long().map(|long| format!("--{long}"));
        long.into_iter().chain(arg.get_short().map(|short| format!("-{short}")))
    });
    names.collect()
}

/// What the generated script can not: after `noesc run` and its flags, a command is completed as
/// anywhere else; where a verb takes a run, the runs that there are.
fn more_in_bash() -> String {
    let mut command = Arguments::command();
    command.build();
    let alternatives = |flags: BTreeSet<String>| flags.into_iter().collect::<Vec<_>>().join("|");
    let of_run = flags_with_values(command.find_subcommand("run"));
    let verbs: Vec<_> = verbs_of_runs(&command).collect();
    let of_verbs =
        verbs.iter().flat_map(|(verb, _)| flags_with_values(command.find_subcommand(verb)));
    let names = |several: bool| {
        let verbs = verbs.iter().filter(|(_, takes_several)| !several || *takes_several);
        verbs.map(|(verb, _)| *verb).collect::<Vec<_>>().join("|")
    };
    BASH.replace("VERBS_OF_SEVERAL", &names(true))
        .replace("VERBS_OF_RUNS", &names(false))
        .replace("FLAGS_OF_VERBS", &alternatives(of_verbs.collect()))
        .replace("FLAGS", &alternatives(of_run))
        .replace("COMPLETE_RUNS", COMPLETE_RUNS)
}

const BASH: &str = r#"
# Offers the runs, where the word that is completed names one.
_noesc_runs() {
    local at=2 given=0
    [[ ${COMP_WORDS[COMP_CWORD]} == -* ]] && return 1
    while ((at < COMP_CWORD)); do
        case ${COMP_WORDS[at]} in
            -*)
                if [[ ${COMP_WORDS[at + 1]} == '=' ]]; then
                    ((at += 2))
                else
                    case ${COMP_WORDS[at]} in FLAGS_OF_VERBS) ((at += 1)) ;; esac
                fi
                ;;
            *) ((given += 1)) ;;
        esac
        ((at += 1))
    done
    ((at > COMP_CWORD)) && return 1
    case ${COMP_WORDS[1]} in
        VERBS_OF_SEVERAL) ;;
        *) ((given == 0)) || return 1 ;;
    esac
    COMPREPLY=($("${COMP_WORDS[0]}" COMPLETE_RUNS "${COMP_WORDS[1]}" "${COMP_WORDS[COMP_CWORD]}" \
        2>/dev/null))
}

_noesc_run() {
    local at=2 ended= offset
    case ${COMP_WORDS[1]} in
        VERBS_OF_RUNS) ((COMP_CWORD > 1)) && _noesc_runs && return ;;
    esac
    while [[ ${COMP_WORDS[1]} == run && ! $ended ]] && ((at < COMP_CWORD)); do
        case ${COMP_WORDS[at]} in
            --) ended=1 ;;
            -*)
                if [[ ${COMP_WORDS[at + 1]} == '=' ]]; then
                    ((at += 2))
                else
                    case ${COMP_WORDS[at]} in FLAGS) ((at += 1)) ;; esac
                fi
                ;;
            *) break ;;
        esac
        ((at += 1))
    done
    if [[ ${COMP_WORDS[1]} != run ]] || ((at > COMP_CWORD)) ||
        [[ ! $ended && ${COMP_WORDS[at]} == -* ]]; then
        _noesc "$@"
        return
    fi
    for offset in _comp_command_offset _command_offset; do
        if declare -F "$offset" >/dev/null; then
            "$offset" "$at"
            return
        fi
    done
    COMPREPLY=()
    if ((at == COMP_CWORD)); then
        COMPREPLY=($(compgen -c -- "${COMP_WORDS[at]}"))
    fi
}

if ((BASH_VERSINFO[0] > 4 || BASH_VERSINFO[0] == 4 && BASH_VERSINFO[1] >= 4)); then
    complete -F _noesc_run -o nosort -o bashdefault -o default noesc
else
    complete -F _noesc_run -o bashdefault -o default noesc
fi
"#;

/// The generated script, with the runs where a verb takes one.
fn runs_in_zsh(script: &str) -> String {
    let verbs: Vec<_> = verbs_of_runs(&Arguments::command()).map(|(verb, _)| verb).collect();
    let mut of = None;
    let mut all = String::new();
    for line in script.lines() {
        let verb = line.strip_prefix('(').and_then(|line| line.strip_suffix(')'));
        if let Some(verb) = verb {
            of = verbs.iter().find(|known| **known == verb);
        }
        if line.starts_with("if [ \"$funcstack[1]\"") {
            all.push_str(&ZSH.replace("COMPLETE_RUNS", COMPLETE_RUNS));
        }
        let is_run = line.starts_with("':run -- ") || line.starts_with("'*::runs -- ");
        match (of, line.strip_suffix(":_default' \\").filter(|_| is_run)) {
            (Some(verb), Some(before)) => {
                all.push_str(&format!("{before}: _noesc_runs {verb}' \\"));
            }
            _ => all.push_str(line),
        }
        all.push('\n');
    }
    all
}

const ZSH: &str = r#"(( $+functions[_noesc_runs] )) ||
_noesc_runs() {
    local -a runs
    runs=(${(f)"$(noesc COMPLETE_RUNS "$1" "$PREFIX" 2>/dev/null)"})
    compadd -U -V runs -a runs
}

"#;

fn runs_in_fish() -> String {
    let line = |(verb, _): (&str, bool)| {
        format!(
            "complete -c noesc -n \"__fish_noesc_using_subcommand {verb}\" -f -k \
             -a \"(noesc {COMPLETE_RUNS} {verb} (commandline -ct) 2>/dev/null)\"\n"
        )
    };
    verbs_of_runs(&Arguments::command()).map(line).collect()
}
