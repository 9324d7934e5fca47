//! Floating point: exponentials, logarithms, powers.

use super::Block;

pub(super) fn blocks() -> Vec<Block> {
    Vec::new()
}
