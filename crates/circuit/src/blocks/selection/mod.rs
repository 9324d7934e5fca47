//! Words chosen from lists by order or by place: minima, medians, sorted and permuted lists, look-ups.

pub mod compact;
mod inversion;
pub mod median;
pub mod order;
pub mod permute;
pub mod sort;
pub mod table;
