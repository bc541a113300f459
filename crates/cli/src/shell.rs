//! `noesc completions` and `noesc man`: what is made from the command line's own description.

use std::process::ExitCode;

use clap::{Arg, CommandFactory};
use clap_complete::Shell;

use crate::args::{Arguments, CompletionsArgs, ManArgs};
use crate::fail::Result;
use crate::input::write;
use crate::man;

pub(crate) fn completions(args: &CompletionsArgs) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Arguments::command(), "noesc", &mut script);
    if args.shell == Shell::Bash {
        script.extend_from_slice(command_in_bash().as_bytes());
    }
    write(&script)?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn man(args: &ManArgs) -> Result<ExitCode> {
    write(man::page(args.verb.as_deref())?.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// What the generated script can not: after `noesc run` and its flags, a command is completed as
/// anywhere else; after `noesc wait` and `noesc stop` the runs that there are.
fn command_in_bash() -> String {
    let mut command = Arguments::command();
    command.build();
    let run = command.find_subcommand("run");
    let takes_word = |arg: &&Arg| !arg.is_require_equals_set() && arg.get_action().takes_values();
    let flags = run.into_iter().flat_map(clap::Command::get_opts).filter(takes_word);
    let flags = flags.filter_map(Arg::get_long).map(|long| format!("--{long}"));
    BASH.replace("FLAGS", &flags.collect::<Vec<_>>().join("|"))
}

const BASH: &str = r#"
_noesc_runs() {
    local all= runs
    [[ ${COMP_WORDS[1]} == wait ]] && all=--all
    runs=$("${COMP_WORDS[0]}" ps $all 2>/dev/null | sed -n 's/^\([0-9a-f-]\{36\}\) .*/\1/p')
    COMPREPLY=($(compgen -W "$runs" -- "${COMP_WORDS[COMP_CWORD]}"))
}

_noesc_run() {
    local at=2 ended= offset
    if [[ ${COMP_WORDS[1]} == wait || ${COMP_WORDS[1]} == stop ]] && ((COMP_CWORD > 1)); then
        case ${COMP_WORDS[COMP_CWORD]}/${COMP_WORDS[COMP_CWORD - 1]} in
            -*/* | */--time-max | */--format | =/* | */=) ;;
            *)
                _noesc_runs
                return
                ;;
        esac
    fi
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

complete -F _noesc_run -o bashdefault -o default noesc
"#;
