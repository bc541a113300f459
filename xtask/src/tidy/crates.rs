//! The layers: which crate may import which. ARCHITECTURE.md holds the drawing, this module
//! compares it with what Cargo says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::Violation;

/// The document that holds the drawing.
pub(super) const DRAWING: &str = "ARCHITECTURE.md";

/// The info string of the fenced block that is the drawing.
const FENCE: &str = "```crates";

/// The one edge inside a layer: the composition root renders records.
const SAME_LAYER: [(&str, &str); 2] = [("session", "envelope"), ("scan", "text")];

/// Crates that import nothing at all.
const NO_DEPENDENCIES: [&str; 2] = ["grammar", "text"];

/// The layer of crates that serve tests alone.
const DEV: &str = "dev";

/// Every layer, lowest first; [`DEV`] may use all others.
const LAYERS: [&str; 5] = ["L0", "L1", "L2", "L3", DEV];

/// A package of the workspace.
#[derive(Debug, Clone, Default)]
pub(super) struct Member {
    /// The name in its manifest.
    pub(super) package: String,
    /// Its folder, relative to the repository.
    folder: String,
    /// The roots of its library and programs.
    roots: Vec<String>,
    dependencies: Vec<Dependency>,
}

#[derive(Debug, Clone)]
struct Dependency {
    package: String,
    is_dev: bool,
}

impl Member {
    /// The name in the drawing: that of the folder.
    fn name(&self) -> &str {
        self.folder.rsplit('/').next().unwrap_or(&self.folder)
    }

    fn manifest(&self) -> String {
        format!("{}/Cargo.toml", self.folder)
    }
}

/// The packages of the product's workspace, as Cargo knows them.
pub(super) fn members(root: &Path) -> Result<Vec<Member>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root)
        .output()
        .map_err(|e| format!("cargo metadata could not be run: {e}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("cargo metadata failed: {said}"));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)
        .map_err(|e| format!("cargo metadata printed no JSON: {e}"))?;
    read_members(&metadata).ok_or_else(|| "cargo metadata has an unknown shape".to_owned())
}

fn read_members(metadata: &Value) -> Option<Vec<Member>> {
    let root = metadata["workspace_root"].as_str()?;
    let relative = |path: &Value| {
        let path = path.as_str()?.strip_prefix(root)?;
        Some(path.replace('\\', "/").trim_start_matches('/').to_owned())
    };
    let is_product = |target: &&Value| {
        let kinds = target["kind"].as_array().map_or(&[][..], Vec::as_slice);
        !kinds.iter().any(|kind| kind == "test" || kind == "bench")
    };
    let read = |package: &Value| {
        let manifest = relative(&package["manifest_path"])?;
        let dependencies = package["dependencies"].as_array()?.iter().map(|dependency| {
            let is_dev = dependency["kind"] == "dev";
            Some(Dependency { package: dependency["name"].as_str()?.to_owned(), is_dev })
        });
        let targets = package["targets"].as_array()?.iter().filter(is_product);
        Some(Member {
            package: package["name"].as_str()?.to_owned(),
            folder: manifest.strip_suffix("/Cargo.toml")?.to_owned(),
            roots: targets.map(|target| relative(&target["src_path"])).collect::<Option<_>>()?,
            dependencies: dependencies.collect::<Option<_>>()?,
        })
    };
    metadata["packages"].as_array()?.iter().map(read).collect()
}

/// The crate roots that have to forbid `unsafe`: those of all members, and this program's own.
pub(super) fn roots(members: &[Member]) -> BTreeSet<String> {
    let own = "xtask/src/main.rs".to_owned();
    members.iter().flat_map(|member| member.roots.iter().cloned()).chain([own]).collect()
}

/// Whether the path is the manifest of a crate of the product.
pub(super) fn is_member_manifest(path: &str) -> bool {
    path.starts_with("crates/") && path.ends_with("/Cargo.toml")
}

/// Every crate takes the lints of the workspace, `missing_docs` among them.
pub(super) fn check_manifest(path: &str, text: &str) -> Option<Violation> {
    let mut lines = text.lines().map(str::trim).skip_while(|line| *line != "[lints]").skip(1);
    let takes = lines
        .by_ref()
        .take_while(|line| !line.starts_with('['))
        .any(|line| line.replace(' ', "") == "workspace=true");
    let what = "the crate does not say [lints] workspace = true";
    (!takes).then(|| Violation::new(path, 0, "lints", what))
}

/// One line of the drawing: `L1 boundary -> grammar text`.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    line: usize,
    layer: usize,
    needs: BTreeSet<String>,
}

/// The rows by crate, and what is wrong with the drawing itself.
fn read_drawing(text: &str) -> (BTreeMap<String, Row>, Vec<Violation>) {
    let mut rows = BTreeMap::new();
    let mut found = Vec::new();
    let numbered = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let block = numbered.skip_while(|(_, line)| *line != FENCE).skip(1);
    for (line, row) in block.take_while(|(_, line)| *line != "```") {
        let row = row.split('#').next().unwrap_or_default();
        let (head, needs) = row.split_once("->").unwrap_or((row, ""));
        let head: Vec<&str> = head.split_whitespace().collect();
        let layer = head.first().and_then(|name| LAYERS.iter().position(|layer| layer == name));
        let (Some(layer), [_, name]) = (layer, head.as_slice()) else {
            if !head.is_empty() {
                let what = "a row of the drawing is `LAYER CRATE -> CRATE CRATE`";
                found.push(Violation::new(DRAWING, line, "drawing", what));
            }
            continue;
        };
        let needs = needs.split_whitespace().map(str::to_owned).collect();
        if rows.insert((*name).to_owned(), Row { line, layer, needs }).is_some() {
            let what = format!("{name} is drawn twice");
            found.push(Violation::new(DRAWING, line, "drawing", what));
        }
    }
    if rows.is_empty() {
        let what = format!("there is no block that starts with {FENCE}");
        found.push(Violation::new(DRAWING, 0, "drawing", what));
    }
    (rows, found)
}

/// Compares the drawing with the members, and both with the layer rule.
pub(super) fn check(drawing: &str, members: &[Member]) -> Vec<Violation> {
    let (rows, mut found) = read_drawing(drawing);
    found.extend(check_arrows(&rows));
    let names: BTreeMap<&str, &str> =
        members.iter().map(|member| (member.package.as_str(), member.name())).collect();
    for (name, row) in &rows {
        if !names.values().any(|member| member == name) {
            let what = format!("{name} is drawn but there is no such crate");
            found.push(Violation::new(DRAWING, row.line, "drawing", what));
        }
    }
    for member in members {
        let Some(row) = rows.get(member.name()) else {
            let what = format!("{} does not stand in {DRAWING}", member.name());
            found.push(Violation::new(&member.manifest(), 0, "drawing", what));
            continue;
        };
        found.extend(check_member(member, row, &rows, &names));
    }
    found
}

/// The layer rule, for each arrow of the drawing.
fn check_arrows(rows: &BTreeMap<String, Row>) -> Vec<Violation> {
    let mut found = Vec::new();
    for (name, row) in rows {
        for need in &row.needs {
            let mut report = |what: String| {
                found.push(Violation::new(DRAWING, row.line, "layers", what));
            };
            let Some(other) = rows.get(need) else {
                report(format!("{name} needs {need}, which is not drawn"));
                continue;
            };
            let is_named = SAME_LAYER.contains(&(name.as_str(), need.as_str()));
            if LAYERS[other.layer] == DEV {
                report(format!("{name} needs {need}, which serves tests alone"));
            } else if other.layer > row.layer {
                report(format!("{name} needs {need}, which lies higher"));
            } else if other.layer == row.layer && !is_named {
                report(format!("{name} needs {need}, which lies in the same layer"));
            }
        }
    }
    found
}

/// The dependencies of one crate, each against the drawing.
fn check_member(
    member: &Member,
    row: &Row,
    rows: &BTreeMap<String, Row>,
    names: &BTreeMap<&str, &str>,
) -> Vec<Violation> {
    let mut found = Vec::new();
    let name = member.name();
    let mut report = |rule, what: String| {
        found.push(Violation::new(&member.manifest(), 0, rule, what));
    };
    let mut used = BTreeSet::new();
    for dependency in &member.dependencies {
        let Some(&need) = names.get(dependency.package.as_str()) else {
            if NO_DEPENDENCIES.contains(&name) && !dependency.is_dev {
                let what =
                    format!("{name} imports {}, but it may import nothing", dependency.package);
                report("layers", what);
            }
            continue;
        };
        if need == name && dependency.is_dev {
            continue; // a feature of its own that its tests turn on
        }
        used.insert(need);
        let serves_tests = rows.get(need).is_some_and(|other| LAYERS[other.layer] == DEV);
        if serves_tests && !dependency.is_dev {
            report("layers", format!("{need} may only be a dev-dependency of {name}"));
        } else if !serves_tests && !row.needs.contains(need) {
            report("drawing", format!("{name} imports {need}, an arrow that {DRAWING} lacks"));
        }
    }
    for need in row.needs.iter().filter(|need| !used.contains(need.as_str())) {
        let what = format!("{name} does not import {need}, but the arrow is drawn");
        found.push(Violation::new(DRAWING, row.line, "drawing", what));
    }
    found
}

#[cfg(test)]
mod tests;
