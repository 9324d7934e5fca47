//! One attempt at a shard: its rows of the inputs, a session with the other party's worker, its outputs on the disk. Or a pool for the next
//! attempt at it.

use super::order::{PoolUse, Work};
use super::parts::{From, Parts};
use super::pools::Pools;
use super::{settings, stamps, state};
use crate::args::Source;
use crate::failure::{Exit, Failure};
use crate::io::input;
use crate::peer::shaped;
use duologue::call::Calls;
use duologue::channel::{Canceller, Channel, Identity, Listener, PublicKey, Security};
use duologue::circuit::Binding;
use duologue::correlation::pool::Pool;
use duologue::cost::choice::Choices;
use duologue::job::control::{Attempt, Costs};
use duologue::job::{Part, Plan, Shard};
use duologue::{Inputs, Party, Session, hex};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The worker to meet.
pub struct Partner {
    pub key: PublicKey,
    /// Where it listens, if it does.
    pub address: String,
}

/// What an attempt needs.
pub struct Task {
    pub attempt: Attempt,
    pub pool: PoolUse,
    pub identity: Arc<Identity>,
    /// If this side listens.
    pub listener: Option<Listener>,
    pub canceller: Canceller,
    /// Told when the inputs are there.
    pub loaded: Sender<()>,
    /// The other worker, once it is known.
    pub started: Receiver<Partner>,
}

/// The job of a worker.
pub struct Shards {
    pub work: Work,
    party: Party,
    /// What there is to compute, if there is.
    job: Option<Job>,
    /// The digest and the sizes of the program that was drafted last, and its candidates.
    drafted: Mutex<Option<Drafted>>,
}

type Drafted = (([u8; 32], Vec<u64>), Arc<Choices>);

/// The plan and the number of a job, and the keys of the parties, Alice's first.
struct Job {
    plan: Plan,
    number: [u8; 32],
    parties: [PublicKey; 2],
    pools: Pools,
}

impl Job {
    fn part(&self, Attempt { shard, number }: Attempt) -> Part {
        Part::of_shard(self.number, shard, number)
    }

    /// The pool that an attempt has made, for the one that comes next.
    fn pool(&self, made: Attempt, next: Attempt) -> Result<Pool, Failure> {
        let pool = self.pools.open(made)?;
        pool.check(self.parties, self.part(next))?;
        Ok(pool)
    }
}

/// How many round trips are measured; the fastest counts.
const ROUND_TRIPS: usize = 5;

impl Shards {
    /// Reads the plan; it must be the driver's.
    pub fn new(work: Work) -> Result<Shards, Failure> {
        let party = settings::party(&work.party)?;
        let (Some(digest), Some([alice, bob])) = (&work.plan, &work.parties) else {
            return Ok(Shards { work, party, job: None, drafted: Mutex::default() });
        };
        let plan = state::read_plan(&work.state)?;
        if hex(&plan.digest()) != *digest {
            let why = format!("{} has another plan than the driver", work.state.display());
            return Err(Failure::new(Exit::Incompatible, why));
        }
        let number =
            state::number(&work.job).ok_or_else(|| Failure::malformed("the driver's message", "the job's number"))?;
        let job =
            Job { plan, number, parties: [alice.parse()?, bob.parse()?], pools: Pools::new(&work.state, &number) };
        Ok(Shards { work, party, job: Some(job), drafted: Mutex::default() })
    }

    /// Does with the worker that the driver names what the job is.
    pub fn work(&self, task: Task) -> Result<Costs, Failure> {
        match &self.job {
            Some(job) if task.pool == PoolUse::Make => self.make_pool(job, task),
            Some(job) => self.compute(job, task),
            None => self.look(task),
        }
    }

    /// Measures the route to the other worker. The side that connects tells the time.
    fn look(&self, task: Task) -> Result<Costs, Failure> {
        let (mut channel, _) = self.meet(task)?;
        let mut least = None;
        for _ in 0..ROUND_TRIPS {
            let sent = Instant::now();
            if self.work.listens {
                channel.recv(1)?;
                channel.send(&[0])?;
                channel.flush()?;
            } else {
                channel.send(&[0])?;
                channel.recv(1)?;
                least = least.into_iter().chain([sent.elapsed()]).min();
            }
        }
        channel.finish()?;
        Ok(Costs { micros: least.map_or(0, |time| time.as_micros().max(1) as u64), ..Costs::default() })
    }

    /// Computes a shard. The pool that it takes from is erased, however that ends.
    fn compute(&self, job: &Job, task: Task) -> Result<Costs, Failure> {
        let Attempt { shard, .. } = task.attempt;
        let made = if let PoolUse::Take(number) = task.pool { Some(Attempt { shard, number }) } else { None };
        let costs = self.compute_with(job, task, made);
        // What a process that holds it keeps from being erased is left to the driver.
        let _ = made.map(|made| job.pools.erase(made));
        costs
    }

    /// Computes a shard with the pool that this attempt has made.
    fn compute_with(&self, job: &Job, task: Task, made: Option<Attempt>) -> Result<Costs, Failure> {
        let shard = job.plan.shard(task.attempt.shard)?;
        let inputs = self.inputs(&job.plan, &shard)?;
        let attempt = task.attempt;
        // Before the workers meet: what is wrong with it is known here alone.
        let pool = made.map(|made| job.pool(made, attempt)).transpose().map_err(unusable)?;
        let calls = apps::calls();
        let choices = self.choices(&shard.binding, &calls)?;
        let (channel, start) = self.meet(task)?;
        let mut session = self.session(job, attempt, channel)?;
        session.register_all(&calls);
        if let Some(pool) = pool {
            session.use_pool(pool)?;
        }
        let choice = self.work.settings.choose(&mut session, &shard.binding, choices.as_deref())?;
        // Inputs are read: a file that is not what it should be is one of the pool's.
        let of_pool = |failure: Failure| if failure.exit == Exit::Malformed { unusable(failure) } else { failure };
        let outcome = session.run(&choice.binding, &choice.options, &inputs).map_err(|why| of_pool(why.into()))?;
        let conditions = session.conditions();
        let costs = ended(session, start)?;
        let parts = Parts { folder: &self.work.state, plan: &job.plan, job: job.number };
        parts.write(From::Shard(attempt), &outcome.outputs)?;
        let micros = start.elapsed().as_micros() as u64;
        let predicted = choice.predicted(conditions.or_else(|| self.work.settings.simulated()));
        Ok(Costs { micros, predicted: predicted.map(|time| time.as_micros() as u64), ..costs })
    }

    /// What the session of a shard chooses among, if it does: most shards have the program and the sizes of the one before.
    fn choices(&self, binding: &Binding, calls: &Calls) -> Result<Option<Arc<Choices>>, Failure> {
        if !self.work.settings.chooses()? {
            return Ok(None);
        }
        let known = (binding.program().digest()?, binding.sizes().to_vec());
        let mut drafted = self.drafted.lock().unwrap_or_else(PoisonError::into_inner);
        if drafted.as_ref().is_none_or(|(of, _)| *of != known) {
            let choices = self.work.settings.choices(binding, calls)?;
            *drafted = choices.map(|choices| (known, Arc::new(choices)));
        }
        Ok(drafted.as_ref().map(|(_, choices)| choices.clone()))
    }

    /// Makes a pool for the next attempt at a shard, with as much in it as that will draw. One that is not whole is erased.
    fn make_pool(&self, job: &Job, task: Task) -> Result<Costs, Failure> {
        let attempt = task.attempt;
        let demand = self.work.settings.demand(&job.plan.shard(attempt.shard)?.binding)?;
        let (channel, start) = self.meet(task)?;
        let made = self.session(job, attempt, channel).and_then(|mut session| {
            self.work.settings.make_pool(&mut session, &job.pools.path(attempt), demand)?;
            ended(session, start)
        });
        if made.is_err() {
            let _ = job.pools.erase(attempt);
        }
        made
    }

    /// A session of an attempt.
    fn session(&self, job: &Job, attempt: Attempt, channel: Channel) -> Result<Session, Failure> {
        let mut session = Session::connect(channel, self.party)?;
        session.set_threads(self.work.settings.threads.into());
        session.set_part(job.part(attempt));
        session.set_keys_of_parties(job.parties);
        Ok(session)
    }

    /// The rows of this party's inputs that a shard takes.
    fn inputs(&self, plan: &Plan, shard: &Shard) -> Result<Inputs, Failure> {
        let sources = self.work.inputs.iter().cloned().map(|(name, value)| Source { name, value });
        let sources: Vec<Source> = sources.collect();
        let rows = |name: &str| {
            let input = shard.inputs.iter().find(|input| input.name == name)?;
            Some(input.rows.clone())
        };
        let given = input::read_rows(plan.program(), self.party, &sources, &rows)?;
        // After they were read: what changes meanwhile is noticed too.
        stamps::check_unchanged(&self.work.stamps, &stamps::all(plan.program(), self.party, &sources)?)?;
        input::complete(&shard.binding, self.party, given)
    }

    /// Meets the other worker, when the driver has named it, and tells when that was.
    fn meet(&self, task: Task) -> Result<(Channel, Instant), Failure> {
        let Task { identity, listener, canceller, started, loaded, .. } = task;
        // A worker that is gone does not meet.
        let _ = loaded.send(());
        let Partner { key, address } = started.recv().map_err(|_| Failure::from(duologue::Error::Cancelled))?;
        let (security, start) = (Security::Tls { identity, peer: key }, Instant::now());
        let limits = self.work.settings.limits();
        let channel = match listener {
            Some(mut listener) => listener.accept_with(&security, &limits, &canceller),
            None => Channel::connect_with(&address, &security, &limits, &canceller),
        };
        let channel = channel.map_err(not_met)?;
        Ok((shaped(channel, self.work.settings.link()?)?, start))
    }
}

/// Ends a session in good order: its bytes, and the time since the workers met.
fn ended(session: Session, start: Instant) -> Result<Costs, Failure> {
    let moved = session.counters();
    session.close()?;
    let (sent, received) = (moved.wire_sent, moved.wire_received);
    Ok(Costs { micros: start.elapsed().as_micros() as u64, sent, received, predicted: None })
}

/// A pool that cannot be used costs an attempt, and nobody's machine is to blame: the next one makes correlations of its own.
fn unusable(failure: Failure) -> Failure {
    Failure { exit: Exit::Gone, ..failure }
}

/// Whoever came or was there in place of the other worker is not the other party, so it is not the other party that misbehaves or
/// disagrees: the workers did not meet, and may in another attempt.
fn not_met(why: duologue::Error) -> Failure {
    Failure { exit: Exit::Gone, ..Failure::from(why) }
}
