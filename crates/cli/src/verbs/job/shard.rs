//! One attempt at a shard: its rows of the inputs, a session with the other party's worker, its outputs on the disk.

use super::order::Work;
use super::parts::{From, Parts};
use super::{settings, stamps, state};
use crate::args::Source;
use crate::failure::{Exit, Failure};
use crate::io::input;
use crate::peer::shaped;
use duologue::channel::{Canceller, Channel, Identity, Listener, PublicKey, Security};
use duologue::job::control::{Attempt, Costs};
use duologue::job::{Part, Plan, Shard};
use duologue::{Inputs, Party, Session, hex};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
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
    /// The plan and the number of the job; none if there is nothing to compute.
    plan: Option<(Plan, [u8; 32])>,
}

/// How many round trips are measured; the fastest counts.
const ROUND_TRIPS: usize = 5;

impl Shards {
    /// Reads the plan; it must be the driver's.
    pub fn new(work: Work) -> Result<Shards, Failure> {
        let party = settings::party(&work.party)?;
        let Some(digest) = &work.plan else { return Ok(Shards { work, party, plan: None }) };
        let plan = state::read_plan(&work.state)?;
        if hex(&plan.digest()) != *digest {
            let why = format!("{} has another plan than the driver", work.state.display());
            return Err(Failure::new(Exit::Incompatible, why));
        }
        let job =
            state::number(&work.job).ok_or_else(|| Failure::malformed("the driver's message", "the job's number"))?;
        Ok(Shards { work, party, plan: Some((plan, job)) })
    }

    /// Does with the worker that the driver names what the job is.
    pub fn work(&self, task: Task) -> Result<Costs, Failure> {
        match &self.plan {
            Some((plan, job)) => self.compute(plan, *job, task),
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

    /// Computes a shard.
    fn compute(&self, plan: &Plan, job: [u8; 32], task: Task) -> Result<Costs, Failure> {
        let shard = plan.shard(task.attempt.shard)?;
        let inputs = self.inputs(plan, &shard)?;
        let attempt = task.attempt;
        let (channel, start) = self.meet(task)?;
        let calls = apps::calls();
        let mut session = Session::connect(channel, self.party)?;
        session.register_all(&calls);
        session.set_threads(self.work.settings.threads.into());
        session.set_part(Part::of_shard(job, attempt.shard, attempt.number));
        let choice = self.work.settings.choose(&mut session, &shard.binding, &calls)?;
        let outcome = session.run(&choice.binding, &choice.options, &inputs)?;
        let (moved, conditions) = (session.counters(), session.conditions());
        session.close()?;
        Parts { folder: &self.work.state, plan, job }.write(From::Shard(attempt), &outcome.outputs)?;
        let (sent, received, micros) = (moved.wire_sent, moved.wire_received, start.elapsed().as_micros() as u64);
        let predicted = choice.predicted(conditions.or_else(|| self.work.settings.simulated()));
        Ok(Costs { micros, sent, received, predicted: predicted.map(|time| time.as_micros() as u64) })
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

/// Whoever came or was there in place of the other worker is not the other party, so it is not the other party that misbehaves or
/// disagrees: the workers did not meet, and may in another attempt.
fn not_met(why: duologue::Error) -> Failure {
    Failure { exit: Exit::Gone, ..Failure::from(why) }
}
