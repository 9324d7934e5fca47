//! `duologue psi` between two processes over sockets, against a join of hash sets.

use crate::process::{Done, Place};
use std::collections::{HashMap, HashSet};
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
    place.write("sums.csv", "key,x\na,100\nb,100\nc,199\nc,177\n");
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
        ("--input good.csv:key --output out.csv --reveal size", 2, &["--output is for --reveal rows"]),
        ("--input good.csv:key --value x", 2, &["--value is for --reveal sum"]),
        ("--input twice.csv:key --repeated first", 2, &["rows are told one by one"]),
        ("--input good.csv:key --reveal threshold", 2, &["takes --threshold KEYS"]),
        ("--input good.csv:key --reveal size --threshold 3", 2, &["--threshold is for --reveal threshold"]),
        ("--input good.csv:key --reveal threshold --threshold 0", 2, &["--threshold"]),
        ("--input good.csv:key --value-bits 8", 2, &["--value"]),
        ("--input twice.csv:key --reveal size", 1, &["line 2 and line 5 have the same key", "or see --repeated"]),
        ("--input good.csv:key --reveal sum --value y", 1, &["good.csv has no column 'y'"]),
        ("--input good.csv:key --reveal sum --value key", 1, &["good.csv, line 2, column 'key'"]),
        (
            "--input sums.csv:key --reveal sum --value x --value-bits 8 --repeated sum",
            1,
            &["sums.csv, line 4, column 'x'"],
        ),
        (
            "--input sums.csv:key --reveal sum --value x --value-bits 9 --repeated sum",
            1,
            &[
                "with row 3 (from 0 on) the values of its key, added up, have more than 9 bits",
                "hint: take more --value-bits",
            ],
        ),
    ] {
        let refused = place.run(&format!("{away} {args}"));
        refused.failed(code, words);
        let told = ["secret", "199", "177", "376"].iter().any(|value| refused.stderr.contains(value));
        assert!(!told, "no value is told: {}", refused.stderr);
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

/// A table of keys, some of them several times, with amounts of both signs.
fn amounts(place: &Place, name: &str, rows: u64, (first, step, keys): (u64, u64, u64)) -> Vec<(u64, i64)> {
    let amount = |row: u64| (row * 7919 % 100_003) as i64 - 50_000;
    let all: Vec<(u64, i64)> = (0..rows).map(|row| (first + step * (row % keys), amount(row))).collect();
    let lines: String = all.iter().map(|(key, amount)| format!("k{key},{amount}\n")).collect();
    place.write(name, format!("key,amount\n{lines}"));
    all
}

/// What becomes of keys that come again, as the book says.
fn aggregated(rows: &[(u64, i64)], add: bool) -> HashMap<u64, i64> {
    let mut all = HashMap::new();
    for &(key, amount) in rows {
        all.entry(key).and_modify(|sum| *sum += if add { amount } else { 0 }).or_insert(amount);
    }
    all
}

/// Size, sum and threshold, of both learners and either party's values, with keys that come once or again.
#[test]
fn size_sum_and_threshold_tell_no_row() {
    let place = Place::new();
    let sizes = [([0, 5], "both"), ([1, 1], "bob"), ([1000, 1000], "alice"), ([30, 2000], "both")];
    for ((rows, learns), (again, how)) in
        sizes.into_iter().zip([(1, "refuse"), (1, "refuse"), (3, "sum"), (2, "first")])
    {
        let a = amounts(&place, "a.csv", rows[0], (0, 3, rows[0].div_ceil(again)));
        let b = amounts(&place, "b.csv", rows[1], (0, 2, rows[1].div_ceil(again)));
        let [a, b] = [a, b].map(|rows| aggregated(&rows, how == "sum"));
        let both: Vec<u64> = a.keys().copied().filter(|key| b.contains_key(key)).collect();
        let common = format!("{OPEN} --learns {learns} --json --repeated {how}");
        let (alice, bob) = ("--input a.csv:key", "--input b.csv:key");
        let sum = |of: &HashMap<u64, i64>| both.iter().map(|key| of[key]).sum::<i64>();
        let least = both.len().max(1);
        let value = "--value amount --value-bits 28";
        for (what, of_alice, of_bob, name, expected) in [
            ("size".to_string(), "", "", "in_both", serde_json::json!(both.len())),
            ("sum".into(), value, "", "sum", serde_json::json!(sum(&a))),
            ("sum".into(), "", value, "sum", serde_json::json!(sum(&b))),
            (format!("threshold --threshold {least}"), "", "", "reached", serde_json::json!(both.len() >= least)),
            (format!("threshold --threshold {}", least + 1), "", "", "reached", serde_json::json!(false)),
        ] {
            let parties = [format!("{alice} {of_alice}"), format!("{bob} {of_bob}")];
            let done = meet(&place, &format!("{common} --reveal {what}"), parties.each_ref().map(|party| &party[..]));
            let sides = done.iter().zip(["alice", "bob"]).zip([[&a, &b], [&b, &a]]);
            for ((done, party), [own, others]) in sides {
                let report = done.succeeded().json();
                let learnt = ["in_both", "sum", "reached"].map(|name| (name, report.get(name)));
                for (key, found) in learnt {
                    let expected = (key == name && [party, "both"].contains(&learns)).then_some(&expected);
                    assert_eq!(found, expected, "{what}, {rows:?}: {key} of {party}");
                }
                let told = [&report["keys"], &report["peer_rows"]].map(|number| number.as_u64());
                assert_eq!(told, [own, others].map(|rows| Some(rows.len() as u64)));
            }
        }
    }
}

/// In words, over TLS.
#[test]
fn what_is_learnt_is_said() {
    let place = Place::new();
    let rows = amounts(&place, "a.csv", 600, (0, 1, 600));
    amounts(&place, "b.csv", 500, (100, 1, 500));
    let [alice, bob] = place.tls();
    let sum: i64 = rows[100..].iter().map(|(_, amount)| amount).sum();
    for (what, of_alice, [at_alice, at_bob]) in [
        ("size", "", ["500 of 600 rows in both\n".to_string(), "500 of 500 rows in both\n".into()]),
        ("sum", "--value amount", [0, 1].map(|_| format!("the values in both add up to {sum}\n"))),
        (
            "threshold --threshold 500",
            "",
            [0, 1].map(|_| "the keys in both are as many as the threshold, or more\n".into()),
        ),
        ("threshold --threshold 501", "", [0, 1].map(|_| "the keys in both are fewer than the threshold\n".into())),
    ] {
        let (alice, bob) = (format!("{alice} --input a.csv:key {of_alice}"), format!("{bob} --input b.csv:key"));
        let [alice, bob] = meet(&place, &format!("--learns both --reveal {what}"), [&alice, &bob]);
        assert_eq!((&alice.succeeded().stdout, &bob.succeeded().stdout), (&at_alice, &at_bob));
    }
}

#[test]
fn parties_that_want_to_learn_something_else_are_told() {
    let place = Place::new();
    amounts(&place, "a.csv", 3, (0, 1, 3));
    for (alice, bob, differs) in [
        ("size", "rows", "what is learnt"),
        ("threshold --threshold 3", "threshold --threshold 4", "the threshold"),
        ("sum", "sum", "what one party alone gives for a sum"),
        ("sum --value amount", "sum --value amount", "what one party alone gives for a sum"),
    ] {
        let parties = [alice, bob].map(|what| format!("--input a.csv:key --reveal {what}"));
        let done = meet(&place, &format!("{OPEN} --learns both"), parties.each_ref().map(|party| &party[..]));
        assert!(done.iter().all(|done| done.code == Some(4)), "{} {}", done[0].stderr, done[1].stderr);
        assert!(done.iter().any(|done| done.stderr.contains(differs)), "{} {}", done[0].stderr, done[1].stderr);
    }
}

/// As programs of strings.
#[test]
fn applications_tell_size_sum_and_threshold() {
    let place = Place::new();
    let (alice, bob) = ("--input a=0700,0900,00f0,0300,0700 --size bs=3", "--input b=00f0,0200,0700 --size as=5");
    let run = |app: &str, of_bob: &str, name: &str| {
        let common = format!("{app} --insecure-plaintext --yes --json");
        let (alice, _) = place.both(&common, alice, &format!("{bob} {of_bob}"));
        alice.values(name)[0].clone()
    };
    assert_eq!(run("app:psi_size:16", "", "size"), 2);
    assert_eq!(run("app:psi_sum:16", "--input values=-5,1000,7", "sum"), "2");
    let least = |least: u64| run(&format!("app:psi_threshold:16 --input threshold={least}"), "", "reached");
    assert_eq!((least(2), least(3)), (1.into(), 0.into()));
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
