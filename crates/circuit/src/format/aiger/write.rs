//! Writing. An XOR is three ANDs there, ¬(a ∧ b) ∧ ¬(¬a ∧ ¬b); every input and output bit has its name.

use crate::error::{Error, Result};
use crate::format::ports::{Unique, bit_names, is_plain};
use crate::graph::{Bit, Circuit, Gate, Port};
use std::io::Write;

/// The most variables that [`read`](super::read) takes.
const MOST_VARIABLES: u64 = 1 << 30;

/// The circuit in binary (`aig`).
///
/// # Errors
/// If it has 2^30 ANDs or more.
pub fn write(circuit: &Circuit) -> Result<Vec<u8>> {
    let graph = Ands::of(circuit)?;
    let mut file = graph.header("aig");
    graph.outputs.iter().for_each(|literal| line(&mut file, &[*literal]));
    for (output, [left, right]) in graph.numbered() {
        difference(&mut file, output - left);
        difference(&mut file, left - right);
    }
    symbols(&mut file, circuit);
    Ok(file)
}

/// The circuit in ASCII (`aag`).
///
/// # Errors
/// If it has 2^30 ANDs or more.
pub fn write_ascii(circuit: &Circuit) -> Result<Vec<u8>> {
    let graph = Ands::of(circuit)?;
    let mut file = graph.header("aag");
    (1..=graph.inputs).for_each(|input| line(&mut file, &[2 * input]));
    graph.outputs.iter().for_each(|literal| line(&mut file, &[*literal]));
    graph.numbered().for_each(|(output, [left, right])| line(&mut file, &[output, left, right]));
    symbols(&mut file, circuit);
    Ok(file)
}

/// The circuit as ANDs of literals: inputs come first, then ANDs in their order.
struct Ands {
    inputs: u32,
    /// The operands, the greater one first.
    ands: Vec<[u32; 2]>,
    outputs: Vec<u32>,
}

impl Ands {
    fn of(circuit: &Circuit) -> Result<Ands> {
        let count = |gate: &Gate| match gate {
            Gate::False => 0,
            Gate::Input | Gate::And(..) => 1,
            Gate::Xor(..) => 3,
        };
        let variables: u64 = circuit.gates().iter().map(count).sum();
        if variables >= MOST_VARIABLES {
            return Err(Error::usage(format!(
                "{variables} ANDs and inputs; an AIGER file of ours has fewer than 2^30"
            )));
        }
        let mut graph = Ands { inputs: circuit.input_width() as u32, ands: Vec::new(), outputs: Vec::new() };
        let mut literals = vec![0; circuit.gates().len()];
        for (&node, input) in circuit.input_nodes().iter().zip(1..) {
            literals[node as usize] = 2 * input;
        }
        let literal = |literals: &[u32], bit: Bit| literals[bit.node() as usize] ^ u32::from(bit.complemented());
        for (node, gate) in circuit.gates().iter().enumerate() {
            literals[node] = match *gate {
                Gate::False | Gate::Input => continue,
                Gate::And(a, b) => graph.and(literal(&literals, a), literal(&literals, b)),
                Gate::Xor(a, b) => graph.xor(literal(&literals, a), literal(&literals, b)),
            };
        }
        graph.outputs = circuit.output_bits().iter().map(|&bit| literal(&literals, bit)).collect();
        Ok(graph)
    }

    fn and(&mut self, a: u32, b: u32) -> u32 {
        self.ands.push([a.max(b), a.min(b)]);
        2 * (self.inputs + self.ands.len() as u32)
    }

    fn xor(&mut self, a: u32, b: u32) -> u32 {
        let (both, neither) = (self.and(a, b), self.and(a ^ 1, b ^ 1));
        self.and(both ^ 1, neither ^ 1)
    }

    /// The ANDs with their literals.
    fn numbered(&self) -> impl Iterator<Item = (u32, [u32; 2])> + '_ {
        (self.inputs + 1..).map(|variable| 2 * variable).zip(self.ands.iter().copied())
    }

    fn header(&self, magic: &str) -> Vec<u8> {
        let (inputs, ands) = (self.inputs, self.ands.len() as u32);
        let mut file = format!("{magic} ").into_bytes();
        line(&mut file, &[inputs + ands, inputs, 0, self.outputs.len() as u32, ands]);
        file
    }
}

fn line(file: &mut Vec<u8>, numbers: &[u32]) {
    for (i, number) in numbers.iter().enumerate() {
        let space = if i == 0 { "" } else { " " };
        write!(file, "{space}{number}").expect("a vector takes all that is written to it");
    }
    file.push(b'\n');
}

/// Seven bits a byte, the lowest first; the highest bit says that more follows.
fn difference(file: &mut Vec<u8>, mut value: u32) {
    while value >= 128 {
        file.push(value as u8 | 128);
        value >>= 7;
    }
    file.push(value as u8);
}

fn symbols(file: &mut Vec<u8>, circuit: &Circuit) {
    for (side, ports) in [('i', circuit.inputs()), ('o', circuit.outputs())] {
        let names = Unique::new(&is_plain).ports(ports);
        let of = |(port, name): (&Port, &String)| bit_names(name, port.ty);
        for (i, name) in ports.iter().zip(&names).flat_map(of).enumerate() {
            writeln!(file, "{side}{i} {name}").expect("a vector takes all that is written to it");
        }
    }
}
