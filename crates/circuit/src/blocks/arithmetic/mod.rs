//! Integers: sums, products, quotients, comparisons, shifts and distances.

pub(super) mod adder;
pub mod columns;
pub mod compare;
pub mod count;
pub mod distance;
pub mod divide;
pub mod dot;
pub mod euclidean;
pub(crate) mod factor;
pub(super) mod goldschmidt;
pub mod modular;
pub mod multiply;
pub mod shift;
pub mod sum;
