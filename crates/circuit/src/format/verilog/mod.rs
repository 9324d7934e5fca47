//! Structural Verilog, written: one module of the cells of our library ([`cells`](super::cells)).
//!
//! Ports are words, with the parties that supply and learn them as attributes. `duologue compile` reads it back by Yosys,
//! to which it makes the cells known; other tools take `verilog/duologue.lib`.

mod keywords;

use super::ports::{Parties, Unique, bit_names};
use crate::graph::{Bit, Circuit, Gate, Kind, Port};
use crate::program::Party;
use keywords::is_keyword;
use std::fmt::Write;

/// The circuit as a module, whose inputs and outputs are these parties'.
pub fn write(circuit: &Circuit, parties: &Parties) -> String {
    let mut unique = Unique::new(&is_letter);
    let module = plain(&mut unique, circuit.name());
    let [inputs, outputs] = [circuit.inputs(), circuit.outputs()]
        .map(|ports| ports.iter().map(|port| plain(&mut unique, &port.name)).collect::<Vec<_>>());
    let (text, inputs_of_nodes) = (format!("module {module} (\n"), vec![None; circuit.gates().len()]);
    let mut writer = Writer { text, prefix: unique.prefix(), inputs: inputs_of_nodes };
    let declared = declarations("input", "party", circuit.inputs(), &inputs, &parties.inputs).chain(declarations(
        "output",
        "reveal",
        circuit.outputs(),
        &outputs,
        &parties.outputs,
    ));
    writer.text += &declared.collect::<Vec<_>>().join(",\n");
    writer.text += "\n);\n";
    let bits = circuit.inputs().iter().zip(&inputs).flat_map(|(port, name)| bit_names(name, port.ty));
    for (&node, name) in circuit.input_nodes().iter().zip(bits) {
        writer.inputs[node as usize] = Some(name);
    }
    writer.gates(circuit);
    let bits = circuit.outputs().iter().zip(&outputs).flat_map(|(port, name)| bit_names(name, port.ty));
    for (&bit, name) in circuit.output_bits().iter().zip(bits) {
        writer.output(bit, &name);
    }
    writer.text + "endmodule\n"
}

fn is_letter(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || sign == '_'
}

/// A name that the language has: it begins with a letter, and is no keyword.
fn plain(unique: &mut Unique, name: &str) -> String {
    match name.starts_with(|first: char| first.is_ascii_digit()) || is_keyword(name) {
        true => unique.name(&format!("_{name}")),
        false => unique.name(name),
    }
}

fn declarations<'a>(
    side: &'a str,
    attribute: &'a str,
    ports: &'a [Port],
    names: &'a [String],
    parties: &'a [Option<Party>],
) -> impl Iterator<Item = String> + 'a {
    ports.iter().zip(names).enumerate().map(move |(i, (port, name))| {
        let party = match parties.get(i).copied().flatten() {
            Some(Party::Alice) => format!("(* {attribute} = \"alice\" *) "),
            Some(Party::Bob) => format!("(* {attribute} = \"bob\" *) "),
            None => String::new(),
        };
        let signed = if port.ty.kind == Kind::Int { "signed " } else { "" };
        let range = if port.ty.width == 1 { String::new() } else { format!("[{}:0] ", port.ty.width - 1) };
        format!("    {party}{side} {signed}{range}{name}")
    })
}

struct Writer {
    text: String,
    /// What the name of a gate's wire begins with.
    prefix: String,
    /// Names of inputs, by node.
    inputs: Vec<Option<String>>,
}

impl Writer {
    fn gates(&mut self, circuit: &Circuit) {
        for (node, gate) in (0..).zip(circuit.gates()) {
            match *gate {
                Gate::False | Gate::Input => {}
                Gate::Xor(a, b) => self.gate("DUO_XOR", [a, b], node),
                Gate::And(a, b) => match (a.complemented(), b.complemented()) {
                    (false, false) => self.gate("DUO_AND", [a, b], node),
                    (false, true) => self.gate("DUO_ANDNOT", [a, b], node),
                    (true, false) => self.gate("DUO_ANDNOT", [b, a], node),
                    (true, true) => self.gate("DUO_NOR", [a, b], node),
                },
            }
        }
    }

    /// A cell that drives a wire of its own.
    fn gate(&mut self, cell: &str, [a, b]: [Bit; 2], node: u32) {
        let (a, b, wire) = (self.wire(a), self.wire(b), format!("{}{node}", self.prefix));
        self.line(format_args!("    wire {wire}; {cell} {wire}_ (.A({a}), .B({b}), .Y({wire}));"));
    }

    fn wire(&self, bit: Bit) -> String {
        match &self.inputs[bit.node() as usize] {
            Some(name) => name.clone(),
            None => format!("{}{}", self.prefix, bit.node()),
        }
    }

    fn output(&mut self, bit: Bit, name: &str) {
        match bit {
            Bit::FALSE | Bit::TRUE => {
                self.line(format_args!("    assign {name} = 1'b{};", u8::from(bit.complemented())));
            }
            _ => {
                let not = if bit.complemented() { "~" } else { "" };
                let wire = self.wire(bit);
                self.line(format_args!("    assign {name} = {not}{wire};"));
            }
        }
    }

    fn line(&mut self, line: std::fmt::Arguments) {
        writeln!(self.text, "{line}").expect("a string takes all that is written to it");
    }
}
