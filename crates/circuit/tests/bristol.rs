//! Bristol files: known circuits by their truth tables, round trips, and files that lie.

use crate::common::random::{circuit, ports as show, table};
use crate::common::{bits_of, bits_of_bytes, bytes_of, hex};
use circuit::blocks::{Goal, find};
use circuit::format::bristol::{Dialect, Names, read, read_as, write, write_old};
use circuit::{Circuit, Error};
use proptest::prelude::*;

/// Adds two bits: a half adder, in Fashion.
const HALF: &str = "2 4\n2 1 1\n1 2\n\n2 1 0 1 2 XOR\n2 1 0 1 3 AND\n";
/// A full adder in the old format: bits a and b of one input, carry of the other; sum, then carry.
const FULL: &str = "5 8\n2 1 2\n\n2 1 0 1 3 XOR\n2 1 0 2 4 XOR\n2 1 3 2 6 XOR\n2 1 3 4 5 AND\n2 1 5 0 7 XOR\n";
/// Every gate of Fashion.
const ALL: &str = "7 13\n2 2 2\n2 3 2\n1 1 0 4 INV\n1 1 1 5 EQ\n4 2 0 1 2 3 6 7 MAND\n\
                   2 1 5 6 8 XOR\n1 1 7 9 EQW\n1 1 0 10 EQ\n4 2 4 0 2 3 11 12 MAND\n";

fn names() -> Names<'static> {
    Names::default()
}

fn parse(text: &str) -> Circuit {
    read(text.as_bytes(), &names()).unwrap()
}

/// What is wrong with a file, and in which line.
fn blame(text: &str) -> (usize, String) {
    match read(text.as_bytes(), &names()) {
        Err(Error::Syntax { line, why, .. }) => (line, why),
        other => panic!("expected a syntax error, got {other:?}"),
    }
}

#[test]
fn small_files_have_their_truth_tables() {
    assert_eq!(table(&parse(HALF)), [0, 1, 1, 2]);
    assert_eq!(table(&parse(FULL)), [0, 1, 1, 2, 1, 2, 2, 3].map(|n: u128| (n & 1) | (n & 2)));
    // Outputs: !q & r with the second MAND reaching over, as computed by hand below.
    for (input, output) in table(&parse(ALL)).into_iter().enumerate() {
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| input >> i & 1 == 1);
        let wires = [!(a & c), b & d, false, !a & c, a & d];
        assert_eq!(bits_of(output, 5), wires, "inputs {input:04b}");
    }
}

#[test]
fn ports_have_names_and_widths() {
    let circuit = parse(ALL);
    assert_eq!(show(&circuit), ["in0 bits(2)", "in1 bits(2)", "out0 bits(3)", "out1 bits(2)"]);
    let named = Names { circuit: "half", inputs: &["x", "y"], outputs: &["sum"] };
    let circuit = read(HALF.as_bytes(), &named).unwrap();
    assert_eq!(
        (circuit.name(), show(&circuit)),
        ("half", vec!["x bits(1)".into(), "y bits(1)".into(), "sum bits(2)".into()])
    );
    let many = Names { inputs: &["x", "y", "z"], ..names() };
    assert!(matches!(read(HALF.as_bytes(), &many), Err(Error::Usage(_))));
    let twice = Names { inputs: &["x", "x"], ..names() };
    assert!(matches!(read(HALF.as_bytes(), &twice), Err(Error::Invalid { .. })));
}

#[test]
fn whitespace_does_not_matter() {
    let wide = HALF.replace(' ', " \t ").replace('\n', " \r\n\r\n");
    assert_eq!(parse(&wide), parse(HALF));
    assert_eq!(parse(HALF.trim_end()), parse(HALF));
    let flat = HALF.replace('\n', " ");
    assert_eq!(read_as(flat.as_bytes(), Dialect::Fashion, &names()).unwrap(), parse(HALF));
}

#[test]
fn lies_are_found_where_they_stand() {
    let lies = [
        ("2 4\n2 1 1\n1 2\n2 1 0 1 2 XOR\n2 1 0 4 3 AND\n", 5, "wire 4 of 4"),
        ("2 4\n2 1 1\n1 2\n2 1 0 3 2 XOR\n2 1 0 1 3 AND\n", 4, "read before"),
        ("2 4\n2 1 1\n1 2\n2 1 0 1 2 XOR\n2 1 0 1 2 AND\n", 5, "assigned twice"),
        ("2 4\n2 1 1\n1 2\n2 1 0 1 2 XOR\n2 1 0 1 1 AND\n", 5, "assigned twice"),
        ("1 4\n2 1 1\n1 2\n2 1 0 1 2 XOR\n", 5, "wire 3 is never assigned"),
        ("3 4\n2 1 1\n1 2\n2 1 0 1 2 XOR\n2 1 0 1 3 AND\n", 6, "file ends"),
        ("1 4\n2 1 1\n1 2\n2 1 0 1 2 XOR\n2 1 0 1 3 AND\n", 5, "more follows"),
        ("2 4\n2 1 1\n1 2\n2 1 0 1 2 XOR\n2 1 0 1 3 AND\n7\n", 6, "more follows"),
        ("2 4\n2 1 1\n1 2\n2 1 0 1 2 XOR\n2 1 0 1 3 NAND\n", 5, "no gate 'NAND'"),
        ("2 4\n2 1 1\n1 2\n2 1 0 1 2 XOR\n1 1 0 3 AND\n", 5, "no gate 'AND' with 1 inputs"),
        ("2 4\n2 1 1\n1 2\n2 1 0 1 2 XOR\n1 1 2 3 EQ\n", 5, "no gate 'EQ'"),
        ("2 4\n2 1 1\n1 2\n2 1 0 1 2 XOR\n2 1 0 -1 3 AND\n", 5, "'-1'"),
        ("2 4\n2 1 1\n1 5\n2 1 0 1 2 XOR\n2 1 0 1 3 AND\n", 3, "5 output bits, but 4 wires"),
        ("2 4\n2 1 4\n1 2\n2 1 0 1 2 XOR\n2 1 0 1 3 AND\n", 3, "5 input bits, but 4 wires"),
        ("2 4\n2 1 0\n1 2\n2 1 0 1 2 XOR\n2 1 0 1 3 AND\n", 2, "has no bits"),
        ("1 2\n1 0 1\n1 1 0 1 EQW\n", 3, "no gate 'EQW'"),
    ];
    for (text, line, part) in lies {
        let (at, why) = blame(text);
        assert!(at == line && why.contains(part), "{text}\nline {at}: {why}");
    }
}

#[test]
fn claims_cost_no_memory() {
    // Each would take gigabytes if it were believed.
    for text in [
        "1 1000000000000\n1 1000000000000\n1 1\n1 1 0 1 INV\n",
        "1 2000000000\n1 2000000000\n1 1\n1 1 0 1 INV\n",
        "2000000000 4\n2 1 1\n1 2\n2 1 0 1 2 XOR\n",
        "1 4\n2000000000 1 1\n1 2\n2 1 0 1 2 XOR\n",
        "1 4\n2 1 1\n1 2\n2000000000 1000000000 0 1 2 MAND\n",
        "1 4\n2 1 1\n1 2\n2 2000000000 0 1 2 MAND\n",
    ] {
        blame(text);
    }
}

#[test]
fn our_ciphers_survive_the_file() {
    let aes = find("aes128").unwrap().circuit(&[], Goal::Size).unwrap();
    let key = hex("000102030405060708090a0b0c0d0e0f");
    let block = hex("00112233445566778899aabbccddeeff");
    let input = bits_of_bytes(&[key, block].concat());
    for text in [write(&aes), write_old(&aes).unwrap()] {
        let again = parse(&text);
        assert_eq!(again.and_count(), aes.and_count());
        assert_eq!(bytes_of(&again.evaluate(&input)), hex("69c4e0d86a7b0430d8cdb78070b4c55a"));
    }
    let sha = find("sha256").unwrap().circuit(&[3], Goal::Size).unwrap();
    let again = parse(&write(&sha));
    let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(bytes_of(&again.evaluate(&bits_of_bytes(b"abc"))), hex(digest));
    let compress = find("sha256_compress").unwrap().circuit(&[], Goal::Size).unwrap();
    let again = parse(&write(&compress));
    let input: Vec<bool> = (0..768u32).map(|i| (i * i + 7 * i) % 11 < 5).collect();
    assert_eq!(again.evaluate(&input), compress.evaluate(&input));
}

#[test]
fn the_old_format_has_few_ports() {
    let mux = find("mux").unwrap().circuit(&[4], Goal::Size).unwrap();
    let message = write_old(&mux).unwrap_err().to_string();
    assert!(message.contains("circuit 'mux' has 3 and 1"), "{message}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..Default::default() })]

    #[test]
    fn random_circuits_survive_the_file(circuit in circuit()) {
        let again = parse(&write(&circuit));
        prop_assert_eq!(table(&again), table(&circuit));
        let widths = |c: &Circuit| -> Vec<u32> {
            c.inputs().iter().chain(c.outputs()).map(|port| port.ty.width).collect()
        };
        prop_assert_eq!(widths(&again), widths(&circuit));
        if let Ok(old) = write_old(&circuit) {
            let again = read_as(old.as_bytes(), Dialect::Old, &names()).unwrap();
            prop_assert_eq!(table(&again), table(&circuit));
        }
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&bytes, &names());
    }

    #[test]
    fn no_numbers_panic(text in "[0-9 \n]{0,40}( XOR| AND| INV| EQ| EQW| MAND|[0-9 \n]{0,9}){0,20}") {
        let _ = read(text.as_bytes(), &names());
        let _ = read_as(text.as_bytes(), Dialect::Old, &names());
    }

    #[test]
    fn no_mutation_panics(
        circuit in circuit(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3), 1..6),
    ) {
        let mut file = write(&circuit).into_bytes();
        for (place, byte, kind) in edits {
            let place = place.index(file.len());
            match kind {
                0 => file[place] = byte,
                1 => file[place] = b'0' + byte % 10,
                _ => { file.remove(place); file.push(b' '); }
            }
        }
        if let Ok(circuit) = read(&file, &names()) {
            circuit.evaluate(&vec![true; circuit.input_width()]);
        }
    }
}
