//! The consistency check of SoftSpoken OT: a universal hash of every plane, with weights that the transcript fixes.
//!
//! The transcript of a batch is a chain of BLAKE3 over its chunks. Each step of it gives a chunk its weights, drawn
//! after everything up to and including the chunk is fixed: whoever wants errors in several chunks to cancel has to
//! hit, with the last of them, a sum that is fixed by then, with a chance of 2⁻¹²⁸ for each trial. (Weights that
//! depended on their own chunk alone could be searched for by lists, one a chunk, with Wagner's algorithm.)
//! The digests of chunks do not depend on each other, so threads make them side by side; only the steps of the chain
//! wait.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use blake3::Hasher;
use kernels::{Backend, Block, blake3::chunk_values, field::Fold, generator::Generator};

use super::{PLANES, STRIDE};
use crate::clock::Instant;
use crate::threads::AWAKE;

/// Bytes of ũ and of the hash of the folds.
pub(super) const MESSAGE: usize = 16 + 32;

/// The values that the transcript fixes for a chunk: a salt for the hash of its COTs, and the seed of its weights.
pub(super) struct ChunkChallenge {
    pub salt: Block,
    seed: Block,
}

impl ChunkChallenge {
    /// Draws a weight for each tile of the chunk.
    pub(super) fn weights(&self, weights: &mut [Block]) {
        Generator::from_seed(self.seed).fill_blocks(weights);
    }
}

/// The transcript of a batch.
pub(super) struct Transcript {
    /// The state of the chain, and the index of the chunk that is next.
    state: Mutex<([u8; 32], usize)>,
    turn: Condvar,
}

/// Stands in place of the next chunk's index: a thread has panicked, and its chunk will never come.
const BROKEN: usize = usize::MAX;

/// Held while a chunk is made: a panic goes on to the threads that wait for its step of the chain, which would wait for
/// ever.
pub(super) struct PanicGuard<'a>(&'a Transcript);

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.state.lock().unwrap_or_else(PoisonError::into_inner).1 = BROKEN;
            self.0.turn.notify_all();
        }
    }
}

impl Transcript {
    /// `opening` is the message before the first chunk: the trees, and the corrections of the tile that masks the
    /// check.
    pub(super) fn new(id: &[u8; 32], k: usize, batch: u64, opening: &[u8]) -> Self {
        let mut hasher = Hasher::new_derive_key("duologue v1 SoftSpoken: batch");
        hasher.update(id).update(&[k as u8]).update(&batch.to_le_bytes()).update(opening);
        Transcript { state: Mutex::new((*hasher.finalize().as_bytes(), 0)), turn: Condvar::new() }
    }

    pub(super) fn guard(&self) -> PanicGuard<'_> {
        PanicGuard(self)
    }

    /// The challenge of chunk `index`; waits until those of all chunks before it were given.
    ///
    /// # Panics
    /// If another thread panicked that held a [`PanicGuard`].
    pub(super) fn challenge(&self, index: usize, chunk: &[u8]) -> ChunkChallenge {
        let digest = digest(chunk);
        let mut state = self.await_turn(index);
        assert!(state.1 == index, "another thread of this batch panicked");
        let mut hasher = Hasher::new_derive_key("duologue v1 SoftSpoken: link");
        let mut output = [0; 64];
        hasher.update(&state.0).update(digest.as_bytes()).finalize_xof().fill(&mut output);
        state.0.copy_from_slice(&output[..32]);
        state.1 += 1;
        self.turn.notify_all();
        let block = |at: usize| Block::from_bytes(output[at..at + 16].try_into().expect("16 bytes"));
        ChunkChallenge { salt: block(32), seed: block(48) }
    }

    /// Waits for the turn of chunk `index`, or until it will never come. The chunk before is mostly all but done: waking a
    /// thread that sleeps takes as long as half a chunk.
    fn await_turn(&self, index: usize) -> MutexGuard<'_, ([u8; 32], usize)> {
        let early = |state: &mut ([u8; 32], usize)| state.1 != index && state.1 != BROKEN;
        let since = Instant::now();
        loop {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if !early(&mut state) {
                return state;
            }
            if since.elapsed() >= AWAKE {
                return self.turn.wait_while(state, early).unwrap_or_else(PoisonError::into_inner);
            }
            drop(state);
            thread::yield_now();
        }
    }

    /// The hash of the transcript and the folded planes, which the receiver sends.
    pub(super) fn hash(&self, planes: &[Block]) -> blake3::Hash {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut hasher = Hasher::new_derive_key("duologue v1 SoftSpoken: check");
        hasher.update(&state.0).update(bytemuck::cast_slice(planes)).finalize()
    }
}

/// BLAKE3 of a chunk in two levels: of the length, the chaining values of its whole kilobytes, and the rest.
fn digest(chunk: &[u8]) -> blake3::Hash {
    let (whole, rest) = chunk.split_at(chunk.len() / kernels::blake3::CHUNK * kernels::blake3::CHUNK);
    let mut hasher = Hasher::new_derive_key("duologue v1 SoftSpoken: chunk");
    hasher.update(&(chunk.len() as u64).to_le_bytes());
    hasher.update(chunk_values(whole).as_flattened()).update(rest).finalize()
}

/// The weighted sum of each plane.
pub(super) struct Folds(Vec<Fold>);

impl Folds {
    pub(super) fn new(backend: Backend) -> Self {
        Folds((0..PLANES).map(|_| Fold::with_backend(backend)).collect())
    }

    /// Adds a chunk, or with no weights one tile of weight 1.
    pub(super) fn add(&mut self, rows: &[Block], weights: &[Block]) {
        for (fold, row) in self.0.iter_mut().zip(rows.chunks(STRIDE)) {
            match weights {
                [] => fold.add_plain(&row[..1]),
                _ => fold.add(weights, &row[..weights.len()]),
            }
        }
    }

    pub(super) fn merge(&mut self, other: &Folds) {
        self.0.iter_mut().zip(&other.0).for_each(|(sum, other)| sum.merge(other));
    }

    pub(super) fn finish(&self) -> Vec<Block> {
        self.0.iter().map(Fold::finish).collect()
    }
}
