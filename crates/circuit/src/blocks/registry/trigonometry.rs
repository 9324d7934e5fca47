//! Sines and their kin, of floats and of integers.

use super::Block;

pub(super) fn blocks() -> Vec<Block> {
    Vec::new()
}
