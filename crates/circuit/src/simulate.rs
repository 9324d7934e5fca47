//! Plain evaluation of a circuit on very many lanes: for tests, checks of whole input spaces, and models.
//!
//! The circuit is compiled to a [`Plan`], whose few slots stay in the first-level cache, and runs on [`LANES`] lanes at
//! a time, a bit of each lane in every gate: a million lanes of a thousand gates take milliseconds.

use crate::graph::Circuit;
use crate::matrix::BitMatrix;
use crate::plan::{GateRun, Op, Operand, Order, Plan, Source};

/// Lanes that run together.
pub const LANES: usize = 64 * WORDS;
const WORDS: usize = 8;

/// One bit of each lane.
type LaneWords = [u64; WORDS];

/// A circuit made ready for plain evaluation.
pub struct Simulator {
    plan: Plan,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    slots: Vec<LaneWords>,
}

impl Simulator {
    /// Compiles the circuit.
    pub fn new(circuit: &Circuit) -> Self {
        let plan = Plan::new(circuit, Order::DepthFirst);
        let widths = |ports: &[crate::Port]| ports.iter().map(|port| port.ty.width as usize).collect();
        let slots = vec![[0; WORDS]; plan.slots()];
        Simulator { inputs: widths(circuit.inputs()), outputs: widths(circuit.outputs()), plan, slots }
    }

    /// Evaluates lanes given as numbers: one slice for each input port, one vector for each output port.
    ///
    /// # Panics
    /// If a port is wider than 128 bits, their number is wrong, or the slices are not of one length.
    pub fn numbers(&mut self, ports: &[&[u128]]) -> Vec<Vec<u128>> {
        assert_eq!(ports.len(), self.inputs.len(), "one slice of numbers for each input port");
        let lanes = ports.first().map_or(0, |port| port.len());
        assert!(ports.iter().all(|port| port.len() == lanes), "as many numbers for every port");
        let mut results = vec![Vec::with_capacity(lanes); self.outputs.len()];
        let mut rows = vec![[0; WORDS]; self.inputs.iter().sum()];
        let mut made = vec![[0; WORDS]; self.outputs.iter().sum()];
        for first in (0..lanes).step_by(LANES) {
            let count = LANES.min(lanes - first);
            let mut rest = &mut rows[..];
            for (port, &width) in ports.iter().zip(&self.inputs) {
                let (part, after) = rest.split_at_mut(width);
                spread(&port[first..][..count], part);
                rest = after;
            }
            self.block(&rows, &mut made);
            let mut rest = &made[..];
            for (result, &width) in results.iter_mut().zip(&self.outputs) {
                let (part, after) = rest.split_at(width);
                gather(part, count, result);
                rest = after;
            }
        }
        results
    }

    /// Evaluates lanes of any width: rows are input bits, in the order of the ports.
    ///
    /// # Panics
    /// If the matrix does not have a row for each input bit.
    pub fn run(&mut self, inputs: &BitMatrix) -> BitMatrix {
        assert_eq!(inputs.rows(), self.inputs.iter().sum::<usize>(), "a row for each input bit");
        let mut outputs = BitMatrix::zeros(self.outputs.iter().sum(), inputs.lanes());
        let mut rows = vec![[0; WORDS]; inputs.rows()];
        let mut made = vec![[0; WORDS]; outputs.rows()];
        for first in (0..inputs.stride()).step_by(WORDS) {
            let count = WORDS.min(inputs.stride() - first);
            for (row, wire) in rows.iter_mut().enumerate() {
                wire[..count].copy_from_slice(&inputs.row(row)[first..][..count]);
            }
            self.block(&rows, &mut made);
            for (row, wire) in made.iter().enumerate() {
                outputs.row_mut(row)[first..][..count].copy_from_slice(&wire[..count]);
            }
        }
        outputs.clear_padding();
        outputs
    }

    /// One run of the plan.
    fn block(&mut self, inputs: &[LaneWords], outputs: &mut [LaneWords]) {
        for (slot, input) in self.plan.inputs().iter().zip(inputs) {
            if let Some(slot) = slot {
                self.slots[*slot as usize] = *input;
            }
        }
        for run in self.plan.code().runs(0..self.plan.code().len()) {
            execute(run, &mut self.slots);
        }
        for (source, output) in self.plan.outputs().iter().zip(outputs) {
            *output = match *source {
                Source::Slot { slot, flip } => flipped(&self.slots[slot as usize], flip),
                Source::Constant(bit) => [mask(bit); WORDS],
                Source::Public { .. } => unreachable!("all inputs are secret"),
            };
        }
    }
}

fn execute(run: GateRun<'_>, slots: &mut [LaneWords]) {
    for &[dst, a, b] in run.gates {
        let [a, b] = [a, b].map(Operand::of);
        let (x, y) = (&slots[a.slot()], &slots[b.slot()]);
        slots[dst as usize] = match run.op {
            Op::Xor => std::array::from_fn(|i| x[i] ^ y[i]),
            Op::And => {
                let (flip_a, flip_b) = (mask(a.flip()), mask(b.flip()));
                std::array::from_fn(|i| (x[i] ^ flip_a) & (y[i] ^ flip_b))
            }
            Op::XorPublic | Op::AndPublic => unreachable!("all inputs are secret"),
        };
    }
}

fn flipped(wire: &LaneWords, flip: bool) -> LaneWords {
    wire.map(|word| word ^ mask(flip))
}

fn mask(bit: bool) -> u64 {
    u64::from(bit).wrapping_neg()
}

/// Numbers to wires: bit i of lane l becomes bit l of wire i.
fn spread(numbers: &[u128], wires: &mut [LaneWords]) {
    assert!(wires.len() <= 128, "a port of more than 128 bits is no number");
    wires.fill([0; WORDS]);
    for (word, lanes) in numbers.chunks(64).enumerate() {
        for (half, wires) in wires.chunks_mut(64).enumerate() {
            let mut square = [0u64; 64];
            lanes.iter().zip(&mut square).for_each(|(&number, row)| *row = (number >> (64 * half)) as u64);
            transpose(&mut square);
            wires.iter_mut().zip(&square).for_each(|(wire, &bits)| wire[word] = bits);
        }
    }
}

/// Wires to numbers; the other direction of [`spread`].
fn gather(wires: &[LaneWords], count: usize, numbers: &mut Vec<u128>) {
    assert!(wires.len() <= 128, "a port of more than 128 bits is no number");
    for word in 0..count.div_ceil(64) {
        let first = numbers.len();
        numbers.resize(first + 64.min(count - 64 * word), 0);
        for (half, wires) in wires.chunks(64).enumerate() {
            let mut square = [0u64; 64];
            wires.iter().zip(&mut square).for_each(|(wire, row)| *row = wire[word]);
            transpose(&mut square);
            numbers[first..]
                .iter_mut()
                .zip(&square)
                .for_each(|(number, &row)| *number |= u128::from(row) << (64 * half));
        }
    }
}

/// Bit j of row i changes places with bit i of row j: halves, quarters, ... are exchanged (Hacker's Delight, 7-3).
fn transpose(square: &mut [u64; 64]) {
    let mut size = 32;
    let mut low = u64::MAX >> 32;
    while size > 0 {
        for i in (0..64).filter(|i| i & size == 0) {
            let change = (square[i] >> size ^ square[i + size]) & low;
            square[i] ^= change << size;
            square[i + size] ^= change;
        }
        size /= 2;
        low ^= low << size;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::Builder;
    use crate::words::{Bits, UInt};
    use proptest::prelude::*;

    /// A circuit with every kind of output: gates, their complements, inputs, constants.
    fn sample() -> Circuit {
        let mut c = Builder::new("sample");
        let (a, b) = (c.uint("a", 100), c.uint("b", 3));
        let both = (0..100).map(|i| c.and(a.0[i], !b.0[i % 3])).collect();
        c.output("both", &UInt(both));
        c.output("same", &Bits(vec![!a.0[99], crate::Bit::TRUE, b.0[0], crate::Bit::FALSE]));
        c.finish()
    }

    proptest! {
        #[test]
        fn agrees_with_the_gates(
            lanes in prop::collection::vec((any::<u128>(), 0u128..8), 0..1200),
        ) {
            let circuit = sample();
            let (a, b): (Vec<u128>, Vec<u128>) = lanes.iter().map(|&(a, b)| (a >> 28, b)).unzip();
            let results = Simulator::new(&circuit).numbers(&[&a, &b]);
            let bits = |value: u128, width: usize| (0..width).map(move |i| value >> i & 1 == 1);
            let rows: Vec<Vec<bool>> = a.iter().zip(&b).map(|(&a, &b)| bits(a, 100).chain(bits(b, 3)).collect()).collect();
            let matrix = Simulator::new(&circuit).run(&BitMatrix::from_lanes(103, &rows));
            for (lane, row) in rows.iter().enumerate() {
                let expected = circuit.evaluate(row);
                let came: Vec<bool> = bits(results[0][lane], 100).chain(bits(results[1][lane], 4)).collect();
                prop_assert_eq!(&came, &expected);
                prop_assert_eq!(matrix.lane(lane), expected);
            }
        }
    }
}
