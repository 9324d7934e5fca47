//! Plans rebuilt for a protocol's costs.

pub mod fuse;
