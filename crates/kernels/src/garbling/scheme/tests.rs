//! Gates of a matrix in one call, of every scheme on every backend, against one gate after the other by the plain loop.

use super::*;
use crate::cipher::generator::Generator;
use crate::half_gates::HalfGatesScheme;
use crate::three_halves::ThreeHalvesScheme;
use bytemuck::Zeroable;

const ROWS: usize = 7;
const GATES: [Gate; 4] = [
    Gate::new(4, [(0, false), (1, false)]),
    Gate::new(5, [(1, true), (1, false)]),
    Gate::new(0, [(2, false), (3, true)]),
    Gate::new(6, [(3, true), (2, true)]),
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
fn by_gate<S: GarblingScheme>(
    case: &Case,
    blocks: &mut [Block],
    mut gate: impl FnMut(&GarblingHash<S>, u64, usize, [&[Block]; 2], &mut [Block]),
) {
    let (hash, len) = (GarblingHash::with_backend(Block::new(9), Backend::Portable), case.len);
    for (i, wires) in GATES.iter().enumerate() {
        let row = |row: usize| row * len..(row + 1) * len;
        let [a, b] = wires.operands().map(|operand| blocks[row(operand)].to_vec());
        let first = case.numbers.first.wrapping_add(i as u64 * case.numbers.step);
        gate(&hash, first, i, [&a, &b], &mut blocks[row(wires.out())]);
    }
}

fn garbled<S: GarblingScheme>() {
    let delta = Block::new(0x1234_5678_9abc_def0_1357_9bdf).with_lsb(true);
    for case in cases() {
        let len = case.len;
        let (mut blocks, mut expected) = (random(1, ROWS * len), random(1, ROWS * len));
        let mut tables = vec![S::Table::zeroed(); 4 * 64];
        let mut expected_tables = tables.clone();
        by_gate::<S>(&case, &mut expected, |hash, first, i, [a, b], out| {
            let flips = GATES[i].flips();
            let (a, b) = (Operand { labels: a, flip: flips[0] }, Operand { labels: b, flip: flips[1] });
            hash.garble(first, delta, a, b, out, &mut expected_tables[64 * i..][..len]);
        });
        let hash = GarblingHash::<S>::with_backend(Block::new(9), case.backend);
        let mut rows: Vec<_> = tables.chunks_mut(64).map(|row| &mut row[..len]).collect();
        hash.garble_gates(case.numbers, delta, BlockRows { blocks: &mut blocks, len }, &GATES, &mut rows);
        let equal = bytemuck::cast_slice::<_, u8>(&tables) == bytemuck::cast_slice::<_, u8>(&expected_tables);
        assert!(blocks == expected && equal, "{} {len} {:?}", case.backend, case.numbers);
    }
}

fn evaluated<S: GarblingScheme>() {
    let mut bytes = vec![0; 4 * 64 * size_of::<S::Table>()];
    Generator::from_seed(Block::new(3)).fill(&mut bytes);
    let tables: &[S::Table] = bytemuck::cast_slice(&bytes);
    for case in cases() {
        let len = case.len;
        let (mut blocks, mut expected) = (random(2, ROWS * len), random(2, ROWS * len));
        let rows: Vec<_> = tables.chunks(64).map(|row| &row[..len]).collect();
        by_gate::<S>(&case, &mut expected, |hash, first, i, [a, b], out| hash.evaluate(first, a, b, out, rows[i]));
        let hash = GarblingHash::<S>::with_backend(Block::new(9), case.backend);
        hash.evaluate_gates(case.numbers, BlockRows { blocks: &mut blocks, len }, &GATES, &rows);
        assert!(blocks == expected, "{} {len} {:?}", case.backend, case.numbers);
    }
}

#[test]
fn several_gates_are_garbled_as_gate_by_gate() {
    garbled::<HalfGatesScheme>();
    garbled::<ThreeHalvesScheme>();
}

#[test]
fn several_gates_are_evaluated_as_gate_by_gate() {
    evaluated::<HalfGatesScheme>();
    evaluated::<ThreeHalvesScheme>();
}

#[test]
fn what_is_missing_is_refused() {
    let delta = Block::new(1);
    for (rows, lanes, tables) in [(6, 4, 4), (7, 3, 4), (7, 4, 3)] {
        let refused = std::panic::AssertUnwindSafe(|| {
            let (mut blocks, mut all) = (random(4, rows * 4), [[[0; 16]; 2]; 16]);
            let mut tables: Vec<_> = all.chunks_mut(lanes).take(tables).collect();
            let (numbers, rows) = (Numbers { first: 0, step: 4 }, BlockRows { blocks: &mut blocks, len: 4 });
            GarblingHash::<HalfGatesScheme>::new(delta).garble_gates(numbers, delta, rows, &GATES, &mut tables);
        });
        assert!(std::panic::catch_unwind(refused).is_err(), "{rows} {lanes} {tables}");
    }
}
