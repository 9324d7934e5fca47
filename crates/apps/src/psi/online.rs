//! The online phase: receiver and sender, exchange by exchange.

use super::layout::{KEY, Layout, Message};
use super::okvs::Rows;
use super::tags::{Comparison, Tags};
use crate::vole::random;
use duologue::call::{Drawn, Outbox, Stage, Zeroizing};
use duologue::circuit::{BitMatrix, Party};
use duologue::{Error, Result};
use kernels::{Block, field};
use std::ops::Range;

/// Seeds that the receiver tries: under one there is no table with about 2⁻⁴⁰.
const SEEDS: usize = 8;

/// Strings that are decoded at a time.
const DECODED: usize = 1 << 10;

/// The rows under a seed of the receiver's in this call.
pub(super) fn rows(layout: &Layout, key: &[u8; KEY], seed: Block) -> Rows {
    let mut hasher = blake3::Hasher::new_derive_key("duologue v1 PSI: rows");
    let seed = *hasher.update(key).update(&seed.to_bytes()).finalize().as_bytes();
    Rows::new(layout.shape, Block::from_bytes(*seed.first_chunk().expect("16 of 32 bytes")))
}

/// The strings of a party, filled up with zeros.
fn strings(own: &BitMatrix) -> Zeroizing<Vec<Block>> {
    let (bytes, len) = (Zeroizing::new(own.to_byte_rows()), own.rows().div_ceil(8));
    let block = |lane: &[u8]| {
        let mut block = [0; 16];
        block[..len].copy_from_slice(lane);
        Block::from_bytes(block)
    };
    Zeroizing::new(bytes.chunks_exact(len).map(block).collect())
}

/// The key, and what VOLE gave, of what setup stored.
fn split(stored: &[u8]) -> ([u8; KEY], &[[u8; 16]]) {
    let (key, vectors) = stored.split_first_chunk().expect("setup stores a key");
    (*key, vectors.as_chunks().0)
}

/// The party that encodes its strings, and learns.
pub struct Receiver {
    layout: Layout,
    exchanges: Vec<(Message, Range<usize>)>,
    next: usize,
    /// The key, a and c.
    stored: Zeroizing<Vec<u8>>,
    strings: Zeroizing<Vec<Block>>,
    seed: Block,
    table: Zeroizing<Vec<Block>>,
    comparison: Option<Comparison>,
    found: BitMatrix,
    /// Which tags of the peer's are in both, if it learns that.
    theirs: BitMatrix,
}

/// The party that sends tags.
pub struct Sender {
    layout: Layout,
    exchanges: Vec<(Message, Range<usize>)>,
    next: usize,
    key: [u8; KEY],
    delta: Block,
    strings: Zeroizing<Vec<Block>>,
    seed: Block,
    /// b, which becomes k block by block.
    table: Zeroizing<Vec<Block>>,
    tags: Option<Tags>,
    /// Strings that are equal to others, and these.
    again: Vec<(u32, u32)>,
    found: BitMatrix,
}

impl Receiver {
    pub fn new(layout: Layout, stored: Zeroizing<Vec<u8>>, own: &BitMatrix) -> Result<Receiver> {
        let [found, theirs] = [layout.encoded, layout.tagged].map(|lanes| BitMatrix::zeros(1, lanes));
        let (exchanges, strings) = (layout.exchanges(), strings(own));
        let (seed, table) = if layout.is_empty() { Default::default() } else { encode(&layout, &stored, &strings)? };
        Ok(Receiver { layout, exchanges, next: 0, stored, strings, seed, table, comparison: None, found, theirs })
    }

    /// a + P, from some place on; the seed is before the first.
    fn write_table(&self, part: Range<usize>, outbox: &mut Outbox) {
        let (_, vectors) = split(&self.stored);
        let block = |place: usize| match place.checked_sub(1) {
            None => self.seed,
            Some(at) => self.table[at] ^ Block::from_bytes(vectors[at]),
        };
        let blocks: Vec<Block> = part.map(block).collect();
        outbox.extend_from_slice(bytemuck::cast_slice(&blocks));
    }

    /// The own tags: while the peer computes its.
    fn prepare(&mut self) {
        let (key, vectors) = split(&self.stored);
        let (rows, c) = (rows(&self.layout, &key, self.seed), &vectors[self.layout.shape.len()..]);
        let mut values = Zeroizing::new(vec![Block::ZERO; self.strings.len()]);
        rows.decode(c, &self.strings, &mut values);
        self.comparison = Some(Comparison::new(Tags::new(&key, self.layout.tag, &values, &self.strings)));
    }

    fn read(&mut self, inbox: &[u8]) -> Result<()> {
        let Some((Message::Tags, part)) = self.next.checked_sub(1).and_then(|last| self.exchanges.get(last)) else {
            return Ok(());
        };
        let Some(comparison) = &mut self.comparison else { return Ok(()) };
        comparison.read(inbox, |place, string| {
            self.found.set(0, string, true);
            self.theirs.set(0, part.start + place, true);
        })
    }
}

/// A seed and the table of the strings under it.
fn encode(layout: &Layout, stored: &[u8], strings: &[Block]) -> Result<(Block, Zeroizing<Vec<Block>>)> {
    let (mut random, (key, _)) = (random()?, split(stored));
    let mut values = Zeroizing::new(vec![Block::ZERO; strings.len()]);
    for _ in 0..SEEDS {
        let seed = random.block();
        let rows = rows(layout, &key, seed);
        rows.values(strings, &mut values);
        if let Some(table) = rows.encode(strings, &values, &mut random) {
            return Ok((seed, Zeroizing::new(table)));
        }
    }
    Err(Error::usage(format!("under none of {SEEDS} seeds the strings have a table: this should not happen")))
}

impl Receiver {
    pub(super) fn advance(&mut self, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        self.read(inbox)?;
        match self.exchanges.get(self.next).cloned() {
            Some((Message::Table, part)) => self.write_table(part, outbox),
            Some((Message::Tags, part)) if part.start == 0 => self.prepare(),
            Some((Message::Found, part)) => outbox.extend_from_slice(&packed(&self.theirs, part)),
            _ => {}
        }
        self.next += 1;
        Ok(())
    }

    pub(super) fn end(mut self, inbox: &[u8]) -> Result<Vec<Option<BitMatrix>>> {
        self.read(inbox)?;
        Ok(results(&self.layout, self.layout.receiver, self.found))
    }
}

impl Stage for Receiver {
    type Output = Vec<Option<BitMatrix>>;

    fn step(&mut self, _: Drawn, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        self.advance(inbox, outbox)
    }

    fn finish(self: Box<Self>, inbox: &[u8]) -> Result<Vec<Option<BitMatrix>>> {
        self.end(inbox)
    }
}

impl Sender {
    pub fn new(layout: Layout, stored: Zeroizing<Vec<u8>>, own: &BitMatrix) -> Sender {
        let (found, exchanges, strings) = (BitMatrix::zeros(1, layout.tagged), layout.exchanges(), strings(own));
        let mut sender = Sender {
            layout,
            exchanges,
            next: 0,
            key: [0; KEY],
            delta: Block::ZERO,
            strings,
            seed: Block::ZERO,
            table: Zeroizing::default(),
            tags: None,
            again: Vec::new(),
            found,
        };
        if !layout.is_empty() {
            let (key, vectors) = split(&stored);
            sender.key = key;
            sender.delta = Block::from_bytes(vectors[0]);
            sender.table = Zeroizing::new(vectors[1..].iter().map(|&block| Block::from_bytes(block)).collect());
        }
        sender
    }

    /// k = b + Δ·(a + P).
    fn read_table(&mut self, part: &Range<usize>, inbox: &[u8]) {
        let mut blocks = inbox.as_chunks::<16>().0.iter().map(|&block| Block::from_bytes(block));
        if part.start == 0 {
            self.seed = blocks.next().unwrap_or_default();
        }
        let blocks: Vec<Block> = blocks.collect();
        let from = part.start.saturating_sub(1);
        field::add_products(&[self.delta], &blocks, blocks.len(), &mut self.table[from..from + blocks.len()]);
    }

    /// The tags of all strings, once the table is there.
    fn prepare(&mut self) -> Result<()> {
        let rows = rows(&self.layout, &self.key, self.seed);
        let table: &[[u8; 16]] = bytemuck::cast_slice(&self.table);
        let mut values = Zeroizing::new(vec![Block::ZERO; self.strings.len()]);
        let mut own = Zeroizing::new(vec![Block::ZERO; DECODED]);
        for (strings, values) in self.strings.chunks(DECODED).zip(values.chunks_mut(DECODED)) {
            let own = &mut own[..strings.len()];
            rows.values(strings, own);
            field::add_products(&[self.delta], own, own.len(), values);
            rows.decode(table, strings, values);
        }
        let mut tags = Tags::new(&self.key, self.layout.tag, &values, &self.strings);
        self.again = tags.make_distinct(&mut random()?);
        self.tags = Some(tags);
        Ok(())
    }

    fn read(&mut self, inbox: &[u8]) -> Result<()> {
        let Some((message, part)) = self.next.checked_sub(1).and_then(|last| self.exchanges.get(last)).cloned() else {
            return Ok(());
        };
        match message {
            Message::Table => self.read_table(&part, inbox),
            Message::Tags => {}
            Message::Found => self.read_found(part, inbox)?,
        }
        Ok(())
    }

    fn read_found(&mut self, part: Range<usize>, inbox: &[u8]) -> Result<()> {
        let bit = |place: usize| inbox.get(place / 8).is_some_and(|byte| byte >> (place % 8) & 1 == 1);
        if (part.len()..8 * inbox.len()).any(bit) {
            return Err(Error::peer("it finds tags that were not sent"));
        }
        let Some(tags) = &self.tags else { return Ok(()) };
        let found = part.clone().filter(|place| bit(place - part.start)).filter_map(|place| tags.string(place));
        found.for_each(|string| self.found.set(0, string, true));
        Ok(())
    }
}

impl Sender {
    pub(super) fn advance(&mut self, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        self.read(inbox)?;
        if let Some((Message::Tags, part)) = self.exchanges.get(self.next).cloned() {
            if part.start == 0 {
                self.prepare()?;
            }
            let written = self.tags.as_ref().map(|tags| tags.write(part)).unwrap_or_default();
            outbox.extend_from_slice(&written);
        }
        self.next += 1;
        Ok(())
    }

    pub(super) fn end(mut self, inbox: &[u8]) -> Result<Vec<Option<BitMatrix>>> {
        self.read(inbox)?;
        for &(string, first) in &self.again {
            let bit = self.found.get(0, first as usize);
            self.found.set(0, string as usize, bit);
        }
        Ok(results(&self.layout, self.layout.receiver.peer(), self.found))
    }
}

impl Stage for Sender {
    type Output = Vec<Option<BitMatrix>>;

    fn step(&mut self, _: Drawn, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        self.advance(inbox, outbox)
    }

    fn finish(self: Box<Self>, inbox: &[u8]) -> Result<Vec<Option<BitMatrix>>> {
        self.end(inbox)
    }
}

/// Bits of some lanes in bytes.
fn packed(bits: &BitMatrix, lanes: Range<usize>) -> Vec<u8> {
    let mut bytes = vec![0; lanes.len().div_ceil(8)];
    lanes
        .enumerate()
        .filter(|&(_, lane)| bits.get(0, lane))
        .for_each(|(place, _)| bytes[place / 8] |= 1 << (place % 8));
    bytes
}

/// The results of a party in their order: its own if it learns, and none of the peer's.
fn results(layout: &Layout, us: Party, found: BitMatrix) -> Vec<Option<BitMatrix>> {
    let mut found = Some(found);
    let learners = [Party::Alice, Party::Bob].into_iter().filter(|&party| layout.learns.includes(party));
    learners.map(|party| if party == us { found.take() } else { None }).collect()
}
