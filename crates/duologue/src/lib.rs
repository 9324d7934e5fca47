#![forbid(unsafe_code)]
#![warn(missing_docs)]
//! Secure two-party computation.

pub mod channel;
pub mod correlation;
mod error;
pub mod ot;

pub use circuit::program::Party;
pub use error::{Error, Result};
