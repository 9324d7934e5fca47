//! The command line.

mod bench;
mod circuits;
mod data;
mod he;
mod help;
mod job;
mod join;
mod least;
mod peers;
mod private;
mod psi;
mod run;
mod values;

use crate::config::Defaults;
use crate::failure::EXIT_CODES;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use duologue::channel::Link;
use kernels::Backend;
use std::ffi::OsString;
use std::path::PathBuf;

pub use bench::{Bench, BenchCorrelations, BenchEngines, BenchParty, BenchWhat};
pub use circuits::{Blocks, Circuits, Compile, Cost, Export, Format, Grain, Import, Inspect, Optimise};
pub use data::{
    AesWhat, Data, DataWhat, EigenfacesWhat, FaceName, FaceQuery, FaceTraining, IrisCodes, IrisWhat, People, Places,
};
pub use he::{He, HeDecrypt, HeEncrypt, HeKeys, HeSecret, HeWhat};
pub use help::{Completions, Man};
pub use job::{
    Cut, Job, JobDoctor, JobDrive, JobMerge, JobParties, JobPlan, JobPrepare, JobSettings, JobTask, JobWhat, JobWorker,
    Launch,
};
pub use join::Join;
pub use least::{Form, Least, Method, Ots};
pub use peers::{AddPeer, Doctor, Peers, PeersWhat};
pub use private::{Gates, Private, PrivateMethod, PrivateVerb, PrivateWhat};
pub use psi::{Psi, Repeated};
pub use run::{FillPool, Meeting, Peer, Pool, PoolWhat, Prepare, Run, Settings, ShowPool};
pub use values::{Pair, Protocol, Source};

/// Two parties compute on their private inputs; each learns its own outputs and nothing else.
///
/// Start with `duologue demo`.
#[derive(Parser)]
#[command(name = "duologue", version, after_help = EXIT_CODES, max_term_width = 100)]
pub struct Args {
    #[command(subcommand)]
    pub verb: Verb,
    /// Print results and errors only
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Print the result as one JSON object on standard output
    #[arg(long, global = true)]
    pub json: bool,
    /// Use these instructions of the processor instead of the fastest: vaes512, vaes256, aesni, aesni-sse (without AVX2),
    /// armv8 or portable
    #[arg(long, global = true, env = BACKEND, hide_env = true, value_name = "NAME")]
    pub backend: Option<Backend>,
}

impl Args {
    /// The arguments after the first word; whatever they leave out has these defaults.
    pub fn read(words: &[OsString], defaults: &Defaults) -> Args {
        let matches = defaults.apply(Args::command()).get_matches_from(words);
        let mut args = Args::from_arg_matches(&matches).unwrap_or_else(|why| why.exit());
        let said = |matches: &ArgMatches, flag: &str| matches.value_source(flag) == Some(ValueSource::CommandLine);
        match (&mut args.verb, matches.subcommand()) {
            (Verb::Run(run), Some(("run", matches))) => {
                run.protocol_is_given = said(matches, "protocol");
                run.garbling_is_given = said(matches, "garbling");
            }
            (Verb::Cost(cost), Some(("cost", matches))) => cost.garbling_is_given = said(matches, "garbling"),
            _ => {}
        }
        args
    }

    /// Everything that can be said on the command line, for completions and manual pages.
    pub fn whole() -> Command {
        Args::command()
    }
}

/// The variable by which processes that the command starts itself use the instructions that it uses.
pub const BACKEND: &str = "DUOLOGUE_BACKEND";

#[derive(Subcommand)]
pub enum Verb {
    /// Look up a face among others: two processes on this machine, by Yao and by GMW
    Demo(Demo),
    /// Run a program with a peer
    Run(Box<Run>),
    /// Say what a program will cost by each protocol, without running it
    Cost(Cost),
    /// Show what a program is made of, and who learns what
    Inspect(Inspect),
    /// List the circuits and programs that are built in
    Blocks(Blocks),
    /// Print what every circuit of the library costs
    Circuits(Circuits),
    /// Make a program from a design in Verilog (needs Yosys)
    Compile(Compile),
    /// Make a program from a circuit file: Bristol or AIGER
    Import(Import),
    /// Rebuild the circuits of a program or of a circuit file with fewer ANDs
    Optimise(Optimise),
    /// Write a program as a .duo file, or its circuit as a Bristol Fashion file
    Export(Export),
    /// Prepare runs of a program by Yao with a peer, for `duologue run --prepared`
    Prepare(Box<Prepare>),
    /// Show what a pool of correlations, or a folder of prepared runs, has left; or fill a pool
    Pool(Pool),
    /// Make or show the key by which peers know you
    Keys(Keys),
    /// Give the keys of peers names, for --peer-key NAME and --connect NAME
    Peers(Peers),
    /// Find the rows of your table whose key the peer's table has too, and show nothing of the others
    Psi(Psi),
    /// Count and add up the rows that your table and the peer's have in common, by conditions and groups
    Join(Box<Join>),
    /// Compute one program with many machines of each party
    Job(Job),
    /// Evaluate a function that is one party's secret on data that is the other's
    Private(Box<PrivateVerb>),
    /// Encrypt numbers so that sums of them can be computed without the key
    He(He),
    /// Prepare your own files for an application, without a peer
    Data(Data),
    /// Look for what would keep a run with a peer from starting, and say what to do
    Doctor(Doctor),
    /// Measure this machine
    Bench(Bench),
    /// Compute the tables of papers with our figures beside theirs
    Reproduce(Reproduce),
    /// Print what completes this command's words in a shell
    Completions(Completions),
    /// Print the manual page, or write the pages of all verbs into a folder
    Man(Man),
}

/// How programs are named on the command line.
const PROGRAM: &str = "\
PROGRAM is a .duo file, or something built in, as `duologue blocks` lists it:
  block:NAME[:SIZE][:size|depth]   a circuit on every lane, say block:add:64:depth
  app:NAME[:WIDTH][:size|depth]    an application";

#[derive(clap::Args)]
pub struct Demo {
    /// How many faces the gallery has; beyond 100 they are random
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
    pub faces: u32,
    /// Which protocol to run
    #[arg(long, value_parser = values::schemes(), default_value = "both")]
    pub protocol: values::Schemes,
    /// Simulate a link between the processes: '100ms,100Mbit', lan, internet or transatlantic
    #[arg(long)]
    pub link: Option<Link>,
}

#[derive(clap::Args)]
#[command(after_help = TABLES)]
pub struct Reproduce {
    /// The table: PAPER/TABLE; or PAPER, for all of its tables; or auto
    #[arg(value_name = "PAPER/TABLE", required_unless_present = "all")]
    pub table: Option<String>,
    /// All tables of all papers
    #[arg(long, conflicts_with = "table")]
    pub all: bool,
    /// Of a table of times measure one cell, and compute the others from exact bytes and measured computing
    #[arg(long)]
    pub quick: bool,
    /// Only this row
    #[arg(long, value_name = "NAME")]
    pub row: Option<String>,
}

/// What can be reproduced.
const TABLES: &str = "\
boma/2   the least of 1,000 protected values: bytes
boma/3   its time over lines of 1, 2, 5 and 10 Mbit/s
boma/5   bytes where each party has half of the values
linear-pfe/1   private functions of 100 to 1,000,000 gates: bytes
linear-pfe/2   their time over 10 Gbit/s, 1 ms
linear-pfe/3   their time over 100 Mbit/s, 100 ms
gmw-vs-yao/1   a product of 512 bits by GMW: setup, online, in all
gmw-vs-yao/2   how fast the primitives are
gmw-vs-yao/3   what an AND takes by Yao and by GMW
gmw-vs-yao/4   the mobile social network at 0.2, 10 and 100 ms
gmw-vs-yao/5   faces by Eigenfaces, of 320 and 1,000
gmw-vs-yao/6   faces by SCiFI, of 100, 320 and 50,000
gmw-vs-yao/7   circuits: ANDs and depth
automated-synthesis/1   circuits by synthesis and by hand
automated-synthesis/2   divisions of integers, 1 to 10,000 at once
automated-synthesis/3   dot products of 16 and 32 integers
automated-synthesis/4   floating-point operations of 32, 42 and 64 bits
automated-synthesis/5   tests of proximity on Earth
parallel-gc/1   iris identification by Yao, element by element
parallel-gc/2   a block of AES by Yao, element by element
parallel-gc/figure4   iris identification by threads
parallel-gc/figure6   AES of an image by threads
parallel-gc/layers   gates, layers and the share of XORs
auto           no paper's, and not among --all: forty runs by the protocol that is chosen, beside the
               best of those that are named; most of an hour, with --quick four of them";

#[derive(clap::Args)]
pub struct Keys {
    /// new: make a key (one that exists is never touched); show: the public key to give to peers
    #[arg(value_enum, default_value = "show")]
    pub action: KeyAction,
    /// The file of the private key; by default in the configuration folder
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KeyAction {
    New,
    Show,
}
