//! The values of the wires that are under way.

use super::walk::{Step, Unit};
use crate::private::nodes::Size;

/// What computes switches and poles on values of its own kind.
pub trait Engine {
    /// What a wire carries.
    type Wire: Copy;

    /// Switches, in place: those whose control bit, from `place` on, is set exchange a and b.
    fn switches(&mut self, place: usize, a: &mut [Self::Wire], b: &mut [Self::Wire]);

    /// What a pole gives out, for what comes from both networks. For an input that means nothing.
    fn pole(&mut self, pole: usize, operands: [Self::Wire; 2]) -> Self::Wire;
}

/// All wires under way.
///
/// The networks of a level of width w have their edges in at 0..w of `down`, and what *in* has left for *mid* at w..2w: so
/// *in* works in place on what the halves, of width 2w, give. In `up`, 0..w are results, and w..2w the results of a,
/// which *mid* replaces; *out* works in place on both, which are the halves' results after it.
pub struct Board<W> {
    down: Vec<W>,
    up: Vec<W>,
}

impl<W: Copy> Board<W> {
    /// A board for a size, with a value in place of wires that nobody has set; none of them is read.
    pub fn new(size: Size, nothing: W) -> Board<W> {
        let wires = size.nodes().next_power_of_two();
        Board { down: vec![nothing; wires], up: vec![nothing; 2 * wires] }
    }

    /// Does a unit.
    pub fn run(&mut self, unit: Unit, engine: &mut impl Engine<Wire = W>) {
        match unit {
            Unit::Pole(pole) => {
                let result = engine.pole(pole, [self.down[0], self.down[1]]);
                self.up[..2].fill(result);
            }
            Unit::Switches { step, width, from, len, place } => {
                let [a, b] = [from..from + len, width + from..width + from + len];
                match step {
                    Step::In => {
                        let (low, high) = self.down.split_at_mut(width);
                        engine.switches(place, &mut low[a.clone()], &mut high[a]);
                    }
                    Step::Mid => {
                        engine.switches(place, &mut self.down[b.clone()], &mut self.up[b.clone()]);
                        self.down.copy_within(b, from);
                    }
                    _ => {
                        let (low, high) = self.up.split_at_mut(width);
                        engine.switches(place, &mut low[a.clone()], &mut high[a]);
                    }
                }
            }
            Unit::Wires { step, width } => match step {
                Step::Take => self.down.copy_within(width..2 * width, 0),
                Step::Forward => self.down[..width].copy_from_slice(&self.up[width..2 * width]),
                Step::Keep => self.up.copy_within(..width, width),
                _ => self.up.copy_within(width..2 * width, 0),
            },
        }
    }

    /// All values, for those who clear them.
    pub fn wires_mut(&mut self) -> [&mut [W]; 2] {
        [&mut self.down, &mut self.up]
    }
}
