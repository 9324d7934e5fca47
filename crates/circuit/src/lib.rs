#![forbid(unsafe_code)]
#![warn(missing_docs)]
//! Boolean circuits and lane-parallel programs, without cryptography.
//!
//! This crate is part of `duologue`, which shows it as `duologue::circuit`: users write that and depend on `duologue` alone.

pub mod blocks;
pub mod builder;
pub mod error;
pub mod format;
mod gates_by_operands;
pub mod graph;
pub mod matrix;
#[doc(hidden)]
pub mod optimise;
#[doc(hidden)]
pub mod plan;
#[doc(hidden)]
pub mod private;
pub mod program;
pub mod simulate;
#[doc(hidden)]
pub mod universal;
pub mod words;

pub use crate::builder::Builder;
pub use crate::error::{Error, Result};
pub use crate::graph::{Bit, Circuit, Gate, Kind, Port, Type, bits, int, uint};
pub use crate::matrix::BitMatrix;
#[doc(hidden)]
pub use crate::plan::{Order, Plan};
#[doc(hidden)]
pub use crate::program::Schedule;
pub use crate::program::{Binding, Party, Program};
pub use crate::simulate::Simulator;
pub use crate::words::{Bits, Int, UInt, Word};
