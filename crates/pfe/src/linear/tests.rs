//! The protocol's steps in memory: against circuits, against what a cheat would do, against bytes made up.

use super::*;
use crate::random::{circuit_of, seeded};
use crate::{Offer, Sizes};
use duologue::Error;
use duologue::circuit::private::{Function, Node, nands, thresholds};
use duologue::circuit::{Bit, Bits, Builder, Circuit};
use he::bfv::Bfv;
use he::djn::DjnOf;
use he::elgamal::ElGamal;
use he::linear::{Integers, Labels, Scheme, Strings};
use proptest::prelude::*;
use std::ops::Range;
use std::sync::{Mutex, OnceLock};

/// Integers under a modulus that can be broken: its steps are 24 gates.
type Small = DjnOf<512>;

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

impl Transcript {
    /// The length of each message.
    fn lengths(&self) -> Vec<usize> {
        let steps = [&self.ciphertexts, &self.answers, &self.tables].into_iter().flatten();
        steps.chain([&self.key, &self.inputs, &self.outputs]).map(Vec::len).collect()
    }
}

/// One key for all tests of a scheme: making one takes long.
fn key<S: Linear>(seed: u64) -> Key<S> {
    Key::generate(&mut seeded(seed)).unwrap()
}

/// A run, number by number, of a key that is Bob's.
fn play<S: Linear>(bobs: &mut Key<S>, netlist: &Netlist, number: u32, x: &[bool], seed: u64) -> Transcript {
    let offer = offer(netlist);
    let mut alices = PeerKey::<S>::read(bobs.public().to_vec()).unwrap();
    let mut garbling = Garbling::new(&offer, number, bobs, &seeded(seed).derive(b"bob     ", 0));
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
        let count = case % 41;
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

/// What Alice's time may show of a netlist: its sizes, and which gates she evaluates together, in steps of each scheme and
/// of fewer gates.
fn work_of(net: &Netlist) -> (Sizes, Vec<Vec<Range<usize>>>) {
    let gates = net.sizes().gates;
    let steps = [ElGamal::CHUNK, Bfv::CHUNK, Small::CHUNK, 5]
        .into_iter()
        .flat_map(|each| (0..gates).step_by(each).map(move |first| net.lots(first..gates.min(first + each as u64))));
    (*net.sizes(), steps.collect())
}

proptest! {
    /// Inputs of Alice's that are constants: whatever they are, there are as many gates, they wait for as many others, and the
    /// function is right.
    #[test]
    fn work_does_not_depend_on_alices_data(
        hers in 1usize..4,
        theirs in 1usize..3,
        gates in prop::collection::vec((any::<u8>(), any::<usize>(), any::<usize>()), 0..12),
        outputs in 1usize..6,
    ) {
        let circuit = circuit_of((hers + theirs) as u32, &gates, outputs);
        let function = nands(&circuit)?;
        let mut work = None;
        for own in 0..1u32 << hers {
            let bit = |bit: usize| (bit < hers).then_some(own >> bit & 1 == 1);
            let given: Vec<Option<bool>> = (0..hers + theirs).map(bit).collect();
            let net = Netlist::new(&function.restricted(&given)?, None).unwrap();
            prop_assert_eq!(work.get_or_insert_with(|| work_of(&net)), &work_of(&net), "{:b}", own);
            for x in 0..1u32 << theirs {
                let x: Vec<bool> = (0..theirs).map(|bit| x >> bit & 1 == 1).collect();
                let all: Vec<bool> = given.iter().flatten().chain(&x).copied().collect();
                prop_assert_eq!(net.evaluate(&x), circuit.evaluate(&all));
            }
        }
    }
}

/// The lengths of all messages, in their order, are the same whatever her data are.
#[test]
fn messages_do_not_depend_on_alices_data() {
    let gates: Vec<_> = (0..30).map(|gate| (gate as u8, gate * 7 + 3, gate * 5 + 1)).collect();
    let (circuit, mut lengths) = (circuit_of(5, &gates, 4), [None, None, None]);
    for own in 0..8u32 {
        let given = [0, 1, 2, 3, 4].map(|bit| (bit < 3).then_some(own >> bit & 1 == 1));
        let net = Netlist::new(&nands(&circuit).unwrap().restricted(&given).unwrap(), None).unwrap();
        let all: Vec<bool> = given.iter().map(|bit| bit.unwrap_or(true)).collect();
        let played = [
            with_elgamal(|key| play(key, &net, 0, &[true; 2], 5)),
            with_small(|key| play(key, &net, 0, &[true; 2], 5)),
            play_bfv(&net, &[true; 2], 5),
        ];
        for (played, lengths) in played.iter().zip(&mut lengths) {
            assert_eq!(played.result, circuit.evaluate(&all));
            assert_eq!(lengths.get_or_insert_with(|| played.lengths()), &played.lengths(), "{own:b}");
        }
    }
}

/// Outputs that are constants, inputs of hers, the same twice, and one that is also read.
#[test]
fn outputs_that_are_alices_data() {
    let mut c = Builder::new("outputs");
    let [hers, theirs] = [c.bits("a", 2).0, c.bits("x", 1).0];
    let both = c.and(hers[0], theirs[0]);
    let more = c.and(both, hers[1]);
    c.output("y", &Bits(vec![hers[0], !hers[0], hers[1], hers[1], Bit::TRUE, Bit::FALSE, both, more]));
    let (circuit, mut work) = (c.finish(), None);
    for own in [[false, false], [false, true], [true, false], [true, true]] {
        let given = [Some(own[0]), Some(own[1]), None];
        let net = Netlist::new(&nands(&circuit).unwrap().restricted(&given).unwrap(), None).unwrap();
        assert_eq!(work.get_or_insert_with(|| work_of(&net)), &work_of(&net), "{own:?}");
        for x in [false, true] {
            let expected = circuit.evaluate(&[own[0], own[1], x]);
            assert_eq!(net.evaluate(&[x]), expected);
            with_elgamal(|key| assert_eq!(play(key, &net, 0, &[x], 5).result, expected));
        }
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

/// Lengths and order of what Bob sees are those of the sizes, whatever the function is.
#[test]
fn messages_do_not_depend_on_the_function() {
    let chain: Vec<(u8, usize, usize)> = (0..20).map(|i| (4, i + 3, i % 4)).collect();
    let shape = |circuit: &Circuit| {
        let net = netlist(circuit, Some(130));
        with_small(|key| play(key, &net, 0, &[true; 4], 6)).lengths()
    };
    assert_eq!(shape(&circuit_of(4, &chain, 2)), shape(&circuit_of(4, &[(0, 0, 1)], 2)));
}

/// Another run with the same key and the same secrets of both parties: not one message is sent again.
#[test]
fn a_second_run_shares_the_key_alone() {
    let (net, x) = (netlist(&awkward(), None), [true, false, true]);
    let differ = |a: &[u8], b: &[u8], each: usize| a.chunks(each).zip(b.chunks(each)).all(|(a, b)| a != b);
    for [one, other] in [
        with_elgamal(|key| [play(key, &net, 0, &x, 21), play(key, &net, 1, &x, 21)]),
        with_small(|key| [play(key, &net, 0, &x, 21), play(key, &net, 1, &x, 21)]),
    ] {
        assert!(one.key == other.key && one.result == other.result);
        assert!(differ(&one.inputs, &other.inputs, 16) && differ(&one.outputs, &other.outputs, 16));
        for (a, b) in [(&one.ciphertexts, &other.ciphertexts), (&one.answers, &other.answers)] {
            assert!(differ(&a.concat(), &b.concat(), 32));
        }
        assert_ne!(one.tables, other.tables);
    }
}

/// No two answers of a run begin alike: not of a step, nor of two steps, in which the generator must have moved on. With one k in
/// two answers, Bob would know (κ − κ′)·P of the two wires, and with it both wires.
#[test]
fn answers_of_all_steps_have_nonces_of_their_own() {
    let net = netlist(&circuit_of(2, &[(4, 0, 1)], 1), Some(1100));
    with_elgamal(|key| {
        let sent = play(key, &net, 0, &[true, false], 23).answers;
        assert!(sent.len() > 2, "several steps");
        let mut nonces: Vec<[u8; 32]> =
            sent.concat().chunks(64).map(|answer| answer[..32].try_into().unwrap()).collect();
        let count = nonces.len();
        nonces.sort_unstable();
        nonces.dedup();
        assert_eq!(nonces.len(), count);
    });
}

/// The broken twin whose generator serves two runs: labels of inputs that are equal show which bits of x are.
#[test]
fn labels_that_serve_twice_give_the_data_away() {
    let net = netlist(&awkward(), None);
    with_elgamal(|key| {
        let [a, b] = [[true, false, true], [true, true, true]]
            .map(|x| Garbling::<ElGamal>::new(&offer(&net), 0, key, &seeded(9)).input_labels(&x));
        let same: Vec<bool> = a.chunks(32).zip(b.chunks(32)).map(|(a, b)| a == b).collect();
        assert_eq!(same, [true, false, true]);
    });
}

/// What the documentation says of an Alice who departs from the protocol: a gate of twice a label opens if and only if the
/// bit is 0. Bob sees uniform points as ever.
#[test]
fn a_dishonest_alice_learns_data() {
    let bit = |node: u32| Bit::new(node, node > 4);
    let gate = |x, y| Node::Majority([Bit::FALSE, bit(x), bit(y)]);
    let mut nodes = vec![Node::False, Node::Input, Node::Input, Node::Input, Node::Input];
    nodes.extend((0..8).map(|_| gate(1, 1)));
    nodes.push(gate(5, 5));
    let net = Netlist::new(&Function::new(nodes, vec![bit(13)]).unwrap(), None).unwrap();
    let x = [true, false, false, true];
    let decode = |bytes: &[u8]| {
        curve25519_dalek::ristretto::CompressedRistretto::from_slice(bytes).unwrap().decompress().unwrap()
    };
    let learnt = [0, 1, 2, 3].map(|input| {
        with_elgamal(|key| {
            let (offer, mut rng) = (offer(&net), seeded(40 + input as u64));
            let mut bob = Garbling::<ElGamal>::new(&offer, 0, key, &seeded(50 + input as u64));
            let wires = bob.ciphertexts(key).unwrap();
            let mut public = ElGamal::read_key(key.public()).unwrap();
            let mut store = ElGamal::store(&public).unwrap();
            ElGamal::append(&mut public, &mut store, &wires[0], 4).unwrap();
            let blindings = ElGamal::blindings(18, &mut rng);
            let blinded = ElGamal::blind(&public, &blindings, &mut rng).unwrap();
            let answers = ElGamal::answer(&public, &mut store, &[input; 18], blinded).unwrap();
            // Once more the wire's ciphertext in each.
            let twice = answers.chunks(32).enumerate().flat_map(|(at, point)| {
                let of_wire = decode(&wires[0][64 * input + 32 * (at % 2)..][..32]);
                (decode(point) + of_wire).compress().to_bytes()
            });
            let tables = bob.chunk(key, &twice.collect::<Vec<_>>()).unwrap();
            let label = he::elgamal::PointLabels::decode(&bob.input_labels(&x)[32 * input..][..32]).0;
            let both = label.add(&label).pick((0..18).map(|_| 0)).add(&ElGamal::labels(&blindings));
            let operands = [0, 1].map(|operand| both.pick((0..8).map(|gate| 2 * gate + operand)));
            let hashes = super::run::tables::<ElGamal>(&offer, 0, key.public());
            let (_, good) = hashes.evaluate(0, [&operands[0], &operands[1]], &tables);
            !good
        })
    });
    assert_eq!(learnt, x);
}

const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/linear.txt");

/// Digests of what travels in a run whose randomness is fixed.
fn digests() -> String {
    fn of<S: Linear>(name: &str, lines: &mut Vec<String>) {
        let net = netlist(&awkward(), Some(60));
        let played = play(&mut key::<S>(31), &net, 0, &[true, false, true], 32);
        let mut line = |what: &str, bytes: &[u8]| {
            lines.push(format!("{name} {what}: {} bytes, {}", bytes.len(), blake3::hash(bytes)));
        };
        line("key", &played.key);
        line("ciphertexts", &played.ciphertexts.concat());
        line("answers", &played.answers.concat());
        line("tables", &played.tables.concat());
        line("labels", &[played.inputs, played.outputs].concat());
    }
    let mut lines = vec!["# BLAKE3 of what travels in a run of Katz and Malka's protocol.".to_owned()];
    of::<ElGamal>("elgamal", &mut lines);
    of::<Bfv>("bfv", &mut lines);
    of::<Small>("djn of 512 bits", &mut lines);
    lines.join("\n") + "\n"
}

#[test]
fn what_travels_is_what_is_on_file() {
    if std::env::var_os("DUOLOGUE_WRITE_VECTORS").is_some() {
        std::fs::write(VECTORS, digests()).unwrap();
    }
    let on_file = std::fs::read_to_string(VECTORS).unwrap();
    assert!(on_file == digests(), "if it shall differ, set DUOLOGUE_WRITE_VECTORS=1");
}
