//! Loops under one key.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::Block;
use crate::backend::lanes::{Kernel, Lanes, ROUND_CONSTANTS, Step, Steps, Window, store};

/// The eleven round keys of AES-128.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct RoundKeys([Block; 11]);

impl RoundKeys {
    #[inline(always)]
    pub(crate) fn get(&self, round: usize) -> Block {
        self.0[round]
    }
}

/// Schedules one key.
pub(crate) struct Expand(pub Block);

impl Kernel for Expand {
    type Output = RoundKeys;

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, _: W, cpu: N) -> RoundKeys {
        let mut keys = RoundKeys([self.0; 11]);
        let mut key = cpu.splat(self.0);
        for (to, constant) in keys.0[1..].iter_mut().zip(ROUND_CONSTANTS) {
            key = cpu.next_key(key, constant);
            store(cpu, key, std::slice::from_mut(to));
        }
        keys
    }
}

/// Encrypts R registers.
#[inline(always)]
pub(crate) fn encrypt<C: Lanes, const R: usize>(cpu: C, keys: &RoundKeys, x: &mut [C::Reg; R]) {
    let mut before = cpu.splat(keys.0[0]);
    for x in x.iter_mut() {
        *x = cpu.begin(*x, before);
    }
    for key in &keys.0[1..10] {
        let after = cpu.splat(*key);
        for x in x.iter_mut() {
            *x = cpu.round(*x, before, after);
        }
        before = after;
    }
    let after = cpu.splat(keys.0[10]);
    for x in x.iter_mut() {
        *x = cpu.end(*x, before, after);
    }
}

/// Registers in flight, enough to hide the latency of a round.
pub(crate) const FLIGHT: usize = 8;

/// Encrypts blocks in place.
pub(crate) struct Encrypt<'a> {
    pub keys: &'a RoundKeys,
    pub blocks: &'a mut [Block],
}

impl Kernel for Encrypt<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, narrow: N) {
        for Step { at, len } in Steps::new(self.blocks.len(), FLIGHT * W::LANES) {
            let blocks = &mut self.blocks[at..at + len];
            if len == FLIGHT * W::LANES {
                encrypt_step::<W, FLIGHT>(wide, self.keys, blocks);
            } else {
                encrypt_step::<N, 4>(narrow, self.keys, blocks);
            }
        }
    }
}

#[inline(always)]
fn encrypt_step<C: Lanes, const R: usize>(cpu: C, keys: &RoundKeys, blocks: &mut [Block]) {
    let window = Window::new::<C, R>(0, blocks.len());
    let mut x = [cpu.splat(Block::ZERO); R];
    for r in 0..R {
        x[r] = cpu.load(&blocks[window.nearest(r * C::LANES)..]);
    }
    encrypt(cpu, keys, &mut x);
    for r in 0..R {
        if let Some(at) = window.place(r * C::LANES) {
            store(cpu, x[r], &mut blocks[at..]);
        }
    }
}

/// Fills with E(first), E(first + 1), ..., the numbers big-endian.
pub(crate) struct Counter<'a> {
    pub keys: &'a RoundKeys,
    pub first: u64,
    pub out: &'a mut [[u8; 16]],
}

impl Kernel for Counter<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, narrow: N) {
        for Step { at, len } in Steps::new(self.out.len(), FLIGHT * W::LANES) {
            let first = self.first.wrapping_add(at as u64);
            let out = &mut self.out[at..at + len];
            if len == FLIGHT * W::LANES {
                counter_step::<W, FLIGHT>(wide, self.keys, first, out);
            } else {
                counter_step::<N, 4>(narrow, self.keys, first, out);
            }
        }
    }
}

#[inline(always)]
pub(crate) fn counter_step<C: Lanes, const R: usize>(cpu: C, keys: &RoundKeys, first: u64, out: &mut [[u8; 16]]) {
    let window = Window::new::<C, R>(0, out.len());
    let mut number = cpu.count(first);
    let step = cpu.splat(Block::new(C::LANES as u128));
    let mut x = [number; R];
    for x in &mut x {
        *x = cpu.reverse_bytes(number);
        number = cpu.add(number, step);
    }
    encrypt(cpu, keys, &mut x);
    for r in 0..R {
        if let Some(at) = window.place(r * C::LANES) {
            cpu.store(x[r], &mut out[at..]);
        }
    }
}

/// π(σ(x)) ⊕ σ(x).
pub(crate) struct Tree<'a> {
    pub keys: &'a RoundKeys,
    pub input: &'a [Block],
    pub output: &'a mut [Block],
}

impl Kernel for Tree<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, narrow: N) {
        for Step { at, len } in Steps::new(self.input.len(), FLIGHT * W::LANES) {
            let (input, output) = (&self.input[at..at + len], &mut self.output[at..at + len]);
            if len == FLIGHT * W::LANES {
                tree_step::<W, FLIGHT>(wide, self.keys, input, output);
            } else {
                tree_step::<N, 4>(narrow, self.keys, input, output);
            }
        }
    }
}

#[inline(always)]
fn tree_step<C: Lanes, const R: usize>(cpu: C, keys: &RoundKeys, input: &[Block], output: &mut [Block]) {
    let window = Window::new::<C, R>(0, input.len());
    let mut x = [cpu.splat(Block::ZERO); R];
    for r in 0..R {
        x[r] = cpu.sigma(cpu.load(&input[window.nearest(r * C::LANES)..]));
    }
    let mut y = x;
    encrypt(cpu, keys, &mut y);
    for r in 0..R {
        if let Some(at) = window.place(r * C::LANES) {
            store(cpu, cpu.xor(x[r], y[r]), &mut output[at..]);
        }
    }
}
