//! Setup and online: an OT for each row and group, and the sum of both parties' totals.

use super::adder::{Adder, Triples};
use super::layout::Layout;
use crate::argmin::rows::Rows;
use crate::packed::{BitReader, BitWriter};
use duologue::Result;
use duologue::call::{Context, Drawn, Outbox, Stage, Zeroizing};
use duologue::circuit::{BitMatrix, Party};
use kernels::Block;
use kernels::ot_hash::OtHash;

/// Setup: a chunk at a time, random OTs become strings that are stored; then triples.
pub struct Setup {
    layout: Layout,
    party: Party,
    hashes: Vec<OtHash>,
    next: usize,
    stored: Zeroizing<Vec<u8>>,
}

impl Setup {
    pub fn new(layout: Layout, context: &Context) -> Setup {
        let stored = Zeroizing::new(Vec::with_capacity(layout.lengths(context.party).stored));
        let hashes = (0..layout.bits().div_ceil(128) as u8).map(|part| hash(&context.domain, part)).collect();
        Setup { layout, party: context.party, hashes, next: 0, stored }
    }

    /// Of each message of a chunk as many words as a mask has: of 128 bits each a hash of it under a salt of its own, since
    /// whoever guesses what one part masks must not have the others by it.
    fn masks(&self, from: usize, messages: &[Block]) -> Zeroizing<Vec<u64>> {
        let words = self.layout.words();
        let mut masks = Zeroizing::new(vec![0; messages.len() * words]);
        let mut hashed = Zeroizing::new(vec![Block::ZERO; messages.len()]);
        for (part, hash) in self.hashes.iter().enumerate() {
            hash.chosen(from as u64, messages, &mut hashed);
            for (mask, block) in masks.chunks_mut(words).zip(hashed.iter()) {
                let halves = [block.get() as u64, (block.get() >> 64) as u64];
                mask[2 * part..].iter_mut().zip(halves).for_each(|(word, half)| *word = half);
            }
        }
        masks
    }

    fn store(&mut self, words: &[u64]) {
        words.iter().for_each(|word| self.stored.extend(word.to_le_bytes()));
    }
}

impl Stage for Setup {
    type Output = Zeroizing<Vec<u8>>;

    fn step(&mut self, drawn: Drawn, _: &[u8], _: &mut Outbox) -> Result<()> {
        if self.next == self.layout.chunks() {
            let count = self.layout.triples();
            for bits in [&drawn.triples.a, &drawn.triples.b, &drawn.triples.c] {
                let mut out = BitWriter::default();
                out.row(bits, count);
                self.stored.extend_from_slice(&Zeroizing::new(out.bytes()));
            }
            return Ok(());
        }
        let (from, _) = self.layout.ots_of(self.next);
        if self.party == Party::Alice {
            self.store(drawn.ots.received.choices());
            self.store(&self.masks(from, drawn.ots.received.messages()));
        } else {
            drawn.ots.sent.messages().iter().for_each(|messages| self.store(&self.masks(from, messages)));
        }
        self.next += 1;
        Ok(())
    }

    fn finish(self: Box<Self>, _: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        Ok(self.stored)
    }
}

/// The hash for a part of the masks. No other call has the domain.
fn hash(domain: &[u8; 32], part: u8) -> OtHash {
    let salt = blake3::derive_key("duologue v1 totals: masks", &[&domain[..], &[part]].concat());
    OtHash::new(Block::from_bytes(*salt.first_chunk().expect("16 of 32 bytes")))
}

/// A number modulo 2^bits, 64 bits to a word.
type Number = [u64; 4];

/// a + b or a − b modulo 2^256.
fn plus(a: &Number, b: &Number, subtract: bool) -> Number {
    let (flip, mut carry) = (u64::from(subtract).wrapping_neg(), u64::from(subtract));
    std::array::from_fn(|i| {
        let sum = u128::from(a[i]) + u128::from(b[i] ^ flip) + u128::from(carry);
        carry = (sum >> 64) as u64;
        sum as u64
    })
}

fn number(words: &[u64]) -> Number {
    std::array::from_fn(|i| words.get(i).copied().unwrap_or(0))
}

/// Online.
pub struct Online {
    layout: Layout,
    party: Party,
    /// Whether a row belongs to a group, a bit for each row and group; at Bob in how far that is not the random choice.
    members: Zeroizing<Vec<u64>>,
    /// Bob's: of each row 1, the square and the value, or nothing.
    terms: Zeroizing<Vec<Number>>,
    stored: Zeroizing<Vec<u8>>,
    /// The party's shares of the totals, a number for each group.
    totals: Zeroizing<Vec<Number>>,
    adder: Option<Adder>,
    /// The next exchange.
    next: usize,
}

impl Online {
    pub fn new(layout: Layout, party: Party, stored: Zeroizing<Vec<u8>>, args: &[Option<BitMatrix>]) -> Result<Online> {
        let own = |arg: usize| args[arg].as_ref().ok_or_else(|| duologue::Error::usage("a column is missing"));
        let (mut members, mut terms) = Default::default();
        match party {
            Party::Alice => members = members_of(&layout, &Zeroizing::new(own(0)?.to_numbers()?)),
            Party::Bob => terms = terms_of(&layout, &Zeroizing::new(own(1)?.to_numbers()?)),
        }
        let totals = Zeroizing::new(vec![Number::default(); layout.groups]);
        Ok(Online { layout, party, members, terms, stored, totals, adder: None, next: 0 })
    }

    /// The words that setup stored of a chunk.
    fn chunk(&self, chunk: usize) -> Zeroizing<Vec<u64>> {
        let words = |ots| self.layout.stored_words(self.party, ots);
        let before: usize = (0..chunk).map(|chunk| words(self.layout.ots_of(chunk).1)).sum();
        let stored = &self.stored[8 * before..][..8 * words(self.layout.ots_of(chunk).1)];
        Zeroizing::new(stored.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)).collect())
    }

    fn member(&self, ot: usize) -> u64 {
        self.members[ot / 64] >> (ot % 64) & 1
    }

    /// Alice's choices, masked by the random ones.
    fn masked(&self) -> Vec<u8> {
        let mut out = BitWriter::default();
        for chunk in 0..self.layout.chunks() {
            let (from, ots) = self.layout.ots_of(chunk);
            let choices = self.chunk(chunk);
            let words = self.members[from / 64..].iter().zip(&choices[..ots.div_ceil(64)]);
            out.row(&words.map(|(member, choice)| member ^ choice).collect::<Vec<_>>(), ots);
        }
        out.bytes()
    }

    /// Bob: −k_0 is his share, and k_0 + x − k_1 goes to Alice.
    fn answer(&mut self, chunk: usize) -> Vec<u8> {
        let ((from, ots), words, groups) = (self.layout.ots_of(chunk), self.layout.words(), self.layout.groups);
        let (stored, mut out) = (self.chunk(chunk), BitWriter::default());
        for ot in 0..ots {
            let flip = self.member(from + ot) as usize;
            let message = |choice: usize| number(&stored[((choice ^ flip) * ots + ot) * words..][..words]);
            let (k0, k1) = (message(0), message(1));
            let both = plus(&k0, &self.terms[(from + ot) / groups], false);
            out.row(&plus(&both, &k1, true)[..words], self.layout.bits());
            let total = &mut self.totals[(from + ot) % groups];
            *total = plus(total, &k0, true);
        }
        out.bytes()
    }

    /// Alice: her share is k_0, or k_1 and what Bob said.
    fn choose(&mut self, chunk: usize, inbox: &[u8]) -> Result<()> {
        let ((from, ots), words, groups) = (self.layout.ots_of(chunk), self.layout.words(), self.layout.groups);
        let mut said = BitReader::new(inbox, (ots * self.layout.bits()) as u64)?;
        let stored = self.chunk(chunk);
        let messages = &stored[ots.div_ceil(64)..];
        for ot in 0..ots {
            let mask = self.member(from + ot).wrapping_neg();
            let said = number(&said.row(self.layout.bits())).map(|word| word & mask);
            let own = plus(&number(&messages[ot * words..][..words]), &said, false);
            let total = &mut self.totals[(from + ot) % groups];
            *total = plus(total, &own, false);
        }
        Ok(())
    }

    /// What came with the last exchange.
    fn read(&mut self, inbox: &[u8]) -> Result<()> {
        let Some(last) = self.next.checked_sub(1) else { return Ok(()) };
        match (last, self.party) {
            (0, Party::Bob) => {
                let ots = self.layout.ots();
                self.members = Zeroizing::new(BitReader::new(inbox, ots as u64)?.row(ots));
                Ok(())
            }
            (last, Party::Alice) if (1..=self.layout.chunks()).contains(&last) => self.choose(last - 1, inbox),
            _ => self.adder.as_mut().map_or(Ok(()), |adder| adder.hear(inbox)),
        }
    }

    /// What the next exchange sends, after what the one before it read.
    fn advance(&mut self, inbox: &[u8]) -> Result<Vec<u8>> {
        self.read(inbox)?;
        let (chunks, next) = (self.layout.chunks(), self.next);
        self.next += 1;
        match self.party {
            _ if next > chunks => self.open(next - chunks - 1),
            Party::Alice if next == 0 => Ok(self.masked()),
            Party::Bob if next > 0 => Ok(self.answer(next - 1)),
            _ => Ok(Vec::new()),
        }
    }

    /// A level of the adder.
    fn open(&mut self, level: usize) -> Result<Vec<u8>> {
        let (bits, triples) = (self.layout.bits(), self.layout.triples());
        let from = self.stored.len() - 3 * triples.div_ceil(8);
        let mut triples = Triples::new(&self.stored[from..], triples)?;
        (0..level).for_each(|level| triples.skip(bits, level, self.layout.groups));
        let adder = self
            .adder
            .get_or_insert_with(|| Adder::new(self.party, Rows::of_numbers(bits, self.totals.as_flattened(), 4), bits));
        Ok(adder.say(&mut triples))
    }
}

impl Stage for Online {
    type Output = Vec<Option<BitMatrix>>;

    fn step(&mut self, _: Drawn, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        let said = self.advance(inbox)?;
        outbox.extend_from_slice(&said);
        Ok(())
    }

    fn finish(mut self: Box<Self>, inbox: &[u8]) -> Result<Vec<Option<BitMatrix>>> {
        self.read(inbox)?;
        let sums = self.adder.map(Adder::finish).unwrap_or_else(|| Rows::zeros(self.layout.bits(), self.layout.groups));
        Ok(self.layout.results(&sums).map(|rows| Some(rows.to_matrix())).into())
    }
}

/// A bit for each row and group, row by row.
fn members_of(layout: &Layout, groups: &[u64]) -> Zeroizing<Vec<u64>> {
    let mut members = Zeroizing::new(vec![0u64; layout.ots().div_ceil(64)]);
    for (row, &of) in groups.iter().enumerate() {
        for group in 0..layout.groups {
            let ot = row * layout.groups + group;
            members[ot / 64] |= u64::from(of == group as u64) << (ot % 64);
        }
    }
    members
}

/// Of each value 1, its square and itself in their fields; the least number of its type stands for none, and is nothing.
fn terms_of(layout: &Layout, values: &[i64]) -> Zeroizing<Vec<Number>> {
    let [count, square, _] = layout.fields();
    let none = i64::MIN >> (64 - layout.width);
    let term = |&value: &i64| {
        let mask = u64::from(value != none).wrapping_neg();
        let size = u128::from(value.unsigned_abs());
        let sign = (value >> 63) as u64;
        let value = shifted(&[value as u64, sign, sign, sign], count + square);
        let parts = [number(&[1]), shifted(&split(size * size), count), value];
        let all = parts.iter().fold(Number::default(), |all, part| plus(&all, part, false));
        cut(all, layout.bits()).map(|word| word & mask)
    };
    Zeroizing::new(values.iter().map(term).collect())
}

fn split(wide: u128) -> Number {
    [wide as u64, (wide >> 64) as u64, 0, 0]
}

/// a·2^by modulo 2^256.
fn shifted(a: &Number, by: usize) -> Number {
    let (words, bits) = (by / 64, by % 64);
    let word = |i: usize| i.checked_sub(words).map_or(0, |i| a[i]);
    std::array::from_fn(|i| word(i) << bits | i.checked_sub(1).map_or(0, |i| word(i) >> 1 >> (63 - bits)))
}

fn cut(mut a: Number, bits: usize) -> Number {
    for (i, word) in a.iter_mut().enumerate() {
        let left = bits.saturating_sub(64 * i).min(64);
        *word &= if left == 0 { 0 } else { u64::MAX >> (64 - left) };
    }
    a
}

#[cfg(test)]
mod tests;
