//! Fills a stock: batches of COTs in both directions at once.
//!
//! Load balancing as in Schneider, Zohner: *GMW vs. Yao?* (FC 2013): in every exchange each party is
//! sender of one batch of COTs and receiver of another, so that both compute and send the same. A
//! triple takes one COT of each direction. Raw COTs come first, then triples; a batch is begun
//! before every exchange for which the makers are ready, and a refill ends when all are settled.
//!
//! The COTs that protocols draw as such are never hashed here, and those of triples never handed
//! out. **Security** is that of the makers of COTs behind the traits, at most semi-honest because of
//! [`triples`].

use kernels::Block;

use super::{Demand, Stock, triples};
use crate::{
    Error, Party, Result,
    ot::{CotBatch, CotLengths, CotMaker, CotOutput, CotReceiver, CotSender, Makers, Side, check_length},
};

/// Makes the correlations of one session; destroyed by the first failure.
pub struct Maker {
    state: std::result::Result<State, String>,
}

struct State {
    sender: Box<dyn CotSender>,
    receiver: Box<dyn CotReceiver>,
    /// The bits that are settled in one direction and not yet in the other.
    halves: triples::Halves,
}

/// The next action for the caller of [`Refill::step`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RefillStep {
    /// Send the outbox; read exactly `expect` bytes, the next step's inbox.
    Exchange {
        /// The length of the peer's message.
        expect: usize,
    },
    /// The stock has all that was demanded. The outbox is empty.
    Done,
}

impl Maker {
    /// A maker of triples and COTs on two makers of COTs, one for each direction.
    pub fn new((sender, receiver): Makers) -> Self {
        Self { state: Ok(State { sender, receiver, halves: triples::Halves::default() }) }
    }

    /// The Δ of the COTs in which we are the sender.
    pub fn delta(&self) -> Result<Block> {
        self.state.as_ref().map(|state| state.sender.delta()).map_err(|why| dead(why))
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
        let left = Remaining::new(stock.party(), demand);
        let random = Vec::new();
        Refill { maker: self, stock, output, random, left, total: demand, awaiting: None, done: false }
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
    /// The lengths that the exchange under way brings, to us as receiver of COTs and as sender.
    awaiting: Option<[usize; 2]>,
    done: bool,
}

/// The part of the demand that has not been begun.
struct Remaining {
    sent: u64,
    received: u64,
    triples: u64,
}

impl Refill<'_> {
    /// Reads the peer's message of the exchange before (at first: nothing) and appends ours of the
    /// next to the outbox.
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
        let state = self.maker.state.as_mut().map_err(|why| dead(why))?;
        let awaited = self.awaiting.take();
        check_length("setup", inbox, awaited.map_or(0, |[a, b]| a + b))?;
        if let Some([as_sender, _]) = awaited {
            let settled = state.receive(inbox.split_at(as_sender))?;
            match self.output {
                CotOutput::Blocks => state.put(settled, self.stock),
                _ => self.random.extend(settled),
            }
        }
        if self.left.is_none() && state.sender.idle() && state.receiver.idle() {
            return Ok(RefillStep::Done);
        }
        state.begin(&mut self.left, self.output, self.stock)?;
        state.sender.send(outbox)?;
        state.receiver.send(outbox)?;
        let lengths = [state.receiver.expect(), state.sender.expect()];
        self.awaiting = Some(lengths);
        Ok(RefillStep::Exchange { expect: lengths[0] + lengths[1] })
    }

    fn fail(&mut self, why: &str) {
        self.maker.destroy(why);
        self.stock.destroy();
    }
}

impl Drop for Refill<'_> {
    fn drop(&mut self) {
        if self.awaiting.is_some() {
            self.fail("setup was broken off");
        }
    }
}

/// The batches that an exchange begins.
enum NextBatches {
    Cots { sent: u64, received: u64 },
    Triples(u64),
    None,
}

impl Remaining {
    fn new(us: Party, demand: Demand) -> Self {
        Remaining { sent: demand.cots_by(us), received: demand.cots_by(us.peer()), triples: demand.triples }
    }

    fn is_none(&self) -> bool {
        self.sent == 0 && self.received == 0 && self.triples == 0
    }

    /// The batches that an exchange begins: for both parties the same, with the directions exchanged.
    fn next(&self) -> NextBatches {
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
    /// Begins the next batches, if both makers are ready for them.
    fn begin(&mut self, left: &mut Remaining, output: CotOutput, stock: &mut Stock) -> Result<()> {
        if !self.sender.ready() || !self.receiver.ready() {
            return Ok(());
        }
        match left.next() {
            NextBatches::Cots { sent, received } => {
                left.sent -= begin(&mut *self.sender, Side::Sender, output, sent, stock)?;
                left.received -= begin(&mut *self.receiver, Side::Receiver, output, received, stock)?;
            }
            NextBatches::Triples(wanted) => {
                let begun = begin(&mut *self.sender, Side::Sender, CotOutput::Bits, wanted, stock)?;
                begin(&mut *self.receiver, Side::Receiver, CotOutput::Bits, wanted, stock)?;
                left.triples -= begun;
            }
            NextBatches::None => {}
        }
        Ok(())
    }

    /// Reads the peer's halves, as sender and as receiver of COTs, and returns the batches that they settle.
    fn receive(
        &mut self,
        (as_sender, as_receiver): (&[u8], &[u8]),
    ) -> Result<impl Iterator<Item = (Side, CotBatch)> + use<>> {
        let received = self.receiver.receive(as_sender)?;
        let sent = self.sender.receive(as_receiver)?;
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

/// Begins a batch if anything is wanted, and returns how many of the wanted COTs it makes.
fn begin<M: CotMaker + ?Sized>(
    maker: &mut M,
    side: Side,
    output: CotOutput,
    wanted: u64,
    stock: &mut Stock,
) -> Result<u64> {
    if wanted == 0 {
        return Ok(0);
    }
    let count = maker.batch(wanted);
    let spare = if output == CotOutput::Bits { Vec::new() } else { stock.spare() };
    maker.begin(CotBatch::reusing(spare, side, output, count))?;
    Ok(wanted.min(count as u64))
}

/// Counts a refill without making anything: the bytes sent and read in each exchange, and the correlations that it adds
/// to the stock. `lengths` are those of the makers in which we are sender and receiver.
pub(crate) fn exchanges(us: Party, demand: Demand, lengths: &mut [CotLengths; 2]) -> (Vec<(usize, usize)>, Demand) {
    let mut left = Remaining::new(us, demand);
    let (mut exchanges, mut made) = (Vec::new(), Demand::NONE);
    let [sender, receiver] = lengths;
    while !(left.is_none() && sender.idle() && receiver.idle()) {
        let begun = if sender.ready() && receiver.ready() { left.next() } else { NextBatches::None };
        let (sent, received) = match begun {
            NextBatches::Cots { sent, received } => (batch_of(sender, sent), batch_of(receiver, received)),
            NextBatches::Triples(wanted) => (batch_of(sender, wanted), batch_of(receiver, wanted)),
            NextBatches::None => (0, 0),
        };
        match begun {
            NextBatches::Cots { .. } => {
                left.sent -= left.sent.min(sent as u64);
                left.received -= left.received.min(received as u64);
                made += Demand::of_cots(us, sent as u64) + Demand::of_cots(us.peer(), received as u64);
            }
            NextBatches::Triples(_) => {
                left.triples -= left.triples.min(sent as u64);
                made += Demand::of_triples(sent as u64);
            }
            NextBatches::None => {}
        }
        let [from_us, to_us] = sender.exchange(sent);
        let [from_them, to_them] = receiver.exchange(received);
        exchanges.push((from_us + to_them, to_us + from_them));
    }
    (exchanges, made)
}

/// The number of COTs of the batch that is begun if `wanted` are wanted; zero for zero.
fn batch_of(lengths: &CotLengths, wanted: u64) -> usize {
    if wanted == 0 { 0 } else { lengths.batch(wanted) }
}

#[cfg(test)]
mod tests;
