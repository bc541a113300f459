//! One process and its output.
