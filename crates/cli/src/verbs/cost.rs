//! `duologue cost`: what a program will take by each protocol, without running it.

use crate::args::Cost;
use crate::failure::Failure;
use crate::report::Console;

pub fn run(_: &Cost, _: &Console) -> Result<(), Failure> {
    Ok(())
}
