//! `gen-tables [--check]`: writes `crates/text/src/tables.rs` and `mixed_tables.rs` from Unicode
//! data.
//!
//! Properties come from the data compiled into `icu_properties`; the variation pairs from the two
//! files of Debian's `unicode-data`, because `icu_properties` has none. The two may be of different
//! Unicode versions, so both versions are written into the tables.

use icu_properties::props::{
    CanonicalCombiningClass as Ccc, DefaultIgnorableCodePoint, ExtendedPictographic,
    GeneralCategory as Gc, JoiningType, NoncharacterCodePoint, Script, UnifiedIdeograph,
};
use icu_properties::{CodePointMapData, CodePointSetData, PropertyNamesLong};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

mod scripts;

/// The version that the compiled data claims; [`check_version`] holds it against the data.
const UNICODE_VERSION: &str = "18.0";
/// What is generated, relative to the repository.
const TABLES: &str = "crates/text/src/tables.rs";
const MIXED_TABLES: &str = "crates/text/src/mixed_tables.rs";
const UNICODE_DATA: &str = "/usr/share/unicode";
const CODE_POINTS: u32 = 0x11_0000;

/// Private use areas that Nerd Fonts fills with glyphs (its list of code points, 3.5).
const NERD: &[(u32, u32)] = &[
    (0xE000, 0xE00A),   // Pomicons
    (0xE0A0, 0xE0A3),   // Powerline
    (0xE0B0, 0xE0C8),   // Powerline, Powerline Extra
    (0xE0CA, 0xE0CA),   // Powerline Extra
    (0xE0CC, 0xE0D7),   // Powerline Extra
    (0xE200, 0xE2A9),   // Font Awesome Extension
    (0xE300, 0xE3E3),   // Weather
    (0xE5FA, 0xE6BB),   // Seti-UI and custom
    (0xE700, 0xE958),   // Devicons
    (0xEA60, 0xEC1E),   // Codicons
    (0xED00, 0xF2FF),   // Font Awesome, progress indicators
    (0xF300, 0xF385),   // Font Logos
    (0xF400, 0xF533),   // Octicons
    (0xF0001, 0xF1AF0), // Material Design
];

/// Categories given by code point alone: (first, last, category). They go before all properties.
const RANGES: &[(u32, u32, &str)] = &[
    (0x202A, 0x202E, "BidiControl"),
    (0x2066, 0x2069, "BidiControl"),
    (0x200E, 0x200F, "BidiMark"),
    (0x061C, 0x061C, "BidiMark"),
    (0xE0001, 0xE0001, "Tag"),
    (0xE0020, 0xE007F, "Tag"),
    (0x1F3F4, 0x1F3F4, "BlackFlag"),
    (0xFE00, 0xFE0E, "TextSelector"),
    (0xFE0F, 0xFE0F, "EmojiSelector"),
    (0xE0100, 0xE01EF, "IdeographSelector"),
    (0x200C, 0x200C, "NonJoiner"),
    (0x200D, 0x200D, "Joiner"),
    (0x200B, 0x200B, "ZeroWidth"),
    (0x2060, 0x2060, "ZeroWidth"),
    (0xFEFF, 0xFEFF, "ZeroWidth"),
    (0x034F, 0x034F, "ZeroWidth"),
    (0x00AD, 0x00AD, "ZeroWidth"),
    (0x2061, 0x2065, "Ignorable"),
    (0x206A, 0x206F, "Ignorable"),
    (0xFFF0, 0xFFF8, "Ignorable"),
    (0x1BCA0, 0x1BCA3, "Ignorable"),
    (0x1D173, 0x1D17A, "Ignorable"),
    (0x17B4, 0x17B5, "Ignorable"),
    (0xE0000, 0xE0000, "Ignorable"),
    (0xE0002, 0xE001F, "Ignorable"),
    (0xE0080, 0xE00FF, "Ignorable"),
    (0xE01F0, 0xE0FFF, "Ignorable"),
    (0xFFF9, 0xFFFB, "Annotation"),
    (0x3164, 0x3164, "Filler"),
    (0xFFA0, 0xFFA0, "Filler"),
    (0x115F, 0x1160, "JamoFiller"),
    (0x1100, 0x115E, "Jamo"),
    (0x1161, 0x11FF, "Jamo"),
    (0xA960, 0xA97F, "Jamo"),
    (0xD7B0, 0xD7FF, "Jamo"),
    (0x2800, 0x2800, "BrailleBlank"),
    (0x2801, 0x28FF, "Braille"),
    (0x180B, 0x180D, "MongolianSelector"),
    (0x180F, 0x180F, "MongolianSelector"),
    (0x180E, 0x180E, "MongolianVowelSeparator"),
    (0x1F3FB, 0x1F3FF, "EmojiModifier"),
    (0x2028, 0x2029, "LineSeparator"),
];

/// Generates, or with `--check` compares and writes nothing.
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let check = match arguments {
        [] => false,
        [one] if one == "--check" => true,
        _ => {
            eprintln!("usage: cargo xtask gen-tables [--check]");
            return ExitCode::from(2);
        }
    };
    let mut exit = ExitCode::SUCCESS;
    for (name, text) in [(TABLES, generate()), (MIXED_TABLES, scripts::generate())] {
        match text.and_then(|text| if check { compare(name, &text) } else { write(name, &text) }) {
            Ok(said) => println!("{said}"),
            Err(why) => {
                eprintln!("gen-tables: error: {why}");
                exit = ExitCode::FAILURE;
            }
        }
    }
    exit
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}

fn write(name: &str, text: &str) -> Result<String, String> {
    std::fs::write(path(name), text).map_err(|e| format!("{name}: {e}"))?;
    Ok(format!("gen-tables: wrote {name} ({} bytes)", text.len()))
}

fn compare(name: &str, text: &str) -> Result<String, String> {
    let found = std::fs::read_to_string(path(name)).map_err(|e| format!("{name}: {e}"))?;
    if found == text {
        return Ok(format!("gen-tables: {name} is what its sources give"));
    }
    let lines = |s: &str| s.lines().map(String::from).collect::<Vec<_>>();
    let (expected, found) = (lines(text), lines(&found));
    let same = expected.iter().zip(&found).take_while(|(a, b)| a == b).count();
    Err(format!(
        "{name} is not what its sources give, first at line {}; \
         run `cargo xtask gen-tables` and commit the result",
        same + 1
    ))
}

/// The whole text of `tables.rs`.
fn generate() -> Result<String, String> {
    check_version()?;
    let names = (0..CODE_POINTS).map(category).collect::<Result<Vec<_>, _>>()?;
    check_ignorables(&names)?;
    let mut scripts = BTreeSet::new();
    let mut distinct: BTreeSet<&str> = BTreeSet::new();
    for name in &names {
        distinct.insert(name);
        if let Some(script) = name.strip_prefix("Joining:") {
            scripts.insert(script.to_string());
        }
    }
    // Ordinary is number 0, so that a table of zeros is a table of ordinary characters.
    let mut numbers: BTreeMap<&str, u8> = BTreeMap::from([("Ordinary", 0)]);
    let mut order = vec!["Ordinary"];
    for name in distinct {
        if name != "Ordinary" {
            let number = u8::try_from(order.len()).map_err(|_| "more than 256 categories")?;
            numbers.insert(name, number);
            order.push(name);
        }
    }
    let leaves: Vec<u8> = names.iter().map(|name| numbers[name.as_str()]).collect();
    let (pairs, pairs_version) = variation_pairs()?;
    render(&scripts, &order, &leaves, &pairs, &pairs_version)
}

fn render(
    scripts: &BTreeSet<String>,
    order: &[&str],
    leaves: &[u8],
    pairs: &BTreeSet<u32>,
    pairs_version: &str,
) -> Result<String, String> {
    let (bits, index, blocks) = (5..=9)
        .filter_map(|bits| two_stages(leaves, bits).map(|(index, blocks)| (bits, index, blocks)))
        .min_by_key(|(_, index, blocks)| index.len() + blocks.len())
        .ok_or("no block size leaves at most 256 blocks")?;
    let mut out = String::new();
    let _ = write!(
        out,
        "//! @generated by `cargo xtask gen-tables`; do not edit.\n\
         //!\n\
         //! Properties: the data compiled into `icu_properties`. Variation pairs:\n\
         //! `emoji-variation-sequences.txt` and `StandardizedVariants.txt` of Debian's\n\
         //! `unicode-data`. Each has its own Unicode version, given below.\n\
         #![cfg_attr(rustfmt, rustfmt_skip)]\n\n\
         use crate::category::Category;\n\n\
         /// The version of the Unicode Character Database behind [`category`](crate::category).\n\
         pub const UNICODE_VERSION: &str = \"{UNICODE_VERSION}\";\n\n\
         /// The Unicode version of the listed (base, variation selector) pairs.\n\
         pub const VARIATION_PAIRS_VERSION: &str = \"{pairs_version}\";\n\n\
         /// A script that has joining letters: letters with Joining_Type D, R or L.\n\
         #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\n\
         #[non_exhaustive]\n\
         #[allow(missing_docs)] // the names are the names of the scripts\n\
         pub enum JoiningScript {{\n"
    );
    for script in scripts {
        let _ = writeln!(out, "    {script},");
    }
    let _ = write!(out, "}}\n\n/// The category that each number in [`BLOCKS`] stands for.\n");
    let _ = writeln!(out, "pub(crate) static CATEGORIES: [Category; {}] = [", order.len());
    for name in order {
        let _ = match name.strip_prefix("Joining:") {
            Some(script) => writeln!(out, "    Category::Joining(JoiningScript::{script}),"),
            None => writeln!(out, "    Category::{name},"),
        };
    }
    let _ = write!(
        out,
        "];\n\n/// log2 of the code points in a block.\n\
         pub(crate) const BLOCK_BITS: u32 = {bits};\n\n\
         /// Which block each run of 2^[`BLOCK_BITS`] code points is.\n"
    );
    numbers(&mut out, "INDEX", "u8", index.iter().map(|&n| u32::from(n)));
    let _ = write!(out, "\n/// The distinct blocks, one after another.\n");
    numbers(&mut out, "BLOCKS", "u8", blocks.iter().map(|&n| u32::from(n)));
    let _ = write!(
        out,
        "\n/// Listed variation pairs, ascending: the base times 16, plus the selector less FE00.\n"
    );
    numbers(&mut out, "VARIATION_PAIRS", "u32", pairs.iter().copied());
    Ok(out)
}

fn numbers(out: &mut String, name: &str, kind: &str, all: impl ExactSizeIterator<Item = u32>) {
    let _ = writeln!(out, "pub(crate) static {name}: [{kind}; {}] = [", all.len());
    let mut line = String::from("   ");
    for number in all {
        let piece = format!(" {number},");
        if line.len() + piece.len() > 100 {
            let _ = writeln!(out, "{line}");
            line = String::from("   ");
        }
        line.push_str(&piece);
    }
    let _ = writeln!(out, "{line}\n];");
}

fn two_stages(leaves: &[u8], bits: u32) -> Option<(Vec<u8>, Vec<u8>)> {
    let (mut index, mut blocks) = (Vec::new(), Vec::new());
    let mut seen: BTreeMap<&[u8], u8> = BTreeMap::new();
    for block in leaves.chunks(1 << bits) {
        let number = match seen.get(block) {
            Some(&number) => number,
            None => {
                let number = u8::try_from(seen.len()).ok()?;
                seen.insert(block, number);
                blocks.extend_from_slice(block);
                number
            }
        };
        index.push(number);
    }
    Some((index, blocks))
}

/// The one category of a code point; a joining letter's is `Joining:` and its script.
fn category(point: u32) -> Result<String, String> {
    let gc = CodePointMapData::<Gc>::new().get32(point);
    let script = CodePointMapData::<Script>::new().get32(point);
    let joining = CodePointMapData::<JoiningType>::new().get32(point);
    let virama = CodePointMapData::<Ccc>::new().get32(point) == Ccc::Virama;
    let letter = matches!(
        gc,
        Gc::UppercaseLetter
            | Gc::LowercaseLetter
            | Gc::TitlecaseLetter
            | Gc::ModifierLetter
            | Gc::OtherLetter
    );
    let joins = matches!(
        joining,
        JoiningType::DualJoining | JoiningType::RightJoining | JoiningType::LeftJoining
    );
    let mut found: Vec<String> = Vec::new();
    let mut add = |holds: bool, name: &str| {
        if holds {
            found.push(name.to_string());
        }
    };
    for &(first, last, name) in RANGES {
        add((first..=last).contains(&point), name);
    }
    let by_range = found.len();
    let mut add = |holds: bool, name: &str| {
        // A range above goes before every property (selectors are marks, the flag is pictographic).
        if holds && by_range == 0 {
            found.push(name.to_string());
        }
    };
    add(CodePointSetData::new::<NoncharacterCodePoint>().contains32(point), "Noncharacter");
    let nerd = NERD.iter().any(|&(first, last)| (first..=last).contains(&point));
    add(gc == Gc::PrivateUse && !nerd, "PrivateUse");
    add(gc == Gc::PrivateUse && nerd, "PrivateUseNerd");
    let mark = matches!(gc, Gc::NonspacingMark | Gc::EnclosingMark);
    add(mark && !virama, "Mark");
    add(mark && virama, "MarkVirama");
    add(!mark && virama, "SpacingVirama");
    add(CodePointSetData::new::<ExtendedPictographic>().contains32(point), "Pictograph");
    add(CodePointSetData::new::<UnifiedIdeograph>().contains32(point), "Ideograph");
    let name = PropertyNamesLong::<Script>::new().get(script).unwrap_or("Unknown");
    let joining_name = format!("Joining:{}", name.replace('_', ""));
    add(letter && joins, &joining_name);
    add(letter && !joins && script == Script::Mongolian, "MongolianLetter");
    match found.as_slice() {
        [] => Ok("Ordinary".into()),
        [one] if one == "Joining:Common" || one == "Joining:Inherited" => {
            Err(format!("U+{point:04X} is a joining letter of no script"))
        }
        [one] => Ok(one.clone()),
        more => Err(format!("U+{point:04X} has more than one category: {more:?}")),
    }
}

/// Stops when the data is older or newer than [`UNICODE_VERSION`] says: each version is known by a
/// character that it added.
fn check_version() -> Result<(), String> {
    let gc = CodePointMapData::<Gc>::new();
    for (point, added) in PROBES {
        if gc.get32(*point) == Gc::Unassigned {
            return Err(format!("the data is older than {added}: U+{point:04X} is unassigned"));
        }
    }
    Ok(())
}

/// (a code point, the Unicode version that assigned it).
const PROBES: &[(u32, &str)] = &[
    (0x1C89, "16.0"),  // Cyrillic capital letter TJE
    (0x20C1, "17.0"),  // Saudi riyal sign
    (0x3D000, "18.0"), // the first seal character
];

/// A default-ignorable code point that no rule covers would pass unseen.
fn check_ignorables(names: &[String]) -> Result<(), String> {
    let ignorable = CodePointSetData::new::<DefaultIgnorableCodePoint>();
    for (point, name) in (0u32..).zip(names) {
        if ignorable.contains32(point) && name == "Ordinary" {
            return Err(format!("U+{point:04X} is default-ignorable and in no row"));
        }
    }
    Ok(())
}

/// The pairs with a selector FE00–FE0F, and the version that both files name.
fn variation_pairs() -> Result<(BTreeSet<u32>, String), String> {
    let mut pairs = BTreeSet::new();
    let mut versions = BTreeSet::new();
    for file in ["StandardizedVariants.txt", "emoji/emoji-variation-sequences.txt"] {
        let path = Path::new(UNICODE_DATA).join(file);
        let text = std::fs::read_to_string(&path).map_err(|e| {
            format!("{file}: {e}; install Debian's package unicode-data, which has it")
        })?;
        versions.insert(version_of(&text).ok_or(format!("{file} names no version"))?);
        for line in text.lines() {
            let rule = line.split(['#', ';']).next().unwrap_or_default();
            let mut points = rule.split_whitespace().map(|hex| u32::from_str_radix(hex, 16));
            let (Some(base), Some(selector)) = (points.next(), points.next()) else { continue };
            let base = base.map_err(|e| format!("{file}: {line:?}: {e}"))?;
            let selector = selector.map_err(|e| format!("{file}: {line:?}: {e}"))?;
            if (0xFE00..=0xFE0F).contains(&selector) {
                pairs.insert(base << 4 | (selector - 0xFE00));
            }
        }
    }
    let mut versions = versions.into_iter();
    match (versions.next(), versions.next()) {
        (Some(one), None) => Ok((pairs, one)),
        _ => Err("the two files of variation pairs name different versions".into()),
    }
}

/// `15.0` out of `… Unicode Standard, Version 15.0.` or `… Emoji Version 15.0 and …`.
fn version_of(text: &str) -> Option<String> {
    let comments = text.lines().take_while(|line| line.is_empty() || line.starts_with('#'));
    let line = comments.filter(|line| line.contains("Version ")).last()?;
    let rest = line.split("Version ").nth(1)?;
    let version: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    Some(version.trim_end_matches('.').to_string())
}
