//! Words of which quotients and square roots are looked for. What is found over them is proved whatever they are, so that
//! samples are enough to choose them.

use super::super::network::{Kind, Network};
use super::super::samples::{Patterns, flipped, gate, lanes, simulated};
use super::super::window::{Table, and};
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
    let absolute_values = absolute_values(&network, &inputs);
    let roots = inputs.iter().map(|word| Recurrence { number: even(word), divisor: None });
    let words = [
        (&inputs, &inputs),
        (&absolute_values, &absolute_values),
        (&absolute_values, &inputs),
        (&inputs, &absolute_values),
    ];
    let pairs = words.into_iter().flat_map(|(numbers, divisors)| {
        numbers.iter().filter(|number| number.len() >= BITS[0]).flat_map(move |number| {
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
fn absolute_values(network: &Network<'_>, words: &[Vec<Bit>]) -> Vec<Vec<Bit>> {
    let samples = sampled(network, words);
    let mut nodes: FxHashMap<Table<WORDS>, Bit> = FxHashMap::default();
    for (node, values) in samples.iter().enumerate().filter(|(node, _)| network.is_alive(*node as u32)) {
        let bit = Bit::new(node as u32, values[0] & 1 == 1);
        nodes.entry(flipped(values, bit)).or_insert(bit);
    }
    let find = |values: &Table<WORDS>| {
        let flip = values[0] & 1 == 1;
        nodes.get(&flipped(values, Bit::new(0, flip))).map(|bit| bit.flip(flip))
    };
    let of = |word: &Vec<Bit>| {
        let values: Vec<_> = word.iter().map(|bit| samples[bit.node() as usize]).collect();
        absolute_value(&values).iter().map(find).collect::<Option<Vec<Bit>>>()
    };
    words.iter().filter_map(of).collect()
}

/// Values of all nodes where the lowest bits of each word are clear, of all or of few, so that a carry goes through as many
/// of them when the number is negated.
fn sampled(network: &Network<'_>, words: &[Vec<Bit>]) -> Vec<Table<WORDS>> {
    let mut patterns = Patterns::<WORDS>::new(0);
    let mut given: FxHashMap<u32, Table<WORDS>> = FxHashMap::default();
    for word in words {
        let clear: Vec<u64> = (0..64 * WORDS).map(|_| patterns.random() % word.len() as u64).collect();
        for (i, bit) in word.iter().enumerate() {
            let random: Table<WORDS> = std::array::from_fn(|_| patterns.random());
            given.insert(bit.node(), and(&random, &lanes(|lane| clear[lane] <= i as u64)));
        }
    }
    simulated(network, |node| given.get(&node).copied().unwrap_or_else(|| std::array::from_fn(|_| patterns.random())))
}

/// The absolute value of a signed number: its complement and one more, if it is below zero.
fn absolute_value(word: &[Table<WORDS>]) -> Vec<Table<WORDS>> {
    let Some(&sign) = word.last() else { return Vec::new() };
    let mut carry = sign;
    let bits = word.iter().map(|&bit| {
        let bit = gate(Kind::Xor, [bit, sign]);
        let sum = gate(Kind::Xor, [bit, carry]);
        carry = gate(Kind::And, [bit, carry]);
        sum
    });
    bits.collect()
}
