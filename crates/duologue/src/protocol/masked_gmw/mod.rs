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
//! triples. The depth of the program does not matter. The plan's trees of ANDs are built anew ([`circuit::optimise::fuse`]).
//!
//! **Security**: semi-honest, information-theoretic given the triples and the generator of masks. Whoever does not know
//! λ sees a uniform bit Δ; the bit that opens an AND is masked by the peer's share of a fresh λ_z. Masks come from the
//! party's own secrets, from a stream of their own for each task of each program, and serve one run. Masks of outputs go
//! to whoever learns the output, in setup: they say nothing without Δ, and with it just the output. **Rounds**: one for
//! inputs, and the layers of the program; two in setup. Departures from the paper: the owner of an input has all of its
//! mask, and the other party's share is zero; products of masks come from triples instead of their own OTs.

mod layout;
mod lengths;
mod online;
mod products;
mod scheme;
mod wires;

use crate::correlation::Stock;
use crate::executor::cells;
use crate::executor::interpreter::gather;
use crate::executor::{Arg, Flow, Job, Lengths, Made, Protocol, Setup, Stage};
use crate::outbox::Outbox;
use crate::packed::{pack, unpack};
use crate::{Error, Party, Result};
use circuit::BitMatrix;
use circuit::program::{Owner, Recipient, TaskKind};
use kernels::generator::Generator;
use lengths::MaskedGmwLengths;
use online::Evaluation;
use products::Products;
pub(crate) use scheme::MaskedGmwScheme;

/// One party of masked GMW in one program.
pub(crate) struct MaskedGmw {
    party: Party,
    lengths: MaskedGmwLengths,
    /// This party's secrets of this program.
    secrets: Generator,
}

/// The state of a task between setup and online.
pub(crate) enum Prepared {
    /// This party's part of the mask of an input that it supplies.
    Input(Option<BitMatrix>),
    /// Shares of masks and of their products.
    Map(Products),
    /// The mask of an output, or this party's share of it.
    Output(BitMatrix),
}

/// A task in setup, whose mask is there from the beginning.
pub(crate) struct Preparing {
    work: Option<Prepared>,
    /// Exchanges that have begun.
    turn: usize,
    mask: Option<BitMatrix>,
}

/// A task online.
pub(crate) enum Online {
    /// An input: what this party supplies, masked.
    Input {
        /// Absent if the peer alone supplies it.
        masked: Option<BitMatrix>,
        /// Whether it was sent.
        sent: bool,
    },
    /// Before a plan's first step, in which threads that step tasks side by side fill its slots: shares of masks and of their
    /// products, and the masked inputs.
    Begun(Option<(Products, BitMatrix)>),
    /// In the middle of a plan.
    Map(Box<dyn Evaluation>),
    /// The part of an output that this party gets.
    Output(Option<BitMatrix>),
}

impl MaskedGmw {
    /// A party; `secrets` are those of this program.
    fn new(lengths: MaskedGmwLengths, secrets: Generator) -> Self {
        MaskedGmw { party: lengths.party, lengths, secrets }
    }

    /// The masks of one task.
    fn masks(&self, job: &Job) -> Generator {
        self.secrets.derive(b"masks   ", job.task.cell.into())
    }

    /// The one party that counts what both know.
    fn leads(&self) -> bool {
        self.party == Party::Alice
    }

    fn mask_of_input(&self, job: &Job, owner: Owner) -> (Option<BitMatrix>, BitMatrix) {
        let mut mask = BitMatrix::zeros(job.task.rows, job.task.lanes);
        if owner == Owner::Party(self.party.peer()) {
            return (None, mask);
        }
        self.masks(job).words(mask.words_mut());
        mask.clear_padding();
        (Some(mask.clone()), mask)
    }

    fn output(&self, value: BitMatrix, mask: BitMatrix, recipient: Recipient) -> Option<BitMatrix> {
        match recipient {
            Recipient::Shared if !self.leads() => Some(mask),
            Recipient::Shared => Some(value.xor(&mask)),
            _ => recipient.includes(self.party).then(|| value.xor(&mask)),
        }
    }
}

/// The masks of all that a plan or an output reads; public bits have none.
fn gather_masks(job: &Job, rows: usize, args: &[Arg<'_, BitMatrix>]) -> BitMatrix {
    let mut made = BitMatrix::zeros(rows, job.task.lanes);
    if let TaskKind::Map { wiring, .. } | TaskKind::Output { wiring, .. } = &job.task.kind {
        for piece in wiring.iter() {
            if let Arg::Secret(mask) = args[piece.arg as usize] {
                cells::copy(&mut made, mask, piece);
            }
        }
    }
    made
}

impl Stage<MaskedGmw> for Preparing {
    type Output = Prepared;

    fn step(&mut self, masked: &MaskedGmw, job: &Job, inbox: &[u8], outbox: &mut Outbox) -> Result<Flow<Prepared>> {
        let goes_on = match &mut self.work {
            Some(Prepared::Map(products)) => products.step(masked.leads(), self.turn > 0, inbox, outbox),
            Some(Prepared::Output(mask)) => exchange_mask(masked.party, job, mask, self.turn > 0, inbox, outbox),
            _ => false,
        };
        self.turn += 1;
        if goes_on {
            return Ok(Flow::Exchange);
        }
        self.work.take().map(Flow::Done).ok_or_else(|| Error::usage("a task goes on that is done"))
    }
}

impl Setup<MaskedGmw> for Preparing {
    fn take_mask(&mut self) -> Option<BitMatrix> {
        self.mask.take()
    }
}

/// This party's share of an output's mask goes to whoever learns the output, in one exchange; a shared output keeps it.
fn exchange_mask(party: Party, job: &Job, mask: &mut BitMatrix, sent: bool, inbox: &[u8], outbox: &mut Outbox) -> bool {
    let TaskKind::Output { recipient, .. } = job.task.kind else { return false };
    if sent && recipient.includes(party) {
        *mask = mask.xor(&unpack(inbox, job.task.rows, job.task.lanes));
    }
    if !sent && recipient.includes(party.peer()) {
        outbox.extend_from_slice(pack(mask).bytes());
    }
    !sent && recipient != Recipient::Shared
}

impl Stage<MaskedGmw> for Online {
    type Output = Made<BitMatrix>;

    fn step(
        &mut self,
        masked: &MaskedGmw,
        job: &Job,
        inbox: &[u8],
        outbox: &mut Outbox,
    ) -> Result<Flow<Made<BitMatrix>>> {
        if let Online::Begun(begun) = self {
            let (products, inputs) = begun.take().ok_or_else(|| Error::usage("a task goes on that is done"))?;
            *self = Online::Map(products.online(masked.leads(), &inputs));
        }
        match self {
            Online::Begun(_) => Err(Error::usage("a task does not begin")),
            Online::Map(evaluation) => {
                let value = evaluation.step(&job.public, inbox, outbox);
                Ok(value.map_or(Flow::Exchange, |value| Flow::Done(Made::Value(value))))
            }
            Online::Output(output) => Ok(Flow::Done(Made::Output(output.take()))),
            Online::Input { masked: ours, sent } => Ok(masked.exchange_input(job, ours, sent, inbox, outbox)),
        }
    }
}

impl Protocol for MaskedGmw {
    type Mask = BitMatrix;
    type Value = BitMatrix;
    type Prepared = Prepared;
    type Setup = Preparing;
    type Online = Online;

    fn lengths(&self) -> &dyn Lengths {
        &self.lengths
    }

    fn setup(&self, job: &Job, args: &[Arg<'_, BitMatrix>], stock: &mut Stock) -> Result<Preparing> {
        let (work, mask) = match (&job.task.kind, &job.plan) {
            (TaskKind::Input { owner, .. }, _) => {
                let (ours, mask) = self.mask_of_input(job, *owner);
                (Prepared::Input(ours), mask)
            }
            (TaskKind::Output { .. }, _) => {
                (Prepared::Output(gather_masks(job, job.task.rows, args)), BitMatrix::zeros(0, 0))
            }
            (TaskKind::Map { .. }, Some(plan)) => {
                let triples = stock.draw_triples(self.lengths.demand(job).triples as usize)?;
                let masks = gather_masks(job, plan.inputs().len(), args);
                let (products, made) = Products::new(self, job, self.lengths.fused(plan), &masks, triples);
                (Prepared::Map(products), made)
            }
            _ => return Err(Error::usage("not a task of a protocol")),
        };
        Ok(Preparing { work: Some(work), turn: 0, mask: Some(mask) })
    }

    fn online(
        &self,
        job: &Job,
        prepared: Prepared,
        args: &[Arg<'_, BitMatrix>],
        feed: Option<BitMatrix>,
    ) -> Result<Online> {
        match (&job.task.kind, prepared) {
            (TaskKind::Input { .. }, Prepared::Input(mask)) => {
                let supply = |mask: BitMatrix| feed.map(|feed| feed.xor(&mask));
                let masked = mask.map(|mask| supply(mask).ok_or_else(|| Error::usage("an input is missing")));
                Ok(Online::Input { masked: masked.transpose()?, sent: false })
            }
            (TaskKind::Map { wiring, .. }, Prepared::Map(products)) => {
                let plan = job.plan.as_ref().expect("a map has a plan");
                let inputs = gather(wiring, plan.inputs().len(), job.task.lanes, args);
                Ok(Online::Begun(Some((products, inputs))))
            }
            (TaskKind::Output { wiring, recipient, .. }, Prepared::Output(mask)) => {
                let value = gather(wiring, job.task.rows, job.task.lanes, args);
                Ok(Online::Output(self.output(value, mask, *recipient)))
            }
            _ => Err(Error::usage("a task was prepared as another one")),
        }
    }

    fn lift_mask(&self, public: &BitMatrix) -> BitMatrix {
        BitMatrix::zeros(public.rows(), public.lanes())
    }

    fn lift(&self, public: &BitMatrix) -> BitMatrix {
        public.clone()
    }
}

impl MaskedGmw {
    /// Whoever supplies an input sends it masked; of a shared one, both send their share so.
    fn exchange_input(
        &self,
        job: &Job,
        masked: &mut Option<BitMatrix>,
        sent: &mut bool,
        inbox: &[u8],
        outbox: &mut Outbox,
    ) -> Flow<Made<BitMatrix>> {
        if !std::mem::replace(sent, true) {
            masked.iter().for_each(|masked| outbox.extend_from_slice(pack(masked).bytes()));
            return Flow::Exchange;
        }
        let theirs = || unpack(inbox, job.task.rows, job.task.lanes);
        Flow::Done(Made::Value(match masked.take() {
            Some(masked) if inbox.is_empty() => masked,
            Some(masked) => masked.xor(&theirs()),
            None => theirs(),
        }))
    }
}

#[cfg(test)]
mod tests;
