//! The order in which a network is gone through: units of work, each after all that it reads.

use super::layout::{Kind, Level, levels};
use crate::private::nodes::Size;
use std::collections::VecDeque;

/// Switches of one row, or a pole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Independent switches.
    Switches {
        /// From which place to which they are.
        step: Step,
        /// The networks of the level.
        width: usize,
        /// The first network.
        from: usize,
        /// How many switches.
        len: usize,
        /// The place of the first one's control bit.
        place: usize,
    },
    /// Wires that go on as they are.
    Wires {
        /// From which place to which.
        step: Step,
        /// The networks of the level.
        width: usize,
    },
    /// An input, gate or output.
    Pole(usize),
}

impl Unit {
    /// The most switches of a unit: what they work on at once stays in the cache.
    pub const MOST_SWITCHES: usize = 1 << 10;
}

/// What a unit does in a board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A switch of a pair's edges in.
    In,
    /// A switch between a and b, whose first wire becomes the operand of b.
    Mid,
    /// A switch of a pair's edges out.
    Out,
    /// What *in* has left is the operand of b.
    Take,
    /// The result of a is the operand of b.
    Forward,
    /// The result of a is kept.
    Keep,
    /// What is kept goes to both halves.
    Spread,
}

/// Part of a pole's work: a row of switches, wires, or the pole.
#[derive(Clone, Copy)]
struct Row {
    step: Step,
    level: usize,
    /// For switches the pair.
    pair: Option<usize>,
}

/// Goes through the universal circuit of a size.
pub struct Walk {
    levels: Vec<Level>,
    nodes: usize,
    next: usize,
    /// What is to be done before the next pole, in order, and whether that pole itself comes after it.
    rows: VecDeque<Row>,
    pole: Option<usize>,
    /// How much of the first row is done.
    done: usize,
}

impl Walk {
    /// Begins with the first input.
    pub fn new(size: Size) -> Walk {
        let (levels, _) = levels(size);
        Walk { levels, nodes: size.nodes(), next: 0, rows: VecDeque::new(), pole: None, done: 0 }
    }

    /// The rows that end in the operand of a pole of a level.
    fn operand(&mut self, level: usize, pole: usize) {
        let (here, pair) = (&self.levels[level], pole / 2);
        if pole < here.first {
            return;
        }
        let (below, first) = (here.has(Kind::In, pair), here.first);
        let mid = here.has(Kind::Mid, pair);
        // A pair of which only b has an operand does for b what the others did for a.
        if below && (pole.is_multiple_of(2) || pole - 1 < first) {
            self.operand(level + 1, pair);
            self.push(Step::In, level, Some(pair));
        }
        if pole % 2 == 1 {
            match () {
                () if mid => self.push(Step::Mid, level, Some(pair)),
                () if below => self.push(Step::Take, level, None),
                () => self.push(Step::Forward, level, None),
            }
            let here = &self.levels[level];
            if pole == here.end && here.sends(pair) {
                self.push(Step::Spread, level, None);
                self.result(level + 1, pair);
            }
        }
    }

    /// The rows that begin with the result of a pole of a level.
    fn result(&mut self, level: usize, pole: usize) {
        let (here, pair) = (&self.levels[level], pole / 2);
        if pole >= here.end {
            return;
        }
        if pole.is_multiple_of(2) {
            return self.push(Step::Keep, level, None);
        }
        if here.has(Kind::Out, pair) {
            self.push(Step::Out, level, Some(pair));
        }
        self.result(level + 1, pair);
    }

    fn push(&mut self, step: Step, level: usize, pair: Option<usize>) {
        self.rows.push_back(Row { step, level, pair });
    }

    /// The next part of the first row.
    fn part(&mut self, Row { step, level, pair }: Row) -> Unit {
        let here = &self.levels[level];
        let width = here.width;
        let Some(pair) = pair else {
            self.rows.pop_front();
            return Unit::Wires { step, width };
        };
        let kind = match step {
            Step::In => Kind::In,
            Step::Mid => Kind::Mid,
            _ => Kind::Out,
        };
        let (from, len) = (self.done, Unit::MOST_SWITCHES.min(width - self.done));
        self.done += len;
        if self.done == width {
            self.done = 0;
            self.rows.pop_front();
        }
        Unit::Switches { step, width, from, len, place: here.place(kind, pair) + from }
    }
}

impl Iterator for Walk {
    type Item = Unit;

    fn next(&mut self) -> Option<Unit> {
        if let Some(&row) = self.rows.front() {
            return Some(self.part(row));
        }
        if let Some(pole) = self.pole.take() {
            self.result(0, pole);
            return Some(Unit::Pole(pole));
        }
        if self.next == self.nodes {
            return None;
        }
        self.pole = Some(self.next);
        self.next += 1;
        self.operand(0, self.next - 1);
        self.next()
    }
}
