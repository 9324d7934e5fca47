//! A recording: operations in the order in which they were asked for, each with the type and the lanes of its result.

use super::gates::gates;
use super::node::{ANY, Call, Callee, Constant, InputPort, Lanes, NONE, Node, ONE, Op, is_bit, is_integer, shown};
use crate::program::product;
use duologue::circuit::blocks::Goal;
use duologue::circuit::program::SizeRange;
use duologue::circuit::{Bit, Builder, Kind, Type, bits, uint};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Why an operation cannot be recorded, in words.
pub type Refused = String;

/// The most operations of a program.
const MOST_NODES: usize = 1 << 28;

/// About the most gates that a single operation may have.
const MOST_GATES: u64 = 1 << 28;

/// The most bits of a word; what is joined of several words may have as many as a value of a program.
const MOST_WIDTH: u32 = 1 << 16;
pub const MOST_JOINED: u64 = 1 << 24;

/// The most words that are one table, or lanes that become words.
pub const MOST_WORDS: usize = 1 << 16;

/// Above so many gates the line is named that is under way.
const MANY_GATES: u64 = 10_000_000;

#[derive(Default)]
pub struct Recording {
    pub nodes: Vec<Node>,
    pub constants: Vec<Constant>,
    pub arrays: Vec<Vec<bool>>,
    pub calls: Vec<Call>,
    pub lanes: Vec<Lanes>,
    pub sizes: Vec<SizeRange>,
    pub inputs: Vec<InputPort>,
    /// Operations that are repeated to more lanes, or of one lane: the same twice is one, as in the circuit of a step.
    known: HashMap<(Op, Type, u32, [u32; 3]), u32>,
    known_constants: HashMap<(Type, Constant), u32>,
    known_arrays: HashMap<(Type, Vec<bool>), u32>,
    /// The first result of a circuit on operands of one lane: circuits are known by their addresses, and kept by the calls.
    known_circuits: HashMap<(usize, Vec<u32>), u32>,
    /// About as many as all operations have.
    gates: u64,
    has_warned: bool,
    /// A program was made of it, or an error ended it.
    pub is_over: bool,
    /// Whether somebody stops the making of the program.
    pub is_stopped: AtomicBool,
}

impl Recording {
    pub fn new() -> Self {
        Recording { lanes: vec![Lanes::one()], ..Recording::default() }
    }

    /// What is left when a program was made of one.
    pub fn over() -> Self {
        Recording { is_over: true, ..Recording::default() }
    }

    pub fn ty(&self, node: u32) -> Type {
        self.nodes[node as usize].ty
    }

    pub fn lanes_of(&self, node: u32) -> u32 {
        self.nodes[node as usize].lanes
    }

    /// The lanes of what is made of one operand: of a constant, one.
    fn some_lanes(&self, node: u32) -> u32 {
        if self.lanes_of(node) == ANY { ONE } else { self.lanes_of(node) }
    }

    /// The number of lanes, if it is one; a constant has one.
    pub fn fixed_lanes(&self, node: u32) -> Option<u64> {
        match self.lanes_of(node) {
            ANY => Some(1),
            lanes => self.lanes[lanes as usize].fixed(),
        }
    }

    /// The most lanes that there can be.
    pub fn most_lanes(&self, node: u32) -> u64 {
        let Some(Lanes { factor, sizes }) = self.lanes.get(self.lanes_of(node) as usize) else { return 1 };
        sizes.iter().fold(*factor, |most, &size| most.saturating_mul(*self.sizes[size as usize].range.end()))
    }

    /// The place of these lanes.
    pub fn intern(&mut self, lanes: Lanes) -> u32 {
        let known = self.lanes.iter().position(|known| *known == lanes);
        known.unwrap_or_else(|| {
            self.lanes.push(lanes);
            self.lanes.len() - 1
        }) as u32
    }

    /// How people write lanes.
    pub fn shown_lanes(&self, lanes: u32) -> String {
        let Some(lanes) = self.lanes.get(lanes as usize) else { return "any".into() };
        product(lanes.factor, lanes.sizes.iter().map(|&size| self.sizes[size as usize].name.clone()))
    }

    pub fn push(&mut self, op: Op, ty: Type, lanes: u32, args: &[u32], site: u32) -> Result<u32, Refused> {
        if self.nodes.len() >= MOST_NODES {
            return Err(format!("the program has more than {MOST_NODES} operations"));
        }
        let mut all = [NONE; 3];
        all[..args.len()].copy_from_slice(args);
        let number = self.nodes.len() as u32;
        if matches!(op, Op::Repeat | Op::Lane(_)) || lanes == ONE && op.is_by_lane() && !matches!(op, Op::Result { .. })
        {
            let known = *self.known.entry((op, ty, lanes, all)).or_insert(number);
            if known != number {
                return Ok(known);
            }
        }
        self.nodes.push(Node { op, ty, lanes, args: all, site });
        Ok(number)
    }

    /// Counts what an operation takes; whether the program has just become a large one.
    pub fn count(&mut self, gates: u64) -> Result<bool, Refused> {
        if gates > MOST_GATES {
            return Err(format!("this operation alone has about {gates} gates: it may have {MOST_GATES}"));
        }
        self.gates = self.gates.saturating_add(gates);
        let warns = self.gates > MANY_GATES && !self.has_warned;
        self.has_warned |= warns;
        Ok(warns)
    }

    pub fn constant(&mut self, ty: Type, value: Constant, site: u32) -> Result<u32, Refused> {
        if let Some(&known) = self.known_constants.get(&(ty, value)) {
            return Ok(known);
        }
        self.constants.push(value);
        let node = self.push(Op::Constant(self.constants.len() as u32 - 1), ty, ANY, &[], site)?;
        self.known_constants.insert((ty, value), node);
        Ok(node)
    }

    /// Public numbers, one a lane.
    pub fn array(&mut self, bits: Vec<bool>, ty: Type, site: u32) -> Result<u32, Refused> {
        if let Some(&known) = self.known_arrays.get(&(ty, bits.clone())) {
            return Ok(known);
        }
        let lanes = self.intern(Lanes { factor: bits.len() as u64 / u64::from(ty.width), sizes: Vec::new() });
        self.arrays.push(bits.clone());
        let node = self.push(Op::Array(self.arrays.len() as u32 - 1), ty, lanes, &[], site)?;
        self.known_arrays.insert((ty, bits), node);
        Ok(node)
    }

    fn constant_of(&self, node: u32) -> Option<Constant> {
        match self.nodes[node as usize].op {
            Op::Constant(place) => Some(self.constants[place as usize]),
            _ => None,
        }
    }

    /// The operands with the same lanes: one lane is repeated.
    pub fn together(&mut self, args: &mut [u32], site: u32) -> Result<u32, Refused> {
        let mut lanes = args.iter().map(|&arg| self.lanes_of(arg)).filter(|&lanes| lanes != ANY);
        let first = lanes.clone().find(|&lanes| lanes != ONE);
        let Some(most) = first else {
            return Ok(lanes.next().unwrap_or(ONE));
        };
        if let Some(other) = lanes.find(|&lanes| lanes != ONE && lanes != most) {
            let (most, other) = (self.shown_lanes(most), self.shown_lanes(other));
            return Err(format!(
                "words of {most} lanes and of {other}: both must have as many, or one of them one lane"
            ));
        }
        for arg in args {
            if self.lanes_of(*arg) == ONE {
                *arg = self.repeat(*arg, most, site)?;
            }
        }
        Ok(most)
    }

    /// One lane to as many. A whole number that was widened is widened behind that, where its upper bits are known.
    fn repeat(&mut self, node: u32, lanes: u32, site: u32) -> Result<u32, Refused> {
        let Node { op, ty, args: [from, ..], .. } = self.nodes[node as usize];
        let is_free = |from: Type| is_integer(ty) && (is_integer(from) || is_bit(from));
        if op == Op::Cast && self.lanes_of(from) == ONE && is_free(self.ty(from)) {
            let from = self.repeat(from, lanes, site)?;
            return self.push(Op::Cast, ty, lanes, &[from], site);
        }
        self.push(Op::Repeat, ty, lanes, &[node], site)
    }

    /// An operation on every lane.
    pub fn by_lane(&mut self, op: Op, ty: Type, args: &[u32], site: u32) -> Result<u32, Refused> {
        let mut args = args.to_vec();
        let lanes = self.together(&mut args, site)?;
        self.push(op, ty, lanes, &args, site)
    }

    /// The word as another type, by the rules of a cast.
    pub fn cast(&mut self, node: u32, to: Type, site: u32) -> Result<u32, Refused> {
        let from = self.ty(node);
        if from == to {
            return Ok(node);
        }
        check_type(to)?;
        check_cast(from, to)?;
        if let Some(value) = self.constant_of(node).and_then(|value| cast_constant(value, from, to)) {
            return self.constant(to, value, site);
        }
        self.push(Op::Cast, to, self.some_lanes(node), &[node], site)
    }

    /// Both with the type that can hold either.
    fn promoted(&mut self, a: u32, b: u32, site: u32) -> Result<(u32, u32, Type), Refused> {
        let ty = common(self.ty(a), self.ty(b))?;
        Ok((self.cast(a, ty, site)?, self.cast(b, ty, site)?, ty))
    }

    /// An operation on two words, by the table of the book.
    pub fn binary(&mut self, op: Op, a: u32, b: u32, site: u32) -> Result<u32, Refused> {
        let (a, b, ty) = self.promoted(a, b, site)?;
        check_binary(op, ty)?;
        let result = match op {
            Op::Equal | Op::NotEqual | Op::Less | Op::LessOrEqual => bits(1),
            _ => ty,
        };
        self.by_lane(op, result, &[a, b], site)
    }

    /// As NumPy: both in the wider type. A plain number as the amount has no type of its own.
    pub fn shift(&mut self, op: Op, a: u32, (b, is_plain): (u32, bool), site: u32) -> Result<u32, Refused> {
        let (from, by) = (self.ty(a), self.ty(b));
        if !(is_integer(from) || from.kind == Kind::Bits && from.width > 1) || !is_integer(by) {
            return Err(format!("{} is not shifted by {}: both are integers", shown(from), shown(by)));
        }
        let ty = match (from.kind, by.kind) {
            _ if is_plain => from,
            (Kind::Bits, _) => from,
            (Kind::Int, Kind::UInt) if by.width < from.width => from,
            _ => common(from, by)?,
        };
        let a = self.cast(a, ty, site)?;
        self.by_lane(op, ty, &[a, b], site)
    }

    pub fn unary(&mut self, op: Op, a: u32, site: u32) -> Result<u32, Refused> {
        let ty = self.ty(a);
        let is_fit = match op {
            Op::Not => is_integer(ty) || ty.kind == Kind::Bits,
            _ => ty.kind != Kind::Bits,
        };
        if !is_fit {
            return Err(refusal(op, ty));
        }
        self.push(op, ty, self.some_lanes(a), &[a], site)
    }

    pub fn select(&mut self, condition: u32, then: u32, otherwise: u32, site: u32) -> Result<u32, Refused> {
        let ty = self.ty(condition);
        if !is_bit(ty) {
            return Err(format!("the condition is {}: expected a bit, as a comparison gives", shown(ty)));
        }
        let (then, otherwise, ty) = self.promoted(then, otherwise, site)?;
        self.by_lane(Op::Select, ty, &[condition, then, otherwise], site)
    }

    pub fn slice(&mut self, a: u32, from: u32, ty: Type, site: u32) -> Result<u32, Refused> {
        self.push(Op::Slice(from), ty, self.some_lanes(a), &[a], site)
    }

    pub fn count_ones(&mut self, a: u32, site: u32) -> Result<u32, Refused> {
        let ty = self.ty(a);
        if !(is_integer(ty) || ty.kind == Kind::Bits) {
            return Err(format!(
                "the bits of {} are not counted: write duo.cast(x, bits({})) first",
                shown(ty),
                ty.width
            ));
        }
        let width = if ty.width < 256 { 8 } else { 32 };
        self.push(Op::CountOnes, uint(width), self.some_lanes(a), &[a], site)
    }

    /// A call with results of these types; on every lane.
    pub fn call(&mut self, callee: Callee, args: &[u32], types: &[Type], site: u32) -> Result<Vec<u32>, Refused> {
        let mut args = args.to_vec();
        let lanes = self.together(&mut args, site)?;
        let known = match &callee {
            Callee::Circuit(circuit) if lanes == ONE => Some((Arc::as_ptr(circuit) as usize, args.clone())),
            _ => None,
        };
        if let Some(&first) = known.as_ref().and_then(|known| self.known_circuits.get(known)) {
            return Ok((first..first + types.len() as u32).collect());
        }
        let call = self.calls.len() as u32;
        self.calls.push(Call { callee, args });
        let results = types.iter().map(|&ty| (ty, lanes));
        let results = self.results(results, |port| Op::Result { call, port }, site)?;
        self.known_circuits.extend(known.zip(results.first().copied()));
        Ok(results)
    }

    /// A call over lanes, whose results have these.
    pub fn fold(
        &mut self,
        (callee, args): (Callee, Vec<u32>),
        results: &[(Type, u32)],
        site: u32,
    ) -> Result<Vec<u32>, Refused> {
        let call = self.calls.len() as u32;
        self.calls.push(Call { callee, args });
        self.results(results.iter().copied(), |port| Op::Folded { call, port }, site)
    }

    /// The first result has the operands of the call, and the others have the first: a call may have very many of both.
    fn results(
        &mut self,
        results: impl Iterator<Item = (Type, u32)>,
        op: impl Fn(u32) -> Op,
        site: u32,
    ) -> Result<Vec<u32>, Refused> {
        let first = self.nodes.len() as u32;
        let push = |(port, (ty, lanes)): (u32, (Type, u32))| {
            let args: &[u32] = if port == 0 { &[] } else { &[first] };
            self.push(op(port), ty, lanes, args, site)
        };
        (0..).zip(results).map(push).collect()
    }

    /// About how many gates an operation has on one lane: ANDs, or XORs where it has nothing else.
    pub fn estimate(&self, node: usize) -> u64 {
        let Node { op, ty, .. } = self.nodes[node];
        let (Op::Result { call, port: 0 } | Op::Folded { call, port: 0 }) = op else { return estimate(op, ty) };
        let Call { callee, args } = &self.calls[call as usize];
        let (count, width) = (args.len() as u64, u64::from(ty.width));
        match callee {
            Callee::Circuit(circuit) => circuit.and_count(),
            Callee::Reduce(made) | Callee::Scan(made, _) => made.circuit.and_count(),
            Callee::Dot => count / 2 * (width * width / 2 + width),
            Callee::Read => count * width,
            Callee::Table(table) => table.len() as u64,
            Callee::Sort { .. } => count * u64::from(count.ilog2() + 1).pow(2) / 2 * width,
            Callee::Concat | Callee::Stack => 0,
        }
    }

    /// The operands of a node.
    pub fn args<'a>(&'a self, node: &'a Node) -> &'a [u32] {
        match node.op {
            Op::Result { call, port: 0 } | Op::Folded { call, port: 0 } => &self.calls[call as usize].args,
            _ => &node.args[..node.args.iter().position(|&arg| arg == NONE).unwrap_or(3)],
        }
    }
}

/// A constant as another type, if its bits above the first 128 are alike.
fn cast_constant(value: Constant, from: Type, to: Type) -> Option<Constant> {
    let given: Vec<Bit> = value.bits(from.width).collect();
    let cast = gates(&mut Builder::new("constant"), Op::Cast, to, &[(&given, from)], Goal::Size);
    let (low, above) = cast.split_at(cast.len().min(128));
    let is_constant = cast.iter().all(|bit| bit.plain() == Bit::FALSE) && above.windows(2).all(|two| two[0] == two[1]);
    let number = low.iter().rev().fold(0, |number, &bit| number << 1 | u128::from(bit == Bit::TRUE));
    is_constant.then(|| Constant { low: number, above: above.first() == Some(&Bit::TRUE) })
}

const F32: Type = Type { kind: Kind::Float { exponent: 8 }, width: 32 };
const F64: Type = Type { kind: Kind::Float { exponent: 11 }, width: 64 };

/// The type of the result of two.
pub fn common(a: Type, b: Type) -> Result<Type, Refused> {
    let wider = if a.width >= b.width { a } else { b };
    match (a.kind, b.kind) {
        _ if a == b => Ok(a),
        (Kind::UInt, Kind::UInt) | (Kind::Int, Kind::Int) => Ok(wider),
        (Kind::Float { .. }, Kind::Float { .. }) if [(a, b), (b, a)].contains(&(F32, F64)) => Ok(F64),
        _ if is_bit(a) && b.kind != Kind::Bits => Ok(b),
        _ if is_bit(b) && a.kind != Kind::Bits => Ok(a),
        (Kind::UInt, Kind::Int) | (Kind::Int, Kind::UInt) => {
            let width = (a.width.max(b.width) + 1).next_power_of_two().clamp(8, 64);
            let (a, b) = (shown(a), shown(b));
            Err(format!("{a} with {b}, of which one has a sign: cast one of them, say duo.cast(x, i{width})"))
        }
        _ => Err(format!("{} with {}: cast one of them, duo.cast(x, TYPE)", shown(a), shown(b))),
    }
}

fn check_binary(op: Op, ty: Type) -> Result<(), Refused> {
    let is_bits = ty.kind == Kind::Bits;
    let has_point = matches!(ty.kind, Kind::Fixed { .. } | Kind::Float { .. });
    let is_fit = match op {
        Op::Equal | Op::NotEqual => true,
        Op::And | Op::Or | Op::Xor => !has_point,
        Op::Quotient | Op::Remainder => is_integer(ty),
        Op::Divide => has_point,
        _ => !is_bits,
    };
    if is_fit { Ok(()) } else { Err(refusal(op, ty)) }
}

fn refusal(op: Op, ty: Type) -> Refused {
    let (name, of) = (format!("{op:?}").to_lowercase(), shown(ty));
    match (op, ty.kind) {
        _ if is_bit(ty) => format!("{name} of bits, which are no numbers: write &, |, ^, or duo.cast(x, u8) first"),
        (_, Kind::Bits) => format!("{name} of {of}, which are no numbers: write duo.cast(x, uint({})) first", ty.width),
        (Op::Divide, _) => format!("'/' of {of}: write '//', which rounds down, or duo.cast(x, f64) first"),
        (Op::Quotient | Op::Remainder, _) => {
            format!("'//' and '%' of {of}: there are '/', and the blocks fp_floor_ieee and fixed_floor")
        }
        _ => format!("{name} of {of}: cast it first, duo.cast(x, TYPE)"),
    }
}

/// Whether the library computes with the type.
pub fn check_type(ty: Type) -> Result<(), Refused> {
    let is_fit = match ty.kind {
        Kind::Fixed { fraction } => ty.width >= fraction.max(2),
        Kind::Float { exponent } => (3..=19).contains(&exponent) && (exponent + 3..=exponent + 241).contains(&ty.width),
        _ => true,
    };
    match is_fit && ty.width <= MOST_WIDTH {
        true => Ok(()),
        false => Err(format!("{} is no type of a word: it is too short or too long", shown(ty))),
    }
}

/// Whether there is a cast.
fn check_cast(from: Type, to: Type) -> Result<(), Refused> {
    let refused = |why: &str| Err(format!("{} as {}: {why}", shown(from), shown(to)));
    match (from.kind, to.kind) {
        _ if is_bit(to) || is_bit(from) && to.kind != Kind::Bits => match to.kind {
            Kind::Fixed { fraction } if fraction + 2 > to.width => refused("it has no room for 1"),
            _ => Ok(()),
        },
        (Kind::Bits, _) | (_, Kind::Bits) if from.width != to.width => {
            refused("bits are taken as they are, as many as there are")
        }
        (_, Kind::Fixed { fraction }) if to.width < fraction.max(2) => refused("it has no sign"),
        _ => Ok(()),
    }
}

/// About how many gates an operation has on one lane.
fn estimate(op: Op, ty: Type) -> u64 {
    let width = u64::from(ty.width);
    let is_float = matches!(ty.kind, Kind::Float { .. });
    match op {
        Op::Multiply if is_float => 2 * width * width,
        Op::Multiply => width * width / 2 + width,
        Op::Quotient | Op::Remainder | Op::Divide => width * width,
        Op::Add | Op::Subtract if is_float => 20 * width,
        Op::ShiftLeft | Op::ShiftRight => width * u64::from(width.ilog2()),
        Op::Minimum | Op::Maximum => 2 * width,
        Op::Not | Op::Slice(_) | Op::Constant(_) | Op::Result { .. } | Op::Folded { .. } => 0,
        _ => width,
    }
}
