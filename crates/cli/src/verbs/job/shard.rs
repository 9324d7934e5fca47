//! One attempt at a shard: its rows of the inputs, a session with the other party's worker, its outputs on the disk.

use super::order::Work;
use super::parts::{self, From};
use super::{settings, state};
use crate::args::Source;
use crate::failure::{Exit, Failure};
use crate::io::input;
use crate::peer::shaped;
use duologue::channel::{Canceller, Channel, Identity, Listener, PublicKey, Security};
use duologue::job::control::{Attempt, Costs};
use duologue::job::{Part, Plan, Shard};
use duologue::{Inputs, Party, Session, hex};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
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
    /// The other worker, once it is known.
    pub started: Receiver<Partner>,
}

/// The job of a worker.
pub struct Shards {
    pub work: Work,
    plan: Plan,
    party: Party,
    job: [u8; 32],
}

impl Shards {
    /// Reads the plan; it must be the driver's.
    pub fn new(work: Work) -> Result<Shards, Failure> {
        let plan = state::read_plan(&work.state)?;
        if hex(&plan.digest()) != work.plan {
            let why = format!("{} has another plan than the driver", work.state.display());
            return Err(Failure::new(Exit::Incompatible, why));
        }
        let job =
            state::number(&work.job).ok_or_else(|| Failure::malformed("the driver's message", "the job's number"))?;
        Ok(Shards { party: settings::party(&work.party)?, plan, job, work })
    }

    /// Computes a shard with the worker that the driver names.
    pub fn compute(&self, task: Task) -> Result<Costs, Failure> {
        let shard = self.plan.shard(task.attempt.shard)?;
        let inputs = self.inputs(&shard)?;
        let attempt = task.attempt;
        let (channel, start) = self.meet(task)?;
        let calls = apps::calls();
        let mut session = Session::connect(channel, self.party)?;
        session.register_all(&calls);
        session.set_threads(self.work.settings.threads.into());
        session.set_part(Part::of_shard(self.job, attempt.shard, attempt.number));
        let (binding, options) = self.work.settings.choose(&mut session, &shard.binding, &calls)?;
        let outcome = session.run(&binding, &options, &inputs)?;
        let moved = session.counters();
        session.close()?;
        parts::write(&self.work.state, &self.plan, From::Shard(attempt), &outcome.outputs)?;
        let (sent, received) = (moved.wire_sent, moved.wire_received);
        Ok(Costs { micros: start.elapsed().as_micros() as u64, sent, received })
    }

    /// The rows of this party's inputs that a shard takes.
    fn inputs(&self, shard: &Shard) -> Result<Inputs, Failure> {
        let sources = self.work.inputs.iter().cloned().map(|(name, value)| Source { name, value });
        let rows = |name: &str| {
            let input = shard.inputs.iter().find(|input| input.name == name)?;
            Some(input.rows.clone())
        };
        let given = input::read_rows(self.plan.program(), self.party, &sources.collect::<Vec<_>>(), &rows)?;
        input::complete(&shard.binding, self.party, given)
    }

    /// Meets the other worker, when the driver has named it, and tells when that was.
    fn meet(&self, task: Task) -> Result<(Channel, Instant), Failure> {
        let Task { identity, listener, canceller, started, .. } = task;
        let Partner { key, address } = started.recv().map_err(|_| Failure::from(duologue::Error::Cancelled))?;
        let (security, start) = (Security::Tls { identity, peer: key }, Instant::now());
        let limits = self.work.settings.limits();
        let channel = match listener {
            Some(mut listener) => listener.accept_with(&security, &limits, &canceller)?,
            None => Channel::connect_with(&address, &security, &limits, &canceller)?,
        };
        Ok((shaped(channel, self.work.settings.link()?)?, start))
    }
}
