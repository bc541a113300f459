#![forbid(unsafe_code)]
//! Test material.
