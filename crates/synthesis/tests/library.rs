//! The designs of `verilog/`: what they cost is what `verilog/costs.csv` says, and they compute what Icarus computes.
//!
//! DUOLOGUE_WRITE_COSTS writes the figures anew.

use crate::bench;
use crate::bench::{designs, yosys};
use circuit::Circuit;
use circuit::blocks::Goal;
use std::fs;
use std::path::PathBuf;
use synthesis::yosys::{Design, Yosys};

/// Inputs for each design.
const VECTORS: u64 = 8;

/// A line of the file: a design with its parameters, and what it costs.
struct Row<'a> {
    cells: Vec<&'a str>,
}

impl<'a> Row<'a> {
    fn all(text: &'a str) -> Vec<Row<'a>> {
        let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
        rows.map(|line| Row { cells: line.split(',').collect() }).collect()
    }

    fn parameters(&self) -> Vec<(String, String)> {
        let pairs = self.cells[1].split_whitespace().filter_map(|pair| pair.split_once('='));
        pairs.map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    /// A file has the name of its design, or what stands before the first `_` of it.
    fn file(&self) -> PathBuf {
        let file = |name: &str| designs().join(format!("{name}.v"));
        let (first, _) = self.cells[0].split_once('_').unwrap_or((self.cells[0], ""));
        Some(file(self.cells[0])).filter(|file| file.exists()).unwrap_or_else(|| file(first))
    }

    /// Whether it has a function that its model has in binary64, which `blocks.rs` compares up to the last bit.
    fn is_approximate(&self) -> bool {
        ["exp", "ln", "log2"].iter().any(|function| self.cells[0].contains(&format!("float_{function}")))
    }

    fn goal(&self) -> Goal {
        if self.cells[2] == "depth" { Goal::Depth } else { Goal::Size }
    }

    /// As a row of the book's table: published figures that are better stand bold.
    fn shown(&self) -> String {
        let [design, parameters, goal, ands, depth, other_ands, other_depth, source] = self.cells[..] else {
            panic!("{:?} has other columns", self.cells)
        };
        let bold = |ours: &str, theirs: &str| match (ours.parse::<u64>(), theirs.parse::<u64>()) {
            (Ok(ours), Ok(theirs)) if theirs < ours => format!("**{}**", grouped(theirs)),
            (_, Ok(theirs)) => grouped(theirs),
            _ => String::new(),
        };
        let number = |text: &str| grouped(text.parse().expect("a figure"));
        let parameters = if parameters.is_empty() { String::new() } else { format!(" {parameters}") };
        let (theirs, layers) = (bold(ands, other_ands), bold(depth, other_depth));
        format!(
            "| `{design}`{parameters} | {goal} | {} | {} | {theirs} | {layers} | {source} |",
            number(ands),
            number(depth)
        )
    }
}

/// 1234 as 1,234.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let places = digits.char_indices().map(|(i, digit)| {
        let comma = i > 0 && (digits.len() - i).is_multiple_of(3);
        if comma { format!(",{digit}") } else { digit.to_string() }
    });
    places.collect()
}

fn compile(yosys: &Yosys, row: &Row) -> Circuit {
    let (name, files) = (row.cells[0], vec![row.file()]);
    let design = Design { files, top: Some(name.into()), parameters: row.parameters(), clocked: false, blocks: vec![] };
    let netlist = yosys.netlist(&design).unwrap_or_else(|why| panic!("{name}: {why}"));
    let module = netlist.module().unwrap_or_else(|why| panic!("{name}: {why}"));
    synthesis::circuit(&module, row.goal()).unwrap_or_else(|why| panic!("{name}: {why}")).circuit
}

#[test]
fn designs_cost_what_the_file_says() {
    let Some(yosys) = yosys("designs_cost_what_the_file_says") else { return };
    let path = designs().join("costs.csv");
    let text = fs::read_to_string(&path).unwrap();
    let mut written: Vec<String> = text.lines().take_while(|line| line.starts_with('#')).map(String::from).collect();
    written.extend(text.lines().find(|line| !line.starts_with('#')).map(String::from));
    let has_icarus = bench::has_icarus();
    for row in Row::all(&text) {
        let circuit = compile(&yosys, &row);
        let figures = [circuit.and_count().to_string(), circuit.depth().to_string()];
        let cells = [&row.cells[..3], &figures.each_ref().map(String::as_str), &row.cells[5..]].concat();
        written.push(cells.join(","));
        has_its_known_answer(row.cells[0], &circuit);
        if has_icarus && !row.is_approximate() {
            agrees_with_icarus(&row, &circuit);
        }
    }
    let written = written.join("\n") + "\n";
    match std::env::var_os("DUOLOGUE_WRITE_COSTS") {
        Some(_) => fs::write(&path, written).unwrap(),
        None => assert_eq!(written, text, "DUOLOGUE_WRITE_COSTS=1 writes verilog/costs.csv anew"),
    }
}

#[test]
fn the_book_has_the_figures() {
    let text = fs::read_to_string(designs().join("costs.csv")).unwrap();
    let page = fs::read_to_string(designs().join("../docs/verilog.md")).unwrap();
    for row in Row::all(&text) {
        assert!(page.contains(&row.shown()), "docs/verilog.md lacks\n{}", row.shown());
    }
}

/// Bits that follow from a seed.
fn bits(seed: u64, count: usize) -> Vec<bool> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 40 & 1 == 1
    };
    (0..count).map(|_| next()).collect()
}

fn agrees_with_icarus(row: &Row, circuit: &Circuit) {
    let vectors: Vec<Vec<bool>> = (1..=VECTORS).map(|vector| bits(vector, circuit.input_width())).collect();
    let parameters: Vec<String> = row.parameters().iter().map(|(name, value)| format!(".{name}({value})")).collect();
    let instance = format!("{} #({})", row.cells[0], parameters.join(", ")).replace(" #()", "");
    let files = [row.file(), designs().join("duologue_blocks.v")];
    let simulated = bench::simulate(circuit, &instance, &files, &vectors);
    for (vector, expected) in vectors.iter().zip(simulated) {
        let outputs = circuit.evaluate(vector);
        let made = bench::words(circuit.outputs(), &outputs).into_iter().map(bench::shown);
        // What the simulator calls x may be anything.
        let same = |made: &str, expected: &str| made.bytes().zip(expected.bytes()).all(|(a, b)| a == b || b == b'x');
        let made: Vec<String> = made.collect();
        assert!(made.iter().zip(&expected).all(|(a, b)| same(a, b)), "{instance}: {made:?}, not {expected:?}");
    }
}

/// The block of FIPS 197, appendix C.1, and the message "abc" of FIPS 180-4.
fn has_its_known_answer(design: &str, circuit: &Circuit) {
    let initial = "6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19";
    let abc = ["61626380", &"0".repeat(56), &"0".repeat(62), "18"].concat();
    let (inputs, expected) = match design {
        "aes128" => (
            vec!["000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff"],
            "69c4e0d86a7b0430d8cdb78070b4c55a",
        ),
        "sha256" => {
            (vec![initial, &abc[..64], &abc[64..]], "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        }
        _ => return,
    };
    let inputs: Vec<bool> = inputs.iter().flat_map(|word| from_hex(word)).collect();
    assert_eq!(circuit.evaluate(&inputs), from_hex(expected), "{design}");
}

/// A number's bits, the lowest first.
fn from_hex(text: &str) -> Vec<bool> {
    let digits = text.chars().rev().map(|digit| digit.to_digit(16).expect("a digit"));
    digits.flat_map(|digit| (0..4).map(move |i| digit >> i & 1 == 1)).collect()
}
