//! Chunks of BLAKE3, as many at a time as are hashed side by side.

use crate::backend::blake3::{CHUNK, SIDE_BY_SIDE};
use crate::backend::lanes::{Kernel, Lanes};

pub(crate) struct ChunkValues<'a> {
    pub chunks: &'a [[u8; CHUNK]],
    pub values: &'a mut [[u32; 8]],
}

impl Kernel for ChunkValues<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, _: N) {
        let steps = self.chunks.chunks(SIDE_BY_SIDE).zip(self.values.chunks_mut(SIDE_BY_SIDE));
        for (i, (chunks, values)) in steps.enumerate() {
            wide.chunk_values(chunks, (i * SIDE_BY_SIDE) as u64, values);
        }
    }
}
