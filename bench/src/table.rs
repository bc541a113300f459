//! What was measured, for programs and for people.

use crate::inputs::Input;
use crate::measure::Speed;
use crate::paths;
use crate::peers::{Does, PEERS};

/// What was measured on one input.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) input: String,
    bytes: f64,
    speeds: Vec<Speed>,
}

impl Row {
    /// The speeds of an input, by the peers in their order.
    pub(crate) fn new(input: &Input, speeds: Vec<Speed>) -> Self {
        Self { input: input.name.clone(), bytes: input.bytes().len() as f64, speeds }
    }

    /// In 10⁹ bytes a second.
    fn gbps(&self, speed: &Speed) -> f64 {
        self.bytes / speed.ns
    }

    fn find(&self, peer: &str) -> Option<&Speed> {
        self.speeds.iter().find(|speed| speed.peer.name == peer)
    }

    fn gbps_of(&self, peer: &str) -> Option<f64> {
        self.find(peer).map(|speed| self.gbps(speed))
    }

    /// The fastest of those that do this.
    fn best(&self, does: Does) -> Option<&Speed> {
        let speeds = self.speeds.iter().filter(|speed| speed.peer.does == does);
        speeds.min_by(|a, b| a.ns.total_cmp(&b.ns))
    }
}

/// The columns of the form for programs.
const COLUMNS: &str = "input\tpeer\tgbps\tratio_to_memcpy\tpath";

/// The first lines of the form for programs: a comment that names the processor, and the columns.
pub(crate) fn head() -> String {
    let told = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let processor = processor(&told).unwrap_or("unknown").escape_default();
    format!("# processor: {processor}, {}\n{COLUMNS}\n", std::env::consts::ARCH)
}

/// The name of the first processor that the kernel tells of.
fn processor(told: &str) -> Option<&str> {
    let mut pairs = told.lines().filter_map(|line| line.split_once(':'));
    pairs.find(|(key, _)| key.trim() == "model name").map(|(_, name)| name.trim())
}

/// The lines of an input in the form for programs.
pub(crate) fn tsv(row: &Row) -> String {
    let memcpy = row.gbps_of("memcpy").unwrap_or(f64::NAN);
    let lines = row.speeds.iter().map(|speed| {
        let (gbps, path) = (row.gbps(speed), speed.path.map_or("-", paths::Path::name));
        let (input, peer) = (&row.input, speed.peer.name);
        format!("{input}\t{peer}\t{gbps:.4}\t{:.4}\t{path}\n", gbps / memcpy)
    });
    lines.collect()
}

/// Three tables for people: the engine beside the best of the others, everyone, and calls.
pub(crate) fn tables(rows: &[Row]) -> String {
    let (calls, sets): (Vec<&Row>, Vec<&Row>) =
        rows.iter().partition(|row| row.input.ends_with("-4k"));
    let mut text = String::new();
    if !sets.is_empty() {
        text += "GB/s; in brackets, times the figure to reach: that of the fastest peer that \
                 strips.\n\n";
        text += &compared(&sets);
        text += "\nGB/s of everyone.\n\n";
        text += &everyone(&sets, &|row, speed| figure(row.gbps(speed)));
    }
    if !calls.is_empty() {
        text += "\nns for 4,096 bytes in one call, its beginning and end included.\n\n";
        text += &everyone(&calls, &|_, speed| format!("{:.0}", speed.ns));
    }
    text
}

/// One row an input: the bounds, the figure to reach, and ours over each path.
fn compared(rows: &[&Row]) -> String {
    let paths = paths::available();
    let mut head = vec!["memcpy".to_owned(), "simdutf8".to_owned()];
    head.extend(["to reach".to_owned(), "by".to_owned()]);
    for path in &paths {
        head.extend([format!("noesc {}", path.name()), "of memcpy".to_owned()]);
    }
    let body = rows.iter().map(|row| {
        let memcpy = row.gbps_of("memcpy").unwrap_or(f64::NAN);
        let best = row.best(Does::Strips);
        let reach = best.map_or(f64::NAN, |speed| row.gbps(speed));
        let mut cells: Vec<String> =
            ["memcpy", "simdutf8"].map(|peer| row.gbps_of(peer).map_or("-".into(), figure)).into();
        cells.push(figure(reach));
        cells.push(best.map_or("-", |speed| speed.peer.name).to_owned());
        for speed in row.speeds.iter().filter(|speed| speed.peer.does == Does::Ours) {
            let gbps = row.gbps(speed);
            cells.push(format!("{} ({:.2}×)", figure(gbps), gbps / reach));
            cells.push(format!("{:.3}", gbps / memcpy));
        }
        (row.input.as_str(), cells)
    });
    markdown(&head, body)
}

/// One row an input, one column a peer that takes any of them; ours over its first path.
fn everyone(rows: &[&Row], cell: &dyn Fn(&Row, &Speed) -> String) -> String {
    let names = PEERS.iter().map(|peer| peer.name);
    let head: Vec<String> = names
        .filter(|name| rows.iter().any(|row| row.find(name).is_some()))
        .map(str::to_owned)
        .collect();
    let body = rows.iter().map(|row| {
        let of = |name: &String| row.find(name).map_or("-".into(), |speed| cell(row, speed));
        (row.input.as_str(), head.iter().map(of).collect())
    });
    markdown(&head, body)
}

/// A figure with as many places as say something.
fn figure(gbps: f64) -> String {
    match gbps {
        gbps if gbps.is_nan() => "-".to_owned(),
        gbps if gbps < 1.0 => format!("{gbps:.3}"),
        gbps => format!("{gbps:.2}"),
    }
}

/// A table in Markdown whose columns are as wide as what stands in them.
fn markdown<'a>(head: &[String], body: impl Iterator<Item = (&'a str, Vec<String>)>) -> String {
    let mut lines = vec![("input", head.to_vec())];
    lines.extend(body);
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|(_, cells)| cells.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(4)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let first = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (index, (name, cells)) in lines.iter().enumerate() {
        text += &format!("| {name:first$} |");
        for (width, cell) in widths.iter().zip(cells) {
            text += &format!(" {cell:>width$} |");
        }
        text.push('\n');
        if index == 0 {
            text += &format!("| {} |", "-".repeat(first));
            for width in &widths {
                text += &format!(" {}: |", "-".repeat(width - 1));
            }
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Budget, speeds};
    use std::time::Duration;

    fn row() -> Row {
        let input = Input::new("log-4k", b"a line\n".repeat(10));
        let budget = Budget { time: Duration::ZERO, is_quick: false };
        Row::new(&input, speeds(&input, budget))
    }

    #[test]
    fn every_line_for_programs_has_the_columns_of_the_header() {
        let (row, lines) = (row(), head());
        let (comment, names) = lines.trim_end().split_once('\n').unwrap();
        assert!(comment.starts_with("# processor: "), "{comment}");
        let (lines, columns) = (tsv(&row), names.split('\t').count());
        assert_eq!(lines.lines().count(), row.speeds.len());
        assert!(lines.lines().all(|line| line.split('\t').count() == columns), "{lines}");
    }

    #[test]
    fn the_first_processor_is_named() {
        let told = "processor\t: 0\nmodel name\t: A: B\n\nmodel name\t: C\n";
        assert_eq!(processor(told), Some("A: B"));
        assert_eq!(processor("processor\t: 0\n"), None);
    }

    #[test]
    fn every_line_of_a_table_has_the_same_columns() {
        let mut set = row();
        set.input = "log".to_owned();
        let text = tables(&[set, row()]);
        let blocks = text.split("\n\n").filter(|block| block.starts_with('|'));
        for block in blocks.clone() {
            let columns = |line: &str| line.matches('|').count();
            let first = block.lines().next().map_or(0, columns);
            assert!(first > 3 && block.lines().all(|line| columns(line) == first), "{block}");
        }
        assert_eq!(blocks.count(), 3);
    }
}
