//! Covers: the rows of a gate, each a product of inputs, for the ones of its output or for the zeros.

use crate::builder::Builder;
use crate::format::functions::{Functions, MOST_INPUTS, all};
use crate::graph::Bit;

/// What a gate of a cover computes.
pub(super) enum Function<'a> {
    /// Of few inputs: its table.
    Table(u64),
    /// Of many: the OR of rows, complemented or not.
    Rows { rows: Vec<&'a [u8]>, complemented: bool },
}

/// A cover that is being read.
pub(super) struct Cover<'a> {
    inputs: usize,
    table: u64,
    rows: Vec<&'a [u8]>,
    /// Whether the rows say where the output is 1.
    ones: Option<bool>,
}

impl<'a> Cover<'a> {
    /// No row yet: the constant 0.
    pub fn new(inputs: usize) -> Self {
        Cover { inputs, table: 0, rows: Vec::new(), ones: None }
    }

    /// One more row: a sign for each input (0, 1, or - for any), and the output.
    pub fn row(&mut self, plane: &'a [u8], output: &[u8]) -> Result<(), String> {
        let ones = match output {
            b"1" => true,
            b"0" => false,
            _ => return Err("a row of a cover ends in 0 or 1".into()),
        };
        if self.ones.replace(ones).is_some_and(|before| before != ones) {
            return Err("the rows of a cover give ones or zeros, not both".into());
        }
        if plane.len() != self.inputs || plane.iter().any(|sign| !b"01-".contains(sign)) {
            return Err(format!("a row of this cover is {} signs of 0, 1 and -, and the output", self.inputs));
        }
        match self.inputs <= MOST_INPUTS {
            true => self.table |= product(plane),
            false => self.rows.push(plane),
        }
        Ok(())
    }

    pub fn function(self) -> Function<'a> {
        let complemented = self.ones == Some(false);
        match self.inputs <= MOST_INPUTS {
            true if complemented => Function::Table(!self.table & whole(self.inputs)),
            true => Function::Table(self.table),
            false => Function::Rows { rows: self.rows, complemented },
        }
    }
}

/// The table of a function that is 1 everywhere.
fn whole(inputs: usize) -> u64 {
    u64::MAX >> (64 - (1 << inputs))
}

/// The table of a row of few inputs.
fn product(plane: &[u8]) -> u64 {
    let fits =
        |x: usize| plane.iter().enumerate().all(|(i, &sign)| sign == b'-' || (sign == b'1') == (x >> i & 1 == 1));
    (0..1 << plane.len()).filter(|&x| fits(x)).fold(0, |table, x| table | 1 << x)
}

impl Function<'_> {
    pub fn build(&self, c: &mut Builder, functions: &mut Functions, inputs: &[Bit]) -> Bit {
        let (rows, complemented) = match self {
            Function::Table(table) => return functions.of_table(c, *table, inputs),
            Function::Rows { rows, complemented } => (rows, complemented),
        };
        let products = rows.iter().map(|row| {
            let signs = row.iter().zip(inputs).filter(|(sign, _)| **sign != b'-');
            all(c, signs.map(|(sign, bit)| bit.flip(*sign == b'0')).collect())
        });
        let none: Vec<Bit> = products.map(|product| !product).collect();
        (!all(c, none)).flip(*complemented)
    }
}
