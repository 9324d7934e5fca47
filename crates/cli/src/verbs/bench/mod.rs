//! `duologue bench`: what this machine does, or two of them.

mod correlations;
pub(crate) mod engines;
pub mod machine;
mod meeting;

use crate::args::{Bench, BenchWhat};
use crate::failure::Failure;
use crate::io::console::Console;

pub fn run(args: &Bench, console: &Console) -> Result<(), Failure> {
    match &args.what {
        Some(BenchWhat::Correlations(args)) => correlations::run(args, console),
        None => engines::run(&args.engines, console),
    }
}
