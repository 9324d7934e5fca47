//! Floating point of any exponent and fraction width.
//!
//! [`Format`] says how wide, [`Mode`] what denormals and NaN are; [`Float`] is a number, [`Unpacked`] its parts, and
//! [`round`] makes a number of a result that is not rounded yet. Arithmetic rounds to nearest, ties to even; functions
//! named `…_rounded` take a direction ([`Rounding`]) and return the status [`Flags`] as well.

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
mod status;
mod trigonometry;

pub use add::{add, add_rounded, subtract, subtract_rounded};
pub use compare::{
    Comparison, compare, equal, greater, greater_or_equal, is_nan, less, less_or_equal, maximum, minimum, total_order,
    unordered,
};
pub use convert::{
    convert, convert_rounded, from_int, from_int_rounded, from_uint, from_uint_rounded, to_int, to_uint,
};
pub use divide::{divide, divide_rounded, square_root, square_root_rounded};
pub use exponential::{Base, exponential};
pub use fixed::{from_fixed, to_fixed};
pub use fma::{multiply_add, multiply_add_rounded};
pub use format::{Float, Format, Mode, Unpacked};
pub use integral::round_integral;
pub use inverse::{asin, atan};
pub use logarithm::logarithm;
pub use multiply::{multiply, multiply_rounded, square, square_rounded};
pub use power::power;
pub use round::{Unrounded, round, round_to};
pub use status::{Flags, Outcome, Rounding};
pub use trigonometry::{cos, cos_pi, sin, sin_pi, tan, tan_pi};
