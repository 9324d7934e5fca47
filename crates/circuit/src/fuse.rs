//! Plans whose ANDs have up to four inputs: what a masking protocol executes.
//!
//! Such a protocol pays one exchange for a layer of ANDs and one bit a party for an AND, whatever the number of its
//! inputs, but the products of the inputs' masks in setup: 1, 4 and 11 of them for 2, 3 and 4 inputs. A [`Fused`] plan
//! is a [`Plan`] whose *trees* are built anew. A tree is an AND with every AND below it that only it reads, plain and
//! not as an output; its product is that of the tree's leaves in any order. First every tree is thought of with four
//! inputs an AND: that gives the fewest layers that rearranging trees can reach. Then, from the outputs down, each tree
//! is built as cheaply as the layer at which it is needed allows: of ANDs with two inputs where there is time, of wider
//! ones where not.
//!
//! It is an integer computation on the plan alone: both parties derive the same.

use crate::graph::Bit;
use crate::plan::{Instr, Op, Plan, Source};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The most inputs of an AND.
pub const MOST_INPUTS: usize = 4;

/// An operand of an AND: a slot, perhaps complemented.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand(u32);

/// Marks a complement; circuits have too few nodes for a slot to reach it.
const FLIP: u32 = 1 << 31;

impl Operand {
    fn new(slot: u32, flip: bool) -> Self {
        debug_assert!(slot < FLIP);
        Operand(if flip { slot | FLIP } else { slot })
    }

    /// The slot.
    #[inline(always)]
    pub fn slot(self) -> usize {
        (self.0 & !FLIP) as usize
    }

    /// Whether it enters complemented.
    #[inline(always)]
    pub fn flip(self) -> bool {
        self.0 & FLIP != 0
    }
}

/// An AND of `N` inputs. Its slot is none that its layer reads, so that a layer may be written while it is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct And<const N: usize> {
    /// The slot written.
    pub dst: u32,
    /// The inputs.
    pub inputs: [Operand; N],
}

/// The ANDs that are opened in one exchange, and what comes before them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layer {
    /// The instructions before the ANDs, among [`Fused::code`].
    pub code: Range<usize>,
    /// ANDs of two inputs, among [`Fused::twos`].
    pub twos: Range<usize>,
    /// ANDs of three inputs.
    pub threes: Range<usize>,
    /// ANDs of four inputs.
    pub fours: Range<usize>,
}

impl Layer {
    /// ANDs of any number of inputs.
    pub fn ands(&self) -> usize {
        self.twos.len() + self.threes.len() + self.fours.len()
    }
}

/// A plan with ANDs of up to four inputs. Inputs, outputs and public rows are those of the [`Plan`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fused {
    slots: usize,
    inputs: Vec<Option<u32>>,
    code: Vec<Instr>,
    twos: Vec<And<2>>,
    threes: Vec<And<3>>,
    fours: Vec<And<4>>,
    layers: Vec<Layer>,
    outputs: Vec<Source>,
}

impl Fused {
    /// Builds the trees of a plan anew, with at most `most` inputs an AND.
    ///
    /// # Panics
    /// Unless `most` is 2, 3 or 4.
    pub fn new(plan: &Plan, most: usize) -> Fused {
        assert!((2..=MOST_INPUTS).contains(&most), "ANDs have two to four inputs, not {most}");
        Order::new(&Graph::read(plan).fused(most)).assign()
    }

    /// How many slots it needs.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// For each input bit the slot that holds it first; `None` if no secret gate reads it.
    pub fn inputs(&self) -> &[Option<u32>] {
        &self.inputs
    }

    /// XORs, and gates with a public operand; no ANDs of two secrets.
    pub fn code(&self) -> &[Instr] {
        &self.code
    }

    /// ANDs of two inputs, layer by layer.
    pub fn twos(&self) -> &[And<2>] {
        &self.twos
    }

    /// ANDs of three inputs, layer by layer.
    pub fn threes(&self) -> &[And<3>] {
        &self.threes
    }

    /// ANDs of four inputs, layer by layer.
    pub fn fours(&self) -> &[And<4>] {
        &self.fours
    }

    /// The layers in order.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The instructions behind the last layer.
    pub fn tail(&self) -> Range<usize> {
        self.layers.last().map_or(0, |layer| layer.code.end)..self.code.len()
    }

    /// Where each output bit lies in the end.
    pub fn outputs(&self) -> &[Source] {
        &self.outputs
    }

    /// ANDs of any number of inputs, for one lane.
    pub fn ands(&self) -> usize {
        self.twos.len() + self.threes.len() + self.fours.len()
    }

    /// The depth of each output: ANDs on the longest path to it, given those of the inputs.
    pub fn depths(&self, inputs: &[u32]) -> Vec<u32> {
        let mut slots = vec![0; self.slots];
        for (slot, &depth) in self.inputs.iter().zip(inputs) {
            slot.iter().for_each(|&slot| slots[slot as usize] = depth);
        }
        let mut next = 0;
        for layer in &self.layers {
            self.local_depths(next..layer.code.end, &mut slots);
            next = layer.code.end;
            deepen(&self.twos[layer.twos.clone()], &mut slots);
            deepen(&self.threes[layer.threes.clone()], &mut slots);
            deepen(&self.fours[layer.fours.clone()], &mut slots);
        }
        self.local_depths(self.tail(), &mut slots);
        let depth = |source: &Source| if let Source::Slot { slot, .. } = *source { slots[slot as usize] } else { 0 };
        self.outputs.iter().map(depth).collect()
    }

    fn local_depths(&self, code: Range<usize>, slots: &mut [u32]) {
        for instr in &self.code[code] {
            let b = if instr.op == Op::Xor { slots[instr.b as usize] } else { 0 };
            slots[instr.dst as usize] = slots[instr.a as usize].max(b);
        }
    }

    /// Shares that setup makes for the ANDs: of each input's mask and of each product, for one lane.
    pub fn planes(&self) -> usize {
        3 * self.twos.len() + 7 * self.threes.len() + 15 * self.fours.len()
    }

    /// Products of masks that the ANDs need, for one lane.
    pub fn products(&self) -> usize {
        self.twos.len() + 4 * self.threes.len() + 11 * self.fours.len()
    }
}

fn deepen<const N: usize>(ands: &[And<N>], slots: &mut [u32]) {
    for and in ands {
        let below = and.inputs.iter().map(|input| slots[input.slot()]).max();
        slots[and.dst as usize] = below.unwrap_or(0) + 1;
    }
}

/// A value of straight-line code, once the slots are gone; operands are nodes.
#[derive(Clone, Copy)]
enum Node {
    Input,
    /// A gate without cost: `a` is a node, and `b` too if the gate is an XOR.
    Local(Instr),
    /// The inputs, as many as the last field says; with more than two only where trees are built.
    And([Bit; MOST_INPUTS], u8),
}

impl Node {
    fn and(inputs: &[Bit]) -> Node {
        let mut all = [Bit::FALSE; MOST_INPUTS];
        all[..inputs.len()].copy_from_slice(inputs);
        Node::And(all, inputs.len() as u8)
    }

    /// The nodes it reads.
    fn reads(&self) -> impl Iterator<Item = usize> {
        let (nodes, count) = match self {
            Node::Input => ([0; MOST_INPUTS], 0),
            Node::Local(Instr { op: Op::Xor, a, b, .. }) => ([*a, *b, 0, 0], 2),
            Node::Local(instr) => ([instr.a, 0, 0, 0], 1),
            Node::And(inputs, count) => (inputs.map(Bit::node), *count),
        };
        nodes.into_iter().take(count.into()).map(|node| node as usize)
    }
}

/// The values of a plan, each behind those that it reads.
struct Graph {
    nodes: Vec<Node>,
    /// The node of each input bit.
    inputs: Vec<Option<u32>>,
    /// Slots are nodes.
    outputs: Vec<Source>,
}

impl Graph {
    fn read(plan: &Plan) -> Graph {
        let mut nodes = Vec::with_capacity(plan.code().len() + plan.inputs().len());
        let mut node_of = vec![0; plan.slots()];
        let mut define = |slot: u32, node: Node, node_of: &mut Vec<u32>| {
            node_of[slot as usize] = nodes.len() as u32;
            nodes.push(node);
            nodes.len() as u32 - 1
        };
        let inputs = plan.inputs().iter();
        let inputs = inputs.map(|slot| slot.map(|slot| define(slot, Node::Input, &mut node_of))).collect();
        for instr in plan.code() {
            let (a, b) = (node_of[instr.a as usize], instr.b);
            let node = match instr.op {
                Op::And => Node::and(&[Bit::new(a, instr.flip_a), Bit::new(node_of[b as usize], instr.flip_b)]),
                Op::Xor => Node::Local(Instr { a, b: node_of[b as usize], ..*instr }),
                Op::XorPublic | Op::AndPublic => Node::Local(Instr { a, ..*instr }),
            };
            define(instr.dst, node, &mut node_of);
        }
        let outputs = plan.outputs().iter().map(|&source| relocate(source, &node_of)).collect();
        Graph { nodes, inputs, outputs }
    }

    /// ANDs that are part of the tree of the only one that reads them.
    fn inner(&self) -> Vec<bool> {
        let mut readers = vec![0u32; self.nodes.len()];
        self.nodes.iter().flat_map(Node::reads).for_each(|node| readers[node] += 1);
        for source in &self.outputs {
            if let Source::Slot { slot: node, .. } = source {
                readers[*node as usize] += 1;
            }
        }
        let mut inner = vec![false; self.nodes.len()];
        for node in &self.nodes {
            let Node::And(inputs, count) = node else { continue };
            for input in inputs.iter().take((*count).into()).filter(|input| !input.complemented()) {
                let below = input.node() as usize;
                inner[below] = readers[below] == 1 && matches!(self.nodes[below], Node::And(..));
            }
        }
        inner
    }

    /// The leaves of a tree from left to right, in place of what the list held.
    fn leaves(&self, root: usize, inner: &[bool], leaves: &mut Vec<Bit>) {
        leaves.clear();
        let mut stack = vec![Bit::new(root as u32, false)];
        while let Some(bit) = stack.pop() {
            match self.nodes[bit.node() as usize] {
                Node::And(inputs, count) if bit.node() as usize == root || inner[bit.node() as usize] => {
                    stack.extend(inputs[..count.into()].iter().rev());
                }
                _ => leaves.push(bit),
            }
        }
    }

    /// The inputs of a tree that is a single AND: most are, and cost no list.
    fn alone(&self, root: usize, inner: &[bool]) -> Option<[Bit; 2]> {
        let Node::And([a, b, ..], 2) = self.nodes[root] else { return None };
        (!inner[a.node() as usize] && !inner[b.node() as usize]).then_some([a, b])
    }

    /// The same values with trees built anew.
    fn fused(&self, most: usize) -> Graph {
        let inner = self.inner();
        let earliest = self.earliest(&inner, most);
        let shapes = self.shapes(&inner, &earliest, most);
        let mut nodes = Vec::with_capacity(self.nodes.len());
        let mut new = vec![0; self.nodes.len()];
        let mut leaves = Vec::new();
        for (old, node) in self.nodes.iter().enumerate().filter(|&(old, _)| !inner[old]) {
            match node {
                Node::Input => nodes.push(Node::Input),
                Node::Local(instr) => {
                    let b = if instr.op == Op::Xor { new[instr.b as usize] } else { instr.b };
                    nodes.push(Node::Local(Instr { a: new[instr.a as usize], b, ..*instr }));
                }
                Node::And(..) => {
                    let renamed = |leaf: Bit| Bit::new(new[leaf.node() as usize], leaf.complemented());
                    if let Some(inputs) = self.alone(old, &inner) {
                        nodes.push(Node::and(&inputs.map(renamed)));
                        new[old] = nodes.len() as u32 - 1;
                        continue;
                    }
                    self.leaves(old, &inner, &mut leaves);
                    let mut items: Vec<Bit> = leaves.iter().copied().map(renamed).collect();
                    for group in &shapes[&(old as u32)] {
                        let inputs: Vec<Bit> = group.iter().map(|&item| items[item]).collect();
                        items.push(Bit::new(nodes.len() as u32, false));
                        nodes.push(Node::and(&inputs));
                    }
                }
            }
            new[old] = nodes.len() as u32 - 1;
        }
        let inputs = self.inputs.iter().map(|node| node.map(|node| new[node as usize])).collect();
        Graph { nodes, inputs, outputs: self.outputs.iter().map(|&source| relocate(source, &new)).collect() }
    }

    /// The first layer at which each value can be there; of the inside of trees nothing.
    fn earliest(&self, inner: &[bool], most: usize) -> Vec<u32> {
        let mut earliest = vec![0; self.nodes.len()];
        let mut leaves = Vec::new();
        for (node, what) in self.nodes.iter().enumerate().filter(|&(node, _)| !inner[node]) {
            let alone = self.alone(node, inner).is_some();
            earliest[node] = match what {
                Node::And(..) if !alone => {
                    self.leaves(node, inner, &mut leaves);
                    let mut levels: Vec<u32> = leaves.iter().map(|leaf| earliest[leaf.node() as usize]).collect();
                    levels.sort_unstable();
                    finish(0, 0, levels.into_iter(), most)
                }
                _ => what.reads().map(|below| earliest[below]).max().unwrap_or(0) + u32::from(alone),
            };
        }
        earliest
    }

    /// How each tree of more than one AND is built, given that all is there at the last layer.
    fn shapes(&self, inner: &[bool], earliest: &[u32], most: usize) -> FxHashMap<u32, Shape> {
        let last = earliest.iter().copied().max().unwrap_or(0);
        let mut latest = vec![last; self.nodes.len()];
        let (mut shapes, mut leaves) = (FxHashMap::default(), Vec::new());
        for (node, what) in self.nodes.iter().enumerate().rev().filter(|&(node, _)| !inner[node]) {
            let needed = latest[node];
            let alone = self.alone(node, inner).is_some();
            if alone || !matches!(what, Node::And(..)) {
                let needed = needed - u32::from(alone);
                what.reads().for_each(|below| latest[below] = latest[below].min(needed));
                continue;
            }
            self.leaves(node, inner, &mut leaves);
            let levels: Vec<u32> = leaves.iter().map(|leaf| earliest[leaf.node() as usize]).collect();
            let shape = shape(&levels, needed, most);
            for (leaf, depth) in leaves.iter().zip(depths(&shape, leaves.len())) {
                let below = &mut latest[leaf.node() as usize];
                *below = (*below).min(needed - depth);
            }
            shapes.insert(node as u32, shape);
        }
        shapes
    }
}

fn relocate(source: Source, place: &[u32]) -> Source {
    match source {
        Source::Slot { slot, flip } => Source::Slot { slot: place[slot as usize], flip },
        other => other,
    }
}

/// ANDs over the leaves of a tree, each of the leaves or earlier ANDs that it names; the last one is the product.
type Shape = Vec<Vec<usize>>;

/// The layer after which one item is left of `items` at layer `now` and of those that come at `later` ones, if every AND
/// takes as many as `most`.
fn finish(mut now: u32, mut items: usize, later: impl Iterator<Item = u32>, most: usize) -> u32 {
    for level in later {
        while items > 1 && now < level {
            items = items.div_ceil(most);
            now += 1;
        }
        now = now.max(level);
        items += 1;
    }
    while items > 1 {
        items = items.div_ceil(most);
        now += 1;
    }
    now
}

/// A tree over leaves that come at these layers which is done at layer `needed`, if any is: layer by layer, what is there
/// is grouped in the smallest groups that leave time for the rest. The more inputs, the more products an input costs.
fn shape(levels: &[u32], needed: u32, most: usize) -> Shape {
    let mut order: Vec<usize> = (0..levels.len()).collect();
    order.sort_by_key(|&leaf| levels[leaf]);
    let later = |from: usize| order[from..].iter().map(|&leaf| levels[leaf]);
    let width = (2..most).find(|&width| finish(0, 0, later(0), width) <= needed).unwrap_or(most);
    let (mut shape, mut items, mut came, mut now) = (Shape::new(), Vec::new(), 0, 0);
    loop {
        if items.len() <= 1 && came < order.len() {
            now = now.max(levels[order[came]]);
        }
        while came < order.len() && levels[order[came]] <= now {
            items.push(order[came]);
            came += 1;
        }
        if items.len() > 1 {
            let mut groups = (2..width).map(|size| items.len().div_ceil(size));
            let in_time = |&groups: &usize| finish(now + 1, groups, later(came), width) <= needed;
            let groups = groups.find(in_time).unwrap_or(items.len().div_ceil(width));
            items = group(&items, groups, levels.len(), &mut shape);
            now += 1;
        } else if came == order.len() {
            return shape;
        }
    }
}

/// Makes ANDs of `groups` groups whose sizes differ by one at most; what stands alone stays.
fn group(items: &[usize], groups: usize, leaves: usize, shape: &mut Shape) -> Vec<usize> {
    let (size, larger) = (items.len() / groups, items.len() % groups);
    let mut rest = items;
    let mut next = |place: usize| {
        let group = rest.split_off(..size + usize::from(place < larger)).expect("the sizes add up");
        if let [alone] = *group {
            return alone;
        }
        shape.push(group.to_vec());
        leaves + shape.len() - 1
    };
    (0..groups).map(&mut next).collect()
}

/// How many ANDs are above each leaf.
fn depths(shape: &Shape, leaves: usize) -> Vec<u32> {
    let mut depths = vec![0; leaves + shape.len()];
    for (place, group) in shape.iter().enumerate().rev() {
        group.iter().for_each(|&item| depths[item] = depths[leaves + place] + 1);
    }
    depths.truncate(leaves);
    depths
}

/// The order in which nodes are computed.
struct Order<'a> {
    graph: &'a Graph,
    nodes: Vec<u32>,
    /// The ANDs of each layer, by their number of inputs.
    layers: Vec<Range<usize>>,
}

impl<'a> Order<'a> {
    fn new(graph: &'a Graph) -> Self {
        let mut level = vec![0; graph.nodes.len()];
        for (node, what) in graph.nodes.iter().enumerate() {
            let below = what.reads().map(|below| level[below]).max().unwrap_or(0);
            level[node] = below + usize::from(matches!(what, Node::And(..)));
        }
        let depth = level.iter().copied().max().unwrap_or(0);
        let mut local = vec![Vec::new(); depth + 1];
        let mut ands = vec![Vec::new(); depth + 1];
        for (node, what) in graph.nodes.iter().enumerate() {
            match what {
                Node::Input => {}
                Node::Local(_) => local[level[node]].push(node as u32),
                Node::And(..) => ands[level[node]].push(node as u32),
            }
        }
        let (mut nodes, mut layers) = (Vec::new(), Vec::new());
        for (mut ands, local) in ands.into_iter().zip(local) {
            ands.sort_by_key(|&node| graph.nodes[node as usize].reads().count());
            if !ands.is_empty() {
                layers.push(nodes.len()..nodes.len() + ands.len());
            }
            nodes.extend(ands);
            nodes.extend(local);
        }
        Order { graph, nodes, layers }
    }

    /// For each node the place behind which nobody reads it; what a layer reads lives as long as the layer.
    fn last_uses(&self) -> Vec<usize> {
        let mut last = vec![0; self.graph.nodes.len()];
        let mut layers = self.layers.iter().peekable();
        for (place, &node) in self.nodes.iter().enumerate() {
            layers.next_if(|layer| layer.end <= place);
            let end = layers.peek().filter(|layer| layer.contains(&place)).map_or(place, |layer| layer.end - 1);
            self.graph.nodes[node as usize].reads().for_each(|below| last[below] = end);
        }
        for source in &self.graph.outputs {
            if let Source::Slot { slot: node, .. } = source {
                last[*node as usize] = usize::MAX;
            }
        }
        last
    }

    /// Gives slots to nodes and takes them back after their last use.
    fn assign(&self) -> Fused {
        let mut slots = Slots { of: vec![u32::MAX; self.graph.nodes.len()], free: Vec::new(), count: 0 };
        let last = self.last_uses();
        let inputs = self.graph.inputs.iter().map(|node| node.map(|node| slots.define(node as usize))).collect();
        let (code, twos, threes, fours, layers) = Default::default();
        let mut fused = Fused { slots: 0, inputs, code, twos, threes, fours, layers, outputs: Vec::new() };
        let (mut place, mut layers) = (0, self.layers.iter().peekable());
        while place < self.nodes.len() {
            let layer = layers.next_if(|layer| layer.start == place).cloned();
            let places = layer.clone().unwrap_or(place..place + 1);
            let before = fused.tail().start..fused.code.len();
            let first = [fused.twos.len(), fused.threes.len(), fused.fours.len()];
            for &node in &self.nodes[places.clone()] {
                slots.define(node as usize);
                fused.push(&self.graph.nodes[node as usize], slots.of[node as usize], &slots.of);
            }
            for below in self.nodes[places.clone()].iter().flat_map(|&node| self.graph.nodes[node as usize].reads()) {
                slots.release(below, last[below] < places.end);
            }
            if layer.is_some() {
                let (twos, threes, fours) =
                    (first[0]..fused.twos.len(), first[1]..fused.threes.len(), first[2]..fused.fours.len());
                fused.layers.push(Layer { code: before, twos, threes, fours });
            }
            place = places.end;
        }
        fused.slots = slots.count as usize;
        fused.outputs = self.graph.outputs.iter().map(|&source| relocate(source, &slots.of)).collect();
        fused
    }
}

impl Fused {
    fn push(&mut self, node: &Node, dst: u32, slot_of: &[u32]) {
        let place = |node: u32| slot_of[node as usize];
        let operand = |bit: Bit| Operand::new(place(bit.node()), bit.complemented());
        match *node {
            Node::Input => {}
            Node::Local(instr) => {
                let b = if instr.op == Op::Xor { place(instr.b) } else { instr.b };
                self.code.push(Instr { dst, a: place(instr.a), b, ..instr });
            }
            Node::And([a, b, ..], 2) => self.twos.push(And { dst, inputs: [a, b].map(operand) }),
            Node::And([a, b, c, _], 3) => self.threes.push(And { dst, inputs: [a, b, c].map(operand) }),
            Node::And(inputs, _) => self.fours.push(And { dst, inputs: inputs.map(operand) }),
        }
    }
}

/// Slots in use and free ones.
struct Slots {
    of: Vec<u32>,
    free: Vec<u32>,
    count: u32,
}

impl Slots {
    fn define(&mut self, node: usize) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.count += 1;
            self.count - 1
        });
        self.of[node] = slot;
        slot
    }

    /// Frees a node's slot if it is not read again; once.
    fn release(&mut self, node: usize, dead: bool) {
        if dead && self.of[node] != u32::MAX {
            self.free.push(self.of[node]);
            self.of[node] = u32::MAX;
        }
    }
}
