//! Building blocks: functions that write gates into a [`Builder`](crate::Builder), and a registry of them by name.
//!
//! A new block is a function in one of these files and an entry in [`registry`](mod@registry).
//!
//! Costs count ANDs (`n` is the width of an operand, `log` is ⌈log₂⌉). Papers: "GMW vs Yao? Efficient secure two-party
//! computation with low depth circuits" (Schneider, Zohner, FC 2013), §3, Table 7, unless a block names another.

mod adder;
pub mod aes;
pub mod arithmetic;
mod branches;
pub mod chacha20;
pub mod columns;
pub mod compact;
pub mod compare;
pub mod count;
mod digits;
pub mod distance;
pub mod divide;
pub mod dot;
pub mod duplicates;
pub mod euclidean;
mod factor;
pub mod fixed;
pub mod float;
mod goldschmidt;
pub mod keccak;
mod logic;
pub mod median;
pub mod modular;
pub mod multiply;
pub mod order;
pub mod permute;
mod piecewise;
mod reals;
pub mod registry;
pub mod select;
pub mod sets;
pub mod sha2;
pub mod shift;
pub mod sine;
pub mod sort;
pub mod table;

use std::fmt;

pub use arithmetic::{absolute, add, add_carry, negate, negate_if, subtract, subtract_borrow, sum, sum_full};
pub use columns::Columns;
pub use compare::{equal, greater, greater_or_equal, less, less_or_equal};
pub use count::{hamming_distance, population_count};
pub use distance::{absolute_difference, manhattan_distance, squared_distance};
pub use divide::{divide, divide_signed, square_root};
pub use dot::{dot_product, matrix_product};
pub use euclidean::euclidean_distance;
pub use modular::{
    add_constant_mod, add_mod, multiply_constant, multiply_constant_mod, multiply_mod, remainder_constant,
};
pub use multiply::{multiply, multiply_high, multiply_low, square, square_low};
pub use order::{max, max_index, maximum, min, min_index, minimum};
pub use registry::{Block, Parameter, find, registry};
pub use select::{conditional_swap, multiplexer, mux, one_hot, one_hot_below};
pub use shift::{
    leading_zeros, normalise, or_prefix, rotate_left, rotate_right, shift_left, shift_right, trailing_zeros,
};

/// What a block is made for.
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
