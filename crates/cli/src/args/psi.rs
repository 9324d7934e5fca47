//! Private set intersection.

use super::Peer;
use apps::psi::Learns;
use clap::builder::{PossibleValuesParser, TypedValueParser};

/// What is compared, and what is told.
const KEYS: &str = "\
Keys are compared byte by byte: blanks, case and zeros in front count, so
bring both columns into one form first. An integer of Parquet or Arrow is its
decimal digits. A key may come once in a table, and no key is empty.

Both parties learn how many rows the other has. Who is not named by --learns
learns nothing else.

  alice$ duologue psi --as alice --listen 0.0.0.0:7000 --peer-key bob --learns alice \\
           --input customers.csv:email --output known.csv
  bob$   duologue psi --as bob --connect alice.example.org:7000 --peer-key alice --learns alice \\
           --input members.csv:mail";

#[derive(clap::Args)]
#[command(after_help = KEYS)]
pub struct Psi {
    #[command(flatten)]
    pub peer: Peer,
    /// Your table and the name of its column of keys: FILE.csv:COLUMN; .parquet and .arrow too, if this build has the feature
    /// parquet
    #[arg(long, short, value_name = "FILE:COLUMN", allow_hyphen_values = true)]
    pub input: String,
    /// Who learns which of its rows have a key that the other has too, both alike
    #[arg(long, value_name = "PARTY", value_parser = learns())]
    pub learns: Learns,
    /// Where these rows go, with all their columns: a file of the input's format, or - for standard output; by default they are
    /// counted
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<String>,
}

fn learns() -> impl TypedValueParser<Value = Learns> {
    PossibleValuesParser::new(["alice", "bob", "both"]).try_map(|name| name.parse::<Learns>())
}
