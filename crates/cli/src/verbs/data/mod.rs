//! `duologue data`: a party's own files, prepared for an application. No peer is involved.

mod aes;
mod eigenfaces;
mod folder;
mod iris;
mod pictures;
mod proximity;
mod social;

use crate::args::{Data, DataWhat};
use crate::failure::Failure;
use crate::io::console::Console;

pub fn run(args: &Data, console: &Console) -> Result<(), Failure> {
    match &args.what {
        DataWhat::Aes(what) => aes::run(what, console),
        DataWhat::Proximity(args) => proximity::run(args, console),
        DataWhat::Eigenfaces(what) => eigenfaces::run(what, console),
        DataWhat::Iris(what) => iris::run(what, console),
        DataWhat::Social(args) => social::run(args, console),
    }
}
