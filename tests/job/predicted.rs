//! What a shard was predicted to take stands beside what it took. Nothing here depends on how near they are.

use super::{Couple, lines};
use crate::process::Done;
use serde_json::Value;

const LANES: u64 = 12;

fn couple() -> Couple {
    let couple = Couple::new();
    couple.place.write("n.csv", lines(&(0..LANES).collect::<Vec<_>>()));
    couple
}

/// A job of two shards by GMW, whose outputs stay in the folders.
fn both(couple: &Couple, words: &str) -> [Done; 2] {
    let inputs = ["--input a=n.csv", "--input b=n.csv"];
    couple.both(&format!("block:multiply:16 --shards 2 --no-merge {words}"), inputs[0], inputs[1])
}

fn predicted(done: &Done) -> Vec<Option<f64>> {
    let json = done.json();
    json["shards"].as_array().unwrap().iter().map(|shard| shard["predicted"].as_f64()).collect()
}

/// Over a line of which nothing is known nothing is predicted of a protocol that is named, and nothing measured for it.
#[test]
fn without_a_line_nothing_is_predicted() {
    for done in both(&couple(), "") {
        assert_eq!(predicted(&done), [None, None]);
        assert!(done.json()["predicted"].is_null());
        assert!(!done.stderr.contains("predicted"), "{}", done.stderr);
    }
}

/// It is for the line that is assumed, which here is slower than any test: a single round trip of it takes longer. What the log has a job
/// that goes on has, too.
#[test]
fn a_line_that_is_assumed_is_predicted_for() {
    let couple = couple();
    let done = both(&couple, "--assume-link 600s,1Mbit");
    for done in &done {
        let each: Vec<f64> = predicted(done).into_iter().map(|time| time.expect("a prediction")).collect();
        assert!(each.len() == 2 && each.iter().all(|time| *time > 600.0), "{each:?}");
        let (all, sum) = (&done.json()["predicted"], each.iter().sum::<f64>());
        assert!((all["seconds"].as_f64().unwrap() - sum).abs() < 1e-6 * sum, "{all}");
        let took = |shard: &Value| shard["seconds"].as_f64().unwrap();
        let took = done.json()["shards"].as_array().unwrap().iter().map(took).collect::<Vec<_>>();
        assert!((all["took"].as_f64().unwrap() - took.iter().sum::<f64>()).abs() < 1e-6, "{all}");
        let slowest = if took[0] > took[1] { 0 } else { 1 };
        let expected = took[slowest] / each[slowest];
        assert!((all["slowest"].as_f64().unwrap() / expected - 1.0).abs() < 1e-6, "{all}");
    }
    assert_eq!(predicted(&done[0]), predicted(&done[1]), "both assume the same");
    for (resumed, done) in both(&couple, "--resume").iter().zip(&done) {
        assert_eq!(predicted(resumed), predicted(done));
    }
}

/// So it is for a line that is simulated between workers, and where the protocol is chosen; the table says so.
#[test]
fn other_lines_that_are_known_are_predicted_for() {
    let couple = couple();
    for done in both(&couple, "--link 1ms,1Gbit") {
        assert!(predicted(&done).iter().all(|time| time.is_some_and(|time| time > 0.001)), "{:?}", predicted(&done));
    }
    couple.forget();
    let drive = |party: usize, name: &str, input: &str| {
        let inputs = format!("--input {input}=n.csv --state {name}.state --as {name}");
        format!("job drive block:multiply:16 --shards 2 --yes {inputs} {}", couple.keys[party])
    };
    let (bob, address) = couple.place.listen(&drive(1, "bob", "b"));
    let alice = couple.place.start(&format!("{} --connect {address}", drive(0, "alice", "a")));
    for done in [alice.end(), bob.end()] {
        let text = &done.succeeded().stderr;
        let of_shards = text.lines().filter(|line| line.starts_with("  shard ") && line.contains("  predicted "));
        assert_eq!(of_shards.count(), 2, "{text}");
        assert!(text.contains("  predicted for these ") && text.contains(" times as long as predicted"), "{text}");
    }
}
