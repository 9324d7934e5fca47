//! Squares among pairs of variables: the weight of a pair is half the sum of both ends' potentials.
//!
//! In (Σ 2^i·x_i)²·2^shift a pair counts 2^(i+j+1+shift), so that with q_i = 2i + 1 + shift, twice its weight is q_i + q_j. Three
//! variables that all meet give the potential of one, and that gives those of all that it meets.

use super::potentials::{Edge, Place};
use super::terms::Power;
use std::collections::BTreeMap;

/// A word whose bits are the ends of pairs; its square is this much shifted.
#[derive(Debug)]
pub struct Root {
    pub word: Vec<Place>,
    pub shift: i32,
}

/// The weights of pairs by both ends.
struct Weights {
    of: BTreeMap<u32, BTreeMap<u32, Power>>,
}

impl Root {
    /// Of connected pairs, if they may be a square's.
    pub fn of(edges: &[Edge]) -> Option<Self> {
        let weights = Weights::of(edges);
        let (lowest, potential) = weights.lowest(edges)?;
        let mut ends = vec![(potential, lowest, false)];
        let others = weights.of[&lowest].iter();
        ends.extend(others.map(|(&other, power)| (2 * power.weight - potential, other, power.negative)));
        ends.sort_unstable();
        let (first, ..) = ends[0];
        let place = |&(potential, node, negative): &(i32, u32, bool)| {
            let twice = potential - first;
            (twice % 2 == 0).then_some(Place { index: twice / 2, node, negative })
        };
        let word: Vec<Place> = ends.iter().map(place).collect::<Option<_>>()?;
        let apart = word.windows(2).all(|pair| pair[0].index < pair[1].index);
        (apart && weights.of.len() == word.len()).then_some(Root { word, shift: first - 1 })
    }
}

impl Weights {
    fn of(edges: &[Edge]) -> Self {
        let mut of: BTreeMap<u32, BTreeMap<u32, Power>> = BTreeMap::new();
        for edge in edges {
            let [a, b] = edge.ends;
            of.entry(a).or_default().insert(b, edge.power);
            of.entry(b).or_default().insert(a, edge.power);
        }
        Weights { of }
    }

    /// The end that meets all others by the lowest weights, and its potential.
    fn lowest(&self, edges: &[Edge]) -> Option<(u32, i32)> {
        let most = self.of.values().map(BTreeMap::len).max()?;
        let weight = |end: u32| self.of[&end].values().map(|power| power.weight).min();
        let full = self.of.iter().filter(|(_, others)| others.len() == most).map(|(&end, _)| end);
        let lowest = full.min_by_key(|&end| (weight(end), end))?;
        let beside = &self.of[&lowest];
        let third = |edge: &&Edge| edge.ends.iter().all(|end| beside.contains_key(end));
        let opposite = edges.iter().find(third)?;
        let [x, y] = opposite.ends.map(|end| beside[&end].weight);
        Some((lowest, x + y - opposite.power.weight))
    }
}
