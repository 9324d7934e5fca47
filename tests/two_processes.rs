//! Programs between two processes over real sockets, against answers from outside.

use crate::process::{Place, repository};
use apps::argmin::{self, Found, Held};
use duologue::circuit::blocks::Goal;
use serde_json::Value;
use std::fs;

/// FIPS 197, appendix C.1.
const AES: [&str; 3] =
    ["000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff", "69c4e0d86a7b0430d8cdb78070b4c55a"];

#[test]
fn aes_by_both_protocols_over_tls_and_in_the_open() {
    let place = Place::new();
    let tls = place.tls();
    let open = ["--insecure-plaintext", "--insecure-plaintext"].map(String::from);
    for [alice, bob] in [&tls, &open] {
        for protocol in ["yao", "gmw", "gmw-masked"] {
            let [key, block, expected] = AES;
            let common = format!("block:aes128 --protocol {protocol} --yes --json");
            let (alice, bob) =
                place.both(&common, &format!("{alice} --input key=hex:{key}"), &format!("{bob} --input block={block}"));
            assert_eq!(alice.values("out"), [expected], "{protocol}");
            assert_eq!(bob.values("out"), [expected], "{protocol}");
        }
    }
}

#[test]
fn parties_with_other_instructions_agree() {
    let place = Place::new();
    let refused = place.run("--backend sse9 blocks");
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    let missing = if cfg!(target_arch = "x86_64") { "armv8" } else { "aesni" };
    let refused = place.run(&format!("--backend {missing} blocks"));
    refused.failed(1, &["this processor has no", "hint: it has", "portable"]);
    let backends = refused.stderr.split("it has ").last().unwrap().trim().split(", ");
    let [key, block, expected] = AES;
    for (name, value) in [("keys.csv", key), ("blocks.csv", block)] {
        place.write(name, format!("hex:{value}\n").repeat(70));
    }
    let common = "block:aes128 --insecure-plaintext --yes --json";
    for backend in backends {
        for settings in [
            "--protocol yao --timing streamed --tile 16",
            "--protocol yao --timing ahead --correlations silent16w",
            "--protocol yao --timing streamed --garbling three-halves",
            "--protocol yao --timing ahead --garbling three-halves --tile 16",
            "--protocol gmw --correlations softspoken8",
        ] {
            let alice = format!("--backend {backend} --input key=keys.csv");
            let (alice, bob) =
                place.both(&format!("{common} {settings}"), &alice, "--backend portable --input block=blocks.csv");
            assert_eq!(alice.values("out"), [expected; 70], "{backend}, {settings}");
            assert_eq!(bob.values("out"), [expected; 70], "{backend}, {settings}");
        }
    }
}

/// Three halves take the paths of half-gates: shared out between threads, and seven bytes an AND shorter.
#[test]
fn three_halves_on_any_number_of_threads() {
    let place = Place::new();
    let [key, block, expected] = AES;
    for (name, value) in [("keys.csv", key), ("blocks.csv", block)] {
        place.write(name, format!("hex:{value}\n").repeat(300));
    }
    for timing in ["ahead", "streamed"] {
        let mut received = [0, 0];
        for (garbling, received) in ["half-gates", "three-halves"].into_iter().zip(&mut received) {
            for [alices, bobs] in [[1, 2], [3, 7]] {
                let common = format!(
                    "block:aes128 --protocol yao --insecure-plaintext --yes --json --garbler bob --timing {timing}"
                );
                let common = format!("{common} --garbling {garbling}");
                let alice = format!("--input key=keys.csv --threads {alices}");
                let bob = format!("--input block=blocks.csv --threads {bobs}");
                let (alice, bob) = place.both(&common, &alice, &bob);
                assert_eq!(alice.values("out"), [expected; 300], "{garbling}, {timing}, {alices} and {bobs} threads");
                assert_eq!(bob.values("out"), [expected; 300]);
                let report = alice.json();
                assert_eq!(report["garbling"], garbling);
                let phases = ["setup", "online"].map(|phase| report[phase]["received"].as_u64().unwrap());
                *received = phases.iter().sum::<u64>();
            }
        }
        // The terms name the way, once in setup.
        let name = ("three-halves".len() - "half-gates".len()) as u64;
        assert_eq!(received[0] + name - received[1], 300 * 6400 * 7, "{timing}");
    }
    let common = "block:aes128 --protocol yao --insecure-plaintext --yes";
    let (alice, bob) = place.both(common, "--input key=keys.csv", "--input block=blocks.csv --garbling three-halves");
    for (party, ways) in
        [(alice, "ours is half-gates, theirs is three-halves"), (bob, "ours is three-halves, theirs is half-gates")]
    {
        party.failed(4, &["how ANDs are garbled", ways]);
    }
}

/// Both parties choose one maker of correlations, by what they measure or by a line that both assume.
#[test]
fn the_maker_is_chosen_by_both() {
    let place = Place::new();
    let [key, block, expected] = AES;
    for (name, value) in [("keys.csv", key), ("blocks.csv", block)] {
        place.write(name, format!("hex:{value}\n").repeat(20));
    }
    let tls = place.tls();
    let open = ["--insecure-plaintext", "--insecure-plaintext"].map(String::from);
    let common = "block:aes128 --yes --json --protocol gmw";
    for [alice, bob] in [&tls, &open] {
        for (way, maker) in [
            ("", None),
            ("--timing streamed", None),
            ("--assume-link 100ms,1Mbit", Some("softspoken8")),
            ("--correlations softspoken2", Some("softspoken2")),
        ] {
            let (alice, bob) = (format!("{alice} --input key=keys.csv"), format!("{bob} --input block=blocks.csv"));
            let (alice, bob) = place.both(&format!("{common} {way}"), &alice, &bob);
            assert_eq!(alice.values("out"), [expected; 20], "{way}");
            let (alice, bob) = (alice.json(), bob.json());
            let chosen = alice["correlations"].as_str().unwrap();
            assert_eq!((chosen, &alice["conditions"]), (bob["correlations"].as_str().unwrap(), &bob["conditions"]));
            assert_eq!(maker.unwrap_or(chosen), chosen, "{way}");
            assert_eq!(alice["conditions"].is_object(), !way.contains("--correlations"), "{way}");
        }
    }
    // For one block nothing is measured.
    let common = "block:aes128 --protocol yao --yes --insecure-plaintext";
    let (alice, bob) =
        place.both(&format!("{common} --json"), &format!("--input key={key}"), &format!("--input block={block}"));
    for report in [alice.json(), bob.json()] {
        assert!(report["correlations"] == "softspoken4" && report["conditions"].is_null(), "{report}");
    }
    let (alice, bob) = place.both(
        common,
        &format!("--input key={key} --assume-link lan"),
        &format!("--input block={block} --assume-link internet"),
    );
    for party in [alice, bob] {
        party.failed(
            4,
            &["what makes correlations", "auto by rule 3 for 0.2ms,1000Mbit", "auto by rule 3 for 10ms,1000Mbit"],
        );
    }
}

/// Both parties take one protocol, for a line that both measure or assume: masked GMW sends the least once inputs are there, Yao
/// waits the least often. Who assumes another line, or wishes for something else, is told what differs.
#[test]
fn the_protocol_is_chosen_by_both() {
    let place = Place::new();
    let [key, block, expected] = AES;
    for (name, value) in [("keys.csv", key), ("blocks.csv", block)] {
        place.write(name, format!("hex:{value}\n").repeat(100));
    }
    let common = "block:aes128 --insecure-plaintext --yes";
    let (key, block) = ("--input key=keys.csv", "--input block=blocks.csv");
    let (long, slow) = ("--assume-link 300ms,10Gbit", "--assume-link 0.2ms,1Mbit");
    for (way, protocol, basis) in [
        (format!("{long} --wish online"), "yao", Some("assumed")),
        (format!("{slow} --wish online --protocol auto"), "gmw-masked", Some("assumed")),
        (format!("{long} --garbling three-halves --correlations softspoken2"), "yao", Some("assumed")),
        ("--wish bytes --garbler alice".into(), "gmw", None),
        // A round trip of 200 ms is far longer than anything else, even between busy processors.
        ("--wish online --link 200ms,10Gbit".into(), "yao", Some("measured")),
    ] {
        let (alice, bob) = place.both(&format!("{common} --json {way}"), key, block);
        assert_eq!(alice.values("out"), [expected; 100], "{way}");
        assert_eq!(bob.values("out"), [expected; 100], "{way}");
        let [hers, his] = [alice.json(), bob.json()];
        for report in [&hers, &his] {
            assert_eq!(report["protocol"], protocol, "{way}");
            let chosen = &report["chosen"];
            assert_eq!(chosen["protocol"], protocol, "{way}: {chosen}");
            assert_eq!(chosen["basis"].as_str(), basis, "{way}: {chosen}");
            assert_eq!(chosen["conditions"].is_object(), basis.is_some(), "{way}: {chosen}");
            assert!(
                chosen["predicted"]["bytes"].as_u64() > Some(0) && chosen["next"]["predicted"].is_object(),
                "{chosen}"
            );
        }
        assert_eq!(hers["chosen"], his["chosen"], "{way}");
        // Bytes are exact, with those of the choice.
        let sent = |report: &Value| -> u64 {
            ["setup", "online"].iter().map(|phase| report[*phase]["sent"].as_u64().unwrap()).sum()
        };
        assert_eq!(hers["chosen"]["predicted"]["bytes"], sent(&hers) + sent(&his), "{way}");
    }
    for (hers, his, words) in [
        (long, slow, ["the line of the choice", "assumed, 300ms,10000Mbit", "assumed, 0.2ms,1Mbit"]),
        ("--wish total", "--wish online", ["what the choice makes least", "total", "online"]),
        ("--garbler alice", "", ["who may garble", "alice", "alice or bob"]),
        ("--garbling three-halves", "", ["how ANDs may be garbled", "three-halves", "half-gates or three-halves"]),
        ("--timing streamed", "", ["the protocols of the choice", "gmw or yao", "gmw or gmw-masked or yao"]),
        ("--protocol yao", "", ["what is called for", "a run", "a choice of the protocol"]),
    ] {
        let (alice, bob) = place.both(common, &format!("{key} {hers}"), &format!("{block} {his}"));
        for party in [alice, bob] {
            party.failed(4, &words);
        }
    }
    let (alice, _) = place.both(common, key, block);
    let words = ["chosen by total for ", "as measured:", "  next ", "predicted"];
    words.iter().for_each(|word| assert!(alice.succeeded().stderr.contains(word), "{}", alice.stderr));
}

/// A program that is named without a goal is run by its circuits of least size or of least depth: over a long line, by GMW with
/// least depth.
#[test]
fn circuits_of_little_depth_are_chosen_too() {
    let place = Place::new();
    let common = "--insecure-plaintext --yes --json --assume-link 300ms,1Gbit";
    for (program, variant) in [("block:multiply:32", Some("depth")), ("block:multiply:32:size", None)] {
        let (alice, bob) = place.both(&format!("{program} {common} --wish online"), "--input a=7,9", "--input b=11,13");
        assert_eq!(alice.values("out"), ["77", "117"], "{program}");
        assert_eq!(alice.json()["chosen"]["variant"].as_str().is_some(), variant.is_some(), "{program}");
        bob.succeeded();
    }
}

/// Wherever a mixed program is cut, and over a long line, where that is chosen, the result is the same; both parties cut alike.
#[test]
fn a_mixed_program_is_cut_alike() {
    let place = Place::new();
    for party in ["alice", "bob"] {
        place.run(&format!("data iris common --random 60 --as {party} --to {party}")).succeeded();
    }
    let common = "app:iris:2048:size --insecure-plaintext --yes --json";
    let inputs = ["--size people=60 --input alice", "--input bob"];
    for (way, parts_differ) in [
        ("--protocol mixed", true),
        ("--protocol mixed --share-from 0", false),
        ("--protocol mixed --share-from 1000000000", false),
        ("--protocol mixed --timing streamed --garbler alice --threads 2", true),
        ("--assume-link 100ms,10Mbit", true),
    ] {
        let (alice, bob) = place.both(&format!("{common} {way}"), inputs[0], inputs[1]);
        assert_eq!(alice.values("person"), [30], "{way}");
        let [hers, his] = [alice.json(), bob.json()];
        assert_eq!([&hers["protocol"], &his["protocol"]], ["mixed"; 2], "{way}");
        assert_eq!(hers["share_from"], his["share_from"], "{way}");
        // A tournament by GMW takes rounds, distances by Yao megabytes.
        let (rounds, sent) = (hers["online"]["rounds"].as_u64().unwrap(), his["online"]["sent"].as_u64().unwrap());
        let sent = sent + his["setup"]["sent"].as_u64().unwrap();
        assert_eq!(rounds < 20 && sent < 3_000_000, parts_differ, "{way}: {rounds} rounds, {sent} bytes");
    }
    let (alice, bob) =
        place.both(&format!("{common} --protocol mixed"), &format!("{} --share-from 9", inputs[0]), inputs[1]);
    for party in [alice, bob] {
        party.failed(4, &["the ANDs a layer of steps that are shared", "9"]);
    }
}

#[test]
fn sha256_of_abc() {
    let place = Place::new();
    for protocol in ["yao", "gmw", "gmw-masked"] {
        let common = format!("block:sha256:3:depth --protocol {protocol} --insecure-plaintext --yes --json");
        let (alice, bob) = place.both(&common, "--input message=616263", "--size lanes=1");
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(alice.values("out"), [expected], "FIPS 180-4, {protocol}");
        assert_eq!(bob.values("out"), [expected], "FIPS 180-4, {protocol}");
    }
}

/// The matches of each probe as Python computed them: `probe,face,distance,limit,match`.
fn expected_matches(probe: &str) -> Vec<u64> {
    let table = fs::read_to_string(repository("examples/faces/expected.csv")).unwrap();
    let cells = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    cells.filter(|cells| cells[0] == probe).map(|cells| cells[4].parse().unwrap()).collect()
}

/// The rows of a NumPy file of 900 bytes a row, as lines of CSV.
fn rows_of_bits(path: &str) -> Vec<String> {
    let file = fs::read(repository(path)).unwrap();
    let header = 10 + usize::from(u16::from_le_bytes([file[8], file[9]]));
    let line = |row: &[u8]| row.iter().map(u8::to_string).collect::<Vec<_>>().join(",");
    file[header..].chunks(900).map(line).collect()
}

#[test]
fn faces_match_as_python_says() {
    let place = Place::new();
    place.run("export app:scifi -o scifi.duo").succeeded();
    let faces = |name: &str| repository(&format!("examples/faces/{name}.npy")).display().to_string();
    let mut probes: Vec<(String, String, &str)> =
        ["yao", "gmw"].map(|protocol| ("query".into(), faces("query"), protocol)).into();
    for (number, row) in rows_of_bits("examples/faces/probes.npy").into_iter().enumerate() {
        let file = place.write(&format!("probe{number}.csv"), row);
        probes.push((number.to_string(), file, if number % 2 == 0 { "gmw" } else { "yao" }));
    }
    assert_eq!(probes.len(), 15);
    let gallery = format!("--input gallery={} --input limits={}", faces("gallery"), faces("limits"));
    let common = "scifi.duo --insecure-plaintext --yes --quiet";
    let (alice, bob) = place.both(common, &format!("--size faces=100 --input query={}", probes[0].1), &gallery);
    assert_eq!(alice.succeeded().stdout, "hit is 1 in 1 of 100 lanes: 41\n");
    assert_eq!(bob.succeeded().stdout, "bob learns nothing\n");
    for (probe, file, protocol) in probes {
        let common = format!("scifi.duo --protocol {protocol} --insecure-plaintext --yes --json");
        let (alice, bob) = place.both(&common, &format!("--size faces=100 --input query={file}"), &gallery);
        assert_eq!(alice.values("hit"), expected_matches(&probe), "{probe} by {protocol}");
        assert_eq!(bob.json()["outputs"].as_object().map(|outputs| outputs.len()), Some(0), "Bob learns nothing");
    }
}

#[test]
fn the_same_program_at_other_sizes_timings_and_tiles() {
    let place = Place::new();
    place.run("export app:scifi:64 -o scifi.duo").succeeded();
    place.write("query.csv", "hex:0123456789abcdef");
    let flip = |face: u64| 0x0123_4567_89ab_cdef_u64 ^ ((1u128 << (face % 65)) - 1) as u64;
    for (faces, settings) in [
        (1, "--protocol yao --timing ahead --garbler alice"),
        (65, "--protocol yao --timing streamed --tile 16"),
        (1000, "--protocol gmw --timing streamed --tile 64"),
        (1000, "--protocol gmw --timing ahead --link 1ms"),
        (65, "--protocol gmw-masked --tile 16"),
        (1000, "--protocol gmw-masked --link 1ms"),
    ] {
        // Face f differs in f mod 65 bits; its limit is 30.
        let gallery: String = (0..faces).map(|f| format!("{}\n", hex(&flip(f).to_be_bytes()))).collect();
        place.write("gallery.csv", gallery);
        place.write("limits.csv", "30\n".repeat(faces as usize));
        let common = format!("scifi.duo {settings} --insecure-plaintext --yes --json");
        let alice = format!("--input query=query.csv --size faces={faces}");
        let (alice, bob) = place.both(&common, &alice, "--input gallery=gallery.csv --input limits=limits.csv");
        bob.succeeded();
        let expected: Vec<u64> = (0..faces).map(|face| u64::from(face % 65 < 30)).collect();
        assert_eq!(alice.values("hit"), expected, "{faces} faces, {settings}");
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn outputs_go_to_files_and_come_back_as_inputs() {
    let place = Place::new();
    place.write("a.csv", "1\n2\n255\n");
    let common = "block:add:16 --insecure-plaintext --yes --quiet";
    let outputs = "--input b=100,65534,0x0100 --output out=sum.csv";
    let (alice, bob) = place.both(common, "--input a=a.csv --output out=sum.npy", outputs);
    alice.succeeded();
    bob.succeeded();
    assert_eq!((alice.stdout.as_str(), alice.stderr.as_str()), ("out: 3 lanes in sum.npy\n", ""));
    assert_eq!(fs::read_to_string(place.path("sum.csv")).unwrap(), "101\n0\n511\n");
    let (alice, bob) = place.both(common, "--input a=sum.npy --output out=-", "--input b=sum.csv");
    assert_eq!(alice.succeeded().stdout, "202\n0\n1022\n");
    assert_eq!(bob.succeeded().stdout, "out[0] = 202\nout[1] = 0\nout[2] = 1022\n");
}

/// A full adder of two bits, written by hand: (a + b) mod 4 with a0 a1 b0 b1 on wires 0 to 3.
const ADDER: &str = "\
5 9
2 2 2
1 2

2 1 0 2 7 XOR
2 1 0 2 4 AND
2 1 1 3 5 XOR
2 1 4 5 8 XOR
1 1 4 6 INV
";

#[test]
fn an_imported_adder_adds() {
    let place = Place::new();
    place.write("adder2.txt", ADDER);
    let imported = place.run("import adder2.txt -o adder2.duo --json").json();
    assert_eq!(imported["program"], "adder2");
    let (mut a, mut b, mut sums) = (vec![], vec![], vec![]);
    let bits = |number: u32| format!("{}{}", number & 1, number >> 1 & 1);
    for (x, y) in (0..4).flat_map(|x| (0..4).map(move |y| (x, y))) {
        a.push(bits(x));
        b.push(bits(y));
        sums.push(bits((x + y) % 4));
    }
    for protocol in ["yao", "gmw", "gmw-masked"] {
        let common = format!("adder2.duo --protocol {protocol} --insecure-plaintext --yes --json");
        let (alice, bob) =
            place.both(&common, &format!("--input in0={}", a.join(",")), &format!("--input in1={}", b.join(",")));
        assert_eq!(alice.values("out0"), sums);
        assert_eq!(bob.values("out0"), sums);
    }
}

#[test]
fn a_block_goes_to_bristol_and_back() {
    let place = Place::new();
    place.run("export block:add:64 -o add.txt").succeeded();
    place.run("import add.txt -o add.duo --format bristol --inputs bob,alice").succeeded();
    // Little-endian bytes: (2⁶⁴ - 1) + 2 = 1.
    let common = "add.duo --insecure-plaintext --yes --json";
    let (alice, _) = place.both(common, "--input in1=0200000000000000", "--input in0=ffffffffffffffff");
    assert_eq!(alice.values("out0"), ["0100000000000000"]);
}

/// Files that differ in a gate: both parties hear where. What they tell for that is counted.
#[test]
fn files_that_differ_are_told_where() {
    let place = Place::new();
    let adder = "5 8\n1 3\n1 2\n\n2 1 0 1 3 XOR\n2 1 1 2 4 XOR\n2 1 3 4 5 AND\n2 1 3 2 6 XOR\n2 1 5 1 7 XOR\n";
    for (name, gates) in [("one", adder.to_string()), ("two", adder.replace("1 2 4 XOR", "0 2 4 XOR"))] {
        // Of one name, which a program and its circuit get from the file: they differ in gates alone.
        place.write("sum.txt", gates);
        place.run(&format!("import sum.txt -o {name}.duo --format bristol --inputs alice")).succeeded();
    }
    let common = "--insecure-plaintext --yes --json --protocol yao --correlations softspoken4 --size lanes=1";
    let (bob, address) = place.listen(&format!("run two.duo {common} --as bob"));
    let alice = place.run(&format!("run one.duo {common} --as alice --input in0=101 --connect {address}"));
    for done in [alice, bob.end()] {
        done.failed(4, &["do not agree on the program", "they differ first in the circuit of step 1, gate"]);
    }
    let (alice, _) = place.both(&format!("one.duo {common}"), "--input in0=101", "");
    let cost = place.run("cost one.duo --correlations softspoken4 --size lanes=1 --json").json();
    let setup = &cost["protocols"][0]["setup"];
    let ran = &alice.json()["setup"];
    assert_eq!([&ran["sent"], &ran["received"]], [&setup["alice_to_bob"], &setup["bob_to_alice"]], "{cost}");
}

/// A full adder that knows AND and NOT alone: seven ANDs in its file, then one.
#[test]
fn a_circuit_of_gates_is_optimised_and_run() {
    let place = Place::new();
    let ands = "8 2 4\n10 3 5\n12 9 11\n14 12 6\n16 13 7\n18 15 17\n20 9 15\n";
    place.write("full.aag", format!("aag 10 3 0 2 7\n2\n4\n6\n18\n21\n{ands}i0 x\ni1 y\ni2 z\no0 sum\no1 carry\n"));
    let made = place.run("optimise full.aag -o full.duo --inputs alice,bob,alice --effort 4 --json").json();
    assert_eq!((&made["after"]["ands"], &made["after"]["depth"]), (&1.into(), &1.into()), "{made}");
    let again = place.run("optimise full.duo -o again.duo --goal depth --json").json();
    assert_eq!((&again["digest"], &again["before"]), (&made["digest"], &made["after"]), "nothing is left to do");
    place.run("optimise full.duo -o full.bristol").succeeded();
    place.run("optimise full.duo -o other.duo --inputs alice").failed(1, &["own owners", "--inputs"]);
    for protocol in ["yao", "gmw"] {
        let common = format!("full.duo --insecure-plaintext --yes --json --protocol {protocol}");
        let alice = "--input x=0,1,0,1,0,1,0,1 --input z=0,0,0,0,1,1,1,1";
        let (alice, _) = place.both(&common, alice, "--input y=0,0,1,1,0,0,1,1");
        assert_eq!(alice.values("sum"), [0, 1, 1, 0, 1, 0, 0, 1], "{protocol}");
        assert_eq!(alice.values("carry"), [0, 0, 0, 1, 0, 1, 1, 1], "{protocol}");
    }
}

/// Values 9, 4 and 4 in every form, by every method.
#[test]
fn the_least_of_many_values_is_found() {
    let place = Place::new();
    let [alice_tls, bob_tls] = place.tls();
    let both = |flags: &str, alice: &str, bob: &str| {
        let common = format!("app:argmin:8 {flags} --yes --json");
        place.both(&common, &format!("{alice_tls} {alice}"), &format!("{bob_tls} {bob}"))
    };
    let number = |value: &serde_json::Value| value.as_u64().expect("a number");
    for flags in ["", "--schedule 200ms,10Mbit --size values=3", "--form shared --method duologue", "--ots one"] {
        let alice = "--input alice_shares=500,2,300 --input alice_least=77";
        let (alice, bob) = both(flags, alice, "--input bob_shares=21,2,216");
        assert_eq!((77 + number(&bob.values("bob_least")[0])) % 512, 4, "{flags}");
        assert_eq!(number(&alice.values("index")[0]) ^ number(&bob.values("index")[0]), 1, "{flags}");
    }
    // Her share is drawn, and delivered to her.
    for flags in ["", "--correlations silent"] {
        let (alice, bob) = both(flags, "--input alice_shares=500,2,300", "--input bob_shares=21,2,216");
        let shares = [number(&alice.values("alice_least")[0]), number(&bob.values("bob_least")[0])];
        assert_eq!((shares[0] + shares[1]) % 512, 4, "{flags}");
    }
    let (alice, bob) =
        both("--form halves --size alice=2 --size bob=1", "--input alice_values=9,4", "--input bob_values=4");
    for found in [alice, bob] {
        assert_eq!((number(&found.values("least")[0]), number(&found.values("index")[0])), (4, 1));
    }
    let values = ["--input values=9,7,255", "--input values=0,3,251"];
    let sized = ["auto", "duologue", "kolesnikov", "schneider"].map(|method| format!("{method} --size values=3"));
    for method in ["auto".to_string(), "duologue".to_string()].into_iter().chain(sized) {
        let (alice, bob) = both(&format!("--form xor --method {method}"), values[0], values[1]);
        let found = ["least", "index"].map(|name| number(&alice.values(name)[0]) ^ number(&bob.values(name)[0]));
        assert_eq!(found, [4, 1], "{method}");
    }
    for method in ["aby_yao", "aby_gmw", "huang --leaky --size values=3"] {
        let shares = ["00,01,02", "05,05,05"];
        let inputs = [0, 1].map(|party| format!("{} --input arguments={}", values[party], shares[party]));
        let (alice, bob) = both(&format!("--form xor --argument 8 --method {method}"), &inputs[0], &inputs[1]);
        assert_eq!(number(&alice.values("least")[0]) ^ number(&bob.values("least")[0]), 4, "{method}");
        let argument =
            [alice, bob].map(|found| found.values("argument")[0].as_str().map(|hex| u8::from_str_radix(hex, 16)));
        let [Some(Ok(alice)), Some(Ok(bob))] = argument else { panic!("bytes") };
        assert_eq!(alice ^ bob, 4, "{method}");
    }
}

/// A million values: what a process has at most is what setup stores, some forty bytes a value, with the shares and what is
/// under way of them.
#[test]
fn the_least_of_a_million_values_takes_little_memory() {
    const VALUES: u64 = 1_000_000;
    const MODULUS: u64 = 1 << 33;
    let place = Place::new();
    let value = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let share = |i: u64| i.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 31;
    let lines = |number: &dyn Fn(u64) -> u64| (1..=VALUES).map(|i| format!("{}\n", number(i))).collect::<String>();
    place.write("alice.csv", lines(&share));
    place.write("bob.csv", lines(&|i| (value(i) + MODULUS - share(i)) % MODULUS));
    let common = "app:argmin:32 --insecure-plaintext --yes --json --correlations softspoken4";
    let (alice, bob) = place.both(common, "--input alice_shares=alice.csv", "--input bob_shares=bob.csv");
    let number = |value: &serde_json::Value| value.as_u64().expect("a number");
    let least = (1..=VALUES).min_by_key(|&i| value(i)).unwrap();
    let shares = [number(&alice.values("alice_least")[0]), number(&bob.values("bob_least")[0])];
    assert_eq!((shares[0] + shares[1]) % MODULUS, value(least));
    assert_eq!(number(&alice.values("index")[0]) ^ number(&bob.values("index")[0]), least - 1);
    for found in [alice, bob] {
        if let Some(peak) = found.json()["peak_memory"].as_u64() {
            assert!(peak < 128_000_000, "{peak} bytes");
        }
    }
}

/// A program from a file that shows Bob the place of the least value runs only if he who runs it says so, each for himself.
#[test]
fn a_program_that_leaks_takes_consent() {
    let place = Place::new();
    let program = argmin::levels(8, Found::Walk(8), Goal::Size, Held::Shared(3));
    place.write("walk.duo", program.to_bytes().unwrap());
    place.run("export app:scifi:8 -o scifi.duo").succeeded();
    let words = ["'duologue:backtrack'", "shows Bob the place", "hint: --leaky consents"];
    let alone = "--as bob --insecure-plaintext --connect 127.0.0.1:1 --wait 0";
    place.run(&format!("run walk.duo {alone} --yes --input values=1 --input arguments=00")).failed(1, &words);
    place.run(&format!("prepare walk.duo {alone} --to runs")).failed(1, &words);
    place.run(&format!("run scifi.duo {alone} --yes --leaky")).failed(1, &["--leaky is for programs that tell"]);
    assert!(place.run("inspect walk.duo").succeeded().stdout.contains("duologue:backtrack"));
    place.run("cost walk.duo --json").succeeded();
    let inputs = ["9,7,255", "0,3,251"].map(|values| format!("--input values={values} --input arguments=00,01,02"));
    let common = "walk.duo --protocol yao --leaky --insecure-plaintext --yes --json";
    let (alice, bob) = place.both(common, &inputs[0], &inputs[1]);
    let least = [alice, bob].map(|found| found.values("least")[0].as_u64().unwrap());
    assert_eq!(least[0] ^ least[1], 4);
}

#[test]
fn strings_are_compared_by_a_call() {
    let place = Place::new();
    place.run("export app:equality:32 -o equality.duo").succeeded();
    let tls = place.tls();
    let open = ["--insecure-plaintext", "--insecure-plaintext"].map(String::from);
    for (program, [alice, bob]) in [("app:equality:32", &tls), ("equality.duo", &open)] {
        for settings in ["yao --timing streamed", "yao --timing ahead --garbler alice", "gmw --link 1ms", "gmw-masked"]
        {
            let common = format!("{program} --protocol {settings} --yes --json");
            let alice = format!("{alice} --threads 2 --input a=00000001,00000002,deadbeef,00000000");
            let (alice, bob) =
                place.both(&common, &alice, &format!("{bob} --input b=00000001,80000002,deadbeef,00000004"));
            assert_eq!(alice.values("equal"), [1, 0, 1, 0], "{program}, {settings}");
            assert_eq!(bob.values("equal"), [1, 0, 1, 0], "{program}, {settings}");
        }
    }
}

/// A circuit that Alice keeps: Bob has a program without it, which is that of another circuit of the size, and the result.
#[test]
fn a_private_function_between_two_processes() {
    let place = Place::new();
    for (name, block) in [("add", "add"), ("less", "subtract")] {
        place.run(&format!("export block:{block}:16 -o {name}.txt")).succeeded();
        place.run(&format!("import {name}.txt --private {name}.npy --gates 150 -o {name}.duo")).succeeded();
    }
    let [add, less] = ["add.duo", "less.duo"].map(|name| fs::read(place.path(name)).unwrap());
    assert_eq!(add, less, "the program does not know the circuit");
    place.run("import add.txt --private add.npy -o other.duo").failed(1, &["add.npy", "never overwritten"]);
    place.run("import add.txt --private add.csv -o other.duo").failed(1, &["FILE.npy"]);
    place.run("import add.txt --private new.npy -o ./new.npy").failed(1, &["new.npy", "two files"]);
    place.run("import add.txt --private new.npy -o nowhere/other.duo").failed(8, &["nowhere"]);
    assert!(!place.path("new.npy").exists(), "no function without its program");
    place.run("import add.txt --private new.npy --gates 9 -o other.duo").failed(1, &["copies included, more than 9"]);
    let shown = place.run("inspect add.duo").succeeded().stdout.clone();
    for words in ["call \"duologue:universal\" version 1", "alice supplies", "bob learns"] {
        assert!(shown.contains(words), "no '{words}' in {shown}");
    }
    assert!(!shown.contains("alice learns"), "{shown}");
    let common = "--insecure-plaintext --yes --json";
    for (name, expected) in [("add", "9cad"), ("less", "ce56")] {
        let alice = format!("--input function={name}.npy");
        let (alice, bob) =
            place.both(&format!("add.duo {common}"), &alice, "--input in0=hex:3582 --input in1=hex:672b");
        assert_eq!(bob.values("out0"), [expected]);
        assert_eq!(alice.json()["outputs"], serde_json::json!({}));
    }
    // A file that holds no function: Alice hears what is wrong with it, Bob does not.
    let mut function = fs::read(place.path("add.npy")).unwrap();
    let length = function.len();
    function[length - 9..].fill(0x0f);
    place.write("wrong.npy", function);
    let (alice, bob) = place.both(
        &format!("add.duo {common}"),
        "--input function=wrong.npy",
        "--input in0=hex:3582 --input in1=hex:672b",
    );
    assert!(alice.code != Some(0) && alice.stderr.contains("of a function: reads node"), "{}", alice.stderr);
    assert!(bob.code != Some(0) && !bob.stderr.contains("node"), "{}", bob.stderr);
}
