//! The shards of a job: a driver meets the other party's, and has its workers compute them or make pools for them.

use super::driver::{Driver, Log};
use super::meeting::{Meeting, Met, Parting};
use super::order::Work;
use super::parts::{From, Parts};
use super::plan;
use super::pools::{self, Pools};
use super::settings::Settings;
use super::stamps::Stamp;
use super::state::{self, Found, State, Whose};
use crate::args::{JobTask, Source};
use crate::config::Config;
use crate::failure::Failure;
use crate::interrupt;
use crate::io::console::count;
use crate::io::{input, sizes};
use crate::program;
use duologue::channel::Channel;
use duologue::circuit::Program;
use duologue::job::Plan;
use duologue::job::control::{Agreed, Attempt, Costs, Hello, MOST_BODY, Machine, Mail};
use duologue::{Party, hex};
use std::time::Duration;

/// A job as its driver has it.
pub struct Job<'a> {
    pub task: &'a JobTask,
    pub plan: &'a Plan,
    pub settings: Settings,
    pub meeting: Meeting<'a>,
    pub purpose: Purpose,
    /// The inputs of this party, and what they were when the job began; none where pools are made.
    pub sources: &'a [Source],
    pub stamps: Vec<Stamp>,
}

/// What workers do with the shards.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Compute,
    MakePools,
}

impl Purpose {
    /// What both drivers must have equal.
    fn field(self) -> (&'static str, String) {
        let value = match self {
            Purpose::Compute => "compute (job drive)",
            Purpose::MakePools => "make pools (job prepare)",
        };
        ("what workers do with the shards", value.into())
    }
}

/// The lanes of inputs, by their names.
pub type Counts = Vec<(String, u64)>;

/// The plan that is named, or that of the program that is named; and how many lanes there are for each input of ours.
pub fn load(task: &JobTask, inputs: &[Source]) -> Result<(Plan, Counts), Failure> {
    let count = |program: &Program| input::count(program, task.parties.party, inputs);
    if plan::is_file(&task.program) {
        let plan = plan::load(&task.program, &task.cut, &task.size)?;
        let counts = count(plan.program())?;
        return Ok((plan, counts));
    }
    let program = program::load(&task.program, &[])?;
    let counts = count(&program)?;
    let plan = plan::cut(&program, &task.cut, &sizes::all(&program, &task.size, |name| lanes(&counts, name))?)?;
    Ok((plan, counts))
}

pub fn lanes(counts: &Counts, input: &str) -> Option<u64> {
    counts.iter().find(|(known, _)| known == input).map(|(_, count)| *count)
}

impl Job<'_> {
    fn party(&self) -> Party {
        self.task.parties.party
    }

    fn makes_pools(&self) -> bool {
        self.purpose == Purpose::MakePools
    }

    /// The folder of the job: of one that goes on, or a new one.
    pub fn state(&self) -> Result<State, Failure> {
        let (folder, console) = (&self.task.state, self.meeting.console);
        let inputs = (self.purpose == Purpose::Compute).then_some(&self.stamps[..]);
        let whose = Whose { party: self.party(), plan: self.plan, inputs };
        // Whoever has prepared a job goes on to compute it.
        let goes_on = match state::found(folder) {
            Found::Nothing => false,
            Found::Prepared => self.task.resume || !self.makes_pools(),
            Found::Begun => self.task.resume,
        };
        if goes_on {
            return State::open(folder, &whose);
        }
        let state = State::create(folder, &whose)?;
        if self.task.resume {
            console.note(format!("{} has no job that could go on: a new one begins there", folder.display()));
        }
        Ok(state)
    }

    /// Has workers go through all shards. The channel between the drivers, and the end of the workers.
    pub fn shards(&self, config: &Config, state: &mut State) -> Result<(Channel, Parting), Failure> {
        let (parties, meeting, canceller) = (&self.task.parties, &self.meeting, interrupt::canceller()?);
        let (limits, key) = (self.settings.limits(), meeting.worker_key(state.folder())?);
        let Met { reception, channel, workers, ray } = meeting.meet(&key, limits, config, &canceller)?;
        let settings = [vec![self.purpose.field()], self.settings.fields()].concat();
        let mut hello = Hello::new(parties.party, self.plan, settings)?;
        (hello.job, hello.shards) = (state.kept.job, state.progress(self.plan));
        let (channel, mut agreed) = meeting.agree(&hello, channel, &reception, &canceller)?;
        state.keep(&agreed)?;
        agreed.take_shards(self.plan);
        self.look_at_pools(&mut agreed, state);
        let work = self.work(agreed.job, state)?;
        let (folder, job) = (state.folder().to_path_buf(), agreed.job);
        let has_outputs = |attempt| match self.purpose {
            Purpose::Compute => {
                Parts { folder: &folder, plan: self.plan, job }.are_there(parties.party, From::Shard(attempt))
            }
            Purpose::MakePools => Pools::new(&folder, &job).is_there(attempt),
        };
        let log: &mut dyn Log = if self.makes_pools() { &mut Pooling(state) } else { state };
        let driver = Driver {
            party: parties.party,
            machine: Machine::new(parties.party, &agreed, Duration::from_secs(self.settings.deadline))
                .patient(limits.silence),
            peer: Mail::new(channel, 2, MOST_BODY, limits.silence),
            peer_key: meeting.peers,
            work,
            log,
            has_outputs: &has_outputs,
            launched: meeting.start_workers(&reception, &key, ray)?,
            reception,
            silence: limits.silence,
            wait: Duration::from_secs(parties.wait),
            canceller,
            console: meeting.console,
            workers,
            makes_pools: self.makes_pools(),
            once: false,
        };
        let ended = driver.run();
        // However it ended.
        pools::note_left(state.erase_dead_pools(), meeting.console);
        ended
    }

    /// Erases the pools on which the parties do not agree, and says for how many shards there are others.
    fn look_at_pools(&self, agreed: &mut Agreed, state: &State) {
        pools::note_left(state.erase_dead_pools(), self.meeting.console);
        let there = agreed.shards.iter().filter(|shard| shard.pool.is_some()).count() as u64;
        if there > 0 {
            let (pools, shards) = (count(there, "pool"), count(self.plan.shards().into(), "shard"));
            self.meeting.console.note(format!("{pools} for {shards}: both parties have them"));
        }
        if self.makes_pools() {
            agreed.leave_pools();
        }
    }

    fn work(&self, job: [u8; 32], state: &State) -> Result<Work, Failure> {
        let sources = input::opened(self.plan.program(), self.party(), self.sources)?;
        let sources = sources.into_iter().map(|source| Ok((source.name.clone(), input::absolute(&source)?)));
        let [ours, peers] = [self.meeting.ours.public(), self.meeting.peers].map(|key| key.to_string());
        Ok(Work {
            party: self.party().to_string(),
            job: hex(&job),
            plan: Some(hex(&self.plan.digest())),
            parties: Some(if self.party() == Party::Alice { [ours, peers] } else { [peers, ours] }),
            state: std::path::absolute(state.folder()).map_err(Failure::io("finding the folder of the job"))?,
            inputs: sources.collect::<Result<_, Failure>>()?,
            stamps: self.stamps.clone(),
            listens: self.task.parties.connect.is_none(),
            settings: self.settings.clone(),
        })
    }
}

/// The folder of a job whose attempts make pools.
struct Pooling<'a>(&'a mut State);

impl Log for Pooling<'_> {
    fn begun(&mut self, attempt: Attempt) -> Result<(), Failure> {
        self.0.begun(attempt)
    }

    fn finished(&mut self, attempt: Attempt, costs: Costs) -> Result<(), Failure> {
        self.0.made_pool(attempt, costs)
    }

    fn failed(&mut self, attempt: Attempt, why: String) {
        self.0.failed(attempt, why);
    }

    fn shards(&self) -> usize {
        self.0.shards()
    }
}
