//! Counts the AES blocks that this thread computes, so that a test can prove where none is computed:
//! the online phase of GMW, for one. Key schedules are not counted; one addition for each wide call.

use std::cell::Cell;

thread_local! {
    static AES_BLOCKS: Cell<u64> = const { Cell::new(0) };
}

/// AES blocks computed by this crate in the current thread since it started.
pub fn aes_blocks() -> u64 {
    AES_BLOCKS.get()
}

pub(crate) fn count(blocks: usize) {
    AES_BLOCKS.set(AES_BLOCKS.get() + blocks as u64);
}
