//! Fills a stock: batches of OT extension in both directions at once.
//!
//! Load balancing as in Schneider, Zohner: *GMW vs. Yao?* (FC 2013): in every exchange each party is
//! sender of one batch of COTs and receiver of another, so that both compute and send the same. A
//! triple takes one COT of each direction. The exchanges of a refill:
//!
//! ```text
//! extension 1            raw COTs first, at most BATCH a direction, then triples
//! extension 2
//! extension 3 + salt 2   the salt of a batch of triples is drawn when its extension has come in
//! …
//!               salt n   the last: 16 bytes each way
//! ```
//!
//! The COTs that protocols draw as such are never hashed here, and those of triples never handed
//! out. **Security** is that of the makers of COTs behind the traits, at most semi-honest because of
//! [`triples`]. **Cost**: ⌈triples/BATCH⌉ + 1 exchanges, and the batches of raw COTs.

use kernels::{Block, generator::Generator};
use zeroize::Zeroize;

use super::{Demand, Stock, triples};
use crate::{
    Error, Party, Result,
    ot::{Choices, CotReceiver, CotSender, check_length, iknp, os_generator},
};

/// COTs in each direction that one exchange makes at most.
///
/// 8 MB on the wire and 60 MB in memory with IKNP. Batches of 2^15 stay in the cache and would make
/// triples 1.4 times as fast, but every batch waits once for the link; with 2^19 that wait is shorter
/// than the transfer up to 1 Gbit/s at a round trip of 130 ms. Both parties must have the same.
pub const BATCH: usize = 1 << 19;

/// Bytes of a salt.
const SALT: usize = 16;

/// Makes the correlations of one session; destroyed by the first failure.
pub struct Maker {
    state: std::result::Result<State, String>,
}

struct State {
    sender: Box<dyn CotSender>,
    receiver: Box<dyn CotReceiver>,
    rng: Generator,
    /// The last salt of either party: none may come twice.
    last_salts: [Block; 2],
    /// Buffers, kept from batch to batch.
    q: Vec<Block>,
    chosen: Choices,
}

/// What a caller of [`Refill::step`] does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// Send the outbox; read exactly `expect` bytes, the next step's inbox.
    Exchange {
        /// The length of the peer's message.
        expect: usize,
    },
    /// The stock has all that was demanded. The outbox is empty.
    Done,
}

impl Maker {
    /// A maker of triples and COTs over two makers of COTs, one for each direction.
    pub fn new(sender: Box<dyn CotSender>, receiver: Box<dyn CotReceiver>) -> Result<Self> {
        Ok(Self::with(os_generator()?, sender, receiver))
    }

    /// The same with a given source of salts.
    pub(crate) fn with(rng: Generator, sender: Box<dyn CotSender>, receiver: Box<dyn CotReceiver>) -> Self {
        let (last_salts, q, chosen) = Default::default();
        Self { state: Ok(State { sender, receiver, rng, last_salts, q, chosen }) }
    }

    /// Δ of the COTs in which we are the sender.
    pub fn delta(&self) -> Result<Block> {
        self.state.as_ref().map(|state| state.sender.delta()).map_err(|why| dead(why))
    }

    /// Begins to add `demand` to `stock`; the peer begins the same refill.
    pub fn refill<'a>(&'a mut self, stock: &'a mut Stock, demand: Demand) -> Refill<'a> {
        let left = Left::new(stock.party(), demand);
        Refill { maker: self, stock, left, total: demand, step: Step::default(), done: false }
    }

    /// Forgets Δ and all seeds; whatever comes next fails and says why.
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
    left: Left,
    total: Demand,
    step: Step,
    done: bool,
}

/// What has not been begun.
struct Left {
    sent: u64,
    received: u64,
    triples: u64,
}

/// What the exchange in flight carries.
#[derive(Default)]
struct Step {
    extension: Option<Batch>,
    /// A batch of triples that waits for the peer's salt.
    unhashed: Option<Unhashed>,
}

#[derive(Clone, Copy)]
struct Batch {
    sent: usize,
    received: usize,
    triples: bool,
}

struct Unhashed {
    sender: triples::SenderBits,
    chosen: Choices,
}

impl Refill<'_> {
    /// Reads the peer's message of the exchange before (at first: nothing) and appends ours of the
    /// next to the outbox.
    pub fn step(&mut self, inbox: &[u8], outbox: &mut Vec<u8>) -> Result<Flow> {
        let flow = self.advance(inbox, outbox);
        match &flow {
            Ok(Flow::Exchange { .. }) => {}
            Ok(Flow::Done) => self.done = true,
            Err(error) => self.fail(&error.to_string()),
        }
        flow
    }

    /// What is ready of what, in correlations of any kind: for a progress bar.
    pub fn progress(&self) -> (u64, u64) {
        let all = |d: &Demand| d.cots_by_alice + d.cots_by_bob + d.triples;
        let left = self.left.sent + self.left.received + self.left.triples;
        (all(&self.total) - left, all(&self.total))
    }

    fn advance(&mut self, inbox: &[u8], outbox: &mut Vec<u8>) -> Result<Flow> {
        if self.done {
            return Err(Error::usage("this refill is done"));
        }
        let state = self.maker.state.as_mut().map_err(|why| dead(why))?;
        let stock = &mut *self.stock;
        let Step { extension, unhashed } = std::mem::take(&mut self.step);
        check_length("setup", inbox, state.expect(&extension, unhashed.is_some()))?;

        let (salt, extended) = inbox.split_at(if unhashed.is_some() { SALT } else { 0 });
        if let Some(batch) = unhashed {
            stock.put_triples(&state.hash_received(batch, salt)?);
        }
        if let Some(batch) = extension {
            state.receive(batch, extended)?;
            match batch.triples {
                true => self.step.unhashed = Some(state.hash_sent(outbox)?),
                false => stock.put_cots(&state.q, &state.chosen),
            }
        }
        self.step.extension = self.left.next_batch();
        if let Some(batch) = self.step.extension {
            state.sender.send(batch.sent, outbox)?;
            state.receiver.send(batch.received, outbox)?;
        }
        Ok(match &self.step {
            Step { extension: None, unhashed: None } => Flow::Done,
            Step { extension, unhashed } => Flow::Exchange { expect: state.expect(extension, unhashed.is_some()) },
        })
    }

    fn fail(&mut self, why: &str) {
        self.maker.destroy(why);
        self.stock.destroy();
    }
}

impl Drop for Refill<'_> {
    fn drop(&mut self) {
        if self.step.extension.is_some() || self.step.unhashed.is_some() {
            self.fail("setup was broken off");
        }
    }
}

impl Left {
    fn new(us: Party, demand: Demand) -> Self {
        Left { sent: demand.cots_by(us), received: demand.cots_by(us.peer()), triples: demand.triples }
    }

    /// The next batch, the same for both parties with the directions exchanged.
    fn next_batch(&mut self) -> Option<Batch> {
        fn take(left: &mut u64) -> usize {
            let taken = (*left).min(BATCH as u64);
            *left -= taken;
            taken as usize
        }
        if self.sent > 0 || self.received > 0 {
            let (sent, received) = (take(&mut self.sent), take(&mut self.received));
            Some(Batch { sent, received, triples: false })
        } else if self.triples > 0 {
            let count = take(&mut self.triples);
            Some(Batch { sent: count, received: count, triples: true })
        } else {
            None
        }
    }
}

/// The exchanges of a refill in bytes, sent and read, without making anything: what the cost protocol counts.
pub(crate) fn exchanges(us: Party, demand: Demand) -> Vec<(usize, usize)> {
    let mut left = Left::new(us, demand);
    let (mut exchanges, mut salt) = (Vec::new(), 0);
    loop {
        let batch = left.next_batch();
        if batch.is_none() && salt == 0 {
            return exchanges;
        }
        let message = |count| batch.map_or(0, |_| iknp::message_len(count));
        let (sent, received) = batch.map_or((0, 0), |batch| (batch.sent, batch.received));
        exchanges.push((salt + message(received), salt + message(sent)));
        salt = if batch.is_some_and(|batch| batch.triples) { SALT } else { 0 };
    }
}

impl State {
    /// The length of the peer's message: its salt, its half as sender, its half as receiver.
    fn expect(&self, extension: &Option<Batch>, salt: bool) -> usize {
        let halves = extension.map_or(0, |batch| self.receiver.expect(batch.received) + self.sender.expect(batch.sent));
        halves + if salt { SALT } else { 0 }
    }

    /// Reads the peer's half of an extension into q and chosen.
    fn receive(&mut self, batch: Batch, inbox: &[u8]) -> Result<()> {
        let (as_sender, as_receiver) = inbox.split_at(self.receiver.expect(batch.received));
        self.receiver.receive(batch.received, as_sender, &mut self.chosen)?;
        self.sender.receive(batch.sent, as_receiver, &mut self.q)
    }

    /// As OT sender: draws the salt, now that the peer's half has come, and sends it.
    fn hash_sent(&mut self, outbox: &mut Vec<u8>) -> Result<Unhashed> {
        let salt = self.rng.block();
        if self.last_salts.contains(&salt) {
            let source = std::io::Error::other("it gave the same bytes twice");
            return Err(Error::io("cannot use the operating system's generator")(source));
        }
        self.last_salts[0] = salt;
        outbox.extend_from_slice(&salt.to_bytes());
        let sender = triples::hash_sender(salt, self.sender.delta(), &self.q);
        Ok(Unhashed { sender, chosen: std::mem::take(&mut self.chosen) })
    }

    /// As OT receiver: the peer's salt completes the triples.
    fn hash_received(&mut self, batch: Unhashed, salt: &[u8]) -> Result<super::Triples> {
        let salt = bytemuck::pod_read_unaligned(salt);
        if self.last_salts.contains(&salt) {
            return Err(Error::peer("it sent a salt that was used before"));
        }
        self.last_salts[1] = salt;
        let u = triples::hash_receiver(salt, &batch.chosen.t);
        let triples = triples::combine(batch.sender, &batch.chosen, &u);
        self.chosen = batch.chosen; // its memory serves the next batch
        Ok(triples)
    }
}

impl Drop for State {
    fn drop(&mut self) {
        self.q.zeroize();
        self.chosen.t.zeroize();
        self.chosen.bits.zeroize();
    }
}

#[cfg(test)]
mod tests;
