//! The oblivious pseudorandom function of VOLE-PSI: the receiver's table, and what either party makes of it.
//!
//! With VOLE c = b + Δ·a and a table P under which each x decodes to H(x), the receiver sends a + P; the sender has
//! k = b + Δ·(a + P) = c + Δ·P, so that decode(k, y) − Δ·H(y) is decode(c, y) for the receiver's strings, and unknown to the receiver
//! for all others.

use super::okvs::{Rows, Shape};
use crate::vole::random;
use duologue::call::Zeroizing;
use duologue::circuit::BitMatrix;
use duologue::{Error, Result};
use kernels::{Block, field};
use std::ops::Range;

/// Bytes of the key that is stored for tags.
pub const KEY: usize = 32;

/// Seeds that are tried: under one there is no table with about 2⁻⁴⁰.
pub const SEEDS: usize = 8;

/// Strings that are decoded at a time.
const DECODED: usize = 1 << 10;

/// Bytes that setup stores of a receiver, and of a sender.
pub fn stored(shape: Shape) -> [usize; 2] {
    [KEY + 32 * shape.len(), KEY + 16 + 16 * shape.len()]
}

/// The rows under a seed of the receiver's in this call.
pub fn rows(shape: Shape, key: &[u8; KEY], seed: Block) -> Rows {
    let mut hasher = blake3::Hasher::new_derive_key("duologue v1 PSI: rows");
    let seed = *hasher.update(key).update(&seed.to_bytes()).finalize().as_bytes();
    Rows::new(shape, Block::from_bytes(*seed.first_chunk().expect("16 of 32 bytes")))
}

/// The strings of a party, filled up with zeros.
pub fn strings(own: &BitMatrix) -> Zeroizing<Vec<Block>> {
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

/// The receiver's side.
pub struct Receiving {
    shape: Shape,
    /// The key, a and c.
    stored: Zeroizing<Vec<u8>>,
    seed: Block,
    table: Zeroizing<Vec<Block>>,
}

/// The sender's side.
pub struct Sending {
    shape: Shape,
    pub key: [u8; KEY],
    delta: Block,
    seed: Block,
    /// b, which becomes k block by block.
    table: Zeroizing<Vec<Block>>,
}

impl Receiving {
    /// A seed and the table of the strings under it.
    pub fn new(shape: Shape, stored: Zeroizing<Vec<u8>>, strings: &[Block]) -> Result<Receiving> {
        let (mut random, (key, _)) = (random()?, split(&stored));
        let mut values = Zeroizing::new(vec![Block::ZERO; strings.len()]);
        for _ in 0..SEEDS {
            let seed = random.block();
            let rows = rows(shape, &key, seed);
            rows.values(strings, &mut values);
            if let Some(table) = rows.encode(strings, &values, &mut random) {
                return Ok(Receiving { shape, stored, seed, table: Zeroizing::new(table) });
            }
        }
        Err(Error::usage(format!("under none of {SEEDS} seeds the strings have a table: this should not happen")))
    }

    pub fn key(&self) -> [u8; KEY] {
        split(&self.stored).0
    }

    /// a + P, from some place on; the seed is before the first.
    pub fn write(&self, part: Range<usize>) -> Vec<u8> {
        let (_, vectors) = split(&self.stored);
        let block = |place: usize| match place.checked_sub(1) {
            None => self.seed,
            Some(at) => self.table[at] ^ Block::from_bytes(vectors[at]),
        };
        let blocks: Vec<Block> = part.map(block).collect();
        bytemuck::cast_slice(&blocks).to_vec()
    }

    /// What its own strings decode to under c.
    pub fn values(&self, strings: &[Block]) -> Zeroizing<Vec<Block>> {
        let (key, vectors) = split(&self.stored);
        let mut values = Zeroizing::new(vec![Block::ZERO; strings.len()]);
        rows(self.shape, &key, self.seed).decode(&vectors[self.shape.len()..], strings, &mut values);
        values
    }
}

impl Sending {
    pub fn new(shape: Shape, stored: &[u8]) -> Sending {
        let (key, vectors) = split(stored);
        let table = vectors[1..].iter().map(|&block| Block::from_bytes(block)).collect();
        let delta = Block::from_bytes(vectors[0]);
        Sending { shape, key, delta, seed: Block::ZERO, table: Zeroizing::new(table) }
    }

    /// k = b + Δ·(a + P).
    pub fn read(&mut self, part: &Range<usize>, inbox: &[u8]) {
        let mut blocks = inbox.as_chunks::<16>().0.iter().map(|&block| Block::from_bytes(block));
        if part.start == 0 {
            self.seed = blocks.next().unwrap_or_default();
        }
        let blocks: Vec<Block> = blocks.collect();
        let from = part.start.saturating_sub(1);
        field::add_products(&[self.delta], &blocks, blocks.len(), &mut self.table[from..from + blocks.len()]);
    }

    /// decode(k, y) − Δ·H(y), once the table is there.
    pub fn values(&self, strings: &[Block]) -> Zeroizing<Vec<Block>> {
        let rows = rows(self.shape, &self.key, self.seed);
        let table: &[[u8; 16]] = bytemuck::cast_slice(&self.table);
        let mut values = Zeroizing::new(vec![Block::ZERO; strings.len()]);
        let mut own = Zeroizing::new(vec![Block::ZERO; DECODED]);
        for (strings, values) in strings.chunks(DECODED).zip(values.chunks_mut(DECODED)) {
            let own = &mut own[..strings.len()];
            rows.values(strings, own);
            field::add_products(&[self.delta], own, own.len(), values);
            rows.decode(table, strings, values);
        }
        values
    }
}
