//! Statistics of two parties' tables, between two processes, against what pandas and NumPy found.

use crate::process;
use crate::process::{Done, Place};

const OPEN: &str = "--insecure-plaintext --yes --quiet";

/// Half a unit of the last place of a mean or variance, and what a float has lost of a figure of pandas.
const BOUND: f64 = 1.0 / 131_072.0 + 1e-6;

/// A place with the example's tables.
fn place() -> Place {
    let place = Place::new();
    for file in std::fs::read_dir(process::repository("examples/statistics")).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), place.path(file.file_name().to_str().unwrap())).unwrap();
    }
    place
}

fn both(place: &Place, program: &str, alice: &str, bob: &str) -> [Done; 2] {
    let (alice, bob) = place.both(&format!("{program} {OPEN}"), alice, bob);
    alice.succeeded();
    bob.succeeded();
    [alice, bob]
}

fn read(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.path(name)).unwrap()
}

/// The cells of a table of numbers without its header.
fn numbers(table: &str) -> Vec<Vec<f64>> {
    table.lines().skip(1).map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect()
}

const REGIONS: &str = "--input group=regions.csv:region --input minimum=3 --size groups=5";
const SALARIES: &str =
    "--input value=salaries.csv:salary:decimal(2):null=-21474836.48 --input minimum=3 --size groups=5";
const FIGURES: &str = "--output count=o.csv:count --output sum=o.csv:sum:decimal(2) --output mean=o.csv:mean --output variance=o.csv:variance";

#[test]
fn salaries_by_regions_are_those_of_pandas() {
    let place = place();
    let expected = numbers(&read(&place, "expected.csv"));
    assert!(expected.iter().any(|row| row[0] > 0.0) && expected.iter().any(|row| row[0] == 0.0));
    for protocol in ["auto", "yao", "gmw", "gmw-masked"] {
        let program = format!("app:statistics --protocol {protocol}");
        let [_, bob] = both(&place, &program, &format!("{REGIONS} {FIGURES}"), SALARIES);
        assert_eq!(bob.stdout, "bob learns nothing\n");
        let found = numbers(&read(&place, "o.csv"));
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found[..2], expected[..2], "count and sum");
            assert!((2..4).all(|i| (found[i] - expected[i]).abs() <= BOUND), "{found:?}, {expected:?}");
        }
        std::fs::remove_file(place.path("o.csv")).unwrap();
    }
    let [alice, bob] = both(
        &place,
        "app:statistics_both:40:depth --protocol gmw",
        REGIONS,
        &SALARIES.replace("21474836.48", "5497558138.88"),
    );
    assert_eq!(alice.stdout, bob.stdout);
    assert!(alice.stdout.contains("68"), "{}", alice.stdout);
}

#[test]
fn salaries_of_two_firms_are_those_of_numpy() {
    let place = place();
    let (ours, theirs) = ("--input alice=ours.csv:salary:decimal(2)", "--input bob=theirs.csv:salary:decimal(2)");
    let quantiles = numbers(&read(&place, "quantiles.csv")).remove(0);
    for (program, sizes, name, expected, unit) in [
        ("app:median", "", "median", quantiles[0], ""),
        ("app:quantile:24:depth", "--size percent=90", "quantile", quantiles[1], ":decimal(2)"),
    ] {
        let output = |party: &str| format!("{sizes} --output {name}={party}.csv:x{unit}");
        let alice = format!("{ours} --size bob=55 {}", output("alice"));
        both(&place, program, &alice, &format!("{theirs} --size alice=71 {}", output("bob")));
        for party in ["alice.csv", "bob.csv"] {
            assert_eq!(numbers(&read(&place, party)), [[expected]], "{name}");
            std::fs::remove_file(place.path(party)).unwrap();
        }
    }
    let alice = format!("{ours} --size bob=55 --output sorted=s.csv:sorted:decimal(2)");
    both(&place, "app:sort:10", &alice, &format!("{theirs} --size alice=71"));
    assert_eq!(read(&place, "s.csv"), read(&place, "sorted.csv"));
}

#[test]
fn what_does_not_fit_is_refused_before_the_peer_is_called() {
    let place = place();
    let away = format!("--as bob --connect 127.0.0.1:1 --wait 60 {OPEN}");
    for (args, code, words) in [
        (format!("app:statistics:55 {SALARIES}"), 1, &["bits of a value are 2 to 54, not 55"][..]),
        (
            format!("app:statistics {}", SALARIES.replace("groups=5", "groups=5000")),
            1,
            &["5000 is not between 1 and 4096"],
        ),
        (format!("app:statistics {}", SALARIES.replace(":null=-21474836.48", "")), 1, &["column 'salary'"]),
        (
            "app:sort:200 --input bob=theirs.csv:salary:decimal(2) --size alice=71".into(),
            1,
            &["the 200 smallest of 126 values"],
        ),
        (
            "app:quantile --input bob=theirs.csv:salary:decimal(2) --size alice=71 --size percent=101".into(),
            1,
            &["101 is not between 1 and 100"],
        ),
    ] {
        let done = place.run(&format!("run {args} {away}"));
        done.failed(code, words);
    }
}
