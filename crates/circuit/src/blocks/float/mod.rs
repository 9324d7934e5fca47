//! Floating point of any exponent and fraction width.
//!
//! [`Format`] says how wide, [`Mode`] what denormals and NaN are; [`Float`] is a number, [`Unpacked`] its parts, and
//! [`round`] makes a number of a result that is not rounded yet. Arithmetic rounds to nearest, ties to even.

mod add;
mod compare;
mod convert;
mod divide;
mod exponential;
mod fixed;
mod fma;
mod format;
mod gates;
mod integral;
mod inverse;
mod logarithm;
mod multiply;
mod power;
mod product;
mod reduce;
mod round;
mod trigonometry;

pub use add::{add, subtract};
pub use compare::{
    Comparison, compare, equal, greater, greater_or_equal, is_nan, less, less_or_equal, maximum, minimum, total_order,
    unordered,
};
pub use convert::{convert, from_int, from_uint, to_int, to_uint};
pub use divide::{divide, square_root};
pub use exponential::{Base, exponential};
pub use fixed::{from_fixed, to_fixed};
pub use fma::multiply_add;
pub use format::{Float, Format, Mode, Unpacked};
pub use integral::{Rounding, round_integral};
pub use inverse::{asin, atan};
pub use logarithm::logarithm;
pub use multiply::{multiply, square};
pub use power::power;
pub use round::{Unrounded, round};
pub use trigonometry::{cos, cos_pi, sin, sin_pi, tan, tan_pi};
