//! `duologue private` between two processes over real sockets, against the files' circuits.

#[path = "support/process.rs"]
mod process;

use process::{Done, Place};

/// Runs both parties, Alice listening.
fn both(place: &Place, alice: &str, bob: &str) -> (Done, Done) {
    let (alice, address) = place.listen(&format!("private --as alice {alice}"));
    let bob = place.run(&format!("private --as bob {bob} --connect {address}"));
    (alice.end(), bob)
}

/// A full adder in Bristol Fashion.
const ADDER: &str = "5 8\n1 3\n1 2\n\n2 1 0 1 3 XOR\n2 1 1 2 4 XOR\n2 1 3 4 5 AND\n2 1 3 2 6 XOR\n2 1 5 1 7 XOR\n";

#[test]
fn a_file_is_evaluated_for_bob_alone_over_tls() {
    let place = Place::new();
    let [alice, bob] = place.tls();
    place.write("adder.txt", ADDER);
    let (alice, bob) = both(
        &place,
        &format!("{alice} --function adder.txt --gates 100 --additions 50 --runs 8 --json"),
        &format!("{bob} --input x=000,100,010,110,001,101,011,111 --yes --json"),
    );
    let numbers: Vec<String> = bob.values("y").iter().map(|y| y.as_str().unwrap().to_owned()).collect();
    assert_eq!(numbers, ["00", "10", "10", "01", "10", "01", "01", "11"]);
    let (alice, bob) = (alice.json(), bob.json());
    for report in [&alice, &bob] {
        let number = |name: &str| report[name].as_u64().unwrap();
        assert_eq!([number("gates"), number("additions"), number("runs")], [100, 50, 8]);
        assert_eq!([number("input_bits"), number("output_bits")], [3, 2]);
    }
    assert!(alice.get("outputs").is_none(), "alice learns nothing");
    assert_eq!(alice["sent"], bob["received"]);
}

#[test]
fn blocks_and_nands_in_the_open() {
    let place = Place::new();
    let open = "--insecure-plaintext";
    let (x, y) = (40_503u64, 60_013u64);
    let hex: String = (x | y << 16).to_le_bytes()[..4].iter().map(|byte| format!("{byte:02x}")).collect();
    for form in ["thresholds", "nands"] {
        let (alice, bob) = both(
            &place,
            &format!("{open} --function block:multiply:16 --form {form}"),
            &format!("{open} --input x={hex} --output y.csv --yes --method dh"),
        );
        alice.succeeded();
        bob.succeeded();
        let expected: String = (x * y).to_le_bytes()[..4].iter().map(|byte| format!("{byte:02x}")).collect();
        let result = std::fs::read_to_string(place.path("y.csv")).unwrap();
        assert!(result.trim().ends_with(&expected), "{result}");
        assert!(alice.stderr.contains("an Alice who does not learns all data"), "{}", alice.stderr);
    }
}

/// Katz and Malka's protocol, with TLS and in the open.
#[test]
fn linear_methods_have_the_files_results() {
    let place = Place::new();
    let [of_alice, of_bob] = place.tls();
    place.write("adder.txt", ADDER);
    let open = "--insecure-plaintext";
    for (method, alice, bob) in
        [("elgamal", &of_alice[..], &of_bob[..]), ("bfv", &of_alice[..], &of_bob[..]), ("djn", open, open)]
    {
        let (alice, bob) = both(
            &place,
            &format!("{alice} --method {method} --function adder.txt --gates 30 --runs 2 --json"),
            &format!("{bob} --method {method} --input x=011,111 --yes --json"),
        );
        let numbers: Vec<String> = bob.values("y").iter().map(|y| y.as_str().unwrap().to_owned()).collect();
        assert_eq!(numbers, ["01", "11"]);
        assert!(alice.stderr.contains("an Alice who does not learns all data"), "{}", alice.stderr);
        let (alice, bob) = (alice.json(), bob.json());
        for report in [&alice, &bob] {
            assert_eq!(report["method"].as_str(), Some(method));
            assert_eq!([report["gates"].as_u64(), report["runs"].as_u64()], [Some(30), Some(2)]);
        }
        assert!(alice.get("outputs").is_none(), "alice learns nothing");
        assert_eq!(alice["sent"], bob["received"]);
    }
}

#[test]
fn parties_of_other_methods_are_told() {
    let place = Place::new();
    place.write("adder.txt", ADDER);
    let open = "--insecure-plaintext";
    let (alice, bob) =
        both(&place, &format!("{open} --method elgamal --function adder.txt"), &format!("{open} --input x=011 --yes"));
    alice.failed(4, &["the method", "elgamal", "dh"]);
    bob.failed(4, &["the method", "elgamal", "dh"]);
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_sent() {
    let place = Place::new();
    let alice = "private --as alice --insecure-plaintext --listen 127.0.0.1:0";
    let bob = "private --as bob --insecure-plaintext --connect 127.0.0.1:1";
    place.write("adder.txt", ADDER);
    for (name, file, words) in [
        ("cycle.txt", ADDER.replace("2 1 0 1 3 XOR", "2 1 0 7 3 XOR"), "line 5"),
        ("dangling.txt", ADDER.replace("2 1 5 1 7", "2 1 9 1 7"), "line 9"),
        ("none.txt", "no circuit".into(), "line 1"),
    ] {
        place.write(name, file);
        place.run(&format!("{alice} --function {name}")).failed(7, &[name, words]);
    }
    place.run(&format!("{alice} --function adder.txt --gates 0")).failed(7, &["gate 0 (from 0)", "padded to"]);
    place.run(&format!("{alice} --function missing.txt")).failed(8, &["missing.txt"]);
    // Before the peer is met: there is none.
    place.run(&format!("{bob} --input x=000 --output missing/y.csv")).failed(8, &["missing/y.csv"]);
    place.run(&format!("{bob} --input x=000 --output .")).failed(1, &["is a folder"]);
    for (args, words) in [
        (format!("{alice} --function adder.txt --input x=000"), "--input and --output are bob's"),
        (alice.to_string(), "--function is missing"),
        (bob.to_string(), "--input x=SOURCE is missing"),
        (format!("{bob} --input x=0 --gates 5"), "alice's"),
        (format!("{alice} --function adder.txt --threads 2"), "one thread"),
        (format!("{alice} --function adder.txt --runs 0"), "--runs"),
        (format!("{bob} --input x=000 --output -"), "--output is a file"),
        (format!("{alice} --method elgamal --function adder.txt --additions 5"), "NANDs have none"),
        (format!("{alice} --method djn --function adder.txt --form thresholds"), "for --method dh"),
    ] {
        place.run(&args).failed(2, &[words]);
    }
}

#[test]
fn bob_consents_and_more_runs_than_allowed_are_not_asked_for() {
    let place = Place::new();
    place.write("adder.txt", ADDER);
    let open = "--insecure-plaintext";
    let alice = format!("{open} --function adder.txt --runs 2");
    let (refused, bob) = both(&place, &alice, &format!("{open} --input x=010"));
    bob.failed(10, &["nobody is at a terminal to consent", "--yes"]);
    assert_ne!(refused.code, Some(0));
    let (_, bob) = both(&place, &alice, &format!("{open} --input x=010,011,111 --yes"));
    bob.failed(10, &["x has 3 lanes, and alice allows 2 runs"]);
    let (_, bob) = both(&place, &alice, &format!("{open} --input x=0101 --yes"));
    bob.failed(1, &["lane 0", "bits(3)"]);
}
