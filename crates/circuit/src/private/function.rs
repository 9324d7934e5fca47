//! The function itself: its nodes, their order, and what they are on plain bits.

use crate::error::{Error, Result};
use crate::graph::Bit;
use std::fmt;
use std::ops::Range;
use zeroize::{DefaultIsZeroes, Zeroizing};

/// A bit of a function. A gate is named by the number of its node.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// The constant false; node 0 and no other.
    #[default]
    False,
    /// The next input bit.
    Input,
    /// A gate: t = \[x + y + z ≥ 2\].
    Majority([Bit; 3]),
    /// x + y + z − 2t of a gate: the XOR of its operands.
    Parity(u32),
    /// Operand 1 or 2 of a gate, less t. Its operand 0 is false: what remains is the operand without the other one.
    Rest(u32, u8),
    /// y + z − t of a gate whose operand 0 is false: y OR z.
    Either(u32),
    /// The sum of two bits that are ANDs, one of a bit and the other of its complement.
    Choice([Bit; 2]),
}

impl DefaultIsZeroes for Node {}

/// A checked function: bits in, bits out, gates of one kind. Its nodes and outputs are erased after use, and so is where
/// [`restricted`](Function::restricted) puts constants; how nodes lie in layers is not.
///
/// Nodes are in layers: gates of a layer have operands of earlier layers only, and lie side by side.
#[derive(Clone, PartialEq, Eq)]
pub struct Function {
    nodes: Zeroizing<Vec<Node>>,
    inputs: usize,
    outputs: Zeroizing<Vec<Bit>>,
    gates: usize,
    layers: Vec<Range<usize>>,
}

/// The numbers alone: the rest is a secret.
impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [inputs, outputs] = [self.inputs, self.outputs.len()];
        let mut numbers = f.debug_struct("Function");
        numbers.field("inputs", &inputs).field("outputs", &outputs).field("gates", &self.gates).finish_non_exhaustive()
    }
}

impl Function {
    /// Checks every property of a function; the one way to make one. Nodes are put in order first.
    ///
    /// # Errors
    /// [`Error::Invalid`] that names the node: one that reads a later one, a sum that is not proven to be 0 or 1.
    pub fn new(nodes: Vec<Node>, outputs: Vec<Bit>) -> Result<Self> {
        let (nodes, outputs) = (Zeroizing::new(nodes), Zeroizing::new(outputs));
        check(&nodes, &outputs)?;
        let (nodes, outputs, layers) = in_layers(&nodes, &outputs);
        let (nodes, outputs) = (Zeroizing::new(nodes), Zeroizing::new(outputs));
        let count = |kind: fn(&Node) -> bool| nodes.iter().filter(|node| kind(node)).count();
        let inputs = count(|node| matches!(node, Node::Input));
        let gates = count(|node| matches!(node, Node::Majority(_)));
        Ok(Function { nodes, inputs, outputs, gates, layers })
    }

    /// The same function where some of its inputs are constants, for each of which a bit is given; the others stay its inputs.
    ///
    /// Nothing is folded: gates, layers and additions are as many as before, whatever the constants are, so they say
    /// nothing of them.
    ///
    /// # Errors
    /// [`Error::Usage`] if there are not as many as [`inputs`](Self::inputs).
    pub fn restricted(&self, inputs: &[Option<bool>]) -> Result<Self> {
        if inputs.len() != self.inputs {
            let why = format!("{} bits or gaps for the {} inputs of a function", inputs.len(), self.inputs);
            return Err(Error::usage(why));
        }
        let mut nodes = Vec::with_capacity(self.nodes.len());
        let mut bits = Zeroizing::new(Vec::with_capacity(self.nodes.len()));
        for (number, &node) in self.nodes.iter().enumerate() {
            let given = if node == Node::Input { inputs[number - 1] } else { None };
            bits.push(given.map_or(Bit::new(nodes.len() as u32, false), Bit::constant));
            if given.is_none() {
                nodes.push(rename(node, &bits));
            }
        }
        Function::new(nodes, self.outputs.iter().map(|&bit| follow(bit, &bits)).collect())
    }

    /// The nodes, operands first; node 0 is the constant false, and the inputs follow.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Input bits.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Every output bit.
    pub fn outputs(&self) -> &[Bit] {
        &self.outputs
    }

    /// How many gates there are.
    pub fn gates(&self) -> usize {
        self.gates
    }

    /// The nodes of each layer: its gates first, then what is made of them.
    pub fn layers(&self) -> &[Range<usize>] {
        &self.layers
    }

    /// Additions and subtractions of bits outside gates, without those of complements.
    pub fn additions(&self) -> u64 {
        self.nodes.iter().map(|node| u64::from(node.additions())).sum()
    }

    /// Evaluates node by node, by the sums that a protocol computes.
    ///
    /// # Panics
    /// If there are not [`inputs`](Self::inputs) bits.
    pub fn evaluate(&self, inputs: &[bool]) -> Vec<bool> {
        assert_eq!(inputs.len(), self.inputs, "input bits of a function");
        let mut values: Vec<i8> = Vec::with_capacity(self.nodes.len());
        let mut inputs = inputs.iter();
        for node in self.nodes.iter() {
            let value = match node {
                Node::Input => inputs.next().map_or(0, |&bit| i8::from(bit)),
                node => self.value(*node, &values),
            };
            assert!((0..=1).contains(&value), "a bit of a function is 0 or 1");
            values.push(value);
        }
        self.outputs.iter().map(|&bit| read(&values, bit) == 1).collect()
    }

    fn value(&self, node: Node, values: &[i8]) -> i8 {
        let sum = |gate: u32| self.operands(gate).iter().map(|&bit| read(values, bit)).sum::<i8>();
        let at = |gate: u32| values[gate as usize];
        match node {
            Node::False | Node::Input => 0,
            Node::Majority(bits) => i8::from(bits.iter().map(|&bit| read(values, bit)).sum::<i8>() >= 2),
            Node::Parity(gate) => sum(gate) - 2 * at(gate),
            Node::Rest(gate, operand) => read(values, self.operands(gate)[usize::from(operand)]) - at(gate),
            Node::Either(gate) => sum(gate) - at(gate),
            Node::Choice(bits) => bits.iter().map(|&bit| read(values, bit)).sum(),
        }
    }

    /// The operands of a gate, and constants for a node that is none.
    pub fn operands(&self, gate: u32) -> [Bit; 3] {
        operands(&self.nodes, gate).unwrap_or([Bit::FALSE; 3])
    }
}

impl Node {
    /// Additions and subtractions that this bit takes outside its gate, complements of what it reads not counted.
    pub fn additions(&self) -> u32 {
        match self {
            Node::False | Node::Input | Node::Majority(_) => 0,
            Node::Parity(_) => 4,
            Node::Rest(..) | Node::Choice(..) => 1,
            Node::Either(_) => 3,
        }
    }
}

/// The value of a bit: that of its node, or one less it.
fn read(values: &[i8], bit: Bit) -> i8 {
    let value = values[bit.node() as usize];
    if bit.complemented() { 1 - value } else { value }
}

fn operands(nodes: &[Node], gate: u32) -> Option<[Bit; 3]> {
    match nodes.get(gate as usize) {
        Some(Node::Majority(bits)) => Some(*bits),
        _ => None,
    }
}

/// Whether two bits are made as ANDs, one of a bit and the other of its complement.
pub(super) fn exclude_each_other(nodes: &[Node], bits: [Bit; 2]) -> bool {
    match bits.map(|bit| product_of(nodes, bit)) {
        [Some(one), Some(other)] => one.iter().any(|&bit| other.contains(&!bit)),
        _ => false,
    }
}

/// The two bits of which a bit is the AND, if it is made as one.
fn product_of(nodes: &[Node], bit: Bit) -> Option<[Bit; 2]> {
    let and = |gate: u32| match operands(nodes, gate) {
        Some([Bit::FALSE, x, y]) => Some([x, y]),
        _ => None,
    };
    match (nodes.get(bit.node() as usize)?, bit.complemented()) {
        (Node::Majority(_), false) => and(bit.node()),
        (&Node::Rest(gate, 1), false) => and(gate).map(|[x, y]| [x, !y]),
        (&Node::Rest(gate, 2), false) => and(gate).map(|[x, y]| [!x, y]),
        (&Node::Either(gate), true) => and(gate).map(|[x, y]| [!x, !y]),
        _ => None,
    }
}

fn check(nodes: &[Node], outputs: &[Bit]) -> Result<()> {
    let invalid = |place: String, why: String| Err(Error::invalid(format!("function, {place}"), why));
    if nodes.first() != Some(&Node::False) {
        return invalid("node 0".into(), "must be the constant false".into());
    }
    for (number, node) in nodes.iter().enumerate().skip(1) {
        if let Err(why) = check_node(&nodes[..number], node) {
            return invalid(format!("node {number}"), why);
        }
    }
    match outputs.iter().position(|bit| bit.node() as usize >= nodes.len()) {
        Some(output) => invalid(format!("output {output}"), format!("node {}", outputs[output].node())),
        None => Ok(()),
    }
}

/// Whether a node reads earlier ones only, and is 0 or 1 whatever they are.
fn check_node(earlier: &[Node], node: &Node) -> std::result::Result<(), String> {
    let gate = |gate: u32| operands(earlier, gate).ok_or_else(|| format!("node {gate} is no earlier gate"));
    let product = |number: u32| match gate(number)? {
        [Bit::FALSE, ..] => Ok(()),
        _ => Err(format!("gate {number} is no AND: its operand 0 is not false")),
    };
    match *node {
        Node::False => Err("only node 0 is the constant false".into()),
        Node::Input if matches!(earlier.last(), Some(Node::False | Node::Input)) => Ok(()),
        Node::Input => Err("an input after another node".into()),
        Node::Majority(bits) => match bits.iter().find(|bit| bit.node() as usize >= earlier.len()) {
            Some(bit) => Err(format!("reads node {}, which does not come before it", bit.node())),
            None => Ok(()),
        },
        Node::Parity(number) => gate(number).map(|_| ()),
        Node::Either(number) => product(number),
        Node::Rest(number, 1 | 2) => product(number),
        Node::Rest(_, operand) => Err(format!("operand {operand} of an AND")),
        Node::Choice(bits) if exclude_each_other(earlier, bits) => Ok(()),
        Node::Choice(_) => Err("a sum of two bits that may both be true".into()),
    }
}

/// The nodes layer by layer, gates first, and the outputs and layers among them.
fn in_layers(nodes: &[Node], outputs: &[Bit]) -> (Vec<Node>, Vec<Bit>, Vec<Range<usize>>) {
    let keys = places(nodes);
    let mut order: Vec<u32> = (0..nodes.len() as u32).collect();
    order.sort_by_key(|&node| keys[node as usize]);
    let mut moved = vec![Bit::FALSE; nodes.len()];
    order.iter().enumerate().for_each(|(place, &node)| moved[node as usize] = Bit::new(place as u32, false));
    let nodes = order.iter().map(|&node| rename(nodes[node as usize], &moved)).collect();
    let outputs = outputs.iter().map(|&bit| follow(bit, &moved)).collect();
    let layer = |number: u32| {
        let first = order.partition_point(|&node| keys[node as usize].0 < number);
        first..order.partition_point(|&node| keys[node as usize].0 <= number)
    };
    let last = keys.iter().map(|key| key.0).max().unwrap_or(0);
    (nodes, outputs, (1..=last).map(layer).collect())
}

/// The layer of each node, and whether it comes after the gates of its layer.
fn places(nodes: &[Node]) -> Vec<(u32, bool)> {
    let mut places: Vec<(u32, bool)> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let of = |node: u32| places[node as usize].0;
        places.push(match *node {
            Node::False | Node::Input => (0, false),
            Node::Majority(bits) => (1 + bits.iter().map(|bit| of(bit.node())).max().unwrap_or(0), false),
            Node::Parity(gate) | Node::Rest(gate, _) | Node::Either(gate) => (of(gate), true),
            Node::Choice(bits) => (bits.iter().map(|bit| of(bit.node())).max().unwrap_or(0), true),
        });
    }
    places
}

/// A node that reads bits in place of nodes; those that are read by gates' numbers are gates.
pub(super) fn rename(node: Node, moved: &[Bit]) -> Node {
    let to = |node: u32| moved[node as usize].node();
    match node {
        Node::False | Node::Input => node,
        Node::Majority(bits) => Node::Majority(bits.map(|bit| follow(bit, moved))),
        Node::Parity(gate) => Node::Parity(to(gate)),
        Node::Rest(gate, operand) => Node::Rest(to(gate), operand),
        Node::Either(gate) => Node::Either(to(gate)),
        Node::Choice(bits) => Node::Choice(bits.map(|bit| follow(bit, moved))),
    }
}

pub(super) fn follow(bit: Bit, moved: &[Bit]) -> Bit {
    moved[bit.node() as usize].flip(bit.complemented())
}
