//! Statistics by groups against fractions of whole numbers, by every protocol, and their costs.

use crate::common::{GOALS, Random, both, refusal};
use apps::statistics::{FRACTION, GROUP, MOST_GROUPS, MOST_ROWS, MOST_WIDTH, Totals, figures, statistics};
use duologue::circuit::blocks::Goal;
use duologue::circuit::program::{Functionality, Holder, Recipient};
use duologue::circuit::{Binding, BitMatrix, Party};
use duologue::cost::cost_with;
use duologue::{Inputs, Options, Outputs, Scheme, Timing, plain};
use num_bigint::BigInt;
use std::sync::Arc;

/// A table: the group of each row, and its value if it has one.
struct Table {
    width: u32,
    groups: u64,
    minimum: u64,
    rows: Vec<(u64, Option<i64>)>,
}

/// What is told of a group: numbers and multiples of 2^−16.
type Told = [BigInt; 4];

/// a / b rounded to the nearest, of two away from zero, for b > 0.
fn nearest(a: &BigInt, b: &BigInt) -> BigInt {
    let size = BigInt::from(a.magnitude().clone());
    let rounded: BigInt = (size * 2 + b) / (b * 2);
    if a < &BigInt::from(0) { -rounded } else { rounded }
}

impl Table {
    fn random(dice: &mut Random, width: u32, groups: u64, rows: usize) -> Table {
        let most = (1i64 << (width - 1)) - 1;
        let extreme = dice.below(2) == 0;
        let mut value = || match dice.below(8) {
            0 => None,
            1 => Some(most),
            2 => Some(-most),
            _ if extreme => Some(most),
            _ => Some(((dice.word() as i64) >> (64 - width)).max(-most)),
        };
        let values: Vec<_> = (0..rows).map(|_| value()).collect();
        let mut of = || if dice.below(10) == 0 { u64::from(u16::MAX) } else { dice.below(groups + 1) };
        let rows = values.into_iter().map(|value| (of(), value)).collect();
        Table { width, groups, minimum: dice.below(4), rows }
    }

    /// By the definitions, with the squares of the differences from the mean: Σ (n·v − S)² / n³.
    fn told(&self, group: u64) -> Told {
        let values = self.rows.iter().filter(|row| row.0 == group).filter_map(|row| row.1);
        let values: Vec<BigInt> = values.map(BigInt::from).collect();
        if values.is_empty() || (values.len() as u64) < self.minimum {
            return [0; 4].map(BigInt::from);
        }
        let (n, sum) = (BigInt::from(values.len()), values.iter().sum::<BigInt>());
        let apart = values.iter().map(|value| (&n * value - &sum).pow(2)).sum::<BigInt>();
        let mean = nearest(&(&sum << FRACTION), &n);
        let variance = nearest(&(apart << FRACTION), &n.pow(3));
        [n, sum, mean, variance]
    }

    fn inputs(&self) -> [Inputs; 2] {
        let minimum = || BitMatrix::from_numbers(20, &[self.minimum]).unwrap();
        let groups: Vec<u64> = self.rows.iter().map(|row| row.0).collect();
        let none = i64::MIN >> (64 - self.width);
        let values: Vec<i64> = self.rows.iter().map(|row| row.1.unwrap_or(none)).collect();
        let groups = BitMatrix::from_numbers(GROUP as usize, &groups).unwrap();
        let values = BitMatrix::from_numbers(self.width as usize, &values).unwrap();
        [("group", groups), ("value", values)]
            .map(|(name, lanes)| Inputs::new().with(name, lanes).with("minimum", minimum()))
    }

    fn bind(&self, learns: Recipient, goal: Goal) -> Binding {
        let sizes = [("rows", self.rows.len() as u64), ("groups", self.groups)];
        statistics(self.width, learns, goal).bind(&sizes).unwrap()
    }

    fn check(&self, outputs: &Outputs, what: &str) {
        for (figure, name) in ["count", "sum", "mean", "variance"].iter().enumerate() {
            let came = outputs.get(name).unwrap();
            for group in 0..self.groups {
                let bits = came.lane(group as usize);
                let number = bits.iter().rev().fold(BigInt::from(0), |number, &bit| number * 2 + i32::from(bit));
                let negative = *name != "count" && *bits.last().unwrap();
                let number = if negative { number - (BigInt::from(1) << bits.len()) } else { number };
                let (width, rows) = (self.width, self.rows.len());
                assert_eq!(
                    number,
                    self.told(group)[figure],
                    "{name} of group {group}, {width} bits, {rows} rows, minimum {}, {what}",
                    self.minimum
                );
            }
        }
    }
}

fn run(table: &Table, binding: &Binding, options: &[Options]) -> [Vec<duologue::Outcome>; 2] {
    let inputs = table.inputs();
    both(|session| {
        let own = &inputs[session.party() as usize];
        options.iter().map(|options| session.run(binding, options, own).unwrap()).collect()
    })
}

#[test]
fn figures_cost_at_most() {
    for (width, goal, ands, depth) in
        [(32, Goal::Size, 9_575, 4390), (32, Goal::Depth, 72_217, 111), (MOST_WIDTH, Goal::Size, 14_081, 6_238)]
    {
        let circuit = figures(width, goal);
        assert!(
            circuit.and_count() <= ands && circuit.depth() <= depth,
            "{width} bits, {goal}: {} ANDs, depth {}",
            circuit.and_count(),
            circuit.depth()
        );
    }
    let size = |rows, groups| statistics(32, Recipient::Both, Goal::Size).bind(&[("rows", rows), ("groups", groups)]);
    assert!(size(MOST_ROWS, 8).is_ok() && size(1, MOST_GROUPS).is_ok());
    assert!(size(MOST_ROWS + 1, 1).is_err() && size(1, MOST_GROUPS + 1).is_err() && size(1 << 17, 65).is_err());
}

/// What the steps mean: all widths, empty groups, rows of no group and without a value, the largest values.
#[test]
fn figures_are_those_of_fractions() {
    let mut dice = Random(11);
    for round in 0..84 {
        let width = [2, 3, 8, 16, 32, 47, MOST_WIDTH][round % 7];
        let groups = 1 + dice.below(5);
        let rows = 1 + dice.below([3, 40][round % 2]) as usize;
        let table = Table::random(&mut dice, width, groups, rows);
        let [alice, bob] = table.inputs();
        let goal = GOALS[round % 2];
        let all = alice.with("value", bob.get("value").unwrap().clone());
        table.check(&plain::run(&table.bind(Recipient::Both, goal), &all).unwrap(), "in the clear");
    }
}

#[test]
fn every_protocol_finds_the_same() {
    let options: Vec<Options> = Scheme::ALL.into_iter().map(Options::new).collect();
    let mut dice = Random(5);
    // The last two have several chunks, of which the last one is not full.
    for (width, groups, rows) in [(2, 1, 1), (8, 3, 50), (54, 2, 20), (8, 70, 1), (32, 5, 7000), (20, 1, 65_537)] {
        let table = Table::random(&mut dice, width, groups, rows);
        let binding = table.bind(Recipient::Both, Goal::Size);
        for outcomes in run(&table, &binding, &options) {
            outcomes
                .iter()
                .zip(&options)
                .for_each(|(outcome, options)| table.check(&outcome.outputs, &format!("{options:?}")));
        }
    }
}

/// Only who shall learn does, all rows may be without a value or a group, and lengths are those that were counted.
#[test]
fn nobody_else_learns_and_costs_are_exact() {
    let mut dice = Random(8);
    for rows in [vec![(0, None); 9], vec![(9, Some(3)); 9], vec![(1, Some(-7)), (1, Some(7)), (2, Some(-2147483647))]] {
        let mut table = Table::random(&mut dice, 32, 3, 1);
        (table.rows, table.minimum) = (rows, 1);
        let binding = table.bind(Party::Alice.into(), Goal::Size);
        for options in
            [Options::new(Scheme::Gmw), Options::new(Scheme::Gmw).timing(Timing::Streamed), Options::new(Scheme::Yao)]
        {
            let cost = cost_with(&binding, &options, &apps::calls()).unwrap();
            let [alice, bob] = run(&table, &binding, &[options]).map(|mut outcomes| outcomes.remove(0));
            table.check(&alice.outputs, "alice");
            assert_eq!(bob.outputs.iter().count(), 0);
            for (counted, a, b) in [
                (cost.setup, alice.report.setup, bob.report.setup),
                (cost.online, alice.report.online, bob.report.online),
            ] {
                assert_eq!((counted.alice_to_bob, counted.bob_to_alice), (a.sent, b.sent), "{options:?}");
                assert_eq!((counted.alice_rounds, counted.bob_rounds), (a.rounds, b.rounds), "{options:?}");
            }
        }
    }
}

/// Totals of the same rows are shared anew each time: a share alone says nothing.
#[test]
fn shares_look_random() {
    let call: Arc<dyn Functionality> = Arc::new(Totals);
    let (rows, groups) = (3, 200usize);
    let shares = both(|session| {
        let us = session.party();
        let held = |party, width: u32, numbers: [i64; 3]| {
            let value = (us == party).then(|| BitMatrix::from_numbers(width as usize, &numbers).unwrap());
            duologue::session::CallArg::new(Holder::Party(party), width, rows, value)
        };
        let lanes =
            duologue::session::CallArg::new(Holder::Shared, 1, groups as u64, Some(BitMatrix::zeros(1, groups)));
        let args = vec![held(Party::Alice, 16, [0, 1, 0]), held(Party::Bob, 32, [5, 6, -7]), lanes];
        let outcome = session.call(&call, &[], args, &Options::new(Scheme::Gmw)).unwrap();
        ["0", "1", "2"].map(|name| outcome.outputs.get(name).unwrap().clone())
    });
    let [alice, bob] = &shares;
    let sums: Vec<i64> = alice[1].xor(&bob[1]).to_numbers().unwrap();
    assert_eq!(sums[..3], [-2, 6, 0]);
    // Of a field that is filled up with zeros or signs, the lowest two bits are shares of bits that were added.
    for matrix in shares.iter().flatten() {
        let ones = (0..groups).filter(|&lane| matrix.get(0, lane)).count();
        assert!(ones.abs_diff(groups / 2) < 50, "{ones} of {groups}");
    }
}

#[test]
fn what_has_no_totals_is_refused_by_name() {
    let call: Arc<dyn Functionality> = Arc::new(Totals);
    use Party::{Alice, Bob};
    for (parameters, args, why) in [
        (&[1][..], [(Alice, 16, 3), (Bob, 32, 3), (Bob, 1, 2)], "no parameters, not 1 bytes"),
        (&[], [(Bob, 16, 3), (Bob, 32, 3), (Bob, 1, 2)], "groups that Alice holds"),
        (&[], [(Alice, 16, 3), (Alice, 32, 3), (Bob, 1, 2)], "values that Bob holds"),
        (&[], [(Alice, 65, 3), (Bob, 32, 3), (Bob, 1, 2)], "groups of 1 to 64 bits, not 65"),
        (&[], [(Alice, 16, 3), (Bob, 55, 3), (Bob, 1, 2)], "values of 2 to 54 bits, not 55"),
        (&[], [(Alice, 16, 3), (Bob, 32, 4), (Bob, 1, 2)], "as many groups as values, not 3 and 4"),
        (&[], [(Alice, 16, 0), (Bob, 32, 0), (Bob, 1, 2)], "1 to 1048575 rows, not 0"),
        (&[], [(Alice, 16, 3), (Bob, 32, 3), (Bob, 1, 0)], "1 to 4096 groups, not 0"),
        (&[], [(Alice, 16, 1 << 17), (Bob, 32, 1 << 17), (Bob, 1, 65)], "at most 8388608 rows times groups"),
    ] {
        let error = refusal(&call, parameters, &args).expect(why);
        assert!(error.contains(why) && error.contains("duologue:totals"), "{error}");
    }
    let two = refusal(&call, &[], &[(Alice, 16, 3), (Bob, 32, 3)]).unwrap();
    assert!(two.contains("three arguments, not 2"), "{two}");
}
