//! Yao's garbled circuits: the garbler holds two labels for each bit, the evaluator one of them.
//!
//! Half-gates of Zahur, Rosulek and Evans (Eurocrypt 2015), with free XOR and point-and-permute: 32 bytes an AND, four
//! hash calls to garble and two to evaluate; or three halves of Rosulek and Roy (Crypto 2021), 25 bytes, six calls and
//! three. XOR and NOT are free. A zero label is W, the one label W ⊕ Δ; the lowest
//! bit of Δ is 1, so that the lowest bit of a label is a permute bit. The hash and its concrete security are stated at
//! [`HalfGates`](kernels::half_gates::HalfGates) and [`ThreeHalves`](kernels::three_halves::ThreeHalves): they are keyed by the
//! AND's number in the session and by S, which the garbler draws for every program.
//!
//! **Security**: semi-honest. An evaluator that chooses inputs after it has seen the tables (setup ahead of time) is
//! covered in the semi-honest model only. **Rounds**: one exchange of inputs and one for outputs, for as many tiles as fit the window.
//!
//! Two ways of timing: *ahead*, the tables travel in setup and labels are fixed there (they flow as masks); *streamed*,
//! tables travel while they are made, so that memory does not grow with the circuit. In both they travel chunk by chunk,
//! and where the evaluator's come from, the peer or what setup stored, is the executor's business.

mod batch;
mod few;
mod garbling;
mod gates;
mod hash;
mod input;
mod labels;
mod lengths;
mod output;
mod scheme;

use crate::correlation::Stock;
use crate::executor::cells::Cells;
use crate::executor::{Arg, Exchanges, Flow, Job, Lengths, Made, Protocol, Setup, Stage};
use crate::outbox::Outbox;
use crate::packed::{pack, unpack};
use crate::protocol::Base;
use crate::{Error, Party, Result};
use circuit::BitMatrix;
use circuit::program::TaskKind;
use kernels::Block;
use kernels::generator::Generator;
use zeroize::{Zeroize, Zeroizing};

use batch::LaneBatch;
pub(crate) use batch::numbers_of;
pub use garbling::Garbling;
use hash::Hash;
use input::{EvaluatorInput, GarblerInput};
use labels::BufferPool;
pub(crate) use labels::Labels;
use lengths::YaoLengths;
use output::Opening;
pub(crate) use scheme::YaoScheme;
#[cfg(test)]
pub(crate) use scheme::common_labels;

/// Bytes of a label.
const LABEL: usize = 16;

/// The party that garbles.
pub(crate) struct Garbler {
    lengths: YaoLengths,
    delta: Block,
    hash: Hash,
    /// Of the base labels of inputs: ahead its secret, streamed what both parties know.
    labels: Generator,
    base: Base,
    buffers: BufferPool,
}

impl Drop for Garbler {
    fn drop(&mut self) {
        self.delta.zeroize();
    }
}

/// The party that evaluates.
pub(crate) struct Evaluator {
    lengths: YaoLengths,
    hash: Hash,
    /// The public key of the hash, drawn by the garbler.
    s: Block,
    /// Of the base labels of inputs when streamed: what both parties know.
    labels: Generator,
    /// What makes `hash` and `labels` with S, which has not come.
    unopened: Option<(Garbling, Zeroizing<Block>)>,
    base: Base,
    buffers: BufferPool,
}

impl Garbler {
    /// The garbler of one program, with S. `labels` is its secret if it garbles ahead, else the evaluator's too.
    fn new(lengths: YaoLengths, delta: Block, hash: (Garbling, Block), labels: Generator, base: Base) -> Self {
        Garbler { lengths, delta, hash: Hash::new(hash.0, hash.1), labels, base, buffers: BufferPool::default() }
    }

    fn evaluator(&self) -> Party {
        self.lengths.party.peer()
    }
}

impl Evaluator {
    /// The evaluator of one program, with S, which came from the garbler, who knows `labels` too.
    fn new(lengths: YaoLengths, hash: (Garbling, Block), labels: Generator, base: Base) -> Self {
        let (garbling, s) = hash;
        let (hash, buffers) = (Hash::new(garbling, s), BufferPool::default());
        Evaluator { lengths, hash, s, labels, unopened: None, base, buffers }
    }

    /// The same before S has come, with which `seed` gives the labels that the garbler knows too.
    fn unopened(lengths: YaoLengths, garbling: Garbling, seed: Block, base: Base) -> Self {
        let nothing = Generator::from_seed(Block::ZERO);
        let unopened = Some((garbling, Zeroizing::new(seed)));
        Evaluator { unopened, ..Evaluator::new(lengths, (garbling, Block::ZERO), nothing, base) }
    }
}

/// The garbler's state of a task between setup and online.
pub(crate) enum Garbled {
    /// An input.
    Input(GarblerInput),
    /// A map whose tables were sent.
    Sent,
    /// The permute bits of an output, which were sent to whoever learns it.
    Permute(BitMatrix),
    /// A task to be garbled online.
    Later,
}

/// The evaluator's state of a task between setup and online.
pub(crate) enum Received {
    /// An input.
    Input(EvaluatorInput),
    /// Permute bits that came ahead.
    Permute(BitMatrix),
    /// A map, or an output whose permute bits come online, if any do.
    Other,
}

/// A task of the garbler's in setup, and its zero labels when they are fixed.
pub(crate) struct GarblerSetup {
    work: GarblerWork,
    zeros: Option<Labels>,
}

enum GarblerWork {
    /// A map whose tables travel ahead.
    Map(Box<LaneBatch>),
    /// An output whose permute bits travel ahead.
    Output(BitMatrix),
    /// A task whose state is ready.
    Ready(Option<Garbled>),
}

/// A task of the evaluator's in setup. Tables are stored as they come.
pub(crate) struct EvaluatorSetup {
    exchanges: Exchanges,
    /// The state of the task; none if it is the permute bits that come.
    received: Option<Received>,
}

/// A task of the garbler's online.
pub(crate) enum GarblerOnline {
    /// An input.
    Input(GarblerInput),
    /// A map to be garbled.
    Map(Box<LaneBatch>),
    /// A map that was garbled in setup.
    Done,
    /// An output.
    Output(Opening),
}

/// A task of the evaluator's online.
pub(crate) enum EvaluatorOnline {
    /// An input.
    Input(EvaluatorInput),
    /// A map, and the end of the chunk whose tables were asked for.
    Map(Box<LaneBatch>, Option<usize>),
    /// An output.
    Output(Opening),
}

impl Stage<Garbler> for GarblerSetup {
    type Output = Garbled;

    fn step(&mut self, garbler: &Garbler, job: &Job, _: &[u8], outbox: &mut Outbox) -> Result<Flow<Garbled>> {
        let garbled = match &mut self.work {
            GarblerWork::Map(batch) if batch.is_done() => {
                self.zeros = Some(garbler.made(batch, &job.public));
                Garbled::Sent
            }
            GarblerWork::Map(batch) => {
                garbler.garble(batch, &job.public, outbox);
                return Ok(Flow::Exchange);
            }
            GarblerWork::Output(permute) => {
                outbox.extend_from_slice(pack(permute).bytes());
                let permute = std::mem::replace(permute, BitMatrix::zeros(0, 0));
                self.work = GarblerWork::Ready(Some(Garbled::Permute(permute)));
                return Ok(Flow::Exchange);
            }
            GarblerWork::Ready(garbled) => garbled.take().ok_or_else(wrong_task)?,
        };
        Ok(Flow::Done(garbled))
    }
}

impl Setup<Garbler> for GarblerSetup {
    fn take_mask(&mut self) -> Option<Labels> {
        self.zeros.take()
    }
}

impl Stage<Evaluator> for EvaluatorSetup {
    type Output = Received;

    fn step(&mut self, _: &Evaluator, job: &Job, inbox: &[u8], _: &mut Outbox) -> Result<Flow<Received>> {
        if self.exchanges.next().is_some() {
            return Ok(Flow::Exchange);
        }
        let permute = || Received::Permute(unpack(inbox, job.task.rows, job.task.lanes));
        Ok(Flow::Done(self.received.take().unwrap_or_else(permute)))
    }
}

/// Nothing is fixed for the evaluator in setup.
impl Setup<Evaluator> for EvaluatorSetup {
    fn take_mask(&mut self) -> Option<Labels> {
        Some(Labels::absent())
    }
}

impl Stage<Garbler> for GarblerOnline {
    type Output = Made<Labels>;

    fn step(&mut self, garbler: &Garbler, job: &Job, inbox: &[u8], outbox: &mut Outbox) -> Result<Flow<Made<Labels>>> {
        let zeros = match self {
            GarblerOnline::Input(input) => return input.step(garbler, job, inbox, outbox),
            GarblerOnline::Output(opening) => return opening.step(job, garbler.lengths.party, inbox, outbox),
            GarblerOnline::Map(batch) if !batch.is_done() => {
                garbler.garble(batch, &job.public, outbox);
                return Ok(Flow::Exchange);
            }
            GarblerOnline::Map(batch) => garbler.made(batch, &job.public),
            GarblerOnline::Done => Labels::absent(),
        };
        Ok(Flow::Done(Made::Value(zeros)))
    }
}

impl Stage<Evaluator> for EvaluatorOnline {
    type Output = Made<Labels>;

    fn step(
        &mut self,
        evaluator: &Evaluator,
        job: &Job,
        inbox: &[u8],
        outbox: &mut Outbox,
    ) -> Result<Flow<Made<Labels>>> {
        let (batch, asked) = match self {
            EvaluatorOnline::Input(input) => return input.step(evaluator, job, inbox, outbox),
            EvaluatorOnline::Output(opening) => return opening.step(job, evaluator.lengths.party, inbox, outbox),
            EvaluatorOnline::Map(batch, asked) => (batch, asked),
        };
        if let Some(end) = asked.take() {
            evaluator.evaluate(batch, end, &job.public, inbox);
        }
        if batch.is_done() {
            return Ok(Flow::Done(Made::Value(evaluator.made(batch, &job.public))));
        }
        *asked = Some(batch.chunk().0);
        Ok(Flow::Exchange)
    }
}

impl Protocol for Garbler {
    type Mask = Labels;
    type Value = Labels;
    type Prepared = Garbled;
    type Setup = GarblerSetup;
    type Online = GarblerOnline;

    fn lengths(&self) -> &dyn Lengths {
        &self.lengths
    }

    fn setup(&self, job: &Job, args: &[Arg<'_, Labels>], stock: &mut Stock) -> Result<GarblerSetup> {
        let ready = |garbled| GarblerWork::Ready(Some(garbled));
        let (work, zeros) = match &job.task.kind {
            TaskKind::Input { .. } => {
                let (input, zeros) = GarblerInput::prepare(self, job, stock)?;
                (ready(Garbled::Input(input)), Some(zeros))
            }
            TaskKind::Map { .. } if self.lengths.ahead => (GarblerWork::Map(Box::new(self.batch(job, args))), None),
            TaskKind::Output { wiring, .. } if self.lengths.ahead => {
                let permute = output::permute_bits(self, job, wiring, args);
                let learns = output::learns(job, self.evaluator());
                let work = if learns { GarblerWork::Output(permute) } else { ready(Garbled::Permute(permute)) };
                (work, Some(Labels::absent()))
            }
            _ => (ready(Garbled::Later), Some(Labels::absent())),
        };
        Ok(GarblerSetup { work, zeros })
    }

    fn online(
        &self,
        job: &Job,
        garbled: Garbled,
        args: &[Arg<'_, Labels>],
        feed: Option<BitMatrix>,
    ) -> Result<GarblerOnline> {
        match (&job.task.kind, garbled) {
            (TaskKind::Input { .. }, Garbled::Input(input)) => Ok(GarblerOnline::Input(input.begin(feed))),
            (TaskKind::Map { .. }, Garbled::Sent) => Ok(GarblerOnline::Done),
            (TaskKind::Map { .. }, Garbled::Later) => Ok(GarblerOnline::Map(Box::new(self.batch(job, args)))),
            (TaskKind::Output { .. }, Garbled::Permute(permute)) => {
                Ok(GarblerOnline::Output(Opening::of_garbler(self, job, permute, true)))
            }
            (TaskKind::Output { wiring, .. }, Garbled::Later) => {
                let permute = output::permute_bits(self, job, wiring, args);
                Ok(GarblerOnline::Output(Opening::of_garbler(self, job, permute, false)))
            }
            _ => Err(wrong_task()),
        }
    }

    fn lift_mask(&self, public: &BitMatrix) -> Labels {
        if self.lengths.ahead { self.lift_zeros(public) } else { Labels::absent() }
    }

    fn lift(&self, public: &BitMatrix) -> Labels {
        if self.lengths.ahead { Labels::absent() } else { self.lift_zeros(public) }
    }

    fn program_secret(&self) -> Option<Zeroizing<Block>> {
        Some(Zeroizing::new(self.delta))
    }

    fn store(&self, _: &Job, garbled: Garbled, write: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        match garbled {
            Garbled::Input(input) => write(bytemuck::cast_slice(input.sums().blocks())),
            Garbled::Permute(permute) => write(pack(&permute).bytes()),
            Garbled::Sent | Garbled::Later => Ok(()),
        }
    }

    fn restore(&self, job: &Job, read: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<Garbled> {
        Ok(match &job.task.kind {
            TaskKind::Input { .. } => {
                let mut sums = self.buffers.zeros(job.task.rows, job.task.lanes);
                read(bytemuck::cast_slice_mut(sums.blocks_mut()))?;
                Garbled::Input(GarblerInput::of_sums(sums))
            }
            TaskKind::Output { .. } => Garbled::Permute(output::restore(job, read)?),
            _ => Garbled::Sent,
        })
    }
}

impl Protocol for Evaluator {
    type Mask = Labels;
    type Value = Labels;
    type Prepared = Received;
    type Setup = EvaluatorSetup;
    type Online = EvaluatorOnline;

    fn lengths(&self) -> &dyn Lengths {
        &self.lengths
    }

    fn setup(&self, job: &Job, _: &[Arg<'_, Labels>], stock: &mut Stock) -> Result<EvaluatorSetup> {
        let received = match job.task.kind {
            TaskKind::Input { .. } => Some(Received::Input(EvaluatorInput::prepare(self, job, stock)?)),
            TaskKind::Output { .. } if self.lengths.ahead && output::learns(job, self.lengths.party) => None,
            _ => Some(Received::Other),
        };
        Ok(EvaluatorSetup { exchanges: self.lengths.setup(job), received })
    }

    fn online(
        &self,
        job: &Job,
        received: Received,
        args: &[Arg<'_, Labels>],
        feed: Option<BitMatrix>,
    ) -> Result<EvaluatorOnline> {
        match (&job.task.kind, received) {
            (TaskKind::Input { .. }, Received::Input(input)) => Ok(EvaluatorOnline::Input(input.begin(feed))),
            (TaskKind::Map { .. }, Received::Other) => Ok(EvaluatorOnline::Map(Box::new(self.batch(job, args)), None)),
            (TaskKind::Output { wiring, .. }, received) => {
                let permute = if let Received::Permute(permute) = received { Some(permute) } else { None };
                Ok(EvaluatorOnline::Output(Opening::of_evaluator(self, job, wiring, args, permute)))
            }
            _ => Err(wrong_task()),
        }
    }

    fn lift_mask(&self, _: &BitMatrix) -> Labels {
        Labels::absent()
    }

    fn lift(&self, public: &BitMatrix) -> Labels {
        Labels::zeros(public.rows(), public.lanes())
    }

    fn is_open(&self) -> bool {
        self.unopened.is_none()
    }

    fn open(&mut self, s: &[u8]) -> Result<()> {
        let s = Block::from_bytes(s.try_into().map_err(|_| Error::usage("what opens a program has another length"))?);
        if let Some((garbling, seed)) = self.unopened.take() {
            (self.hash, self.s, self.labels) = (Hash::new(garbling, s), s, Generator::from_seed(*seed ^ s));
        }
        Ok(())
    }

    fn program_secret(&self) -> Option<Zeroizing<Block>> {
        self.is_open().then(|| Zeroizing::new(self.s))
    }

    fn store(&self, _: &Job, received: Received, write: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        match received {
            Received::Input(input) => write(bytemuck::cast_slice(input.blocks())),
            Received::Permute(permute) => write(pack(&permute).bytes()),
            Received::Other => Ok(()),
        }
    }

    fn restore(&self, job: &Job, read: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<Received> {
        Ok(match &job.task.kind {
            TaskKind::Input { .. } => Received::Input(EvaluatorInput::restore(self, job, read)?),
            TaskKind::Output { .. } if output::learns(job, self.lengths.party) => {
                Received::Permute(output::restore(job, read)?)
            }
            _ => Received::Other,
        })
    }
}

fn wrong_task() -> Error {
    Error::usage("a task was prepared as another one")
}
