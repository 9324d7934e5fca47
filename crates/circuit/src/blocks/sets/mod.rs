//! Sets of words, and the intersection of two private sets.

pub mod duplicates;
mod intersection;

pub use intersection::{compacted, inclusion, intersection, matches, members, shuffle, sum_selected, sum_width, union};
