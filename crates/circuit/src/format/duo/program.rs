//! Programs and their steps.

use super::Code;
use super::primitives::{DuoReader, DuoWriter};
use crate::error::Result;
use crate::graph::{Circuit, Type};
use crate::program::{
    Functionalities, Lanes, Owner, Party, Program, ProgramId, Recipient, Size, SizeRange, Step, Value, View,
};

impl Code for Value {
    fn write(&self, out: &mut DuoWriter) {
        self.0.write(out);
    }

    fn read(from: &mut DuoReader<'_>) -> Result<Value> {
        u32::read(from).map(|number| Value(number, ProgramId::NONE))
    }
}

impl Code for Size {
    fn write(&self, out: &mut DuoWriter) {
        self.0.write(out);
    }

    fn read(from: &mut DuoReader<'_>) -> Result<Size> {
        u32::read(from).map(Size)
    }
}

impl Code for Lanes {
    fn write(&self, out: &mut DuoWriter) {
        self.factor.write(out);
        self.sizes.write(out);
    }

    fn read(from: &mut DuoReader<'_>) -> Result<Lanes> {
        let lanes = Lanes { factor: u64::read(from)?, sizes: Vec::read(from)? };
        if lanes.sizes.is_sorted() { Ok(lanes) } else { Err(from.refuse("sizes of a product out of order")) }
    }
}

impl Code for Owner {
    fn write(&self, out: &mut DuoWriter) {
        out.push(match self {
            Owner::Party(Party::Alice) => 0,
            Owner::Party(Party::Bob) => 1,
            Owner::Public => 2,
            Owner::Shared => 3,
        });
    }

    fn read(from: &mut DuoReader<'_>) -> Result<Owner> {
        match from.byte()? {
            0 => Ok(Owner::Party(Party::Alice)),
            1 => Ok(Owner::Party(Party::Bob)),
            2 => Ok(Owner::Public),
            3 => Ok(Owner::Shared),
            tag => from.unknown("owner", tag),
        }
    }
}

impl Code for Recipient {
    fn write(&self, out: &mut DuoWriter) {
        out.push(match self {
            Recipient::Party(Party::Alice) => 0,
            Recipient::Party(Party::Bob) => 1,
            Recipient::Both => 2,
            Recipient::Shared => 3,
        });
    }

    fn read(from: &mut DuoReader<'_>) -> Result<Recipient> {
        match from.byte()? {
            0 => Ok(Recipient::Party(Party::Alice)),
            1 => Ok(Recipient::Party(Party::Bob)),
            2 => Ok(Recipient::Both),
            3 => Ok(Recipient::Shared),
            tag => from.unknown("recipient", tag),
        }
    }
}

impl Code for SizeRange {
    fn write(&self, out: &mut DuoWriter) {
        self.name.write(out);
        self.range.start().write(out);
        self.range.end().write(out);
    }

    fn read(from: &mut DuoReader<'_>) -> Result<SizeRange> {
        Ok(SizeRange { name: String::read(from)?, range: u64::read(from)?..=u64::read(from)? })
    }
}

impl Code for View {
    fn write(&self, out: &mut DuoWriter) {
        match self {
            View::Bits(bits) => tagged(out, 0, |out| bits.write(out)),
            View::Join => out.push(1),
            View::Repeat(times) => tagged(out, 2, |out| times.write(out)),
            View::Slice { start, step, count } => tagged(out, 3, |out| {
                start.write(out);
                step.write(out);
                count.write(out);
            }),
            View::Chain => out.push(4),
            View::Lanes(lanes) => tagged(out, 5, |out| lanes.write(out)),
            View::Split(parts) => tagged(out, 6, |out| parts.write(out)),
            View::Merge(parts) => tagged(out, 7, |out| parts.write(out)),
        }
    }

    fn read(from: &mut DuoReader<'_>) -> Result<View> {
        Ok(match from.byte()? {
            0 => View::Bits(Vec::read(from)?),
            1 => View::Join,
            2 => View::Repeat(Lanes::read(from)?),
            3 => View::Slice { start: u64::read(from)?, step: u64::read(from)?, count: Lanes::read(from)? },
            4 => View::Chain,
            5 => View::Lanes(Vec::read(from)?),
            6 => View::Split(u32::read(from)?),
            7 => View::Merge(u32::read(from)?),
            tag => return from.unknown("view", tag),
        })
    }
}

impl Code for Step {
    fn write(&self, out: &mut DuoWriter) {
        match self {
            Step::Input { name, owner, ty, lanes } => tagged(out, 0, |out| {
                name.write(out);
                owner.write(out);
                ty.write(out);
                lanes.write(out);
            }),
            Step::Constant { ty, lanes, bits } => tagged(out, 1, |out| {
                ty.write(out);
                lanes.write(out);
                bits.write(out);
            }),
            Step::Map { circuit, args } => tagged(out, 2, |out| {
                circuit.write(out);
                args.write(out);
            }),
            Step::Reduce { circuit, args } => tagged(out, 3, |out| {
                circuit.write(out);
                args.write(out);
            }),
            Step::Iterate { circuit, cycles, state, inputs } => tagged(out, 4, |out| {
                circuit.write(out);
                cycles.write(out);
                state.write(out);
                inputs.write(out);
            }),
            Step::View { view, args } => tagged(out, 5, |out| {
                view.write(out);
                args.write(out);
            }),
            Step::Call { name, version, parameters, args } => tagged(out, 6, |out| {
                name.write(out);
                version.write(out);
                parameters.write(out);
                args.write(out);
            }),
            Step::Output { name, recipient, value } => tagged(out, 7, |out| {
                name.write(out);
                recipient.write(out);
                value.write(out);
            }),
        }
    }

    fn read(from: &mut DuoReader<'_>) -> Result<Step> {
        Ok(match from.byte()? {
            0 => Step::Input {
                name: String::read(from)?,
                owner: Owner::read(from)?,
                ty: Type::read(from)?,
                lanes: Lanes::read(from)?,
            },
            1 => Step::Constant { ty: Type::read(from)?, lanes: Lanes::read(from)?, bits: Vec::read(from)? },
            2 => Step::Map { circuit: u32::read(from)?, args: Vec::read(from)? },
            3 => Step::Reduce { circuit: u32::read(from)?, args: Vec::read(from)? },
            4 => Step::Iterate {
                circuit: u32::read(from)?,
                cycles: Lanes::read(from)?,
                state: Vec::read(from)?,
                inputs: Vec::read(from)?,
            },
            5 => Step::View { view: View::read(from)?, args: Vec::read(from)? },
            6 => Step::Call {
                name: String::read(from)?,
                version: u32::read(from)?,
                parameters: Vec::read(from)?,
                args: Vec::read(from)?,
            },
            7 => {
                Step::Output { name: String::read(from)?, recipient: Recipient::read(from)?, value: Value::read(from)? }
            }
            tag => return from.unknown("step", tag),
        })
    }
}

fn tagged(out: &mut DuoWriter, tag: u8, write: impl FnOnce(&mut DuoWriter)) {
    out.push(tag);
    write(out);
}

impl Program {
    pub(super) fn write(&self, out: &mut DuoWriter) {
        out.text(self.name());
        out.list(self.sizes());
        out.list(self.circuits());
        out.list(self.steps());
    }

    pub(super) fn read_with(from: &mut DuoReader<'_>, functionalities: &Functionalities) -> Result<Program> {
        let mut program = Program::new(String::read(from)?);
        program.set_functionalities(functionalities);
        for _ in 0..from.count()? {
            program.push_size(SizeRange::read(from)?)?;
        }
        for _ in 0..from.count()? {
            program.push_circuit(Circuit::read(from)?);
        }
        for _ in 0..from.count()? {
            let step = Step::read(from)?;
            program.push_read(step)?;
        }
        match from.bytes.len() - from.at {
            0 => Ok(program),
            left => Err(from.refuse(format!("{left} bytes after the program"))),
        }
    }
}
