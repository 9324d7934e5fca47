//! Functions as gates of two operands, each of whose results is read twice at most: what universal circuits run.
//!
//! A circuit becomes such nodes in three steps. What no output depends on goes. Complements go into the tables of the gates
//! that read them. And where a result is read k > 2 times, k − 2 gates copy it: a result can be read twice, so each copy
//! that takes one of these gives two. A gate that nobody but one output reads is that output's node itself.

use crate::error::{Error, Result};
use crate::graph::{Bit, Circuit, Gate};
use std::fmt;
use zeroize::{DefaultIsZeroes, Zeroizing};

/// In place of an operand: nothing, which reads as false.
pub const NOTHING: u32 = u32::MAX;

/// The most nodes of a function. With more, a universal circuit's control bits could not be counted in 32 bits.
pub const MAX_NODES: usize = 1 << 25;

/// A gate, which is secret: so there is no `Debug`.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Node {
    /// Nodes before this one, or [`NOTHING`].
    pub operands: [u32; 2],
    /// Bit x + 2·y is the result for operands x and y. It does not depend on an operand that is nothing.
    pub table: u8,
}

impl DefaultIsZeroes for Node {}

impl Node {
    /// Always false, reading nothing: what functions are padded with.
    pub const FALSE: Node = Node { operands: [NOTHING; 2], table: 0 };

    /// The gate, whose table is made to ignore operands that are nothing.
    fn new(operands: [u32; 2], mut table: u8) -> Node {
        if operands[0] == NOTHING {
            table = table & 0b0101 | (table & 0b0101) << 1;
        }
        if operands[1] == NOTHING {
            table = table & 0b0011 | (table & 0b0011) << 2;
        }
        Node { operands, table }
    }

    /// The operand itself.
    fn copy(of: u32) -> Node {
        Node::new([of, NOTHING], 0b1010)
    }

    /// The gate with other operands in place of its own; a constant goes into its table.
    fn reading(self, read: impl Fn(u32) -> Operand) -> Node {
        let mut node = self;
        for (side, (row, rows)) in [(1, 0b0101), (2, 0b0011)].into_iter().enumerate() {
            node.operands[side] = match read(self.operands[side]) {
                Operand::Node(place) => place,
                Operand::Constant(bit) => {
                    let half = node.table >> (row * u8::from(bit)) & rows;
                    node.table = half | half << row;
                    NOTHING
                }
            };
        }
        node
    }

    /// This gate, or its complement.
    fn flip(self, flip: bool) -> Node {
        Node { table: if flip { self.table ^ 0b1111 } else { self.table }, ..self }
    }
}

/// What a gate reads in place of a node.
#[derive(Clone, Copy)]
enum Operand {
    Node(u32),
    Constant(bool),
}

impl Default for Operand {
    fn default() -> Self {
        Operand::Node(NOTHING)
    }
}

impl DefaultIsZeroes for Operand {}

/// Public sizes of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Size {
    /// Input bits, at least one.
    pub inputs: u32,
    /// Gates, copies and padding included, without those of outputs.
    pub gates: u32,
    /// Output bits, at least one, each a gate that nobody reads.
    pub outputs: u32,
}

impl Size {
    /// Checks that these are sizes of functions.
    ///
    /// # Errors
    /// [`Error::Usage`] if there are no inputs or outputs, or more than [`MAX_NODES`] nodes.
    pub fn new(inputs: u32, gates: u32, outputs: u32) -> Result<Size> {
        let nodes = u64::from(inputs) + u64::from(gates) + u64::from(outputs);
        match () {
            () if inputs == 0 => Err(Error::usage("a function of at least one input bit, not of none")),
            () if outputs == 0 => Err(Error::usage("a function of at least one output bit, not of none")),
            () if nodes > MAX_NODES as u64 => {
                Err(Error::usage(format!("a function of at most {MAX_NODES} inputs, gates and outputs, not {nodes}")))
            }
            () => Ok(Size { inputs, gates, outputs }),
        }
    }

    /// N: inputs, gates and outputs.
    pub fn nodes(self) -> usize {
        self.inputs as usize + self.gates as usize + self.outputs as usize
    }

    /// Gates and outputs, which have tables.
    pub fn tables(self) -> usize {
        self.gates as usize + self.outputs as usize
    }
}

/// A function, whose gates are erased after use.
#[derive(Clone, PartialEq, Eq)]
pub struct Nodes {
    size: Size,
    nodes: Zeroizing<Vec<Node>>,
}

/// The public sizes alone.
impl fmt::Debug for Nodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nodes").field("size", &self.size).finish_non_exhaustive()
    }
}

impl Nodes {
    /// The function of these gates, of which the last are the outputs. Node i + `inputs` is gate i, nodes before are inputs.
    ///
    /// # Errors
    /// [`Error::Invalid`] that names the gate which reads what is not before it, reads an output, or what was read twice
    /// already, or whose table is none of its operands.
    pub fn new(size: Size, nodes: Vec<Node>) -> Result<Nodes> {
        let nodes = Zeroizing::new(nodes);
        if nodes.len() != size.tables() {
            let why = format!("{} gates and outputs of {} that were announced", nodes.len(), size.tables());
            return Err(Error::invalid("function", why));
        }
        let mut readers = vec![0u8; size.nodes()];
        for (i, node) in nodes.iter().enumerate() {
            check(size, i, node, &mut readers).map_err(|why| Error::invalid(format!("gate {i} of a function"), why))?;
        }
        Ok(Nodes { size, nodes })
    }

    /// The nodes of a circuit.
    ///
    /// # Errors
    /// [`Error::Usage`] if it has no input, no output, or too many nodes.
    pub fn of_circuit(circuit: &Circuit) -> Result<Nodes> {
        Lowering::new(circuit).run()
    }

    /// Its public sizes.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The gates, then the outputs.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The same function with padding up to a number of gates.
    ///
    /// # Errors
    /// [`Error::Usage`] if it has more gates than that, or would have too many nodes.
    pub fn padded(mut self, gates: u32) -> Result<Nodes> {
        let Size { inputs, gates: ours, outputs } = self.size;
        if gates < ours {
            return Err(Error::usage(format!("the function has {ours} gates, copies included, more than {gates}")));
        }
        self.size = Size::new(inputs, gates, outputs)?;
        // In room of its own: where a vector grows, it leaves its gates behind.
        let mut padded = Zeroizing::new(Vec::with_capacity(self.size.tables()));
        let (before, after) = self.nodes.split_at(ours as usize);
        padded.extend_from_slice(before);
        padded.resize(gates as usize, Node::FALSE);
        padded.extend_from_slice(after);
        self.nodes = padded;
        Ok(self)
    }

    /// The same function where some of its inputs are constants, for each of which a bit is given; the others stay its inputs.
    ///
    /// Gates, copies too, are as many as before, whatever the constants are.
    ///
    /// # Errors
    /// [`Error::Usage`] if there are not as many as inputs, or none stays.
    pub fn restricted(&self, inputs: &[Option<bool>]) -> Result<Nodes> {
        let Size { inputs: before, gates, outputs } = self.size;
        if inputs.len() != before as usize {
            return Err(Error::usage(format!("{} bits or gaps for the {before} inputs of a function", inputs.len())));
        }
        let size = Size::new(inputs.iter().filter(|given| given.is_none()).count() as u32, gates, outputs)?;
        let kept = inputs.iter().scan(0, |next, given| {
            let place = *next;
            *next += u32::from(given.is_none());
            Some(given.map_or(Operand::Node(place), Operand::Constant))
        });
        let gone = before - size.inputs;
        let operands: Zeroizing<Vec<Operand>> = Zeroizing::new(kept.collect());
        let read = |from: u32| match operands.get(from as usize) {
            Some(&operand) => operand,
            None => Operand::Node(if from == NOTHING { NOTHING } else { from - gone }),
        };
        Nodes::new(size, self.nodes.iter().map(|node| node.reading(read)).collect())
    }

    /// Evaluates node by node, 64 lanes at a time.
    ///
    /// # Panics
    /// If there are not as many words as input bits.
    pub fn evaluate(&self, inputs: &[u64]) -> Vec<u64> {
        assert_eq!(inputs.len(), self.size.inputs as usize, "input bits of a function");
        let mut values = inputs.to_vec();
        for node in self.nodes.iter() {
            let [x, y] = node.operands.map(|from| values.get(from as usize).copied().unwrap_or(0));
            values.push(table(node.table, x, y));
        }
        values.split_off(self.size.nodes() - self.size.outputs as usize)
    }
}

/// The result of a table, bit by bit.
pub fn table(table: u8, x: u64, y: u64) -> u64 {
    let row = |bit: u32| (u64::from(table >> bit & 1)).wrapping_neg();
    row(0) & !x & !y | row(1) & x & !y | row(2) & !x & y | row(3) & x & y
}

/// What is wrong with a gate.
fn check(size: Size, gate: usize, node: &Node, readers: &mut [u8]) -> std::result::Result<(), String> {
    if node.table > 0b1111 {
        return Err(format!("a table of four bits, not {:#x}", node.table));
    }
    if Node::new(node.operands, node.table) != *node {
        return Err("its table depends on an operand that is nothing".into());
    }
    let before = (size.inputs as usize + gate).min(size.inputs as usize + size.gates as usize);
    for from in node.operands.into_iter().filter(|&from| from != NOTHING) {
        let Some(count) = readers[..before].get_mut(from as usize) else {
            return Err(format!("reads node {from}, which is no input and no gate before it"));
        };
        *count += 1;
        if *count > 2 {
            return Err(format!("reads node {from}, which two gates read already"));
        }
    }
    Ok(())
}

/// Who reads a node of the circuit: handed out one after the other.
#[derive(Clone, Copy, Default)]
struct Readers {
    /// How many there are.
    all: u32,
    /// How many have what they read.
    served: u32,
    /// The node.
    node: u32,
    /// The first of its copies, which follow each other.
    copies: u32,
}

impl Readers {
    fn count_of_copies(self) -> u32 {
        self.all.saturating_sub(2)
    }

    /// What the next reader reads: the node, then each copy, and the last of these again.
    fn next(&mut self) -> u32 {
        let place = self.served.min(self.count_of_copies());
        self.served += 1;
        if place == 0 { self.node } else { self.copies + place - 1 }
    }
}

/// A circuit on its way to nodes.
struct Lowering<'a> {
    circuit: &'a Circuit,
    readers: Vec<Readers>,
    /// The gates that are the node of an output.
    merged: Vec<bool>,
    nodes: Vec<Node>,
    inputs: u32,
}

impl<'a> Lowering<'a> {
    fn new(circuit: &'a Circuit) -> Self {
        let gates = circuit.gates();
        let mut readers = vec![Readers::default(); gates.len()];
        let mut merged = vec![false; gates.len()];
        circuit.output_bits().iter().for_each(|bit| readers[bit.node() as usize].all += 1);
        for (node, gate) in gates.iter().enumerate().rev() {
            if let (Gate::Xor(a, b) | Gate::And(a, b), 1..) = (*gate, readers[node].all) {
                [a, b].iter().for_each(|bit| readers[bit.node() as usize].all += 1);
            }
        }
        for bit in circuit.output_bits() {
            let node = bit.node() as usize;
            merged[node] = readers[node].all == 1 && matches!(gates[node], Gate::Xor(..) | Gate::And(..));
        }
        Lowering { circuit, readers, merged, nodes: Vec::new(), inputs: circuit.input_width() as u32 }
    }

    fn run(mut self) -> Result<Nodes> {
        for (position, &node) in self.circuit.input_nodes().iter().enumerate() {
            self.place(node as usize, position as u32);
        }
        for node in 1..self.circuit.gates().len() {
            if self.readers[node].all > 0 && !self.merged[node] && self.circuit.gates()[node] != Gate::Input {
                let made = self.gate(node);
                let at = self.push(made);
                self.place(node, at);
            }
        }
        let gates = self.nodes.len();
        for &bit in self.circuit.output_bits() {
            let made = self.output(bit);
            self.push(made);
        }
        let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let size = Size::new(self.inputs, count(gates), count(self.nodes.len() - gates))?;
        Nodes::new(size, self.nodes)
    }

    /// Says where a node of the circuit is, and copies it as often as it must be.
    fn place(&mut self, node: usize, at: u32) {
        let copies = self.inputs + self.nodes.len() as u32;
        self.readers[node] = Readers { node: at, copies, ..self.readers[node] };
        for copy in 0..self.readers[node].count_of_copies() {
            let of = if copy == 0 { at } else { copies + copy - 1 };
            self.push(Node::copy(of));
        }
    }

    fn push(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        self.inputs + self.nodes.len() as u32 - 1
    }

    /// The gate of a node, its operands' complements in the table.
    fn gate(&mut self, node: usize) -> Node {
        let (a, b, table) = match self.circuit.gates()[node] {
            Gate::And(a, b) => (a, b, 0b1000),
            Gate::Xor(a, b) => (a, b, 0b0110),
            Gate::False | Gate::Input => (Bit::FALSE, Bit::FALSE, 0),
        };
        let flips = usize::from(a.complemented()) + 2 * usize::from(b.complemented());
        let table = (0..4).fold(0, |to, row| to | (table >> (row ^ flips) & 1) << row);
        Node::new([a, b].map(|bit| self.readers[bit.node() as usize].next()), table)
    }

    fn output(&mut self, bit: Bit) -> Node {
        let node = bit.node() as usize;
        let made = match self.circuit.gates()[node] {
            Gate::False => Node::FALSE,
            _ if self.merged[node] => self.gate(node),
            _ => Node::copy(self.readers[node].next()),
        };
        made.flip(bit.complemented())
    }
}
