//! The triples of a map: single ones as the stock has them, and those of ANDs that share an operand, made here of one
//! correlated OT each way.
//!
//! The ANDs of a multiplexer multiply one bit x with a vector y⃗ (`Plan::vectors`). Their triples may have one a in
//! common, for it masks the same x each time. As sender of a COT a party has b⃗ := m₀ ⊕ m₁ and v⃗ := m₀, as receiver of
//! the one that goes the other way a := its choice and u⃗ := m_a, and c⃗ = a·b⃗ ⊕ u⃗ ⊕ v⃗: where single triples take a COT
//! each way for each AND, these take one for up to 128. What is made has the form of single triples, in the order of
//! the ANDs. Online x ⊕ a is opened once: with y⃗ ⊕ b⃗ these are 1 + ℓ bits each way, not 2ℓ.
//!
//! The messages are hashes of the COT's blocks, m₀ = H_j(q), m₁ = H_j(q ⊕ Δ), m_a = H_j(t), under the number j of the
//! vector's first AND in the program and a salt of the session, the program and the direction: no pair of them comes
//! twice. **Security**: semi-honest; that of [`OtHash`].

use super::Gmw;
use super::narrow::MOST_LANES;
use crate::correlation::{Stock, Triples};
use crate::executor::Job;
use crate::ot::Choices;
use crate::packed::{Packed, copy_row};
use crate::{Error, Party, Result};
use circuit::BitMatrix;
use circuit::plan::Plan;
use circuit::program::{Schedule, TaskKind};
use kernels::ot_hash::OtHash;
use kernels::{Block, transpose};
use std::ops::Range;
use zeroize::Zeroize;

/// Lanes whose bits are transposed together.
const TILE: usize = 128;

/// Δ and hashes that turn COTs into triples of vectors, in one program.
pub(crate) struct Vectors {
    delta: Block,
    /// Of what this party sends, and of what it receives.
    hashes: [OtHash; 2],
}

impl Vectors {
    /// Of the COTs under this Δ of ours, for one program of a session.
    pub(crate) fn new(delta: Block, us: Party, (session, ordinal): (&[u8; 32], u64)) -> Self {
        Vectors { delta, hashes: [us, us.peer()].map(|sender| OtHash::new(salt(session, ordinal, sender))) }
    }
}

/// The salt of the COTs that a party sends in a program.
fn salt(session: &[u8; 32], ordinal: u64, sender: Party) -> Block {
    let mut hasher = blake3::Hasher::new_derive_key("duologue v1 triples of vectors");
    hasher.update(session).update(&ordinal.to_le_bytes()).update(&[sender as u8]);
    Block::from_bytes(hasher.finalize().as_bytes()[..16].try_into().expect("16 bytes"))
}

impl Drop for Vectors {
    fn drop(&mut self) {
        self.delta.zeroize();
    }
}

/// COTs each way that a whole program draws; they are there before the triples that they become.
pub(crate) fn vector_cots(schedule: &Schedule) -> u64 {
    let maps = schedule.tasks.iter().filter(|task| !task.public);
    let cots = maps.map(|task| match task.kind {
        TaskKind::Map { plan, .. } => (schedule.plan(plan).vectors().len() * task.lanes) as u64,
        _ => 0,
    });
    cots.sum()
}

/// Whether an AND shares its first operand with others, and their d = x ⊕ a.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Member {
    Alone,
    /// The first of its vector.
    First,
    Later,
}

/// The place of each AND of a layer in its vector; `vector` is the next vector. With few lanes, where bytes are few too, d is opened for
/// each AND.
pub(super) fn members(plan: &Plan, layer: Range<usize>, vector: usize, lanes: usize) -> impl Iterator<Item = Member> {
    let vectors = if lanes > MOST_LANES { &plan.vectors()[vector..] } else { &[] };
    let mut vectors = vectors.iter().peekable();
    layer.map(move |at| {
        while vectors.next_if(|vector| vector.end <= at).is_some() {}
        match vectors.peek() {
            Some(vector) if vector.start == at => Member::First,
            Some(vector) if vector.contains(&at) => Member::Later,
            _ => Member::Alone,
        }
    })
}

/// The places of the vectors' ANDs among all ANDs of a plan.
pub(super) fn places(plan: &Plan) -> impl Iterator<Item = Range<usize>> {
    let (mut layers, mut before) = (plan.layers().iter().peekable(), 0);
    plan.vectors().iter().map(move |vector| {
        while let Some(layer) = layers.next_if(|layer| layer.end <= vector.start) {
            before += layer.len();
        }
        let first = before + vector.start - layers.peek().map_or(0, |layer| layer.start);
        first..first + vector.len()
    })
}

/// One triple for every AND of every lane of a map, gate by gate.
pub(super) fn draw(gmw: &Gmw, job: &Job, stock: &mut Stock) -> Result<Triples> {
    let (Some(plan), lanes) = (&job.plan, job.task.lanes) else { return stock.draw_triples(0) };
    let singles = stock.draw_triples((plan.ands() - plan.vector_ands()) as usize * lanes)?;
    let vectors = plan.vectors().len() * lanes;
    if vectors == 0 {
        return Ok(singles);
    }
    let hashes = gmw.vectors.as_ref().ok_or_else(|| Error::usage("vectors were not foreseen"))?;
    let mut sent = stock.draw_cot_sender(vectors)?;
    let received = stock.draw_cot_receiver(vectors)?;
    let mut made = Made { singles, used: 0, bits: Default::default() };
    let mut at = 0;
    for (i, place) in places(plan).enumerate() {
        made.copy((place.start - at) * lanes);
        let number = job.task.seat.and0 + (place.start * lanes) as u64;
        made.multiply(hashes, number, &sent[i * lanes..][..lanes], (&received, i * lanes), place.len());
        at = place.end;
    }
    made.copy((plan.ands() as usize - at) * lanes);
    sent.zeroize();
    Ok(made.triples())
}

/// Triples that are put together.
struct Made {
    singles: Triples,
    /// How many of the single ones were taken.
    used: usize,
    /// a, b and c.
    bits: [Packed; 3],
}

impl Made {
    /// Takes the next single triples.
    fn copy(&mut self, count: usize) {
        let Triples { a, b, c, .. } = &self.singles;
        let mut run = vec![0; count.div_ceil(64)];
        for (bits, from) in self.bits.iter_mut().zip([a, b, c]) {
            copy_row(from, self.used, count, &mut run);
            bits.push(&run, count);
        }
        run.zeroize();
        self.used += count;
    }

    /// Makes `width` triples a lane of what was sent and, from COT `first` on, received.
    fn multiply(&mut self, by: &Vectors, number: u64, q: &[Block], (received, first): (&Choices, usize), width: usize) {
        let lanes = q.len();
        let [mut b, mut c] = [(); 2].map(|()| BitMatrix::zeros(width, lanes));
        for from in (0..lanes).step_by(TILE) {
            let count = TILE.min(lanes - from);
            let (number, t) = (number + from as u64, &received.t[first + from..][..count]);
            let [mut m0, mut m1, mut m] = [[Block::ZERO; TILE]; 3];
            by.hashes[0].pairs(number, by.delta, &q[from..][..count], &mut m0[..count], &mut m1[..count]);
            by.hashes[1].chosen(number, t, &mut m[..count]);
            for (((m0, m1), m), t) in m0.iter_mut().zip(&mut m1).zip(m).zip(t) {
                *m1 ^= *m0;
                *m0 ^= m ^ (*m1 & Block::mask(t.lsb()));
            }
            for (matrix, blocks) in [(&mut b, &mut m1), (&mut c, &mut m0)] {
                transpose::transpose_128(blocks);
                put(matrix, from / 64, blocks);
            }
        }
        let mut a = vec![0; lanes.div_ceil(64)];
        copy_row(&received.bits, first, lanes, &mut a);
        for row in 0..width {
            self.bits[0].push(&a, lanes);
            self.bits[1].push(b.row(row), lanes);
            self.bits[2].push(c.row(row), lanes);
        }
    }

    fn triples(self) -> Triples {
        let len = self.bits[0].len;
        let [a, b, c] = self.bits.map(|bits| bits.words);
        Triples { a, b, c, len }
    }
}

/// Puts the words of 128 lanes, a block for each row, into a matrix; it may end before them.
fn put(matrix: &mut BitMatrix, word: usize, blocks: &[Block; TILE]) {
    for (row, block) in (0..matrix.rows()).zip(blocks) {
        let halves = [block.get() as u64, (block.get() >> 64) as u64];
        matrix.row_mut(row)[word..].iter_mut().zip(halves).for_each(|(to, half)| *to = half);
    }
}

#[cfg(test)]
mod tests;
