#![no_std]
#![forbid(unsafe_code)]
//! Which characters deceive a reader.
