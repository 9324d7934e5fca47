//! Tables as inputs and outputs of a run: a file on either side, and what is refused before anybody is called.

use crate::process::{Done, Place, repository};
use std::fs::read_to_string;
use std::io::Write;
use std::process::Stdio;

const OPEN: &str = "--insecure-plaintext --yes";
const AWAY: &str = "--insecure-plaintext --yes --connect 127.0.0.1:1 --wait 60";

const OURS: &str = "job,since,salary\nsmith,2019-05-01,3100.50\nbaker,2021-02-28,2999.99\nclerk,2020-12-31,2750\n";
const THEIRS: &str =
    "\u{feff}\"salary\",\"job, its name\"\r\n3100.49,smith\r\n2999.99,baker\r\n\r\n2750.01,\"clerk, young\"\r\n";

fn both(place: &Place, program: &str, alice: &str, bob: &str) -> [Done; 2] {
    let (alice, bob) = place.both(&format!("{program} {OPEN} --quiet"), alice, bob);
    alice.succeeded();
    bob.succeeded();
    [alice, bob]
}

#[test]
fn a_table_on_either_side_and_a_table_comes_out() {
    let place = Place::new();
    place.write("ours.csv", OURS);
    place.write("theirs.csv", THEIRS);
    let alice = "--input a=ours.csv:salary:decimal(2) --output out=higher.csv:higher";
    let bob = "--input b=theirs.csv:salary:decimal(2) --output out=higher.json";
    let [alice, _] = both(&place, "block:greater:32", alice, bob);
    assert_eq!(alice.stdout, "out: 3 lanes in higher.csv\n");
    assert_eq!(read_to_string(place.path("higher.csv")).unwrap(), "higher\n1\n0\n0\n");
    assert_eq!(read_to_string(place.path("higher.json")).unwrap(), "{\"out\":[1,0,0]}\n");
    // Ties are none, and dates compare as days.
    let alice = "--input a=ours.csv:since:date --output out=early.csv:early";
    both(&place, "block:less:32", alice, "--input b=18000,18686,18628");
    assert_eq!(read_to_string(place.path("early.csv")).unwrap(), "early\n0\n0\n1\n");
}

/// A command of README with what it prints: who gives it, the command, and the text below it.
fn told(section: &str) -> Vec<(String, String, String)> {
    let mut told: Vec<(String, String, String)> = Vec::new();
    for line in section.replace("\\\n", "").lines() {
        match (line.split_once("$ "), told.last_mut()) {
            (Some((party, command)), _) => told.push((party.into(), command.trim().into(), String::new())),
            (None, Some((.., text))) => *text += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    told
}

/// The first program of README, as it stands there but for the port and that nobody is asked.
#[test]
fn the_tables_of_the_first_page_give_what_it_says() {
    let place = Place::new();
    for name in ["ours.csv", "theirs.csv"] {
        place.write(name, std::fs::read(repository(&format!("examples/salaries/{name}"))).unwrap());
    }
    let readme = read_to_string(repository("README.md")).unwrap();
    let section = readme.split("## A table on either side").nth(1).unwrap();
    let told = told(section.split("```console\n").nth(1).unwrap().split("```").next().unwrap());
    let run = |command: &str| command.strip_prefix("duologue ").unwrap().replace('\'', "") + " --yes";
    let mut bob = None;
    for (party, command, text) in &told {
        match (&**party, command.strip_prefix("cat ")) {
            (_, Some(file)) => assert_eq!(read_to_string(place.path(file)).unwrap(), *text, "{file}"),
            ("bob", None) => bob = Some((place.listen(&run(command).replace("--listen 127.0.0.1:7000", "")), text)),
            ("alice", None) => {
                let ((listener, address), expected) = bob.take().expect("Bob listens first");
                let alice = place.run(&run(command).replace("127.0.0.1:7000", &address));
                assert_eq!(alice.succeeded().stdout, *text);
                assert_eq!(listener.end().succeeded().stdout, *expected);
            }
            (other, None) => panic!("{other} is no party"),
        }
    }
    assert_eq!(told.iter().filter(|(_, command, _)| command.starts_with("duologue run ")).count(), 2);
}

#[test]
fn outputs_are_columns_of_one_table() {
    let place = Place::new();
    place.write("a.csv", "a\n700\n1\n0\n");
    let outputs = "--output quotient=r.csv:q:decimal(1) --output remainder=r.csv:r --output quotient=r.csv:q";
    let alice = format!("run block:divide:32 --as alice {AWAY} --input a.csv {outputs}");
    place.run(&alice).failed(1, &["the output 'quotient' is written twice"]);
    let alice = "--input a.csv --output quotient=r.csv:q:decimal(1) --output remainder=r.csv:\"the_rest,_r\"";
    let bob = "--input b=30,2,7 --output quotient=q.npy --output remainder=-:r";
    let [_, bob] = both(&place, "block:divide:32", alice, bob);
    assert_eq!(read_to_string(place.path("r.csv")).unwrap(), "q,\"the_rest,_r\"\n2.3,10\n0.0,1\n0.0,0\n");
    assert_eq!(bob.stdout, "r\n10\n1\n0\nquotient: 3 lanes in q.npy\n");
    both(&place, "block:add:32", "--input a=r.csv:q:decimal(1)", "--input b=q.npy");
    both(&place, "block:add:32", "--input a=1,2 --output out=R.CSV:y", "--input b=3,4 --output out=b.NPY");
    assert_eq!(read_to_string(place.path("R.CSV")).unwrap(), "y\n4\n6\n");
    assert!(std::fs::read(place.path("b.NPY")).unwrap().starts_with(b"\x93NUMPY"));
}

/// A column and a list, or two lists, at standard output or a device: each is written, in the form that it asks for.
#[test]
fn outputs_that_share_a_device_are_all_written() {
    let place = Place::new();
    let (header, list) = ("--output quotient=-:q", "--output remainder=-");
    let first = "q\n2\n9\n";
    for (outputs, expected) in [
        (format!("{header} {list}"), format!("{first}1\n0\n")),
        (format!("{list} {header}"), format!("1\n0\n{first}")),
        ("--output quotient=- --output remainder=-".into(), "2\n9\n1\n0\n".into()),
        (format!("{header} --output remainder=-:r"), "q,r\n2,1\n9,0\n".into()),
        (format!("{header} --output remainder=/dev/null"), first.into()),
    ] {
        let [alice, _] = both(&place, "block:divide:8", &format!("--input a=7,9 {outputs}"), "--input b=3,1");
        assert!(alice.stdout.starts_with(&expected), "{outputs}: {}", alice.stdout);
    }
    for other in ["", "./"] {
        let alice = format!("run block:divide:8 --as alice {AWAY} --input a=1 --output quotient=x.csv");
        for columns in [[":q", ""], ["", ":r"], ["", ""]] {
            let [first, second] = columns;
            let done = place.run(&format!("{alice}{first} --output remainder={other}x.csv{second}"));
            done.failed(1, &[&format!("two outputs go to {other}x.csv")]);
        }
    }
    let columns = "--output quotient=new.csv:q --output remainder=./new.csv:r";
    both(&place, "block:divide:8", &format!("--input a=7,9 {columns}"), "--input b=3,1");
    assert_eq!(read_to_string(place.path("new.csv")).unwrap(), "q,r\n2,1\n9,0\n");
}

#[test]
fn a_table_fills_the_inputs_of_its_columns_names() {
    let place = Place::new();
    place.write("faces.csv", "limits,name,gallery\n2,ann,0f\n3,bob,f1\n4,cyd,ff\n");
    let run = "app:scifi:8";
    let [alice, bob] = both(&place, run, "--size faces=3 --input query=0e", "--input faces.csv");
    assert_eq!((alice.stdout.as_str(), bob.stdout.as_str()), ("hit is 1 in 1 of 3 lanes: 0\n", "bob learns nothing\n"));
    // What is said by name wins.
    let [alice, _] = both(&place, run, "--size faces=3 --input query=0e", "--input faces.csv --input limits=0,9,9");
    assert_eq!(alice.stdout, "hit is 1 in 2 of 3 lanes: 1, 2\n");
    // From standard input.
    let (bob, address) = place.listen(&format!("run {run} --as bob {OPEN} --quiet --input faces.csv"));
    let args = format!("run {run} --as alice {OPEN} --quiet --size faces=3 --connect {address} --input query=-:q");
    let mut alice = place.command(&args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    alice.stdin.take().unwrap().write_all(b"x,q\n1,0e\n").unwrap();
    let alice = alice.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(alice.stdout).unwrap(), "hit is 1 in 1 of 3 lanes: 0\n");
    bob.end().succeeded();
}

#[test]
fn a_port_of_many_words_takes_a_column() {
    let place = Place::new();
    place.write("bids.csv", "id,bid\n1,7.25\n2,0.01\n3,99.99\n4,0.01\n");
    let alice = "--input keys=bids.csv:bid:decimal(2):uint(32) --output keys=sorted.csv:bid:decimal(2):uint(32)";
    both(&place, "block:sort_bitonic:4x32x0", alice, "--size lanes=1 --output keys=keys.json:keys:uint(32)");
    assert_eq!(read_to_string(place.path("sorted.csv")).unwrap(), "bid\n0.01\n0.01\n7.25\n99.99\n");
    assert_eq!(read_to_string(place.path("keys.json")).unwrap(), "{\"keys\":[1,1,725,9999]}\n");
}

#[test]
fn strings_are_compared_as_bytes() {
    let place = Place::new();
    place.write("mine.csv", "who\nZoë\nann\n\"\"\n");
    place.write("yours.csv", "who\nZoë\nanna\n\"\"\n");
    let who = "csv:who:text:bits(64):null=";
    both(
        &place,
        "block:equal:64",
        &format!("--input a=mine.{who} --output out=same.csv:same"),
        &format!("--input b=yours.{who}"),
    );
    assert_eq!(read_to_string(place.path("same.csv")).unwrap(), "same\n1\n0\n1\n");
}

/// The errors name file, line, column and what was expected, and never what stands there.
#[test]
fn tables_are_checked_before_anybody_is_called() {
    let place = Place::new();
    place.write("t.csv", "id,pay\r\n1,1.5\r\n\r\n2,secret\r\n3,\r\n");
    place.write("ids.csv", "b\n1\n2\n1024\n");
    place.write("none.csv", "secret,secret2\n1,2\n");
    place.write("empty.csv", "");
    place.write("three.csv", "v\n1\n2\n3\n");
    let bob = format!("run block:add:10 --as bob {AWAY}");
    for (args, code, words) in [
        ("--input b=t.csv:pay:decimal(2)", 1, &["t.csv, line 4, column 'pay': expected a decimal number"][..]),
        ("--input b=t.csv:pay", 1, &["t.csv, line 2, column 'pay': expected a number of 0 to 1023 for uint(10)"]),
        ("--input ids.csv", 1, &["ids.csv, line 4, column 'b': expected a number of 0 to 1023"]),
        ("--input b=t.csv:Pay", 1, &["the input 'b': t.csv has no column 'Pay'", "hint: the first line"]),
        ("--input none.csv", 1, &["none.csv: no column has the name of an input", "hint: the inputs are b"]),
        ("--input b=t.csv", 1, &["t.csv, line 1, lane 0", "not 2 columns", "hint: ", "NAME=FILE.csv:COLUMN"]),
        ("--input b=empty.csv:b", 7, &["empty.csv: it is empty"]),
        ("--input b=missing.csv:b", 8, &["missing.csv", "No such file"]),
        ("--input b=t.csv:id:decimal", 1, &["the input 'b': 'decimal' says of no column", "decimal(DIGITS), date"]),
        ("--input b=t.csv:id:text", 1, &["text is bits of whole bytes, and not uint(10)"]),
        ("--input b=three.csv:v:uint(3)", 1, &["uint(10) is no whole number of words of uint(3)"]),
        ("--input b=three.csv:v:uint(5)", 7, &["three.csv: column 'v' has 3 rows: expected a multiple of 2"]),
        ("--input b=ids.json:b", 1, &["no input is read from JSON"]),
        ("--input words", 2, &["NAME=SOURCE, or FILE.csv"]),
        ("--input ids.csv --input ids.csv", 1, &["ids.csv, line 4"]),
        ("--input b=1 --output out=x.csv:a --output out=x.csv:b", 1, &["the output 'out' is written twice"]),
        ("--input b=1 --input nosuch.csv", 1, &["nosuch.csv: no input is left that it could fill"]),
        ("--input b=ids.csv:b:null=0 --input three.csv", 1, &["three.csv: no input is left"]),
        ("--input b=1 --output out=r.npy:y", 1, &["r.npy has no columns"]),
        ("--input b=three.csv:v --output out=three.csv:w", 1, &["three.csv is read as an input", "another file"]),
        ("--input b=three.csv:v --output out=./three.csv", 1, &["three.csv is read as an input"]),
        ("--input b=1 --output out=nowhere/x.csv:a", 8, &["writing nowhere/x.csv"]),
        ("--input b=1 --output out=x.csv:a:text", 1, &["text is bits"]),
    ] {
        let done = place.run(&format!("{bob} {args}"));
        done.failed(code, words);
        assert!(!done.stderr.contains("secret") && !done.stderr.contains("1024 "), "{}", done.stderr);
    }
    let divide = format!("run block:divide:8 --as bob {AWAY} --input b=1 --output quotient=x.csv:a");
    place.run(&format!("{divide} --output remainder=x.csv:a")).failed(1, &["two columns are named 'a'"]);
    place.run(&format!("{divide} --output remainder=x.csv")).failed(1, &["two outputs go to x.csv"]);
    place.run(&format!("{divide} --output remainder=x.csv:b:uint(4)")).failed(1, &["1 rows in 'a' and 2 in 'b'"]);
    assert_eq!(place.files(), ["empty.csv", "ids.csv", "none.csv", "t.csv", "three.csv"], "nothing was written");
}

/// A full disk leaves no part of a table, and the error says so.
#[test]
fn a_full_disk_is_noticed() {
    let place = Place::new();
    std::os::unix::fs::symlink("/dev/full", place.path("full.csv")).unwrap();
    let (alice, bob) = place.both(
        &format!("block:divide:8 {OPEN}"),
        "--input a=9 --output quotient=full.csv:q --output remainder=full.csv:r",
        "--input b=2",
    );
    alice.failed(8, &["writing /dev/full: No space left on device"]);
    bob.succeeded();
    assert_eq!(place.files(), ["full.csv"]);
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_parquet_says_so() {
    let place = Place::new();
    let bob = format!("run block:add:10 --as bob {AWAY}");
    for args in ["--input b=t.parquet:b", "--input t.arrow", "--input b=1 --output out=t.parquet"] {
        place.run(&format!("{bob} {args}")).failed(1, &["this build has no Parquet", "--features parquet"]);
    }
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_and_arrow_on_either_side() {
    let place = Place::new();
    place.write("ours.csv", OURS);
    let first = "--input a=ours.csv:salary:decimal(2) --output out=pay.parquet:pay:decimal(2)";
    both(&place, "block:add:32", first, "--input b=0,0,1 --output out=b.feather");
    let out = "--output out=sum.csv:sum:decimal(2)";
    both(&place, "block:add:32", &format!("--input a=pay.parquet:pay:decimal(2) {out}"), "--input b=b.feather:out");
    assert_eq!(read_to_string(place.path("sum.csv")).unwrap(), "sum\n6201.00\n5999.98\n5500.02\n");
    let alice = format!("run block:add:8 --as alice {AWAY} --input a=pay.parquet:pay:decimal(2)");
    place.run(&alice).failed(1, &["pay.parquet, row 0, column 'pay': expected a decimal number"]);
}
