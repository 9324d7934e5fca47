//! Private set intersection as a call, against a join of hash sets: alone, in programs, in chunks, and between two processes.

use crate::common;
use crate::common::{Random, both, refusal};
use apps::psi::{Learns, Psi, psi};
use duologue::channel::Channel;
use duologue::circuit::program::{Functionality, Holder};
use duologue::circuit::{BitMatrix, Party};
use duologue::cost::cost_with;
use duologue::session::CallArg;
use duologue::{Inputs, Options, Scheme, Session, Timing, plain};
use std::collections::HashSet;
use std::sync::Arc;

const PARTIES: [Party; 2] = [Party::Alice, Party::Bob];

/// Sets of these sizes, of which about half of the smaller is in both.
fn sets(sizes: [usize; 2], seed: u64) -> [Vec<u128>; 2] {
    Random(seed).sets(sizes, sizes[0].min(sizes[1]).div_ceil(2))
}

fn lanes(width: usize, set: &[u128]) -> BitMatrix {
    BitMatrix::from_numbers(width, set).unwrap()
}

/// Which of the one's are among the other's.
fn joined(own: &[u128], others: &[u128]) -> Vec<bool> {
    let others: HashSet<u128> = others.iter().copied().collect();
    own.iter().map(|one| others.contains(one)).collect()
}

fn bools(found: &BitMatrix) -> Vec<bool> {
    (0..found.lanes()).map(|lane| found.get(0, lane)).collect()
}

/// Calls it alone; the party's own bits, if it learns.
fn call(session: &mut Session, sets: &[Vec<u128>; 2], learns: Learns) -> Option<Vec<bool>> {
    let (us, psi): (_, Arc<dyn Functionality>) = (session.party(), Arc::new(Psi));
    let arg = |party: Party| {
        let set = &sets[party as usize];
        CallArg::new(Holder::Party(party), 128, set.len() as u64, (party == us).then(|| lanes(128, set)))
    };
    let outcome = session.call(&psi, &[learns.number()], PARTIES.map(arg).into(), &Options::new(Scheme::Gmw)).unwrap();
    let mut outputs = outcome.outputs.iter();
    let found = outputs.next().map(|(_, found)| bools(found));
    assert!(outputs.next().is_none(), "a party learns of its own strings alone");
    found
}

fn check(sets: &[Vec<u128>; 2], learns: Learns, us: Party, found: Option<Vec<bool>>) {
    let (own, others) = (&sets[us as usize], &sets[us.peer() as usize]);
    let expected = learns.includes(us).then(|| joined(own, others));
    assert!(found == expected, "{us} of {} and {} strings, {learns} learns", sets[0].len(), sets[1].len());
}

/// All learners, in one session.
fn walk(session: &mut Session, cases: &[[Vec<u128>; 2]]) {
    for (sets, learns) in cases.iter().flat_map(|sets| Learns::ALL.map(|learns| (sets, learns))) {
        let found = call(session, sets, learns);
        check(sets, learns, session.party(), found);
    }
}

#[test]
fn the_intersection_is_that_of_a_join() {
    let sizes = [[0, 0], [0, 3], [1, 0], [1, 1], [2, 1], [2, 2], [1, 700], [1000, 1000], [300, 5000], [20_000, 10]];
    let cases: Vec<_> = sizes.iter().zip(1..).map(|(&sizes, seed)| sets(sizes, seed)).collect();
    both(|session| walk(session, &cases));
}

/// Several chunks of table, tags and bits.
#[test]
fn large_sets_are_joined_in_chunks() {
    let cases = [sets([1 << 16, (1 << 17) + 5], 5)];
    both(|session| walk(session, &cases));
}

/// Nothing in common; all in common; one set within the other.
#[test]
fn sets_may_be_equal_or_have_nothing_in_common() {
    let [a, b] = [sets([500, 500], 1)[0].clone(), sets([500, 500], 2)[0].clone()];
    let cases = [[a.clone(), b], [a.clone(), a.iter().rev().copied().collect()], [a.clone(), a[100..110].to_vec()]];
    both(|session| walk(session, &cases));
}

/// Strings that come more than once are found in every place, by either role.
#[test]
fn equal_strings_are_found_in_every_place() {
    let [mut a, mut b] = sets([50, 80], 3);
    for set in [&mut a, &mut b] {
        let again = set.clone();
        set.extend_from_slice(&again[..40]);
        set.extend_from_slice(&[set[0], set[0], 7, 7, 7, 0, 0]);
    }
    let cases = [[a.clone(), b.clone()], [vec![5; 1000], vec![5; 3]], [vec![5; 3], vec![6; 1000]], [b, a]];
    both(|session| walk(session, &cases));
}

/// As a program, by every protocol and timing around it, with the bytes that `cost` counts.
#[test]
fn programs_call_it() {
    let (small, sets) = ([6u128, 0, 3, 7, 5], [vec![6u128, 0, 3, 7, 5], vec![1u128, 3, 2, 6]]);
    for learns in Learns::ALL {
        let binding = psi(3, learns).bind(&[("as", 5), ("bs", 4)]).unwrap();
        let all = Inputs::new().with("a", lanes(3, &sets[0])).with("b", lanes(3, &sets[1]));
        let plainly = plain::run(&binding, &all).unwrap();
        if learns.includes(Party::Alice) {
            assert_eq!(bools(plainly.get("a_in_both").unwrap()), joined(&small, &sets[1]));
        }
        for (scheme, timing) in
            [(Scheme::Yao, Timing::Streamed), (Scheme::Yao, Timing::Ahead), (Scheme::Gmw, Timing::Auto)]
        {
            let options = Options::new(scheme).timing(timing);
            let cost = cost_with(&binding, &options, &apps::calls()).unwrap();
            let [alice, bob] = both(|session| {
                let us = session.party() as usize;
                let inputs = Inputs::new().with(["a", "b"][us], lanes(3, &sets[us]));
                session.run(&binding, &options, &inputs).unwrap()
            });
            for (party, name, outcome) in [(Party::Alice, "a_in_both", &alice), (Party::Bob, "b_in_both", &bob)] {
                let found = outcome.outputs.get(name).map(bools);
                assert_eq!(found, learns.includes(party).then(|| bools(plainly.get(name).unwrap())), "{learns}");
            }
            let bytes = (alice.report.online.sent, bob.report.online.sent);
            assert_eq!((cost.online.alice_to_bob, cost.online.bob_to_alice), bytes);
            assert_eq!((alice.report.demand, bob.report.demand), (cost.demand, cost.demand));
        }
    }
}

#[test]
fn what_is_no_intersection_is_refused_by_name() {
    let psi: Arc<dyn Functionality> = Arc::new(Psi);
    let refused = |parameters: &[u8], args: &[(Party, u32, u64)], why: &str| {
        let error = refusal(&psi, parameters, args).expect(why);
        assert!(error.contains(why) && error.contains("duologue:psi"), "{error}");
    };
    let (alice, bob) = ((Party::Alice, 128, 1), (Party::Bob, 128, 1));
    refused(&[], &[alice, bob], "one byte, who learns");
    refused(&[3], &[alice, bob], "one byte, who learns");
    refused(&[0], &[alice], "two arguments, not 1");
    refused(&[0], &[alice, (Party::Bob, 64, 1)], "strings of equal width, not 128 and 64 bits");
    refused(&[0], &[(Party::Alice, 129, 1), (Party::Bob, 129, 1)], "strings of 1 to 128 bits, not 129");
    refused(&[0], &[bob, alice], "Alice's strings and Bob's");
    refused(&[0], &[alice, (Party::Bob, 128, (1 << 26) + 1)], "at most 67108864 strings");
}

fn act(channel: Channel, party: Party) {
    let cases: Vec<_> = [[0, 4], [1, 1], [2, 2], [1000, 1000], [1 << 16, 1 << 16]].map(|sizes| sets(sizes, 9)).into();
    let mut session = Session::connect(channel, party).unwrap();
    session.register_all(&apps::calls());
    walk(&mut session, &cases);
    session.close().unwrap();
}

#[test]
fn between_two_processes() {
    common::between_two_processes("psi::between_two_processes", act);
}
