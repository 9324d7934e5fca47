//! Garbler and evaluator beside each other, and what the ciphertexts must not show.

use super::*;
use circuit::universal::{NOTHING, Node, Nodes};
use kernels::generator::Generator;
use std::collections::HashSet;

fn below(random: &mut Generator, end: usize) -> usize {
    (random.block().get() % end as u128) as usize
}

/// A function whose gates read what is free among all nodes before them.
fn random_function(size: Size, random: &mut Generator) -> Nodes {
    let mut free: Vec<u32> = (0..size.inputs).flat_map(|node| [node; 2]).collect();
    let mut nodes = Vec::new();
    for gate in 0..size.tables() as u32 {
        let operands = [(); 2].map(|()| match free.len() {
            0 => NOTHING,
            some => free.swap_remove(below(random, some)),
        });
        let table = if operands.contains(&NOTHING) { 15 } else { below(random, 16) as u8 };
        nodes.push(Node { operands, table });
        if gate < size.gates {
            free.extend([size.inputs + gate; 2]);
        }
    }
    Nodes::new(size, nodes).unwrap()
}

fn sizes() -> impl Iterator<Item = Size> {
    let shapes = [(1, 0, 1), (2, 1, 1), (3, 5, 2), (7, 0, 9), (20, 100, 30), (64, 1_000, 64), (5, 3_000, 1)];
    shapes.into_iter().map(|(inputs, gates, outputs)| Size::new(inputs, gates, outputs).unwrap())
}

/// All ciphertexts of a function, by what they are decoded, S, Δ and the inputs' zero labels.
struct Garbled {
    ciphertexts: Vec<u8>,
    decoding: Vec<bool>,
    s: Block,
    delta: Block,
    labels: Vec<Block>,
}

fn garble(function: &Nodes, random: &mut Generator, chunk: usize) -> Garbled {
    let size = function.size();
    let (s, delta) = (random.block(), random.block().with_lsb(true));
    let labels: Vec<Block> = (0..size.inputs).map(|_| random.block()).collect();
    let mut garbler = Garbler::new(s, delta, Controls::new(function), labels.clone());
    let (mut ciphertexts, mut left) = (Vec::new(), bytes(size) as usize);
    while left > 0 {
        let mut outbox = Outbox::default();
        garbler.write(left.min(chunk), &mut outbox);
        ciphertexts.extend_from_slice(&outbox);
        left -= left.min(chunk);
    }
    assert!(garbler.walk.next().is_none() && garbler.engine.tables.is_empty());
    Garbled { ciphertexts, decoding: garbler.decoding().to_vec(), s, delta, labels }
}

#[test]
fn garbled_functions_compute_what_plain_ones_do() {
    let mut random = Generator::from_seed(Block::new(1));
    for (size, chunk) in sizes().zip([16, 48, 64, 80, 1_600, 1 << 18, 1 << 14]) {
        for _ in 0..5 {
            let function = random_function(size, &mut random);
            let garbled = garble(&function, &mut random, chunk);
            let input: Vec<bool> = (0..size.inputs).map(|_| below(&mut random, 2) == 1).collect();
            let active = garbled.labels.iter().zip(&input);
            let active = active.map(|(&label, &bit)| label ^ (Block::mask(bit) & garbled.delta)).collect();
            let mut evaluator = Evaluator::new(size, garbled.s, active);
            for part in garbled.ciphertexts.chunks(chunk) {
                assert!(evaluator.outputs(garbled.decoding.iter().copied()).is_err(), "not yet");
                evaluator.read(part);
            }
            let words: Vec<u64> = input.into_iter().map(u64::from).collect();
            let expected: Vec<bool> = function.evaluate(&words).into_iter().map(|word| word & 1 == 1).collect();
            assert_eq!(evaluator.outputs(garbled.decoding.iter().copied()).unwrap(), expected, "{size:?}");
        }
    }
}

/// Neither a ciphertext nor a sum of two is 0 or Δ: a hash that served two switches of the same wires would show there.
#[test]
fn ciphertexts_and_their_sums_are_not_the_difference() {
    let mut random = Generator::from_seed(Block::new(2));
    for size in sizes() {
        let garbled = garble(&random_function(size, &mut random), &mut random, 1 << 18);
        let mut seen = HashSet::from([0]);
        for ciphertext in garbled.ciphertexts.as_chunks().0.iter().map(|&bytes| u128::from_le_bytes(bytes)) {
            assert!(!seen.contains(&(ciphertext ^ garbled.delta.get())), "{size:?}");
            assert!(seen.insert(ciphertext), "{size:?}");
        }
    }
}

/// The twin gives two switches of the same wires one number: the sum of their ciphertexts is Δ if their control bits differ.
#[test]
fn a_number_that_serves_twice_gives_the_difference_away() {
    let mut random = Generator::from_seed(Block::new(3));
    let size = Size::new(2, 6, 2).unwrap();
    let (mut leaks, mut kept) = (0, 0);
    for _ in 0..50 {
        let controls = Controls::new(&random_function(size, &mut random));
        let differ = controls.bit(0) != controls.bit(1);
        let (s, delta, labels) = (random.block(), random.block().with_lsb(true), [random.block(), random.block()]);
        let mut garbler = Garbler::new(s, delta, controls, labels.to_vec());
        let mut table = |place, number| {
            let ([mut a], [mut b]) = ([labels[0]], [labels[1]]);
            garbler.engine.number = number;
            garbler.engine.switches(place, std::slice::from_mut(&mut a), std::slice::from_mut(&mut b));
            Block::from_bytes(*garbler.engine.tables.last().unwrap())
        };
        let (first, twin, right) = (table(0, 7), table(1, 7), table(1, 8));
        assert!(first ^ twin == (Block::mask(differ) & delta));
        assert!(first ^ right != delta && first != right);
        leaks += usize::from(differ);
        kept += usize::from(!differ);
    }
    assert!(leaks > 5 && kept > 5, "{leaks} and {kept}");
}

/// Two functions of one size have as many ciphertexts, and those that they share are none.
#[test]
fn ciphertexts_have_one_length_for_all_functions_of_a_size() {
    let mut random = Generator::from_seed(Block::new(4));
    for size in sizes() {
        let [f, g] = [(); 2].map(|()| garble(&random_function(size, &mut random), &mut random, 1 << 18).ciphertexts);
        assert_eq!((f.len() as u64, g.len() as u64), (bytes(size), bytes(size)));
        let same = f.as_chunks::<16>().0.iter().zip(g.as_chunks::<16>().0).filter(|(f, g)| f == g).count();
        assert_eq!(same, 0);
    }
}
