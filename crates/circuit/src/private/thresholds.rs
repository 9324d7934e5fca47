//! Circuits as majority gates: each node is covered by the cheapest of its cuts that one or two gates compute.
//!
//! This is technology mapping by area flow, then by exact local area (Mishchenko, Chatterjee, Brayton, *Improvements to
//! technology mapping for LUT-based FPGAs*, TCAD 2007), with a library that depends on what else is chosen: a gate that is
//! there gives the XOR of its operands for nothing, and an AND all functions of its two. So the cover is chosen several
//! times, each time by the gates that the one before had; the one of the fewest gates stays.

use super::cuts::{Cut, LEAF, cuts};
use super::function::Function;
use super::maker::Maker;
use crate::error::Result;
use crate::graph::{Bit, Circuit};
use rustc_hash::FxHashMap;

/// How often the cover is chosen by area flow, and how often it is improved node by node.
const ROUNDS: usize = 3;
const IMPROVEMENTS: usize = 3;

/// The most nodes that are taken away or added to try a cell.
const TRIAL: usize = 64;

/// A circuit as majority gates. Input and output bits are those of all ports, in their order.
///
/// # Errors
/// If the circuit is too large to be numbered.
pub fn thresholds(circuit: &Circuit) -> Result<Function> {
    let mut cover = Cover::new(circuit);
    let mut best = cover.make()?;
    for round in 0..ROUNDS + IMPROVEMENTS {
        if round < ROUNDS {
            cover.choose()
        } else {
            cover.improve()
        }
        let made = cover.make()?;
        if made.gates() < best.gates() {
            best = made;
        }
    }
    Ok(best)
}

/// What one or two gates compute of the leaves of a cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cell {
    Constant(bool),
    /// A leaf, or its complement.
    Leaf(bool),
    /// The XOR of two leaves, or its complement.
    Xor(bool),
    /// The AND of two leaves, each complemented or not, or its complement.
    And([bool; 2], bool),
    /// The XOR of three leaves.
    Parity(bool),
    /// The majority of three leaves, each complemented or not.
    Majority([bool; 3]),
    /// Which leaf selects, and the other two, each complemented or not: the first if the leaf is true.
    Choice(usize, [usize; 2], [bool; 2]),
}

impl Cell {
    /// The cell of a cut, if there is one. A cut depends on each of its leaves.
    pub(super) fn of(cut: &Cut) -> Option<Cell> {
        match cut.leaves().len() {
            0 => Some(Cell::Constant(cut.table & 1 == 1)),
            1 => Some(Cell::Leaf(cut.table != LEAF[0])),
            2 => Cell::of_two(cut.table),
            _ => Cell::of_three(cut.table),
        }
    }

    fn of_two(table: u8) -> Option<Cell> {
        let [a, b, _] = LEAF;
        if table == a ^ b || table == !(a ^ b) {
            return Some(Cell::Xor(table != a ^ b));
        }
        let all = (0..8).map(|bits| ([bits & 1 == 1, bits & 2 == 2], bits & 4 == 4));
        let mut matching = all.filter(|&([f, g], flip)| flipped(flipped(a, f) & flipped(b, g), flip) == table);
        matching.next().map(|(flips, flip)| Cell::And(flips, flip))
    }

    fn of_three(table: u8) -> Option<Cell> {
        let [a, b, c] = LEAF;
        if table == a ^ b ^ c || table == !(a ^ b ^ c) {
            return Some(Cell::Parity(table != a ^ b ^ c));
        }
        for bits in 0..8 {
            let flips = [bits & 1 == 1, bits & 2 == 2, bits & 4 == 4];
            let [x, y, z] = [flipped(a, flips[0]), flipped(b, flips[1]), flipped(c, flips[2])];
            if x & y | x & z | y & z == table {
                return Some(Cell::Majority(flips));
            }
        }
        for (select, [then, otherwise]) in
            [(0, [1, 2]), (0, [2, 1]), (1, [0, 2]), (1, [2, 0]), (2, [0, 1]), (2, [1, 0])]
        {
            for flips in [[false, false], [false, true], [true, false], [true, true]] {
                let (x, y) = (flipped(LEAF[then], flips[0]), flipped(LEAF[otherwise], flips[1]));
                if LEAF[select] & x | !LEAF[select] & y == table {
                    return Some(Cell::Choice(select, [then, otherwise], flips));
                }
            }
        }
        None
    }

    /// The nodes that its gates are of, node 0 for a constant.
    fn gates(&self, leaves: &[u32]) -> impl Iterator<Item = [u32; 3]> {
        let pair = |a: u32, b: u32| [0, a.min(b), a.max(b)];
        let gates = match *self {
            Cell::Constant(_) | Cell::Leaf(_) => [None, None],
            Cell::Xor(_) | Cell::And(..) => [Some(pair(leaves[0], leaves[1])), None],
            Cell::Parity(_) | Cell::Majority(_) => [Some([leaves[0], leaves[1], leaves[2]]), None],
            Cell::Choice(select, [x, y], _) => [x, y].map(|data| Some(pair(leaves[select], leaves[data]))),
        };
        gates.into_iter().flatten()
    }

    fn make(&self, maker: &mut Maker, leaves: [Bit; 3]) -> Bit {
        let [a, b, c] = leaves;
        match *self {
            Cell::Constant(value) => Bit::constant(value),
            Cell::Leaf(flip) => a.flip(flip),
            Cell::Xor(flip) => maker.parity([Bit::FALSE, a, b]).flip(flip),
            Cell::And([f, g], flip) => maker.and(a.flip(f), b.flip(g)).flip(flip),
            Cell::Parity(flip) => maker.parity([a, b, c]).flip(flip),
            Cell::Majority([f, g, h]) => maker.majority([a.flip(f), b.flip(g), c.flip(h)]),
            Cell::Choice(select, [x, y], [f, g]) => maker.choice(leaves[select], leaves[x].flip(f), leaves[y].flip(g)),
        }
    }
}

fn flipped(table: u8, flip: bool) -> u8 {
    if flip { !table } else { table }
}

/// The cuts of all nodes that are cells, and which of them are chosen.
struct Cover<'a> {
    circuit: &'a Circuit,
    cells: Vec<Vec<(Cut, Cell)>>,
    chosen: Vec<usize>,
    /// How many chosen cells and outputs read a node; nobody reads what is not needed.
    readers: Vec<u32>,
    /// Whether the chosen cell of a node counts in the readers of others and in what is shared.
    counted: Vec<bool>,
    /// How many chosen cells have a gate of these nodes.
    shared: FxHashMap<[u32; 3], u32>,
}

impl<'a> Cover<'a> {
    /// Every gate by itself: the cut of its own fan-ins comes first.
    fn new(circuit: &'a Circuit) -> Self {
        let cells = cuts(circuit).into_iter().map(|cuts| {
            let cells = cuts.into_iter().filter_map(|cut| Cell::of(&cut).map(|cell| (cut, cell)));
            cells.collect()
        });
        let (nodes, shared) = (circuit.gates().len(), FxHashMap::default());
        let (chosen, readers, counted) = (vec![0; nodes], vec![0; nodes], vec![false; nodes]);
        let mut cover = Cover { circuit, cells: cells.collect(), chosen, readers, counted, shared };
        cover.count();
        cover
    }

    /// Chooses the cell of each node by which a gate of it costs least, if what it is made of is paid for by all its
    /// readers. Of equals the last: cells of three leaves have more to share.
    fn choose(&mut self) {
        let mut flows: Vec<f32> = Vec::with_capacity(self.cells.len());
        for (node, cells) in self.cells.iter().enumerate() {
            let flow = |(cut, cell): &(Cut, Cell)| -> f32 {
                let sharers = |gate: [u32; 3]| self.shared.get(&gate).copied().unwrap_or(1).max(1);
                let own: f32 = cell.gates(cut.leaves()).map(|gate| 1.0 / sharers(gate) as f32).sum();
                let of = |leaf: &u32| flows[*leaf as usize] / self.readers[*leaf as usize].max(1) as f32;
                own + cut.leaves().iter().map(of).sum::<f32>()
            };
            let least = cells.iter().map(flow).enumerate().rev().min_by(|(_, x), (_, y)| x.total_cmp(y));
            let (cell, flow) = least.unwrap_or((0, 0.0));
            flows.push(flow);
            self.chosen[node] = cell;
        }
        self.count();
    }

    /// Counts readers and sharers from the outputs down.
    fn count(&mut self) {
        self.shared.clear();
        self.readers.fill(0);
        for bit in self.circuit.output_bits() {
            self.readers[bit.node() as usize] += 1;
        }
        for node in (0..self.chosen.len()).rev() {
            self.counted[node] = self.readers[node] > 0;
            if let (true, Some((cut, cell))) = (self.readers[node] > 0, self.cells[node].get(self.chosen[node])) {
                cut.leaves().iter().for_each(|&leaf| self.readers[leaf as usize] += 1);
                cell.gates(cut.leaves()).for_each(|gate| *self.shared.entry(gate).or_default() += 1);
            }
        }
    }

    /// Gives each node the cell with which the whole has the fewest gates, the others as they are. Of what is made for a
    /// node alone at most [`TRIAL`] nodes are looked at: on a chain there are as many as the circuit has.
    fn improve(&mut self) {
        for node in 0..self.chosen.len() {
            if self.readers[node] == 0 || self.cells[node].len() < 2 {
                continue;
            }
            let held = self.drop(vec![node], TRIAL);
            let mut best = (u32::MAX, self.chosen[node]);
            for cell in (0..self.cells[node].len()).rev() {
                self.chosen[node] = cell;
                let (gates, taken) = self.take(node);
                self.undo(&taken);
                best = best.min((gates, cell));
            }
            self.chosen[node] = best.1;
            self.take(node);
            let unread = held.into_iter().filter(|&leaf| self.readers[leaf] == 0).collect();
            self.drop(unread, usize::MAX);
        }
    }

    /// Adds the chosen cell of a node, and those of what nobody read before: how many gates that takes, and which nodes.
    /// If they are more than [`TRIAL`], some are left out, and the gates are the most there may be.
    fn take(&mut self, node: usize) -> (u32, Vec<usize>) {
        let (mut gates, mut taken, mut waiting) = (0, Vec::new(), vec![node]);
        while let Some(node) = waiting.pop() {
            if taken.len() == TRIAL {
                return (u32::MAX, taken);
            }
            self.counted[node] = true;
            taken.push(node);
            let Some((cut, cell)) = self.cells[node].get(self.chosen[node]) else { continue };
            for gate in cell.gates(cut.leaves()) {
                let sharers = self.shared.entry(gate).or_default();
                gates += u32::from(*sharers == 0);
                *sharers += 1;
            }
            for &leaf in cut.leaves() {
                self.readers[leaf as usize] += 1;
                if self.readers[leaf as usize] == 1 && !self.counted[leaf as usize] {
                    waiting.push(leaf as usize);
                }
            }
        }
        (gates, taken)
    }

    /// Takes the chosen cells of these nodes away again, and of no others.
    fn undo(&mut self, taken: &[usize]) {
        taken.iter().for_each(|&node| self.remove(node, |_| {}));
    }

    /// Takes the chosen cells of nodes away, and those of what nobody reads after, so many at most. Returns what nobody
    /// reads and is there all the same.
    fn drop(&mut self, mut waiting: Vec<usize>, most: usize) -> Vec<usize> {
        for _ in 0..most {
            let Some(node) = waiting.pop() else { break };
            self.remove(node, |leaf| waiting.push(leaf));
        }
        waiting
    }

    /// Takes the chosen cell of a node away, and tells which of its leaves nobody reads after.
    fn remove(&mut self, node: usize, mut unread: impl FnMut(usize)) {
        self.counted[node] = false;
        let Some((cut, cell)) = self.cells[node].get(self.chosen[node]) else { return };
        for gate in cell.gates(cut.leaves()) {
            self.shared.entry(gate).and_modify(|sharers| *sharers -= 1);
        }
        for &leaf in cut.leaves() {
            self.readers[leaf as usize] -= 1;
            if self.readers[leaf as usize] == 0 {
                unread(leaf as usize);
            }
        }
    }

    fn make(&self) -> Result<Function> {
        let mut maker = Maker::new(self.circuit.input_width());
        let mut bits = vec![Bit::FALSE; self.chosen.len()];
        for (number, &node) in self.circuit.input_nodes().iter().enumerate() {
            bits[node as usize] = maker.input(number);
        }
        for node in (0..self.chosen.len()).filter(|&node| self.readers[node] > 0) {
            if let Some((cut, cell)) = self.cells[node].get(self.chosen[node]) {
                let mut leaves = [Bit::FALSE; 3];
                leaves.iter_mut().zip(cut.leaves()).for_each(|(bit, &leaf)| *bit = bits[leaf as usize]);
                bits[node] = cell.make(&mut maker, leaves);
            }
        }
        let output = |bit: &Bit| bits[bit.node() as usize].flip(bit.complemented());
        let outputs: Vec<Bit> = self.circuit.output_bits().iter().map(output).collect();
        maker.finish(&outputs)
    }
}
