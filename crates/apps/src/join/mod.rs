//! Statistics over the rows that two tables have in common: counts, sums and means of one party's columns, of rows that conditions on
//! the columns of both select, by groups of either.
//!
//! A [`Query`] says what is asked, and both parties have the same one: its [text](Query::text) is in the digest of its program. What a
//! party can decide of its own rows alone it decides in the clear, before it meets the peer ([`Own`]): a condition on its own columns
//! is one bit of each row, a group one number. So the program has gates only for what joins the bits of both:
//!
//! ```text
//! circuit PSI       of each bin: whether both have the key (a shared bit), and bits, groups and numbers of both
//! conditions        of each bin and group one bit: in both, and selected, and of the group
//! conditional sums  of each group how many bins these are, and what their numbers add up to
//! figures           sum / count; whether enough rows are behind a figure, and zeros in its place if not
//! ```
//!
//! Only sums over all bins are opened, so that nothing hangs on the order of bins, which the receiver knows ([`shares`]).
//!
//! **Roles.** The receiver has fewer rows; of as many it is who gives more bits. What it gives costs nothing in circuit PSI. What the sender
//! gives must fit into 128 bits together with a tag: a bit for each of its conditions, ⌈log₂(k + 1)⌉ for k groups, and 8·⌈(w + 24) / 8⌉, at
//! most 64, for a number of w bits. If it does not the parties change roles; that one party's fits is [checked](Query::check) first.
//!
//! **Padding.** A party may fill up its table with random strings to a number of rows that both know, so that its own number stays
//! private. That one of these 128-bit strings is the peer's has less than 2⁻⁸².
//!
//! **Security**: semi-honest parties; that of circuit PSI, equality and conditional sums. Figures are exact, so that whoever asks twice may
//! subtract: a minimum stops figures of few rows, not differences of two figures. Only what one figure plainly tells of another is
//! [refused](Query::check): the same of the same rows, once with groups or a minimum and once without.

mod answers;
mod condition;
mod keys;
mod own;
mod plan;
mod program;
mod run;
#[cfg(test)]
mod tests;

pub use answers::Answer;
pub use condition::{Condition, Test};
pub use keys::Normalise;
pub use own::Own;
pub use run::{run, trade};

use crate::psi::{Learns, shares};
use crate::statistics::FRACTION;
use duologue::circuit::{Error, Party, Result};
use plan::Plan;
use std::fmt;

/// The most rows of a party, padding included.
pub const MOST_ROWS: u64 = shares::MOST;

/// The most bits of a number.
pub const MOST_BITS: u32 = 64;

/// The most groups of a figure.
pub const MOST_GROUPS: usize = 1 << 12;

/// The most figures of a query.
pub const MOST_FIGURES: usize = 1 << 8;

/// Bits of a count of rows.
const COUNT_BITS: u32 = 24;

/// Bits that the sender can give for each row, whatever the numbers of rows.
const MOST_SENT: u32 = 64;

/// Bits of a mean after the point.
pub const MEAN_FRACTION: u32 = FRACTION;

/// A column of a table.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Column {
    /// Whose table it is in.
    pub party: Party,
    /// Its name.
    pub name: String,
    /// How its cells are read: for people and for the digest.
    pub form: String,
}

/// A column of whole numbers with a sign.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Number {
    /// The column.
    pub column: Column,
    /// Bits of a number, with the sign.
    pub bits: u32,
}

/// Groups of rows by the values of a column.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Groups {
    /// The column.
    pub column: Column,
    /// The value of each group. Rows with none of them are in no group.
    pub values: Vec<String>,
}

/// What is computed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum What {
    /// How many rows there are.
    Count,
    /// What the numbers add up to.
    Sum(Number),
    /// Their sum by how many they are, rounded once to the nearest multiple of 2⁻¹⁶, of two the one farther from zero. Of no rows there is
    /// none.
    Mean(Number),
}

/// One figure, or one for each group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Figure {
    /// Its name, which no other figure has.
    pub name: String,
    /// What it is.
    pub what: What,
    /// Of which rows; if nothing is said, of all that both have.
    pub of: Option<Condition>,
    /// By which groups.
    pub by: Option<Groups>,
    /// With fewer rows than this behind it, it is withheld.
    pub minimum: u64,
}

/// What is asked of two tables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Query {
    /// Who learns the figures.
    pub learns: Learns,
    /// What the keys of Alice's rows and of Bob's are, and what becomes of repeated ones: for people and for the digest.
    pub keys: [String; 2],
    /// The figures.
    pub figures: Vec<Figure>,
}

impl Query {
    /// All of it, a line for each part: what both parties must have equal.
    pub fn text(&self) -> String {
        let keys = [Party::Alice, Party::Bob].into_iter().zip(&self.keys);
        let keys: String = keys.map(|(party, key)| format!("{} key {}\n", lower(party), quoted(key))).collect();
        let figures: String = self.figures.iter().map(|figure| format!("{figure}\n")).collect();
        format!("{} learns\n{keys}{figures}", self.learns)
    }

    /// Whether it can be computed, whatever the numbers of rows.
    ///
    /// # Errors
    /// [`Error::Usage`] that says which part is wrong.
    pub fn check(&self) -> Result<()> {
        if !(1..=MOST_FIGURES).contains(&self.figures.len()) {
            return Err(Error::usage(format!("a query has 1 to {MOST_FIGURES} figures, not {}", self.figures.len())));
        }
        for (place, figure) in self.figures.iter().enumerate() {
            figure.check().map_err(|why| Error::usage(format!("the figure {}: {why}", quoted(&figure.name))))?;
            self.figures[..place].iter().try_for_each(|before| figure.check_beside(before))?;
        }
        Plan::new(self).check()
    }

    /// The tests that a party makes of each of its rows, before it meets the peer.
    pub fn tests(&self, party: Party) -> Vec<Test> {
        Plan::new(self).tests(party)
    }

    /// The groups that it puts its rows into.
    pub fn groups(&self, party: Party) -> Vec<Groups> {
        Plan::new(self).groups(party).cloned().collect()
    }

    /// The numbers that it gives for each row.
    pub fn numbers(&self, party: Party) -> Vec<Number> {
        Plan::new(self).numbers(party).cloned().collect()
    }
}

impl Figure {
    fn check(&self) -> std::result::Result<(), String> {
        let bits = match &self.what {
            What::Count => 1,
            What::Sum(number) | What::Mean(number) => number.bits,
        };
        let groups = self.by.as_ref().map_or(1, |by| by.values.len());
        let twice = self.by.as_ref().and_then(|by| {
            by.values
                .iter()
                .enumerate()
                .find(|(place, value)| by.values[..*place].contains(value))
                .map(|(_, value)| value)
        });
        match () {
            () if !(1..=MOST_NAME).contains(&self.name.len()) || self.name.chars().any(char::is_control) => {
                Err(format!("a name has 1 to {MOST_NAME} bytes, and no control character"))
            }
            () if !(1..=MOST_BITS).contains(&bits) => Err(format!("numbers have 1 to {MOST_BITS} bits, not {bits}")),
            () if !(1..=MOST_GROUPS).contains(&groups) => {
                Err(format!("there are 1 to {MOST_GROUPS} groups, not {groups}"))
            }
            () if self.minimum > MOST_ROWS => Err(format!("a minimum is at most {MOST_ROWS}, not {}", self.minimum)),
            () => match twice {
                Some(value) => Err(format!("the group {} comes twice", quoted(value))),
                None => self.of.as_ref().map_or(Ok(()), Condition::check),
            },
        }
    }

    /// Whether another figure may be in the same query.
    fn check_beside(&self, other: &Figure) -> Result<()> {
        let [ours, others] = [self, other].map(|figure| quoted(&figure.name));
        let is_same = self.what == other.what && self.of == other.of;
        let differs = self.by != other.by || self.minimum != other.minimum;
        match () {
            () if self.name == other.name => Err(Error::usage(format!("two figures are named {ours}"))),
            () if self.takes_name(&other.name) || other.takes_name(&self.name) => Err(Error::usage(format!(
                "the figures {others} and {ours}: the longer name is that of the output which says whether the other is told: give another"
            ))),
            () if is_same && differs && self.minimum.max(other.minimum) > 0 => Err(Error::usage(format!(
                "the figures {others} and {ours}: {}, of the same rows, so that one tells what the minimum of the other withholds: \
                 give both the same groups and the same minimum, or leave out one",
                self.what
            ))),
            () => Ok(()),
        }
    }

    /// Whether this is the name of the output that says whether it is told.
    fn takes_name(&self, name: &str) -> bool {
        self.least() > 0 && program::told_port(self) == name
    }

    /// How many numbers it is.
    fn lanes(&self) -> usize {
        self.by.as_ref().map_or(1, |by| by.values.len())
    }

    /// With fewer rows behind it, it is not told.
    fn least(&self) -> u64 {
        self.minimum.max(matches!(self.what, What::Mean(_)).into())
    }
}

/// The most bytes of a figure's name.
const MOST_NAME: usize = 200;

fn lower(party: Party) -> String {
    party.to_string().to_lowercase()
}

/// A name as it stands in a text: in quotes if it is no word.
fn quoted(name: &str) -> String {
    let is_word = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    if is_word { name.into() } else { format!("{name:?}") }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", lower(self.party), quoted(&self.name))?;
        if self.form.is_empty() { Ok(()) } else { write!(f, ":{}", quoted(&self.form)) }
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, number) = match self {
            What::Count => return f.write_str("count"),
            What::Sum(number) => ("sum", number),
            What::Mean(number) => ("mean", number),
        };
        write!(f, "{name} of {} in {} bits", number.column, number.bits)
    }
}

impl fmt::Display for Groups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values: Vec<String> = self.values.iter().map(|value| format!("{value:?}")).collect();
        write!(f, "{} of {}", self.column, values.join(", "))
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", quoted(&self.name), self.what)?;
        if let Some(of) = &self.of {
            write!(f, " where {of}")?;
        }
        if let Some(by) = &self.by {
            write!(f, " by {by}")?;
        }
        if self.minimum > 0 { write!(f, " with {} rows or more", self.minimum) } else { Ok(()) }
    }
}
