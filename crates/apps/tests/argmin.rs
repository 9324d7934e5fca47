//! The least of many protected values as a call, against going through the values one by one.

use crate::common;
use crate::common::{Random, both, refusal};
use apps::argmin::{Argmin, Direction, Form, Parameters, halves, shared, strings};
use duologue::call::{Call, CallProtocol, CallValue};
use duologue::circuit::blocks::Goal;
use duologue::circuit::program::{Functionality, Holder};
use duologue::circuit::{BitMatrix, Party, Program, bits};
use duologue::ot::Extension;
use duologue::session::CallArg;
use duologue::{Inputs, Options, Outcome, Scheme, Session};
use std::sync::Arc;

/// A number of up to 128 bits and one more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Wide(u128, bool);

/// One run: values, what the parties share them by, and arguments.
struct Case {
    bits: u32,
    parameters: Parameters,
    values: Vec<u128>,
    arguments: Vec<u64>,
}

const ARGUMENT: u32 = 17;

fn mask(bits: u32) -> u128 {
    if bits == 0 { 0 } else { u128::MAX >> (128 - bits) }
}

fn random(dice: &mut Random, bits: u32) -> u128 {
    (u128::from(dice.word()) << 64 | u128::from(dice.word())) & mask(bits)
}

impl Case {
    /// Values of which many are equal, and some are 0 or the largest there is.
    fn new(bits: u32, values: usize, parameters: Parameters, dice: &mut Random) -> Case {
        let few = [random(dice, bits), random(dice, bits), mask(bits), (mask(bits) - 1) & mask(bits), 0];
        let kind = dice.below(3);
        let value = |dice: &mut Random| match kind {
            0 => random(dice, bits),
            1 => few[dice.below(4) as usize],
            _ => few[dice.below(5) as usize],
        };
        let list: Vec<u128> = (0..values).map(|_| value(dice)).collect();
        let arguments = (0..values).map(|_| dice.word() & mask(ARGUMENT) as u64).collect();
        Case { bits, parameters, values: list, arguments }
    }

    /// The least value, and its argument or index, by going through all of them.
    fn expected(&self) -> (u128, u64) {
        let mut least = 0;
        for (i, value) in self.values.iter().enumerate() {
            if *value < self.values[least] {
                least = i;
            }
        }
        (self.values[least], if self.parameters.index > 0 { least as u64 } else { self.arguments[least] })
    }

    /// Additive shares that wrap, do not, or are all at one party; the same at both parties.
    fn shares(&self, seed: u64) -> [Vec<Wide>; 3] {
        let mut dice = Random(seed);
        let modulus = |number: Wide| if self.bits == 128 { number } else { reduced(number, self.bits + 1) };
        let mut a: Vec<Wide> = Vec::new();
        for _ in 0..=self.values.len() {
            let any = Wide(random(&mut dice, 128), dice.below(2) == 1);
            a.push(modulus(dice.choose(&[
                any,
                any,
                any,
                Wide(0, false),
                Wide(u128::MAX, true),
                Wide(mask(self.bits), false),
            ])));
        }
        let rest = a.split_off(self.values.len());
        let b = self.values.iter().zip(&a).map(|(&value, &a)| modulus(minus(Wide(value, false), a))).collect();
        [a, b, rest]
    }

    fn args(&self, us: Party, seed: u64) -> Vec<CallArg> {
        let n = self.values.len();
        let of = |party: Party, width: u32, numbers: Vec<Wide>| {
            let value = (party == us).then(|| matrix(width, &numbers));
            CallArg::new(Holder::Party(party), width, numbers.len() as u64, value)
        };
        let narrow = |numbers: &[u128]| numbers.iter().map(|&number| Wide(number, false)).collect::<Vec<_>>();
        let arguments = narrow(&self.arguments.iter().map(|&argument| argument.into()).collect::<Vec<_>>());
        let mut args = Vec::new();
        if self.parameters.form == Form::Halves {
            let at = 1 + seed as usize % (n - 1);
            args.push(of(Party::Alice, self.bits, narrow(&self.values[..at])));
            args.push(of(Party::Bob, self.bits, narrow(&self.values[at..])));
            if self.parameters.index == 0 {
                args.push(of(Party::Alice, ARGUMENT, arguments[..at].to_vec()));
                args.push(of(Party::Bob, ARGUMENT, arguments[at..].to_vec()));
            }
            return args;
        }
        let mut dice = Random(seed + 1);
        let mut shared = |width: u32, numbers: &[Wide]| {
            let masks: Vec<Wide> = (0..n).map(|_| Wide(random(&mut dice, width), false)).collect();
            let shares =
                masks.iter().zip(numbers).map(|(m, x)| if us == Party::Alice { *m } else { Wide(m.0 ^ x.0, false) });
            let value = Some(matrix(width, &shares.collect::<Vec<_>>()));
            CallArg::new(Holder::Shared, width, n as u64, value)
        };
        if self.parameters.form == Form::Strings {
            args.push(shared(self.bits, &narrow(&self.values)));
        } else {
            let [a, b, rest] = self.shares(seed);
            args.push(of(Party::Alice, self.bits + 1, a));
            args.push(of(Party::Bob, self.bits + 1, b));
            args.push(of(Party::Alice, self.bits + 1, rest));
        }
        if self.parameters.index == 0 {
            args.push(shared(ARGUMENT, &arguments));
        }
        args
    }

    fn run(&self, session: &mut Session, seed: u64) -> Outcome {
        self.run_by(session, seed, None)
    }

    fn run_by(&self, session: &mut Session, seed: u64, maker: Option<Extension>) -> Outcome {
        let options = Options::new(Scheme::Gmw);
        let options = maker.map_or(options, |maker| options.extension(maker));
        let argmin: Arc<dyn Functionality> = Arc::new(Argmin);
        let args = self.args(session.party(), seed);
        session.call(&argmin, &self.parameters.to_bytes(), args, &options).unwrap()
    }

    /// What both parties have together of the least value and its argument.
    fn check(&self, outcomes: [&Outcome; 2], seed: u64) {
        let get = |party: usize, name: &str| outcomes[party].outputs.get(name).map(|matrix| numbers(matrix)[0]);
        let xor = |name: &str| get(0, name).zip(get(1, name)).map(|(a, b)| a.0 ^ b.0);
        let value = match self.parameters.form {
            Form::Halves | Form::Strings => xor("0"),
            Form::Shared => {
                assert!(get(0, "0").is_none(), "Bob alone has the rest");
                let sum = plus(self.shares(seed)[2][0], get(1, "0").unwrap());
                Some(reduced(sum, (self.bits + 1).min(128)).0)
            }
        };
        let (least, argument) = self.expected();
        let what = format!("{} bits, {} values, {:?}", self.bits, self.values.len(), self.parameters);
        assert_eq!(value, Some(least), "{what}");
        assert_eq!(xor("1"), Some(argument.into()), "{what}");
    }
}

fn reduced(Wide(low, high): Wide, bits: u32) -> Wide {
    if bits > 128 { Wide(low, high) } else { Wide(low & mask(bits), false) }
}

fn minus(a: Wide, b: Wide) -> Wide {
    let (low, borrow) = a.0.overflowing_sub(b.0);
    Wide(low, a.1 ^ b.1 ^ borrow)
}

fn plus(a: Wide, b: Wide) -> Wide {
    let (low, carry) = a.0.overflowing_add(b.0);
    Wide(low, a.1 ^ b.1 ^ carry)
}

fn matrix(width: u32, numbers: &[Wide]) -> BitMatrix {
    let bit = |number: &Wide, row: u32| if row == 128 { number.1 } else { number.0 >> row & 1 == 1 };
    let lanes: Vec<Vec<bool>> = numbers.iter().map(|number| (0..width).map(|row| bit(number, row)).collect()).collect();
    BitMatrix::from_lanes(width as usize, &lanes)
}

fn numbers(matrix: &BitMatrix) -> Vec<Wide> {
    let number = |lane: Vec<bool>| {
        let low = lane.iter().take(128).rev().fold(0, |number, &bit| number << 1 | u128::from(bit));
        Wide(low, lane.get(128).copied().unwrap_or(false))
    };
    matrix.to_lanes().into_iter().map(number).collect()
}

fn parameters(form: Form, index: u8, direction: Direction, groups: &[u32]) -> Parameters {
    Parameters { form, index, direction, groups: groups.to_vec() }
}

/// All cases in one session.
fn check_all(cases: &[Case]) {
    let outcomes =
        both(|session| cases.iter().zip(1..).map(|(case, seed)| case.run(session, seed)).collect::<Vec<_>>());
    for ((case, seed), (alice, bob)) in cases.iter().zip(1..).zip(outcomes[0].iter().zip(&outcomes[1])) {
        case.check([alice, bob], seed);
    }
}

const DIRECTIONS: [Direction; 2] = [Direction::Both, Direction::One];

#[test]
fn the_least_of_shared_values_of_every_width() {
    let mut dice = Random(1);
    let mut cases = Vec::new();
    for bits in [1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 64, 127, 128] {
        for values in [1, 2, 3, 5, 7, 8, 65] {
            for direction in DIRECTIONS {
                for index in [0, 7] {
                    let parameters = parameters(Form::Shared, index, direction, &[]);
                    cases.push(Case::new(bits, values, parameters, &mut dice));
                }
            }
        }
    }
    check_all(&cases);
}

#[test]
fn the_least_of_strings_by_chains_of_every_width() {
    let mut dice = Random(14);
    let mut cases = Vec::new();
    for bits in [1, 2, 3, 8, 31, 32, 64, 127, 128] {
        for values in [1, 2, 3, 5, 8, 65] {
            for (direction, index) in DIRECTIONS.into_iter().flat_map(|direction| [(direction, 0), (direction, 7)]) {
                cases.push(Case::new(bits, values, parameters(Form::Strings, index, direction, &[]), &mut dice));
            }
        }
    }
    for (values, groups) in [(20, &[4, 8][..]), (130, &[2, 16, 9]), (64, &[64])] {
        for direction in DIRECTIONS {
            cases.push(Case::new(9, values, parameters(Form::Strings, 8, direction, groups), &mut dice));
        }
    }
    check_all(&cases);
}

#[test]
fn the_least_by_groups_of_every_size() {
    let mut dice = Random(2);
    let mut cases = Vec::new();
    for (values, groups) in
        [(2, &[7][..]), (7, &[3]), (20, &[3, 7]), (50, &[5, 4, 3]), (130, &[2, 9]), (64, &[64]), (11, &[4])]
    {
        for direction in DIRECTIONS {
            cases.push(Case::new(9, values, parameters(Form::Shared, 0, direction, groups), &mut dice));
        }
    }
    for (values, groups) in
        [(20, &[2, 8, 3][..]), (130, &[4, 16, 9]), (33, &[32, 7]), (7, &[16]), (64, &[4, 4, 4]), (3, &[3])]
    {
        for direction in DIRECTIONS {
            cases.push(Case::new(12, values, parameters(Form::Shared, 8, direction, groups), &mut dice));
        }
    }
    check_all(&cases);
}

#[test]
fn the_least_of_about_a_thousand() {
    let mut dice = Random(3);
    let mut cases = Vec::new();
    for values in [999, 1000, 1025] {
        for (index, groups) in [(11, &[][..]), (0, &[]), (11, &[2, 4, 8, 32]), (0, &[2, 3, 7])] {
            let direction = dice.choose(&DIRECTIONS);
            cases.push(Case::new(32, values, parameters(Form::Shared, index, direction, groups), &mut dice));
        }
        cases.push(Case::new(32, values, parameters(Form::Halves, 11, Direction::Both, &[]), &mut dice));
    }
    check_all(&cases);
}

/// The values of a line of `vectors/argmin.txt`, as `vectors/argmin.py` makes them.
fn of_vector(bits: u32, count: usize, kind: &str, seed: u64) -> Vec<u128> {
    let mut dice = Random(seed);
    let (largest, number) = (mask(bits), |dice: &mut Random| random(dice, bits));
    // The generator of few numbers is asked before, whatever the kind is.
    let (equal, few) = (number(&mut dice), [0; 3].map(|_| number(&mut dice)));
    let from = match kind {
        "equal" => vec![equal],
        "few" => few.to_vec(),
        "extremes" => vec![0, largest],
        "top" => vec![largest],
        _ => Vec::new(),
    };
    let one = |dice: &mut Random| match &from[..] {
        [] => number(dice),
        some => some[dice.below(some.len() as u64) as usize],
    };
    let mut values: Vec<u128> = (0..count).map(|_| one(&mut dice)).collect();
    if kind == "top" {
        values[dice.below(count as u64) as usize] = largest - 1;
    }
    values
}

/// NumPy's argmin, ties included: by the call and by going through the values.
#[test]
fn the_least_is_the_one_that_numpy_finds() {
    let (mut dice, mut cases, mut lines) = (Random(13), Vec::new(), Vec::new());
    for line in include_str!("vectors/argmin.txt").lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let &[bits, count, kind, seed, place, least] = &fields[..] else { panic!("{line}") };
        let (bits, count) = (bits.parse().unwrap(), count.parse().unwrap());
        let values = of_vector(bits, count, kind, seed.parse().unwrap());
        let all = [Form::Shared, Form::Strings, Form::Halves];
        let form = dice.choose(if count > 1 { &all } else { &all[..2] });
        let groups = dice.choose(&[&[][..], &[4, 8]]);
        let parameters = parameters(form, 11, dice.choose(&DIRECTIONS), groups);
        let case = Case { values, ..Case::new(bits, count, parameters, &mut dice) };
        let found = (u128::from_str_radix(least, 16).unwrap(), place.parse().unwrap());
        assert_eq!(case.expected(), found, "{line}");
        cases.push(case);
        lines.push(line);
    }
    assert_eq!(lines.len(), 180);
    check_all(&cases);
}

/// Levels of several tiles: values that fill the last one, leave one over, or leave a smaller group.
#[test]
fn the_least_of_values_in_tiles() {
    let mut dice = Random(12);
    let mut cases = Vec::new();
    for (values, index, direction, groups) in [
        (2 * 11_008 + 2, 15, Direction::Both, &[][..]),
        (4 * 11_008 + 1, 0, Direction::One, &[]),
        (16_001, 0, Direction::Both, &[3, 5]),
        (9000, 14, Direction::One, &[4, 2]),
        // The last tile is a group of two or of three, with fewer levels of ANDs than one of four.
        (7170, 0, Direction::Both, &[4]),
        (7171, 0, Direction::One, &[4]),
    ] {
        cases.push(Case::new(128, values, parameters(Form::Strings, index, direction, groups), &mut dice));
        cases.push(Case::new(128, values, parameters(Form::Shared, index, direction, groups), &mut dice));
    }
    // Tiles of chains are as long as their selections.
    for (values, index, direction, groups) in [
        (2 * 28_672 + 2, 0, Direction::Both, &[][..]),
        (4 * 28_672 + 1, 0, Direction::One, &[]),
        (4 * 9_536 + 3, 0, Direction::Both, &[4]),
    ] {
        cases.push(Case::new(128, values, parameters(Form::Strings, index, direction, groups), &mut dice));
    }
    check_all(&cases);
}

#[test]
fn the_least_of_private_halves() {
    let mut dice = Random(4);
    let mut cases = Vec::new();
    for bits in [1, 2, 3, 8, 31, 32, 64, 128] {
        for values in [2, 3, 64, 100] {
            for (direction, index) in DIRECTIONS.into_iter().flat_map(|direction| [(direction, 0), (direction, 7)]) {
                cases.push(Case::new(bits, values, parameters(Form::Halves, index, direction, &[]), &mut dice));
            }
        }
    }
    check_all(&cases);
}

/// Every pair of values and every way to share them.
#[test]
fn all_shares_of_all_small_values() {
    let mut values = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    for all in 0..1 << 10 {
        let at = |from: u32, bits: u32| all >> from & ((1 << bits) - 1);
        let (y0, y1, a0, a1) = (at(0, 2), at(2, 2), at(4, 3), at(7, 3));
        [y0, y1, a0, a1].into_iter().zip(&mut values).for_each(|(value, list)| list.push(value));
    }
    // Two values at a time, in one call each, are many calls: a group of two in the first level compares each pair.
    let [y0, y1, a0, a1] = &values;
    let outcomes = both(|session| {
        let us = session.party();
        let argmin: Arc<dyn Functionality> = Arc::new(Argmin);
        let mut found = Vec::new();
        for i in (0..1 << 10).step_by(3) {
            let wide = |numbers: &[u64]| numbers.iter().map(|&number| Wide(number.into(), false)).collect::<Vec<_>>();
            let a = wide(&[a0[i], a1[i]]);
            let b = wide(&[y0[i].wrapping_sub(a0[i]) & 7, y1[i].wrapping_sub(a1[i]) & 7]);
            let arg = |party, numbers: &[Wide]| {
                let value = (us == party).then(|| matrix(3, numbers));
                CallArg::new(Holder::Party(party), 3, numbers.len() as u64, value)
            };
            let args = vec![arg(Party::Alice, &a), arg(Party::Bob, &b), arg(Party::Alice, &[Wide(5, false)])];
            let parameters = parameters(Form::Shared, 1, DIRECTIONS[i % 2], &[]);
            let outcome = session.call(&argmin, &parameters.to_bytes(), args, &Options::new(Scheme::Gmw)).unwrap();
            found.push(["0", "1"].map(|name| outcome.outputs.get(name).map(|matrix| numbers(matrix)[0].0 as u64)));
        }
        found
    });
    for ((alice, bob), i) in outcomes[0].iter().zip(&outcomes[1]).zip((0..1 << 10).step_by(3)) {
        let index = u64::from(y1[i] < y0[i]);
        assert_eq!((bob[0].unwrap() + 5) & 7, y0[i].min(y1[i]), "{} and {} by {} and {}", y0[i], y1[i], a0[i], a1[i]);
        assert_eq!(alice[1].unwrap() ^ bob[1].unwrap(), index);
    }
}

/// Of equal values the first; and its index alone says nothing to one party.
#[test]
fn of_equal_values_the_first_wins_and_shares_look_random() {
    let mut cases = Vec::new();
    for round in 0..60 {
        let direction = DIRECTIONS[round % 2];
        let arguments = (0..13).map(|i| i + 100).collect();
        let index = 4 * (round as u8 / 2 % 2);
        let parameters = parameters(Form::Shared, index, direction, &[4, 2]);
        cases.push(Case { bits: 20, parameters, values: vec![77; 13], arguments });
    }
    let outcomes =
        both(|session| cases.iter().zip(1..).map(|(case, seed)| case.run(session, seed)).collect::<Vec<_>>());
    let mut ones = 0;
    for ((case, seed), (alice, bob)) in cases.iter().zip(1..).zip(outcomes[0].iter().zip(&outcomes[1])) {
        case.check([alice, bob], seed);
        ones += numbers(alice.outputs.get("1").unwrap())[0].0 & 1;
    }
    // Six standard deviations.
    assert!((7..=53).contains(&ones), "{ones} of 60");
}

/// The twin ignores the carry of the shares' lower bits: then shares decide who is less.
#[test]
fn without_the_carry_the_result_hangs_on_the_shares() {
    let mut dice = Random(5);
    let twin = |a: [u64; 2], b: [u64; 2]| {
        let top = |shares: [u64; 2]| shares[1].wrapping_sub(shares[0]) >> 8 & 1;
        top(a) ^ top(b)
    };
    let wrong = (0..1000).filter(|_| {
        let (y, a) = ([dice.below(256), dice.below(256)], [dice.below(512), dice.below(512)]);
        let b = [0, 1].map(|i| y[i].wrapping_sub(a[i]) & 511);
        twin(a, b) != u64::from(y[1] < y[0])
    });
    assert!(wrong.count() > 300, "the cases of these tests catch the twin");
}

#[test]
fn cost_is_exact() {
    let argmin: Arc<dyn Functionality> = Arc::new(Argmin);
    // Sessions choose a maker by the line that they measure, and costs by none.
    let maker: Extension = "softspoken4".parse().unwrap();
    let mut dice = Random(6);
    for (form, index, direction, groups, (width, values)) in [
        (Form::Shared, 7, Direction::Both, &[][..], (31, 100)),
        (Form::Shared, 7, Direction::One, &[4, 8], (31, 100)),
        (Form::Shared, 0, Direction::One, &[3, 5], (31, 100)),
        (Form::Halves, 7, Direction::Both, &[], (31, 100)),
        (Form::Strings, 7, Direction::One, &[], (31, 100)),
        (Form::Strings, 0, Direction::Both, &[3], (31, 100)),
        // In tiles.
        (Form::Shared, 0, Direction::One, &[], (128, 22_100)),
    ] {
        let case = Case::new(width, values, parameters(form, index, direction, groups), &mut dice);
        let mut p = Program::new("duologue:argmin");
        let values: Vec<_> = case
            .args(Party::Alice, 1)
            .iter()
            .enumerate()
            .map(|(number, arg)| {
                let owner = match arg.holder {
                    Holder::Party(party) => duologue::circuit::program::Owner::Party(party),
                    Holder::Shared => duologue::circuit::program::Owner::Shared,
                };
                p.input(&number.to_string(), owner, bits(arg.width), arg.lanes)
            })
            .collect();
        for (number, value) in p.call(&argmin, &case.parameters.to_bytes(), &values).into_iter().enumerate() {
            let recipient = match p.holder(value) {
                Holder::Party(party) => duologue::circuit::program::Recipient::Party(party),
                Holder::Shared => duologue::circuit::program::Recipient::Shared,
            };
            p.output(&number.to_string(), recipient, value);
        }
        let options = Options::new(Scheme::Gmw).extension(maker);
        let cost = duologue::cost::cost_with(&p.bind(&[]).unwrap(), &options, &apps::calls()).unwrap();
        let [alice, bob] = both(|session| case.run_by(session, 1, Some(maker)));
        case.check([&alice, &bob], 1);
        for (phase, counted, a, b) in [
            ("setup", cost.setup, alice.report.setup, bob.report.setup),
            ("online", cost.online, alice.report.online, bob.report.online),
        ] {
            assert_eq!((counted.alice_to_bob, counted.bob_to_alice), (a.sent, b.sent), "{phase}, {form:?}");
            assert_eq!((counted.alice_rounds, counted.bob_rounds), (a.rounds, b.rounds), "{phase}, {form:?}");
        }
        assert_eq!(alice.report.demand, cost.demand);
    }
}

#[test]
fn what_cannot_be_compared_is_refused_by_name() {
    let argmin: Arc<dyn Functionality> = Arc::new(Argmin);
    let shared = Parameters::new(Form::Shared, 4);
    let refused = |parameters: &[u8], args: &[(Party, u32, u64)], why: &str| {
        let error = refusal(&argmin, parameters, args).expect(why);
        assert!(error.contains(why) && error.contains("duologue:argmin"), "{error}");
    };
    let (a, b) = (Party::Alice, Party::Bob);
    let ours = |lanes| [(a, 9, lanes), (b, 9, lanes), (a, 9, 1)];
    refused(&shared.to_bytes(), &ours(0), "1 to 16777216 values, not 0");
    refused(&shared.to_bytes(), &ours(17), "an index of 4 bits for at most 16 values, not 17");
    refused(&shared.to_bytes(), &[(a, 9, 2), (b, 9, 3), (a, 9, 1)], "as many shares and arguments as values");
    refused(&shared.to_bytes(), &[(a, 9, 2), (b, 9, 2), (a, 9, 2)], "as many shares and arguments as values");
    refused(&shared.to_bytes(), &[(a, 9, 2), (b, 8, 2), (a, 9, 1)], "values of equal width");
    refused(&shared.to_bytes(), &[(a, 9, 2), (a, 9, 2), (a, 9, 1)], "that each party holds alone");
    refused(&shared.to_bytes(), &[(a, 1, 2), (b, 1, 2), (a, 1, 1)], "values of 1 to 128 bits");
    refused(&shared.to_bytes(), &[(a, 130, 2), (b, 130, 2), (a, 130, 1)], "values of 1 to 128 bits");
    refused(&shared.to_bytes(), &[(a, 9, 2)], "3 arguments, not 1");
    refused(
        &Parameters::new(Form::Halves, 4).to_bytes(),
        &[(a, 9, 2), (b, 9, 0)],
        "as many shares and arguments as values",
    );
    refused(&Parameters::new(Form::Halves, 4).to_bytes(), &[(a, 9, 0), (b, 9, 0)], "1 to 16777216 values, not 0");
    refused(&Parameters { groups: vec![3, 2], ..shared.clone() }.to_bytes(), &ours(9), "powers of two");
    refused(&Parameters { groups: vec![1 << 20], index: 20, ..shared }.to_bytes(), &ours(1 << 20), "comparisons");
    for (bytes, why) in [
        (&[][..], "three bytes"),
        (&[3, 4, 0], "a form of values"),
        (&[0, 4, 2], "a direction of OTs"),
        (&[0, 65, 0], "more than 64 bits"),
        (&[0, 4, 0, 1], "end within"),
        (&[0, 4, 0, 1, 0, 0, 0], "of two values or more"),
    ] {
        refused(bytes, &ours(2), why);
    }
}

#[test]
fn parameters_survive_their_bytes() {
    for form in [Form::Shared, Form::Halves, Form::Strings] {
        for direction in DIRECTIONS {
            for groups in [&[][..], &[2], &[3, 70_000]] {
                let parameters = parameters(form, 9, direction, groups);
                assert_eq!(Parameters::from_bytes(&parameters.to_bytes()).unwrap(), parameters);
            }
        }
    }
}

/// Values that are shared by XOR, by circuits: any protocol, with index and with argument.
#[test]
fn the_least_of_strings_by_every_protocol() {
    let mut dice = Random(9);
    let mut jobs = Vec::new();
    for (bits, values) in [(1, 1), (1, 9), (8, 2), (31, 65), (32, 100), (64, 7), (128, 13)] {
        for index in [0, 7] {
            let case = Case::new(bits, values, Parameters::new(Form::Shared, index), &mut dice);
            let masks: Vec<u128> = (0..values).map(|_| random(&mut dice, bits)).collect();
            jobs.push((case, masks));
        }
    }
    for (scheme, goal) in [(Scheme::Yao, Goal::Size), (Scheme::Gmw, Goal::Size), (Scheme::Gmw, Goal::Depth)] {
        let outcomes = both(|session| {
            let ours = session.party() == Party::Alice;
            let run = |(case, masks): &(Case, Vec<u128>)| {
                let n = case.values.len();
                let share = |(&mask, &value): (&u128, &u128)| Wide(if ours { mask } else { value ^ mask }, false);
                let values: Vec<Wide> = masks.iter().zip(&case.values).map(share).collect();
                let argument = |&argument: &u64| Wide(if ours { argument.into() } else { 0 }, false);
                let arguments: Vec<Wide> = case.arguments.iter().map(argument).collect();
                let mut inputs = Inputs::new().with("values", matrix(case.bits, &values));
                let width = (case.parameters.index == 0).then_some(ARGUMENT);
                if width.is_some() {
                    inputs.set("arguments", matrix(ARGUMENT, &arguments));
                }
                let binding = strings(case.bits, width, goal).bind(&[("values", n as u64)]).unwrap();
                session.run(&binding, &Options::new(scheme), &inputs).unwrap().outputs
            };
            jobs.iter().map(run).collect::<Vec<_>>()
        });
        for (((case, _), alice), bob) in jobs.iter().zip(&outcomes[0]).zip(&outcomes[1]) {
            let found = |name: &str| {
                let shares = [alice, bob].map(|outputs| numbers(outputs.get(name).unwrap())[0].0);
                shares[0] ^ shares[1]
            };
            let (least, argument) = case.expected();
            let name = if case.parameters.index > 0 { "index" } else { "argument" };
            assert_eq!((found("least"), found(name)), (least, argument.into()), "{} bits, {scheme}", case.bits);
        }
    }
}

/// Payload of both directions in bytes, setup and online.
fn bytes(program: &Program, sizes: &[(&str, u64)], maker: &str) -> [u64; 2] {
    let options = Options::new(Scheme::Gmw).extension(maker.parse::<Extension>().unwrap());
    let cost = duologue::cost::cost_with(&program.bind(sizes).unwrap(), &options, &apps::calls()).unwrap();
    [cost.setup, cost.online].map(|traffic| traffic.alice_to_bob + traffic.bob_to_alice)
}

/// A thousand values with arguments of as many bits: bits of the comparisons by the design's figures, and at most so many bytes
/// of a new session by silent OT, of sums with OTs of both parties and of one, and of strings.
#[test]
fn a_thousand_values_take_few_bytes() {
    for (bits, comparison, sums_at_most, one_at_most, strings_at_most) in [
        (32, 207, 118_000, 96_000, 114_000),
        (64, 429, 164_000, 144_000, 148_000),
        (128, 875, 254_000, 238_000, 225_000),
    ] {
        let sizes = &[("values", 1000)][..];
        let [setup, online] = bytes(&shared(bits, Some(bits), Direction::Both, &[]), sizes, "silent");
        let l = u64::from(bits);
        let least = (999 * (comparison + 2 * (1 + l + 1 + l)) + l + 1) / 8;
        assert!((least..least + 100).contains(&online), "{bits} bits: {online} bytes online");
        assert!(setup + online <= sums_at_most, "{bits} bits: {setup} and {online}");
        let [one_setup, one_online] = bytes(&shared(bits, Some(bits), Direction::One, &[]), sizes, "silent");
        assert_eq!(one_online, online, "{bits} bits");
        assert!(one_setup + online <= one_at_most, "{bits} bits: {one_setup} and {online}");
        let [setup, online] = bytes(&strings(bits, Some(bits), Goal::Size), sizes, "silent");
        // A comparison is l ANDs of 4 bits, a choice opens one bit and 2·l bits each way.
        let least = 999 * (4 * l + 2 * (1 + 2 * l)) / 8;
        assert!((least..least * 11 / 10).contains(&online), "{bits} bits: {online} bytes online");
        assert!(setup + online <= strings_at_most, "{bits} bits: {setup} and {online}");
        let halves = halves(bits, Some(bits), duologue::circuit::program::Recipient::Shared);
        let [setup, online] = bytes(&halves, &[("alice", 500), ("bob", 500)], "softspoken8");
        assert!(setup + online <= 25_000 && online <= 1_000, "halves of {bits} bits: {setup} and {online}");
    }
}

/// A call of so many lanes, with values and arguments of these widths.
fn called(parameters: &[u8], lanes: &[u64], [width, argument]: [u32; 2], form: Form) -> Call {
    let values = [3, 2, 1][form as usize];
    let arg = |(number, &lanes): (usize, &u64)| {
        let ty = bits(if number < values { width } else { argument });
        let party = if number % 2 == 0 { Party::Alice } else { Party::Bob };
        CallValue { ty, lanes, holder: Holder::Party(party) }
    };
    let args = lanes.iter().enumerate().map(arg).collect();
    Call { number: 0, parameters: parameters.to_vec(), args, results: Vec::new() }
}

/// Parameters come from files of others: whatever they are, there is an answer or an error.
#[test]
fn any_parameters_are_taken_or_refused() {
    let argmin: Arc<dyn CallProtocol> = Arc::new(Argmin);
    let mut dice = Random(10);
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let mut bytes: Vec<u8> = (0..dice.below(14)).map(|_| dice.below(256) as u8).collect();
        let few = [3, 2, 3].map(|end| dice.below(end) as u8);
        bytes.iter_mut().zip([few[0], few[1] * 9, few[2]]).for_each(|(byte, few)| *byte = few);
        bytes.iter_mut().skip(3).filter(|_| dice.below(3) > 0).for_each(|byte| *byte = 0);
        let Ok(parameters) = Parameters::from_bytes(&bytes) else { continue };
        assert_eq!(parameters.to_bytes(), bytes);
        let lanes = 1 + dice.below(1 << 20);
        let given = if parameters.index == 0 { 2 } else { 0 };
        let lanes = match parameters.form {
            Form::Shared => [vec![lanes, lanes, 1], vec![lanes; given / 2]].concat(),
            Form::Halves => [lanes, 5].repeat(1 + given / 2),
            Form::Strings => vec![lanes; 1 + given / 2],
        };
        if Functionality::lanes(&Argmin, &bytes, &lanes).is_err() {
            continue;
        }
        // What is accepted has lengths, or is refused alike by both parties.
        let width = 2 + dice.below(127) as u32;
        let call = called(&bytes, &lanes, [width, dice.below(4096) as u32 + 1], parameters.form);
        match [Party::Alice, Party::Bob].map(|party| argmin.lengths(&call, party)) {
            [Ok(a), Ok(b)] => {
                assert!(a.stored.max(b.stored) <= 1 << 30);
                assert_eq!((a.setup.len(), a.online.len()), (b.setup.len(), b.online.len()));
                taken += 1;
            }
            [Err(a), Err(b)] => {
                assert!(a.to_string().contains("it would store") && a.to_string() == b.to_string(), "{a}");
                refused += 1;
            }
            _ => panic!("one party refuses"),
        }
    }
    assert!(taken > 50, "{taken} and {refused}");
    // 2^20 values of 128 bits with arguments of 4,096.
    let bytes = Parameters::new(Form::Shared, 0).to_bytes();
    let call = called(&bytes, &[1 << 20, 1 << 20, 1, 1 << 20], [129, 4096], Form::Shared);
    assert!(argmin.lengths(&call, Party::Alice).is_err_and(|error| error.to_string().contains("it would store")));
}

#[test]
fn between_two_processes_over_tcp() {
    between_two_processes("argmin::between_two_processes_over_tcp", None);
}

/// Small first batches in both directions, then rounds.
#[test]
fn between_two_processes_by_silent_ot() {
    between_two_processes("argmin::between_two_processes_by_silent_ot", Some("silent".parse().unwrap()));
}

/// The same cases in two processes; Bob writes his results to standard output, Alice adds hers.
fn between_two_processes(test: &str, maker: Option<Extension>) {
    let mut dice = Random(7);
    let mut cases = Vec::new();
    for (bits, values) in [(32, 100), (8, 1), (128, 9)] {
        for direction in DIRECTIONS {
            cases.push(Case::new(bits, values, parameters(Form::Shared, 7, direction, &[]), &mut dice));
            cases.push(Case::new(bits, values + 1, parameters(Form::Halves, 0, direction, &[]), &mut dice));
            cases.push(Case::new(bits, values, parameters(Form::Strings, 0, direction, &[]), &mut dice));
        }
    }
    let walk = |channel, party| -> Vec<[Option<Wide>; 2]> {
        let mut session = Session::connect(channel, party).unwrap();
        session.register(Arc::new(Argmin));
        let run = |case: &Case| {
            let outcome = case.run_by(&mut session, 3, maker);
            ["0", "1"].map(|name| outcome.outputs.get(name).map(|matrix| numbers(matrix)[0]))
        };
        let found: Vec<_> = cases.iter().map(run).collect();
        session.close().unwrap();
        for [value, argument] in found.iter().filter(|_| party == Party::Bob) {
            let (value, argument) = (value.unwrap(), argument.unwrap());
            println!("\nfound {} {} {}", value.0, value.1, argument.0);
        }
        found
    };
    let Some((alice, bob)) = common::between_two_processes(test, walk) else { return };
    let lines: Vec<&str> = bob.lines().filter_map(|line| line.strip_prefix("found ")).collect();
    assert_eq!(lines.len(), cases.len(), "{bob}");
    for ((case, alice), line) in cases.iter().zip(&alice).zip(lines) {
        let words: Vec<&str> = line.split(' ').collect();
        let bob = (Wide(words[0].parse().unwrap(), words[1] == "true"), words[2].parse::<u128>().unwrap());
        let value = match case.parameters.form {
            Form::Halves | Form::Strings => alice[0].unwrap().0 ^ bob.0.0,
            Form::Shared => reduced(plus(case.shares(3)[2][0], bob.0), (case.bits + 1).min(128)).0,
        };
        let (least, argument) = case.expected();
        assert_eq!((value, alice[1].unwrap().0 ^ bob.1), (least, argument.into()));
    }
}

/// What is asked of nobody is nothing: the lengths of both parties fit for many shapes.
#[test]
fn lengths_of_both_parties_fit() {
    let argmin: Arc<dyn CallProtocol> = Arc::new(Argmin);
    let mut dice = Random(8);
    for _ in 0..200 {
        let form = dice.choose(&[Form::Shared, Form::Halves, Form::Strings]);
        let groups: Vec<u32> = (0..dice.below(4)).map(|_| 2 + dice.below(9) as u32).collect();
        let parameters = parameters(form, 0, dice.choose(&DIRECTIONS), &groups);
        let below = dice.choose(&[200, 200, 100_000]);
        let n = 2 + dice.below(below);
        let width = 2 + dice.below(127) as u32;
        let value =
            |party, width, lanes| duologue::call::CallValue { ty: bits(width), lanes, holder: Holder::Party(party) };
        let (alice, bob) = (Party::Alice, Party::Bob);
        let args = match form {
            Form::Shared => {
                vec![value(alice, width, n), value(bob, width, n), value(alice, width, 1), value(bob, 5, n)]
            }
            Form::Halves => vec![value(alice, width, n), value(bob, width, 3), value(alice, 5, n), value(bob, 5, 3)],
            Form::Strings => vec![value(alice, width, n), value(alice, 5, n)],
        };
        let call = duologue::call::Call { number: 0, parameters: parameters.to_bytes(), args, results: Vec::new() };
        let [a, b] = [alice, bob].map(|party| argmin.lengths(&call, party).unwrap());
        assert_eq!((a.setup.len(), a.online.len()), (b.setup.len(), b.online.len()));
        for (a, b) in a.setup.iter().chain(&a.online).zip(b.setup.iter().chain(&b.online)) {
            assert_eq!((a.sent, a.read, a.demand), (b.read, b.sent, b.demand));
        }
    }
}
