//! The ways the engine can scan, of which one can be forced to be measured.

pub(crate) use noesc_scan::{Path, available, force};
