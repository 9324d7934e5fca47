#![forbid(unsafe_code)]
//! The project's own tools, of which users need none: `cargo run -p xtask -- help`.
//!
//! The pages of circuits and of grain are made from what is built. The pages of measured figures are rendered from raw figures that lie
//! beside them in the book, a file for each day and machine; `measure` writes such a file, with the command that users
//! have, and `render` measures nothing.

mod book;
mod chosen;
mod circuits;
mod correlations;
mod engines;
mod grain;
mod measured;
mod plot;
mod reproduced;

use book::Book;
use clap::{Parser, Subcommand, ValueEnum};
use std::error::Error;
use std::path::PathBuf;

/// Whatever fails here is told to an engineer of the project as it is.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[derive(Parser)]
#[command(about = "The project's own tools: measuring, and the pages of the book that hold figures")]
struct Args {
    #[command(subcommand)]
    task: Task,
    /// The folder of the book
    #[arg(long, global = true, value_name = "FOLDER", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs"))]
    book: PathBuf,
}

#[derive(Subcommand)]
enum Task {
    /// Build every circuit, and write the page of their costs beside published figures, and that of their layers on cores
    Circuits,
    /// Measure this machine with the command as users have it, into a raw file of the book
    Measure {
        what: Suite,
        /// Runs of each figure, of which the median counts
        #[arg(long, default_value_t = 5)]
        runs: u32,
    },
    /// Write the pages of measured figures from the newest raw files, without measuring
    Render,
}

#[derive(Clone, Copy, ValueEnum)]
enum Suite {
    /// The engines of the protocols, and circuits under each protocol over lines (some minutes)
    Engines,
    /// Every maker of correlated OTs and triples
    Correlations,
}

fn main() -> Result<()> {
    let args = Args::parse();
    // Before anything that takes minutes.
    let book = Book::open(args.book)?;
    match args.task {
        Task::Circuits => {
            book.write(circuits::files()?)?;
            book.write(grain::files()?)
        }
        Task::Measure { what: Suite::Engines, runs } => engines::measure(&book, runs),
        Task::Measure { what: Suite::Correlations, runs } => correlations::measure(&book, runs),
        Task::Render => {
            book.write(engines::files(&book)?)?;
            book.write(correlations::files(&book)?)?;
            book.write(reproduced::files(&book)?)?;
            book.write(chosen::files(&book)?)
        }
    }
}
