//! Silent OT: millions of correlated OTs from a few, with a fraction of a bit of traffic each.
//!
//! Yang, Weng, Lan, Zhang, Wang: *Ferret* (CCS 2020, ePrint 2020/924), with the half-tree of Guo et al. (EUROCRYPT
//! 2023, ePrint 2022/1431). A round takes M = k + t·depth + 128 COTs and makes N = t·2^depth. Each of t trees gives a
//! vector that is the same for both parties but at one position, which only the receiver knows: there they differ by
//! Δ, a COT of choice 1 among those of choice 0 (`tree.rs`). Added to these N is the code's image of k COTs: under
//! learning parity with noise the choices are then random (`code.rs`). The last trees of a round are the base of the
//! next.
//!
//! A *dual* round has no code of k COTs: its outputs are half as many sums of the N, the syndrome of the noise under a
//! public code (`syndrome.rs`, `docs/ot/silent.md`). It takes M = t·depth + 128 COTs; all else is the same.
//!
//! ```text
//! exchange   Sender                                    Receiver
//! e          corrections, a block a level        ──▶
//! e + 1                                          ◀──   x': 16 bytes
//! e + 2      hash of V: 32 bytes                 ──▶   equal to that of W, else the end         (`check.rs`)
//! ```
//!
//! The next round's corrections may go at e + 1. That is safe: the receiver's choices come from those of the base and
//! from nothing that the sender sends, so x', masked by 128 of them, tells nothing even if the base's own check is yet
//! to fail; and the receiver says nothing else.
//!
//! The first base comes from another maker of COTs, in exchanges before those of the first round; the larger [`Set`]s
//! have a round of the smallest between. With [`Set::BY_DEMAND`] a first batch of few COTs is a batch of the other
//! maker, under the same Δ and that maker's own check, and no round is run; its COTs are never the base of one.
//!
//! **Assumes** learning parity with regular noise and a local code, or its dual form with a code of our own,
//! whose distance nobody has proven and which nobody has reviewed (`docs/ot/lpn.md`), with the leakage that Ferret's proof
//! allows: a sender who deviates may guess at noise positions and is caught unless it guesses right. AES with a
//! fixed key as a random permutation, BLAKE3 as a random oracle. **Security**: malicious parties, if the other maker
//! is.
//! **Departs** from the paper: weights come from the transcript, the code has fresh rows every round, batches are
//! pipelined.

mod check;
mod code;
mod lengths;
mod round;
mod sets;
mod syndrome;
mod tree;

use kernels::{Block, field, generator::Generator, pages};
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use self::check::Transcript;
use self::code::Code;
use self::round::{Memory, RoundContext};
use self::sets::{Round, Schedule};
use super::{CotBatch, CotMaker, CotOutput, CotReceiver, CotSender, Side, check_length};
use crate::threads::Threads;
use crate::{Error, Result};
#[doc(hidden)]
pub use lengths::SilentLengths;
pub use sets::Set;
pub(crate) use sets::why_gone;

/// Bytes of x'.
const MASKED: usize = 16;
/// Bytes of the hash of V.
const HASH: usize = 32;

/// The sender of silent OT, which holds Δ.
#[doc(hidden)]
pub struct Sender {
    core: Core<SenderRound>,
    delta: Block,
    rng: Generator,
}

/// The receiver of silent OT, which holds the choice bits.
#[doc(hidden)]
pub struct Receiver {
    core: Core<ReceiverRound>,
    /// The twin that lacks the check, for a test.
    #[cfg(test)]
    unchecked: bool,
}

/// A sender's round whose corrections are sent.
struct SenderRound {
    batch: Option<CotBatch>,
    transcript: Transcript,
    /// V without x'·Δ; V once x' has come.
    sum: Block,
}

/// A receiver's round that is begun.
struct ReceiverRound {
    round: Round,
    number: u64,
    batch: Option<CotBatch>,
    /// The message x'.
    masked: Block,
    /// The hash of W.
    hash: [u8; HASH],
}

impl Sender {
    /// A maker whose first COTs come from `inner`. `id` is fresh for every session and direction and equal for both
    /// sides; `rng` draws our secrets; `threads` share the work.
    pub(super) fn new(id: [u8; 32], inner: Box<dyn CotSender>, set: Set, rng: Generator, threads: &Threads) -> Self {
        Self::scheduled(id, inner, set.schedule(), rng, threads)
    }

    fn scheduled(
        id: [u8; 32],
        inner: Box<dyn CotSender>,
        schedule: Schedule,
        rng: Generator,
        threads: &Threads,
    ) -> Self {
        let delta = inner.delta();
        Sender { core: Core::new(id, Side::Sender, inner, schedule, threads), delta, rng }
    }

    /// Opens a round: appends its corrections.
    fn open(&mut self, round: Round, batch: Option<CotBatch>, outbox: &mut Vec<u8>) -> SenderRound {
        let (number, transcript) = self.core.number();
        let mut roots = vec![Block::ZERO; round.trees];
        self.rng.fill_blocks(&mut roots);
        let from = outbox.len();
        outbox.resize(from + round.message(), 0);
        let mut sent = SenderRound { batch, transcript, sum: Block::ZERO };
        sent.sum = self.core.run(round, number, &sent.transcript, |context, memory| {
            round::send(context, self.delta, &roots, memory, sent.batch.as_mut(), &mut outbox[from..])
        });
        roots.zeroize();
        sent
    }

    fn read(&mut self, inbox: &[u8]) -> Result<Option<CotBatch>> {
        if self.core.seeding()? {
            return self.core.seed(inbox);
        }
        check_length("silent OT", inbox, self.expect())?;
        if let Some(sent) = &mut self.core.stages[1] {
            let masked = Block::from_bytes(inbox.try_into().expect("the length was checked"));
            sent.sum ^= field::mul(masked, self.delta);
        }
        Ok(self.core.stages[2].take().and_then(|mut sent| sent.batch.take()))
    }
}

impl CotMaker for Sender {
    fn batch(&self, wanted: u64) -> usize {
        self.core.batch(wanted)
    }

    fn ready(&self) -> bool {
        self.core.ready()
    }

    fn begin(&mut self, batch: CotBatch) -> Result<()> {
        self.core.begin(batch)
    }

    fn send(&mut self, outbox: &mut Vec<u8>) -> Result<()> {
        if self.core.seeding()? {
            return self.core.ask(outbox);
        }
        let opened = self.core.turn();
        if let Some(sent) = &self.core.stages[2] {
            outbox.extend_from_slice(&sent.transcript.hash(sent.sum));
        }
        self.core.stages[0] = opened.map(|(round, batch)| self.open(round, batch, outbox));
        Ok(())
    }

    fn expect(&self) -> usize {
        match &self.core.seeds {
            Some(seeds) => seeds.inner.expect(),
            None => self.core.stages[1].as_ref().map_or(0, |_| MASKED),
        }
    }

    fn receive(&mut self, inbox: &[u8]) -> Result<Option<CotBatch>> {
        let settled = self.read(inbox);
        self.core.end_if_failed(settled)
    }

    fn idle(&self) -> bool {
        self.core.idle()
    }
}

impl CotSender for Sender {
    fn delta(&self) -> Block {
        self.delta
    }
}

impl Receiver {
    /// A maker whose first COTs come from `inner`. `id` is fresh for every session and direction and equal for both
    /// sides; `threads` share the work.
    pub(super) fn new(id: [u8; 32], inner: Box<dyn CotReceiver>, set: Set, threads: &Threads) -> Self {
        Self::scheduled(id, inner, set.schedule(), threads)
    }

    fn scheduled(id: [u8; 32], inner: Box<dyn CotReceiver>, schedule: Schedule, threads: &Threads) -> Self {
        Receiver {
            core: Core::new(id, Side::Receiver, inner, schedule, threads),
            #[cfg(test)]
            unchecked: false,
        }
    }

    /// Reads the corrections of the round that was begun.
    fn open(&mut self, corrections: &[u8]) {
        let Some(mut received) = self.core.stages[0].take() else { return };
        let transcript = Transcript::new(&self.core.id, received.number);
        let [masked, sum] = self.core.run(received.round, received.number, &transcript, |context, memory| {
            round::receive(context, memory, received.batch.as_mut(), corrections)
        });
        received.masked = masked;
        received.hash = transcript.hash(sum);
        self.core.stages[0] = Some(received);
    }

    fn read(&mut self, inbox: &[u8]) -> Result<Option<CotBatch>> {
        if self.core.seeding()? {
            return self.core.seed(inbox);
        }
        check_length("silent OT", inbox, self.expect())?;
        let settled = self.core.stages[2].take();
        let (hash, corrections) = inbox.split_at(settled.as_ref().map_or(0, |_| HASH));
        let fails = settled.as_ref().is_some_and(|received| !bool::from(received.hash.ct_eq(hash)));
        #[cfg(test)]
        let fails = fails && !self.unchecked;
        if fails {
            return Err(Error::peer(
                "its trees of silent OT are not those of any sender: the consistency check failed",
            ));
        }
        self.open(corrections);
        Ok(settled.and_then(|mut received| received.batch.take()))
    }
}

impl CotMaker for Receiver {
    fn batch(&self, wanted: u64) -> usize {
        self.core.batch(wanted)
    }

    fn ready(&self) -> bool {
        self.core.ready()
    }

    fn begin(&mut self, batch: CotBatch) -> Result<()> {
        self.core.begin(batch)
    }

    fn send(&mut self, outbox: &mut Vec<u8>) -> Result<()> {
        if self.core.seeding()? {
            return self.core.ask(outbox);
        }
        let opened = self.core.turn();
        if let Some(received) = &self.core.stages[1] {
            outbox.extend_from_slice(&received.masked.to_bytes());
        }
        self.core.stages[0] = opened.map(|(round, batch)| {
            let (number, _) = self.core.number();
            ReceiverRound { round, number, batch, masked: Block::ZERO, hash: [0; HASH] }
        });
        Ok(())
    }

    fn expect(&self) -> usize {
        match &self.core.seeds {
            Some(seeds) => seeds.inner.expect(),
            None => {
                let hash = self.core.stages[2].as_ref().map_or(0, |_| HASH);
                hash + self.core.stages[0].as_ref().map_or(0, |received| received.round.message())
            }
        }
    }

    fn receive(&mut self, inbox: &[u8]) -> Result<Option<CotBatch>> {
        let settled = self.read(inbox);
        self.core.end_if_failed(settled)
    }

    fn idle(&self) -> bool {
        self.core.idle()
    }
}

impl CotReceiver for Receiver {}

/// The state that both sides have, with a round S in each stage.
struct Core<S> {
    id: [u8; 32],
    side: Side,
    schedule: Schedule,
    threads: Threads,
    code: Code,
    /// The other maker, until the first base is complete.
    seeds: Option<Seeds>,
    base: Vec<Block>,
    /// Memory for the next base.
    spare: Vec<Block>,
    /// Memory for all leaves of a dual round.
    leaves: Vec<Block>,
    /// Whether a batch was begun.
    begun: bool,
    /// The number of rounds opened.
    rounds: u64,
    /// The batch that was begun and whose round is not opened.
    waiting: Option<(Round, CotBatch)>,
    /// The rounds that exchange their corrections, their x' and their hash in the exchange under way.
    stages: [Option<S>; 3],
    dead: bool,
}

/// The other maker, whose COTs form the first base.
struct Seeds {
    inner: Box<dyn CotMaker>,
    asked: usize,
}

impl<S> Core<S> {
    fn new(id: [u8; 32], side: Side, inner: Box<dyn CotMaker>, schedule: Schedule, threads: &Threads) -> Self {
        let threads = threads.clone();
        let (code, seeds) = (Code::new(&id), Some(Seeds { inner, asked: 0 }));
        let ([base, spare, leaves], stages) = ([(); 3].map(|()| Vec::new()), [None, None, None]);
        let (begun, rounds, waiting, dead) = (false, 0, None, false);
        Core { id, side, schedule, threads, code, seeds, base, spare, leaves, begun, rounds, waiting, stages, dead }
    }

    fn alive(&self) -> Result<()> {
        if self.dead {
            return Err(Error::Dead("a check of silent OT".into()));
        }
        Ok(())
    }

    fn end_if_failed<T>(&mut self, result: Result<T>) -> Result<T> {
        if result.is_err() {
            self.dead = true;
            self.base.zeroize();
            self.leaves.zeroize();
            self.seeds = None;
            self.waiting = None;
            self.stages = [None, None, None];
        }
        result
    }

    /// As [`CotMaker::batch`].
    fn batch(&self, wanted: u64) -> usize {
        self.schedule.batch(wanted, self.begun)
    }

    fn ready(&self) -> bool {
        self.waiting.is_none() && !self.direct()
    }

    /// Whether the other maker makes a batch for our user, not for the base.
    fn direct(&self) -> bool {
        self.waiting.is_none() && self.seeds.as_ref().is_some_and(|seeds| !seeds.inner.idle())
    }

    fn begin(&mut self, batch: CotBatch) -> Result<()> {
        self.alive()?;
        let (room, outputs) = (batch.len(), self.schedule.every.outputs());
        let first = !std::mem::replace(&mut self.begun, true);
        if let Some(seeds) = self.seeds.as_mut().filter(|_| first && self.schedule.needs_no_round(room)) {
            return seeds.inner.begin(batch);
        }
        match self.schedule.making(room).filter(|_| self.ready()) {
            Some(round) => self.waiting = Some((round, batch)),
            None => return Err(Error::usage(format!("a batch of {room} COTs, where one of {outputs} can wait"))),
        }
        Ok(())
    }

    fn idle(&self) -> bool {
        self.ready() && self.stages.iter().all(Option::is_none)
    }

    /// Whether this exchange belongs to the other maker.
    fn seeding(&self) -> Result<bool> {
        self.alive().map(|()| self.seeds.is_some())
    }

    /// Appends the other maker's message: of a batch for our user, or of the next COTs of the base.
    fn ask(&mut self, outbox: &mut Vec<u8>) -> Result<()> {
        let direct = self.direct();
        let (Some(seeds), true) = (&mut self.seeds, direct || self.waiting.is_some()) else { return Ok(()) };
        let left = if direct { 0 } else { self.schedule.seeds().saturating_sub(seeds.asked) };
        if left > 0 && seeds.inner.ready() {
            let count = seeds.inner.batch(left as u64);
            seeds.inner.begin(CotBatch::new(self.side, CotOutput::Blocks, count))?;
            seeds.asked += count;
        }
        let from = outbox.len();
        let sent = seeds.inner.send(outbox);
        if self.side == Side::Receiver {
            self.code.hear(&outbox[from..]);
        }
        self.end_if_failed(sent)
    }

    /// Reads the other maker's message, and returns the batch that it settles if that is for our user; else adds its COTs
    /// to the base.
    fn seed(&mut self, inbox: &[u8]) -> Result<Option<CotBatch>> {
        let direct = self.direct();
        let (Some(seeds), true) = (&mut self.seeds, direct || self.waiting.is_some()) else {
            check_length("silent OT", inbox, 0)?;
            return Ok(None);
        };
        if self.side == Side::Sender {
            self.code.hear(inbox);
        }
        let (wanted, settled) = (self.schedule.seeds(), seeds.inner.receive(inbox)?);
        if direct {
            return Ok(settled);
        }
        if let Some(batch) = settled {
            // Room for all at once: no copies of secrets are left behind.
            self.base.reserve_exact(wanted.saturating_sub(self.base.len()));
            let more = batch.len().min(wanted - self.base.len());
            self.base.extend_from_slice(&batch.blocks[..more]);
        }
        if seeds.asked >= wanted && seeds.inner.idle() {
            self.seeds = None;
        }
        Ok(None)
    }

    /// Moves each round under way to its next stage, and returns the round to be opened, if there is one.
    fn turn(&mut self) -> Option<(Round, Option<CotBatch>)> {
        self.stages.rotate_right(1);
        match self.schedule.boot {
            Some(boot) if self.rounds == 0 => self.waiting.is_some().then_some((boot, None)),
            _ => self.waiting.take().map(|(round, batch)| (round, Some(batch))),
        }
    }

    /// Numbers the round that is opened: its number and its transcript.
    fn number(&mut self) -> (u64, Transcript) {
        let number = self.rounds;
        self.rounds += 1;
        (number, Transcript::new(&self.id, number))
    }

    /// Runs a round, which uses up this base and makes the next.
    fn run<T>(
        &mut self,
        round: Round,
        number: u64,
        transcript: &Transcript,
        run: impl FnOnce(&RoundContext, Memory) -> T,
    ) -> T {
        self.code.draw(&round, number);
        let context = RoundContext { code: &self.code, round, number, transcript, threads: &self.threads };
        if self.spare.capacity() < round.next {
            self.spare = pages::with_room(round.next);
        }
        self.spare.resize(round.next, Block::ZERO);
        let memory = Memory { base: &self.base[..round.base()], next: &mut self.spare, leaves: &mut self.leaves };
        let result = run(&context, memory);
        std::mem::swap(&mut self.base, &mut self.spare);
        self.spare.zeroize();
        result
    }
}

impl Zeroize for ReceiverRound {
    fn zeroize(&mut self) {
        self.masked.zeroize();
        self.hash.zeroize();
    }
}

impl Drop for ReceiverRound {
    fn drop(&mut self) {
        self.zeroize();
    }
}

impl Drop for SenderRound {
    fn drop(&mut self) {
        self.sum.zeroize();
    }
}

impl<S> Drop for Core<S> {
    fn drop(&mut self) {
        self.base.zeroize();
        self.leaves.zeroize();
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.delta.zeroize();
    }
}

#[cfg(test)]
mod tests;
