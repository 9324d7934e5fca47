//! AIGER files: what they mean, and that no file is too odd to be refused.

use crate::common::random::{circuit, table};
use circuit::format::aiger::{read, write, write_ascii};
use circuit::{Circuit, bits};
use proptest::prelude::*;

/// A half adder as the format's paper has it, ANDs in either order.
const TEXT: &str = "aag 7 2 0 2 3\n2\n4\n6\n12\n6 13 15\n12 2 4\n14 3 5\ni0 x\ni1 y\no0 s\no1 c\nc\nhalf adder\n";
/// The same in binary: 6 = 2·4, 8 = ¬2·¬4, 10 = ¬6·¬8.
const BINARY: &[u8] = b"aig 5 2 0 2 3\n10\n6\n\x02\x02\x03\x02\x01\x02i0 x\ni1 y\no0 s\no1 c\n";

fn values(circuit: &Circuit) -> Vec<Vec<bool>> {
    (0..4).map(|x| circuit.evaluate(&[x & 1 == 1, x & 2 == 2])).collect()
}

#[test]
fn a_half_adder() {
    let expected: Vec<Vec<bool>> = (0..4u32).map(|x| vec![x.count_ones() == 1, x == 3]).collect();
    for file in [TEXT.as_bytes(), BINARY] {
        let circuit = read(file, "half").unwrap();
        assert_eq!(values(&circuit), expected);
        let ports = |ports: &[circuit::Port]| ports.iter().map(|port| port.name.clone()).collect::<Vec<_>>();
        assert_eq!(
            (circuit.name(), ports(circuit.inputs()), ports(circuit.outputs())),
            ("half", vec!["x".into(), "y".into()], vec!["s".into(), "c".into()])
        );
    }
}

#[test]
fn bits_with_indices_are_words() {
    let file = "aag 4 4 0 3 0\n2\n4\n6\n8\n3\n0\n8\ni0 a[0]\ni1 a[1]\ni2 b\no0 y[1]\no1 y[0]\n";
    let circuit = read(file.as_bytes(), "words").unwrap();
    let shown = |ports: &[circuit::Port]| ports.iter().map(|port| (port.name.clone(), port.ty)).collect::<Vec<_>>();
    let [a, b, rest] = [("a".to_string(), bits(2)), ("b".into(), bits(1)), ("in3".into(), bits(1))];
    assert_eq!(shown(circuit.inputs()), [a, b, rest]);
    let outputs = [("y[1]".to_string(), bits(1)), ("y".into(), bits(1)), ("out2".into(), bits(1))];
    assert_eq!(shown(circuit.outputs()), outputs);
}

#[test]
fn what_is_wrong_is_said() {
    let long = format!("aag {} 0 0 0 0\n", 1 << 29);
    for (file, what) in [
        ("", "ends before"),
        ("agg 1 1 0 0 0\n", "begins with"),
        ("aag 1 1 0 0\n", "five numbers"),
        ("aag 3 1 1 0 1\n2\n", "latches"),
        ("aag 1 1 0 0 0 1\n2\n", "properties"),
        ("aag 1 2 0 0 0\n2\n4\n", "variables for"),
        (&long, "do not fit"),
        ("aag 1 1 0 0 0\n3\n", "complemented or defined twice"),
        ("aag 2 2 0 0 0\n2\n2\n", "complemented or defined twice"),
        ("aag 1 1 0 0 0\nx\n", "not 'x'"),
        ("aag 3 1 0 1 1\n2\n4\n4 2 6\n", "literal 6 is never defined"),
        ("aag 3 1 0 1 2\n2\n4\n4 2 6\n6 4 2\n", "reads itself"),
        ("aag 3 1 0 1 2\n2\n4\n4 2 2\n4 2 2\n", "defined twice"),
        ("aag 3 1 0 1 0\n2\n6\n", "an output is literal 6"),
        ("aag 1 1 0 0 0\n2\ni7 x\n", "no input and no output"),
        ("aag 1 1 0 0 0\n2\nx\n", "a symbol is"),
        ("aig 2 1 0 1 1\n4\n\u{0}\u{0}", "come before it"),
        ("aig 2 1 0 1 1\n4\n", "binary part"),
    ] {
        let why = read(file.as_bytes(), "x").unwrap_err().to_string();
        assert!(why.starts_with("AIGER file, line ") && why.contains(what), "{file:?}: {why}");
    }
}

proptest! {
    #[test]
    fn random_circuits_survive_the_file(circuit in circuit()) {
        let files = [write(&circuit).unwrap(), write_ascii(&circuit).unwrap()];
        let [binary, text] = files.map(|file| read(&file, "random").unwrap());
        prop_assert_eq!(&binary, &text);
        prop_assert!(binary.and_count() <= circuit.and_count(), "an XOR comes back as one");
        prop_assert_eq!(table(&binary), table(&circuit));
        let names = |circuit: &Circuit| {
            circuit.inputs().iter().chain(circuit.outputs()).map(|port| port.name.clone()).collect::<Vec<_>>()
        };
        prop_assert_eq!(names(&binary), names(&circuit));
    }

    #[test]
    fn no_file_makes_it_panic(
        binary: bool, place: prop::sample::Index, byte: u8, cut: prop::sample::Index, noise in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let mut file = if binary { BINARY.to_vec() } else { TEXT.as_bytes().to_vec() };
        *place.get_mut(&mut file) = byte;
        let _ = read(&file, "x");
        let _ = read(&file[..cut.index(file.len())], "x");
        let _ = read(&noise, "x");
        let _ = read(&[b"aig 9 3 0 2 6\n", &noise[..]].concat(), "x");
    }
}

/// A long chain of ANDs, written from the last to the first, needs no stack.
#[test]
fn long_chains() {
    let length = 100_000;
    let ands: String = (2..length).rev().map(|i| format!("{} {} 2\n", 2 * i, 2 * i - 1)).collect();
    let file = format!("aag {} 1 0 1 {}\n2\n{}\n{ands}", length - 1, length - 2, 2 * length - 2);
    assert!(read(file.as_bytes(), "x").is_ok());
}
