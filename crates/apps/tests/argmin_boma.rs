//! BOMA between two sessions: results, consent, bytes.

use crate::common::Random;
use crate::common::encrypted::{Case, found, key, keys_of, run_all, terms};
use apps::argmin::encrypted::{Keys, Method, Terms};
use duologue::channel::{Channel, Limits, Listener, Security};
use duologue::circuit::program::Functionality;
use duologue::circuit::{Binding, Party, Program, bits};
use duologue::ot::Extension;
use duologue::{Error, Options, Outcome, Result, Scheme, Session};
use he::paillier::SecretKey;
use std::sync::Arc;
use std::thread;

/// With both parties' consent.
fn leaky(key: &SecretKey, bits: u32, argument: Option<u32>) -> Terms {
    Terms { leaky: true, ..terms(key, bits, argument) }
}

/// The least value, and the argument or index of one that is least.
fn check(case: &Case, outcomes: [&Outcome; 2], key: &SecretKey) {
    let (least, second) = found(case, outcomes, key);
    assert_eq!(least, case.expected().0);
    let mut of_least = (0..case.values.len()).filter(|&place| case.values[place] == least);
    let is = |place: usize| case.arguments.get(place).copied().unwrap_or(place as u128) == second;
    assert!(of_least.any(is), "{second} of {:?}", case.values);
}

#[test]
fn a_session_finds_the_least_of_values_of_every_width() {
    let (key, mut dice) = (key(1024), Random(21));
    let mut cases = Vec::new();
    for (bits, argument) in
        [(1, None), (1, Some(1)), (8, Some(3)), (31, None), (32, Some(32)), (64, Some(128)), (128, None)]
    {
        for values in [1, 2, 3, 17] {
            let server = dice.choose(&[Party::Alice, Party::Bob]);
            cases.push(Case::new(Method::Boma, Terms { server, ..leaky(&key, bits, argument) }, values, &mut dice));
        }
    }
    cases.push(Case::new(Method::Boma, leaky(&key, 32, Some(32)), 1000, &mut dice));
    let [alice, bob] = run_all(&cases, &key);
    cases.iter().zip(&alice).zip(&bob).for_each(|((case, alice), bob)| check(case, [alice, bob], &key));
}

/// One party's run over a channel.
fn run(case: &Case, key: &SecretKey, channel: Channel, party: Party) -> Result<Outcome> {
    let keys = if party == case.terms.server { Keys::none().even_if_they_can_be_broken() } else { keys_of(key) };
    let mut session = Session::connect(channel, party)?;
    session.register(case.method.call(&keys));
    case.run(&mut session, &case.encrypted(key, &mut Random(22)), &keys, &Options::new(Scheme::Gmw))
}

#[test]
fn over_tcp_a_key_of_full_length() {
    let key = key(3072);
    let case = Case::new(Method::Boma, leaky(&key, 32, Some(20)), 5, &mut Random(23));
    let mut listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (plain, limits) = (Security::PlaintextForBenchmarks, Limits::default());
    let outcomes = thread::scope(|scope| {
        let bob = scope.spawn(|| run(&case, &key, Channel::connect(&address, &plain, &limits).unwrap(), Party::Bob));
        [run(&case, &key, listener.accept(&plain, &limits).unwrap(), Party::Alice), bob.join().unwrap()]
    });
    let [alice, bob] = outcomes.map(|outcome| outcome.unwrap());
    check(&case, [&alice, &bob], &key);
}

/// What each party says of a run in which the two have these consents.
fn with_consents(consents: [bool; 2]) -> [Error; 2] {
    let key = key(1024);
    let [alice, bob] = consents.map(|leaky| {
        let terms = Terms { leaky, ..terms(&key, 8, None) };
        Case::new(Method::Boma, terms, 3, &mut Random(24))
    });
    let (to_bob, to_alice) = Channel::pair();
    thread::scope(|scope| {
        let other = scope.spawn(|| run(&bob, &key, to_alice, Party::Bob).err().unwrap());
        [run(&alice, &key, to_bob, Party::Alice).err().unwrap(), other.join().unwrap()]
    })
}

#[test]
fn it_runs_only_if_both_parties_consent() {
    let says = |error: &Error| matches!(error, Error::Usage(why) if why.contains("almost to the bit"));
    assert!(with_consents([false, false]).iter().all(says));
    assert!(says(&with_consents([false, true])[0]));
    assert!(says(&with_consents([true, false])[1]));
}

/// A program of one call with arguments, for costs.
fn program(key_bits: u32, width: u32, values: u64) -> Binding {
    let terms = Terms { leaky: true, ..Terms::new(Party::Alice, (key_bits, [0; 32]), width, Some(width)) };
    let call: Arc<dyn Functionality> = Method::Boma.call(&Keys::none());
    let mut p = Program::new("duologue:argmin-boma");
    let args = ["values", "arguments"].map(|name| p.input(name, Party::Alice, bits(2 * key_bits), values));
    let found = p.call(&call, &terms.to_bytes(), &args);
    found.iter().zip(["least", "argument"]).for_each(|(&value, name)| p.output(name, Party::Alice, value));
    p.bind(&[]).unwrap()
}

/// Bytes of both directions of a new session, by a maker.
fn bytes(binding: &Binding, maker: &str) -> u64 {
    let options = Options::new(Scheme::Gmw).extension(maker.parse::<Extension>().unwrap());
    let cost = duologue::cost::cost_with(binding, &options, &apps::calls()).unwrap();
    [cost.setup, cost.online].iter().map(|traffic| traffic.alice_to_bob + traffic.bob_to_alice).sum()
}

/// The goals for a thousand values, in hundredths of a MiB, and the paper's figures: everything counted.
#[test]
fn a_thousand_values_take_fewer_bytes_than_in_the_paper() {
    for (key_bits, goals, paper) in [
        (1024, [59, 64, 73], [64, 66, 78]),
        (2048, [108, 113, 122], [112, 115, 124]),
        (3072, [158, 162, 170], [161, 164, 172]),
    ] {
        for ((width, goal), paper) in [32, 64, 128].into_iter().zip(goals).zip(paper) {
            let binding = program(key_bits, width, 1000);
            let [best, other, silent] = ["softspoken8", "softspoken4", "silent"].map(|maker| bytes(&binding, maker));
            println!("{key_bits} {width}: {best} {other} {silent}, {:.4} MiB", best as f64 / f64::from(1 << 20));
            assert!(goal < paper && 100 * best <= goal << 20, "{key_bits}, {width}: {best} bytes, not {goal}");
        }
    }
}

/// What is counted is what travels.
#[test]
fn counted_bytes_are_those_that_travel() {
    let (key, mut dice) = (key(1024), Random(25));
    for values in [1, 2, 9] {
        let case = Case::new(Method::Boma, leaky(&key, 32, Some(32)), values, &mut dice);
        let [alice, bob] = run_all(std::slice::from_ref(&case), &key);
        let reports = [&alice[0].report, &bob[0].report];
        let binding = program(1024, 32, values as u64);
        let cost = duologue::cost::cost_with(&binding, &Options::new(Scheme::Gmw), &apps::calls()).unwrap();
        for (counted, [a, b]) in
            [(cost.setup, reports.map(|report| report.setup)), (cost.online, reports.map(|report| report.online))]
        {
            assert_eq!((counted.alice_to_bob, counted.bob_to_alice), (a.sent, b.sent), "{values} values");
        }
    }
}
