#![forbid(unsafe_code)]
#![warn(missing_docs)]
//! Applications, one file each.

pub mod eigenfaces;
pub mod proximity;
pub mod scifi;
pub mod social;
mod tournament;
