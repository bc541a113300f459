//! Writes the corpus of this repository as seeds: `cargo run --example seeds` in `fuzz/`.

use std::path::Path;

use noesc_envelope::Format;
use noesc_testkit::corpus;

#[path = "../crates/envelope/tests/common/mod.rs"]
mod common;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let to = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    // Before the input stand what a target takes from it: the chunks; the profile and the chunks.
    let heads = [
        ("parser", &b"\x07"[..]),
        ("views", b"\0\0\x07"),
        ("views", b"\0\x02\x01"),
        ("content", b"\x15"),
        ("scan", b"\x3d"),
        ("scan", b"\xf7"),
    ];
    for (target, head) in heads {
        let dir = to.join(target);
        std::fs::create_dir_all(&dir)?;
        for case in corpus::load(&corpus::root())? {
            let input = case.input();
            // Long cases make every run slow; their ends are near the limits all the same.
            if input.len() <= 8192 {
                let name = format!("{}-{}", case.name, head[head.len() / 2]);
                std::fs::write(dir.join(name), [head, &input].concat())?;
            }
        }
    }
    records(&to.join("records"))
}

/// Envelopes in each format, what a child would forge, and values: the first byte is the choice.
fn records(dir: &Path) -> Result<(), Box<dyn std::error::Error>> {
    std::fs::create_dir_all(dir)?;
    let write = |name: String, choice: u8, text: &str| {
        std::fs::write(dir.join(name), [&[choice], text.as_bytes()].concat())
    };
    for (n, format) in (0_u8..).zip(Format::ALL) {
        let rendered = common::rendered(&common::ordinary("one\ntwo\n", "three"), format);
        write(format!("parsed-{n}"), n << 2, &rendered)?;
        for (number, forged) in common::forgeries().iter().enumerate() {
            write(format!("carried-{n}-{number}"), 1 | n << 2, forged)?;
            write(format!("tampered-{n}-{number}"), 2 | n << 2, forged)?;
        }
    }
    let values = ["{\"a\":[1,-0.5e+3,null,true]}", "[[[]],{\"\":{}}]", "\"\\u001b]52;c;x\\u0007\""];
    for (number, value) in values.iter().enumerate() {
        write(format!("value-{number}"), 3, value)?;
    }
    Ok(())
}
