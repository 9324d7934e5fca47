//! Circuits compiled to straight-line code over few slots: what protocols execute.
//!
//! A [`Circuit`] is a graph; a [`Plan`] is an order of its gates with a *slot* for each value, reused as soon as the
//! value dies, so that a circuit of ten million gates runs in a working set of thousands. Two orders exist. In
//! [`Order::DepthFirst`] a gate follows its operands closely, which keeps the fewest labels alive: garbling. In
//! [`Order::Layered`] all ANDs of one multiplicative depth stand together, so that a sharing protocol opens a layer in
//! one exchange and a garbler with few lanes fills its hash pipeline.
//!
//! What depends on public inputs only is no business of a protocol: it goes into [`Plan::public`], a plan of its own
//! that both parties run in plain, and gates between a secret and a public value become [`Op::XorPublic`] and
//! [`Op::AndPublic`], local in every protocol.
//!
//! Compilation is deterministic: both parties derive the same plan, and AND gates are numbered by their place in it.

use crate::graph::{Bit, Circuit, Gate};
use std::ops::{Range, RangeInclusive};

/// Which order the gates are executed in; the parties must agree, since it numbers the ANDs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    /// Each gate close behind its operands: fewest live slots.
    DepthFirst,
    /// All ANDs of one depth together: fewest rounds.
    Layered,
}

/// How many ANDs a [vector](Plan::vectors) has: a block of 128 bits masks so many, and below the least a correlation of
/// its own does not pay.
pub const VECTOR: RangeInclusive<usize> = 4..=128;

/// What an instruction does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// `slot[dst] = slot[a] ^ slot[b]`; never complemented.
    Xor,
    /// `slot[dst] = (slot[a] ^ flip_a) & (slot[b] ^ flip_b)`.
    And,
    /// `slot[dst] = slot[a] ^ public[b]`; never complemented.
    XorPublic,
    /// `slot[dst] = (slot[a] ^ flip_a) & (public[b] ^ flip_b)`.
    AndPublic,
}

/// One instruction. `dst` differs from every slot operand, so that lanes may be written while operands are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instr {
    /// What to do.
    pub op: Op,
    /// Whether the first operand enters complemented.
    pub flip_a: bool,
    /// Whether the second operand enters complemented.
    pub flip_b: bool,
    /// The slot written.
    pub dst: u32,
    /// The slot of the first operand.
    pub a: u32,
    /// The slot of the second operand, or its row among the public ones.
    pub b: u32,
}

/// Where an output bit is found after the last instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// In a slot, complemented if `flip`.
    Slot {
        /// The slot.
        slot: u32,
        /// Whether the output is its complement.
        flip: bool,
    },
    /// A row of the public plan's outputs, complemented if `flip`.
    Public {
        /// The row.
        row: u32,
        /// Whether the output is its complement.
        flip: bool,
    },
    /// Always this bit.
    Constant(bool),
}

/// A circuit as straight-line code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    order: Order,
    slots: usize,
    inputs: Vec<Option<u32>>,
    code: Vec<Instr>,
    layers: Vec<Range<usize>>,
    vectors: Vec<Range<usize>>,
    vector_ands: u64,
    outputs: Vec<Source>,
    public: Option<Box<Plan>>,
    ands: u64,
    run_ends: Vec<u32>,
    and_runs: u64,
}

impl Plan {
    /// Compiles `circuit` with all inputs secret.
    pub fn new(circuit: &Circuit, order: Order) -> Plan {
        Plan::with_public(circuit, order, &vec![false; circuit.input_width()])
    }

    /// Compiles `circuit` for one pattern of public inputs: `public[i]` says that input bit `i` is known to both.
    ///
    /// # Panics
    /// If `public` is not as long as the circuit's inputs are wide.
    pub fn with_public(circuit: &Circuit, order: Order, public: &[bool]) -> Plan {
        assert_eq!(public.len(), circuit.input_width(), "one flag an input bit");
        let graph = Graph::new(circuit, public);
        let exported = graph.exported();
        let mut plan = match order {
            Order::DepthFirst => graph.depth_first(&exported),
            Order::Layered => graph.layered(&exported),
        };
        if !exported.is_empty() {
            plan.public = Some(Box::new(public_plan(circuit, &exported)));
        }
        plan
    }

    /// The order it was compiled for.
    pub fn order(&self) -> Order {
        self.order
    }

    /// How many slots the code needs.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// For each input bit the slot that holds it before the first instruction; `None` if no secret gate reads it.
    pub fn inputs(&self) -> &[Option<u32>] {
        &self.inputs
    }

    /// The instructions in order.
    pub fn code(&self) -> &[Instr] {
        &self.code
    }

    /// For [`Order::Layered`], the runs of `code` that are one layer of ANDs each; empty in the other order.
    pub fn layers(&self) -> &[Range<usize>] {
        &self.layers
    }

    /// Runs of [`VECTOR`] ANDs within a layer that share the slot of their first operand (multiplexers): one bit times
    /// a vector. They stand in the order of the code. Empty in [`Order::DepthFirst`].
    pub fn vectors(&self) -> &[Range<usize>] {
        &self.vectors
    }

    /// The number of ANDs in [`vectors`](Self::vectors), for one lane.
    pub fn vector_ands(&self) -> u64 {
        self.vector_ands
    }

    /// Where each output bit lies after the last instruction.
    pub fn outputs(&self) -> &[Source] {
        &self.outputs
    }

    /// The plan of what depends on public inputs only, if a secret gate or an output reads such a value. Its inputs are
    /// the circuit's (the secret ones unread) and its outputs are the rows that `public` operands name.
    pub fn public(&self) -> Option<&Plan> {
        self.public.as_deref()
    }

    /// The number of AND gates between secret values, for one lane.
    pub fn ands(&self) -> u64 {
        self.ands
    }

    /// Runs of instructions of one kind, from an instruction on and up to another one: XORs, ANDs of which none reads what
    /// an earlier one of the run writes, or a single gate with a public operand. An AND may write what an earlier one
    /// reads.
    pub fn runs(&self, code: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let first = self.run_ends.partition_point(|&end| end as usize <= code.start);
        let mut start = code.start;
        self.run_ends[first..].iter().map_while(move |&end| {
            let run = start..code.end.min(end as usize);
            start = run.end;
            (!run.is_empty()).then_some(run)
        })
    }

    /// The number of runs of ANDs.
    pub fn and_runs(&self) -> u64 {
        self.and_runs
    }
}

/// The plan that computes `exported` nodes from public inputs.
fn public_plan(circuit: &Circuit, exported: &[u32]) -> Plan {
    let all_secret = vec![false; circuit.input_width()];
    let mut graph = Graph::new(circuit, &all_secret);
    graph.outputs = exported.iter().map(|&node| Bit::new(node, false)).collect();
    graph.mark_live();
    graph.depth_first(&[])
}

/// Gates within which ANDs are gathered. AES-128 has calls of 13 ANDs then, instead of one, for 3 slots more in a hundred.
const WINDOW: usize = 512;

const NONE: u32 = u32::MAX;

/// A circuit with what compilation needs to know of each node.
struct Graph<'a> {
    gates: &'a [Gate],
    input_nodes: &'a [u32],
    outputs: Vec<Bit>,
    public: Vec<bool>,
    live: Vec<bool>,
}

impl<'a> Graph<'a> {
    fn new(circuit: &'a Circuit, public_inputs: &[bool]) -> Self {
        let gates = circuit.gates();
        let mut public = vec![false; gates.len()];
        for (&node, &flag) in circuit.input_nodes().iter().zip(public_inputs) {
            public[node as usize] = flag;
        }
        for (node, gate) in gates.iter().enumerate() {
            match *gate {
                Gate::False => public[node] = true,
                Gate::Input => {}
                Gate::Xor(a, b) | Gate::And(a, b) => {
                    public[node] = public[a.node() as usize] && public[b.node() as usize]
                }
            }
        }
        let outputs = circuit.output_bits().to_vec();
        let mut graph = Graph { gates, input_nodes: circuit.input_nodes(), outputs, public, live: Vec::new() };
        graph.mark_live();
        graph
    }

    fn mark_live(&mut self) {
        self.live = vec![false; self.gates.len()];
        for bit in &self.outputs {
            self.live[bit.node() as usize] = true;
        }
        for node in (0..self.gates.len()).rev() {
            if let (true, Some((a, b))) = (self.live[node], self.operands(node)) {
                self.live[a.node() as usize] = true;
                self.live[b.node() as usize] = true;
            }
        }
    }

    fn operands(&self, node: usize) -> Option<(Bit, Bit)> {
        match self.gates[node] {
            Gate::Xor(a, b) | Gate::And(a, b) => Some((a, b)),
            Gate::False | Gate::Input => None,
        }
    }

    fn is_and(&self, node: usize) -> bool {
        matches!(self.gates[node], Gate::And(..))
    }

    /// A gate that a protocol executes: alive and not public.
    fn is_secret_gate(&self, node: usize) -> bool {
        self.live[node] && !self.public[node] && self.operands(node).is_some()
    }

    fn is_secret(&self, bit: Bit) -> bool {
        !self.public[bit.node() as usize]
    }

    /// The public nodes that secret gates or outputs read, ascending; the constant is not among them.
    fn exported(&self) -> Vec<u32> {
        let mut wanted = vec![false; self.gates.len()];
        for node in (0..self.gates.len()).filter(|&n| self.is_secret_gate(n)) {
            if let Some((a, b)) = self.operands(node) {
                wanted[a.node() as usize] = true;
                wanted[b.node() as usize] = true;
            }
        }
        for bit in &self.outputs {
            wanted[bit.node() as usize] = true;
        }
        (1..self.gates.len()).filter(|&n| wanted[n] && self.public[n]).map(|n| n as u32).collect()
    }

    /// The fewer live slots of two orders: as built, and depth first from the outputs.
    fn depth_first(&self, exported: &[u32]) -> Plan {
        let gates = (0..self.gates.len()).filter(|&n| self.is_secret_gate(n)).map(|n| n as u32);
        let plan = |nodes: Vec<u32>| self.assign(Order::DepthFirst, &self.gathered(&nodes), &[], exported);
        let (built, walked) = (plan(gates.collect()), plan(self.postorder()));
        if walked.slots < built.slots { walked } else { built }
    }

    /// In windows of the order, the ANDs that do not need each other stand together, so that they can be garbled in one
    /// call: of a depth within the window, first what is local and then the ANDs.
    fn gathered(&self, order: &[u32]) -> Vec<u32> {
        let mut depths = vec![0; self.gates.len()];
        let mut gathered = Vec::with_capacity(order.len());
        for window in order.chunks(WINDOW) {
            let start = gathered.len();
            for &node in window {
                let [a, b] = self.operand_nodes(node).map(|operand| depths[operand as usize]);
                depths[node as usize] = a.max(b) + u32::from(self.is_opened(node as usize));
                gathered.push(node);
            }
            gathered[start..].sort_by_key(|&node| {
                let (depth, and) = (depths[node as usize], self.is_opened(node as usize));
                2 * depth - u32::from(and)
            });
            window.iter().for_each(|&node| depths[node as usize] = 0);
        }
        gathered
    }

    fn postorder(&self) -> Vec<u32> {
        let mut order = Vec::new();
        let mut done = vec![false; self.gates.len()];
        for bit in &self.outputs {
            let mut stack = vec![bit.node()];
            while let Some(&node) = stack.last() {
                let n = node as usize;
                if done[n] || !self.is_secret_gate(n) {
                    stack.pop();
                    continue;
                }
                let before = stack.len();
                if let Some((a, b)) = self.operands(n) {
                    let open = |bit: &Bit| !done[bit.node() as usize] && self.is_secret_gate(bit.node() as usize);
                    stack.extend([a, b].iter().filter(|bit| open(bit)).map(|bit| bit.node()));
                }
                if stack.len() == before {
                    done[n] = true;
                    order.push(node);
                    stack.pop();
                }
            }
        }
        order
    }

    fn layered(&self, exported: &[u32]) -> Plan {
        let levels = self.levels();
        let depth = levels.iter().copied().max().unwrap_or(0) as usize;
        let mut locals = vec![Vec::new(); depth + 1];
        let mut ands = vec![Vec::new(); depth + 1];
        for node in (0..self.gates.len()).filter(|&n| self.is_secret_gate(n)) {
            let kind = if self.is_opened(node) { &mut ands } else { &mut locals };
            kind[levels[node] as usize].push(node as u32);
        }
        let mut order = Vec::new();
        let mut layers = Vec::new();
        for (layer, local) in ands.iter().zip(&locals) {
            if !layer.is_empty() {
                layers.push(order.len()..order.len() + layer.len());
            }
            order.extend(self.group_shared(layer));
            order.extend(local);
        }
        self.assign(Order::Layered, &order, &layers, exported)
    }

    /// An AND of two secrets: the only gate that costs a protocol anything.
    fn is_opened(&self, node: usize) -> bool {
        self.is_and(node) && self.operands(node).is_some_and(|(a, b)| self.is_secret(a) && self.is_secret(b))
    }

    fn levels(&self) -> Vec<u32> {
        let mut levels = vec![0; self.gates.len()];
        for node in 0..self.gates.len() {
            if let (true, Some((a, b))) = (self.is_secret_gate(node), self.operands(node)) {
                let below = levels[a.node() as usize].max(levels[b.node() as usize]);
                levels[node] = below + self.is_opened(node) as u32;
            }
        }
        levels
    }

    /// Puts ANDs that share an operand beside each other, groups in the order of their first member.
    fn group_shared(&self, layer: &[u32]) -> Vec<u32> {
        let mut uses = rustc_hash::FxHashMap::<u32, u32>::default();
        for operand in layer.iter().flat_map(|&n| self.operand_nodes(n)) {
            *uses.entry(operand).or_default() += 1;
        }
        let key = |&node: &u32| {
            let [a, b] = self.operand_nodes(node);
            if uses[&b] > uses[&a] { b } else { a }
        };
        let mut rank = rustc_hash::FxHashMap::<u32, usize>::default();
        for (place, node) in layer.iter().enumerate() {
            rank.entry(key(node)).or_insert(place);
        }
        let mut grouped = layer.to_vec();
        grouped.sort_by_key(|node| rank[&key(node)]);
        grouped
    }

    fn operand_nodes(&self, node: u32) -> [u32; 2] {
        self.operands(node as usize).map_or([0; 2], |(a, b)| [a.node(), b.node()])
    }

    fn assign(&self, order: Order, nodes: &[u32], layers: &[Range<usize>], exported: &[u32]) -> Plan {
        let mut allocator = Allocator::new(self, nodes, layers);
        let inputs = self.input_nodes.iter().map(|&n| allocator.input(n as usize)).collect();
        let mut code = Vec::with_capacity(nodes.len());
        let mut next_layer = layers.iter().peekable();
        let mut place = 0;
        while place < nodes.len() {
            let end = match next_layer.next_if(|layer| layer.start == place) {
                Some(layer) => layer.end,
                None => place + 1,
            };
            for &node in &nodes[place..end] {
                allocator.define(node as usize);
                code.push(self.instruction(node as usize, &allocator.slot_of, exported));
            }
            allocator.release(place..end);
            place = end;
        }
        let outputs = self.outputs.iter().map(|&bit| self.source(bit, &allocator.slot_of, exported)).collect();
        let vectors = share_first_operand(&mut code, layers);
        let ands = code.iter().filter(|i| i.op == Op::And).count() as u64;
        let vector_ands = vectors.iter().map(|vector| vector.len() as u64).sum();
        let (layers, slots) = (layers.to_vec(), allocator.slots);
        let run_ends = run_ends(&code, slots);
        let and_runs = run_ends.iter().filter(|&&end| code[end as usize - 1].op == Op::And).count() as u64;
        Plan {
            order,
            slots,
            inputs,
            code,
            layers,
            vectors,
            vector_ands,
            outputs,
            public: None,
            ands,
            run_ends,
            and_runs,
        }
    }

    fn instruction(&self, node: usize, slot_of: &[u32], exported: &[u32]) -> Instr {
        let (mut a, mut b) = self.operands(node).expect("only gates are planned");
        if !self.is_secret(a) {
            (a, b) = (b, a);
        }
        let op = match (self.is_and(node), self.is_secret(b)) {
            (false, true) => Op::Xor,
            (true, true) => Op::And,
            (false, false) => Op::XorPublic,
            (true, false) => Op::AndPublic,
        };
        let b_place = if self.is_secret(b) { slot_of[b.node() as usize] } else { public_row(exported, b.node()) };
        Instr {
            op,
            flip_a: a.complemented(),
            flip_b: b.complemented(),
            dst: slot_of[node],
            a: slot_of[a.node() as usize],
            b: b_place,
        }
    }

    fn source(&self, bit: Bit, slot_of: &[u32], exported: &[u32]) -> Source {
        let (node, flip) = (bit.node(), bit.complemented());
        match () {
            _ if node == 0 => Source::Constant(flip),
            _ if self.is_secret(bit) => Source::Slot { slot: slot_of[node as usize], flip },
            _ => Source::Public { row: public_row(exported, node), flip },
        }
    }
}

fn public_row(exported: &[u32], node: u32) -> u32 {
    exported.binary_search(&node).expect("exported() lists every public operand") as u32
}

/// Where [runs](Plan::runs) end.
fn run_ends(code: &[Instr], slots: usize) -> Vec<u32> {
    let mut ends = Vec::new();
    let (mut start, mut written_in) = (0, vec![NONE; slots]);
    for (i, instr) in code.iter().enumerate() {
        let follows = match instr.op {
            Op::Xor => true,
            Op::And => [instr.a, instr.b].iter().all(|&slot| written_in[slot as usize] != start),
            Op::XorPublic | Op::AndPublic => false,
        };
        if i > 0 && !(follows && instr.op == code[i - 1].op) {
            ends.push(i as u32);
            start = i as u32;
        }
        written_in[instr.dst as usize] = start;
    }
    if !code.is_empty() {
        ends.push(code.len() as u32);
    }
    ends
}

/// Swaps operands so that neighbours in a layer share their first one, and lists the runs that do.
fn share_first_operand(code: &mut [Instr], layers: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut vectors = Vec::new();
    for layer in layers {
        let mut start = layer.start;
        while start < layer.end {
            let end = shared_run(code, start, layer.end.min(start + VECTOR.end()));
            if VECTOR.contains(&(end - start)) {
                vectors.push(start..end);
            }
            start = end;
        }
    }
    vectors
}

/// The end of the longest run from `start` whose instructions share a slot, which is made their first operand.
fn shared_run(code: &mut [Instr], start: usize, limit: usize) -> usize {
    let has = |instr: &Instr, slot| instr.a == slot || instr.b == slot;
    let run = |slot| (start..limit).take_while(|&i| has(&code[i], slot)).count();
    let (a, b) = (code[start].a, code[start].b);
    let (shared, length) = if run(b) > run(a) { (b, run(b)) } else { (a, run(a)) };
    for instr in &mut code[start..start + length] {
        if instr.a != shared {
            (instr.a, instr.b) = (instr.b, instr.a);
            (instr.flip_a, instr.flip_b) = (instr.flip_b, instr.flip_a);
        }
    }
    start + length
}

/// Gives slots to nodes and takes them back after their last use.
struct Allocator<'a> {
    graph: &'a Graph<'a>,
    nodes: &'a [u32],
    /// The place in `nodes` after which a node's slot is free.
    last_use: Vec<u32>,
    slot_of: Vec<u32>,
    free: Vec<u32>,
    slots: usize,
}

impl<'a> Allocator<'a> {
    fn new(graph: &'a Graph<'a>, nodes: &'a [u32], layers: &[Range<usize>]) -> Self {
        let mut last_use = vec![NONE; graph.gates.len()];
        for (place, &node) in nodes.iter().enumerate() {
            for operand in graph.operand_nodes(node) {
                last_use[operand as usize] = place as u32;
            }
        }
        // Operands of a layer live until the whole layer is opened.
        for layer in layers {
            for operand in nodes[layer.clone()].iter().flat_map(|&n| graph.operand_nodes(n)) {
                let last = &mut last_use[operand as usize];
                if *last != NONE && layer.contains(&(*last as usize)) {
                    *last = layer.end as u32 - 1;
                }
            }
        }
        for bit in &graph.outputs {
            last_use[bit.node() as usize] = NONE;
        }
        Allocator { graph, nodes, last_use, slot_of: vec![NONE; graph.gates.len()], free: Vec::new(), slots: 0 }
    }

    /// A slot for an input bit that a secret gate or an output reads.
    fn input(&mut self, node: usize) -> Option<u32> {
        (self.graph.live[node] && !self.graph.public[node]).then(|| self.define(node))
    }

    fn define(&mut self, node: usize) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots as u32 - 1
        });
        self.slot_of[node] = slot;
        slot
    }

    /// Frees what was used last at one of these places; called after their own slots were given.
    fn release(&mut self, places: Range<usize>) {
        for place in places.clone() {
            for operand in self.graph.operand_nodes(self.nodes[place]) {
                let operand = operand as usize;
                let last = self.last_use[operand];
                if last != NONE && places.contains(&(last as usize)) && !self.graph.public[operand] {
                    self.last_use[operand] = NONE;
                    self.free.push(self.slot_of[operand]);
                }
            }
        }
    }
}
