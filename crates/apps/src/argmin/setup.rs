//! Setup: random OTs become what comparisons, ANDs and selections take online, in rows that are stored.
//!
//! Of a leaf the sender has the messages m_0 … m_3 of a 1-of-4 OT, two bits each: bits 2x and 2x + 1 of
//! k_0^{x_0} ⊕ k_1^{x_1}, where k are the messages of two random OTs. For every x but the choice one of them is unknown to
//! the receiver, and each x has bits of its own (as in `duologue::correlation::derived`, one bit in N).
//!
//! An AND takes shares of random bits a and b and of a·b, a node that asks for both results one a and two b. By OTs of both
//! parties: a is the choice of one OT, b the difference of the other's messages. By OTs of one party, the sender's: one whose
//! choice is the receiver's a and whose difference is the sender's b, and one for each b of the receiver, its choice, whose
//! differences must be the sender's one a: of the second the sender says in what it differs from the first.

use super::layout::{Chunk, Kind, Layout, Section};
use super::parameters::Direction;
use super::rows::Rows;
use crate::packed::{BitReader, BitWriter};
use duologue::call::{Drawn, Outbox, Stage, Zeroizing};
use duologue::circuit::Party;
use duologue::correlation::derived::{RandomOts, Strings};
use duologue::{Block, Result};

/// The setup of one party.
pub struct Setup {
    layout: Layout,
    party: Party,
    sections: Vec<Section>,
    chunks: Vec<Chunk>,
    /// Where each section begins in what is stored.
    places: Vec<usize>,
    next: usize,
    stored: Zeroizing<Vec<u8>>,
}

impl Setup {
    pub fn new(layout: Layout, party: Party) -> Setup {
        let ((sections, places), chunks) = (layout.places(party), layout.chunks());
        let stored = Zeroizing::new(vec![0; places.last().copied().unwrap_or(0)]);
        Setup { layout, party, sections, chunks, places, next: 0, stored }
    }

    /// Where a word of a chunk lies in what is stored.
    fn place(&self, chunk: Chunk, row: usize, word: usize) -> usize {
        let stride = self.sections[chunk.section].lanes.div_ceil(64);
        self.places[chunk.section] + 8 * (row * stride + chunk.from / 64 + word)
    }

    fn store(&mut self, chunk: Chunk, first_row: usize, rows: &Rows) {
        for row in 0..rows.rows() {
            let from = self.place(chunk, first_row + row, 0);
            let bytes = self.stored[from..].chunks_exact_mut(8);
            bytes.zip(rows.row(row)).for_each(|(to, word)| to.copy_from_slice(&word.to_le_bytes()));
        }
    }

    /// Reads what the sender of the chunk before said of its nodes: the second of its differences, where that is not the
    /// first, changes the second product.
    fn correct(&mut self, inbox: &[u8]) -> Result<()> {
        let Some(chunk) = self.next.checked_sub(1).and_then(|last| self.chunks.get(last).copied()) else {
            return Ok(());
        };
        let section = self.sections[chunk.section];
        let corrections = self.layout.corrections(&section);
        if section.sender == self.party || corrections == 0 {
            return Ok(());
        }
        let mut bits = BitReader::new(inbox, (corrections * chunk.lanes) as u64)?;
        for row in self.rows_of_nodes().filter_map(|(row, width)| (width == 2).then_some(row)) {
            for (word, correction) in bits.row(chunk.lanes).into_iter().enumerate() {
                let [b, product] = [row + 2, row + 4].map(|row| self.place(chunk, row, word));
                for (byte, correction) in correction.to_le_bytes().into_iter().enumerate() {
                    self.stored[product + byte] ^= self.stored[b + byte] & correction;
                }
            }
        }
        Ok(())
    }

    /// The first row of each node in the section of comparisons of a receiver, and how many b it has.
    fn rows_of_nodes(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        widths(&self.layout).scan(4 * self.layout.leaves() - 1, |row, width| {
            *row += 1 + 2 * width;
            Some((*row - 1 - 2 * width, width))
        })
    }

    fn compare(&mut self, chunk: Chunk, ots: &mut Ots<'_>, outbox: &mut Outbox) {
        let sends = self.sections[chunk.section].sender == self.party;
        let mut row = 0;
        for leaf in 0..self.layout.leaves() {
            let rows = if sends { ots.sent_leaf(leaf) } else { ots.received_leaf(leaf) };
            self.store(chunk, row, &rows);
            row += rows.rows();
        }
        let mut corrections = BitWriter::default();
        for width in widths(&self.layout) {
            let rows = self.triple(sends, width, ots, &mut corrections);
            self.store(chunk, row, &rows);
            row += rows.rows();
        }
        outbox.extend_from_slice(&corrections.bytes());
    }

    /// A share of a, of so many b, and of their products.
    fn triple(&self, sends: bool, width: usize, ots: &mut Ots<'_>, corrections: &mut BitWriter) -> Rows {
        match self.layout.direction {
            Direction::Both => ots.triple_by_both(width),
            Direction::One if sends => ots.triple_by_sender(width, corrections),
            Direction::One => ots.triple_by_receiver(width),
        }
    }

    /// As sender of OTs of what is carried: m_0 and the difference of the messages; as receiver choice and message.
    fn select(&mut self, chunk: Chunk, drawn: Drawn) {
        let (carried, sums) = (self.sections[chunk.section].carried, self.layout.sums);
        let (sent, received) = (drawn.ots.sent.strings(carried), drawn.ots.received.strings(carried));
        let [zeros, ones] = sent.m.each_ref().map(|m| transposed(m, chunk.lanes));
        let choices = Rows::tabulate(1, chunk.lanes, |lane| received.choices[lane / 64] >> (lane % 64) & 1);
        let chosen = transposed(&received.m, chunk.lanes);
        self.store(chunk, 0, &selection(sums, [zeros, ones], &choices, &chosen));
    }
}

/// Of OTs in both directions, of which the first rows are sums: m_0 and m_1 ⊖ m_0 of those that are sent; choices and
/// messages of those that are received.
fn selection(sums: usize, [zeros, ones]: [Rows; 2], choices: &Rows, chosen: &Rows) -> Rows {
    let strings = ones.rows() - sums;
    let mut sum = ones.slice(0, sums);
    sum.subtract(&zeros.slice(0, sums));
    let mut string = ones.slice(sums, strings);
    string.xor(&zeros.slice(sums, strings));
    zeros.then(&sum).then(&string).then(choices).then(chosen)
}

/// How many b each node has, in the order of the levels.
fn widths(layout: &Layout) -> impl Iterator<Item = usize> + use<> {
    layout.nodes().into_iter().flat_map(|nodes| (0..nodes).map(|node| if node == 0 { 1 } else { 2 }))
}

impl Stage for Setup {
    type Output = Zeroizing<Vec<u8>>;

    fn step(&mut self, drawn: Drawn, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        self.correct(inbox)?;
        let chunk = self.chunks[self.next];
        self.next += 1;
        let section = self.sections[chunk.section];
        if section.kind == Kind::Select {
            self.select(chunk, drawn);
            return Ok(());
        }
        let mut ots = Ots::new(&drawn.ots, chunk.lanes);
        if section.kind == Kind::Compare {
            self.compare(chunk, &mut ots, outbox);
        } else {
            let rows = self.triple(section.sender == self.party, 1, &mut ots, &mut BitWriter::default());
            self.store(chunk, 0, &rows);
        }
        debug_assert_eq!(ots.used, [ots.sent[0].len(), ots.received.len()], "each is used once");
        Ok(())
    }

    fn finish(mut self: Box<Self>, inbox: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        self.correct(inbox)?;
        Ok(self.stored)
    }
}

/// The random OTs of a chunk. They are taken in order, one for each lane at a time, and each once.
struct Ots<'a> {
    /// The messages of those that are sent: all m_0, all m_1.
    sent: [&'a [Block]; 2],
    /// The choices of those that are received, packed, and their messages.
    choices: &'a [u64],
    received: &'a [Block],
    lanes: usize,
    /// How many are used in each direction.
    used: [usize; 2],
}

/// In bits 2x and 2x + 1, for all x: where x_0 and x_1 are one.
const WHERE: [u64; 2] = [0xcc, 0xf0];

impl<'a> Ots<'a> {
    fn new(ots: &'a RandomOts, lanes: usize) -> Ots<'a> {
        let (choices, received) = (ots.received.choices(), ots.received.messages());
        Ots { sent: ots.sent.messages(), choices, received, lanes, used: [0, 0] }
    }

    /// The first of the next OTs that this party sends, `count` for each lane.
    fn send(&mut self, count: usize) -> usize {
        self.used[0] += count * self.lanes;
        self.used[0] - count * self.lanes
    }

    /// The first of the next OTs that this party receives.
    fn receive(&mut self, count: usize) -> usize {
        self.used[1] += count * self.lanes;
        self.used[1] - count * self.lanes
    }

    /// The lowest bits of m_0 and m_1.
    fn sent_at(&self, ot: usize) -> [u64; 2] {
        self.sent.map(|m| m[ot].get() as u64)
    }

    /// The choice, and the lowest bits of its message.
    fn received_at(&self, ot: usize) -> [u64; 2] {
        [self.choices[ot / 64] >> (ot % 64) & 1, self.received[ot].get() as u64]
    }

    /// m_0, then m_x ⊕ m_0 for x = 1, 2, 3; of the lowest leaf "greater" alone.
    fn sent_leaf(&mut self, leaf: usize) -> Rows {
        let (lanes, from) = (self.lanes, self.send(2));
        let table = |lane| {
            let message = |[zero, one]: [u64; 2], place| zero ^ (zero ^ one) & place;
            let m = message(self.sent_at(from + lane), WHERE[0]) ^ message(self.sent_at(from + lanes + lane), WHERE[1]);
            m ^ ((m & 3) * 0b101_0100)
        };
        let greater = |bits: u64| (0..4).fold(0, |greater, x| greater | (bits >> (2 * x) & 1) << x);
        if leaf > 0 { Rows::tabulate(8, lanes, table) } else { Rows::tabulate(4, lanes, |lane| greater(table(lane))) }
    }

    /// Both bits of the choice c, then m_c; of the lowest leaf "greater" alone.
    fn received_leaf(&mut self, leaf: usize) -> Rows {
        let (lanes, from) = (self.lanes, self.receive(2));
        Rows::tabulate(if leaf > 0 { 4 } else { 3 }, lanes, |lane| {
            let [[low, m], [high, n]] = [from + lane, from + lanes + lane].map(|ot| self.received_at(ot));
            let choice = low | high << 1;
            choice | ((m ^ n) >> (2 * choice) & 3) << 2
        })
    }

    fn triple_by_both(&mut self, width: usize) -> Rows {
        let (sent, received) = (self.send(1), self.receive(1));
        Rows::tabulate(1 + 2 * width, self.lanes, |lane| {
            let ([v, other], [a, u]) = (self.sent_at(sent + lane), self.received_at(received + lane));
            packed(width, a, v ^ other, u ^ v)
        })
    }

    fn triple_by_sender(&mut self, width: usize, corrections: &mut BitWriter) -> Rows {
        let (lanes, from) = (self.lanes, self.send(1 + width));
        let difference = |ot| {
            let [zero, one] = self.sent_at(ot);
            zero ^ one
        };
        if width == 2 {
            let differ = |lane| difference(from + lanes + lane) ^ difference(from + 2 * lanes + lane);
            corrections.row(Rows::tabulate(1, lanes, differ).row(0), lanes);
        }
        Rows::tabulate(1 + 2 * width, lanes, |lane| {
            let low = |product: usize| (self.sent_at(from + product * lanes + lane)[0] & 1) << (product - 1);
            let v = (1..=width).fold(self.sent_at(from + lane)[0], |v, product| v ^ low(product));
            packed(width, difference(from + lanes + lane) & 1, difference(from + lane), v)
        })
    }

    fn triple_by_receiver(&mut self, width: usize) -> Rows {
        let (lanes, from) = (self.lanes, self.receive(1 + width));
        Rows::tabulate(1 + 2 * width, lanes, |lane| {
            let [a, u] = self.received_at(from + lane);
            let at = |product: usize| {
                self.received_at(from + product * lanes + lane).map(|bits| (bits & 1) << (product - 1))
            };
            let [b, u] = (1..=width).map(at).fold([0, u], |[b, u], [choice, m]| [b | choice, u ^ m]);
            packed(width, a, b, u)
        })
    }
}

/// The bits a, b and c of a triple, c = a·b ⊕ `masks`.
fn packed(width: usize, a: u64, b: u64, masks: u64) -> u64 {
    let all = (1 << width) - 1;
    let (b, c) = (b & all, (a.wrapping_neg() & b ^ masks) & all);
    a | b << 1 | c << (1 + width)
}

/// Strings as rows.
fn transposed(strings: &Strings, lanes: usize) -> Rows {
    let mut rows = Rows::zeros(strings.bits(), lanes);
    for lane in 0..lanes {
        for (row, word) in (0..strings.bits()).map(|row| (row, strings.row(lane)[row / 64])) {
            rows.row_mut(row)[lane / 64] |= (word >> (row % 64) & 1) << (lane % 64);
        }
    }
    rows
}

#[cfg(test)]
mod tests;
