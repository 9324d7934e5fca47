//! Functions that their owner keeps private: a score card, a tariff, and rules that a text is searched for.
//!
//! Each is read from a text file, has a plain meaning (`evaluate`), and becomes a circuit in which all that is in the file is
//! a constant. What the circuit's ports are does not depend on the file but for what its page says; how many gates there are
//! does, and is padded by those who run it. `duologue private --function app:scorecard:FILE` runs them.
//!
//! In the files `#` begins a comment, and empty lines mean nothing. Words are parted by blanks.

mod rules;
mod scorecard;
mod tariff;

pub use rules::{Automaton, Rules};
pub use scorecard::ScoreCard;
pub use tariff::Tariff;

use duologue::Error;
use duologue::circuit::Circuit;

/// The circuit of a name, `scorecard:FILE`, `tariff:FILE` or `rules:BYTES:FILE`, whose file `read` gives.
///
/// # Errors
/// [`Error::Usage`] if there is no such name, [`Error::Malformed`] that names file and line, and what `read` gives.
pub fn find<E: From<Error>>(
    name: &str,
    read: impl FnOnce(&str) -> std::result::Result<String, E>,
) -> std::result::Result<Circuit, E> {
    let (kind, rest) = name.split_once(':').unwrap_or((name, ""));
    Ok(match (kind, rest.split_once(':')) {
        _ if rest.is_empty() => return Err(unknown(name).into()),
        ("scorecard", _) => ScoreCard::parse(&read(rest)?).map_err(malformed(rest))?.circuit(),
        ("tariff", _) => Tariff::parse(&read(rest)?).map_err(malformed(rest))?.circuit(),
        ("rules", Some((bytes, file))) => {
            let bytes = bytes.parse().ok().filter(|bytes| (1..=Rules::MOST_BYTES).contains(bytes));
            let bytes = bytes.ok_or_else(|| unknown(name))?;
            Rules::parse(&read(file)?).map_err(malformed(file))?.automaton().circuit(bytes).map_err(malformed(file))?
        }
        _ => return Err(unknown(name).into()),
    })
}

fn malformed(file: &str) -> impl FnOnce(String) -> Error {
    let what = file.to_owned();
    |why| Error::Malformed { what, why }
}

fn unknown(name: &str) -> Error {
    let most = Rules::MOST_BYTES;
    Error::usage(format!(
        "app:{name} is no private function: there are app:scorecard:FILE, app:tariff:FILE and app:rules:BYTES:FILE with 1 \
         to {most} bytes"
    ))
}

/// The lines that say something, with their numbers from 1.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines()).filter(|(_, line)| !words(line).is_empty())
}

/// The words of a line without its comment.
fn words(line: &str) -> Vec<&str> {
    line.split('#').next().unwrap_or_default().split_whitespace().collect()
}

/// A number of at most so many bits.
fn number(word: &str, bits: u32, at: usize) -> std::result::Result<u64, String> {
    let number = word.parse().ok().filter(|&number: &u64| number >> bits == 0);
    number.ok_or_else(|| format!("line {at}: '{word}' is no number below {}", 1u128 << bits))
}

/// Steps from 0 upwards: from a value on, a number.
#[derive(Clone, PartialEq, Eq)]
struct Steps(Vec<(u64, u64)>);

impl Steps {
    /// Adds a step after all others.
    fn push(&mut self, from: u64, what: u64, at: usize) -> std::result::Result<(), String> {
        match self.0.last() {
            None if from > 0 => Err(format!("line {at}: the first step is from 0, not {from}")),
            Some(&(before, _)) if before >= from => Err(format!("line {at}: {from} is not above {before}")),
            _ => {
                self.0.push((from, what));
                Ok(())
            }
        }
    }
}
