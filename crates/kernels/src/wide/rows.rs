//! Sums of rows.

use super::{Job, Lanes, store};
use crate::Block;

/// See [`crate::rows::Rows::xor`].
pub(crate) struct XorRows<'a> {
    pub blocks: &'a mut [Block],
    pub len: usize,
    pub rows: &'a [[u32; 3]],
}

impl Job for XorRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, narrow: N) {
        let XorRows { blocks, len, rows } = self;
        let whole = len / W::LANES * W::LANES;
        for row in rows {
            let [to, a, b] = row.map(|row| row as usize * len);
            for at in (0..whole).step_by(W::LANES) {
                let sum = wide.xor(wide.load(&blocks[a + at..]), wide.load(&blocks[b + at..]));
                store(wide, sum, &mut blocks[to + at..]);
            }
            for at in whole..len {
                let sum = narrow.xor(narrow.load(&blocks[a + at..]), narrow.load(&blocks[b + at..]));
                store(narrow, sum, &mut blocks[to + at..]);
            }
        }
    }
}
