#![forbid(unsafe_code)]
#![warn(missing_docs)]
//! Boolean circuits and lane-parallel programs, without cryptography.

pub mod program;
