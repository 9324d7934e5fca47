//! Floating point of any exponent and fraction width.
//!
//! [`Format`] says how wide, [`Mode`] what denormals and NaN are; [`Float`] is a number, [`Unpacked`] its parts, and
//! [`round`] makes a number of a result that is not rounded yet. Arithmetic rounds to nearest, ties to even.

mod format;
mod gates;
mod round;

pub use format::{Float, Format, Mode, Unpacked};
pub use round::{Unrounded, round};
