//! What tools print in colour: cargo, git, ls, grep and gcc, over a small project made for it.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use super::imitated;

/// Bytes kept of what one tool prints, so that none of them outweighs the others.
const TOOL_BYTES_MAX: usize = 48 << 10;

/// Crates of the project, and source files of each.
const CRATES: usize = 12;
const MODULES: usize = 6;

/// Where the output is kept: made anew when the recipe changes, with its number.
const KEPT: &str = "build-1.txt";

/// What the tools of this machine print, one after the other. For a tool that is missing, lines
/// that look like its own. Kept in the target folder, so that it is the same the next time.
pub(super) fn output() -> &'static [u8] {
    static OUTPUT: OnceLock<Vec<u8>> = OnceLock::new();
    OUTPUT.get_or_init(kept)
}

/// What is kept; made and kept where it is not.
fn kept() -> Vec<u8> {
    let folder = folder();
    let kept = folder.join(KEPT);
    if let Ok(bytes) = fs::read(&kept) {
        return bytes;
    }
    let scratch = folder.join(format!("project-{}", std::process::id()));
    let bytes = printed(&scratch);
    let _ = fs::remove_dir_all(&scratch);
    let fresh = folder.join(format!("{KEPT}-{}", std::process::id()));
    // Where nothing can be kept, the next start makes it again.
    let _ = fs::write(&fresh, &bytes).and_then(|()| fs::rename(&fresh, &kept));
    bytes
}

/// A folder of the target folder this program was built into, which cargo marks with a file; where
/// it was moved elsewhere, a folder for what is temporary.
fn folder() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let target = program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file());
    target.map_or_else(std::env::temp_dir, Path::to_path_buf).join("bench-inputs")
}

/// What is printed over the project, which is made in this folder.
fn printed(project: &Path) -> Vec<u8> {
    let is_made = make(project).is_ok();
    let mut bytes = Vec::new();
    for (imitation, lines) in imitated::TOOLS.iter().zip(TOOLS) {
        let mut told = Vec::new();
        for line in lines.iter().filter(|_| is_made) {
            told.extend(run(project, line).unwrap_or_default());
        }
        if told.is_empty() {
            told = imitated::output(*imitation, TOOL_BYTES_MAX);
        }
        if let Some(end) = told.get(..TOOL_BYTES_MAX) {
            let whole = end.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
            told.truncate(whole);
        }
        bytes.extend(told);
    }
    // The same wherever the project was.
    let text = String::from_utf8_lossy(&bytes);
    text.replace(&*project.to_string_lossy(), "/src/project").into_bytes()
}

/// Command lines of each tool, in the order of [`imitated::TOOLS`].
const TOOLS: [&[&str]; 5] = [
    &[
        "cargo check --workspace -j1 --offline --color always --target-dir t",
        "cargo build --workspace -j1 --offline --color always --target-dir t",
        "rustc --color always --crate-type lib --emit metadata broken.rs",
    ],
    &[
        "git -c color.ui=always log --graph --decorate --stat -p",
        "git -c color.ui=always diff",
        "git -c color.ui=always status",
    ],
    &["ls -laR -I .git -I t --color=always --time-style=+%Y .", "ls -R -I t --color=always ."],
    &["grep -rn --color=always -e value --include=*.rs ."],
    &["gcc -Wall -Wextra -fdiagnostics-color=always -fsyntax-only broken.c"],
];

/// What the line of words prints, errors included; `None` where it can't be run.
fn run(project: &Path, line: &str) -> Option<Vec<u8>> {
    let mut words = line.split(' ');
    let mut command = Command::new(words.next()?);
    command.args(words).current_dir(project).stdin(Stdio::null());
    command.env_clear().env("LC_ALL", "C.UTF-8");
    for name in ["PATH", "HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"] {
        command.envs(std::env::var_os(name).map(|value| (name, value)));
    }
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "A. Writer");
        command.env(format!("GIT_{who}_EMAIL"), "writer@example.org");
        command.env(format!("GIT_{who}_DATE"), "2026-03-01T12:00:00Z");
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_PAGER", "cat");
    command.env("LS_COLORS", "di=01;34:ex=01;32:*.rs=00;33:*.toml=01;36:*.lock=00;90");
    let output = command.output().ok()?;
    let mut told = output.stdout;
    told.extend(output.stderr);
    Some(told)
}

/// Writes the project, with a history and a change that is not committed.
fn make(project: &Path) -> std::io::Result<()> {
    let mut members = String::new();
    for index in 0..CRATES {
        let source = project.join(format!("part-{index}/src"));
        fs::create_dir_all(&source)?;
        let manifest = format!(
            "[package]\nname = \"part-{index}\"\nversion = \"0.{index}.1\"\nedition = \"2024\"\n"
        );
        fs::write(source.with_file_name("Cargo.toml"), manifest)?;
        let _ = write!(members, "\"part-{index}\", ");
        let mut root = String::new();
        for module in 0..MODULES {
            let _ = writeln!(root, "mod module_{module};");
            fs::write(source.join(format!("module_{module}.rs")), code(index, module, 0))?;
        }
        fs::write(source.join("lib.rs"), root)?;
    }
    let workspace = format!("[workspace]\nresolver = \"3\"\nmembers = [{members}]\n");
    fs::write(project.join("Cargo.toml"), workspace)?;
    fs::write(project.join(".gitignore"), "t/\n")?;
    fs::write(project.join("broken.rs"), (0..40).map(broken).collect::<String>())?;
    fs::write(project.join("broken.c"), (0..40).map(broken_c).collect::<String>())?;
    run(project, "git init -q -b main");
    for change in 0..CRATES {
        for module in 0..change % MODULES {
            let path = project.join(format!("part-{change}/src/module_{module}.rs"));
            fs::write(path, code(change, module, change))?;
        }
        run(project, "git add -A");
        run(project, &format!("git commit -q -m Change-part-{change}"));
    }
    fs::write(project.join("part-0/src/module_0.rs"), code(0, 0, 99))
}

/// A module that compiles with warnings.
fn code(index: usize, module: usize, change: usize) -> String {
    let mut text = format!("//! Module {module} of part {index}.\n\n");
    for function in 0..3 {
        let _ = write!(
            text,
            "fn value_{function}(first: u32, second: u32) -> u32 {{\n    \
             let mut unused = first;\n    \
             let value = first.wrapping_mul({change}) + {function};\n    value\n}}\n\n"
        );
    }
    text
}

/// A function with mistakes.
fn broken(index: usize) -> String {
    format!(
        "pub fn value_{index}(text: &str) -> u32 {{\n    let value: u32 = text;\n    \
         value.missing_{index}()\n}}\n\n"
    )
}

fn broken_c(index: usize) -> String {
    format!(
        "int value_{index}(unsigned first, char *second) {{\n    int value = second;\n    \
         if (first < -1) value = missing_{index};\n    return value\n}}\n\n"
    )
}
