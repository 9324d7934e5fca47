//! Functions of real numbers by tables of polynomials, and fixed-point numbers.

pub(super) mod branches;
pub(super) mod digits;
pub mod fixed;
pub(super) mod piecewise;
pub(super) mod reals;
pub mod sine;
