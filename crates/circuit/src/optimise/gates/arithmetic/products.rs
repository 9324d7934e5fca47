//! Products in a sum: terms x·y that are all pairs of the bits of two words.
//!
//! In a product Σ 2^(i+j)·a_i·b_j each bit has a potential, so that the weight of a pair is the sum of both: i and j up to a
//! constant. Found from the pairs, potentials say what words there are; then every pair of theirs must be there with its
//! weight and sign, modulo 2^width. What a sum has besides stays as it is: exactly the product is taken out, so that the
//! identity of the sum holds as before. In squares (`squares.rs`) only the pairs of different bits are looked for: what the others
//! count is subtracted, and if they are there they cancel.

use super::super::network::{Kind, Network};
use super::potentials::{Edge, Place, Words};
use super::squares::Root;
use super::sums::{Digit, Sum};
use super::terms::{Power, Terms};
use crate::graph::Bit;
use std::collections::{BTreeMap, BTreeSet};

/// A factor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word {
    pub bits: Vec<Bit>,
    pub signed: bool,
}

/// left · right · 2^shift.
#[derive(Clone, Debug)]
pub struct Product {
    pub left: Word,
    pub right: Word,
    pub shift: i32,
}

/// A sum with its products: Σ 2^weight·digit = Σ products + Σ terms modulo 2^width.
pub struct Recognised {
    pub sum: Sum,
    pub products: Vec<Product>,
}

/// A term that is the AND of two bits, or its complement.
struct Leaf {
    node: u32,
    operands: [Bit; 2],
    flip: bool,
    pair: u32,
}

/// The terms that are ANDs. A variable is a node, or its complement where most of the ANDs have that.
struct Pairs {
    leaves: Vec<Leaf>,
    /// The number of each pair, from 1.
    numbers: BTreeMap<[u32; 2], u32>,
    /// What they count, by number.
    counts: BTreeMap<u32, Vec<Power>>,
    complemented: BTreeMap<u32, bool>,
}

/// A word by its bits; nothing where it has a zero.
type Digits = Vec<Option<Place>>;

/// Looks for products in a sum.
pub fn recognise(network: &Network<'_>, sum: Sum) -> Recognised {
    let pairs = Pairs::of(network, &sum);
    let mut finder = Finder { network, pairs, found: Recognised { sum, products: Vec::new() } };
    for edges in finder.pairs.components() {
        let width = finder.found.sum.width;
        match Words::of(&edges, width) {
            Some(words) => finder.product(words),
            None => finder.square(&edges),
        }
    }
    finder.found
}

impl Recognised {
    /// The nodes that it is computed from.
    pub fn reads(&self) -> Vec<u32> {
        let words = self.products.iter().flat_map(|product| [&product.left, &product.right]);
        let factors = words.flat_map(|word| &word.bits).map(|bit| bit.node());
        let terms = self.sum.terms.nodes(self.sum.width).map(|(node, _)| node);
        factors.chain(terms).filter(|&node| node != 0).collect()
    }
}

impl Pairs {
    fn of(network: &Network<'_>, sum: &Sum) -> Self {
        let mut pairs = Pairs {
            leaves: Vec::new(),
            numbers: BTreeMap::new(),
            counts: BTreeMap::new(),
            complemented: BTreeMap::new(),
        };
        let terms = sum.terms.nodes(sum.width).filter_map(|(node, powers)| match powers[..] {
            [power] => Some((node, power, as_and(network, node)?)),
            _ => None,
        });
        let terms: Vec<(u32, Power, ([Bit; 2], bool))> = terms.collect();
        let mut votes: BTreeMap<u32, i64> = BTreeMap::new();
        for bit in terms.iter().flat_map(|(_, _, (operands, _))| operands) {
            *votes.entry(bit.node()).or_default() += if bit.complemented() { 1 } else { -1 };
        }
        pairs.complemented = votes.iter().map(|(&node, &votes)| (node, votes > 0)).collect();
        let mut counts = Terms::default();
        for (node, power, (operands, flip)) in terms {
            let [a, b] = operands;
            let key = [a.node().min(b.node()), a.node().max(b.node())];
            let next = pairs.numbers.len() as u32 + 1;
            let pair = *pairs.numbers.entry(key).or_insert(next);
            counts.add(Bit::new(pair, false), power.times(pairs.turned(a) ^ pairs.turned(b) ^ flip));
            pairs.leaves.push(Leaf { node, operands, flip, pair });
        }
        pairs.counts = counts.nodes(sum.width).collect();
        pairs
    }

    /// The variable of a node.
    fn variable(&self, node: u32) -> Bit {
        Bit::new(node, self.complemented[&node])
    }

    /// Whether a bit is the complement of its variable.
    fn turned(&self, bit: Bit) -> bool {
        self.variable(bit.node()) != bit
    }

    fn number(&self, [a, b]: [u32; 2]) -> Option<u32> {
        self.numbers.get(&[a.min(b), a.max(b)]).copied()
    }

    fn count(&self, pair: u32) -> &[Power] {
        self.counts.get(&pair).map_or(&[], |powers| &powers[..])
    }

    /// Connected pairs that count a power of two.
    fn components(&self) -> Vec<Vec<Edge>> {
        let edge = |(&ends, number): (&[u32; 2], &u32)| match *self.count(*number) {
            [power] => Some(Edge { ends, power }),
            _ => None,
        };
        let edges: Vec<Edge> = self.numbers.iter().filter_map(edge).collect();
        let mut beside: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (number, edge) in edges.iter().enumerate() {
            edge.ends.iter().for_each(|&end| beside.entry(end).or_default().push(number));
        }
        let mut components = Vec::new();
        while let Some((&start, _)) = beside.first_key_value() {
            let (mut numbers, mut stack) = (BTreeSet::new(), vec![start]);
            while let Some(node) = stack.pop() {
                for number in beside.remove(&node).unwrap_or_default() {
                    if numbers.insert(number) {
                        stack.extend(edges[number].ends);
                    }
                }
            }
            components.push(numbers.into_iter().map(|number| edges[number]).collect());
        }
        components
    }
}

struct Finder<'a, 'b> {
    network: &'a Network<'b>,
    pairs: Pairs,
    found: Recognised,
}

impl Finder<'_, '_> {
    /// Takes out a product of two words, or of sums of words.
    fn product(&mut self, words: Words) {
        let Words { words, shift, negative } = words;
        let [Some(left), Some(right)] = words.map(|word| parted(&word)) else { return };
        let (mut taken, mut corner) = (BTreeSet::new(), None);
        for (a, b) in left.iter().flat_map(|a| right.iter().map(move |b| (a, b))) {
            for (x, y) in a.iter().flatten().flat_map(|x| b.iter().flatten().map(move |y| (x, y))) {
                let weight = x.index + y.index + shift;
                let power = Power { weight, negative: x.negative ^ y.negative ^ negative };
                match self.pairs.number([x.node, y.node]) {
                    _ if weight >= self.found.sum.width => {}
                    Some(pair) if self.counts(pair, power) => drop(taken.insert(pair)),
                    None if x.index + y.index == 0 => corner = Some([x.node, y.node]),
                    _ => return,
                }
            }
        }
        if left.iter().chain(&right).any(|word| word.len() < 2) || shift < 0 {
            return;
        }
        if let Some(nodes) = corner {
            let alone = left.len() + right.len() == 2 && !negative;
            let [x, y] = nodes.map(|node| self.pairs.variable(node));
            if !alone || !self.extend(shift, self.and(x, y)) {
                return;
            }
        }
        self.take(&taken);
        for (a, b) in left.iter().flat_map(|a| right.iter().map(move |b| (a, b))) {
            self.push_product(a, b, shift, negative);
        }
    }

    /// Takes out a square, and its diagonal.
    fn square(&mut self, edges: &[Edge]) {
        let Some(Root { word, shift }) = Root::of(edges) else { return };
        let Some([digits]) = parted(&word).and_then(|words| <[Digits; 1]>::try_from(words).ok()) else { return };
        let mut taken = BTreeSet::new();
        for (i, x) in word.iter().enumerate() {
            for y in &word[..i] {
                let power = Power { weight: x.index + y.index + 1 + shift, negative: x.negative ^ y.negative };
                match self.pairs.number([x.node, y.node]) {
                    _ if power.weight >= self.found.sum.width => {}
                    Some(pair) if self.counts(pair, power) => drop(taken.insert(pair)),
                    _ => return,
                }
            }
        }
        if shift < 0 || digits.len() < 3 {
            return;
        }
        self.take(&taken);
        for place in word.iter().rev() {
            let weight = 2 * place.index + shift;
            let bit = self.pairs.variable(place.node);
            if self.is_lowest(weight) {
                // The digit is the bit itself, which is no term.
                self.found.sum.digits.push(Digit { weight, bit: None });
            } else {
                self.found.sum.terms.add(bit, Power { weight, negative: true });
            }
        }
        let root = self.word(&digits);
        self.found.products.push(Product { left: root.clone(), right: root, shift });
    }

    /// Whether a weight is below all digits.
    fn is_lowest(&self, weight: i32) -> bool {
        self.found.sum.digits.iter().all(|digit| weight < digit.weight)
    }

    fn push_product(&mut self, a: &Digits, b: &Digits, shift: i32, negative: bool) {
        let (left, mut right) = (self.word(a), self.word(b));
        if negative {
            // −ab = a·¬b + a, less a·2^m if b is a word of m bits without a sign.
            right.bits.iter_mut().for_each(|bit| *bit = !*bit);
            for place in a.iter().flatten() {
                let power = Power { weight: place.index + shift, negative: place.negative };
                self.found.sum.terms.add(self.pairs.variable(place.node), power);
                if !right.signed {
                    let above = Power { weight: power.weight + right.bits.len() as i32, negative: !power.negative };
                    self.found.sum.terms.add(self.pairs.variable(place.node), above);
                }
            }
        }
        self.found.products.push(Product { left, right, shift });
    }

    /// Whether a pair counts this much; the sign of the highest weight does not matter.
    fn counts(&self, pair: u32, power: Power) -> bool {
        let top = power.weight + 1 == self.found.sum.width;
        matches!(*self.pairs.count(pair), [own] if own == power || top && own.weight == power.weight)
    }

    /// The node that is an AND, if it is there.
    fn and(&self, a: Bit, b: Bit) -> Option<Bit> {
        let print = self.network.and_print(self.network.print_of(a), self.network.print_of(b));
        self.network.find(print)
    }

    /// Adds a digit below all others; it is read from the sum if otherwise nobody but outputs would read it.
    fn extend(&mut self, weight: i32, bit: Option<Bit>) -> bool {
        let outputs = |node: u32| self.network.outputs.iter().filter(|bit| bit.node() == node).count();
        let free = |bit: &Bit| {
            let node = &self.network.nodes[bit.node() as usize];
            node.kind != Kind::Leaf && node.readers as usize == outputs(bit.node())
        };
        let above = self.found.sum.digits.iter().all(|digit| weight < digit.weight);
        if above {
            self.found.sum.digits.push(Digit { weight, bit: bit.filter(free) });
        }
        above
    }

    /// Takes pairs out of the terms: of an AND of complements what is left is linear.
    fn take(&mut self, pairs: &BTreeSet<u32>) {
        let Finder { pairs: all, found, .. } = self;
        let (width, terms) = (found.sum.width, &mut found.sum.terms);
        for leaf in all.leaves.iter().filter(|leaf| pairs.contains(&leaf.pair)) {
            let [x, y] = leaf.operands.map(|bit| all.variable(bit.node()));
            let turned = leaf.operands.map(|bit| all.turned(bit));
            for power in terms.take(leaf.node, width) {
                if leaf.flip {
                    terms.add(Bit::TRUE, power);
                }
                let power = power.times(leaf.flip);
                // (1 − x)·y, x·(1 − y) or (1 − x)(1 − y), without the product.
                match turned {
                    [false, false] => {}
                    [true, false] => terms.add(y, power),
                    [false, true] => terms.add(x, power),
                    [true, true] => {
                        terms.add(Bit::TRUE, power);
                        terms.add(x, power.times(true));
                        terms.add(y, power.times(true));
                    }
                }
            }
        }
    }

    fn word(&self, digits: &Digits) -> Word {
        let bits =
            digits.iter().map(|place| place.map_or(Bit::FALSE, |place| self.pairs.variable(place.node))).collect();
        Word { bits, signed: digits.last().is_some_and(|place| place.is_some_and(|place| place.negative)) }
    }
}

/// The node as an AND of two bits, or as the complement of one: x ⊕ x·u is x·¬u, and x ⊕ ¬x·u is ¬(¬x·¬u).
fn as_and(network: &Network<'_>, node: u32) -> Option<([Bit; 2], bool)> {
    let of = |bit: Bit| &network.nodes[bit.node() as usize];
    let own = &network.nodes[node as usize];
    let [a, b] = own.operands;
    match own.kind {
        Kind::And => Some((own.operands, false)),
        Kind::Xor => [(a, b), (b, a)].into_iter().find_map(|(x, and)| {
            let [p, q] = of(and).operands;
            let (own, other) = if p.node() == x.node() { (p, q) } else { (q, p) };
            let fits = of(and).kind == Kind::And && own.node() == x.node();
            fits.then_some(([own, !other], own.complemented()))
        }),
        Kind::Leaf | Kind::Dead => None,
    }
}

/// Words that have at most one bit of each index; nothing if one has a sign other than that of its highest bit, or more
/// zeros than bits.
fn parted(places: &[Place]) -> Option<Vec<Digits>> {
    let mut words: Vec<Digits> = Vec::new();
    let mut before = None;
    let mut nth = 0;
    for &place in places {
        nth = if before == Some(place.index) { nth + 1 } else { 0 };
        before = Some(place.index);
        if words.len() == nth {
            words.push(Vec::new());
        }
        if place.index as usize > 2 * places.len() {
            return None;
        }
        words[nth].resize(place.index as usize, None);
        words[nth].push(Some(place));
    }
    let whole = |word: &Digits| {
        let bits = word.iter().flatten().count();
        let below = word.iter().rev().skip(1).flatten();
        2 * bits > word.len() && below.into_iter().all(|place| !place.negative)
    };
    words.iter().all(whole).then_some(words)
}
