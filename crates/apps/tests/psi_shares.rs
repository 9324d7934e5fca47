//! What two parties have in common as shares: size, sum and threshold, and programs that go on with the shares, against joins of hash maps.

use crate::common;
use crate::common::{Random, both, refusal};
use apps::psi::Learns;
use apps::psi::shares::{CircuitPsi, MOST_TAG, Shares, Terms, bins, joined, shares, size, sum, threshold};
use duologue::channel::Channel;
use duologue::circuit::blocks::{Goal, add, greater, multiply};
use duologue::circuit::program::{Functionality, Holder, Owner};
use duologue::circuit::{Binding, BitMatrix, Bits, Int, Party, Program, bits, int};
use duologue::cost::cost_with;
use duologue::data::uints;
use duologue::session::CallArg;
use duologue::{Inputs, Options, Scheme, Session, Timing, plain};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

const PARTIES: [Party; 2] = [Party::Alice, Party::Bob];

/// Strings of both parties and Bob's values.
struct Case {
    strings: [Vec<u128>; 2],
    values: [Vec<i64>; 2],
}

/// Bits of a value.
const WIDTH: u32 = 34;

impl Case {
    /// So many strings, of which `common` are in both, in any order; values of all magnitudes and both signs.
    fn new(sizes: [usize; 2], common: usize, seed: u64) -> Case {
        let mut dice = Random(seed);
        let strings = dice.sets(sizes, common);
        let values = sizes.map(|size| (0..size).map(|_| dice.number(WIDTH)).collect());
        Case { strings, values }
    }

    fn sizes(&self) -> [u64; 2] {
        [0, 1].map(|party| self.strings[party].len() as u64)
    }

    fn inputs(&self, us: Party, values: Option<Party>) -> Inputs {
        let strings = BitMatrix::from_numbers(128, &self.strings[us as usize]).unwrap();
        let inputs = Inputs::new().with(["a", "b"][us as usize], strings);
        match values == Some(us) {
            true => inputs.with("values", BitMatrix::from_numbers(WIDTH as usize, &self.values[us as usize]).unwrap()),
            false => inputs,
        }
    }

    /// The strings in both.
    fn join(&self) -> HashSet<u128> {
        let [a, b] = self.strings.each_ref().map(|set| set.iter().copied().collect::<HashSet<_>>());
        a.intersection(&b).copied().collect()
    }

    /// The sum of the values of a party, of equal strings the first one's, over what is in both.
    fn sum(&self, of: Party) -> i64 {
        let (join, mut first) = (self.join(), HashMap::new());
        let rows = self.strings[of as usize].iter().zip(&self.values[of as usize]);
        rows.for_each(|(string, value)| _ = first.entry(*string).or_insert(*value));
        first.into_iter().filter(|(string, _)| join.contains(string)).map(|(_, value)| value).sum()
    }
}

fn bind(program: &Program, [a, b]: [u64; 2]) -> Binding {
    program.bind(&[("as", a), ("bs", b)]).unwrap()
}

/// One number of a party's outputs, if it learns it.
fn output(outputs: &duologue::Outputs, name: &str) -> Option<i64> {
    let value = outputs.get(name)?;
    Some(if name == "sum" {
        value.to_numbers::<i64>().unwrap()[0]
    } else {
        value.to_numbers::<u64>().unwrap()[0] as i64
    })
}

/// Size, sum of either's values and threshold in one session, with each receiver; what is learnt is that of a join.
fn walk(session: &mut Session, cases: &[Case]) {
    for (number, case) in cases.iter().enumerate() {
        let (us, sizes, found) = (session.party(), case.sizes(), case.join().len() as i64);
        let mut check = |program: &Program, inputs: &Inputs, name: &str, learns: Learns, expected: i64| {
            let outcome = session.run(&bind(program, sizes), &Options::new(Scheme::Gmw), inputs).unwrap();
            let learnt = output(&outcome.outputs, name);
            assert_eq!(learnt, learns.includes(us).then_some(expected), "{name} of case {number}, sizes {sizes:?}");
        };
        for (first, learns) in PARTIES.into_iter().zip([Learns::Both, Learns::ALL[number % 3]]) {
            let terms = Terms { receiver: first, ..Terms::new(first) };
            check(&size(128, terms, learns), &case.inputs(us, None), "size", learns, found);
            let owner = PARTIES[number % 2];
            let program = sum(128, terms, (owner, WIDTH), learns);
            check(&program, &case.inputs(us, Some(owner)), "sum", learns, case.sum(owner));
            let terms = Terms::of_sizes(sizes, first);
            for least in [found, found + 1] {
                let inputs = case.inputs(us, None).with("threshold", uints(24, &[least as u64]).unwrap());
                check(&threshold(128, terms, learns), &inputs, "reached", learns, i64::from(least == found));
            }
        }
    }
}

#[test]
fn size_sum_and_threshold_are_those_of_a_join() {
    let sizes = [
        ([0, 0], 0),
        ([0, 3], 0),
        ([3, 0], 0),
        ([1, 1], 1),
        ([1, 1], 0),
        ([5, 2], 2),
        ([1, 700], 1),
        ([1 << 10, 1 << 10], 300),
        ([1 << 10, 1 << 10], 1 << 10),
        ([1 << 10, 900], 0),
    ];
    let cases: Vec<_> = sizes.iter().zip(1..).map(|(&(sizes, common), seed)| Case::new(sizes, common, seed)).collect();
    both(|session| walk(session, &cases));
}

/// Several exchanges of the receiver's table and of the sender's.
#[test]
fn many_strings_take_several_messages() {
    let case = Case::new([1 << 16, 1 << 16], 12_345, 5);
    let terms = Terms::of_sizes(case.sizes(), Party::Bob);
    let program = sum(128, terms, (Party::Alice, WIDTH), Learns::Only(Party::Bob));
    let [alice, bob] = both(|session| {
        let inputs = case.inputs(session.party(), Some(Party::Alice));
        session.run(&bind(&program, case.sizes()), &Options::new(Scheme::Gmw), &inputs).unwrap().outputs
    });
    assert_eq!((output(&alice, "sum"), output(&bob, "sum")), (None, Some(case.sum(Party::Alice))));
}

/// The first of equal strings counts, with its value, at either party.
#[test]
fn equal_strings_count_once() {
    let mut case = Case::new([60, 80], 50, 3);
    for party in 0..2 {
        let again = case.strings[party].clone();
        case.strings[party].extend_from_slice(&again[..40]);
        case.strings[party].extend_from_slice(&[again[0], again[0], 7, 7, 0]);
        let more = case.strings[party].len() - case.values[party].len();
        case.values[party].extend((0..more as i64).map(|i| 1000 + i));
    }
    let mut same = Case::new([500, 3], 0, 4);
    same.strings = [vec![5; 500], vec![5; 3]];
    both(|session| walk(session, &[Case { strings: case.strings.clone(), values: case.values.clone() }]));
    both(|session| walk(session, &[Case { strings: same.strings.clone(), values: same.values.clone() }]));
}

/// As programs, by every protocol around the call, with the bytes that `cost` counts and the plain engine's results.
#[test]
fn every_protocol_runs_around_it() {
    let case = Case::new([200, 150], 90, 6);
    let terms = Terms::of_sizes(case.sizes(), Party::Alice);
    let binding = bind(&sum(128, terms, (Party::Bob, WIDTH), Learns::Both), case.sizes());
    let [alice, bob] = PARTIES.map(|party| case.inputs(party, Some(Party::Bob)));
    let all = alice.with("b", bob.get("b").unwrap().clone()).with("values", bob.get("values").unwrap().clone());
    assert_eq!(output(&plain::run(&binding, &all).unwrap(), "sum"), Some(case.sum(Party::Bob)));
    for (scheme, timing) in [
        (Scheme::Yao, Timing::Streamed),
        (Scheme::Yao, Timing::Ahead),
        (Scheme::Gmw, Timing::Auto),
        (Scheme::MaskedGmw, Timing::Ahead),
    ] {
        let options = Options::new(scheme).timing(timing);
        let cost = cost_with(&binding, &options, &apps::calls()).unwrap();
        let outcomes =
            both(|session| session.run(&binding, &options, &case.inputs(session.party(), Some(Party::Bob))).unwrap());
        let sent = outcomes.each_ref().map(|outcome| outcome.report.online.sent);
        assert_eq!([cost.online.alice_to_bob, cost.online.bob_to_alice], sent, "{scheme:?}");
        assert!(outcomes.iter().all(|outcome| output(&outcome.outputs, "sum") == Some(case.sum(Party::Bob))));
        assert!(outcomes.iter().all(|outcome| outcome.report.demand == cost.demand));
    }
}

/// A program of one's own goes on with the shares: in how many rows in both Alice's value exceeds Bob's, while nobody learns any.
#[test]
fn programs_go_on_with_the_shares() {
    let case = Case::new([400, 300], 200, 7);
    let build = |terms: Terms| {
        let mut p = Program::new("exceeding");
        let sizes = ["as", "bs"].map(|name| p.size(name, 0..=1 << 20));
        let strings = [("a", 0), ("b", 1)].map(|(name, i)| p.input(name, PARTIES[i], bits(128), sizes[i]));
        let values = [("alices", 0), ("bobs", 1)].map(|(name, i)| p.input(name, PARTIES[i], int(WIDTH), sizes[i]));
        let owned = [(Party::Alice, values[0]), (Party::Bob, values[1])];
        let Shares { in_both, values } = shares(&mut p, terms, strings, &owned);
        let exceeds =
            p.map_with([values[0], values[1]], |c, [a, b]: [Int; 2]| Bits::from(greater(c, &a, &b, Goal::Size)));
        let counted = p.map_with([in_both, exceeds], |c, [a, b]: [Bits; 2]| Bits::from(c.and(a.0[0], b.0[0])));
        let counts = p.map_with([counted], |_, [one]: [Bits; 1]| duologue::circuit::UInt(one.0).resized(20));
        let [count] = p.reduce_with([counts], |c, [x], [y]: [duologue::circuit::UInt; 1]| {
            [duologue::circuit::blocks::add(c, &x, &y, Goal::Size)]
        });
        p.output("count", Party::Bob, count);
        p
    };
    let rows =
        |i: usize| case.strings[i].iter().copied().zip(case.values[i].iter().copied()).collect::<HashMap<_, _>>();
    let (alices, bobs) = (rows(0), rows(1));
    let expected = alices.iter().filter(|(key, value)| bobs.get(key).is_some_and(|other| *value > other)).count();
    for receiver in PARTIES {
        let binding = bind(&build(Terms::new(receiver)), case.sizes());
        let [_, bob] = both(|session| {
            let us = session.party();
            let values = BitMatrix::from_numbers(WIDTH as usize, &case.values[us as usize]).unwrap();
            let inputs = case.inputs(us, None).with(["alices", "bobs"][us as usize], values);
            session.run(&binding, &Options::new(Scheme::Gmw), &inputs).unwrap().outputs
        });
        assert_eq!(output(&bob, "count"), Some(expected as i64));
    }
}

/// Shares cross to a further program, by another protocol: what Alice's values times Bob's add up to where both have the string.
#[test]
fn shares_cross_to_a_further_program() {
    let case = Case::new([300, 400], 150, 17);
    let rows =
        |i: usize| case.strings[i].iter().copied().zip(case.values[i].iter().copied()).collect::<HashMap<_, _>>();
    let (alices, bobs) = (rows(0), rows(1));
    let product = |(key, a): (&u128, &i64)| bobs.get(key).map(|b| i128::from(*a) * i128::from(*b));
    let expected: i128 = alices.iter().filter_map(product).sum();
    for receiver in PARTIES {
        let program = joined(128, Terms::new(receiver), WIDTH);
        let placed = bins(case.sizes()[receiver as usize]);
        let mut p = Program::new("products");
        let values = ["a_value", "b_value"].map(|name| p.input(name, Owner::Shared, int(WIDTH), placed));
        let products = p.map_with(values, |c, [a, b]: [Int; 2]| multiply(c, &a, &b, Goal::Size).resized(90));
        let [sum] = p.reduce_with([products], |c, [x], [y]: [Int; 1]| [add(c, &x, &y, Goal::Size)]);
        p.output("sum", Party::Bob, sum);
        let further = p.bind(&[]).unwrap();
        let [alice, bob] = both(|session| {
            let us = session.party();
            let values = BitMatrix::from_numbers(WIDTH as usize, &case.values[us as usize]).unwrap();
            let inputs = case.inputs(us, None).with(["a_value", "b_value"][us as usize], values);
            let mut shares =
                session.run(&bind(&program, case.sizes()), &Options::new(Scheme::Gmw), &inputs).unwrap().outputs;
            assert_eq!(shares.get("in_both").unwrap().lanes() as u64, placed);
            let mut take = |name: &str| shares.take(name).unwrap();
            let inputs = Inputs::new().with("a_value", take("a_value")).with("b_value", take("b_value"));
            session.run(&further, &Options::new(Scheme::Yao), &inputs).unwrap().outputs
        });
        assert!(alice.get("sum").is_none());
        assert_eq!(bob.get("sum").unwrap().to_numbers::<i128>().unwrap(), [expected]);
    }
}

/// Tags, and which bin is whose: called alone, with results of one party and shared ones.
#[test]
fn a_call_gives_tags_that_are_equal_where_both_have_the_string() {
    let case = Case::new([100, 70], 30, 8);
    let psi: Arc<dyn Functionality> = Arc::new(CircuitPsi);
    let outputs = both(|session| {
        let us = session.party();
        let arg = |party: Party| {
            let set = &case.strings[party as usize];
            let own = (party == us).then(|| BitMatrix::from_numbers(128, set).unwrap());
            CallArg::new(Holder::Party(party), 128, set.len() as u64, own)
        };
        let parameters = [Party::Bob as u8, MOST_TAG as u8];
        let outcome = session.call(&psi, &parameters, PARTIES.map(arg).into(), &Options::new(Scheme::Gmw)).unwrap();
        let tags: Vec<Vec<u64>> = outcome.outputs.iter().map(|(_, tags)| tags.to_numbers().unwrap()).collect();
        tags
    });
    let [[alices], [bobs]] = outputs.each_ref().map(|tags| <&[_; 1]>::try_from(&tags[..]).expect("its own tags alone"));
    assert_eq!((alices.len() as u64, bobs.len() as u64), (bins(70), bins(70)));
    assert_eq!(alices.iter().zip(bobs).filter(|(a, b)| a == b).count(), 30);
}

#[test]
fn what_is_no_call_is_refused_by_name() {
    let psi: Arc<dyn Functionality> = Arc::new(CircuitPsi);
    let refused = |parameters: &[u8], args: &[(Party, u32, u64)], why: &str| {
        let error = refusal(&psi, parameters, args).expect(why);
        assert!(error.contains(why) && error.contains("duologue:circuit_psi"), "{error}");
    };
    let (alice, bob) = ((Party::Alice, 128, 1), (Party::Bob, 128, 1));
    refused(&[], &[alice, bob], "the receiver (0 Alice, 1 Bob)");
    refused(&[2, 64], &[alice, bob], "the receiver (0 Alice, 1 Bob)");
    refused(&[0, 65], &[alice, bob], "1 to 64 bits of a tag");
    refused(&[0, 45], &[alice, bob], "tags of 46 bits or more for 1 strings, not 45");
    refused(&[0, 64], &[alice], "Alice's strings and Bob's, not 1 arguments");
    refused(&[0, 64], &[alice, (Party::Bob, 64, 1)], "strings of equal width, not 128 and 64 bits");
    refused(&[0, 64], &[bob, alice], "Alice's strings and Bob's");
    refused(&[0, 64], &[alice, (Party::Bob, 128, (1 << 23) + 1)], "at most 8388608 strings");
    refused(&[0, 64, 1], &[alice, bob, (Party::Alice, 8, 1)], "values of the parties that the parameters name");
    refused(&[0, 64, 1], &[alice, bob, (Party::Bob, 8, 2)], "a value for each of bob's 1 strings, not 2");
    refused(&[0, 64, 1], &[alice, bob, (Party::Bob, 65, 1)], "have 129 bits, and 128 fit");
}

fn act(channel: Channel, party: Party) {
    let sizes = [([0, 4], 0), ([1, 1], 1), ([1 << 10, 1 << 10], 700), ([1 << 14, 1 << 14], 5000)];
    let cases: Vec<_> = sizes.map(|(sizes, common)| Case::new(sizes, common, 9)).into();
    let mut session = Session::connect(channel, party).unwrap();
    session.register_all(&apps::calls());
    walk(&mut session, &cases);
    session.close().unwrap();
}

#[test]
fn between_two_processes() {
    common::between_two_processes("psi_shares::between_two_processes", act);
}
