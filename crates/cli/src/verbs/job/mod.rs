//! `duologue job`: one program by many pairs of machines.
//!
//! `drive` is a party's driver: it agrees with the other party's ([`duologue::job::control`]), has this party's workers compute the
//! shards, runs the last program with the other driver, and merges. `prepare` drives in the same way, and leaves a pool for each shard.
//! `worker` is one worker. A driver and its workers talk in JSON
//! ([`order`]), since both are the same party's and of the same version.

mod deadline;
mod doctor;
mod drive;
mod driver;
mod local;
mod meeting;
mod merge;
mod order;
mod parts;
mod plan;
mod pools;
mod prepare;
mod ray;
mod reception;
mod report;
mod settings;
mod shard;
mod shards;
mod stamps;
mod state;
mod worker;

use crate::args::{Job, JobWhat};
use crate::config::Config;
use crate::failure::Failure;
use crate::io::console::Console;

pub fn run(args: &Job, config: &Config, console: &Console) -> Result<(), Failure> {
    match &args.what {
        JobWhat::Plan(args) => plan::run(args, console),
        JobWhat::Prepare(args) => prepare::run(args, config, console),
        JobWhat::Drive(args) => drive::run(args, config, console),
        JobWhat::Worker(args) => worker::run(args, console),
        JobWhat::Merge(args) => merge::run(args, console),
        JobWhat::Doctor(args) => doctor::run(args, config, console),
    }
}
