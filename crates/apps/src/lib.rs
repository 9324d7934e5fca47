#![forbid(unsafe_code)]
#![warn(missing_docs)]
//! Applications, one file each.

pub mod scifi;
