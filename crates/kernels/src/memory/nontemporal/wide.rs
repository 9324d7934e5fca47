//! Blocks that go to memory for later.

use crate::Block;
use crate::backend::lanes::{Kernel, Lanes};

/// Copies to places that are not read soon.
pub(crate) struct StoreNontemporal<'a> {
    pub from: &'a [Block],
    pub to: &'a mut [Block],
}

/// Blocks of a cache line.
const LINE: usize = 4;

impl Kernel for StoreNontemporal<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, _: N) {
        if W::LANES < LINE {
            return self.to.copy_from_slice(self.from);
        }
        let head = self.to.as_ptr().align_offset(16 * LINE).min(self.to.len());
        let ((from_head, from), (to_head, to)) = (self.from.split_at(head), self.to.split_at_mut(head));
        let ((from, from_tail), (to, to_tail)) = (from.as_chunks::<LINE>(), to.as_chunks_mut::<LINE>());
        to_head.copy_from_slice(from_head);
        for (from, to) in from.iter().zip(to) {
            wide.store_nontemporal(wide.load(from), to);
        }
        to_tail.copy_from_slice(from_tail);
        wide.store_fence();
    }
}
