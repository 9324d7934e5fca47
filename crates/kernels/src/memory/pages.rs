//! Large pages for memory that is read at random, or of which there is much.

use std::mem::MaybeUninit;

/// An empty vector with room for so many items, in large pages where the system has them for who asks: a table of
/// megabytes has more small pages than a core can remember the places of.
pub fn with_room<T>(count: usize) -> Vec<T> {
    let mut room = Vec::with_capacity(count);
    ask(room.spare_capacity_mut());
    room
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn ask<T>(memory: &mut [MaybeUninit<T>]) {
    const PAGE: usize = 4096;
    let whole = memory.as_mut_ptr_range();
    let start = whole.start.addr().next_multiple_of(PAGE);
    let len = (whole.end.addr() & !(PAGE - 1)).saturating_sub(start);
    if len >= LARGE {
        // SAFETY: the range lies within memory that we have, and advice changes nothing of what is in it. If it is not
        // taken, nothing is lost.
        unsafe { libc::madvise(whole.start.with_addr(start).cast(), len, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn ask<T>(_: &mut [MaybeUninit<T>]) {}

/// Bytes of a large page on most processors.
#[cfg(target_os = "linux")]
const LARGE: usize = 2 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Block;

    #[test]
    fn there_is_room_and_it_can_be_used() {
        for blocks in [0, 1, 1000, 1 << 17, (1 << 19) + 77] {
            let mut room = with_room(blocks);
            assert!(room.is_empty() && room.capacity() >= blocks);
            let before = room.as_ptr();
            room.resize(blocks, Block::new(7));
            assert!(room.as_ptr() == before && room.iter().all(|&block| block == Block::new(7)));
        }
    }
}
