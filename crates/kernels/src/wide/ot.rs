//! The hashes of both sides of OT: a key for each index, scheduled beside the blocks under it.

use super::{Job, Lanes, ROUND_CONSTANTS, Step, Steps, Window, store};
use crate::Block;

/// The sender's two hashes.
pub(crate) struct Pairs<'a> {
    pub key: Block,
    pub first: u64,
    pub delta: Block,
    pub q: &'a [Block],
    pub m0: &'a mut [Block],
    pub m1: &'a mut [Block],
}

impl Job for Pairs<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, narrow: N) {
        for Step { at, len, .. } in Steps::new(0, self.q.len(), 4 * W::LANES) {
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
    let delta = cpu.sigma(cpu.splat(delta));
    let mut x = [[delta; 2]; 4];
    for r in 0..4 {
        let q = cpu.sigma(cpu.load(&q[window.nearest(r * C::LANES)..]));
        x[r] = [q, cpu.xor(q, delta)];
    }
    let mut y = x;
    encrypt_each(cpu, index_keys(cpu, key, first), &mut y);
    for r in 0..4 {
        if let Some(at) = window.place(r * C::LANES) {
            store(cpu, cpu.xor(x[r][0], y[r][0]), &mut m0[at..]);
            store(cpu, cpu.xor(x[r][1], y[r][1]), &mut m1[at..]);
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

impl Job for Chosen<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, narrow: N) {
        for Step { at, len, .. } in Steps::new(0, self.t.len(), 4 * W::LANES) {
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
    let mut x = [[cpu.splat(Block::ZERO)]; 4];
    for r in 0..4 {
        x[r] = [cpu.sigma(cpu.load(&t[window.nearest(r * C::LANES)..]))];
    }
    let mut y = x;
    encrypt_each(cpu, index_keys(cpu, key, first), &mut y);
    for r in 0..4 {
        if let Some(at) = window.place(r * C::LANES) {
            store(cpu, cpu.xor(x[r][0], y[r][0]), &mut m[at..]);
        }
    }
}

/// Encrypts H blocks under each key of R registers of keys, scheduled on the way.
#[inline(always)]
fn encrypt_each<C: Lanes, const R: usize, const H: usize>(cpu: C, keys: [C::Reg; R], x: &mut [[C::Reg; H]; R]) {
    let mut before = keys;
    for r in 0..R {
        for x in &mut x[r] {
            *x = cpu.begin(*x, before[r]);
        }
    }
    for constant in &ROUND_CONSTANTS[..9] {
        for r in 0..R {
            let after = cpu.next_key(before[r], *constant);
            for x in &mut x[r] {
                *x = cpu.round(*x, before[r], after);
            }
            before[r] = after;
        }
    }
    for r in 0..R {
        let after = cpu.next_key(before[r], ROUND_CONSTANTS[9]);
        for x in &mut x[r] {
            *x = cpu.end(*x, before[r], after);
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
