//! `cargo xtask bench-instructions [--record]`: how many instructions the engine takes for a byte,
//! on each of its paths and for each input of the bench that is the same on every machine; and
//! whether that is more than is recorded.
//!
//! Callgrind counts what runs on a processor that it imitates, the same one wherever it has AVX2.
//! So neither load nor the machine change a count, and one pass is enough.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// Where the record is, below the folder of the bench.
const RECORD: &str = "record/instructions.tsv";

/// What stands above the record.
const HEAD: &str = "\
# Instructions of the engine for a byte, counted by callgrind: cargo xtask bench-instructions
input\tpath\tinstructions_per_byte
";

/// The most and the least of what is recorded that a count may be without being told.
const MOST: f64 = 1.05;
const LEAST: f64 = 0.95;

/// An input and a path, with instructions for a byte.
type Counts = BTreeMap<(String, String), f64>;

/// Compares, or records. Exit 0 when nothing takes more than is recorded, 1 when something does or
/// is in one of them alone, 2 when it could not be counted.
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let is_recorded = match arguments {
        [] => Ok(false),
        [flag] if flag == "--record" => Ok(true),
        _ => Err("it takes no argument but --record".to_owned()),
    };
    match is_recorded.and_then(count_all) {
        Ok(is_good) => ExitCode::from(u8::from(!is_good)),
        Err(message) => {
            eprintln!("xtask bench-instructions: error: {}", message.escape_default());
            ExitCode::from(2)
        }
    }
}

/// Counts, and writes the record or compares with it. Whether all is as it may be.
fn count_all(is_recorded: bool) -> Result<bool, String> {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench");
    let found = count(&bench)?;
    let path = bench.join(RECORD);
    if is_recorded {
        let written = path.parent().map_or(Ok(()), fs::create_dir_all);
        written
            .and_then(|()| fs::write(&path, text(&found)))
            .map_err(|error| format!("the record can't be written: {error}"))?;
        println!("{} counts recorded in bench/{RECORD}", found.len());
        return Ok(true);
    }
    let recorded = fs::read_to_string(&path)
        .map_err(|error| format!("bench/{RECORD} can't be read: {error}"))
        .and_then(|text| parse(&text))?;
    let lines = compare(&recorded, &found);
    for line in &lines {
        println!("{}", line.text);
    }
    let (bad, good) = lines.iter().partition::<Vec<&Line>, _>(|line| line.is_bad);
    println!("{} counts, {} too high or unknown, {} lower", found.len(), bad.len(), good.len());
    Ok(bad.is_empty())
}

/// What the bench counts.
fn count(bench: &Path) -> Result<Counts, String> {
    let mut cargo = Command::new("cargo");
    cargo.args(["run", "--release", "--quiet", "--manifest-path"]).arg(bench.join("Cargo.toml"));
    cargo.args(["--", "--instructions"]).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = cargo.output().map_err(|error| format!("cargo could not be run: {error}"))?;
    let found = String::from_utf8_lossy(&output.stdout);
    match output.status.success() && !found.is_empty() {
        true => counts(found.lines()).map_err(|index| format!("line {index} is no count")),
        false => Err("nothing was counted".to_owned()),
    }
}

/// The record of these counts: sorted, four digits of each.
fn text(counts: &Counts) -> String {
    let line = |((input, path), count): (&(String, String), &f64)| {
        format!("{input}\t{path}\t{}\n", figure(*count))
    };
    HEAD.to_owned() + &counts.iter().map(line).collect::<String>()
}

/// Four digits, or all before the point.
fn figure(count: f64) -> String {
    let places = 3.0 - count.log10().floor();
    format!("{count:.*}", places.clamp(0.0, 9.0) as usize)
}

/// The counts of a record. A line that does not parse is an error, which names its number.
fn parse(text: &str) -> Result<Counts, String> {
    let lines = text.lines().skip(HEAD.lines().count());
    counts(lines).map_err(|index| {
        format!("bench/{RECORD}:{}: no input, path and count", HEAD.lines().count() + index)
    })
}

/// The counts of these lines. The number of one that does not parse is an error.
fn counts<'a>(lines: impl Iterator<Item = &'a str>) -> Result<Counts, usize> {
    lines
        .zip(1..)
        .map(|(line, number)| {
            let mut columns = line.split('\t').map(str::to_owned);
            let (input, path) = (columns.next(), columns.next());
            let count = columns.next().and_then(|count| count.parse().ok());
            match (input, path, count, columns.next()) {
                (Some(input), Some(path), Some(count), None) => Ok(((input, path), count)),
                _ => Err(number),
            }
        })
        .collect()
}

/// What is to be said of a pair.
struct Line {
    text: String,
    /// Whether it is more than may be.
    is_bad: bool,
}

/// A line for each pair that differs; the bad ones last, where they are seen.
fn compare(recorded: &Counts, found: &Counts) -> Vec<Line> {
    let mut lines = Vec::new();
    let is_counted = |path: &String| found.keys().any(|(_, counted)| counted == path);
    for ((input, path), count) in recorded {
        let key = (input.clone(), path.clone());
        let (text, is_bad) = match found.get(&key) {
            None if is_counted(path) => ("recorded, but not counted".to_owned(), true),
            None => continue,
            Some(found) => {
                let (word, is_bad) = match *found {
                    found if found > count * MOST => ("more", true),
                    found if found < count * LEAST => ("less", false),
                    _ => continue,
                };
                let percent = (found / count - 1.0).abs() * 100.0;
                let (count, found) = (figure(*count), figure(*found));
                (format!("recorded {count}, found {found}: {percent:.1} % {word}"), is_bad)
            }
        };
        lines.push(Line { text: format!("{input} {path}: {text}"), is_bad });
    }
    for ((input, path), count) in found.iter().filter(|(key, _)| !recorded.contains_key(*key)) {
        let text = format!("{input} {path}: not recorded, found {}", figure(*count));
        lines.push(Line { text, is_bad: true });
    }
    lines.sort_by_key(|line| line.is_bad);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(counts: &[(&str, &str, f64)]) -> Counts {
        let pairs = counts.iter();
        pairs.map(|(input, path, count)| ((input.to_string(), path.to_string()), *count)).collect()
    }

    fn told(recorded: &[(&str, &str, f64)], found: &[(&str, &str, f64)]) -> Vec<(String, bool)> {
        let lines = compare(&of(recorded), &of(found));
        lines.into_iter().map(|line| (line.text, line.is_bad)).collect()
    }

    #[test]
    fn more_than_a_twentieth_more_is_bad_and_less_is_told() {
        let recorded = [("a", "swar", 100.0), ("b", "swar", 1.0), ("c", "swar", 2.0)];
        let found = [("a", "swar", 105.1), ("b", "swar", 0.5), ("c", "swar", 2.0)];
        let less = "b swar: recorded 1.000, found 0.5000: 50.0 % less".to_owned();
        let more = "a swar: recorded 100.0, found 105.1: 5.1 % more".to_owned();
        assert_eq!(told(&recorded, &found), [(less, false), (more, true)]);
        assert_eq!(told(&recorded, &recorded), []);
    }

    #[test]
    fn a_twentieth_is_neither_more_nor_less() {
        for count in [95.0, 105.0] {
            assert_eq!(told(&[("a", "swar", 100.0)], &[("a", "swar", count)]), []);
        }
    }

    #[test]
    fn what_is_in_one_of_them_alone_is_bad_unless_the_path_was_not_gone() {
        let (a, b) = (("a", "swar", 1.0), ("b", "swar", 1.0));
        let lost = ("b swar: recorded, but not counted".to_owned(), true);
        assert_eq!(told(&[a, b], &[a]), [lost]);
        assert_eq!(told(&[a], &[a, b]), [("b swar: not recorded, found 1.000".to_owned(), true)]);
        assert_eq!(told(&[a, ("a", "avx2", 1.0)], &[a]), []);
    }

    #[test]
    fn a_record_is_sorted_and_comes_back() {
        let counts = of(&[("b", "rows", 749.6), ("a", "swar", 0.5274), ("a", "avx2", 12.34)]);
        let text = text(&counts);
        let (_, lines) = text.split_once("_byte\n").unwrap();
        assert_eq!(lines, "a\tavx2\t12.34\na\tswar\t0.5274\nb\trows\t749.6\n");
        assert_eq!(parse(&text).unwrap(), counts);
    }

    #[test]
    fn a_line_that_is_no_count_is_named() {
        for line in ["a\tb", "a\tb\tc", "a\tb\t1\t2", ""] {
            let message = parse(&format!("{HEAD}{line}\n")).unwrap_err();
            assert!(message.contains(":3: "), "{message}");
        }
    }

    #[test]
    fn four_digits_are_kept() {
        let kept = |count| figure(count);
        assert_eq!(kept(0.0), "0.000000000");
        assert_eq!(kept(0.52741), "0.5274");
        assert_eq!(kept(7.80312), "7.803");
        assert_eq!(kept(98.012), "98.01");
        assert_eq!(kept(12345.6), "12346");
    }
}
