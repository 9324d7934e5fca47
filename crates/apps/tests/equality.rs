//! Equality of strings as a call, against comparing them, by every protocol and alone.

use crate::common::{Random, both, refusal};
use apps::equality::{Equality, equality};
use duologue::call::CallWork;
use duologue::channel::Channel;
use duologue::circuit::program::{Functionality, Holder, Owner, Recipient};
use duologue::circuit::{BitMatrix, Party, Program, bits};
use duologue::cost::cost_with;
use duologue::data::{to_uints, uints};
use duologue::{Error, Inputs, Options, Scheme, Session, Timing, plain};
use std::sync::Arc;
use std::thread;

fn random(random: &mut Random, rows: usize, lanes: usize) -> BitMatrix {
    let mut matrix = BitMatrix::zeros(rows, lanes);
    matrix.words_mut().iter_mut().for_each(|word| *word = random.word());
    matrix.clear_padding();
    matrix
}

/// Strings of which some are equal, and some differ in one bit.
fn pair(width: usize, lanes: usize, seed: u64) -> [BitMatrix; 2] {
    let mut dice = Random(seed);
    let a = random(&mut dice, width, lanes);
    let mut b = a.clone();
    for lane in 0..lanes {
        match dice.below(4) {
            0 => (0..width).for_each(|row| b.set(row, lane, dice.below(2) == 1)),
            1 => {
                let row = dice.below(width as u64) as usize;
                b.set(row, lane, !b.get(row, lane));
            }
            _ => {}
        }
    }
    [a, b]
}

fn equal([a, b]: &[BitMatrix; 2]) -> Vec<bool> {
    (0..a.lanes()).map(|lane| a.lane(lane) == b.lane(lane)).collect()
}

fn lanes_of(matrix: &BitMatrix) -> Vec<bool> {
    (0..matrix.lanes()).map(|lane| matrix.get(0, lane)).collect()
}

/// All protocols with a timing of theirs.
fn all_options() -> Vec<Options> {
    let timings = [Timing::Ahead, Timing::Streamed];
    let all = Scheme::ALL.into_iter().flat_map(|scheme| timings.map(|timing| (scheme, timing)));
    let all = all.filter(|&choice| choice != (Scheme::MaskedGmw, Timing::Streamed));
    all.map(|(scheme, timing)| Options::new(scheme).timing(timing)).collect()
}

#[test]
fn strings_are_compared_by_every_protocol() {
    for (width, lanes) in [(1, 70), (2, 1), (3, 64), (4, 65), (5, 0), (16, 130), (17, 63), (64, 3), (128, 200)] {
        let binding = equality(width).bind(&[("lanes", lanes)]).unwrap();
        let strings = pair(width as usize, lanes as usize, lanes);
        let all = Inputs::new().with("a", strings[0].clone()).with("b", strings[1].clone());
        assert_eq!(lanes_of(plain::run(&binding, &all).unwrap().get("equal").unwrap()), equal(&strings));
        let options = all_options();
        let found = both(|session| {
            let us = session.party() as usize;
            let inputs = Inputs::new().with(["a", "b"][us], strings[us].clone());
            let run = |options| session.run(&binding, options, &inputs).unwrap().outputs;
            options.iter().map(run).collect::<Vec<_>>()
        });
        for outputs in found.iter().flatten() {
            assert_eq!(lanes_of(outputs.get("equal").unwrap()), equal(&strings), "{width} bits, {lanes} lanes");
        }
    }
}

/// Several chunks, of which the last is not full, more than once in a session.
#[test]
fn chunks_of_strings_are_compared_alone() {
    let equality: Arc<dyn Functionality> = Arc::new(Equality);
    for (width, lanes) in [(4000, 300), (4, 140_000), (4096, 200)] {
        let strings = pair(width as usize, lanes as usize, 7);
        // The second time the strings are shared, a by random bits and b with Alice knowing nothing.
        let mask = random(&mut Random(9), width as usize, lanes as usize);
        let shares =
            [[mask.clone(), BitMatrix::zeros(mask.rows(), mask.lanes())], [mask.xor(&strings[0]), strings[1].clone()]];
        let found = both(|session| {
            let us = session.party();
            let arg = |holder, value| duologue::session::CallArg::new(holder, width, lanes, value);
            let held = [Party::Alice, Party::Bob].map(|party| {
                let value = (party == us).then(|| strings[party as usize].clone());
                arg(Holder::Party(party), value)
            });
            let shared = shares[us as usize].clone().map(|share| arg(Holder::Shared, Some(share)));
            [Vec::from(held), Vec::from(shared)].map(|args| {
                let outcome = session.call(&equality, &[], args, &Options::new(Scheme::Gmw)).unwrap();
                outcome.outputs.get("0").unwrap().clone()
            })
        });
        let [[a0, a1], [b0, b1]] = found;
        for (a, b) in [(a0, b0), (a1, b1)] {
            assert_eq!(lanes_of(&a.xor(&b)), equal(&strings), "{width} bits, {lanes} lanes");
            let ones = lanes_of(&a).iter().filter(|&&bit| bit).count();
            // A share alone says nothing: six standard deviations.
            assert!(ones.abs_diff(lanes as usize / 2) <= 3 * (lanes as usize).isqrt() + 1, "{ones} of {lanes}");
        }
    }
}

/// Pairs of strings are compared, and how many are equal is counted by a circuit: a part before, a call, a part after.
#[test]
fn a_call_stands_between_circuits() {
    let add =
        duologue::circuit::blocks::find("add").unwrap().circuit(&[8], duologue::circuit::blocks::Goal::Size).unwrap();
    let count = duologue::circuit::blocks::find("population_count")
        .unwrap()
        .circuit(&[64], duologue::circuit::blocks::Goal::Size)
        .unwrap();
    let mut p = Program::new("how many");
    let [a, b] = [("a", Party::Alice), ("b", Party::Bob)].map(|(name, party)| p.input(name, party, bits(8), 64));
    let shift = p.input("shift", Owner::Public, bits(8), 64);
    let shifted = p.map(&add, &[a, shift]);
    let equality: Arc<dyn Functionality> = Arc::new(Equality);
    let equal = p.call(&equality, &[], &[shifted, b])[0];
    let together = p.view(duologue::circuit::program::View::Merge(64), &[equal]);
    let number = p.map(&count, &[together]);
    p.output("number", Recipient::Both, number);
    p.output("equal", Recipient::Shared, equal);
    let binding = p.bind(&[]).unwrap();
    let mut dice = Random(3);
    let [a, b, shift] = [(); 3].map(|()| -> Vec<u64> { (0..64).map(|_| dice.below(4)).collect() });
    let expected: Vec<bool> = (0..64).map(|lane| (a[lane] + shift[lane]) % 256 == b[lane]).collect();
    for options in all_options() {
        let cost = cost_with(&binding, &options, &apps::calls()).unwrap();
        let [alice, bob] = both(|session| {
            let (name, own) = if session.party() == Party::Alice { ("a", &a) } else { ("b", &b) };
            let inputs = Inputs::new().with(name, uints(8, own).unwrap()).with("shift", uints(8, &shift).unwrap());
            session.run(&binding, &options, &inputs).unwrap()
        });
        let shares = [&alice, &bob].map(|outcome| outcome.outputs.get("equal").unwrap().clone());
        assert_eq!(lanes_of(&shares[0].xor(&shares[1])), expected, "{options:?}");
        for outcome in [&alice, &bob] {
            let number = to_uints(outcome.outputs.get("number").unwrap()).unwrap();
            assert_eq!(number, [expected.iter().filter(|&&equal| equal).count() as u64], "{options:?}");
            assert_eq!(outcome.report.demand, cost.demand);
        }
        for (phase, counted, a, b) in [
            ("setup", cost.setup, alice.report.setup, bob.report.setup),
            ("online", cost.online, alice.report.online, bob.report.online),
        ] {
            assert_eq!((counted.alice_to_bob, counted.bob_to_alice), (a.sent, b.sent), "{options:?}, {phase}");
            assert_eq!((counted.alice_rounds, counted.bob_rounds), (a.rounds, b.rounds), "{options:?}, {phase}");
        }
    }
}

#[test]
fn what_cannot_be_compared_is_refused_by_name() {
    let equality: Arc<dyn Functionality> = Arc::new(Equality);
    for (parameters, args, why) in [
        (&[1][..], &[(8, 1), (8, 1)][..], "no parameters, not 1 bytes"),
        (&[], &[(8, 1), (9, 1)], "strings of equal width, not 8 and 9 bits"),
        (&[], &[(8, 1)], "two arguments, not 1"),
        (&[], &[(70_000, 1), (70_000, 1)], "strings of 1 to 4096 bits, not 70000"),
        (&[], &[(8, 1), (8, 2)], "as many strings on both sides, not [1, 2]"),
    ] {
        let args: Vec<_> = args.iter().map(|&(width, lanes)| (Party::Alice, width, lanes)).collect();
        let error = refusal(&equality, parameters, &args).expect(why);
        assert!(error.contains(why) && error.contains("duologue:equality"), "{error}");
    }
}

#[test]
fn a_session_without_the_protocol_says_what_to_do() {
    let binding = equality(8).bind(&[("lanes", 1)]).unwrap();
    let (alice, _bob) = Channel::pair();
    let (theirs, ours) = (thread::spawn(|| Session::connect(_bob, Party::Bob)), Session::connect(alice, Party::Alice));
    let mut session = ours.unwrap();
    drop(theirs.join().unwrap().unwrap());
    let inputs = Inputs::new().with("a", uints(8, &[1]).unwrap());
    let error = session.run(&binding, &Options::new(Scheme::Gmw), &inputs).expect_err("no protocol");
    assert!(matches!(&error, Error::Usage(why) if why.contains("Session::register")), "{error}");
}

/// Twice the strings take twice the computing, in whatever phase it is; what was not measured has its name told.
#[test]
fn costs_count_what_calls_compute() {
    let options = Options::new(Scheme::Gmw);
    let cost = |program: &Program, sizes: &[(&str, u64)]| {
        cost_with(&program.bind(sizes).unwrap(), &options, &apps::calls()).unwrap()
    };
    let of = |lanes| cost(&equality(128), &[("lanes", lanes)]);
    let (one, two) = (of(1 << 14), of(1 << 15));
    assert!(one.uncounted.is_empty());
    assert_eq!([two.calls.setup, two.calls.online], [2 * one.calls.setup, 2 * one.calls.online]);
    let link = "0ms,100Gbit".parse().unwrap();
    let [(_, little), (_, much)] = [&one, &two].map(|cost| cost.predict(&link, 1_000_000));
    let seconds = one.calls.online as f64 / 1e6;
    assert!(((much - little).as_secs_f64() / seconds - 1.0).abs() < 0.1, "{little:?}, {much:?}");

    let rows = apps::psi::psi(128, apps::psi::Learns::Both);
    let psi = |a, b| cost(&rows, &[("as", a), ("bs", b)]);
    assert_eq!(psi(0, 1000).calls, CallWork::default());
    assert!(psi(1 << 12, 1 << 12).calls.online > psi(1 << 12, 1).calls.online);
    let least = apps::argmin::shared(30, None, apps::argmin::Direction::Both, &[]);
    assert_eq!(cost(&least, &[("values", 100)]).uncounted, ["duologue:argmin"]);
}
