//! What every session does: it connects, runs programs, and ends.

use super::feeds::digest;
use super::fields::Moment;
use super::hello::{Hello, greet};
use super::outcome::Mark;
use super::program::Job;
use super::wire::Wire;
use super::{Outcome, PhaseReport, Precomputation, Prepared, Progress, Report, Session, call, fields};
use crate::call::Calls;
use crate::channel::{Canceller, Channel, Counters, PublicKey};
use crate::conditions::Conditions;
use crate::correlation::{Demand, MakerTerm, Stock};
use crate::data::{Inputs, Outputs};
use crate::executor::{Feeds, PlanCache};
use crate::job::Part;
use crate::ot::{Based, Extension};
use crate::protocol::Base;
use crate::protocol::terms::{Options, Terms};
use crate::threads::{self, Threads};
use crate::{Error, Party, Result};
use circuit::program::{Binding, Owner, Schedule};
use kernels::Block;
use kernels::generator::Generator;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;
use zeroize::Zeroizing;

impl Session {
    /// Greets the peer; both must speak the same version and be different parties.
    pub fn connect(channel: Channel, party: Party) -> Result<Session> {
        Session::with(channel, party, crate::ot::os_generator()?)
    }

    /// As [`connect`](Self::connect), with what was computed before the peer came.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    pub fn connect_with(channel: Channel, party: Party, precomputation: Precomputation) -> Result<Session> {
        Session::begin(channel, party, precomputation)
    }

    /// Greets the peer with a given source of secrets: nothing of a session is drawn from anywhere else.
    pub(crate) fn with(channel: Channel, party: Party, secrets: Generator) -> Result<Session> {
        Session::begin(channel, party, Precomputation::of(secrets))
    }

    fn begin(mut channel: Channel, party: Party, precomputation: Precomputation) -> Result<Session> {
        let Precomputation { secrets, mut correlating, program } = precomputation;
        let hello = Hello::new(party, &secrets);
        let ours = hello.bytes.clone();
        let greeted = greet(&mut channel, &ours, || correlating.compute());
        let met = greeted.and_then(|(theirs, turn)| Ok((hello.key(&theirs)?, theirs, turn)));
        let (key, theirs, turn) = met.inspect_err(|error| channel.abort_after(error))?;
        let (alice, bob) = if party == Party::Alice { (&ours, &theirs) } else { (&theirs, &ours) };
        let derive = |what: &str, key: &[u8]| {
            *blake3::Hasher::new_derive_key(what).update(alice).update(bob).update(key).finalize().as_bytes()
        };
        let id = derive("duologue v1 session id", &[]);
        let pairwise = derive("duologue v1 shared generator", &key);
        let pairwise = Block::from_bytes(pairwise[..16].try_into().expect("16 bytes"));
        let delta = correlating.secrets.derive(b"delta   ", 0).block().with_lsb(true);
        Ok(Session {
            party,
            id,
            part: None,
            parties: None,
            secrets,
            pairwise: Generator::from_seed(pairwise),
            stock: Stock::new(party),
            wire: Wire {
                channel,
                party,
                id,
                correlating: Some(correlating),
                based: Based::default(),
                maker: None,
                pool: None,
                delta: Some(Zeroizing::new(delta)),
                term: MakerTerm::new(None),
                planned: Demand::NONE,
                chosen: None,
                conditions: None,
                awaited: Default::default(),
                hello: turn,
                turn: Duration::ZERO,
                threads: 1,
                started: Threads::default(),
                observer: None,
                buffers: Default::default(),
            },
            base: Base::default(),
            ordinal: 0,
            programs: 0,
            first: program,
            foreseen: None,
            last: None,
            plans: PlanCache::default(),
            calls: Calls::new(),
            apart: None,
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
        let asked = super::asked(binding, options)?;
        let choice = self.foreseen.take().filter(|(foreseen, _)| *foreseen == asked);
        let (engine, ordinal) = self.guarded_for(binding, |session| {
            if choice.is_some() {
                session.wire.agree_later(fields)?
            } else {
                session.wire.agree(&fields::outlined(fields, binding)?)?
            }
            session.wire.term = terms.maker();
            let taken = session.reserve(&job.schedule);
            let mut engine = session.engine(&job, taken)?;
            session.wire.plan(engine.demand(), &session.stock);
            engine.setup(&mut session.stock, &mut session.wire)?;
            session.wire.settle()?;
            Ok((engine, taken.1))
        })?;
        let Job { binding, schedule, public, .. } = job;
        let setup = start.until_now(&self.wire);
        let setup = choice.map_or(setup, |(_, took)| setup.and(took));
        let report = Report {
            terms,
            ands: schedule.totals.and0,
            tile: schedule.tile,
            demand: engine.demand(),
            maker: self.maker(),
            conditions: self.conditions(),
            setup,
            online: PhaseReport::default(),
        };
        Ok(Prepared { engine, binding, public, session: self.id, ordinal, report })
    }

    pub(super) fn resolve(&mut self, binding: &Binding, options: &Options) -> Result<(Terms, Arc<Schedule>)> {
        let asked = super::asked(binding, options)?;
        if let Some((before, terms, schedule)) = self.first.take()
            && before == asked
        {
            self.calls.check(&schedule)?;
            self.last = Some((asked, terms, Arc::downgrade(&schedule)));
            return Ok((terms, schedule));
        }
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
    pub(super) fn reserve(&mut self, schedule: &Schedule) -> (Base, u64) {
        let taken = (self.base, self.ordinal);
        self.base.add(call::numbers_of(schedule));
        self.ordinal += call::programs_of(schedule);
        self.programs += 1;
        taken
    }

    pub(super) fn moment(&self, setup_alone: bool, ordinal: u64) -> Moment {
        let (drawn, stock) = (self.stock.drawn(), self.stock.available());
        Moment { session: self.id, part: self.part, setup_alone, ordinal, drawn, stock }
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
        // Its setup may be streamed, and is then made under its own terms, whatever was prepared since.
        let term = prepared.report.terms.maker();
        self.wire.check_extension(term.extension)?;
        let feeds = self.feeds_after(&prepared, inputs)?;
        let fields = fields::online(&self.moment(false, prepared.ordinal));
        self.guarded(|session| session.wire.agree(&fields))?;
        self.wire.term = term;
        self.wire.plan(prepared.report.demand, &self.stock);
        self.finish_run(prepared, &feeds)
    }

    fn finish_run(&mut self, prepared: Prepared, feeds: &Feeds) -> Result<Outcome> {
        let Prepared { engine, binding, mut report, .. } = prepared;
        let start = Mark::new(&self.wire);
        let ran = self.guarded(|session| engine.online(feeds, &mut session.stock, &mut session.wire))?;
        report.online = start.until_now(&self.wire);
        report.online.time = report.online.time.saturating_sub(ran.streamed_setup);
        report.setup.time += ran.streamed_setup;
        (report.maker, report.conditions) = (self.maker(), self.conditions());
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
    pub(super) fn keys(&self) -> Option<[PublicKey; 2]> {
        let [ours, peers] = self.wire.channel.keys()?;
        let proved = if self.party == Party::Alice { [ours, peers] } else { [peers, ours] };
        Some(self.parties.unwrap_or(proved))
    }

    /// The maker of this session's correlations that was chosen or used; it is final once there are base OTs. None before.
    pub fn maker(&self) -> Option<Extension> {
        self.wire.chosen.map(|chosen| chosen.extension)
    }

    /// The same, or that of the pool, by which this session makes whatever the pool has not.
    #[doc(hidden)]
    pub fn maker_or_pools(&self) -> Option<Extension> {
        self.wire.maker_of_pool().or(self.maker())
    }

    /// The conditions for which the maker was chosen, measured or assumed; none where it was named, is a pool's, or where
    /// the demand alone decided.
    pub fn conditions(&self) -> Option<Conditions> {
        self.wire.chosen.and_then(|chosen| chosen.conditions)
    }

    /// Bytes and rounds of the channel so far.
    pub fn counters(&self) -> Counters {
        self.wire.channel.counters()
    }

    /// The correlations drawn so far.
    pub fn drawn(&self) -> Demand {
        self.stock.drawn()
    }

    /// Says which part of a job this session computes, from the next call on. The parties compare it before anything else: a
    /// worker that was led to the wrong one hears which, instead of computing on lanes that do not belong together.
    ///
    /// ```
    /// # use duologue::circuit::{Party, Program, uint};
    /// # use duologue::{Error, Inputs, Options, Scheme, Session, channel::Channel, data};
    /// use duologue::job::Part;
    /// # let mut p = Program::new("hers");
    /// # let x = p.input("x", Party::Alice, uint(8), 1);
    /// # p.output("x", Party::Bob, x);
    /// # let binding = p.bind(&[])?;
    /// # let act = |channel, party: Party, shard| -> duologue::Result<()> {
    /// # let inputs = if party == Party::Alice { Inputs::new().with("x", data::uints(8, &[1])?) } else { Inputs::new() };
    /// let mut session = Session::connect(channel, party)?;
    /// session.set_part(Part::of_shard([7; 32], shard, 1));
    /// session.run(&binding, &Options::new(Scheme::Gmw), &inputs)?; // Error::Incompatible on both sides
    /// # Ok(()) };
    /// # let (to_bob, to_alice) = Channel::pair();
    /// # let both = std::thread::scope(|scope| {
    /// #     let bob = scope.spawn(|| act(to_alice, Party::Bob, 3));
    /// #     [act(to_bob, Party::Alice, 2), bob.join().unwrap()]
    /// # });
    /// # assert!(both.iter().all(|result| matches!(result, Err(Error::Incompatible { what: "which part of which job", .. }))));
    /// # Ok::<(), duologue::Error>(())
    /// ```
    pub fn set_part(&mut self, part: Part) {
        self.part = Some(part);
    }

    /// Says for which parties' keys, Alice's first, those stand that the channel's ends have proved to one another: a worker of a job
    /// has a key for one attempt, and its driver, which has met the other party's by the parties' keys, vouches for both workers'.
    /// Folders of pools and prepared runs are bound to the parties' keys from then on. Without keys of its own a channel stands for
    /// nobody's.
    #[doc(hidden)]
    pub fn set_keys_of_parties(&mut self, keys: [PublicKey; 2]) {
        self.parties = Some(keys);
    }

    /// Sets how many threads of this party share its work, from the next program or correlations on; at least one. The
    /// peer need not know: what is sent does not depend on it.
    ///
    /// With more than one, programs run and correlations are made on threads of the session's own, and the observer is
    /// called there. A maker of silent OT keeps the threads with which it began, at the session's first correlations. In
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
}
