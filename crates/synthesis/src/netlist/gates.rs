//! Gates of single bits, of which a netlist may have millions: each takes a few bytes, where a cell takes hundreds.

use super::place::Place;
use super::{Cell, Signal};
use circuit::{Bit, Builder};

/// What a gate computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Buf,
    Not,
    And,
    Nand,
    Or,
    Nor,
    Xor,
    Xnor,
    AndNot,
    OrNot,
    Mux,
    Nmux,
    Aoi3,
    Oai3,
    Aoi4,
    Oai4,
}

/// A gate of which every port has one bit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gate {
    pub kind: Kind,
    /// In the order of the names of its ports; those that it has not are 0.
    pub inputs: [Signal; 4],
    pub output: Signal,
    pub place: Place,
}

impl Gate {
    pub fn reads(&self) -> &[Signal] {
        &self.inputs[..self.kind.inputs()]
    }

    /// The value for those of the inputs.
    pub fn build(&self, c: &mut Builder, [a, b, d, e]: [Bit; 4]) -> Bit {
        match self.kind {
            Kind::Buf => a,
            Kind::Not => !a,
            Kind::And => c.and(a, b),
            Kind::Nand => !c.and(a, b),
            Kind::Or => c.or(a, b),
            Kind::Nor => !c.or(a, b),
            Kind::Xor => c.xor(a, b),
            Kind::Xnor => !c.xor(a, b),
            Kind::AndNot => c.and(a, !b),
            Kind::OrNot => c.or(a, !b),
            Kind::Mux => self.select(c, a, b, d),
            Kind::Nmux => !self.select(c, a, b, d),
            Kind::Aoi3 | Kind::Aoi4 => !or_of_ands(c, [a, b], d, (self.kind == Kind::Aoi4).then_some(e)),
            // An AND of ORs is an OR of ANDs of the complements, complemented.
            Kind::Oai3 | Kind::Oai4 => or_of_ands(c, [!a, !b], !d, (self.kind == Kind::Oai4).then_some(!e)),
        }
    }

    /// What may be anything is what the other side is.
    fn select(&self, c: &mut Builder, a: Bit, b: Bit, select: Bit) -> Bit {
        match self.inputs {
            [Signal::Unknown, ..] => b,
            [_, Signal::Unknown, ..] => a,
            _ => c.mux(select, b, a),
        }
    }
}

/// ab ∨ d, or ab ∨ de.
fn or_of_ands(c: &mut Builder, [a, b]: [Bit; 2], d: Bit, e: Option<Bit>) -> Bit {
    let left = c.and(a, b);
    let right = e.map_or(d, |e| c.and(d, e));
    c.or(left, right)
}

impl Kind {
    /// The gate of a cell whose ports have one bit each. Selections of words stay cells, because others look for them.
    pub fn of(kind: &str) -> Option<Kind> {
        Some(match kind {
            "$_BUF_" => Kind::Buf,
            "$_NOT_" | "$not" => Kind::Not,
            "$_AND_" | "$and" => Kind::And,
            "$_NAND_" => Kind::Nand,
            "$_OR_" | "$or" => Kind::Or,
            "$_NOR_" => Kind::Nor,
            "$_XOR_" | "$xor" => Kind::Xor,
            "$_XNOR_" | "$xnor" => Kind::Xnor,
            "$_ANDNOT_" => Kind::AndNot,
            "$_ORNOT_" => Kind::OrNot,
            "$_MUX_" => Kind::Mux,
            "$_NMUX_" => Kind::Nmux,
            "$_AOI3_" => Kind::Aoi3,
            "$_OAI3_" => Kind::Oai3,
            "$_AOI4_" => Kind::Aoi4,
            "$_OAI4_" => Kind::Oai4,
            _ => return None,
        })
    }

    fn inputs(self) -> usize {
        self.ports().len()
    }

    /// The names of the inputs, in their order.
    pub fn ports(self) -> &'static [&'static str] {
        match self {
            Kind::Buf | Kind::Not => &["A"],
            Kind::Mux | Kind::Nmux => &["A", "B", "S"],
            Kind::Aoi3 | Kind::Oai3 => &["A", "B", "C"],
            Kind::Aoi4 | Kind::Oai4 => &["A", "B", "C", "D"],
            _ => &["A", "B"],
        }
    }
}

impl Gate {
    /// The gate that a cell is, if it is one.
    pub fn of(cell: &Cell, place: impl FnOnce() -> Place) -> Option<Gate> {
        let kind = Kind::of(&cell.kind)?;
        let [(output, y)] = &cell.outputs[..] else { return None };
        let (&[signal], "Y") = (&y[..], output.as_str()) else { return None };
        let ports = kind.ports();
        if cell.inputs.len() != ports.len() || cell.hidden {
            return None;
        }
        let mut inputs = [Signal::Zero; 4];
        for ((port, (name, bits)), input) in ports.iter().zip(&cell.inputs).zip(&mut inputs) {
            let (&[bit], true) = (&bits[..], name == port) else { return None };
            *input = bit;
        }
        Some(Gate { kind, inputs, output: signal, place: place() })
    }
}
