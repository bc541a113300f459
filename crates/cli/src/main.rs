#![forbid(unsafe_code)]
//! The noesc command: one file a verb.

mod args;
mod audit;
mod config;
mod descriptors;
mod evidence;
mod excerpts;
mod explain;
mod fail;
mod figures;
mod file_id;
mod filter;
mod input;
mod kept;
mod limits;
mod man;
mod note;
mod open;
mod run;
mod runs;
mod say;
mod scan;
mod settings;
mod shell;
mod spans;
mod status;
mod store;
mod unaudit;

use std::ffi::OsString;
use std::process::ExitCode;

use args::Verb;

fn main() -> ExitCode {
    fail::escape_panics();
    noesc_session::outlive_file_limits();
    let argv: Vec<OsString> = std::env::args_os().collect();
    if argv.get(1).is_some_and(|word| word == shell::COMPLETE_RUNS) {
        return shell::complete_runs(argv.get(2..).unwrap_or_default());
    }
    let args = match args::parse(&argv) {
        Ok(args) => args,
        Err(error) => return args::explain(&error, args::verb(&argv).as_deref()),
    };
    let result = match args.verb {
        Verb::Run(args) => run::run(&args),
        Verb::Ps(args) => runs::ps(&args),
        Verb::Wait(args) => runs::wait(&args),
        Verb::Stop(args) => runs::stop(&args),
        Verb::Show(args) => excerpts::show(&args),
        Verb::Search(args) => excerpts::search(&args),
        Verb::Runs(args) => excerpts::runs(&args),
        Verb::Report(args) => excerpts::report(&args),
        Verb::Digest(args) => excerpts::digest(&args),
        Verb::Filter(args) => filter::filter(&args),
        Verb::Audit(args) => audit::audit(&args),
        Verb::Unaudit(args) => unaudit::unaudit(&args),
        Verb::Scan(args) => scan::scan(&args),
        Verb::Store(args) => store::store(&args),
        Verb::Explain(args) => explain::explain(&args),
        Verb::Init(args) => evidence::init(&args),
        Verb::Open(args) => open::open(&args),
        Verb::Decide(args) => evidence::decide(&args),
        Verb::Ledger(args) => evidence::ledger(&args),
        Verb::Config(args) => config::config(&args),
        Verb::Completions(args) => shell::completions(&args),
        Verb::Man(args) => shell::man(&args),
    };
    result.unwrap_or_else(|failure| failure.tell())
}
