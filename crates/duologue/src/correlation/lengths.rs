//! The exchanges of a session's correlations in lengths alone: base OTs when they are called for, and refills.

use super::maker::{NextBatches, Remaining};
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
    /// Bytes of the probe that travels with the first base OTs.
    probe: usize,
}

/// The bytes that we send and read in each exchange.
pub(crate) type Lengths = Vec<(usize, usize)>;

impl MakerLengths {
    pub fn new(us: Party, extension: Extension) -> Self {
        let cots = [(); 2].map(|()| extension.lengths());
        MakerLengths { us, cots, based: Based::default(), proof: None, probe: 0 }
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
        exchanges
    }

    /// A refill, with its base OTs, and the correlations that it adds to the stock.
    pub fn refill(&mut self, demand: Demand) -> (Lengths, Demand) {
        let us = self.us;
        let mut left = Remaining::new(us, demand);
        let (mut exchanges, mut made) = (self.base(&demand), Demand::NONE);
        let [sender, receiver] = &mut self.cots;
        while !(left.is_none() && sender.idle() && receiver.idle()) {
            let begun = if sender.ready() && receiver.ready() { left.next() } else { NextBatches::None };
            let (sent, received) = match begun {
                NextBatches::Cots { sent, received } => (batch_of(sender, sent), batch_of(receiver, received)),
                NextBatches::Triples(wanted) => [batch_of(sender, wanted).max(batch_of(receiver, wanted)); 2].into(),
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
            let proof = self.proof.take();
            let proof = [us, us.peer()].map(|party| if proof == Some(party) { Proof::LEN } else { 0 });
            let [from_us, to_us] = sender.exchange(sent);
            let [from_them, to_them] = receiver.exchange(received);
            exchanges.push((proof[0] + from_us + to_them, proof[1] + to_us + from_them));
        }
        (exchanges, made)
    }
}

/// The number of COTs of the batch that is begun if `wanted` are wanted; zero for zero.
fn batch_of(lengths: &CotLengths, wanted: u64) -> usize {
    if wanted == 0 { 0 } else { lengths.batch(wanted) }
}
