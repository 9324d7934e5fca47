//! Builds circuits gate by gate, and never the same gate twice.
//!
//! Constants are folded; fan-ins are put in one order; XOR carries complements to its output. One AND serves a pair
//! of nodes in all four polarities, because `(a⊕r)(b⊕s) = ab ⊕ sa ⊕ rb ⊕ rs` costs only XORs once `ab` is there.
//! Rewrites of one level (`a & (a & b)`, `(a ^ b) ^ b`, `a & (a ^ b)`, ...) never add an AND or a layer.
//! Equal calls give equal circuits on every platform: hash maps are only looked up, never walked.

use crate::error::Result;
use crate::gates_by_operands::GatesByOperands;
use crate::graph::{Bit, Circuit, Gate, MAX_NODES, Port, Type};
use crate::words::{Bits, Int, UInt, Word};

/// Rewrites in a row before a gate is built as it stands: files may ask for endless chains of them.
const REWRITES: usize = 16;

/// The result of one rewriting of a gate.
enum Rewriting {
    /// A bit that exists.
    Done(Bit),
    /// A gate of the same kind over earlier nodes.
    Again(Bit, Bit),
    /// Nothing: the gate has to be built.
    Build,
}

/// A circuit under construction.
///
/// ```
/// use circuit::blocks::{Goal, add, greater};
/// use circuit::{Bits, Builder};
///
/// let mut c = Builder::new("over");
/// let (a, b, limit) = (c.uint("a", 8), c.uint("b", 8), c.uint("limit", 8));
/// let sum = add(&mut c, &a, &b, Goal::Size);
/// let over = greater(&mut c, &sum, &limit, Goal::Size);
/// c.output("over", &Bits::from(over));
/// let circuit = c.finish();
/// // The comparison follows the carries of the sum one layer behind.
/// assert_eq!((circuit.and_count(), circuit.depth()), (15, 8));
/// ```
pub struct Builder {
    name: String,
    gates: Vec<Gate>,
    /// ANDs on the longest path to each node.
    depths: Vec<u32>,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    input_nodes: Vec<u32>,
    output_bits: Vec<Bit>,
    /// The XOR of two nodes, and their AND in whatever polarity came first.
    known: GatesByOperands,
}

impl Builder {
    /// An empty circuit.
    pub fn new(name: impl Into<String>) -> Self {
        Builder {
            name: name.into(),
            gates: vec![Gate::False],
            depths: vec![0],
            inputs: Vec::new(),
            outputs: Vec::new(),
            input_nodes: Vec::new(),
            output_bits: Vec::new(),
            known: GatesByOperands::default(),
        }
    }

    /// A new input port: a string of bits.
    pub fn bits(&mut self, name: impl Into<String>, width: u32) -> Bits {
        Bits(self.input(name, crate::graph::bits(width)))
    }

    /// A new input port: an unsigned integer.
    pub fn uint(&mut self, name: impl Into<String>, width: u32) -> UInt {
        UInt(self.input(name, crate::graph::uint(width)))
    }

    /// A new input port: an integer in two's complement.
    pub fn int(&mut self, name: impl Into<String>, width: u32) -> Int {
        Int(self.input(name, crate::graph::int(width)))
    }

    /// A new input port of any type.
    pub fn input(&mut self, name: impl Into<String>, ty: Type) -> Vec<Bit> {
        self.inputs.push(Port::new(name, ty));
        let bits: Vec<Bit> = (0..ty.width).map(|_| self.push(Gate::Input)).collect();
        self.input_nodes.extend(bits.iter().map(|bit| bit.node()));
        bits
    }

    /// A new output port.
    pub fn output(&mut self, name: impl Into<String>, word: &(impl Word + ?Sized)) {
        self.output_as(name, word.ty(), word.bits());
    }

    /// A new output port of any type.
    ///
    /// # Panics
    /// If the type has another width.
    pub fn output_as(&mut self, name: impl Into<String>, ty: Type, bits: &[Bit]) {
        assert_eq!(ty.width as usize, bits.len(), "width of an output port");
        self.outputs.push(Port::new(name, ty));
        self.output_bits.extend_from_slice(bits);
    }

    /// Output ports that have these bits one behind the other.
    pub(crate) fn outputs(&mut self, ports: &[Port], mut bits: &[Bit]) {
        for port in ports {
            let (word, rest) = bits.split_at(port.ty.width as usize);
            self.output_as(port.name.clone(), port.ty, word);
            bits = rest;
        }
    }

    /// a ⊕ b; free.
    pub fn xor(&mut self, a: Bit, b: Bit) -> Bit {
        let flip = a.complemented() ^ b.complemented();
        let (mut a, mut b) = order(a.plain(), b.plain());
        for rewrites in 0.. {
            match self.rewrite_xor(a, b) {
                Rewriting::Done(bit) => return bit.flip(flip),
                Rewriting::Again(x, y) if rewrites < REWRITES => (a, b) = order(x, y),
                _ => break,
            }
        }
        self.share_xor(a, b).flip(flip)
    }

    /// a ∧ b; one AND, or none if the nodes of a and b have met before.
    pub fn and(&mut self, a: Bit, b: Bit) -> Bit {
        let (mut a, mut b) = order(a, b);
        for rewrites in 0.. {
            match self.rewrite_and(a, b) {
                Rewriting::Done(bit) => return bit,
                Rewriting::Again(x, y) if rewrites < REWRITES => (a, b) = order(x, y),
                _ => break,
            }
        }
        self.share_and(a, b)
    }

    /// a ∨ b; one AND.
    pub fn or(&mut self, a: Bit, b: Bit) -> Bit {
        !self.and(!a, !b)
    }

    /// `then` if `select`, else `otherwise`; one AND.
    pub fn mux(&mut self, select: Bit, then: Bit, otherwise: Bit) -> Bit {
        let differ = self.xor(then, otherwise);
        let change = self.and(select, differ);
        self.xor(otherwise, change)
    }

    /// The exclusive or of all bits; free.
    pub fn xor_all(&mut self, bits: impl IntoIterator<Item = Bit>) -> Bit {
        bits.into_iter().fold(Bit::FALSE, |sum, bit| self.xor(sum, bit))
    }

    /// The outputs of a circuit whose inputs are these bits, both in the order of its ports: a circuit that was read, or made
    /// before, becomes a part of this one. Constants fold, and gates that are here already are shared.
    ///
    /// ```
    /// use circuit::format::bristol::{self, Names};
    /// use circuit::{Bits, Builder};
    ///
    /// let file = "1 3\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n";
    /// let both = bristol::read(file.as_bytes(), &Names::default())?;
    /// let mut c = Builder::new("all");
    /// let bits = c.bits("bits", 4);
    /// let pairs = bits.0.chunks(2).flat_map(|pair| c.append(&both, pair)).collect::<Vec<_>>();
    /// let all = Bits(c.append(&both, &pairs));
    /// c.output("all", &all);
    /// assert_eq!(c.finish().evaluate(&[true; 4]), [true]);
    /// # Ok::<(), circuit::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the bits are not as many as the circuit's inputs.
    pub fn append(&mut self, circuit: &Circuit, inputs: &[Bit]) -> Vec<Bit> {
        self.append_noting(circuit, inputs, |_, _| {})
    }

    /// Like [`append`](Self::append); `note` is told of each gate's node in the circuit, and how many nodes there are behind it.
    #[doc(hidden)]
    pub fn append_noting(&mut self, circuit: &Circuit, inputs: &[Bit], mut note: impl FnMut(u32, u32)) -> Vec<Bit> {
        assert_eq!(circuit.input_width(), inputs.len(), "bits of the inputs of '{}'", circuit.name());
        let mut made = vec![Bit::FALSE; circuit.gates().len()];
        circuit.input_nodes().iter().zip(inputs).for_each(|(node, bit)| made[*node as usize] = *bit);
        let of = |made: &[Bit], bit: Bit| made[bit.node() as usize].flip(bit.complemented());
        for (node, gate) in circuit.gates().iter().enumerate() {
            made[node] = match *gate {
                Gate::False | Gate::Input => continue,
                Gate::Xor(a, b) => self.xor(of(&made, a), of(&made, b)),
                Gate::And(a, b) => self.and(of(&made, a), of(&made, b)),
            };
            note(node as u32, self.nodes());
        }
        circuit.output_bits().iter().map(|bit| of(&made, *bit)).collect()
    }

    /// ANDs on the longest path to this bit.
    pub fn depth(&self, bit: Bit) -> u32 {
        self.depths[bit.node() as usize]
    }

    /// The circuit without the gates that no output needs; inputs stay, and so does the order.
    ///
    /// # Panics
    /// If two inputs or two outputs share a name, a port has no bits, or a name is empty or too long.
    pub fn finish(self) -> Circuit {
        self.try_finish().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Like [`finish`](Self::finish), for names that come from elsewhere.
    pub fn try_finish(self) -> Result<Circuit> {
        Ok(self.try_finish_with_nodes()?.0)
    }

    /// Nodes so far; the next one has this number.
    #[doc(hidden)]
    pub fn nodes(&self) -> u32 {
        self.gates.len() as u32
    }

    /// Like [`try_finish`](Self::try_finish), and for each node of the builder its node in the circuit, 0 if there is none.
    #[doc(hidden)]
    pub fn try_finish_with_nodes(mut self) -> Result<(Circuit, Vec<u32>)> {
        (self.known, self.depths) = Default::default();
        let live = self.live();
        let moved = drop_dead(&mut self.gates, &live);
        let input_nodes = self.input_nodes.iter().map(|&node| moved[node as usize]).collect();
        let output_bits = self.output_bits.iter().map(|&bit| follow(bit, &moved)).collect();
        let circuit = Circuit::from_parts(self.name, self.gates, self.inputs, self.outputs, input_nodes, output_bits)?;
        Ok((circuit, moved))
    }

    fn rewrite_and(&mut self, a: Bit, b: Bit) -> Rewriting {
        match (a, b) {
            (Bit::FALSE, _) => Rewriting::Done(Bit::FALSE),
            (Bit::TRUE, b) => Rewriting::Done(b),
            (a, b) if a == b => Rewriting::Done(a),
            (a, b) if a == !b => Rewriting::Done(Bit::FALSE),
            _ => match self.rewrite_and_of(a, b) {
                Rewriting::Build => self.rewrite_and_of(b, a),
                step => step,
            },
        }
    }

    /// One operand of an AND against the fan-ins of the other.
    fn rewrite_and_of(&mut self, a: Bit, b: Bit) -> Rewriting {
        match self.gates[b.node() as usize] {
            Gate::And(c, d) => match (b.complemented(), a == c || a == d, a == !c || a == !d) {
                (false, true, _) => Rewriting::Done(b),
                (false, _, true) => Rewriting::Done(Bit::FALSE),
                (true, true, _) => Rewriting::Done(self.xor(a, !b)),
                (true, _, true) => Rewriting::Done(a),
                _ => Rewriting::Build,
            },
            Gate::Xor(c, d) if a.node() == c.node() => Rewriting::Again(a, known(a, b, d)),
            Gate::Xor(c, d) if a.node() == d.node() => Rewriting::Again(a, known(a, b, c)),
            _ => Rewriting::Build,
        }
    }

    /// Constants, equal operands, and operands that share a fan-in.
    fn rewrite_xor(&self, a: Bit, b: Bit) -> Rewriting {
        if a == b {
            return Rewriting::Done(Bit::FALSE);
        }
        if a == Bit::FALSE {
            return Rewriting::Done(b);
        }
        match (self.gates[a.node() as usize], self.gates[b.node() as usize]) {
            (_, Gate::Xor(c, d)) if a == c || a == d => Rewriting::Done(if a == c { d } else { c }),
            (Gate::Xor(c, d), _) if b == c || b == d => Rewriting::Done(if b == c { d } else { c }),
            (Gate::Xor(c, d), Gate::Xor(e, f)) => cancel((c, d), (e, f)),
            _ => Rewriting::Build,
        }
    }

    fn share_xor(&mut self, a: Bit, b: Bit) -> Bit {
        let gate = Gate::Xor(a, b);
        match self.known.find(gate, &self.gates) {
            Some(node) => Bit::new(node, false),
            None => self.push_known(gate),
        }
    }

    fn share_and(&mut self, a: Bit, b: Bit) -> Bit {
        let gate = Gate::And(a, b);
        match self.known.find(gate, &self.gates) {
            Some(node) => self.turn_and(node, a, b),
            None => self.push_known(gate),
        }
    }

    /// A gate that will be found.
    fn push_known(&mut self, gate: Gate) -> Bit {
        let bit = self.push(gate);
        self.known.add_last(&self.gates);
        bit
    }

    /// a ∧ b from the AND of the same two nodes in another polarity: (p⊕u)(q⊕v) = pq ⊕ vp ⊕ uq ⊕ uv.
    fn turn_and(&mut self, node: u32, a: Bit, b: Bit) -> Bit {
        let Gate::And(p, q) = self.gates[node as usize] else { unreachable!("an AND is found as an AND") };
        let (u, v) = (p != a, q != b);
        let mut bit = Bit::new(node, u && v);
        if v {
            bit = self.xor(bit, p);
        }
        if u {
            bit = self.xor(bit, q);
        }
        bit
    }

    fn push(&mut self, gate: Gate) -> Bit {
        assert!(self.gates.len() < MAX_NODES, "circuit '{}' has more than 2^31 nodes", self.name);
        let depth = |bit: Bit| self.depths[bit.node() as usize];
        self.depths.push(match gate {
            Gate::False | Gate::Input => 0,
            Gate::Xor(a, b) => depth(a).max(depth(b)),
            Gate::And(a, b) => depth(a).max(depth(b)) + 1,
        });
        self.gates.push(gate);
        Bit::new((self.gates.len() - 1) as u32, false)
    }

    /// Which nodes an output needs; the constant and the inputs always.
    fn live(&self) -> Vec<bool> {
        let mut live: Vec<bool> = self.gates.iter().map(|gate| matches!(gate, Gate::False | Gate::Input)).collect();
        for bit in &self.output_bits {
            live[bit.node() as usize] = true;
        }
        for (node, gate) in self.gates.iter().enumerate().rev() {
            if let (true, Gate::Xor(a, b) | Gate::And(a, b)) = (live[node], *gate) {
                live[a.node() as usize] = true;
                live[b.node() as usize] = true;
            }
        }
        live
    }
}

/// The value of b, which is the XOR of the node of a and `rest`, wherever a holds.
fn known(a: Bit, b: Bit, rest: Bit) -> Bit {
    rest.flip(!a.complemented() ^ b.complemented())
}

/// (c ⊕ d) ⊕ (e ⊕ f) where one of the first is one of the second.
fn cancel((c, d): (Bit, Bit), (e, f): (Bit, Bit)) -> Rewriting {
    match () {
        _ if c == e => Rewriting::Again(d, f),
        _ if c == f => Rewriting::Again(d, e),
        _ if d == e => Rewriting::Again(c, f),
        _ if d == f => Rewriting::Again(c, e),
        _ => Rewriting::Build,
    }
}

fn order(a: Bit, b: Bit) -> (Bit, Bit) {
    if a <= b { (a, b) } else { (b, a) }
}

/// Takes out the gates that are not alive, and says which node each one is then. It happens in place: large circuits are all the
/// memory there is.
fn drop_dead(gates: &mut Vec<Gate>, live: &[bool]) -> Vec<u32> {
    let mut moved = vec![0; gates.len()];
    let mut next = 0;
    for node in (0..gates.len()).filter(|&node| live[node]) {
        moved[node] = next as u32;
        gates[next] = rename(gates[node], &moved);
        next += 1;
    }
    gates.truncate(next);
    gates.shrink_to_fit();
    moved
}

fn rename(gate: Gate, moved: &[u32]) -> Gate {
    match gate {
        Gate::Xor(a, b) => Gate::Xor(follow(a, moved), follow(b, moved)),
        Gate::And(a, b) => Gate::And(follow(a, moved), follow(b, moved)),
        other => other,
    }
}

fn follow(bit: Bit, moved: &[u32]) -> Bit {
    Bit::new(moved[bit.node() as usize], bit.complemented())
}
