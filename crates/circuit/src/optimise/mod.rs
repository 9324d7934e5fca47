//! Circuits rebuilt: plans for a protocol's costs, and circuits that come as gates for fewer ANDs.

pub mod fuse;
pub mod gates;
