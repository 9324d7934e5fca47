//! Outputs equal those of the whole program, whatever the number of shards and workers.

use super::{Couple, attempts, lines, values};
use duologue::circuit::blocks::{Goal, add, less, mux};
use duologue::circuit::program::Recipient;
use duologue::circuit::{Party, Program, UInt, uint};
use duologue::{Inputs, data, plain};
use std::fs;

/// Sums of pairs, their total and the least of them with its place: outputs of the shards and of the last program.
pub(super) fn scores() -> Program {
    let mut p = Program::new("scores");
    let people = p.size("people", 1..=1 << 20);
    let hers = p.input("hers", Party::Alice, uint(16), people);
    let his = p.input("his", Party::Bob, uint(16), people);
    let places = p.input("places", Party::Bob, uint(16), people);
    let offset = p.input("offset", Party::Alice, uint(16), 1);
    let offset = p.repeat(offset, people);
    let scores = p.map_with([hers, his, offset], |c, [a, b, d]: [UInt; 3]| {
        let sum = add(c, &a, &b, Goal::Size);
        add(c, &sum, &d, Goal::Size)
    });
    let [total] = p.reduce_with([scores], |c, [a], [b]: [UInt; 1]| [add(c, &a, &b, Goal::Size)]);
    let [least, at] = p.reduce_with([scores, places], |c, [a, i], [b, j]: [UInt; 2]| {
        let right = less(c, &b, &a, Goal::Size);
        [mux(c, right, &b, &a), mux(c, right, &j, &i)]
    });
    p.output("scores", Party::Alice, scores);
    p.output("total", Recipient::Both, total);
    p.output("least", Party::Bob, least);
    p.output("at", Recipient::Shared, at);
    p
}

/// What each party has: with ties, and a number of lanes that no power of two divides.
pub(super) fn inputs(people: u64) -> [Vec<u64>; 3] {
    let hers = (0..people).map(|lane| (lane * 7919 + 5) % 1000).collect();
    let his = (0..people).map(|lane| 2000 - (lane * 7919 + 5) % 1000 + u64::from(lane % 5 != 3)).collect();
    [hers, his, (0..people).collect()]
}

/// The outputs in the clear, by the plain protocol of the library.
pub(super) fn in_the_clear(program: &Program, people: u64, offset: u64) -> [Vec<u64>; 4] {
    let [hers, his, places] = inputs(people).map(|lanes| data::uints(16, &lanes).unwrap());
    let inputs = Inputs::new().with("hers", hers).with("his", his).with("places", places);
    let inputs = inputs.with("offset", data::uints(16, &[offset]).unwrap());
    let outputs = plain::run(&program.bind(&[("people", people)]).unwrap(), &inputs).unwrap();
    ["scores", "total", "least", "at"].map(|name| data::to_uints(outputs.get(name).unwrap()).unwrap())
}

#[test]
fn any_number_of_shards_gives_the_outputs_of_the_whole() {
    let (couple, program, people) = (Couple::new(), scores(), 101);
    let [hers, his, places] = inputs(people);
    couple.place.write("scores.duo", program.to_bytes().unwrap());
    couple.place.write("hers.csv", lines(&hers));
    let rows: String = his.iter().zip(&places).map(|(his, place)| format!("{his},x,{place}\n")).collect();
    couple.place.write("his.csv", format!("his,name,places\n{rows}"));
    let [all, total, least, at] = in_the_clear(&program, people, 3);
    for (shards, workers) in [(1, [1, 1]), (2, [1, 2]), (3, [2, 1]), (7, [2, 2])] {
        let common = format!("scores.duo --shards {shards}");
        let alice = format!("--workers {} --input hers=hers.csv --input offset=3", workers[0]);
        let bob = format!("--workers {} --input his.csv", workers[1]);
        let [alice, bob] = couple.both(&common, &alice, &bob);
        assert_eq!(values(&alice, "scores"), all, "{shards} shards");
        assert_eq!((values(&alice, "total"), values(&bob, "total")), (total.clone(), total.clone()), "{shards} shards");
        assert_eq!(values(&bob, "least"), least, "{shards} shards");
        assert_eq!(values(&alice, "at")[0] ^ values(&bob, "at")[0], at[0], "{shards} shards");
        assert!(alice.json()["outputs"]["least"].is_null() && bob.json()["outputs"]["scores"].is_null());
        assert_eq!(attempts(&alice), vec![1; shards]);
        let rows: u64 =
            alice.json()["shards"].as_array().unwrap().iter().map(|shard| shard["lanes"].as_u64().unwrap()).sum();
        assert_eq!(rows, people);
        couple.forget();
    }
}

/// Inputs are read by rows and outputs written part by part, as `duologue run` reads and writes them.
#[test]
fn files_are_read_by_rows_and_written_once() {
    let couple = Couple::new();
    let place = &couple.place;
    let numbers: Vec<u64> = (0..50).map(|lane| lane * 3 % 47).collect();
    place.write("a.csv", lines(&numbers));
    let run = |a: &str, out: &str| {
        let common = "block:add:16 --insecure-plaintext --yes --quiet --protocol gmw";
        let (alice, bob) = place.both(common, &format!("--input a={a} --output out={out}"), "--input b=a.csv");
        alice.succeeded();
        bob.succeeded();
    };
    // The same numbers in every form that is read, and the same sums in every form that is written.
    run("a.csv", "sums.npy");
    run("a.csv", "sums.csv");
    let table: String = numbers.iter().map(|number| format!("\"k,{number}\",{number}\n")).collect();
    place.write("table.csv", format!("k,n\n{table}"));
    let expected: Vec<u64> = numbers.iter().map(|number| 2 * number).collect();
    for (input, output) in [
        ("a.csv", "out.npy"),
        ("table.csv:n", "out.csv"),
        ("sums.npy", "doubled.npy"),
        ("table.csv:n", "out.csv:sum"),
        ("table.csv:n", "out.json"),
        #[cfg(feature = "parquet")]
        ("table.csv:n", "out.parquet"),
        #[cfg(feature = "parquet")]
        ("out.parquet:out", "again.npy"),
    ] {
        let common = "block:add:16 --shards 3 --by lanes";
        let [alice, bob] = couple.both(common, &format!("--input a={input} --output out={output}"), "--input b=a.csv");
        assert_eq!(alice.json()["outputs"]["out"]["file"], *output.split(':').next().unwrap());
        assert_eq!(bob.json()["outputs"]["out"]["lanes"], 50);
        let file = |name: &str| fs::read(place.path(name)).unwrap();
        match output {
            "out.npy" => assert!(file("out.npy") == file("sums.npy")),
            "out.csv" => assert_eq!(file("out.csv"), file("sums.csv")),
            "out.csv:sum" => assert_eq!(file("out.csv"), format!("sum\n{}", lines(&expected)).into_bytes()),
            "out.json" => {
                let read: serde_json::Value = serde_json::from_slice(&file("out.json")).unwrap();
                assert_eq!(read["out"], serde_json::json!(expected));
            }
            _ => {}
        }
        assert!(!place.path("alice.state/parts").exists(), "what is written is not kept twice");
        couple.forget();
    }
    let tripled = fs::read(place.path("doubled.npy")).unwrap();
    let header = tripled.len() - 100;
    let tripled: Vec<u64> =
        tripled[header..].chunks(2).map(|two| u64::from(two[0]) + 256 * u64::from(two[1])).collect();
    assert_eq!(tripled, numbers.iter().map(|number| 3 * number).collect::<Vec<_>>());
}

/// Shards without lanes have nothing to run.
#[test]
fn a_plan_may_have_empty_shards() {
    let (couple, program, people) = (Couple::new(), scores(), 2);
    let cut = duologue::job::Cut { allow_empty: true, ..duologue::job::Cut::into(4) };
    let plan = duologue::job::Plan::new(&program, &[("people", people)], &cut).unwrap();
    assert!(plan.range(3).is_empty());
    couple.place.write("scores.job", plan.encode().unwrap());
    let [hers, his, places] = inputs(people).map(|lanes| lines(&lanes));
    for (name, lanes) in [("hers.csv", hers), ("his.csv", his), ("places.csv", places)] {
        couple.place.write(name, lanes);
    }
    let alice = "--input hers=hers.csv --input offset=3";
    let [alice, bob] = couple.both("scores.job", alice, "--input his=his.csv --input places=places.csv");
    let [all, total, least, _] = in_the_clear(&program, people, 3);
    assert_eq!((values(&alice, "scores"), values(&alice, "total"), values(&bob, "least")), (all, total, least));
    assert_eq!(attempts(&alice), [1, 1, 0, 0]);
}

/// A plan is a file; outputs may wait in the folder.
#[test]
fn a_plan_is_written_driven_and_merged() {
    let couple = Couple::new();
    let place = &couple.place;
    let plan = place.run("job plan block:add:8 --size lanes=10 --shards 4 -o add.job --json").json();
    assert_eq!(
        (plan["lanes"].as_u64(), plan["last"].as_bool(), plan["by"].as_str()),
        (Some(10), Some(false), Some("lanes"))
    );
    let told = place.run("job plan block:add:8 --size lanes=10 --shards 4");
    assert!(told.succeeded().stdout.contains("cut      lanes = 10 into 4 shards"), "{}", told.stdout);
    let numbers: Vec<u64> = (1..=10).collect();
    place.write("n.csv", lines(&numbers));
    let [alice, bob] = couple.both("add.job --no-merge --workers 2", "--input a=n.csv", "--input b=n.csv");
    assert_eq!(alice.json()["plan"], plan["plan"]);
    bob.succeeded();
    assert!(alice.json()["outputs"].is_null());
    let merged = place.run("job merge alice.state --output out=sums.csv --json").json();
    assert_eq!(merged["outputs"]["out"]["file"], "sums.csv");
    assert_eq!(
        fs::read_to_string(place.path("sums.csv")).unwrap(),
        lines(&(1..=10).map(|n| 2 * n).collect::<Vec<_>>())
    );
    place.run("job drive add.job --shards 3 --as bob --peer-key x --state s").failed(2, &["add.job is a plan"]);
}
