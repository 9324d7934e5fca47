#![forbid(unsafe_code)]
#![warn(missing_docs)]
//! Boolean circuits and lane-parallel programs, without cryptography.

pub mod blocks;
pub mod builder;
pub mod error;
pub mod format;
pub mod fuse;
pub mod graph;
pub mod matrix;
pub mod plan;
pub mod program;
pub mod simulate;
pub mod words;

pub use builder::Builder;
pub use error::{Error, Result};
pub use graph::{Bit, Circuit, Gate, Kind, Port, Type, bits, int, uint};
pub use matrix::BitMatrix;
pub use plan::{Order, Plan};
pub use program::{Binding, Party, Program, Schedule};
pub use simulate::Simulator;
pub use words::{Bits, Int, UInt, Word};
