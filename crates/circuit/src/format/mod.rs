//! Files of circuits and programs, one format a file.

#[doc(hidden)]
pub mod aiger;
pub mod bristol;
mod duo;

pub use duo::Provenance;
