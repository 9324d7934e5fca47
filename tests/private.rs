//! `duologue private` between two processes over real sockets, against the files' circuits.

use crate::process;
use crate::process::{Done, Place};

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
    for (method, additions) in [("dh", Some(50)), ("universal", None)] {
        let pad = additions.map_or(String::new(), |additions| format!("--additions {additions}"));
        let (alice, bob) = both(
            &place,
            &format!("{alice} --method {method} --function adder.txt --gates 100 {pad} --runs 8 --json"),
            &format!("{bob} --method {method} --input x=000,100,010,110,001,101,011,111 --yes --json"),
        );
        let numbers: Vec<String> = bob.values("y").iter().map(|y| y.as_str().unwrap().to_owned()).collect();
        assert_eq!(numbers, ["00", "10", "10", "01", "10", "01", "01", "11"]);
        let (alice, bob) = (alice.json(), bob.json());
        for report in [&alice, &bob] {
            let number = |name: &str| report[name].as_u64().unwrap();
            assert_eq!([number("gates"), number("runs")], [100, 8]);
            assert_eq!([number("input_bits"), number("output_bits")], [3, 2]);
            assert_eq!(report["additions"].as_u64(), additions);
            assert_eq!(report["method"], method);
        }
        assert!(alice.get("outputs").is_none(), "alice learns nothing");
        assert_eq!(alice["sent"], bob["received"]);
    }
}

/// The files of `examples/private_functions`, by either method, against what an applicant, a driver and a text get by hand.
#[test]
fn applications_of_private_functions() {
    let place = Place::new();
    let file = |name: &str| process::repository(&format!("examples/private_functions/{name}")).display().to_string();
    let text: String = b"a wordpresspass".iter().map(|byte| format!("{byte:02x}")).collect();
    let functions = [
        // 40 years, an income of 2,500, 23 months: 45 + 38 + 0; then 24, 6,000, 24: 12 + 60 + 15.
        (format!("scorecard:{}", file("card.txt")), "28c40917,18701718", &["5300", "5700"][..]),
        // Class 1 and 5,001 kilometres: 12,000 + 45,000 + 7; class 3, which there is not.
        (format!("tariff:{}", file("tariff.txt")), "018913,030001", &["afde0000", "00000000"]),
        // The third and the fourth pattern.
        (format!("rules:15:{}", file("rules.txt")), &text, &["0011"]),
    ];
    let open = "--insecure-plaintext";
    for method in ["dh", "universal"] {
        for (name, x, expected) in &functions {
            let (alice, bob) = both(
                &place,
                &format!("{open} --method {method} --function app:{name} --runs 2"),
                &format!("{open} --method {method} --input x={x} --yes --json"),
            );
            alice.succeeded();
            assert_eq!(bob.values("y"), *expected, "{name} by {method}");
        }
    }
    let alice = "private --as alice --insecure-plaintext --listen 127.0.0.1:0";
    place.write("card.txt", "age 8\n1 5");
    place.run(&format!("{alice} --function app:scorecard:card.txt")).failed(7, &["card.txt", "line 2"]);
    place.run(&format!("{alice} --function app:scorecard:none.txt")).failed(8, &["none.txt"]);
    place.run(&format!("{alice} --function app:cards:card.txt")).failed(1, &["app:scorecard:FILE"]);
}

/// A linear method is taken where both parties allow it and it is predicted to be faster; else a universal circuit.
#[test]
fn auto_takes_what_both_allow() {
    let place = Place::new();
    let open = "--insecure-plaintext";
    let [slow, fast, measured] = ["--assume-link 10ms,200kbit", "--assume-link 1ms,10Gbit", ""];
    let linear = "--allow-linear";
    for (alice, bob, method) in [
        ("", "", Some("universal")),
        (linear, "", Some("universal")),
        ("", linear, Some("universal")),
        ("--allow-linear --assume-link 10ms,200kbit", "--method dh", Some("dh")),
        (&*format!("{linear} {slow}"), &*format!("{linear} {slow}"), Some("dh")),
        (&format!("{linear} {fast}"), &format!("{linear} {fast}"), Some("universal")),
        (&format!("{linear} {measured}"), &format!("{linear} {measured}"), None),
    ] {
        let (alice, bob) = both(
            &place,
            &format!("{open} --function block:multiply:16 {alice}"),
            &format!("{open} --input x=379e6dea {bob} --yes --json"),
        );
        alice.succeeded();
        let (product, report) = (0x9e37u64 * 0xea6d, bob.json());
        let hex: String = (product as u32).to_le_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(bob.values("y")[0], hex);
        let taken = report["method"].as_str().unwrap();
        assert!(method.is_none_or(|method| method == taken), "{taken}");
        let words = if taken == "dh" { "learns all data" } else { "whether Bob stops" };
        assert!(alice.stderr.contains(words), "{}", alice.stderr);
    }
}

/// Alice's own data are constants of her function, and the sizes that Bob hears do not depend on them.
#[test]
fn data_of_alices_are_as_secret_as_the_function() {
    let place = Place::new();
    let open = "--insecure-plaintext";
    for (method, numbers) in
        [("dh", &[40_503u64, 0][..]), ("universal", &[40_503, 1]), ("elgamal", &[3, 0]), ("bfv", &[3, 0])]
    {
        let mut sizes = Vec::new();
        for number in numbers {
            let (alice, bob) = both(
                &place,
                &format!("{open} --method {method} --function block:multiply:16 --input a={number} --runs 2 --json"),
                &format!("{open} --method {method} --input x=6dea,0200 --yes --json"),
            );
            let expected = [60_013, 2].map(|x| {
                let bytes = ((x * number) as u32).to_le_bytes();
                bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()
            });
            assert_eq!(bob.values("y"), expected, "{number} by {method}");
            let report = alice.json();
            assert_eq!(report["input_bits"], 16);
            sizes.push([report["gates"].clone(), report["additions"].clone(), report["sent"].clone()]);
        }
        assert!(sizes.iter().all(|size| *size == sizes[0]), "{sizes:?}");
    }
    let alice = format!("private --as alice {open} --listen 127.0.0.1:0 --function block:multiply:16");
    for (input, words) in [
        ("--input c=1", "no input 'c'"),
        ("--input a=1,2", "the same in all runs"),
        ("-i a=1 -i b=1", "nothing is left"),
    ] {
        place.run(&format!("{alice} {input}")).failed(1, &[words]);
    }
}

/// The form of a result is checked when its bits are known, and before data are sent: no run is spent.
#[test]
fn a_form_that_the_result_does_not_have_costs_no_run() {
    let place = Place::new();
    place.write("adder.txt", ADDER);
    let open = "--insecure-plaintext --method dh";
    let (alice, bob) = both(
        &place,
        &format!("{open} --function adder.txt"),
        &format!("{open} --input x=010 --yes --output y.csv:y:decimal(2)"),
    );
    bob.failed(1, &["decimals are integers of at most 128 bits, and not bits(2)"]);
    alice.failed(5, &[]);
}

#[test]
fn another_method_or_line_is_refused_on_both_sides() {
    let place = Place::new();
    place.write("adder.txt", ADDER);
    for (alice, bob, what) in [
        ("--method dh", "--method universal", "the methods"),
        ("--method dh", "", "the methods"),
        ("--method elgamal", "--method djn", "the methods"),
        ("--allow-linear --assume-link lan", "--allow-linear", "the assumed line"),
    ] {
        let (alice, bob) = both(
            &place,
            &format!("--insecure-plaintext --function adder.txt {alice}"),
            &format!("--insecure-plaintext --input x=010 --yes {bob}"),
        );
        alice.failed(4, &[what]);
        bob.failed(4, &[what]);
    }
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
            &format!("{open} --function block:multiply:16 --form {form} --method dh --threads 2"),
            &format!("{open} --input x={hex} --output y.csv --yes --method dh --threads 3"),
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
    place
        .run(&format!("{alice} --function adder.txt --gates 0 --method dh"))
        .failed(7, &["gate 0 (from 0)", "padded to"]);
    place.run(&format!("{alice} --function adder.txt --gates 2")).failed(1, &["copies included, more than 2"]);
    place.run(&format!("{alice} --function missing.txt")).failed(8, &["missing.txt"]);
    // Before the peer is met: there is none.
    place.run(&format!("{bob} --input x=000 --output missing/y.csv")).failed(8, &["missing/y.csv"]);
    place.run(&format!("{bob} --input x=000 --output .")).failed(1, &["is a folder"]);
    for (args, words) in [
        (format!("{alice} --function adder.txt --output y.csv"), "--output is bob's"),
        (format!("{alice} --function adder.txt --yes"), "--yes is bob's"),
        (format!("{bob} --input x=000 --runs 9 --form nands"), "--form, --runs and --times are alice's"),
        (alice.to_string(), "--function is missing"),
        (bob.to_string(), "--input x=SOURCE is missing"),
        (format!("{bob} --input x=0 --gates 5"), "alice's"),
        (format!("{alice} --function adder.txt --threads 2"), "--threads is for --method dh"),
        (format!("{alice} --function adder.txt --additions 5"), "--additions is for --method dh"),
        (format!("{alice} --function adder.txt --form nands --method universal"), "--form is for --method dh"),
        (format!("{alice} --function adder.txt --assume-link lan"), "--assume-link is for a choice"),
        (format!("{alice} --function adder.txt --runs 0"), "--runs"),
        (format!("{bob} --input x=000 --output -"), "--output is a file"),
        (format!("{alice} --method elgamal --function adder.txt --additions 5"), "--additions is for --method dh"),
        (format!("{alice} --method djn --function adder.txt --form thresholds"), "for --method dh"),
    ] {
        place.run(&args).failed(2, &[words]);
    }
}

#[test]
fn bob_consents_and_more_runs_than_allowed_are_not_asked_for() {
    let place = Place::new();
    place.write("adder.txt", ADDER);
    for method in ["dh", "universal"] {
        let open = format!("--insecure-plaintext --method {method}");
        let alice = format!("{open} --function adder.txt --runs 2");
        let (refused, bob) = both(&place, &alice, &format!("{open} --input x=010"));
        bob.failed(10, &["nobody is at a terminal to consent", "--yes"]);
        assert_ne!(refused.code, Some(0));
        let (_, bob) = both(&place, &alice, &format!("{open} --input x=010,011,111 --yes"));
        bob.failed(10, &["x has 3 lanes, and alice allows 2 runs"]);
        let (_, bob) = both(&place, &alice, &format!("{open} --input x=0101 --yes"));
        bob.failed(1, &["lane 0", "bits(3)"]);
    }
}
