//! The hashes of both sides of OT: a key for each index, scheduled beside the blocks under it.

use crate::Block;
use crate::backend::lanes::{Kernel, Lanes, ROUND_CONSTANTS, Step, Steps, Window, store};
use crate::cipher::schedule::Schedules;

/// The sender's two hashes.
pub(crate) struct Pairs<'a> {
    pub key: Block,
    pub first: u64,
    pub delta: Block,
    pub q: &'a [Block],
    pub m0: &'a mut [Block],
    pub m1: &'a mut [Block],
}

impl Kernel for Pairs<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, narrow: N) {
        for Step { at, len } in Steps::new(self.q.len(), 4 * W::LANES) {
            let (key, first) = (self.key, self.first.wrapping_add(at as u64));
            let q = &self.q[at..at + len];
            let m = [&mut self.m0[at..at + len], &mut self.m1[at..at + len]];
            if len == 4 * W::LANES {
                pairs_step(wide, key, first, self.delta, q, m);
            } else {
                pairs_step(narrow, key, first, self.delta, q, m);
            }
        }
    }
}

#[inline(always)]
fn pairs_step<C: Lanes>(cpu: C, key: Block, first: u64, delta: Block, q: &[Block], [m0, m1]: [&mut [Block]; 2]) {
    let window = Window::new::<C, 4>(0, q.len());
    let m = hash_pairs(cpu, key, first, delta, q);
    for r in 0..4 {
        if let Some(at) = window.place(r * C::LANES) {
            store(cpu, m[0][r], &mut m0[at..]);
            store(cpu, m[1][r], &mut m1[at..]);
        }
    }
}

/// m₀ and m₁ of four registers.
#[inline(always)]
fn hash_pairs<C: Lanes>(cpu: C, key: Block, first: u64, delta: Block, q: &[Block]) -> [[C::Reg; 4]; 2] {
    let window = Window::new::<C, 4>(0, q.len());
    let delta = cpu.sigma(cpu.splat(delta));
    let mut x = [[delta; 2]; 4];
    for r in 0..4 {
        let q = cpu.sigma(cpu.load(&q[window.nearest(r * C::LANES)..]));
        x[r] = [q, cpu.xor(q, delta)];
    }
    let mut y = x;
    encrypt_each(cpu, index_keys(cpu, key, first), &mut y);
    let mut m = [[delta; 4]; 2];
    for r in 0..4 {
        m[0][r] = cpu.xor(x[r][0], y[r][0]);
        m[1][r] = cpu.xor(x[r][1], y[r][1]);
    }
    m
}

/// The lowest bits of the sender's m₀, and of m₀ ⊕ m₁.
pub(crate) struct PairBits<'a> {
    pub key: Block,
    pub first: u64,
    pub delta: Block,
    pub q: &'a [Block],
    pub m0: &'a mut [u64],
    pub differ: &'a mut [u64],
}

impl Kernel for PairBits<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, narrow: N) {
        self.m0.fill(0);
        self.differ.fill(0);
        for Step { at, len } in Steps::new(self.q.len(), 4 * W::LANES) {
            let (key, first) = (self.key, self.first.wrapping_add(at as u64));
            let q = &self.q[at..at + len];
            let (m0, m1) = if len == 4 * W::LANES {
                let [m0, m1] = hash_pairs(wide, key, first, self.delta, q);
                (wide.lsbs(m0), wide.lsbs(m1))
            } else {
                let ([m0, m1], ours) = (hash_pairs(narrow, key, first, self.delta, q), !(!0 << len));
                (narrow.lsbs(m0) & ours, narrow.lsbs(m1) & ours)
            };
            self.m0[at / 64] |= m0 << (at % 64);
            self.differ[at / 64] |= (m0 ^ m1) << (at % 64);
        }
    }
}

/// The receiver's one hash.
pub(crate) struct Chosen<'a> {
    pub key: Block,
    pub first: u64,
    pub t: &'a [Block],
    pub m: &'a mut [Block],
}

impl Kernel for Chosen<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, narrow: N) {
        for Step { at, len } in Steps::new(self.t.len(), 4 * W::LANES) {
            let (key, first) = (self.key, self.first.wrapping_add(at as u64));
            let (t, m) = (&self.t[at..at + len], &mut self.m[at..at + len]);
            if len == 4 * W::LANES {
                chosen_step(wide, key, first, t, m);
            } else {
                chosen_step(narrow, key, first, t, m);
            }
        }
    }
}

#[inline(always)]
fn chosen_step<C: Lanes>(cpu: C, key: Block, first: u64, t: &[Block], m: &mut [Block]) {
    let window = Window::new::<C, 4>(0, t.len());
    let hashes = hash_chosen(cpu, key, first, t);
    for r in 0..4 {
        if let Some(at) = window.place(r * C::LANES) {
            store(cpu, hashes[r], &mut m[at..]);
        }
    }
}

#[inline(always)]
fn hash_chosen<C: Lanes>(cpu: C, key: Block, first: u64, t: &[Block]) -> [C::Reg; 4] {
    let window = Window::new::<C, 4>(0, t.len());
    let mut x = [[cpu.splat(Block::ZERO)]; 4];
    for r in 0..4 {
        x[r] = [cpu.sigma(cpu.load(&t[window.nearest(r * C::LANES)..]))];
    }
    let mut y = x;
    encrypt_each(cpu, index_keys(cpu, key, first), &mut y);
    let mut m = [x[0][0]; 4];
    for r in 0..4 {
        m[r] = cpu.xor(x[r][0], y[r][0]);
    }
    m
}

/// The lowest bits of the receiver's hashes.
pub(crate) struct ChosenBits<'a> {
    pub key: Block,
    pub first: u64,
    pub t: &'a [Block],
    pub m: &'a mut [u64],
}

impl Kernel for ChosenBits<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, narrow: N) {
        self.m.fill(0);
        for Step { at, len } in Steps::new(self.t.len(), 4 * W::LANES) {
            let (key, first) = (self.key, self.first.wrapping_add(at as u64));
            let t = &self.t[at..at + len];
            let m = if len == 4 * W::LANES {
                wide.lsbs(hash_chosen(wide, key, first, t))
            } else {
                narrow.lsbs(hash_chosen(narrow, key, first, t)) & !(!0 << len)
            };
            self.m[at / 64] |= m << (at % 64);
        }
    }
}

/// Encrypts H blocks under each key of four registers of keys, scheduled on the way.
#[inline(always)]
fn encrypt_each<C: Lanes, const H: usize>(cpu: C, keys: [C::Reg; 4], x: &mut [[C::Reg; H]; 4]) {
    let (mut before, mut schedules) = (keys, Schedules::new(cpu, keys));
    for r in 0..4 {
        for x in &mut x[r] {
            *x = cpu.begin(*x, before[r]);
        }
    }
    for constant in &ROUND_CONSTANTS[..9] {
        let after = schedules.next(cpu, *constant);
        for r in 0..4 {
            for x in &mut x[r] {
                *x = cpu.round(*x, before[r], after[r]);
            }
        }
        before = after;
    }
    let after = schedules.next(cpu, ROUND_CONSTANTS[9]);
    for r in 0..4 {
        for x in &mut x[r] {
            *x = cpu.end(*x, before[r], after[r]);
        }
    }
}

/// The keys S ⊕ (first + i) of 4·LANES consecutive indices.
#[inline(always)]
fn index_keys<C: Lanes>(cpu: C, key: Block, first: u64) -> [C::Reg; 4] {
    let key = cpu.splat(key);
    let mut number = cpu.count(first);
    let step = cpu.splat(Block::new(C::LANES as u128));
    let mut keys = [key; 4];
    for k in &mut keys {
        *k = cpu.xor(key, number);
        number = cpu.add(number, step);
    }
    keys
}
