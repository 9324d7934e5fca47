//! Iris identification: whose iris code is closest to a query, and is it close enough?
//!
//! Barni, Bernaschi, Lazzeretti, Pignata and Sabellico, "Parallel implementation of GC-based MPC protocols in the
//! semi-honest setting" (DPM 2013), §4.1, after Luo, Cheung, Pignata, Lazzeretti and Barni (ICIP 2012). A code has a bit for
//! each place of an iris, and a mask says where eyelids, lashes and reflections leave one that can be used. Two codes are
//! as far apart as the part of the usable bits in which they differ; a person is found if that is below a threshold.
//!
//! * [`iris`]: one public mask for all codes, whose other bits both parties drop beforehand. The distance is a number of
//!   bits, and the threshold takes part in the search as lane 0, as in the paper.
//! * [`iris_masked`]: every code has a mask of its own, as secret as the code; a bit is usable if both masks have it.
//!   Distances are fractions, compared by products across.
//!
//! Alice learns the number of the closest person from 1 on, the lowest one of equals, or 0 if nobody is below the
//! threshold.

pub mod sample;

use crate::tournament::{Tournament, place};
use duologue::circuit::blocks::multiply::sum_of_terms;
use duologue::circuit::blocks::{Goal, equal, hamming_distance, mux, population_count};
use duologue::circuit::program::{Value, View};
use duologue::circuit::{Bit, Bits, Builder, Circuit, Party, Program, UInt, bits, uint};

/// Bits of a code of the paper.
pub const BITS: u32 = 2048;

/// Bits of the number of a person.
const INDEX: u32 = 17;

/// The most people of a gallery.
pub const MOST_PEOPLE: u64 = (1 << INDEX) - 1;

/// Bits of a number of bits of a code.
pub fn count_width(width: u32) -> u32 {
    width.ilog2() + 1
}

/// The search with one public mask, of which `width` bits are left, among `people` people (a public size).
///
/// A person is found who differs in fewer than `limit` bits. For 1,023 people of 2,048 bits 2,135,504 ANDs of depth 78
/// (size) or 2,318,654 of depth 35 (depth), where the paper has 356 layers. Its 1.1 million ANDs of 6.3 million gates are
/// what 1,024 bits take: to count the ones of n bits takes n − ones(n) ANDs.
///
/// # Panics
/// If `width` is zero.
pub fn iris(width: u32, goal: Goal) -> Program {
    let tournament = Tournament { key: count_width(width) as usize, index: INDEX, goal };
    let mut p = Program::new("iris");
    let people = p.size("people", 1..=MOST_PEOPLE);
    let query = p.input("query", Party::Alice, bits(width), 1);
    let gallery = p.input("gallery", Party::Bob, bits(width), people);
    let limit = p.input("limit", Party::Bob, uint(count_width(width)), 1);
    let query = p.repeat(query, people);
    let keys = p.map(&distance(width, &tournament), &[query, gallery]);
    let limit = p.map(&encoded(&tournament), &[limit]);
    let keys = p.view(View::Chain, &[limit, keys]);
    let start = with_threshold(&mut p, &tournament, people);
    let (_, person) = tournament.reduce(&mut p, keys, start);
    p.output("person", Party::Alice, person);
    p
}

/// The search with a mask for each code.
///
/// A person is found whose codes differ in less than `limit` / `limit_of` of the usable bits; nobody is found who has
/// none in common with the query. For 1,023 people of 2,048 bits 8,790,119 ANDs of depth 275 (size) or
/// 8,838,200 of depth 125 (depth).
///
/// # Panics
/// If `width` is zero.
pub fn iris_masked(width: u32, goal: Goal) -> Program {
    let tournament = Tournament { key: count_width(width) as usize, index: INDEX, goal };
    let mut p = Program::new("iris_masked");
    let people = p.size("people", 1..=MOST_PEOPLE);
    let query = ["query", "query_mask"].map(|name| p.input(name, Party::Alice, bits(width), 1));
    let gallery = ["gallery", "masks"].map(|name| p.input(name, Party::Bob, bits(width), people));
    let limit = ["limit", "limit_of"].map(|name| p.input(name, Party::Bob, uint(count_width(width)), 1));
    let [query, mask] = query.map(|value| p.repeat(value, people));
    let fractions = p.map_all(&fraction(width), &[query, mask, gallery[0], gallery[1]]);
    let [index, level] = with_threshold(&mut p, &tournament, people);
    let mut args: Vec<Value> = limit.iter().zip(&fractions).map(|(&l, &f)| p.view(View::Chain, &[l, f])).collect();
    args.extend([index, level]);
    if let [_, _, person, _] = p.reduce(&closer(count_width(width), goal), &args)[..] {
        p.output("person", Party::Alice, person);
    }
    p
}

/// The starts of the tournament for the threshold and then all people.
fn with_threshold(p: &mut Program, tournament: &Tournament, people: duologue::circuit::program::Size) -> [Value; 2] {
    let starts = [tournament.start(p, 1), tournament.start(p, people)];
    [0, 1].map(|i| p.view(View::Chain, &starts.map(|start| start[i])))
}

/// In how many bits `query` and `code` differ: as many ANDs as bits, less the ones of their number.
fn distance(width: u32, tournament: &Tournament) -> Circuit {
    let mut c = Builder::new("iris_distance");
    let (query, code) = (c.bits("query", width), c.bits("code", width));
    let distance = hamming_distance(&mut c, &query, &code);
    let key = tournament.encode(&mut c, &distance);
    c.output("key", &key);
    c.finish()
}

/// A number as a key of the tournament.
fn encoded(tournament: &Tournament) -> Circuit {
    let mut c = Builder::new("iris_limit");
    let limit = c.uint("limit", tournament.key as u32);
    let key = tournament.encode(&mut c, &limit);
    c.output("key", &key);
    c.finish()
}

/// How many usable bits differ, and how many there are; 1 of 0, farther than any other, if there are none. Two ANDs for
/// each bit and two counters.
fn fraction(width: u32) -> Circuit {
    let mut c = Builder::new("iris_fraction");
    let [query, query_mask, code, mask] = ["query", "query_mask", "code", "mask"].map(|name| c.bits(name, width));
    let usable = both(&mut c, &query_mask, &mask);
    let differ = Bits(query.0.iter().zip(&code.0).map(|(&a, &b)| c.xor(a, b)).collect());
    let differ = both(&mut c, &differ, &usable);
    let [mut differ, usable] = [differ, usable].map(|bits| population_count(&mut c, &bits));
    let none = equal(&mut c, &usable, &UInt(vec![Bit::FALSE; usable.0.len()]));
    // Where none is usable, none differs.
    differ.0[0] = c.xor(differ.0[0], none);
    c.output("differ", &differ);
    c.output("usable", &usable);
    c.finish()
}

fn both(c: &mut Builder, a: &Bits, b: &Bits) -> Bits {
    Bits(a.0.iter().zip(&b.0).map(|(&a, &b)| c.and(a, b)).collect())
}

/// The smaller of two fractions of numbers of `count` bits, the left one of equals.
fn closer(count: u32, goal: Goal) -> Circuit {
    let mut c = Builder::new("iris_closer");
    let [left, right] = ["left", "right"].map(|side| {
        let [differ, usable] = ["differ", "usable"].map(|name| c.uint(format!("{side}_{name}"), count));
        [differ, usable, c.uint(format!("{side}_index"), INDEX), c.uint(format!("{side}_level"), INDEX)]
    });
    let lost = larger(&mut c, [&left[0], &left[1]], [&right[0], &right[1]], goal);
    let (index, level) = place(&mut c, lost, (&left[2], &left[3]), &right[2]);
    for (i, name) in ["differ", "usable"].iter().enumerate() {
        let kept = mux(&mut c, lost, &right[i], &left[i]);
        c.output(*name, &kept);
    }
    c.output("index", &index);
    c.output("level", &level);
    c.finish()
}

/// Whether a fraction is larger than another: the sign of d′·u − d·u′.
fn larger(c: &mut Builder, [d, u]: [&UInt; 2], [other_d, other_u]: [&UInt; 2], goal: Goal) -> Bit {
    // The complement of d, with a sign, is −d − 1: the product lacks one u′.
    let minus_d: Vec<Bit> = d.0.iter().map(|&bit| !bit).chain([Bit::TRUE]).collect();
    let products = [((&other_d.0[..], false), (&u.0[..], false)), ((&minus_d[..], true), (&other_u.0[..], false))];
    let width = 2 * d.0.len() + 1;
    sum_of_terms(c, &[((&other_u.0[..], false), false)], &products, width, goal)[width - 1]
}
