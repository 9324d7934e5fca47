//! One job on many machines.

pub mod control;
