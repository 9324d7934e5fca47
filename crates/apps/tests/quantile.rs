//! Median and quantiles of two parties' values against all values sorted in the clear, and their costs.

use crate::common::{GOALS, Random, both, refusal};
use apps::statistics::{Lists, MOST_BITS, MOST_ROWS, median, quantile, sort};
use duologue::circuit::blocks::Goal;
use duologue::circuit::program::{Functionality, Recipient};
use duologue::circuit::{Binding, BitMatrix, Party};
use duologue::cost::cost_with;
use duologue::{Inputs, Options, Outputs, Scheme, plain};
use std::sync::Arc;

/// Asserts that a program needs no more than this by the count of GMW.
fn assert_at_most(binding: &Binding, ands: u64, depth: u32) {
    let cost = cost_with(binding, &Options::new(Scheme::Gmw), &apps::calls()).unwrap();
    let name = binding.program().name();
    assert!(cost.ands <= ands && cost.depth <= depth, "{name}: {} ANDs, depth {}", cost.ands, cost.depth);
}

#[test]
fn medians_cost_at_most() {
    let sizes = [("alice", 50_000), ("bob", 50_000)];
    assert_at_most(&median(32, Recipient::Both, Goal::Size).bind(&sizes).unwrap(), 8_000_320, 99);
    let most = [("alice", MOST_ROWS), ("bob", MOST_ROWS)];
    assert!(median(32, Recipient::Both, Goal::Size).bind(&most).is_ok());
}

#[test]
fn medians_of_depth_cost_at_most() {
    let sizes = [("alice", 50_000), ("bob", 50_000)];
    assert_at_most(&median(32, Recipient::Both, Goal::Depth).bind(&sizes).unwrap(), 10_050_515, 21);
}

#[test]
fn quantiles_cost_at_most() {
    let sizes = [("alice", 50_000), ("bob", 50_000), ("percent", 90)];
    assert_at_most(&quantile(32, Recipient::Both, Goal::Size).bind(&sizes).unwrap(), 8_640_128, 66);
}

#[test]
fn sorting_costs_at_most() {
    let sizes = [("alice", 500), ("bob", 500)];
    assert_at_most(&sort(32, 1000, Recipient::Both, Goal::Size).bind(&sizes).unwrap(), 393_216, 363);
}

struct Values {
    width: u32,
    values: [Vec<i64>; 2],
}

impl Values {
    fn random(dice: &mut Random, width: u32, most: u64) -> Values {
        let lanes = [dice.below(most + 1), dice.below(most) + 1];
        let lanes = if dice.below(2) == 0 { lanes } else { [lanes[1], lanes[0]] };
        // Few different values, the extreme ones among them, or any.
        let kind = dice.below(3);
        let (least, width_of) = (i64::MIN >> (64 - width), width);
        let mut value = || match kind {
            0 => [least, !least, 0, -1][dice.below(4) as usize],
            1 => (dice.below(3) as i64 - 1).max(least).min(!least),
            _ => dice.word() as i64 >> (64 - width_of),
        };
        Values { width, values: lanes.map(|lanes| (0..lanes).map(|_| value()).collect()) }
    }

    fn sorted(&self) -> Vec<i64> {
        let mut all = self.values.concat();
        all.sort();
        all
    }

    /// The sum of the two in the middle.
    fn twice_the_median(&self) -> i128 {
        let all = self.sorted();
        i128::from(all[(all.len() - 1) / 2]) + i128::from(all[all.len() / 2])
    }

    /// The smallest value that at least so many per cent do not exceed.
    fn quantile(&self, percent: u64) -> i128 {
        let all = self.sorted();
        let enough =
            |value: &&i64| all.iter().filter(|other| other <= value).count() as u64 * 100 >= percent * all.len() as u64;
        i128::from(*all.iter().find(enough).unwrap())
    }

    fn inputs(&self) -> [Inputs; 2] {
        [("alice", &self.values[0]), ("bob", &self.values[1])].map(|(name, values)| {
            Inputs::new().with(name, BitMatrix::from_numbers(self.width as usize, values).unwrap())
        })
    }

    fn bind(&self, percent: Option<u64>, learns: Recipient, goal: Goal) -> Binding {
        let mut sizes = vec![("alice", self.values[0].len() as u64), ("bob", self.values[1].len() as u64)];
        sizes.extend(percent.map(|percent| ("percent", percent)));
        let program = if percent.is_some() { quantile } else { median };
        program(self.width, learns, goal).bind(&sizes).unwrap()
    }

    fn check(&self, outputs: &Outputs, percent: Option<u64>, what: &str) {
        let (name, expected) = match percent {
            Some(percent) => ("quantile", self.quantile(percent)),
            None => ("median", self.twice_the_median()),
        };
        let came: Vec<i128> = outputs.get(name).unwrap().to_numbers().unwrap();
        assert_eq!(came, [expected], "{percent:?} of {:?} of {} bits, {what}", self.values, self.width);
    }
}

#[test]
fn they_are_those_of_sorted_values() {
    let mut dice = Random(3);
    for round in 0..600 {
        let width = [2, 3, 8, 20, 32, 63, MOST_BITS][round % 7];
        let values = Values::random(&mut dice, width, [2, 5, 30][round % 3]);
        let percent = if round % 2 == 0 { None } else { Some([1, 25, 50, 75, 99, 100][dice.below(6) as usize]) };
        let [alice, bob] = values.inputs();
        let all = alice.with("bob", bob.get("bob").unwrap().clone());
        let binding = values.bind(percent, Recipient::Both, GOALS[round / 2 % 2]);
        values.check(&plain::run(&binding, &all).unwrap(), percent, "in the clear");
    }
}

#[test]
fn the_smallest_are_those_of_sorted_values() {
    let mut dice = Random(6);
    for round in 0..200 {
        let width = [2, 3, 8, 20, 32, 63, MOST_BITS][round % 7];
        let values = Values::random(&mut dice, width, [2, 5, 30][round % 3]);
        let all = values.sorted();
        let count = 1 + dice.below(all.len() as u64) as usize;
        let goal = GOALS[round % 2];
        let sizes = [("alice", values.values[0].len() as u64), ("bob", values.values[1].len() as u64)];
        let binding = sort(width, count as u32, Recipient::Both, goal).bind(&sizes).unwrap();
        let [alice, bob] = values.inputs();
        let inputs = alice.with("bob", bob.get("bob").unwrap().clone());
        let found = plain::run(&binding, &inputs).unwrap();
        let sorted: Vec<i64> = found.get("sorted").unwrap().to_numbers().unwrap();
        assert_eq!(sorted, all[..count], "{:?}, {width} bits", values.values);
    }
}

#[test]
fn every_protocol_sorts() {
    let mut dice = Random(7);
    for (most, count) in [(1, 1), (40, 12), (300, 130)] {
        let values = loop {
            let values = Values::random(&mut dice, 32, most);
            if values.sorted().len() >= count {
                break values;
            }
        };
        let inputs = values.inputs();
        let sizes = [("alice", values.values[0].len() as u64), ("bob", values.values[1].len() as u64)];
        let binding = sort(32, count as u32, Recipient::Party(Party::Bob), Goal::Size).bind(&sizes).unwrap();
        let [alice, bob] = both(|session| {
            let own = &inputs[session.party() as usize];
            Scheme::ALL.map(|scheme| session.run(&binding, &Options::new(scheme), own).unwrap().outputs)
        });
        assert!(alice.iter().all(|outputs| outputs.iter().count() == 0));
        for outputs in bob {
            let sorted: Vec<i64> = outputs.get("sorted").unwrap().to_numbers().unwrap();
            assert_eq!(sorted, values.sorted()[..count]);
        }
    }
}

#[test]
fn every_protocol_finds_the_same() {
    let mut dice = Random(4);
    for most in [1, 3, 100, 1500] {
        let values = Values::random(&mut dice, 32, most);
        for percent in [None, Some(10)] {
            let inputs = values.inputs();
            let learns = Recipient::Party(if most % 2 == 1 { Party::Bob } else { Party::Alice });
            let bindings = [learns, Recipient::Both].map(|learns| values.bind(percent, learns, Goal::Size));
            let found = both(|session| {
                let own = &inputs[session.party() as usize];
                let runs = Scheme::ALL.into_iter().map(|scheme| (scheme, &bindings[scheme as usize % 2]));
                runs.map(|(scheme, binding)| session.run(binding, &Options::new(scheme), own).unwrap().outputs)
                    .collect::<Vec<_>>()
            });
            for (outputs, party) in found.iter().zip([Party::Alice, Party::Bob]) {
                for (outputs, scheme) in outputs.iter().zip(Scheme::ALL) {
                    let learns = if scheme as usize % 2 == 1 { Recipient::Both } else { learns };
                    match learns.includes(party) {
                        true => values.check(outputs, percent, &format!("{scheme}")),
                        false => assert_eq!(outputs.iter().count(), 0),
                    }
                }
            }
        }
    }
}

#[test]
fn what_has_no_quantile_is_refused_by_name() {
    let call: Arc<dyn Functionality> = Arc::new(Lists);
    use Party::{Alice, Bob};
    for (parameters, args, why) in [
        (&[1][..], &[(Alice, 16, 3), (Bob, 16, 3)][..], "no parameters, or four bytes without per cent, not 1"),
        (&[1, 0, 0, 0], &[(Alice, 16, 3), (Bob, 16, 3), (Bob, 1, 3)], "four bytes without per cent, not 4"),
        (&[7, 0, 0, 0], &[(Alice, 16, 3), (Bob, 16, 3)], "the 7 smallest of 6 values"),
        (&[0; 4], &[(Alice, 16, 3), (Bob, 16, 3)], "the 0 smallest of 6 values"),
        (&[], &[(Alice, 16, 3)], "two or three arguments, not 1"),
        (&[], &[(Bob, 16, 3), (Bob, 16, 3)], "Alice's values and Bob's"),
        (&[], &[(Alice, 16, 3), (Bob, 17, 3)], "values of equal width, not 16 and 17 bits"),
        (&[], &[(Alice, 1, 3), (Bob, 1, 3)], "values of 2 to 64 bits, not 1"),
        (&[], &[(Alice, 16, 0), (Bob, 16, 0)], "both parties have none"),
        (&[], &[(Alice, 16, 1 << 20), (Bob, 16, 0)], "at most 1048575 values of a party"),
        (&[], &[(Alice, 16, 3), (Bob, 16, 3), (Bob, 1, 101)], "1 to 100 per cent"),
    ] {
        let error = refusal(&call, parameters, args).expect(why);
        assert!(error.contains(why) && error.contains("duologue:sorted-lists"), "{error}");
    }
}
