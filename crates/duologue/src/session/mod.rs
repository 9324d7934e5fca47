//! Sessions: two parties, one channel, many programs.
//!
//! ```
//! use duologue::channel::Channel;
//! use duologue::{Inputs, Options, Party, Scheme, Session, data};
//! use circuit::{Program, blocks, uint};
//!
//! // Who is richer? Alice learns it, and nobody learns anything else.
//! let mut p = Program::new("millionaires");
//! let a = p.input("alice", Party::Alice, uint(32), 1);
//! let b = p.input("bob", Party::Bob, uint(32), 1);
//! let richer = p.map(&blocks::find("greater")?.circuit(&[32], blocks::Goal::Size)?, &[a, b]);
//! p.output("alice is richer", Party::Alice, richer);
//! let job = p.bind(&[])?;
//!
//! let (to_bob, to_alice) = Channel::pair();
//! let bobs = job.clone();
//! let bob = std::thread::spawn(move || {
//!     let mut session = Session::connect(to_alice, Party::Bob)?;
//!     let inputs = Inputs::new().with("bob", data::uints(32, &[1_000_000]));
//!     session.run(&bobs, &Options::new(Scheme::Yao), &inputs)
//! });
//! let mut session = Session::connect(to_bob, Party::Alice)?;
//! let inputs = Inputs::new().with("alice", data::uints(32, &[2_000_000]));
//! let outcome = session.run(&job, &Options::new(Scheme::Yao), &inputs)?;
//! assert_eq!(data::to_uints(outcome.outputs.get("alice is richer").unwrap()), [1]);
//! bob.join().unwrap()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod call;
mod correlate;
pub(crate) mod fields;
mod hello;
#[cfg_attr(not(feature = "disk"), path = "no_pool.rs")]
mod pool;
#[cfg(feature = "disk")]
mod prepared;
mod program;
mod random;
#[cfg(test)]
mod tests;
mod wire;

use crate::call::Calls;
use crate::channel::{AbortCode, Channel, Counters};
use crate::clock::Instant;
use crate::correlation::{Demand, Stock};
use crate::data::{Inputs, Outputs};
use crate::executor::{Engine, Feeds, Phase, PlanCache};
use crate::ot::Extension;
use crate::protocol::Base;
use crate::protocol::terms::{Options, Terms};
use crate::threads::{self, Threads};
use crate::{Error, Party, Result};
use circuit::BitMatrix;
use circuit::program::{Binding, BoundPort, Owner, Schedule};
use fields::Moment;
use hello::{Hello, greet};
use kernels::Block;
use kernels::generator::Generator;
use program::Job;
use std::sync::{Arc, Weak};
use std::time::Duration;
use wire::Wire;

pub use crate::agreement::compare;
pub use call::CallArg;
pub(crate) use correlate::block_of;
pub use hello::{DOCTOR, MAGIC, VERSION, check_hello};
#[cfg(feature = "disk")]
pub use prepared::Keys;
pub(crate) use wire::at_once;

/// The cost of one phase.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct PhaseReport {
    /// Wall-clock time.
    pub time: Duration,
    /// Bytes of the protocol sent, without headers and encryption.
    pub sent: u64,
    /// Bytes of the protocol received.
    pub received: u64,
    /// How often this party turned from sending to receiving.
    pub rounds: u64,
}

/// The terms and the cost of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Report {
    /// The terms that it ran under.
    pub terms: Terms,
    /// AND gates over all lanes.
    pub ands: u64,
    /// Lanes of a tile.
    pub tile: usize,
    /// Correlations that the program draws.
    pub demand: Demand,
    /// Before inputs. When setup is streamed, the time is the sum of its parts, and the bytes and rounds of those that
    /// were made between inputs count as online.
    pub setup: PhaseReport,
    /// With inputs.
    pub online: PhaseReport,
}

/// The results of a run.
pub struct Outcome {
    /// The outputs of this party.
    pub outputs: Outputs,
    /// Its terms and its cost.
    pub report: Report,
}

/// A program whose setup is done: it runs once.
pub struct Prepared {
    engine: Box<dyn Engine>,
    binding: Arc<Binding>,
    public: Feeds,
    session: [u8; 32],
    ordinal: u64,
    report: Report,
}

/// Sees how far a run is: the phase, what is done, and of how much; ANDs, or correlations while those are made. Says
/// whether to go on.
pub type Observer = Box<dyn FnMut(Phase, u64, u64) -> bool + Send>;

/// One party's end of a session.
///
/// Its secrets come from the operating system, and nothing prints them:
///
/// ```compile_fail,E0624
/// use duologue::{Party, Session, channel::Channel};
/// fn predictable(channel: Channel, secrets: kernels::generator::Generator) {
///     let session = Session::with(channel, Party::Alice, secrets);
/// }
/// ```
/// ```compile_fail,E0277
/// fn print(session: &duologue::Session) {
///     println!("{session:?}");
/// }
/// ```
pub struct Session {
    party: Party,
    id: [u8; 32],
    /// This party's own secrets.
    secrets: Generator,
    /// The generator that only the two parties know.
    pairwise: Generator,
    stock: Stock,
    wire: Wire,
    /// Numbers used in this session: none comes twice under one Δ and S.
    base: Base,
    ordinal: u64,
    /// How many of the things that `ordinal` counts are programs.
    programs: u64,
    /// The last schedule, as long as a prepared program has it: many of one program share their plans.
    last: Option<(Asked, Terms, Weak<Schedule>)>,
    plans: PlanCache,
    calls: Calls,
    threads: Threads,
    dead: Option<String>,
}

/// The digest of a program, its sizes, and options: a schedule depends on nothing else.
type Asked = ([u8; 32], Vec<u64>, Options);

impl Session {
    /// Greets the peer; both must speak the same version and be different parties.
    pub fn connect(channel: Channel, party: Party) -> Result<Session> {
        let secrets = crate::ot::os_generator()?;
        Session::with(channel, party, secrets)
    }

    /// Greets the peer with a given source of secrets: nothing of a session is drawn from anywhere else.
    pub(crate) fn with(mut channel: Channel, party: Party, secrets: Generator) -> Result<Session> {
        let hello = Hello::new(party, &secrets);
        let ours = hello.bytes.clone();
        let met = greet(&mut channel, &ours).and_then(|theirs| Ok((hello.key(&theirs)?, theirs)));
        let (key, theirs) = met.inspect_err(|error| take_leave(&mut channel, error))?;
        let (alice, bob) = if party == Party::Alice { (&ours, &theirs) } else { (&theirs, &ours) };
        let derive = |what: &str, key: &[u8]| {
            *blake3::Hasher::new_derive_key(what).update(alice).update(bob).update(key).finalize().as_bytes()
        };
        let id = derive("duologue v1 session id", &[]);
        let pairwise = derive("duologue v1 shared generator", &key);
        let pairwise = Block::from_bytes(pairwise[..16].try_into().expect("16 bytes"));
        let correlating = Some(secrets.derive(b"setup   ", 0));
        Ok(Session {
            party,
            id,
            secrets,
            pairwise: Generator::from_seed(pairwise),
            stock: Stock::new(party),
            wire: Wire {
                channel,
                party,
                id,
                correlating,
                maker: None,
                pool: None,
                delta: None,
                extension: Extension::DEFAULT,
                threads: 1,
                observer: None,
                buffers: Default::default(),
            },
            base: Base::default(),
            ordinal: 0,
            programs: 0,
            last: None,
            plans: PlanCache::default(),
            calls: Calls::new(),
            threads: Threads::default(),
            dead: None,
        })
    }

    /// This party.
    pub fn party(&self) -> Party {
        self.party
    }

    /// Bytes and rounds of the channel so far.
    pub fn counters(&self) -> Counters {
        self.wire.channel.counters()
    }

    /// The correlations drawn so far.
    pub fn drawn(&self) -> Demand {
        self.stock.drawn()
    }

    /// Sets how many threads of this party share its work, from the next program or correlations on; at least one. The
    /// peer need not know: what is sent does not depend on it.
    ///
    /// With more than one, programs run on threads of the session's own, and the observer is called there. In
    /// WebAssembly there are no threads but the caller's, and it stays one.
    pub fn set_threads(&mut self, threads: usize) {
        self.wire.threads = if threads::ARE_THERE { threads.max(1) } else { 1 };
    }

    /// Sets who sees the progress of runs and may cancel them.
    pub fn observe(&mut self, observer: Option<Observer>) {
        self.wire.observer = observer;
    }

    /// Runs a program: setup, then online.
    ///
    /// # Errors
    /// [`Error::Usage`] if an input is missing or misshapen, before anything is sent; [`Error::Incompatible`] if the
    /// parties differ, before any input is used. Any other error ends the session.
    pub fn run(&mut self, binding: &Binding, options: &Options, inputs: &Inputs) -> Result<Outcome> {
        let feeds = self.feeds(binding, inputs)?;
        let prepared = self.set_up(binding, options, inputs, false)?;
        self.finish_run(prepared, &feeds)
    }

    /// Setup of a program; of the inputs only the public ones are used.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn prepare(&mut self, binding: &Binding, options: &Options, public: &Inputs) -> Result<Prepared> {
        self.set_up(binding, options, public, true)
    }

    fn set_up(&mut self, binding: &Binding, options: &Options, public: &Inputs, alone: bool) -> Result<Prepared> {
        self.alive()?;
        let feeds = public.feeds(binding, |owner| owner == Owner::Public)?;
        let (terms, schedule) = self.resolve(binding, options)?;
        self.wire.check_extension(terms.extension)?;
        let start = Mark::new(&self.wire);
        let fields = fields::run(binding, &terms, &schedule, &self.moment(alone, self.ordinal), &digest(&feeds))?;
        let job = Job { terms, binding: Arc::new(binding.clone()), schedule, public: feeds };
        let (engine, ordinal) = self.guarded(|session| {
            session.wire.agree(&fields)?;
            session.wire.extension = terms.extension;
            let taken = session.reserve(&job.schedule);
            let mut engine = session.engine(&job, taken)?;
            engine.setup(&mut session.stock, &mut session.wire)?;
            Ok((engine, taken.1))
        })?;
        let Job { binding, schedule, public, .. } = job;
        let report = Report {
            terms,
            ands: schedule.totals.and0,
            tile: schedule.tile,
            demand: engine.demand(),
            setup: start.until_now(&self.wire),
            online: PhaseReport::default(),
        };
        Ok(Prepared { engine, binding, public, session: self.id, ordinal, report })
    }

    fn resolve(&mut self, binding: &Binding, options: &Options) -> Result<(Terms, Arc<Schedule>)> {
        let digest = binding.digest().map_err(|error| Error::usage(error.to_string()))?;
        let asked = (digest, binding.sizes().to_vec(), *options);
        if let Some((before, terms, schedule)) = &self.last
            && *before == asked
            && let Some(schedule) = schedule.upgrade()
        {
            return Ok((*terms, schedule));
        }
        let (terms, schedule) = Terms::resolve(binding, options)?;
        self.calls.check(&schedule)?;
        let schedule = Arc::new(schedule);
        self.last = Some((asked, terms, Arc::downgrade(&schedule)));
        Ok((terms, schedule))
    }

    /// Takes a program's numbers before any of them is used: whatever happens then, none comes twice.
    fn reserve(&mut self, schedule: &Schedule) -> (Base, u64) {
        let taken = (self.base, self.ordinal);
        self.base.add(call::numbers_of(schedule));
        self.ordinal += call::programs_of(schedule);
        self.programs += 1;
        taken
    }

    fn moment(&self, setup_alone: bool, ordinal: u64) -> Moment {
        let (drawn, stock) = (self.stock.drawn(), self.stock.available());
        Moment { session: self.id, setup_alone, ordinal, drawn, stock }
    }

    /// Whether a prepared program would take these inputs; [`online`](Self::online) uses the program up in any case.
    ///
    /// # Errors
    /// [`Error::Usage`] that names the port.
    pub fn check(&self, prepared: &Prepared, inputs: &Inputs) -> Result<()> {
        self.feeds_after(prepared, inputs).map(drop)
    }

    /// Runs a prepared program on inputs. The parties take their prepared programs in the same order; public inputs
    /// are those of setup.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn online(&mut self, prepared: Prepared, inputs: &Inputs) -> Result<Outcome> {
        self.alive()?;
        if prepared.session != self.id {
            return Err(Error::usage("this program was prepared in another session"));
        }
        let feeds = self.feeds_after(&prepared, inputs)?;
        let fields = fields::online(&self.moment(false, prepared.ordinal));
        self.guarded(|session| session.wire.agree(&fields))?;
        self.finish_run(prepared, &feeds)
    }

    fn finish_run(&mut self, prepared: Prepared, feeds: &Feeds) -> Result<Outcome> {
        let Prepared { engine, binding, mut report, .. } = prepared;
        let start = Mark::new(&self.wire);
        let ran = self.guarded(|session| engine.online(feeds, &mut session.stock, &mut session.wire))?;
        report.online = start.until_now(&self.wire);
        report.online.time = report.online.time.saturating_sub(ran.streamed_setup);
        report.setup.time += ran.streamed_setup;
        drop(ran.schedule);
        Ok(Outcome { outputs: Outputs::new(&binding, ran.outputs), report })
    }

    /// Ends the session in good order: both parties have said all.
    pub fn close(mut self) -> Result<()> {
        self.alive()?;
        self.wire.channel.finish()
    }

    fn feeds(&self, binding: &Binding, inputs: &Inputs) -> Result<Feeds> {
        inputs.check_owner(binding, self.party)?;
        inputs.feeds(binding, |owner| owner != Owner::Party(self.party.peer()))
    }

    /// The inputs of a prepared program. Public ones are not needed again, and may not be others.
    fn feeds_after(&self, prepared: &Prepared, inputs: &Inputs) -> Result<Feeds> {
        let Prepared { binding, public, .. } = prepared;
        let differs = |(port, used): &(&BoundPort<Owner>, &Option<BitMatrix>)| {
            used.is_some() && inputs.get(&port.name).is_some_and(|given| Some(given) != used.as_ref())
        };
        if let Some((port, _)) = binding.inputs().iter().zip(public).find(differs) {
            return Err(Error::usage(format!("the public input '{}' is not the one that setup used", port.name)));
        }
        inputs.check_owner(binding, self.party)?;
        inputs.feeds(binding, |owner| owner == Owner::Shared || owner == Owner::Party(self.party))
    }

    /// As many threads as were asked for.
    fn threads(&mut self) -> Result<Threads> {
        if self.threads.count() != self.wire.threads {
            self.threads = Threads::new(self.wire.threads)?;
        }
        Ok(self.threads.clone())
    }

    fn alive(&self) -> Result<()> {
        self.dead.clone().map_or(Ok(()), |why| Err(Error::Dead(why)))
    }

    /// Runs `work`; any error except [`Error::Incompatible`] ends the session. Until it is done the session counts as dead, so that a panic in a caller's observer leaves none that looks alive.
    fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.alive()?;
        self.dead = Some("a run was interrupted".into());
        let result = work(self);
        match &result {
            Ok(_) | Err(Error::Incompatible { .. }) => self.dead = None,
            Err(error) => self.destroy(error),
        }
        result
    }

    fn destroy_with(&mut self, why: &str) {
        self.dead = Some(why.to_owned());
        self.stock.destroy();
        self.wire.maker = None;
        self.wire.correlating = None;
        self.wire.pool = None;
        self.wire.delta = None;
        self.secrets = nobody();
        self.pairwise = nobody();
    }

    /// Destroys what the session holds of secrets, and tells the peer.
    fn destroy(&mut self, error: &Error) {
        self.destroy_with(&error.to_string());
        take_leave(&mut self.wire.channel, error);
    }
}

/// A generator that nothing is drawn from.
fn nobody() -> Generator {
    Generator::from_seed(Block::ZERO)
}

/// Tells the peer that we stop: the error's kind and its fixed words, never its text.
fn take_leave(channel: &mut Channel, error: &Error) {
    channel.abort(AbortCode::of(error), error.last_words());
}

/// A moment of a session, to measure from.
struct Mark {
    time: Instant,
    counters: Counters,
}

impl Mark {
    fn new(wire: &Wire) -> Mark {
        Mark { time: Instant::now(), counters: wire.channel.counters() }
    }

    fn until_now(&self, wire: &Wire) -> PhaseReport {
        let now = wire.channel.counters();
        PhaseReport {
            time: self.time.elapsed(),
            sent: now.bytes_sent - self.counters.bytes_sent,
            received: now.bytes_received - self.counters.bytes_received,
            rounds: now.rounds - self.counters.rounds,
        }
    }
}

fn digest(public: &Feeds) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_derive_key("duologue v1 public inputs");
    for input in public.iter().flatten() {
        hasher.update(&(input.rows() as u64).to_le_bytes());
        hasher.update(&(input.lanes() as u64).to_le_bytes());
        hasher.update(bytemuck::cast_slice(input.words()));
    }
    hasher.finalize()
}
