//! The streams of the leaves of a tree, summed up to one plane for each bit of the leaf's number.
//!
//! All leaves of a few blocks before the next blocks, so that keys and sums stay in the first-level cache. The sums
//! are those of a binary counter: a run of 2^j leaves that is complete has one sum, which is added to plane j if it
//! is the second of its pair, and then to the first of the pair to make a run of 2^(j+1). That is two XORs a leaf, not k.

use super::fixed_key::{FLIGHT, encrypt};
use super::{Job, Lanes, RoundKeys, store};
use crate::Block;
use crate::planes::{Ends, LEVELS};

/// See [`crate::planes::Leaves`].
pub(crate) struct Planes<'a> {
    pub k: usize,
    pub keys: &'a [RoundKeys],
    pub first: u64,
    pub len: usize,
    pub rows: &'a mut [Block],
    pub stride: usize,
    pub ends: Ends<'a>,
}

impl Job for Planes<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(mut self, wide: W, _: N) {
        for at in (0..self.len).step_by(FLIGHT * W::LANES) {
            self.step(wide, at);
        }
    }
}

impl Planes<'_> {
    #[inline(always)]
    fn step<C: Lanes>(&mut self, cpu: C, at: usize) {
        let zero = [cpu.splat(Block::ZERO); FLIGHT];
        let numbers = numbers(cpu, self.first.wrapping_add(at as u64));
        let (mut planes, mut runs) = ([zero; LEVELS], [zero; LEVELS + 1]);
        let skipped = usize::from(matches!(self.ends, Ends::Correct { .. }));
        for (x, keys) in self.keys.iter().enumerate().skip(skipped) {
            let mut sum = numbers;
            encrypt(cpu, keys, &mut sum);
            let pairs = x.trailing_ones() as usize;
            for level in 0..pairs {
                for r in 0..FLIGHT {
                    planes[level][r] = cpu.xor(planes[level][r], sum[r]);
                    sum[r] = cpu.xor(sum[r], runs[level][r]);
                }
            }
            runs[pairs] = sum;
        }
        let place = |r: usize| at + r * C::LANES;
        if let Ends::Sum(sum) = &mut self.ends {
            (0..FLIGHT).for_each(|r| store(cpu, runs[self.k][r], &mut sum[place(r)..]));
        }
        for (j, plane) in planes[..self.k].iter().enumerate() {
            let row = &mut self.rows[j * self.stride..];
            match &self.ends {
                Ends::Correct { bits, values: Some(values) } => {
                    let mask = cpu.splat(Block::mask(bits >> j & 1 == 1));
                    for r in 0..FLIGHT {
                        let value = cpu.load(&values[place(r)..]);
                        store(cpu, cpu.xor_masked(plane[r], mask, value), &mut row[place(r)..]);
                    }
                }
                _ => (0..FLIGHT).for_each(|r| store(cpu, plane[r], &mut row[place(r)..])),
            }
        }
    }
}

#[inline(always)]
fn numbers<C: Lanes>(cpu: C, first: u64) -> [C::Reg; FLIGHT] {
    let mut number = cpu.count(first);
    let step = cpu.splat(Block::new(C::LANES as u128));
    let mut numbers = [number; FLIGHT];
    for n in &mut numbers {
        *n = number;
        number = cpu.add(number, step);
    }
    numbers
}
