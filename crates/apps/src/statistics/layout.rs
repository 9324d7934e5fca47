//! Widths of the totals, chunks of OTs and levels of the adder, and what follows for lengths: public terms alone.

use super::{adder, types};
use crate::argmin::rows::Rows;
use duologue::call::{Call, CallLengths, Exchange};
use duologue::circuit::Party;
use duologue::correlation::Demand;

/// OTs of a chunk: a multiple of 64.
const CHUNK: usize = 1 << 15;

/// The layout of a call.
#[derive(Clone, Copy)]
pub struct Layout {
    /// Bits of a value.
    pub width: usize,
    pub rows: usize,
    pub groups: usize,
}

impl Layout {
    pub fn new(call: &Call) -> Layout {
        let lanes = |arg: usize| call.args[arg].lanes as usize;
        Layout { width: call.args[1].ty.width as usize, rows: lanes(0), groups: lanes(2) }
    }

    /// Bits of a count, of a sum of squares and of a sum: so many that none overflows.
    pub fn fields(&self) -> [usize; 3] {
        let rows = (usize::BITS - self.rows.leading_zeros()) as usize;
        [rows, rows + 2 * self.width - 2, rows + self.width]
    }

    /// Bits of all three, the sum on top.
    pub fn bits(&self) -> usize {
        self.fields().iter().sum()
    }

    /// Rows of the three in one number as counts, sums and squares of their types.
    pub fn results(&self, all: &Rows) -> [Rows; 3] {
        let [count, square, sum] = self.fields();
        let [counts, sums, squares] = types(self.width as u32).map(|ty| ty.width as usize);
        let part = |from, bits| all.slice(from, bits);
        let signed = part(count + square, sum);
        let sign = signed.slice(sum - 1, 1);
        [
            part(0, count).then(&Rows::zeros(counts - count, self.groups)),
            (sum..sums).fold(signed, |longer, _| longer.then(&sign)),
            part(count, square).then(&Rows::zeros(squares - square, self.groups)),
        ]
    }

    /// Words of all three.
    pub fn words(&self) -> usize {
        self.bits().div_ceil(64)
    }

    /// OTs: one for each row and group.
    pub fn ots(&self) -> usize {
        self.rows * self.groups
    }

    pub fn chunks(&self) -> usize {
        self.ots().div_ceil(CHUNK)
    }

    /// The first OT of a chunk, and how many it has.
    pub fn ots_of(&self, chunk: usize) -> (usize, usize) {
        let from = chunk * CHUNK;
        (from, CHUNK.min(self.ots() - from))
    }

    /// Words that a party stores of so many OTs: both messages, or the choices and the chosen message.
    pub fn stored_words(&self, party: Party, ots: usize) -> usize {
        match party {
            Party::Alice => ots.div_ceil(64) + ots * self.words(),
            Party::Bob => 2 * ots * self.words(),
        }
    }

    /// Triples of the adder.
    pub fn triples(&self) -> usize {
        adder::ands(self.bits()) * self.groups
    }

    pub fn lengths(&self, party: Party) -> CallLengths {
        let ots = (0..self.chunks()).map(|chunk| self.ots_of(chunk).1);
        let demand = |demand| Exchange { demand, ..Exchange::default() };
        let mut setup: Vec<Exchange> = ots.clone().map(|ots| demand(Demand::of_cots(Party::Bob, ots as u64))).collect();
        setup.push(demand(Demand::of_triples(self.triples() as u64)));
        let words: usize = ots.clone().map(|ots| self.stored_words(party, ots)).sum();
        let stored = 8 * words + 3 * self.triples().div_ceil(8);

        let one_way = |by: Party, bytes| match by == party {
            true => Exchange { sent: bytes, ..Exchange::default() },
            false => Exchange { read: bytes, ..Exchange::default() },
        };
        let mut online = vec![one_way(Party::Alice, self.ots().div_ceil(8))];
        online.extend(ots.map(|ots| one_way(Party::Bob, (ots * self.bits()).div_ceil(8))));
        online.extend((0..adder::levels(self.bits())).map(|level| {
            let bytes = (2 * adder::ands_of(self.bits(), level).len() * self.groups).div_ceil(8);
            Exchange { sent: bytes, read: bytes, ..Exchange::default() }
        }));
        CallLengths { setup, stored, online }
    }
}
