//! Inputs of Yao: the garbler's labels, and the evaluator's by correlated OT.
//!
//! A bit of the garbler: `W ⊕ x·Δ` goes to the evaluator. A bit x of the evaluator, or a bit of which each holds a
//! share, with a COT (q; t = q ⊕ r·Δ) from setup:
//!
//! ```text
//! evaluator → garbler   d = x ⊕ r
//! garbler → evaluator   q ⊕ d·Δ ⊕ W, and for a shared bit also the garbler's share times Δ
//! evaluator             adds t: W ⊕ x·Δ
//! ```

use super::labels::add_bits;
use super::{Evaluator, Garbler, LABEL};
use crate::cells::Labels;
use crate::correlation::{Demand, Stock};
use crate::ot::Choices;
use crate::packed::{byte_len, pack, unpack};
use crate::protocol::{Flow, Job};
use crate::{Error, Party, Result};
use circuit::BitMatrix;
use circuit::program::{Kind, Owner};
use kernels::Block;

/// COTs for the bits of an input that the evaluator holds, alone or as a share.
pub(crate) fn demand(job: &Job, garbler: Party) -> Demand {
    match job.task.kind {
        Kind::Input { owner, .. } if owner != Owner::Party(garbler) => {
            Demand::of_cots(garbler, (job.task.rows * job.task.lanes) as u64)
        }
        _ => Demand::NONE,
    }
}

/// An input of the garbler's side.
pub struct GarblerInput {
    zeros: Labels,
    /// One COT for each bit that the evaluator holds; none if the input is the garbler's own.
    cots: Labels,
    /// The garbler's bits, or its shares.
    bits: Option<BitMatrix>,
    /// How many messages were written or awaited.
    turn: u8,
}

/// An input of the evaluator's side.
pub struct EvaluatorInput {
    /// The other side of the COTs; none if the input is the garbler's own.
    choices: Option<Choices>,
    /// The evaluator's bits, or its shares.
    bits: Option<BitMatrix>,
    turn: u8,
}

impl GarblerInput {
    /// Setup: fresh zero labels, and COTs for what the evaluator holds.
    pub(super) fn prepare(garbler: &Garbler, job: &Job, stock: &mut Stock) -> Result<Self> {
        let count = demand(job, garbler.party).cots_by(garbler.party) as usize;
        let cots = Labels::new(stock.draw_cot_sender(count)?, job.task.lanes);
        Ok(GarblerInput { zeros: fresh_labels(garbler, job), cots, bits: None, turn: 0 })
    }

    pub(super) fn begin(self, bits: Option<BitMatrix>) -> Self {
        GarblerInput { bits, ..self }
    }

    /// Own bits: one label each. What the evaluator holds: its masked bits come first.
    pub(super) fn step(
        &mut self,
        garbler: &Garbler,
        job: &Job,
        inbox: &[u8],
        outbox: &mut Vec<u8>,
    ) -> Result<Flow<Labels>> {
        let (rows, lanes) = (job.task.rows, job.task.lanes);
        let own = demand(job, garbler.party) == Demand::NONE;
        self.turn += 1;
        match (self.turn, own) {
            (1, false) => Ok(Flow::Exchange { expect: byte_len(rows * lanes) }),
            (1, true) | (2, false) => {
                let masked = (!own).then(|| unpack(inbox, rows, lanes));
                outbox.extend_from_slice(bytemuck::cast_slice(&self.answers(garbler.delta, masked.as_ref(), lanes)));
                Ok(Flow::Exchange { expect: 0 })
            }
            _ => {
                let zeros = std::mem::replace(&mut self.zeros, Labels::absent());
                Ok(Flow::Value(if garbler.ahead { Labels::absent() } else { zeros }))
            }
        }
    }

    /// W ⊕ (own bit or share)·Δ, and for what the evaluator holds also ⊕ q ⊕ d·Δ.
    fn answers(&self, delta: Block, masked: Option<&BitMatrix>, lanes: usize) -> Vec<Block> {
        let mut labels = self.zeros.blocks().to_vec();
        labels.iter_mut().zip(self.cots.blocks()).for_each(|(label, &q)| *label ^= q);
        for bits in self.bits.as_ref().into_iter().chain(masked) {
            for (row, labels) in labels.chunks_mut(lanes.max(1)).enumerate() {
                add_bits(labels, bits.row(row), delta);
            }
        }
        labels
    }
}

/// The zero labels of an input, from the garbler's generator by the input's number in the session.
pub(super) fn fresh_labels(garbler: &Garbler, job: &Job) -> Labels {
    let mut zeros = vec![Block::ZERO; job.task.rows * job.task.lanes];
    garbler.labels.derive(b"zeros   ", garbler.base.in0 + job.task.seat.in0).fill_blocks(&mut zeros);
    Labels::new(zeros, job.task.lanes)
}

impl EvaluatorInput {
    /// Setup: the other side of the garbler's COTs.
    pub(super) fn prepare(evaluator: &Evaluator, job: &Job, stock: &mut Stock) -> Result<Self> {
        let garbler = evaluator.party.peer();
        let count = demand(job, garbler).cots_by(garbler) as usize;
        let own = demand(job, garbler) == Demand::NONE;
        let choices = (!own).then(|| stock.draw_cot_receiver(count)).transpose()?;
        Ok(EvaluatorInput { choices, bits: None, turn: 0 })
    }

    pub(super) fn begin(self, bits: Option<BitMatrix>) -> Self {
        EvaluatorInput { bits, ..self }
    }

    /// The garbler's bits: labels come. Own bits: masked by the COTs' choices, then t is added to the answers.
    pub(super) fn step(&mut self, job: &Job, inbox: &[u8], outbox: &mut Vec<u8>) -> Result<Flow<Labels>> {
        self.turn += 1;
        match (self.turn, &self.choices) {
            (1, Some(choices)) => {
                let bits = self.bits.as_ref().ok_or_else(|| Error::usage("an input is missing"))?;
                let mut masked = pack(bits);
                masked.words.iter_mut().zip(&choices.bits).for_each(|(word, choice)| *word ^= choice);
                masked.write(outbox);
                Ok(Flow::Exchange { expect: 0 })
            }
            (1, None) | (2, Some(_)) => Ok(Flow::Exchange { expect: job.task.rows * job.task.lanes * LABEL }),
            _ => Ok(Flow::Value(Labels::new(self.active(inbox), job.task.lanes))),
        }
    }

    fn active(&self, inbox: &[u8]) -> Vec<Block> {
        let mut labels = vec![Block::ZERO; inbox.len() / LABEL];
        bytemuck::cast_slice_mut(&mut labels).copy_from_slice(inbox);
        let choices = self.choices.iter().flat_map(|choices| &choices.t);
        labels.iter_mut().zip(choices).for_each(|(label, &t)| *label ^= t);
        labels
    }
}
