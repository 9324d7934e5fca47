//! The Euclidean distance between points of unsigned coordinates: the root of the sum of squares (Appendix B of the
//! paper stops at the square).

use super::distance::squared_distance;
use super::divide::square_root;
use crate::blocks::Goal;
use crate::builder::Builder;
use crate::words::UInt;

/// The square root of the sum of (pᵢ − qᵢ)² over the dimensions, rounded down: in n + ⌈½ log k⌉ bits for k dimensions,
/// half as many as the sum, so it cannot overflow.
///
/// The cost of [`squared_distance`] and of [`square_root`] of it; where order is all that matters, the square will do.
///
/// # Panics
/// If the points have no or not as many dimensions, or the widths differ.
pub fn euclidean_distance(c: &mut Builder, p: &[UInt], q: &[UInt], goal: Goal) -> UInt {
    let squared = squared_distance(c, p, q, goal);
    square_root(c, &squared, goal).0
}
