//! Every protocol against the step-by-step reference, over memory, TCP and TLS.

#[path = "../../../tests/support/programs.rs"]
mod programs;

use circuit::program::reference::{self, Table};
use circuit::program::{Binding, Owner, Recipient};
use circuit::{BitMatrix, Party};
use duologue::channel::Channel;
use duologue::{Inputs, Options, Outcome, Outputs, Scheme, Session, Timing};
use programs::{Dice, Sample, sample};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The inputs of each party: its own, the public ones, and its share of shared ones.
fn split(binding: &Binding, tables: &BTreeMap<String, Table>, dice: &mut Dice) -> [Inputs; 2] {
    let mut inputs = [Inputs::new(), Inputs::new()];
    for port in binding.inputs() {
        let value = BitMatrix::from_lanes(port.ty.width as usize, &tables[&port.name]);
        match port.who {
            Owner::Party(party) => inputs[party as usize].set(&port.name, value),
            Owner::Public => inputs.iter_mut().for_each(|inputs| inputs.set(&port.name, value.clone())),
            Owner::Shared => {
                let mask: Table = tables[&port.name].iter().map(|lane| dice.bits(lane.len())).collect();
                let mask = BitMatrix::from_lanes(port.ty.width as usize, &mask);
                inputs[0].set(&port.name, xor(&value, &mask));
                inputs[1].set(&port.name, mask);
            }
        }
    }
    inputs
}

fn xor(a: &BitMatrix, b: &BitMatrix) -> BitMatrix {
    let words = a.words().iter().zip(b.words()).map(|(a, b)| a ^ b).collect();
    BitMatrix::from_words(a.rows(), a.lanes(), words).unwrap()
}

/// Checks what both parties got: everybody exactly his own, and shares that add up.
fn check(binding: &Binding, expected: &BTreeMap<String, Table>, got: [&Outputs; 2], what: &str) {
    for port in binding.outputs() {
        let value = BitMatrix::from_lanes(port.ty.width as usize, &expected[&port.name]);
        let [alice, bob] = got.map(|outputs| outputs.get(&port.name));
        let right = match port.who {
            Recipient::Party(Party::Alice) => alice == Some(&value) && bob.is_none(),
            Recipient::Party(Party::Bob) => bob == Some(&value) && alice.is_none(),
            Recipient::Both => alice == Some(&value) && bob == Some(&value),
            Recipient::Shared => matches!((alice, bob), (Some(a), Some(b)) if xor(a, b) == value),
        };
        assert!(right, "{what}: the output '{}' is wrong", port.name);
    }
}

/// Runs what each party does in a thread of its own.
fn both<T: Send>((alice, bob): (Channel, Channel), run: impl Fn(Session) -> duologue::Result<T> + Sync) -> [T; 2] {
    std::thread::scope(|scope| {
        let bob = scope.spawn(|| run(Session::connect(bob, Party::Bob)?));
        let alice = Session::connect(alice, Party::Alice).and_then(&run);
        let bob = bob.join().expect("no panic");
        [alice.expect("alice"), bob.expect("bob")]
    })
}

fn all_options() -> Vec<Options> {
    let mut all = Vec::new();
    for timing in [Timing::Ahead, Timing::Streamed] {
        for garbler in [Party::Alice, Party::Bob] {
            all.push(Options { garbler: Some(garbler), timing, tile: Some(64), ..Options::new(Scheme::Yao) });
        }
        all.push(Options { timing, tile: Some(64), ..Options::new(Scheme::Gmw) });
    }
    all
}

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
