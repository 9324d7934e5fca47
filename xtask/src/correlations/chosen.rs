//! What `auto` chooses, by demand and line.

use crate::book::table;
use duologue::channel::Link;
use duologue::correlation::{Demand, choice};
use duologue::{Conditions, Party};
use std::time::Duration;

const HEAD: &str = "\
## What `auto` chooses

The maker that a session without a pool [chooses](correlation.md#the-choice-of-the-maker) over these lines, between two processors of
R = 619.1 M/s with a core each; in brackets the time that is predicted for it, of that for softspoken4. Where nothing is
measured, since so little is made, it is softspoken4.
";

/// Lines by name.
const LINES: [(&str, u64, u64); 6] = [
    ("10 Gbit/s, 0.1 ms", 100, 10_000),
    ("1 Gbit/s, 0.2 ms", 200, 1_000),
    ("300 Mbit/s, 5 ms", 5_000, 300),
    ("100 Mbit/s, 10 ms", 10_000, 100),
    ("10 Mbit/s, 100 ms", 100_000, 10),
    ("1 Mbit/s, 100 ms", 100_000, 1),
];

fn demands() -> [(&'static str, Demand); 9] {
    let cots = |count| Demand::of_cots(Party::Alice, count);
    [
        ("10,000 triples", Demand::of_triples(10_000)),
        ("100,000", Demand::of_triples(100_000)),
        ("1 million", Demand::of_triples(1_000_000)),
        ("10 million", Demand::of_triples(10_000_000)),
        ("100 million", Demand::of_triples(100_000_000)),
        ("10,000 COTs one way", cots(10_000)),
        ("100,000", cots(100_000)),
        ("1 million", cots(1_000_000)),
        ("10 million", cots(10_000_000)),
    ]
}

fn conditions((_, microseconds, mbit): (&str, u64, u64)) -> Conditions {
    let round_trip = Duration::from_micros(microseconds);
    Conditions::of(&Link { round_trip, bits_per_second: Some(mbit * 1_000_000) })
}

fn cell(demand: Demand, conditions: &Conditions) -> String {
    let usual = duologue::ot::Extension::DEFAULT;
    if choice::probe_length(&demand) == 0 {
        return usual.to_string();
    }
    let chosen = choice::choose(demand, conditions);
    let seconds = |maker| choice::predict(maker, demand, conditions).unwrap_or_default().as_secs_f64();
    match chosen == usual {
        true => usual.to_string(),
        false => format!("{chosen} ({:.2})", seconds(chosen) / seconds(usual)),
    }
}

/// The section of the page.
pub fn section() -> String {
    let head = [""].into_iter().chain(LINES.map(|(name, ..)| name));
    let row = |(name, demand): (&str, Demand)| {
        let cells = LINES.map(|line| cell(demand, &conditions(line)));
        [name.to_string()].into_iter().chain(cells).collect::<Vec<_>>()
    };
    format!("{HEAD}\n{}", table("lllllll", &head.collect::<Vec<_>>(), demands().map(row)))
}

#[cfg(test)]
mod tests {
    use super::super::times::made;
    use super::super::{Kind, Raw};
    use duologue::correlation::choice;

    /// The raw figures that the rule is made of, those of dual sets, how many AES blocks a second they were measured with, and how many
    /// makers are taken from them; newer figures do not change it.
    const RAW: [(&str, f64, usize); 2] = [
        (include_str!("../../../docs/measured/correlations/2026-11-21-intel-xeon-processor-2-cores.json"), 619.1e6, 12),
        (
            include_str!("../../../docs/measured/correlations/2026-11-26-intel-xeon-processor-16-cores.json"),
            414_814_921.696_875,
            3,
        ),
    ];

    #[test]
    fn the_costs_of_the_rule_are_those_that_were_measured() {
        let candidates: Vec<_> = choice::candidates().collect();
        for (number, (raw, r, makers)) in RAW.into_iter().enumerate() {
            let raw: Raw = serde_json::from_str(raw).unwrap();
            let is_dual = |maker: &duologue::ot::Extension| maker.to_string().ends_with('d');
            let of_this = raw.makers.makers().filter(|maker| is_dual(maker) == (number == 1));
            let known: Vec<_> = of_this.filter_map(|maker| Some((maker, choice::computing_of(maker)?))).collect();
            assert_eq!(known.len(), makers);
            for (maker, costs) in known {
                assert!(!is_dual(&maker) || !candidates.contains(&maker), "{maker}");
                let speed = |kind| raw.makers.speed(maker, kind).unwrap();
                let first = made(maker, &[1])[0] as f64;
                let start = raw.makers.computing(maker).unwrap().setup - first / speed(Kind::Triples);
                let blocks = [start, 2.0 / speed(Kind::Cots), 1.0 / speed(Kind::OneWay), 1.0 / speed(Kind::Triples)];
                let expected = blocks.map(|seconds| (100.0 * r * seconds).round());
                println!("{maker}: {expected:?}");
                // What was published has three digits: that of the start is rounded to a tenth of a millisecond.
                let near = |cost: u64, expected: f64| (cost as f64 - expected).abs() <= 1.0 + expected * 1e-3;
                assert!(
                    costs.into_iter().zip(expected).all(|(cost, expected)| near(cost, expected)),
                    "{maker}: {costs:?}"
                );
            }
        }
    }
}
