//! Plain lines, styled ones, and those that are written over and over.

use crate::random::Random;

const WORDS: [&str; 24] = [
    "request", "worker", "cache", "session", "index", "timeout", "parsed", "the", "of", "reading",
    "segment", "from", "store", "with", "status", "vendor", "queue", "retry", "is", "not",
    "module", "written", "to", "checksum",
];

/// One line as a server logs it.
pub(super) fn log(random: &mut Random, out: &mut Vec<u8>) {
    const LEVELS: [&str; 4] = ["DEBUG", "INFO", "INFO", "WARN"];
    const WHAT: [&str; 4] = [
        "GET /api/v1/orders",
        "POST /api/v1/basket/items",
        "cache miss for key session",
        "slow query: SELECT id, name, price FROM items WHERE vendor =",
    ];
    let (minute, second, ms) = (random.below(60), random.below(60), random.below(1000));
    let (level, what) = (random.of(&LEVELS), random.of(&WHAT));
    let (worker, id, took) = (random.below(64), random.below(1_000_000), random.below(900));
    let line = format!(
        "2026-03-01T12:{minute:02}:{second:02}.{ms:03}Z {level:5} worker[{worker}]: \
         {what} {id} status=200 took={took}ms\n"
    );
    out.extend(line.as_bytes());
}

/// A word and a blank; never a line end.
pub(super) fn words(random: &mut Random, out: &mut Vec<u8>) {
    out.extend(random.of(&WORDS).as_bytes());
    out.push(b' ');
}

/// A line of ten times a colour and eight bytes of text.
pub(super) fn style(random: &mut Random, out: &mut Vec<u8>) {
    let mut text = Vec::with_capacity(96);
    while text.len() < 79 {
        words(random, &mut text);
    }
    text.truncate(79);
    text.push(b'\n');
    for piece in text.chunks(8) {
        out.extend(format!("\x1b[3{}m", 1 + random.below(7)).as_bytes());
        out.extend(piece);
    }
}

/// A bar that fills: states that each begin with `start`, and a line end.
pub(super) fn progress(start: &[u8], random: &mut Random, out: &mut Vec<u8>) {
    let file = random.of(&WORDS);
    let mut percent = 0;
    while percent < 100 {
        percent = (percent + 1 + random.below(3)).min(100);
        let (full, empty) = ("=".repeat(percent / 4), " ".repeat(25 - percent / 4));
        let (tenths, seconds) = (random.below(100), 100 - percent);
        out.extend(start);
        let state = format!(
            "{file:10} {percent:3}% [{full}>{empty}] {}.{} MiB/s eta 00:{seconds:02}",
            tenths / 10,
            tenths % 10
        );
        out.extend(state.as_bytes());
    }
    out.push(b'\n');
}
