//! `duologue job prepare`: pools for the shards of a job, made by the same drivers and workers that compute them later.

use super::meeting::Meeting;
use super::report::JobReport;
use super::settings::Settings;
use super::shards::{self, Job, Purpose};
use crate::args::JobPrepare;
use crate::config::Config;
use crate::failure::Failure;
use crate::interrupt;
use crate::io::console::Console;
use duologue::correlation::Demand;
use duologue::job::Plan;
use std::time::Instant;

pub fn run(args: &JobPrepare, config: &Config, console: &Console) -> Result<(), Failure> {
    let (task, settings) = (&args.task, Settings::new(&args.task));
    let (plan, _) = shards::load(task, &[])?;
    check_demand(&plan, &settings)?;
    let meeting = Meeting::new(&task.parties, task.settings.threads, config, console)?;
    let (purpose, sources, stamps) = (Purpose::MakePools, &[][..], Vec::new());
    let job = Job { task, plan: &plan, settings, meeting, purpose, sources, stamps };
    let mut state = job.state()?;
    let start = Instant::now();
    let (mut channel, _parting) = job.shards(config, &mut state)?;
    channel.finish()?;
    interrupt::settle()?;
    console.note(format!("the pools are there: `duologue job drive --state {}` uses them", task.state.display()));
    JobReport::new(&plan, task.parties.party, &state.kept, None, start.elapsed(), None)?.show(console)
}

/// Refuses a protocol that is not named, and one by which no shard draws any correlation.
fn check_demand(plan: &Plan, settings: &Settings) -> Result<(), Failure> {
    for shard in (0..plan.shards()).filter(|shard| !plan.range(*shard).is_empty()) {
        if settings.demand(&plan.shard(shard)?.binding)? != Demand::NONE {
            return Ok(());
        }
    }
    let why = format!("nothing to make: no shard of '{}' draws correlations by this protocol", plan.program().name());
    Err(Failure::input(why).hint("`duologue job drive` needs no pools for it"))
}
