//! Chunks of BLAKE3, as many at a time as are hashed side by side.

use super::{Job, Lanes};
use crate::blake3::{CHUNK, SIDE_BY_SIDE, portable};

pub(crate) struct ChunkValues<'a> {
    pub chunks: &'a [[u8; CHUNK]],
    pub values: &'a mut [[u32; 8]],
}

impl Job for ChunkValues<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, _: N) {
        let (chunks, last) = self.chunks.as_chunks::<SIDE_BY_SIDE>();
        let (values, last_values) = self.values.as_chunks_mut::<SIDE_BY_SIDE>();
        for (i, (chunks, values)) in chunks.iter().zip(values).enumerate() {
            wide.chunk_values(chunks, (i * SIDE_BY_SIDE) as u64, values);
        }
        portable(last, (chunks.len() * SIDE_BY_SIDE) as u64, last_values);
    }
}
