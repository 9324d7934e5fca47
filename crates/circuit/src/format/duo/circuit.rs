//! Circuits and their types.

use super::Code;
use super::primitives::{DuoReader, DuoWriter};
use crate::error::Result;
use crate::graph::{Bit, Circuit, Gate, Kind, Port, Type};

impl Code for Type {
    fn write(&self, out: &mut DuoWriter) {
        let (tag, parameter) = match self.kind {
            Kind::Bits => (0u8, 0),
            Kind::UInt => (1, 0),
            Kind::Int => (2, 0),
            Kind::Fixed { fraction } => (3, fraction),
            Kind::Float { exponent } => (4, exponent),
        };
        tag.write(out);
        self.width.write(out);
        parameter.write(out);
    }

    fn read(from: &mut DuoReader<'_>) -> Result<Type> {
        let (tag, width, parameter) = (from.byte()?, u32::read(from)?, u32::read(from)?);
        let kind = match tag {
            0 => Kind::Bits,
            1 => Kind::UInt,
            2 => Kind::Int,
            3 => Kind::Fixed { fraction: parameter },
            4 => Kind::Float { exponent: parameter },
            tag => return from.unknown("type", tag),
        };
        Ok(Type { kind, width })
    }
}

impl Code for Port {
    fn write(&self, out: &mut DuoWriter) {
        self.name.write(out);
        self.ty.write(out);
    }

    fn read(from: &mut DuoReader<'_>) -> Result<Port> {
        Ok(Port { name: String::read(from)?, ty: Type::read(from)? })
    }
}

impl Code for Bit {
    fn write(&self, out: &mut DuoWriter) {
        (u64::from(self.node()) << 1 | u64::from(self.complemented())).write(out);
    }

    fn read(from: &mut DuoReader<'_>) -> Result<Bit> {
        let literal = u32::read(from)?;
        Ok(Bit::new(literal >> 1, literal & 1 == 1))
    }
}

impl Code for Gate {
    fn write(&self, out: &mut DuoWriter) {
        match self {
            Gate::False => out.push(0),
            Gate::Input => out.push(1),
            Gate::Xor(a, b) => {
                out.push(2);
                a.write(out);
                b.write(out);
            }
            Gate::And(a, b) => {
                out.push(3);
                a.write(out);
                b.write(out);
            }
        }
    }

    fn read(from: &mut DuoReader<'_>) -> Result<Gate> {
        match from.byte()? {
            0 => Ok(Gate::False),
            1 => Ok(Gate::Input),
            2 => Ok(Gate::Xor(Bit::read(from)?, Bit::read(from)?)),
            3 => Ok(Gate::And(Bit::read(from)?, Bit::read(from)?)),
            tag => from.unknown("gate", tag),
        }
    }
}

impl Code for Circuit {
    fn write(&self, out: &mut DuoWriter) {
        out.text(self.name());
        out.list(self.inputs());
        out.list(self.outputs());
        out.list(self.gates());
        out.list(self.input_nodes());
        out.list(self.output_bits());
    }

    fn read(from: &mut DuoReader<'_>) -> Result<Circuit> {
        let (name, inputs, outputs) = (String::read(from)?, Vec::read(from)?, Vec::read(from)?);
        let (gates, input_nodes, output_bits) = (Vec::read(from)?, Vec::read(from)?, Vec::read(from)?);
        Circuit::from_parts(name, gates, inputs, outputs, input_nodes, output_bits)
    }
}
