//! The blocks by name, for the command line and for costs; a file for each group.

mod cipher;
mod division;
mod elementary;
mod fixed;
mod float;
mod integers;
mod ports;
mod rounding;
mod selection;
mod sets;
mod trigonometry;

use std::ops::RangeInclusive;

use super::Goal;
use crate::error::{Error, Result};
use crate::graph::Circuit;

/// A number that a block is built for: a width, a count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// The thing that it counts, in one to three words.
    pub name: &'static str,
    /// The numbers that are allowed.
    pub range: RangeInclusive<u32>,
    /// The number unless another one is given.
    pub usual: u32,
}

/// A block that can be built by name.
pub struct Block {
    /// Its name.
    pub name: &'static str,
    /// A description of one line.
    pub about: &'static str,
    /// The numbers that make up its size, counts before widths; none if it comes in one size.
    pub parameters: Vec<Parameter>,
    /// Sizes that have a name.
    pub named: &'static [(&'static str, &'static [u32])],
    /// The goals for which there is a construction of its own.
    pub goals: &'static [Goal],
    /// The construction; [`circuit`](Block::circuit) checks the size first.
    pub build: fn(&Block, &[u32], Goal) -> Circuit,
}

impl Block {
    /// The block as a circuit.
    pub fn circuit(&self, size: &[u32], goal: Goal) -> Result<Circuit> {
        if size.len() != self.parameters.len() {
            let (expected, came) = (self.describe(), self.label(size));
            return Err(Error::usage(format!("block '{}': its size is {expected}, not {came}", self.name)));
        }
        for (parameter, &number) in self.parameters.iter().zip(size) {
            self.check(parameter, number)?;
        }
        Ok((self.build)(self, size, goal))
    }

    /// The size at which it is built unless another is given.
    pub fn usual(&self) -> Vec<u32> {
        self.parameters.iter().map(|parameter| parameter.usual).collect()
    }

    /// The size that a text names: numbers joined by `x`, or one of the names.
    pub fn size(&self, text: &str) -> Result<Vec<u32>> {
        if let Some((_, size)) = self.named.iter().find(|(name, _)| *name == text) {
            return Ok(size.to_vec());
        }
        let numbers: std::result::Result<Vec<u32>, _> = text.split('x').map(str::parse).collect();
        numbers.map_err(|_| {
            let expected = self.describe();
            Error::usage(format!("block '{}': '{text}' is no size: it is {expected}", self.name))
        })
    }

    /// How a size is written.
    pub fn label(&self, size: &[u32]) -> String {
        match self.named.iter().find(|(_, named)| *named == size) {
            Some((name, _)) => (*name).into(),
            None => size.iter().map(u32::to_string).collect::<Vec<_>>().join("x"),
        }
    }

    /// The names of the numbers that make up its size.
    pub fn describe(&self) -> String {
        let names: Vec<&str> = self.parameters.iter().map(|parameter| parameter.name).collect();
        let named: Vec<&str> = self.named.iter().map(|(name, _)| *name).collect();
        match (names.is_empty(), named.is_empty()) {
            (true, _) => "empty: it comes in one size".into(),
            (false, true) => names.join(" x "),
            (false, false) => format!("{}, or {}", names.join(" x "), named.join(", ")),
        }
    }

    fn check(&self, parameter: &Parameter, number: u32) -> Result<()> {
        let (low, high) = parameter.range.clone().into_inner();
        if (low..=high).contains(&number) {
            return Ok(());
        }
        let why = format!("block '{}': {} must be {low} to {high}, not {number}", self.name, parameter.name);
        Err(Error::usage(why))
    }
}

/// The block of this name.
pub fn find(name: &str) -> Result<Block> {
    let blocks = registry();
    let near = near(name, blocks.iter().map(|block| block.name));
    let found = blocks.into_iter().find(|block| block.name == name);
    found.ok_or_else(|| Error::Unknown { what: "block", name: name.into(), near })
}

/// All blocks, in the order in which they are listed.
pub fn registry() -> Vec<Block> {
    let groups = [
        integers::blocks(),
        division::blocks(),
        selection::blocks(),
        sets::blocks(),
        float::blocks(),
        rounding::blocks(),
        elementary::blocks(),
        trigonometry::blocks(),
        fixed::blocks(),
        cipher::blocks(),
    ];
    groups.into_iter().flatten().collect()
}

const BOTH: &[Goal] = &[Goal::Size, Goal::Depth];
const ONE: &[Goal] = &[Goal::Size];

/// The width of an operand, 32 bits unless another is given.
fn width() -> Parameter {
    Parameter { name: "width", range: 1..=1 << 16, usual: 32 }
}

/// A parameter.
fn parameter(name: &'static str, range: RangeInclusive<u32>, usual: u32) -> Parameter {
    Parameter { name, range, usual }
}

/// A block whose size is the width of an operand.
fn block(
    name: &'static str,
    about: &'static str,
    goals: &'static [Goal],
    build: fn(&Block, &[u32], Goal) -> Circuit,
) -> Block {
    Block { name, about, parameters: vec![width()], named: &[], goals, build }
}

/// Known names that share a part with this one or are a few letters away.
fn near<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<String> {
    let name: String = name.chars().take(64).collect();
    let part = |known: &str| name.len() > 2 && (known.contains(&*name) || name.contains(known));
    known.filter(|known| part(known) || edits(&name, known) <= 1 + known.len() / 4).map(String::from).collect()
}

/// Letters to insert, delete or replace to get from one name to the other (Levenshtein).
fn edits(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.chars().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[row.len() - 1]
}
