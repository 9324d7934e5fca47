//! SHDL files: what Fairplay's compiler writes, tables by their order, parties, round trips, and files that lie.

use crate::common::random::{circuit, ports, table};
use circuit::format::ports::Parties;
use circuit::format::shdl::{File, read, write};
use circuit::{Builder, Error, Party, uint};
use proptest::prelude::*;

/// Two bits of each party: Alice learns their AND, Bob whether his number is less, in the form of Fairplay's compiler
/// (whose own output for an AND of bytes is on the page of ethsnarks-sfdl).
const SMALL: &str = "0 input\t\t//output$input.bob$0\n1 input\t\t//output$input.bob$1\n2 input\t\t//output$input.alice$0\n\
    3 input\t\t//output$input.alice$1\n4 output gate arity 2 table [ 0 0 0 1 ] inputs [ 2 0 ]\t//output$output.alice$0\n\
    5 output gate arity 2 table [ 0 0 0 1 ] inputs [ 3 1 ]\t//output$output.alice$1\n\
    6 gate arity 2 table [ 0 0 1 0 ] inputs [ 0 2 ]\n\
    7 gate arity 3 table [ 0 0 1 0 1 0 1 1 ] inputs [ 1 3 6 ]\n\
    8 output gate arity 1 table [ 0 1 ] inputs [ 7 ]\t//output$output.bob$0\n";

fn parse(text: &str) -> File {
    read(text.as_bytes(), "m").unwrap_or_else(|why| panic!("{why}\n{text}"))
}

#[test]
fn what_the_compiler_writes_is_read() {
    let File { circuit, parties } = parse(SMALL);
    assert_eq!(ports(&circuit), ["bob bits(2)", "alice bits(2)", "alice bits(2)", "bob bits(1)"]);
    assert_eq!(parties.inputs, [Some(Party::Bob), Some(Party::Alice)]);
    assert_eq!(parties.outputs, [Some(Party::Alice), Some(Party::Bob)]);
    for (x, value) in (0..).zip(table(&circuit)) {
        let (bob, alice) = (x & 3, x >> 2);
        assert_eq!(value, (alice & bob) | u128::from(bob < alice) << 2, "{alice} {bob}");
    }
}

/// The first input is the lowest bit of the place: so Fairplay's `negRight` exchanges neighbours, and its selection
/// (condition last) is 0 1 0 1 0 0 1 1.
#[test]
fn tables_begin_with_the_first_input() {
    let gate = |arity: u32, bits: &str| {
        let inputs: String = (0..arity).map(|i| format!("{i} input\n")).collect();
        let wires: Vec<String> = (0..arity).map(|i| i.to_string()).collect();
        parse(&format!("{inputs}9 output gate arity {arity} table [{bits}] inputs [{}]\n", wires.join(" "))).circuit
    };
    assert_eq!(table(&gate(2, " 0 1 0 0 ")), [0, 1, 0, 0]);
    assert_eq!(table(&gate(3, " 0 1 0 1 0 0 1 1 ")), [0, 1, 0, 1, 0, 0, 1, 1]);
    assert_eq!(gate(3, "0 1 0 1 0 0 1 1").and_count(), 1, "a selection");
    assert_eq!(table(&gate(0, "1")), [1]);
    assert_eq!(ports(&gate(2, "0 1 0 0")), ["in0 bits(2)", "out0 bits(1)"], "bits without names are one port");
}

#[test]
fn bits_are_put_in_the_order_of_their_variables() {
    let text = "0 input //f$input.alice.x$1\n1 input //f$input.bob.x$0\n2 input //f$input.alice.x$0\n\
        3 input //f$input.seed$0\n4 output gate arity 1 table [ 0 1 ] inputs [ 0 ] //f$output.z$1\n\
        5 output gate arity 1 table [ 0 1 ] inputs [ 1 ] //f$output.z$0\n";
    let File { circuit, parties } = parse(text);
    assert_eq!(ports(&circuit), ["alice.x bits(2)", "bob.x bits(1)", "seed bits(1)", "z bits(2)"]);
    assert_eq!((parties.inputs, parties.outputs), (vec![Some(Party::Alice), Some(Party::Bob), None], vec![None]));
    // Inputs: alice.x[0], alice.x[1], bob.x, seed.
    assert_eq!(circuit.evaluate(&[false, true, false, false]), [false, true]);
    assert_eq!(circuit.evaluate(&[true, false, true, true]), [true, false]);
}

#[test]
fn parties_are_written_and_read() {
    let mut c = Builder::new("m");
    let (x, y) = (c.input("x", uint(1)), c.input("y", uint(3)));
    let bits: Vec<_> = y.iter().map(|&bit| c.and(x[0], bit)).collect();
    c.output_as("z", uint(3), &bits);
    c.output_as("w", uint(1), &[!x[0]]);
    let circuit = c.finish();
    let parties = Parties { inputs: vec![Some(Party::Bob), None], outputs: vec![Some(Party::Alice), None] };
    let text = write(&circuit, &parties);
    assert!(text.starts_with("0 input\t//output$input.bob.x$0\n1 input\t//output$input.y$0\n"), "{text}");
    let again = parse(&text);
    assert_eq!(again.parties, parties);
    assert_eq!(ports(&again.circuit), ["x bits(1)", "y bits(3)", "z bits(3)", "w bits(1)"]);
    assert_eq!(table(&again.circuit), table(&circuit));
}

#[test]
fn lies_are_found_where_they_stand() {
    for (body, line, part) in [
        ("x input\n", 2, "begins with the number"),
        ("0 input\n", 2, "wire 0 is defined twice"),
        ("1 wire\n", 2, "'output gate'"),
        ("1\n", 2, "'output gate'"),
        ("1 input 7\n", 2, "a comment that names it"),
        ("1 output arity 1 table [ 0 1 ] inputs [ 0 ]\n", 2, "followed by 'gate'"),
        ("1 gate arity 1 table [ 0 1 ] inputs [ 2 ]\n", 2, "wire 2 is read before"),
        ("1 gate arity 1 table [ 0 1 ] inputs [ 1 ]\n", 2, "wire 1 is read before"),
        ("1 gate arity 1 table [ 0 1 0 ] inputs [ 0 ]\n", 2, "3 bits for 1 inputs"),
        ("1 gate arity 1 table [ 0 2 ] inputs [ 0 ]\n", 2, "'2'"),
        ("1 gate arity 1 table [ 0 1 ] inputs [ 0 0 ]\n", 2, "2 wires for 1"),
        ("1 gate arity 1 table [ 0 1 ] inputs 0\n", 2, "a gate is"),
        ("1 gate arity 7 table [ 0 1 ] inputs [ 0 ]\n", 2, "the most are 6"),
        ("4000000000 gate arity 0 table [ 0 ] inputs [ ]\n", 2, "in a file of"),
        ("\n// only a comment\n1 gate\n", 4, "a gate is"),
    ] {
        match read(format!("0 input\n{body}").as_bytes(), "m") {
            Err(Error::Syntax { format: "SHDL", line: at, why }) => {
                assert!(at == line && why.contains(part), "line {at}: {why}\n{body}");
            }
            other => panic!("{other:?}\n{body}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..Default::default() })]

    #[test]
    fn random_circuits_survive_the_file(circuit in circuit()) {
        let again = parse(&write(&circuit, &Parties::default())).circuit;
        prop_assert_eq!(table(&again), table(&circuit));
        prop_assert!(again.and_count() <= circuit.and_count());
        prop_assert_eq!(ports(&again).len(), ports(&circuit).len());
    }

    #[test]
    fn no_mutation_panics(
        circuit in circuit(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3), 1..6),
    ) {
        let mut file = write(&circuit, &Parties::default()).into_bytes();
        for (place, byte, kind) in edits {
            let place = place.index(file.len());
            match kind {
                0 => file[place] = byte,
                1 => file[place] = b"01[]$ \n"[byte as usize % 7],
                _ => drop(file.remove(place)),
            }
        }
        if let Ok(File { circuit, .. }) = read(&file, "m") {
            circuit.evaluate(&vec![true; circuit.input_width()]);
        }
    }
}
