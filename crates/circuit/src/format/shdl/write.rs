//! Writing: gates of two inputs, complements in their tables, and a gate for each bit of an output.

use super::variables::comment;
use crate::format::ports::{Parties, Unique, is_plain};
use crate::graph::{Bit, Circuit, Gate, Port};
use crate::program::Party;
use std::fmt::Write;

/// The circuit, whose inputs and outputs are these parties'.
pub fn write(circuit: &Circuit, parties: &Parties) -> String {
    let mut writer = Writer { text: String::new(), next: 0, wires: vec![0; circuit.gates().len()] };
    let mut nodes = circuit.input_nodes().iter();
    for (name, width) in comments("input", circuit.inputs(), &parties.inputs) {
        for (bit, &node) in (0..width).zip(nodes.by_ref()) {
            writer.wires[node as usize] = writer.wire();
            writer.line("input", &[], &[], &name(bit));
        }
    }
    for (node, gate) in circuit.gates().iter().enumerate() {
        writer.gate(node, *gate);
    }
    let mut bits = circuit.output_bits().iter();
    for (name, width) in comments("output", circuit.outputs(), &parties.outputs) {
        for (place, &bit) in (0..width).zip(bits.by_ref()) {
            writer.output(bit, &name(place));
        }
    }
    writer.text
}

/// For each port the comments of its bits, and how many there are.
fn comments<'a>(
    side: &'a str,
    ports: &'a [Port],
    parties: &'a [Option<Party>],
) -> impl Iterator<Item = (impl Fn(u32) -> String + 'a, u32)> + 'a {
    let names = Unique::new(&is_plain).ports(ports);
    ports.iter().zip(names).enumerate().map(move |(i, (port, name))| {
        let party = parties.get(i).copied().flatten();
        (move |bit| format!("\t//{}", comment(side, party, &name, bit)), port.ty.width)
    })
}

struct Writer {
    text: String,
    next: u32,
    /// The wire of each node.
    wires: Vec<u32>,
}

impl Writer {
    fn wire(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    fn gate(&mut self, node: usize, gate: Gate) {
        let (a, b, of): (Bit, Bit, fn(bool, bool) -> bool) = match gate {
            Gate::False | Gate::Input => return,
            Gate::Xor(a, b) => (a, b, |a, b| a ^ b),
            Gate::And(a, b) => (a, b, |a, b| a & b),
        };
        self.wires[node] = self.wire();
        let value = |x: u8| of((x & 1 == 1) ^ a.complemented(), (x & 2 == 2) ^ b.complemented());
        self.line("gate", &[0, 1, 2, 3].map(value), &[a, b], "");
    }

    fn output(&mut self, bit: Bit, comment: &str) {
        self.wire();
        match bit.node() {
            0 => self.line("output gate", &[bit.complemented()], &[], comment),
            _ => self.line("output gate", &[bit.complemented(), !bit.complemented()], &[bit], comment),
        }
    }

    /// The line of the newest wire.
    fn line(&mut self, kind: &str, table: &[bool], inputs: &[Bit], comment: &str) {
        let mut write = || -> std::fmt::Result {
            write!(self.text, "{} {kind}", self.next - 1)?;
            if !table.is_empty() {
                write!(self.text, " arity {} table [ ", inputs.len())?;
                table.iter().try_for_each(|&bit| write!(self.text, "{} ", u8::from(bit)))?;
                self.text += "] inputs [ ";
                inputs.iter().try_for_each(|bit| write!(self.text, "{} ", self.wires[bit.node() as usize]))?;
                self.text.push(']');
            }
            writeln!(self.text, "{comment}")
        };
        write().expect("a string takes all that is written to it");
    }
}
