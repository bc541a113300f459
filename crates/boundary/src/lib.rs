#![forbid(unsafe_code)]
//! The boundary.
