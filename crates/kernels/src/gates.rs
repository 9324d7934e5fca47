//! ANDs of several gates in one call, on the lanes of a matrix of labels.
//!
//! Labels of many lanes do not fit the first-level cache, those of few lanes do; but with few lanes an AND gate alone is
//! too short to fill the processor's pipeline. So gates that do not read each other are garbled one after
//! the other in one stream.

use crate::hash::{Ciphertexts, GateHash};
use crate::rows::Strip;
use crate::wide::{Evaluate, Garble, Several};
use crate::{Block, portable, work};

/// An AND of two rows of a matrix of labels, which makes another one.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    /// The row of the first operand.
    pub a: u32,
    /// The row of the second operand.
    pub b: u32,
    /// The row of the result, which is no operand.
    pub out: u32,
    /// Whether each operand enters complemented: the garbler adds Δ, the evaluator does nothing.
    pub flips: [bool; 2],
}

/// The numbers of ANDs: AND number `first + i·step + l` is lane l of gate i.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    /// That of lane 0 of the first gate.
    pub first: u64,
    /// From one gate to the next.
    pub step: u64,
}

impl GateHash {
    /// Garbles gates, none of which reads what an earlier one writes, in order: the zero labels of the results, and in a
    /// row for each gate the ciphertexts. The same as gate by gate.
    ///
    /// # Panics
    /// If there is no such row, a row of tables is too short, there are not as many rows of tables as gates, or Δ has bit
    /// 0 clear.
    pub fn garble_gates(
        &self,
        numbers: Numbers,
        delta: Block,
        strip: Strip,
        gates: &[Gate],
        tables: &mut [&mut [Ciphertexts]],
    ) {
        assert!(delta.lsb(), "bit 0 of Δ must be set: it carries the permute bit");
        assert_eq!(gates.len(), tables.len(), "a row of tables for each gate");
        work::count(4 * gates.len() * strip.len);
        let (key, wires) = (self.key, Several { numbers, strip, gates });
        match self.cpu {
            Some(cpu) => cpu.run(Garble { key, delta, wires, tables }),
            None => portable::garble_gates(key, delta, wires, tables),
        }
    }

    /// Evaluates gates, none of which reads what an earlier one writes, in order, on active labels.
    ///
    /// # Panics
    /// If there is no such row, a row of tables is too short, or there are not as many rows of tables as gates.
    pub fn evaluate_gates(&self, numbers: Numbers, strip: Strip, gates: &[Gate], tables: &[&[Ciphertexts]]) {
        assert_eq!(gates.len(), tables.len(), "a row of tables for each gate");
        work::count(2 * gates.len() * strip.len);
        let (key, wires) = (self.key, Several { numbers, strip, gates });
        match self.cpu {
            Some(cpu) => cpu.run(Evaluate { key, wires, tables }),
            None => portable::evaluate_gates(key, wires, tables),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Backend;
    use crate::generator::Generator;
    use crate::hash::Operand;

    const ROWS: usize = 7;
    const GATES: [Gate; 4] = [
        Gate { a: 0, b: 1, out: 4, flips: [false, false] },
        Gate { a: 1, b: 1, out: 5, flips: [true, false] },
        Gate { a: 2, b: 3, out: 0, flips: [false, true] },
        Gate { a: 3, b: 2, out: 6, flips: [true, true] },
    ];

    struct Case {
        backend: Backend,
        len: usize,
        numbers: Numbers,
    }

    fn cases() -> impl Iterator<Item = Case> {
        let numbers = [(0, 48), (160, 64), (5, 48), (32, 37), (u64::MAX - 200, 16)];
        let lens = |backend| [0, 1, 3, 16, 37, 48, 64].map(|len| (backend, len));
        let case = |backend, len| numbers.map(|(first, step)| Case { backend, len, numbers: Numbers { first, step } });
        let all = Backend::available().into_iter().flat_map(lens);
        all.flat_map(|(backend, len)| case(backend, len)).collect::<Vec<_>>().into_iter()
    }

    fn random(seed: u128, count: usize) -> Vec<Block> {
        let mut blocks = vec![Block::ZERO; count];
        Generator::from_seed(Block::new(seed)).fill_blocks(&mut blocks);
        blocks
    }

    /// Gate by gate on a copy of the operands, by the plain loop.
    fn by_gate(
        case: &Case,
        blocks: &mut [Block],
        mut gate: impl FnMut(&GateHash, u64, usize, [&[Block]; 2], &mut [Block]),
    ) {
        let (hash, len) = (GateHash::with_backend(Block::new(9), Backend::Portable), case.len);
        for (i, wires) in GATES.iter().enumerate() {
            let row = |row: u32| row as usize * len..(row as usize + 1) * len;
            let [a, b] = [wires.a, wires.b].map(|operand| blocks[row(operand)].to_vec());
            let first = case.numbers.first.wrapping_add(i as u64 * case.numbers.step);
            gate(&hash, first, i, [&a, &b], &mut blocks[row(wires.out)]);
        }
    }

    #[test]
    fn several_gates_are_garbled_as_gate_by_gate() {
        let delta = Block::new(0x1234_5678_9abc_def0_1357_9bdf).with_lsb(true);
        for case in cases() {
            let len = case.len;
            let (mut blocks, mut expected) = (random(1, ROWS * len), random(1, ROWS * len));
            let (mut tables, mut expected_tables) = (vec![[[7; 16]; 2]; 4 * 64], vec![[[7; 16]; 2]; 4 * 64]);
            by_gate(&case, &mut expected, |hash, first, i, [a, b], out| {
                let flips = GATES[i].flips;
                let (a, b) = (Operand { labels: a, flip: flips[0] }, Operand { labels: b, flip: flips[1] });
                hash.garble(first, delta, a, b, out, &mut expected_tables[64 * i..][..len]);
            });
            let hash = GateHash::with_backend(Block::new(9), case.backend);
            let mut rows: Vec<_> = tables.chunks_mut(64).map(|row| &mut row[..len]).collect();
            hash.garble_gates(case.numbers, delta, Strip { blocks: &mut blocks, len }, &GATES, &mut rows);
            assert!(blocks == expected && tables == expected_tables, "{} {len} {:?}", case.backend, case.numbers);
        }
    }

    #[test]
    fn several_gates_are_evaluated_as_gate_by_gate() {
        for case in cases() {
            let len = case.len;
            let (mut blocks, mut expected, tables) = (random(2, ROWS * len), random(2, ROWS * len), random(3, 8 * 64));
            let tables: &[Ciphertexts] = bytemuck::cast_slice(&tables);
            let rows: Vec<_> = tables.chunks(64).map(|row| &row[..len]).collect();
            by_gate(&case, &mut expected, |hash, first, i, [a, b], out| hash.evaluate(first, a, b, out, rows[i]));
            let hash = GateHash::with_backend(Block::new(9), case.backend);
            hash.evaluate_gates(case.numbers, Strip { blocks: &mut blocks, len }, &GATES, &rows);
            assert!(blocks == expected, "{} {len} {:?}", case.backend, case.numbers);
        }
    }

    #[test]
    fn what_is_missing_is_refused() {
        let delta = Block::new(1);
        for (rows, lanes, tables) in [(6, 4, 4), (7, 3, 4), (7, 4, 3)] {
            let refused = std::panic::AssertUnwindSafe(|| {
                let (mut blocks, mut all) = (random(4, rows * 4), [[[0; 16]; 2]; 16]);
                let mut rows: Vec<_> = all.chunks_mut(lanes).take(tables).collect();
                let (numbers, strip) = (Numbers { first: 0, step: 4 }, Strip { blocks: &mut blocks, len: 4 });
                GateHash::new(delta).garble_gates(numbers, delta, strip, &GATES, &mut rows);
            });
            assert!(std::panic::catch_unwind(refused).is_err(), "{rows} {lanes} {tables}");
        }
    }
}
