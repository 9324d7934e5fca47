//! The choice against times that were measured once: it does not depend on how fast the machine of a test is.

use super::*;

const MEASURED: &str = include_str!("measured.json");

impl Row {
    /// The time that was measured of a candidate, whatever made its correlations: makers are chosen by a rule of their own, which
    /// has changed since.
    fn seconds_of(&self, name: &str) -> Option<f64> {
        let engine = |name: &str| name.split(", correlations by").next().map(str::to_owned);
        self.measured.iter().find(|one| engine(&one.candidate.name()) == engine(name)).map(|one| one.seconds)
    }
}

fn conditions(row: &Row) -> Conditions {
    let measured = &row.conditions;
    let link = Link { round_trip: Duration::from_secs_f64(measured.round_trip), bits_per_second: None };
    let mut conditions = Conditions::of(&link).with_speed(measured.speed);
    (conditions.alice_to_bob, conditions.bob_to_alice) = (measured.alice_to_bob, measured.bob_to_alice);
    conditions
}

/// Under the conditions of runs that were measured, what is chosen now was the best or near it then.
#[test]
fn the_choice_was_the_best_or_near_it() {
    let report: Report = serde_json::from_str(MEASURED).unwrap();
    assert_eq!(report.rows.len(), 8);
    for row in &report.rows {
        let (program, line) = row.cell.split_once(", ").unwrap();
        let (program, size) = program.split_once(' ').unwrap();
        assert!(line.parse::<Link>().is_ok(), "{line}");
        let (candidates, _) = drafted(program, size.parse().unwrap()).unwrap();
        let ranked = candidates.choices.rank(Wish::Total, &conditions(row)).unwrap();
        let name = |candidate: &Candidate| candidates.predicted(candidate).name();
        let chosen = name(&ranked[0]);
        let seconds = row.seconds_of(&chosen).unwrap_or_else(|| panic!("{}: nobody measured {chosen}", row.cell));
        assert!(row.is_right(seconds), "{}: {chosen} took {seconds} s; {row}", row.cell);
        // One that was measured to be twice as slow would be noticed.
        let slow = row.measured.iter().filter(|one| one.seconds > 2.0 * row.best().unwrap().seconds);
        slow.for_each(|one| assert!(!row.is_right(one.seconds), "{row}"));
    }
}
