//! One job on many machines.

use super::PROGRAM;
use super::run::FORMS;
use super::values::{Pair, Protocol, Source, garbling, host, party, ports, protocol};
use crate::config::{MOST_THREADS, Maker, PeerKey};
use clap::{Subcommand, ValueEnum};
use duologue::channel::{Link, PublicKey};
use duologue::job::MOST_SHARDS;
use duologue::{Garbling, Party};
use std::ops::RangeInclusive;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Job {
    #[command(subcommand)]
    pub what: JobWhat,
}

#[derive(Subcommand)]
pub enum JobWhat {
    /// Cut a program by its lanes into shards, and say what each computes
    Plan(JobPlan),
    /// Make ahead of time the correlations that the shards of a job will draw by the protocol that --protocol names, into a pool for
    /// each; both parties run it, with drivers and workers as `drive` has them
    Prepare(Box<JobPrepare>),
    /// Drive one party's side of a job: agree with the other party's driver, and have workers compute the shards, with the pools that
    /// `prepare` has left in the folder
    Drive(Box<JobDrive>),
    /// Compute shards for a driver, one after another, until it says that the job is over
    Worker(JobWorker),
    /// Write the outputs of a job whose shards are finished
    Merge(JobMerge),
    /// Find out whether each worker reaches one of the other party's; both parties run it, with as many workers
    Doctor(Box<JobDoctor>),
}

/// How a program is cut.
#[derive(clap::Args)]
pub struct Cut {
    /// Into how many shards the lanes are cut; both parties give the same
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=MOST_SHARDS.into()))]
    pub shards: Option<u32>,
    /// The size whose lanes are cut, where there is more than one that could be; both parties give the same
    #[arg(long, value_name = "SIZE")]
    pub by: Option<String>,
}

#[derive(clap::Args)]
#[command(after_help = PROGRAM)]
pub struct JobPlan {
    /// The program to cut
    pub program: String,
    #[command(flatten)]
    pub cut: Cut,
    /// A public size of the program
    #[arg(long, short, value_name = "NAME=NUMBER")]
    pub size: Vec<Pair<u64>>,
    /// The file that the plan goes to, say faces.job; `duologue job drive` takes it in place of a program
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Who starts the workers.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Launch {
    /// The driver, on this machine
    Local,
    /// Ray, as actors of this party's cluster; Python must have `pip install 'duologue[ray]'`
    Ray,
    /// Something else: each is `duologue job worker`, anywhere
    Wait,
}

/// Which party this is, and how its driver meets the other one and its own workers.
#[derive(clap::Args)]
pub struct JobParties {
    /// Which party you are
    #[arg(long = "as", value_name = "PARTY", value_parser = party())]
    pub party: Party,
    /// The control port: here this party's workers come, and the other party's driver unless --connect names where that is; by
    /// default any port of 127.0.0.1, or with --launch ray of this machine's address in the cluster
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<String>,
    /// Connect to the other party's driver at this address; or NAME, a peer whose address `duologue peers` knows
    #[arg(long, value_name = "ADDR")]
    pub connect: Option<String>,
    /// Your private key; by default the one that the configuration file names or that `duologue keys new` makes
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// The peer's public key, or the name that `duologue peers` gave it; with --connect NAME it is that peer's
    #[arg(long, value_name = "KEY", required_unless_present = "connect")]
    pub peer_key: Option<PeerKey>,
    /// How long to look for the other driver, and how long no worker at all may be there
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub wait: u64,
    /// How long the other driver, a worker or its peer may be silent; both give the same
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub silence: u64,
    /// Who starts the workers
    #[arg(long, value_enum, default_value = "local")]
    pub launch: Launch,
    /// How many workers the driver starts; the other party may have another number
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub workers: u16,
    /// The address of this party's cluster, for --launch ray; by default that of RAY_ADDRESS, or the one on this machine
    #[arg(long, value_name = "ADDR")]
    pub ray_address: Option<String>,
    /// Options of each worker's actor in JSON, with Ray's meanings, such as '{"resources": {"mpc": 1}}'; by default as many processors
    /// as --threads
    #[arg(long, value_name = "JSON")]
    pub ray_options: Option<String>,
    /// The key pair by which workers prove that they are this party's, which `duologue keys new --key FILE` made; by default
    /// a new one
    #[arg(long, value_name = "FILE")]
    pub worker_key: Option<PathBuf>,
    /// The ports at which workers that the driver starts listen for the other party's, if they are those that listen
    #[arg(long, value_name = "FROM-TO", value_parser = ports)]
    pub ports: Option<RangeInclusive<u16>>,
    /// The name of this machine by which the other party's workers reach those that the driver starts
    #[arg(long, value_name = "HOST", value_parser = host)]
    pub host: Option<String>,
}

/// A job, how its shards are computed, and where it is kept.
#[derive(clap::Args)]
pub struct JobTask {
    /// The program of the job, or a plan that `duologue job plan` wrote; both parties name the same
    #[arg(value_name = "PROGRAM")]
    pub program: String,
    #[command(flatten)]
    pub cut: Cut,
    #[command(flatten)]
    pub parties: JobParties,
    /// How long an attempt at a shard may take; both give the same
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    pub deadline: u64,
    /// The folder of this job: what is finished is kept there. Workers need it, and the inputs, at the same path
    #[arg(long, value_name = "FOLDER")]
    pub state: PathBuf,
    /// Go on with the job in the folder: what both parties have finished is not done again
    #[arg(long)]
    pub resume: bool,
    /// A public size of the program
    #[arg(long, short, value_name = "NAME=NUMBER")]
    pub size: Vec<Pair<u64>>,
    #[command(flatten)]
    pub settings: JobSettings,
}

#[derive(clap::Args)]
#[command(after_help = PROGRAM)]
pub struct JobPrepare {
    #[command(flatten)]
    pub task: JobTask,
}

#[derive(clap::Args)]
#[command(after_help = format!("{PROGRAM}\n\n{FORMS}"))]
pub struct JobDrive {
    #[command(flatten)]
    pub task: JobTask,
    /// An input of yours, a public one, or your share of a shared one; or a table whose columns have the names of inputs
    #[arg(long, short, value_name = "NAME=SOURCE")]
    pub input: Vec<Source>,
    /// Where an output goes; by default it is shown
    #[arg(long, short, value_name = "NAME=FILE")]
    pub output: Vec<Pair<String>>,
    /// Leave the outputs in the folder, for `duologue job merge`
    #[arg(long, conflicts_with = "output")]
    pub no_merge: bool,
    /// Run without asking
    #[arg(long, short)]
    pub yes: bool,
    /// Run without asking if the program has this digest
    #[arg(long, value_name = "HEX", conflicts_with = "yes")]
    pub expect_digest: Option<String>,
}

/// How shards are computed.
#[derive(clap::Args)]
pub struct JobSettings {
    /// The protocol; auto is what each pair of workers predicts to be best over its line, which both measure, or --assume-link
    #[arg(long, default_value = "auto", value_parser = protocol())]
    pub protocol: Protocol,
    /// Who garbles in Yao; by default the party with more input bits
    #[arg(long, value_name = "PARTY", value_parser = party())]
    pub garbler: Option<Party>,
    /// How Yao garbles an AND, both alike: half-gates, the usual, send 32 bytes, three-halves 25 for more computing; without it --protocol auto takes the better one
    #[arg(long, value_parser = garbling())]
    pub garbling: Option<Garbling>,
    /// The maker of correlations, both alike: auto (by demand, line and processor), softspoken1 to softspoken8, silent (by demand),
    /// silent16d to silent20d, silent16w to silent19w
    #[arg(long, value_name = "MAKER", default_value = "auto")]
    pub correlations: Maker,
    /// Measure nothing, and choose for this line, both alike: '100ms,100Mbit', lan, internet or transatlantic
    #[arg(long, value_name = "LINK")]
    pub assume_link: Option<Link>,
    /// Simulate a line between each pair of workers, on both sides: '100ms,100Mbit', lan, internet or transatlantic
    #[arg(long)]
    pub link: Option<Link>,
    /// How many threads each worker has
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS.into()))]
    pub threads: u16,
}

#[derive(clap::Args)]
pub struct JobWorker {
    /// The control port of this party's driver
    #[arg(long, value_name = "ADDR", env = "DUOLOGUE_DRIVER")]
    pub driver: String,
    /// The driver's public key, which is the party's
    #[arg(long, value_name = "KEY", env = "DUOLOGUE_DRIVER_KEY")]
    pub driver_key: PublicKey,
    /// The file of the key pair of this job's workers; without it the environment variable DUOLOGUE_WORKER_KEY has its text
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// The ports at which it listens for the other party's worker, if it is the side that listens; by default any free one
    #[arg(long, value_name = "FROM-TO", value_parser = ports, env = "DUOLOGUE_WORKER_PORTS")]
    pub ports: Option<RangeInclusive<u16>>,
    /// The name of this machine by which the other party's worker reaches it; by default the address on the way to the driver
    #[arg(long, value_name = "HOST", value_parser = host, env = "DUOLOGUE_WORKER_HOST")]
    pub host: Option<String>,
    /// How long to look for the driver
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub wait: u64,
}

#[derive(clap::Args)]
pub struct JobMerge {
    /// The folder of the job, as `duologue job drive --state` had it
    #[arg(value_name = "FOLDER")]
    pub state: PathBuf,
    /// Where an output goes; by default it is shown
    #[arg(long, short, value_name = "NAME=FILE")]
    pub output: Vec<Pair<String>>,
}

#[derive(clap::Args)]
pub struct JobDoctor {
    #[command(flatten)]
    pub parties: JobParties,
}
