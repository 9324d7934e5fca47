//! The `.duo` file: a program in one canonical encoding, with its digest at the end.
//!
//! Layout: the ten bytes `duologue␊␀`, the version as two bytes, the program, and the 32-byte BLAKE3 digest of all before it.
//! Numbers are LEB128 without superfluous bytes, counts stand before lists, strings are UTF-8. The digest is what the
//! parties compare, so one program has exactly one encoding: a file that decodes to a program which encodes otherwise
//! is refused.

use crate::error::{Error, Result};
use crate::graph::{Bit, Circuit, Gate, Kind, Port, Type};
use crate::program::{Lanes, Owner, Party, Program, Recipient, Size, SizeRange, Step, Value, View};

const MAGIC: &[u8; 10] = b"duologue\n\0";
const VERSION: u16 = 1;
const DIGEST: usize = 32;

impl Program {
    /// The program as a `.duo` file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.check()?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        self.write(&mut bytes);
        let digest = blake3::hash(&bytes);
        bytes.extend(digest.as_bytes());
        Ok(bytes)
    }

    /// The digest that parties compare: BLAKE3 of the canonical encoding.
    pub fn digest(&self) -> Result<[u8; DIGEST]> {
        let bytes = self.to_bytes()?;
        let (_, digest) = bytes.split_last_chunk().expect("a file ends in its digest");
        Ok(*digest)
    }

    /// Reads a `.duo` file; every property of the program is checked.
    pub fn from_bytes(bytes: &[u8]) -> Result<Program> {
        let refuse = |why: &str| Error::invalid("program file", why);
        let Some((head, rest)) = bytes.split_first_chunk::<12>() else {
            return Err(refuse("too short for a program file"));
        };
        if head[..10] != *MAGIC {
            return Err(refuse("does not begin like a program file"));
        }
        let version = u16::from_le_bytes([head[10], head[11]]);
        if version != VERSION {
            return Err(refuse(&format!("version {version}; this program reads version {VERSION}")));
        }
        let Some((body, digest)) = rest.split_last_chunk::<DIGEST>() else {
            return Err(refuse("cut off"));
        };
        if blake3::hash(&bytes[..bytes.len() - DIGEST]) != *digest {
            return Err(refuse("the digest does not fit: the file is cut off or changed"));
        }
        let mut reader = Reader { bytes: body, at: 0 };
        let program = Program::read(&mut reader)?;
        if program.to_bytes()? != bytes {
            return Err(refuse("not in the canonical encoding"));
        }
        Ok(program)
    }
}

/// Something that has one encoding.
trait Code: Sized {
    fn write(&self, out: &mut Vec<u8>);
    fn read(from: &mut Reader<'_>) -> Result<Self>;
}

/// Bytes of a file and how far they are read.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn refuse(&self, why: impl Into<String>) -> Error {
        Error::invalid(format!("program file, byte {}", self.at + MAGIC.len() + 2), why)
    }

    fn byte(&mut self) -> Result<u8> {
        let byte = *self.bytes.get(self.at).ok_or_else(|| self.refuse("ends too early"))?;
        self.at += 1;
        Ok(byte)
    }

    fn take(&mut self, count: usize) -> Result<&[u8]> {
        let end = self.at.checked_add(count).filter(|&end| end <= self.bytes.len());
        let end = end.ok_or_else(|| self.refuse("ends too early"))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// A number of elements; each has at least one byte, so that the file's length bounds what is allocated.
    fn count(&mut self) -> Result<usize> {
        let count = u64::read(self)?;
        if count > (self.bytes.len() - self.at) as u64 {
            return Err(self.refuse(format!("{count} elements in the {} bytes left", self.bytes.len() - self.at)));
        }
        Ok(count as usize)
    }

    fn unknown<T>(&self, what: &str, tag: u8) -> Result<T> {
        Err(self.refuse(format!("unknown {what} {tag}")))
    }
}

impl Code for u64 {
    fn write(&self, out: &mut Vec<u8>) {
        let mut rest = *self;
        while rest >= 0x80 {
            out.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        out.push(rest as u8);
    }

    fn read(from: &mut Reader<'_>) -> Result<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = from.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(from.refuse("a number of more than 64 bits"))
    }
}

impl Code for u32 {
    fn write(&self, out: &mut Vec<u8>) {
        u64::from(*self).write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<u32> {
        u64::read(from)?.try_into().map_err(|_| from.refuse("a number of more than 32 bits"))
    }
}

impl Code for u8 {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(*self);
    }

    fn read(from: &mut Reader<'_>) -> Result<u8> {
        from.byte()
    }
}

impl Code for String {
    fn write(&self, out: &mut Vec<u8>) {
        (self.len() as u64).write(out);
        out.extend(self.as_bytes());
    }

    fn read(from: &mut Reader<'_>) -> Result<String> {
        let count = from.count()?;
        let bytes = from.take(count)?.to_vec();
        String::from_utf8(bytes).map_err(|_| from.refuse("a name that is not UTF-8"))
    }
}

impl<T: Code> Code for Vec<T> {
    fn write(&self, out: &mut Vec<u8>) {
        (self.len() as u64).write(out);
        self.iter().for_each(|element| element.write(out));
    }

    fn read(from: &mut Reader<'_>) -> Result<Vec<T>> {
        let count = from.count()?;
        (0..count).map(|_| T::read(from)).collect()
    }
}

impl Code for bool {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(*self as u8);
    }

    fn read(from: &mut Reader<'_>) -> Result<bool> {
        match from.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            tag => from.unknown("truth value", tag),
        }
    }
}

impl Code for Value {
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Value> {
        u32::read(from).map(Value)
    }
}

impl Code for Size {
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Size> {
        u32::read(from).map(Size)
    }
}

impl Code for Lanes {
    fn write(&self, out: &mut Vec<u8>) {
        self.factor.write(out);
        self.sizes.write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Lanes> {
        let lanes = Lanes { factor: u64::read(from)?, sizes: Vec::read(from)? };
        if lanes.sizes.is_sorted() { Ok(lanes) } else { Err(from.refuse("sizes of a product out of order")) }
    }
}

impl Code for Type {
    fn write(&self, out: &mut Vec<u8>) {
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

    fn read(from: &mut Reader<'_>) -> Result<Type> {
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

impl Code for Owner {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(match self {
            Owner::Party(Party::Alice) => 0,
            Owner::Party(Party::Bob) => 1,
            Owner::Public => 2,
            Owner::Shared => 3,
        });
    }

    fn read(from: &mut Reader<'_>) -> Result<Owner> {
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
    fn write(&self, out: &mut Vec<u8>) {
        out.push(match self {
            Recipient::Party(Party::Alice) => 0,
            Recipient::Party(Party::Bob) => 1,
            Recipient::Both => 2,
            Recipient::Shared => 3,
        });
    }

    fn read(from: &mut Reader<'_>) -> Result<Recipient> {
        match from.byte()? {
            0 => Ok(Recipient::Party(Party::Alice)),
            1 => Ok(Recipient::Party(Party::Bob)),
            2 => Ok(Recipient::Both),
            3 => Ok(Recipient::Shared),
            tag => from.unknown("recipient", tag),
        }
    }
}

impl Code for Port {
    fn write(&self, out: &mut Vec<u8>) {
        self.name.write(out);
        self.ty.write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Port> {
        Ok(Port { name: String::read(from)?, ty: Type::read(from)? })
    }
}

impl Code for Bit {
    fn write(&self, out: &mut Vec<u8>) {
        (u64::from(self.node()) << 1 | u64::from(self.complemented())).write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Bit> {
        let literal = u32::read(from)?;
        Ok(Bit::new(literal >> 1, literal & 1 == 1))
    }
}

impl Code for Gate {
    fn write(&self, out: &mut Vec<u8>) {
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

    fn read(from: &mut Reader<'_>) -> Result<Gate> {
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
    fn write(&self, out: &mut Vec<u8>) {
        self.name().to_owned().write(out);
        self.inputs().to_vec().write(out);
        self.outputs().to_vec().write(out);
        self.gates().to_vec().write(out);
        self.input_nodes().to_vec().write(out);
        self.output_bits().to_vec().write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Circuit> {
        let (name, inputs, outputs) = (String::read(from)?, Vec::read(from)?, Vec::read(from)?);
        let (gates, input_nodes, output_bits) = (Vec::read(from)?, Vec::read(from)?, Vec::read(from)?);
        Circuit::from_parts(name, gates, inputs, outputs, input_nodes, output_bits)
    }
}

impl Code for SizeRange {
    fn write(&self, out: &mut Vec<u8>) {
        self.name.write(out);
        self.range.start().write(out);
        self.range.end().write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<SizeRange> {
        Ok(SizeRange { name: String::read(from)?, range: u64::read(from)?..=u64::read(from)? })
    }
}

impl Code for View {
    fn write(&self, out: &mut Vec<u8>) {
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

    fn read(from: &mut Reader<'_>) -> Result<View> {
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
    fn write(&self, out: &mut Vec<u8>) {
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

    fn read(from: &mut Reader<'_>) -> Result<Step> {
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

fn tagged(out: &mut Vec<u8>, tag: u8, write: impl FnOnce(&mut Vec<u8>)) {
    out.push(tag);
    write(out);
}

impl Code for Program {
    fn write(&self, out: &mut Vec<u8>) {
        self.name().to_owned().write(out);
        self.sizes().to_vec().write(out);
        self.circuits().to_vec().write(out);
        self.steps().to_vec().write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Program> {
        let mut program = Program::new(String::read(from)?);
        for _ in 0..from.count()? {
            program.push_size(SizeRange::read(from)?)?;
        }
        for _ in 0..from.count()? {
            program.push_circuit(Circuit::read(from)?);
        }
        for _ in 0..from.count()? {
            program.push(Step::read(from)?)?;
        }
        match from.bytes.len() - from.at {
            0 => Ok(program),
            left => Err(from.refuse(format!("{left} bytes after the program"))),
        }
    }
}
