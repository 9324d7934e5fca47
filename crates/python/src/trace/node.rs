//! What a trace is made of: operations on words, their operands by number.

use duologue::circuit::program::{Lanes as ProgramLanes, Owner, Size};
use duologue::circuit::{Bit, Circuit, Kind, Type};
use std::sync::Arc;

use super::profile::Made;

/// The place of a node that is none.
pub const NONE: u32 = u32::MAX;

/// The place of [`Lanes::one`] among the lanes of a recording.
pub const ONE: u32 = 0;

/// In place of lanes: a constant has as many as it is asked for.
pub const ANY: u32 = u32::MAX;

/// An operation. Those of the second part read or make other lanes than their operands have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    Constant(u32),
    Cast,
    Add,
    Subtract,
    Multiply,
    /// Rounded down.
    Quotient,
    Remainder,
    /// Of numbers with a point.
    Divide,
    And,
    Or,
    Xor,
    Not,
    ShiftLeft,
    ShiftRight,
    Negate,
    Absolute,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Select,
    Minimum,
    Maximum,
    /// Bits from this one on, as many as the type has.
    Slice(u32),
    CountOnes,
    /// A result of a call.
    Result {
        call: u32,
        port: u32,
    },

    Input(u32),
    Repeat,
    /// Public numbers, one a lane.
    Array(u32),
    /// One lane of several.
    Lane(u32),
    /// A result of a call over lanes.
    Folded {
        call: u32,
        port: u32,
    },
}

impl Op {
    /// Whether a lane of the result depends on the same lane of the operands, and on no other.
    pub fn is_by_lane(self) -> bool {
        !matches!(self, Op::Input(_) | Op::Repeat | Op::Array(_) | Op::Lane(_) | Op::Folded { .. })
    }
}

/// An operation on words that were recorded before.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    pub op: Op,
    pub ty: Type,
    /// The place of its lanes, or [`ANY`].
    pub lanes: u32,
    /// Operands; [`NONE`] where there is none. Those of a call are with the call.
    pub args: [u32; 3],
    /// Where in the source.
    pub site: u32,
}

/// Something with any number of operands and results.
pub struct Call {
    pub callee: Callee,
    pub args: Vec<u32>,
}

pub enum Callee {
    /// A circuit on every lane.
    Circuit(Arc<Circuit>),
    /// Bits after one another, the first operand lowest.
    Concat,
    /// The sum of products of as many factors, the left ones first.
    Dot,
    /// An entry of a public table.
    Table(Vec<u128>),
    /// One of the operands behind the first, which is the index.
    Read,
    /// Operands in order.
    Sort { descending: bool },
    /// All lanes folded to one.
    Reduce(Made),
    /// Lane by lane with a state, of which there are so many words.
    Scan(Made, usize),
    /// The operands as lanes.
    Stack,
}

/// A number of bits: the low 128, and what the others are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Constant {
    pub low: u128,
    pub above: bool,
}

impl Constant {
    pub fn bit(self, place: u32) -> bool {
        if place < 128 { self.low >> place & 1 == 1 } else { self.above }
    }

    pub fn bits(self, width: u32) -> impl Iterator<Item = Bit> {
        (0..width).map(move |place| Bit::constant(self.bit(place)))
    }
}

/// A number of lanes: a factor times sizes by their places.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lanes {
    pub factor: u64,
    pub sizes: Vec<u32>,
}

impl Lanes {
    pub fn one() -> Self {
        Lanes { factor: 1, sizes: Vec::new() }
    }

    /// The number, if it is one.
    pub fn fixed(&self) -> Option<u64> {
        self.sizes.is_empty().then_some(self.factor)
    }

    pub fn of(&self, sizes: &[Size]) -> ProgramLanes {
        let factor = ProgramLanes::from(self.factor);
        self.sizes.iter().fold(factor, |lanes, &size| lanes * sizes[size as usize])
    }
}

/// Who supplies an input, under which name.
pub struct InputPort {
    pub name: String,
    pub owner: Owner,
    pub node: u32,
}

/// Whether a type is a number without a point.
pub fn is_integer(ty: Type) -> bool {
    matches!(ty.kind, Kind::UInt | Kind::Int)
}

/// Whether it is one bit.
pub fn is_bit(ty: Type) -> bool {
    (ty.kind, ty.width) == (Kind::Bits, 1)
}

/// A type as people write it in Python.
pub fn shown(ty: Type) -> String {
    match (ty.kind, ty.width) {
        (Kind::Bits, 1) => "bit".into(),
        (Kind::UInt, 8 | 16 | 32 | 64) => format!("u{}", ty.width),
        (Kind::Int, 8 | 16 | 32 | 64) => format!("i{}", ty.width),
        (Kind::Float { exponent: 8 }, 32) => "f32".into(),
        (Kind::Float { exponent: 11 }, 64) => "f64".into(),
        (Kind::Int, width) => format!("sint({width})"),
        _ => ty.to_string(),
    }
}
