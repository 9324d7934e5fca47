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
    let (s, delta) = (random.block(), random.block().with_lsb(true));
    let labels = (0..function.size().inputs).map(|_| random.block()).collect();
    garble_with(function, s, delta, labels, chunk)
}

/// How many hashes there are with numbers of their own: one for each switch, three for each gate.
fn hashes(size: Size) -> u64 {
    size.switches() + 3 * size.tables() as u64
}

fn garble_with(function: &Nodes, s: Block, delta: Block, labels: Vec<Block>, chunk: usize) -> Garbled {
    let size = function.size();
    let mut garbler = Garbler::new(s, delta, Controls::new(function), labels.clone());
    let (mut ciphertexts, mut left) = (Vec::new(), bytes(size) as usize);
    while left > 0 {
        let mut outbox = Outbox::default();
        garbler.write(left.min(chunk), &mut outbox);
        ciphertexts.extend_from_slice(&outbox);
        left -= left.min(chunk);
    }
    assert!(garbler.walk.next().is_none() && garbler.engine.tables.is_empty());
    assert_eq!(garbler.engine.number, hashes(size), "no number serves twice: {size:?}");
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
            assert_eq!(evaluator.engine.number, hashes(size), "{size:?}");
            let words: Vec<u64> = input.into_iter().map(u64::from).collect();
            let expected: Vec<bool> = function.evaluate(&words).into_iter().map(|word| word & 1 == 1).collect();
            assert_eq!(evaluator.outputs(garbled.decoding.iter().copied()).unwrap(), expected, "{size:?}");
        }
    }
}

/// Neither a ciphertext nor a sum of two is 0 or Δ. Of one row of switches two with the same wires and one number would show
/// there; that no two units share numbers is what counting them in all tests says.
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

/// The first switches of inputs 2k and 2k + 1 for all k > 0, in the order of their ciphertexts: where their control bits lie,
/// and k. They come before all gates, and their wires are the inputs whatever the function is.
fn direct_switches(size: Size) -> Vec<(usize, usize, usize)> {
    let (mut poles, mut number, mut found) = (0, 0, Vec::new());
    for unit in Walk::new(size) {
        match unit {
            Unit::Pole(pole) if pole as u32 == size.inputs => break,
            Unit::Pole(_) => poles += 1,
            Unit::Wires { .. } => {}
            Unit::Switches { width, from, len, place, .. } => {
                let pair = poles / 2 - 1;
                // The first unit of a pair alone: after the last input's come those of the first gate.
                if width == 2 && found.last().is_none_or(|&(_, _, last)| last != pair) {
                    assert_eq!((from, len), (0, 2));
                    found.extend([0, 1].map(|i| (number + i, place + i, pair)));
                }
                number += len;
            }
        }
    }
    found
}

/// One Δ, S and labels for two functions: the ciphertexts of switches of inputs differ by Δ where the control bits do.
#[test]
fn functions_differ_by_the_difference_where_their_control_bits_do() {
    let mut random = Generator::from_seed(Block::new(4));
    let size = Size::new(64, 200, 5).unwrap();
    let (mut same, mut different) = (0, 0);
    for _ in 0..10 {
        let [f, g] = [(); 2].map(|()| random_function(size, &mut random));
        let (s, delta) = (random.block(), random.block().with_lsb(true));
        let labels: Vec<Block> = (0..size.inputs).map(|_| random.block()).collect();
        let [of_f, of_g] = [&f, &g].map(|h| garble_with(h, s, delta, labels.clone(), 1 << 18).ciphertexts);
        let [f, g] = [f, g].map(|h| Controls::new(&h));
        for (number, place, _) in direct_switches(size) {
            let [a, b] = [&of_f, &of_g].map(|all| Block::from_bytes(all.as_chunks().0[number]));
            let differ = f.bit(place) != g.bit(place);
            assert!(a ^ b == (Block::mask(differ) & delta), "switch {number}");
            *(if differ { &mut different } else { &mut same }) += 1;
        }
    }
    assert!(same > 100 && different > 100, "{same} and {different}");
}

/// How often each bit is one among these blocks, if it is not in about half of them: within six standard deviations.
fn unbalanced(blocks: &[Block]) -> Option<usize> {
    let middle = blocks.len() as f64 / 2.0;
    let ones = |bit: u32| blocks.iter().filter(|block| block.get() >> bit & 1 == 1).count();
    (0..128).map(ones).find(|&ones| (ones as f64 - middle).abs() > 3.0 * (blocks.len() as f64).sqrt())
}

/// To Bob, who has H of the label that he holds, ciphertexts are balanced, whatever the control bit and his wire are. The twin
/// leaves H(X ⊕ Δ) out: there Bob sees c·Δ where the wire is 0, and what he knows besides where it is 1.
#[test]
fn ciphertexts_do_not_show_control_bits() {
    let mut random = Generator::from_seed(Block::new(5));
    let size = Size::new(64, 200, 5).unwrap();
    let (function, switches) = (random_function(size, &mut random), direct_switches(size));
    let controls = Controls::new(&function);
    assert_eq!(switches.len(), 62);
    // By control bit and wire: the ciphertexts, with what Bob knows taken off, and the twins' in the same way.
    let mut seen: [[[Vec<Block>; 3]; 2]; 2] = Default::default();
    for _ in 0..60 {
        let garbled = garble(&function, &mut random, 1 << 18);
        for &(number, place, pair) in &switches {
            let (control, wire) = (controls.bit(place), below(&mut random, 2) == 1);
            let x = garbled.labels[2 * pair] ^ garbled.labels[2 * pair + 1];
            let (mut m0, mut m1) = ([Block::ZERO], [Block::ZERO]);
            OtHash::new(garbled.s).pairs(number as u64, garbled.delta, &[x], &mut m0, &mut m1);
            let table = Block::from_bytes(garbled.ciphertexts.as_chunks().0[number]);
            assert!(table == m0[0] ^ m1[0] ^ (Block::mask(control) & garbled.delta));
            let [known, other] = if wire { [m1[0], m0[0]] } else { [m0[0], m1[0]] };
            let twin = table ^ m1[0];
            let views = [table, table ^ known, twin ^ known];
            views
                .into_iter()
                .zip(&mut seen[usize::from(control)][usize::from(wire)])
                .for_each(|(view, all)| all.push(view));
            assert!(table ^ known == other ^ (Block::mask(control) & garbled.delta));
        }
    }
    for (control, wire) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let [tables, known, twins] = &seen[control][wire];
        assert!(tables.len() > 200, "{} with control bit {control}", tables.len());
        assert_eq!((unbalanced(tables), unbalanced(known)), (None, None), "{control}, {wire}");
        assert_eq!(unbalanced(twins).is_some(), wire == 0, "control bit {control}, wire {wire}");
    }
}
