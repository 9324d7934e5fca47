//! Gates on many bits, and the selection of a word: what all other blocks stand on.

pub(super) mod reduce;
pub mod select;
