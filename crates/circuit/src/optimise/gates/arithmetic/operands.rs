//! Words of which quotients and square roots are looked for. What is found over them is proved whatever they are, so that
//! samples are enough to choose them.

use super::super::network::{Kind, Network};
use super::super::samples::{Patterns, Samples, flipped, gate};
use super::super::window::Table;
use super::recurrences::Recurrence;
use crate::graph::{Bit, Circuit};
use rustc_hash::FxHashMap;

/// Words of samples.
const WORDS: usize = 8;
/// The fewest bits of a number that is taken apart, and the most of a word.
const BITS: [usize; 2] = [4, 1_024];
/// The most recurrences that are tried, and nodes that are looked at for all of them.
const MOST_TRIED: [usize; 2] = [40, 3_000_000];

/// Square roots and quotients of the words that come in, and of their absolute values, which signed division divides.
pub fn recurrences(circuit: &Circuit) -> Vec<Recurrence> {
    let network = Network::read(circuit);
    let inputs = inputs(circuit);
    let sizes = sizes(&network, &inputs);
    let roots = inputs.iter().map(|word| Recurrence { number: even(word), divisor: None });
    let words = [(&inputs, &inputs), (&sizes, &sizes), (&sizes, &inputs), (&inputs, &sizes)];
    let pairs = words.into_iter().flat_map(|(numbers, divisors)| {
        numbers.iter().flat_map(move |number| {
            let others = divisors.iter().filter(move |&divisor| divisor != number);
            others.map(|divisor| Recurrence { number: number.clone(), divisor: Some(divisor.clone()) })
        })
    });
    let most = MOST_TRIED[0].min(MOST_TRIED[1] / network.nodes.len());
    roots.chain(pairs).filter(|recurrence| recurrence.number.len() >= BITS[0]).take(most).collect()
}

fn inputs(circuit: &Circuit) -> Vec<Vec<Bit>> {
    let mut next = 1;
    let words = circuit.inputs().iter().map(|port| {
        let first = next;
        next += port.ty.width;
        (first..next).map(|node| Bit::new(node, false)).collect()
    });
    words.filter(|word: &Vec<Bit>| (1..=BITS[1]).contains(&word.len())).collect()
}

fn even(word: &[Bit]) -> Vec<Bit> {
    [word, &[Bit::FALSE][..word.len() % 2]].concat()
}

/// The absolute values of words, as far as there are nodes for all their bits.
fn sizes(network: &Network<'_>, words: &[Vec<Bit>]) -> Vec<Vec<Bit>> {
    let mut patterns = Patterns::<WORDS>::new(network.inputs().len());
    let samples = Samples::new(network, &mut patterns);
    let mut nodes: FxHashMap<Table<WORDS>, Bit> = FxHashMap::default();
    for node in 1..network.nodes.len() as u32 {
        let bit = Bit::new(node, samples.of(node)[0] & 1 == 1);
        nodes.entry(flipped(&samples.of(node), bit)).or_insert(bit);
    }
    let find = |values: &Table<WORDS>| {
        let flip = values[0] & 1 == 1;
        nodes.get(&flipped(values, Bit::new(0, flip))).map(|bit| bit.flip(flip))
    };
    let size = |word: &Vec<Bit>| {
        let values: Vec<_> = word.iter().map(|bit| samples.of(bit.node())).collect();
        size(&values).iter().map(find).collect::<Option<Vec<Bit>>>()
    };
    words.iter().filter_map(size).collect()
}

/// The absolute value of a signed number: its complement and one more, if it is below zero.
fn size(word: &[Table<WORDS>]) -> Vec<Table<WORDS>> {
    let Some(&sign) = word.last() else { return Vec::new() };
    let mut carry = sign;
    let bits = word.iter().map(|&bit| {
        let bit = gate(Kind::Xor, [bit, sign]);
        let size = gate(Kind::Xor, [bit, carry]);
        carry = gate(Kind::And, [bit, carry]);
        size
    });
    bits.collect()
}
