//! Exhaustive short inputs over the bytes that matter most.

/// The most dangerous units: each opens, continues, ends, breaks or imitates something.
pub const UNITS: [&[u8]; 24] = [
    b"\x1b",
    b"[",
    b"]",
    b"P",
    b"k",
    b"\\",
    b"m",
    b"8",
    b";",
    b"\x07",
    b"\x18",
    b"\r",
    b"\n",
    b"\x08",
    b"\x7f",
    b"\x9b",
    b"\x9c",
    b"\x9d",
    b"\xc2\x9b",
    b"\xc2\x9c",
    b"\xc3",
    b"\xe2\x80",
    b"\xf3\xa0\x81\x81",
    b"a",
];

/// All inputs of at most `units` units, the short ones first, the empty one included.
///
/// ```
/// use noesc_testkit::units::all_inputs;
/// assert_eq!(all_inputs(2).count(), 1 + 24 + 24 * 24);
/// assert_eq!(all_inputs(2).next().as_deref(), Some(&b""[..]));
/// ```
pub fn all_inputs(units: u32) -> impl Iterator<Item = Vec<u8>> {
    (0..=units).flat_map(|length| {
        (0..UNITS.len().pow(length)).map(move |number| {
            let mut rest = number;
            let mut input = Vec::new();
            for _ in 0..length {
                input.extend(UNITS[rest % UNITS.len()]);
                rest /= UNITS.len();
            }
            input
        })
    })
}
