//! Sessions: two parties, one channel, many programs. [`Session`] has the examples.

mod basics;
mod call;
mod choose;
mod correlate;
mod feeds;
pub(crate) mod fields;
mod hello;
mod outcome;
#[cfg_attr(not(feature = "disk"), path = "no_pool.rs")]
mod pool;
mod precomputation;
#[cfg(feature = "disk")]
mod prepared;
mod probe;
mod program;
mod random;
#[cfg(test)]
mod tests;
mod wire;

use crate::agreement::PROGRAM;
use crate::call::Calls;
use crate::channel::PublicKey;
use crate::correlation::Stock;
use crate::executor::PlanCache;
use crate::job::Part;
use crate::protocol::Base;
use crate::protocol::terms::{Options, Terms};
use crate::{Error, Party, Result};
use circuit::Schedule;
use circuit::program::Apart;
use circuit::program::Binding;
use kernels::Block;
use kernels::generator::Generator;
use std::fmt;
use std::sync::{Arc, Weak};
use wire::Wire;

#[doc(hidden)]
pub use crate::agreement::compare;
pub use call::CallArg;
pub use choose::{Basis, Ranking};
pub(crate) use correlate::block_of;
pub use hello::VERSION;
#[doc(hidden)]
pub use hello::{DOCTOR, MAGIC, check_hello};
pub use outcome::{Outcome, PhaseReport, Prepared, Progress, Report, Unit};
pub use precomputation::Precomputation;
pub(crate) use probe::blocks_per_second;
#[doc(hidden)]
pub use probe::measure;
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
    /// The part of a job that it computes, if it does.
    part: Option<Part>,
    /// The parties' keys for which those of the channel stand, Alice's first.
    parties: Option<[PublicKey; 2]>,
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
    /// The schedule of the first program, if it was made before the peer came.
    first: Option<(Asked, Terms, Arc<Schedule>)>,
    /// What was chosen just now, whose terms both parties know, and what choosing it took.
    foreseen: Option<(Asked, PhaseReport)>,
    /// The last schedule, as long as a prepared program has it: many of one program share their plans.
    last: Option<(Asked, Terms, Weak<Schedule>)>,
    plans: PlanCache,
    calls: Calls,
    /// Where the programs of the last call differ first.
    apart: Option<Apart>,
    dead: Option<String>,
}

/// The digest of a program, its sizes, and options: a schedule depends on nothing else.
type Asked = ([u8; 32], Vec<u64>, Options);

fn asked(binding: &Binding, options: &Options) -> Result<Asked> {
    Ok((binding.digest()?, binding.sizes().to_vec(), *options))
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Session");
        shown.field("party", &self.party).field("peer_key", &self.peer_key()).field("dead", &self.dead);
        shown.finish_non_exhaustive()
    }
}

impl Session {
    /// As many threads as were asked for.
    fn threads(&mut self) -> Result<crate::threads::Threads> {
        self.wire.threads()
    }

    fn alive(&self) -> Result<()> {
        self.dead.clone().map_or(Ok(()), |why| Err(Error::Dead(why)))
    }

    /// Runs `work`; any error except [`Error::Incompatible`] ends the session. Until
    /// it is done the session counts as dead, so that a panic in a caller's observer leaves none that looks alive.
    fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.alive()?;
        self.dead = Some("a run was interrupted".into());
        (self.apart, self.wire.awaited.outline) = (None, None);
        let result = work(self);
        match &result {
            Ok(_) => self.dead = None,
            // Where terms were awaited, what follows them is already under way.
            Err(Error::Incompatible { .. }) if !self.wire.awaited.overtook => self.dead = None,
            Err(error) => self.destroy(error),
        }
        result
    }

    /// The same for a program: where the peer's is another one, both hear where they differ first, if both tell it.
    fn guarded_for<T>(&mut self, binding: &Binding, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.guarded(work).map_err(|error| self.explained(binding, error))
    }

    fn explained(&mut self, binding: &Binding, error: Error) -> Error {
        let outlines = binding.outline().ok().flatten().zip(self.wire.awaited.outline.take());
        match (error, outlines) {
            (Error::Incompatible { what: PROGRAM, ours, theirs, .. }, Some((mine, its))) => {
                self.apart = binding.program().apart(mine, &its);
                let place = self.apart.as_ref().map(Apart::to_string);
                Error::Incompatible { what: PROGRAM, ours, theirs, place }
            }
            (error, _) => error,
        }
    }

    /// Where the peer's program first differs from this party's, after a call that ended in [`Error::Incompatible`] for that, if
    /// the programs of both parties were [told](Binding::told).
    pub fn apart(&self) -> Option<&Apart> {
        self.apart.as_ref()
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
        self.wire.channel.abort_after(error);
    }
}

/// A generator that nothing is drawn from.
fn nobody() -> Generator {
    Generator::from_seed(Block::ZERO)
}
