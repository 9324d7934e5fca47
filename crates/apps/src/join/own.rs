//! What a party brings: a string for each key, and what it has computed of its rows alone.

use super::condition::Rows;
use super::plan::{Kind, Plan, index_bits, sum_bytes};
use super::program::{key_port, port};
use super::{Condition, MOST_ROWS, Number, Query, Test, lower};
use crate::vole::random;
use duologue::circuit::{BitMatrix, Party};
use duologue::{Error, Inputs, Result};
use std::mem;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// A party's rows, of which each key comes once. It has no `Debug`: it is a secret, and is overwritten when it is dropped.
#[derive(Clone, Default, Zeroize, ZeroizeOnDrop)]
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
        let had = self.strings.len();
        grow(&mut self.strings, had + missing, [0; 16]);
        random()?.fill(self.strings[had..].as_flattened_mut());
        self.fill();
        Ok(())
    }

    /// Rows without a value pass no test and are in no group.
    pub(super) fn fill(&mut self) {
        let rows = self.strings.len();
        self.tests.iter_mut().for_each(|test| grow(test, rows, false));
        self.groups.iter_mut().for_each(|groups| grow(groups, rows, u32::MAX));
        self.numbers.iter_mut().for_each(|numbers| grow(numbers, rows, 0));
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

    /// The inputs of the program for these numbers of rows. Each list is overwritten when it is among them.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn inputs(mut self, query: &Query, party: Party, sizes: [u64; 2]) -> Result<Inputs> {
        self.check(query, party)?;
        let plan = Plan::new(query);
        let is_receiver = plan.terms(sizes).receiver == party;
        let strings = Zeroizing::new(mem::take(&mut self.strings));
        let mut inputs = Inputs::new().with(&key_port(party), BitMatrix::from_byte_rows(128, strings.as_flattened())?);
        drop(strings);
        let mut groups = Zeroizing::new(mem::take(&mut self.groups));
        let mut numbers = Zeroizing::new(mem::take(&mut self.numbers));
        let (mut groups, mut numbers) = (groups.iter_mut(), numbers.iter_mut());
        for (place, piece) in plan.pieces.iter().enumerate().filter(|(_, piece)| piece.party == party) {
            let lanes = match &piece.kind {
                Kind::Tested(condition) => tested(&self.passing(&plan, party, condition)),
                Kind::Grouped(by) => {
                    let own = Zeroizing::new(groups.next().map(mem::take).unwrap_or_default());
                    grouped(&own, by.values.len(), is_receiver)?
                }
                Kind::Summed(number) => {
                    let own = Zeroizing::new(numbers.next().map(mem::take).unwrap_or_default());
                    BitMatrix::from_numbers(number.bits as usize, &own)?
                }
            };
            inputs.set(&port(place, piece), lanes);
        }
        Ok(inputs)
    }

    /// Of each row whether a condition on this party's columns holds.
    fn passing(&self, plan: &Plan, party: Party, condition: &Condition) -> Rows {
        let tests = plan.tests(party);
        let of = |test: &Test| tests.iter().position(|known| known == test).map(|at| self.tests[at].clone());
        condition.evaluate(&|test| Zeroizing::new(of(test).unwrap_or_default()))
    }
}

/// Gives a list so many rows, and leaves no copy of it where it was.
fn grow<T: Copy + Zeroize>(list: &mut Vec<T>, rows: usize, value: T) {
    let mut grown = Vec::with_capacity(rows);
    grown.extend_from_slice(list);
    grown.resize(rows, value);
    mem::replace(list, grown).zeroize();
}

/// A bit of each row.
fn tested(holds: &[bool]) -> BitMatrix {
    let mut lanes = BitMatrix::zeros(1, holds.len());
    holds.iter().enumerate().for_each(|(lane, &holds)| lanes.set(0, lane, holds));
    lanes
}

/// The receiver gives a bit for each group, the sender the number of one.
fn grouped(of: &[u32], groups: usize, is_receiver: bool) -> Result<BitMatrix> {
    if !is_receiver {
        let bounded: Zeroizing<Vec<u32>> = Zeroizing::new(of.iter().map(|&group| group.min(groups as u32)).collect());
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
