//! `duologue job drive`: one party's side of a job, from its plan to its outputs.

use super::driver::Driver;
use super::meeting::{Meeting, Met};
use super::merge::{self, Merge, Targets};
use super::order::Work;
use super::parts::{self, From};
use super::plan;
use super::report::{JobReport, LastReport};
use super::settings::Settings;
use super::stamps::{self, Stamp};
use super::state::{self, State, Whose};
use crate::args::JobDrive;
use crate::config::{Config, PeerName};
use crate::failure::Failure;
use crate::interrupt;
use crate::io::consent::{Given, Proposal};
use crate::io::console::Console;
use crate::io::input::{self, ALL};
use crate::io::sizes;
use crate::program;
use duologue::channel::Channel;
use duologue::circuit::{Binding, Program};
use duologue::job::control::{Attempt, Hello, MOST_BODY, Machine, Mail};
use duologue::job::{Last, Part as JobPart, Plan};
use duologue::{Inputs, Session, hex};
use std::env;
use std::path::Path;
use std::time::{Duration, Instant};

pub fn run(args: &JobDrive, config: &Config, console: &Console) -> Result<(), Failure> {
    let (plan, counts) = load(args)?;
    let whole = merge::whole(&plan)?;
    // Each input of ours is there, with as many rows as the plan says.
    input::check_lanes(&whole, args.parties.party, |name| lanes(&counts, name))?;
    let targets = Targets::new(&whole, args.parties.party, &args.output)?;
    targets.spare(&args.input)?;
    let meeting = Meeting::new(&args.parties, config, console)?;
    consent(args, config, &whole, &meeting, console)?;
    let stamps = stamps::all(plan.program(), args.parties.party, &args.input)?;
    let mut state = state(args, &plan, &stamps, console)?;
    let job = Job { args, plan: &plan, settings: Settings::new(args), meeting, stamps };
    let start = Instant::now();
    let channel = job.shards(config, &mut state)?;
    let last = job.last(channel, &mut state)?;
    interrupt::settle()?;
    let merge = || Merge::new(state.parts(&plan)?, &state.kept).write(&targets);
    let merged = if args.no_merge { None } else { Some(merge().map_err(|why| later(why, &args.state))?) };
    if merged.is_some() {
        state.merged(&plan)?;
    }
    JobReport::new(&plan, args.parties.party, &state.kept, last, start.elapsed(), merged)?.show(console)
}

/// What was computed is kept, wherever it could not be written.
fn later(failure: Failure, state: &Path) -> Failure {
    failure.hint(format!("the job is done: `duologue job merge {}` writes its outputs", state.display()))
}

/// The lanes of inputs, by their names.
type Counts = Vec<(String, u64)>;

/// The plan that is named, or that of the program that is named; and how many lanes there are for each input of ours.
fn load(args: &JobDrive) -> Result<(Plan, Counts), Failure> {
    if args.input.iter().any(|source| source.value == "-" || source.value.starts_with("-:")) {
        let why = "standard input has no rows that workers could read: write it to a file";
        return Err(Failure::input(why));
    }
    let count = |program: &Program| input::count(program, args.parties.party, &args.input);
    if plan::is_file(&args.program) {
        let plan = plan::load(&args.program, &args.cut, &args.size)?;
        let counts = count(plan.program())?;
        return Ok((plan, counts));
    }
    let program = program::load(&args.program, &[])?;
    let counts = count(&program)?;
    let plan = plan::cut(&program, &args.cut, &sizes::all(&program, &args.size, |name| lanes(&counts, name))?)?;
    Ok((plan, counts))
}

fn lanes(counts: &Counts, input: &str) -> Option<u64> {
    counts.iter().find(|(known, _)| known == input).map(|(_, count)| *count)
}

fn consent(
    args: &JobDrive,
    config: &Config,
    whole: &Binding,
    meeting: &Meeting<'_>,
    console: &Console,
) -> Result<(), Failure> {
    let proposal = Proposal {
        binding: whole,
        digest: hex(&whole.program().digest()?),
        party: args.parties.party,
        protocol: format!("{}, by shards", args.settings.protocol),
        peer: Some(meeting.peers.to_string()),
        peer_name: config.name_of(&meeting.peers).map(PeerName::to_string),
    };
    let given = match &args.expect_digest {
        Some(digest) => Given::Digest(digest),
        None if args.yes => Given::Yes,
        None => Given::Ask,
    };
    proposal.obtain(&given, console)
}

fn state(args: &JobDrive, plan: &Plan, inputs: &[Stamp], console: &Console) -> Result<State, Failure> {
    let whose = Whose { party: args.parties.party, plan, inputs };
    if args.resume && state::is_begun(&args.state) {
        return State::open(&args.state, &whose);
    }
    let state = State::create(&args.state, &whose)?;
    if args.resume {
        console.note(format!("{} has no job that could go on: a new one begins there", args.state.display()));
    }
    Ok(state)
}

/// A job and what both of its phases need.
struct Job<'a> {
    args: &'a JobDrive,
    plan: &'a Plan,
    settings: Settings,
    meeting: Meeting<'a>,
    stamps: Vec<Stamp>,
}

impl Job<'_> {
    /// Has workers compute all shards. The channel between the drivers.
    fn shards(&self, config: &Config, state: &mut State) -> Result<Channel, Failure> {
        let (args, meeting, canceller) = (self.args, &self.meeting, interrupt::canceller()?);
        let (limits, key) = (self.settings.limits(), meeting.worker_key(state.folder())?);
        let Met { reception, mut channel, workers } = meeting.meet(&key, limits, config, &canceller)?;
        let mut hello = Hello::new(args.parties.party, self.plan, self.settings.fields())?;
        (hello.job, hello.shards) = (state.kept.job, state.progress(self.plan));
        let mut agreed = hello.exchange(&mut channel).map_err(|why| reception.cause(why))?;
        state.keep(&agreed)?;
        agreed.take_shards(self.plan);
        Driver {
            party: args.parties.party,
            machine: Machine::new(args.parties.party, &agreed, Duration::from_secs(self.settings.deadline))
                .patient(limits.silence),
            peer: Mail::new(channel, 2, MOST_BODY, limits.silence),
            peer_key: meeting.peers,
            work: self.work(agreed.job, state)?,
            log: state,
            local: meeting.start_workers(&reception, &key)?,
            reception,
            silence: limits.silence,
            wait: Duration::from_secs(args.parties.wait),
            canceller,
            console: meeting.console,
            workers,
            once: false,
        }
        .run()
    }

    fn work(&self, job: [u8; 32], state: &State) -> Result<Work, Failure> {
        let here = env::current_dir().map_err(Failure::io("finding the folder of the inputs"))?;
        let sources = self.args.input.iter().map(|source| (source.name.clone(), source.value.clone()));
        Ok(Work {
            party: self.args.parties.party.to_string(),
            job: hex(&job),
            plan: Some(hex(&self.plan.digest())),
            state: std::path::absolute(state.folder()).map_err(Failure::io("finding the folder of the job"))?,
            folder: here,
            inputs: sources.collect(),
            stamps: self.stamps.clone(),
            listens: self.args.parties.connect.is_none(),
            settings: self.settings.clone(),
        })
    }

    /// Runs the last program with the other driver, unless there is none or both have its outputs, and ends.
    fn last(&self, mut channel: Channel, state: &mut State) -> Result<Option<LastReport>, Failure> {
        let Some(last) = self.plan.last().filter(|_| state.kept.last.finished.is_none()) else {
            channel.finish()?;
            return Ok(None);
        };
        let inputs = self.last_inputs(last, state)?;
        let attempt = state.begin_last()?;
        let calls = apps::calls();
        let mut session = Session::connect(channel, self.args.parties.party)?;
        session.register_all(&calls);
        session.set_threads(self.settings.threads.into());
        session.set_part(JobPart::last(state.parts(self.plan)?.job, attempt));
        let choice = self.settings.choose(&mut session, &last.binding, &calls)?;
        let outcome = session.run(&choice.binding, &choice.options, &inputs)?;
        let conditions = session.conditions();
        // On the disk of both before either goes on: a party that closes hears that the other one closes too.
        state.parts(self.plan)?.write(From::Last(attempt), &outcome.outputs)?;
        state.finish_last()?;
        session.close()?;
        Ok(Some(LastReport::new(&outcome.report, choice.predicted(conditions))))
    }

    /// What the last program takes: whole inputs, and the shares of all shards.
    fn last_inputs(&self, last: &Last, state: &State) -> Result<Inputs, Failure> {
        let wanted = |name: &str| last.inputs.iter().any(|input| input.name == name).then_some(ALL);
        let (program, party, sources) = (self.plan.program(), self.args.parties.party, &self.args.input);
        let given = input::read_rows(program, party, sources, &wanted)?;
        stamps::check_unchanged(&self.stamps, &stamps::all(program, party, sources)?)?;
        let mut inputs = Inputs::new();
        given.into_iter().for_each(|given| inputs.set(&given.name, given.value));
        let kept = state.parts(self.plan)?;
        for share in &last.shares {
            let width = last.binding.input(&share.name).map_or(0, |port| port.ty.width);
            let parts = (0..self.plan.shards()).filter(|shard| !share.rows(*shard).is_empty()).map(|shard| {
                let rows = share.rows(shard);
                let number = state.kept.shards[shard as usize].finished.unwrap_or_default();
                kept.open(From::Shard(Attempt { shard, number }), &share.name, width, rows.end - rows.start)
            });
            inputs.set(&share.name, parts::read(parts.collect::<Result<_, _>>()?, width)?);
        }
        Ok(inputs)
    }
}
