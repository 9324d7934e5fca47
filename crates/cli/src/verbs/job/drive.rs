//! `duologue job drive`: one party's side of a job, from its plan to its outputs.

use super::deadline::Deadline;
use super::meeting::Meeting;
use super::merge::{self, Merge, Targets};
use super::parts::{self, From};
use super::pools;
use super::report::{JobReport, LastReport};
use super::settings::Settings;
use super::shards::{self, Job, Purpose};
use super::stamps;
use super::state::State;
use crate::args::JobDrive;
use crate::config::{Config, PeerName};
use crate::failure::Failure;
use crate::interrupt;
use crate::io::consent::{Given, Proposal};
use crate::io::console::Console;
use crate::io::input::{self, ALL};
use duologue::channel::Channel;
use duologue::circuit::Binding;
use duologue::job::control::Attempt;
use duologue::job::{Last, Part as JobPart};
use duologue::{Inputs, Session, hex};
use std::path::Path;
use std::time::{Duration, Instant};

pub fn run(args: &JobDrive, config: &Config, console: &Console) -> Result<(), Failure> {
    check_sources(args)?;
    let (task, party) = (&args.task, args.task.parties.party);
    let (plan, counts) = shards::load(task, &args.input)?;
    let whole = merge::whole(&plan)?;
    // Each input of ours is there, with as many rows as the plan says.
    input::check_lanes(&whole, party, |name| shards::lanes(&counts, name))?;
    let targets = Targets::new(&whole, party, &args.output)?;
    targets.spare(&args.input)?;
    let meeting = Meeting::new(&task.parties, task.settings.threads, config, console)?;
    consent(args, config, &whole, &meeting, console)?;
    let (settings, stamps) = (Settings::new(task), stamps::all(plan.program(), party, &args.input)?);
    let (purpose, sources) = (Purpose::Compute, &args.input[..]);
    let job = Job { task, plan: &plan, settings, meeting, purpose, sources, stamps };
    let mut state = job.state()?;
    let start = Instant::now();
    let (channel, _parting) = job.shards(config, &mut state)?;
    let last = job.last(channel, &mut state);
    // Outputs are removed from the folder when they are where the user wants them, and not before.
    let end = || {
        let last = last?;
        interrupt::settle()?;
        let merge = || Merge::new(state.parts(&plan)?, &state.kept).write(&targets);
        let merged = if args.no_merge { None } else { Some(merge()?) };
        JobReport::new(&plan, party, &state.kept, last, start.elapsed(), merged)?.show(console)
    };
    end().map_err(|why| if state.is_complete(&plan) { later(why, &task.state) } else { why })?;
    if args.no_merge {
        return Ok(());
    }
    state.merged(&plan)?;
    pools::note_left(state.pools()?.remove(), console);
    Ok(())
}

/// What was computed is kept, wherever it could not be written.
fn later(failure: Failure, state: &Path) -> Failure {
    failure.hint(format!("the job is done: `duologue job merge {}` writes its outputs", state.display()))
}

/// Refuses inputs that workers could not read.
fn check_sources(args: &JobDrive) -> Result<(), Failure> {
    if args.input.iter().any(|source| source.value == "-" || source.value.starts_with("-:")) {
        let why = "standard input has no rows that workers could read: write it to a file";
        return Err(Failure::input(why));
    }
    Ok(())
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
        party: args.task.parties.party,
        protocol: format!("{}, by shards", args.task.settings.protocol),
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

impl Job<'_> {
    /// Runs the last program with the other driver, unless there is none or both have its outputs, and ends.
    fn last(&self, mut channel: Channel, state: &mut State) -> Result<Option<LastReport>, Failure> {
        let Some(last) = self.plan.last().filter(|_| state.kept.last.finished.is_none()) else {
            channel.finish()?;
            return Ok(None);
        };
        let inputs = self.last_inputs(last, state)?;
        let attempt = state.begin_last()?;
        let deadline = Deadline::new(Duration::from_secs(self.settings.deadline), &interrupt::current())?;
        let channel = channel.cancelled_by(deadline.canceller());
        let ran = self.run_last(last, &inputs, attempt, channel, state);
        let hint = "--deadline, alike at both parties, allows it more time; --resume goes on with it";
        ran.map(Some).map_err(|why| deadline.cause(why, "the last program did not end", hint))
    }

    fn run_last(
        &self,
        last: &Last,
        inputs: &Inputs,
        attempt: u32,
        channel: Channel,
        state: &mut State,
    ) -> Result<LastReport, Failure> {
        let calls = apps::calls();
        let choices = self.settings.choices(&last.binding, &calls)?;
        let mut session = Session::connect(channel, self.task.parties.party)?;
        session.register_all(&calls);
        session.set_threads(self.settings.threads.into());
        session.set_part(JobPart::last(state.parts(self.plan)?.job, attempt));
        let choice = self.settings.choose(&mut session, &last.binding, choices.as_ref())?;
        let outcome = session.run(&choice.binding, &choice.options, inputs)?;
        let conditions = session.conditions();
        // On the disk of both before either goes on: a party that closes hears that the other one closes too.
        state.parts(self.plan)?.write(From::Last(attempt), &outcome.outputs)?;
        state.finish_last()?;
        session.close()?;
        Ok(LastReport::new(&outcome.report, choice.predicted(conditions)))
    }

    /// What the last program takes: whole inputs, and the shares of all shards.
    fn last_inputs(&self, last: &Last, state: &State) -> Result<Inputs, Failure> {
        let wanted = |name: &str| last.inputs.iter().any(|input| input.name == name).then_some(ALL);
        let (program, party, sources) = (self.plan.program(), self.task.parties.party, self.sources);
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
