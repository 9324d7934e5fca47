//! The blocks by name, for the command line and for costs.

use std::ops::RangeInclusive;

use super::{Goal, aes, arithmetic, compare, count, select, sha256};
use crate::builder::Builder;
use crate::error::{Error, Result};
use crate::graph::{Bit, Circuit};
use crate::words::{Bits, UInt, Word};

/// A block that can be built by name.
pub struct Block {
    /// Its name.
    pub name: &'static str,
    /// What it computes, in one line.
    pub about: &'static str,
    /// What the width counts.
    pub parameter: &'static str,
    /// The widths that it can have.
    pub widths: RangeInclusive<u32>,
    /// The goals for which there is a construction of its own.
    pub goals: &'static [Goal],
    /// The construction; [`circuit`](Block::circuit) checks the width first.
    pub build: fn(&Block, u32, Goal) -> Circuit,
}

impl Block {
    /// The block as a circuit.
    pub fn circuit(&self, width: u32, goal: Goal) -> Result<Circuit> {
        if !self.widths.contains(&width) {
            let (low, high, name) = (self.widths.start(), self.widths.end(), self.name);
            let why = format!("block '{name}': {} must be {low} to {high}, not {width}", self.parameter);
            return Err(Error::usage(why));
        }
        Ok((self.build)(self, width, goal))
    }

    /// The one width, if there is but one.
    pub fn fixed_width(&self) -> Option<u32> {
        (self.widths.start() == self.widths.end()).then(|| *self.widths.start())
    }
}

/// The block of this name.
pub fn find(name: &str) -> Result<Block> {
    let blocks = registry();
    let near = near(name, blocks.iter().map(|block| block.name));
    let found = blocks.into_iter().find(|block| block.name == name);
    found.ok_or_else(|| Error::Unknown { what: "block", name: name.into(), near })
}

const BOTH: &[Goal] = &[Goal::Size, Goal::Depth];
const ONE: &[Goal] = &[Goal::Size];
const OPERAND: &str = "bits of an operand";
const OPERANDS: RangeInclusive<u32> = 1..=1 << 16;

/// All blocks, in the order in which they are listed.
pub fn registry() -> Vec<Block> {
    let block = |name, about, goals, build| Block { name, about, parameter: OPERAND, widths: OPERANDS, goals, build };
    vec![
        block("add", "a + b mod 2^n", BOTH, |block, width, goal| {
            binary(block, width, |c, a, b| arithmetic::add(c, a, b, goal))
        }),
        block("add_carry", "a + b in n + 1 bits", BOTH, |block, width, goal| {
            binary(block, width, |c, a, b| {
                let (sum, carry) = arithmetic::add_carry(c, a, b, goal);
                UInt([sum.0, vec![carry]].concat())
            })
        }),
        block("subtract", "a - b mod 2^n", BOTH, |block, width, goal| {
            binary(block, width, |c, a, b| arithmetic::subtract(c, a, b, goal))
        }),
        block("equal", "a = b", ONE, |block, width, _| relation(block, width, compare::equal)),
        block("greater", "a > b, unsigned", BOTH, |block, width, goal| {
            relation(block, width, |c, a, b| compare::greater(c, a, b, goal))
        }),
        block("greater_or_equal", "a >= b, unsigned", BOTH, |block, width, goal| {
            relation(block, width, |c, a, b| compare::greater_or_equal(c, a, b, goal))
        }),
        block("signed_greater", "a > b, two's complement", BOTH, signed_greater),
        block("mux", "a if select, else b", ONE, mux),
        Block {
            parameter: "bits counted",
            ..block("population_count", "how many bits are one", ONE, population_count)
        },
        block("hamming_distance", "in how many bits a and b differ", ONE, |block, width, _| {
            binary(block, width, count::hamming_distance)
        }),
        Block {
            parameter: "bits of block and key",
            widths: 128..=128,
            ..block("aes128", "AES-128 encryption of one block, with its key schedule", BOTH, aes128)
        },
        Block {
            parameter: "bits of a block",
            widths: 512..=512,
            ..block("sha256_compress", "SHA-256 compression of one block", BOTH, sha256_compress)
        },
        Block {
            parameter: "bytes of the message",
            widths: 0..=1 << 12,
            ..block("sha256", "SHA-256 of a message of fixed length", BOTH, sha256_hash)
        },
    ]
}

fn binary<W: Word>(block: &Block, width: u32, gate: impl FnOnce(&mut Builder, &UInt, &UInt) -> W) -> Circuit {
    let mut c = Builder::new(block.name);
    let (a, b) = (c.uint("a", width), c.uint("b", width));
    let out = gate(&mut c, &a, &b);
    c.output("out", &out);
    c.finish()
}

fn relation(block: &Block, width: u32, gate: impl FnOnce(&mut Builder, &UInt, &UInt) -> Bit) -> Circuit {
    binary(block, width, |c, a, b| Bits::from(gate(c, a, b)))
}

fn signed_greater(block: &Block, width: u32, goal: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let (a, b) = (c.int("a", width), c.int("b", width));
    let out = compare::greater(&mut c, &a, &b, goal);
    c.output("out", &Bits::from(out));
    c.finish()
}

fn mux(block: &Block, width: u32, _: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let select = c.bits("select", 1);
    let (a, b) = (c.bits("a", width), c.bits("b", width));
    let out = select::mux(&mut c, select.0[0], &a, &b);
    c.output("out", &out);
    c.finish()
}

fn population_count(block: &Block, width: u32, _: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let a = c.bits("a", width);
    let out = count::population_count(&mut c, &a);
    c.output("out", &out);
    c.finish()
}

fn aes128(block: &Block, _: u32, goal: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let (key, text) = (c.bits("key", 128), c.bits("block", 128));
    let keys = aes::expand_key(&mut c, &key, goal);
    let out = aes::encrypt(&mut c, &keys, &text, goal);
    c.output("out", &out);
    c.finish()
}

fn sha256_compress(block: &Block, _: u32, goal: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let (state, text) = (c.bits("state", 256), c.bits("block", 512));
    let out = sha256::compress(&mut c, &state, &text, goal);
    c.output("out", &out);
    c.finish()
}

fn sha256_hash(block: &Block, width: u32, goal: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let message = if width == 0 { Bits(Vec::new()) } else { c.bits("message", 8 * width) };
    let out = sha256::hash(&mut c, &message, goal);
    c.output("out", &out);
    c.finish()
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
