//! An oblivious key-value store: n keys and values become a table of about 1.23·n blocks, of which every key decodes to its
//! value and every other key to something that looks random.
//!
//! Raghuraman, Rindal: *Blazing Fast PSI from Improved OKVS and Subfield VOLE* (CCS 2022, ePrint 2022/320), figure 1 with
//! rows of three ones and dense columns over the field. A key's row has three ones among the sparse columns, and a random
//! coefficient in GF(2¹²⁸) for each dense one; a key decodes to the product of its row and the table. The system is solved by
//! peeling: a column that one row alone has is left to that row. What cannot be peeled, the 2-core, is a few rows, mostly none:
//! Gauss solves these with the dense columns.
//!
//! **Size.** Sparse columns are e·n, with the e of that paper's §3.2 for a failure of 2⁻⁴⁰, which it fits to measurements with up
//! to 2²⁷ trials and extrapolates; dense ones are ⌈40 / log₂(e·n)⌉ + 1, one or two more than it takes, since the likeliest core is a pair of rows with
//! the same three ones. Sizes are read from a table, so that both parties have the same whatever their floating point.
//!
//! **Departs** from the paper: coefficients are AES blocks of their own, not powers of one, so that a core that fits has a solution
//! but for 2⁻¹²⁸; Gauss uses all columns of the core. Columns that nothing decides are random: the table tells nothing of the keys.
//!
//! The places that are read depend on the keys, as in any hash table: this is not constant-time towards others on the same machine.

use kernels::aes::Aes128;
use kernels::generator::Generator;
use kernels::{Block, field};
use zeroize::Zeroizing;

/// Keys whose rows are computed at a time.
const BATCH: usize = 64;

/// Rows of the largest core that is solved.
const LARGEST_CORE: usize = 256;

/// For at least 2⁷, 2⁸, … keys: e in thousandths, and how many dense columns.
const SHAPES: [(usize, usize); 20] = [
    (1883, 7),
    (1672, 6),
    (1529, 6),
    (1431, 5),
    (1365, 5),
    (1320, 5),
    (1289, 4),
    (1268, 4),
    (1254, 4),
    (1244, 4),
    (1238, 4),
    (1233, 4),
    (1230, 4),
    (1228, 3),
    (1227, 3),
    (1226, 3),
    (1225, 3),
    (1224, 3),
    (1224, 3),
    (1224, 3),
];

/// The logarithm of the number of keys from which on there are shapes; fewer have the shape of so many.
const LEAST_LOG: u32 = 7;

/// The most keys of a table.
pub const MOST: usize = 1 << 26;

/// Columns of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    pub sparse: usize,
    pub dense: usize,
}

impl Shape {
    /// The shape for so many keys, at most [`MOST`].
    pub fn new(keys: usize) -> Shape {
        let keys = keys.max(1 << LEAST_LOG);
        let log = (keys.ilog2() - LEAST_LOG) as usize;
        let (e, dense) = SHAPES[log.min(SHAPES.len() - 1)];
        Shape { sparse: (keys * e).div_ceil(1000), dense }
    }

    /// Blocks of a table.
    pub fn len(&self) -> usize {
        self.sparse + self.dense
    }
}

/// The rows that keys have under a seed. Keys are blocks, of any distribution; a value of its own is made of each, too.
pub struct Rows {
    shape: Shape,
    places: Aes128,
    values: Aes128,
    coefficients: Vec<Aes128>,
}

/// What belongs to some keys.
struct Batch {
    places: [[u32; 3]; BATCH],
    coefficients: Zeroizing<Vec<Block>>,
}

impl Rows {
    /// The rows under this seed.
    pub fn new(shape: Shape, seed: Block) -> Rows {
        let mut keys = Generator::from_seed(seed);
        let mut cipher = || Aes128::new(keys.block());
        Rows { shape, places: cipher(), values: cipher(), coefficients: (0..shape.dense).map(|_| cipher()).collect() }
    }

    /// The values that are made of the keys.
    pub fn values(&self, keys: &[Block], values: &mut [Block]) {
        values.copy_from_slice(keys);
        self.values.encrypt(values);
    }

    /// Adds what each key decodes to under a table to the sums.
    pub fn decode(&self, table: &[[u8; 16]], keys: &[Block], sums: &mut [Block]) {
        let (sparse, dense) = table.split_at(self.shape.sparse);
        let dense: Vec<Block> = dense.iter().map(|&block| Block::from_bytes(block)).collect();
        let mut batch = Batch::new(self.shape);
        for (keys, sums) in keys.chunks(BATCH).zip(sums.chunks_mut(BATCH)) {
            self.places_of(keys, &mut batch);
            self.coefficients_of(keys, &mut batch);
            for (sum, places) in sums.iter_mut().zip(&batch.places) {
                let [a, b, c] = places.map(|place| Block::from_bytes(sparse[place as usize]));
                *sum ^= a ^ b ^ c;
            }
            field::add_products(&dense, &batch.coefficients, BATCH, sums);
        }
    }

    fn places_of(&self, keys: &[Block], batch: &mut Batch) {
        let mut blocks = [Block::ZERO; BATCH];
        blocks[..keys.len()].copy_from_slice(keys);
        self.places.encrypt(&mut blocks[..keys.len()]);
        for (block, places) in blocks[..keys.len()].iter().zip(&mut batch.places) {
            *places = three_of(block.get(), self.shape.sparse as u64);
        }
    }

    fn coefficients_of(&self, keys: &[Block], batch: &mut Batch) {
        for (cipher, column) in self.coefficients.iter().zip(batch.coefficients.chunks_mut(BATCH)) {
            column[..keys.len()].copy_from_slice(keys);
            cipher.encrypt(&mut column[..keys.len()]);
        }
    }

    /// The table under which every key decodes to its value, of equal keys the first one's. Nothing if there is none, or it is
    /// hard to find; under another seed there may be.
    pub fn encode(&self, keys: &[Block], values: &[Block], random: &mut Generator) -> Option<Vec<Block>> {
        let places = Zeroizing::new(self.all_places(keys));
        let mut peeling = Peeling::new(self.shape.sparse, &places);
        let core = peeling.peel_all(keys);
        let mut table = kernels::pages::with_room(self.shape.len());
        table.resize(self.shape.len(), Block::ZERO);
        random.fill_blocks(&mut table);
        self.solve(&core, (keys, values, &places), &mut table)?;
        let rest = self.without_dense(keys, values, &table[self.shape.sparse..]);
        for &(row, column) in peeling.order.iter().rev() {
            let (row, column) = (row as usize, column as usize);
            table[column] = Block::ZERO;
            let [a, b, c] = places[row].map(|place| table[place as usize]);
            table[column] = rest[row] ^ a ^ b ^ c;
        }
        Some(table)
    }

    fn all_places(&self, keys: &[Block]) -> Vec<[u32; 3]> {
        let mut batch = Batch::new(self.shape);
        let mut all = Vec::with_capacity(keys.len());
        for keys in keys.chunks(BATCH) {
            self.places_of(keys, &mut batch);
            all.extend_from_slice(&batch.places[..keys.len()]);
        }
        all
    }

    /// The values less what the dense columns give.
    fn without_dense(&self, keys: &[Block], values: &[Block], dense: &[Block]) -> Zeroizing<Vec<Block>> {
        let (mut rest, mut batch) = (Zeroizing::new(values.to_vec()), Batch::new(self.shape));
        for (keys, rest) in keys.chunks(BATCH).zip(rest.chunks_mut(BATCH)) {
            self.coefficients_of(keys, &mut batch);
            field::add_products(dense, &batch.coefficients, BATCH, rest);
        }
        rest
    }

    /// Solves the rows of the core: the columns that they decide are written into the table, the others are taken from it.
    fn solve(
        &self,
        core: &[u32],
        (keys, values, places): (&[Block], &[Block], &[[u32; 3]]),
        table: &mut [Block],
    ) -> Option<()> {
        if core.len() > LARGEST_CORE {
            return None;
        }
        let mut columns: Vec<usize> = core.iter().flat_map(|&row| places[row as usize]).map(|at| at as usize).collect();
        columns.sort_unstable();
        columns.dedup();
        columns.extend(self.shape.sparse..self.shape.len());
        let mut equations: Vec<Vec<Block>> = core.iter().map(|_| vec![Block::ZERO; columns.len() + 1]).collect();
        let mut batch = Batch::new(self.shape);
        for (equation, row) in equations.iter_mut().zip(core.iter().map(|&row| row as usize)) {
            self.coefficients_of(&keys[row..=row], &mut batch);
            let (sparse, dense) = equation.split_at_mut(columns.len() - self.shape.dense);
            for place in places[row] {
                let at = columns.partition_point(|&column| column < place as usize);
                sparse[at] = Block::new(1);
            }
            dense.iter_mut().zip(batch.coefficients.chunks(BATCH)).for_each(|(to, column)| *to = column[0]);
            dense[self.shape.dense] = values[row];
        }
        let pivots = eliminate(&mut equations)?;
        for (equation, &pivot) in equations.iter().zip(&pivots).rev() {
            let Some(pivot) = pivot else { continue };
            table[columns[pivot]] = Block::ZERO;
            let terms = columns.iter().zip(equation).filter(|(_, factor)| **factor != Block::ZERO);
            let sum = terms.fold(equation[columns.len()], |sum, (&at, &factor)| sum ^ field::mul(factor, table[at]));
            table[columns[pivot]] = sum;
        }
        Some(())
    }
}

impl Batch {
    fn new(shape: Shape) -> Batch {
        Batch { places: [[0; 3]; BATCH], coefficients: Zeroizing::new(vec![Block::ZERO; BATCH * shape.dense]) }
    }
}

/// Three places below `below`, of which no two are equal, from 126 random bits. No place is likelier than another by more than
/// 2⁻¹⁵ of its chance.
pub fn three_of(bits: u128, below: u64) -> [u32; 3] {
    let part = |number: u32, below: u64| {
        let part = bits >> (42 * number) & ((1 << 42) - 1);
        ((part * u128::from(below)) >> 42) as u32
    };
    let (a, b, c) = (part(0, below), part(1, below - 1), part(2, below - 2));
    let b = b + u32::from(b >= a);
    let (low, high) = (a.min(b), a.max(b));
    let c = c + u32::from(c >= low);
    [a, b, c + u32::from(c >= high)]
}

/// Rows that are left to columns, one after another.
struct Peeling<'a> {
    places: &'a [[u32; 3]],
    /// Of each column how many rows have it, times 2³², and the XOR of their numbers.
    columns: Vec<u64>,
    /// Rows and their columns, in the order in which they were peeled.
    order: Vec<(u32, u32)>,
    /// Columns that one row had, when they were put here.
    waiting: Vec<u32>,
}

const ONE_ROW: u64 = 1 << 32;

impl<'a> Peeling<'a> {
    fn new(sparse: usize, places: &'a [[u32; 3]]) -> Self {
        let mut columns = kernels::pages::with_room(sparse);
        columns.resize(sparse, 0);
        for (row, places) in (0..).zip(places) {
            places.iter().for_each(|&place| columns[place as usize] = (columns[place as usize] + ONE_ROW) ^ row);
        }
        Peeling { places, columns, order: Vec::with_capacity(places.len()), waiting: Vec::new() }
    }

    /// Peels what can be peeled; the rows that are left. Of equal keys, none of which can be peeled, the first stays.
    fn peel_all(&mut self, keys: &[Block]) -> Vec<u32> {
        for column in 0..self.columns.len() as u32 {
            self.waiting.push(column);
            self.peel();
        }
        let core = self.left();
        let mut sorted = core.clone();
        sorted.sort_unstable_by_key(|&row| (keys[row as usize].get(), row));
        let again = |pair: &&[u32]| keys[pair[0] as usize] == keys[pair[1] as usize];
        let again: Vec<u32> = sorted.windows(2).filter(again).map(|pair| pair[1]).collect();
        if again.is_empty() {
            return core;
        }
        again.iter().for_each(|&row| self.remove(row));
        self.peel();
        let dropped: std::collections::HashSet<u32> = again.into_iter().collect();
        self.left().into_iter().filter(|row| !dropped.contains(row)).collect()
    }

    fn peel(&mut self) {
        while let Some(column) = self.waiting.pop() {
            let cell = self.columns[column as usize];
            if cell >> 32 == 1 {
                let row = cell as u32;
                self.order.push((row, column));
                self.remove(row);
            }
        }
    }

    fn remove(&mut self, row: u32) {
        for place in self.places[row as usize] {
            let cell = &mut self.columns[place as usize];
            *cell = (*cell - ONE_ROW) ^ u64::from(row);
            if *cell >> 32 == 1 {
                self.waiting.push(place);
            }
        }
    }

    /// The rows that are not peeled.
    fn left(&self) -> Vec<u32> {
        if self.order.len() == self.places.len() {
            return Vec::new();
        }
        let mut peeled = vec![false; self.places.len()];
        self.order.iter().for_each(|&(row, _)| peeled[row as usize] = true);
        (0..).zip(peeled).filter(|(_, peeled)| !peeled).map(|(row, _)| row).collect()
    }
}

/// Gauss: every equation without the pivots of those before it, and with a one at its own; the pivots' places, none where an
/// equation follows from others. Nothing if one contradicts them.
fn eliminate(equations: &mut [Vec<Block>]) -> Option<Vec<Option<usize>>> {
    let mut pivots: Vec<Option<usize>> = Vec::new();
    for at in 0..equations.len() {
        let (before, rest) = equations.split_at_mut(at);
        let equation = &mut rest[0];
        for (other, pivot) in before.iter().zip(&pivots) {
            if let Some(factor) = pivot.map(|pivot| equation[pivot]).filter(|&factor| factor != Block::ZERO) {
                equation.iter_mut().zip(other).for_each(|(to, &other)| *to ^= field::mul(factor, other));
            }
        }
        let (unknowns, value) = equation.split_at(equation.len() - 1);
        let pivot = unknowns.iter().position(|&factor| factor != Block::ZERO);
        if pivot.is_none() && value[0] != Block::ZERO {
            return None;
        }
        if let Some(pivot) = pivot {
            let inverse = field::inverse(equation[pivot]);
            equation.iter_mut().for_each(|to| *to = field::mul(*to, inverse));
        }
        pivots.push(pivot);
    }
    Some(pivots)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(seed: u128) -> Generator {
        Generator::from_seed(Block::new(seed))
    }

    fn blocks(count: usize, random: &mut Generator) -> Vec<Block> {
        let mut blocks = vec![Block::ZERO; count];
        random.fill_blocks(&mut blocks);
        blocks
    }

    fn decoded(rows: &Rows, table: &[Block], keys: &[Block]) -> Vec<Block> {
        let table: Vec<[u8; 16]> = table.iter().map(|block| block.to_bytes()).collect();
        let mut sums = vec![Block::ZERO; keys.len()];
        rows.decode(&table, keys, &mut sums);
        sums
    }

    #[test]
    fn every_key_decodes_to_its_value() {
        for (seed, count) in [0, 1, 2, 3, 63, 64, 65, 127, 128, 129, 1000, 5000, 1 << 16].into_iter().enumerate() {
            let mut random = random(seed as u128);
            let (keys, values) = (blocks(count, &mut random), blocks(count, &mut random));
            let rows = Rows::new(Shape::new(count), random.block());
            let table = rows.encode(&keys, &values, &mut random).expect("a table");
            assert_eq!(table.len(), Shape::new(count).len());
            assert!(decoded(&rows, &table, &keys) == values, "{count} keys");
            let others = blocks(100, &mut random);
            assert!(decoded(&rows, &table, &others).iter().all(|value| !values.contains(value)), "other keys");
        }
    }

    /// Keys that are small numbers: their rows come from a cipher, not from them.
    #[test]
    fn keys_may_be_any_blocks() {
        let mut random = random(99);
        let keys: Vec<Block> = (0..3000).map(Block::new).collect();
        let values = blocks(keys.len(), &mut random);
        let rows = Rows::new(Shape::new(keys.len()), random.block());
        let table = rows.encode(&keys, &values, &mut random).expect("a table");
        assert!(decoded(&rows, &table, &keys) == values);
    }

    #[test]
    fn equal_keys_count_once() {
        for (distinct, times) in [(1, 2), (1, 500), (300, 3), (1000, 2)] {
            let mut random = random(distinct as u128);
            let (keys, values) = (blocks(distinct, &mut random), blocks(distinct, &mut random));
            let rows = Rows::new(Shape::new(distinct * times), random.block());
            let table = rows.encode(&keys.repeat(times), &values.repeat(times), &mut random).expect("a table");
            assert!(decoded(&rows, &table, &keys) == values, "{distinct} keys {times} times");
        }
    }

    /// So few sparse columns that there is always a core: Gauss has to solve it, and does as long as it has columns enough.
    #[test]
    fn cores_are_solved_with_the_dense_columns() {
        let (mut cores, mut solved) = (0, 0);
        for seed in 0..200 {
            let mut random = random(seed);
            let shape = Shape { sparse: 20, dense: 4 };
            let (keys, values) = (blocks(20, &mut random), blocks(20, &mut random));
            let rows = Rows::new(shape, random.block());
            let places = rows.all_places(&keys);
            let mut peeling = Peeling::new(shape.sparse, &places);
            cores += usize::from(!peeling.peel_all(&keys).is_empty());
            if let Some(table) = rows.encode(&keys, &values, &mut random) {
                assert!(decoded(&rows, &table, &keys) == values, "seed {seed}");
                solved += 1;
            }
        }
        assert!(cores > 150 && solved > 190, "{cores} cores, {solved} solved");
    }

    /// Without room there is no table, and no wrong one either.
    #[test]
    fn too_many_keys_have_no_table() {
        let mut random = random(5);
        let (keys, values) = (blocks(60, &mut random), blocks(60, &mut random));
        let rows = Rows::new(Shape { sparse: 20, dense: 4 }, random.block());
        assert!(rows.encode(&keys, &values, &mut random).is_none());
    }

    /// The formula of the paper's §3.2 for w = 3.
    #[test]
    fn shapes_are_those_of_the_paper() {
        for (log, &(e, dense)) in (LEAST_LOG..).zip(&SHAPES) {
            let (n, w) = (f64::from(log), 3f64.log2());
            let slope = (0.555 * n + 0.093 * w.powi(3) - 1.01 * w.powi(2) + 2.925 * w - 0.133).exp2();
            let expansion = (40.0 + 9.2) / slope + 1.223;
            assert!((0.0..1.0001).contains(&(e as f64 - 1000.0 * expansion)), "2^{log} keys: {expansion}");
            assert_eq!(dense, (40.0 / (expansion.log2() + n)).ceil() as usize + 1, "2^{log} keys");
        }
        assert_eq!(Shape::new(0), Shape::new(128));
        assert_eq!(Shape::new(1 << 20), Shape { sparse: 1_287_652, dense: 3 });
    }

    /// Of 20,000 small tables in the paper's size, how many have a core, and how large: none must come near what is solved.
    #[test]
    fn cores_are_small() {
        let (mut with_core, mut largest) = (0, 0);
        for seed in 0..20_000 {
            let mut random = random(1000 + seed);
            let keys = blocks(128, &mut random);
            let rows = Rows::new(Shape::new(128), random.block());
            let places = rows.all_places(&keys);
            let core = Peeling::new(rows.shape.sparse, &places).peel_all(&keys).len();
            with_core += usize::from(core > 0);
            largest = largest.max(core);
        }
        // Two rows with the same places: 128²/2 · 6/241³ of the tables, 0.35 %; other cores are rarer.
        assert!((30..150).contains(&with_core) && largest < 40, "{with_core} cores, the largest of {largest} rows");
    }

    #[test]
    fn places_are_three_and_all_equally_likely() {
        let mut random = random(8);
        let mut counts = [0usize; 7];
        for _ in 0..70_000 {
            let places = three_of(random.block().get(), 7);
            assert!(places[0] != places[1] && places[1] != places[2] && places[0] != places[2], "{places:?}");
            places.iter().for_each(|&place| counts[place as usize] += 1);
        }
        assert!(counts.iter().all(|count| count.abs_diff(30_000) < 1_000), "{counts:?}");
        for extreme in [0, u128::MAX] {
            assert!(three_of(extreme, 3).iter().all(|&place| place < 3));
        }
    }
}
