//! GMW: a bit is two XOR shares, one with each party.
//!
//! Goldreich, Micali, Wigderson (STOC 1987), with the multiplication triples of Beaver (CRYPTO 1991), as in Schneider
//! and Zohner, *GMW vs. Yao?* (FC 2013), §2.3 and §4. XOR is local. An AND opens x ⊕ a and y ⊕ b for a triple
//! (a, b, c = ab) and costs two bits each way; all ANDs of one layer of all tiles under way are opened in one exchange.
//! An input costs nothing on the wire: the peer's share comes from a generator that both parties know.
//!
//! **Security**: semi-honest, information-theoretic given the triples and the shared generator. **Online** there is no
//! cryptography at all: shares of inputs and triples are drawn in setup. **Rounds**: the depth of the program and one
//! for outputs. Departure from the paper: shares are packed wire by wire, so that a gate is one instruction a word; with
//! at most 64 lanes, layer by layer (`gmw/narrow.rs`).

mod lengths;
pub(crate) mod narrow;
mod scheme;
mod triples;

use crate::correlation::{Stock, Triples};
use crate::executor::cells::{self, Nothing};
use crate::executor::interpreter::{self, mask};
use crate::executor::{Arg, Flow, Immediate, Job, Lengths, Made, PlanCache, Protocol, Stage};
use crate::outbox::Outbox;
use crate::packed::{Packed, pack, row_word, unpack};
use crate::{Error, Party, Result};
use circuit::BitMatrix;
use circuit::plan::{Op, Operand, Plan};
use circuit::program::{Owner, Piece, Recipient, TaskKind};
use kernels::generator::Generator;
use kernels::rows::{BlockRows, RowXor};
use lengths::GmwLengths;
use narrow::{Complements, Narrow, PackedTriples};
pub(crate) use scheme::{GmwScheme, prepares_triples, tiling};
use std::ops::Range;
use std::sync::Arc;
use triples::{Member, Vectors};

/// One party of GMW in one program.
pub(crate) struct Gmw {
    party: Party,
    lengths: GmwLengths,
    /// The generator that only the two parties know: of the peer's shares of inputs.
    pairwise: Generator,
    /// Input bits of this session before this program.
    in0: u64,
    /// Δ and hashes for the triples of vectors; a program without vectors needs none.
    vectors: Option<Vectors>,
    plans: PlanCache,
}

/// The state of a task between setup and online.
pub(crate) enum Prepared {
    /// The share of whoever does not supply the input.
    Input(BitMatrix),
    /// One triple for every AND of every lane, gate by gate.
    Map(Triples),
    /// One triple for every AND in the order of the layers, for few lanes.
    Narrow(PackedTriples, Arc<Complements>),
    /// Outputs need nothing.
    Output,
}

/// A task online.
pub(crate) enum Online {
    /// This party's share, ready.
    Ready(BitMatrix),
    /// In the middle of a plan.
    Map(Evaluation),
    /// In the middle of a plan with at most 8 lanes.
    Bytes(Narrow<u8>),
    /// In the middle of a plan with at most 64 lanes.
    Words(Narrow<u64>),
    /// This party's share of an output, sent to whoever learns it.
    Output {
        /// The share.
        share: BitMatrix,
        /// Whether it was sent.
        sent: bool,
    },
}

/// A plan under way on shares.
pub(crate) struct Evaluation {
    plan: Arc<Plan>,
    slots: BitMatrix,
    triples: Triples,
    /// The next instruction, layer and vector.
    next: usize,
    layer: usize,
    vector: usize,
    rows: RowXor,
    /// ANDs already multiplied, over all lanes: the first triple of the layer.
    done: usize,
    /// This party's masked operands of the layer that is being opened.
    opened: Packed,
}

impl Gmw {
    /// A party of GMW; `pairwise` is equal for both, `in0` counts the input bits that it masked before.
    fn new(party: Party, pairwise: Generator, in0: u64, vectors: Option<Vectors>, plans: PlanCache) -> Self {
        let lengths = GmwLengths { party, plans: plans.clone() };
        Gmw { party, lengths, pairwise, in0, vectors, plans }
    }

    fn mask_of(&self, job: &Job) -> BitMatrix {
        let mut share = BitMatrix::zeros(job.task.rows, job.task.lanes);
        let number = self.in0 + job.task.seat.in0;
        self.pairwise.derive(b"input   ", number).words(share.words_mut());
        share.clear_padding();
        share
    }

    /// Triples as a map takes them.
    fn prepare_map(&self, job: &Job, triples: Triples) -> Prepared {
        match &job.plan {
            Some(plan) if (1..=narrow::MOST_LANES).contains(&job.task.lanes) => {
                let lanes = job.task.lanes;
                let complements = self.plans.get(plan, lanes, |plan| Complements::new(plan, lanes));
                Prepared::Narrow(PackedTriples::new(&triples, lanes, plan), complements)
            }
            _ => Prepared::Map(triples),
        }
    }

    /// A public bit is shared as itself and zero.
    fn public_share(&self, public: u64) -> u64 {
        if self.party == Party::Alice { public } else { 0 }
    }
}

impl Stage<Gmw> for Online {
    type Output = Made<BitMatrix>;

    fn step(&mut self, gmw: &Gmw, job: &Job, inbox: &[u8], outbox: &mut Outbox) -> Result<Flow<Made<BitMatrix>>> {
        let value = match self {
            Online::Ready(share) => Some(std::mem::replace(share, BitMatrix::zeros(0, 0))),
            Online::Map(evaluation) => evaluation.step(gmw, &job.public, inbox, outbox),
            Online::Bytes(narrow) => narrow.step(gmw, job, inbox, outbox),
            Online::Words(narrow) => narrow.step(gmw, job, inbox, outbox),
            Online::Output { share, sent } => return gmw.open(job, share, sent, inbox, outbox),
        };
        Ok(value.map_or(Flow::Exchange, |value| Flow::Done(Made::Value(value))))
    }
}

impl Protocol for Gmw {
    type Mask = Nothing;
    type Value = BitMatrix;
    type Prepared = Prepared;
    type Setup = Immediate<Prepared>;
    type Online = Online;

    fn lengths(&self) -> &dyn Lengths {
        &self.lengths
    }

    fn setup(&self, job: &Job, _: &[Arg<'_, Nothing>], stock: &mut Stock) -> Result<Immediate<Prepared>> {
        let prepared = match job.task.kind {
            TaskKind::Input { owner: Owner::Party(_), .. } => Prepared::Input(self.mask_of(job)),
            TaskKind::Map { .. } => self.prepare_map(job, triples::draw(self, job, stock)?),
            _ => Prepared::Output,
        };
        Ok(Immediate::new(prepared))
    }

    fn online(
        &self,
        job: &Job,
        prepared: Prepared,
        args: &[Arg<'_, BitMatrix>],
        feed: Option<BitMatrix>,
    ) -> Result<Online> {
        match (&job.task.kind, prepared) {
            (TaskKind::Input { owner: Owner::Party(owner), .. }, Prepared::Input(share)) => {
                if *owner != self.party {
                    return Ok(Online::Ready(share));
                }
                let input = feed.ok_or_else(|| Error::usage("an input is missing"))?;
                Ok(Online::Ready(share.xor(&input)))
            }
            (TaskKind::Input { .. }, _) => {
                feed.map(Online::Ready).ok_or_else(|| Error::usage("an input share is missing"))
            }
            (TaskKind::Map { wiring, .. }, Prepared::Map(triples)) => {
                Ok(Online::Map(Evaluation::new(self, job, triples, wiring, args)))
            }
            (TaskKind::Map { .. }, Prepared::Narrow(packed, complements)) => Ok(match job.task.lanes {
                ..=8 => Online::Bytes(Narrow::new(self, job, (packed, complements), args)),
                _ => Online::Words(Narrow::new(self, job, (packed, complements), args)),
            }),
            (TaskKind::Output { wiring, .. }, _) => {
                let mut share = BitMatrix::zeros(job.task.rows, job.task.lanes);
                for piece in wiring.iter() {
                    with_share(self, &args[piece.arg as usize], |arg| cells::copy(&mut share, arg, piece));
                }
                Ok(Online::Output { share, sent: false })
            }
            _ => Err(Error::usage("a task was prepared as another one")),
        }
    }

    fn lift_mask(&self, _: &BitMatrix) -> Nothing {
        Nothing
    }

    fn lift(&self, public: &BitMatrix) -> BitMatrix {
        match self.party {
            Party::Alice => public.clone(),
            Party::Bob => BitMatrix::zeros(public.rows(), public.lanes()),
        }
    }
}

impl Gmw {
    /// Sends this party's share to whoever learns the output; adds the peer's, if that is us.
    fn open(
        &self,
        job: &Job,
        share: &BitMatrix,
        sent: &mut bool,
        inbox: &[u8],
        outbox: &mut Outbox,
    ) -> Result<Flow<Made<BitMatrix>>> {
        let TaskKind::Output { recipient, .. } = job.task.kind else { return Err(Error::usage("not an output")) };
        if recipient == Recipient::Shared {
            return Ok(Flow::Done(Made::Output(Some(share.clone()))));
        }
        if !std::mem::replace(sent, true) {
            if recipient.includes(self.party.peer()) {
                outbox.extend_from_slice(pack(share).bytes());
            }
            return Ok(Flow::Exchange);
        }
        let output = recipient.includes(self.party).then(|| unpack(inbox, share.rows(), share.lanes()).xor(share));
        Ok(Flow::Done(Made::Output(output)))
    }
}

impl Evaluation {
    fn new(gmw: &Gmw, job: &Job, triples: Triples, wiring: &[Piece], args: &[Arg<'_, BitMatrix>]) -> Self {
        let plan = job.plan.clone().expect("a map has a plan");
        let mut slots = BitMatrix::zeros(plan.slots(), job.task.lanes);
        for piece in wiring {
            with_share(gmw, &args[piece.arg as usize], |arg| cells::load(&plan, &mut slots, arg, piece));
        }
        Evaluation {
            plan,
            slots,
            triples,
            next: 0,
            layer: 0,
            vector: 0,
            rows: RowXor::new(),
            done: 0,
            opened: Packed::default(),
        }
    }

    /// Goes on until a layer must be exchanged, or to the cell that the plan makes.
    fn step(&mut self, gmw: &Gmw, public: &BitMatrix, inbox: &[u8], outbox: &mut Outbox) -> Option<BitMatrix> {
        let plan = self.plan.clone();
        if self.opened.len > 0 {
            self.close(gmw, &plan, inbox);
        }
        let layer = plan.layers().get(self.layer).cloned();
        let end = layer.as_ref().map_or(plan.code().len(), |layer| layer.start);
        self.local(gmw, &plan, end, public);
        match layer {
            Some(layer) if self.slots.lanes() > 0 => {
                self.open(gmw, &plan, layer);
                outbox.extend_from_slice(self.opened.bytes());
                None
            }
            _ => Some(interpreter::outputs(plan.outputs(), &self.slots, public, gmw.public_share(!0))),
        }
    }

    /// Everything up to the next layer: no communication.
    fn local(&mut self, gmw: &Gmw, plan: &Plan, end: usize, public: &BitMatrix) {
        for run in plan.code().runs(self.next..end) {
            let stride = self.slots.stride();
            match bytemuck::try_cast_slice_mut(self.slots.words_mut()) {
                Ok(blocks) if run.op == Op::Xor && stride.is_multiple_of(2) => {
                    self.rows.xor(BlockRows { blocks, len: stride / 2 }, run.gates);
                }
                _ => interpreter::execute(run, &mut self.slots, public, gmw.public_share(!0)),
            }
        }
        self.next = end;
    }

    /// This party's shares of x ⊕ a and y ⊕ b for every AND of a layer; of x ⊕ a once for a vector.
    fn open(&mut self, gmw: &Gmw, plan: &Plan, layer: Range<usize>) {
        let (lanes, stride) = (self.slots.lanes(), self.slots.stride());
        let mut row = vec![0; stride];
        let last = self.slots.last_mask();
        let mut from = self.done;
        let gates = plan.code().gates(layer.clone()).iter();
        for (&[_, x, y], place) in gates.zip(triples::members(plan, layer, self.vector, lanes)) {
            let [x, y] = [x, y].map(Operand::of);
            let first = (x.slot(), x.flip() && place == Member::Alone, &self.triples.a);
            let operands = [(place != Member::Later).then_some(first), Some((y.slot(), y.flip(), &self.triples.b))];
            for (slot, flip, triple) in operands.into_iter().flatten() {
                let flip = gmw.public_share(mask(flip));
                let share = self.slots.row(slot);
                if let Some([triple]) = whole([(triple, from)], lanes) {
                    self.opened.words.extend(share.iter().zip(triple).map(|(x, a)| x ^ flip ^ a));
                    self.opened.len += lanes;
                    continue;
                }
                (0..stride).for_each(|i| row[i] = share[i] ^ flip ^ row_word(triple, from, lanes, i));
                row[stride - 1] &= last;
                self.opened.push(&row, lanes);
            }
            from += lanes;
        }
    }

    /// With both shares of d = x ⊕ a and e = y ⊕ b: xy = c ⊕ d·b ⊕ e·a ⊕ d·e, the last term with one party only.
    fn close(&mut self, gmw: &Gmw, plan: &Plan, inbox: &[u8]) {
        let lanes = self.slots.lanes();
        self.opened.xor_bytes(inbox);
        let layer = plan.layers()[self.layer].clone();
        let (mut from, mut next, mut d_at, de) = (self.done, 0, 0, gmw.public_share(!0));
        let members = triples::members(plan, layer.clone(), self.vector, lanes);
        for (&[dst, x, _], place) in plan.code().gates(layer.clone()).iter().zip(members) {
            if place != Member::Later {
                (d_at, next) = (next, next + lanes);
            }
            // In a vector x was opened as it is, and each AND complements it by itself.
            let flip = mask(Operand::of(x).flip() && place != Member::Alone);
            let out = self.slots.row_mut(dst as usize);
            let (Triples { a, b, c, .. }, opened) = (&self.triples, &self.opened.words);
            let rows: [(&[u64], usize); 5] = [(opened, d_at), (opened, next), (a, from), (b, from), (c, from)];
            if let Some([d, e, a, b, c]) = whole(rows, lanes) {
                let factors = d.iter().zip(e).zip(a.iter().zip(b)).zip(c);
                for (out, (((d, e), (a, b)), c)) in out.iter_mut().zip(factors) {
                    *out = multiply([d ^ flip, *e, *a, *b, *c], de);
                }
            } else {
                for (i, out) in out.iter_mut().enumerate() {
                    let [d, e, a, b, c] = rows.map(|(words, at)| row_word(words, at, lanes, i));
                    *out = multiply([d ^ flip, e, a, b, c], de);
                }
            }
            from += lanes;
            next += lanes;
        }
        self.vector += plan.vectors()[self.vector..].iter().take_while(|vector| vector.end <= layer.end).count();
        self.done = from;
        self.next = layer.end;
        self.layer += 1;
        self.opened = Packed {
            words: {
                self.opened.words.clear();
                std::mem::take(&mut self.opened.words)
            },
            len: 0,
        };
    }
}

/// A share of x·y; `de` has ones where d·e is this party's to add.
#[inline(always)]
fn multiply([d, e, a, b, c]: [u64; 5], de: u64) -> u64 {
    c ^ (d & (b ^ (e & de))) ^ (e & a)
}

/// Rows of `count` bits, each from its bit on, if all begin and end with words.
#[inline(always)]
fn whole<const N: usize>(rows: [(&[u64], usize); N], count: usize) -> Option<[&[u64]; N]> {
    let whole = count.is_multiple_of(64) && rows.iter().all(|(_, from)| from.is_multiple_of(64));
    whole.then(|| rows.map(|(words, from)| &words[from / 64..][..count / 64]))
}

fn with_share(gmw: &Gmw, arg: &Arg<'_, BitMatrix>, copy: impl FnOnce(&BitMatrix)) {
    match arg {
        Arg::Secret(share) => copy(share),
        Arg::Public(public) => copy(&gmw.lift(public)),
    }
}

#[cfg(test)]
mod tests;
