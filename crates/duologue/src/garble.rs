//! Yao's garbled circuits: the garbler holds two labels for each bit, the evaluator one of them.
//!
//! Half-gates of Zahur, Rosulek and Evans (Eurocrypt 2015), with free XOR and point-and-permute: 32 bytes an AND, four
//! hash calls to garble and two to evaluate; XOR and NOT are free. A zero label is W, the one label W ⊕ Δ; the lowest
//! bit of Δ is 1, so that the lowest bit of a label is a permute bit. The hash and its concrete security are stated at
//! [`GateHash`]: it is keyed by the AND's number in the session and by S, which the garbler draws for every program.
//!
//! **Inputs**: the garbler sends the label of its own bit (16 bytes). For a bit of the evaluator a correlated OT
//! (q; t = q ⊕ r·Δ) was made in setup: the evaluator sends d = x ⊕ r, the garbler answers q ⊕ d·Δ ⊕ W, and the evaluator
//! adds t to find W ⊕ x·Δ. A shared bit costs the same; the garbler adds its share times Δ to the answer.
//! **Outputs** are decoded by permute bits.
//!
//! **Security**: semi-honest. An evaluator that chooses inputs after it has seen the tables (setup ahead of time) is
//! covered in the semi-honest model only. **Rounds**: one exchange of inputs each way, one for outputs.
//!
//! Two ways of timing: *ahead*, the tables travel in setup and labels are fixed there (they flow as masks); *streamed*,
//! tables travel while they are made, chunk by chunk, so that memory does not grow with the circuit.

use crate::cells::{self, Cells, Labels};
use crate::correlation::{Demand, Stock};
use crate::gmw::{pack, unpack};
use crate::ot::Choices;
use crate::packed::byte_len;
use crate::protocol::{Arg, Flow, Job, Protocol};
use crate::{Error, Party, Result};
use circuit::BitMatrix;
use circuit::plan::{Instr, Op, Plan, Source};
use circuit::program::{Kind, Owner, Piece, Recipient};
use kernels::generator::Generator;
use kernels::hash::{GateHash, Operand};
use kernels::Block;
use std::sync::Arc;

/// ANDs of a chunk of tables, a quarter of a megabyte: what travels at once when tables are streamed.
const CHUNK: usize = 1 << 13;

/// With fewer lanes than this, neighbouring ANDs are hashed together.
const FEW_LANES: usize = 16;

/// Bytes of a label, and of the two ciphertexts of an AND.
pub(crate) const LABEL: usize = 16;
pub(crate) const TABLE: usize = 32;

/// The numbers of a session before this program: ANDs under this Δ, and input bits.
#[derive(Clone, Copy, Default)]
pub(crate) struct Base {
    pub and0: u64,
    pub in0: u64,
}

/// The party that garbles.
pub struct Garbler {
    party: Party,
    delta: Block,
    hash: GateHash,
    labels: Generator,
    base: Base,
    ahead: bool,
}

/// The party that evaluates.
pub struct Evaluator {
    party: Party,
    hash: GateHash,
    base: Base,
    ahead: bool,
}

/// What the garbler keeps of a task from setup.
pub enum Garbled {
    /// Zero labels of an input; for bits of the evaluator also the COTs.
    Input {
        /// Zero labels.
        zeros: Labels,
        /// One COT for each bit of the evaluator; empty for the garbler's own.
        cots: Labels,
    },
    /// Permute bits of an output, if they were not sent yet; the garbler's share of it.
    Output(Option<BitMatrix>),
    /// A map whose tables were sent.
    Sent,
    /// A map to be garbled online.
    Later,
}

/// What the evaluator keeps of a task from setup.
pub enum Received {
    /// The evaluator's side of the COTs of an input.
    Input(Option<Choices>),
    /// Tables that came ahead.
    Tables(Vec<[Block; 2]>),
    /// The garbler's permute bits of an output that came ahead.
    Permute(Option<BitMatrix>),
    /// A map whose tables come online.
    Later,
}

impl Garbler {
    /// The garbler of one program; `labels` is its own secret generator, `s` the public key of the hash.
    pub(crate) fn new(party: Party, delta: Block, s: Block, labels: Generator, base: Base, ahead: bool) -> Self {
        Garbler { party, delta, hash: GateHash::new(s), labels, base, ahead }
    }
}

impl Evaluator {
    /// The evaluator of one program; `s` came from the garbler.
    pub(crate) fn new(party: Party, s: Block, base: Base, ahead: bool) -> Self {
        Evaluator { party, hash: GateHash::new(s), base, ahead }
    }
}

/// COTs for the bits of an input that the evaluator holds, alone or as a share.
pub(crate) fn input_demand(job: &Job, garbler: Party) -> Demand {
    match job.task.kind {
        Kind::Input { owner, .. } if owner != Owner::Party(garbler) => {
            Demand::of_cots(garbler, (job.task.rows * job.task.lanes) as u64)
        }
        _ => Demand::NONE,
    }
}

/// Whether the garbler's permute bits go to the evaluator.
pub(crate) fn evaluator_learns(job: &Job, evaluator: Party) -> bool {
    matches!(job.task.kind, Kind::Output { recipient, .. }
        if recipient == Recipient::Both || recipient == Recipient::Party(evaluator))
}

/// Bytes of setup that the evaluator reads for a task, when tables travel ahead.
pub(crate) fn ahead_bytes(job: &Job, evaluator: Party) -> usize {
    match job.task.kind {
        Kind::Map { .. } => and_count(job) * TABLE,
        _ if evaluator_learns(job, evaluator) => byte_len(job.task.rows * job.task.lanes),
        _ => 0,
    }
}

fn and_count(job: &Job) -> usize {
    job.plan.as_ref().map_or(0, |plan| plan.ands() as usize * job.task.lanes)
}

// ---------------------------------------------------------------------------------------------------------------------
// The garbler.

/// Where the garbler has got to in a task.
pub enum GarblerRun {
    /// An input: its labels, and the evaluator's masked bits still to come.
    Input {
        /// Zero labels.
        zeros: Labels,
        /// COTs of the evaluator's bits.
        cots: Labels,
        /// The garbler's bits, or its shares.
        bits: Option<BitMatrix>,
        /// How many messages were written.
        turn: u8,
    },
    /// A map under way.
    Map(Box<Walk>),
    /// An output: permute bits still to be sent, and the garbler's share.
    Output {
        /// Permute bits, which are the garbler's share.
        permute: BitMatrix,
        /// Whether the evaluator still needs them.
        send: bool,
        /// Whether it was written.
        sent: bool,
    },
    /// Nothing is left to do online.
    Done,
}

impl Protocol for Garbler {
    type Mask = Labels;
    type Value = Labels;
    type Prepared = Garbled;
    type Run = GarblerRun;

    fn demand(&self, job: &Job) -> Demand {
        input_demand(job, self.party)
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
        outbox: &mut Vec<u8>,
    ) -> Result<(Garbled, Labels)> {
        match &job.task.kind {
            Kind::Input { .. } => self.prepare_input(job, stock),
            Kind::Map { .. } if self.ahead => {
                let mut walk = Walk::new(job, |slots, plan, piece| self.load(slots, plan, args, piece));
                let mut tables = Vec::new();
                while !walk.is_done() {
                    self.garble(&mut walk, &job.public, &mut tables);
                    outbox.extend_from_slice(bytemuck::cast_slice(&tables));
                }
                Ok((Garbled::Sent, self.outputs(&walk, &job.public)))
            }
            Kind::Output { wiring, .. } if self.ahead => {
                let permute = self.permute_bits(job, wiring, args);
                if evaluator_learns(job, self.party.peer()) {
                    pack(&permute).write(outbox);
                }
                Ok((Garbled::Output(Some(permute)), Labels::absent()))
            }
            Kind::Output { .. } => Ok((Garbled::Output(None), Labels::absent())),
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
            (_, Garbled::Input { zeros, cots }) => Ok(GarblerRun::Input { zeros, cots, bits: feed, turn: 0 }),
            (Kind::Map { .. }, Garbled::Later) => {
                let walk = Walk::new(job, |slots, plan, piece| self.load(slots, plan, args, piece));
                Ok(GarblerRun::Map(Box::new(walk)))
            }
            (Kind::Output { wiring, .. }, Garbled::Output(permute)) => {
                let send = permute.is_none() && evaluator_learns(job, self.party.peer());
                let permute = permute.unwrap_or_else(|| self.permute_bits(job, wiring, args));
                Ok(GarblerRun::Output { permute, send, sent: false })
            }
            (_, Garbled::Sent) => Ok(GarblerRun::Done),
            _ => Err(Error::usage("a task was prepared as another one")),
        }
    }

    fn step(&self, job: &Job, run: &mut GarblerRun, inbox: &[u8], outbox: &mut Vec<u8>) -> Result<Flow<Labels>> {
        match run {
            GarblerRun::Done => Ok(Flow::Value(Labels::absent())),
            GarblerRun::Input { .. } => self.input(job, run, inbox, outbox),
            GarblerRun::Map(walk) if walk.is_done() => Ok(Flow::Value(self.outputs(walk, &job.public))),
            GarblerRun::Map(walk) => {
                let mut tables = Vec::new();
                self.garble(walk, &job.public, &mut tables);
                outbox.extend_from_slice(bytemuck::cast_slice(&tables));
                Ok(Flow::Exchange { expect: 0 })
            }
            GarblerRun::Output { permute, send, sent } => {
                let Kind::Output { recipient, .. } = job.task.kind else {
                    return Err(Error::usage("not an output"));
                };
                let learns = recipient == Recipient::Both || recipient == Recipient::Party(self.party);
                if !*sent {
                    *sent = true;
                    if *send {
                        pack(permute).write(outbox);
                    }
                    let bits = permute.rows() * permute.lanes();
                    return Ok(Flow::Exchange { expect: if learns { byte_len(bits) } else { 0 } });
                }
                Ok(Flow::Output(match recipient {
                    Recipient::Shared => Some(permute.clone()),
                    _ if learns => Some(decode(inbox, permute)),
                    _ => None,
                }))
            }
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
    /// A public bit has the active label 0, so that its zero label is the bit times Δ.
    fn lift_zeros(&self, public: &BitMatrix) -> Labels {
        let mut zeros = Labels::zeros(public.rows(), public.lanes());
        (0..public.rows()).for_each(|row| add_bits(zeros.row_mut(row), public.row(row), self.delta));
        zeros
    }

    fn load(&self, slots: &mut Labels, plan: &Plan, args: &[Arg<'_, Labels>], piece: &Piece) {
        match &args[piece.arg as usize] {
            Arg::Secret(arg) => cells::load(plan, slots, *arg, piece),
            Arg::Public(public) => cells::load(plan, slots, &self.lift_zeros(public), piece),
        }
    }

    fn prepare_input(&self, job: &Job, stock: &mut Stock) -> Result<(Garbled, Labels)> {
        let (rows, lanes) = (job.task.rows, job.task.lanes);
        let fresh = || {
            let mut zeros = vec![Block::ZERO; rows * lanes];
            self.labels.derive(b"zeros   ", self.base.in0 + job.task.seat.in0).fill_blocks(&mut zeros);
            Labels::new(zeros, lanes)
        };
        let count = self.demand(job).cots_by(self.party) as usize;
        let cots = Labels::new(stock.draw_cot_sender(count)?, lanes);
        let mask = if self.ahead { fresh() } else { Labels::absent() };
        Ok((Garbled::Input { zeros: fresh(), cots }, mask))
    }

    /// Own bits: one label each. Bits of the evaluator: its masked bits come first.
    fn input(&self, job: &Job, run: &mut GarblerRun, inbox: &[u8], outbox: &mut Vec<u8>) -> Result<Flow<Labels>> {
        let GarblerRun::Input { zeros, cots, bits, turn } = run else {
            return Err(Error::usage("not an input"));
        };
        let count = job.task.rows * job.task.lanes;
        let own = self.demand(job) == Demand::NONE;
        *turn += 1;
        match (*turn, own) {
            (1, false) => return Ok(Flow::Exchange { expect: byte_len(count) }),
            (1, true) | (2, false) => {
                let masked = if own { BitMatrix::zeros(0, 0) } else { unpack(inbox, job.task.rows, job.task.lanes) };
                let labels = self.active_labels(zeros, cots, bits.as_ref(), &masked, job.task.rows);
                outbox.extend_from_slice(bytemuck::cast_slice(&labels));
                return Ok(Flow::Exchange { expect: 0 });
            }
            _ => {}
        }
        let zeros = std::mem::replace(zeros, Labels::absent());
        Ok(Flow::Value(if self.ahead { Labels::absent() } else { zeros }))
    }

    /// For each bit W ⊕ (own bit or share)·Δ, and for bits of the evaluator also q ⊕ d·Δ.
    fn active_labels(
        &self,
        zeros: &Labels,
        cots: &Labels,
        own: Option<&BitMatrix>,
        masked: &BitMatrix,
        rows: usize,
    ) -> Vec<Block> {
        let mut labels = zeros.blocks().to_vec();
        labels.iter_mut().zip(cots.blocks()).for_each(|(label, &q)| *label ^= q);
        let lanes = labels.len().checked_div(rows).unwrap_or(0).max(1);
        for bits in own.into_iter().chain((masked.rows() > 0).then_some(masked)) {
            for (row, labels) in labels.chunks_mut(lanes).enumerate() {
                add_bits(labels, bits.row(row), self.delta);
            }
        }
        labels
    }

    fn permute_bits(&self, job: &Job, wiring: &[Piece], args: &[Arg<'_, Labels>]) -> BitMatrix {
        let mut zeros = Labels::zeros(job.task.rows, job.task.lanes);
        for piece in wiring {
            match &args[piece.arg as usize] {
                Arg::Secret(arg) => cells::copy(&mut zeros, *arg, piece),
                Arg::Public(public) => cells::copy(&mut zeros, &self.lift_zeros(public), piece),
            }
        }
        low_bits(&zeros, job.task.rows, job.task.lanes)
    }

    /// Garbles a chunk; `tables` receives its ciphertexts.
    fn garble(&self, walk: &mut Walk, public: &BitMatrix, tables: &mut Vec<[Block; 2]>) {
        let (plan, lanes) = (walk.plan.clone(), walk.lanes);
        let (end, ands) = walk.chunk();
        tables.clear();
        tables.resize(ands, [Block::ZERO; 2]);
        let mut rest = &mut tables[..];
        while walk.next < end {
            let instr = &plan.code()[walk.next];
            let run = walk.batch(end);
            let tables = rest.split_off_mut(..run.ands()).expect("chunk() counts the ANDs");
            let first = self.base.and0 + walk.number;
            match instr.op {
                Op::And if run.staged => self.garble_staged(walk, &plan.code()[walk.next..][..run.count], first, tables),
                Op::And => {
                    let (a, b, out) = walk.slots.operands(instr.a as usize, instr.b as usize, instr.dst as usize);
                    let (a, b) = (Operand { labels: a, flip: instr.flip_a }, Operand { labels: b, flip: instr.flip_b });
                    self.hash.garble(first, self.delta, a, b, out, tables);
                }
                _ => self.local(instr, &mut walk.slots, public, lanes),
            }
            walk.advance(&run);
        }
    }

    fn garble_staged(&self, walk: &mut Walk, code: &[Instr], first: u64, tables: &mut [[Block; 2]]) {
        let delta = |flip| self.delta & Block::mask(flip);
        let mut stage = Stage::fill(walk, code, |instr| (delta(instr.flip_a), delta(instr.flip_b)));
        let Stage { a, b, out } = &mut stage;
        let (a, b) = (Operand { labels: a, flip: false }, Operand { labels: b, flip: false });
        self.hash.garble(first, self.delta, a, b, out, tables);
        stage.empty(walk, code);
    }

    /// Gates that need no hash.
    fn local(&self, instr: &Instr, slots: &mut Labels, public: &BitMatrix, lanes: usize) {
        let flip = self.delta & Block::mask(instr.flip_a);
        let bit = |lane: usize| public.row(instr.b as usize)[lane / 64] >> (lane % 64) & 1 == 1;
        if instr.op == Op::Xor {
            return xor(instr, slots);
        }
        let (a, _, out) = slots.operands(instr.a as usize, instr.a as usize, instr.dst as usize);
        for lane in 0..lanes {
            out[lane] = match instr.op {
                Op::XorPublic => a[lane] ^ (self.delta & Block::mask(bit(lane))),
                _ => (a[lane] ^ flip) & Block::mask(bit(lane) ^ instr.flip_b),
            };
        }
    }

    fn outputs(&self, walk: &Walk, public: &BitMatrix) -> Labels {
        walk.outputs(public, |label, bit| *label ^= self.delta & Block::mask(bit))
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The evaluator.

/// Where the evaluator has got to in a task.
pub enum EvaluatorRun {
    /// An input whose labels are to come.
    Input {
        /// The evaluator's side of the COTs; none for the garbler's bits.
        choices: Option<Choices>,
        /// The evaluator's bits, or its shares.
        bits: Option<BitMatrix>,
        /// How many messages were written.
        turn: u8,
    },
    /// A map under way, with tables that came ahead.
    Map {
        /// Where it has got to.
        walk: Box<Walk>,
        /// Tables, if they came ahead.
        tables: Option<Vec<[Block; 2]>>,
        /// Ciphertexts already used.
        used: usize,
        /// Whether a chunk was asked for.
        asked: bool,
    },
    /// An output: the active labels' lowest bits.
    Output {
        /// The evaluator's share.
        share: BitMatrix,
        /// The garbler's permute bits, if they came ahead.
        permute: Option<BitMatrix>,
        /// Whether the share was sent.
        sent: bool,
    },
}

impl Protocol for Evaluator {
    type Mask = Labels;
    type Value = Labels;
    type Prepared = Received;
    type Run = EvaluatorRun;

    fn demand(&self, job: &Job) -> Demand {
        input_demand(job, self.party.peer())
    }

    fn setup_bytes(&self, job: &Job) -> usize {
        if self.ahead { ahead_bytes(job, self.party) } else { 0 }
    }

    fn prepare(
        &self,
        job: &Job,
        _: &[Arg<'_, Labels>],
        stock: &mut Stock,
        inbox: &[u8],
        _: &mut Vec<u8>,
    ) -> Result<(Received, Labels)> {
        let received = match job.task.kind {
            Kind::Input { .. } => {
                let count = self.demand(job).cots_by(self.party.peer()) as usize;
                Received::Input((count > 0).then(|| stock.draw_cot_receiver(count)).transpose()?)
            }
            Kind::Map { .. } if self.ahead => {
                let mut tables = vec![[Block::ZERO; 2]; and_count(job)];
                bytemuck::cast_slice_mut(&mut tables).copy_from_slice(inbox);
                Received::Tables(tables)
            }
            Kind::Output { .. } if self.ahead && evaluator_learns(job, self.party) => {
                Received::Permute(Some(unpack(inbox, job.task.rows, job.task.lanes)))
            }
            Kind::Output { .. } => Received::Permute(None),
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
        match (&job.task.kind, prepared) {
            (_, Received::Input(choices)) => Ok(EvaluatorRun::Input { choices, bits: feed, turn: 0 }),
            (Kind::Output { wiring, .. }, Received::Permute(permute)) => {
                let mut labels = Labels::zeros(job.task.rows, job.task.lanes);
                for piece in wiring.iter() {
                    if let Arg::Secret(arg) = args[piece.arg as usize] {
                        cells::copy(&mut labels, arg, piece);
                    }
                }
                let share = low_bits(&labels, job.task.rows, job.task.lanes);
                Ok(EvaluatorRun::Output { share, permute, sent: false })
            }
            (Kind::Map { .. }, received) => {
                let walk = Walk::new(job, |slots, plan, piece| {
                    // The active label of a public bit is 0, which the slots are.
                    if let Arg::Secret(arg) = args[piece.arg as usize] {
                        cells::load(plan, slots, arg, piece);
                    }
                });
                let tables = if let Received::Tables(tables) = received { Some(tables) } else { None };
                Ok(EvaluatorRun::Map { walk: Box::new(walk), tables, used: 0, asked: false })
            }
            _ => Err(Error::usage("a task was prepared as another one")),
        }
    }

    fn step(&self, job: &Job, run: &mut EvaluatorRun, inbox: &[u8], outbox: &mut Vec<u8>) -> Result<Flow<Labels>> {
        match run {
            EvaluatorRun::Input { choices, bits, turn } => {
                *turn += 1;
                self.input(job, choices, bits.as_ref(), *turn, inbox, outbox)
            }
            EvaluatorRun::Map { walk, tables: Some(tables), used, .. } => {
                while !walk.is_done() {
                    let (_, ands) = walk.chunk();
                    self.evaluate(walk, &job.public, &tables[*used..*used + ands]);
                    *used += ands;
                }
                Ok(Flow::Value(walk.outputs(&job.public, |_, _| {})))
            }
            EvaluatorRun::Map { walk, tables: None, asked, .. } => {
                if *asked {
                    let mut tables = vec![[Block::ZERO; 2]; inbox.len() / TABLE];
                    bytemuck::cast_slice_mut(&mut tables).copy_from_slice(inbox);
                    self.evaluate(walk, &job.public, &tables);
                }
                *asked = true;
                if walk.is_done() {
                    return Ok(Flow::Value(walk.outputs(&job.public, |_, _| {})));
                }
                Ok(Flow::Exchange { expect: walk.chunk().1 * TABLE })
            }
            EvaluatorRun::Output { share, permute, sent } => {
                let Kind::Output { recipient, .. } = job.task.kind else {
                    return Err(Error::usage("not an output"));
                };
                let learns = evaluator_learns(job, self.party);
                if !*sent {
                    *sent = true;
                    if recipient == Recipient::Both || recipient == Recipient::Party(self.party.peer()) {
                        pack(share).write(outbox);
                    }
                    let bits = share.rows() * share.lanes();
                    return Ok(Flow::Exchange { expect: if learns && permute.is_none() { byte_len(bits) } else { 0 } });
                }
                Ok(Flow::Output(match (recipient, permute) {
                    (Recipient::Shared, _) => Some(share.clone()),
                    (_, Some(permute)) => Some(decode(inbox, &xor_bits(share, permute))),
                    (_, None) if learns => Some(decode(inbox, share)),
                    _ => None,
                }))
            }
        }
    }

    fn lift_mask(&self, _: &BitMatrix) -> Labels {
        Labels::absent()
    }

    fn lift(&self, public: &BitMatrix) -> Labels {
        Labels::zeros(public.rows(), public.lanes())
    }
}

impl Evaluator {
    /// The garbler's bits: labels come. Own bits: masked by the COT's choice, then the answer is added to t.
    fn input(
        &self,
        job: &Job,
        choices: &mut Option<Choices>,
        bits: Option<&BitMatrix>,
        turn: u8,
        inbox: &[u8],
        outbox: &mut Vec<u8>,
    ) -> Result<Flow<Labels>> {
        let labels = job.task.rows * job.task.lanes * LABEL;
        match (turn, choices.as_ref()) {
            (1, Some(choices)) => {
                let bits = bits.ok_or_else(|| Error::usage("an input is missing"))?;
                let mut masked = pack(bits);
                masked.words.iter_mut().zip(&choices.bits).for_each(|(word, choice)| *word ^= choice);
                masked.write(outbox);
                return Ok(Flow::Exchange { expect: 0 });
            }
            (1, None) | (2, Some(_)) => return Ok(Flow::Exchange { expect: labels }),
            _ => {}
        }
        let mut labels = vec![Block::ZERO; inbox.len() / LABEL];
        bytemuck::cast_slice_mut(&mut labels).copy_from_slice(inbox);
        if let Some(choices) = choices {
            labels.iter_mut().zip(&choices.t).for_each(|(label, &t)| *label ^= t);
        }
        Ok(Flow::Value(Labels::new(labels, job.task.lanes)))
    }

    /// Evaluates a chunk with its ciphertexts.
    fn evaluate(&self, walk: &mut Walk, public: &BitMatrix, mut tables: &[[Block; 2]]) {
        let (plan, lanes) = (walk.plan.clone(), walk.lanes);
        let (end, _) = walk.chunk();
        while walk.next < end {
            let instr = &plan.code()[walk.next];
            let run = walk.batch(end);
            let these = tables.split_off(..run.ands()).expect("chunk() counts the ANDs");
            let first = self.base.and0 + walk.number;
            match instr.op {
                Op::And if run.staged => {
                    let code = &plan.code()[walk.next..][..run.count];
                    let mut stage = Stage::fill(walk, code, |_| (Block::ZERO, Block::ZERO));
                    self.hash.evaluate(first, &stage.a, &stage.b, &mut stage.out, these);
                    stage.empty(walk, code);
                }
                Op::And => {
                    let (a, b, out) = walk.slots.operands(instr.a as usize, instr.b as usize, instr.dst as usize);
                    self.hash.evaluate(first, a, b, out, these);
                }
                _ => self.local(instr, &mut walk.slots, public, lanes),
            }
            walk.advance(&run);
        }
    }

    /// Gates that need no hash: a public bit leaves a label, or makes it the label 0 of the public bit 0.
    fn local(&self, instr: &Instr, slots: &mut Labels, public: &BitMatrix, lanes: usize) {
        if instr.op == Op::Xor {
            return xor(instr, slots);
        }
        let bit = |lane: usize| public.row(instr.b as usize)[lane / 64] >> (lane % 64) & 1 == 1;
        let (a, _, out) = slots.operands(instr.a as usize, instr.a as usize, instr.dst as usize);
        for lane in 0..lanes {
            let keep = instr.op == Op::XorPublic || bit(lane) ^ instr.flip_b;
            out[lane] = a[lane] & Block::mask(keep);
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// What both walk through.

/// A plan under way on labels: both parties walk in the same steps.
pub struct Walk {
    plan: Arc<Plan>,
    slots: Labels,
    lanes: usize,
    next: usize,
    /// The number of the next AND within the program.
    number: u64,
}

/// Where the chunk from `next` ends, and its ANDs over all lanes: the same for both parties at any number of threads.
pub(crate) fn chunk(plan: &Plan, next: usize, lanes: usize) -> (usize, usize) {
    let mut ands = 0;
    for (i, instr) in plan.code().iter().enumerate().skip(next) {
        if ands >= CHUNK {
            return (i, ands);
        }
        ands += if instr.op == Op::And { lanes } else { 0 };
    }
    (plan.code().len(), ands)
}

/// Instructions that are executed together.
struct Batch {
    /// How many instructions.
    count: usize,
    /// ANDs among them, over all lanes.
    ands: usize,
    /// Whether they are copied side by side first.
    staged: bool,
}

impl Batch {
    fn ands(&self) -> usize {
        self.ands
    }
}

impl Walk {
    fn new(job: &Job, mut load: impl FnMut(&mut Labels, &Plan, &Piece)) -> Walk {
        let plan = job.plan.clone().expect("a map has a plan");
        let lanes = job.task.lanes;
        let mut slots = Labels::zeros(plan.slots(), lanes);
        if let Kind::Map { wiring, .. } = &job.task.kind {
            wiring.iter().for_each(|piece| load(&mut slots, &plan, piece));
        }
        Walk { plan, slots, lanes, next: 0, number: job.task.seat.and0 }
    }

    fn is_done(&self) -> bool {
        self.next == self.plan.code().len() || self.lanes == 0
    }

    fn chunk(&self) -> (usize, usize) {
        chunk(&self.plan, self.next, self.lanes)
    }

    /// The next instruction; with few lanes also the ANDs that follow it and read nothing that they write.
    fn batch(&self, end: usize) -> Batch {
        let code = &self.plan.code()[self.next..end];
        if code[0].op != Op::And {
            return Batch { count: 1, ands: 0, staged: false };
        }
        if self.lanes >= FEW_LANES {
            return Batch { count: 1, ands: self.lanes, staged: false };
        }
        let most = (4 * FEW_LANES).div_ceil(self.lanes);
        let mut count = 1;
        while count < code.len().min(most) && code[count].op == Op::And {
            let next = &code[count];
            if code[..count].iter().any(|i| i.dst == next.a || i.dst == next.b) {
                break;
            }
            count += 1;
        }
        Batch { count, ands: count * self.lanes, staged: true }
    }

    fn advance(&mut self, batch: &Batch) {
        self.next += batch.count;
        self.number += batch.ands as u64;
    }

    /// The cell that the plan makes; `complement` XORs a public bit onto a label.
    fn outputs(&self, public: &BitMatrix, complement: impl Fn(&mut Block, bool)) -> Labels {
        let mut made = Labels::zeros(self.plan.outputs().len(), self.lanes);
        for (row, source) in self.plan.outputs().iter().enumerate() {
            let labels = made.row_mut(row);
            match *source {
                Source::Slot { slot, flip } => {
                    labels.copy_from_slice(self.slots.row(slot as usize));
                    labels.iter_mut().for_each(|label| complement(label, flip));
                }
                Source::Public { row, flip } => {
                    let bits = public.row(row as usize);
                    let bit = |lane: usize| bits[lane / 64] >> (lane % 64) & 1 == 1;
                    labels.iter_mut().enumerate().for_each(|(lane, label)| complement(label, bit(lane) ^ flip));
                }
                Source::Constant(bit) => labels.iter_mut().for_each(|label| complement(label, bit)),
            }
        }
        made
    }
}

/// Operands of several ANDs side by side, in the order of their numbers.
struct Stage {
    a: Vec<Block>,
    b: Vec<Block>,
    out: Vec<Block>,
}

impl Stage {
    fn fill(walk: &Walk, code: &[Instr], flip: impl Fn(&Instr) -> (Block, Block)) -> Stage {
        let mut stage = Stage { a: Vec::new(), b: Vec::new(), out: vec![Block::ZERO; code.len() * walk.lanes] };
        for instr in code {
            let (flip_a, flip_b) = flip(instr);
            stage.a.extend(walk.slots.row(instr.a as usize).iter().map(|&label| label ^ flip_a));
            stage.b.extend(walk.slots.row(instr.b as usize).iter().map(|&label| label ^ flip_b));
        }
        stage
    }

    fn empty(self, walk: &mut Walk, code: &[Instr]) {
        for (instr, out) in code.iter().zip(self.out.chunks(walk.lanes)) {
            walk.slots.row_mut(instr.dst as usize).copy_from_slice(out);
        }
    }
}

/// Adds Δ to the labels whose bit is set.
fn add_bits(labels: &mut [Block], bits: &[u64], delta: Block) {
    for (labels, &word) in labels.chunks_mut(64).zip(bits) {
        for (lane, label) in labels.iter_mut().enumerate() {
            *label ^= delta & Block::mask(word >> lane & 1 == 1);
        }
    }
}

fn xor(instr: &Instr, slots: &mut Labels) {
    let (a, b, out) = slots.operands(instr.a as usize, instr.b as usize, instr.dst as usize);
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = a ^ b;
    }
}

/// The permute bits of labels.
fn low_bits(labels: &Labels, rows: usize, lanes: usize) -> BitMatrix {
    let mut bits = BitMatrix::zeros(rows, lanes);
    for row in 0..rows {
        let words = bits.row_mut(row);
        for (word, labels) in words.iter_mut().zip(labels.row(row).chunks(64)) {
            *word = labels.iter().rev().fold(0, |word, label| word << 1 | label.lsb() as u64);
        }
    }
    bits
}

/// An output from the peer's permute bits, if some came, and ours.
fn decode(inbox: &[u8], ours: &BitMatrix) -> BitMatrix {
    if inbox.is_empty() {
        return ours.clone();
    }
    xor_bits(&unpack(inbox, ours.rows(), ours.lanes()), ours)
}

fn xor_bits(a: &BitMatrix, b: &BitMatrix) -> BitMatrix {
    let mut sum = a.clone();
    sum.words_mut().iter_mut().zip(b.words()).for_each(|(to, from)| *to ^= from);
    sum
}

