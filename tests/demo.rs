//! The demo as a newcomer runs it.

use crate::process::Place;
use serde_json::json;

#[test]
fn the_demo_finds_the_face() {
    let done = Place::new().run("demo");
    done.succeeded();
    for words in ["Alice learned: face 41 matches; Bob learned: nothing", "90,600", "In the clear", "yao", "gmw"] {
        assert!(done.stdout.contains(words), "no '{words}' in {}", done.stdout);
    }
    assert_eq!(done.stderr, "", "nothing else is said where nothing is a terminal");
}

#[test]
fn its_numbers_are_there_for_programs() {
    let report = Place::new().run("demo --json").json();
    assert_eq!((&report["faces"], &report["expected"]), (&json!(100), &json!([41])));
    let protocols: Vec<_> = report["runs"].as_array().unwrap().iter().map(|run| &run["protocol"]).collect();
    assert_eq!(protocols, ["yao", "gmw"]);
    for run in report["runs"].as_array().unwrap() {
        assert_eq!((&run["matches"], &run["depth"]), (&json!([41]), &json!(10)));
        let (alice, bob) = (&run["alice"], &run["bob"]);
        assert_eq!((&alice["ands"], &bob["ands"]), (&json!(90_600), &json!(90_600)));
        assert_eq!(bob["outputs"], json!({}));
        for phase in ["setup", "online"] {
            assert_eq!(alice[phase]["sent"], bob[phase]["received"], "{phase}");
            assert_eq!(alice[phase]["received"], bob[phase]["sent"], "{phase}");
            assert!(alice[phase]["seconds"].as_f64().unwrap() > 0.0);
        }
        assert_ne!(alice["peer"], bob["peer"]);
    }
}

#[test]
fn fewer_faces_and_more() {
    let place = Place::new();
    let few = place.run("demo --faces 30 --protocol gmw --quiet").succeeded().stdout.clone();
    assert!(few.contains("By gmw, Alice learned: no face matches"), "{few}");
    let many = place.run("demo --faces 3000 --json").json();
    for run in many["runs"].as_array().unwrap() {
        assert_eq!(run["matches"], json!([41]));
        below(run, 150);
    }
}

/// Both parties stay below so many megabytes.
fn below(run: &serde_json::Value, megabytes: u64) {
    for party in ["alice", "bob"] {
        if let Some(peak) = run[party]["peak_memory"].as_u64() {
            assert!(peak < megabytes * 1_000_000, "{party} by {}: {peak} bytes", run["protocol"]);
        }
    }
}

#[test]
#[ignore = "takes half a minute: cargo test -- --ignored"]
fn fifty_thousand_faces_below_300_megabytes() {
    let report = Place::new().run("demo --faces 50000 --json").json();
    for run in report["runs"].as_array().unwrap() {
        assert_eq!((&run["matches"], &run["alice"]["ands"]), (&json!([41]), &json!(45_300_000)));
        below(run, 300);
    }
}
