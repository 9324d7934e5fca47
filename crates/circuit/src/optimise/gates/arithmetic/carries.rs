//! Carries that look ahead become carries that ripple: one AND a bit, and majorities that adders are recognised by.
//!
//! A carry is maj(x, y, c) for the highest pair of bits: x where x = y, and else the carry c from below, which is the node
//! itself with x = 1 and y = 0, or the reverse. So the pairs are found one by one, on samples of the node with all higher pairs
//! fixed, whatever its gates are: generate and propagate in any tree, comparisons, borrows. That the node is the ripple carry
//! over these pairs is proved by decision diagrams over the pairs as variables, the highest first, in which a carry has three
//! nodes a bit. Other nodes of its cone with the diagram of one of its carries, or the complement of that, are that carry.
//!
//! Chains over the same lowest pair are taken together, if more ANDs die than are built.

use super::super::network::{Kind, Network};
use super::super::samples::{Patterns, Samples, flipped, gate};
use super::super::window::Table;
use super::cone::Cone;
use super::diagrams::{Diagram, Diagrams};
use super::exchange::exchange;
use crate::graph::{Bit, Circuit};
use std::collections::{BTreeMap, BTreeSet};

/// Words of samples.
const WORDS: usize = 8;
/// Readers of a node that is looked at first: a comparison selects words, and what it selects is no carry.
const MANY_READERS: u32 = 8;
/// The most nodes of a cone.
const MOST_NODES: usize = 2_000;
/// The most bits of a chain, and the fewest worth a proof.
const BITS: [usize; 2] = [3, 600];
/// Nodes of which any two are looked at for a pair that no gate reads.
const MOST_NEAR: usize = 12;
/// Pairs that are tried for a bit after the first test.
const MOST_TRIES: usize = 12;
/// The most nodes of diagrams, and those for each gate.
const MOST_DIAGRAMS: [usize; 2] = [1_000, 64];
/// Nodes that are visited in vain before the search ends, and those for each node of a network.
const MOST_VISITS: [usize; 2] = [4_000_000, 32];

/// Nodes that are the carry out of so many pairs, or its complement.
type Carries = Vec<(u32, usize, bool)>;

/// The carries of pairs and of what comes in below them.
struct Chain {
    /// The lowest pair first.
    pairs: Vec<[Bit; 2]>,
    below: Bit,
    carries: Carries,
}

/// The circuit with carries that ripple, if that saves an AND.
pub fn rippled(circuit: &Circuit) -> Option<Circuit> {
    let mut network = Network::read(circuit);
    let mut changed = false;
    let first = network.nodes.len() as u32;
    for group in grouped(chains(&mut network)) {
        changed |= take(&mut network, &group);
    }
    (first..network.nodes.len() as u32).rev().for_each(|unused| network.bury(unused));
    changed.then(|| network.write())?
}

/// All chains: first of nodes that many read, as those of selections do, then of the others, from the outputs down.
fn chains(network: &mut Network<'_>) -> Vec<Chain> {
    let mut patterns = Patterns::<WORDS>::new(network.inputs().len());
    let samples = Samples::new(network, &mut patterns);
    let mut visits_left = MOST_VISITS[0] + MOST_VISITS[1] * network.nodes.len();
    let (mut chains, mut known) = (Vec::new(), BTreeSet::new());
    let mut nodes: Vec<u32> = (1..samples.end()).rev().collect();
    nodes.sort_by_key(|&node| network.nodes[node as usize].readers < MANY_READERS);
    for node in nodes {
        if !matches!(network.nodes[node as usize].kind, Kind::And | Kind::Xor) || known.contains(&node) {
            continue;
        }
        let cone = Cone::of(network, node, MOST_NODES);
        match chain(network, &samples, &cone) {
            (Some(chain), _) => {
                known.extend(chain.carries.iter().map(|&(node, ..)| node));
                chains.push(chain);
            }
            (None, visits) => visits_left = visits_left.saturating_sub(visits),
        }
        if visits_left == 0 {
            break;
        }
    }
    chains
}

/// Chains by their lowest pairs, the longest first.
fn grouped(chains: Vec<Chain>) -> Vec<Vec<Chain>> {
    let mut groups: BTreeMap<([u32; 2], u32), Vec<Chain>> = BTreeMap::new();
    for chain in chains {
        groups.entry((chain.pairs[0].map(Bit::node), chain.below.node())).or_default().push(chain);
    }
    let mut groups: Vec<Vec<Chain>> = groups.into_values().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.iter().map(|chain| chain.pairs.len()).max()));
    groups
}

/// The chain of a cone's node, if it is one; and what the search has visited.
fn chain(network: &mut Network<'_>, samples: &Samples<'_, WORDS>, cone: &Cone) -> (Option<Chain>, usize) {
    let mut search = Search::new(samples, cone);
    let mut pairs = Vec::new();
    while let Some(pair) = search.highest(pairs.len()).filter(|_| pairs.len() < BITS[1]) {
        search.fix(pair, true);
        pairs.push(pair);
    }
    let visits = search.visits;
    if pairs.len() < BITS[0] {
        return (None, visits);
    }
    let cut = Cut { below: search.below(), fixed: search.fixed, pairs };
    let mut diagrams = Diagrams::new();
    let chain = cut.proved(cone, &mut diagrams).and_then(|(below, carries)| {
        let below = cut.built(network, cone, below)?;
        let pairs = cut.pairs.iter().rev().map(|pair| pair.map(|bit| cone.bit(bit))).collect();
        Some(Chain { pairs, below, carries })
    });
    (chain, visits + diagrams.count())
}

/// Where a cone is cut: at pairs, the highest first, and perhaps at what comes in below them.
struct Cut {
    pairs: Vec<[Bit; 2]>,
    below: Option<Bit>,
    /// The nodes of pairs, as they let through what comes in below.
    fixed: Vec<Option<bool>>,
}

impl Cut {
    /// What comes in below the pairs, and all nodes of a cone that are carries of them, if its last node is.
    fn proved(&self, cone: &Cone, diagrams: &mut Diagrams) -> Option<(Diagram, Carries)> {
        let above = self.above(cone);
        let gates = above.iter().filter(|&&above| above).count();
        diagrams.limit(cone.nodes.len() + MOST_DIAGRAMS[0] + MOST_DIAGRAMS[1] * gates);
        let given = self.variables(cone, diagrams, &above)?;
        let all = values(cone, diagrams, |number| given[number])?;
        let below = match self.below {
            Some(bit) => literal(diagrams, &given, bit)?,
            None => {
                let fixed = |number: usize| self.fixed[number].map(Diagram::constant);
                *values(cone, diagrams, |number| fixed(number).or(given[number]))?.last()?
            }
        };
        let mut carry = below;
        let mut levels = BTreeMap::new();
        for (below, &[x, y]) in self.pairs.iter().rev().enumerate() {
            let [x, y] = [literal(diagrams, &given, x)?, literal(diagrams, &given, y)?];
            carry = diagrams.majority([x, y, carry])?;
            levels.insert(carry, (below + 1, false));
            levels.insert(diagrams.not(carry)?, (below + 1, true));
        }
        if levels.get(all.last()?).is_none_or(|&(level, _)| level != self.pairs.len()) {
            return None;
        }
        let carries = (0..cone.nodes.len()).filter(|&number| given[number].is_none()).filter_map(|number| {
            let &(level, flip) = levels.get(&all[number])?;
            Some((cone.nodes[number], level, flip))
        });
        Some((below, carries.collect()))
    }

    /// Whether each node of a cone is a gate above the cut.
    fn above(&self, cone: &Cone) -> Vec<bool> {
        let is_cut = |number: usize| {
            number < cone.leaves
                || self.fixed[number].is_some()
                || self.below.is_some_and(|bit| bit.node() as usize == number)
        };
        let mut above = vec![false; cone.nodes.len()];
        above[cone.nodes.len() - 1] = true;
        for number in (0..cone.nodes.len()).rev() {
            above[number] &= !is_cut(number);
            if above[number] {
                cone.reads(number).iter().for_each(|bit| above[bit.node() as usize] = true);
            }
        }
        above
    }

    /// Of each node that is no gate above the cut, a variable.
    fn variables(&self, cone: &Cone, diagrams: &mut Diagrams, above: &[bool]) -> Option<Vec<Option<Diagram>>> {
        let mut variables = vec![None; cone.nodes.len()];
        let pairs = self.pairs.iter().flatten().map(|bit| bit.node() as usize);
        for (variable, number) in pairs.chain((0..cone.nodes.len()).filter(|&number| !above[number])).enumerate() {
            let constant = (cone.nodes[number] == 0).then_some(Diagram::FALSE);
            if variables[number].is_none() {
                variables[number] = Some(constant.or_else(|| diagrams.variable(variable as u32))?);
            }
        }
        Some(variables)
    }

    /// What comes in below, as a gate.
    fn built(&self, network: &mut Network<'_>, cone: &Cone, below: Diagram) -> Option<Bit> {
        match (below, self.below) {
            (Diagram::FALSE, _) => return Some(Bit::FALSE),
            (Diagram::TRUE, _) => return Some(Bit::TRUE),
            (_, Some(bit)) => return Some(cone.bit(bit)),
            _ => {}
        }
        let above = self.above(cone);
        let given = |number: usize| {
            let leaf = (!above[number]).then(|| Bit::new(cone.nodes[number], false));
            self.fixed[number].map(Bit::constant).or(leaf)
        };
        let values = cone.values(given, |kind, operands| {
            let [a, b] = operands.map(|(bit, flip)| bit.flip(flip));
            Some(if kind == Kind::And { network.and(a, b) } else { network.xor(a, b) })
        })?;
        values.last().copied()
    }
}

fn literal(diagrams: &mut Diagrams, variables: &[Option<Diagram>], bit: Bit) -> Option<Diagram> {
    let of = variables[bit.node() as usize]?;
    if bit.complemented() { diagrams.not(of) } else { Some(of) }
}

fn values(cone: &Cone, diagrams: &mut Diagrams, given: impl Fn(usize) -> Option<Diagram>) -> Option<Vec<Diagram>> {
    cone.values(given, |kind, operands| {
        let mut flipped = |(of, flip): (Diagram, bool)| if flip { diagrams.not(of) } else { Some(of) };
        let operands = [flipped(operands[0])?, flipped(operands[1])?];
        diagrams.gate(kind, operands)
    })
}

/// Looks for the pairs of a cone's last node.
struct Search<'a, 'p> {
    samples: &'a Samples<'p, WORDS>,
    cone: &'a Cone,
    fixed: Vec<Option<bool>>,
    values: Vec<Table<WORDS>>,
    /// Pairs of nodes that a gate reads, the lowest first.
    pairs: Vec<[u32; 2]>,
    visits: usize,
}

impl<'a, 'p> Search<'a, 'p> {
    fn new(samples: &'a Samples<'p, WORDS>, cone: &'a Cone) -> Self {
        let sorted = |[a, b]: [Bit; 2]| [a.node().max(b.node()), a.node().min(b.node())];
        let mut pairs: Vec<[u32; 2]> = cone.operands().map(sorted).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut search =
            Search { samples, cone, fixed: vec![None; cone.nodes.len()], values: Vec::new(), pairs, visits: 0 };
        search.evaluate();
        search
    }

    fn evaluate(&mut self) {
        self.visits += self.cone.nodes.len();
        let given = |number: usize| match self.fixed[number] {
            Some(value) => Some([u64::from(value).wrapping_neg(); WORDS]),
            None => (number < self.cone.leaves).then(|| self.samples.of(self.cone.nodes[number])),
        };
        let made = |kind, operands: [(Table<WORDS>, bool); 2]| {
            Some(gate(kind, operands.map(|(table, flip)| flipped(&table, Bit::new(0, flip)))))
        };
        self.values = self.cone.values(given, made).expect("all leaves are given");
    }

    /// The first bit is this, the second is not.
    fn fix(&mut self, pair: [Bit; 2], value: bool) {
        for (bit, value) in pair.into_iter().zip([value, !value]) {
            self.fixed[bit.node() as usize] = Some(value ^ bit.complemented());
        }
        self.evaluate();
    }

    fn top(&self) -> Table<WORDS> {
        *self.values.last().expect("a node")
    }

    /// The lowest node that is what is left of the last one, as far as samples say.
    fn below(&self) -> Option<Bit> {
        let top = self.top();
        let same = |number: u32| {
            let difference = self.values[number as usize][0] ^ top[0];
            let flip = difference & 1 == 1;
            let own = self.fixed[number as usize].is_none() && self.cone.nodes[number as usize] != 0;
            (own && flipped(&self.values[number as usize], Bit::new(0, flip)) == top).then(|| Bit::new(number, flip))
        };
        let constant = top == [0; WORDS] || top == [u64::MAX; WORDS];
        let last = self.values.len() as u32 - 1;
        if constant { None } else { (0..last).find_map(same) }
    }

    /// The highest pair after so many, as far as samples say.
    fn highest(&mut self, found: usize) -> Option<[Bit; 2]> {
        let top = self.top();
        if top == [0; WORDS] || top == [u64::MAX; WORDS] {
            return None;
        }
        let near = if found < BITS[0] { Vec::new() } else { self.near() };
        // Of nodes that are gates, one may be computed from the other.
        let leaves = near.iter().position(|&number| number as usize >= self.cone.leaves).unwrap_or(near.len());
        let of_leaves = self.first_carry(any_two(&near[..leaves]));
        let read = of_leaves.or_else(|| {
            let pairs = std::mem::take(&mut self.pairs);
            let read = self.first_carry(pairs.iter().copied());
            self.pairs = pairs;
            read
        });
        read.or_else(|| self.first_carry(any_two(&near)))
    }

    /// The first of these pairs that may be the highest.
    fn first_carry(&mut self, pairs: impl Iterator<Item = [u32; 2]>) -> Option<[Bit; 2]> {
        let top = self.top();
        let free = |pair: &[u32; 2]| pair.iter().all(|&number| self.fixed[number as usize].is_none());
        let table = |number: u32| &self.values[number as usize];
        let candidates = pairs.filter(free).filter_map(|[a, b]| decided(&top, [a, b], [table(a), table(b)]));
        let candidates: Vec<[Bit; 2]> = candidates.take(MOST_TRIES).collect();
        candidates.into_iter().find(|&pair| self.is_carry(pair))
    }

    /// The lowest nodes that the last one is correlated with as a carry is with the bits of its highest pair: it is equal to
    /// three quarters of each, and to five eighths of the next pair's.
    fn near(&mut self) -> Vec<u32> {
        self.visits += self.values.len();
        let top = self.top();
        let uniform = (0..WORDS).filter(|word| word % 4 < 2);
        let lanes = 64 * uniform.clone().count() as u32;
        let differs = |number: u32, word: usize| (self.values[number as usize][word] ^ top[word]).count_ones();
        let differ = |number: u32| uniform.clone().map(|word| differs(number, word)).sum::<u32>();
        let numbers = (0..self.values.len() as u32 - 1).filter(|&number| self.fixed[number as usize].is_none());
        numbers.filter(|&number| lanes.abs_diff(2 * differ(number)) > lanes * 5 / 16).take(MOST_NEAR).collect()
    }

    /// Whether the node does not tell which bit of a pair is set if one is.
    fn is_carry(&mut self, pair: [Bit; 2]) -> bool {
        let tops = [true, false].map(|value| {
            self.fix(pair, value);
            self.top()
        });
        pair.iter().for_each(|bit| self.fixed[bit.node() as usize] = None);
        tops[0] == tops[1]
    }
}

fn any_two(numbers: &[u32]) -> impl Iterator<Item = [u32; 2]> {
    numbers.iter().enumerate().flat_map(|(i, &high)| numbers[..i].iter().map(move |&low| [high, low]))
}

/// The pair of bits that a node is equal to where they are equal, and do not always differ.
fn decided(top: &Table<WORDS>, [a, b]: [u32; 2], [x, y]: [&Table<WORDS>; 2]) -> Option<[Bit; 2]> {
    // Where a and b are equal, then where they differ: whether the node differs from a, and whether it is equal to a.
    let mut seen = [[0u64; 2]; 2];
    for ((top, x), y) in top.iter().zip(x).zip(y) {
        let (wrong, apart) = (top ^ x, x ^ y);
        seen[0][0] |= wrong & !apart;
        seen[0][1] |= !wrong & !apart;
        seen[1][0] |= wrong & apart;
        seen[1][1] |= !wrong & apart;
        if seen.as_flattened().iter().all(|&seen| seen != 0) {
            return None;
        }
    }
    let sides = [seen[0].map(|seen| seen != 0), seen[1].map(|seen| seen != 0)];
    let [equal, apart] = sides;
    let pair = |flip: bool, other: bool| Some([Bit::new(a, flip), Bit::new(b, other)]);
    match (equal, apart) {
        (_, [false, false]) | ([false, false], _) => None,
        ([false, true], _) => pair(false, false),
        ([true, false], _) => pair(true, true),
        (_, [false, true]) => pair(false, true),
        (_, [true, false]) => pair(true, false),
        _ => None,
    }
}

/// Builds the chains of a group in place of their nodes, if that saves an AND.
fn take(network: &mut Network<'_>, group: &[Chain]) -> bool {
    let before = network.nodes.len();
    let mut by: BTreeMap<u32, Bit> = BTreeMap::new();
    for chain in group {
        if !is_there(network, chain) {
            continue;
        }
        let bits = ripple(network, chain);
        by.extend(chain.carries.iter().map(|&(node, level, flip)| (node, bits[level].flip(flip))));
    }
    exchange(network, by, before)
}

fn is_there(network: &Network<'_>, chain: &Chain) -> bool {
    chain.pairs.iter().flatten().chain([&chain.below]).all(|bit| network.is_alive(bit.node()))
}

/// The carries into all pairs, and out of the last.
fn ripple(network: &mut Network<'_>, chain: &Chain) -> Vec<Bit> {
    let mut carries = vec![chain.below];
    for &[x, y] in &chain.pairs {
        let carry = carries[carries.len() - 1];
        let (a, b) = (network.xor(x, carry), network.xor(y, carry));
        let both = network.and(a, b);
        carries.push(network.xor(both, carry));
    }
    carries
}
