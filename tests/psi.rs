//! `duologue psi` between two processes over sockets, against a join of hash sets.

#[path = "support/process.rs"]
mod process;

use process::{Done, Place};
use std::collections::HashSet;
use std::fs;

/// A table of so many rows, whose keys are every `step`th number from `first` on, and its keys.
fn table(place: &Place, name: &str, column: &str, rows: u64, (first, step): (u64, u64)) -> Vec<String> {
    // Keys of all lengths, some in quotes.
    let key = |row: u64| format!("k{}{}", first + step * row, ",x\"".repeat((first + step * row) as usize % 3));
    let keys: Vec<String> = (0..rows).map(key).collect();
    let rows = keys.iter().enumerate().map(|(row, key)| format!("{row},\"{}\",name {row}\n", key.replace('"', "\"\"")));
    place.write(name, format!("number,{column},name\n{}", rows.collect::<String>()));
    keys
}

/// The rows that a join keeps, by their numbers.
fn joined(own: &[String], others: &[String]) -> Vec<String> {
    let others: HashSet<&String> = others.iter().collect();
    own.iter().enumerate().filter(|(_, key)| others.contains(key)).map(|(row, _)| row.to_string()).collect()
}

/// The first column of a table that was written, whose header must be that of the input.
fn numbers(place: &Place, file: &str, column: &str) -> Vec<String> {
    let text = fs::read_to_string(place.path(file)).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next().unwrap(), format!("number,{column},name"));
    lines.map(|line| line.split(',').next().unwrap().into()).collect()
}

const OPEN: &str = "--insecure-plaintext";

/// The verb between both parties; `common` goes to both.
fn meet(place: &Place, common: &str, [alice, bob]: [&str; 2]) -> [Done; 2] {
    couple(place, &format!("psi --as alice {common} {alice}"), &format!("psi --as bob {common} {bob}"))
}

/// Any two commands, of which Bob's listens.
fn couple(place: &Place, alice: &str, bob: &str) -> [Done; 2] {
    let (bob, address) = place.listen(bob);
    let alice = place.run(&format!("{alice} --connect {address}"));
    [alice, bob.end()]
}

#[test]
fn rows_that_both_have_are_written_with_all_columns() {
    let place = Place::new();
    for (rows, learns) in
        [([1000, 1000], "alice"), ([7, 3000], "bob"), ([600, 20], "both"), ([1, 1], "both"), ([2, 2], "alice")]
    {
        let a = table(&place, "a.csv", "key", rows[0], (0, 3));
        let b = table(&place, "b.csv", "mail", rows[1], (0, 2));
        let outputs = ["alice", "bob"].map(|party| [party, "both"].contains(&learns));
        let [alice, bob] = [("key", "a", outputs[0]), ("mail", "b", outputs[1])].map(|(column, name, output)| {
            let output = if output { format!("--output {name}-out.csv") } else { String::new() };
            format!("--input {name}.csv:{column} {output}")
        });
        let [at_alice, at_bob] = meet(&place, &format!("{OPEN} --learns {learns} --json"), [&alice, &bob]);
        for (done, [own, others], (file, column), learns) in [
            (at_alice, [&a, &b], ("a-out.csv", "key"), outputs[0]),
            (at_bob, [&b, &a], ("b-out.csv", "mail"), outputs[1]),
        ] {
            let (report, expected) = (done.succeeded().json(), joined(own, others));
            assert_eq!(
                (report["rows"].as_u64(), report["peer_rows"].as_u64()),
                (Some(own.len() as u64), Some(others.len() as u64))
            );
            assert_eq!(report["in_both"].as_u64(), learns.then_some(expected.len() as u64), "{rows:?}");
            if learns {
                assert_eq!(numbers(&place, file, column), expected, "{rows:?}");
            }
        }
    }
}

/// Over TLS, with a count in place of rows, at the size where table, tags and bits take several messages.
#[test]
fn many_rows_are_counted_over_tls() {
    let place = Place::new();
    let a = table(&place, "a.csv", "key", 1 << 16, (0, 3));
    let b = table(&place, "b.csv", "key", (1 << 16) + 70_000, (0, 2));
    let [alice, bob] = place.tls();
    let (alice, bob) = (format!("{alice} --input a.csv:key"), format!("{bob} --input b.csv:key"));
    let [alice, bob] = meet(&place, "--learns both", [&alice, &bob]);
    let thousands = |number: usize| format!("{},{:03}", number / 1000, number % 1000);
    let expected = thousands(joined(&a, &b).len());
    for (done, rows) in [(alice, a.len()), (bob, b.len())] {
        assert_eq!(done.succeeded().stdout, format!("{expected} of {} rows in both\n", thousands(rows)));
    }
}

#[test]
fn empty_tables_have_nothing_in_common() {
    let place = Place::new();
    table(&place, "none.csv", "key", 0, (0, 1));
    table(&place, "some.csv", "key", 5, (0, 1));
    for [a, b] in [["none.csv", "some.csv"], ["some.csv", "none.csv"], ["none.csv", "none.csv"]] {
        let (alice, bob) = (format!("--input {a}:key --output out.csv"), format!("--input {b}:key"));
        let [alice, bob] = meet(&place, &format!("{OPEN} --learns alice"), [&alice, &bob]);
        assert!(alice.succeeded().stdout.starts_with("0 of "), "{}", alice.stdout);
        assert_eq!(bob.succeeded().stdout, "bob learns nothing\n");
        assert_eq!(numbers(&place, "out.csv", "key"), Vec::<String>::new());
    }
}

/// The broken twin lets a key come twice: then a tag less would tell it.
#[test]
fn tables_that_cannot_be_are_refused_before_anybody_is_called() {
    let place = Place::new();
    place.write("twice.csv", "key,x\na,1\n\"b\nc\",2\na,3\nb,4\na,5\n");
    place.write("empty.csv", "key,x\na,1\n,2\n");
    place.write("good.csv", "key,x\nsecret,1\n");
    let away = format!("psi --as alice {OPEN} --connect 127.0.0.1:1 --learns alice");
    for (args, code, words) in [
        ("--input twice.csv:key", 1, &["column 'key': line 2 and line 5 have the same key, the first of 2 rows"][..]),
        ("--input empty.csv:key", 1, &["empty.csv, line 3, column 'key'", "not an empty cell"]),
        ("--input good.csv:email", 1, &["good.csv has no column 'email'", "hint: the first line"]),
        ("--input good.csv", 1, &["no column is named", "hint: write FILE.csv:COLUMN"]),
        ("--input good.csv:key:text", 1, &["have no form"]),
        ("--input -:key", 1, &["standard input cannot be it"]),
        ("--input good.csv:key --output good.csv", 1, &["is read as an input"]),
        ("--input good.csv:key --output out.json", 2, &["in the format of good.csv"]),
        ("--input good.csv:key --output - --json", 1, &["'-' cannot be where the rows go"]),
        ("--input missing.csv:key", 8, &["missing.csv"]),
    ] {
        let refused = place.run(&format!("{away} {args}"));
        refused.failed(code, words);
        assert!(!refused.stderr.contains("secret"), "no value is told: {}", refused.stderr);
    }
    let other =
        format!("psi --as bob {OPEN} --connect 127.0.0.1:1 --learns alice --input good.csv:key --output out.csv");
    place.run(&other).failed(2, &["--output is for who learns", "not bob"]);
}

#[test]
fn parties_that_mean_something_else_are_told() {
    let place = Place::new();
    table(&place, "a.csv", "key", 3, (0, 1));
    let input = "--input a.csv:key";
    let [alice, bob] = meet(&place, OPEN, [&format!("--learns alice {input}"), &format!("--learns both {input}")]);
    assert_eq!((alice.code, bob.code), (Some(4), Some(4)), "{} {}", alice.stderr, bob.stderr);
    assert!([&alice, &bob].iter().any(|done| done.stderr.contains("who learns")), "{} {}", alice.stderr, bob.stderr);
    let common = "--insecure-plaintext --yes";
    let [alice, bob] = couple(
        &place,
        &format!("psi --as alice {OPEN} --learns alice {input}"),
        &format!("run block:equal:8 --as bob {common} --input b=1"),
    );
    assert!(alice.code != Some(0) && bob.code != Some(0));
    assert!(alice.stderr.contains("error: ") && bob.stderr.contains("error: "), "{} {}", alice.stderr, bob.stderr);
}

/// As a program of strings, which the verb makes of keys.
#[test]
fn strings_are_found_by_the_application() {
    let place = Place::new();
    let (alice, bob) = ("--input a=0700,0900,00f0,0300 --size bs=3", "--input b=00f0,0200,0700 --size as=4");
    let (alice, bob) = place.both("app:psi_both:16 --insecure-plaintext --yes --json", alice, bob);
    assert_eq!(alice.values("a_in_both"), [1, 0, 1, 0]);
    assert_eq!(bob.values("b_in_both"), [1, 0, 1]);
}
