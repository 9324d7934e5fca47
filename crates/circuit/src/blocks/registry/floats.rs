//! Floating point: arithmetic, comparisons and conversions.

use super::Block;

pub(super) fn blocks() -> Vec<Block> {
    Vec::new()
}
