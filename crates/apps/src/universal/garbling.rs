//! Garbling of universal circuits by the party that knows the control bits, and their evaluation.
//!
//! A switch of wires a and b with control bit c is d = c·(a ⊕ b), a ⊕ d and b ⊕ d. The garbler knows c, so that the
//! product is one generator half-gate \[Zahur, Rosulek, Evans 2015, section 4\]: with x = a ⊕ b, p the lowest bit of its
//! zero label X, and H_n the hash of switch n,
//!
//! ```text
//! T = H_n(X) ⊕ H_n(X ⊕ Δ) ⊕ c·Δ        the zero label of d is H_n(X) ⊕ p·T; who holds label L of x has H_n(L) ⊕ lsb(L)·T
//! ```
//!
//! A gate with a table t is c₀ ⊕ c₁x ⊕ c₂y ⊕ c₃xy, of whose coefficients the evaluator learns none. With q the lowest bit
//! of the zero label of y, and z = c₂ ⊕ c₃x, it is (c₁ ⊕ q·c₃)·x ⊕ (y ⊕ q)·z ⊕ c₀ ⊕ q·c₂: a generator half-gate for c₃·x,
//! another for the first product, and, as the evaluator knows y ⊕ q, an evaluator half-gate for the second. So three
//! ciphertexts, and six hashes to garble or three to evaluate; constants change zero labels alone.

use circuit::universal::{Board, Controls, Engine, Size, Unit, Walk};
use duologue::call::{Outbox, Zeroizing};
use duologue::circuit;
use duologue::{Block, Error, Result};
use kernels::ot_hash::OtHash;
use zeroize::Zeroize;

/// Ciphertexts of a gate.
const GATE: usize = 3;

/// Bytes of all ciphertexts of a universal circuit.
pub fn bytes(size: Size) -> u64 {
    16 * (size.switches() + (GATE * size.tables()) as u64)
}

/// The coefficients c₀ … c₃ of a table as masks.
fn coefficients(table: u8) -> [Block; 4] {
    let [t0, t1, t2, t3] = std::array::from_fn(|row| table >> row & 1 == 1);
    [t0, t0 ^ t1, t0 ^ t2, t0 ^ t1 ^ t2 ^ t3].map(Block::mask)
}

fn lsb(label: Block) -> Block {
    Block::mask(label.lsb())
}

/// The garbler: zero labels on a board, which are made as ciphertexts are asked for.
pub struct Garbler {
    walk: Walk,
    board: Board<Block>,
    engine: Garbling,
}

/// What makes the garbler's labels.
struct Garbling {
    hash: OtHash,
    delta: Zeroizing<Block>,
    controls: Controls,
    /// Zero labels of the inputs.
    inputs: Zeroizing<Vec<Block>>,
    /// The number of the next hash. None serves twice.
    number: u64,
    /// Ciphertexts that have not been sent.
    tables: Vec<[u8; 16]>,
    /// The lowest bits of the outputs' zero labels.
    decoding: Vec<bool>,
    x: Zeroizing<[Vec<Block>; 3]>,
}

impl Garbler {
    /// Begins with zero labels of all inputs, of which S was drawn after nothing that the peer sends.
    pub fn new(s: Block, delta: Block, controls: Controls, inputs: Vec<Block>) -> Garbler {
        let size = controls.size();
        let engine = Garbling {
            hash: OtHash::new(s),
            delta: Zeroizing::new(delta.with_lsb(true)),
            inputs: Zeroizing::new(inputs),
            number: 0,
            tables: Vec::new(),
            decoding: Vec::with_capacity(size.outputs as usize),
            x: Zeroizing::new([(); 3].map(|()| vec![Block::ZERO; Unit::MOST_SWITCHES])),
            controls,
        };
        Garbler { walk: Walk::new(size), board: Board::new(size, Block::ZERO), engine }
    }

    /// Writes the next ciphertexts, of which there must be so many.
    pub fn write(&mut self, bytes: usize, outbox: &mut Outbox) {
        while self.engine.tables.len() < bytes / 16
            && let Some(unit) = self.walk.next()
        {
            self.board.run(unit, &mut self.engine);
        }
        outbox.extend_from_slice(self.engine.tables[..bytes / 16].as_flattened());
        self.engine.tables.drain(..bytes / 16);
    }

    /// By what outputs are decoded, once all ciphertexts are written.
    pub fn decoding(&self) -> &[bool] {
        &self.engine.decoding
    }
}

impl Drop for Garbler {
    fn drop(&mut self) {
        self.board.wires_mut().into_iter().for_each(|wires| wires.zeroize());
    }
}

impl Engine for Garbling {
    type Wire = Block;

    fn switches(&mut self, place: usize, a: &mut [Block], b: &mut [Block]) {
        let [x, m0, m1] = self.x.each_mut().map(|labels| &mut labels[..a.len()]);
        x.iter_mut().zip(a.iter().zip(&*b)).for_each(|(x, (&a, &b))| *x = a ^ b);
        self.hash.pairs(self.number, *self.delta, x, m0, m1);
        self.number += a.len() as u64;
        for (i, (a, b)) in a.iter_mut().zip(b).enumerate() {
            let table = m0[i] ^ m1[i] ^ (Block::mask(self.controls.bit(place + i)) & *self.delta);
            let d = m0[i] ^ (lsb(x[i]) & table);
            *a ^= d;
            *b ^= d;
            self.tables.push(table.to_bytes());
        }
    }

    fn pole(&mut self, pole: usize, [x, y]: [Block; 2]) -> Block {
        let Some(gate) = pole.checked_sub(self.inputs.len()) else { return self.inputs[pole] };
        let (mut m0, mut m1) = ([Block::ZERO; GATE], [Block::ZERO; GATE]);
        self.hash.pairs(self.number, *self.delta, &[x, x, y], &mut m0, &mut m1);
        self.number += GATE as u64;
        let ([c0, c1, c2, c3], delta) = (coefficients(self.controls.tables()[gate]), *self.delta);
        let (p, q) = (lsb(x), lsb(y));
        let product = m0[0] ^ m1[0] ^ (c3 & delta);
        let z = m0[0] ^ (p & product) ^ (c2 & delta);
        let first = m0[1] ^ m1[1] ^ ((c1 ^ (q & c3)) & delta);
        let second = m0[2] ^ m1[2] ^ z;
        self.tables.extend([product, first, second].map(Block::to_bytes));
        let label = m0[1] ^ (p & first) ^ m0[2] ^ (q & (m0[2] ^ m1[2])) ^ ((c0 ^ (q & c2)) & delta);
        if gate >= self.controls.size().gates as usize {
            self.decoding.push(label.lsb());
        }
        label
    }
}

/// The evaluator: active labels on a board, which go on as ciphertexts come.
pub struct Evaluator {
    size: Size,
    walk: Walk,
    /// What waits for ciphertexts.
    next: Option<Unit>,
    board: Board<Block>,
    engine: Evaluating,
}

/// What makes the evaluator's labels.
struct Evaluating {
    hash: OtHash,
    /// Labels of the inputs.
    inputs: Zeroizing<Vec<Block>>,
    gates: usize,
    number: u64,
    /// Ciphertexts that came, and how many of them are used.
    tables: Vec<[u8; 16]>,
    used: usize,
    outputs: Zeroizing<Vec<Block>>,
    x: Zeroizing<[Vec<Block>; 2]>,
}

impl Evaluator {
    /// Begins with active labels of all inputs.
    pub fn new(size: Size, s: Block, inputs: Vec<Block>) -> Evaluator {
        let engine = Evaluating {
            hash: OtHash::new(s),
            inputs: Zeroizing::new(inputs),
            gates: size.gates as usize,
            number: 0,
            tables: Vec::new(),
            used: 0,
            outputs: Zeroizing::new(Vec::with_capacity(size.outputs as usize)),
            x: Zeroizing::new([(); 2].map(|()| vec![Block::ZERO; Unit::MOST_SWITCHES])),
        };
        let mut walk = Walk::new(size);
        Evaluator { size, next: walk.next(), walk, board: Board::new(size, Block::ZERO), engine }
    }

    /// Takes the next ciphertexts, and goes on as far as they last.
    pub fn read(&mut self, bytes: &[u8]) {
        let engine = &mut self.engine;
        engine.tables.drain(..engine.used);
        engine.used = 0;
        engine.tables.extend_from_slice(bytes.as_chunks().0);
        while let Some(unit) = self.next
            && ciphertexts(self.size, unit) <= engine.tables.len() - engine.used
        {
            self.board.run(unit, engine);
            self.next = self.walk.next();
        }
    }

    /// The outputs, after all ciphertexts.
    ///
    /// # Errors
    /// [`Error::Usage`] if some have not been read.
    pub fn outputs(&self, decoding: impl Iterator<Item = bool>) -> Result<Vec<bool>> {
        if self.next.is_some() || self.engine.used != self.engine.tables.len() {
            return Err(Error::usage("a universal circuit is decoded before its end"));
        }
        Ok(self.engine.outputs.iter().zip(decoding).map(|(label, bit)| label.lsb() ^ bit).collect())
    }
}

impl Drop for Evaluator {
    fn drop(&mut self) {
        self.board.wires_mut().into_iter().for_each(|wires| wires.zeroize());
    }
}

/// Ciphertexts of a unit.
fn ciphertexts(size: Size, unit: Unit) -> usize {
    match unit {
        Unit::Switches { len, .. } => len,
        Unit::Pole(pole) if pole >= size.inputs as usize => GATE,
        Unit::Pole(_) | Unit::Wires { .. } => 0,
    }
}

impl Engine for Evaluating {
    type Wire = Block;

    fn switches(&mut self, _: usize, a: &mut [Block], b: &mut [Block]) {
        let [x, m] = self.x.each_mut().map(|labels| &mut labels[..a.len()]);
        x.iter_mut().zip(a.iter().zip(&*b)).for_each(|(x, (&a, &b))| *x = a ^ b);
        self.hash.chosen(self.number, x, m);
        self.number += a.len() as u64;
        let tables = &self.tables[self.used..][..a.len()];
        for (i, (a, b)) in a.iter_mut().zip(b).enumerate() {
            let d = m[i] ^ (lsb(x[i]) & Block::from_bytes(tables[i]));
            *a ^= d;
            *b ^= d;
        }
        self.used += x.len();
    }

    fn pole(&mut self, pole: usize, [x, y]: [Block; 2]) -> Block {
        let Some(gate) = pole.checked_sub(self.inputs.len()) else { return self.inputs[pole] };
        let mut m = [Block::ZERO; GATE];
        self.hash.chosen(self.number, &[x, x, y], &mut m);
        self.number += GATE as u64;
        let tables: [_; GATE] = std::array::from_fn(|i| self.tables[self.used + i]);
        let [product, first, second] = tables.map(Block::from_bytes);
        self.used += GATE;
        let z = m[0] ^ (lsb(x) & product);
        let label = m[1] ^ (lsb(x) & first) ^ m[2] ^ (lsb(y) & (second ^ z));
        if gate >= self.gates {
            self.outputs.push(label);
        }
        label
    }
}

#[cfg(test)]
mod tests;
