//! Private set intersection.

use super::Peer;
use apps::psi::shares::{COUNT_WIDTH, MOST_VALUE_WIDTH};
use apps::psi::{Learns, Reveal};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::fmt;

/// What is compared, and what is told.
const KEYS: &str = "\
Keys are compared byte by byte: blanks, case and zeros in front count, so
bring both columns into one form first. An integer of Parquet or Arrow is its
decimal digits. A key may come once in a table, and no key is empty.

Both parties learn how many rows the other has. Who is not named by --learns
learns nothing else. --reveal size, sum and threshold tell no row: how many
keys both have; the sum of one party's column --value over these keys; whether
they are at least --threshold many.

  alice$ duologue psi --as alice --listen 0.0.0.0:7000 --peer-key bob --learns alice \\
           --input customers.csv:email --output known.csv
  bob$   duologue psi --as bob --connect alice.example.org:7000 --peer-key alice --learns alice \\
           --input members.csv:mail

  alice$ duologue psi --as alice … --learns both --reveal sum --input customers.csv:email
  bob$   duologue psi --as bob … --learns both --reveal sum --input sales.csv:mail --value amount --repeated sum";

#[derive(clap::Args)]
#[command(after_help = KEYS)]
pub struct Psi {
    #[command(flatten)]
    pub peer: Peer,
    /// Your table and the name of its column of keys: FILE.csv:COLUMN; .parquet and .arrow too, if this build has the feature
    /// parquet
    #[arg(long, short, value_name = "FILE:COLUMN", allow_hyphen_values = true)]
    pub input: String,
    /// Who learns, both alike
    #[arg(long, value_name = "PARTY", value_parser = learns())]
    pub learns: Learns,
    /// What they learn, both alike: which of their rows have a key that the other has too, how many keys both have, the sum of a
    /// column of one party over these, or whether they are as many as --threshold
    #[arg(long, value_name = "WHAT", default_value = "rows", value_parser = reveal())]
    pub reveal: Reveal,
    /// Where the rows go, with all their columns: a file of the input's format, or - for standard output; by default they are
    /// counted
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<String>,
    /// For --reveal sum, at one party: the column of integers of your table that is added up
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub value: Option<String>,
    /// Bits of the values, with their sign; the peer learns this number
    #[arg(long, value_name = "BITS", default_value_t = 32, requires = "value",
          value_parser = clap::value_parser!(u8).range(1..=i64::from(MOST_VALUE_WIDTH)))]
    pub value_bits: u8,
    /// For --reveal threshold, both alike: how many keys are enough
    #[arg(long, value_name = "KEYS", value_parser = clap::value_parser!(u64).range(1..1 << COUNT_WIDTH))]
    pub threshold: Option<u64>,
    /// What becomes of rows with the same key, before the peer is called: they are refused, or for another --reveal than rows the
    /// first one counts, or their values are added up
    #[arg(long, value_name = "HOW", default_value = "refuse")]
    pub repeated: Repeated,
}

/// What becomes of rows with the same key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Repeated {
    /// They are refused
    Refuse,
    /// The first one counts
    First,
    /// Their values are added up
    Sum,
}

impl fmt::Display for Repeated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Repeated::Refuse => "refuse",
            Repeated::First => "first",
            Repeated::Sum => "sum",
        })
    }
}

pub(super) fn learns() -> impl TypedValueParser<Value = Learns> {
    PossibleValuesParser::new(["alice", "bob", "both"]).try_map(|name| name.parse::<Learns>())
}

fn reveal() -> impl TypedValueParser<Value = Reveal> {
    PossibleValuesParser::new(Reveal::ALL.map(Reveal::name)).try_map(|name| name.parse::<Reveal>())
}
