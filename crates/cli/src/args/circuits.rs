//! Programs and circuits: what they are and cost, and their files.

use super::PROGRAM;
use super::least::Least;
use super::values::{Pair, Protocol, garbling, goal, nanoseconds, party, port, protocol};
use crate::config::Maker;
use crate::grain::MOST_CORES;
use clap::ValueEnum;
use duologue::channel::Link;
use duologue::circuit::Port;
use duologue::circuit::blocks::Goal;
use duologue::circuit::optimise::gates::MOST_EFFORT;
use duologue::job::MOST_SHARDS;
use duologue::{Garbling, Party};
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = PROGRAM)]
pub struct Cost {
    /// The program whose costs are asked for
    pub program: String,
    /// A public size of the program
    #[arg(long, short, value_name = "NAME=NUMBER")]
    pub size: Vec<Pair<u64>>,
    /// The line between the parties: '100ms,100Mbit', lan, internet or transatlantic
    #[arg(long, default_value = "lan")]
    pub link: Link,
    /// How Yao garbles an AND: half-gates send 32 bytes, three-halves 25 for more computing
    #[arg(long, default_value = "half-gates", value_parser = garbling())]
    pub garbling: Garbling,
    /// Whether the garbling is said on the command line, and no default.
    #[arg(skip)]
    pub garbling_is_given: bool,
    /// The maker of correlations, as `duologue run` has it; auto is what would be chosen for the line
    #[arg(long, value_name = "MAKER", default_value = "auto")]
    pub correlations: Maker,
    /// How many tiles take turns on the wire when Yao is streamed, as `duologue run` has it
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub strands: u16,
    #[command(flatten)]
    pub least: Least,
    #[command(flatten)]
    pub job: CostOfJob,
    #[command(flatten)]
    pub grain: Grain,
}

/// How a job is cut whose costs are asked for, and by whom it is computed.
#[derive(clap::Args)]
pub struct CostOfJob {
    /// Say instead what a job takes with 1, 2, 4 and up to N pairs of workers that share the line, and how many of them pay
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MOST_PAIRS), conflicts_with = "strands")]
    pub workers: Option<u32>,
    /// With --workers: into how many shards the lanes are cut; by default as many as there are pairs
    #[arg(long, value_name = "NUMBER", requires = "workers", value_parser = clap::value_parser!(u32).range(1..=MOST_SHARDS.into()))]
    pub shards: Option<u32>,
    /// With --workers: the size whose lanes are cut, where there is more than one that could be
    #[arg(long, value_name = "SIZE", requires = "workers")]
    pub by: Option<String>,
    /// With --workers: the protocol of the shards and of the last program; auto is the one that is predicted to be best over a
    /// pair's part of the line
    #[arg(long, requires = "workers", default_value = "auto", value_parser = protocol())]
    pub protocol: Protocol,
}

/// As many workers as a driver starts at most.
const MOST_PAIRS: i64 = 1024;

/// What the simulation of several cores takes; times that are not given are those measured for garbling.
#[derive(clap::Args)]
pub struct Grain {
    /// Say instead, by simulation, how many times as fast Yao would garble it on so many cores, by fine and by coarse grain
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_CORES)), conflicts_with_all = ["link", "garbling", "correlations", "strands", "workers"])]
    pub cores: Vec<u32>,
    /// With --cores: an AND on one core, such as 6.8ns
    #[arg(long, value_name = "TIME", requires = "cores", value_parser = nanoseconds)]
    pub and: Option<f64>,
    /// With --cores: an XOR on one core
    #[arg(long, value_name = "TIME", requires = "cores", value_parser = nanoseconds)]
    pub xor: Option<f64>,
    /// With --cores: 16 bytes of another core, to read or to write anew
    #[arg(long, value_name = "TIME", requires = "cores", value_parser = nanoseconds)]
    pub label: Option<f64>,
    /// With --cores: until two cores have begun together and both have ended
    #[arg(long, value_name = "TIME", requires = "cores", value_parser = nanoseconds)]
    pub barrier: Option<f64>,
    /// With --cores: gates of a layer that are not shared out any further
    #[arg(long, value_name = "GATES", requires = "cores", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub piece: Option<u64>,
    /// With --cores: lanes that are not shared out any further
    #[arg(long, value_name = "LANES", requires = "cores", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub part: Option<u64>,
}

#[derive(clap::Args)]
#[command(after_help = PROGRAM)]
pub struct Inspect {
    /// The program to show
    pub program: String,
    /// A public size of the program, to see lanes in numbers
    #[arg(long, short, value_name = "NAME=NUMBER")]
    pub size: Vec<Pair<u64>>,
    /// The maker of correlations, as `duologue run` has it: app:argmin looks at it
    #[arg(long, value_name = "MAKER", default_value = "auto")]
    pub correlations: Maker,
    /// The pool, as `duologue run` has it: app:argmin looks whether there is one
    #[arg(long, value_name = "FOLDER")]
    pub pool: Option<PathBuf>,
    /// Shorten neither constants nor lists of bits and lanes
    #[arg(long)]
    pub full: bool,
    #[command(flatten)]
    pub least: Least,
}

#[derive(clap::Args)]
pub struct Blocks {
    /// Say what this block costs (`duologue cost` does it for programs); or list those with this word in their name or
    /// description
    pub name: Option<String>,
    /// List those with one of these words in their name or description
    #[arg(long, value_name = "WORD", value_delimiter = ',', conflicts_with = "name")]
    pub only: Vec<String>,
    /// Do not fit the list to the terminal: a list that goes elsewhere is whole anyway
    #[arg(long)]
    pub wide: bool,
    /// Measure at this size: '64', '16x32', or a name such as bf16
    #[arg(long, requires = "name")]
    pub size: Option<String>,
    /// Only what is made for fewest ANDs, or for fewest layers
    #[arg(long, requires = "name", value_parser = goal())]
    pub goal: Option<Goal>,
}

#[derive(clap::Args)]
pub struct Circuits {
    /// Only those whose name contains one of these words
    #[arg(value_name = "WORD")]
    pub names: Vec<String>,
    /// Only those whose name contains one of these words, as without the flag
    #[arg(long, value_name = "WORD", value_delimiter = ',', conflicts_with = "names")]
    pub only: Vec<String>,
    /// Do not fit the table to the terminal: one that goes elsewhere is whole anyway
    #[arg(long)]
    pub wide: bool,
}

#[derive(clap::Args)]
#[command(after_help = VERILOG)]
pub struct Compile {
    /// The files with the design, or one netlist in JSON that Yosys wrote (FILE.json)
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// FILE.duo for a program; for a circuit FILE.bristol or FILE.txt (Bristol Fashion), FILE.shdl, FILE.blif, FILE.aag,
    /// FILE.aig or FILE.v
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// The module to compile; by default the one that no other contains
    #[arg(long, value_name = "MODULE")]
    pub top: Option<String>,
    /// Parameters of that module, as WIDTH=32
    #[arg(long, value_name = "NAME=INTEGER", value_delimiter = ',', requires = "top")]
    pub set: Vec<Pair<String>>,
    /// Fewest ANDs, or fewest layers of them
    #[arg(long, default_value = "size", value_parser = goal())]
    pub goal: Goal,
    /// A circuit that stands for a module: a .duo file that is one circuit, or a file that `duologue import` reads
    #[arg(long, value_name = "MODULE=FILE", value_delimiter = ',')]
    pub block: Vec<Pair<PathBuf>>,
    /// Who supplies an input: alice, bob, or public
    #[arg(long, value_name = "NAME=PARTY", value_delimiter = ',')]
    pub inputs: Vec<Pair<String>>,
    /// Who learns an output: alice, bob, or both
    #[arg(long, value_name = "NAME=PARTY", value_delimiter = ',')]
    pub outputs: Vec<Pair<String>>,
    /// A design with registers: how many cycles of its clock to run
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    pub cycles: Option<u64>,
    /// A program that runs the circuit of one cycle again and again (without either, what has fewer ANDs)
    #[arg(long, requires = "cycles")]
    pub iterate: bool,
    /// One circuit of all cycles
    #[arg(long, requires = "cycles", conflicts_with = "iterate")]
    pub unroll: bool,
    /// Inputs and outputs that have a value in each cycle
    #[arg(long, value_name = "NAME", value_delimiter = ',', requires = "cycles")]
    pub each: Vec<String>,
    /// Inputs that reset the registers before the first cycle: NAME, or NAME=0 if they do so when they are 0
    #[arg(long, value_name = "NAME", value_delimiter = ',', requires = "cycles")]
    pub reset: Vec<String>,
    /// Print what each line of the design costs
    #[arg(long)]
    pub profile: bool,
    /// Yosys, if it is not on the path; or name it in DUOLOGUE_YOSYS
    #[arg(long, value_name = "PROGRAM")]
    pub yosys: Option<PathBuf>,
    /// Seconds that Yosys may take
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub time_limit: u64,
}

/// How a design says who is who.
const VERILOG: &str = "\
Parties can be named in the design:
  (* party = \"alice\" *) input [31:0] a     alice, bob or public
  (* reveal = \"bob\" *) output [31:0] y     alice, bob or both (without it, both)
  (* party = \"bob\" *) reg [31:0] s         with --cycles: he supplies what the register begins with";

#[derive(clap::Args)]
pub struct Import {
    /// A circuit in Bristol Fashion, in the old Bristol format, in AIGER (aag or aig), in BLIF, or in SHDL
    pub file: PathBuf,
    /// The .duo file to write
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// The format of the file
    #[arg(long, value_enum, default_value = "auto")]
    pub format: Format,
    /// Who supplies each input [default: whom the file names, else alice,bob]
    #[arg(long, value_name = "PARTIES", value_delimiter = ',', value_parser = party())]
    pub inputs: Option<Vec<Party>>,
    /// A port by its name and type, such as "key:bits(128)", in the order of the bits, first all inputs, then outputs:
    /// bit, bits(N), uint(N), int(N), fixed(N, FRACTION) or float(N, EXPONENT)
    #[arg(long = "port", value_name = "NAME:TYPE", value_parser = port)]
    pub ports: Vec<Port>,
    /// Keep the circuit to alice, as her input `function` in this new .npy file: the program says no more than its ports and
    /// how many gates it has; all inputs are bob's, and he alone learns the outputs
    #[arg(long, value_name = "FILE", conflicts_with = "inputs")]
    pub private: Option<PathBuf>,
    /// With --private: gates that the program says it has, copies included
    #[arg(long, value_name = "NUMBER", requires = "private")]
    pub gates: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Auto,
    Bristol,
    BristolOld,
    Aiger,
    Blif,
    Shdl,
}

#[derive(clap::Args)]
pub struct Optimise {
    /// A program (FILE.duo), or a circuit in a format that `duologue import` reads
    pub file: PathBuf,
    /// FILE.duo for a program; for a circuit FILE.bristol or FILE.txt (Bristol Fashion), FILE.shdl, FILE.blif, FILE.aag,
    /// FILE.aig or FILE.v
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// Fewer ANDs; with depth, in no more layers
    #[arg(long, default_value = "size", value_parser = goal())]
    pub goal: Goal,
    /// How much to try: 0 for what takes no search, 9 for all
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=i64::from(MOST_EFFORT)))]
    pub effort: u32,
    /// Who supplies each input of a circuit [default: whom the file names, else alice,bob]
    #[arg(long, value_name = "PARTIES", value_delimiter = ',', value_parser = party())]
    pub inputs: Option<Vec<Party>>,
    /// A port by its name and type, such as "key:bits(128)", in the order of the bits, first all inputs, then outputs:
    /// bit, bits(N), uint(N), int(N), fixed(N, FRACTION) or float(N, EXPONENT)
    #[arg(long = "port", value_name = "NAME:TYPE", value_parser = port)]
    pub ports: Vec<Port>,
}

#[derive(clap::Args)]
#[command(after_help = PROGRAM)]
pub struct Export {
    /// The program to write
    pub program: String,
    /// FILE.duo for a program; for a circuit FILE.bristol or FILE.txt (Bristol Fashion), FILE.shdl, FILE.blif, FILE.aag,
    /// FILE.aig or FILE.v
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// Who supplies each input of a block
    #[arg(long, value_name = "PARTIES", value_delimiter = ',', value_parser = party())]
    pub inputs: Vec<Party>,
    #[command(flatten)]
    pub least: Least,
}
