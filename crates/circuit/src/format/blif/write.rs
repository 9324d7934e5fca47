//! Writing: a cover for each gate, complements of what it reads included, and one for each output bit.
//!
//! A name that an output has in common with an input, or with what another port becomes without signs that the format has
//! not, ends in a number.

use crate::format::ports::{Unique, bit_names, is_plain};
use crate::graph::{Bit, Circuit, Gate, Port};
use std::fmt::Write;

/// The signs of a line, after which lists of names go on in the next one.
const LINE: usize = 100;

/// The circuit as a model.
pub fn write(circuit: &Circuit) -> String {
    let mut unique = Unique::new(&is_plain);
    let (inputs, outputs) = (unique.ports(circuit.inputs()), unique.ports(circuit.outputs()));
    let (inputs, outputs) = (bits_of(circuit.inputs(), &inputs), bits_of(circuit.outputs(), &outputs));
    let model = Unique::new(&is_plain).name(circuit.name());
    let mut writer = Writer { text: format!(".model {model}\n"), prefix: unique.prefix(), inputs: Vec::new() };
    writer.list(".inputs", &inputs);
    writer.list(".outputs", &outputs);
    writer.gates(circuit, inputs);
    for (&bit, name) in circuit.output_bits().iter().zip(&outputs) {
        writer.output(bit, name);
    }
    writer.text + ".end\n"
}

fn bits_of(ports: &[Port], names: &[String]) -> Vec<String> {
    ports.iter().zip(names).flat_map(|(port, name)| bit_names(name, port.ty)).collect()
}

struct Writer {
    text: String,
    /// What the name of a gate's net begins with.
    prefix: String,
    /// Names of inputs, by node.
    inputs: Vec<Option<String>>,
}

impl Writer {
    fn list(&mut self, command: &str, names: &[String]) {
        self.text += command;
        let mut length = command.len();
        for name in names {
            if length > LINE {
                self.text += " \\\n";
                length = 0;
            }
            length += 1 + name.len();
            write!(self.text, " {name}").expect("a string takes all that is written to it");
        }
        self.text.push('\n');
    }

    fn gates(&mut self, circuit: &Circuit, names: Vec<String>) {
        self.inputs.resize(circuit.gates().len(), None);
        for (&node, name) in circuit.input_nodes().iter().zip(names) {
            self.inputs[node as usize] = Some(name);
        }
        for (node, gate) in (0..).zip(circuit.gates()) {
            match *gate {
                Gate::False | Gate::Input => {}
                Gate::Xor(a, b) => self.gate([a, b], node, "01 1\n10 1\n"),
                Gate::And(a, b) => {
                    let sign = |bit: Bit| if bit.complemented() { '0' } else { '1' };
                    self.gate([a, b], node, &format!("{}{} 1\n", sign(a), sign(b)));
                }
            }
        }
    }

    fn gate(&mut self, operands: [Bit; 2], node: u32, cover: &str) {
        self.text += ".names ";
        operands.iter().for_each(|bit| self.net(bit.node()));
        self.net(node);
        self.text.pop();
        self.text.push('\n');
        self.text += cover;
    }

    /// The name of a node's net, and a space.
    fn net(&mut self, node: u32) {
        let written = match &self.inputs[node as usize] {
            Some(name) => write!(self.text, "{name} "),
            None => write!(self.text, "{}{node} ", self.prefix),
        };
        written.expect("a string takes all that is written to it");
    }

    fn output(&mut self, bit: Bit, name: &str) {
        self.text += ".names ";
        if bit.node() != 0 {
            self.net(bit.node());
        }
        let cover = match bit {
            Bit::FALSE => "",
            Bit::TRUE => "1\n",
            _ if bit.complemented() => "0 1\n",
            _ => "1 1\n",
        };
        write!(self.text, "{name}\n{cover}").expect("a string takes all that is written to it");
    }
}
