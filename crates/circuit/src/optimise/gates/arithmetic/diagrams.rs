//! Reduced ordered decision diagrams: two are one number if and only if they are one function (Bryant, *Graph-based algorithms
//! for Boolean function manipulation*, IEEE Transactions on Computers 1986, section 4).

use super::super::network::Kind;
use rustc_hash::FxHashMap;

/// The most variables: a gate goes as deep into the stack as there are variables.
const MOST_VARIABLES: u32 = 4_096;

/// A function, by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Diagram(u32);

impl Diagram {
    pub const FALSE: Diagram = Diagram(0);
    pub const TRUE: Diagram = Diagram(1);

    pub fn constant(value: bool) -> Self {
        if value { Diagram::TRUE } else { Diagram::FALSE }
    }
}

/// The least variable that a function depends on, and what it is if that is false, and true.
type Node = (u32, [Diagram; 2]);

/// All functions so far.
pub struct Diagrams {
    nodes: Vec<Node>,
    numbers: FxHashMap<Node, Diagram>,
    made: FxHashMap<(bool, [Diagram; 2]), Diagram>,
    most: usize,
}

impl Diagrams {
    /// None yet but the constants.
    pub fn new() -> Self {
        let end = |value| (u32::MAX, [Diagram::constant(value); 2]);
        let nodes = vec![end(false), end(true)];
        Diagrams { nodes, numbers: FxHashMap::default(), made: FxHashMap::default(), most: 0 }
    }

    /// There will be at most so many.
    pub fn limit(&mut self, most: usize) {
        self.most = most;
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    /// Nothing if it is too high.
    pub fn variable(&mut self, variable: u32) -> Option<Diagram> {
        if variable >= MOST_VARIABLES {
            return None;
        }
        self.node(variable, [Diagram::FALSE, Diagram::TRUE])
    }

    pub fn not(&mut self, of: Diagram) -> Option<Diagram> {
        self.gate(Kind::Xor, [of, Diagram::TRUE])
    }

    /// (a ⊕ c)(b ⊕ c) ⊕ c.
    pub fn majority(&mut self, [a, b, c]: [Diagram; 3]) -> Option<Diagram> {
        let pair = [self.gate(Kind::Xor, [a, c])?, self.gate(Kind::Xor, [b, c])?];
        let both = self.gate(Kind::And, pair)?;
        self.gate(Kind::Xor, [both, c])
    }

    /// The AND or XOR of two functions; nothing if there would be too many.
    pub fn gate(&mut self, kind: Kind, [a, b]: [Diagram; 2]) -> Option<Diagram> {
        let is_and = kind == Kind::And;
        match (is_and, a, b) {
            (true, Diagram::FALSE, _) | (true, _, Diagram::FALSE) => return Some(Diagram::FALSE),
            (true, Diagram::TRUE, other) | (true, other, Diagram::TRUE) => return Some(other),
            (false, Diagram::FALSE, other) | (false, other, Diagram::FALSE) => return Some(other),
            _ if a == b => return Some(if is_and { a } else { Diagram::FALSE }),
            _ => {}
        }
        let key = (is_and, [a.min(b), a.max(b)]);
        if let Some(&made) = self.made.get(&key) {
            return Some(made);
        }
        let [x, y] = [a, b].map(|of| self.nodes[of.0 as usize]);
        let variable = x.0.min(y.0);
        let half = |(own, halves): Node, of: Diagram, i: usize| if own == variable { halves[i] } else { of };
        let low = self.gate(kind, [half(x, a, 0), half(y, b, 0)])?;
        let high = self.gate(kind, [half(x, a, 1), half(y, b, 1)])?;
        let made = self.node(variable, [low, high])?;
        self.made.insert(key, made);
        Some(made)
    }

    fn node(&mut self, variable: u32, halves: [Diagram; 2]) -> Option<Diagram> {
        if halves[0] == halves[1] {
            return Some(halves[0]);
        }
        if let Some(&number) = self.numbers.get(&(variable, halves)) {
            return Some(number);
        }
        let number = Diagram(self.nodes.len() as u32);
        (self.nodes.len() < self.most).then(|| {
            self.nodes.push((variable, halves));
            self.numbers.insert((variable, halves), number);
            number
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::affine::truth::INPUT;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Two diagrams are one if and only if the tables are.
        #[test]
        fn diagrams_are_functions(gates in prop::collection::vec(any::<(bool, prop::sample::Index, prop::sample::Index)>(), 1..60)) {
            let mut diagrams = Diagrams::new();
            diagrams.limit(10_000);
            let mut all: Vec<(Diagram, u64)> =
                (0..6).map(|i| (diagrams.variable(i).unwrap(), INPUT[i as usize])).collect();
            for (is_and, a, b) in gates {
                let [(a, x), (b, y)] = [*a.get(&all), *b.get(&all)];
                let (kind, table) = if is_and { (Kind::And, x & y) } else { (Kind::Xor, x ^ y) };
                let made = diagrams.gate(kind, [a, b]).unwrap();
                all.push((made, table));
                all.push((diagrams.not(made).unwrap(), !table));
            }
            for (a, x) in &all {
                prop_assert!(all.iter().all(|(b, y)| (a == b) == (x == y)));
            }
        }
    }

    #[test]
    fn there_are_no_more_than_allowed() {
        let mut diagrams = Diagrams::new();
        diagrams.limit(4);
        let [x, y] = [0, 1].map(|i| diagrams.variable(i).unwrap());
        assert_eq!(diagrams.gate(Kind::And, [x, y]), None);
    }
}
