//! Half-gates, both roles: a key for each bucket of four ANDs, scheduled beside the blocks under it.

use super::{Job, Lanes, ROUND_CONSTANTS, Window, store};
use crate::Block;
use crate::hash::{Ciphertexts, Operand};

/// Garbles consecutive ANDs; `key` is S with the domain.
pub(crate) struct Garble<'a> {
    pub key: Block,
    pub first: u64,
    pub delta: Block,
    pub a: Operand<'a>,
    pub b: Operand<'a>,
    pub out: &'a mut [Block],
    pub tables: &'a mut [Ciphertexts],
}

/// ANDs of the widest registers.
const MOST: usize = 16;

/// The next step of `left` ANDs from number `first` on: its bucket, the places in it that are not ours, and its ANDs.
/// More than two buckets go to wide registers, padded if they are not full.
#[inline(always)]
fn cut<W: Lanes>(first: u64, left: usize) -> (u64, usize, usize) {
    let (skip, wide) = ((first % 4) as usize, 4 * W::LANES);
    let len = if skip + left > 8 { left.min(wide - skip) } else { left.min(4 - skip) };
    (first / 4, skip, len)
}

/// What a step has, at its places among those of wide registers.
#[inline(always)]
fn padded<T: Copy + Default>(skip: usize, part: &[T]) -> [T; MOST] {
    let mut all = [T::default(); MOST];
    all[skip..skip + part.len()].copy_from_slice(part);
    all
}

/// What does not change from step to step.
struct Garbler {
    key: Block,
    delta: Block,
    /// Δ for an operand that enters complemented, else zero.
    flip: [Block; 2],
}

impl Job for Garble<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, narrow: N) {
        let (key, delta) = (self.key, self.delta);
        let flip = [self.a, self.b].map(|x| Block::mask(x.flip) & delta);
        let garbler = Garbler { key, delta, flip };
        let mut at = 0;
        while at < self.out.len() {
            let (bucket, skip, len) = cut::<W>(self.first + at as u64, self.out.len() - at);
            let (a, b) = (&self.a.labels[at..at + len], &self.b.labels[at..at + len]);
            let (out, tables) = (&mut self.out[at..at + len], &mut self.tables[at..at + len]);
            if len == 4 * W::LANES {
                garble_step(wide, &garbler, bucket, 0, [a, b], out, tables);
            } else if skip + len > 4 {
                let (a, b) = (padded(skip, a), padded(skip, b));
                let (mut all, mut pairs) = ([Block::ZERO; MOST], [Ciphertexts::default(); MOST]);
                let most = 4 * W::LANES;
                garble_step(wide, &garbler, bucket, 0, [&a[..most], &b[..most]], &mut all[..most], &mut pairs[..most]);
                out.copy_from_slice(&all[skip..skip + len]);
                tables.copy_from_slice(&pairs[skip..skip + len]);
            } else {
                garble_step(narrow, &garbler, bucket, skip, [a, b], out, tables);
            }
            at += len;
        }
    }
}

#[inline(always)]
fn garble_step<C: Lanes>(
    cpu: C,
    garbler: &Garbler,
    bucket: u64,
    skip: usize,
    [a, b]: [&[Block]; 2],
    out: &mut [Block],
    tables: &mut [Ciphertexts],
) {
    let window = Window::new::<C, 4>(skip, out.len());
    let tables = tables.as_flattened_mut();
    let delta = cpu.splat(garbler.delta);
    let flip = garbler.flip.map(|x| cpu.splat(x));
    let zero = cpu.splat(Block::ZERO);
    let (mut ab, mut x) = ([[zero; 2]; 4], [[zero; 4]; 4]);
    for r in 0..4 {
        let at = window.nearest(r * C::LANES);
        ab[r] = [cpu.xor(cpu.load(&a[at..]), flip[0]), cpu.xor(cpu.load(&b[at..]), flip[1])];
        let [tweak_a, tweak_b] = tweaks(cpu, r);
        let (a0, b0) = (cpu.xor(ab[r][0], tweak_a), cpu.xor(ab[r][1], tweak_b));
        let (a1, b1) = (cpu.xor(a0, delta), cpu.xor(b0, delta));
        x[r] = [cpu.sigma(a0), cpu.sigma(a1), cpu.sigma(b0), cpu.sigma(b1)];
    }
    let mut y = x;
    encrypt_buckets(cpu, cpu.xor(cpu.splat(garbler.key), cpu.count(bucket)), &mut y);
    for r in 0..4 {
        let [a0, b0] = ab[r];
        let (pa, pb) = (cpu.lsb_mask(a0), cpu.lsb_mask(b0));
        let ha0 = cpu.xor(x[r][0], y[r][0]);
        let hb0 = cpu.xor(x[r][2], y[r][2]);
        let table_g = cpu.xor_masked(cpu.xor3(ha0, x[r][1], y[r][1]), pb, delta);
        // T_E ⊕ a0 is the XOR of b's two hashes.
        let both_b = cpu.xor3(hb0, x[r][3], y[r][3]);
        let label = cpu.xor_masked(cpu.xor_masked(ha0, pa, table_g), pb, both_b);
        if let Some(at) = window.place(r * C::LANES) {
            store(cpu, cpu.xor(label, hb0), &mut out[at..]);
            let [low, high] = cpu.zip(table_g, cpu.xor(both_b, a0));
            cpu.store(low, &mut tables[2 * at..]);
            cpu.store(high, &mut tables[2 * at + C::LANES..]);
        }
    }
}

/// Evaluates consecutive ANDs.
pub(crate) struct Evaluate<'a> {
    pub key: Block,
    pub first: u64,
    pub a: &'a [Block],
    pub b: &'a [Block],
    pub out: &'a mut [Block],
    pub tables: &'a [Ciphertexts],
}

impl Job for Evaluate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, narrow: N) {
        let mut at = 0;
        while at < self.out.len() {
            let (bucket, skip, len) = cut::<W>(self.first + at as u64, self.out.len() - at);
            let (a, b) = (&self.a[at..at + len], &self.b[at..at + len]);
            let (out, tables) = (&mut self.out[at..at + len], &self.tables[at..at + len]);
            if len == 4 * W::LANES {
                evaluate_step(wide, self.key, bucket, 0, [a, b], out, tables);
            } else if skip + len > 4 {
                let (a, b, tables) = (padded(skip, a), padded(skip, b), padded(skip, tables));
                let (mut all, most) = ([Block::ZERO; MOST], 4 * W::LANES);
                evaluate_step(wide, self.key, bucket, 0, [&a[..most], &b[..most]], &mut all[..most], &tables[..most]);
                out.copy_from_slice(&all[skip..skip + len]);
            } else {
                evaluate_step(narrow, self.key, bucket, skip, [a, b], out, tables);
            }
            at += len;
        }
    }
}

#[inline(always)]
fn evaluate_step<C: Lanes>(
    cpu: C,
    key: Block,
    bucket: u64,
    skip: usize,
    [a, b]: [&[Block]; 2],
    out: &mut [Block],
    tables: &[Ciphertexts],
) {
    let window = Window::new::<C, 4>(skip, out.len());
    let tables = tables.as_flattened();
    let mut x = [[cpu.splat(Block::ZERO); 2]; 4];
    for r in 0..4 {
        let at = window.nearest(r * C::LANES);
        let (a, b) = (cpu.load(&a[at..]), cpu.load(&b[at..]));
        let [tweak_a, tweak_b] = tweaks(cpu, r);
        x[r] = [cpu.sigma(cpu.xor(a, tweak_a)), cpu.sigma(cpu.xor(b, tweak_b))];
    }
    let mut y = x;
    encrypt_buckets(cpu, cpu.xor(cpu.splat(key), cpu.count(bucket)), &mut y);
    for r in 0..4 {
        if let Some(at) = window.place(r * C::LANES) {
            let (a, b) = (cpu.load(&a[at..]), cpu.load(&b[at..]));
            let pair = [cpu.fetch(&tables[2 * at..]), cpu.fetch(&tables[2 * at + C::LANES..])];
            let [table_g, table_e] = cpu.unzip(pair);
            let (ha, hb) = (cpu.xor(x[r][0], y[r][0]), cpu.xor(x[r][1], y[r][1]));
            let label_g = cpu.xor_masked(ha, cpu.lsb_mask(a), table_g);
            let label_e = cpu.xor_masked(hb, cpu.lsb_mask(b), cpu.xor(table_e, a));
            store(cpu, cpu.xor(label_g, label_e), &mut out[at..]);
        }
    }
}

/// Both halves' tweaks 2·(n mod 4) + half of the ANDs of register r.
#[inline(always)]
fn tweaks<C: Lanes>(cpu: C, r: usize) -> [C::Reg; 2] {
    static TWEAKS: [[Block; 16]; 2] = {
        let mut tweaks = [[Block::ZERO; 16]; 2];
        let mut n = 0;
        while n < 16 {
            tweaks[0][n] = Block::new(2 * (n as u128 % 4));
            tweaks[1][n] = Block::new(2 * (n as u128 % 4) + 1);
            n += 1;
        }
        tweaks
    };
    [cpu.load(&TWEAKS[0][r * C::LANES..]), cpu.load(&TWEAKS[1][r * C::LANES..])]
}

/// Encrypts H blocks of each AND of four registers under the keys of their buckets.
#[inline(always)]
fn encrypt_buckets<C: Lanes, const H: usize>(cpu: C, key: C::Reg, x: &mut [[C::Reg; H]; 4]) {
    let mut key = key;
    let mut before = cpu.spread(key);
    for r in 0..4 {
        for x in &mut x[r] {
            *x = cpu.begin(*x, before[r]);
        }
    }
    for constant in &ROUND_CONSTANTS[..9] {
        key = cpu.next_key(key, *constant);
        let after = cpu.spread(key);
        for r in 0..4 {
            for x in &mut x[r] {
                *x = cpu.round(*x, before[r], after[r]);
            }
        }
        before = after;
    }
    let after = cpu.spread(cpu.next_key(key, ROUND_CONSTANTS[9]));
    for r in 0..4 {
        for x in &mut x[r] {
            *x = cpu.end(*x, before[r], after[r]);
        }
    }
}
