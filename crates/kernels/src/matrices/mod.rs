//! Matrices of blocks and of bits.

pub mod rows;
pub mod transpose;
