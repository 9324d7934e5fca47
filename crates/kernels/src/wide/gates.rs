//! Half-gates, both roles. ANDs go in blocks of sixteen under four keys: a row of four consecutive ANDs has one under
//! each key, so that lane l of every register is under key l, and round keys serve all rows as they are scheduled.

use super::{Job, Lanes, ROUND_CONSTANTS};
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

/// ANDs of a block.
const BLOCK: usize = 16;

/// What is ours of the places of a block: `len` from `skip` on.
#[derive(Clone, Copy)]
struct Part {
    skip: usize,
    len: usize,
}

impl Part {
    const WHOLE: Part = Part { skip: 0, len: BLOCK };

    /// Of a block that begins before AND number `first`, with `left` ANDs from there on.
    #[inline(always)]
    fn new(first: u64, left: usize) -> Part {
        let skip = (first % BLOCK as u64) as usize;
        Part { skip, len: left.min(BLOCK - skip) }
    }

    /// The same ANDs' ciphertexts, which are two each.
    #[inline(always)]
    fn pairs(self) -> Part {
        Part { skip: 2 * self.skip, len: 2 * self.len }
    }

    /// The row that holds all of it, if one does.
    #[inline(always)]
    fn row(self) -> Option<usize> {
        (self.skip / 4 == (self.skip + self.len - 1) / 4).then_some(self.skip / 4)
    }

    /// Whether an AND is in the columns of a register that begins at this one.
    #[inline(always)]
    fn meets<C: Lanes>(self, column: usize) -> bool {
        C::LANES == 4 || (self.skip..self.skip + self.len).any(|place| (column..column + C::LANES).contains(&(place % 4)))
    }

    /// The lanes that are ours of a register that begins at `place`, and which of our operands is in the first of them.
    #[inline(always)]
    fn lanes<C: Lanes>(self, place: usize) -> (std::ops::Range<usize>, usize) {
        let (from, to) = (place.max(self.skip), (place + C::LANES).min(self.skip + self.len));
        if from < to { (from - place..to - place, from - self.skip) } else { (0..0, 0) }
    }

    #[inline(always)]
    fn fetch<C: Lanes>(self, cpu: C, place: usize, from: &[[u8; 16]]) -> C::Reg {
        if self.skip == 0 && place + C::LANES <= self.len {
            return cpu.fetch(&from[place..]);
        }
        let (lanes, at) = self.lanes::<C>(place);
        cpu.fetch_part(&from[at..], lanes)
    }

    #[inline(always)]
    fn load<C: Lanes>(self, cpu: C, place: usize, from: &[Block]) -> C::Reg {
        self.fetch(cpu, place, bytemuck::cast_slice(from))
    }

    #[inline(always)]
    fn store<C: Lanes>(self, cpu: C, x: C::Reg, place: usize, to: &mut [[u8; 16]]) {
        if self.skip == 0 && place + C::LANES <= self.len {
            return cpu.store(x, &mut to[place..]);
        }
        let (lanes, at) = self.lanes::<C>(place);
        cpu.store_part(x, &mut to[at..], lanes);
    }
}

/// Where the registers of a step lie in their block: the column of their first lane, the first of their rows.
#[derive(Clone, Copy)]
struct Spot {
    column: usize,
    row: usize,
}

impl Spot {
    /// The place of the first lane of register r.
    #[inline(always)]
    fn place(self, r: usize) -> usize {
        4 * (self.row + r) + self.column
    }
}

/// The numbers of the buckets of the first register's lanes in the block that holds an AND.
#[inline(always)]
fn buckets<C: Lanes>(cpu: C, and: u64) -> C::Reg {
    cpu.count(and / BLOCK as u64 * 4)
}

/// Adds to numbers of buckets.
#[inline(always)]
fn on<C: Lanes>(cpu: C, buckets: C::Reg, by: usize) -> C::Reg {
    cpu.add(buckets, cpu.splat(Block::new(by as u128)))
}

/// σ of both halves' tweaks 2·row + half.
#[inline(always)]
fn tweaks<C: Lanes>(cpu: C, row: usize) -> [C::Reg; 2] {
    static TWEAKS: [[[Block; 4]; 2]; 4] = {
        let mut tweaks = [[[Block::ZERO; 4]; 2]; 4];
        let mut i = 0;
        while i < 8 {
            // σ moves the low half to the high one, which it is added to: of a small number, that is all.
            tweaks[i / 2][i % 2] = [Block::new((i as u128) << 64); 4];
            i += 1;
        }
        tweaks
    };
    [cpu.load(&TWEAKS[row][0]), cpu.load(&TWEAKS[row][1])]
}

/// What does not change from step to step.
///
/// Complements cost nothing. Let E₀, E₁ be the hashes of a and a ⊕ Δ as they come, F₀, F₁ of b and b ⊕ Δ, s and t
/// the lowest bits of a and b. With Δ added to a (f_a = 1) or b, T_G = E₀ ⊕ E₁ ⊕ (t ⊕ f_b)·Δ as without but for
/// f_b, with u = F₀ ⊕ F₁ ⊕ f_a·Δ we have T_E = u ⊕ a, and the label is E₀ ⊕ F₀ ⊕ s·T_G ⊕ t·u ⊕ f_a·f_b·Δ.
struct Garbler<C: Lanes> {
    key: C::Reg,
    delta: C::Reg,
    sigma_delta: C::Reg,
    /// σ(Δ) ⊕ f_b·Δ: what the sum of two encryptions, E₀ and E₁, lacks.
    of_g: C::Reg,
    /// σ(Δ) ⊕ f_a·Δ.
    of_u: C::Reg,
    /// The difference of the halves' tweaks after σ, and f_a·f_b·Δ.
    of_label: C::Reg,
}

impl<C: Lanes> Garbler<C> {
    #[inline(always)]
    fn new(cpu: C, job: &Garble) -> Self {
        let (sigma, flip) = (job.delta.sigma(), [job.a, job.b].map(|x| Block::mask(x.flip) & job.delta));
        Garbler {
            key: cpu.splat(job.key),
            delta: cpu.splat(job.delta),
            sigma_delta: cpu.splat(sigma),
            of_g: cpu.splat(sigma ^ flip[1]),
            of_u: cpu.splat(sigma ^ flip[0]),
            of_label: cpu.splat(Block::new(1).sigma() ^ (flip[0] & flip[1])),
        }
    }
}

impl Job for Garble<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, cpu: W, _: N) {
        let garbler = Garbler::new(cpu, &self);
        let (mut at, mut buckets) = (0, buckets(cpu, self.first));
        while at < self.out.len() {
            let part = Part::new(self.first.wrapping_add(at as u64), self.out.len() - at);
            let ours = at..at + part.len;
            let operands = [&self.a.labels[ours.clone()], &self.b.labels[ours.clone()]];
            let results = (&mut self.out[ours.clone()], &mut self.tables[ours]);
            for column in (0..4).step_by(W::LANES) {
                let (key, spot) = (cpu.xor(garbler.key, on(cpu, buckets, column)), Spot { column, row: 0 });
                if part.len == BLOCK {
                    garble_rows::<W, 4>(cpu, &garbler, key, spot, Part::WHOLE, operands, (&mut *results.0, &mut *results.1));
                } else if !part.meets::<W>(column) {
                    continue;
                } else if let Some(row) = part.row() {
                    let spot = Spot { row, ..spot };
                    garble_rows::<W, 1>(cpu, &garbler, key, spot, part, operands, (&mut *results.0, &mut *results.1));
                } else {
                    garble_rows::<W, 4>(cpu, &garbler, key, spot, part, operands, (&mut *results.0, &mut *results.1));
                }
            }
            at += part.len;
            buckets = on(cpu, buckets, 4);
        }
    }
}

#[inline(always)]
fn garble_rows<C: Lanes, const R: usize>(
    cpu: C,
    garbler: &Garbler<C>,
    key: C::Reg,
    spot: Spot,
    part: Part,
    [a, b]: [&[Block]; 2],
    (out, tables): (&mut [Block], &mut [Ciphertexts]),
) {
    let mut x = [[key; 4]; R];
    let mut both = [key; R];
    for r in 0..R {
        let (a, b) = (part.load(cpu, spot.place(r), a), part.load(cpu, spot.place(r), b));
        let (a, b) = (cpu.sigma(a), cpu.sigma(b));
        let [of_a, of_b] = tweaks(cpu, spot.row + r);
        let (a0, b0) = (cpu.begin(cpu.xor(a, of_a), key), cpu.begin(cpu.xor(b, of_b), key));
        x[r] = [a0, cpu.xor(a0, garbler.sigma_delta), b0, cpu.xor(b0, garbler.sigma_delta)];
        both[r] = cpu.xor3(a, b, garbler.of_label);
    }
    encrypt(cpu, key, &mut x);
    for r in 0..R {
        let place = spot.place(r);
        let (a, b) = (part.load(cpu, place, a), part.load(cpu, place, b));
        let (s, t) = (cpu.lsb(a), cpu.lsb(b));
        let table_g = cpu.xor_if(cpu.xor3(x[r][0], x[r][1], garbler.of_g), t, garbler.delta);
        let u = cpu.xor3(x[r][2], x[r][3], garbler.of_u);
        let label = cpu.xor3(x[r][0], x[r][2], both[r]);
        let label = cpu.xor_if(cpu.xor_if(label, s, table_g), t, u);
        part.store(cpu, label, place, bytemuck::cast_slice_mut(out));
        let [low, high] = cpu.zip(table_g, cpu.xor(u, a));
        part.pairs().store(cpu, low, 2 * place, tables.as_flattened_mut());
        part.pairs().store(cpu, high, 2 * place + C::LANES, tables.as_flattened_mut());
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
    fn run<W: Lanes, N: Lanes>(self, cpu: W, _: N) {
        let key = cpu.splat(self.key);
        let (mut at, mut buckets) = (0, buckets(cpu, self.first));
        while at < self.out.len() {
            let part = Part::new(self.first.wrapping_add(at as u64), self.out.len() - at);
            let ours = at..at + part.len;
            let operands = [&self.a[ours.clone()], &self.b[ours.clone()]];
            let (out, tables) = (&mut self.out[ours.clone()], &self.tables[ours]);
            for column in (0..4).step_by(W::LANES) {
                let (key, spot) = (cpu.xor(key, on(cpu, buckets, column)), Spot { column, row: 0 });
                if part.len == BLOCK {
                    evaluate_rows::<W, 4>(cpu, key, spot, Part::WHOLE, operands, out, tables);
                } else if !part.meets::<W>(column) {
                    continue;
                } else if let Some(row) = part.row() {
                    evaluate_rows::<W, 1>(cpu, key, Spot { row, ..spot }, part, operands, out, tables);
                } else {
                    evaluate_rows::<W, 4>(cpu, key, spot, part, operands, out, tables);
                }
            }
            at += part.len;
            buckets = on(cpu, buckets, 4);
        }
    }
}

#[inline(always)]
fn evaluate_rows<C: Lanes, const R: usize>(
    cpu: C,
    key: C::Reg,
    spot: Spot,
    part: Part,
    [a, b]: [&[Block]; 2],
    out: &mut [Block],
    tables: &[Ciphertexts],
) {
    let of_label = cpu.splat(Block::new(1).sigma());
    let mut x = [[key; 2]; R];
    let mut both = [key; R];
    for r in 0..R {
        let (a, b) = (part.load(cpu, spot.place(r), a), part.load(cpu, spot.place(r), b));
        let (a, b) = (cpu.sigma(a), cpu.sigma(b));
        let [of_a, of_b] = tweaks(cpu, spot.row + r);
        x[r] = [cpu.begin(cpu.xor(a, of_a), key), cpu.begin(cpu.xor(b, of_b), key)];
        both[r] = cpu.xor3(a, b, of_label);
    }
    encrypt(cpu, key, &mut x);
    for r in 0..R {
        let place = spot.place(r);
        let (a, b) = (part.load(cpu, place, a), part.load(cpu, place, b));
        let (pairs, tables) = (part.pairs(), tables.as_flattened());
        let low = pairs.fetch(cpu, 2 * place, tables);
        let high = pairs.fetch(cpu, 2 * place + C::LANES, tables);
        let [table_g, table_e] = cpu.unzip([low, high]);
        let label = cpu.xor3(x[r][0], x[r][1], both[r]);
        let label = cpu.xor3_if(cpu.xor_if(label, cpu.lsb(a), table_g), cpu.lsb(b), table_e, a);
        part.store(cpu, label, place, bytemuck::cast_slice_mut(out));
    }
}

/// Encrypts blocks, to which `begin` was done, under these keys.
#[inline(always)]
fn encrypt<C: Lanes, const H: usize, const R: usize>(cpu: C, keys: C::Reg, x: &mut [[C::Reg; H]; R]) {
    let mut before = keys;
    for constant in &ROUND_CONSTANTS[..9] {
        let after = cpu.next_key(before, *constant);
        for x in x.as_flattened_mut() {
            *x = cpu.round(*x, before, after);
        }
        before = after;
    }
    let after = cpu.next_key(before, ROUND_CONSTANTS[9]);
    for x in x.as_flattened_mut() {
        *x = cpu.end(*x, before, after);
    }
}
