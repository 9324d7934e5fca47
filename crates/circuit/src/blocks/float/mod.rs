//! Floating point of any exponent and fraction width.
//!
//! [`Format`] says how wide, [`Mode`] what denormals and NaN are; [`Float`] is a number, [`Unpacked`] its parts, and
//! [`round`] makes a number of a result that is not rounded yet. Arithmetic rounds to nearest, ties to even.

mod add;
mod format;
mod gates;
mod multiply;
mod product;
mod reduce;
mod round;
mod trigonometry;

pub use add::{add, subtract};
pub use format::{Float, Format, Mode, Unpacked};
pub use multiply::{multiply, square};
pub use round::{Unrounded, round};
pub use trigonometry::{cos, cos_pi, sin, sin_pi, tan, tan_pi};
