//! Potentials of variables whose pairs count powers of two: the weight of a pair is the sum of its ends' potentials.
//!
//! All pairs are between two sides, so that a constant may move from one side to the other: a product of two words.

use super::terms::Power;
use std::collections::BTreeMap;

/// A pair of variables.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    pub ends: [u32; 2],
    pub power: Power,
}

/// Bit `index` of a word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    pub index: i32,
    pub node: u32,
    pub negative: bool,
}

/// Two words whose bits are the ends of pairs; from index 0, whose bit is not negative. Their product is this much shifted,
/// and may be negative.
#[derive(Debug)]
pub struct Words {
    pub words: [Vec<Place>; 2],
    pub shift: i32,
    pub negative: bool,
}

/// On which side, 1 or −1, a variable is, and its potential.
#[derive(Clone, Copy)]
struct Mark {
    side: i32,
    offset: i32,
    negative: bool,
}

/// What is known of a connected set of pairs.
struct Marks {
    width: i32,
    of: BTreeMap<u32, Mark>,
}

impl Words {
    /// Of connected pairs, if they agree.
    pub fn of(edges: &[Edge], width: i32) -> Option<Self> {
        let mut marks = Marks { width, of: BTreeMap::new() };
        marks.of.insert(edges.first()?.ends[0], Mark { side: 1, offset: 0, negative: false });
        // The highest weight has no sign.
        let top = |edge: &&Edge| edge.power.weight + 1 == width;
        marks.walk(&edges.iter().filter(|edge| !top(edge)).copied().collect::<Vec<_>>())?;
        marks.walk(edges)?;
        Some(marks.words())
    }
}

impl Marks {
    /// Marks all that is connected with what is marked; nothing if pairs are at odds.
    fn walk(&mut self, edges: &[Edge]) -> Option<()> {
        let mut beside: BTreeMap<u32, Vec<Edge>> = BTreeMap::new();
        for &edge in edges {
            edge.ends.iter().for_each(|&end| beside.entry(end).or_default().push(edge));
        }
        let mut stack: Vec<u32> = self.of.keys().copied().collect();
        while let Some(node) = stack.pop() {
            for edge in beside.remove(&node).unwrap_or_default() {
                let other = edge.ends[usize::from(edge.ends[0] == node)];
                if self.of.contains_key(&other) {
                    self.agree(&edge)?;
                    continue;
                }
                let Mark { side, offset, negative } = self.of[&node];
                let negative = negative ^ (edge.power.negative && edge.power.weight + 1 < self.width);
                self.of.insert(other, Mark { side: -side, offset: edge.power.weight - offset, negative });
                stack.push(other);
            }
        }
        Some(())
    }

    fn agree(&mut self, edge: &Edge) -> Option<()> {
        let Power { weight, negative } = edge.power;
        let [a, b] = edge.ends.map(|end| self.of[&end]);
        let signs = weight + 1 == self.width || a.negative ^ b.negative == negative;
        (signs && a.side != b.side && weight == a.offset + b.offset).then_some(())
    }

    fn words(&self) -> Words {
        let [(left, a, minus), (right, b, also)] = [1, -1].map(|side| {
            let of_side = self.of.iter().filter(|(_, mark)| mark.side == side);
            word(of_side.map(|(&node, mark)| (mark.offset, node, mark.negative)).collect())
        });
        Words { words: [left, right], shift: a + b, negative: minus ^ also }
    }
}

/// The bits from index 0 on, by index; what was the lowest index; and whether its bit was negative.
fn word(mut bits: Vec<(i32, u32, bool)>) -> (Vec<Place>, i32, bool) {
    bits.sort_unstable();
    let (lowest, _, negative) = bits.first().copied().unwrap_or_default();
    let place =
        |&(index, node, sign): &(i32, u32, bool)| Place { index: index - lowest, node, negative: sign ^ negative };
    (bits.iter().map(place).collect(), lowest, negative)
}
