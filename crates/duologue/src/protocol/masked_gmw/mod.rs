//! Masked GMW: a bit is public but for a mask, of which each party has a share.
//!
//! Patra, Schneider, Suresh, Yalame, *ABY2.0* (USENIX Security 2021), §3: its sharing, multiplication and gates of many
//! inputs, for bits. A wire v has a random mask λ of which each party holds an XOR share, and
//! Δ = v ⊕ λ, which both know. XOR and complement are local. An AND z of inputs Δᵢ ⊕ λᵢ is the sum over all sets S of its
//! inputs of λ_S, the product of their masks, times the Δᵢ of the others. Setup makes shares of each λ_S; online each
//! party adds up its share of z ⊕ λ_z and sends it: **one bit each way, whatever the number of inputs**.
//!
//! All masks of a program are drawn in setup and depend on no input, so that shares of the λ_S of all its gates are made
//! at once: products of two inputs in one exchange, those of three and four in a second one, by opening against random
//! triples. The depth of the program does not matter. The plan's trees of ANDs are built anew ([`circuit::fuse`]).
//!
//! **Security**: semi-honest, information-theoretic given the triples and the generator of masks. Whoever does not know
//! λ sees a uniform bit Δ; the bit that opens an AND is masked by the peer's share of a fresh λ_z. Masks come from the
//! party's own secrets, from a stream of their own for each task of each program, and serve one run. Masks of outputs go
//! to whoever learns the output, in setup: they say nothing without Δ, and with it just the output. **Rounds**: one for
//! inputs, and the layers of the program; two in setup. Departures from the paper: the owner of an input has all of its
//! mask, and the other party's share is zero; products of masks come from triples instead of their own OTs.

mod layout;
mod online;
mod products;
mod wires;

use crate::correlation::{Demand, Stock};
use crate::executor::cells;
use crate::executor::interpreter::gather;
use crate::executor::{Arg, Flow, Job, Protocol};
use crate::outbox::Outbox;
use crate::packed::{byte_len, pack, unpack};
use crate::{Error, Party, Result};
use circuit::BitMatrix;
use circuit::optimise::fuse::{Fused, MOST_INPUTS};
use circuit::plan::Plan;
use circuit::program::{Kind, Owner, Recipient};
use kernels::generator::Generator;
use online::Evaluation;
use products::Products;
use std::sync::{Arc, Mutex, PoisonError, Weak};

pub(crate) use online::layer_bytes;
pub(crate) use products::messages;

/// One party of masked GMW in one program.
pub struct Masked {
    party: Party,
    /// This party's secrets of this program.
    secrets: Generator,
    fusions: Fusions,
}

/// A plan with ANDs of up to four inputs.
pub struct Fusion {
    plan: Arc<Plan>,
    pub(crate) fused: Fused,
}

/// The fused plans of a session or program: each is made once. A copy keeps those that it was asked for.
#[derive(Default)]
pub(crate) struct Fusions {
    known: Arc<Mutex<Vec<Weak<Fusion>>>>,
    ours: Mutex<Vec<Arc<Fusion>>>,
}

impl Fusions {
    /// Of another program of the session.
    pub(crate) fn share(&self) -> Fusions {
        Fusions { known: self.known.clone(), ours: Mutex::default() }
    }

    pub(crate) fn of(&self, plan: &Arc<Plan>) -> Arc<Fusion> {
        let mut ours = self.ours.lock().unwrap_or_else(PoisonError::into_inner);
        let of_plan = |fusion: &&Arc<Fusion>| Arc::ptr_eq(&fusion.plan, plan);
        if let Some(fusion) = ours.iter().find(of_plan) {
            return fusion.clone();
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|fusion| fusion.strong_count() > 0);
        let found = known.iter().filter_map(Weak::upgrade).find(|fusion| of_plan(&fusion));
        let fusion = found.unwrap_or_else(|| {
            let fusion = Arc::new(Fusion { plan: plan.clone(), fused: Fused::new(plan, MOST_INPUTS) });
            known.push(Arc::downgrade(&fusion));
            fusion
        });
        ours.push(fusion.clone());
        fusion
    }

    /// The triples that a map draws.
    pub(crate) fn demand(&self, job: &Job) -> Demand {
        let fused = job.plan.as_ref().map(|plan| self.of(plan));
        Demand::of_triples(fused.map_or(0, |fusion| fusion.fused.products() as u64 * job.task.lanes as u64))
    }
}

/// What a task keeps from setup.
pub enum Prepared {
    /// This party's part of the mask of an input that it supplies.
    Input(Option<BitMatrix>),
    /// Shares of masks and of their products.
    Map(Products),
    /// The share of an output's mask; what the peer's answer adds to it.
    Output {
        /// The mask, or this party's share of it.
        mask: BitMatrix,
        /// Whether the peer's share has come, or never will.
        complete: bool,
    },
}

/// Where a task has got to.
pub enum Run {
    /// An input: what this party supplies, masked.
    Input {
        /// Absent if the peer alone supplies it.
        masked: Option<BitMatrix>,
        /// Whether it was sent.
        sent: bool,
    },
    /// In the middle of a plan.
    Map(Box<dyn Evaluation>),
    /// What an output delivers to this party.
    Output(Option<BitMatrix>),
}

impl Masked {
    /// A party; `secrets` are those of this program.
    pub(crate) fn new(party: Party, secrets: Generator, fusions: Fusions) -> Self {
        Masked { party, secrets, fusions }
    }

    /// The masks of one task.
    fn masks(&self, job: &Job) -> Generator {
        self.secrets.derive(b"masks   ", job.task.cell.into())
    }

    /// The one party that counts what both know.
    fn leads(&self) -> bool {
        self.party == Party::Alice
    }

    fn prepare_input(&self, job: &Job, owner: Owner) -> (Prepared, BitMatrix) {
        let mut mask = BitMatrix::zeros(job.task.rows, job.task.lanes);
        if owner == Owner::Party(self.party.peer()) {
            return (Prepared::Input(None), mask);
        }
        self.masks(job).words(mask.words_mut());
        mask.clear_padding();
        (Prepared::Input(Some(mask.clone())), mask)
    }

    fn prepare_output(&self, mask: BitMatrix, recipient: Recipient, outbox: &mut Outbox) -> Prepared {
        if recipient.includes(self.party.peer()) {
            outbox.extend_from_slice(pack(&mask).bytes());
        }
        Prepared::Output { mask, complete: recipient == Recipient::Shared }
    }

    fn output(&self, value: BitMatrix, mask: BitMatrix, recipient: Recipient) -> Option<BitMatrix> {
        match recipient {
            Recipient::Shared if !self.leads() => Some(mask),
            Recipient::Shared => Some(value.xor(&mask)),
            _ => recipient.includes(self.party).then(|| value.xor(&mask)),
        }
    }
}

/// What a plan or an output reads, put together; what is public has no mask.
fn gather_masks(job: &Job, rows: usize, args: &[Arg<'_, BitMatrix>]) -> BitMatrix {
    let mut made = BitMatrix::zeros(rows, job.task.lanes);
    if let Kind::Map { wiring, .. } | Kind::Output { wiring, .. } = &job.task.kind {
        for piece in wiring.iter() {
            if let Arg::Secret(mask) = args[piece.arg as usize] {
                cells::copy(&mut made, mask, piece);
            }
        }
    }
    made
}

impl Protocol for Masked {
    const SIDE_BY_SIDE: bool = true;
    type Mask = BitMatrix;
    type Value = BitMatrix;
    type Prepared = Prepared;
    type Run = Run;

    fn demand(&self, job: &Job) -> Demand {
        self.fusions.demand(job)
    }

    fn setup_bytes(&self, _: &Job) -> usize {
        0
    }

    fn prepare(
        &self,
        job: &Job,
        args: &[Arg<'_, BitMatrix>],
        stock: &mut Stock,
        _: &[u8],
        outbox: &mut Outbox,
    ) -> Result<(Prepared, BitMatrix)> {
        match (&job.task.kind, &job.plan) {
            (Kind::Input { owner, .. }, _) => Ok(self.prepare_input(job, *owner)),
            (Kind::Output { recipient, .. }, _) => {
                let mask = gather_masks(job, job.task.rows, args);
                Ok((self.prepare_output(mask, *recipient, outbox), BitMatrix::zeros(0, 0)))
            }
            (Kind::Map { .. }, Some(plan)) => {
                let triples = stock.draw_triples(self.demand(job).triples as usize)?;
                let masks = gather_masks(job, plan.inputs().len(), args);
                let (products, made) = Products::new(self, job, self.fusions.of(plan), &masks, triples);
                products.open(outbox);
                Ok((Prepared::Map(products), made))
            }
            _ => Err(Error::usage("not a task of a protocol")),
        }
    }

    fn answer_bytes(&self, job: &Job, prepared: &Prepared) -> Option<usize> {
        match (prepared, &job.task.kind) {
            (Prepared::Map(products), _) => products.answer_bytes(),
            (Prepared::Output { complete: false, .. }, Kind::Output { recipient, .. }) => {
                let bytes = byte_len(job.task.rows * job.task.lanes);
                Some(if recipient.includes(self.party) { bytes } else { 0 })
            }
            _ => None,
        }
    }

    fn complete(&self, job: &Job, prepared: &mut Prepared, answer: &[u8], outbox: &mut Outbox) -> Result<()> {
        match prepared {
            Prepared::Map(products) => {
                products.close(self.leads(), answer);
                products.open(outbox);
            }
            Prepared::Output { mask, complete } => {
                *complete = true;
                if !answer.is_empty() {
                    *mask = mask.xor(&unpack(answer, job.task.rows, job.task.lanes));
                }
            }
            Prepared::Input(_) => {}
        }
        Ok(())
    }

    fn begin(
        &self,
        job: &Job,
        prepared: Prepared,
        args: &[Arg<'_, BitMatrix>],
        feed: Option<BitMatrix>,
    ) -> Result<Run> {
        match (&job.task.kind, prepared) {
            (Kind::Input { .. }, Prepared::Input(mask)) => {
                let supply = |mask: BitMatrix| feed.map(|feed| feed.xor(&mask));
                let masked = mask.map(|mask| supply(mask).ok_or_else(|| Error::usage("an input is missing")));
                Ok(Run::Input { masked: masked.transpose()?, sent: false })
            }
            (Kind::Map { wiring, .. }, Prepared::Map(products)) => {
                let plan = job.plan.as_ref().expect("a map has a plan");
                let inputs = gather(wiring, plan.inputs().len(), job.task.lanes, args);
                Ok(Run::Map(products.online(self.leads(), &inputs)))
            }
            (Kind::Output { wiring, recipient, .. }, Prepared::Output { mask, .. }) => {
                let value = gather(wiring, job.task.rows, job.task.lanes, args);
                Ok(Run::Output(self.output(value, mask, *recipient)))
            }
            _ => Err(Error::usage("a task was prepared as another one")),
        }
    }

    fn step(&self, job: &Job, run: &mut Run, inbox: &[u8], outbox: &mut Outbox) -> Result<Flow<BitMatrix>> {
        match run {
            Run::Map(evaluation) => Ok(evaluation.step(&job.public, inbox, outbox)),
            Run::Output(output) => Ok(Flow::Output(output.take())),
            Run::Input { masked, sent } => Ok(self.exchange_input(job, masked, sent, inbox, outbox)),
        }
    }

    fn lift_mask(&self, public: &BitMatrix) -> BitMatrix {
        BitMatrix::zeros(public.rows(), public.lanes())
    }

    fn lift(&self, public: &BitMatrix) -> BitMatrix {
        public.clone()
    }
}

impl Masked {
    /// Whoever supplies an input sends it masked; of a shared one, both send their share so.
    fn exchange_input(
        &self,
        job: &Job,
        masked: &mut Option<BitMatrix>,
        sent: &mut bool,
        inbox: &[u8],
        outbox: &mut Outbox,
    ) -> Flow<BitMatrix> {
        if !std::mem::replace(sent, true) {
            masked.iter().for_each(|masked| outbox.extend_from_slice(pack(masked).bytes()));
            let ours = matches!(job.task.kind, Kind::Input { owner, .. } if owner == Owner::Party(self.party));
            return Flow::Exchange { expect: if ours { 0 } else { byte_len(job.task.rows * job.task.lanes) } };
        }
        let theirs = || unpack(inbox, job.task.rows, job.task.lanes);
        Flow::Value(match masked.take() {
            Some(masked) if inbox.is_empty() => masked,
            Some(masked) => masked.xor(&theirs()),
            None => theirs(),
        })
    }
}

#[cfg(test)]
mod tests;
