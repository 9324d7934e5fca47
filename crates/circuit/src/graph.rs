//! Circuits as XOR-AND graphs.
//!
//! A node is the constant false (node 0), an input, an XOR or an AND; its fan-ins come before it. A [`Bit`] names a
//! node or its complement, so NOT is no gate. XOR fan-ins are always plain: complements move to the output of an XOR.
//! In every protocol here XOR and NOT are local, so the cost of a circuit is its number of ANDs ([`Circuit::and_count`])
//! and, where the parties talk once a layer, the longest chain of them ([`Circuit::depth`]).

use std::collections::HashSet;
use std::fmt;
use std::ops::Not;
use std::str::FromStr;
use std::sync::Arc;

use zeroize::Zeroize;

use crate::error::{Error, Result};

/// Nodes a circuit may have: a node and its complement mark share 32 bits.
pub const MAX_NODES: usize = 1 << 31;

/// Bytes the name of a circuit or port may have.
pub const MAX_NAME: usize = 255;

/// A node or its complement.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Bit(u32);

impl Bit {
    /// The constant false: node 0.
    pub const FALSE: Bit = Bit(0);
    /// The constant true: node 0, complemented.
    pub const TRUE: Bit = Bit(1);

    /// The node, or its complement.
    ///
    /// # Panics
    /// If `node` is not below [`MAX_NODES`].
    pub const fn new(node: u32, complement: bool) -> Self {
        assert!(node >> 31 == 0, "a circuit has at most 2^31 nodes");
        Bit(node << 1 | complement as u32)
    }

    /// The constant of this value.
    pub const fn constant(value: bool) -> Self {
        Bit(value as u32)
    }

    /// The node that this bit names.
    pub const fn node(self) -> u32 {
        self.0 >> 1
    }

    /// Whether this bit is the complement of its node.
    pub const fn complemented(self) -> bool {
        self.0 & 1 == 1
    }

    /// The node without its complement mark.
    pub const fn plain(self) -> Self {
        Bit(self.0 & !1)
    }

    /// The complement if `flip`, the bit itself otherwise.
    pub const fn flip(self, flip: bool) -> Self {
        Bit(self.0 ^ flip as u32)
    }
}

#[doc(hidden)]
impl Zeroize for Bit {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

impl Not for Bit {
    type Output = Bit;

    fn not(self) -> Bit {
        self.flip(true)
    }
}

/// The operation of a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Gate {
    /// The constant false; node 0 and no other.
    False,
    /// The next input bit, or the one that [`Circuit::input_nodes`] says.
    Input,
    /// The exclusive or of two plain bits.
    Xor(Bit, Bit),
    /// The conjunction of two bits, each plain or complemented.
    And(Bit, Bit),
}

/// How people read the bits of a port. The bits themselves are the same: least significant first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A string of bits; a byte string has byte k at bits 8k to 8k+7, least significant bit first.
    Bits,
    /// An unsigned integer.
    UInt,
    /// An integer in two's complement.
    Int,
    /// An integer in two's complement, divided by 2^`fraction`.
    Fixed {
        /// Bits after the binary point.
        fraction: u32,
    },
    /// A binary floating-point number: fraction, exponent, sign.
    Float {
        /// Bits of the exponent.
        exponent: u32,
    },
}

/// A kind and a width in bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Type {
    /// How people read the bits.
    pub kind: Kind,
    /// How many bits.
    pub width: u32,
}

/// A string of `width` bits.
pub const fn bits(width: u32) -> Type {
    Type { kind: Kind::Bits, width }
}

/// An unsigned integer of `width` bits.
pub const fn uint(width: u32) -> Type {
    Type { kind: Kind::UInt, width }
}

/// A two's-complement integer of `width` bits.
pub const fn int(width: u32) -> Type {
    Type { kind: Kind::Int, width }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.width;
        match self.kind {
            Kind::Bits => write!(f, "bits({width})"),
            Kind::UInt => write!(f, "uint({width})"),
            Kind::Int => write!(f, "int({width})"),
            Kind::Fixed { fraction } => write!(f, "fixed({width}, {fraction})"),
            Kind::Float { exponent } => write!(f, "float({width}, {exponent})"),
        }
    }
}

impl FromStr for Type {
    type Err = Error;

    /// As [`Display`](fmt::Display) writes it; `bit` is `bits(1)`.
    fn from_str(text: &str) -> Result<Self> {
        let unknown = || {
            let known = "bit, bits(N), uint(N), int(N), fixed(N, FRACTION) or float(N, EXPONENT)";
            Error::usage(format!("'{}' is no type: write {known}", text.escape_default()))
        };
        if text.trim() == "bit" {
            return Ok(bits(1));
        }
        let (kind, rest) = text.trim().split_once('(').ok_or_else(unknown)?;
        let numbers = rest.strip_suffix(')').ok_or_else(unknown)?.split(',').map(|number| number.trim().parse().ok());
        let numbers: Vec<u32> = numbers.collect::<Option<_>>().ok_or_else(unknown)?;
        let ty = match (kind, &numbers[..]) {
            ("bits", &[width]) => bits(width),
            ("uint", &[width]) => uint(width),
            ("int", &[width]) => int(width),
            ("fixed", &[width, fraction]) => Type { kind: Kind::Fixed { fraction }, width },
            ("float", &[width, exponent]) => Type { kind: Kind::Float { exponent }, width },
            _ => return Err(unknown()),
        };
        check_type(ty).map_err(|why| Error::usage(format!("the type {ty} {why}")))?;
        Ok(ty)
    }
}

/// A named input or output.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Port {
    /// Its name, unique among the inputs or among the outputs.
    pub name: String,
    /// Its width and how people read it.
    pub ty: Type,
}

impl Port {
    /// A port of this name and type.
    pub fn new(name: impl Into<String>, ty: Type) -> Self {
        Port { name: name.into(), ty }
    }
}

/// A checked XOR-AND graph with named ports.
///
/// Inputs and outputs are the bits of all ports, one port after the other, least significant bit first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Circuit {
    name: String,
    /// Shared between copies: of a large circuit they are nearly all of its memory.
    gates: Arc<Vec<Gate>>,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    input_nodes: Vec<u32>,
    output_bits: Vec<Bit>,
}

impl Circuit {
    /// Checks every property of a circuit; the one way to make one.
    ///
    /// Node 0, and no other, is [`Gate::False`]; every fan-in comes before its gate; XOR fan-ins are plain; no
    /// gate reads a constant or one node twice, for that is to be folded; `input_nodes` names every [`Gate::Input`]
    /// exactly once; the widths of the ports add up.
    pub fn from_parts(
        name: impl Into<String>,
        gates: Vec<Gate>,
        inputs: Vec<Port>,
        outputs: Vec<Port>,
        input_nodes: Vec<u32>,
        output_bits: Vec<Bit>,
    ) -> Result<Self> {
        let (name, gates) = (name.into(), Arc::new(gates));
        let circuit = Circuit { name, gates, inputs, outputs, input_nodes, output_bits };
        circuit.check_gates()?;
        circuit.check_ports("input", &circuit.inputs, circuit.input_nodes.len())?;
        circuit.check_ports("output", &circuit.outputs, circuit.output_bits.len())?;
        circuit.check_input_nodes()?;
        circuit.check_output_bits()?;
        Ok(circuit)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The nodes, fan-ins first; node 0 is the constant false.
    pub fn gates(&self) -> &[Gate] {
        &self.gates
    }

    /// The input ports in order.
    pub fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    /// The output ports in order.
    pub fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    /// The node of every input bit.
    pub fn input_nodes(&self) -> &[u32] {
        &self.input_nodes
    }

    /// Every output bit.
    pub fn output_bits(&self) -> &[Bit] {
        &self.output_bits
    }

    /// Bits of all inputs together.
    pub fn input_width(&self) -> usize {
        self.input_nodes.len()
    }

    /// Bits of all outputs together.
    pub fn output_width(&self) -> usize {
        self.output_bits.len()
    }

    /// AND gates.
    pub fn and_count(&self) -> u64 {
        self.gates.iter().filter(|gate| matches!(gate, Gate::And(..))).count() as u64
    }

    /// ANDs on the longest path to an output.
    pub fn depth(&self) -> u32 {
        let depths = self.depths();
        self.output_bits.iter().map(|bit| depths[bit.node() as usize]).max().unwrap_or(0)
    }

    /// ANDs on the longest path to each node, itself included.
    pub fn depths(&self) -> Vec<u32> {
        let mut depths: Vec<u32> = Vec::with_capacity(self.gates.len());
        for gate in self.gates.iter() {
            let of = |bit: Bit| depths[bit.node() as usize];
            let depth = match *gate {
                Gate::False | Gate::Input => 0,
                Gate::Xor(a, b) => of(a).max(of(b)),
                Gate::And(a, b) => of(a).max(of(b)) + 1,
            };
            depths.push(depth);
        }
        depths
    }

    /// Evaluates gate by gate: the reference that everything else is tested against.
    ///
    /// # Panics
    /// If there are not [`input_width`](Self::input_width) inputs.
    pub fn evaluate(&self, inputs: &[bool]) -> Vec<bool> {
        assert_eq!(inputs.len(), self.input_width(), "input bits of circuit '{}'", self.name);
        let mut values = vec![false; self.gates.len()];
        for (&node, &value) in self.input_nodes.iter().zip(inputs) {
            values[node as usize] = value;
        }
        for (node, gate) in self.gates.iter().enumerate() {
            match *gate {
                Gate::False | Gate::Input => {}
                Gate::Xor(a, b) => values[node] = read(&values, a) ^ read(&values, b),
                Gate::And(a, b) => values[node] = read(&values, a) & read(&values, b),
            }
        }
        self.output_bits.iter().map(|&bit| read(&values, bit)).collect()
    }

    fn check_gates(&self) -> Result<()> {
        check_name(&self.name).map_err(|why| self.invalid("name", why))?;
        if self.gates.len() > MAX_NODES {
            return Err(self.invalid("gates", format!("{} nodes, at most 2^31", self.gates.len())));
        }
        if self.gates.first() != Some(&Gate::False) {
            return Err(self.invalid("gate 0", "must be the constant false"));
        }
        for (node, gate) in self.gates.iter().enumerate().skip(1) {
            check_gate(node, gate).map_err(|why| self.invalid(format!("gate {node}"), why))?;
        }
        Ok(())
    }

    fn check_ports(&self, side: &str, ports: &[Port], width: usize) -> Result<()> {
        let mut names = HashSet::new();
        for port in ports {
            let fail = |why: String| Err(self.invalid(format!("{side} '{}'", port.name.escape_default()), why));
            if let Err(why) = check_name(&port.name).and_then(|()| check_type(port.ty)) {
                return fail(why);
            }
            if !names.insert(port.name.as_str()) {
                return fail("the name is used twice".into());
            }
        }
        let total: u64 = ports.iter().map(|port| u64::from(port.ty.width)).sum();
        if total != width as u64 {
            let why = format!("the ports have {total} bits together, but {width} are given");
            return Err(self.invalid(format!("{side}s"), why));
        }
        Ok(())
    }

    fn check_input_nodes(&self) -> Result<()> {
        let mut named = vec![false; self.gates.len()];
        for (position, &node) in self.input_nodes.iter().enumerate() {
            let fail = |why: String| Err(self.invalid(format!("input bit {position}"), why));
            match self.gates.get(node as usize) {
                Some(Gate::Input) if !named[node as usize] => named[node as usize] = true,
                Some(Gate::Input) => return fail(format!("node {node} is an input bit already")),
                Some(_) => return fail(format!("node {node} is no input")),
                None => return fail(format!("node {node} of {}", self.gates.len())),
            }
        }
        let stray = (0..self.gates.len()).find(|&node| self.gates[node] == Gate::Input && !named[node]);
        match stray {
            Some(node) => Err(self.invalid(format!("gate {node}"), "an input that belongs to no port")),
            None => Ok(()),
        }
    }

    fn check_output_bits(&self) -> Result<()> {
        match self.output_bits.iter().position(|bit| bit.node() as usize >= self.gates.len()) {
            Some(position) => {
                let node = self.output_bits[position].node();
                Err(self.invalid(format!("output bit {position}"), format!("node {node} of {}", self.gates.len())))
            }
            None => Ok(()),
        }
    }

    fn invalid(&self, place: impl fmt::Display, why: impl Into<String>) -> Error {
        let name: String = self.name.chars().take(MAX_NAME).flat_map(char::escape_default).collect();
        Error::invalid(format!("circuit '{name}', {place}"), why)
    }
}

fn read(values: &[bool], bit: Bit) -> bool {
    values[bit.node() as usize] ^ bit.complemented()
}

fn check_gate(node: usize, gate: &Gate) -> std::result::Result<(), String> {
    let (a, b) = match *gate {
        Gate::False => return Err("only gate 0 is the constant false".into()),
        Gate::Input => return Ok(()),
        Gate::Xor(a, b) if a.complemented() || b.complemented() => {
            return Err("a fan-in of an XOR is complemented".into());
        }
        Gate::Xor(a, b) | Gate::And(a, b) => (a, b),
    };
    if a.node() == 0 || b.node() == 0 || a.node() == b.node() {
        return Err("a gate of a constant or of one node twice is to be folded".into());
    }
    match [a, b].into_iter().find(|bit| bit.node() as usize >= node) {
        Some(bit) => Err(format!("reads node {}, which does not come before it", bit.node())),
        None => Ok(()),
    }
}

pub(crate) fn check_type(ty: Type) -> std::result::Result<(), String> {
    match ty.kind {
        _ if ty.width == 0 => Err("has no bits".into()),
        Kind::Fixed { fraction } if fraction > ty.width => {
            Err(format!("{fraction} bits of fraction in a width of {}", ty.width))
        }
        Kind::Float { exponent } if exponent == 0 || exponent >= ty.width => {
            Err(format!("{exponent} bits of exponent in a width of {}", ty.width))
        }
        _ => Ok(()),
    }
}

/// Names are printed and parsed: short, not empty, no control characters.
pub(crate) fn check_name(name: &str) -> std::result::Result<(), String> {
    if name.is_empty() || name.len() > MAX_NAME {
        return Err(format!("a name has 1 to {MAX_NAME} bytes, this one {}", name.len()));
    }
    match name.chars().find(|c| c.is_control()) {
        Some(c) => Err(format!("the name contains the control character {}", c.escape_default())),
        None => Ok(()),
    }
}
