//! Sessions: two parties, one channel, many programs. [`Session`] has the examples.

mod correlate;
mod feeds;
pub(crate) mod fields;
mod hello;
mod outcome;
#[cfg_attr(not(feature = "disk"), path = "no_pool.rs")]
mod pool;
#[cfg(feature = "disk")]
mod prepared;
mod program;
mod random;
#[cfg(test)]
mod tests;
mod wire;

use crate::channel::{AbortCode, Canceller, Channel, Counters, PublicKey};
use crate::correlation::{Demand, Stock};
use crate::data::{Inputs, Outputs};
use crate::executor::{Feeds, PlanCache};
use crate::ot::Extension;
use crate::protocol::terms::{Options, Terms};
use crate::protocol::{Base, yao};
use crate::threads::{self, Threads};
use crate::{Error, Party, Result};
use circuit::program::{Binding, Owner, Schedule};
use feeds::digest;
use fields::Moment;
use hello::{Hello, greet};
use kernels::Block;
use kernels::generator::Generator;
use outcome::Mark;
use program::Job;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::{Arc, Weak};
use wire::Wire;

#[doc(hidden)]
pub use crate::agreement::compare;
pub(crate) use correlate::block_of;
pub use hello::VERSION;
#[doc(hidden)]
pub use hello::check_hello;
pub use outcome::{Outcome, PhaseReport, Prepared, Progress, Report, Unit};
pub(crate) use wire::at_once;

/// One party's end of a session: [`connect`](Self::connect), then [`run`](Self::run), as often as wanted.
///
/// Both parties make the same calls in the same order, each with its own inputs; where they differ, both hear in what.
///
/// ```
/// use duologue::circuit::blocks::{Goal, greater};
/// use duologue::circuit::{Program, UInt, uint};
/// use duologue::{Inputs, Options, Party, Scheme, Session, channel::Channel, data};
///
/// // Who is richer? Alice learns it, and nobody learns anything else.
/// let mut p = Program::new("millionaires");
/// let [hers, his] = [Party::Alice, Party::Bob].map(|party| p.input(&party.to_string(), party, uint(32), 1));
/// let richer = p.map_with([hers, his], |c, [a, b]: [UInt; 2]| UInt::from(greater(c, &a, &b, Goal::Size)));
/// p.output("alice is richer", Party::Alice, richer);
/// let job = p.bind(&[])?;
///
/// let play = |channel, party: Party, fortune| {
///     let mut session = Session::connect(channel, party)?;
///     let inputs = Inputs::new().with(&party.to_string(), data::uints(32, &[fortune])?);
///     let outcome = session.run(&job, &Options::new(Scheme::Yao), &inputs)?;
///     session.close().map(|()| outcome.outputs)
/// };
/// let (to_bob, to_alice) = Channel::pair(); // between two machines: Listener and Channel::connect
/// let outputs = std::thread::scope(|scope| {
///     scope.spawn(|| play(to_alice, Party::Bob, 1_000_000));
///     play(to_bob, Party::Alice, 2_000_000)
/// })?;
/// assert_eq!(data::to_uints(outputs.get("alice is richer").unwrap())?, [1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Setup before inputs, progress, cancelling
///
/// [`prepare`](Self::prepare) does whatever needs no inputs, and [`online`](Self::online) the rest.
/// [`observe`](Self::observe) sees how far that is and may end it; a [`canceller`](Self::canceller) ends it from another
/// thread, also while this party waits for the other.
///
/// ```
/// # use duologue::circuit::blocks::{Goal, add};
/// # use duologue::circuit::{Program, UInt, uint};
/// # use duologue::{Error, Inputs, Options, Party, Result, Scheme, Session, channel::Channel, data};
/// # use std::ops::ControlFlow;
/// # fn main() -> Result<()> {
/// # let mut p = Program::new("sum");
/// # let [a, b] = [Party::Alice, Party::Bob].map(|party| p.input(&party.to_string(), party, uint(32), 1));
/// # let sum = p.map_with([a, b], |c, [a, b]: [UInt; 2]| add(c, &a, &b, Goal::Size));
/// # p.output("sum", Party::Alice, sum);
/// # let job = &p.bind(&[])?;
/// # let act = |mut session: Session| -> Result<()> {
/// # let inputs = Inputs::new().with(&session.party().to_string(), data::uints(32, &[7])?);
/// session.observe(|progress| {
///     eprintln!("{:?}: {} of {} {:?}", progress.phase, progress.done, progress.total, progress.unit);
///     ControlFlow::Continue(()) // Break ends the session
/// });
/// let prepared = session.prepare(job, &Options::new(Scheme::Gmw), &Inputs::new())?;
/// let outcome = session.online(prepared, &inputs)?;
///
/// let canceller = session.canceller();
/// std::thread::spawn(move || canceller.cancel()).join().unwrap();
/// let again = session.run(job, &Options::new(Scheme::Gmw), &inputs);
/// assert!(matches!(again, Err(Error::Cancelled)));
/// # assert_eq!(outcome.outputs.get("sum").map(data::to_uints).transpose()?.unwrap_or(vec![14]), [14]);
/// # Ok(()) };
/// # let (to_bob, to_alice) = Channel::pair();
/// # std::thread::scope(|scope| {
/// #     let bob = scope.spawn(|| act(Session::connect(to_alice, Party::Bob)?));
/// #     Session::connect(to_bob, Party::Alice).and_then(act).and(bob.join().unwrap())
/// # })
/// # }
/// ```
///
/// # On disk: pools and prepared runs
///
/// A pool keeps correlations for any program, made in one session and used in later ones; prepared runs keep the whole
/// setup of one program by Yao. Each party has its half in a folder of its own, bound to both parties' keys, and what is
/// there is used once.
///
/// ```
/// # use duologue::circuit::blocks::{Goal, add};
/// # use duologue::circuit::{Program, UInt, uint};
/// # use duologue::correlation::{Demand, pool::Pool};
/// # use duologue::{Inputs, Options, Party, Result, Scheme, Session, channel::Channel, data};
/// # use duologue::{ot::Extension, prepared::PreparedRuns};
/// # fn main() -> Result<()> {
/// # let mut p = Program::new("sum");
/// # let [a, b] = [Party::Alice, Party::Bob].map(|party| p.input(&party.to_string(), party, uint(32), 1));
/// # let sum = p.map_with([a, b], |c, [a, b]: [UInt; 2]| add(c, &a, &b, Goal::Size));
/// # p.output("sum", Party::Alice, sum);
/// # let (job, folder) = (&p.bind(&[])?, tempfile::tempdir().unwrap());
/// # let both = |act: &(dyn Fn(Session) -> Result<()> + Sync)| {
/// #     let (to_bob, to_alice) = Channel::pair();
/// #     std::thread::scope(|scope| {
/// #         let bob = scope.spawn(|| act(Session::connect(to_alice, Party::Bob)?));
/// #         Session::connect(to_bob, Party::Alice).and_then(act).and(bob.join().unwrap())
/// #     })
/// # };
/// # let place = |what: &str, session: &Session| folder.path().join(format!("{what} of {}", session.party()));
/// # both(&|mut session| {
/// # let (pool, runs) = (place("pool", &session), place("runs", &session));
/// session.create_pool(&pool, Extension::DEFAULT, None)?;
/// session.fill_pool(Demand::of_triples(10_000))?;
/// let mut runs = PreparedRuns::create(&runs, None)?;
/// session.prepare_to(&mut runs, job, &Options::new(Scheme::Yao), &Inputs::new(), 2)?;
/// session.close()
/// # })?;
/// # both(&|mut session| {
/// # let (pool, runs) = (place("pool", &session), place("runs", &session));
/// # let inputs = Inputs::new().with(&session.party().to_string(), data::uints(32, &[7])?);
///
/// // Another day, in another session:
/// session.use_pool(Pool::open(&pool, None)?)?;
/// let by_gmw = session.run(job, &Options::new(Scheme::Gmw), &inputs)?;
/// let mut runs = PreparedRuns::open(&runs, None)?;
/// let by_yao = session.online_from(&mut runs, job, &inputs)?;
/// # assert_eq!(by_gmw.outputs.get("sum"), by_yao.outputs.get("sum"));
/// # assert_eq!(runs.status()?.left, 1);
/// # session.close()
/// # })
/// # }
/// ```
///
/// # Random OTs, and values that stay shared
///
/// ```
/// # use duologue::circuit::blocks::{Goal, add};
/// # use duologue::circuit::program::{Owner, Recipient};
/// # use duologue::circuit::{BitMatrix, Program, UInt, uint};
/// # use duologue::{Inputs, Options, Party, Result, Scheme, Session, channel::Channel, data, ot::Extension};
/// # fn main() -> Result<()> {
/// let mut p = Program::new("deposit");
/// let balance = p.input("balance", Owner::Shared, uint(32), 1);
/// let amount = p.input("amount", Owner::Public, uint(32), 1);
/// let sum = p.map_with([balance, amount], |c, [a, b]: [UInt; 2]| add(c, &a, &b, Goal::Size));
/// p.output("balance", Recipient::Shared, sum);
/// let deposit = p.bind(&[])?;
///
/// # let act = |mut session: Session| -> Result<u64> {
/// // Each party's share of a balance of zero, and after two deposits of what it is then.
/// let mut share = BitMatrix::zeros(32, 1);
/// for amount in [300, 45] {
///     let inputs = Inputs::new().with("balance", share).with("amount", data::uints(32, &[amount])?);
///     let mut outcome = session.run(&deposit, &Options::new(Scheme::Gmw), &inputs)?;
///     share = outcome.outputs.take("balance").unwrap();
/// }
///
/// // A thousand random OTs that Alice sends: Bob has one of her two messages each time.
/// let ots = session.random_ots(Extension::DEFAULT, 1000, 0)?;
/// let [sent, received] = [ots.sent.len(), ots.received.len()];
/// # let expected = if session.party() == Party::Alice { sent } else { received };
/// # assert!(expected >= 1000);
/// # session.close()?;
/// # Ok(data::to_uints(&share)?[0])
/// # };
/// # let (to_bob, to_alice) = Channel::pair();
/// # let (alice, bob) = std::thread::scope(|scope| {
/// #     let bob = scope.spawn(|| act(Session::connect(to_alice, Party::Bob)?));
/// #     (Session::connect(to_bob, Party::Alice).and_then(act), bob.join().unwrap())
/// # });
/// # assert_eq!(alice? ^ bob?, 345);
/// # Ok(())
/// # }
/// ```
///
/// # Secrets
///
/// They come from the operating system, and `Debug` shows none:
///
/// ```compile_fail,E0624
/// use duologue::{Party, Session, channel::Channel};
/// fn predictable(channel: Channel, secrets: kernels::generator::Generator) {
///     let session = Session::with(channel, Party::Alice, secrets);
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
    threads: Threads,
    dead: Option<String>,
}

/// The digest of a program, its sizes, and options: a schedule depends on nothing else.
type Asked = ([u8; 32], Vec<u64>, Options);

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Session");
        shown.field("party", &self.party).field("peer_key", &self.peer_key()).field("dead", &self.dead);
        shown.finish_non_exhaustive()
    }
}

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
            threads: Threads::default(),
            dead: None,
        })
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
        let digest = binding.digest()?;
        let asked = (digest, binding.sizes().to_vec(), *options);
        if let Some((before, terms, schedule)) = &self.last
            && *before == asked
            && let Some(schedule) = schedule.upgrade()
        {
            return Ok((*terms, schedule));
        }
        let (terms, schedule) = Terms::resolve(binding, options)?;
        let schedule = Arc::new(schedule);
        self.last = Some((asked, terms, Arc::downgrade(&schedule)));
        Ok((terms, schedule))
    }

    /// Takes a program's numbers before any of them is used: whatever happens then, none comes twice.
    fn reserve(&mut self, schedule: &Schedule) -> (Base, u64) {
        let taken = (self.base, self.ordinal);
        self.base.and0 += yao::numbers_of(schedule);
        self.base.in0 += schedule.totals.in0;
        self.ordinal += 1;
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
    ///
    /// # Errors
    /// If the session failed before, or the peer has more to say or does not end.
    pub fn close(mut self) -> Result<()> {
        self.alive()?;
        self.wire.channel.finish()
    }

    /// This party.
    pub fn party(&self) -> Party {
        self.party
    }

    /// The key that the peer has proved; none on a channel without keys. Pools and prepared runs are bound to it.
    pub fn peer_key(&self) -> Option<PublicKey> {
        self.wire.channel.peer_key()
    }

    /// The keys by which the parties know one another, Alice's first.
    fn keys(&self) -> Option<[PublicKey; 2]> {
        let [ours, peers] = self.wire.channel.keys()?;
        Some(if self.party == Party::Alice { [ours, peers] } else { [peers, ours] })
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

    /// Sets who sees the progress of what the session does from now on. On [`ControlFlow::Break`] that ends with
    /// [`Error::Cancelled`], and the session with it.
    pub fn observe(&mut self, observer: impl FnMut(&Progress) -> ControlFlow<()> + Send + 'static) {
        self.wire.observer = Some(Box::new(observer));
    }

    /// From now on nobody sees the progress.
    pub fn unobserve(&mut self) {
        self.wire.observer = None;
    }

    /// A handle that ends what the session does, from any thread: that is [`Error::Cancelled`] within a tenth of a second
    /// while this party waits, or after the tile that it computes, and ends the session. It is the channel's.
    pub fn canceller(&self) -> Canceller {
        self.wire.channel.canceller()
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
