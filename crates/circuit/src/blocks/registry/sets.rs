//! Sets and their intersections. A list is one port of its words, the first one in the lowest bits.

use super::ports::words;
use super::selection::{output, records};
use super::{BOTH, Block, ONE, Parameter, block, parameter};
use crate::blocks::selection::permute;
use crate::blocks::selection::sort::Record;

use crate::blocks::{Goal, population_count, sets};
use crate::builder::Builder;
use crate::graph::{Bit, Circuit};
use crate::words::{Bits, UInt};

pub(super) fn blocks() -> Vec<Block> {
    let sized = |name, about, goals, parameters, build| Block { parameters, ..block(name, about, goals, build) };
    let bitwise = |name, about, goals, build| sized(name, about, goals, vec![universe()], build);
    let valued = || vec![universe(), payload()];
    vec![
        bitwise("set_union", "what is in either set, as bit vectors", ONE, |block, size, _| {
            bit_vectors(block, size, sets::union)
        }),
        bitwise("set_intersection", "what is in both sets, as bit vectors", ONE, |block, size, _| {
            bit_vectors(block, size, sets::intersection)
        }),
        bitwise("set_inclusion", "whether all of a is in b, as bit vectors", ONE, |block, size, _| {
            bit_vectors(block, size, |c, a, b| Bits::from(sets::inclusion(c, a, b)))
        }),
        bitwise("psi_bitwise_count", "size of the intersection of bit vectors", ONE, bitwise_count),
        sized("psi_bitwise_sum", "sum of values of a over the elements of b", BOTH, valued(), bitwise_sum),
        sized("psi_pairwise", "which elements of a are in b, all pairs compared", ONE, pairs(), pairwise),
        sized("psi_pairwise_count", "size of the intersection, all pairs compared", ONE, pairs(), pairwise_count),
        sized("psi_pairwise_sum", "sum of values of a over the intersection", BOTH, pairs_valued(), pairwise_sum),
        sized("psi_sort_shuffle", "intersection of sorted lists, shuffled by the owner of a", BOTH, lists(), shuffled),
        sized("psi_sort_shuffle_both", "the same, shuffled by one owner, then the other", BOTH, lists(), shuffled_both),
        sized(
            "psi_sort_compact",
            "intersection of sorted lists, in order, without a shuffle",
            BOTH,
            lists(),
            compacted,
        ),
        sized("psi_sort_count", "size of the intersection of sorted lists", BOTH, lists(), sorted_count),
        sized("psi_sort_sum", "sum of values of a over the intersection of lists", BOTH, lists_valued(), sorted_sum),
    ]
}

fn universe() -> Parameter {
    parameter("universe", 1..=1 << 16, 256)
}

fn payload() -> Parameter {
    parameter("payload", 1..=64, 32)
}

fn pairs() -> Vec<Parameter> {
    vec![parameter("count", 1..=1 << 8, 32), parameter("width", 1..=64, 32)]
}

fn lists() -> Vec<Parameter> {
    vec![parameter("count", 1..=1 << 10, 128), parameter("width", 1..=64, 32)]
}

fn pairs_valued() -> Vec<Parameter> {
    [pairs(), vec![payload()]].concat()
}

fn lists_valued() -> Vec<Parameter> {
    [lists(), vec![payload()]].concat()
}

fn bit_vectors(block: &Block, size: &[u32], gate: impl FnOnce(&mut Builder, &Bits, &Bits) -> Bits) -> Circuit {
    let mut c = Builder::new(block.name);
    let (a, b) = (c.bits("a", size[0]), c.bits("b", size[0]));
    let out = gate(&mut c, &a, &b);
    c.output("out", &out);
    c.finish()
}

fn bitwise_count(block: &Block, size: &[u32], _: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let (a, b) = (c.bits("a", size[0]), c.bits("b", size[0]));
    let both = sets::intersection(&mut c, &a, &b);
    output_count(c, both.0)
}

/// The owner of a gives zero for every element that a lacks, so its bit vector is not needed.
fn bitwise_sum(block: &Block, size: &[u32], goal: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let values = words(&mut c, "values", size[0], size[1]);
    let b = c.bits("b", size[0]);
    output_sum(c, &b.0, &values, goal)
}

fn pairwise(block: &Block, size: &[u32], _: Goal) -> Circuit {
    let (mut c, found) = pairwise_members(block, size);
    c.output("found", &Bits(found));
    c.finish()
}

fn pairwise_count(block: &Block, size: &[u32], _: Goal) -> Circuit {
    let (c, found) = pairwise_members(block, size);
    output_count(c, found)
}

fn pairwise_sum(block: &Block, size: &[u32], goal: Goal) -> Circuit {
    let (mut c, found) = pairwise_members(block, size);
    let values = words(&mut c, "values", size[0], size[2]);
    output_sum(c, &found, &values, goal)
}

fn pairwise_members(block: &Block, size: &[u32]) -> (Builder, Vec<Bit>) {
    let mut c = Builder::new(block.name);
    let a: Vec<Bits> = words(&mut c, "a", size[0], size[1]);
    let b: Vec<Bits> = words(&mut c, "b", size[0], size[1]);
    let found = sets::members(&mut c, &a, &b);
    (c, found)
}

fn shuffled(block: &Block, size: &[u32], goal: Goal) -> Circuit {
    shuffled_by(block, size, goal, &["a_switches"])
}

fn shuffled_both(block: &Block, size: &[u32], goal: Goal) -> Circuit {
    shuffled_by(block, size, goal, &["a_switches", "b_switches"])
}

fn shuffled_by(block: &Block, size: &[u32], goal: Goal, owners: &[&str]) -> Circuit {
    let (mut c, slots) = sorted_matches(block, &[size, &[0]].concat(), goal);
    let slots = match permute::switch_count(slots.len()) as u32 {
        0 => slots,
        count => {
            let switches: Vec<Bits> = owners.iter().map(|&name| c.bits(name, count)).collect();
            let switches: Vec<&[Bit]> = switches.iter().map(|switches| switches.0.as_slice()).collect();
            sets::shuffle(&mut c, &slots, &switches)
        }
    };
    c.output("found", &Bits(slots.iter().map(|slot| slot.0).collect()));
    output(&mut c, "elements", slots.iter().map(|slot| &slot.1.key));
    c.finish()
}

fn compacted(block: &Block, size: &[u32], goal: Goal) -> Circuit {
    let (mut c, slots) = sorted_matches(block, &[size, &[0]].concat(), goal);
    let found = Bits(slots.iter().map(|slot| slot.0).collect());
    let front = sets::compacted(&mut c, &slots);
    let count = population_count(&mut c, &found);
    c.output("count", &count);
    output(&mut c, "elements", front.iter().map(|record| &record.key));
    c.finish()
}

fn sorted_count(block: &Block, size: &[u32], goal: Goal) -> Circuit {
    let (c, slots) = sorted_matches(block, &[size, &[0]].concat(), goal);
    output_count(c, slots.iter().map(|slot| slot.0).collect())
}

/// Values of unmatched slots are zero, so nothing is left to mask.
fn sorted_sum(block: &Block, size: &[u32], goal: Goal) -> Circuit {
    let (c, slots) = sorted_matches(block, size, goal);
    let values: Vec<UInt> = slots.into_iter().map(|slot| UInt(slot.1.payload.0)).collect();
    output_sum(c, &vec![Bit::TRUE; values.len()], &values, goal)
}

/// Both lists from new ports, and their matches; only a has payloads.
fn sorted_matches(block: &Block, size: &[u32], goal: Goal) -> (Builder, Vec<(Bit, Record<UInt>)>) {
    let mut c = Builder::new(block.name);
    let a = records(&mut c, ["a", "values"], size);
    let mut b = records(&mut c, ["b", ""], &[size[0], size[1], 0]);
    b.iter_mut().for_each(|record| record.payload = Bits(vec![Bit::FALSE; size[2] as usize]));
    let slots = sets::matches(&mut c, &a, &b, goal);
    (c, slots)
}

fn output_count(mut c: Builder, found: Vec<Bit>) -> Circuit {
    let count = population_count(&mut c, &Bits(found));
    c.output("count", &count);
    c.finish()
}

fn output_sum(mut c: Builder, chosen: &[Bit], values: &[UInt], goal: Goal) -> Circuit {
    let sum = sets::sum_selected(&mut c, chosen, values, goal);
    c.output("sum", &sum);
    c.finish()
}
