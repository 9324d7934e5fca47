//! The steps of the code in registers.

use super::{GROUP, MEMORY, NIBBLES, SEGMENTS, SIDE, STEP};
use crate::Block;
use crate::backend::lanes::{Kernel, Lanes, store};

/// Convolves elements and spreads them over rows, from place `from` on.
pub(crate) struct Spread<'a, 'r> {
    pub flips: &'a [u8],
    pub memory: &'a mut [Block; MEMORY],
    pub elements: &'a [Block],
    pub rows: &'a mut [&'r mut [Block]; SEGMENTS],
    pub from: usize,
}

impl Kernel for Spread<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, narrow: N) {
        if W::LANES == 4 { self.by_fours(wide) } else { self.by_ones(narrow) }
    }
}

impl Spread<'_, '_> {
    /// Registers of four elements.
    #[inline(always)]
    fn by_fours<C: Lanes>(self, cpu: C) {
        let Spread { flips, memory, elements, rows, from } = self;
        let [mut oldest, mut older, mut old] = [0, 4, 8].map(|at| cpu.load(&memory[at..]));
        for (g, (elements, &flip)) in elements.chunks_exact(STEP).zip(flips).enumerate() {
            let (at, flip) = (from + 4 * g, usize::from(flip) % SEGMENTS);
            let mut x = [old; SEGMENTS];
            for r in 0..SEGMENTS {
                let six = cpu.following::<2>(older, old);
                let eleven = cpu.following::<3>(oldest, older);
                let far = cpu.xor3(cpu.load(&elements[4 * r..]), older, cpu.xor(eleven, oldest));
                x[r] = cpu.xor(far, six);
                (oldest, older, old) = (older, old, x[r]);
            }
            // Of each lane of sixteen elements, a register of four in a row.
            for quarter in 0..4 {
                let columns = transpose(cpu, std::array::from_fn(|j| x[4 * j + quarter]));
                for lane in 0..4 {
                    store(cpu, columns[lane], &mut rows[(4 * quarter + lane) ^ flip][at..]);
                }
            }
        }
        for (reg, at) in [(oldest, 0), (older, 4), (old, 8)] {
            store(cpu, reg, &mut memory[at..]);
        }
    }

    /// Registers of one element.
    #[inline(always)]
    fn by_ones<C: Lanes>(self, cpu: C) {
        let Spread { flips, memory, elements, rows, from } = self;
        let mut x = [Block::ZERO; MEMORY + STEP];
        x[STEP..].copy_from_slice(memory);
        for (g, (elements, &flip)) in elements.chunks_exact(STEP).zip(flips).enumerate() {
            x.copy_within(STEP.., 0);
            for i in 0..STEP {
                let [six, eight, eleven, twelve] =
                    [6, 8, 11, 12].map(|back| x[MEMORY + i - back]).map(|x| cpu.load(std::slice::from_ref(&x)));
                let sum = cpu.xor(cpu.xor(eleven, twelve), cpu.xor(cpu.load(&elements[i..]), eight));
                store(cpu, cpu.xor(sum, six), &mut x[MEMORY + i..]);
            }
            for (row, lane) in rows.iter_mut().zip(0..).map(|(row, b)| (row, b ^ usize::from(flip) % SEGMENTS)) {
                let to = &mut row[from + 4 * g..][..4];
                to.iter_mut().zip(x[MEMORY + lane..].iter().step_by(SEGMENTS)).for_each(|(to, &x)| *to = x);
            }
        }
        memory.copy_from_slice(&x[STEP..]);
    }
}

/// Lane i of register j becomes lane j of register i.
#[inline(always)]
fn transpose<C: Lanes>(cpu: C, [a, b, c, d]: [C::Reg; 4]) -> [C::Reg; 4] {
    let ([even, odd], [more_even, more_odd]) = (cpu.zip(a, c), cpu.zip(b, d));
    let ([x, y], [z, w]) = (cpu.zip(even, more_even), cpu.zip(odd, more_odd));
    [x, y, z, w]
}

/// Gathers elements and multiplies them by the block code.
pub(crate) struct Gather<'a> {
    pub systematic: &'a [u32],
    pub parity: &'a [u32],
    pub vector: &'a [Block],
    pub out: &'a mut [Block],
}

impl Kernel for Gather<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, _: N) {
        let Gather { systematic, parity, vector, out } = self;
        let places = systematic.chunks_exact(GROUP).zip(parity.chunks_exact(GROUP));
        for (out, (systematic, parity)) in out.chunks_exact_mut(GROUP).zip(places) {
            let mut p = [Block::ZERO; GROUP];
            for i in 0..GROUP {
                out[i] = vector[systematic[i] as usize];
                p[i] = vector[parity[i] as usize];
            }
            for lane in (0..4).step_by(W::LANES) {
                block_code(wide, lane, &p, out);
            }
        }
    }
}

/// Adds B times the columns of these lanes to `out`.
#[inline(always)]
fn block_code<C: Lanes>(cpu: C, lane: usize, p: &[Block; GROUP], out: &mut [Block]) {
    // All sums of four columns, six times.
    let mut sums = [[cpu.splat(Block::ZERO); 16]; 6];
    for (i, sums) in sums.iter_mut().enumerate() {
        for c in 0..4 {
            let column = cpu.load(&p[4 * (4 * i + c) + lane..]);
            for j in 0..1 << c {
                sums[j + (1 << c)] = cpu.xor(sums[j], column);
            }
        }
    }
    for r in 0..SIDE {
        let at = |i: usize| sums[i][usize::from(NIBBLES[r][i])];
        let [first, second] = [cpu.xor3(at(0), at(1), at(2)), cpu.xor3(at(3), at(4), at(5))];
        let to = &mut out[4 * r + lane..];
        let sum = cpu.xor3(cpu.load(to), first, second);
        store(cpu, sum, to);
    }
}
