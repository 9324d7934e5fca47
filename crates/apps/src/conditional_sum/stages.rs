//! Setup and online of both roles.

use super::{Layout, Message, numbers};
use crate::packed::{BitReader, BitWriter};
use duologue::Result;
use duologue::call::{Drawn, Outbox, Stage, Zeroizing};
use duologue::circuit::{BitMatrix, Party};
use std::ops::Range;

/// Setup: of the random OTs of each chunk so many bytes as a sum has are stored.
pub struct Setup {
    layout: Layout,
    party: Party,
    stored: Zeroizing<Vec<u8>>,
}

impl Setup {
    pub fn new(layout: Layout, party: Party) -> Setup {
        let stored = Zeroizing::new(Vec::with_capacity(layout.lengths(party).stored));
        Setup { layout, party, stored }
    }

    fn keep(&mut self, messages: &[kernels::Block]) {
        let bytes = self.layout.bytes;
        messages.iter().for_each(|message| self.stored.extend_from_slice(&message.to_bytes()[..bytes]));
    }
}

impl Stage for Setup {
    type Output = Zeroizing<Vec<u8>>;

    fn step(&mut self, drawn: Drawn, _: &[u8], _: &mut Outbox) -> Result<()> {
        debug_assert!(self.layout.senders.contains(&self.party) || drawn.ots.sent.is_empty());
        drawn.ots.sent.messages().into_iter().for_each(|messages| self.keep(messages));
        drawn.ots.received.choices().iter().for_each(|word| self.stored.extend_from_slice(&word.to_le_bytes()));
        self.keep(drawn.ots.received.messages());
        Ok(())
    }

    fn finish(self: Box<Self>, _: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        Ok(self.stored)
    }
}

/// Online: the masked conditions of all chunks, then the corrections of all.
pub struct Online {
    layout: Layout,
    party: Party,
    exchanges: Vec<(Message, usize, Range<usize>)>,
    next: usize,
    stored: Zeroizing<Vec<u8>>,
    /// Where what is stored of each chunk of each term begins, in their order.
    places: Vec<usize>,
    /// This party's share of each bit of the conditions, packed.
    conditions: Vec<Zeroizing<Vec<u64>>>,
    /// Its own values.
    values: Vec<Option<Zeroizing<Vec<i64>>>>,
    /// The peer's masked conditions, in the order of the chunks.
    masked: Vec<Vec<u64>>,
    /// Of each bit of the conditions.
    shares: Zeroizing<Vec<u64>>,
}

impl Online {
    pub fn new(
        layout: Layout,
        party: Party,
        stored: Zeroizing<Vec<u8>>,
        args: Vec<Option<BitMatrix>>,
    ) -> Result<Online> {
        let mut args = args.into_iter();
        let own = args.next().flatten();
        let row = |bit| own.as_ref().map_or(vec![0; layout.lanes.div_ceil(64)], |own| own.row(bit).to_vec());
        let conditions: Vec<_> = (0..layout.conditions).map(|bit| Zeroizing::new(row(bit))).collect();
        let numbers =
            |value: Option<BitMatrix>| Ok(value.map(|value| value.to_numbers()).transpose()?.map(Zeroizing::new));
        let values = args.map(numbers).collect::<Result<Vec<_>>>()?;
        let sizes = layout.parts().map(|(term, lanes)| layout.stored(party, term, &lanes));
        let places = sizes.scan(0, |at, size| Some(std::mem::replace(at, *at + size))).collect();
        let exchanges = layout.exchanges();
        let (masked, shares) = (vec![Vec::new(); exchanges.len() / 2], Zeroizing::new(vec![0; layout.conditions]));
        Ok(Online { layout, party, exchanges, next: 0, stored, places, conditions, values, masked, shares })
    }

    /// What came with the last exchange, if it is the peer's.
    fn read(&mut self, inbox: &[u8]) -> Result<()> {
        let Some(last) = self.next.checked_sub(1) else { return Ok(()) };
        let Some((message, term, lanes)) = self.exchanges.get(last).cloned() else { return Ok(()) };
        if self.layout.writer(message, term) == self.party {
            return Ok(());
        }
        let part = last % self.masked.len();
        match message {
            Message::Masked => {
                self.masked[part] = BitReader::new(inbox, lanes.len() as u64)?.row(lanes.len());
            }
            Message::Corrections => self.correct(part, term, &lanes, inbox),
        }
        Ok(())
    }

    fn write(&mut self, outbox: &mut Outbox) {
        let Some((message, term, lanes)) = self.exchanges.get(self.next).cloned() else { return };
        if self.layout.writer(message, term) != self.party {
            return;
        }
        let part = self.next % self.masked.len();
        match message {
            Message::Masked => self.mask(part, term, &lanes, outbox),
            Message::Corrections => self.answer(part, term, &lanes, outbox),
        }
    }

    /// Receiver: d = c ⊕ e_R.
    fn mask(&self, part: usize, term: usize, lanes: &Range<usize>, outbox: &mut Outbox) {
        let mut out = BitWriter::default();
        let own = self.conditions[self.layout.factors(term).1][lanes.start / 64..].iter();
        let masked: Vec<u64> = self.choices(part, lanes).zip(own).map(|(choice, own)| choice ^ own).collect();
        out.row(&masked, lanes.len());
        outbox.extend_from_slice(&out.bytes());
    }

    /// Sender: y of each lane, and its share Σ e_S·v − m_d.
    fn answer(&mut self, part: usize, term: usize, lanes: &Range<usize>, outbox: &mut Outbox) {
        let (value, bit) = self.layout.factors(term);
        let (bytes, stored) = (self.layout.bytes, &self.stored[self.places[part]..]);
        let [zeros, ones] = [0, 1].map(|choice| stored[choice * bytes * lanes.len()..].chunks_exact(bytes));
        let mut answers = Vec::with_capacity(bytes * lanes.len());
        for (lane, (m0, m1)) in zeros.zip(ones).take(lanes.len()).enumerate() {
            let (m0, m1) = (word(m0), word(m1));
            let own = self.values.get(value).and_then(Option::as_ref).map_or(1, |own| own[lanes.start + lane] as u64);
            let [d, set] = [mask(&self.masked[part], lane), mask(&self.conditions[bit], lanes.start + lane)];
            let swap = (m0 ^ m1) & d;
            let (kept, other) = (m0 ^ swap, m1 ^ swap);
            let answer = kept.wrapping_sub(other).wrapping_add((own ^ set).wrapping_sub(set));
            answers.extend_from_slice(&answer.to_le_bytes()[..bytes]);
            self.shares[bit] = self.shares[bit].wrapping_add(own & set).wrapping_sub(kept);
        }
        outbox.extend_from_slice(&answers);
    }

    /// Receiver: its share Σ m_c + e_R·y.
    fn correct(&mut self, part: usize, term: usize, lanes: &Range<usize>, inbox: &[u8]) {
        let bit = self.layout.factors(term).1;
        let (bytes, from) = (self.layout.bytes, self.places[part] + 8 * lanes.len().div_ceil(64));
        let chosen = self.stored[from..].chunks_exact(bytes);
        for ((lane, answer), chosen) in lanes.clone().zip(inbox.chunks_exact(bytes)).zip(chosen) {
            let corrected = word(chosen).wrapping_add(word(answer) & mask(&self.conditions[bit], lane));
            self.shares[bit] = self.shares[bit].wrapping_add(corrected);
        }
    }

    /// Receiver: the choices c, packed.
    fn choices(&self, part: usize, lanes: &Range<usize>) -> impl Iterator<Item = u64> {
        let stored = &self.stored[self.places[part]..];
        stored.as_chunks().0.iter().take(lanes.len().div_ceil(64)).map(|&word| u64::from_le_bytes(word))
    }
}

/// Up to eight little-endian bytes.
fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// All ones if the bit is set, else zeros.
fn mask(bits: &[u64], at: usize) -> u64 {
    (bits[at / 64] >> (at % 64) & 1).wrapping_neg()
}

impl Online {
    pub(super) fn advance(&mut self, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        self.read(inbox)?;
        self.write(outbox);
        self.next += 1;
        Ok(())
    }

    /// Its shares of the sums.
    pub(super) fn end(mut self, inbox: &[u8]) -> Result<Zeroizing<Vec<u64>>> {
        self.read(inbox)?;
        Ok(self.shares)
    }
}

impl Stage for Online {
    type Output = Vec<Option<BitMatrix>>;

    fn step(&mut self, _: Drawn, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        self.advance(inbox, outbox)
    }

    fn finish(self: Box<Self>, inbox: &[u8]) -> Result<Vec<Option<BitMatrix>>> {
        let (party, bytes) = (self.party as usize, self.layout.bytes);
        let mut results = vec![None, None];
        results[party] = Some(numbers(bytes, &self.end(inbox)?));
        Ok(results)
    }
}
