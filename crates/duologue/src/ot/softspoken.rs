//! SoftSpoken OT extension: from 128 base OTs to any number of correlated OTs, secure against malicious parties.
//!
//! Roy: *SoftSpokenOT* (CRYPTO 2022, ePrint 2022/192), with the subspace VOLE of the repetition code over GF(2^k), in Δ
//! read bit by bit. The 128 *planes*, one for each bit of Δ, are cut into groups of k (the last has what is left).
//! The k base OTs of a group become a tree (`pprf`) of 2^k leaves, of which the receiver has all keys and the
//! sender all but the one that its k bits of Δ name. A leaf's stream r_x, AES in counter mode, has a bit for each COT:
//!
//! ```text
//! Sender                                         Receiver
//! q_j = ⊕ r_(y ⊕ Δ) over y with bit j            v_j = ⊕ r_x over x with bit j,   u = ⊕ r_x over all x
//!                                                b   = u of group 0: the choices
//!                               ◀── c ──         c   = u ⊕ b for every other group
//! q_j ⊕= Δ_j·c
//! ```
//!
//! so q_j = v_j ⊕ Δ_j·b: q_j takes r_x with x_j ≠ Δ_j, which is v_j or, for Δ_j = 1, v_j ⊕ u. Column i of the planes is
//! COT i. Δ_0 is 1, so plane 0 carries nothing but the choices: it is replaced by b in t and by 0 in q. With k = 1 this
//! is the extension of Ishai, Kilian, Nissim, Petrank (CRYPTO 2003), with the check of Keller, Orsini, Scholl (CRYPTO
//! 2015).
//!
//! **The check** (`check`). Every plane is folded in GF(2¹²⁸), with weights from the transcript: the receiver sends ũ,
//! the fold of b, and a hash of the folds of all its planes; the sender has the folds of its own, and Δ_j·ũ must
//! be the difference. One tile of 128 COTs more is made for it at the beginning of every batch, and
//! thrown away: its weight 1 hides what the fold would tell of b.
//!
//! **Assumes** AES-128 as a generator, BLAKE3 as a random oracle. **Security**: malicious parties. A receiver that
//! corrects groups with different b fails the check, but for each group that it cheats in it passes if it has guessed
//! the k bits of Δ: what it learns about Δ costs it that chance of ending the session. The folds of two
//! different errors are equal with a chance of 2⁻¹²⁸ for each trial of the hash, in at most 2¹³ pairs of groups (of
//! 128; 2⁹ of 32, 2⁷ of 16). A sender learns nothing from what it does: it sends nothing. The proof that it has the keys
//! of its base OTs is asked for by whoever uses the COTs ([`Maker`](crate::correlation::Maker)).
//!
//! **Cost** of a COT: 128/k − 1 bits from receiver to sender (127, 63, 31, 15 for k = 1, 2, 4, 8), 2^k·128/(k·128)
//! blocks of AES (2, 2, 4, 32). A batch costs one tile and 48 bytes more, the first batch 4,128 bytes for the trees
//! if k > 1.
//!
//! **Layout** of the message of a batch, all planes with one bit a COT, bit i in byte ⌊i/8⌋, least significant first:
//!
//! ```text
//! first batch: the trees │ masking tile │ chunk 0 │ chunk 1 │ … │ ũ (16 bytes) │ hash (32 bytes)
//! ```
//!
//! The masking tile and each chunk are the corrections c of group 1, of group 2, and so on. A chunk has 128 × 128 COTs,
//! the last one what is left, rounded up to a multiple of 128; the surplus is dropped. The streams run on from batch to
//! batch and are never read twice.

mod check;
mod lengths;
mod planes;
mod pprf;

use kernels::{Backend, Block, planes::Leaves};
use std::collections::VecDeque;
use zeroize::Zeroize;

use self::check::{ChunkChallenge, Folds, Transcript};
use self::lengths::{Shape, batch};
use self::planes::Scratch;
use super::{CotBatch, CotMaker, CotReceiver, CotSender, ReceiverSeeds, SenderSeeds, base_setup::COUNT, check_length};
use crate::threads::Threads;
use crate::{Error, Result};
#[doc(hidden)]
pub use lengths::SoftSpokenLengths;

/// Planes, one for each bit of Δ.
const PLANES: usize = COUNT;
/// COTs that one transposition of 128 × 128 bits makes.
const TILE: usize = 128;
/// Tiles to a chunk: planes of 2 kB each, 256 kB in all, which stay in the second-level cache.
const CHUNK: usize = 128;
/// Blocks from one plane to the next: a chunk and one cache line, so that the blocks of a tile do not compete for a few
/// sets of the cache.
const STRIDE: usize = CHUNK + 4;

/// The sender of SoftSpoken OT, which holds Δ.
#[doc(hidden)]
pub struct Sender {
    shape: Shape,
    seeds: SenderSeeds,
    /// The keys of the trees' leaves; empty before the first batch.
    trees: Vec<Leaves>,
    common: Common,
    #[cfg(test)]
    pub(super) unchecked: bool,
}

/// The receiver of SoftSpoken OT, which holds the choice bits.
#[doc(hidden)]
pub struct Receiver {
    shape: Shape,
    seeds: ReceiverSeeds,
    /// The keys of the trees' leaves; empty before the first batch.
    trees: Vec<Leaves>,
    common: Common,
    /// Groups, and the error that is added to the corrections of each in every first tile.
    #[cfg(test)]
    pub(super) cheat: Vec<(usize, Block)>,
}

impl Sender {
    /// A maker on these seeds, with trees of 2^k leaves; `threads` share the work.
    ///
    /// # Panics
    /// If k is not from 1 to 8, as the peer's is.
    pub(crate) fn new(seeds: SenderSeeds, k: u8, threads: &Threads) -> Self {
        Self::with_backend(seeds, k, threads, Backend::detect())
    }

    fn with_backend(seeds: SenderSeeds, k: u8, threads: &Threads, backend: Backend) -> Self {
        Sender {
            shape: Shape::new(k),
            seeds,
            trees: Vec::new(),
            common: Common::new(threads, backend),
            #[cfg(test)]
            unchecked: false,
        }
    }
}

impl Receiver {
    /// A maker on these seeds, with trees of 2^k leaves; `threads` share the work.
    ///
    /// # Panics
    /// If k is not from 1 to 8, as the peer's is.
    pub(crate) fn new(seeds: ReceiverSeeds, k: u8, threads: &Threads) -> Self {
        Self::with_backend(seeds, k, threads, Backend::detect())
    }

    fn with_backend(seeds: ReceiverSeeds, k: u8, threads: &Threads, backend: Backend) -> Self {
        Receiver {
            shape: Shape::new(k),
            seeds,
            trees: Vec::new(),
            common: Common::new(threads, backend),
            #[cfg(test)]
            cheat: Vec::new(),
        }
    }
}

impl CotMaker for Receiver {
    fn batch(&self, wanted: u64) -> usize {
        batch(wanted)
    }

    fn ready(&self) -> bool {
        self.common.begun.is_none()
    }

    fn begin(&mut self, batch: CotBatch) -> Result<()> {
        self.common.begin(batch)
    }

    fn send(&mut self, outbox: &mut Vec<u8>) -> Result<()> {
        let Some(mut batch) = self.common.begun.take() else {
            self.common.under_way.push_back(None);
            return Ok(());
        };
        let opening = outbox.len();
        if self.trees.is_empty() {
            let trees = pprf::full_trees(&self.seeds.id, self.shape, &self.seeds.pairs, outbox);
            self.trees = trees.iter().map(|keys| Leaves::with_backend(keys, self.common.backend)).collect();
            self.seeds.pairs.zeroize();
        }
        // Whoever catches a panic must not read the streams again.
        self.common.dead = true;
        self.extend(&mut batch, outbox, opening);
        self.common.dead = false;
        self.common.under_way.push_back(Some(batch));
        Ok(())
    }

    fn expect(&self) -> usize {
        0
    }

    fn receive(&mut self, inbox: &[u8]) -> Result<Option<CotBatch>> {
        check_length("COT", inbox, 0)?;
        Ok(self.common.under_way.pop_front().flatten())
    }

    fn idle(&self) -> bool {
        self.common.idle()
    }

    fn one_way(&self) -> bool {
        true
    }
}

impl CotReceiver for Receiver {}

impl CotSender for Sender {
    fn delta(&self) -> Block {
        self.seeds.delta
    }
}

impl CotMaker for Sender {
    fn batch(&self, wanted: u64) -> usize {
        batch(wanted)
    }

    fn ready(&self) -> bool {
        self.common.begun.is_none()
    }

    fn begin(&mut self, batch: CotBatch) -> Result<()> {
        self.common.begin(batch)
    }

    fn send(&mut self, _: &mut Vec<u8>) -> Result<()> {
        let begun = self.common.begun.take();
        self.common.under_way.push_back(begun);
        Ok(())
    }

    fn expect(&self) -> usize {
        self.common.under_way.back().map_or(0, |batch| self.message_of(batch, self.common.under_way.len() - 1))
    }

    fn receive(&mut self, inbox: &[u8]) -> Result<Option<CotBatch>> {
        let Some(next) = self.common.under_way.front() else {
            return check_length("COT", inbox, 0).map(|()| None);
        };
        check_length("COT", inbox, self.message_of(next, 0))?;
        let Some(mut batch) = self.common.under_way.pop_front().flatten() else { return Ok(None) };
        self.common.dead = true;
        let settled = self.settle(&mut batch, inbox);
        match settled {
            Ok(()) => self.common.dead = false,
            Err(_) => self.destroy(),
        }
        settled.map(|()| Some(batch))
    }

    fn idle(&self) -> bool {
        self.common.idle()
    }

    fn one_way(&self) -> bool {
        true
    }
}

impl Sender {
    /// Bytes of the message of the exchange under way with this number, which makes this batch or none.
    fn message_of(&self, batch: &Option<CotBatch>, number: usize) -> usize {
        let first = self.trees.is_empty() && self.common.under_way.iter().take(number).all(Option::is_none);
        batch.as_ref().map_or(0, |batch| self.shape.message_len(batch.len(), first))
    }

    fn settle(&mut self, batch: &mut CotBatch, inbox: &[u8]) -> Result<()> {
        let mut opening = 0;
        if self.trees.is_empty() {
            opening = pprf::message_len(self.shape);
            let SenderSeeds { id, delta, keys } = &mut self.seeds;
            let trees = pprf::punctured_trees(id, self.shape, *delta, keys, &inbox[..opening])?;
            self.trees = trees.iter().map(|keys| Leaves::with_backend(keys, self.common.backend)).collect();
            keys.zeroize();
        }
        self.extend(batch, inbox, opening)
    }

    /// Erases Δ and the seeds: a peer that may try again learns Δ bit by bit.
    fn destroy(&mut self) {
        self.seeds.delta.zeroize();
        self.seeds.keys.zeroize();
        self.trees.clear();
        self.common.under_way.clear();
        self.common.dead = true;
    }
}

impl Receiver {
    /// Makes a batch of COTs, and its message, which begins at `opening` of the outbox.
    fn extend(&mut self, batch: &mut CotBatch, outbox: &mut Vec<u8>, opening: usize) {
        let (trees, corrections) = (&self.trees, self.shape.corrections());
        let expand = |scratch: &mut Scratch, first, tiles, c: &mut [u8]| {
            scratch.expand_all(trees, first, tiles, c);
            #[cfg(test)]
            for (group, error) in &self.cheat {
                let at = (group - 1) * tiles * 16;
                c[at..at + 16].iter_mut().zip(error.to_bytes()).for_each(|(c, error)| *c ^= error);
            }
        };
        let Common { threads, workers, position, batches, .. } = &mut self.common;
        let mask = outbox.len();
        let tiles = batch.len().div_ceil(TILE);
        outbox.resize(mask + (1 + tiles) * corrections, 0);
        let (before, chunks) = outbox.split_at_mut(mask + corrections);
        expand(&mut workers[0].scratch, *position, 1, &mut before[mask..]);
        workers[0].open();
        let transcript = Transcript::new(&self.seeds.id, self.shape.k, *batches, &before[opening..]);
        let jobs = batch.slices(CHUNK * TILE).into_iter().zip(chunks.chunks_mut(CHUNK * corrections));
        let first = *position + 1;
        threads.share(workers, jobs.enumerate(), |worker, (index, (slice, c))| {
            let _guard = transcript.guard();
            let tiles = slice.len().div_ceil(TILE);
            expand(&mut worker.scratch, first + (index * CHUNK) as u64, tiles, c);
            let challenge = worker.check(&transcript, index, tiles, c);
            worker.scratch.columns(slice, |slice, t| slice.fill_receiver(challenge.salt, t));
        });
        *position += 1 + tiles as u64;
        *batches += 1;
        let planes = self.common.folds();
        // Plane 0 is b, and its fold ũ.
        outbox.extend_from_slice(&planes[0].to_bytes());
        outbox.extend_from_slice(transcript.hash(&planes).as_bytes());
    }
}

impl Sender {
    /// Makes a batch of COTs from the receiver's message, which continues at `opening` of the inbox.
    fn extend(&mut self, batch: &mut CotBatch, inbox: &[u8], opening: usize) -> Result<()> {
        let (shape, trees, delta) = (self.shape, &self.trees, self.seeds.delta);
        let corrections = shape.corrections();
        let Common { threads, workers, position, batches, .. } = &mut self.common;
        let tiles = batch.len().div_ceil(TILE);
        let (before, rest) = inbox.split_at(opening + corrections);
        let (chunks, sealed) = rest.split_at(tiles * corrections);
        workers[0].scratch.expand_punctured(shape, trees, delta, *position, 1, &before[opening..]);
        workers[0].open();
        let transcript = Transcript::new(&self.seeds.id, shape.k, *batches, before);
        let jobs = batch.slices(CHUNK * TILE).into_iter().zip(chunks.chunks(CHUNK * corrections));
        let first = *position + 1;
        threads.share(workers, jobs.enumerate(), |worker, (index, (slice, c))| {
            let _guard = transcript.guard();
            let (first, tiles) = (first + (index * CHUNK) as u64, slice.len().div_ceil(TILE));
            worker.scratch.expand_punctured(shape, trees, delta, first, tiles, c);
            let challenge = worker.check(&transcript, index, tiles, c);
            worker.scratch.columns(slice, |slice, q| slice.fill_sender(challenge.salt, delta, q));
        });
        *position += 1 + tiles as u64;
        *batches += 1;
        let mut planes = self.common.folds();
        let (u, seal) = sealed.split_first_chunk().expect("the length was checked");
        for (i, plane) in planes.iter_mut().enumerate() {
            *plane ^= Block::from_bytes(*u) & Block::mask(delta.get() >> i & 1 == 1);
        }
        let passed = transcript.hash(&planes) == *seal;
        planes.zeroize();
        #[cfg(test)]
        let passed = passed || self.unchecked;
        if !passed {
            return Err(Error::peer("its OT extension failed the consistency check"));
        }
        Ok(())
    }
}

/// The state that both sides have.
struct Common {
    backend: Backend,
    threads: Threads,
    /// One for each thread.
    workers: Vec<Worker>,
    /// The batch of the next exchange.
    begun: Option<CotBatch>,
    /// Of each exchange that was sent and not received, the batch that it makes, if any. A receiver's is made already, a
    /// sender's has its memory.
    under_way: VecDeque<Option<CotBatch>>,
    /// The number of blocks of each stream that are used up.
    position: u64,
    batches: u64,
    /// Whether a check has failed.
    dead: bool,
}

impl Common {
    fn new(threads: &Threads, backend: Backend) -> Self {
        let workers = (0..threads.count()).map(|_| Worker::new(backend)).collect();
        let threads = threads.clone();
        let (begun, under_way) = (None, VecDeque::new());
        Common { backend, threads, workers, begun, under_way, position: 0, batches: 0, dead: false }
    }

    fn begin(&mut self, batch: CotBatch) -> Result<()> {
        if self.dead {
            return Err(Error::Dead("an OT extension failed its check".into()));
        }
        if self.begun.is_some() {
            return Err(Error::usage("a batch of correlated OTs is under way"));
        }
        self.begun = Some(batch);
        Ok(())
    }

    fn idle(&self) -> bool {
        self.begun.is_none() && self.under_way.iter().all(Option::is_none)
    }

    /// Returns the folds of a batch, and begins those of the next one at zero.
    fn folds(&mut self) -> Vec<Block> {
        let mut all = Folds::new(self.backend);
        for worker in &mut self.workers {
            all.merge(&worker.folds);
            worker.folds = Folds::new(self.backend);
        }
        all.finish()
    }
}

/// The memory of a thread.
struct Worker {
    scratch: Scratch,
    folds: Folds,
}

impl Worker {
    fn new(backend: Backend) -> Self {
        Worker { scratch: Scratch::new(), folds: Folds::new(backend) }
    }

    /// Folds the masking tile, with weight 1.
    fn open(&mut self) {
        self.folds.add(&self.scratch.rows, &[]);
    }

    /// Draws the challenge of a chunk whose corrections are c, and folds its planes.
    fn check(&mut self, transcript: &Transcript, index: usize, tiles: usize, c: &[u8]) -> ChunkChallenge {
        let challenge = transcript.challenge(index, c);
        let mut weights = [Block::ZERO; CHUNK];
        challenge.weights(&mut weights[..tiles]);
        self.folds.add(&self.scratch.rows, &weights[..tiles]);
        challenge
    }
}

#[cfg(test)]
mod tests;
