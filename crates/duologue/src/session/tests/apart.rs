//! Two programs that differ: both parties hear where first, whatever the way on which they met.

use super::*;
use crate::call::Calls;
use crate::cost::choice::{Choices, Wish, candidates};
use circuit::blocks::{Goal, add, multiply_low};
use circuit::program::{Apart, Place};
use circuit::program::{Program, Recipient};
use circuit::{UInt, uint};

/// The product of both numbers and a constant.
fn program(constant: u128, learns: impl Into<Recipient>) -> Program {
    let mut p = Program::new("told");
    let [a, b] = [("a", Party::Alice), ("b", Party::Bob)].map(|(name, who)| p.input(name, who, uint(16), 1));
    let sum = p.map_with([a, b], |c, [a, b]: [UInt; 2]| {
        let product = multiply_low(c, &a, &b, Goal::Size);
        add(c, &product, &UInt::constant(constant, 16), Goal::Size)
    });
    p.output("sum", learns, sum);
    p
}

fn told(program: &Program) -> Binding {
    program.bind(&[]).unwrap().told()
}

fn given(party: Party) -> Inputs {
    let name = if party == Party::Alice { "a" } else { "b" };
    Inputs::new().with(name, crate::data::uints(16, &[3]).unwrap())
}

/// What both hear when Alice has the first program and Bob the second: the error, where they differ, and the sum of a
/// further run of the first program.
fn heard(bindings: &[Binding; 2], by_choice: bool) -> [(String, Option<Apart>, Option<u64>); 2] {
    let (_, heard) = unwrap(seeded(3, |session| {
        let (binding, party) = (&bindings[session.party as usize], session.party);
        let options = Options::new(Scheme::Yao).extension(Extension::DEFAULT);
        let error = if by_choice {
            let all = candidates(&Options::new(Scheme::Yao), None);
            let choices = all.into_iter().map(|options| (binding.clone(), options));
            session.choose(&Choices::new(choices, &Calls::new())?, Wish::Total).map(drop)
        } else {
            session.run(binding, &options, &given(party)).map(drop)
        };
        let error = error.expect_err("the programs differ").to_string();
        let apart = session.apart().cloned();
        let further = session.run(&bindings[0], &options, &given(party)).ok();
        let sum = further.map(|outcome| crate::data::to_uints(outcome.outputs.get("sum").unwrap()).unwrap()[0]);
        assert!(sum.is_none() || session.apart().is_none());
        Ok((error, apart, sum))
    }));
    heard
}

#[test]
fn both_parties_hear_where_their_programs_differ() {
    let (ours, other) = (program(5, Recipient::Both), program(9, Recipient::Both));
    for (theirs, place) in [(&other, "step 2, gates"), (&program(5, Party::Alice), "differ first in step 3")] {
        for (error, apart, sum) in heard(&[told(&ours), told(theirs)], false) {
            assert!(error.contains("do not agree on the program") && error.contains(place), "{error}");
            let Some(Apart { from: Place::Gate(2, _) | Place::Step(3), .. }) = apart else { panic!("{apart:?}") };
            assert_eq!(sum, Some(14), "the session goes on");
        }
    }
    for (error, apart, sum) in heard(&[told(&ours), told(&other)], true) {
        assert!(error.contains("step 2, gates") && apart.is_some(), "{error}");
        assert!(sum.is_none(), "more was under way");
    }
}

/// Whoever tells nothing hears nothing; that is no term.
#[test]
fn one_party_may_tell_it_alone() {
    let (ours, other) = (program(5, Recipient::Both), program(9, Recipient::Both));
    let plain = |program: &Program| program.bind(&[]).unwrap();
    for bindings in [[told(&ours), plain(&other)], [plain(&ours), told(&other)]] {
        for (error, apart, sum) in heard(&bindings, false) {
            assert!(apart.is_none() && !error.contains("first"), "{error}");
            assert_eq!(sum, Some(14));
        }
    }
}

/// An outline is counted among the bytes of a run.
#[test]
fn outlines_are_counted() {
    let ours = program(5, Recipient::Both);
    let options = Options::new(Scheme::Yao).extension(Extension::DEFAULT);
    for binding in [ours.bind(&[]).unwrap(), told(&ours)] {
        let cost = crate::cost::cost(&binding, &options).unwrap();
        let (_, [alice, bob]) = unwrap(seeded(3, |session| session.run(&binding, &options, &given(session.party))));
        assert_eq!(
            [alice, bob].map(|outcome| outcome.report.setup.sent),
            [cost.setup.alice_to_bob, cost.setup.bob_to_alice]
        );
    }
}
