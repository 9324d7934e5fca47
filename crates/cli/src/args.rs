//! The command line.

use crate::failure::EXIT_CODES;
use circuit::blocks::Goal;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand, ValueEnum};
use duologue::channel::{Link, PublicKey};
use duologue::ot::Extension;
use duologue::{Garbling, Party, Scheme, Timing};
use kernels::Backend;
use std::path::PathBuf;
use std::str::FromStr;

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
    /// Use these instructions of the processor instead of the fastest: vaes512, vaes256, aesni, armv8 or portable
    #[arg(long, global = true, env = BACKEND, hide_env = true, value_name = "NAME")]
    pub backend: Option<Backend>,
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
    /// Print what every circuit of the library costs, beside published figures
    Circuits(Circuits),
    /// Make a program from a Bristol circuit file
    Import(Import),
    /// Write a program as a .duo file, or its circuit as a Bristol Fashion file
    Export(Export),
    /// Make correlations ahead of time with a peer, into a pool on disk that runs take from
    Prepare(Box<Prepare>),
    /// Show what a pool, or a folder of prepared runs, has left
    Pool(ShowPool),
    /// Make or show the key by which peers know you
    Keys(Keys),
    /// Measure this machine
    Bench(Bench),
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
    #[arg(long, value_enum, default_value = "both")]
    pub protocol: Protocols,
    /// Simulate a line between the processes: '100ms,100Mbit', lan, internet or transatlantic
    #[arg(long)]
    pub link: Option<Link>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Protocols {
    Yao,
    Gmw,
    GmwMasked,
    /// Yao and gmw
    Both,
}

impl Protocols {
    pub fn schemes(self) -> &'static [Scheme] {
        match self {
            Protocols::Yao => &[Scheme::Yao],
            Protocols::Gmw => &[Scheme::Gmw],
            Protocols::GmwMasked => &[Scheme::Masked],
            Protocols::Both => &[Scheme::Yao, Scheme::Gmw],
        }
    }
}

/// How inputs and outputs are written.
const FORMS: &str = "\
SOURCE of an input, which has one value for each lane:
  FILE.npy   lanes numbers (integers, f4, f8); or lanes rows of 0 and 1,
             lowest bit first; or, for bits, lanes rows of bytes (uint8)
  FILE.csv   lanes rows: one value, or its bits as columns
  -          the same from standard input
  1,2,3      the values. Others on this machine can see command lines: keep
             secrets in files
A value is a number (-5, 300; 1.5e-3 for floats and fixed-point numbers, inf
and nan for floats) or its bits in hexadecimal (0x1f). For bits it is bytes in
hexadecimal (00ff or hex:00ff) or, where they are not whole bytes, digits 0 and
1, lowest first.

`duologue inspect PROGRAM` names inputs and outputs.

FILE of an output: .npy or .csv by its name, otherwise as .csv; - is standard
output. It gets its name when the run has succeeded, or not at all.

Sizes follow from the lanes of inputs where they can; --size gives the others.";

#[derive(clap::Args)]
#[command(after_help = format!("{PROGRAM}\n\n{FORMS}"))]
pub struct Run {
    /// What to run; both parties name the same
    pub program: String,
    /// Which party you are
    #[arg(long = "as", value_name = "PARTY", value_parser = party())]
    pub party: Party,
    #[command(flatten)]
    pub meeting: Meeting,
    #[command(flatten)]
    pub security: Security,
    /// An input of yours, a public one, or your share of a shared one
    #[arg(long, short, value_name = "NAME=SOURCE")]
    pub input: Vec<Pair<String>>,
    /// Where an output goes; by default it is shown
    #[arg(long, short, value_name = "NAME=FILE")]
    pub output: Vec<Pair<String>>,
    /// A public size of the program
    #[arg(long, short, value_name = "NAME=NUMBER")]
    pub size: Vec<Pair<u64>>,
    /// The protocol: Yao needs few rounds, GMW few bytes; gmw-masked half the bytes and fewer rounds once inputs are there,
    /// for more of both before
    #[arg(long, default_value = "yao", value_parser = scheme())]
    pub protocol: Scheme,
    /// Who garbles in Yao; by default the party with more input bits
    #[arg(long, value_name = "PARTY", value_parser = party())]
    pub garbler: Option<Party>,
    /// How Yao garbles an AND, both alike: half-gates send 32 bytes, three-halves 25 for more computing
    #[arg(long, default_value = "half-gates", value_parser = garbling())]
    pub garbling: Garbling,
    /// When setup runs: all before inputs are used, or in bounded memory as it is needed
    #[arg(long, default_value = "auto", value_parser = timing())]
    pub timing: Timing,
    /// How many lanes are computed at once, rounded up to a power of two; both give the same
    #[arg(long, value_name = "LANES")]
    pub tile: Option<usize>,
    /// Simulate a line, on both sides: '100ms,100Mbit', lan, internet or transatlantic
    #[arg(long)]
    pub link: Option<Link>,
    /// What makes correlations that are not in the pool, both alike: softspoken1 to softspoken8 (softspoken4 unless told),
    /// silent16 to silent19 (128 bits as published, 88 by our own count), silent16w to silent19w (128 bits)
    #[arg(long, value_name = "MAKER")]
    pub correlations: Option<Extension>,
    /// How many threads of this machine share the work; the peer may have another number
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub threads: usize,
    #[command(flatten)]
    pub pool: Pool,
    #[command(flatten)]
    pub later: Later,
    /// Run without asking
    #[arg(long, short)]
    pub yes: bool,
    /// Run without asking if the program has this digest
    #[arg(long, value_name = "HEX", conflicts_with = "yes")]
    pub expect_digest: Option<String>,
}

#[derive(clap::Args)]
pub struct Pool {
    /// Take correlations from this folder, which `duologue prepare` filled; both parties have one
    #[arg(long, value_name = "FOLDER")]
    pub pool: Option<PathBuf>,
    /// The file of the key that the pool is sealed with: 32 random bytes or more
    #[arg(long, value_name = "FILE", requires = "pool")]
    pub pool_key: Option<PathBuf>,
}

/// Setup today, online another day.
#[derive(clap::Args)]
pub struct Later {
    /// Only prepare runs by Yao for later, into this folder; of the inputs only public ones are given
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["prepared", "output"])]
    pub prepare_to: Option<PathBuf>,
    /// Prepare until so many runs are ready; both give the same
    #[arg(long, value_name = "NUMBER", default_value_t = 1, requires = "prepare_to")]
    pub times: u64,
    /// Run online with what --prepare-to put into this folder, on both sides; each run is used once
    #[arg(long, value_name = "FOLDER",
          conflicts_with_all = ["protocol", "garbler", "garbling", "timing", "tile", "correlations", "pool"])]
    pub prepared: Option<PathBuf>,
    /// The file of the key that the folder of prepared runs is sealed with: 32 random bytes or more
    #[arg(long, value_name = "FILE")]
    pub prepared_key: Option<PathBuf>,
}

#[derive(clap::Args)]
pub struct Prepare {
    /// Which party you are
    #[arg(long = "as", value_name = "PARTY", value_parser = party())]
    pub party: Party,
    #[command(flatten)]
    pub meeting: Meeting,
    #[command(flatten)]
    pub security: Security,
    /// The folder of the pool; it is made if it is not there
    #[arg(long, value_name = "FOLDER")]
    pub pool: PathBuf,
    /// Seal the pool with the key in this file: 32 random bytes or more
    #[arg(long, value_name = "FILE")]
    pub pool_key: Option<PathBuf>,
    /// Fill up to so many triples, one for each AND by GMW: 500k, 100M
    #[arg(long, value_name = "NUMBER", default_value = "0", value_parser = number)]
    pub triples: u64,
    /// Fill up to so many correlated OTs in each direction, one for each input bit of Yao's evaluator
    #[arg(long, value_name = "NUMBER", default_value = "0", value_parser = number)]
    pub cots: u64,
    /// What makes them in a new pool, both alike: softspoken1 to softspoken8 (softspoken4 unless told), silent16 to
    /// silent19 (128 bits as published, 88 by our own count), silent16w to silent19w (128 bits)
    #[arg(long, value_name = "MAKER")]
    pub correlations: Option<Extension>,
    /// How many threads share the work
    #[arg(long, default_value_t = 1)]
    pub threads: usize,
    /// Simulate a line, on both sides: '100ms,100Mbit', lan, internet or transatlantic
    #[arg(long)]
    pub link: Option<Link>,
}

#[derive(clap::Args)]
pub struct ShowPool {
    /// The folder of the pool or of prepared runs
    pub pool: PathBuf,
    /// The file of the key that it is sealed with
    #[arg(long, value_name = "FILE")]
    pub pool_key: Option<PathBuf>,
    /// Read everything and check that it is as it was written
    #[arg(long)]
    pub verify: bool,
}

/// `100M`, `500k`, `1G` or plain digits.
fn number(text: &str) -> Result<u64, String> {
    let (digits, factor) = match text.char_indices().last() {
        Some((end, 'k' | 'K')) => (&text[..end], 1_000),
        Some((end, 'M')) => (&text[..end], 1_000_000),
        Some((end, 'G')) => (&text[..end], 1_000_000_000),
        _ => (text, 1),
    };
    let number: u64 = digits.parse().map_err(|_| "write a number such as 500k, 100M or 1G")?;
    let product = number.checked_mul(factor).filter(|&number| number <= 1 << 40);
    product.ok_or_else(|| "that is more than a pool can be: 2^40".into())
}

#[derive(clap::Args)]
pub struct Meeting {
    /// Wait for the peer at this address, such as 0.0.0.0:7000; port 0 is any free one
    #[arg(long, value_name = "ADDR", required_unless_present = "connect", conflicts_with = "connect")]
    pub listen: Option<String>,
    /// Connect to the peer at this address, such as host:7000 or [::1]:7000
    #[arg(long, value_name = "ADDR")]
    pub connect: Option<String>,
    /// How long to look for the peer
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub wait: u64,
    /// How long the peer may be silent during the run; both give the same
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub silence: u64,
}

#[derive(clap::Args)]
pub struct Security {
    /// Your private key; by default the one that `duologue keys new` makes
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// The peer's public key, as its `duologue keys` shows it
    #[arg(long, value_name = "KEY", required_unless_present = "insecure_plaintext")]
    pub peer_key: Option<PublicKey>,
    /// No encryption, no keys: whoever is on the way reads and changes everything
    #[arg(long, conflicts_with_all = ["key", "peer_key"])]
    pub insecure_plaintext: bool,
}

#[derive(clap::Args)]
#[command(after_help = PROGRAM)]
pub struct Cost {
    /// What to cost
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
}

#[derive(clap::Args)]
#[command(after_help = PROGRAM)]
pub struct Inspect {
    /// What to look at
    pub program: String,
    /// A public size of the program, to see lanes in numbers
    #[arg(long, short, value_name = "NAME=NUMBER")]
    pub size: Vec<Pair<u64>>,
}

#[derive(clap::Args)]
pub struct Blocks {
    /// Say what this block costs; `duologue cost` does it for programs
    pub name: Option<String>,
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
    /// Write the table and its plot into this folder too, as circuits.md and circuits.svg
    #[arg(long, value_name = "FOLDER", conflicts_with = "names")]
    pub book: Option<PathBuf>,
}

#[derive(clap::Args)]
pub struct Import {
    /// A file in Bristol Fashion or in the old Bristol format
    pub file: PathBuf,
    /// The .duo file to write
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// The format of the file
    #[arg(long, value_enum, default_value = "auto")]
    pub format: Format,
    /// Who supplies each input
    #[arg(long, value_name = "PARTIES", value_delimiter = ',', value_parser = party(), default_value = "alice,bob")]
    pub inputs: Vec<Party>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Auto,
    Bristol,
    BristolOld,
}

#[derive(clap::Args)]
#[command(after_help = PROGRAM)]
pub struct Export {
    /// What to write
    pub program: String,
    /// FILE.duo for a program, FILE.txt for a circuit in Bristol Fashion
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// Who supplies each input of a block
    #[arg(long, value_name = "PARTIES", value_delimiter = ',', value_parser = party())]
    pub inputs: Vec<Party>,
}

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

/// What the figures of `duologue bench` are.
const FIGURES: &str = "\
Without --circuits the figures of the engines are measured:
  garble, evaluate          the engine of Yao alone, AES-128 over 4,096 lanes on one core
  threads2_garble, _evaluate  how many times as fast the same is with two threads;
                            threads2 is the smaller of both
  threads2_gmw, _masked     the same of GMW and of masked GMW, AES-128 over 100,000 lanes,
                            online
  yao_memory, _tcp, _tls    the same, garbled and evaluated end to end by sessions
  channel_tcp, _tls         what the channel alone carries one way
  aes_latency, _memory      one AES-128 block by Yao with its tables ready, over TCP or memory
  gmw_alone                 GMW without a channel, online
  gmw_online, _memory       GMW, AES-128 over 100,000 lanes, online, over TCP or memory
  gmw_product512            one 512-bit product by GMW over TCP, online
  stream_memory_yao, _gmw   memory of a party while 10^9 ANDs stream by; stream_memory is the larger
Every output is compared with the one computed in the clear. Each party has one
thread, but for threads2.

CIRCUITS are aes128, sha256, product512, argmin, scifi, sort, all, or programs as
`duologue blocks` names them; every size of a program is the number of lanes.";

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, after_help = FIGURES)]
pub struct Bench {
    #[command(subcommand)]
    pub what: Option<BenchWhat>,
    #[command(flatten)]
    pub engines: Box<BenchEngines>,
}

#[derive(Subcommand)]
pub enum BenchWhat {
    /// Every maker of correlated OTs and triples: speed, traffic, memory
    Correlations(Box<BenchCorrelations>),
}

/// How a party of a benchmark meets the other; without `--as` both are processes here.
#[derive(clap::Args)]
pub struct BenchParty {
    /// Be one party of two machines, which both get the same flags; otherwise both parties are processes here
    #[arg(long = "as", value_name = "PARTY", value_parser = party(), requires = "meet")]
    pub party: Option<Party>,
    /// Wait for the peer at this address
    #[arg(long, value_name = "ADDR", group = "meet", requires = "party")]
    pub listen: Option<String>,
    /// Connect to the peer at this address
    #[arg(long, value_name = "ADDR", group = "meet", requires = "party")]
    pub connect: Option<String>,
    /// Your private key, for a line that is encrypted
    #[arg(long, value_name = "FILE", requires = "peer_key")]
    pub key: Option<PathBuf>,
    /// The peer's public key; without it the line is not encrypted
    #[arg(long, value_name = "KEY", requires = "party")]
    pub peer_key: Option<PublicKey>,
    /// The core that this process stays on
    #[arg(long, hide = true, requires = "party")]
    pub core: Option<usize>,
}

#[derive(clap::Args)]
pub struct BenchEngines {
    /// Only these figures; see below
    #[arg(long, value_name = "NAME", value_delimiter = ',', conflicts_with = "circuits")]
    pub only: Vec<String>,
    /// ANDs that are streamed for the figures of memory: 10M, 1G
    #[arg(long, value_name = "NUMBER", default_value = "1G", value_parser = number, conflicts_with = "circuits")]
    pub count: u64,
    /// A hundredth of all lanes and ANDs, to try the command out: figures are of no use
    #[arg(long, conflicts_with = "circuits")]
    pub quick: bool,
    /// Runs of each figure, of which the median counts
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// How Yao garbles an AND, of figures and of circuits
    #[arg(long, default_value = "half-gates", value_parser = garbling(), conflicts_with = "book")]
    pub garbling: Garbling,
    /// Measure these circuits instead, each under every protocol, number of lanes and threads, and line
    #[arg(long, value_name = "CIRCUITS", value_delimiter = ',')]
    pub circuits: Vec<String>,
    /// Only these protocols
    #[arg(long, value_name = "PROTOCOLS", value_delimiter = ',', default_value = "yao,gmw,gmw-masked", value_parser = scheme())]
    #[arg(requires = "circuits")]
    pub protocols: Vec<Scheme>,
    /// Numbers of lanes
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_value = "1,100,10000", requires = "circuits")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1 << 32))]
    pub lanes: Vec<u64>,
    /// Numbers of threads of a party; with more than one a party has no core of its own
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_value = "1", requires = "circuits")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Vec<u32>,
    /// Simulate a line: '100ms,100Mbit', lan, internet, transatlantic, or none; may be given several times
    #[arg(long, value_name = "LINK", default_value = "none", value_parser = perhaps_link, requires = "circuits")]
    pub link: Vec<PerhapsLink>,
    /// Leave out what has more ANDs over all lanes
    #[arg(long, value_name = "NUMBER", default_value = "100M", value_parser = number, requires = "circuits")]
    pub most: u64,
    /// Encrypt the line between the two processes on this machine
    #[arg(long, conflicts_with = "party", requires = "circuits")]
    pub tls: bool,
    /// Write figures, circuits and a plot into this folder too, as engines-measured.md and .svg
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["only", "circuits", "quick", "party"])]
    pub book: Option<PathBuf>,
    #[command(flatten)]
    pub peer: BenchParty,
    /// Measure one case, for the process that started it, and print what this party saw
    #[arg(long, hide = true, requires = "party")]
    pub case: Option<String>,
}

/// A simulated line, or none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PerhapsLink(pub Option<Link>);

fn perhaps_link(text: &str) -> Result<PerhapsLink, duologue::Error> {
    if text == "none" { Ok(PerhapsLink(None)) } else { text.parse().map(|link| PerhapsLink(Some(link))) }
}

#[derive(clap::Args)]
pub struct BenchCorrelations {
    /// Only these figures, such as softspoken4, softspoken4_one_way, triples_softspoken4, base_ot_ms
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Correlations of a run at least: COTs in each direction, or triples
    #[arg(long, default_value_t = 1 << 24, value_parser = clap::value_parser!(u64).range(1..=1 << 32))]
    pub count: u64,
    /// Runs of each figure, of which the median counts
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// Simulate a line between the parties: '100ms,100Mbit', lan, internet or transatlantic
    #[arg(long)]
    pub link: Option<Link>,
    /// Encrypt the line between the two processes on this machine
    #[arg(long, conflicts_with = "party")]
    pub tls: bool,
    /// Write the table and its plot into this folder too, as correlations-measured.md and .svg
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["only", "link", "tls", "party"])]
    pub book: Option<PathBuf>,
    #[command(flatten)]
    pub peer: BenchParty,
    /// Print what this party measured of one figure, for the process that started it
    #[arg(long, hide = true, requires = "party")]
    pub raw: bool,
}

/// `NAME=VALUE`.
#[derive(Clone, Debug)]
pub struct Pair<T> {
    pub name: String,
    pub value: T,
}

impl<T: FromStr<Err: std::fmt::Display>> FromStr for Pair<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
        let value = value.parse().map_err(|why: T::Err| why.to_string())?;
        let name = name.to_string();
        Ok(Pair { name, value })
    }
}

fn party() -> impl TypedValueParser<Value = Party> {
    PossibleValuesParser::new(["alice", "bob"]).map(|name| match &*name {
        "alice" => Party::Alice,
        _ => Party::Bob,
    })
}

fn garbling() -> impl TypedValueParser<Value = Garbling> {
    PossibleValuesParser::new(["half-gates", "three-halves"]).map(|name| match &*name {
        "half-gates" => Garbling::HalfGates,
        _ => Garbling::ThreeHalves,
    })
}

fn scheme() -> impl TypedValueParser<Value = Scheme> {
    PossibleValuesParser::new(["yao", "gmw", "gmw-masked"]).map(|name| match &*name {
        "yao" => Scheme::Yao,
        "gmw" => Scheme::Gmw,
        _ => Scheme::Masked,
    })
}

fn timing() -> impl TypedValueParser<Value = Timing> {
    PossibleValuesParser::new(["auto", "ahead", "streamed"]).map(|name| match &*name {
        "ahead" => Timing::Ahead,
        "streamed" => Timing::Streamed,
        _ => Timing::Auto,
    })
}

fn goal() -> impl TypedValueParser<Value = Goal> {
    PossibleValuesParser::new(["size", "depth"]).map(|name| match &*name {
        "depth" => Goal::Depth,
        _ => Goal::Size,
    })
}
