#![no_std]
#![forbid(unsafe_code)]
//! The byte grammar.
