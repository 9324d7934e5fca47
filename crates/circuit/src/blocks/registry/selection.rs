//! Selection and data. An array is one port of its words, the first one in the lowest bits.

use super::ports::words;
use super::{BOTH, Block, ONE, Parameter, block, parameter};
use crate::blocks::Goal;
use crate::blocks::logic::select;
use crate::blocks::selection::sort::{Direction, Network, Record};
use crate::blocks::selection::{compact, median, permute, table};
use crate::blocks::sets::duplicates;
use crate::builder::Builder;
use crate::graph::{Bit, Circuit};
use crate::words::{Bits, UInt, Word};

pub(super) fn blocks() -> Vec<Block> {
    let sized = |name, about, goals, parameters, build| Block { parameters, ..block(name, about, goals, build) };
    let array = || vec![parameter("count", 1..=1 << 10, 16), parameter("width", 1..=64, 32)];
    let records = || [array(), vec![parameter("payload", 0..=64, 0)]].concat();
    let index = |most, usual| vec![parameter("bits of index", 1..=most, usual)];
    vec![
        block("mux", "a if select, else b", ONE, mux),
        block("conditional_swap", "(b, a) if swap, else (a, b)", ONE, conditional_swap),
        sized("one_hot", "decoder: bit i is index = i", ONE, index(20, 8), one_hot),
        sized("multiplexer", "word of an index; also secret table look-up", BOTH, array(), multiplexer),
        sized(
            "table_lookup",
            "entry of a public table, here of constants without structure",
            BOTH,
            [index(12, 8), vec![parameter("width", 1..=64, 8)]].concat(),
            table_lookup,
        ),
        sized("array_write", "array with the word of an index replaced", BOTH, array(), array_write),
        sized(
            "sort_odd_even",
            "records by key, ascending, by odd-even merges",
            BOTH,
            records(),
            |block, size, goal| network(block, size, goal, Network::odd_even(size[0] as usize)),
        ),
        sized("sort_bitonic", "records by key, ascending, by bitonic merges", BOTH, records(), |block, size, goal| {
            network(block, size, goal, Network::bitonic(size[0] as usize))
        }),
        sized("merge", "two sorted lists of records as one, by odd-even merge", BOTH, records(), merge),
        sized("median", "word in the middle, the lower one of an even count", BOTH, few(), median),
        sized("permute", "words in the order of a Waksman network's switches", ONE, array_from(2), permute),
        sized("duplicates", "which words equal the one before", ONE, array_from(2), duplicates),
        sized("compact", "valid words to the front, in their order", ONE, array(), compact),
    ]
}

fn array_from(least: u32) -> Vec<Parameter> {
    vec![parameter("count", least..=1 << 10, 16), parameter("width", 1..=64, 32)]
}

/// The shallow median is quadratic in the count.
fn few() -> Vec<Parameter> {
    vec![parameter("count", 1..=1 << 8, 9), parameter("width", 1..=64, 32)]
}

/// The records of new ports: `keys`, and `payloads` if they have bits.
pub(super) fn records(c: &mut Builder, [keys, payloads]: [&str; 2], size: &[u32]) -> Vec<Record<UInt>> {
    let keys: Vec<UInt> = words(c, keys, size[0], size[1]);
    let payloads = match size[2] {
        0 => vec![Bits(Vec::new()); keys.len()],
        width => words(c, payloads, size[0], width),
    };
    keys.into_iter().zip(payloads).map(|(key, payload)| Record { key, payload }).collect()
}

/// An output port of words.
pub(super) fn output<'a, W: Word + 'a>(c: &mut Builder, name: &str, words: impl IntoIterator<Item = &'a W>) {
    let bits: Vec<Bit> = words.into_iter().flat_map(|word| word.bits()).copied().collect();
    c.output(name, &Bits(bits));
}

fn output_records(c: &mut Builder, records: &[Record<UInt>]) {
    output(c, "keys", records.iter().map(|record| &record.key));
    if records[0].payload.width() > 0 {
        output(c, "payloads", records.iter().map(|record| &record.payload));
    }
}

/// A new port for an index below `count`; one word needs none.
fn index(c: &mut Builder, count: u32) -> Vec<Bit> {
    match count.next_power_of_two().ilog2() {
        0 => Vec::new(),
        width => c.uint("index", width).0,
    }
}

fn mux(block: &Block, size: &[u32], _: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let select = c.bits("select", 1);
    let (a, b) = (c.bits("a", size[0]), c.bits("b", size[0]));
    let out = select::mux(&mut c, select.0[0], &a, &b);
    c.output("out", &out);
    c.finish()
}

fn conditional_swap(block: &Block, size: &[u32], _: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let swap = c.bits("swap", 1);
    let (a, b) = (c.bits("a", size[0]), c.bits("b", size[0]));
    let (first, second) = select::conditional_swap(&mut c, swap.0[0], &a, &b);
    c.output("first", &first);
    c.output("second", &second);
    c.finish()
}

fn one_hot(block: &Block, size: &[u32], _: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let index = c.uint("index", size[0]);
    let hot = select::one_hot(&mut c, &index.0);
    c.output("hot", &Bits(hot));
    c.finish()
}

fn multiplexer(block: &Block, size: &[u32], goal: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let index = index(&mut c, size[0]);
    let words: Vec<Bits> = words(&mut c, "words", size[0], size[1]);
    let out = select::multiplexer(&mut c, &index, &words, goal);
    c.output("out", &out);
    c.finish()
}

/// Entry i of the table of the block `table_lookup`: the high bits of (i + 1)·K modulo 2^64.
fn sample_entry(i: usize, width: u32) -> u128 {
    let product = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (product ^ product >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    u128::from((mixed ^ mixed >> 32) >> (64 - width))
}

fn table_lookup(block: &Block, size: &[u32], goal: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let index = c.uint("index", size[0]);
    let table: Vec<u128> = (0..1 << size[0]).map(|i| sample_entry(i, size[1])).collect();
    let entry = table::lookup(&mut c, &index.0, &table, size[1] as usize, goal);
    c.output("entry", &UInt(entry));
    c.finish()
}

fn array_write(block: &Block, size: &[u32], goal: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let index = index(&mut c, size[0]);
    let array: Vec<Bits> = words(&mut c, "array", size[0], size[1]);
    let value = c.bits("value", size[1]);
    let written = table::write(&mut c, &index, &array, &value, goal);
    output(&mut c, "array", &written);
    c.finish()
}

fn network(block: &Block, size: &[u32], goal: Goal, network: Network) -> Circuit {
    let mut c = Builder::new(block.name);
    let records = records(&mut c, ["keys", "payloads"], size);
    let sorted = network.apply(&mut c, &records, Direction::Ascending, goal);
    output_records(&mut c, &sorted);
    c.finish()
}

fn merge(block: &Block, size: &[u32], goal: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let left = records(&mut c, ["left", "left_payloads"], size);
    let right = records(&mut c, ["right", "right_payloads"], size);
    let merged = crate::blocks::selection::sort::merge(&mut c, &left, &right, Direction::Ascending, goal);
    output_records(&mut c, &merged);
    c.finish()
}

fn median(block: &Block, size: &[u32], goal: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let words: Vec<UInt> = words(&mut c, "words", size[0], size[1]);
    let out = median::median(&mut c, &words, goal);
    c.output("median", &out);
    c.finish()
}

fn permute(block: &Block, size: &[u32], _: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let words: Vec<Bits> = words(&mut c, "words", size[0], size[1]);
    let switches = c.bits("switches", permute::switch_count(words.len()) as u32);
    let out = permute::permute(&mut c, &words, &switches.0);
    output(&mut c, "words", &out);
    c.finish()
}

fn duplicates(block: &Block, size: &[u32], _: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let words: Vec<Bits> = words(&mut c, "words", size[0], size[1]);
    let same = duplicates::equal_neighbours(&mut c, &words);
    c.output("same", &Bits(same));
    c.finish()
}

fn compact(block: &Block, size: &[u32], _: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let words: Vec<Bits> = words(&mut c, "words", size[0], size[1]);
    let valid = c.bits("valid", size[0]);
    let out = compact::compact(&mut c, &words, &valid.0);
    output(&mut c, "words", &out);
    c.finish()
}
