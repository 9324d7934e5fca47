//! Hashes of long messages for consistency checks.

pub mod blake3;
pub mod field;
