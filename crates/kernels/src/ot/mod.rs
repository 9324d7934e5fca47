//! The loops of OT extension and of silent OT.

pub mod local;
pub mod ot_hash;
pub mod planes;
pub mod syndrome;
pub mod tree;
