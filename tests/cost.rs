//! `duologue cost --workers`: jobs by several pairs of workers that share a line.

use crate::process::Place;
use serde_json::Value;

/// A program that is named with its goal, so that there is one of it.
const PROGRAM: &str = "block:multiply_low:32:size";

fn number(value: &Value, name: &str) -> f64 {
    value[name].as_f64().unwrap_or_else(|| panic!("{name} of {value}"))
}

/// The rows of a report, which keep what all of them must.
fn rows(place: &Place, words: &str) -> Vec<Value> {
    let report = place.run(&format!("cost {words} --json")).json();
    let rows = report["pairs"].as_array().expect("rows").clone();
    for row in &rows {
        let (pairs, seconds) = (number(row, "pairs"), number(row, "seconds"));
        assert!(number(row, "speedup") <= pairs * 1.000_001, "{row}");
        assert!((number(row, "speedup") * seconds / number(&rows[0], "seconds") - 1.0).abs() < 1e-9, "{row}");
        let turns = (number(row, "shards") / pairs).ceil();
        let expected = turns * number(row, "shard") + row["last"].as_f64().unwrap_or(0.0);
        assert!((seconds / expected - 1.0).abs() < 1e-9, "{row}");
        assert!(row["full"].as_f64().is_none_or(|full| full <= 1.0), "{row}");
    }
    rows
}

/// One pair computes the whole program: its bytes are those of the command without pairs, and both directions have what they have there.
#[test]
fn one_pair_has_the_bytes_of_a_run() {
    let place = Place::new();
    let line = format!("{PROGRAM} --size lanes=200 --link 10ms,20Mbit");
    let run = place.run(&format!("cost {line} --json")).json();
    for protocol in run["protocols"].as_array().unwrap() {
        let name = protocol["protocol"].as_str().unwrap();
        if name == "mixed" {
            continue; // cut where it is fastest, which a named one is not
        }
        let one = &rows(&place, &format!("{line} --workers 1 --protocol {name}"))[0];
        for direction in ["alice_to_bob", "bob_to_alice"] {
            let sum = number(&protocol["setup"], direction) + number(&protocol["online"], direction);
            assert_eq!(number(one, direction), sum, "{name}, {direction}");
        }
    }
    let one = &rows(&place, &format!("{line} --workers 1"))[0];
    let bytes = number(one, "alice_to_bob") + number(one, "bob_to_alice");
    assert_eq!(bytes, number(&run["ranked"][0]["predicted"], "bytes"));
}

/// No number of pairs is faster than the line: the bytes of the busier direction at its rate.
#[test]
fn a_line_bounds_what_pairs_gain() {
    let place = Place::new();
    let words = format!("{PROGRAM} --size lanes=4000 --protocol yao --workers 8 --link");
    let all = ["10Mbit", "100Mbit", "1Gbit"].map(|rate| (rate, rows(&place, &format!("{words} 5ms,{rate}"))));
    for (rate, rows) in &all {
        let bits = match *rate {
            "10Mbit" => 1e7,
            "100Mbit" => 1e8,
            _ => 1e9,
        };
        assert_eq!(rows.iter().map(|row| number(row, "pairs")).collect::<Vec<_>>(), [1.0, 2.0, 4.0, 8.0]);
        for row in rows {
            let least = 8.0 * number(row, "alice_to_bob").max(number(row, "bob_to_alice")) / bits;
            assert!((number(row, "line") / least - 1.0).abs() < 1e-9 && number(row, "seconds") >= least, "{row}");
            assert!((number(row, "full") * number(row, "seconds") / least - 1.0).abs() < 1e-9, "{row}");
        }
    }
    // Of the same pairs the faster line is at least as fast.
    for [slow, fast] in [[0, 1], [1, 2]] {
        for (slow, fast) in all[slow].1.iter().zip(&all[fast].1) {
            assert!(number(slow, "seconds") >= number(fast, "seconds"), "{slow} {fast}");
        }
    }
    // 4,000 products of Yao have 4,000 · 32 · 31 tables of 32 bytes and more, 100 s at 10 Mbit/s: a pair alone fills the line.
    let slow = place.run(&format!("cost {words} 5ms,10Mbit --json")).json();
    assert_eq!((&slow["pays"], &slow["full_from"]), (&1.into(), &1.into()), "{slow}");
    let text = place.run(&format!("cost {words} 5ms,10Mbit")).succeeded().stdout.clone();
    assert!(
        text.contains("More than one pair does not pay") && text.contains("The line is full from 1 pair on"),
        "{text}"
    );
}

/// Where nothing but waiting takes time, pairs wait at once: all of them pay, and a line without a rate is never full.
#[test]
fn pairs_wait_at_once() {
    let place = Place::new();
    let words = format!("{PROGRAM} --size lanes=64 --protocol gmw --workers 12 --shards 60 --link 300ms");
    let report = place.run(&format!("cost {words} --json")).json();
    let (pays, full) = (&report["pays"], &report["full_from"]);
    assert!(*pays == 12 && full.is_null(), "{report}");
    let rows = rows(&place, &words);
    assert_eq!(rows.iter().map(|row| number(row, "pairs")).collect::<Vec<_>>(), [1.0, 2.0, 4.0, 8.0, 12.0]);
    assert!(rows.iter().all(|row| row["line"].is_null() && row["full"].is_null()));
    let text = place.run(&format!("cost {words}")).succeeded().stdout.clone();
    assert!(text.contains("A line without a rate is never full."), "{text}");
}

/// More pairs than shards have nothing to do, and do not pay.
#[test]
fn pairs_without_a_shard_do_not_pay() {
    let place = Place::new();
    let words = format!("{PROGRAM} --size lanes=64 --protocol gmw --workers 8 --shards 2 --link 10ms,1Gbit");
    let report = place.run(&format!("cost {words} --json")).json();
    assert_eq!(report["pays"], 2, "{report}");
    let rows = rows(&place, &words);
    assert_eq!(number(&rows[1], "seconds"), number(&rows[3], "seconds"));
}

/// What shards have reduced is folded by a last program, over the whole line.
#[test]
fn a_last_program_counts() {
    let place = Place::new();
    let rows = rows(&place, "app:iris:64 --size people=300 --workers 3 --link internet");
    assert!(rows[0]["last"].is_null() && number(&rows[2], "last") > 0.01, "{rows:?}");
    let text = place.run("cost app:iris:64 --size people=300 --workers 3").succeeded().stdout.clone();
    assert!(text.contains("With the last program, which the drivers run over the whole line"), "{text}");
}

#[test]
fn what_cannot_be_cut_is_refused() {
    let place = Place::new();
    let refused = |words: &str, code: i32, why: &str| {
        place.run(&format!("cost {words}")).failed(code, &[why]);
    };
    refused("app:median:16 --size values=100 --workers 2", 1, "");
    refused("block:add:8 --size lanes=3 --workers 4", 1, "4 shards, but the size 'lanes' counts 3 lanes");
    refused("block:add:8 --workers 2", 1, "the size 'lanes'");
    refused("block:add:8 --size lanes=9 --workers 2 --by rows", 1, "rows");
    refused("block:add:8 --size lanes=9 --workers 4 --link 1ms,10kbit", 1, "each of 2 pairs has less than 8000 bit/s");
    for words in ["--shards 2", "--by lanes", "--workers 0", "--workers 2 --cores 2", "--protocol gmw"] {
        refused(&format!("block:add:8 --size lanes=9 {words}"), 2, "");
    }
}
