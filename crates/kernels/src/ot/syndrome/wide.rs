//! The steps of the code in registers. No closures around instructions: they would be compiled without them, and called.

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
        let (mut oldest, mut older) = (cpu.load(&memory[..]), cpu.load(&memory[4..]));
        let mut old = cpu.load(&memory[8..]);
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
                let columns = transpose(cpu, [x[quarter], x[4 + quarter], x[8 + quarter], x[12 + quarter]]);
                for lane in 0..4 {
                    store(cpu, columns[lane], &mut rows[(4 * quarter + lane) ^ flip][at..]);
                }
            }
        }
        store(cpu, oldest, &mut memory[..]);
        store(cpu, older, &mut memory[4..]);
        store(cpu, old, &mut memory[8..]);
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
                let six = cpu.load(&x[MEMORY - 6 + i..]);
                let far = cpu.xor(cpu.load(&x[MEMORY - 11 + i..]), cpu.load(&x[i..]));
                let near = cpu.xor(cpu.load(&elements[i..]), cpu.load(&x[MEMORY - 8 + i..]));
                store(cpu, cpu.xor(cpu.xor(far, near), six), &mut x[MEMORY + i..]);
            }
            for (row, lane) in rows.iter_mut().zip(0..).map(|(row, b)| (row, b ^ (usize::from(flip) % SEGMENTS))) {
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
    for i in 0..6 {
        for c in 0..4 {
            let column = cpu.load(&p[4 * (4 * i + c) + lane..]);
            for j in 0..1 << c {
                sums[i][j + (1 << c)] = cpu.xor(sums[i][j], column);
            }
        }
    }
    for r in 0..SIDE {
        let [a, b, c, d, e, f] = NIBBLES[r];
        let first = cpu.xor3(sums[0][usize::from(a)], sums[1][usize::from(b)], sums[2][usize::from(c)]);
        let second = cpu.xor3(sums[3][usize::from(d)], sums[4][usize::from(e)], sums[5][usize::from(f)]);
        let to = &mut out[4 * r + lane..];
        store(cpu, cpu.xor3(cpu.load(to), first, second), to);
    }
}
