//! Writing.
//!
//! Complements become INV gates, one a node at most. Outputs must be the last wires, each a wire of its own: a gate that
//! is an output is written there at once, and what is there already (an input, a second mention) is copied.

use std::fmt::Write;

use rustc_hash::FxHashMap;

use super::Dialect;
use crate::error::{Error, Result};
use crate::graph::{Bit, Circuit, Gate, Port};

/// The circuit in Bristol Fashion.
pub fn write(circuit: &Circuit) -> String {
    let lines = Writer::new(circuit, Dialect::Fashion).run();
    let mut text = lines.sizes(circuit);
    for ports in [circuit.inputs(), circuit.outputs()] {
        let widths: String = ports.iter().map(|port| format!(" {}", port.ty.width)).collect();
        text += &format!("{}{widths}\n", ports.len());
    }
    lines.gates(circuit, text)
}

/// The circuit in the old format, which knows at most two inputs and exactly one output.
pub fn write_old(circuit: &Circuit) -> Result<String> {
    let width = |port: Option<&Port>| port.map_or(0, |port| port.ty.width);
    let (inputs, outputs) = (circuit.inputs(), circuit.outputs());
    if inputs.is_empty() || inputs.len() > 2 || outputs.len() != 1 {
        let why = format!(
            "the old Bristol format has one or two inputs and one output, circuit '{}' has {} and {}",
            circuit.name(),
            inputs.len(),
            outputs.len()
        );
        return Err(Error::usage(why));
    }
    let lines = Writer::new(circuit, Dialect::Old).run();
    let mut text = lines.sizes(circuit);
    text += &format!("{} {} {}\n", width(inputs.first()), width(inputs.get(1)), outputs[0].ty.width);
    Ok(lines.gates(circuit, text))
}

/// A wire before the wires are numbered: the inner ones are counted as they come, the outputs follow the last of them.
#[derive(Clone, Copy)]
enum UnnumberedWire {
    Input(u32),
    Inner(u32),
    Output(u32),
}

enum GateLine {
    Two(&'static str, UnnumberedWire, UnnumberedWire, UnnumberedWire),
    One(&'static str, UnnumberedWire, UnnumberedWire),
    Constant(bool, UnnumberedWire),
}

/// All gates, wires not yet numbered.
struct GateLines {
    lines: Vec<GateLine>,
    inner: u32,
}

struct Writer<'a> {
    circuit: &'a Circuit,
    dialect: Dialect,
    /// The wires that exist, by what they carry.
    wires: FxHashMap<Bit, UnnumberedWire>,
    /// The first output that wants each bit.
    wanted: FxHashMap<Bit, u32>,
    out: GateLines,
}

impl<'a> Writer<'a> {
    fn new(circuit: &'a Circuit, dialect: Dialect) -> Self {
        let inputs = circuit.input_nodes().iter().zip(0..);
        let wires = inputs.map(|(&node, i)| (Bit::new(node, false), UnnumberedWire::Input(i))).collect();
        let mut wanted = FxHashMap::default();
        for (&bit, output) in circuit.output_bits().iter().zip(0..) {
            wanted.entry(bit).or_insert(output);
        }
        Writer { circuit, dialect, wires, wanted, out: GateLines { lines: Vec::new(), inner: 0 } }
    }

    fn run(mut self) -> GateLines {
        for (node, gate) in (0..).zip(self.circuit.gates()) {
            let bit = Bit::new(node, false);
            match *gate {
                Gate::False | Gate::Input => {}
                Gate::Xor(a, b) => self.two("XOR", a, b, bit),
                Gate::And(a, b) => self.two("AND", a, b, bit),
            }
        }
        for (&bit, output) in self.circuit.output_bits().iter().zip(0..) {
            let wire = self.wire(bit);
            if !matches!(wire, UnnumberedWire::Output(there) if there == output) {
                self.copy(wire, output);
            }
        }
        self.out
    }

    fn two(&mut self, name: &'static str, a: Bit, b: Bit, bit: Bit) {
        let (a, b) = (self.wire(a), self.wire(b));
        let place = self.place(bit);
        self.out.lines.push(GateLine::Two(name, a, b, place));
    }

    /// The wire that carries this bit; complements and constants are made when they are first asked for.
    fn wire(&mut self, bit: Bit) -> UnnumberedWire {
        if let Some(&wire) = self.wires.get(&bit) {
            return wire;
        }
        let line = match (bit.node(), self.dialect) {
            (0, Dialect::Fashion) => GateLine::Constant(bit == Bit::TRUE, self.place(bit)),
            (0, Dialect::Old) if bit == Bit::FALSE => {
                GateLine::Two("XOR", UnnumberedWire::Input(0), UnnumberedWire::Input(0), self.place(bit))
            }
            _ => {
                let plain = self.wire(!bit);
                GateLine::One("INV", plain, self.place(bit))
            }
        };
        self.out.lines.push(line);
        self.wires[&bit]
    }

    /// A new wire for this bit: that of the first output which wants it, or an inner one.
    fn place(&mut self, bit: Bit) -> UnnumberedWire {
        let wire = match self.wanted.get(&bit) {
            Some(&output) => UnnumberedWire::Output(output),
            None => self.inner(),
        };
        self.wires.insert(bit, wire);
        wire
    }

    fn inner(&mut self) -> UnnumberedWire {
        self.out.inner += 1;
        UnnumberedWire::Inner(self.out.inner - 1)
    }

    fn copy(&mut self, from: UnnumberedWire, output: u32) {
        match self.dialect {
            Dialect::Fashion => self.out.lines.push(GateLine::One("EQW", from, UnnumberedWire::Output(output))),
            Dialect::Old => {
                let between = self.inner();
                self.out.lines.push(GateLine::One("INV", from, between));
                self.out.lines.push(GateLine::One("INV", between, UnnumberedWire::Output(output)));
            }
        }
    }
}

impl GateLines {
    fn sizes(&self, circuit: &Circuit) -> String {
        let wires = circuit.input_width() + self.inner as usize + circuit.output_width();
        format!("{} {wires}\n", self.lines.len())
    }

    fn gates(&self, circuit: &Circuit, mut text: String) -> String {
        let inputs = circuit.input_width() as u32;
        let number = |wire: UnnumberedWire| match wire {
            UnnumberedWire::Input(i) => i,
            UnnumberedWire::Inner(i) => inputs + i,
            UnnumberedWire::Output(i) => inputs + self.inner + i,
        };
        text.push('\n');
        for line in &self.lines {
            let written = match *line {
                GateLine::Two(name, a, b, to) => {
                    writeln!(text, "2 1 {} {} {} {name}", number(a), number(b), number(to))
                }
                GateLine::One(name, a, to) => writeln!(text, "1 1 {} {} {name}", number(a), number(to)),
                GateLine::Constant(value, to) => {
                    writeln!(text, "1 1 {} {} EQ", u8::from(value), number(to))
                }
            };
            written.expect("a string takes all that is written to it");
        }
        text
    }
}
