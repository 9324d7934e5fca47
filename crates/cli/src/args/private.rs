//! A function of one party, data of the other.

use super::run::Peer;
use super::values::{Source, number};
use clap::{Subcommand, ValueEnum};
use duologue::channel::Link;
use std::path::PathBuf;

const FORMS: &str = "\
FUNCTION is a circuit in Bristol Fashion or the old Bristol format, or a program
that is one circuit: a .duo file, or a block such as block:multiply:32; or a
file that an application reads: app:scorecard:FILE, app:tariff:FILE,
app:rules:BYTES:FILE for texts of so many bytes. Its inputs, one after the other, are the bits of x, and its outputs
those of y. Inputs that Alice names in --input are constants of her function, and
not in x: nothing that Bob sees depends on them.
SOURCE is as for `duologue run`; each lane of x is a run of its own.

Security: both parties follow the protocol. By a universal circuit, an Alice who
does not makes the result wrong and learns at most whether Bob stops. By linear
methods, which auto takes only if both parties give --allow-linear, an Alice who
does not learns all of x, unseen, and a Bob who does not learns parts of the
function. Every run answers a question about the function.";

/// Evaluate a function that is one party's secret on data that is the other's
///
/// Alice holds the function and Bob the data; Bob alone learns the result, and of the function how many bits it takes and
/// gives, how many gates it has and, by linear methods, how many additions outside gates; of auto both numbers of gates.
#[derive(clap::Args)]
#[command(after_help = FORMS, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct PrivateVerb {
    #[command(subcommand)]
    pub what: Option<PrivateWhat>,
    #[command(flatten)]
    pub run: Option<Private>,
}

#[derive(Subcommand)]
pub enum PrivateWhat {
    /// Make runs ahead of the data, of both parties' halves into folders, for `duologue private --prepared`
    Prepare(Box<PreparePrivate>),
}

// The group, by which clap knows whether a run is asked for, has the one flag that every run gives.
#[derive(clap::Args)]
#[group(args = ["party"])]
pub struct Private {
    #[command(flatten)]
    pub peer: Peer,
    /// Alice: the function
    #[arg(long, value_name = "FUNCTION")]
    pub function: Option<String>,
    /// Alice: pad it to so many gates, by each method that may be taken
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    pub gates: Option<u64>,
    /// Alice: by linear methods, pad it to so many additions outside gates; to six a gate unless told (dh alone has them)
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    pub additions: Option<u64>,
    /// Alice: what its gates are; thresholds for dh unless told, NANDs for elgamal, bfv and djn
    #[arg(long, value_enum)]
    pub form: Option<Gates>,
    /// Alice: how often Bob may run it; once unless told
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=i64::from(pfe::MOST_RUNS)))]
    pub runs: Option<u32>,
    /// Bob: the data, x=SOURCE. Alice: an input of the function that is hers, NAME=SOURCE, the same in all runs
    #[arg(long, short, value_name = "NAME=SOURCE")]
    pub input: Vec<Source>,
    /// Bob: where the result goes, a file .npy, .csv or another of those that `duologue run` writes; by default it is shown
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<String>,
    /// The protocol
    #[arg(long, value_enum, default_value = "auto")]
    pub method: PrivateMethod,
    /// Let auto take a linear method, which is safe only if both parties follow the protocol; both give it, or none is taken
    #[arg(long)]
    pub allow_linear: bool,
    /// Measure nothing, and let auto choose for this line, both alike: '100ms,100Mbit', lan, internet or transatlantic
    #[arg(long, value_name = "LINK")]
    pub assume_link: Option<Link>,
    /// Use runs that `duologue private prepare` put into this folder, on both sides; Alice gives the same function
    #[arg(long, value_name = "FOLDER",
          conflicts_with_all = ["gates", "additions", "runs", "allow_linear", "assume_link"])]
    pub prepared: Option<PathBuf>,
    /// The file of the key that the folder of prepared runs is sealed with: 32 random bytes or more
    #[arg(long, value_name = "FILE", requires = "prepared")]
    pub prepared_key: Option<PathBuf>,
    /// Bob: run without asking
    #[arg(long, short)]
    pub yes: bool,
}

#[derive(clap::Args)]
pub struct PreparePrivate {
    #[command(flatten)]
    pub peer: Peer,
    /// The folder that this party's half goes into, which does not exist or is empty
    #[arg(long, value_name = "FOLDER")]
    pub to: PathBuf,
    /// Seal the folder with the key in this file: 32 random bytes or more
    #[arg(long, value_name = "FILE")]
    pub prepared_key: Option<PathBuf>,
    /// Alice: how many runs; one unless told
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=i64::from(pfe::MOST_RUNS)))]
    pub times: Option<u32>,
    /// Alice: the function
    #[arg(long, value_name = "FUNCTION")]
    pub function: Option<String>,
    /// Alice: an input of the function that is hers, the same in all runs
    #[arg(long, short, value_name = "NAME=SOURCE")]
    pub input: Vec<Source>,
    /// Alice: pad it to so many gates
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    pub gates: Option<u64>,
    /// Alice: pad it to so many additions outside gates; to six a gate unless told
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    pub additions: Option<u64>,
    /// Alice: what its gates are; thresholds unless told
    #[arg(long, value_enum)]
    pub form: Option<Gates>,
    /// The protocol: dh is the one of which runs are prepared, and it is linear
    #[arg(long, value_enum, default_value = "auto")]
    pub method: PrivateMethod,
    /// Bob: prepare without asking
    #[arg(long, short)]
    pub yes: bool,
}

impl PreparePrivate {
    /// What is prepared, as a run.
    pub fn as_run(&self) -> Private {
        Private {
            peer: self.peer.clone(),
            function: self.function.clone(),
            gates: self.gates,
            additions: self.additions,
            form: self.form,
            runs: self.times,
            input: self.input.clone(),
            output: None,
            method: self.method,
            allow_linear: false,
            assume_link: None,
            prepared: None,
            prepared_key: self.prepared_key.clone(),
            yes: self.yes,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Gates {
    /// Majorities of three bits, with XOR and NOT of them free
    Thresholds,
    /// NANDs alone, as in the papers
    Nands,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum PrivateMethod {
    /// The one that is predicted to be done first of those that both parties allow: universal, and with --allow-linear dh
    Auto,
    /// Diffie-Hellman labels: fewer bytes, more computing; linear
    Dh,
    /// A universal circuit that Alice garbles
    Universal,
    /// Katz and Malka's protocol with ElGamal, for comparison
    Elgamal,
    /// The same with BFV: 14,768 bytes a gate, which wait in a temporary file if they are many
    Bfv,
    /// The same with Paillier's system, as Damgård, Jurik and Nielsen have it
    Djn,
}
