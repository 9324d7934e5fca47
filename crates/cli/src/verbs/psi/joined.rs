//! What a party brings: a string for each key, and a value of each.

use super::table::{Table, push};
use crate::args::{Psi, Repeated};
use crate::failure::{Exit, Failure};
use apps::psi::Reveal;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use zeroize::Zeroizing;

/// Keys and values of a table.
pub struct Joined {
    /// Rows of the table.
    pub rows: u64,
    pub strings: Zeroizing<Vec<[u8; 16]>>,
    /// Of each key its value, if the party gives some.
    pub values: Option<Vec<i64>>,
}

/// Refuses what does not belong together, before anything is read.
pub fn check(args: &Psi) -> Result<(), Failure> {
    let refuse = |why: &str| Err(Failure::new(Exit::CommandLine, why));
    match args.reveal {
        reveal if reveal != Reveal::Rows && args.output.is_some() => refuse("--output is for --reveal rows"),
        reveal if reveal != Reveal::Sum && args.value.is_some() => refuse("--value is for --reveal sum"),
        Reveal::Rows if args.repeated != Repeated::Refuse => {
            refuse("--repeated is for --reveal size, sum and threshold: rows are told one by one")
        }
        Reveal::Threshold if args.threshold.is_none() => refuse("--reveal threshold takes --threshold KEYS"),
        reveal if reveal != Reveal::Threshold && args.threshold.is_some() => {
            refuse("--threshold is for --reveal threshold")
        }
        _ => Ok(()),
    }
}

/// Reads the table.
pub fn read(args: &Psi, table: &Table) -> Result<Joined, Failure> {
    let strings = table.keys()?;
    if args.repeated == Repeated::Refuse {
        table.check_repeated(&strings)?;
    }
    let values = args.value.as_ref().map(|column| table.values(column, args.value_bits)).transpose()?;
    if values.as_ref().is_some_and(|values| values.len() != strings.len()) {
        return Err(Failure::input(format!("{} changed while it was read", table.file())));
    }
    let all = Joined { rows: strings.len() as u64, strings, values };
    match args.repeated {
        Repeated::Refuse => Ok(all),
        Repeated::First => Ok(all.aggregated(|_, _| Some(())).expect("nothing is added")),
        Repeated::Sum => all.aggregated(|sum, value| fits(sum, value, args.value_bits)).map_err(|row| {
            let why = format!(
                "{}: with row {row} (from 0 on) the values of its key, added up, have more than {} bits",
                table.file(),
                args.value_bits
            );
            Failure::input(why).hint("take more --value-bits, or other rows")
        }),
    }
}

/// Adds a value to a sum of so many bits, if it fits.
fn fits(sum: &mut i64, value: i64, bits: u8) -> Option<()> {
    *sum += value;
    (-(1 << (bits - 1))..1 << (bits - 1)).contains(sum).then_some(())
}

impl Joined {
    /// Each key once, in the order of first rows; `add` makes one value of two. Where it cannot, the row of the second.
    fn aggregated(self, add: impl Fn(&mut i64, i64) -> Option<()>) -> Result<Joined, usize> {
        let (mut places, mut strings) = (HashMap::with_capacity(self.strings.len()), Zeroizing::new(Vec::new()));
        let mut values = self.values.as_ref().map(|_| Vec::new());
        for (row, &string) in self.strings.iter().enumerate() {
            let value = self.values.as_ref().map(|values| values[row]);
            match (places.entry(string), values.as_mut().zip(value)) {
                (Entry::Occupied(place), Some((values, value))) => add(&mut values[*place.get()], value).ok_or(row)?,
                (Entry::Occupied(_), None) => {}
                (Entry::Vacant(place), all) => {
                    place.insert(strings.len());
                    push(&mut strings, string);
                    all.into_iter().for_each(|(values, value)| values.push(value));
                }
            }
        }
        Ok(Joined { rows: self.rows, strings, values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_key_become_one() {
        let joined = |values: Option<Vec<i64>>| {
            let strings = Zeroizing::new([3, 1, 3, 2, 1, 3].map(|key| [key; 16]).into());
            Joined { rows: 6, strings, values }
        };
        let values = vec![5, -7, 10, 100, 7, -20];
        let sum = |bits| move |sum: &mut i64, value| fits(sum, value, bits);
        let all = joined(Some(values.clone())).aggregated(sum(8)).unwrap();
        assert_eq!((all.strings.iter().map(|key| key[0]).collect::<Vec<_>>(), all.rows), (vec![3, 1, 2], 6));
        assert_eq!(all.values, Some(vec![-5, 0, 100]));
        let first = joined(Some(values.clone())).aggregated(|_, _| Some(())).unwrap();
        assert_eq!(first.values, Some(vec![5, -7, 100]));
        assert_eq!(joined(Some(values)).aggregated(sum(4)).err(), Some(2), "15 has no room in 4 bits with a sign");
        assert_eq!(joined(None).aggregated(sum(4)).unwrap().strings.len(), 3);
    }
}
