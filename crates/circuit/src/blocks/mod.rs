//! Building blocks: functions that write gates into a [`Builder`](crate::Builder), and a registry of them by name.
//!
//! A new block is a function in one of these files and an entry in [`registry`](mod@registry).
//!
//! Costs count ANDs (`n` is the width of an operand, `log` is ⌈log₂⌉). Papers: "GMW vs Yao? Efficient secure two-party
//! computation with low depth circuits" (Schneider, Zohner, FC 2013), §3, Table 7, unless a block names another.

mod approximation;
mod arithmetic;
mod cipher;
pub mod float;
mod logic;
pub mod registry;
mod selection;
pub mod sets;

use std::fmt;

pub use approximation::{fixed, sine};
pub use arithmetic::columns::{self, Columns};
pub use arithmetic::compare::{self, equal, greater, greater_or_equal, less, less_or_equal};
pub use arithmetic::count::{self, hamming_distance, population_count};
pub use arithmetic::distance::{self, absolute_difference, manhattan_distance, squared_distance};
pub use arithmetic::divide::{self, divide, divide_signed, square_root};
pub use arithmetic::dot::{self, dot_product, matrix_product};
pub use arithmetic::euclidean::{self, euclidean_distance};
pub(crate) use arithmetic::factor;
pub use arithmetic::modular::{
    self, add_constant_mod, add_mod, multiply_constant, multiply_constant_mod, multiply_mod, remainder_constant,
};
pub use arithmetic::multiply::{self, multiply, multiply_high, multiply_low, square, square_low};
pub use arithmetic::shift::{
    self, leading_zeros, normalise, or_prefix, rotate_left, rotate_right, shift_left, shift_right, trailing_zeros,
};
pub use arithmetic::sum::{
    self, absolute, add, add_carry, negate, negate_if, subtract, subtract_borrow, sum, sum_full,
};
pub use cipher::{aes, chacha20, keccak, sha2};
pub use logic::select::{self, conditional_swap, multiplexer, mux, one_hot, one_hot_below};
pub use registry::{Block, Parameter, find, registry};
pub use selection::order::{self, max, max_index, maximum, min, min_index, minimum};
pub use selection::{compact, median, permute, sort, table};

/// The cost that a block is built to keep low.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Goal {
    /// Fewest ANDs: garbling, and wide layers.
    Size,
    /// Fewest layers of ANDs: protocols that talk once a layer.
    Depth,
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Goal::Size => "size",
            Goal::Depth => "depth",
        })
    }
}
