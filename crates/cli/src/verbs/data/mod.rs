//! `duologue data`: a party's own files, prepared for an application. No peer is involved.

mod eigenfaces;
mod folder;
mod proximity;
mod social;

use crate::args::{Data, DataWhat};
use crate::failure::Failure;
use crate::io::console::Console;

pub fn run(args: &Data, console: &Console) -> Result<(), Failure> {
    match &args.what {
        DataWhat::Proximity(args) => proximity::run(args, console),
        DataWhat::Eigenfaces(what) => eigenfaces::run(what, console),
        DataWhat::Social(args) => social::run(args, console),
    }
}
