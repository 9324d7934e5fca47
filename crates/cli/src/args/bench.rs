//! Benchmarks.

use super::values::{PerhapsLink, garbling, number, party, perhaps_link, scheme};
use crate::config::{MOST_THREADS, PeerKey};
use clap::Subcommand;
use duologue::channel::Link;
use duologue::{Garbling, Party, Scheme};
use std::path::PathBuf;

/// The figures of `duologue bench`.
const FIGURES: &str = "\
Without --circuits the figures of the engines are measured:
  garble, evaluate          the engine of Yao alone, AES-128 over 4,096 lanes on one core
  garble_cold, evaluate_cold  the same over 2,048 lanes, each party by itself: tables go to
                            and come from memory that is in no cache
  strands2_garble, _evaluate  how many times as fast that is with two strands on one thread
  threads2_garble, _evaluate  the same with two strands on two threads, each on a core of its
                            own; threads2 is the smaller of both
  threads2_garble_1strand, threads2_evaluate_1strand  the same if no strands were agreed on
  threads2_gmw, _masked     the same of GMW and of masked GMW, AES-128 over 100,000 lanes,
                            online
  threads2_softspoken4, _triples, _silent  the same of makers of correlations: SoftSpoken 4, its
                            triples, and silent16w
  mover_garble, _evaluate   the engine of Yao over TCP on one thread, against a sink and a
                            recorded stream, with a thread that moves bytes on the core of these
  yao_memory, _tcp, _tls    AES-128 over 4,096 lanes, garbled and evaluated end to end by sessions
  channel_tcp, _tls         what the channel alone carries one way
  aes_latency, _memory      one AES-128 block by Yao with its tables ready, over TCP or memory
  session_start             from connecting over TCP to the first correlated OTs of both
                            directions
  aes_first_tls             from connecting over TLS to the output of one AES-128 block by Yao
  gmw_alone                 GMW without a channel, online
  gmw_online, _memory       GMW, AES-128 over 100,000 lanes, online, over TCP or memory
  gmw_product512            one 512-bit product by GMW over TCP, online
  stream_memory_yao, _gmw   memory of a party while 10^9 ANDs stream by; stream_memory is the larger
Every output is compared with the one computed in the clear. Each party has one
thread, but for threads2 and mover.

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
    /// The peer's public key, or its name; without it the line is not encrypted
    #[arg(long, value_name = "KEY", requires = "party")]
    pub peer_key: Option<PeerKey>,
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
    #[arg(long, default_value = "half-gates", value_parser = garbling())]
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
    /// Numbers of threads of a party, and of strands; with more than one a party has no core of its own
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_value = "1", requires = "circuits")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=MOST_THREADS.into()))]
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
    #[command(flatten)]
    pub peer: BenchParty,
    /// Measure one case, for the process that started it, and print what this party saw
    #[arg(long, hide = true, requires = "party")]
    pub case: Option<String>,
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
    #[command(flatten)]
    pub peer: BenchParty,
    /// Print what this party measured of one figure, for the process that started it
    #[arg(long, hide = true, requires = "party")]
    pub raw: bool,
}
