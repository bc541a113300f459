#![forbid(unsafe_code)]
//! The noesc command.
fn main() {}
