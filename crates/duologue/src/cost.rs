//! The cost protocol: what a program will take, without running it.
//!
//! A bit is the number of ANDs on its path. The tasks run through the same executor as those of the real protocols,
//! with the same windows; in place of messages there are their lengths, so that bytes and rounds are exact. Each party
//! is simulated, and its exchanges are kept: laid over the properties of a link they give the time of a run.

use crate::cells::{Cells, Nothing};
use crate::channel::Link as Line;
use crate::correlation::{self, Demand, Stock};
use crate::executor::{Executor, Feeds, Link, Phase};
use crate::garble::{self, LABEL, TABLE};
use crate::ot::Setup;
use crate::packed::byte_len;
use crate::protocol::{Arg, Flow, Job, Protocol};
use crate::session::at_once;
use crate::terms::{self, Moment, Options, Scheme, Terms};
use crate::{Party, Result};
use circuit::BitMatrix;
use circuit::plan::{Op, Plan, Source};
use circuit::program::{Binding, Kind, Owner, Piece, Recipient};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// What a run will take.
#[derive(Clone, Debug)]
pub struct Cost {
    /// The terms that it runs under.
    pub terms: Terms,
    /// AND gates over all lanes.
    pub ands: u64,
    /// ANDs on the longest path from an input to an output.
    pub depth: u32,
    /// Lanes of a tile.
    pub tile: usize,
    /// Correlations that it draws.
    pub demand: Demand,
    /// Traffic before inputs, with the base OTs of a new session.
    pub setup: Traffic,
    /// Traffic with inputs, with what of setup is streamed.
    pub online: Traffic,
    /// Memory of values and tasks under way and of what setup keeps, at the party that needs more, in bytes.
    pub memory: u64,
    exchanges: [Vec<Exchange>; 2],
}

/// Bytes of the protocol in each direction, and turns from sending to receiving of the party that turns more often.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Traffic {
    /// Bytes from Alice to Bob.
    pub alice_to_bob: u64,
    /// Bytes from Bob to Alice.
    pub bob_to_alice: u64,
    /// Turns from sending to receiving.
    pub rounds: u64,
}

/// How fast a machine computes, in ANDs a second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Speed {
    /// Before inputs.
    pub setup: f64,
    /// With inputs.
    pub online: f64,
}

/// What one party sends and then waits for.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    phase: Phase,
    sent: usize,
    read: usize,
}

/// Counts what `options` would make of a bound program in a new session.
///
/// # Errors
/// If the program cannot be encoded.
pub fn cost(binding: &Binding, options: &Options) -> Result<Cost> {
    let (terms, schedule) = Terms::resolve(binding, options);
    let schedule = Arc::new(schedule);
    let opening = opening(binding, &terms, &schedule)?;
    let mut exchanges: [Vec<Exchange>; 2] = Default::default();
    let (mut demand, mut depth, mut memory) = (Demand::NONE, 0, 0);
    for party in [Party::Alice, Party::Bob] {
        let tally = Rc::new(Tally::new(party, opening, &terms));
        let role = Role::of(party, &terms);
        let job = (Arc::new(binding.clone()), schedule.clone());
        let ran = match terms.scheme {
            Scheme::Gmw => dry_run::<1>(Dry { role, tally: tally.clone() }, job, &terms)?,
            Scheme::Yao => dry_run::<128>(Dry { role, tally: tally.clone() }, job, &terms)?,
        };
        demand = ran.demand;
        depth = tally.depth.get();
        memory = memory.max(ran.peak + kept(&terms, &schedule.totals, &demand));
        exchanges[party as usize] = tally.exchanges.take();
    }
    Ok(Cost {
        terms,
        ands: schedule.totals.and0,
        depth,
        tile: schedule.tile,
        demand,
        setup: traffic(&exchanges, Phase::Setup),
        online: traffic(&exchanges, Phase::Online),
        memory,
        exchanges,
    })
}

impl Cost {
    /// The time of setup and of the online phase over a line: both parties' exchanges one after another, each byte
    /// taking its place on the line, and the time of computing besides.
    pub fn time(&self, line: &Line, speed: &Speed) -> (Duration, Duration) {
        let [setup, all] = [Phase::Setup, Phase::Online].map(|phase| self.travel(line, phase));
        let compute = |rate: f64| Duration::from_secs_f64(self.ands as f64 / rate.max(1.0));
        (setup + compute(speed.setup), all.saturating_sub(setup) + compute(speed.online))
    }

    /// When the last byte up to the end of a phase has come.
    fn travel(&self, line: &Line, last: Phase) -> Duration {
        let mut now = [Duration::ZERO; 2];
        let mut free = [Duration::ZERO; 2];
        for (alice, bob) in self.exchanges[0].iter().zip(&self.exchanges[1]) {
            if last == Phase::Setup && alice.phase == Phase::Online {
                break;
            }
            let arrive = |from: usize, exchange: &Exchange, free: &mut [Duration; 2]| {
                free[from] = free[from].max(now[from]) + line.transmission(exchange.sent);
                free[from] + line.round_trip / 2
            };
            let at_bob = arrive(0, alice, &mut free);
            let at_alice = arrive(1, bob, &mut free);
            now[0] = if alice.read > 0 { now[0].max(at_alice) } else { now[0] };
            now[1] = if bob.read > 0 { now[1].max(at_bob) } else { now[1] };
        }
        now[0].max(now[1])
    }
}

/// Bytes of the terms and of what opens a run: equal for both parties, since the terms are.
fn opening(binding: &Binding, terms: &Terms, schedule: &circuit::Schedule) -> Result<usize> {
    let none = blake3::hash(b"");
    let fields = terms::fields(binding, terms, schedule, &Moment::default(), &none)?;
    Ok(4 + terms::encode(&fields).len())
}

/// Memory of what setup keeps until the online phase.
fn kept(terms: &Terms, totals: &circuit::program::Seat, demand: &Demand) -> u64 {
    let cots = (demand.cots_by_alice + demand.cots_by_bob) * LABEL as u64;
    match (terms.scheme, terms.ahead) {
        (Scheme::Gmw, true) => (3 * totals.and0 + totals.in0) / 8,
        (Scheme::Yao, true) => totals.and0 * TABLE as u64 + totals.in0 * LABEL as u64 + cots,
        (_, false) => 0,
    }
}

fn traffic(exchanges: &[Vec<Exchange>; 2], phase: Phase) -> Traffic {
    let sent = |party: usize| {
        let during = exchanges[party].iter().filter(|exchange| exchange.phase == phase);
        during.map(|exchange| exchange.sent as u64).sum()
    };
    let rounds = |party: usize| turns(&exchanges[party], phase);
    Traffic { alice_to_bob: sent(0), bob_to_alice: sent(1), rounds: rounds(0).max(rounds(1)) }
}

/// Turns from sending to receiving within a phase.
fn turns(exchanges: &[Exchange], phase: Phase) -> u64 {
    let (mut sending, mut turns) = (false, 0);
    for exchange in exchanges {
        sending |= exchange.sent > 0;
        if exchange.read > 0 {
            turns += u64::from(sending && exchange.phase == phase);
            sending = false;
        }
    }
    turns
}

/// What a dry run found.
struct Found {
    demand: Demand,
    peak: u64,
}

fn dry_run<const BITS: usize>(dry: Dry, job: (Arc<Binding>, Arc<circuit::Schedule>), terms: &Terms) -> Result<Found> {
    let public = zeros(&job.0, |owner| owner == Owner::Public);
    let inputs = zeros(&job.0, |_| false);
    let tally = dry.tally.clone();
    let party = Some(tally.party);
    let sized = Sized::<BITS>(dry);
    let mut executor = Executor::new(sized, party, job, (terms.window, terms.ahead), &public)?;
    let demand = executor.demand();
    let (mut stock, mut link) = (Stock::new(tally.party), DryLink(tally.clone()));
    executor.setup(&mut stock, &mut link)?;
    tally.phase.set(Phase::Online);
    let ran = executor.online(&inputs, &mut stock, &mut link)?;
    Ok(Found { demand, peak: ran.peak as u64 })
}

/// Inputs are not looked at, but the public ones are computed with.
fn zeros(binding: &Binding, wanted: impl Fn(Owner) -> bool) -> Feeds {
    let ports = binding.inputs().iter();
    let zero = |port: &circuit::program::BoundPort<Owner>| BitMatrix::zeros(port.ty.width as usize, port.lanes as usize);
    ports.map(|port| wanted(port.who).then(|| zero(port))).collect()
}

/// What a party would send and read.
struct Tally {
    party: Party,
    phase: Cell<Phase>,
    /// Of the exchange that is being gathered.
    sent: Cell<usize>,
    read: Cell<usize>,
    exchanges: RefCell<Vec<Exchange>>,
    available: Cell<Demand>,
    based: Cell<bool>,
    depth: Cell<u32>,
}

impl Tally {
    /// After the terms, and what Yao begins with.
    fn new(party: Party, opening: usize, terms: &Terms) -> Tally {
        let (sent, read, based, depth) = Default::default();
        let tally = Tally {
            party,
            phase: Cell::new(Phase::Setup),
            sent,
            read,
            exchanges: RefCell::default(),
            available: Cell::new(Demand::NONE),
            based,
            depth,
        };
        tally.exchange(opening, opening);
        if terms.scheme == Scheme::Yao {
            tally.base();
            let garbles = terms.garbler == party;
            tally.exchange(if garbles { LABEL } else { 0 }, if garbles { 0 } else { LABEL });
        }
        tally
    }

    fn base(&self) {
        if !self.based.replace(true) {
            self.exchange(Setup::MESSAGE, Setup::MESSAGE);
        }
    }

    /// An exchange apart from the one that is being gathered.
    fn exchange(&self, sent: usize, read: usize) {
        self.exchanges.borrow_mut().push(Exchange { phase: self.phase.get(), sent, read });
    }

    fn add(&self, sent: usize, read: usize) {
        self.sent.set(self.sent.get() + sent);
        self.read.set(self.read.get() + read);
    }

    /// Ends the exchange that is being gathered.
    fn settle(&self) {
        self.exchange(self.sent.take(), self.read.take());
    }
}

/// The link of a dry run: supplies are counted, not made.
struct DryLink(Rc<Tally>);

impl Link for DryLink {
    fn send(&mut self, _: &[u8]) -> Result<()> {
        Ok(())
    }

    /// The executor flushes once an exchange.
    fn flush(&mut self) -> Result<()> {
        self.0.settle();
        Ok(())
    }

    fn receive(&mut self, _: usize, inbox: &mut Vec<u8>) -> Result<()> {
        inbox.clear();
        Ok(())
    }

    fn supply(&mut self, _: &mut Stock, demand: Demand, ahead: Demand) -> Result<()> {
        let available = self.0.available.get();
        if demand != Demand::NONE && demand.missing_from(&available) == Demand::NONE {
            return Ok(());
        }
        let make = at_once(&demand, &ahead).missing_from(&available);
        if make != Demand::NONE {
            self.0.base();
            for (sent, read) in correlation::exchanges(self.0.party, make) {
                self.0.exchange(sent, read);
            }
        }
        self.0.available.set(available + make);
        Ok(())
    }

    fn progress(&mut self, _: Phase, _: u64, _: u64) -> Result<()> {
        Ok(())
    }
}

/// Whose messages are counted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Gmw { party: Party },
    Garbler { party: Party, ahead: bool },
    Evaluator { party: Party, ahead: bool },
}

impl Role {
    fn of(party: Party, terms: &Terms) -> Role {
        let ahead = terms.ahead;
        match terms.scheme {
            Scheme::Gmw => Role::Gmw { party },
            Scheme::Yao if terms.garbler == party => Role::Garbler { party, ahead },
            Scheme::Yao => Role::Evaluator { party, ahead },
        }
    }

    fn demand(&self, job: &Job) -> Demand {
        match *self {
            Role::Gmw { .. } => Demand::of_triples(job.plan.as_ref().map_or(0, |p| p.ands() * job.task.lanes as u64)),
            Role::Garbler { party, .. } => garble::input::demand(job, party),
            Role::Evaluator { party, .. } => garble::input::demand(job, party.peer()),
        }
    }

    /// Bytes of setup, sent and read.
    fn setup(&self, job: &Job) -> (usize, usize) {
        match *self {
            Role::Garbler { party, ahead: true } => (garble::ahead_bytes(job, party.peer()), 0),
            Role::Evaluator { party, ahead: true } => (0, garble::ahead_bytes(job, party)),
            _ => (0, 0),
        }
    }

    /// The exchanges of a task online, as sent and read.
    fn online(&self, job: &Job) -> Vec<(usize, usize)> {
        let bits = job.task.rows * job.task.lanes;
        match (&job.task.kind, *self) {
            (Kind::Input { .. }, Role::Gmw { .. }) => vec![],
            (Kind::Input { owner, .. }, Role::Garbler { party, .. }) if *owner == Owner::Party(party) => {
                vec![(bits * LABEL, 0)]
            }
            (Kind::Input { .. }, Role::Garbler { .. }) => vec![(0, byte_len(bits)), (bits * LABEL, 0)],
            (Kind::Input { owner, .. }, Role::Evaluator { party, .. }) if *owner == Owner::Party(party.peer()) => {
                vec![(0, bits * LABEL)]
            }
            (Kind::Input { .. }, Role::Evaluator { .. }) => vec![(byte_len(bits), 0), (0, bits * LABEL)],
            (Kind::Map { .. }, Role::Gmw { .. }) => layers(job).map(|bytes| (bytes, bytes)).collect(),
            (Kind::Map { .. }, Role::Garbler { ahead: false, .. }) => chunks(job).map(|bytes| (bytes, 0)).collect(),
            (Kind::Map { .. }, Role::Evaluator { ahead: false, .. }) => chunks(job).map(|bytes| (0, bytes)).collect(),
            (Kind::Output { recipient, .. }, role) => role.output(*recipient, byte_len(bits)),
            _ => vec![],
        }
    }

    fn output(&self, recipient: Recipient, bytes: usize) -> Vec<(usize, usize)> {
        let learns = |party| recipient == Recipient::Both || recipient == Recipient::Party(party);
        let when = |yes: bool| if yes { bytes } else { 0 };
        match *self {
            Role::Gmw { .. } if recipient == Recipient::Shared => vec![],
            Role::Gmw { party } => vec![(when(learns(party.peer())), when(learns(party)))],
            // The garbler's permute bits may have travelled in setup.
            Role::Garbler { party, ahead } => vec![(when(learns(party.peer()) && !ahead), when(learns(party)))],
            Role::Evaluator { party, ahead } => vec![(when(learns(party.peer())), when(learns(party) && !ahead))],
        }
    }
}

/// Bytes of each layer's opening.
fn layers(job: &Job) -> impl Iterator<Item = usize> {
    let layers = job.plan.iter().flat_map(|plan| plan.layers()).filter(|_| job.task.lanes > 0);
    layers.map(|layer| byte_len(2 * layer.len() * job.task.lanes))
}

/// Bytes of each chunk of tables.
fn chunks(job: &Job) -> impl Iterator<Item = usize> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let plan = job.plan.as_ref().filter(|plan| job.task.lanes > 0 && next < plan.code().len())?;
        let (end, ands) = garble::chunk(plan, next, job.task.lanes);
        next = end;
        Some(ands * TABLE)
    })
}

/// A protocol of lengths.
struct Dry {
    role: Role,
    tally: Rc<Tally>,
}

/// The same with cells as large as those of the real protocol, so that the executor's windows are the same.
struct Sized<const BITS: usize>(Dry);

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

/// The exchanges of a task that are still to come.
struct DryRun<const BITS: usize> {
    script: std::vec::IntoIter<(usize, usize)>,
    made: Depths<BITS>,
}

impl<const BITS: usize> Protocol for Sized<BITS> {
    type Mask = Nothing;
    type Value = Depths<BITS>;
    type Prepared = ();
    type Run = DryRun<BITS>;

    fn demand(&self, job: &Job) -> Demand {
        self.0.role.demand(job)
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
        _: &mut Vec<u8>,
    ) -> Result<((), Nothing)> {
        let tally = &self.0.tally;
        let (sent, read) = self.0.role.setup(job);
        tally.add(sent, read);
        tally.available.set(tally.available.get().missing_from(&self.demand(job)));
        Ok(((), Nothing))
    }

    fn begin(
        &self,
        job: &Job,
        _: (),
        args: &[Arg<'_, Depths<BITS>>],
        _: Option<BitMatrix>,
    ) -> Result<DryRun<BITS>> {
        let made = match &job.task.kind {
            Kind::Map { wiring, .. } => plan_depths(job.plan.as_ref().expect("a map has a plan"), wiring, args),
            Kind::Output { wiring, .. } => {
                let mut made = Depths::zeros(job.task.rows, 0);
                for piece in wiring.iter() {
                    if let Arg::Secret(arg) = args[piece.arg as usize] {
                        crate::cells::copy(&mut made, arg, piece);
                    }
                }
                let deepest = made.0.iter().copied().max().unwrap_or(0);
                self.0.tally.depth.set(self.0.tally.depth.get().max(deepest));
                made
            }
            _ => Depths::zeros(job.task.rows, 0),
        };
        Ok(DryRun { script: self.0.role.online(job).into_iter(), made })
    }

    fn step(&self, job: &Job, run: &mut DryRun<BITS>, _: &[u8], _: &mut Vec<u8>) -> Result<Flow<Depths<BITS>>> {
        if let Some((sent, read)) = run.script.next() {
            self.0.tally.add(sent, read);
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

fn plan_depths<const BITS: usize>(plan: &Plan, wiring: &[Piece], args: &[Arg<'_, Depths<BITS>>]) -> Depths<BITS> {
    let mut slots = Depths::zeros(plan.slots(), 0);
    for piece in wiring {
        if let Arg::Secret(arg) = args[piece.arg as usize] {
            crate::cells::load(plan, &mut slots, arg, piece);
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
