//! Control bits of a function: its edges are coloured, level by level, until every network has two poles.

use super::board::{Board, Engine};
use super::layout::{Kind, Level, levels};
use super::walk::Walk;
use crate::private::nodes::{NOTHING, Node, Nodes, Size, table};
use zeroize::Zeroizing;

/// Control bits and tables that make the universal circuit of a size compute one function.
pub struct Controls {
    size: Size,
    /// Control bits, each at its place.
    bits: Zeroizing<Vec<u64>>,
    /// A table for each gate and output: bit x + 2·y, for x of the first network and y of the second.
    tables: Zeroizing<Vec<u8>>,
}

impl Controls {
    /// Those of a function.
    pub fn new(function: &Nodes) -> Controls {
        let size = function.size();
        let (levels, bits) = levels(size);
        let mut controls = Controls { size, bits: Zeroizing::new(vec![0; bits / 64]), tables: Zeroizing::default() };
        let mut edges = controls.split(function);
        for level in &levels {
            edges = controls.route(level, &edges);
        }
        controls
    }

    /// The public sizes.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The control bit at a place.
    pub fn bit(&self, place: usize) -> bool {
        self.bits[place / 64] >> (place % 64) & 1 == 1
    }

    /// The tables of all gates and outputs.
    pub fn tables(&self) -> &[u8] {
        &self.tables
    }

    /// Runs the universal circuit in plain, 64 lanes at a time.
    ///
    /// # Panics
    /// If there are not as many words as input bits.
    pub fn evaluate(&self, inputs: &[u64]) -> Vec<u64> {
        assert_eq!(inputs.len(), self.size.inputs as usize, "input bits of a function");
        let (mut board, mut outputs) = (Board::new(self.size, 0), Vec::new());
        let mut plain = Plain { controls: self, inputs, outputs: &mut outputs };
        Walk::new(self.size).for_each(|unit| board.run(unit, &mut plain));
        outputs
    }

    /// The edges of both networks, one after the other, by where they begin; and the tables, for operands in the order of
    /// the networks that they come from.
    fn split(&mut self, function: &Nodes) -> Zeroizing<Vec<u32>> {
        let (n, inputs) = (self.size.nodes(), self.size.inputs as usize);
        let mut edges = Zeroizing::new(vec![NOTHING; 2 * n]);
        for (i, node) in function.nodes().iter().enumerate() {
            for (place, from) in node.operands.into_iter().enumerate().filter(|(_, from)| *from != NOTHING) {
                let from = 2 * from as usize;
                let free = from + usize::from(edges[from] != NOTHING);
                edges[free] = (2 * (inputs + i) + place) as u32;
            }
        }
        let mut colours = Colours::default();
        colours.paint(&edges);
        let mut halves = Zeroizing::new(vec![NOTHING; 2 * n]);
        let mut crossed = Zeroizing::new(vec![false; n]);
        for (from, &to) in edges.iter().enumerate().filter(|(_, to)| **to != NOTHING) {
            let colour = colours.of(from);
            halves[colour * n + from / 2] = to / 2;
            crossed[to as usize / 2] = colour != to as usize % 2;
        }
        let swapped = |table: u8| table & 0b1001 | (table & 0b0010) << 1 | (table & 0b0100) >> 1;
        let tables = function.nodes().iter().zip(&crossed[inputs..]);
        let table = |(node, &crossed): (&Node, &bool)| if crossed { swapped(node.table) } else { node.table };
        self.tables = Zeroizing::new(tables.map(table).collect());
        halves
    }

    /// Sets the switches of a level, whose networks' edges lie one after the other, and says what edges the halves have.
    fn route(&mut self, level: &Level, edges: &[u32]) -> Zeroizing<Vec<u32>> {
        let (n, halves) = (level.poles, level.poles.div_ceil(2));
        let mut next = Zeroizing::new(vec![NOTHING; 2 * level.width * halves]);
        let (mut colours, mut outer) = (Colours::default(), Zeroizing::new(vec![NOTHING; n]));
        for network in 0..level.width {
            outer.copy_from_slice(&edges[network * n..][..n]);
            for (pair, ends) in outer.chunks_mut(2).enumerate() {
                if ends[0] == 2 * pair as u32 + 1 {
                    ends[0] = NOTHING;
                    self.set(level, Kind::Mid, pair, network);
                }
            }
            colours.paint(&outer);
            for (from, &to) in outer.iter().enumerate().filter(|(_, to)| **to != NOTHING) {
                let (colour, to) = (colours.of(from), to as usize);
                next[(network + colour * level.width) * halves + from / 2] = to as u32 / 2;
                // Uncrossed, the first half serves a going in, and b going out.
                if colour != to % 2 {
                    self.set(level, Kind::In, to / 2, network);
                }
                if colour == from % 2 {
                    self.set(level, Kind::Out, from / 2, network);
                }
            }
        }
        next
    }

    /// Crosses a switch, if there is one: where the walk has none, the wire is there already.
    fn set(&mut self, level: &Level, kind: Kind, pair: usize, network: usize) {
        if level.has(kind, pair) {
            let place = level.place(kind, pair) + network;
            self.bits[place / 64] |= 1 << (place % 64);
        }
    }
}

/// Colours of edges, of which two that begin at one pair differ, and two that end at one.
#[derive(Default)]
struct Colours {
    /// 0, 1, or [`Colours::NONE`], by where an edge begins.
    colours: Zeroizing<Vec<u8>>,
    /// Where the edge begins that ends here.
    origins: Zeroizing<Vec<u32>>,
}

impl Colours {
    const NONE: u8 = 2;

    fn of(&self, from: usize) -> usize {
        self.colours[from].into()
    }

    /// Colours all edges. Where one begins at pole 1 it has colour 0, and one at pole 0 colour 1.
    fn paint(&mut self, edges: &[u32]) {
        self.colours.clear();
        self.colours.resize(edges.len() + 1, Self::NONE);
        self.origins.clear();
        self.origins.resize(edges.len() + 1, NOTHING);
        for (from, &to) in edges.iter().enumerate().filter(|(_, to)| **to != NOTHING) {
            self.origins[to as usize] = from as u32;
        }
        for a in (0..edges.len()).step_by(2) {
            self.walk(edges, a + 1, 0);
            self.walk(edges, a, 1);
        }
    }

    /// Colours the edge that begins here, if there is one without a colour, and all that this decides.
    fn walk(&mut self, edges: &[u32], mut from: usize, colour: u8) {
        while let Some(&to) = edges.get(from).filter(|to| **to != NOTHING) {
            if self.colours[from] != Self::NONE {
                return;
            }
            self.colours[from] = colour;
            let other = self.origins[to as usize ^ 1];
            if other == NOTHING {
                return;
            }
            self.colours[other as usize] = 1 - colour;
            from = other as usize ^ 1;
        }
    }
}

/// The engine of plain bits.
struct Plain<'a> {
    controls: &'a Controls,
    inputs: &'a [u64],
    outputs: &'a mut Vec<u64>,
}

impl Engine for Plain<'_> {
    type Wire = u64;

    fn switches(&mut self, place: usize, a: &mut [u64], b: &mut [u64]) {
        for (i, (a, b)) in a.iter_mut().zip(b).enumerate() {
            if self.controls.bit(place + i) {
                std::mem::swap(a, b);
            }
        }
    }

    fn pole(&mut self, pole: usize, [x, y]: [u64; 2]) -> u64 {
        let Some(gate) = pole.checked_sub(self.inputs.len()) else { return self.inputs[pole] };
        let result = table(self.controls.tables[gate], x, y);
        if gate >= self.controls.size.gates as usize {
            self.outputs.push(result);
        }
        result
    }
}
