//! One file a verb.

pub mod bench;
pub mod blocks;
pub mod circuits;
pub mod cost;
pub mod demo;
pub mod doctor;
pub mod export;
pub mod he;
pub mod help;
pub mod import;
pub mod inspect;
pub mod keys;
mod made;
pub mod peers;
pub mod pool;
pub mod prepare;
mod prepared;
pub mod run;

use crate::args::Settings;
use duologue::{Options, Scheme};

/// The options that runs and prepared runs share.
fn options(scheme: Scheme, args: &Settings) -> Options {
    let usual = Options::new(scheme);
    let usual = usual.garbler(args.garbler).garbling(args.garbling).tile(args.tile).strands(args.strands.into());
    usual.extension(args.correlations.0).link(args.assume_link)
}
