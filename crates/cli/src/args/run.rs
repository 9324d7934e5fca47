//! Runs with a peer, and what is prepared for them.

use super::PROGRAM;
use super::least::Least;
use super::values::{Pair, Protocol, Source, garbling, number, party, protocol, timing, wish};
use crate::config::{MOST_THREADS, Maker, PeerKey};
use clap::Subcommand;
use clap::builder::RangedU64ValueParser;
use duologue::channel::Link;
use duologue::cost::choice::Wish;
use duologue::{Garbling, Party, Timing};
use std::convert::Infallible;
use std::path::PathBuf;

/// How inputs and outputs are written.
pub(super) const FORMS: &str = "\
SOURCE of an input, which has one value for each lane:
  FILE.csv:COLUMN[:FORM]  the column of a table whose first line has names;
             .parquet and .arrow too, if this build has the feature parquet
  FILE.csv   without a header, lanes rows: one value, or its bits as columns
  FILE.npy   lanes numbers (integers, f4, f8); or lanes rows of 0 and 1,
             lowest bit first; or, for bits, lanes rows of bytes (uint8)
  FILE.enc   ciphertexts, as `duologue he encrypt` writes them
  -          CSV from standard input; -:COLUMN[:FORM] with a header
  1,2,3      the values. Others on this machine can see command lines: keep
             secrets in files
--input FILE.csv alone is for every input that has the name of a column,
--input FOLDER for every input NAME of which it has NAME.npy, NAME.csv or
  NAME.parquet, say what `duologue data` wrote.

FORM says what the type does not, its parts joined by ':'
  decimal(2)  decimal numbers, times 100      date  2024-02-29, as days
  time(s)     dates and times since 1970, also time(ms), time(us), time(ns)
  text        UTF-8, filled up with zero bytes
  uint(32)    or another type: a column of words for a port of many
  null=VALUE  what an empty cell stands for, last of all

A value is a number (-5, 300; 1.5e-3 for floats and fixed-point numbers, inf
and nan for floats) or its bits in hexadecimal (0x1f). For bits it is bytes in
hexadecimal (00ff or hex:00ff) or, where they are not whole bytes, digits 0 and
1, lowest first.

`duologue inspect PROGRAM` names inputs and outputs.

FILE of an output: FILE.csv, FILE.npy, of ciphertexts FILE.enc, - for standard
output; FILE.csv:COLUMN[:FORM] for a table with a header, also .json, .parquet
and .arrow. Outputs that go to one table are its columns. A file gets its name
when the run has succeeded, or not at all.

Sizes follow from the lanes of inputs where they can; --size gives the others.";

/// Which party this is, and how it meets its peer.
#[derive(Clone, clap::Args)]
pub struct Peer {
    /// Which party you are
    #[arg(long = "as", value_name = "PARTY", value_parser = party())]
    pub party: Party,
    #[command(flatten)]
    pub meeting: Meeting,
    #[command(flatten)]
    pub security: Security,
    /// Simulate a line, on both sides: '100ms,100Mbit', lan, internet or transatlantic
    #[arg(long)]
    pub link: Option<Link>,
    /// How many threads of this machine share the work; the peer may have another number
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS.into()))]
    pub threads: u16,
}

/// Settings of Yao, and of what every protocol draws from.
#[derive(clap::Args)]
pub struct Settings {
    /// Who garbles in Yao; by default the party with more input bits
    #[arg(long, value_name = "PARTY", value_parser = party())]
    pub garbler: Option<Party>,
    /// How Yao garbles an AND, both alike: half-gates send 32 bytes, three-halves 25 for more computing
    #[arg(long, default_value = "half-gates", value_parser = garbling())]
    pub garbling: Garbling,
    /// How many lanes are computed at once, rounded up to a power of two; both give the same
    #[arg(long, value_name = "LANES", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1 << 20))]
    pub tile: Option<usize>,
    /// How many tiles take turns on the wire when Yao is streamed, both alike: as many as the threads of whoever has more
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub strands: u16,
    /// The maker of correlations that are not in the pool, both alike: auto (by demand, line and processor), softspoken1 to
    /// softspoken8, silent (by demand), silent16d to silent20d, silent16w to silent19w
    #[arg(long, value_name = "MAKER", default_value = "auto")]
    pub correlations: Maker,
    /// Measure nothing, and choose for this line, both alike: '100ms,100Mbit', lan, internet or transatlantic
    #[arg(long, value_name = "LINK")]
    pub assume_link: Option<Link>,
    /// Take correlations from this folder, which `duologue pool fill` filled; both parties have one
    #[arg(long, value_name = "FOLDER")]
    pub pool: Option<PathBuf>,
    /// The file of the key that the pool is sealed with: 32 random bytes or more
    #[arg(long, value_name = "FILE", requires = "pool")]
    pub pool_key: Option<PathBuf>,
}

#[derive(clap::Args)]
#[command(after_help = format!("{PROGRAM}\n\n{FORMS}"))]
pub struct Run {
    /// The program to run; both parties name the same
    pub program: String,
    #[command(flatten)]
    pub least: Least,
    #[command(flatten)]
    pub peer: Peer,
    /// An input of yours, a public one, or your share of a shared one; or a table whose columns have the names of inputs
    #[arg(long, short, value_name = "NAME=SOURCE")]
    pub input: Vec<Source>,
    /// Where an output goes; by default it is shown
    #[arg(long, short, value_name = "NAME=FILE")]
    pub output: Vec<Pair<String>>,
    /// A public size of the program
    #[arg(long, short, value_name = "NAME=NUMBER")]
    pub size: Vec<Pair<u64>>,
    /// The protocol: auto is what is predicted to be best over the line, which both measure, or --assume-link. Yao needs few
    /// rounds, GMW few bytes; gmw-masked half the bytes and fewer rounds once inputs are there, for more of both before; mixed
    /// takes GMW for steps with many ANDs in a layer and Yao for the others
    #[arg(long, default_value = "auto", value_parser = protocol())]
    pub protocol: Protocol,
    /// What --protocol auto makes least, total by default: the time in all, the time from the inputs on, or the bytes
    #[arg(long, value_parser = wish(), conflicts_with = "prepared")]
    pub wish: Option<Wish>,
    /// Of a mixed program: steps with so many ANDs a layer or more are by GMW, the others by Yao, both alike; by default it is cut
    /// at the widest gap between its steps
    #[arg(long, value_name = "ANDS")]
    pub share_from: Option<u64>,
    /// Whether the protocol is said on the command line, and no default.
    #[arg(skip)]
    pub protocol_is_given: bool,
    /// Whether the garbling is.
    #[arg(skip)]
    pub garbling_is_given: bool,
    /// When setup runs: all before inputs are used, or in bounded memory as it is needed
    #[arg(long, default_value = "auto", value_parser = timing())]
    pub timing: Timing,
    #[command(flatten)]
    pub settings: Settings,
    /// Use one of the runs that `duologue prepare` put into this folder, on both sides
    #[arg(long, value_name = "FOLDER",
          conflicts_with_all = ["protocol", "garbler", "garbling", "share_from", "timing", "tile", "strands", "correlations", "assume_link", "pool"])]
    pub prepared: Option<PathBuf>,
    /// The file of the key that the folder of prepared runs is sealed with: 32 random bytes or more
    #[arg(long, value_name = "FILE", requires = "prepared")]
    pub prepared_key: Option<PathBuf>,
    /// Run without asking
    #[arg(long, short)]
    pub yes: bool,
    /// Run without asking if the program has this digest
    #[arg(long, value_name = "HEX", conflicts_with = "yes")]
    pub expect_digest: Option<String>,
    #[arg(long, hide = true, value_name = "FOLDER", value_parser = prepares_runs)]
    pub prepare_to: Option<Infallible>,
    #[arg(long, hide = true, value_name = "NUMBER", value_parser = prepares_runs)]
    pub times: Option<Infallible>,
}

/// The error of flags that `duologue run` does not have.
fn prepares_runs(_: &str) -> Result<Infallible, &'static str> {
    Err("runs are prepared by `duologue prepare PROGRAM --to FOLDER --times NUMBER`")
}

#[derive(clap::Args)]
#[command(after_help = PROGRAM)]
pub struct Prepare {
    /// The program whose runs are prepared; both parties name the same
    pub program: String,
    #[command(flatten)]
    pub least: Least,
    #[command(flatten)]
    pub peer: Peer,
    /// The folder that the runs go into; it is made if it is not there
    #[arg(long, value_name = "FOLDER")]
    pub to: PathBuf,
    /// Prepare until so many runs are ready; both give the same
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub times: u64,
    /// Seal the folder with the key in this file: 32 random bytes or more
    #[arg(long, value_name = "FILE")]
    pub prepared_key: Option<PathBuf>,
    /// A public input of the program; secret ones are given when a prepared run is used
    #[arg(long, short, value_name = "NAME=SOURCE")]
    pub input: Vec<Source>,
    /// A public size of the program
    #[arg(long, short, value_name = "NAME=NUMBER")]
    pub size: Vec<Pair<u64>>,
    #[command(flatten)]
    pub settings: Settings,
    #[arg(long, hide = true, value_name = "NUMBER", value_parser = fills_pools)]
    pub triples: Option<Infallible>,
    #[arg(long, hide = true, value_name = "NUMBER", value_parser = fills_pools)]
    pub cots: Option<Infallible>,
}

/// The error of flags that `duologue prepare` does not have.
fn fills_pools(_: &str) -> Result<Infallible, &'static str> {
    Err("pools are filled by `duologue pool fill --pool FOLDER --triples NUMBER --cots NUMBER`")
}

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Pool {
    #[command(subcommand)]
    pub what: Option<PoolWhat>,
    #[command(flatten)]
    pub show: Option<ShowPool>,
}

#[derive(Subcommand)]
pub enum PoolWhat {
    /// Make correlations ahead of time with a peer, into a pool on disk that runs take from
    Fill(Box<FillPool>),
}

#[derive(clap::Args)]
pub struct FillPool {
    #[command(flatten)]
    pub peer: Peer,
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
    /// The maker of a new pool, both alike: auto (by demand, line and processor; if nothing is told), softspoken1 to
    /// softspoken8, silent (by demand), silent16d to silent20d, silent16w to silent19w
    #[arg(long, value_name = "MAKER")]
    pub correlations: Option<Maker>,
    /// Measure nothing, and choose for this line, both alike: '100ms,100Mbit', lan, internet or transatlantic
    #[arg(long, value_name = "LINK")]
    pub assume_link: Option<Link>,
}

#[derive(clap::Args)]
pub struct ShowPool {
    /// The folder of a pool or of prepared runs
    pub folder: PathBuf,
    /// The file of the key that it is sealed with
    #[arg(long, value_name = "FILE")]
    pub pool_key: Option<PathBuf>,
    /// Read everything and check that it is as it was written
    #[arg(long)]
    pub verify: bool,
}

#[derive(Clone, clap::Args)]
pub struct Meeting {
    /// Wait for the peer at this address, such as 0.0.0.0:7000; port 0 is any free one
    #[arg(long, value_name = "ADDR", required_unless_present = "connect", conflicts_with = "connect")]
    pub listen: Option<String>,
    /// Connect to the peer at this address, such as host:7000 or [::1]:7000; or NAME, a peer whose address
    /// `duologue peers` knows
    #[arg(long, value_name = "ADDR")]
    pub connect: Option<String>,
    /// How long to look for the peer
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub wait: u64,
    /// How long the peer may be silent during the run; both give the same
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub silence: u64,
}

#[derive(Clone, clap::Args)]
pub struct Security {
    /// Your private key; by default the one that the configuration file names or that `duologue keys new` makes
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// The peer's public key, as its `duologue keys` shows it, or the name that `duologue peers` gave it; with --connect
    /// NAME it is that peer's
    #[arg(long, value_name = "KEY", required_unless_present_any = ["insecure_plaintext", "connect"])]
    pub peer_key: Option<PeerKey>,
    /// No encryption, no keys: whoever is on the way reads and changes everything
    #[arg(long, conflicts_with_all = ["key", "peer_key"])]
    pub insecure_plaintext: bool,
}
