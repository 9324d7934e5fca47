#![forbid(unsafe_code)]
#![warn(missing_docs)]
//! Circuits from Verilog.
//!
//! [Yosys](https://yosyshq.net/yosys/) reads and elaborates a design and leaves a netlist of words: sums, products, comparisons, selections. Each of
//! these cells becomes gates by the library's own blocks, so that `a * b` costs what `block:multiply` costs. After
//! "Automated synthesis of optimized circuits for secure computation" (Demmler, Dessouky, Koushanfar, Sadeghi, Schneider,
//! Zeitouni, CCS 2015), where commercial tools bind operators to blocks.
//!
//! - [`yosys`] finds the tool and runs it; [`netlist`] reads what it wrote.
//! - `choices` finds selections by the value of one word, `extremes` searches for the least of many words.
//! - `sums` finds sums of sums and products, which become one sum of columns.
//! - [`clocked`] makes programs of designs with registers.
//! - [`lanes`] makes programs of designs that are one module many times.
//! - [`blocks`] knows the instances that are blocks by name, or circuits of files.
//! - `copies` maps modules that stay modules once for all their instances.
//! - `map` walks the netlist from its outputs and builds each cell; `cells` knows what the cells compute.
//! - [`parties`] says who supplies and who learns what.
//!
//! Security is that of whatever runs the circuit: nothing here sees a secret. A netlist may come from anywhere; reading
//! one ends with a circuit or with an [`Error`].

pub mod blocks;
mod cells;
mod choices;
pub mod clocked;
mod copies;
mod error;
mod extremes;
pub mod lanes;
mod map;
pub mod netlist;
mod number;
pub mod parties;
mod profile;
mod sums;
pub mod yosys;

pub use error::{Error, Result};
pub use map::{Made, circuit, profile};
pub use profile::Profile;
