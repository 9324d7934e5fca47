//! Every protocol against the step-by-step reference, over memory, TCP and TLS.

#[path = "../../../tests/support/parties.rs"]
mod parties;
#[path = "../../../tests/support/programs.rs"]
mod programs;

use circuit::blocks::{self, Goal};
use circuit::program::{Owner, reference};
use circuit::{BitMatrix, Party, Program};
use duologue::channel::{Channel, Limits};
use duologue::{Inputs, Options, Outcome, Scheme, data};
use parties::{all_options, both, check, split, tcp, tls};
use programs::{Dice, Sample, sample};
use proptest::prelude::*;

/// One session runs all options twice, each time with fresh shares.
fn run_all(channels: (Channel, Channel), sample: &Sample, all: &[Options]) {
    let expected = reference::evaluate(&sample.binding, &sample.inputs);
    let inputs: Vec<[Inputs; 2]> =
        (0..2 * all.len()).map(|i| split(&sample.binding, &sample.inputs, &mut Dice(i as u64))).collect();
    let outcomes = both(channels, |mut session| {
        let mut run = |(i, options): (usize, &Options)| {
            let mine = &inputs[i][session.party() as usize];
            session.run(&sample.binding, options, mine)
        };
        let outcomes: Vec<Outcome> = all.iter().chain(all).enumerate().map(&mut run).collect::<Result<_, _>>()?;
        session.close()?;
        Ok(outcomes)
    });
    for (i, options) in all.iter().chain(all).enumerate() {
        let got = [&outcomes[0][i].outputs, &outcomes[1][i].outputs];
        check(&sample.binding, &expected, got, &format!("seed {}, run {i}, {options:?}", sample.seed));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn random_programs(seed: u64, lanes in prop::sample::select(vec![0u64, 1, 2, 3, 63, 64, 65, 130])) {
        run_all(Channel::pair(), &sample(seed, lanes), &all_options());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Where ANDs of several gates are hashed together, in one layer or side by side, and where that ends.
    #[test]
    fn few_lanes(seed: u64, lanes in 1u64..=20, tile in prop::sample::select(vec![1usize, 3, 15, 16, 64])) {
        let yao = all_options().into_iter().filter(|options| options.scheme == Scheme::Yao);
        let tiles: Vec<Options> = yao.map(|options| options.tile(tile)).collect();
        run_all(Channel::pair(), &sample(seed, lanes), &tiles);
    }
}

#[test]
fn a_thousand_lanes() {
    for seed in 0..4 {
        run_all(Channel::pair(), &sample(seed, 1000), &all_options());
    }
}

#[test]
fn plain_agrees_with_the_reference() {
    for (seed, lanes) in (0..200).flat_map(|seed| [(seed, 3), (seed, 65)]) {
        let sample = sample(seed, lanes);
        let expected = reference::evaluate(&sample.binding, &sample.inputs);
        let mut inputs = Inputs::new();
        for port in sample.binding.inputs() {
            inputs.set(&port.name, BitMatrix::from_lanes(port.ty.width as usize, &sample.inputs[&port.name]));
        }
        let outputs = duologue::plain::run(&sample.binding, &inputs).unwrap();
        for port in sample.binding.outputs() {
            assert!(outputs.get(&port.name).unwrap().to_lanes() == expected[&port.name], "seed {seed}");
        }
    }
}

#[test]
fn over_tcp_and_tls() {
    for (seed, lanes) in [(1, 1), (2, 65), (3, 130)] {
        run_all(tcp(Limits::default()), &sample(seed, lanes), &all_options());
        run_all(tls(Limits::default()), &sample(seed, lanes), &all_options());
    }
}

/// Several chunks of tables and layers, and tiles that are not full.
#[test]
fn threads_of_either_party() {
    for (seed, lanes, threads) in [(1, 1, [2, 2]), (2, 70, [2, 1]), (3, 1000, [3, 7]), (4, 333, [7, 2])] {
        for channels in [Channel::pair(), tcp(Limits::default())] {
            let sample = sample(seed, lanes);
            let (expected, mut dice) = (reference::evaluate(&sample.binding, &sample.inputs), Dice(seed));
            let inputs = split(&sample.binding, &sample.inputs, &mut dice);
            let run = |mut session: duologue::Session| {
                let us = session.party() as usize;
                session.set_threads(threads[us]);
                let run = |options| session.run(&sample.binding, &options, &inputs[us]);
                let outcomes: Vec<Outcome> = all_options().into_iter().map(run).collect::<Result<_, _>>()?;
                session.close()?;
                Ok(outcomes)
            };
            let [alice, bob] = both(channels, run);
            for (i, (alice, bob)) in alice.iter().zip(&bob).enumerate() {
                let what = format!("seed {seed}, run {i}, {threads:?} threads");
                check(&sample.binding, &expected, [&alice.outputs, &bob.outputs], &what);
            }
        }
    }
}

/// ANDs of many inputs, complemented here and there, on every layout of lanes: three circuits in one program, so that
/// tasks with and without answers in setup stand side by side.
#[test]
fn trees_of_ands() {
    let mut program = Program::new("trees");
    let lanes = program.size("lanes", 1..=2000);
    let [x, y] =
        [("x", Party::Alice), ("y", Party::Bob)].map(|(name, who)| program.input(name, who, circuit::bits(40), lanes));
    for (leaves, flips) in [(2, 0u64), (3, 5), (4, 0), (5, 1), (11, 0x2aa), (16, 0), (17, 9), (40, 1 << 39)] {
        let mut c = circuit::Builder::new(format!("tree{leaves}"));
        let (a, b) = (c.bits("a", 40).0, c.bits("b", 40).0);
        let leaf = |i: usize| if i.is_multiple_of(3) { a[i] } else { b[i] }.flip(flips >> i & 1 == 1);
        let all = (1..leaves).fold(leaf(0), |all, i| c.and(all, leaf(i)));
        let parity = c.xor(all, a[1]);
        c.output("all", &circuit::Bits(vec![all, !parity]));
        let made = program.map(&c.finish(), &[x, y]);
        program.output(&format!("all{leaves}"), circuit::program::Recipient::Both, made);
    }
    for lanes in [1usize, 2, 7, 8, 9, 31, 63, 64, 65, 128, 1000] {
        let binding = program.bind(&[("lanes", lanes as u64)]).unwrap();
        // Bits that are mostly one, so that products are not always zero.
        let mut dice = Dice(lanes as u64);
        let mut mostly =
            || (0..lanes).map(|_| (0..40).map(|_| dice.roll(16) > 0).collect()).collect::<Vec<Vec<bool>>>();
        let inputs = [("x", mostly()), ("y", mostly())].map(|(name, lanes)| (name.to_string(), lanes)).into();
        let sample = Sample { seed: lanes as u64, program: program.clone(), binding, inputs };
        let masked = Options::new(Scheme::MaskedGmw).tile(512);
        run_all(Channel::pair(), &sample, &[masked, masked.tile(64)]);
    }
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().map(|c| c.to_digit(16).expect("a digit") as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// Runs a block on published vectors, over and over up to `lanes`; the first time and the second time in one session.
/// A vector is Alice's input, Bob's if there are two, and the output.
fn vectors(block: &str, size: &[u32], vectors: &[&[&str]], lanes: usize) {
    let circuit = blocks::find(block).unwrap().circuit(size, Goal::Size).unwrap();
    let program = Program::of_circuit(&circuit, &[Owner::Party(Party::Alice), Owner::Party(Party::Bob)]);
    let binding = program.bind(&[("lanes", lanes as u64)]).unwrap();
    let column = |i: usize| -> BitMatrix {
        let each: Vec<Vec<u8>> = vectors.iter().map(|vector| hex(vector[i])).collect();
        data::bytes(&(0..lanes).map(|lane| &each[lane % each.len()][..]).collect::<Vec<_>>()).unwrap()
    };
    let ports = binding.inputs().len();
    let expected = column(ports);
    both(Channel::pair(), |mut session| {
        let mut inputs = Inputs::new();
        for (i, port) in binding.inputs().iter().enumerate().filter(|(_, p)| p.who == Owner::Party(session.party())) {
            inputs.set(&port.name, column(i));
        }
        for scheme in Scheme::ALL.repeat(2) {
            let outputs = session.run(&binding, &Options::new(scheme), &inputs)?.outputs;
            let (name, output) = outputs.iter().next().expect("an output");
            assert!(*output == expected, "{block} over {lanes} lanes by {scheme}: '{name}' is wrong");
        }
        session.close()
    });
}

/// FIPS 197, appendices B and C.1; NIST SP 800-38A, F.1.1.
const AES: &[&[&str]] = &[
    &["2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734", "3925841d02dc09fbdc118597196a0b32"],
    &["000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff", "69c4e0d86a7b0430d8cdb78070b4c55a"],
    &["2b7e151628aed2a6abf7158809cf4f3c", "6bc1bee22e409f96e93d7e117393172a", "3ad77bb40d7a3660a89ecaf32466ef97"],
];

/// FIPS 180-2, appendix B.1, and the vector of three bytes in the NIST SHA byte test vectors.
const SHA256: &[&[&str]] = &[
    &["616263", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
    &["b4190e", "dff2e73091f6c05e528896c4c831b9448653dc2ff043528f6769437bc7b975c2"],
];

/// FIPS 180-2, appendix B.2: two blocks.
const SHA256_LONG: &[&[&str]] = &[&[
    "6162636462636465636465666465666765666768666768696768696a68696a6b696a6b6c6a6b6c6d6b6c6d6e6c6d6e6f6d6e6f706e6f7071",
    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
]];

#[test]
fn aes_of_the_standards() {
    for lanes in [1, 2, 7, 15, 16, 64, 65, 1000] {
        vectors("aes128", &[], AES, lanes);
    }
}

#[test]
fn sha256_of_the_standards() {
    for lanes in [1, 64, 65, 1000] {
        vectors("sha256", &[3], SHA256, lanes);
    }
    vectors("sha256", &[56], SHA256_LONG, 3);
}
