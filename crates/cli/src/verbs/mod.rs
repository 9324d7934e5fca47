//! One file a verb.

pub mod bench;
pub mod blocks;
pub mod candidates;
pub mod circuits;
pub mod compile;
pub mod cost;
pub mod data;
pub mod demo;
pub mod doctor;
pub mod export;
mod form;
pub mod he;
pub mod help;
pub mod import;
pub mod inspect;
pub mod job;
pub mod join;
pub mod keys;
mod made;
pub mod optimise;
pub mod peers;
pub mod pool;
pub mod prepare;
mod prepared;
pub mod private;
pub mod psi;
pub mod reproduce;
pub mod run;

use crate::args::Settings;
use crate::config::Maker;
use crate::failure::{Exit, Failure};
use crate::program::Supply;
use duologue::channel::Link;
use duologue::{Options, Scheme};
use std::path::Path;

/// The options that runs and prepared runs share.
///
/// # Errors
/// If a line is assumed where nothing is chosen by it.
fn options(scheme: Scheme, args: &Settings) -> Result<Options, Failure> {
    check_assumed(args.assume_link, args.correlations, args.pool.as_deref())?;
    Ok(options_of(scheme, args))
}

fn options_of(scheme: Scheme, args: &Settings) -> Options {
    let usual = Options::new(scheme);
    let usual = usual.garbler(args.garbler).garbling(args.garbling).tile(args.tile).strands(args.strands.into());
    usual.extension(args.correlations.0).link(args.assume_link)
}

/// What both parties say of where correlations come from.
fn supply(args: &Settings) -> Supply {
    Supply { maker: args.correlations.0, pool: args.pool.is_some() }
}

/// Refuses an assumed line where the maker is named, or is that of a pool that is there.
fn check_assumed(assumed: Option<Link>, maker: Maker, pool: Option<&Path>) -> Result<(), Failure> {
    let of = match (assumed, maker.0, pool) {
        (None, ..) | (Some(_), None, None) => return Ok(()),
        (Some(_), Some(named), _) => format!("{named} is named"),
        (Some(_), None, Some(folder)) => format!("the pool {} has its maker", folder.display()),
    };
    let why = format!("--assume-link is for --correlations auto, and {of}");
    Err(Failure::new(Exit::CommandLine, why).hint("leave one of them out"))
}
