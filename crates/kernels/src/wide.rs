//! The loops of the kernels, written once for registers of any width, without `unsafe`.
//!
//! A [`Job`] is one call: its operands and the loop over them. [`Lanes`] is what an instruction set
//! offers. A processor's token runs a job by inlining it into a function compiled with the
//! instructions, so every function here is `inline(always)`.
//!
//! Keys that change every few blocks are scheduled in registers, as many at once as a register has
//! lanes, next to the encryptions under them: `aesenclast` with equal columns is SubWord
//! (Gueron, Lindell, Nof, Pinkas: *Fast garbling of circuits under standard assumptions*,
//! ePrint 2015/751). A step of the gate loops takes four registers of ANDs, which are as many
//! buckets of four as the key register has lanes.

// `r` is the number of a register and indexes several arrays side by side.
#![allow(clippy::needless_range_loop)]

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::Block;
use crate::hash::Operand;

/// One call of a kernel. `narrow` is the same processor with registers of one block, for the ends.
pub(crate) trait Job {
    type Output;
    fn run<W: Lanes, N: Lanes>(self, wide: W, narrow: N) -> Self::Output;
}

/// The instructions of one processor on registers of `LANES` blocks. A value of an implementing
/// type is the proof that the processor has them.
pub(crate) trait Lanes: Copy {
    type Reg: Copy;
    const LANES: usize;

    /// Loads the first `LANES` blocks.
    fn load(self, from: &[Block]) -> Self::Reg;
    /// Stores to the first `LANES` places, which need not be aligned.
    fn store(self, x: Self::Reg, to: &mut [[u8; 16]]);
    /// The same block in every lane.
    fn splat(self, x: Block) -> Self::Reg;
    /// `first + lane` as a 128-bit number in every lane.
    fn count(self, first: u64) -> Self::Reg;
    /// Adds to the low 64 bits of every lane.
    fn add(self, x: Self::Reg, y: Self::Reg) -> Self::Reg;
    fn xor(self, x: Self::Reg, y: Self::Reg) -> Self::Reg;
    /// x ⊕ y ⊕ z.
    fn xor3(self, x: Self::Reg, y: Self::Reg, z: Self::Reg) -> Self::Reg;
    /// x ⊕ (m ∧ y).
    fn xor_masked(self, x: Self::Reg, m: Self::Reg, y: Self::Reg) -> Self::Reg;
    /// All ones in the lanes whose bit 0 is set, zero in the others.
    fn lsb_mask(self, x: Self::Reg) -> Self::Reg;
    /// [`Block::sigma`] in every lane.
    fn sigma(self, x: Self::Reg) -> Self::Reg;
    /// The 16 bytes of every lane in reverse order.
    fn reverse_bytes(self, x: Self::Reg) -> Self::Reg;
    /// Lane i of `x` and of `y` become lanes 2i and 2i + 1 of the pair of registers.
    fn zip(self, x: Self::Reg, y: Self::Reg) -> [Self::Reg; 2];
    /// The inverse of `zip`.
    fn unzip(self, pair: [Self::Reg; 2]) -> [Self::Reg; 2];
    /// Four registers of ANDs hold `LANES` buckets of four: for each register the keys of its
    /// lanes, where lane b of `keys` is the key of bucket b.
    fn spread(self, keys: Self::Reg) -> [Self::Reg; 4];
    /// The next round key from the one before, with this round constant.
    fn next_key(self, key: Self::Reg, constant: u8) -> Self::Reg;
    // An AES encryption is `begin`, nine times `round`, `end`. Arm adds the round key at the start
    // of a round and x86 at its end, so each gets the keys before and after.
    fn begin(self, x: Self::Reg, key: Self::Reg) -> Self::Reg;
    fn round(self, x: Self::Reg, before: Self::Reg, after: Self::Reg) -> Self::Reg;
    fn end(self, x: Self::Reg, before: Self::Reg, after: Self::Reg) -> Self::Reg;
}

const ROUND_CONSTANTS: [u8; 10] = [1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36];

/// `len` operands cut into steps of `wide` operands, then of four, then what is left. With
/// `skip` the first steps fill a bucket of four whose first `skip` places are not ours.
struct Steps {
    at: usize,
    len: usize,
    skip: usize,
    wide: usize,
}

struct Step {
    at: usize,
    len: usize,
    skip: usize,
}

impl Steps {
    #[inline(always)]
    fn new(skip: usize, len: usize, wide: usize) -> Self {
        Steps {
            at: 0,
            len,
            skip,
            wide,
        }
    }
}

impl Iterator for Steps {
    type Item = Step;

    #[inline(always)]
    fn next(&mut self) -> Option<Step> {
        let (at, skip, left) = (self.at, self.skip, self.len - self.at);
        let len = if skip == 0 && left >= self.wide {
            self.wide
        } else {
            left.min(4 - skip)
        };
        self.at += len;
        self.skip = 0;
        (len > 0).then_some(Step { at, len, skip })
    }
}

// ---- One key for all blocks ----

/// The eleven round keys of AES-128.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct RoundKeys([Block; 11]);

/// Schedules one key.
pub(crate) struct Expand(pub Block);

impl Job for Expand {
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

#[inline(always)]
fn store<C: Lanes>(cpu: C, x: C::Reg, to: &mut [Block]) {
    cpu.store(x, bytemuck::cast_slice_mut(to));
}

/// Encrypts R registers under one key.
#[inline(always)]
fn encrypt<C: Lanes, const R: usize>(cpu: C, keys: &RoundKeys, x: &mut [C::Reg; R]) {
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

/// Registers in flight under one key, enough to hide the latency of a round.
const FLIGHT: usize = 8;

/// Encrypts blocks in place.
pub(crate) struct Encrypt<'a> {
    pub keys: &'a RoundKeys,
    pub blocks: &'a mut [Block],
}

impl Job for Encrypt<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, narrow: N) {
        for Step { at, len, .. } in Steps::new(0, self.blocks.len(), FLIGHT * W::LANES) {
            let blocks = &mut self.blocks[at..at + len];
            match len {
                4 => encrypt_step::<N, 4>(narrow, self.keys, blocks),
                5.. => encrypt_step::<W, FLIGHT>(wide, self.keys, blocks),
                _ => {
                    let mut all = [Block::ZERO; 4];
                    all[..len].copy_from_slice(blocks);
                    encrypt_step::<N, 4>(narrow, self.keys, &mut all);
                    blocks.copy_from_slice(&all[..len]);
                    all.zeroize();
                }
            }
        }
    }
}

#[inline(always)]
fn encrypt_step<C: Lanes, const R: usize>(cpu: C, keys: &RoundKeys, blocks: &mut [Block]) {
    assert!(blocks.len() == R * C::LANES);
    let mut x = [cpu.splat(Block::ZERO); R];
    for r in 0..R {
        x[r] = cpu.load(&blocks[r * C::LANES..]);
    }
    encrypt(cpu, keys, &mut x);
    for r in 0..R {
        store(cpu, x[r], &mut blocks[r * C::LANES..]);
    }
}

/// Fills with E(first), E(first + 1), ..., the numbers big-endian.
pub(crate) struct Counter<'a> {
    pub keys: &'a RoundKeys,
    pub first: u64,
    pub out: &'a mut [[u8; 16]],
}

impl Job for Counter<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, narrow: N) {
        for Step { at, len, .. } in Steps::new(0, self.out.len(), FLIGHT * W::LANES) {
            let (first, out) = (
                self.first.wrapping_add(at as u64),
                &mut self.out[at..at + len],
            );
            match len {
                4 => counter_step::<N, 4>(narrow, self.keys, first, out),
                5.. => counter_step::<W, FLIGHT>(wide, self.keys, first, out),
                _ => {
                    let mut all = [[0; 16]; 4];
                    counter_step::<N, 4>(narrow, self.keys, first, &mut all);
                    out.copy_from_slice(&all[..len]);
                    all.zeroize();
                }
            }
        }
    }
}

#[inline(always)]
fn counter_step<C: Lanes, const R: usize>(
    cpu: C,
    keys: &RoundKeys,
    first: u64,
    out: &mut [[u8; 16]],
) {
    assert!(out.len() == R * C::LANES);
    let mut number = cpu.count(first);
    let step = cpu.splat(Block::new(C::LANES as u128));
    let mut x = [number; R];
    for x in &mut x {
        *x = cpu.reverse_bytes(number);
        number = cpu.add(number, step);
    }
    encrypt(cpu, keys, &mut x);
    for r in 0..R {
        cpu.store(x[r], &mut out[r * C::LANES..]);
    }
}

/// π(σ(x)) ⊕ σ(x).
pub(crate) struct Tree<'a> {
    pub keys: &'a RoundKeys,
    pub input: &'a [Block],
    pub output: &'a mut [Block],
}

impl Job for Tree<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, narrow: N) {
        for Step { at, len, .. } in Steps::new(0, self.input.len(), FLIGHT * W::LANES) {
            let (input, output) = (&self.input[at..at + len], &mut self.output[at..at + len]);
            match len {
                4 => tree_step::<N, 4>(narrow, self.keys, input, output),
                5.. => tree_step::<W, FLIGHT>(wide, self.keys, input, output),
                _ => {
                    let mut all = pad(input, 0);
                    let input = all;
                    tree_step::<N, 4>(narrow, self.keys, &input, &mut all);
                    output.copy_from_slice(&all[..len]);
                }
            }
        }
    }
}

#[inline(always)]
fn tree_step<C: Lanes, const R: usize>(
    cpu: C,
    keys: &RoundKeys,
    input: &[Block],
    output: &mut [Block],
) {
    assert!(input.len() == R * C::LANES && output.len() == R * C::LANES);
    let mut x = [cpu.splat(Block::ZERO); R];
    for r in 0..R {
        x[r] = cpu.sigma(cpu.load(&input[r * C::LANES..]));
    }
    let mut y = x;
    encrypt(cpu, keys, &mut y);
    for r in 0..R {
        store(cpu, cpu.xor(x[r], y[r]), &mut output[r * C::LANES..]);
    }
}

/// At most four values, from place `skip` on, with defaults around them.
#[inline(always)]
fn pad<T: Copy + Default>(part: &[T], skip: usize) -> [T; 4] {
    let mut all = [T::default(); 4];
    all[skip..skip + part.len()].copy_from_slice(part);
    all
}

// ---- Half-gates: a key for each bucket of four ANDs ----

/// Encrypts H blocks of each AND of four registers, under keys that are scheduled on the way.
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

/// The tweaks 2·(n mod 4) + half of 16 consecutive ANDs: a register of ANDs loads its own.
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

/// Garbles consecutive ANDs; `key` is S with the domain.
pub(crate) struct Garble<'a> {
    pub key: Block,
    pub first: u64,
    pub delta: Block,
    pub a: Operand<'a>,
    pub b: Operand<'a>,
    pub out: &'a mut [Block],
    pub tables: &'a mut [[Block; 2]],
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
        let flip = [self.a, self.b].map(|x| Block::mask(x.flip) & self.delta);
        let garbler = Garbler {
            key: self.key,
            delta: self.delta,
            flip,
        };
        let skip = (self.first % 4) as usize;
        for Step { at, len, skip } in Steps::new(skip, self.out.len(), 4 * W::LANES) {
            let bucket = (self.first + at as u64) / 4;
            let (a, b) = (&self.a.labels[at..at + len], &self.b.labels[at..at + len]);
            let (out, tables) = (&mut self.out[at..at + len], &mut self.tables[at..at + len]);
            match len {
                4 => garble_step(narrow, &garbler, bucket, [a, b], out, tables),
                5.. => garble_step(wide, &garbler, bucket, [a, b], out, tables),
                _ => {
                    let (a, b) = (pad(a, skip), pad(b, skip));
                    let (mut o, mut t) = ([Block::ZERO; 4], [[Block::ZERO; 2]; 4]);
                    garble_step(narrow, &garbler, bucket, [&a, &b], &mut o, &mut t);
                    out.copy_from_slice(&o[skip..skip + len]);
                    tables.copy_from_slice(&t[skip..skip + len]);
                }
            }
        }
    }
}

#[inline(always)]
fn garble_step<C: Lanes>(
    cpu: C,
    garbler: &Garbler,
    bucket: u64,
    [a, b]: [&[Block]; 2],
    out: &mut [Block],
    tables: &mut [[Block; 2]],
) {
    let n = 4 * C::LANES;
    assert!(a.len() == n && b.len() == n && out.len() == n && tables.len() == n);
    let tables: &mut [Block] = tables.as_flattened_mut();
    let delta = cpu.splat(garbler.delta);
    let flip = garbler.flip.map(|x| cpu.splat(x));
    let zero = cpu.splat(Block::ZERO);
    let (mut ab, mut x) = ([[zero; 2]; 4], [[zero; 4]; 4]);
    for r in 0..4 {
        let at = r * C::LANES;
        ab[r] = [
            cpu.xor(cpu.load(&a[at..]), flip[0]),
            cpu.xor(cpu.load(&b[at..]), flip[1]),
        ];
        let [a0, b0] = [
            cpu.xor(ab[r][0], cpu.load(&TWEAKS[0][at..])),
            cpu.xor(ab[r][1], cpu.load(&TWEAKS[1][at..])),
        ];
        x[r] = [
            cpu.sigma(a0),
            cpu.sigma(cpu.xor(a0, delta)),
            cpu.sigma(b0),
            cpu.sigma(cpu.xor(b0, delta)),
        ];
    }
    let mut y = x;
    encrypt_buckets(
        cpu,
        cpu.xor(cpu.splat(garbler.key), cpu.count(bucket)),
        &mut y,
    );
    for r in 0..4 {
        let [a0, b0] = ab[r];
        let (pa, pb) = (cpu.lsb_mask(a0), cpu.lsb_mask(b0));
        let ha0 = cpu.xor(x[r][0], y[r][0]);
        let hb0 = cpu.xor(x[r][2], y[r][2]);
        let table_g = cpu.xor_masked(cpu.xor3(ha0, x[r][1], y[r][1]), pb, delta);
        let mixed_e = cpu.xor3(hb0, x[r][3], y[r][3]);
        let table_e = cpu.xor(mixed_e, a0);
        let label = cpu.xor_masked(cpu.xor_masked(ha0, pa, table_g), pb, mixed_e);
        store(cpu, cpu.xor(label, hb0), &mut out[r * C::LANES..]);
        let [low, high] = cpu.zip(table_g, table_e);
        store(cpu, low, &mut tables[2 * r * C::LANES..]);
        store(cpu, high, &mut tables[(2 * r + 1) * C::LANES..]);
    }
}

/// Evaluates consecutive ANDs.
pub(crate) struct Evaluate<'a> {
    pub key: Block,
    pub first: u64,
    pub a: &'a [Block],
    pub b: &'a [Block],
    pub out: &'a mut [Block],
    pub tables: &'a [[Block; 2]],
}

impl Job for Evaluate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, narrow: N) {
        let skip = (self.first % 4) as usize;
        for Step { at, len, skip } in Steps::new(skip, self.out.len(), 4 * W::LANES) {
            let bucket = (self.first + at as u64) / 4;
            let (a, b) = (&self.a[at..at + len], &self.b[at..at + len]);
            let (out, tables) = (&mut self.out[at..at + len], &self.tables[at..at + len]);
            match len {
                4 => evaluate_step(narrow, self.key, bucket, [a, b], out, tables),
                5.. => evaluate_step(wide, self.key, bucket, [a, b], out, tables),
                _ => {
                    let (a, b, tables) = (pad(a, skip), pad(b, skip), pad(tables, skip));
                    let mut o = [Block::ZERO; 4];
                    evaluate_step(narrow, self.key, bucket, [&a, &b], &mut o, &tables);
                    out.copy_from_slice(&o[skip..skip + len]);
                }
            }
        }
    }
}

#[inline(always)]
fn evaluate_step<C: Lanes>(
    cpu: C,
    key: Block,
    bucket: u64,
    [a, b]: [&[Block]; 2],
    out: &mut [Block],
    tables: &[[Block; 2]],
) {
    let n = 4 * C::LANES;
    assert!(a.len() == n && b.len() == n && out.len() == n && tables.len() == n);
    let tables: &[Block] = tables.as_flattened();
    let mut x = [[cpu.splat(Block::ZERO); 2]; 4];
    for r in 0..4 {
        let at = r * C::LANES;
        x[r] = [
            cpu.sigma(cpu.xor(cpu.load(&a[at..]), cpu.load(&TWEAKS[0][at..]))),
            cpu.sigma(cpu.xor(cpu.load(&b[at..]), cpu.load(&TWEAKS[1][at..]))),
        ];
    }
    let mut y = x;
    encrypt_buckets(cpu, cpu.xor(cpu.splat(key), cpu.count(bucket)), &mut y);
    for r in 0..4 {
        let at = r * C::LANES;
        let (a, b) = (cpu.load(&a[at..]), cpu.load(&b[at..]));
        let [table_g, table_e] = cpu.unzip([
            cpu.load(&tables[2 * at..]),
            cpu.load(&tables[2 * at + C::LANES..]),
        ]);
        let ha = cpu.xor_masked(cpu.xor(x[r][0], y[r][0]), cpu.lsb_mask(a), table_g);
        let hb = cpu.xor_masked(
            cpu.xor(x[r][1], y[r][1]),
            cpu.lsb_mask(b),
            cpu.xor(table_e, a),
        );
        store(cpu, cpu.xor(ha, hb), &mut out[at..]);
    }
}

// ---- OT: a key for each index ----

/// Encrypts H blocks under each key of R registers of keys, scheduled on the way.
#[inline(always)]
fn encrypt_each<C: Lanes, const R: usize, const H: usize>(
    cpu: C,
    keys: [C::Reg; R],
    x: &mut [[C::Reg; H]; R],
) {
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

/// Both hashes of the sender.
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
            match len {
                4 => pairs_step(narrow, key, first, self.delta, q, m),
                5.. => pairs_step(wide, key, first, self.delta, q, m),
                _ => {
                    let (mut n0, mut n1) = ([Block::ZERO; 4], [Block::ZERO; 4]);
                    let n = [&mut n0[..], &mut n1[..]];
                    pairs_step(narrow, key, first, self.delta, &pad(q, 0), n);
                    m[0].copy_from_slice(&n0[..len]);
                    m[1].copy_from_slice(&n1[..len]);
                }
            }
        }
    }
}

#[inline(always)]
fn pairs_step<C: Lanes>(
    cpu: C,
    key: Block,
    first: u64,
    delta: Block,
    q: &[Block],
    [m0, m1]: [&mut [Block]; 2],
) {
    let n = 4 * C::LANES;
    assert!(q.len() == n && m0.len() == n && m1.len() == n);
    let delta = cpu.sigma(cpu.splat(delta));
    let mut x = [[delta; 2]; 4];
    for r in 0..4 {
        let q = cpu.sigma(cpu.load(&q[r * C::LANES..]));
        x[r] = [q, cpu.xor(q, delta)];
    }
    let mut y = x;
    encrypt_each(cpu, index_keys(cpu, key, first), &mut y);
    for r in 0..4 {
        store(cpu, cpu.xor(x[r][0], y[r][0]), &mut m0[r * C::LANES..]);
        store(cpu, cpu.xor(x[r][1], y[r][1]), &mut m1[r * C::LANES..]);
    }
}

/// The one hash of the receiver.
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
            match len {
                4 => chosen_step(narrow, key, first, t, m),
                5.. => chosen_step(wide, key, first, t, m),
                _ => {
                    let mut all = [Block::ZERO; 4];
                    chosen_step(narrow, key, first, &pad(t, 0), &mut all);
                    m.copy_from_slice(&all[..len]);
                }
            }
        }
    }
}

#[inline(always)]
fn chosen_step<C: Lanes>(cpu: C, key: Block, first: u64, t: &[Block], m: &mut [Block]) {
    assert!(t.len() == 4 * C::LANES && m.len() == 4 * C::LANES);
    let mut x = [[cpu.splat(Block::ZERO); 1]; 4];
    for r in 0..4 {
        x[r] = [cpu.sigma(cpu.load(&t[r * C::LANES..]))];
    }
    let mut y = x;
    encrypt_each(cpu, index_keys(cpu, key, first), &mut y);
    for r in 0..4 {
        store(cpu, cpu.xor(x[r][0], y[r][0]), &mut m[r * C::LANES..]);
    }
}
