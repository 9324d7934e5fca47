//! A protocol of lengths and depths, run by the real executor.

use super::Exchange;
use super::script::Role;
use crate::correlation::{self, Demand, Stock};
use crate::executor::cells::{self, Cells, Nothing};
use crate::executor::{Arg, Flow, Job, Protocol};
use crate::executor::{Executor, Feeds, Link, Phase};
use crate::ot::{Outline, Setup};
use crate::outbox::{Inbox, Outbox};
use crate::protocol::terms::{Scheme, Terms};
use crate::protocol::yao::LABEL;
use crate::session::at_once;
use crate::{Party, Result};
use circuit::plan::{Op, Plan, Source};
use circuit::program::{Binding, BoundPort, Kind, Owner, Piece};
use circuit::{BitMatrix, Schedule};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a dry run found.
pub(super) struct Found {
    pub demand: Demand,
    pub depth: u32,
    /// Bytes that setup keeps, where they are counted task by task.
    pub kept: u64,
    /// Bytes of cells and maps at once.
    pub peak: u64,
    pub exchanges: Vec<Exchange>,
}

/// Runs one party's side of a bound program.
pub(super) fn run(party: Party, job: (&Binding, &Arc<Schedule>), terms: &Terms, opening: usize) -> Result<Found> {
    let tally = Arc::new(Tally::new(party, opening, terms));
    let role = Role::of(party, terms);
    match terms.scheme {
        Scheme::Gmw | Scheme::Masked => sized_run(Sized::<1> { role, tally }, job, terms),
        Scheme::Yao => sized_run(Sized::<128> { role, tally }, job, terms),
    }
}

fn sized_run<const BITS: usize>(
    sized: Sized<BITS>,
    (binding, schedule): (&Binding, &Arc<Schedule>),
    terms: &Terms,
) -> Result<Found> {
    let tally = sized.tally.clone();
    let (public, inputs) = (zeros(binding, |owner| owner == Owner::Public), zeros(binding, |_| false));
    let (job, how) = ((Arc::new(binding.clone()), schedule.clone()), (terms.window, terms.ahead));
    let mut executor = Executor::new(sized, Some(tally.party), job, how, &public)?;
    let demand = executor.demand();
    let (mut stock, mut link) = (Stock::new(tally.party), DryLink(tally.clone()));
    executor.setup(&mut stock, &mut link)?;
    tally.state().phase = Phase::Online;
    let ran = executor.online(&inputs, &mut stock, &mut link)?;
    let mut state = tally.state();
    let (depth, kept) = (state.depth, state.kept / 8);
    let exchanges = std::mem::take(&mut state.exchanges);
    Ok(Found { demand, depth, kept, peak: ran.peak as u64, exchanges })
}

/// Inputs are not looked at, but the public ones are computed with.
fn zeros(binding: &Binding, wanted: impl Fn(Owner) -> bool) -> Feeds {
    let ports = binding.inputs().iter();
    let zero = |port: &BoundPort<Owner>| BitMatrix::zeros(port.ty.width as usize, port.lanes as usize);
    ports.map(|port| wanted(port.who).then(|| zero(port))).collect()
}

/// What a party would send and read.
struct Tally {
    party: Party,
    /// A protocol is shared between threads, so this is too; a dry run has but one.
    state: Mutex<State>,
}

struct State {
    phase: Phase,
    /// Of the exchange that is being gathered.
    sent: usize,
    read: usize,
    exchanges: Vec<Exchange>,
    available: Demand,
    based: bool,
    /// The makers of COTs in which the party is sender and receiver.
    outlines: [Outline; 2],
    depth: u32,
    /// Bits.
    kept: u64,
}

impl Tally {
    /// After the terms, and what Yao begins with.
    fn new(party: Party, opening: usize, terms: &Terms) -> Tally {
        let phase = Phase::Setup;
        let (sent, read, exchanges, available, based, depth, kept) = Default::default();
        let outlines = [(); 2].map(|()| terms.extension.outline());
        let state = Mutex::new(State { phase, sent, read, exchanges, available, based, outlines, depth, kept });
        let tally = Tally { party, state };
        tally.exchange(opening, opening);
        if terms.scheme == Scheme::Yao {
            tally.base();
            let garbles = terms.garbler == party;
            tally.exchange(if garbles { LABEL } else { 0 }, if garbles { 0 } else { LABEL });
        }
        tally
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn base(&self) {
        if !std::mem::replace(&mut self.state().based, true) {
            Setup::MESSAGES.into_iter().for_each(|bytes| self.exchange(bytes, bytes));
        }
    }

    /// An exchange apart from the one that is being gathered.
    fn exchange(&self, sent: usize, read: usize) {
        let state = &mut *self.state();
        state.exchanges.push(Exchange { phase: state.phase, sent, read });
    }

    fn add(&self, sent: usize, read: usize) {
        let mut state = self.state();
        state.sent += sent;
        state.read += read;
    }

    /// Ends the exchange that is being gathered.
    fn settle(&self) {
        let (sent, read) = {
            let mut state = self.state();
            (std::mem::take(&mut state.sent), std::mem::take(&mut state.read))
        };
        self.exchange(sent, read);
    }
}

/// The link of a dry run: supplies are counted, not made.
struct DryLink(Arc<Tally>);

impl Link for DryLink {
    fn send(&mut self, _: &[u8]) -> Result<()> {
        Ok(())
    }

    /// The executor flushes once an exchange.
    fn flush(&mut self) -> Result<()> {
        self.0.settle();
        Ok(())
    }

    fn receive(&mut self, _: usize, inbox: &mut Inbox) -> Result<()> {
        inbox.clear();
        Ok(())
    }

    fn supply(&mut self, _: &mut Stock, demand: Demand, ahead: Demand) -> Result<()> {
        let available = self.0.state().available;
        if demand != Demand::NONE && demand.missing_from(&available) == Demand::NONE {
            return Ok(());
        }
        let make = at_once(&demand, &ahead).missing_from(&available);
        if make == Demand::NONE {
            return Ok(());
        }
        self.0.base();
        let (exchanges, made) = correlation::exchanges(self.0.party, make, &mut self.0.state().outlines);
        for (sent, read) in exchanges {
            self.0.exchange(sent, read);
        }
        self.0.state().available = available + made;
        Ok(())
    }

    fn progress(&mut self, _: Phase, _: u64, _: u64) -> Result<()> {
        Ok(())
    }
}

/// A protocol of lengths, with cells as large as those of the real one, so that the executor's windows are the same.
struct Sized<const BITS: usize> {
    role: Role,
    tally: Arc<Tally>,
}

/// ANDs on the path to each row; all lanes alike.
struct Depths<const BITS: usize>(Vec<u32>);

impl<const BITS: usize> Cells for Depths<BITS> {
    const CELL_BITS: usize = BITS;

    fn zeros(rows: usize, _: usize) -> Self {
        Depths(vec![0; rows])
    }

    fn copy_row(&mut self, to_row: usize, from: &Self, from_row: usize, _: &Piece) {
        self.0[to_row] = self.0[to_row].max(from.0[from_row]);
    }
}

/// The exchanges of a task's setup, the one that is under way included.
type Answers = std::iter::Peekable<std::vec::IntoIter<(usize, usize)>>;

/// The exchanges of a task that are still to come.
struct DryRun<const BITS: usize> {
    script: std::vec::IntoIter<(usize, usize)>,
    made: Depths<BITS>,
}

impl<const BITS: usize> Protocol for Sized<BITS> {
    /// Labels are those of Yao.
    const ONE_WAY: bool = BITS == 128;
    type Mask = Nothing;
    type Value = Depths<BITS>;
    type Prepared = Answers;
    type Run = DryRun<BITS>;

    fn demand(&self, job: &Job) -> Demand {
        self.role.demand(job)
    }

    fn setup_bytes(&self, _: &Job) -> usize {
        0
    }

    fn prepare(
        &self,
        job: &Job,
        _: &[Arg<'_, Nothing>],
        _: &mut Stock,
        _: &[u8],
        _: &mut Outbox,
    ) -> Result<(Answers, Nothing)> {
        let tally = &self.tally;
        let (sent, read) = self.role.setup(job);
        tally.add(sent, read);
        let mut answers = self.role.answers(job).into_iter().peekable();
        self.announce(answers.peek());
        let mut state = tally.state();
        state.available = state.available.missing_from(&self.demand(job));
        state.kept += self.role.kept(job);
        Ok((answers, Nothing))
    }

    fn answer_bytes(&self, _: &Job, answers: &Answers) -> Option<usize> {
        (answers.len() > 0).then_some(0)
    }

    fn complete(&self, _: &Job, answers: &mut Answers, _: &[u8], _: &mut Outbox) -> Result<()> {
        answers.next();
        self.announce(answers.peek());
        Ok(())
    }

    fn begin(
        &self,
        job: &Job,
        _: Answers,
        args: &[Arg<'_, Depths<BITS>>],
        _: Option<BitMatrix>,
    ) -> Result<DryRun<BITS>> {
        let made = match &job.task.kind {
            Kind::Map { wiring, .. } => self.depths(job, wiring, args),
            Kind::Output { wiring, .. } => {
                let mut made = Depths::zeros(job.task.rows, 0);
                for piece in wiring.iter() {
                    if let Arg::Secret(arg) = args[piece.arg as usize] {
                        cells::copy(&mut made, arg, piece);
                    }
                }
                let deepest = made.0.iter().copied().max().unwrap_or(0);
                let mut state = self.tally.state();
                state.depth = state.depth.max(deepest);
                made
            }
            _ => Depths::zeros(job.task.rows, 0),
        };
        Ok(DryRun { script: self.role.online(job).into_iter(), made })
    }

    fn step(&self, job: &Job, run: &mut DryRun<BITS>, _: &[u8], _: &mut Outbox) -> Result<Flow<Depths<BITS>>> {
        if let Some((sent, read)) = run.script.next() {
            self.tally.add(sent, read);
            return Ok(Flow::Exchange { expect: 0 });
        }
        let made = std::mem::replace(&mut run.made, Depths(Vec::new()));
        Ok(if matches!(job.task.kind, Kind::Output { .. }) { Flow::Output(None) } else { Flow::Value(made) })
    }

    fn lift_mask(&self, _: &BitMatrix) -> Nothing {
        Nothing
    }

    fn lift(&self, public: &BitMatrix) -> Depths<BITS> {
        Depths::zeros(public.rows(), 0)
    }
}

impl<const BITS: usize> Sized<BITS> {
    /// Announces the next exchange of a task's setup.
    fn announce(&self, answer: Option<&(usize, usize)>) {
        answer.iter().for_each(|(sent, read)| self.tally.add(*sent, *read));
    }

    fn depths(&self, job: &Job, wiring: &[Piece], args: &[Arg<'_, Depths<BITS>>]) -> Depths<BITS> {
        let plan = job.plan.as_ref().expect("a map has a plan");
        let Role::Masked { fusions, .. } = &self.role else { return plan_depths(plan, wiring, args) };
        let mut inputs = Depths::<BITS>::zeros(plan.inputs().len(), 0);
        for piece in wiring {
            if let Arg::Secret(arg) = args[piece.arg as usize] {
                cells::copy(&mut inputs, arg, piece);
            }
        }
        Depths(fusions.of(plan).fused.depths(&inputs.0))
    }
}

fn plan_depths<const BITS: usize>(plan: &Plan, wiring: &[Piece], args: &[Arg<'_, Depths<BITS>>]) -> Depths<BITS> {
    let mut slots = Depths::zeros(plan.slots(), 0);
    for piece in wiring {
        if let Arg::Secret(arg) = args[piece.arg as usize] {
            cells::load(plan, &mut slots, arg, piece);
        }
    }
    for instr in plan.code() {
        let a = slots.0[instr.a as usize];
        slots.0[instr.dst as usize] = match instr.op {
            Op::Xor => a.max(slots.0[instr.b as usize]),
            Op::And => a.max(slots.0[instr.b as usize]) + 1,
            Op::XorPublic | Op::AndPublic => a,
        };
    }
    let depth = |source: &Source| match source {
        Source::Slot { slot, .. } => slots.0[*slot as usize],
        Source::Public { .. } | Source::Constant(_) => 0,
    };
    Depths(plan.outputs().iter().map(depth).collect())
}
