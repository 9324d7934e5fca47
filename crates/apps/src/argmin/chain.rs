//! Comparisons of values that are shared by XOR: a chain of ANDs, one for each bit, from the lowest on.
//!
//! Whether the lowest bits of the right value are less than those of the left one is c, a shared bit: c_0 = 0 and
//! c_{i+1} = c_i ⊕ (left_i ⊕ c_i)·(right_i ⊕ c_i ⊕ 1). It takes the fewest bytes of all, 4 bits an AND, and a message an AND.

use super::compare::multiply;
use super::layout::Level;
use super::rows::Rows;
use duologue::circuit::Party;

/// One party's side of the comparisons of a tile.
pub struct Chain {
    left: Rows,
    right: Rows,
    /// Its share of c.
    less: Rows,
    /// The next bit.
    bit: usize,
}

impl Chain {
    /// Of each pair of a group of values, whose lowest rows are compared.
    pub fn new(level: &Level, bits: usize, values: &Rows) -> Chain {
        let [left, right] = level.sides().map(|lanes| values.slice(0, bits).gather(&lanes));
        let less = Rows::zeros(1, left.lanes());
        Chain { left, right, less, bit: 0 }
    }

    /// This party's half of the opening of both factors, each under its mask of a triple.
    pub fn half(&self, triples: &Rows, party: Party) -> Rows {
        let [mut left, mut right] = [&self.left, &self.right].map(|side| side.slice(self.bit, 1));
        left.xor(&self.less);
        right.xor(&self.less);
        if party == Party::Alice {
            right.complement();
        }
        let mut half = left.then(&right);
        half.xor(&triples.slice(0, 2));
        half
    }

    /// Goes on to the next bit, when both halves are opened.
    pub fn join(&mut self, triples: &Rows, opened: &Rows, party: Party) {
        self.less.xor(&multiply(triples, opened, party));
        self.bit += 1;
    }

    /// Shares of whether the right value is less, after the last bit.
    pub fn finish(self) -> Rows {
        self.less
    }
}
