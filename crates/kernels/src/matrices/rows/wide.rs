//! Sums of rows.

use crate::backend::lanes::{Kernel, Lanes, store};
use crate::matrices::rows::BlockRows;
use std::slice;

/// See [`crate::matrices::rows::Rows::xor`].
pub(crate) struct XorRows<'a> {
    pub matrix: BlockRows<'a>,
    pub rows: &'a [[u32; 3]],
}

/// Blocks that are looked up at once: rows are short, and to check each block's place takes as long as to add it.
const FOUR: usize = 4;

/// Fours that are added without a loop, a row of 64 lanes: with one, the loop takes longer than loads and stores.
const SIXTEEN: usize = 16;

impl Kernel for XorRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, narrow: N) {
        let (BlockRows { blocks, len }, rows) = (self.matrix, self.rows);
        if len.is_multiple_of(FOUR * SIXTEEN) {
            each::<_, SIXTEEN>(rows, len / FOUR, blocks.as_chunks_mut().0, |a, b, to| wide.xor_four(a, b, to));
        } else if len.is_multiple_of(FOUR) {
            each::<_, 1>(rows, len / FOUR, blocks.as_chunks_mut().0, |a, b, to| wide.xor_four(a, b, to));
        } else {
            each::<_, 1>(rows, len, blocks, |a, b, to| {
                let sum = narrow.xor(narrow.load(slice::from_ref(a)), narrow.load(slice::from_ref(b)));
                store(narrow, sum, slice::from_mut(to));
            });
        }
    }
}

/// Adds items of rows, which are `len` items long, `AT_ONCE` at once.
#[inline(always)]
fn each<T: Copy, const AT_ONCE: usize>(rows: &[[u32; 3]], len: usize, all: &mut [T], sum: impl Fn(&T, &T, &mut T)) {
    let (all, len) = (all.as_chunks_mut::<AT_ONCE>().0, len / AT_ONCE);
    for row in rows {
        let [to, a, b] = row.map(|row| row as usize * len);
        for at in 0..len {
            for i in 0..AT_ONCE {
                let (x, y) = (all[a + at][i], all[b + at][i]);
                sum(&x, &y, &mut all[to + at][i]);
            }
        }
    }
}
