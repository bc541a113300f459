#![forbid(unsafe_code)]
//! One run, start to end.
