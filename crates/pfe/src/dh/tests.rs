//! The protocol's steps in memory: against circuits, against what a cheat would do, against bytes made up.

use super::points::{HashToGroup, random_scalar};
use super::run::{AnnouncedRun, Evaluation, Garbling, hashes};
use super::wiring::{Padding, Queries, Wired};
use crate::random::{circuit_of, seeded};
use crate::{CHUNK, Method, Offer, Threads, chunk};
use curve25519_dalek::ristretto::CompressedRistretto;
use curve25519_dalek::traits::Identity;
use curve25519_dalek::{RistrettoPoint, Scalar};
use duologue::Error;
use duologue::circuit::Bit;
use duologue::circuit::private::{Function, Node, nands, thresholds};
use kernels::Block;
use kernels::generator::Generator;
use proptest::prelude::*;
use zeroize::Zeroizing;

fn wired(function: Function, padding: Padding, seed: u64) -> (Wired, Offer) {
    let (mut id, secrets) = ([0; 32], seeded(seed));
    secrets.derive(b"id      ", 0).fill(&mut id);
    let wired = Wired::with(function, padding, id, Zeroizing::new(Block::new(seed.into()))).unwrap();
    let offer = Offer { sizes: wired.sizes, runs: 2, id: wired.id };
    (wired, offer)
}

fn garbling(offer: &Offer, number: u32, rng: &mut Generator) -> Garbling {
    Garbling::new(offer, number, rng, &Threads::default())
}

fn evaluation<'a>(
    wired: &'a Wired,
    offer: &Offer,
    number: u32,
    announcement: &[u8; 32],
    labels: &[u8],
) -> duologue::Result<Evaluation<'a>> {
    AnnouncedRun::new(wired, offer, number, announcement, &Threads::default())?.begin(labels)
}

/// What travels in a run.
#[derive(PartialEq, Debug)]
struct Transcript {
    announcement: [u8; 32],
    inputs: Vec<u8>,
    queries: Vec<Vec<u8>>,
    tables: Vec<Vec<u8>>,
    outputs: Vec<u8>,
    result: Vec<bool>,
}

fn play(wired: &Wired, offer: &Offer, number: u32, x: &[bool], seed: u64) -> Transcript {
    play_on(&Threads::default(), wired, offer, number, x, seed)
}

fn play_on(threads: &Threads, wired: &Wired, offer: &Offer, number: u32, x: &[bool], seed: u64) -> Transcript {
    let mut garbling = Garbling::new(offer, number, &mut seeded(seed), threads);
    let (announcement, inputs) = (*garbling.announcement(), garbling.input_labels(x));
    let mut announced = AnnouncedRun::new(wired, offer, number, &announcement, threads).unwrap();
    let chunks = offer.sizes.queries().div_ceil(CHUNK);
    // Half of the chunks ahead: that must change nothing.
    (0..chunks / 2).for_each(|chunk| announced.prepare(chunk));
    let mut evaluation = announced.begin(&inputs).unwrap();
    let (mut asked, mut queries, mut tables) = (Queries::new(wired, threads), Vec::new(), Vec::new());
    for _ in 0..chunks {
        queries.push(asked.chunk());
        tables.push(garbling.chunk(queries.last().unwrap()).unwrap());
        evaluation.chunk(tables.last().unwrap()).unwrap();
    }
    let outputs = evaluation.finish().unwrap();
    let result = garbling.finish(&outputs).unwrap();
    Transcript { announcement, inputs, queries, tables, outputs, result }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn functions_have_the_results_of_their_circuits(
        inputs in 1u32..12,
        gates in prop::collection::vec((any::<u8>(), any::<usize>(), any::<usize>()), 0..150),
        outputs in 1usize..9,
        pad in 0u64..600,
        x in prop::collection::vec(any::<bool>(), 12),
    ) {
        let (circuit, x) = (circuit_of(inputs, &gates, outputs), &x[..inputs as usize]);
        for function in [thresholds(&circuit)?, nands(&circuit)?] {
            let padding = Padding { gates: Some(function.gates() as u64 + pad), additions: None };
            let (wired, offer) = wired(function, padding, pad);
            let Transcript { queries, tables, result, .. } = play(&wired, &offer, 0, x, 7);
            prop_assert_eq!(result, circuit.evaluate(x));
            prop_assert_eq!(queries.concat().len(), 32 * (offer.sizes.gates as usize + circuit.output_width()));
            prop_assert_eq!(tables.concat().len(), 99 * offer.sizes.gates as usize);
        }
    }
}

#[test]
fn all_circuits_of_two_gates() {
    let operations = [0, 4, 5, 6, 7];
    for first in 0..15 {
        for second in 0..30 {
            let pairs = |bits: usize| (0..bits).flat_map(move |a| (a + 1..bits).map(move |b| (a, b)));
            let gate = |choice: usize, bits: usize| {
                let (a, b) = pairs(bits).nth(choice / 5).unwrap();
                (operations[choice % 5], a, b)
            };
            let circuit = circuit_of(3, &[gate(first, 3), gate(second, 4)], 2);
            let (wired, offer) = wired(thresholds(&circuit).unwrap(), Padding::default(), 1);
            let x = [first % 2 == 1, second % 2 == 1, (first + second) % 3 == 1];
            assert_eq!(play(&wired, &offer, 0, &x, 3).result, circuit.evaluate(&x), "{circuit:?}, {x:?}");
        }
    }
}

/// Every kind of node, all inputs: full adder, multiplexer, and what is left of an AND.
fn every_node() -> Function {
    let (x, plain) = (|node: u32, flip: bool| Bit::new(node, flip), |node: u32| Bit::new(node, false));
    let nodes = vec![
        Node::False,
        Node::Input,
        Node::Input,
        Node::Input,
        Node::Input,
        Node::Majority([plain(1), plain(2), plain(3)]),
        Node::Parity(5),
        Node::Majority([Bit::FALSE, plain(4), plain(6)]),
        Node::Rest(7, 2),
        Node::Either(7),
        Node::Majority([Bit::FALSE, plain(5), x(4, true)]),
        Node::Choice([plain(7), plain(10)]),
        Node::Majority([Bit::TRUE, plain(8), x(9, true)]),
        Node::Majority([Bit::TRUE, Bit::TRUE, plain(1)]),
        Node::Majority([Bit::FALSE, Bit::FALSE, plain(1)]),
    ];
    let outputs = (0..15).map(|node| x(node, node % 2 == 1)).chain([Bit::TRUE, Bit::FALSE]).collect();
    Function::new(nodes, outputs).unwrap()
}

const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/dh.txt");

/// A transcript with all that it was made of, which `tests/twin.py` computes once more.
fn transcript() -> String {
    let (wired, offer) = wired(every_node(), Padding::default(), 11);
    let x = [true, false, true, false];
    let played = play(&wired, &offer, 0, &x, 12);
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let bit = |bit: &Bit| 2 * bit.node() + u32::from(bit.complemented());
    let mut lines = vec![
        "# A run of Diffie-Hellman labels: numbers little-endian, bit 2·n + 1 the complement of node n.".to_owned(),
        format!("offer {}", hex(&offer.to_bytes(Method::Dh))),
        format!("a {}", hex(random_scalar(&mut seeded(12)).as_bytes())),
        format!("x {}", x.map(|bit| if bit { "1" } else { "0" }).concat()),
    ];
    lines.extend(wired.blindings(0).iter().map(|k| format!("half-of-k {}", hex(k.as_bytes()))));
    lines.extend(wired.function.nodes().iter().map(|node| match node {
        Node::False => "node false".into(),
        Node::Input => "node input".into(),
        Node::Majority([x, y, z]) => format!("node majority {} {} {}", bit(x), bit(y), bit(z)),
        Node::Parity(gate) => format!("node parity {gate}"),
        Node::Rest(gate, operand) => format!("node rest {gate} {operand}"),
        Node::Either(gate) => format!("node either {gate}"),
        Node::Choice([x, y]) => format!("node choice {} {}", bit(x), bit(y)),
    }));
    lines.extend(wired.function.outputs().iter().map(|output| format!("output {}", bit(output))));
    lines.push(format!("announcement {}", hex(&played.announcement)));
    lines.push(format!("labels {}", hex(&played.inputs)));
    lines.push(format!("queries {}", hex(&played.queries.concat())));
    lines.push(format!("tables {}", hex(&played.tables.concat())));
    lines.push(format!("outputs {}", hex(&played.outputs)));
    let result: String = played.result.iter().map(|&bit| if bit { '1' } else { '0' }).collect();
    lines.push(format!("result {result}"));
    lines.join("\n") + "\n"
}

#[test]
fn the_transcript_is_the_one_on_file() {
    if std::env::var_os("DUOLOGUE_WRITE_VECTORS").is_some() {
        std::fs::write(VECTORS, transcript()).unwrap();
    }
    let on_file = std::fs::read_to_string(VECTORS).unwrap();
    assert!(on_file == transcript(), "if it shall differ, set DUOLOGUE_WRITE_VECTORS=1");
}

/// The twin in Python, in big integers, computes the same bytes.
#[test]
fn the_twin_computes_the_same_transcript() {
    let twin = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/twin.py");
    let Ok(done) = std::process::Command::new("python3").args([twin, VECTORS]).output() else {
        assert!(std::env::var_os("CI").is_none(), "there is no python3");
        return;
    };
    let [out, why] = [done.stdout, done.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(done.status.success(), "{out}{why}");
    assert!(out.contains("every byte is the same"));
}

#[test]
fn every_kind_of_node_on_all_inputs() {
    let (wired, offer) = wired(every_node(), Padding { gates: Some(9), additions: Some(20) }, 5);
    for input in 0..16u32 {
        let x: Vec<bool> = (0..4).map(|bit| input >> bit & 1 == 1).collect();
        assert_eq!(play(&wired, &offer, 0, &x, 100 + u64::from(input)).result, every_node().evaluate(&x));
    }
}

/// What travels does not depend on threads.
#[test]
fn threads_change_no_byte() {
    let gates: Vec<(u8, usize, usize)> = (0..900).map(|i| (i as u8 % 7, i * i + 3, 5 * i + i % 11)).collect();
    let (wired, offer) = wired(thresholds(&circuit_of(9, &gates, 40)).unwrap(), Padding::default(), 3);
    let x: Vec<bool> = (0..9).map(|bit| bit % 3 == 1).collect();
    let alone = play(&wired, &offer, 0, &x, 8);
    for count in [2, 5] {
        assert!(play_on(&Threads::new(count).unwrap(), &wired, &offer, 0, &x, 8) == alone, "{count} threads");
    }
}

/// Another run of the same wiring: the same queries, and not one byte else that was sent before.
#[test]
fn a_second_run_has_a_fresh_number() {
    let (wired, offer) = wired(every_node(), Padding::default(), 5);
    let (x, mut rng) = ([true, false, true, true], seeded(9));
    let mut one = garbling(&offer, 0, &mut rng);
    let mut other = garbling(&offer, 1, &mut rng);
    assert_ne!(one.announcement(), other.announcement());
    let queries = Queries::new(&wired, &Threads::default()).chunk();
    assert_eq!(queries, Queries::new(&wired, &Threads::default()).chunk());
    let (a, b) = (one.input_labels(&x), other.input_labels(&x));
    assert!(a.chunks(32).zip(b.chunks(32)).all(|(a, b)| a != b));
    let (a, b) = (one.chunk(&queries).unwrap(), other.chunk(&queries).unwrap());
    assert!(a.chunks(99).zip(b.chunks(99)).all(|(a, b)| a[3..35] != b[3..35] && a[35..] != b[35..]));
}

/// The broken twin that draws its number once: two runs on other data show which bits differ, and with them the offset and
/// all labels. This is why an announcement never comes twice.
#[test]
fn a_number_that_serves_twice_gives_the_data_away() {
    let (_, offer) = wired(every_node(), Padding::default(), 5);
    let twice = [0, 1].map(|number| garbling(&offer, number, &mut seeded(9)));
    assert_eq!(twice[0].announcement(), twice[1].announcement());
    let (x, y) = ([true, false, true, true], [true, true, false, true]);
    let [a, b] = [twice[0].input_labels(&x), twice[1].input_labels(&y)];
    let same: Vec<bool> = a.chunks(32).zip(b.chunks(32)).map(|(a, b)| a == b).collect();
    assert_eq!(same, [true, false, false, true]);
}

/// What the documentation says of an Alice who departs from the protocol: a form that leaves 0 to 3 opens its row if and
/// only if the input is 0. Bob sees a uniform point as ever.
#[test]
fn a_dishonest_alice_learns_all_data() {
    let (_, offer) = wired(every_node(), Padding::default(), 5);
    let hash = HashToGroup::new(&offer.id);
    let x = [true, false, false, true];
    // Eight gates of the form 4·x_j, so that no wrong row is a point by chance.
    let ks: Vec<Scalar> = (0..9).map(|k| random_scalar(&mut seeded(100 + k))).collect();
    let offer = Offer { sizes: crate::Sizes { gates: 8, outputs: 1, ..offer.sizes }, ..offer };
    let learnt = [0, 1, 2, 3].map(|input| {
        let mut bob = garbling(&offer, 0, &mut seeded(input));
        let [wire] = hash.wires(input..input + 1).encode()[..] else { unreachable!() };
        let form = decode(&wire).unwrap() * Scalar::from(4u8);
        let forms = std::iter::repeat_n(form, 8).chain([RistrettoPoint::identity()]);
        let halves: Vec<_> = forms.zip(&ks).map(|(form, k)| form + RistrettoPoint::mul_base(k)).collect();
        let tables = bob.chunk(&double_and_encode(&halves).concat()).unwrap();
        let labels = bob.input_labels(&x);
        let label = decode(&labels.as_chunks().0[input as usize]).unwrap();
        let (a, hashes) = (decode(bob.announcement()).unwrap(), hashes(&offer, 0, bob.announcement()));
        let opens = |(gate, k): (usize, &Scalar)| {
            let own = double_and_encode(&[label * Scalar::from(4u8) + a * (k + k)]);
            decode(&hashes.open(gate as u64, &own[0], &tables.as_chunks().0[gate])).is_some()
        };
        !ks[..8].iter().enumerate().all(opens)
    });
    assert_eq!(learnt, x);
}

fn decode(bytes: &[u8; 32]) -> Option<RistrettoPoint> {
    CompressedRistretto(*bytes).decompress()
}

fn double_and_encode(points: &[RistrettoPoint]) -> Vec<[u8; 32]> {
    RistrettoPoint::double_and_compress_batch(points).iter().map(CompressedRistretto::to_bytes).collect()
}

fn is_peer<T>(result: duologue::Result<T>) {
    match result {
        Err(Error::Peer(why)) => assert!(!why.contains("gate"), "says where: {why}"),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("taken"),
    }
}

#[test]
fn bytes_that_are_none_are_the_peers() {
    let (wired, offer) = wired(every_node(), Padding::default(), 5);
    let x = [true, false, true, true];
    let honest = play(&wired, &offer, 0, &x, 4);
    let (identity, other) = ([0; 32], [0xff; 32]);
    let garbled = || garbling(&offer, 0, &mut seeded(4));
    for bad in [identity, other] {
        let mut queries = honest.queries[0].clone();
        queries[64..96].copy_from_slice(&bad);
        is_peer(garbled().chunk(&queries));
        is_peer(evaluation(&wired, &offer, 0, &bad, &honest.inputs));
        let mut inputs = honest.inputs.clone();
        inputs[32..64].copy_from_slice(&bad);
        is_peer(evaluation(&wired, &offer, 0, &honest.announcement, &inputs));
        let mut with_queries = garbled();
        with_queries.chunk(&honest.queries[0]).unwrap();
        let mut outputs = honest.outputs.clone();
        outputs[32..64].copy_from_slice(&bad);
        is_peer(with_queries.finish(&outputs));
    }
    for queries in [&honest.queries[0][32..], &honest.queries[0][1..], &[]] {
        is_peer(garbled().chunk(queries));
    }
    is_peer(evaluation(&wired, &offer, 0, &honest.announcement, &honest.inputs[32..]));
    let evaluated = || evaluation(&wired, &offer, 0, &honest.announcement, &honest.inputs).unwrap();
    is_peer(evaluated().chunk(&honest.tables[0][1..]));
    is_peer(evaluated().chunk(&honest.tables[0][99..]));
    // A row that is no point shows at the end alone.
    let mut tables = honest.tables[0].clone();
    tables.iter_mut().for_each(|byte| *byte ^= 0x55);
    let mut damaged = evaluated();
    damaged.chunk(&tables).unwrap();
    is_peer(damaged.finish());
    is_peer(garbled().finish(&honest.outputs));
}

/// Lengths and order of what Bob sees are those of the sizes, whatever the function is.
#[test]
fn messages_do_not_depend_on_the_function() {
    let chain: Vec<(u8, usize, usize)> = (0..60).map(|i| (4, i + 3, i % 4)).collect();
    let shape = |function: Function| {
        let (wired, offer) = wired(function, Padding { gates: Some(600), additions: Some(400) }, 2);
        assert_eq!((offer.sizes.gates, offer.sizes.additions), (600, 400));
        let Transcript { queries, tables, outputs, .. } = play(&wired, &offer, 0, &[true; 4], 6);
        let lengths = |messages: &[Vec<u8>]| messages.iter().map(Vec::len).collect::<Vec<_>>();
        (lengths(&queries), lengths(&tables), outputs.len())
    };
    let one = shape(thresholds(&circuit_of(4, &chain, 2)).unwrap());
    let other = shape(thresholds(&circuit_of(4, &[(0, 0, 1)], 2)).unwrap());
    assert_eq!(one, other);
    assert_eq!(chunk(602, 1), 512..602);
}

#[test]
fn padding_that_is_too_small_names_the_gate() {
    let why = |padding| match Wired::new(every_node(), padding) {
        Err(Error::Malformed { what, why }) => format!("{what}: {why}"),
        _ => panic!("wired"),
    };
    let gates = every_node().gates() as u64;
    assert!(why(Padding { gates: Some(gates - 1), additions: None }).contains(&format!("gate {}", gates - 1)));
    assert!(why(Padding { gates: None, additions: Some(1) }).contains("9 additions"));
    assert!(Wired::new(every_node(), Padding { gates: None, additions: Some(9) }).is_ok());
    let nothing = Function::new(vec![Node::False, Node::Input], vec![]).unwrap();
    assert!(matches!(Wired::new(nothing, Padding::default()), Err(Error::Malformed { .. })));
}
