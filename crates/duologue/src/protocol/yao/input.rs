//! Inputs of Yao: one formula for the garbler's bits, the evaluator's, and bits of which each holds a share.
//!
//! The evaluator's part x₁ of a bit uses a COT (q; t = q ⊕ r·Δ) from setup; where it has none, q and t are zero and
//! there is no d. x₀ is the garbler's part. With *base labels* B:
//!
//! ```text
//! evaluator → garbler   d = x₁ ⊕ r
//! garbler               Y = B ⊕ q ⊕ (d ⊕ x₀)·Δ
//! ```
//!
//! *Ahead*, B are the garbler's secret zero labels, fixed in setup; Y goes to the evaluator, and Y ⊕ t = B ⊕ x·Δ.
//! *Streamed*, both know B, which they expand from a seed, and nothing goes back: Y itself becomes the zero label, and
//! the active label Y ⊕ x·Δ = B ⊕ q ⊕ r·Δ = B ⊕ t is there before the garbler has begun.

use super::labels::{BufferPool, Labels, add_bits};
use super::{Evaluator, Garbler, LABEL};
use crate::correlation::Stock;
use crate::executor::{Flow, Job, Made};
use crate::ot::Choices;
use crate::outbox::Outbox;
use crate::packed::{pack, unpack};
use crate::protocol::Base;
use crate::{Error, Result};
use circuit::BitMatrix;
use kernels::Block;
use kernels::generator::Generator;
use zeroize::Zeroizing;

/// An input of the garbler's side.
pub struct GarblerInput {
    /// B ⊕ q, where q is zero for what the evaluator has no part in.
    base: Labels,
    /// The garbler's bits, or its shares.
    bits: Option<BitMatrix>,
    /// How many messages were written or awaited.
    turn: u8,
}

/// An input of the evaluator's side.
pub struct EvaluatorInput {
    /// Absent ahead of time: then they are the garbler's secret.
    base: Labels,
    /// The other side of the COTs; none if the input is the garbler's own.
    choices: Option<Zeroizing<Choices>>,
    /// The evaluator's bits, or its shares.
    bits: Option<BitMatrix>,
    turn: u8,
}

/// The base labels of an input, by the input's number in the session.
pub(super) fn base_labels(generator: &Generator, base: &Base, job: &Job, buffers: &BufferPool) -> Labels {
    let mut labels = buffers.zeros(job.task.rows, job.task.lanes);
    generator.derive(b"zeros   ", base.in0 + job.task.seat.in0).fill_blocks(labels.blocks_mut());
    labels
}

impl GarblerInput {
    /// Setup: base labels, and COTs for what the evaluator holds. The zero labels B, if they are fixed now.
    pub(super) fn prepare(garbler: &Garbler, job: &Job, stock: &mut Stock) -> Result<(Self, Labels)> {
        let count = if garbler.lengths.takes_cots(job) { job.bits() } else { 0 };
        let cots = Zeroizing::new(stock.draw_cot_sender(count)?);
        let mut base = base_labels(&garbler.labels, &garbler.base, job, &garbler.buffers);
        let zeros = if garbler.lengths.ahead { copy(&base, job, &garbler.buffers) } else { Labels::absent() };
        add(&mut base, &cots);
        Ok((GarblerInput::of_sums(base), zeros))
    }

    /// B ⊕ q, all that online needs of both.
    pub(super) fn sums(self) -> Labels {
        self.base
    }

    /// An input of these sums, which were stored.
    pub(super) fn of_sums(base: Labels) -> Self {
        GarblerInput { base, bits: None, turn: 0 }
    }

    pub(super) fn begin(self, bits: Option<BitMatrix>) -> Self {
        GarblerInput { bits, ..self }
    }

    /// The evaluator's masked bits come first, if it holds any. Then Y goes, or is the value.
    pub(super) fn step(
        &mut self,
        garbler: &Garbler,
        job: &Job,
        inbox: &[u8],
        outbox: &mut Outbox,
    ) -> Result<Flow<Made<Labels>>> {
        let (rows, lanes) = (job.task.rows, job.task.lanes);
        let own = !garbler.lengths.takes_cots(job);
        self.turn += 1;
        match (self.turn, own) {
            (1, false) => Ok(Flow::Exchange),
            (1, true) | (2, false) => {
                let masked = (!own).then(|| unpack(inbox, rows, lanes));
                let labels = self.answers(garbler.delta, masked.as_ref(), lanes);
                if !garbler.lengths.ahead {
                    return Ok(Flow::Done(Made::Value(labels)));
                }
                outbox.extend_from_slice(bytemuck::cast_slice(labels.blocks()));
                Ok(Flow::Exchange)
            }
            _ => Ok(Flow::Done(Made::Value(Labels::absent()))),
        }
    }

    /// Y = B ⊕ q ⊕ (d ⊕ x₀)·Δ.
    fn answers(&mut self, delta: Block, masked: Option<&BitMatrix>, lanes: usize) -> Labels {
        let mut labels = std::mem::replace(&mut self.base, Labels::absent());
        for bits in self.bits.as_ref().into_iter().chain(masked) {
            for (row, labels) in labels.blocks_mut().chunks_mut(lanes.max(1)).enumerate() {
                add_bits(labels, bits.row(row), delta);
            }
        }
        labels
    }
}

impl EvaluatorInput {
    /// Setup: the other side of the garbler's COTs, and the base labels if both know them.
    pub(super) fn prepare(evaluator: &Evaluator, job: &Job, stock: &mut Stock) -> Result<Self> {
        let own = evaluator.lengths.takes_cots(job);
        let choices = own.then(|| stock.draw_cot_receiver(job.bits()).map(Zeroizing::new)).transpose()?;
        let known = || base_labels(&evaluator.labels, &evaluator.base, job, &evaluator.buffers);
        let base = if evaluator.lengths.ahead { Labels::absent() } else { known() };
        Ok(EvaluatorInput { base, choices, bits: None, turn: 0 })
    }

    /// The blocks t of its COTs, all that online needs ahead of time.
    pub(super) fn blocks(&self) -> &[Block] {
        self.choices.as_ref().map_or(&[], |choices| &choices.t)
    }

    /// An input ahead of time, whose blocks were stored.
    pub(super) fn restore(
        evaluator: &Evaluator,
        job: &Job,
        read: &mut dyn FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<Self> {
        let mut input = EvaluatorInput { base: Labels::absent(), choices: None, bits: None, turn: 0 };
        if evaluator.lengths.takes_cots(job) {
            let mut t = vec![Block::ZERO; job.bits()];
            read(bytemuck::cast_slice_mut(&mut t))?;
            input.choices = Some(Zeroizing::new(Choices::new(t)));
        }
        Ok(input)
    }

    pub(super) fn begin(self, bits: Option<BitMatrix>) -> Self {
        EvaluatorInput { bits, ..self }
    }

    /// Own bits go, masked by the COTs' choices. Then t is added to what comes, or to the base labels.
    pub(super) fn step(
        &mut self,
        evaluator: &Evaluator,
        job: &Job,
        inbox: &[u8],
        outbox: &mut Outbox,
    ) -> Result<Flow<Made<Labels>>> {
        self.turn += 1;
        let ahead = evaluator.lengths.ahead;
        match (self.turn, &self.choices) {
            (1, Some(choices)) => {
                let bits = self.bits.as_ref().ok_or_else(|| Error::usage("an input is missing"))?;
                let mut masked = pack(bits);
                masked.words.iter_mut().zip(&choices.bits).for_each(|(word, choice)| *word ^= choice);
                outbox.extend_from_slice(masked.bytes());
                Ok(Flow::Exchange)
            }
            (1, None) | (2, Some(_)) if ahead => Ok(Flow::Exchange),
            _ => {
                let active = self.active(ahead.then_some(inbox), job.task.lanes, &evaluator.buffers);
                Ok(Flow::Done(Made::Value(active)))
            }
        }
    }

    /// Y ⊕ t, or B ⊕ t if no Y came.
    fn active(&mut self, answers: Option<&[u8]>, lanes: usize, buffers: &BufferPool) -> Labels {
        let mut labels = match answers {
            Some(answers) => read_labels(answers, lanes, buffers),
            None => std::mem::replace(&mut self.base, Labels::absent()),
        };
        if let Some(choices) = &self.choices {
            add(&mut labels, &choices.t);
        }
        labels
    }
}

/// Labels from their bytes, whose number was checked before they were read.
fn read_labels(bytes: &[u8], lanes: usize, buffers: &BufferPool) -> Labels {
    let mut labels = buffers.zeros(bytes.len() / LABEL / lanes.max(1), lanes);
    bytemuck::cast_slice_mut(labels.blocks_mut()).copy_from_slice(bytes);
    labels
}

/// A copy in a buffer of its own.
fn copy(labels: &Labels, job: &Job, buffers: &BufferPool) -> Labels {
    let mut copy = buffers.zeros(job.task.rows, job.task.lanes);
    copy.blocks_mut().copy_from_slice(labels.blocks());
    copy
}

/// Adds blocks, one for each label or none.
fn add(labels: &mut Labels, blocks: &[Block]) {
    labels.blocks_mut().iter_mut().zip(blocks).for_each(|(label, &block)| *label ^= block);
}

#[cfg(test)]
mod tests;
