//! Statistics of the rows that two tables have in common.

use super::{Peer, Repeated};
use apps::join::{MOST_ROWS, Normalise};
use apps::psi::Learns;
use clap::ValueEnum;
use duologue::circuit::Party;
use std::str::FromStr;

/// What both state, and how columns are written.
const QUERY: &str = "\
Both parties give --learns, --normalise, --repeated, --alice, --bob, --where, --by,
--count, --sum, --mean and --minimum alike: that is the query, which they compare
before a key is used. --input, --pad and --output are one's own; but the peer sees how
many rows there are in the end.

COLUMN of --alice and --bob is the name of a column of that party's table and how
its cells are read, parts joined by ':', as in --input of `duologue run`:
  views            whole numbers of 32 bits with a sign
  amount:decimal(2):int(40)   decimal numbers, as hundredths of 40 bits
  since:date       dates, as days since 1970
  region:text      text, which equals itself byte by byte
Where both tables have a column of one name, write alice.NAME and bob.NAME.

CONDITION compares columns with constants by < <= = != >= >, and joins that by
and, or, not and parentheses: \"views >= 10 and not (region = 'north' or amount < 2.50)\".
What is on one party's columns alone that party computes for itself.

  alice$ duologue join --as alice --listen 0.0.0.0:7000 --peer-key bob --learns alice \\
           --input ads.csv:email --alice views --bob amount:decimal(2) --bob region:text \\
           --where 'views >= 10' --by region=north,south --count --sum amount --minimum 20
  bob$   duologue join --as bob --connect alice.example.org:7000 --peer-key alice --learns alice \\
           --input shop.csv:mail --alice views --bob amount:decimal(2) --bob region:text \\
           --where 'views >= 10' --by region=north,south --count --sum amount --minimum 20";

#[derive(clap::Args)]
#[command(after_help = QUERY)]
pub struct Join {
    #[command(flatten)]
    pub peer: Peer,
    /// Your table and the name of its column of keys: FILE.csv:COLUMN; .parquet and .arrow too, if this build has the feature
    /// parquet
    #[arg(long, short, value_name = "FILE:COLUMN", allow_hyphen_values = true)]
    pub input: String,
    /// Bring all keys into one form before they are compared: email (blanks around are dropped, A to Z become a to z)
    #[arg(long, value_name = "FORM")]
    pub normalise: Option<Normalise>,
    /// Who learns
    #[arg(long, value_name = "PARTY", value_parser = super::psi::learns())]
    pub learns: Learns,
    /// A column of Alice's table that the query speaks of
    #[arg(long, value_name = "COLUMN")]
    pub alice: Vec<String>,
    /// A column of Bob's table that the query speaks of
    #[arg(long, value_name = "COLUMN")]
    pub bob: Vec<String>,
    /// Of which rows: those for which this holds; by default all that both have
    #[arg(long = "where", value_name = "CONDITION", allow_hyphen_values = true)]
    pub of: Option<String>,
    /// By groups: a column, and the values of the groups
    #[arg(long, value_name = "COLUMN=VALUE,…", allow_hyphen_values = true)]
    pub by: Option<String>,
    /// Tell how many rows there are
    #[arg(long)]
    pub count: bool,
    /// Tell what a column adds up to
    #[arg(long, value_name = "COLUMN")]
    pub sum: Vec<String>,
    /// Tell the mean of a column, rounded to a multiple of 2^-16
    #[arg(long, value_name = "COLUMN")]
    pub mean: Vec<String>,
    /// Withhold each figure with fewer rows behind it
    #[arg(long, value_name = "ROWS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=MOST_ROWS))]
    pub minimum: u64,
    /// What becomes of rows with the same key, in both tables, or of alice=HOW and bob=HOW: refuse (the default), first (the
    /// first one counts), or sum (numbers of --sum and --mean are added up, all else is equal)
    #[arg(long, value_name = "[PARTY=]HOW")]
    pub repeated: Vec<OfRepeated>,
    /// Fill your table up to so many rows, so that the peer hears this number and not your own
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u64).range(1..=MOST_ROWS))]
    pub pad: Option<u64>,
    /// Where the figures go, for who learns: FILE.csv, or - for standard output as CSV; by default they are shown
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<String>,
}

/// What becomes of rows with the same key in one party's table, or in both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OfRepeated {
    party: Option<Party>,
    how: Repeated,
}

impl FromStr for OfRepeated {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (party, how) = match text.split_once('=') {
            Some(("alice", how)) => (Some(Party::Alice), how),
            Some(("bob", how)) => (Some(Party::Bob), how),
            Some(_) => return Err("expected alice=HOW or bob=HOW".into()),
            None => (None, text),
        };
        let how = Repeated::from_str(how, false).map_err(|_| "there are refuse, first and sum".to_owned())?;
        Ok(OfRepeated { party, how })
    }
}

impl Join {
    /// What becomes of rows with the same key in a party's table: what was said last of it.
    pub fn repeated_of(&self, party: Party) -> Repeated {
        let of = self.repeated.iter().rev().find(|of| of.party.is_none_or(|whose| whose == party));
        of.map_or(Repeated::Refuse, |of| of.how)
    }
}
