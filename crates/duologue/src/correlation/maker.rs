//! Fills a stock: batches of COTs in both directions at once.
//!
//! Load balancing as in Schneider, Zohner: *GMW vs. Yao?* (FC 2013): in every exchange each party is
//! sender of one batch of COTs and receiver of another, so that both compute and send the same. A
//! triple takes one COT of each direction. Raw COTs come first, then triples, for which both
//! directions begin batches of one size, the larger of what the two makers offer; a batch is begun
//! before every exchange for which the makers are ready, and a refill ends when all are settled.
//!
//! **Ahead of the peer.** Where the makers are [one-way](CotMaker::one_way), a party may send its messages of later
//! exchanges before it reads the peer's of earlier ones, so that neither waits for the line while it can compute: as many
//! as a [`Window`] allows. Each direction carries the same bytes either way, so that is nobody's business but this
//! party's.
//!
//! A direction in which nothing was called for has no base OTs and no maker of COTs. The proof of the session's base OTs
//! goes with the first exchange, from the sender of the first direction; nothing that came of the base OTs is used before
//! it has come: not what else that exchange brings, not what is settled in it.
//!
//! The COTs that protocols draw as such are never hashed here, and those of triples never handed
//! out. **Security** is that of the makers of COTs behind the traits, at most semi-honest because of
//! [`triples`].

use kernels::{Block, generator::Generator};
use std::collections::VecDeque;

use super::{Demand, Stock, triples};
use crate::{
    Error, Party, Result,
    ot::base::Proof,
    ot::{
        CotBatch, CotMaker, CotOutput, CotReceiver, CotSender, Extension, Makers, ProofDuty, SECOND, Second, Seeds,
        Side, check_length,
    },
    threads::Threads,
};

/// Makes the correlations of one session; destroyed by the first failure.
pub struct Maker {
    state: std::result::Result<State, String>,
}

struct State {
    sender: Option<Box<dyn CotSender>>,
    receiver: Option<Box<dyn CotReceiver>>,
    /// Until the first exchange.
    proof: Option<ProofDuty>,
    /// The base OTs of the second direction, until they are called for.
    second: Option<(Second, Recipe)>,
    /// The bits that are settled in one direction and not yet in the other.
    halves: triples::Halves,
    /// The twin that does not ask for the peer's proof, for a test.
    #[cfg(test)]
    unproven: bool,
}

/// How makers of COTs are made of seeds.
pub(crate) struct Recipe {
    /// Which.
    pub extension: Extension,
    /// Their own secrets.
    pub secrets: Generator,
    /// Threads that share their work.
    pub threads: Threads,
}

impl Recipe {
    fn sender(&self, seeds: crate::ot::SenderSeeds) -> Box<dyn CotSender> {
        self.extension.sender(seeds, &self.secrets, &self.threads)
    }

    fn receiver(&self, seeds: crate::ot::ReceiverSeeds) -> Box<dyn CotReceiver> {
        self.extension.receiver(seeds, &self.threads)
    }
}

/// The next action for the caller of [`Refill::step`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RefillStep {
    /// Send the outbox; read exactly `expect` bytes, the next step's inbox.
    Exchange {
        /// The length of the peer's message of the oldest exchange that was not received.
        expect: usize,
        /// When it is read.
        reading: Reading,
    },
    /// The stock has all that was demanded. The outbox is empty.
    Done,
}

/// When the peer's message is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reading {
    /// Now: we have sent all that we can before it comes.
    Now,
    /// Now, though the peer's next ones do not wait for us: what we sent last answers nothing.
    Behind,
    /// As before, or later: the next step may be taken with an empty inbox.
    Later,
}

impl Maker {
    /// A maker of triples and COTs on two makers of COTs, one for each direction, whose base OTs were proven.
    pub fn new((sender, receiver): Makers) -> Self {
        Self::with(Some(sender), Some(receiver), None, None)
    }

    /// A maker of correlations on the base OTs of a session.
    pub(crate) fn on(seeds: Seeds, recipe: Recipe) -> Self {
        let sender = seeds.sender.map(|seeds| recipe.sender(seeds));
        let receiver = seeds.receiver.map(|seeds| recipe.receiver(seeds));
        Self::with(sender, receiver, Some(seeds.proof), seeds.second.map(|second| (second, recipe)))
    }

    fn with(
        sender: Option<Box<dyn CotSender>>,
        receiver: Option<Box<dyn CotReceiver>>,
        proof: Option<ProofDuty>,
        second: Option<(Second, Recipe)>,
    ) -> Self {
        let halves = triples::Halves::default();
        let state = State {
            sender,
            receiver,
            proof,
            second,
            halves,
            #[cfg(test)]
            unproven: false,
        };
        Self { state: Ok(state) }
    }

    /// Begins the base OTs of the second direction: appends our message, and says how long the peer's is, for
    /// [`end_second`](Self::end_second).
    pub(crate) fn begin_second(&mut self, outbox: &mut Vec<u8>) -> Result<usize> {
        let state = self.state.as_mut().map_err(|why| dead(why))?;
        match state.second.take() {
            Some((Second::Offered(second), recipe)) => {
                state.sender = Some(recipe.sender(second.offer(outbox)?));
                Ok(0)
            }
            awaited @ Some(_) => {
                state.second = awaited;
                Ok(SECOND)
            }
            None => Err(Error::usage("both directions have base OTs")),
        }
    }

    /// Reads the peer's message for the base OTs of the second direction.
    ///
    /// # Errors
    /// [`Error::Peer`]; the maker and its Δ are destroyed.
    pub(crate) fn end_second(&mut self, inbox: &[u8]) -> Result<()> {
        let state = self.state.as_mut().map_err(|why| dead(why))?;
        let ended = match state.second.take() {
            Some((Second::Awaited(second), recipe)) => {
                second.accept(inbox).map(|seeds| state.receiver = Some(recipe.receiver(seeds)))
            }
            _ => check_length("second base OT", inbox, 0),
        };
        ended.inspect_err(|why| self.destroy(&why.to_string()))
    }

    /// The Δ of the COTs in which we are the sender, if there are any.
    pub fn delta(&self) -> Result<Block> {
        let state = self.state.as_ref().map_err(|why| dead(why))?;
        let sender = state.sender.as_ref().ok_or_else(no_base_ots)?;
        Ok(sender.delta())
    }

    /// Begins to add `demand` to `stock`; the peer begins the same refill.
    pub fn refill<'a>(&'a mut self, stock: &'a mut Stock, demand: Demand) -> Refill<'a> {
        self.begin(stock, CotOutput::Blocks, demand)
    }

    /// Begins to make random OTs with this output, at least as many as the demand has COTs; [`Refill::random_ots`] has
    /// them when it is done. Nothing is added to the stock, which a failure destroys.
    pub fn random_ots<'a>(&'a mut self, stock: &'a mut Stock, output: CotOutput, demand: Demand) -> Refill<'a> {
        self.begin(stock, output, demand)
    }

    fn begin<'a>(&'a mut self, stock: &'a mut Stock, output: CotOutput, demand: Demand) -> Refill<'a> {
        let (left, window) = (Remaining::new(stock.party(), demand), Window::new(&demand));
        Refill { maker: self, stock, output, random: Vec::new(), left, total: demand, window, done: false }
    }

    /// Erases Δ and all seeds; every later call fails with this reason.
    pub fn destroy(&mut self, why: &str) {
        if self.state.is_ok() {
            self.state = Err(why.to_owned());
        }
    }
}

fn dead(why: &str) -> Error {
    Error::Dead(why.to_owned())
}

fn no_base_ots() -> Error {
    Error::usage("this direction of correlated OTs has no base OTs")
}

/// One refill under way: call [`step`](Self::step) until it is done.
///
/// Dropped in the middle, it destroys its maker: the two parties' streams no longer match.
pub struct Refill<'a> {
    maker: &'a mut Maker,
    stock: &'a mut Stock,
    /// The output of the COTs that make no triples: blocks for the stock, or random OTs.
    output: CotOutput,
    random: Vec<(Side, CotBatch)>,
    left: Remaining,
    total: Demand,
    /// The lengths that an exchange under way brings: the proof, to us as receiver of COTs, and as sender.
    window: Window<[usize; 3]>,
    done: bool,
}

/// The exchanges of a refill that were sent and whose answers were not read, oldest first: what each brings, and how many
/// there may be.
///
/// What the peer sends meanwhile waits in memory, so there is little of it where little is made: of triples at most a
/// quarter of all that are wanted.
#[derive(Debug)]
pub(super) struct Window<T> {
    total: Demand,
    /// COTs of each exchange under way, and what it brings.
    under_way: VecDeque<(usize, T)>,
}

impl<T> Window<T> {
    /// Triples under way at most: with k = 4 16 MB each way, a tenth of a second at 1.3 Gbit/s.
    const TRIPLES: u64 = 1 << 22;
    /// COTs under way at most, for which there is memory.
    const COTS: u64 = 1 << 20;

    pub fn new(total: &Demand) -> Self {
        Window { total: *total, under_way: VecDeque::new() }
    }

    /// Whether the next exchange may be sent before the oldest one under way is received: if we are to send something, and
    /// there is room.
    pub fn admits(&self, left: &Remaining) -> bool {
        let room = match left.next() {
            NextBatches::Cots { received: 0, .. } | NextBatches::None => return false,
            NextBatches::Cots { .. } => Self::COTS.min(self.total.cots_by_alice.max(self.total.cots_by_bob) / 4),
            NextBatches::Triples(_) => Self::TRIPLES.min(self.total.triples / 4),
        };
        self.len() < 2 || self.under_way.iter().map(|&(cots, _)| cots as u64).sum::<u64>() < room
    }

    pub fn len(&self) -> usize {
        self.under_way.len()
    }

    pub fn is_empty(&self) -> bool {
        self.under_way.is_empty()
    }

    /// An exchange of so many COTs is under way besides, which brings this.
    pub fn send(&mut self, cots: usize, brings: T) {
        self.under_way.push_back((cots, brings));
    }

    /// What the oldest exchange brings.
    pub fn oldest(&self) -> Option<&T> {
        self.under_way.front().map(|(_, brings)| brings)
    }

    /// The oldest exchange was received.
    pub fn receive(&mut self) -> Option<T> {
        self.under_way.pop_front().map(|(_, brings)| brings)
    }
}

/// The part of the demand that has not been begun.
pub(super) struct Remaining {
    pub sent: u64,
    pub received: u64,
    pub triples: u64,
}

impl Refill<'_> {
    /// Reads the peer's message that the step before asked for (at first: nothing) and appends ours of the
    /// next exchange to the outbox. The inbox may be empty if that step said [`Reading::Later`].
    pub fn step(&mut self, inbox: &[u8], outbox: &mut Vec<u8>) -> Result<RefillStep> {
        let flow = self.advance(inbox, outbox);
        match &flow {
            Ok(RefillStep::Exchange { .. }) => {}
            Ok(RefillStep::Done) => self.done = true,
            Err(error) => self.fail(&error.to_string()),
        }
        flow
    }

    /// The number of correlations that were begun, and of all that were demanded, of any kind: for a progress bar.
    pub fn progress(&self) -> (u64, u64) {
        let left = self.left.sent + self.left.received + self.left.triples;
        (self.total.total() - left, self.total.total())
    }

    /// Takes the random OTs that were made, in order.
    pub fn random_ots(&mut self) -> Vec<(Side, CotBatch)> {
        std::mem::take(&mut self.random)
    }

    fn advance(&mut self, inbox: &[u8], outbox: &mut Vec<u8>) -> Result<RefillStep> {
        if self.done {
            return Err(Error::usage("this refill is done"));
        }
        let expect = self.expect();
        if !(inbox.is_empty() && expect > 0 && self.goes_ahead()?) {
            check_length("setup", inbox, expect)?;
            self.receive(inbox)?;
        }
        if self.left.is_none() && self.window.is_empty() && self.state()?.idle() {
            return Ok(RefillStep::Done);
        }
        if self.window.is_empty() || self.goes_ahead()? {
            self.send(outbox)?;
        }
        let reading = match self.goes_ahead()? {
            true => Reading::Later,
            false if self.window.len() > 1 => Reading::Behind,
            false => Reading::Now,
        };
        Ok(RefillStep::Exchange { expect: self.expect(), reading })
    }

    fn state(&mut self) -> Result<&mut State> {
        self.maker.state.as_mut().map_err(|why| dead(why))
    }

    /// The length of the peer's message of the oldest exchange under way.
    fn expect(&self) -> usize {
        self.window.oldest().map_or(0, |lengths| lengths.iter().sum())
    }

    /// Whether another exchange is sent before that message is read.
    fn goes_ahead(&mut self) -> Result<bool> {
        let admitted = !self.window.is_empty() && self.window.admits(&self.left);
        Ok(self.state()?.goes_ahead() && admitted)
    }

    /// Begins the next batches, and appends our message.
    fn send(&mut self, outbox: &mut Vec<u8>) -> Result<()> {
        let state = self.maker.state.as_mut().map_err(|why| dead(why))?;
        let cots = state.begin(&mut self.left, self.output, self.stock)?;
        self.window.send(cots, state.send(outbox)?);
        Ok(())
    }

    /// Reads the peer's message of the oldest exchange under way, if there is one.
    fn receive(&mut self, inbox: &[u8]) -> Result<()> {
        let Some([proof, as_sender, _]) = self.window.receive() else { return Ok(()) };
        let state = self.maker.state.as_mut().map_err(|why| dead(why))?;
        let (proof, inbox) = inbox.split_at(proof);
        state.check(proof)?;
        let settled = state.receive(inbox.split_at(as_sender))?;
        match self.output {
            CotOutput::Blocks => state.put(settled, self.stock),
            _ => self.random.extend(settled),
        }
        Ok(())
    }

    fn fail(&mut self, why: &str) {
        self.maker.destroy(why);
        self.stock.destroy();
    }
}

impl Drop for Refill<'_> {
    fn drop(&mut self) {
        if !self.window.is_empty() {
            self.fail("setup was broken off");
        }
    }
}

/// The batches that an exchange begins.
pub(super) enum NextBatches {
    Cots { sent: u64, received: u64 },
    Triples(u64),
    None,
}

impl Remaining {
    pub fn new(us: Party, demand: Demand) -> Self {
        Remaining { sent: demand.cots_by(us), received: demand.cots_by(us.peer()), triples: demand.triples }
    }

    pub fn is_none(&self) -> bool {
        self.sent == 0 && self.received == 0 && self.triples == 0
    }

    /// The batches that an exchange begins: for both parties the same, with the directions exchanged.
    pub fn next(&self) -> NextBatches {
        if self.sent > 0 || self.received > 0 {
            NextBatches::Cots { sent: self.sent, received: self.received }
        } else if self.triples > 0 {
            NextBatches::Triples(self.triples)
        } else {
            NextBatches::None
        }
    }
}

impl State {
    fn idle(&self) -> bool {
        self.sender.as_ref().is_none_or(|maker| maker.idle()) && self.receiver.as_ref().is_none_or(|maker| maker.idle())
    }

    fn ready(&self) -> bool {
        self.sender.as_ref().is_none_or(|maker| maker.ready())
            && self.receiver.as_ref().is_none_or(|maker| maker.ready())
    }

    /// Whether both makers let us send the next exchange before the oldest one is received. Nobody does before the base OTs
    /// are proven.
    fn goes_ahead(&self) -> bool {
        self.sender.as_ref().is_none_or(|maker| maker.one_way())
            && self.receiver.as_ref().is_none_or(|maker| maker.one_way())
            && self.proof.is_none()
    }

    /// Begins the next batches, if both makers are ready for them: COTs of a direction, at most.
    fn begin(&mut self, left: &mut Remaining, output: CotOutput, stock: &mut Stock) -> Result<usize> {
        if !self.ready() {
            return Ok(0);
        }
        let (sender, receiver) = (&mut self.sender, &mut self.receiver);
        match left.next() {
            NextBatches::Cots { sent, received } => {
                let batches = (batch_of(sender.as_deref(), sent)?, batch_of(receiver.as_deref(), received)?);
                begin(sender.as_deref_mut(), Side::Sender, output, batches.0, stock)?;
                begin(receiver.as_deref_mut(), Side::Receiver, output, batches.1, stock)?;
                left.sent -= sent.min(batches.0 as u64);
                left.received -= received.min(batches.1 as u64);
                Ok(batches.0.max(batches.1))
            }
            NextBatches::Triples(wanted) => {
                let batch = batch_of(sender.as_deref(), wanted)?.max(batch_of(receiver.as_deref(), wanted)?);
                begin(sender.as_deref_mut(), Side::Sender, CotOutput::Bits, batch, stock)?;
                begin(receiver.as_deref_mut(), Side::Receiver, CotOutput::Bits, batch, stock)?;
                left.triples -= wanted.min(batch as u64);
                Ok(batch)
            }
            NextBatches::None => Ok(0),
        }
    }

    /// Appends our message of the next exchange: our proof if it is due, ours as sender, and as receiver. The lengths of
    /// the peer's.
    fn send(&mut self, outbox: &mut Vec<u8>) -> Result<[usize; 3]> {
        if let Some(ProofDuty::Send(proof)) = &self.proof {
            outbox.extend_from_slice(proof.as_bytes());
            self.proof = None;
        }
        let proof = if self.proof.is_some() { Proof::LEN } else { 0 };
        let mut lengths = [proof, 0, 0];
        if let Some(sender) = &mut self.sender {
            sender.send(outbox)?;
            lengths[2] = sender.expect();
        }
        if let Some(receiver) = &mut self.receiver {
            receiver.send(outbox)?;
            lengths[1] = receiver.expect();
        }
        Ok(lengths)
    }

    /// Checks the peer's proof of its base OTs, which came with the first exchange.
    fn check(&mut self, proof: &[u8]) -> Result<()> {
        #[cfg(test)]
        if self.unproven {
            self.proof = None;
        }
        match self.proof.take() {
            Some(ProofDuty::Check(expected)) => expected.check(proof),
            _ => Ok(()),
        }
    }

    /// Reads the peer's halves, as sender and as receiver of COTs, and returns the batches that they settle.
    fn receive(
        &mut self,
        (as_sender, as_receiver): (&[u8], &[u8]),
    ) -> Result<impl Iterator<Item = (Side, CotBatch)> + use<>> {
        let received = self.receiver.as_mut().map_or(Ok(None), |receiver| receiver.receive(as_sender))?;
        let sent = self.sender.as_mut().map_or(Ok(None), |sender| sender.receive(as_receiver))?;
        let each = [(Side::Sender, sent), (Side::Receiver, received)];
        Ok(each.into_iter().filter_map(|(side, batch)| Some((side, batch?))))
    }

    /// Adds settled batches to the stock.
    fn put(&mut self, settled: impl Iterator<Item = (Side, CotBatch)>, stock: &mut Stock) {
        for (side, mut batch) in settled {
            match batch.output() {
                CotOutput::Bits => self.halves.put(side, &batch),
                _ => stock.put_cots(side, std::mem::take(&mut batch.blocks)),
            }
        }
        if let Some(triples) = self.halves.combine() {
            stock.put_triples(&triples);
        }
    }
}

/// The number of COTs of the batch that is begun if `wanted` are wanted; zero for zero.
fn batch_of<M: CotMaker + ?Sized>(maker: Option<&M>, wanted: u64) -> Result<usize> {
    if wanted == 0 {
        return Ok(0);
    }
    Ok(maker.ok_or_else(no_base_ots)?.batch(wanted))
}

/// Begins a batch of so many COTs, unless that is none.
fn begin<M: CotMaker + ?Sized>(
    maker: Option<&mut M>,
    side: Side,
    output: CotOutput,
    count: usize,
    stock: &mut Stock,
) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    let maker = maker.ok_or_else(no_base_ots)?;
    let spare = if output == CotOutput::Bits { Vec::new() } else { stock.spare() };
    maker.begin(CotBatch::reusing(spare, side, output, count))
}

#[cfg(test)]
mod tests;
