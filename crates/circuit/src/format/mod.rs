//! Files of circuits and programs, one format a file or folder.

#[doc(hidden)]
pub mod aiger;
#[doc(hidden)]
pub mod blif;
pub mod bristol;
#[doc(hidden)]
pub mod cells;
pub(crate) mod duo;
mod functions;
mod nets;
#[doc(hidden)]
pub mod ports;
#[doc(hidden)]
pub mod shdl;
#[doc(hidden)]
pub mod verilog;

pub use duo::Provenance;
