//! A circuit under change: every node knows who reads it, and may be replaced.
//!
//! No node is built twice, whatever the order of its XORs ([`Prints`]). Nodes are numbered as they come and never anew;
//! what nobody reads is dead. Where a node was replaced, those that read it may have become foldable (both operands one
//! node, or constant): they are folded when the network is written and read again.

use super::prints::{Print, Prints};
use crate::builder::Builder;
use crate::graph::{Bit, Circuit, Gate};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The constant false or an input.
    Leaf,
    Xor,
    And,
    Dead,
}

/// The end of a list of readers.
const NONE: u32 = u32::MAX;

pub struct Node {
    pub kind: Kind,
    /// Operands; complements of XORs count as well.
    pub operands: [Bit; 2],
    /// Readers and outputs.
    pub readers: u32,
    /// ANDs on the longest path to it, or a bound: what is replaced is replaced by what comes no later.
    pub depth: u32,
    /// The first reader, as twice its number and which operand.
    first: u32,
    /// The next and the last reader of each operand.
    beside: [[u32; 2]; 2],
}

pub struct Network<'a> {
    circuit: &'a Circuit,
    pub nodes: Vec<Node>,
    prints: Prints,
    pub print: Vec<Print>,
    /// The values of each node on some lanes: what replaces a node must have them too.
    lanes: Vec<u64>,
    /// A bit for each print without its constant; it may have died.
    by_print: FxHashMap<Print, Bit>,
    /// Prints besides its own under which a node is known, those of what it has replaced.
    aliases: FxHashMap<u32, Vec<Print>>,
    pub outputs: Vec<Bit>,
    /// What replaces a node.
    replaced: FxHashMap<u32, Bit>,
    /// Nodes that what is built must not read.
    pub closed: Range<u32>,
}

impl<'a> Network<'a> {
    /// The circuit, without gates that are there twice.
    pub fn read(circuit: &'a Circuit) -> Self {
        let mut network = Network {
            circuit,
            nodes: Vec::with_capacity(circuit.gates().len() + circuit.gates().len() / 4),
            prints: Prints::new(key_of(circuit)),
            print: Vec::with_capacity(circuit.gates().len()),
            lanes: Vec::with_capacity(circuit.gates().len()),
            by_print: FxHashMap::default(),
            aliases: FxHashMap::default(),
            outputs: Vec::new(),
            replaced: FxHashMap::default(),
            closed: 0..0,
        };
        network.push(Kind::Leaf, [Bit::FALSE; 2], 0);
        let mut bits = vec![Bit::FALSE; circuit.gates().len()];
        for (number, &node) in circuit.input_nodes().iter().enumerate() {
            let print = network.prints.input(number);
            bits[node as usize] = network.push(Kind::Leaf, [Bit::FALSE; 2], print);
        }
        let of = |bits: &[Bit], bit: Bit| bits[bit.node() as usize].flip(bit.complemented());
        for (node, gate) in circuit.gates().iter().enumerate() {
            bits[node] = match *gate {
                Gate::False | Gate::Input => continue,
                Gate::Xor(a, b) => network.xor(of(&bits, a), of(&bits, b)),
                Gate::And(a, b) => network.and(of(&bits, a), of(&bits, b)),
            };
        }
        network.outputs = circuit.output_bits().iter().map(|&bit| of(&bits, bit)).collect();
        (0..network.outputs.len()).for_each(|i| network.nodes[network.outputs[i].node() as usize].readers += 1);
        (1..network.nodes.len() as u32).rev().for_each(|node| network.bury(node));
        network
    }

    /// The inputs.
    pub fn inputs(&self) -> Range<u32> {
        1..self.circuit.input_width() as u32 + 1
    }

    pub fn is_alive(&self, node: u32) -> bool {
        self.nodes[node as usize].kind != Kind::Dead
    }

    /// The print of a bit.
    pub fn print_of(&self, bit: Bit) -> Print {
        self.print[bit.node() as usize] ^ Print::from(bit.complemented())
    }

    /// The bit with this print, if one is alive.
    pub fn find(&self, print: Print) -> Option<Bit> {
        if print < 2 {
            return Some(Bit::constant(print == 1));
        }
        let bit = *self.by_print.get(&(print & !1))?;
        self.is_alive(bit.node()).then(|| bit.flip(print & 1 == 1))
    }

    /// The bit with this print, if it may be read.
    pub fn open(&self, print: Print) -> Option<Bit> {
        self.find(print).filter(|bit| !self.closed.contains(&bit.node()))
    }

    /// The print of an AND of two functions by their prints.
    pub fn and_print(&self, a: Print, b: Print) -> Print {
        match (a, b) {
            (0, _) | (_, 0) => 0,
            (1, other) | (other, 1) => other,
            _ if a == b => a,
            _ if a == b ^ 1 => 0,
            _ => self.prints.plane(a, b).and(a, b),
        }
    }

    /// An AND of the plane of two functions, if one is alive; nothing if none is needed.
    pub fn find_plane(&self, a: Print, b: Print) -> Option<Bit> {
        if a < 2 || b < 2 || (a ^ b) < 2 {
            return Some(Bit::FALSE);
        }
        self.of_plane(a, b).find_map(|print| self.find(print))
    }

    /// The four functions that an AND of the plane may be, but for complements.
    fn of_plane(&self, a: Print, b: Print) -> impl Iterator<Item = Print> {
        let name = self.prints.plane(a, b).name;
        let (a, b) = (a & !1, b & !1);
        [0, a, b, a ^ b].into_iter().map(move |difference| name ^ difference)
    }

    /// a ⊕ b.
    pub fn xor(&mut self, a: Bit, b: Bit) -> Bit {
        let print = self.print_of(a) ^ self.print_of(b);
        match self.open(print) {
            Some(bit) => bit,
            None => {
                let flip = a.complemented() ^ b.complemented();
                self.push(Kind::Xor, [a.plain(), b.plain()], print ^ Print::from(flip)).flip(flip)
            }
        }
    }

    /// a ∧ b; an AND of the same plane serves, with XORs.
    pub fn and(&mut self, a: Bit, b: Bit) -> Bit {
        let (pa, pb) = (self.print_of(a), self.print_of(b));
        let print = self.and_print(pa, pb);
        if let Some(bit) = self.open(print) {
            return bit;
        }
        let near = self.of_plane(pa, pb).find_map(|print| Some((print, self.open(print)?)));
        let Some((found, near)) = near else { return self.push(Kind::And, [a, b], print) };
        // They differ by a, by b or by both, or by a complement of that.
        let difference = found ^ print;
        let by = match difference & !1 {
            plain if plain == pa & !1 => a.flip((difference ^ pa) & 1 == 1),
            plain if plain == pb & !1 => b.flip((difference ^ pb) & 1 == 1),
            _ => self.xor(a, b).flip((difference ^ pa ^ pb) & 1 == 1),
        };
        self.xor(near, by)
    }

    fn push(&mut self, kind: Kind, operands: [Bit; 2], print: Print) -> Bit {
        let node = self.nodes.len() as u32;
        let depth = operands.iter().map(|bit| self.nodes.get(bit.node() as usize).map_or(0, |below| below.depth)).max();
        let depth = depth.unwrap_or(0) + u32::from(kind == Kind::And);
        self.nodes.push(Node { kind, operands, readers: 0, depth, first: NONE, beside: [[NONE; 2]; 2] });
        self.print.push(print);
        let [a, b] =
            operands.map(|bit| if self.lanes.is_empty() || kind == Kind::Leaf { 0 } else { self.lanes_of(bit) });
        self.lanes.push(match kind {
            Kind::And => a & b,
            Kind::Xor => a ^ b,
            Kind::Leaf | Kind::Dead => (print >> 64) as u64,
        });
        self.by_print.insert(print & !1, Bit::new(node, print & 1 == 1));
        if kind != Kind::Leaf {
            (0..2).for_each(|side| self.link(node, side));
        }
        Bit::new(node, false)
    }

    /// The values of a bit on some lanes.
    fn lanes_of(&self, bit: Bit) -> u64 {
        self.lanes[bit.node() as usize] ^ u64::from(bit.complemented()).wrapping_neg()
    }

    /// Enters an operand of a node among those who read it.
    fn link(&mut self, node: u32, side: usize) {
        let below = self.nodes[node as usize].operands[side].node() as usize;
        let edge = 2 * node + side as u32;
        let next = self.nodes[below].first;
        self.nodes[node as usize].beside[side] = [next, NONE];
        if next != NONE {
            self.nodes[next as usize / 2].beside[next as usize % 2][1] = edge;
        }
        self.nodes[below].first = edge;
        self.nodes[below].readers += 1;
    }

    fn unlink(&mut self, node: u32, side: usize) {
        let below = self.nodes[node as usize].operands[side].node() as usize;
        let [next, last] = self.nodes[node as usize].beside[side];
        match last {
            NONE => self.nodes[below].first = next,
            last => self.nodes[last as usize / 2].beside[last as usize % 2][0] = next,
        }
        if next != NONE {
            self.nodes[next as usize / 2].beside[next as usize % 2][1] = last;
        }
        self.nodes[below].readers -= 1;
    }

    /// The gates that read a node.
    pub fn read_by(&self, node: u32) -> impl Iterator<Item = u32> {
        let mut edge = self.nodes[node as usize].first;
        std::iter::from_fn(move || {
            let at = edge;
            (at != NONE).then(|| {
                edge = self.nodes[at as usize / 2].beside[at as usize % 2][0];
                at / 2
            })
        })
    }

    /// A gate that nobody reads dies, and so do those that only it read.
    pub fn bury(&mut self, node: u32) {
        let mut stack = vec![node];
        while let Some(node) = stack.pop() {
            let Node { kind, operands, readers, .. } = self.nodes[node as usize];
            if readers > 0 || matches!(kind, Kind::Leaf | Kind::Dead) {
                continue;
            }
            (0..2).for_each(|side| self.unlink(node, side));
            self.nodes[node as usize].kind = Kind::Dead;
            stack.extend(operands.map(Bit::node));
        }
    }

    /// All who read `node` read `bit` instead; the node dies. It must not be among those that `bit` is computed from. Nothing
    /// happens if their values differ on the network's lanes: they are not the same function.
    pub fn replace(&mut self, node: u32, bit: Bit) {
        let agree = self.lanes[node as usize] == self.lanes_of(bit);
        debug_assert!(agree, "node {node} and what replaces it");
        if agree {
            self.redirect(node, bit);
            self.alias(self.print[node as usize], bit);
            self.bury(node);
        }
    }

    /// A bit is known by a print that is not its own.
    fn alias(&mut self, print: Print, bit: Bit) {
        self.by_print.insert(print & !1, bit.flip(print & 1 == 1));
        self.aliases.entry(bit.node()).or_default().push(print & !1);
    }

    /// As [`Self::replace`] where the bit differs from the node, but nothing that is seen of those above: they stand in the
    /// order of reading, each with whether it is seen. Nothing happens if what is seen changes on the network's lanes.
    pub fn replace_within(&mut self, node: u32, bit: Bit, above: &[(u32, bool)]) {
        if above.is_empty() {
            return self.replace(node, bit);
        }
        let lanes = self.lanes_above(node, bit, above);
        let agree =
            above.iter().zip(&lanes).all(|(&(above, seen), &lanes)| !seen || self.lanes[above as usize] == lanes);
        debug_assert!(agree, "node {node}, seen from above");
        if agree {
            self.redirect(node, bit);
            above.iter().zip(lanes).for_each(|(&(above, _), lanes)| self.lanes[above as usize] = lanes);
            above.iter().filter(|(_, seen)| !seen).for_each(|&(above, _)| self.rename(above));
            self.bury(node);
        }
    }

    /// The values of the nodes above a node were it another bit.
    fn lanes_above(&self, node: u32, bit: Bit, above: &[(u32, bool)]) -> Vec<u64> {
        let mut lanes: Vec<u64> = Vec::new();
        for &(at, _) in above {
            let Node { kind, operands, .. } = self.nodes[at as usize];
            let [a, b] =
                operands.map(|operand| match above[..lanes.len()].iter().position(|&(at, _)| at == operand.node()) {
                    Some(place) => lanes[place] ^ u64::from(operand.complemented()).wrapping_neg(),
                    None if operand.node() == node => self.lanes_of(bit.flip(operand.complemented())),
                    None => self.lanes_of(operand),
                });
            lanes.push(if kind == Kind::And { a & b } else { a ^ b });
        }
        lanes
    }

    /// All who read `node` read `bit` instead.
    fn redirect(&mut self, node: u32, bit: Bit) {
        loop {
            let edge = self.nodes[node as usize].first;
            if edge == NONE {
                break;
            }
            let (reader, side) = (edge / 2, edge as usize % 2);
            let flip = self.nodes[reader as usize].operands[side].complemented();
            self.unlink(reader, side);
            self.nodes[reader as usize].operands[side] = bit.flip(flip);
            self.link(reader, side);
        }
        // Outputs are moved when they are written.
        let outputs = self.nodes[node as usize].readers;
        self.nodes[bit.node() as usize].readers += outputs;
        self.nodes[node as usize].readers = 0;
        self.replaced.insert(node, bit);
    }

    /// A node whose function has changed gets its print anew, and is known by no other.
    fn rename(&mut self, node: u32) {
        let mut old = self.aliases.remove(&node).unwrap_or_default();
        old.push(self.print[node as usize] & !1);
        for print in old {
            if self.by_print.get(&print).is_some_and(|bit| bit.node() == node) {
                self.by_print.remove(&print);
            }
        }
        let Node { kind, operands: [a, b], .. } = self.nodes[node as usize];
        let [a, b] = [a, b].map(|bit| self.print_of(bit));
        let print = if kind == Kind::And { self.and_print(a, b) } else { a ^ b };
        self.print[node as usize] = print;
        if print > 1 {
            self.by_print.entry(print & !1).or_insert(Bit::new(node, print & 1 == 1));
        }
    }

    fn resolved(&self, mut bit: Bit) -> Bit {
        while let Some(by) = self.replaced.get(&bit.node()) {
            bit = by.flip(bit.complemented());
        }
        bit
    }

    /// The circuit as it is now; nothing if a replacement made it read itself.
    pub fn write(&self) -> Option<Circuit> {
        let mut c = Builder::new(self.circuit.name());
        let mut bits: Vec<Option<Bit>> = vec![None; self.nodes.len()];
        bits[0] = Some(Bit::FALSE);
        let inputs: Vec<Bit> =
            self.circuit.inputs().iter().flat_map(|port| c.input(port.name.clone(), port.ty)).collect();
        bits[1..=inputs.len()].iter_mut().zip(inputs).for_each(|(bit, input)| *bit = Some(input));
        let outputs: Vec<Bit> = self.outputs.iter().map(|&bit| self.resolved(bit)).collect();
        let mut begun = vec![false; self.nodes.len()];
        let mut stack: Vec<u32> = outputs.iter().rev().map(|bit| bit.node()).collect();
        while let Some(&node) = stack.last() {
            if bits[node as usize].is_some() {
                stack.pop();
                continue;
            }
            let Node { kind, operands, .. } = self.nodes[node as usize];
            let missing: Vec<u32> =
                operands.iter().map(|bit| bit.node()).filter(|&below| bits[below as usize].is_none()).collect();
            if missing.is_empty() {
                let [a, b] = operands.map(|bit| bits[bit.node() as usize].expect("there").flip(bit.complemented()));
                bits[node as usize] = Some(if kind == Kind::And { c.and(a, b) } else { c.xor(a, b) });
                stack.pop();
                continue;
            }
            if std::mem::replace(&mut begun[node as usize], true) {
                return None;
            }
            stack.extend(missing.iter().rev());
        }
        let mut rest = outputs.iter().map(|bit| bits[bit.node() as usize].expect("there").flip(bit.complemented()));
        for port in self.circuit.outputs() {
            let word: Vec<Bit> = rest.by_ref().take(port.ty.width as usize).collect();
            c.output_as(port.name.clone(), port.ty, &word);
        }
        c.try_finish().ok()
    }
}

/// A hash of the gates.
fn key_of(circuit: &Circuit) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("duologue v1 optimiser: prints");
    let mut bytes = Vec::with_capacity(1 << 16);
    for gate in circuit.gates() {
        let (tag, a, b) = match *gate {
            Gate::False | Gate::Input => (0u8, Bit::FALSE, Bit::FALSE),
            Gate::Xor(a, b) => (1, a, b),
            Gate::And(a, b) => (2, a, b),
        };
        bytes.push(tag);
        [a, b]
            .iter()
            .for_each(|bit| bytes.extend_from_slice(&(bit.node() << 1 | u32::from(bit.complemented())).to_le_bytes()));
        if bytes.len() > (1 << 16) - 16 {
            hasher.update(&bytes);
            bytes.clear();
        }
    }
    hasher.update(&bytes);
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::super::check::agree;
    use super::*;
    use crate::words::Bits;

    const X: Bit = Bit::new(1, false);
    const Y: Bit = Bit::new(2, false);
    const Z: Bit = Bit::new(3, false);

    /// x·(y·z)·y and (x·y)·z·y.
    fn twice() -> Circuit {
        let mut c = Builder::new("twice");
        let [x, y, z] = ["x", "y", "z"].map(|name| c.bits(name, 1).0[0]);
        let yz = c.and(y, z);
        let left = c.and(x, yz);
        let xy = c.and(x, y);
        let right = c.and(xy, z);
        let tops = [left, right].map(|bit| c.and(bit, y));
        c.output("tops", &Bits(tops.to_vec()));
        c.finish()
    }

    /// What stands for a replaced node is found by its print until its own function changes.
    #[test]
    fn aliases_last_as_long_as_the_function() {
        let circuit = twice();
        let mut network = Network::read(&circuit);
        let and = |network: &Network<'_>, a: Print, b: Bit| network.and_print(a, network.print_of(b));
        let yz = and(&network, network.print_of(Y), Z);
        let xy = and(&network, network.print_of(X), Y);
        let prints = [and(&network, yz, X), and(&network, xy, Z)];
        let [left, right] = prints.map(|print| network.find(print).expect("built"));
        let tops = prints.map(|print| network.find(and(&network, print, Y)).expect("built").node());
        assert_ne!(left.node(), right.node(), "prints do not know that these are one function");
        network.replace(left.node(), right);
        prints.iter().for_each(|&print| assert_eq!(network.find(print), Some(right)));

        // With x in place of x·y the right one is x·z, and both tops are what they were, for they are read with y.
        let xy = network.find(xy).expect("built");
        network.replace_within(xy.node(), X, &[(right.node(), false), (tops[0], true), (tops[1], true)]);
        prints.iter().for_each(|&print| assert_eq!(network.find(print), None));
        assert_eq!(network.find(and(&network, network.print_of(X), Z)), Some(right));
        assert!(agree(&circuit, &network.write().expect("no circle")));
    }
}
