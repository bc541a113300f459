#![forbid(unsafe_code)]
//! Explains standard input, or the file that is named.
//!
//! `cargo run -p noesc-explain --example explain -- [--payload] [--summary] [--only-summary]
//! [--json] [--hex] [--colour] [FILE]`

use std::fs::File;
use std::io::{self, Read, Write};

use noesc_explain::{Explainer, Layout, Options, Theme};

fn main() -> io::Result<()> {
    let mut options = Options::default();
    let mut input: Box<dyn Read> = Box::new(io::stdin());
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--payload" => options.payload = true,
            "--summary" => options.summary = true,
            "--only-summary" => (options.summary, options.items) = (true, false),
            "--json" => options.layout = Layout::Json,
            "--hex" => options.hex_offsets = true,
            "--colour" => options.theme = Theme::COLOUR,
            file => input = Box::new(File::open(file)?),
        }
    }
    let mut explainer = Explainer::new(options);
    let (mut chunk, mut text, mut out) = (vec![0; 64 * 1024], String::new(), io::stdout().lock());
    loop {
        let n = input.read(&mut chunk)?;
        if n == 0 {
            break;
        }
        explainer.push(&chunk[..n], &mut text).map_err(io::Error::other)?;
        out.write_all(text.as_bytes())?;
        text.clear();
    }
    explainer.finish(&mut text).map_err(io::Error::other)?;
    out.write_all(text.as_bytes())
}
