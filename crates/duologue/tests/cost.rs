//! What the cost protocol says against what runs really take.

#[path = "../../../tests/support/programs.rs"]
mod programs;

use circuit::blocks::{self, Goal};
use circuit::program::Owner;
use circuit::{BitMatrix, Party, Program};
use duologue::channel::{Channel, Link};
use duologue::cost::{self, Speed, cost};
use duologue::ot::Extension;
use duologue::{Garbling, Inputs, Options, Report, Scheme, Session, Timing};
use programs::sample;
use std::time::Duration;

fn reports(binding: &circuit::Binding, options: &Options) -> [Report; 2] {
    let (alice, bob) = Channel::pair();
    let run = |channel, party: Party| {
        let mut session = Session::connect(channel, party).unwrap();
        let mut inputs = Inputs::new();
        for port in binding.inputs().iter().filter(|port| port.who != Owner::Party(party.peer())) {
            inputs.set(&port.name, BitMatrix::zeros(port.ty.width as usize, port.lanes as usize));
        }
        let report = session.run(binding, options, &inputs).unwrap().report;
        assert_eq!(session.drawn(), report.demand, "what was drawn is what was demanded");
        session.close().unwrap();
        report
    };
    std::thread::scope(|scope| {
        let bob = scope.spawn(|| run(bob, Party::Bob));
        [run(alice, Party::Alice), bob.join().unwrap()]
    })
}

fn check(binding: &circuit::Binding, options: &Options, what: &str) {
    // What would be chosen depends on what is measured, here of this machine.
    let options = &options.extension(Extension::DEFAULT);
    let cost = cost(binding, options).unwrap();
    let [alice, bob] = reports(binding, options);
    assert_eq!((cost.ands, cost.demand, cost.tile), (alice.ands, alice.demand, alice.tile), "{what}");
    for (phase, traffic, a, b) in
        [("setup", cost.setup, alice.setup, bob.setup), ("online", cost.online, alice.online, bob.online)]
    {
        assert_eq!((a.sent, a.received), (b.received, b.sent), "{what}, {phase}");
        assert_eq!((traffic.alice_to_bob, traffic.bob_to_alice), (a.sent, b.sent), "{what}, {phase}");
        assert_eq!((traffic.alice_rounds, traffic.bob_rounds), (a.rounds, b.rounds), "{what}, {phase}");
    }
}

/// Sums of four words: two that do not need each other, or one after the other, or one alone.
fn sums(pairs: &[[usize; 2]], lanes: u64) -> circuit::Binding {
    let add = blocks::find("add").unwrap().circuit(&[8], Goal::Size).unwrap();
    let mut p = Program::new("sums");
    let owners = [Party::Alice, Party::Bob, Party::Alice, Party::Bob];
    let names = ["a", "b", "c", "d"];
    let mut words: Vec<_> = (0..4).map(|i| p.input(names[i], owners[i], circuit::uint(8), lanes)).collect();
    for &[x, y] in pairs {
        let sum = p.map(&add, &[words[x], words[y]]);
        words.push(sum);
    }
    p.output("out", Party::Alice, words[4]);
    p.output("last", Party::Bob, words[words.len() - 1]);
    p.bind(&[]).unwrap()
}

/// Steps that do not need each other share the rounds of one, whether they fill a tile or not.
#[test]
fn independent_steps_share_rounds() {
    for (scheme, lanes) in [Scheme::Gmw, Scheme::MaskedGmw].into_iter().flat_map(|s| [(s, 1), (s, 64), (s, 300)]) {
        let options = Options::new(scheme).tile(64);
        let rounds = |pairs: &[[usize; 2]]| {
            let binding = sums(pairs, lanes);
            check(&binding, &options, &format!("{scheme}, {lanes} lanes, {pairs:?}"));
            cost(&binding, &options).unwrap().online.alice_rounds
        };
        let [one, apart, chained] = [&[[0, 1]][..], &[[0, 1], [2, 3]], &[[0, 1], [4, 2]]].map(rounds);
        assert!(apart == one && chained >= one + 3, "{scheme}, {lanes} lanes: {one}, {apart}, {chained}");
    }
}

/// A task that reads nothing, Alice's own input, and after it one that fills a group of tasks alone.
#[test]
fn a_task_that_reads_nothing_takes_no_round_from_a_large_one() {
    let mut c = circuit::Builder::new("first");
    let (a, b) = (c.bits("a", 64), c.bits("b", 64));
    let mut bits: Vec<_> = a.0.iter().zip(&b.0).map(|(&a, &b)| c.xor(a, b)).collect();
    bits[0] = c.and(a.0[0], b.0[0]);
    c.output("out", &circuit::Bits(bits));
    let owners = [Party::Alice, Party::Bob].map(Owner::from);
    let program = Program::of_circuit(&c.finish(), &owners);
    let binding = program.bind(&[("lanes", 1 << 15)]).unwrap();
    for scheme in [Scheme::Gmw, Scheme::MaskedGmw] {
        check(&binding, &Options::new(scheme).tile(1 << 15), &format!("{scheme}"));
    }
}

#[test]
fn bytes_and_rounds_are_exact() {
    for (seed, lanes) in (0..6).flat_map(|seed| [(seed, seed % 3), (seed, 200)]) {
        let sample = sample(seed, lanes);
        for timing in [Timing::Ahead, Timing::Streamed] {
            for scheme in [Scheme::Yao, Scheme::Gmw, Scheme::MaskedGmw] {
                if (scheme, timing) == (Scheme::MaskedGmw, Timing::Streamed) {
                    continue;
                }
                for garbling in Garbling::ALL.into_iter().take(if scheme == Scheme::Yao { 2 } else { 1 }) {
                    let options = Options::new(scheme).garbling(garbling).timing(timing).tile(64);
                    check(&sample.binding, &options, &format!("seed {seed}, {lanes} lanes, {options:?}"));
                }
            }
        }
    }
}

#[test]
fn aes_costs_what_is_known() {
    let aes = blocks::find("aes128").unwrap().circuit(&[], Goal::Size).unwrap();
    let p = Program::of_circuit(&aes, &[Owner::Party(Party::Alice), Owner::Party(Party::Bob)]);
    let binding = p.bind(&[("lanes", 130)]).unwrap();
    for scheme in [Scheme::Yao, Scheme::Gmw, Scheme::MaskedGmw] {
        check(&binding, &Options::new(scheme), &format!("{scheme}"));
    }
    let three_halves = Options::new(Scheme::Yao).garbling(Garbling::ThreeHalves);
    check(&binding, &three_halves, "three halves");
    let [half, three] = [Options::new(Scheme::Yao), three_halves].map(|options| cost(&binding, &options).unwrap());
    let sent = |cost: &cost::Cost| cost.setup.bob_to_alice + cost.setup.alice_to_bob;
    let longer_terms = 2 * ("three-halves".len() - "half-gates".len()) as u64;
    assert_eq!(sent(&half) + longer_terms - sent(&three), 6400 * 130 * (32 - 25), "seven bytes an AND less");
    assert_eq!(half.online, three.online);
    assert_eq!(half.memory - three.memory, 6400 * 130 * (32 - 25), "and as much less to keep");
    let gmw = cost(&binding, &Options::new(Scheme::Gmw)).unwrap();
    assert_eq!((gmw.ands, gmw.depth), (6400 * 130, aes.depth()));
    assert_eq!(gmw.online.rounds(), u64::from(gmw.depth) + 1, "a round for each layer and one for the output");
    let bytes = 6400 * 130 * 2 / 8 + 128 * 130 / 8;
    assert_eq!((gmw.online.alice_to_bob, gmw.online.bob_to_alice), (bytes, bytes), "two bits an AND each way");
    let masked = cost(&binding, &Options::new(Scheme::MaskedGmw)).unwrap();
    assert_eq!((masked.ands, masked.demand, masked.depth), (gmw.ands, gmw.demand, gmw.depth));
    assert_eq!(masked.online.rounds(), u64::from(gmw.depth) + 1, "a round for the inputs and one for each layer");
    let bytes = 6400 * 130 / 8 + 128 * 130 / 8;
    assert_eq!(masked.online.alice_to_bob, bytes, "one bit an AND each way");
    let yao = cost(&binding, &Options::new(Scheme::Yao)).unwrap();
    assert!(yao.setup.bob_to_alice >= 6400 * 130 * 32, "32 bytes an AND");
}

/// With tables streamed, nobody waits for the other between tiles: all of them take the rounds of one.
#[test]
fn tiles_of_yao_take_no_rounds() {
    let aes = blocks::find("aes128").unwrap().circuit(&[], Goal::Size).unwrap();
    let p = Program::of_circuit(&aes, &[Owner::Party(Party::Alice), Owner::Party(Party::Bob)]);
    let binding = p.bind(&[("lanes", 130)]).unwrap();
    let rounds = |tile| {
        let options = Options::new(Scheme::Yao).tile(tile).timing(Timing::Streamed);
        check(&binding, &options, &format!("tiles of {tile}"));
        cost(&binding, &options).unwrap().online.rounds()
    };
    assert_eq!([16, 64, 256].map(rounds), [2; 3], "one for the inputs and one for the outputs");
    // Inputs of 64 tiles fill the window; the next ones share the exchange of these tiles' outputs.
    let all = p.bind(&[("lanes", 2 * 64 * 64)]).unwrap();
    assert_eq!(cost(&all, &Options::new(Scheme::Yao).tile(64)).unwrap().online.rounds(), 3);
}

/// What all tiles read leaves less of the window to their inputs, which still share exchanges.
#[test]
fn a_cell_that_stays_does_not_hold_inputs_up() {
    let add = blocks::find("add").unwrap().circuit(&[64], Goal::Size).unwrap();
    let ty = add.inputs()[0].ty;
    let mut p = Program::new("sums");
    let base = p.input("base", Owner::Party(Party::Alice), ty, 2 << 10);
    let step = p.input("step", Owner::Party(Party::Bob), ty, 10 << 10);
    let first = p.map(&add, &[base, base]);
    let repeated = p.repeat(first, 5);
    let sums = p.map(&add, &[repeated, step]);
    p.output("sums", circuit::program::Recipient::Both, sums);
    let options = Options::new(Scheme::Yao).tile(256).timing(Timing::Streamed);
    let rounds = cost(&p.bind(&[]).unwrap(), &options).unwrap().online.rounds();
    assert!(rounds < 10, "{rounds} rounds for 40 tiles");
}

#[test]
fn a_line_takes_its_time() {
    let aes = blocks::find("aes128").unwrap().circuit(&[], Goal::Size).unwrap();
    let p = Program::of_circuit(&aes, &[Owner::Party(Party::Alice), Owner::Party(Party::Bob)]);
    let cost = cost(&p.bind(&[("lanes", 1)]).unwrap(), &Options::new(Scheme::Gmw)).unwrap();
    let line = Link { round_trip: Duration::from_millis(100), bits_per_second: None };
    let (_, online) = cost.time(&line, &Speed { setup: f64::INFINITY, online: f64::INFINITY });
    assert_eq!(online, Duration::from_millis(50) * (cost.depth + 1), "half a round trip for each exchange");
}

/// A 32-bit sum has 31 ANDs; all its other gates are XORs.
#[test]
fn work_is_what_the_circuit_has() {
    let add = blocks::find("add").unwrap().circuit(&[32], Goal::Size).unwrap();
    let xors = add.gates().iter().filter(|gate| matches!(gate, circuit::Gate::Xor(..))).count() as u64;
    let p = Program::of_circuit(&add, &[Owner::Party(Party::Alice), Owner::Party(Party::Bob)]);
    let options = Options::new(Scheme::Gmw).tile(64);
    let work = cost(&p.bind(&[("lanes", 130)]).unwrap(), &options).unwrap().work;
    assert_eq!((work.ands, work.xors, work.inputs), (31 * 130, xors * 130, 64 * 130));
    assert_eq!(work.gates, (31 + xors) * 3, "130 lanes are three tiles");
    assert_eq!(work.moved, (64 + 32) * 130, "operands to the circuit, sums to the output");
}

/// In Yao a party computes while bytes travel; in GMW it waits for them, but not while correlations are made, in batches of
/// 2¹⁶ triples. An endless line leaves the computing.
#[test]
fn computing_overlaps_where_bytes_go_one_way() {
    let aes = blocks::find("aes128").unwrap().circuit(&[], Goal::Size).unwrap();
    let p = Program::of_circuit(&aes, &[Owner::Party(Party::Alice), Owner::Party(Party::Bob)]);
    let binding = p.bind(&[("lanes", 100)]).unwrap();
    let line = Link { round_trip: Duration::ZERO, bits_per_second: Some(1_000_000_000) };
    let endless = Link { bits_per_second: None, ..line };
    const SPEED: u64 = 100_000_000;
    const ALL: u32 = u32::MAX;
    for scheme in [Scheme::Yao, Scheme::Gmw, Scheme::MaskedGmw] {
        let cost = cost(&binding, &Options::new(scheme).extension(Extension::DEFAULT)).unwrap();
        let batches = cost.demand.triples.div_ceil(1 << 16) as u32;
        let parts = if scheme == Scheme::Yao { [ALL; 2] } else { [batches, 1] };
        let (computing, sending) = (cost.predict(&endless, SPEED), cost.predict(&line, u64::MAX));
        let both = cost.predict(&line, SPEED);
        let phases = [(computing.0, sending.0, both.0), (computing.1, sending.1, both.1)];
        for ((computing, sending, both), parts) in phases.into_iter().zip(parts) {
            let expected = computing.max(sending) + computing.min(sending) / parts;
            // The fastest processor and line that are believed still take a thousandth of the time at most.
            let error = expected.abs_diff(both);
            assert!(error <= both / 500, "{scheme}: {computing:?}, {sending:?}, {both:?}");
        }
        assert!(computing.0 > 2 * cost.predict(&endless, 3 * SPEED).0, "a processor three times as fast");
    }
}
