//! What a party brings: a string for each key, and what it has computed of its rows alone.

use super::plan::{Kind, Plan, index_bits, sum_bytes};
use super::program::{key_port, port};
use super::{MOST_ROWS, Number, Query, lower};
use crate::vole::random;
use duologue::circuit::{BitMatrix, Party};
use duologue::{Error, Inputs, Result};

/// A party's rows, of which each key comes once. It has no `Debug`: it is a secret.
#[derive(Clone, Default)]
pub struct Own {
    /// What stands for the key of each row ([`string_of`](crate::psi::string_of)).
    pub strings: Vec<[u8; 16]>,
    /// Of each of its [tests](Query::tests) which rows pass.
    pub tests: Vec<Vec<bool>>,
    /// Of each of its [groupings](Query::groups) the group of each row, by its place; any larger number is none.
    pub groups: Vec<Vec<u32>>,
    /// Each of its [numbers](Query::numbers).
    pub numbers: Vec<Vec<i64>>,
}

impl Own {
    /// Fills it up with random strings to so many rows, which count nowhere.
    ///
    /// # Errors
    /// [`Error::Usage`] if there are more already.
    pub fn pad(&mut self, rows: u64) -> Result<()> {
        let missing = usize::try_from(rows).ok().and_then(|rows| rows.checked_sub(self.strings.len()));
        let missing = missing.ok_or_else(|| {
            Error::usage(format!(
                "{} rows are more than the {rows} to which they are to be filled up",
                self.strings.len()
            ))
        })?;
        let mut strings = vec![[0; 16]; missing];
        random()?.fill(strings.as_flattened_mut());
        self.strings.append(&mut strings);
        self.fill();
        Ok(())
    }

    /// Rows without a value pass no test and are in no group.
    fn fill(&mut self) {
        let rows = self.strings.len();
        self.tests.iter_mut().for_each(|test| test.resize(rows, false));
        self.groups.iter_mut().for_each(|groups| groups.resize(rows, u32::MAX));
        self.numbers.iter_mut().for_each(|numbers| numbers.resize(rows, 0));
    }

    /// Refuses what the query cannot be computed of, before anything is sent.
    ///
    /// # Errors
    /// [`Error::Usage`] that names the column and the row, counted from 0, and no value.
    pub fn check(&self, query: &Query, party: Party) -> Result<()> {
        query.check()?;
        let (plan, rows) = (Plan::new(query), self.strings.len());
        let counts = [plan.tests(party).len(), plan.groups(party).count(), plan.numbers(party).count()];
        let came = [self.tests.len(), self.groups.len(), self.numbers.len()];
        let lengths = self.tests.iter().map(Vec::len).chain(self.groups.iter().map(Vec::len));
        let mut lengths = lengths.chain(self.numbers.iter().map(Vec::len));
        match () {
            () if rows as u64 > MOST_ROWS => Err(Error::usage(format!("at most {MOST_ROWS} rows, not {rows}"))),
            () if counts != came || lengths.any(|length| length != rows) => {
                Err(Error::usage("something for each row of each test, grouping and number of the query"))
            }
            () => plan.numbers(party).zip(&self.numbers).try_for_each(|(number, own)| check_number(number, own)),
        }
    }

    /// The inputs of the program for these numbers of rows.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn inputs(&self, query: &Query, party: Party, sizes: [u64; 2]) -> Result<Inputs> {
        self.check(query, party)?;
        let plan = Plan::new(query);
        let is_receiver = plan.terms(sizes).receiver == party;
        let strings = BitMatrix::from_byte_rows(128, self.strings.as_flattened())?;
        let mut inputs = Inputs::new().with(&key_port(party), strings);
        let tests = plan.tests(party);
        let (mut groups, mut numbers) = (self.groups.iter(), self.numbers.iter());
        for (place, piece) in plan.pieces.iter().enumerate().filter(|(_, piece)| piece.party == party) {
            let lanes = match &piece.kind {
                Kind::Tested(condition) => {
                    let of = |test: &_| tests.iter().position(|known| known == test).map(|at| self.tests[at].clone());
                    let holds = condition.evaluate(&|test| of(test).unwrap_or_default());
                    BitMatrix::from_numbers(1, &holds.into_iter().map(u64::from).collect::<Vec<_>>())?
                }
                Kind::Grouped(by) => grouped(groups.next().map_or(&[], Vec::as_slice), by.values.len(), is_receiver)?,
                Kind::Summed(number) => {
                    BitMatrix::from_numbers(number.bits as usize, numbers.next().map_or(&[], Vec::as_slice))?
                }
            };
            inputs.set(&port(place, piece), lanes);
        }
        Ok(inputs)
    }
}

/// The receiver gives a bit for each group, the sender the number of one.
fn grouped(of: &[u32], groups: usize, is_receiver: bool) -> Result<BitMatrix> {
    if !is_receiver {
        let bounded: Vec<u64> = of.iter().map(|&group| u64::from(group).min(groups as u64)).collect();
        return Ok(BitMatrix::from_numbers(index_bits(groups) as usize, &bounded)?);
    }
    let mut lanes = BitMatrix::zeros(groups, of.len());
    let known = of.iter().enumerate().filter(|(_, group)| (**group as usize) < groups);
    known.for_each(|(lane, &group)| lanes.set(group as usize, lane, true));
    Ok(lanes)
}

/// Refuses numbers of too many bits, and those whose sum over some rows could have more than 64 bits.
fn check_number(number: &Number, own: &[i64]) -> Result<()> {
    let unused = 64 - number.bits;
    if let Some(row) = own.iter().position(|&value| value << unused >> unused != value) {
        let why = format!("row {row} of {} has more than {} bits", number.column, number.bits);
        return Err(Error::usage(why));
    }
    let total: u128 = own.iter().map(|value| u128::from(value.unsigned_abs())).sum();
    // The sums of numbers of fewer bits have room for all rows there can be.
    if sum_bytes(number.bits) == 8 && total > i64::MAX as u128 {
        let why = format!(
            "{}'s {}: its numbers without their signs add up to 2^63 or more, so that a sum might overflow",
            lower(number.column.party),
            number.column
        );
        return Err(Error::usage(why));
    }
    Ok(())
}
