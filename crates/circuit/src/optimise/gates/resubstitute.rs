//! Resubstitution: a node from others nearby, with no AND or with one, if more die with it.
//!
//! Of a node, a *window* is the nodes between it and few leaves, and others that are computed of these; *divisors* are
//! those of them that stay when the node goes. All have tables over the leaves, so that what is found holds whatever the
//! leaves are. That the node is an affine form of divisors, or p·q ⊕ r where p is a divisor and q and r are such forms, is
//! linear algebra on tables: of p·q ⊕ r, for each p, over the divisors and their products with p.

use super::network::{Kind, Network};
use super::rewrite::{die, frees, revive};
use crate::graph::Bit;
use rustc_hash::FxHashSet;

/// Words of a table.
const WORDS: usize = 4;
/// Leaves of a window.
const LEAVES: usize = 8;
/// Readers of a node that are looked at for divisors.
const MOST_READERS: usize = 16;
/// The bit of the constant in a combination.
const ONE: u128 = 1 << 127;

/// Nodes that are looked at to prove that a replacement does not read what it replaces.
const MOST_SEEN: usize = 2_000;

type Table = [u64; WORDS];

/// How far one goes for an AND.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The most divisors.
    pub divisors: usize,
    /// The most terms of all forms together.
    pub terms: u32,
    /// No node may come later than before.
    pub keep_depth: bool,
}

/// One pass over all nodes.
pub fn resubstitute(network: &mut Network<'_>, rules: Rules) {
    let mut places = Vec::new();
    for node in 1..network.nodes.len() as u32 {
        let kind = network.nodes[node as usize].kind;
        let worth = kind == Kind::And || kind == Kind::Xor && frees(network, node, 2);
        if worth {
            places.resize(network.nodes.len(), NOWHERE);
            node_of_others(network, node, rules, &mut places);
        }
    }
}

/// The place of a node that is not in the window.
const NOWHERE: u32 = u32::MAX;

fn node_of_others(network: &mut Network<'_>, node: u32, rules: Rules, places: &mut [u32]) {
    let leaves = leaves(network, node);
    let mut window = Window { nodes: Vec::new(), tables: Vec::new(), places };
    window.fill(network, node, &leaves);
    leaves.iter().for_each(|&leaf| network.nodes[leaf as usize].readers += 1);
    let mut dying = Vec::new();
    let freed = die(network, node, &mut dying);
    revive(network, &dying);
    leaves.iter().for_each(|&leaf| network.nodes[leaf as usize].readers -= 1);
    let goal = window.tables[window.places[node as usize] as usize];
    window.leave(&dying, rules.divisors);
    if freed > 0 {
        window.widen(network, node, &dying, rules.divisors);
    }
    let depth = network.nodes[node as usize].depth;
    if rules.keep_depth {
        window.retain(|below| network.nodes[below as usize].depth <= depth);
    }
    let (nodes, tables) = window.close();
    if freed == 0 {
        return;
    }
    let found = formula(&tables, &goal, freed, rules.terms);
    if let Some(formula) = found {
        let before = network.nodes.len() as u32;
        let bit = build(network, &nodes, &formula);
        if rules.keep_depth && network.nodes[bit.node() as usize].depth > depth {
            (before..network.nodes.len() as u32).rev().for_each(|unused| network.bury(unused));
            return;
        }
        take(network, node, bit, &leaves, before);
    }
}

/// Replaces a node by an equal bit unless that is computed from it. Of the nodes from `before` on, those that nobody reads
/// die.
fn take(network: &mut Network<'_>, node: u32, bit: Bit, leaves: &[u32], before: u32) {
    if !reads(network, bit.node(), node, leaves) {
        network.replace(node, bit);
    }
    (before..network.nodes.len() as u32).rev().for_each(|unused| network.bury(unused));
}

/// Whether a node is computed from another, as far as that can be seen; leaves are not.
fn reads(network: &Network<'_>, from: u32, other: u32, leaves: &[u32]) -> bool {
    let (mut stack, mut seen) = (vec![from], FxHashSet::default());
    while let Some(node) = stack.pop() {
        if node == other || seen.len() > MOST_SEEN {
            return true;
        }
        if network.nodes[node as usize].kind == Kind::Leaf || leaves.contains(&node) || !seen.insert(node) {
            continue;
        }
        stack.extend(network.nodes[node as usize].operands.map(Bit::node));
    }
    false
}

/// Few nodes that a node is a function of, most of them far from it: the operands, each time the leaf that brings fewest
/// new ones gives way to its operands.
fn leaves(network: &Network<'_>, node: u32) -> Vec<u32> {
    let operands = |node: u32| network.nodes[node as usize].operands.map(Bit::node);
    let mut leaves: Vec<u32> = operands(node).to_vec();
    leaves.dedup();
    let mut inside = vec![node];
    loop {
        let is_new = |below: &u32| *below != 0 && !leaves.contains(below) && !inside.contains(below);
        let gates = leaves.iter().filter(|&&leaf| network.nodes[leaf as usize].kind != Kind::Leaf);
        let cost = |leaf: u32| operands(leaf).iter().filter(|below| is_new(below)).count();
        // Of equals the one that is made last.
        let Some(&leaf) = gates.min_by_key(|&&leaf| (cost(leaf), std::cmp::Reverse(leaf))) else { break };
        let new: Vec<u32> = operands(leaf).into_iter().filter(is_new).collect();
        if leaves.len() - 1 + new.len() > LEAVES {
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
    leaves.retain(|&leaf| leaf != 0);
    leaves
}

/// Nodes with tables over the leaves, and where each stands.
struct Window<'a> {
    nodes: Vec<u32>,
    tables: Vec<Table>,
    places: &'a mut [u32],
}

impl Window<'_> {
    fn push(&mut self, node: u32, table: Table) {
        self.places[node as usize] = self.nodes.len() as u32;
        self.nodes.push(node);
        self.tables.push(table);
    }

    fn holds(&self, node: u32) -> bool {
        node == 0 || self.places[node as usize] != NOWHERE
    }

    fn value(&self, bit: Bit) -> Table {
        let table = if bit.node() == 0 { [0; WORDS] } else { self.tables[self.places[bit.node() as usize] as usize] };
        if bit.complemented() { table.map(|word| !word) } else { table }
    }

    fn table_of(&self, network: &Network<'_>, node: u32) -> Table {
        let gate = &network.nodes[node as usize];
        let [a, b] = gate.operands.map(|bit| self.value(bit));
        std::array::from_fn(|i| if gate.kind == Kind::And { a[i] & b[i] } else { a[i] ^ b[i] })
    }

    /// The leaves and all between them and the node, which is the last.
    fn fill(&mut self, network: &Network<'_>, node: u32, leaves: &[u32]) {
        leaves.iter().enumerate().for_each(|(i, &leaf)| self.push(leaf, input(i)));
        let mut stack = vec![node];
        while let Some(&at) = stack.last() {
            let below = network.nodes[at as usize].operands.map(Bit::node);
            match below.into_iter().find(|&below| !self.holds(below)) {
                Some(below) => stack.push(below),
                None => {
                    if !self.holds(at) {
                        let table = self.table_of(network, at);
                        self.push(at, table);
                    }
                    stack.pop();
                }
            }
        }
    }

    fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        let old = std::mem::take(&mut self.nodes);
        let tables = std::mem::take(&mut self.tables);
        old.iter().for_each(|&node| self.places[node as usize] = NOWHERE);
        for (&node, &table) in old.iter().zip(&tables).filter(|(node, _)| keep(**node)) {
            self.push(node, table);
        }
    }

    /// Without the nodes that die, and with no more than so many.
    fn leave(&mut self, dying: &[u32], most: usize) {
        self.retain(|node| !dying.contains(&node));
        if self.nodes.len() > most {
            let last: Vec<u32> = self.nodes[most..].to_vec();
            self.retain(|node| !last.contains(&node));
        }
    }

    /// And with others that are computed of what is there.
    fn widen(&mut self, network: &Network<'_>, node: u32, dying: &[u32], most: usize) {
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

    fn close(self) -> (Vec<u32>, Vec<Table>) {
        self.nodes.iter().for_each(|&node| self.places[node as usize] = NOWHERE);
        (self.nodes, self.tables)
    }
}

/// The table of leaf `i`.
fn input(i: usize) -> Table {
    use super::affine::truth::INPUT;
    std::array::from_fn(|word| match i {
        0..6 => INPUT[i],
        _ if word >> (i - 6) & 1 == 1 => u64::MAX,
        _ => 0,
    })
}

/// r, or p·q ⊕ r: p by its number, forms as sets of divisors.
#[derive(Clone, Copy, Debug)]
struct Formula {
    product: Option<(usize, u128)>,
    rest: u128,
}

impl Formula {
    fn terms(&self) -> u32 {
        let product = self.product.map_or(0, |(_, q)| q.count_ones() + 1);
        product + self.rest.count_ones()
    }
}

/// A vector with the combinations that it is: of divisors, and of their products with one of them.
#[derive(Clone, Copy)]
struct Row {
    table: Table,
    of: [u128; 2],
}

impl Row {
    fn add(&mut self, other: &Row) {
        self.table.iter_mut().zip(&other.table).for_each(|(word, other)| *word ^= other);
        self.of[0] ^= other.of[0];
        self.of[1] ^= other.of[1];
    }

    /// The first place where it is not zero.
    fn pivot(&self) -> Option<usize> {
        let word = self.table.iter().position(|&word| word != 0)?;
        Some(64 * word + self.table[word].trailing_zeros() as usize)
    }
}

/// Independent vectors, each with a pivot that those after it do not have.
#[derive(Default)]
struct Basis(Vec<(usize, Row)>);

impl Basis {
    fn reduce(&self, row: &mut Row) {
        for (pivot, other) in &self.0 {
            if row.table[pivot / 64] >> (pivot % 64) & 1 == 1 {
                row.add(other);
            }
        }
    }

    fn insert(&mut self, row: Row) {
        if let Some(pivot) = row.pivot() {
            self.0.push((pivot, row));
        }
    }
}

/// A formula of the divisors with fewer ANDs than are freed.
fn formula(tables: &[Table], goal: &Table, freed: usize, most_terms: u32) -> Option<Formula> {
    let mut basis = Basis(vec![(0, Row { table: [u64::MAX; WORDS], of: [ONE, 0] })]);
    for (i, &table) in tables.iter().enumerate() {
        let mut row = Row { table, of: [1 << i, 0] };
        basis.reduce(&mut row);
        basis.insert(row);
    }
    let mut left = Row { table: *goal, of: [0; 2] };
    basis.reduce(&mut left);
    if left.pivot().is_none() {
        let formula = Formula { product: None, rest: left.of[0] };
        return Some(short(tables, goal).unwrap_or(formula)).filter(|formula| formula.terms() <= most_terms);
    }
    if freed < 2 {
        return None;
    }
    let with = (0..tables.len()).filter_map(|i| product(tables, &basis, left, i));
    with.filter(|formula| formula.terms() <= most_terms).min_by_key(Formula::terms)
}

/// The goal as p·q ⊕ r for divisor p, given what is left of it by the basis of all divisors.
fn product(tables: &[Table], basis: &Basis, left: Row, p: usize) -> Option<Formula> {
    let mut left = left;
    let mut products = Basis::default();
    for (j, table) in tables.iter().enumerate().filter(|(j, _)| *j != p) {
        let mut row = Row { table: std::array::from_fn(|i| table[i] & tables[p][i]), of: [0, 1 << j] };
        basis.reduce(&mut row);
        products.reduce(&mut row);
        products.insert(row);
    }
    products.reduce(&mut left);
    left.pivot().is_none().then_some(Formula { product: Some((p, left.of[1])), rest: left.of[0] })
}

/// The goal as one divisor or the sum of two.
fn short(tables: &[Table], goal: &Table) -> Option<Formula> {
    let normal = |table: Table| if table[0] & 1 == 1 { (table.map(|word| !word), ONE) } else { (table, 0) };
    let sum = |a: &Table, b: &Table| std::array::from_fn(|i| a[i] ^ b[i]);
    let formula = |rest: u128| Some(Formula { product: None, rest });
    for (i, first) in tables.iter().enumerate() {
        let (rest, one) = normal(sum(goal, first));
        if rest == [0; WORDS] {
            return formula(1 << i | one);
        }
        for (j, second) in tables.iter().enumerate().skip(i + 1) {
            let (second, other) = normal(*second);
            if second == rest {
                return formula(1 << i | 1 << j | one ^ other);
            }
        }
    }
    None
}

fn build(network: &mut Network<'_>, nodes: &[u32], formula: &Formula) -> Bit {
    let sum = |network: &mut Network<'_>, set: u128, start: Bit| {
        let chosen = nodes.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1);
        let sum = chosen.fold(start, |sum, (_, &node)| network.xor(sum, Bit::new(node, false)));
        sum.flip(set & ONE != 0)
    };
    let product = match formula.product {
        Some((p, q)) => {
            let q = sum(network, q, Bit::FALSE);
            network.and(Bit::new(nodes[p], false), q)
        }
        None => Bit::FALSE,
    };
    sum(network, formula.rest, product)
}
