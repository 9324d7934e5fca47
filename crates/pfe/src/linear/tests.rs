//! The protocol's steps in memory: against circuits, against what a cheat would do, against bytes made up.

use super::*;
use crate::Offer;
use duologue::Error;
use duologue::circuit::private::{Function, Node, nands, thresholds};
use duologue::circuit::{Bit, Bits, Builder, Circuit};
use he::bfv::Bfv;
use he::djn::DjnOf;
use he::elgamal::ElGamal;
use he::linear::{Integers, Labels, Scheme, Strings};
use kernels::Block;
use kernels::generator::Generator;
use proptest::prelude::*;
use std::sync::{Mutex, OnceLock};

/// Integers under a modulus that can be broken: its steps are 24 gates.
type Small = DjnOf<512>;

fn seeded(seed: u64) -> Generator {
    Generator::from_seed(Block::new(u128::from(seed)))
}

fn circuit_of(inputs: u32, gates: &[(u8, usize, usize)], outputs: usize) -> Circuit {
    let mut c = Builder::new("random");
    let mut bits = c.bits("x", inputs).0;
    for &(kind, a, b) in gates {
        let (a, b) = (bits[a % bits.len()].flip(kind & 1 == 1), bits[b % bits.len()].flip(kind & 2 == 2));
        bits.push(if kind & 4 == 4 { c.and(a, b) } else { c.xor(a, b) });
    }
    c.output("y", &Bits(bits[bits.len() - outputs.min(bits.len())..].to_vec()));
    c.finish()
}

fn netlist(circuit: &Circuit, gates: Option<u64>) -> Netlist {
    Netlist::new(&nands(circuit).unwrap(), gates).unwrap()
}

fn offer(netlist: &Netlist) -> Offer {
    Offer { sizes: *netlist.sizes(), runs: 2, id: [7; 32] }
}

/// What travels in a run.
#[derive(PartialEq, Eq)]
struct Transcript {
    key: Vec<u8>,
    ciphertexts: Vec<Vec<u8>>,
    answers: Vec<Vec<u8>>,
    tables: Vec<Vec<u8>>,
    inputs: Vec<u8>,
    outputs: Vec<u8>,
    result: Vec<bool>,
}

/// One key for all tests of a scheme: making one takes long.
fn key<S: Linear>(seed: u64) -> Key<S> {
    Key::generate(&mut seeded(seed)).unwrap()
}

/// A run, number by number, of a key that is Bob's.
fn play<S: Linear>(bobs: &mut Key<S>, netlist: &Netlist, number: u32, x: &[bool], seed: u64) -> Transcript {
    let offer = offer(netlist);
    let mut alices = PeerKey::<S>::read(bobs.public().to_vec()).unwrap();
    let mut garbling = Garbling::new(&offer, number, bobs, seeded(seed).derive(b"bob     ", 0));
    let mut evaluation =
        Evaluation::new(netlist, &offer, number, &alices, &seeded(seed).derive(b"alice   ", 0)).unwrap();
    let inputs = garbling.input_labels(x).to_vec();
    let steps = Steps::of::<S>(*netlist.sizes());
    let (mut ciphertexts, mut answers, mut tables) = (Vec::new(), Vec::new(), Vec::new());
    for step in 0..steps.count() {
        let messages = garbling.ciphertexts(bobs).unwrap();
        assert_eq!(messages.len(), steps.wires(step).len());
        for (message, count) in messages.into_iter().zip(steps.wires(step)) {
            evaluation.ciphertexts(&mut alices, &message, count).unwrap();
            ciphertexts.push(message);
        }
        answers.push(evaluation.answers(&alices).unwrap());
    }
    for answer in &answers {
        tables.push(garbling.chunk(bobs, answer).unwrap());
    }
    evaluation.inputs(&inputs).unwrap();
    tables.iter().for_each(|table| evaluation.chunk(table).unwrap());
    let outputs = evaluation.finish().unwrap().to_vec();
    let result = garbling.finish(&outputs).unwrap();
    Transcript { key: bobs.public().to_vec(), ciphertexts, answers, tables, inputs, outputs, result }
}

/// A key that all tests of a scheme share.
macro_rules! shared {
    ($scheme:ty, $run:expr) => {{
        static KEY: OnceLock<Mutex<Key<$scheme>>> = OnceLock::new();
        let mut key = KEY.get_or_init(|| Mutex::new(key(1))).lock().unwrap_or_else(|why| why.into_inner());
        #[allow(clippy::redundant_closure_call)]
        ($run)(&mut *key)
    }};
}

fn with_elgamal<T>(run: impl FnOnce(&mut Key<ElGamal>) -> T) -> T {
    shared!(ElGamal, run)
}

fn with_small<T>(run: impl FnOnce(&mut Key<Small>) -> T) -> T {
    shared!(Small, run)
}

/// A run with a key of its own: it counts what it encrypts, as the evaluator does.
fn play_bfv(netlist: &Netlist, x: &[bool], seed: u64) -> Transcript {
    play(&mut key::<Bfv>(seed), netlist, 0, x, seed)
}

#[test]
fn netlists_have_the_results_of_their_circuits() {
    let mut rng = seeded(1);
    for case in 0..300 {
        let mut draw = [0u64; 41];
        rng.words(&mut draw);
        let inputs = 1 + (draw[40] % 7) as u32;
        let count = (case % 41) as usize;
        let gates: Vec<_> =
            draw[..count].iter().map(|w| (*w as u8, (w >> 8) as usize % 97, (w >> 40) as usize)).collect();
        let circuit = circuit_of(inputs, &gates, 1 + case % 9);
        let own = netlist(&circuit, None);
        for net in [&own, &netlist(&circuit, Some(own.sizes().gates + 5))] {
            let first_output = net.gates().len() as u32 - net.sizes().outputs + inputs;
            assert!(net.gates().iter().flatten().all(|&wire| wire < first_output), "nothing reads an output");
            for x in 0..1u32 << inputs {
                let x: Vec<bool> = (0..inputs).map(|bit| x >> bit & 1 == 1).collect();
                assert_eq!(net.evaluate(&x), circuit.evaluate(&x));
            }
        }
    }
}

/// Outputs that are constants, inputs, complements, equal, or read by other gates.
fn awkward() -> Circuit {
    let mut c = Builder::new("awkward");
    let x = c.bits("x", 3).0;
    let (both, odd) = (c.and(x[0], x[1]), c.xor(x[1], x[2]));
    let all = c.and(both, x[2]);
    c.output("y", &Bits(vec![Bit::TRUE, Bit::FALSE, x[0], !x[1], x[0], both, !both, both, odd, all, all]));
    c.finish()
}

#[test]
fn awkward_outputs_on_all_inputs() {
    let (circuit, net) = (awkward(), netlist(&awkward(), None));
    for x in 0..8u32 {
        let x: Vec<bool> = (0..3).map(|bit| x >> bit & 1 == 1).collect();
        assert_eq!(net.evaluate(&x), circuit.evaluate(&x));
        with_elgamal(|key| assert_eq!(play(key, &net, 0, &x, 5).result, circuit.evaluate(&x)));
        with_small(|key| assert_eq!(play(key, &net, 0, &x, 5).result, circuit.evaluate(&x)));
        assert_eq!(play_bfv(&net, &x, 5).result, circuit.evaluate(&x));
    }
}

#[test]
fn what_is_no_nand_is_named() {
    let why = |function: &Function, gates| match Netlist::new(function, gates) {
        Err(Error::Malformed { why, .. }) => why,
        _ => panic!("taken"),
    };
    let other = thresholds(&circuit_of(3, &[(4, 0, 1), (0, 2, 3)], 1)).unwrap();
    assert!(why(&other, None).contains("node"), "{}", why(&other, None));
    let net = nands(&awkward()).unwrap();
    let own = Netlist::new(&net, None).unwrap().sizes().gates;
    assert!(why(&net, Some(own - 1)).contains(&format!("gate {}", own - 1)));
    let nothing = Function::new(vec![Node::False, Node::Input], vec![]).unwrap();
    why(&nothing, None);
    why(&Function::new(vec![Node::False], vec![Bit::TRUE]).unwrap(), None);
}

/// Every circuit of at most three NANDs of two inputs, the last one its output, on an input that changes with it.
fn all_of_three(mut check: impl FnMut(&Netlist, &[bool])) {
    let wires = |node: u32| (1..node).flat_map(move |a| (a..node).map(move |b| [a, b]));
    let bit = |node: u32| Bit::new(node, node > 2);
    let gate = |[a, b]: [u32; 2]| Node::Majority([Bit::FALSE, bit(a), bit(b)]);
    let mut number = 0usize;
    let mut try_one = |gates: &[[u32; 2]]| {
        let mut nodes = vec![Node::False, Node::Input, Node::Input];
        nodes.extend(gates.iter().map(|&wires| gate(wires)));
        let last = bit(nodes.len() as u32 - 1);
        let function = Function::new(nodes, vec![last]);
        // The order of layers may be another one: the output goes with it.
        let net = Netlist::new(&function.unwrap(), None).unwrap();
        number += 1;
        check(&net, &[number % 2 == 1, number % 4 >= 2]);
    };
    for first in wires(3) {
        try_one(&[first]);
        for second in wires(4) {
            try_one(&[first, second]);
            wires(5).for_each(|third| try_one(&[first, second, third]));
        }
    }
}

#[test]
fn all_circuits_of_three_gates() {
    with_elgamal(|key| all_of_three(|net, x| assert_eq!(play(key, net, 0, x, 3).result, net.evaluate(x), "{net:?}")));
    with_small(|key| all_of_three(|net, x| assert_eq!(play(key, net, 0, x, 3).result, net.evaluate(x), "{net:?}")));
    all_of_three(|net, x| assert_eq!(play_bfv(net, x, 3).result, net.evaluate(x), "{net:?}"));
}

/// The same of the tables for labels under XOR, as there is no scheme for them here.
#[test]
fn both_kinds_of_tables_open_the_given_labels() {
    fn check<L: Labels, T: Tables<L>>(seed: u64) {
        let mut rng = seeded(seed);
        for (first, count) in [(0, 1), (5, 7), (1 << 20, 40)] {
            let (hashes, offset) = (T::new(&[seed as u8; 32]), L::offset(&mut rng));
            let [left, right, out] = [(); 3].map(|()| L::random(count, &mut rng));
            let tables = hashes.garble(first, [&left, &right], &out, &offset).unwrap();
            assert_eq!(tables.len(), count * T::TABLE);
            let ones = |zeros: &L| zeros.add(&offset.pick((0..count).map(|_| 0)));
            for (x, y) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let of = |zeros: &L, value| if value == 1 { ones(zeros) } else { zeros.clone() };
                let (opened, good) = hashes.evaluate(first, [&of(&left, x), &of(&right, y)], &tables);
                assert!(good && *opened.encode() == *of(&out, 1 - x * y).encode());
                // Bound to the gate and to the run.
                for (hashes, first) in [(&hashes, first + 1), (&T::new(&[99; 32]), first)] {
                    let (other, _) = hashes.evaluate(first, [&of(&left, x), &of(&right, y)], &tables);
                    let [a, b] = [other.encode(), of(&out, 1 - x * y).encode()];
                    assert!(a.chunks(L::BYTES).zip(b.chunks(L::BYTES)).all(|(a, b)| a != b));
                }
            }
        }
    }
    check::<Strings, Halves>(11);
    check::<Strings, Rows>(12);
    check::<Integers, Rows>(13);
    check::<he::elgamal::PointLabels, Rows>(14);
}

/// With a fixed left operand, gates of one key would show Δ where operands meet; with a key for each gate none does.
#[test]
fn no_two_half_gates_differ_by_the_offset() {
    let mut rng = seeded(15);
    let (hashes, offset) = (<Halves as Tables<Strings>>::new(&[3; 32]), Strings::offset(&mut rng));
    let one = Strings::random(1, &mut rng).pick((0..64).map(|_| 0));
    let out = Strings::random(64, &mut rng);
    let tables = hashes.garble(0, [&one, &one], &out, &offset).unwrap();
    let (parts, _) = tables.as_chunks::<16>();
    let parts: Vec<_> =
        parts.iter().enumerate().filter(|(at, _)| at % 3 < 2).map(|(_, part)| Block::from_bytes(*part)).collect();
    for (at, a) in parts.iter().enumerate() {
        assert!(parts[..at].iter().all(|&b| (*a ^ b) != offset.blocks()[0] && *a != b));
    }
}

/// The positions of colours are those of a set: they do not change if values do.
#[test]
fn positions_of_colours_say_nothing_of_values() {
    let mut rng = seeded(16);
    let hashes = <Rows as Tables<Integers>>::new(&[3; 32]);
    let (offset, out) = (Integers::offset(&mut rng), Integers::random(200, &mut rng));
    let [left, right] = [(); 2].map(|()| Integers::random(200, &mut rng));
    let offsets = offset.pick((0..200).map(|_| 0));
    let minus = Integers::new(zeroize::Zeroizing::new(vec![offset.values()[0].wrapping_neg()]));
    let one = hashes.garble(0, [&left, &right], &out, &offset).unwrap();
    let other = hashes.garble(0, [&left.add(&offsets), &right.add(&offsets)], &out, &minus).unwrap();
    let table = <Rows as Tables<Integers>>::TABLE;
    assert!(one.chunks(table).zip(other.chunks(table)).all(|(a, b)| a[..2] == b[..2]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn functions_have_the_results_of_their_circuits(
        inputs in 1u32..12,
        gates in prop::collection::vec((any::<u8>(), any::<usize>(), any::<usize>()), 0..60),
        outputs in 1usize..9,
        pad in 0u64..60,
        x in prop::collection::vec(any::<bool>(), 12),
    ) {
        let (circuit, x) = (circuit_of(inputs, &gates, outputs), &x[..inputs as usize]);
        let own = netlist(&circuit, None).sizes().gates;
        let net = netlist(&circuit, Some(own + pad));
        let (gates, read) = ((own + pad) as usize, inputs as usize + (own + pad) as usize - circuit.output_width());
        with_small(|key| {
            let played = play(key, &net, 0, x, pad);
            prop_assert_eq!(&played.result, &circuit.evaluate(x));
            prop_assert_eq!(played.tables.concat().len(), 66 * gates);
            prop_assert_eq!(played.ciphertexts.concat().len(), 128 * read);
            Ok(())
        })?;
        let played = play_bfv(&net, x, pad);
        prop_assert_eq!(&played.result, &circuit.evaluate(x));
        prop_assert_eq!(played.tables.concat().len(), 48 * gates);
        prop_assert_eq!(played.ciphertexts.concat().len(), 13_824 * read);
        with_elgamal(|key| {
            let played = play(key, &net, 0, x, pad);
            prop_assert_eq!(&played.result, &circuit.evaluate(x));
            prop_assert_eq!(played.tables.concat().len(), 130 * gates);
            prop_assert_eq!(played.ciphertexts.concat().len(), 64 * read);
            prop_assert_eq!(played.answers.concat().len(), 128 * gates);
            Ok(())
        })?;
    }
}
