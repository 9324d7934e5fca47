//! Resubstitution: a node from others nearby, with no AND or with one, if more die with it.
//!
//! Of a node, a *window* is the nodes between it and few leaves, and others that are computed of these; *divisors* are
//! those of them that stay when the node goes. All have tables over the leaves, so that what is found holds whatever the
//! leaves are. That the node is an affine form of divisors, or p·q ⊕ r where p is a divisor and q and r are such forms, is
//! linear algebra on tables: of p·q ⊕ r, for each p, over the divisors and their products with p.

use super::network::{Kind, Network};
use super::rewrite::{dying_above, frees, gain};
use super::window::{self, Table, Window, and, xor};
use crate::graph::Bit;
use rustc_hash::FxHashSet;

/// The bit of the constant in a combination.
const ONE: u128 = 1 << 127;

/// Divisors whose sums in pairs are tried as a factor.
const NEAR: usize = 12;
/// Words of the tables by which most factors are ruled out.
const PROBED: usize = 4;
/// Nodes that are looked at to prove that a replacement does not read what it replaces.
const MOST_SEEN: usize = 2_000;

/// How far one goes for an AND.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The most divisors.
    pub divisors: usize,
    /// The most terms of all forms together.
    pub terms: u32,
    /// No node may come later than before.
    pub keep_depth: bool,
    /// Whether it is looked at where a node's value matters.
    pub above: bool,
}

/// One pass over all nodes.
pub fn resubstitute<const W: usize>(network: &mut Network<'_>, rules: Rules) {
    let mut places = Vec::new();
    for node in 1..network.nodes.len() as u32 {
        let kind = network.nodes[node as usize].kind;
        let worth = kind == Kind::And || kind == Kind::Xor && frees(network, node, 2);
        if worth {
            window::places(&mut places, network);
            node_of_others::<W>(network, node, rules, &mut places);
        }
    }
}

fn node_of_others<const W: usize>(network: &mut Network<'_>, node: u32, rules: Rules, places: &mut [u32]) {
    let (mut window, around) = Window::<W>::new(network, node, rules.above, places);
    let mut dying = Vec::new();
    let freed = dying_above(network, node, &around.leaves, &mut dying);
    if freed == 0 {
        return;
    }
    window.retain(|other| !dying.contains(&other) && !around.above.iter().any(|&(above, _)| above == other));
    window.cut(rules.divisors);
    window.widen(network, node, &dying, rules.divisors);
    let depth = network.nodes[node as usize].depth;
    if rules.keep_depth {
        window.retain(|other| network.nodes[other as usize].depth <= depth);
    }
    let tables: Vec<Table<W>> = window.tables.iter().map(|table| and(table, &around.care)).collect();
    let goal = and(&around.goal, &around.care);
    let found = formula(&tables, &goal, &around.care, freed, rules.terms);
    let Some(formula) = found.filter(|formula| formula.table(&tables, &around.care) == goal) else { return };
    let before = network.nodes.len() as u32;
    let bit = build(network, &window.nodes, &formula);
    let late = rules.keep_depth && network.nodes[bit.node() as usize].depth > depth;
    let larger = gain(network, node, bit, &around.leaves, before) < 0;
    if !late && !larger && !reads(network, bit.node(), node, &around.below) {
        network.replace_within(node, bit, &around.above);
    }
    (before..network.nodes.len() as u32).rev().for_each(|unused| network.bury(unused));
}

/// Whether a node is computed from another, as far as that can be seen; leaves below are not.
pub fn reads(network: &Network<'_>, from: u32, other: u32, below: &[u32]) -> bool {
    let (mut stack, mut seen) = (vec![from], FxHashSet::default());
    while let Some(node) = stack.pop() {
        if node == other || seen.len() > MOST_SEEN {
            return true;
        }
        if network.nodes[node as usize].kind == Kind::Leaf || below.contains(&node) || !seen.insert(node) {
            continue;
        }
        stack.extend(network.nodes[node as usize].operands.map(Bit::node));
    }
    false
}

/// r, or p·q ⊕ r: p by its number, forms as sets of divisors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Formula {
    product: Option<(u128, u128)>,
    rest: u128,
}

impl Formula {
    fn terms(&self) -> u32 {
        let product = self.product.map_or(0, |(p, q)| q.count_ones() + p.count_ones());
        product + self.rest.count_ones()
    }

    /// What it computes of these divisors, where it matters.
    fn table<const W: usize>(&self, tables: &[Table<W>], care: &Table<W>) -> Table<W> {
        let sum = |set: u128| {
            let start = if set & ONE == 0 { [0; W] } else { *care };
            let chosen = tables.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1);
            chosen.fold(start, |sum, (_, table)| xor(&sum, table))
        };
        let product = self.product.map_or([0; W], |(p, q)| and(&sum(p), &sum(q)));
        xor(&product, &sum(self.rest))
    }
}

/// A vector with the combinations that it is: of divisors, and of their products with one of them.
#[derive(Clone, Copy)]
struct Row<const W: usize> {
    table: Table<W>,
    of: [u128; 2],
}

impl<const W: usize> Row<W> {
    fn add(&mut self, other: &Row<W>) {
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
struct Basis<const W: usize>(Vec<(usize, Row<W>)>);

impl<const W: usize> Basis<W> {
    fn reduce(&self, row: &mut Row<W>) {
        for (pivot, other) in &self.0 {
            if row.table[pivot / 64] >> (pivot % 64) & 1 == 1 {
                row.add(other);
            }
        }
    }

    fn insert(&mut self, row: Row<W>) {
        if let Some(pivot) = row.pivot() {
            self.0.push((pivot, row));
        }
    }
}

/// A formula of the divisors with fewer ANDs than are freed.
pub fn formula<const W: usize>(
    tables: &[Table<W>],
    goal: &Table<W>,
    care: &Table<W>,
    freed: usize,
    most_terms: u32,
) -> Option<Formula> {
    let basis = basis_of(tables, care);
    let mut left = Row { table: *goal, of: [0; 2] };
    basis.reduce(&mut left);
    if left.pivot().is_none() {
        let formula = Formula { product: None, rest: left.of[0] };
        return Some(short(tables, goal, care).unwrap_or(formula)).filter(|formula| formula.terms() <= most_terms);
    }
    if freed < 2 {
        return None;
    }
    let singles = (0..tables.len()).map(|i| 1u128 << i);
    let near = tables.len().min(NEAR);
    let pairs = (0..near).flat_map(|i| (0..i).map(move |j| 1u128 << i | 1 << j));
    let probe = Probe::new(tables, goal, care);
    let likely = singles.chain(pairs).filter(|&set| W <= PROBED || probe.has(set));
    let with = likely.filter_map(|set| product(tables, &basis, left, set));
    with.filter(|formula| formula.terms() <= most_terms).min_by_key(Formula::terms)
}

fn basis_of<const W: usize>(tables: &[Table<W>], care: &Table<W>) -> Basis<W> {
    let mut basis = Basis(Vec::new());
    basis.insert(Row { table: *care, of: [ONE, 0] });
    for (i, &table) in tables.iter().enumerate() {
        let mut row = Row { table, of: [1 << i, 0] };
        basis.reduce(&mut row);
        basis.insert(row);
    }
    basis
}

/// Few words of the tables: what is not there on these is not there.
struct Probe {
    tables: Vec<Table<PROBED>>,
    basis: Basis<PROBED>,
    left: Row<PROBED>,
}

impl Probe {
    fn new<const W: usize>(tables: &[Table<W>], goal: &Table<W>, care: &Table<W>) -> Self {
        let some = |table: &Table<W>| -> Table<PROBED> { std::array::from_fn(|i| table[i * (W + 1) / PROBED % W]) };
        let tables: Vec<_> = tables.iter().map(some).collect();
        let basis = basis_of(&tables, &some(care));
        let mut left = Row { table: some(goal), of: [0; 2] };
        basis.reduce(&mut left);
        Probe { tables, basis, left }
    }

    /// Whether there is a product with this factor.
    fn has(&self, set: u128) -> bool {
        product(&self.tables, &self.basis, self.left, set).is_some()
    }
}

/// The goal as p·q ⊕ r for the sum p of some divisors, given what is left of it by the basis of all divisors.
fn product<const W: usize>(tables: &[Table<W>], basis: &Basis<W>, left: Row<W>, p: u128) -> Option<Formula> {
    let mut left = left;
    let mut products = Basis(Vec::new());
    let first = p.trailing_zeros() as usize;
    let by =
        tables.iter().enumerate().filter(|(i, _)| p >> i & 1 == 1).fold([0; W], |sum, (_, table)| xor(&sum, table));
    for (j, table) in tables.iter().enumerate().filter(|(j, _)| *j != first) {
        let mut row = Row { table: and(table, &by), of: [0, 1 << j] };
        basis.reduce(&mut row);
        products.reduce(&mut row);
        products.insert(row);
    }
    products.reduce(&mut left);
    left.pivot().is_none().then_some(Formula { product: Some((p, left.of[1])), rest: left.of[0] })
}

/// The goal as one divisor or the sum of two, but for complements.
fn short<const W: usize>(tables: &[Table<W>], goal: &Table<W>, care: &Table<W>) -> Option<Formula> {
    let first = care.iter().position(|&word| word != 0)?;
    let bit = care[first] & care[first].wrapping_neg();
    let normal = |table: Table<W>| if table[first] & bit != 0 { (xor(&table, care), ONE) } else { (table, 0) };
    let formula = |rest: u128| Some(Formula { product: None, rest });
    for (i, left) in tables.iter().enumerate() {
        let (rest, one) = normal(xor(goal, left));
        if rest == [0; W] {
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

pub fn build(network: &mut Network<'_>, nodes: &[u32], formula: &Formula) -> Bit {
    let sum = |network: &mut Network<'_>, set: u128, start: Bit| {
        let chosen = nodes.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1);
        let sum = chosen.fold(start, |sum, (_, &node)| network.xor(sum, Bit::new(node, false)));
        sum.flip(set & ONE != 0)
    };
    let product = match formula.product {
        Some((p, q)) => {
            let (p, q) = (sum(network, p, Bit::FALSE), sum(network, q, Bit::FALSE));
            network.and(p, q)
        }
        None => Bit::FALSE,
    };
    sum(network, formula.rest, product)
}

#[cfg(test)]
mod tests {
    use super::super::window::input;
    use super::*;

    /// x·y ⊕ x·z ⊕ y·z, and the same with one divisor or constant more or less in any of its forms.
    #[test]
    fn a_wrong_formula_is_seen() {
        let [x, y, z]: [Table<1>; 3] = std::array::from_fn(input);
        let care = xor(&z, &and(&x, &y)).map(|word| !word);
        let tables = [x, y, z].map(|table| and(&table, &care));
        let majority = xor(&and(&xor(&x, &y), &xor(&x, &z)), &x);
        let goal = and(&majority, &[u64::MAX]);
        let formula = formula(&[x, y, z], &goal, &[u64::MAX], 2, 12).expect("an AND");
        assert_eq!(formula.table(&[x, y, z], &[u64::MAX]), goal);
        assert_eq!(formula.table(&tables, &care), and(&goal, &care));
        let (p, q) = formula.product.expect("an AND");
        for bit in [1, 2, 4, ONE] {
            let wrong = [
                Formula { product: Some((p ^ bit, q)), ..formula },
                Formula { product: Some((p, q ^ bit)), ..formula },
                Formula { rest: formula.rest ^ bit, ..formula },
            ];
            wrong.iter().for_each(|wrong| assert_ne!(wrong.table(&[x, y, z], &[u64::MAX]), goal, "{wrong:?}"));
        }
    }
}
