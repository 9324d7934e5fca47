//! `duologue pool fill`: one party of the making of correlations, into a pool.

use super::report::PoolReport;
use crate::args::FillPool;
use crate::config::{Config, Maker};
use crate::failure::Failure;
use crate::io::console::Console;
use crate::io::{progress, shown};
use crate::peer;
use crate::verbs::check_assumed;
use duologue::correlation::Demand;
use duologue::correlation::pool::{Pool, SealKey};

pub fn run(args: &FillPool, config: &Config, console: &Console) -> Result<(), Failure> {
    let level = Demand { cots_by_alice: args.cots, cots_by_bob: args.cots, triples: args.triples };
    if level == Demand::NONE {
        return Err(Failure::input("nothing to make").hint("--triples 10M, --cots 1M"));
    }
    let there = args.pool.join("header").exists();
    let maker = args.correlations.or(config.defaults().correlations.filter(|_| !there)).unwrap_or(Maker(None));
    check_assumed(args.assume_link, maker, Some(&*args.pool).filter(|_| there))?;
    let seal = args.pool_key.as_ref().map(SealKey::load).transpose()?;
    // Errors of the folder are found before the parties meet.
    let found = match there {
        true => Found::Pool(Box::new(same_maker(args, Pool::open(&args.pool, seal)?)?)),
        false => Found::Nothing(seal),
    };
    let security = peer::security(&args.peer, config)?;

    let mut session = peer::connect(&args.peer, None, &security, config, console)?;
    if !console.quiet() {
        session.observe(progress::bar(shown::line(&args.pool.display().to_string())));
    }
    match found {
        Found::Pool(pool) => session.use_pool(*pool)?,
        Found::Nothing(seal) => {
            match maker {
                Maker(Some(named)) => session.create_pool(&args.pool, named, seal)?,
                Maker(None) => session.create_pool_for(&args.pool, level, args.assume_link, seal)?,
            }
            if let (Some(maker), Some(conditions)) = (session.maker(), session.conditions()) {
                console.note(format_args!("{maker} is chosen for {conditions}."));
            }
        }
    }
    let made = session.fill_pool(level)?;
    let report = session.pool().map(|status| PoolReport::new(&args.pool, &status, Some(&made)));
    session.close()?;
    report.map_or(Ok(()), |report| console.show(&report))
}

/// The pool, if what it says makes its correlations is what is asked for.
fn same_maker(args: &FillPool, pool: Pool) -> Result<Pool, Failure> {
    let (folder, its) = (args.pool.display(), pool.origin().extension);
    match args.correlations {
        Some(Maker(Some(asked))) if asked != its => Err(Failure::input(format!(
            "{its} makes the correlations of the pool {folder}, not {asked}: a pool keeps its maker"
        ))
        .hint("leave --correlations out, or give --pool another folder")),
        _ => Ok(pool),
    }
}

/// The contents of the folder.
enum Found {
    Pool(Box<Pool>),
    /// Nothing, and what a new pool is to be sealed with.
    Nothing(Option<SealKey>),
}
