//! Lines that look like those of a tool, for where it is missing.

use crate::random::Random;

/// A tool that prints in colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    Cargo,
    Git,
    Ls,
    Grep,
    Gcc,
}

/// All of them, in the order of their output.
pub(super) const TOOLS: [Tool; 5] = [Tool::Cargo, Tool::Git, Tool::Ls, Tool::Grep, Tool::Gcc];

/// At least `bytes` of what the tool might print, the same at every call.
pub(super) fn output(tool: Tool, bytes: usize) -> Vec<u8> {
    let mut random = Random::new("imitated");
    let mut out = String::new();
    while out.len() < bytes {
        let line = random.below(400);
        out += &match tool {
            Tool::Cargo => cargo(&mut random, line),
            Tool::Git => git(&mut random, line),
            Tool::Ls => ls(&mut random, line),
            Tool::Grep => grep(&mut random, line),
            Tool::Gcc => gcc(&mut random, line),
        };
    }
    out.into_bytes()
}

/// At least `bytes` of each tool, one after the other.
pub(super) fn all(bytes: usize) -> Vec<u8> {
    TOOLS.into_iter().flat_map(|tool| output(tool, bytes)).collect()
}

/// A crate that is compiled, or a warning with its place.
fn cargo(random: &mut Random, line: usize) -> String {
    if random.one_in(3) {
        return format!("\x1b[1m\x1b[92m   Compiling\x1b[0m part-{line} v0.{line}.1\n");
    }
    format!(
        "\x1b[1m\x1b[33mwarning\x1b[0m\x1b[0m\x1b[1m: unused variable: `unused`\x1b[0m\n\
         \x1b[0m \x1b[0m\x1b[0m\x1b[1m\x1b[94m--> \x1b[0m\x1b[0msrc/module_{line}.rs:{line}:13\
         \x1b[0m\n\x1b[0m   \x1b[0m\x1b[0m\x1b[1m\x1b[94m|\x1b[0m\n\x1b[0m\x1b[1m\x1b[94m{line:3}\
         \x1b[0m\x1b[0m \x1b[0m\x1b[0m\x1b[1m\x1b[94m|\x1b[0m\x1b[0m \x1b[0m\x1b[0m    let mut \
         unused = first;\x1b[0m\n\x1b[0m   \x1b[0m\x1b[0m\x1b[1m\x1b[94m|\x1b[0m\x1b[0m         \
         \x1b[0m\x1b[0m\x1b[1m\x1b[33m^^^^^^\x1b[0m\n\n"
    )
}

/// A commit of a log, with a hunk.
fn git(random: &mut Random, line: usize) -> String {
    let hash = format!("{:016x}{:016x}{:08x}", random.bits(), random.bits(), line);
    format!(
        "* \x1b[33mcommit {hash}\x1b[m\n\x1b[31m|\x1b[m Author: A. Writer <writer@example.org>\n\
         \x1b[31m|\x1b[m\n\x1b[31m|\x1b[m     Change part {line}\n\x1b[31m|\x1b[m\n\
         \x1b[31m|\x1b[m \x1b[1mdiff --git a/part-{line}/src/lib.rs b/part-{line}/src/lib.rs\
         \x1b[m\n\x1b[31m|\x1b[m \x1b[36m@@ -{line},6 +{line},6 @@\x1b[m \x1b[mfn value()\x1b[m\n\
         \x1b[31m|\x1b[m      let mut unused = first;\x1b[m\n\x1b[31m|\x1b[m \
         \x1b[31m-    let value = first + {line};\x1b[m\n\x1b[31m|\x1b[m \
         \x1b[32m+\x1b[m\x1b[32m    let value = first - {line};\x1b[m\n"
    )
}

/// A line of a long listing.
fn ls(random: &mut Random, line: usize) -> String {
    const NAMES: [&str; 4] = [
        "\x1b[0m\x1b[01;34msrc\x1b[0m",
        "\x1b[01;32mtest\x1b[0m",
        "\x1b[00;33mmodule.rs\x1b[0m",
        "README.md",
    ];
    format!("-rw-r--r-- 1 writer writer {:6} 2026 {}\n", line * 37, random.of(&NAMES))
}

/// A line with a match.
fn grep(random: &mut Random, line: usize) -> String {
    format!(
        "\x1b[35m\x1b[Kpart-{}/src/module.rs\x1b[m\x1b[K\x1b[36m\x1b[K:\x1b[m\x1b[K\x1b[32m\x1b[K\
         {line}\x1b[m\x1b[K\x1b[36m\x1b[K:\x1b[m\x1b[K    let \x1b[01;31m\x1b[Kvalue\x1b[m\x1b[K = \
         first;\n",
        random.below(12)
    )
}

/// A warning with its place.
fn gcc(random: &mut Random, line: usize) -> String {
    let column = 4 + random.below(20);
    format!(
        "\x1b[01m\x1b[Kbroken.c:{line}:{column}:\x1b[m\x1b[K \x1b[01;35m\x1b[Kwarning: \x1b[m\x1b[K\
         unused parameter '\x1b[01m\x1b[Ksecond\x1b[m\x1b[K' [\x1b[01;35m\x1b[K-Wunused-parameter\
         \x1b[m\x1b[K]\n {line:4} | int value(unsigned first, \x1b[01;35m\x1b[Kchar *second\x1b[m\
         \x1b[K)\n      |                         \x1b[01;35m\x1b[K~~~~~~^~~~~~\x1b[m\x1b[K\n"
    )
}
