//! Yao's garbled circuits: the garbler holds two labels for each bit, the evaluator one of them.
//!
//! Half-gates of Zahur, Rosulek and Evans (Eurocrypt 2015), with free XOR and point-and-permute: 32 bytes an AND, four
//! hash calls to garble and two to evaluate; or three halves of Rosulek and Roy (Crypto 2021), 25 bytes, six calls and
//! three. XOR and NOT are free. A zero label is W, the one label W ⊕ Δ; the lowest
//! bit of Δ is 1, so that the lowest bit of a label is a permute bit. The hash and its concrete security are stated at
//! [`GateHash`](kernels::hash::GateHash) and [`ThreeHalves`](kernels::three_halves::ThreeHalves): they are keyed by the
//! AND's number in the session and by S, which the garbler draws for every program.
//!
//! **Security**: semi-honest. An evaluator that chooses inputs after it has seen the tables (setup ahead of time) is
//! covered in the semi-honest model only. **Rounds**: one exchange of inputs and one for outputs, for as many tiles as fit the window.
//!
//! Two ways of timing: *ahead*, the tables travel in setup and labels are fixed there (they flow as masks); *streamed*,
//! tables travel while they are made, chunk by chunk, so that memory does not grow with the circuit.

mod few;
mod gates;
mod hash;
pub(crate) mod input;
mod labels;
mod output;
mod script;
mod shelf;
mod walk;

use crate::cells::{Cells, Labels, Spare};
use crate::correlation::{Demand, Stock};
use crate::outbox::Outbox;
use crate::packed::{byte_len, pack, unpack};
use crate::protocol::{Arg, Flow, Job, Protocol};
use crate::terms::Garbling;
use crate::{Error, Party, Result};
use circuit::BitMatrix;
use circuit::program::Kind;
use kernels::Block;
use kernels::generator::Generator;
use zeroize::Zeroize;

use hash::Hash;
pub use input::{EvaluatorInput, GarblerInput};
pub use output::Opening;
pub use shelf::Tables;
pub use walk::Walk;
pub(crate) use walk::{chunk, numbers_of};

/// Bytes of a label.
pub(crate) const LABEL: usize = 16;

/// The numbers of a session before this program: ANDs, none twice under one Δ and S, and input bits.
#[derive(Clone, Copy, Default)]
pub(crate) struct Base {
    pub and0: u64,
    pub in0: u64,
}

/// The party that garbles.
pub struct Garbler {
    party: Party,
    delta: Block,
    hash: Hash,
    /// Of the base labels of inputs: ahead its secret, streamed what both parties know.
    labels: Generator,
    base: Base,
    ahead: bool,
    spare: Spare,
}

impl Drop for Garbler {
    fn drop(&mut self) {
        self.delta.zeroize();
    }
}

/// The party that evaluates.
pub struct Evaluator {
    party: Party,
    hash: Hash,
    /// Of the base labels of inputs when streamed: what both parties know.
    labels: Generator,
    base: Base,
    ahead: bool,
    spare: Spare,
}

impl Garbler {
    /// The garbler of one program, with the public key of its hash. `labels` is its secret if it garbles ahead, else
    /// the evaluator's too.
    pub(crate) fn new(
        party: Party,
        delta: Block,
        hash: (Garbling, Block),
        labels: Generator,
        base: Base,
        ahead: bool,
    ) -> Self {
        Garbler { party, delta, hash: Hash::new(hash.0, hash.1), labels, base, ahead, spare: Spare::default() }
    }
}

impl Evaluator {
    /// The evaluator of one program; the key of the hash came from the garbler, who knows `labels` too.
    pub(crate) fn new(party: Party, hash: (Garbling, Block), labels: Generator, base: Base, ahead: bool) -> Self {
        Evaluator { party, hash: Hash::new(hash.0, hash.1), labels, base, ahead, spare: Spare::default() }
    }
}

/// Bytes of setup that the evaluator reads for a task, when tables travel ahead.
pub(crate) fn ahead_bytes(job: &Job, evaluator: Party, table: usize) -> usize {
    match job.task.kind {
        Kind::Map { .. } => job.ands() as usize * table,
        _ if output::learns(job, evaluator) => byte_len(job.task.rows * job.task.lanes),
        _ => 0,
    }
}

/// What the garbler keeps of a task from setup.
pub enum Garbled {
    /// An input.
    Input(GarblerInput),
    /// A map whose tables were sent.
    Sent,
    /// An output whose permute bits were sent to whoever learns it.
    Permute(BitMatrix),
    /// A task to be garbled online.
    Later,
}

/// What the evaluator keeps of a task from setup.
pub enum Received {
    /// An input.
    Input(EvaluatorInput),
    /// Tables that came ahead.
    Tables(Tables),
    /// Permute bits that came ahead.
    Permute(BitMatrix),
    /// A task whose tables or permute bits come online, if any.
    Later,
}

/// Where the garbler has got to in a task.
pub enum GarblerRun {
    /// An input.
    Input(GarblerInput),
    /// A map to be garbled.
    Map(Box<Walk>),
    /// A map that was garbled in setup.
    Done,
    /// An output.
    Output(Opening),
}

/// Where the evaluator has got to in a task.
pub enum EvaluatorRun {
    /// An input.
    Input(EvaluatorInput),
    /// A map whose tables came ahead.
    Stored(Box<Walk>, Tables),
    /// A map whose tables come chunk by chunk; the end of the one that was asked for.
    Streamed(Box<Walk>, Option<usize>),
    /// An output.
    Output(Opening),
}

impl Protocol for Garbler {
    const ONE_WAY: bool = true;
    type Mask = Labels;
    type Value = Labels;
    type Prepared = Garbled;
    type Run = GarblerRun;

    fn demand(&self, job: &Job) -> Demand {
        input::demand(job, self.party)
    }

    fn setup_bytes(&self, _: &Job) -> usize {
        0
    }

    fn prepare(
        &self,
        job: &Job,
        args: &[Arg<'_, Labels>],
        stock: &mut Stock,
        _: &[u8],
        outbox: &mut Outbox,
    ) -> Result<(Garbled, Labels)> {
        match &job.task.kind {
            Kind::Input { .. } => {
                let zeros = || input::base_labels(&self.labels, &self.base, job, &self.spare);
                let mask = if self.ahead { zeros() } else { Labels::absent() };
                Ok((Garbled::Input(GarblerInput::prepare(self, job, stock)?), mask))
            }
            Kind::Map { .. } if self.ahead => Ok((Garbled::Sent, self.garble_ahead(job, args, outbox))),
            Kind::Output { wiring, .. } if self.ahead => {
                let permute = output::permute_bits(self, job, wiring, args);
                if output::learns(job, self.party.peer()) {
                    outbox.extend_from_slice(pack(&permute).bytes());
                }
                Ok((Garbled::Permute(permute), Labels::absent()))
            }
            _ => Ok((Garbled::Later, Labels::absent())),
        }
    }

    fn begin(
        &self,
        job: &Job,
        prepared: Garbled,
        args: &[Arg<'_, Labels>],
        feed: Option<BitMatrix>,
    ) -> Result<GarblerRun> {
        match (&job.task.kind, prepared) {
            (Kind::Input { .. }, Garbled::Input(input)) => Ok(GarblerRun::Input(input.begin(feed))),
            (Kind::Map { .. }, Garbled::Sent) => Ok(GarblerRun::Done),
            (Kind::Map { .. }, Garbled::Later) => Ok(GarblerRun::Map(Box::new(self.walk(job, args)))),
            (Kind::Output { .. }, Garbled::Permute(permute)) => {
                Ok(GarblerRun::Output(Opening::of_garbler(self, job, permute, true)))
            }
            (Kind::Output { wiring, .. }, Garbled::Later) => {
                let permute = output::permute_bits(self, job, wiring, args);
                Ok(GarblerRun::Output(Opening::of_garbler(self, job, permute, false)))
            }
            _ => Err(Error::usage("a task was prepared as another one")),
        }
    }

    fn step(&self, job: &Job, run: &mut GarblerRun, inbox: &[u8], outbox: &mut Outbox) -> Result<Flow<Labels>> {
        match run {
            GarblerRun::Input(input) => input.step(self, job, inbox, outbox),
            GarblerRun::Done => Ok(Flow::Value(Labels::absent())),
            GarblerRun::Map(walk) if walk.is_done() => Ok(Flow::Value(self.made(walk, &job.public))),
            GarblerRun::Map(walk) => {
                self.garble(walk, walk.chunk(), &job.public, outbox);
                Ok(Flow::Exchange { expect: 0 })
            }
            GarblerRun::Output(opening) => opening.step(job, self.party, inbox, outbox),
        }
    }

    fn lift_mask(&self, public: &BitMatrix) -> Labels {
        if self.ahead { self.lift_zeros(public) } else { Labels::absent() }
    }

    fn lift(&self, public: &BitMatrix) -> Labels {
        if self.ahead { Labels::absent() } else { self.lift_zeros(public) }
    }
}

impl Garbler {
    /// Garbles a whole task in setup; its zero labels.
    fn garble_ahead(&self, job: &Job, args: &[Arg<'_, Labels>], outbox: &mut Outbox) -> Labels {
        let mut walk = self.walk(job, args);
        if !walk.is_done() {
            let whole = walk.whole();
            self.garble(&mut walk, whole, &job.public, outbox);
        }
        self.made(&mut walk, &job.public)
    }
}

impl Protocol for Evaluator {
    const ONE_WAY: bool = true;
    type Mask = Labels;
    type Value = Labels;
    type Prepared = Received;
    type Run = EvaluatorRun;

    fn demand(&self, job: &Job) -> Demand {
        input::demand(job, self.party.peer())
    }

    fn setup_bytes(&self, job: &Job) -> usize {
        if self.ahead { ahead_bytes(job, self.party, self.hash.table()) } else { 0 }
    }

    fn prepare(
        &self,
        job: &Job,
        _: &[Arg<'_, Labels>],
        stock: &mut Stock,
        inbox: &[u8],
        _: &mut Outbox,
    ) -> Result<(Received, Labels)> {
        let received = match job.task.kind {
            Kind::Input { .. } => Received::Input(EvaluatorInput::prepare(self, job, stock)?),
            Kind::Map { .. } if self.ahead => Received::Tables(Tables::here(inbox)),
            Kind::Output { .. } if self.ahead && output::learns(job, self.party) => {
                Received::Permute(unpack(inbox, job.task.rows, job.task.lanes))
            }
            _ => Received::Later,
        };
        Ok((received, Labels::absent()))
    }

    fn begin(
        &self,
        job: &Job,
        prepared: Received,
        args: &[Arg<'_, Labels>],
        feed: Option<BitMatrix>,
    ) -> Result<EvaluatorRun> {
        let walk = || Box::new(self.walk(job, args));
        match (&job.task.kind, prepared) {
            (Kind::Input { .. }, Received::Input(input)) => Ok(EvaluatorRun::Input(input.begin(feed))),
            (Kind::Map { .. }, Received::Tables(tables)) => Ok(EvaluatorRun::Stored(walk(), tables)),
            (Kind::Map { .. }, Received::Later) => Ok(EvaluatorRun::Streamed(walk(), None)),
            (Kind::Output { wiring, .. }, received) => {
                let permute = if let Received::Permute(permute) = received { Some(permute) } else { None };
                Ok(EvaluatorRun::Output(Opening::of_evaluator(self, job, wiring, args, permute)))
            }
            _ => Err(Error::usage("a task was prepared as another one")),
        }
    }

    fn step(&self, job: &Job, run: &mut EvaluatorRun, inbox: &[u8], outbox: &mut Outbox) -> Result<Flow<Labels>> {
        match run {
            EvaluatorRun::Input(input) => input.step(self, job, inbox, outbox),
            EvaluatorRun::Stored(walk, tables) => {
                while !walk.is_done() {
                    let (end, tables) = tables.next(walk, self.hash.table())?;
                    self.evaluate(walk, end, &job.public, tables);
                }
                Ok(Flow::Value(self.made(walk, &job.public)))
            }
            EvaluatorRun::Streamed(walk, asked) => {
                if let Some(end) = asked.take() {
                    self.evaluate(walk, end, &job.public, inbox);
                }
                if walk.is_done() {
                    return Ok(Flow::Value(self.made(walk, &job.public)));
                }
                let (end, ands) = walk.chunk();
                *asked = Some(end);
                Ok(Flow::Exchange { expect: ands * self.hash.table() })
            }
            EvaluatorRun::Output(opening) => opening.step(job, self.party, inbox, outbox),
        }
    }

    fn map_bytes(&self, job: &Job) -> usize {
        if self.ahead { 0 } else { job.ands() as usize * self.hash.table() }
    }

    fn asks_next(&self, _: &Job, run: &EvaluatorRun) -> Option<usize> {
        match run {
            EvaluatorRun::Streamed(walk, Some(end)) if *end < walk.end() => {
                Some(walk.chunk_from(*end).1 * self.hash.table())
            }
            _ => None,
        }
    }

    fn lift_mask(&self, _: &BitMatrix) -> Labels {
        Labels::absent()
    }

    fn lift(&self, public: &BitMatrix) -> Labels {
        Labels::zeros(public.rows(), public.lanes())
    }
}
