//! A function of one party, data of the other.

use super::run::Peer;
use super::values::{Pair, number};
use clap::ValueEnum;
use duologue::channel::Link;

const FORMS: &str = "\
FUNCTION is a circuit in Bristol Fashion or the old Bristol format, or a program
that is one circuit: a .duo file, or a block such as block:multiply:32; or a
file that an application reads: app:scorecard:FILE, app:tariff:FILE,
app:rules:BYTES:FILE for texts of so many bytes. Its inputs, one after the other, are the bits of x, and its outputs those of y.
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
#[command(after_help = FORMS)]
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
    /// Alice: how often Bob may run it
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: u32,
    /// Bob: the data, x=SOURCE
    #[arg(long, short, value_name = "x=SOURCE")]
    pub input: Option<Pair<String>>,
    /// Bob: where the result goes, a file .npy or .csv; by default it is shown
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
    /// Bob: run without asking
    #[arg(long, short)]
    pub yes: bool,
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
