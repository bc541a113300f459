#![forbid(unsafe_code)]
//! How fast untrusted output becomes a view, beside others that strip sequences and beside copying
//! it; and a search for the input that takes longest.
//!
//! Nothing is printed of what was measured but figures, and escaped units.

mod counted;
mod inputs;
mod measure;
mod paths;
mod peers;
mod random;
mod search;
mod table;
mod through;

use std::process::ExitCode;
use std::time::Duration;

use inputs::Input;
use measure::Budget;
use table::Row;

const USAGE: &str = "\
usage: cargo xtask bench [--quick] [--tsv] [--input NAME]...
       cargo xtask bench --through [--input NAME]...
       cargo xtask bench --search [--seconds N]
       cargo xtask bench --instructions

  --quick         fewer peers, and less time for each
  --tsv           print columns with tabs between: input, peer, gbps, ratio_to_memcpy, path;
                  above them a comment that names the processor
  --input NAME    only this one
  --through       print what each peer lets through of each input, in counts
  --search        search for the units that take longest, instead
  --instructions  print how many instructions the engine takes for a byte, counted by valgrind:
                  input, path, count
  --seconds N     search so long for each path; 60 unless said
";

/// Time for each peer on one input.
const TIME: Duration = Duration::from_millis(300);

/// The same under `--quick`, where there is so much time for everything.
const QUICK_ALL: Duration = Duration::from_secs(25);
const QUICK_TIME: Duration = Duration::from_millis(200);

/// Time to search for each path.
const SEARCH_SECONDS: u64 = 60;

/// What is to be done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Task {
    #[default]
    Measure,
    Through,
    Search,
    Instructions,
}

/// What the command line says.
#[derive(Debug, Default)]
struct Arguments {
    task: Task,
    is_quick: bool,
    is_tsv: bool,
    inputs: Vec<String>,
    seconds: Option<u64>,
}

/// What the program does, given the words of its command line. Exit 0 when done, 1 when an input
/// could not be made, 2 when misused.
pub fn main(words: &[String]) -> ExitCode {
    if let [flag, path] = words
        && flag == counted::PASSES
    {
        return ExitCode::from(u8::from(counted::passes(path).is_none()));
    }
    let Some(given) = arguments(words) else {
        eprint!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(&given) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("bench: error: {}", message.escape_default());
            ExitCode::from(1)
        }
    }
}

fn arguments(words: &[String]) -> Option<Arguments> {
    let mut given = Arguments::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--quick" => given.is_quick = true,
            "--tsv" => given.is_tsv = true,
            "--through" => given.task = Task::Through,
            "--search" => given.task = Task::Search,
            "--instructions" => given.task = Task::Instructions,
            "--input" => given.inputs.push(words.next()?.clone()),
            "--seconds" => given.seconds = Some(words.next()?.parse().ok()?),
            _ => return None,
        }
    }
    Some(given)
}

fn run(given: &Arguments) -> Result<(), String> {
    if given.task == Task::Search {
        let time = Duration::from_secs(given.seconds.unwrap_or(SEARCH_SECONDS));
        paths::available().into_iter().for_each(|path| search::run(path, time));
        return Ok(());
    }
    if given.task == Task::Instructions {
        print!("{}", counted::table()?);
        return Ok(());
    }
    let inputs = chosen(inputs::all()?, &given.inputs)?;
    match given.task {
        Task::Through => print!("{}", through::table(&inputs)),
        _ => measure_all(&inputs, given),
    }
    Ok(())
}

/// The inputs of these names, or all where no name is given.
fn chosen(inputs: Vec<Input>, names: &[String]) -> Result<Vec<Input>, String> {
    if let Some(name) = names.iter().find(|name| !inputs.iter().any(|input| input.name == **name)) {
        let known: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
        return Err(format!("no input {name}; there are {}", known.join(" ")));
    }
    let is_chosen = |input: &Input| names.is_empty() || names.contains(&input.name);
    Ok(inputs.into_iter().filter(is_chosen).collect())
}

/// Measures and prints: for programs as it comes, for people at the end.
fn measure_all(inputs: &[Input], given: &Arguments) {
    let runs = inputs.len() * measure::runs(given.is_quick).count();
    let share = QUICK_ALL / u32::try_from(runs.max(1)).unwrap_or(u32::MAX);
    let time = if given.is_quick { share.min(QUICK_TIME) } else { TIME };
    let budget = Budget { time, is_quick: given.is_quick };
    if given.is_tsv {
        print!("{}", table::head());
    }
    let mut rows = Vec::new();
    for input in inputs {
        let row = Row::new(input, measure::speeds(input, budget));
        match given.is_tsv {
            true => print!("{}", table::tsv(&row)),
            false => eprintln!("measured {}", row.input),
        }
        rows.push(row);
    }
    if !given.is_tsv {
        print!("{}", table::tables(&rows));
    }
}
