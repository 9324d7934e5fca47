//! BLIF files: covers by their truth tables, cells of the library, round trips, and files that lie.

use crate::common::random::{circuit, ports, table};
use circuit::format::blif::{read, write};
use circuit::format::cells::CELLS;
use circuit::{Builder, Circuit, Error, bits};
use proptest::prelude::*;

fn parse(text: &str) -> Circuit {
    read(text.as_bytes(), "m").unwrap_or_else(|why| panic!("{why}\n{text}"))
}

/// A model of a few inputs and the output y.
fn model(inputs: &str, body: &str) -> Circuit {
    parse(&format!(".model m\n.inputs {inputs}\n.outputs y\n{body}\n.end\n"))
}

#[test]
fn covers_have_their_truth_tables() {
    assert_eq!(table(&model("a b", ".names a b y\n11 1")), [0, 0, 0, 1]);
    assert_eq!(table(&model("a b", ".names a b y\n10 1")), [0, 1, 0, 0], "the first sign is that of the first name");
    assert_eq!(table(&model("a b", ".names a b y\n1- 1\n-1 1")), [0, 1, 1, 1]);
    assert_eq!(table(&model("a b", ".names a b y\n1- 0\n-1 0")), [1, 0, 0, 0], "rows of zeros");
    assert_eq!(table(&model("a", ".names y\n1")), [1, 1]);
    assert_eq!(table(&model("a", ".names y\n0")), [0, 0]);
    assert_eq!(table(&model("a", ".names y")), [0, 0]);
    assert_eq!(table(&model("a b", ".names a b y")), [0, 0, 0, 0], "a cover without rows is 0");
    assert_eq!(table(&model("a b", ".names a t\n0 1\n.conn t y")), [1, 0, 1, 0]);
}

#[test]
fn covers_cost_what_their_functions_need() {
    let parity: String = (0..64u32).filter(|x| x.count_ones() % 2 == 1).map(|x| format!("{x:06b} 1\n")).collect();
    assert_eq!(model("a b c d e f", &format!(".names a b c d e f y\n{parity}")).and_count(), 0);
    assert_eq!(model("a b c", ".names a b c y\n11- 1\n1-1 1\n-11 1").and_count(), 1, "a carry");
    assert_eq!(model("s a b", ".names s a b y\n11- 1\n0-1 1").and_count(), 1, "a selection");
}

/// More inputs than a table has: the OR of products, and its complement.
#[test]
fn wide_covers_are_sums_of_products() {
    for (output, flip) in [(1, false), (0, true)] {
        let body = format!(".names a b c d e f g h y\n1111---- {output}\n----0101 {output}\n1------1 {output}");
        for (x, value) in (0..).zip(table(&model("a b c d e f g h", &body))) {
            let bit = |i: u32| x >> i & 1 == 1;
            let products = [x & 15 == 15, !bit(4) && bit(5) && !bit(6) && bit(7), bit(0) && bit(7)];
            assert_eq!(value == 1, products.contains(&true) ^ flip, "{x:08b}");
        }
    }
}

#[test]
fn lines_go_on_and_comments_end_them() {
    let text = "# from a tool\n.model m # its name\n.inputs a[0] \\\n  a[1] b\n\n.inputs c\n.outputs y[0] y[1] \\\n\n\
                .area 3.5\n.names t \\\nb y[0] # an AND\n11 \\\n 1\n.names a[0] a[1] c t\n11- 1\n--1 1\n\
                .names t y[1]\n0 1\r\n.end\nrubbish";
    let circuit = parse(text);
    assert_eq!(ports(&circuit), ["a bits(2)", "b bits(1)", "c bits(1)", "y bits(2)"]);
    for (x, value) in (0..).zip(table(&circuit)) {
        let t = x & 3 == 3 || x & 8 == 8;
        assert_eq!(value, u128::from(t && x & 4 == 4) | u128::from(!t) << 1, "{x:04b}");
    }
}

/// Each cell of the library against its function, evaluated as it is written there.
#[test]
fn cells_are_their_functions() {
    for cell in &CELLS {
        let joined: String = cell.inputs.iter().map(|pin| format!(" {pin}={}", pin.to_lowercase())).collect();
        let inputs = cell.inputs.join(" ").to_lowercase();
        let circuit = model(&inputs, &format!(".gate {} Y=y{joined}", cell.name));
        assert_eq!(circuit.and_count(), u64::from(cell.ands), "{}", cell.name);
        for (x, value) in (0..).zip(table(&circuit)) {
            let pin = |name: char| {
                let place = cell.inputs.iter().position(|pin| pin.starts_with(name)).unwrap();
                x >> place & 1 == 1
            };
            let (expected, rest) = sum(cell.function, &pin);
            assert_eq!((value == 1, rest), (expected, ""), "{} of {x:b}", cell.name);
        }
    }
}

/// `a|b`, `a^b`, `a&b`, which in our functions stand alone or in parentheses, so that none binds more closely.
fn sum<'a>(text: &'a str, pin: &dyn Fn(char) -> bool) -> (bool, &'a str) {
    let (mut value, mut rest) = factor(text, pin);
    while let Some(operator) = rest.chars().next().filter(|sign| "|^&".contains(*sign)) {
        let (other, after) = factor(&rest[1..], pin);
        rest = after;
        value = match operator {
            '|' => value | other,
            '^' => value ^ other,
            _ => value & other,
        };
    }
    (value, rest)
}

fn factor<'a>(text: &'a str, pin: &dyn Fn(char) -> bool) -> (bool, &'a str) {
    if let Some(rest) = text.strip_prefix('!') {
        let (value, rest) = factor(rest, pin);
        return (!value, rest);
    }
    match text.strip_prefix('(') {
        Some(rest) => {
            let (value, rest) = sum(rest, pin);
            (value, rest.strip_prefix(')').expect("a closing parenthesis"))
        }
        None => (pin(text.chars().next().unwrap()), &text[1..]),
    }
}

#[test]
fn the_liberty_file_is_the_library() {
    let file = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../verilog/duologue.lib")).unwrap();
    assert_eq!(file, circuit::format::cells::liberty(), "verilog/duologue.lib is not what cells.rs says");
}

#[test]
fn lies_are_found_where_they_stand() {
    let start = ".model m\n.inputs a b\n.outputs y\n";
    for (body, line, part) in [
        (".names a b y\n11 1\n.latch y q\n", 6, "--cycles"),
        (".subckt adder a=a y=y\n", 4, "flatten"),
        (".names a b y\n111 1\n", 5, "2 signs"),
        (".names a b y\n1x 1\n", 5, "2 signs"),
        (".names a b y\n11 2\n", 5, "0 or 1"),
        (".names a b y\n11 1\n00 0\n", 6, "not both"),
        (".names a b y\n1 1 1\n", 5, "two words"),
        ("11 1\n", 4, "no row"),
        (".names a b y\n.names a y\n", 5, "'y' is defined twice"),
        (".names a b a\n", 4, "'a' is defined twice"),
        (".names a t y\n11 1\n", 4, "'t' is never defined"),
        (".names a y t\n11 1\n.names t y\n1 1\n", 6, "'y' reads itself"),
        ("", 3, "the output 'y' is never defined"),
        (".gate NAND2 A=a B=b Y=y\n", 4, "duologue.lib"),
        (".gate DUO_AND A=a Y=y\n", 4, "has the pins A, B and Y"),
        (".gate DUO_AND A=a B=b C=a Y=y\n", 4, "no pin 'C'"),
        (".gate DUO_AND A=a A=b Y=y\n", 4, "joined twice"),
        (".gate DUO_AND a b y\n", 4, "PIN=NET"),
        (".model n\n", 4, "second model"),
        (".names\n", 4, "name of an output"),
        (".frobnicate\n", 4, "'.frobnicate'"),
    ] {
        let text = format!("{start}{body}");
        match read(text.as_bytes(), "m") {
            Err(Error::Syntax { format: "BLIF", line: at, why }) => {
                assert!(at == line && why.contains(part), "line {at}: {why}\n{text}");
            }
            other => panic!("{other:?}\n{text}"),
        }
    }
    assert!(read(b"", "m").is_err() && read(b"hello\n", "m").is_err());
}

/// A long chain, written from its end, needs no stack, and a wide gate that waits for each input no square of time.
#[test]
fn long_chains_and_wide_gates() {
    let length = 100_000;
    let names: String = (0..length).rev().map(|i| format!(".names n{i} a n{}\n11 1\n", i + 1)).collect();
    let chain = format!(".inputs a n0\n.outputs n{length}\n{names}");
    assert_eq!(parse(&chain).output_width(), 1);
    let all: String = (0..length).map(|i| format!(" t{i}")).collect();
    let each: String = (0..length).map(|i| format!(".names x[{i}] t{i}\n0 1\n")).collect();
    let inputs: String = (0..length).map(|i| format!(" x[{i}]")).collect();
    let wide = format!(".inputs{inputs}\n.outputs y\n.names{all} y\n{} 1\n{each}", "1".repeat(length));
    assert_eq!(parse(&wide).and_count(), length as u64 - 1);
}

#[test]
fn names_that_the_format_has_not_are_written_otherwise() {
    let mut c = Builder::new("odd name");
    let x: Vec<_> = ["a b", "a#b", "n1", "y"].iter().flat_map(|name| c.input(*name, bits(1))).collect();
    let both = c.and(x[0], !x[1]);
    let all = c.xor(both, x[2]);
    c.output_as("y", bits(2), &[all, !x[3]]);
    let circuit = c.finish();
    let again = parse(&write(&circuit));
    assert_eq!(ports(&again), ["a_b bits(1)", "a_b_1 bits(1)", "n1 bits(1)", "y bits(1)", "y_1 bits(2)"]);
    assert_eq!(table(&again), table(&circuit));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..Default::default() })]

    #[test]
    fn random_circuits_survive_the_file(circuit in circuit()) {
        let again = parse(&write(&circuit));
        prop_assert_eq!(table(&again), table(&circuit));
        prop_assert!(again.and_count() <= circuit.and_count());
        prop_assert_eq!(again.inputs().len(), circuit.inputs().len());
        prop_assert_eq!(again.outputs().len(), circuit.outputs().len());
    }

    #[test]
    fn random_covers(
        rows in prop::collection::vec(prop::collection::vec(0usize..3, 9), 0..8),
        inputs in 0usize..9,
        ones: bool,
    ) {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let plane = |row: &Vec<usize>| row[..inputs].iter().map(|&sign| ["0", "1", "-"][sign]).collect::<String>();
        let planes: Vec<String> = rows.iter().map(plane).collect();
        let body: String = planes.iter().map(|plane| format!("{plane} {}\n", u8::from(ones))).collect();
        let circuit = model("a b c d e f g h", &format!(".names {} y\n{body}", names[..inputs].join(" ")));
        for (x, value) in (0usize..).zip(table(&circuit)) {
            let of_sign = |(i, sign): (usize, u8)| sign == b'-' || (sign == b'1') == (x >> i & 1 == 1);
            let fits = |plane: &String| plane.bytes().enumerate().all(of_sign);
            let expected = !rows.is_empty() && (planes.iter().any(fits) == ones);
            prop_assert_eq!(value == 1, expected, "{:08b}", x);
        }
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
                1 => file[place] = b"01-. \n"[byte as usize % 6],
                _ => drop(file.remove(place)),
            }
        }
        if let Ok(circuit) = read(&file, "m") {
            circuit.evaluate(&vec![true; circuit.input_width()]);
        }
    }
}
