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
        C::LANES == 4
            || (self.skip..self.skip + self.len).any(|place| (column..column + C::LANES).contains(&(place % 4)))
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
    fn store<C: Lanes>(self, cpu: C, x: C::Reg, place: usize, to: &mut [[u8; 16]]) {
        if self.skip == 0 && place + C::LANES <= self.len {
            return cpu.store(x, &mut to[place..]);
        }
        let (lanes, at) = self.lanes::<C>(place);
        cpu.store_part(x, &mut to[at..], lanes);
    }
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

/// The ANDs of one register: from `place` on in a block, of which `part` is ours, from operand `at` on.
#[derive(Clone, Copy)]
struct Spot {
    at: usize,
    part: Part,
    place: usize,
}

impl Spot {
    #[inline(always)]
    fn load<C: Lanes>(self, cpu: C, from: &[Block]) -> C::Reg {
        self.part.fetch(cpu, self.place, bytemuck::cast_slice(&from[self.at..self.at + self.part.len]))
    }

    #[inline(always)]
    fn store<C: Lanes>(self, cpu: C, x: C::Reg, to: &mut [Block]) {
        self.part.store(cpu, x, self.place, bytemuck::cast_slice_mut(&mut to[self.at..self.at + self.part.len]));
    }

    /// The ciphertexts, in two registers.
    #[inline(always)]
    fn load_pairs<C: Lanes>(self, cpu: C, from: &[Ciphertexts]) -> [C::Reg; 2] {
        let (pairs, from) = (self.part.pairs(), from[self.at..self.at + self.part.len].as_flattened());
        [pairs.fetch(cpu, 2 * self.place, from), pairs.fetch(cpu, 2 * self.place + C::LANES, from)]
    }

    #[inline(always)]
    fn store_pairs<C: Lanes>(self, cpu: C, x: [C::Reg; 2], to: &mut [Ciphertexts]) {
        let (pairs, to) = (self.part.pairs(), to[self.at..self.at + self.part.len].as_flattened_mut());
        pairs.store(cpu, x[0], 2 * self.place, to);
        pairs.store(cpu, x[1], 2 * self.place + C::LANES, to);
    }
}

/// What a role does before and after H blocks of each AND of a register are encrypted.
trait Role<C: Lanes, const H: usize> {
    /// The blocks, to which `begin` was done with the key, and what the label has of them besides.
    fn open(&self, cpu: C, spot: Spot, key: C::Reg) -> ([C::Reg; H], C::Reg);
    /// Stores what comes of the encrypted blocks.
    fn close(&mut self, cpu: C, spot: Spot, y: [C::Reg; H], both: C::Reg);
}

/// What does not change from step to step.
///
/// Complements cost nothing. Let E₀, E₁ be the hashes of a and a ⊕ Δ as they come, F₀, F₁ of b and b ⊕ Δ, s and t
/// the lowest bits of a and b. With Δ added to a (f_a = 1) or b, T_G = E₀ ⊕ E₁ ⊕ (t ⊕ f_b)·Δ as without but for
/// f_b, with u = F₀ ⊕ F₁ ⊕ f_a·Δ we have T_E = u ⊕ a, and the label is E₀ ⊕ F₀ ⊕ s·T_G ⊕ t·u ⊕ f_a·f_b·Δ.
struct Garbler<'a, C: Lanes> {
    job: Garble<'a>,
    delta: C::Reg,
    sigma_delta: C::Reg,
    /// σ(Δ) ⊕ f_b·Δ: what the sum of two encryptions, E₀ and E₁, lacks.
    of_g: C::Reg,
    /// σ(Δ) ⊕ f_a·Δ.
    of_u: C::Reg,
    /// The difference of the halves' tweaks after σ, and f_a·f_b·Δ.
    of_label: C::Reg,
}

impl<'a, C: Lanes> Garbler<'a, C> {
    #[inline(always)]
    fn new(cpu: C, job: Garble<'a>) -> Self {
        let (sigma, flip) = (job.delta.sigma(), [job.a, job.b].map(|x| Block::mask(x.flip) & job.delta));
        Garbler {
            delta: cpu.splat(job.delta),
            sigma_delta: cpu.splat(sigma),
            of_g: cpu.splat(sigma ^ flip[1]),
            of_u: cpu.splat(sigma ^ flip[0]),
            of_label: cpu.splat(Block::new(1).sigma() ^ (flip[0] & flip[1])),
            job,
        }
    }
}

impl Job for Garble<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, cpu: W, _: N) {
        let (key, first, len) = (self.key, self.first, self.out.len());
        walk(cpu, &mut Garbler::new(cpu, self), key, first, len);
    }
}

impl<C: Lanes> Role<C, 4> for Garbler<'_, C> {
    #[inline(always)]
    fn open(&self, cpu: C, spot: Spot, key: C::Reg) -> ([C::Reg; 4], C::Reg) {
        let (a, b) = (spot.load(cpu, self.job.a.labels), spot.load(cpu, self.job.b.labels));
        let (a, b) = (cpu.sigma(a), cpu.sigma(b));
        let [of_a, of_b] = tweaks(cpu, spot.place / 4);
        let (a0, b0) = (cpu.begin(cpu.xor(a, of_a), key), cpu.begin(cpu.xor(b, of_b), key));
        let (a1, b1) = (cpu.xor(a0, self.sigma_delta), cpu.xor(b0, self.sigma_delta));
        ([a0, a1, b0, b1], cpu.xor3(a, b, self.of_label))
    }

    #[inline(always)]
    fn close(&mut self, cpu: C, spot: Spot, y: [C::Reg; 4], both: C::Reg) {
        let (a, b) = (spot.load(cpu, self.job.a.labels), spot.load(cpu, self.job.b.labels));
        let (s, t) = (cpu.lsb(a), cpu.lsb(b));
        let table_g = cpu.xor_if(cpu.xor3(y[0], y[1], self.of_g), t, self.delta);
        let u = cpu.xor3(y[2], y[3], self.of_u);
        let label = cpu.xor_if(cpu.xor_if(cpu.xor3(y[0], y[2], both), s, table_g), t, u);
        spot.store(cpu, label, self.job.out);
        spot.store_pairs(cpu, cpu.zip(table_g, cpu.xor(u, a)), self.job.tables);
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
    fn run<W: Lanes, N: Lanes>(mut self, cpu: W, _: N) {
        let (key, first, len) = (self.key, self.first, self.out.len());
        walk(cpu, &mut self, key, first, len);
    }
}

impl<C: Lanes> Role<C, 2> for Evaluate<'_> {
    #[inline(always)]
    fn open(&self, cpu: C, spot: Spot, key: C::Reg) -> ([C::Reg; 2], C::Reg) {
        let (a, b) = (spot.load(cpu, self.a), spot.load(cpu, self.b));
        let (a, b) = (cpu.sigma(a), cpu.sigma(b));
        let [of_a, of_b] = tweaks(cpu, spot.place / 4);
        let x = [cpu.begin(cpu.xor(a, of_a), key), cpu.begin(cpu.xor(b, of_b), key)];
        (x, cpu.xor3(a, b, cpu.splat(Block::new(1).sigma())))
    }

    #[inline(always)]
    fn close(&mut self, cpu: C, spot: Spot, y: [C::Reg; 2], both: C::Reg) {
        let (a, b) = (spot.load(cpu, self.a), spot.load(cpu, self.b));
        let [table_g, table_e] = cpu.unzip(spot.load_pairs(cpu, self.tables));
        let label = cpu.xor_if(cpu.xor3(y[0], y[1], both), cpu.lsb(a), table_g);
        spot.store(cpu, cpu.xor3_if(label, cpu.lsb(b), table_e, a), self.out);
    }
}

/// All ANDs: whole blocks in one stream, if a row fills a register, and the parts of blocks at the ends.
#[inline(always)]
fn walk<C: Lanes, const H: usize>(cpu: C, role: &mut impl Role<C, H>, key: Block, first: u64, len: usize) {
    let key = cpu.splat(key);
    let mut at = 0;
    while at < len {
        let number = first.wrapping_add(at as u64);
        let (part, bucket) = (Part::new(number, len - at), number / BLOCK as u64 * 4);
        if part.len == BLOCK && C::LANES == 4 {
            let blocks = (len - at) / BLOCK;
            stream(cpu, role, key, cpu.count(bucket), at, blocks);
            at += blocks * BLOCK;
            continue;
        }
        for column in (0..4).step_by(C::LANES).filter(|&column| part.meets::<C>(column)) {
            let key = cpu.xor(key, cpu.count(bucket + column as u64));
            if part.len == BLOCK {
                rows::<C, H, 4>(cpu, role, key, Spot { at, part: Part::WHOLE, place: column });
            } else if let Some(row) = part.row() {
                rows::<C, H, 1>(cpu, role, key, Spot { at, part, place: 4 * row + column });
            } else {
                rows::<C, H, 4>(cpu, role, key, Spot { at, part, place: column });
            }
        }
        at += part.len;
    }
}

/// R rows of a block from a spot on, each a register.
#[inline(always)]
fn rows<C: Lanes, const H: usize, const R: usize>(cpu: C, role: &mut impl Role<C, H>, key: C::Reg, spot: Spot) {
    let mut x = [([key; H], key); R];
    for r in 0..R {
        x[r] = role.open(cpu, Spot { place: spot.place + 4 * r, ..spot }, key);
    }
    let mut before = key;
    for constant in &ROUND_CONSTANTS[..9] {
        let after = cpu.next_key(before, *constant);
        for (x, _) in &mut x {
            for x in x {
                *x = cpu.round(*x, before, after);
            }
        }
        before = after;
    }
    let after = cpu.next_key(before, ROUND_CONSTANTS[9]);
    for (x, _) in &mut x {
        for x in x {
            *x = cpu.end(*x, before, after);
        }
    }
    for r in 0..R {
        role.close(cpu, Spot { place: spot.place + 4 * r, ..spot }, x[r].0, x[r].1);
    }
}

/// Rounds in each quarter of a turn.
const PACE: [usize; 4] = [3, 2, 3, 2];

/// Rounds that a row has behind it when a quarter begins: its first quarter is that of its number.
const fn done(row: usize, quarter: usize) -> usize {
    let (mut rounds, mut at) = (0, row);
    while at != quarter {
        rounds += PACE[at];
        at = (at + 1) % 4;
    }
    rounds
}

/// Blocks under way: four rows that are a quarter of an encryption apart.
///
/// Encryption alone keeps one port of the processor busy, what stands before and after it another, and no
/// processor looks far enough ahead to do one block's end beside the next one's rounds by itself.
type Flight<C, const H: usize> = [([<C as Lanes>::Reg; H], <C as Lanes>::Reg); 4];

/// Round keys of block n in entry n modulo 4, scheduled during the block before.
type Ring<C> = [[<C as Lanes>::Reg; 11]; 4];

/// Whole blocks of registers of four, from operand `at` on.
#[inline(always)]
fn stream<C: Lanes, const H: usize>(
    cpu: C,
    role: &mut impl Role<C, H>,
    key: C::Reg,
    mut buckets: C::Reg,
    at: usize,
    blocks: usize,
) {
    let four = cpu.splat(Block::new(4));
    let (mut flight, mut keys): (Flight<C, H>, Ring<C>) = ([([key; H], key); 4], [[key; 11]; 4]);
    let mut next = cpu.xor(key, buckets);
    for (round, constant) in ROUND_CONSTANTS.iter().enumerate() {
        keys[0][round] = next;
        next = cpu.next_key(next, *constant);
    }
    keys[0][10] = next;
    let spot = |n: usize| Spot { at: at + BLOCK * n, part: Part::WHOLE, place: 0 };
    buckets = cpu.add(buckets, four);
    turn::<C, H, FIRST>(cpu, role, &mut flight, &mut keys, cpu.xor(key, buckets), spot(0), 0);
    for n in 1..blocks {
        buckets = cpu.add(buckets, four);
        turn::<C, H, BOTH>(cpu, role, &mut flight, &mut keys, cpu.xor(key, buckets), spot(n), n);
    }
    turn::<C, H, LAST>(cpu, role, &mut flight, &mut keys, key, spot(blocks), blocks);
}

/// Kinds of turns: no block ends, none begins, one of each.
const FIRST: u8 = 0;
const LAST: u8 = 1;
const BOTH: u8 = 2;

/// Row by row, the end of block n − 1 and the beginning of block n.
#[inline(always)]
fn turn<C: Lanes, const H: usize, const KIND: u8>(
    cpu: C,
    role: &mut impl Role<C, H>,
    flight: &mut Flight<C, H>,
    keys: &mut Ring<C>,
    next: C::Reg,
    spot: Spot,
    n: usize,
) {
    let next = quarter::<C, H, KIND, 0>(cpu, role, flight, keys, next, spot, n);
    let next = quarter::<C, H, KIND, 1>(cpu, role, flight, keys, next, spot, n);
    let next = quarter::<C, H, KIND, 2>(cpu, role, flight, keys, next, spot, n);
    quarter::<C, H, KIND, 3>(cpu, role, flight, keys, next, spot, n);
}

#[inline(always)]
fn quarter<C: Lanes, const H: usize, const KIND: u8, const Q: usize>(
    cpu: C,
    role: &mut impl Role<C, H>,
    flight: &mut Flight<C, H>,
    keys: &mut Ring<C>,
    mut next: C::Reg,
    spot: Spot,
    n: usize,
) -> C::Reg {
    let spot = Spot { place: 4 * Q, ..spot };
    if KIND != FIRST {
        role.close(cpu, Spot { at: spot.at - BLOCK, ..spot }, flight[Q].0, flight[Q].1);
    }
    if KIND != LAST {
        flight[Q] = role.open(cpu, spot, keys[n % 4][0]);
    }
    next = slot::<C, H, KIND, Q, 0>(cpu, flight, keys, next, n);
    next = slot::<C, H, KIND, Q, 1>(cpu, flight, keys, next, n);
    if PACE[Q] == 3 {
        next = slot::<C, H, KIND, Q, 2>(cpu, flight, keys, next, n);
    }
    next
}

/// One round of every row, and one of the next block's schedule.
#[inline(always)]
fn slot<C: Lanes, const H: usize, const KIND: u8, const Q: usize, const K: usize>(
    cpu: C,
    flight: &mut Flight<C, H>,
    keys: &mut Ring<C>,
    mut next: C::Reg,
    n: usize,
) -> C::Reg {
    if KIND != LAST {
        let keys = &mut keys[(n + 1) % 4];
        keys[done(0, Q) + K] = next;
        next = cpu.next_key(next, ROUND_CONSTANTS[done(0, Q) + K]);
        if done(0, Q) + K == 9 {
            keys[10] = next;
        }
    }
    for row in 0..4 {
        let begun = row <= Q;
        if KIND == if begun { LAST } else { FIRST } {
            continue;
        }
        let keys = &keys[if begun { n % 4 } else { (n + 3) % 4 }];
        let round = done(row, Q) + K + 1;
        let (before, after) = (keys[round - 1], keys[round]);
        for x in &mut flight[row].0 {
            *x = if round == 10 { cpu.end(*x, before, after) } else { cpu.round(*x, before, after) };
        }
    }
    next
}
