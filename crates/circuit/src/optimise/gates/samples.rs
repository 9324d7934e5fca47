//! Values of all nodes on some inputs: a small part of their tables, by which replacements are found that are proved later.
//!
//! Inputs that refute a replacement are added, with others that differ from them in few bits, in place of the oldest.

use super::network::{Kind, Network};
use super::window::{Table, and, xor};
use crate::graph::Bit;

/// Lanes of what is learnt at once: what was found, and others that differ from it in one input.
const LEARNT: usize = 4;

/// Values of the inputs, a word of samples after another.
pub struct Patterns<const W: usize> {
    words: [Vec<u64>; W],
    /// The lanes that are given up next.
    next: usize,
    random: u64,
}

impl<const W: usize> Patterns<W> {
    /// Half of the words are uniform, the others have few bits set or few clear.
    pub fn new(inputs: usize) -> Self {
        let mut patterns = Patterns { words: std::array::from_fn(|_| Vec::new()), next: 32 * W, random: 0 };
        for word in 0..W {
            patterns.words[word] = (0..inputs)
                .map(|_| {
                    let mut random = || patterns.random();
                    match word % 4 {
                        0 | 1 => random(),
                        2 => random() & random() & random(),
                        _ => random() | random() | random(),
                    }
                })
                .collect();
        }
        patterns
    }

    /// The same, but that in every fourth word the inputs are set the more often the higher the lane.
    pub fn graded(inputs: usize) -> Self {
        let mut patterns = Patterns::new(inputs);
        for word in (1..W).step_by(4) {
            for input in 0..inputs {
                let rising = (0..64).fold(0, |rising, lane| rising | u64::from(patterns.random() % 64 <= lane) << lane);
                patterns.words[word][input] = rising;
            }
        }
        patterns
    }

    /// Makes all samples the same.
    #[cfg(test)]
    pub fn spoil(&mut self) {
        self.words.iter_mut().for_each(|word| word.fill(0));
    }

    /// The next of a sequence that is the same each time (Steele, Lea, Flood, *Fast splittable pseudorandom number
    /// generators*, 2014).
    pub fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ self.random >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Takes up inputs with these values in place of the oldest; the word that has changed.
    fn learn(&mut self, inputs: &[(u32, bool)]) -> usize {
        let (word, lane) = (self.next / 64, self.next % 64);
        self.next = if self.next + LEARNT == 64 * W { 32 * W } else { self.next + LEARNT };
        let lanes = ((1 << LEARNT) - 1) << lane;
        for &(input, value) in inputs {
            let place = &mut self.words[word][input as usize - 1];
            *place = *place & !lanes | u64::from(value).wrapping_neg() & lanes;
        }
        for other in 1..LEARNT.min(inputs.len() + 1) {
            let (input, _) = inputs[(self.random() % inputs.len() as u64) as usize];
            self.words[word][input as usize - 1] ^= 1 << (lane + other);
        }
        word
    }
}

/// Values of nodes, a word of samples after another. What was built for a node comes before it in the order of reading.
pub struct Samples<'p, const W: usize> {
    patterns: &'p mut Patterns<W>,
    words: [Vec<u64>; W],
    /// The nodes that were there at first.
    end: u32,
    /// For which nodes the others were built; it rises.
    built_for: Vec<u32>,
}

impl<'p, const W: usize> Samples<'p, W> {
    pub fn new(network: &Network<'_>, patterns: &'p mut Patterns<W>) -> Self {
        let end = network.nodes.len() as u32;
        let words = std::array::from_fn(|_| vec![0; end as usize]);
        let mut samples = Samples { patterns, words, end, built_for: Vec::new() };
        (0..W).for_each(|word| samples.refresh(network, word));
        samples
    }

    /// The values of a node.
    pub fn of(&self, node: u32) -> Table<W> {
        std::array::from_fn(|word| self.words[word][node as usize])
    }

    /// The nodes that were there at first.
    pub fn end(&self) -> u32 {
        self.end
    }

    /// The order of reading.
    pub fn place(&self, node: u32) -> u64 {
        match node.checked_sub(self.end) {
            None => u64::from(node) << 32 | u64::from(u32::MAX),
            Some(new) => u64::from(self.built_for[new as usize]) << 32 | u64::from(node),
        }
    }

    /// Enters the nodes that were built for a node.
    pub fn enter(&mut self, network: &Network<'_>, node: u32) {
        for new in self.end + self.built_for.len() as u32..network.nodes.len() as u32 {
            self.built_for.push(node);
            self.words.iter_mut().for_each(|word| word.push(0));
            self.update(network, new);
        }
    }

    /// Computes a node's values anew.
    pub fn update(&mut self, network: &Network<'_>, node: u32) {
        (0..W).for_each(|word| self.refresh_at(network, node, word));
    }

    /// Takes up inputs with these values.
    pub fn learn(&mut self, network: &Network<'_>, inputs: &[(u32, bool)]) {
        let word = self.patterns.learn(inputs);
        self.refresh(network, word);
    }

    /// Computes a word of all nodes by those of the inputs.
    fn refresh(&mut self, network: &Network<'_>, word: usize) {
        let inputs = network.inputs();
        self.words[word][inputs.start as usize..inputs.end as usize].copy_from_slice(&self.patterns.words[word]);
        let mut new = 0;
        for node in inputs.end..self.end {
            while self.built_for.get(new).is_some_and(|&built_for| built_for <= node) {
                self.refresh_at(network, self.end + new as u32, word);
                new += 1;
            }
            self.refresh_at(network, node, word);
        }
    }

    fn refresh_at(&mut self, network: &Network<'_>, node: u32, word: usize) {
        let words = &mut self.words[word];
        let gate = &network.nodes[node as usize];
        let [a, b] = gate.operands.map(|bit| words[bit.node() as usize] ^ u64::from(bit.complemented()).wrapping_neg());
        match gate.kind {
            Kind::And => words[node as usize] = a & b,
            Kind::Xor => words[node as usize] = a ^ b,
            Kind::Leaf | Kind::Dead => {}
        }
    }
}

/// The values of all nodes by those of the inputs.
pub fn simulated<const W: usize>(network: &Network<'_>, mut input: impl FnMut(u32) -> Table<W>) -> Vec<Table<W>> {
    let mut values: Vec<Table<W>> = Vec::with_capacity(network.nodes.len());
    for (node, of) in network.nodes.iter().enumerate() {
        let operands = || of.operands.map(|bit| flipped(&values[bit.node() as usize], bit));
        let own = match of.kind {
            Kind::Leaf if node > 0 => input(node as u32),
            Kind::Leaf | Kind::Dead => [0; W],
            kind => gate(kind, operands()),
        };
        values.push(own);
    }
    values
}

/// The lanes of which this is so.
pub fn lanes<const W: usize>(is_so: impl Fn(usize) -> bool) -> Table<W> {
    std::array::from_fn(|word| (0..64).fold(0, |lanes, lane| lanes | u64::from(is_so(64 * word + lane)) << lane))
}

/// The values of a bit by those of its node.
pub fn flipped<const W: usize>(table: &Table<W>, bit: Bit) -> Table<W> {
    let flip = u64::from(bit.complemented()).wrapping_neg();
    table.map(|word| word ^ flip)
}

/// The values of a gate by those of its operands.
pub fn gate<const W: usize>(kind: Kind, [a, b]: [Table<W>; 2]) -> Table<W> {
    if kind == Kind::And { and(&a, &b) } else { xor(&a, &b) }
}
