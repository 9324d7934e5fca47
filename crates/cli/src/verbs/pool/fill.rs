//! `duologue prepare`: one party of the making of correlations, into a pool.

use super::pool::Report;
use super::run::{known_keys, meet, security};
use crate::args::Prepare;
use crate::failure::Failure;
use crate::io::console::Console;
use crate::io::progress;
use duologue::Session;
use duologue::correlation::Demand;
use duologue::correlation::pool::{Pool, SealKey};
use duologue::ot::Extension;

pub fn run(args: &Prepare, console: &Console) -> Result<(), Failure> {
    let level = Demand { cots_by_alice: args.cots, cots_by_bob: args.cots, triples: args.triples };
    if level == Demand::NONE {
        return Err(Failure::input("nothing to prepare").hint("--triples 10M, --cots 1M"));
    }
    let seal = args.pool_key.as_ref().map(SealKey::load).transpose()?;
    // What is wrong with the folder is found out before the peer is bothered.
    let found = match args.pool.join("header").exists() {
        true => Found::Pool(Box::new(same_maker(args, Pool::open(&args.pool, seal)?)?)),
        false => Found::Nothing(seal),
    };
    let security = security(&args.security)?;
    let keys = known_keys(&security, args.party);

    let mut session = Session::connect(meet(&args.meeting, args.link, &security, console)?, args.party)?;
    session.set_threads(args.threads);
    if !console.quiet() {
        session.observe(Some(progress::bar(args.pool.display().to_string())));
    }
    match found {
        Found::Pool(pool) => session.use_pool(*pool, keys)?,
        Found::Nothing(seal) => {
            session.create_pool(&args.pool, keys, args.correlations.unwrap_or(Extension::DEFAULT), seal)?;
        }
    }
    let made = session.fill_pool(level)?;
    let report = session.pool().map(|status| Report::new(&args.pool, &status, Some(&made)));
    session.close()?;
    report.map_or(Ok(()), |report| console.show(&report))
}

/// The pool, if what it says makes its correlations is what is asked for.
fn same_maker(args: &Prepare, pool: Pool) -> Result<Pool, Failure> {
    let (folder, its) = (args.pool.display(), pool.origin().extension);
    match args.correlations {
        Some(asked) if asked != its => Err(Failure::input(format!(
            "{its} makes the correlations of the pool {folder}, not {asked}: a pool keeps its maker"
        ))
        .hint("leave --correlations out, or give --pool another folder")),
        _ => Ok(pool),
    }
}

/// What is in the folder.
enum Found {
    Pool(Box<Pool>),
    /// Nothing, and what a new pool is to be sealed with.
    Nothing(Option<SealKey>),
}
