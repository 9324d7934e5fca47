//! The surroundings of a node: what it is computed from, what is computed from it, and when its value matters.
//!
//! A window has few leaves. All its other nodes have tables over them, so that what holds in the tables holds whatever the
//! leaves are. Some of its nodes are computed from the node itself; where flipping the node changes none of those that are
//! read outside, its value does not matter (an observability don't-care). That a leaf itself may be computed from the node,
//! outside the window, does no harm: what leaves the window stays as it was.

use super::network::{Kind, Network};
use crate::graph::Bit;

/// Nodes of a window that are computed from its node.
const MOST_ABOVE: usize = 8;
/// Nodes of a window that are not leaves: else a long chain over few leaves takes time by its square.
const MOST_INSIDE: usize = 256;
/// Readers of a node that are looked at for divisors.
const MOST_READERS: usize = 16;
/// The place of a node that is not in the window.
const NOWHERE: u32 = u32::MAX;

/// The values of a function of the leaves, of which there are six if they are one word, and one more with each doubling.
pub type Table<const W: usize> = [u64; W];

/// The leaves of tables of so many words.
pub const fn leaves_of(words: usize) -> usize {
    6 + words.ilog2() as usize
}

pub fn xor<const W: usize>(a: &Table<W>, b: &Table<W>) -> Table<W> {
    std::array::from_fn(|i| a[i] ^ b[i])
}

pub fn and<const W: usize>(a: &Table<W>, b: &Table<W>) -> Table<W> {
    std::array::from_fn(|i| a[i] & b[i])
}

/// Nodes with tables over the leaves, each after those that it reads.
pub struct Window<'a, const W: usize> {
    pub nodes: Vec<u32>,
    pub tables: Vec<Table<W>>,
    /// Where each node stands.
    places: &'a mut [u32],
}

impl<const W: usize> Drop for Window<'_, W> {
    fn drop(&mut self) {
        self.nodes.iter().for_each(|&node| self.places[node as usize] = NOWHERE);
    }
}

/// Places for the nodes of a network.
pub fn places(places: &mut Vec<u32>, network: &Network<'_>) {
    places.resize(network.nodes.len(), NOWHERE);
}

/// What a node may be replaced by, and where it matters.
pub struct Surroundings<const W: usize> {
    /// Leaves below the node.
    pub below: Vec<u32>,
    /// All leaves.
    pub leaves: Vec<u32>,
    /// Nodes of the window that are computed from the node, each after those that it reads, and whether it is read outside.
    pub above: Vec<(u32, bool)>,
    /// Where the node's value matters.
    pub care: Table<W>,
    pub goal: Table<W>,
}

impl<'a, const W: usize> Window<'a, W> {
    /// The window of a node; nodes above it are looked at if `above`.
    pub fn new(network: &Network<'_>, node: u32, above: bool, places: &'a mut [u32]) -> (Self, Surroundings<W>) {
        let most = leaves_of(W);
        let mut inside = if above { above_of(network, node) } else { Vec::new() };
        inside.push(node);
        let mut leaves = leaves(network, &mut inside, most);
        if leaves.len() > most {
            inside = vec![node];
            leaves = self::leaves(network, &mut inside, most);
        }
        let mut window = Window { nodes: Vec::new(), tables: Vec::new(), places };
        leaves.iter().enumerate().for_each(|(i, &leaf)| window.push(leaf, input(i)));
        window.fill(network, node);
        let end = window.nodes.len();
        let below = window.leaves_below(network, node, &leaves);
        inside.iter().for_each(|&top| window.fill(network, top));
        let (care, above) = window.care(network, node, leaves.len(), end);
        let goal = window.tables[window.places[node as usize] as usize];
        (window, Surroundings { below, leaves, above, care, goal })
    }

    fn push(&mut self, node: u32, table: Table<W>) {
        self.places[node as usize] = self.nodes.len() as u32;
        self.nodes.push(node);
        self.tables.push(table);
    }

    fn holds(&self, node: u32) -> bool {
        node == 0 || self.places[node as usize] != NOWHERE
    }

    fn value(&self, bit: Bit) -> Table<W> {
        let table = if bit.node() == 0 { [0; W] } else { self.tables[self.places[bit.node() as usize] as usize] };
        if bit.complemented() { table.map(|word| !word) } else { table }
    }

    fn table_of(&self, network: &Network<'_>, node: u32) -> Table<W> {
        let gate = &network.nodes[node as usize];
        let [a, b] = gate.operands.map(|bit| self.value(bit));
        if gate.kind == Kind::And { and(&a, &b) } else { xor(&a, &b) }
    }

    /// All between the leaves and a node, which is the last.
    fn fill(&mut self, network: &Network<'_>, node: u32) {
        let mut stack = vec![node];
        while let Some(&at) = stack.last() {
            let below = network.nodes[at as usize].operands.map(Bit::node);
            match below.into_iter().find(|&below| !self.holds(below)) {
                Some(below) if !self.holds(at) => stack.push(below),
                _ => {
                    if !self.holds(at) {
                        let table = self.table_of(network, at);
                        self.push(at, table);
                    }
                    stack.pop();
                }
            }
        }
    }

    /// The leaves that a node is computed from.
    fn leaves_below(&self, network: &Network<'_>, node: u32, leaves: &[u32]) -> Vec<u32> {
        let (mut stack, mut seen) = (vec![node], vec![0, node]);
        while let Some(at) = stack.pop() {
            if leaves.contains(&at) {
                continue;
            }
            for below in network.nodes[at as usize].operands.map(Bit::node) {
                if !seen.contains(&below) {
                    seen.push(below);
                    stack.push(below);
                }
            }
        }
        seen.retain(|node| leaves.contains(node));
        seen
    }

    /// Where a flip of the node is seen outside the window, and what it may change inside: nodes from `end` on.
    fn care(&mut self, network: &Network<'_>, node: u32, leaves: usize, end: usize) -> (Table<W>, Vec<(u32, bool)>) {
        let old: Vec<Table<W>> = self.tables[end - 1..].to_vec();
        let all = [u64::MAX; W];
        let place = self.places[node as usize] as usize;
        let inside = |window: &Self, node: u32| {
            let place = window.places[node as usize];
            place != NOWHERE && place as usize >= leaves
        };
        let is_read = |window: &Self, node: u32| is_read_outside(network, node, |reader| inside(window, reader));
        if is_read(self, node) {
            return (all, Vec::new());
        }
        let (kept, mut above, mut care) = (self.tables[place], Vec::new(), [0; W]);
        self.tables[place] = kept.map(|word| !word);
        for i in end..self.nodes.len() {
            let at = self.nodes[i];
            let below = network.nodes[at as usize].operands.map(Bit::node);
            if !below.iter().any(|below| *below == node || above.iter().any(|(above, _)| above == below)) {
                continue;
            }
            self.tables[i] = self.table_of(network, at);
            let seen = is_read(self, at);
            above.push((at, seen));
            if seen {
                let change = xor(&self.tables[i], &old[i + 1 - end]);
                care = std::array::from_fn(|word| care[word] | change[word]);
            }
        }
        self.tables[end - 1..].copy_from_slice(&old);
        self.tables[place] = kept;
        (care, above)
    }

    /// Keeps some nodes alone.
    pub fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        let old = std::mem::take(&mut self.nodes);
        let tables = std::mem::take(&mut self.tables);
        old.iter().for_each(|&node| self.places[node as usize] = NOWHERE);
        for (&node, &table) in old.iter().zip(&tables).filter(|(node, _)| keep(**node)) {
            self.push(node, table);
        }
    }

    /// Keeps the first so many.
    pub fn cut(&mut self, most: usize) {
        if self.nodes.len() > most {
            let last = self.nodes.split_off(most);
            last.iter().for_each(|&node| self.places[node as usize] = NOWHERE);
            self.tables.truncate(most);
        }
    }

    /// And others that are computed of what is there.
    pub fn widen(&mut self, network: &Network<'_>, node: u32, dying: &[u32], most: usize) {
        let mut at = 0;
        while at < self.nodes.len() && self.nodes.len() < most {
            let readers: Vec<u32> = network.read_by(self.nodes[at]).take(MOST_READERS).collect();
            for reader in readers {
                let below = network.nodes[reader as usize].operands.map(Bit::node);
                let fits = reader != node && !self.holds(reader) && below.iter().all(|&below| self.holds(below));
                if fits && !dying.contains(&reader) && self.nodes.len() < most {
                    let table = self.table_of(network, reader);
                    self.push(reader, table);
                }
            }
            at += 1;
        }
    }
}

/// Whether a node is an output, or read by a gate that is not inside.
fn is_read_outside(network: &Network<'_>, node: u32, inside: impl Fn(u32) -> bool) -> bool {
    let mut count = 0;
    let outside = network.read_by(node).any(|reader| {
        count += 1;
        !inside(reader)
    });
    outside || network.nodes[node as usize].readers > count
}

/// Nodes that are computed from a node: its readers if they are few, the readers of these, and so on.
fn above_of(network: &Network<'_>, node: u32) -> Vec<u32> {
    let mut above: Vec<u32> = Vec::new();
    let mut at = node;
    for next in 0.. {
        let readers: Vec<u32> = network.read_by(at).take(MOST_ABOVE + 1).collect();
        let is_output = network.nodes[at as usize].readers as usize > readers.len();
        let new: Vec<u32> = readers.into_iter().filter(|reader| !above.contains(reader)).collect();
        if !is_output && above.len() + new.len() <= MOST_ABOVE {
            above.extend(new);
        } else if at == node {
            break;
        }
        match above.get(next) {
            Some(&above) => at = above,
            None => break,
        }
    }
    above.dedup();
    above
}

/// Few nodes that those inside are functions of, most of them far: the operands, each time the leaf that brings fewest new
/// ones gives way to its operands. Those come inside.
fn leaves(network: &Network<'_>, inside: &mut Vec<u32>, most: usize) -> Vec<u32> {
    let operands = |node: u32| network.nodes[node as usize].operands.map(Bit::node);
    let mut leaves: Vec<u32> = Vec::new();
    for below in inside.iter().flat_map(|&node| operands(node)) {
        if below != 0 && !inside.contains(&below) && !leaves.contains(&below) {
            leaves.push(below);
        }
    }
    while inside.len() < MOST_INSIDE {
        let is_new = |below: &u32| *below != 0 && !leaves.contains(below) && !inside.contains(below);
        let gates = leaves.iter().filter(|&&leaf| network.nodes[leaf as usize].kind != Kind::Leaf);
        let cost = |leaf: u32| operands(leaf).iter().filter(|below| is_new(below)).count();
        // Of equals the one that is made last.
        let Some(&leaf) = gates.min_by_key(|&&leaf| (cost(leaf), std::cmp::Reverse(leaf))) else { break };
        let new: Vec<u32> = operands(leaf).into_iter().filter(is_new).collect();
        if leaves.len() + new.len() > most + 1 {
            break;
        }
        leaves.retain(|&other| other != leaf);
        inside.push(leaf);
        for below in new {
            if !leaves.contains(&below) {
                leaves.push(below);
            }
        }
    }
    leaves
}

/// The table of leaf `i`.
pub fn input<const W: usize>(i: usize) -> Table<W> {
    use super::affine::truth::INPUT;
    std::array::from_fn(|word| match i {
        0..6 => INPUT[i],
        _ if word >> (i - 6) & 1 == 1 => u64::MAX,
        _ => 0,
    })
}
