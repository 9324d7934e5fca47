//! The correlations of one session, in memory: first in, first out, each exactly once.
//!
//! Correlations that are drawn move to the caller and are erased here. Both parties draw equally many in the same
//! order, else their values do not belong together; they compare [`Stock::drawn`].

use std::collections::VecDeque;

use kernels::Block;
use zeroize::Zeroize;

use super::{Demand, bits::BitQueue};
use crate::{
    Error, Party, Result,
    ot::{Choices, Side},
};

/// One party's half of the correlations that are ready.
///
/// ```compile_fail,E0599
/// fn twice(stock: &duologue::correlation::Stock) -> duologue::correlation::Stock {
///     stock.clone() // no correlation exists twice
/// }
/// ```
pub struct Stock {
    us: Party,
    sent: BlockQueue,
    received: BlockQueue,
    triples: [BitQueue; 3],
    drawn: Demand,
    /// The memory of batches that were discarded, for new ones.
    spare: Vec<Vec<Block>>,
}

/// One party's shares of triples: (a₀⊕a₁)·(b₀⊕b₁) = c₀⊕c₁, bit by bit.
///
/// Packed, least significant bit first; the padding of the last words is zero.
///
/// ```compile_fail,E0382
/// fn open(triples: duologue::correlation::Triples) {}
/// fn twice(triples: duologue::correlation::Triples) {
///     open(triples);
///     open(triples); // a triple masks one AND
/// }
/// ```
pub struct Triples {
    /// Shares of the first factors.
    pub a: Vec<u64>,
    /// Shares of the second factors.
    pub b: Vec<u64>,
    /// Shares of the products.
    pub c: Vec<u64>,
    /// The number of triples.
    pub len: usize,
}

impl Stock {
    /// An empty stock of party `us`.
    #[doc(hidden)]
    pub fn new(us: Party) -> Self {
        Self {
            us,
            sent: BlockQueue::default(),
            received: BlockQueue::default(),
            triples: Default::default(),
            drawn: Demand::NONE,
            spare: Vec::new(),
        }
    }

    /// The party whose half this is.
    pub fn party(&self) -> Party {
        self.us
    }

    /// The correlations that can be drawn.
    pub fn available(&self) -> Demand {
        let triples = self.triples[2].len() as u64;
        self.counts(self.sent.len() as u64, self.received.len() as u64) + Demand::of_triples(triples)
    }

    /// The correlations that were drawn since the stock was made.
    pub fn drawn(&self) -> Demand {
        self.drawn
    }

    /// Takes `count` COTs in which we are the sender: the blocks q.
    pub fn draw_cot_sender(&mut self, count: usize) -> Result<Vec<Block>> {
        enough("correlated OTs to send", count, self.sent.len())?;
        self.drawn += self.counts(count as u64, 0);
        Ok(self.sent.draw(count))
    }

    /// Takes `count` COTs in which we are the receiver.
    pub fn draw_cot_receiver(&mut self, count: usize) -> Result<Choices> {
        enough("correlated OTs to receive", count, self.received.len())?;
        self.drawn += self.counts(0, count as u64);
        Ok(Choices::new(self.received.draw(count)))
    }

    /// Takes `count` triples.
    pub fn draw_triples(&mut self, count: usize) -> Result<Triples> {
        enough("triples", count, self.triples[2].len())?;
        self.drawn += Demand::of_triples(count as u64);
        let [a, b, c] = self.triples.each_mut().map(|queue| queue.draw(count));
        Ok(Triples { a, b, c, len: count })
    }

    /// Draws correlations that nobody will use. Their memory serves the next batches, which overwrite it.
    pub fn forget(&mut self, wanted: &Demand) -> Result<()> {
        let (us, them) = (wanted.cots_by(self.us), wanted.cots_by(self.us.peer()));
        enough("correlated OTs to send", us as usize, self.sent.len())?;
        enough("correlated OTs to receive", them as usize, self.received.len())?;
        drop(self.draw_triples(wanted.triples as usize)?);
        self.drawn += self.counts(us, them);
        self.sent.forget(us as usize, &mut self.spare);
        self.received.forget(them as usize, &mut self.spare);
        Ok(())
    }

    /// Memory for a batch; its contents are arbitrary.
    pub(super) fn spare(&mut self) -> Vec<Block> {
        self.spare.pop().unwrap_or_default()
    }

    pub(crate) fn put_cots(&mut self, side: Side, blocks: Vec<Block>) {
        match side {
            Side::Sender => self.sent.push(blocks),
            Side::Receiver => self.received.push(blocks),
        }
    }

    pub(crate) fn put_triples(&mut self, triples: &Triples) {
        let Triples { a, b, c, len } = triples;
        for (queue, bits) in self.triples.iter_mut().zip([a, b, c]) {
            queue.push(bits, *len);
        }
    }

    /// Erases everything that is left, after a failure of the session.
    pub fn destroy(&mut self) {
        self.sent.destroy();
        self.received.destroy();
        self.triples.iter_mut().for_each(BitQueue::destroy);
        self.spare.iter_mut().for_each(Vec::zeroize);
        self.spare.clear();
    }

    fn counts(&self, sent: u64, received: u64) -> Demand {
        Demand::of_cots(self.us, sent) + Demand::of_cots(self.us.peer(), received)
    }
}

impl Drop for Stock {
    fn drop(&mut self) {
        self.destroy();
    }
}

/// Fails if fewer are left than wanted. A stock does not refill itself: the peer, who has drawn less, would wait for
/// ever.
fn enough(what: &str, wanted: usize, left: usize) -> Result<()> {
    if wanted > left {
        return Err(Error::usage(format!(
            "{wanted} {what} were asked for, but {left} are left: declare them in the demand"
        )));
    }
    Ok(())
}

/// Blocks in the order in which they were pushed, batch by batch; drawn blocks are erased.
#[derive(Default)]
struct BlockQueue {
    batches: VecDeque<Vec<Block>>,
    /// The number of blocks of the first batch that are drawn.
    head: usize,
    len: usize,
}

impl BlockQueue {
    fn len(&self) -> usize {
        self.len
    }

    fn push(&mut self, blocks: Vec<Block>) {
        self.len += blocks.len();
        if !blocks.is_empty() {
            self.batches.push_back(blocks);
        }
    }

    fn draw(&mut self, count: usize) -> Vec<Block> {
        self.len -= count;
        if self.head == 0
            && self.batches.front().is_some_and(|first| first.len() == count)
            && let Some(whole) = self.batches.pop_front()
        {
            return whole;
        }
        let mut drawn = Vec::with_capacity(count);
        while drawn.len() < count {
            let first = self.batches.front_mut().expect("there are as many");
            let end = first.len().min(self.head + count - drawn.len());
            drawn.extend_from_slice(&first[self.head..end]);
            first[self.head..end].zeroize();
            self.head = end;
            if end == first.len() {
                self.batches.pop_front();
                self.head = 0;
            }
        }
        drawn
    }

    /// Discards the first `count` blocks. Whole batches become spare memory, at most as many as can be under way at
    /// once.
    fn forget(&mut self, mut count: usize, spare: &mut Vec<Vec<Block>>) {
        while self.head == 0 && spare.len() < 4 && self.batches.front().is_some_and(|first| first.len() <= count) {
            if let Some(first) = self.batches.pop_front() {
                count -= first.len();
                self.len -= first.len();
                spare.push(first);
            }
        }
        self.draw(count).zeroize();
    }

    fn destroy(&mut self) {
        self.batches.iter_mut().for_each(Vec::zeroize);
        self.batches.clear();
        (self.head, self.len) = (0, 0);
    }
}

#[cfg(test)]
mod tests;
