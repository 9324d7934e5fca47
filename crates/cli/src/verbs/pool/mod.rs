//! `duologue pool`: pools of correlations, filled and shown; folders of prepared runs are shown as well.

mod fill;
mod report;

use super::{prepared, private};
use crate::args::{Pool, PoolWhat, Settings, ShowPool};
use crate::config::Config;
use crate::failure::Failure;
use crate::io::console::Console;
use duologue::correlation::pool::{self, SealKey};
use duologue::prepared::PreparedRuns;
use duologue::storage::KeptRuns;
use report::PoolReport;
use std::path::Path;

pub fn run(args: &Pool, config: &Config, console: &Console) -> Result<(), Failure> {
    match (&args.what, &args.show) {
        (Some(PoolWhat::Fill(args)), _) => fill::run(args, config, console),
        (None, Some(args)) => show(args, console),
        (None, None) => Err(Failure::input("no folder is named")),
    }
}

fn show(args: &ShowPool, console: &Console) -> Result<(), Failure> {
    if PreparedRuns::is_in(&args.folder) {
        return prepared::show(&args.folder, args.pool_key.as_ref(), args.verify, console);
    }
    if KeptRuns::is_in(&args.folder) {
        let key = args.pool_key.as_ref().map(SealKey::load).transpose()?;
        return private::kept::show_folder(&args.folder, key, args.verify, console);
    }
    if !args.folder.join("header").exists() {
        return Err(neither(&args.folder));
    }
    let seal = args.pool_key.as_ref().map(SealKey::load).transpose()?;
    let pool = pool::Pool::open(&args.folder, seal)?;
    if args.verify {
        pool.verify()?;
        console.note("All of it is as it was written.");
    }
    console.show(&PoolReport::new(&args.folder, &pool.status(), None))
}

fn neither(folder: &Path) -> Failure {
    let what = match folder.metadata() {
        Ok(there) if there.is_dir() => "holds neither a pool nor prepared runs",
        Ok(_) => "is no folder",
        Err(_) => "is not there, or may not be looked at",
    };
    let hint = "`duologue pool fill --pool FOLDER` makes a pool, `duologue prepare PROGRAM --to FOLDER` prepares runs";
    Failure::input(format!("{} {what}", folder.display())).hint(hint)
}

/// The pool that a run takes from, if one is named.
pub fn open(args: &Settings) -> Result<Option<pool::Pool>, Failure> {
    let Some(folder) = &args.pool else { return Ok(None) };
    let seal = args.pool_key.as_ref().map(SealKey::load).transpose()?;
    Ok(Some(pool::Pool::open(folder, seal)?))
}
