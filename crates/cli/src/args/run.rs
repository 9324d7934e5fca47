//! Runs with a peer, and what is prepared for them.

use super::PROGRAM;
use super::values::{Pair, garbling, number, party, scheme, timing};
use duologue::channel::{Link, PublicKey};
use duologue::ot::Extension;
use duologue::{Garbling, Party, Scheme, Timing};
use std::path::PathBuf;

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
