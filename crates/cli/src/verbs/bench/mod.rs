//! `duologue bench`: what this machine does.

mod correlations;

use crate::args::{Bench, BenchWhat};
use crate::failure::Failure;
use crate::report::Console;

pub fn run(args: &Bench, console: &Console) -> Result<(), Failure> {
    match &args.what {
        BenchWhat::Correlations(args) => correlations::run(args, console),
    }
}
