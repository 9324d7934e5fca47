//! Products of eight numbers side by side, in limbs of 52 bits.
//!
//! A *column* is the sum of all halves of products of one weight 2^(52k), with its carries left in place: a product and
//! its reduction add at most 4L terms below 2⁵² to a column, and L ≤ 120; of pairs two products and a reduction 6L, and L ≤ 60. So
//! no column reaches 2⁶². Rows are taken several at a time, so that a column stays in a register for as many products as a block
//! has rows. L is even.

use crate::backend::limbs::{LIMB_MASK, Limb, LimbLanes, LimbLoop};

/// Rows of a block, and of what is left over: numbers have an even number of limbs, and those of keys of 1,024, 2,048 and 3,072 bits
/// a multiple of ten. A block of a square is smaller, since all products in it are computed twice.
const ROWS: usize = 10;
const ROWS_OF_SQUARE: usize = 6;
pub(crate) const LEFT: usize = 4;
const LAST: usize = 2;

/// Adds a·b to the columns.
pub(crate) struct Multiply<'a> {
    pub a: &'a [Limb],
    pub b: &'a [Limb],
    pub columns: &'a mut [Limb],
}

impl LimbLoop for Multiply<'_> {
    #[inline(always)]
    fn run<C: LimbLanes>(self, cpu: C) {
        let Multiply { a, b, columns } = self;
        let mut at = 0;
        while at < a.len() {
            if at + ROWS <= a.len() {
                add_rows::<C, ROWS>(cpu, b, &a[at..], &mut columns[at..]);
                at += ROWS;
            } else if at + LEFT <= a.len() {
                add_rows::<C, LEFT>(cpu, b, &a[at..], &mut columns[at..]);
                at += LEFT;
            } else {
                add_rows::<C, LAST>(cpu, b, &a[at..], &mut columns[at..]);
                at += LAST;
            }
        }
    }
}

/// Adds the first R limbs of `rows` times `x` to the columns.
#[inline(always)]
fn add_rows<C: LimbLanes, const R: usize>(cpu: C, x: &[Limb], rows: &[Limb], columns: &mut [Limb]) {
    let window = load::<C, R>(cpu, columns);
    slide::<C, R>(cpu, load(cpu, rows), x, window, columns);
}

/// The first R limbs; without a branch for each of them, so that they stay in registers.
#[inline(always)]
fn load<C: LimbLanes, const R: usize>(cpu: C, from: &[Limb]) -> [C::Reg; R] {
    let from: &[Limb; R] = from.first_chunk().expect("rows of a block");
    let mut limbs = [cpu.splat(0); R];
    for r in 0..R {
        limbs[r] = cpu.load(&from[r]);
    }
    limbs
}

/// Adds `factors` times `x` to the columns, of which the first R are in the window.
#[inline(always)]
fn slide<C: LimbLanes, const R: usize>(
    cpu: C,
    factors: [C::Reg; R],
    x: &[Limb],
    mut window: [C::Reg; R],
    columns: &mut [Limb],
) {
    let columns = &mut columns[..x.len() + R];
    for (j, x) in x.iter().enumerate() {
        let x = cpu.load(x);
        let top = cpu.add_high(cpu.load(&columns[j + R]), x, factors[R - 1]);
        cpu.store(cpu.add_low(window[0], x, factors[0]), &mut columns[j]);
        for r in 1..R {
            window[r - 1] = cpu.add_high(cpu.add_low(window[r], x, factors[r]), x, factors[r - 1]);
        }
        window[R - 1] = top;
    }
    let last: &mut [Limb; R] = columns.last_chunk_mut().expect("the window");
    for r in 0..R {
        cpu.store(window[r], &mut last[r]);
    }
}

/// 2a, which fits as many limbs.
pub(crate) struct Double<'a> {
    pub a: &'a [Limb],
    pub twice: &'a mut [Limb],
}

impl LimbLoop for Double<'_> {
    #[inline(always)]
    fn run<C: LimbLanes>(self, cpu: C) {
        let (mut carry, mask) = (cpu.splat(0), cpu.splat(LIMB_MASK));
        for (a, twice) in self.a.iter().zip(self.twice) {
            let sum = cpu.add(cpu.load(a), cpu.load(a));
            cpu.store(cpu.add(cpu.and(sum, mask), carry), twice);
            carry = cpu.carry(sum);
        }
    }
}

/// Adds a² to the columns: a block of rows times itself, and times twice what comes above it.
pub(crate) struct Square<'a> {
    pub a: &'a [Limb],
    /// Room for as many limbs as `a` has.
    pub twice: &'a mut [Limb],
    pub columns: &'a mut [Limb],
}

impl LimbLoop for Square<'_> {
    #[inline(always)]
    fn run<C: LimbLanes>(self, cpu: C) {
        let Square { a, twice, columns } = self;
        Double { a, twice: &mut *twice }.run(cpu);
        let (mut at, mask) = (0, cpu.splat(LIMB_MASK));
        while at < a.len() {
            let rows = [ROWS_OF_SQUARE, LEFT].into_iter().find(|rows| at + rows <= a.len()).unwrap_or(LAST);
            twice[at..at + rows].copy_from_slice(&a[at..at + rows]);
            // Twice what is above the block has nothing carried into it.
            if at + rows < a.len() {
                let first = cpu.load(&a[at + rows]);
                cpu.store(cpu.and(cpu.add(first, first), mask), &mut twice[at + rows]);
            }
            match rows {
                ROWS_OF_SQUARE => add_rows::<C, ROWS_OF_SQUARE>(cpu, &twice[at..], &a[at..], &mut columns[2 * at..]),
                LEFT => add_rows::<C, LEFT>(cpu, &twice[at..], &a[at..], &mut columns[2 * at..]),
                _ => add_rows::<C, LAST>(cpu, &twice[at..], &a[at..], &mut columns[2 * at..]),
            }
            at += rows;
        }
    }
}

/// The columns divided by 2^(52L) modulo n: a number below 2n if the columns are worth less than 4n², and 2^(52L) > 4n. The
/// number m < 2^(52L), of which the columns and m·n are that multiple of 2^(52L), is left in the lowest L columns.
pub(crate) struct Reduce<'a> {
    pub columns: &'a mut [Limb],
    /// The modulus in every lane.
    pub n: &'a [Limb],
    /// −1/n modulo 2⁵².
    pub inverse: u64,
    pub out: &'a mut [Limb],
}

impl LimbLoop for Reduce<'_> {
    #[inline(always)]
    fn run<C: LimbLanes>(self, cpu: C) {
        let Reduce { columns, n, inverse, out } = self;
        let inverse = cpu.splat(inverse);
        let mut at = 0;
        while at < n.len() {
            if at + ROWS <= n.len() {
                reduce_rows::<C, ROWS>(cpu, n, inverse, &mut columns[at..]);
                at += ROWS;
            } else if at + LEFT <= n.len() {
                reduce_rows::<C, LEFT>(cpu, n, inverse, &mut columns[at..]);
                at += LEFT;
            } else {
                reduce_rows::<C, LAST>(cpu, n, inverse, &mut columns[at..]);
                at += LAST;
            }
        }
        let (mut carry, mask) = (cpu.splat(0), cpu.splat(LIMB_MASK));
        for (column, out) in columns[n.len()..].iter().zip(out) {
            let sum = cpu.add(cpu.load(column), carry);
            cpu.store(cpu.and(sum, mask), out);
            carry = cpu.carry(sum);
        }
    }
}

/// Adds multiples of n that make the first R columns multiples of 2⁵², and carries what they then hold upwards.
#[inline(always)]
fn reduce_rows<C: LimbLanes, const R: usize>(cpu: C, n: &[Limb], inverse: C::Reg, columns: &mut [Limb]) {
    let mut factors = [Limb::ZERO; R];
    let mut window = load::<C, R>(cpu, columns);
    let (lowest, higher) = n.split_first_chunk::<R>().expect("no fewer limbs than rows");
    // One row after the other, but only the limbs by which the factors of the block are decided.
    for (factor, above) in factors.iter_mut().zip(&columns[R..2 * R]) {
        let row = cpu.multiply_low(window[0], inverse);
        cpu.store(row, factor);
        let top = cpu.add_high(cpu.load(above), row, cpu.load(&lowest[R - 1]));
        let done = cpu.add_low(window[0], row, cpu.load(&lowest[0]));
        for r in 1..R {
            let column = cpu.add_low(window[r], row, cpu.load(&lowest[r]));
            window[r - 1] = cpu.add_high(column, row, cpu.load(&lowest[r - 1]));
        }
        window[R - 1] = top;
        window[0] = cpu.add(window[0], cpu.carry(done));
    }
    columns[..R].copy_from_slice(&factors);
    slide::<C, R>(cpu, load(cpu, &factors), higher, window, &mut columns[R..]);
}

/// Constants of at least 52 ones minus limbs, in place.
pub(crate) struct Complement<'a> {
    pub constants: &'a [Limb],
    pub limbs: &'a mut [Limb],
}

impl LimbLoop for Complement<'_> {
    #[inline(always)]
    fn run<C: LimbLanes>(self, cpu: C) {
        for (constant, limb) in self.constants.iter().zip(self.limbs) {
            cpu.store(cpu.subtract(cpu.load(constant), cpu.load(limb)), limb);
        }
    }
}

/// The entry of a table that each lane asks for; the whole table is read.
pub(crate) struct Select<'a> {
    /// Entries of as many limbs as `out` has.
    pub table: &'a [Limb],
    pub index: &'a Limb,
    pub out: &'a mut [Limb],
}

impl LimbLoop for Select<'_> {
    #[inline(always)]
    fn run<C: LimbLanes>(self, cpu: C) {
        let Select { table, index, out } = self;
        let (len, index) = (out.len(), cpu.load(index));
        let (blocks, rest) = out.as_chunks_mut::<LEFT>();
        let first_of_rest = LEFT * blocks.len();
        for (at, out) in (0..).step_by(LEFT).zip(blocks) {
            select_limbs(cpu, table.chunks_exact(len).map(|entry| &entry[at..]), index, out);
        }
        for (at, out) in (first_of_rest..).step_by(LAST).zip(rest.as_chunks_mut::<LAST>().0) {
            select_limbs(cpu, table.chunks_exact(len).map(|entry| &entry[at..]), index, out);
        }
    }
}

/// The first R limbs of the entries that the lanes ask for.
#[inline(always)]
fn select_limbs<'a, C: LimbLanes, const R: usize>(
    cpu: C,
    entries: impl Iterator<Item = &'a [Limb]>,
    index: C::Reg,
    out: &mut [Limb; R],
) {
    let mut found = [cpu.splat(0); R];
    for (number, entry) in (0..).zip(entries) {
        let mask = cpu.equal(index, cpu.splat(number));
        let entry: &[Limb; R] = entry.first_chunk().expect("limbs of an entry");
        for r in 0..R {
            found[r] = cpu.replace(found[r], mask, &entry[r]);
        }
    }
    for r in 0..R {
        cpu.store(found[r], &mut out[r]);
    }
}

/// The entry of a table of single numbers that each lane asks for; the whole table is read. A limb of all entries lies
/// together, so that sixteen entries are looked through by one permutation.
pub(crate) struct SelectShared<'a> {
    /// As many limbs as `out` has, each of 32, 64 or 128 entries.
    pub table: &'a [Limb],
    pub index: &'a Limb,
    pub out: &'a mut [Limb],
}

impl LimbLoop for SelectShared<'_> {
    #[inline(always)]
    fn run<C: LimbLanes>(self, cpu: C) {
        match self.table.len() / self.out.len() {
            4 => select_shared::<C, 2>(cpu, self),
            8 => select_shared::<C, 4>(cpu, self),
            _ => select_shared::<C, 8>(cpu, self),
        }
    }
}

/// Of N times sixteen entries.
#[inline(always)]
fn select_shared<C: LimbLanes, const N: usize>(cpu: C, job: SelectShared) {
    let (index, above) = (cpu.load(job.index), cpu.load(&Limb(job.index.0.map(|index| index >> 4))));
    let masks: [C::Mask; N] = std::array::from_fn(|part| cpu.equal(above, cpu.splat(part as u64)));
    for (out, entries) in job.out.iter_mut().zip(job.table.chunks_exact(2 * N)) {
        let mut found = cpu.splat(0);
        for (&mask, pair) in masks.iter().zip(entries.as_chunks().0) {
            found = cpu.select(mask, found, cpu.look_up(pair, index));
        }
        cpu.store(found, out);
    }
}
