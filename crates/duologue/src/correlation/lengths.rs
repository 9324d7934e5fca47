//! The exchanges of a session's correlations in lengths alone: base OTs when they are called for, and refills.

use super::maker::{NextBatches, Remaining, Window};
use super::{Demand, choice};
use crate::Party;
use crate::ot::base::Proof;
use crate::ot::{Based, CotLengths, Extension, Missing};

/// The progress of one party's maker of correlations in lengths alone, from the beginning of a session.
#[derive(Clone, Debug)]
pub(crate) struct MakerLengths {
    us: Party,
    /// Of the makers of COTs in which we are sender and receiver.
    cots: [CotLengths; 2],
    based: Based,
    /// Who sends the proof of the base OTs with the next exchange.
    proof: Option<Party>,
    /// Batches of the last refill.
    batches: u32,
    /// Bytes of the probe that travels with the first base OTs.
    probe: usize,
}

/// The bytes of one exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MakerExchange {
    /// Bytes sent to the peer.
    pub sent: usize,
    /// Bytes read from the peer.
    pub read: usize,
    /// Whether what is read comes after what was sent before, and is not a message that the peer sent without waiting for it.
    pub turn: bool,
}

impl From<(usize, usize)> for MakerExchange {
    fn from((sent, read): (usize, usize)) -> Self {
        MakerExchange { sent, read, turn: true }
    }
}

/// The bytes that we send and read in each exchange.
pub(crate) type Lengths = Vec<MakerExchange>;

impl MakerLengths {
    pub fn new(us: Party, extension: Extension) -> Self {
        let cots = [(); 2].map(|()| extension.lengths());
        MakerLengths { us, cots, based: Based::default(), proof: None, batches: 0, probe: 0 }
    }

    /// The same with a probe of this length, of a session that chooses its maker by what it measures.
    pub fn probing(self, probe: usize) -> Self {
        MakerLengths { probe, ..self }
    }

    /// The same of a session that has these base OTs.
    pub fn based(self, based: Based) -> Self {
        MakerLengths { based, ..self }
    }

    /// The base OTs that a demand calls for.
    pub fn base(&mut self, demand: &Demand) -> Lengths {
        let Some(missing) = self.based.missing(demand) else { return Vec::new() };
        let mut exchanges = missing.exchanges(self.us);
        if let Missing::All(directions) = missing {
            self.proof = Some(directions.first());
            for ((sent, read), probe) in exchanges.iter_mut().zip(choice::probing(self.probe)) {
                *sent += probe;
                *read += probe;
            }
        }
        exchanges.into_iter().map(MakerExchange::from).collect()
    }

    /// A refill, with its base OTs, and the correlations that it adds to the stock. A party goes ahead of the peer as far as
    /// it may.
    pub fn refill(&mut self, demand: Demand) -> (Lengths, Demand) {
        let (mut left, mut window) = (Remaining::new(self.us, demand), Window::new(&demand));
        let (mut exchanges, mut made) = (self.base(&demand), Demand::NONE);
        let mut goes_ahead = self.one_way() && self.proof != Some(self.us.peer());
        self.batches = 0;
        while !(left.is_none() && window.is_empty() && self.cots.iter().all(CotLengths::idle)) {
            let mut sent = 0;
            if window.is_empty() || goes_ahead && window.admits(&left) {
                let (cots, batch) = self.begin(&mut left);
                self.batches += 1;
                made += batch;
                let (ours, theirs) = self.exchange(cots);
                sent = ours;
                window.send(cots[0].max(cots[1]), theirs);
            }
            let ahead = window.oldest() != Some(&0) && goes_ahead && window.admits(&left);
            let read = if ahead { 0 } else { window.receive().unwrap_or(0) };
            // The peer's proof, if it was awaited, came with the first exchange.
            goes_ahead = self.one_way();
            exchanges.push(MakerExchange { sent, read, turn: window.is_empty() });
        }
        (exchanges, made)
    }

    /// The parts of the last refill of which one is computed while another is on the line.
    pub fn parts(&self) -> u32 {
        if self.one_way() { self.batches.max(1) } else { 1 }
    }

    fn one_way(&self) -> bool {
        self.cots.iter().all(CotLengths::one_way)
    }

    /// Begins the next batches: the COTs in which we are sender and receiver, and what they make.
    fn begin(&mut self, left: &mut Remaining) -> ([usize; 2], Demand) {
        let (us, [sender, receiver]) = (self.us, &self.cots);
        if !(sender.ready() && receiver.ready()) {
            return ([0; 2], Demand::NONE);
        }
        match left.next() {
            NextBatches::Cots { sent, received } => {
                let cots = [batch_of(sender, sent), batch_of(receiver, received)];
                left.sent -= left.sent.min(cots[0] as u64);
                left.received -= left.received.min(cots[1] as u64);
                (cots, Demand::of_cots(us, cots[0] as u64) + Demand::of_cots(us.peer(), cots[1] as u64))
            }
            NextBatches::Triples(wanted) => {
                let batch = batch_of(sender, wanted).max(batch_of(receiver, wanted));
                left.triples -= left.triples.min(batch as u64);
                ([batch; 2], Demand::of_triples(batch as u64))
            }
            NextBatches::None => ([0; 2], Demand::NONE),
        }
    }

    /// The bytes of our message and of the peer's, of an exchange in which so many COTs are begun.
    fn exchange(&mut self, [sent, received]: [usize; 2]) -> (usize, usize) {
        let us = self.us;
        let proof = self.proof.take();
        let proof = [us, us.peer()].map(|party| if proof == Some(party) { Proof::LEN } else { 0 });
        let [sender, receiver] = &mut self.cots;
        let [from_us, to_us] = sender.exchange(sent);
        let [from_them, to_them] = receiver.exchange(received);
        (proof[0] + from_us + to_them, proof[1] + to_us + from_them)
    }
}

/// The number of COTs of the batch that is begun if `wanted` are wanted; zero for zero.
fn batch_of(lengths: &CotLengths, wanted: u64) -> usize {
    if wanted == 0 { 0 } else { lengths.batch(wanted) }
}
