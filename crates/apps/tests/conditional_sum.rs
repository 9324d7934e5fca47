//! Sums of private values where a shared bit is set, against adding them up, alone and between two processes.

use crate::common::{Random, both, refusal};
use apps::conditional_sum::ConditionalSum;
use duologue::channel::Channel;
use duologue::circuit::blocks::{Goal, add};
use duologue::circuit::program::{Functionality, Holder, Owner, Recipient};
use duologue::circuit::{BitMatrix, Bits, Party, Program, bits, int};
use duologue::session::CallArg;
use duologue::{Inputs, Options, Scheme, Session};
use std::sync::Arc;

/// Bits of a value.
const WIDTH: u32 = 33;

/// Shares of conditions, and of values whose they are.
struct Case {
    conditions: [Vec<u64>; 2],
    values: Vec<(Party, Vec<i64>)>,
}

impl Case {
    fn new(lanes: usize, owners: &[Party], seed: u64) -> Case {
        let mut dice = Random(seed);
        let conditions = [(); 2].map(|()| (0..lanes).map(|_| dice.below(2)).collect());
        let mut own = || (0..lanes).map(|_| dice.word() as i64 >> (64 - WIDTH)).collect();
        Case { conditions, values: owners.iter().map(|&owner| (owner, own())).collect() }
    }

    fn sum(&self) -> i64 {
        let [a, b] = &self.conditions;
        let of = |value: &dyn Fn(usize) -> i64| (0..a.len()).filter(|&i| a[i] != b[i]).map(value).sum::<i64>();
        if self.values.is_empty() { of(&|_| 1) } else { self.values.iter().map(|(_, own)| of(&|i| own[i])).sum() }
    }

    /// What this party has of the sum.
    fn run(&self, session: &mut Session) -> i64 {
        let (us, lanes) = (session.party(), self.conditions[0].len() as u64);
        let condition = BitMatrix::from_numbers(1, &self.conditions[us as usize]).unwrap();
        let condition = CallArg::new(Holder::Shared, 1, lanes, Some(condition));
        let value = |(owner, own): &(Party, Vec<i64>)| {
            let own = (*owner == us).then(|| BitMatrix::from_numbers(WIDTH as usize, own).unwrap());
            CallArg::new(Holder::Party(*owner), WIDTH, lanes, own)
        };
        let args = [condition].into_iter().chain(self.values.iter().map(value)).collect();
        let sum: Arc<dyn Functionality> = Arc::new(ConditionalSum);
        let outcome = session.call(&sum, &[8], args, &Options::new(Scheme::Gmw)).unwrap();
        let (_, own) = outcome.outputs.iter().next().expect("its part");
        own.to_numbers::<i64>().unwrap()[0]
    }
}

fn cases() -> Vec<Case> {
    let owners = [&[][..], &[Party::Alice], &[Party::Bob], &[Party::Bob, Party::Alice, Party::Bob]];
    let lanes = [1, 63, 64, 1000, (1 << 16) + 1];
    let all = owners.into_iter().flat_map(|owners| lanes.map(|lanes| (owners, lanes)));
    all.zip(1..).map(|((owners, lanes), seed)| Case::new(lanes, owners, seed)).collect()
}

#[test]
fn values_are_added_where_the_bit_is_set() {
    let cases = cases();
    let [alice, bob] = both(|session| cases.iter().map(|case| case.run(session)).collect::<Vec<_>>());
    for ((case, a), b) in cases.iter().zip(alice).zip(bob) {
        assert_eq!(a.wrapping_add(b), case.sum());
        assert!(a != case.sum() && b != case.sum(), "a part alone says nothing");
    }
}

#[test]
fn what_is_no_sum_is_refused_by_name() {
    let sum: Arc<dyn Functionality> = Arc::new(ConditionalSum);
    let bit = (Owner::Shared, 1, 5);
    for (parameters, args, why) in [
        (&[][..], &[bit][..], "one byte, how many bytes the sum has: 1 to 8"),
        (&[9], &[bit], "one byte, how many bytes the sum has: 1 to 8"),
        (&[8, 0, 0], &[bit], "how many bits a condition has: 1 to 4096"),
        (&[8, 2, 0], &[bit], "a condition of 2 bits, not 1"),
        (&[8, 0, 16], &[(Owner::Shared, 4096, 1 << 20)], "at most 67108864 lanes times bits times values"),
        (&[8], &[], "a bit and values, not nothing"),
        (&[8], &[(Owner::Shared, 2, 5)], "a condition of one bit, not 2"),
        (&[8], &[bit, (Owner::Shared, 8, 5)], "values of 1 to 64 bits that one party has"),
        (&[8], &[bit, (Party::Bob.into(), 65, 5)], "values of 1 to 64 bits that one party has"),
        (&[8], &[bit, (Party::Bob.into(), 8, 6)], "as many conditions as values, not [5, 6]"),
    ] {
        let error = refusal(&sum, parameters, args).expect(why);
        assert!(error.contains(why) && error.contains("duologue:conditional_sum"), "{error}");
    }
}

/// The parts of both, added by a circuit.
fn total(case: &Case, session: &mut Session) -> i64 {
    let (us, lanes) = (session.party(), case.conditions[0].len() as u64);
    let (mut p, sum): (_, Arc<dyn Functionality>) = (Program::new("total"), Arc::new(ConditionalSum));
    let mut args = vec![p.input("condition", Owner::Shared, bits(1), lanes)];
    let condition = BitMatrix::from_numbers(1, &case.conditions[us as usize]).unwrap();
    let mut inputs = Inputs::new().with("condition", condition);
    for (number, (owner, own)) in case.values.iter().enumerate() {
        let name = format!("values {number}");
        args.push(p.input(&name, *owner, int(WIDTH), lanes));
        if *owner == us {
            inputs.set(&name, BitMatrix::from_numbers(WIDTH as usize, own).unwrap());
        }
    }
    let parts = p.call(&sum, &[8], &args);
    let total = p.map_with([parts[0], parts[1]], |c, [a, b]: [Bits; 2]| add(c, &a, &b, Goal::Size));
    p.output("total", Recipient::Both, total);
    let outcome = session.run(&p.bind(&[]).unwrap(), &Options::new(Scheme::Gmw), &inputs).unwrap();
    outcome.outputs.get("total").unwrap().to_numbers::<i64>().unwrap()[0]
}

fn act(channel: Channel, party: Party) {
    let mut session = Session::connect(channel, party).unwrap();
    session.register_all(&apps::calls());
    cases().iter().for_each(|case| assert_eq!(total(case, &mut session), case.sum()));
    session.close().unwrap();
}

#[test]
fn between_two_processes() {
    crate::common::between_two_processes("conditional_sum::between_two_processes", act);
}
