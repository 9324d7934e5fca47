//! A protocol of lengths and depths, run by the real executor.
//!
//! The executor is given lengths of no bytes, so that it goes through every exchange of a run and moves nothing, however
//! large the run. The real lengths are added up by the stages, and by the link where it would make correlations.

use crate::call::{self, CallLengths, CallRun, Calls, InParts};
use crate::correlation::{Demand, Stock};
use crate::executor::cells::{self, Cells, Nothing};
use crate::executor::{
    Arg, Engine, Exchanges, Executor, Feeds, Flow, Job, Lengths, Link, Made, Phase, PlanCache, Program, Protocol,
    Scheduling, Setup, Stage, StoredSize,
};
use crate::outbox::{Inbox, Outbox};
use crate::protocol::terms::Terms;
use crate::threads::Threads;
use crate::{Party, Result};
use circuit::plan::Plan;
use circuit::program::{Binding, BoundPort, CallPart, Owner, Piece, ProgramPart, TaskKind};
use circuit::{BitMatrix, Schedule};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The findings of a dry run.
pub(super) struct Found {
    pub demand: Demand,
    pub depth: u32,
    /// Bytes between setup and online.
    pub stored: u64,
    /// Bytes of cells and maps at once.
    pub peak: u64,
    pub events: Vec<Event>,
}

/// What a party does of which its peer hears, after the terms; whatever makes the correlations, it is the same.
#[derive(Clone, Debug)]
pub(super) enum Event {
    /// What opens a program, in bytes.
    Opening { sent: usize, read: usize },
    /// An exchange of the protocol, in bytes.
    Exchange { sent: usize, read: usize },
    /// Correlations are called for.
    Supply(Box<Wanted>),
    /// The online phase begins.
    Online,
}

/// Correlations that are called for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// What was drawn since the last call.
    pub drawn: Demand,
    pub demand: Demand,
    /// What will be called for after it.
    pub ahead: Demand,
}

/// Runs one party's side of a bound program.
pub(super) fn run(
    party: Party,
    (binding, schedule): (&Binding, &Arc<Schedule>),
    terms: &Terms,
    (calls, plans): (&Calls, &PlanCache),
) -> Result<Found> {
    let tally = Arc::new(Tally::default());
    let program = Program {
        party: Some(party),
        binding: Arc::new(binding.clone()),
        schedule: schedule.clone(),
        window: terms.window,
        ahead: terms.ahead,
        public: zeros(binding, |owner| owner == Owner::Public),
        threads: Threads::default(),
        strands: terms.strands,
        movers: 0,
    };
    let mut executor = engine(program, party, terms, &tally, (calls, plans))?;
    let demand = executor.demand();
    let size = executor.stored_size();
    let (mut stock, mut link) = (Stock::new(party), DryLink(tally.clone()));
    executor.setup(&mut stock, &mut link)?;
    tally.state().events.push(Event::Online);
    let ran = executor.online(&zeros(binding, |_| false), &mut stock, &mut link)?;
    let mut state = tally.state();
    let stored = if terms.ahead { size.labels + size.tables } else { 0 };
    Ok(Found { demand, depth: state.depth, stored, peak: ran.peak as u64, events: std::mem::take(&mut state.events) })
}

fn engine(
    program: Program,
    party: Party,
    terms: &Terms,
    tally: &Arc<Tally>,
    (calls, plans): (&Calls, &PlanCache),
) -> Result<Box<dyn Engine>> {
    let Some(parts) = program.schedule.parts.clone() else {
        let lengths: Arc<dyn Lengths> = terms.scheme.descriptor().lengths(terms, party, plans).into();
        tally.open(&*lengths);
        let counted = Counted { lengths: WithoutBytes(lengths), tally: tally.clone() };
        return Ok(Box::new(Executor::new(counted, program)?));
    };
    let call = |_: &mut (), part: &CallPart| -> Result<Box<dyn CallRun>> {
        Ok(Box::new(DryCall::new(part, party, tally, calls)?))
    };
    let begin = |_: &mut (), (part, program): (&ProgramPart, Program)| {
        let (terms, program) = terms.for_part(part, program);
        engine(program, party, &terms, tally, (calls, plans))
    };
    Ok(Box::new(InParts::new(program, &parts, &mut (), begin, call)?))
}

/// Inputs are not looked at, but the public ones are computed with.
fn zeros(binding: &Binding, wanted: impl Fn(Owner) -> bool) -> Feeds {
    let ports = binding.inputs().iter();
    let zero = |port: &BoundPort<Owner>| BitMatrix::zeros(port.ty.width as usize, port.lanes as usize);
    ports.map(|port| wanted(port.who).then(|| zero(port).into())).collect()
}

/// The bytes that a party would send and read.
#[derive(Default)]
struct Tally {
    /// A protocol is shared between threads, so this is too; a dry run has but one.
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Of the exchange that is being gathered.
    sent: usize,
    read: usize,
    events: Vec<Event>,
    /// Since the last call for correlations.
    drawn: Demand,
    depth: u32,
}

impl Tally {
    /// The exchange that opens the protocol.
    fn open(&self, lengths: &dyn Lengths) {
        if let Some(first) = lengths.opening() {
            self.state().events.push(Event::Opening { sent: first.sent, read: first.read });
        }
    }

    fn draw(&self, demand: Demand) {
        self.state().drawn += demand;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An exchange apart from the one that is being gathered.
    fn exchange(&self, sent: usize, read: usize) {
        self.state().events.push(Event::Exchange { sent, read });
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

    /// The executor flushes at the end of each exchange; a setup in which nobody waits is one exchange.
    fn flush(&mut self) -> Result<()> {
        self.0.settle();
        Ok(())
    }

    fn receive(&mut self, _: usize, inbox: &mut Inbox) -> Result<()> {
        inbox.clear();
        Ok(())
    }

    fn supply(&mut self, _: &mut Stock, demand: Demand, ahead: Demand) -> Result<()> {
        if demand != Demand::NONE || ahead != Demand::NONE {
            let state = &mut *self.0.state();
            let drawn = std::mem::take(&mut state.drawn);
            state.events.push(Event::Supply(Box::new(Wanted { drawn, demand, ahead })));
        }
        Ok(())
    }

    fn progress(&mut self, _: Phase, _: u64, _: u64) -> Result<()> {
        Ok(())
    }
}

/// One party's side of a call, in lengths alone.
struct DryCall {
    lengths: CallLengths,
    results: usize,
    tally: Arc<Tally>,
}

impl DryCall {
    fn new(part: &CallPart, party: Party, tally: &Arc<Tally>, calls: &Calls) -> Result<DryCall> {
        let lengths = calls.find(&*part.functionality)?.lengths(&part.call, party)?;
        Ok(DryCall { lengths, results: part.results.len(), tally: tally.clone() })
    }

    fn count(&self, exchanges: &[call::Exchange], stock: &mut Stock, link: &mut dyn Link) -> Result<()> {
        let mut left: Demand = exchanges.iter().map(|exchange| exchange.demand).sum();
        for exchange in exchanges {
            if exchange.demand != Demand::NONE {
                link.supply(stock, exchange.demand, left)?;
                left = left.missing_from(&exchange.demand);
                self.tally.draw(exchange.demand);
            }
            self.tally.add(exchange.sent, exchange.read);
            link.flush()?;
        }
        Ok(())
    }
}

impl CallRun for DryCall {
    fn demand(&self) -> Demand {
        self.lengths.setup.iter().map(|exchange| exchange.demand).sum()
    }

    fn stored(&self) -> u64 {
        self.lengths.stored as u64
    }

    fn setup(&mut self, stock: &mut Stock, link: &mut dyn Link) -> Result<()> {
        self.count(&self.lengths.setup, stock, link)
    }

    fn online(
        &mut self,
        _: Vec<Option<BitMatrix>>,
        stock: &mut Stock,
        link: &mut dyn Link,
    ) -> Result<Vec<Option<BitMatrix>>> {
        self.count(&self.lengths.online, stock, link)?;
        Ok(vec![None; self.results])
    }
}

/// The lengths of a protocol, but for the bytes: as many exchanges, none of which moves anything.
struct WithoutBytes(Arc<dyn Lengths>);

impl Lengths for WithoutBytes {
    fn scheduling(&self) -> Scheduling {
        self.0.scheduling()
    }

    fn demand(&self, job: &Job) -> Demand {
        self.0.demand(job)
    }

    fn setup(&self, job: &Job) -> Exchanges {
        self.0.setup(job).without_bytes()
    }

    fn online(&self, job: &Job) -> Exchanges {
        self.0.online(job).without_bytes()
    }

    fn stored(&self, job: &Job) -> StoredSize {
        self.0.stored(job)
    }

    fn depths(&self, plan: &Arc<Plan>, inputs: &[u32]) -> Vec<u32> {
        self.0.depths(plan, inputs)
    }
}

/// A protocol of lengths, whose cells are depths.
struct Counted {
    lengths: WithoutBytes,
    tally: Arc<Tally>,
}

/// ANDs on the path to each row; all lanes alike.
struct Depths(Vec<u32>);

impl Cells for Depths {
    fn zeros(rows: usize, _: usize) -> Self {
        Depths(vec![0; rows])
    }

    fn copy_row(&mut self, to_row: usize, from: &Self, from_row: usize, _: &Piece) {
        self.0[to_row] = self.0[to_row].max(from.0[from_row]);
    }
}

/// A stage that adds up its exchanges.
struct Counting<T> {
    exchanges: Exchanges,
    end: Option<T>,
}

impl<T: Send + 'static> Stage<Counted> for Counting<T> {
    type Output = T;

    fn step(&mut self, counted: &Counted, _: &Job, _: &[u8], _: &mut Outbox) -> Result<Flow<T>> {
        match self.exchanges.next() {
            Some(next) => {
                counted.tally.add(next.sent, next.read);
                Ok(Flow::Exchange)
            }
            None => Ok(Flow::Done(self.end.take().expect("a stage ends once"))),
        }
    }
}

impl Setup<Counted> for Counting<()> {
    fn take_mask(&mut self) -> Option<Nothing> {
        Some(Nothing)
    }
}

impl Protocol for Counted {
    type Mask = Nothing;
    type Value = Depths;
    type Prepared = ();
    type Setup = Counting<()>;
    type Online = Counting<Made<Depths>>;

    fn lengths(&self) -> &dyn Lengths {
        &self.lengths
    }

    fn setup(&self, job: &Job, _: &[Arg<'_, Nothing>], _: &mut Stock) -> Result<Counting<()>> {
        self.tally.draw(self.lengths.demand(job));
        Ok(Counting { exchanges: self.lengths.0.setup(job), end: Some(()) })
    }

    fn online(
        &self,
        job: &Job,
        (): (),
        args: &[Arg<'_, Depths>],
        _: Option<BitMatrix>,
    ) -> Result<Counting<Made<Depths>>> {
        let end = match &job.task.kind {
            TaskKind::Map { wiring, .. } => {
                let plan = job.plan.as_ref().expect("a map has a plan");
                let inputs = gather(plan.inputs().len(), wiring, args);
                Made::Value(Depths(self.lengths.depths(plan, &inputs.0)))
            }
            TaskKind::Output { wiring, .. } => {
                let deepest = gather(job.task.rows, wiring, args).0.into_iter().max().unwrap_or(0);
                let mut state = self.tally.state();
                state.depth = state.depth.max(deepest);
                Made::Output(None)
            }
            _ => Made::Value(Depths::zeros(job.task.rows, 0)),
        };
        Ok(Counting { exchanges: self.lengths.0.online(job), end: Some(end) })
    }

    fn lift_mask(&self, _: &BitMatrix) -> Nothing {
        Nothing
    }

    fn lift(&self, public: &BitMatrix) -> Depths {
        Depths::zeros(public.rows(), 0)
    }
}

/// The depths of all that a plan or an output reads; those of public bits are zero.
fn gather(rows: usize, wiring: &[Piece], args: &[Arg<'_, Depths>]) -> Depths {
    let mut gathered = Depths::zeros(rows, 0);
    for piece in wiring {
        if let Arg::Secret(arg) = args[piece.arg as usize] {
            cells::copy(&mut gathered, arg, piece);
        }
    }
    gathered
}
