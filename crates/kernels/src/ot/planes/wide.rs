//! The streams of the leaves of a tree, summed up to one plane for each bit of the leaf's number.
//!
//! All leaves of a few blocks before the next blocks, so that sums stay in registers and in the first-level cache. Four
//! leaves at a time are summed in registers; above them the sums are those of a binary counter: a complete run of
//! leaves that is the second of its pair is added to its plane, and then to the first to make a run twice as
//! long. That is about one XOR a leaf, not k.

use crate::Block;
use crate::backend::lanes::{Kernel, Lanes, ROUND_CONSTANTS, store};
use crate::ot::planes::{Ends, LEVELS, Quad};

/// Schedules four keys: round key r of leaf l is block l of entry r.
pub(crate) struct QuadSchedule(pub [Block; 4]);

impl Kernel for QuadSchedule {
    type Output = Quad;

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, cpu: W, _: N) -> Quad {
        let mut quad = [[Block::ZERO; 4]; 11];
        for leaf in (0..4).step_by(W::LANES) {
            let mut key = cpu.load(&self.0[leaf..]);
            store(cpu, key, &mut quad[0][leaf..]);
            for round in 1..11 {
                key = cpu.next_key(key, ROUND_CONSTANTS[round - 1]);
                store(cpu, key, &mut quad[round][leaf..]);
            }
        }
        quad
    }
}

/// See [`crate::ot::planes::Leaves`].
pub(crate) struct Planes<'a> {
    pub k: usize,
    pub quads: &'a [Quad],
    pub first: u64,
    pub len: usize,
    pub rows: &'a mut [Block],
    pub stride: usize,
    pub ends: Ends<'a>,
}

impl Kernel for Planes<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(mut self, wide: W, _: N) {
        // The registers in flight are as many as the processor can hold beside the sums.
        match (self.k, W::LANES) {
            (1, 4) => self.passes::<W, 2, 8>(wide),
            (1, _) => self.passes::<W, 2, 4>(wide),
            (_, 4) => self.passes::<W, 4, 4>(wide),
            (_, _) => self.passes::<W, 4, 2>(wide),
        }
    }
}

impl Planes<'_> {
    #[inline(always)]
    fn passes<C: Lanes, const LEAVES: usize, const R: usize>(&mut self, cpu: C) {
        let mut runs = [[cpu.splat(Block::ZERO); R]; LEVELS];
        for at in (0..self.len).step_by(R * C::LANES) {
            self.pass::<C, LEAVES, R>(cpu, at, std::hint::black_box(&mut runs));
        }
    }

    /// R registers of blocks of all leaves, 2 or 4 leaves at a time.
    #[inline(always)]
    fn pass<C: Lanes, const LEAVES: usize, const R: usize>(
        &mut self,
        cpu: C,
        at: usize,
        runs: &mut [[C::Reg; R]; LEVELS],
    ) {
        let zero = [cpu.splat(Block::ZERO); R];
        let numbers = numbers(cpu, self.first.wrapping_add(at as u64));
        let low = LEAVES / 2;
        for plane in low..self.k {
            self.put(cpu, at, plane, &zero);
        }
        let (mut planes, mut sum) = ([zero; 2], zero);
        let skip = matches!(self.ends, Ends::Correct { .. });
        for (number, keys) in self.quads.iter().enumerate() {
            let s: [[C::Reg; R]; LEAVES] = match skip && number == 0 {
                true => streams::<C, LEAVES, R, 1>(cpu, keys, &numbers),
                false => streams::<C, LEAVES, R, 0>(cpu, keys, &numbers),
            };
            for r in 0..R {
                if LEAVES == 4 {
                    let upper = cpu.xor(s[2][r], s[3][r]);
                    planes[0][r] = cpu.xor3(planes[0][r], s[1][r], s[3][r]);
                    planes[1][r] = cpu.xor(planes[1][r], upper);
                    sum[r] = cpu.xor3(s[0][r], s[1][r], upper);
                } else {
                    planes[0][r] = s[1][r];
                    sum[r] = cpu.xor(s[0][r], s[1][r]);
                }
            }
            let pairs = number.trailing_ones() as usize;
            for (level, first) in runs[..pairs].iter().enumerate() {
                let plane = &mut self.rows[(low + level) * self.stride + at..];
                for r in 0..R {
                    let plane = &mut plane[r * C::LANES..];
                    store(cpu, cpu.xor(cpu.load(plane), sum[r]), plane);
                    sum[r] = cpu.xor(sum[r], first[r]);
                }
            }
            runs[pairs] = sum;
        }
        if let Ends::Sum(all) = &mut self.ends {
            for r in 0..R {
                store(cpu, sum[r], &mut all[at + r * C::LANES..]);
            }
        }
        for plane in 0..low {
            self.put(cpu, at, plane, &planes[plane]);
        }
        self.correct::<C, R>(cpu, at);
    }

    #[inline(always)]
    fn put<C: Lanes, const R: usize>(&mut self, cpu: C, at: usize, plane: usize, x: &[C::Reg; R]) {
        let row = &mut self.rows[plane * self.stride + at..];
        for r in 0..R {
            store(cpu, x[r], &mut row[r * C::LANES..]);
        }
    }

    #[inline(always)]
    fn correct<C: Lanes, const R: usize>(&mut self, cpu: C, at: usize) {
        let Ends::Correct { bits, values: Some(values) } = &self.ends else { return };
        for plane in 0..self.k {
            let row = &mut self.rows[plane * self.stride + at..];
            let mask = cpu.splat(Block::mask(bits >> plane & 1 == 1));
            for r in 0..R {
                let (row, value) = (&mut row[r * C::LANES..], cpu.load(&values[at + r * C::LANES..]));
                store(cpu, cpu.xor_masked(cpu.load(row), mask, value), row);
            }
        }
    }
}

/// The blocks of these numbers of each leaf from `FIRST` on; zero of those before.
#[inline(always)]
fn streams<C: Lanes, const LEAVES: usize, const R: usize, const FIRST: usize>(
    cpu: C,
    keys: &Quad,
    numbers: &[C::Reg; R],
) -> [[C::Reg; R]; LEAVES] {
    let mut x = [[cpu.splat(Block::ZERO); R]; LEAVES];
    for leaf in FIRST..LEAVES {
        let key = cpu.splat(keys[0][leaf]);
        for r in 0..R {
            x[leaf][r] = cpu.begin(numbers[r], key);
        }
    }
    for round in 1..10 {
        for leaf in FIRST..LEAVES {
            let (before, after) = (cpu.splat(keys[round - 1][leaf]), cpu.splat(keys[round][leaf]));
            for r in 0..R {
                x[leaf][r] = cpu.round(x[leaf][r], before, after);
            }
        }
    }
    for leaf in FIRST..LEAVES {
        let (before, after) = (cpu.splat(keys[9][leaf]), cpu.splat(keys[10][leaf]));
        for r in 0..R {
            x[leaf][r] = cpu.end(x[leaf][r], before, after);
        }
    }
    x
}

#[inline(always)]
fn numbers<C: Lanes, const R: usize>(cpu: C, first: u64) -> [C::Reg; R] {
    let mut number = cpu.count(first);
    let step = cpu.splat(Block::new(C::LANES as u128));
    let mut numbers = [number; R];
    for n in &mut numbers {
        *n = number;
        number = cpu.add(number, step);
    }
    numbers
}
