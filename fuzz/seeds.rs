//! Writes the corpus of this repository as seeds: `cargo run --example seeds` in `fuzz/`.

use std::path::Path;

use noesc_testkit::corpus;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let to = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    // Before the input stand what a target takes from it: the chunks; the profile and the chunks.
    let heads = [("parser", &b"\x07"[..]), ("views", b"\0\0\x07"), ("views", b"\0\x02\x01")];
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
    Ok(())
}
