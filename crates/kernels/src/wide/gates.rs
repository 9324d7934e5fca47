//! Half-gates, both roles. ANDs go in blocks of sixteen under four keys: a row of four consecutive ANDs has one under
//! each key, so that lane l of every register is under key l, and round keys serve all rows as they are scheduled.

use super::{Job, Lanes, ROUND_CONSTANTS};
use crate::Block;
use crate::gates::{Gate, Numbers};
use crate::hash::{Ciphertexts, Operand};
use crate::rows::Strip;

/// Where the labels of ANDs lie: ANDs of some gates, on the lanes of a row.
pub(crate) trait Wires {
    /// Where operands and results are.
    fn a(&self) -> &[Block];
    fn b(&self) -> &[Block];
    fn out(&mut self) -> &mut [Block];
    /// Where among these a gate's lane is: its operands and its result.
    fn places(&self, gate: usize, lane: usize) -> [usize; 3];
    /// Which operands of a gate enter complemented.
    fn flips(&self, gate: usize) -> [bool; 2];
    /// The gates, the lanes that are meant, and the numbers of ANDs.
    fn course(&self) -> Course;
}

/// One gate on consecutive ANDs.
pub(crate) struct Run<'a> {
    pub first: u64,
    pub a: Operand<'a>,
    pub b: Operand<'a>,
    pub out: &'a mut [Block],
}

impl Wires for Run<'_> {
    #[inline(always)]
    fn a(&self) -> &[Block] {
        self.a.labels
    }

    #[inline(always)]
    fn b(&self) -> &[Block] {
        self.b.labels
    }

    #[inline(always)]
    fn out(&mut self) -> &mut [Block] {
        self.out
    }

    #[inline(always)]
    fn places(&self, _: usize, lane: usize) -> [usize; 3] {
        [lane; 3]
    }

    #[inline(always)]
    fn flips(&self, _: usize) -> [bool; 2] {
        [self.a.flip, self.b.flip]
    }

    #[inline(always)]
    fn course(&self) -> Course {
        Course::new(1, self.out.len(), Numbers { first: self.first, step: 0 })
    }
}

/// Gates of a matrix, none of which reads what an earlier one writes.
pub(crate) struct Several<'a> {
    pub numbers: Numbers,
    pub strip: Strip<'a>,
    pub gates: &'a [Gate],
}

impl Wires for Several<'_> {
    #[inline(always)]
    fn a(&self) -> &[Block] {
        self.strip.blocks
    }

    #[inline(always)]
    fn b(&self) -> &[Block] {
        self.strip.blocks
    }

    #[inline(always)]
    fn out(&mut self) -> &mut [Block] {
        self.strip.blocks
    }

    #[inline(always)]
    fn places(&self, gate: usize, lane: usize) -> [usize; 3] {
        let (Gate { a, b, out, .. }, len) = (self.gates[gate], self.strip.len);
        [a as usize * len + lane, b as usize * len + lane, out as usize * len + lane]
    }

    #[inline(always)]
    fn flips(&self, gate: usize) -> [bool; 2] {
        self.gates[gate].flips
    }

    #[inline(always)]
    fn course(&self) -> Course {
        Course::new(self.gates.len(), self.strip.len, self.numbers)
    }
}

/// Garbles ANDs; `key` is S with the domain. Each gate has a row of tables.
pub(crate) struct Garble<'a, 'b, W> {
    pub key: Block,
    pub delta: Block,
    pub wires: W,
    pub tables: &'a mut [&'b mut [Ciphertexts]],
}

/// ANDs of a block.
pub(super) const BLOCK: usize = 16;

/// What is ours of the places of a block: `len` from `skip` on.
#[derive(Clone, Copy)]
pub(super) struct Part {
    skip: usize,
    pub len: usize,
}

impl Part {
    pub const WHOLE: Part = Part { skip: 0, len: BLOCK };

    /// Of a block that begins before AND number `first`, with `left` ANDs from there on.
    #[inline(always)]
    pub fn new(first: u64, left: usize) -> Part {
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
    pub fn row(self) -> Option<usize> {
        (self.skip / 4 == (self.skip + self.len - 1) / 4).then_some(self.skip / 4)
    }

    /// Whether an AND is in the columns of a register that begins at this one.
    #[inline(always)]
    pub fn meets<C: Lanes>(self, column: usize) -> bool {
        C::LANES == 4
            || (self.skip..self.skip + self.len).any(|place| (column..column + C::LANES).contains(&(place % 4)))
    }

    /// The lanes that are ours of a register that begins at `place`, and which of our operands is in the first of them.
    #[inline(always)]
    pub fn lanes<C: Lanes>(self, place: usize) -> (std::ops::Range<usize>, usize) {
        let (from, to) = (place.max(self.skip), (place + C::LANES).min(self.skip + self.len));
        if from < to { (from - place..to - place, from - self.skip) } else { (0..0, 0) }
    }

    #[inline(always)]
    pub fn fetch<C: Lanes>(self, cpu: C, place: usize, from: &[[u8; 16]]) -> C::Reg {
        if self.skip == 0 && place + C::LANES <= self.len {
            return cpu.fetch(&from[place..]);
        }
        let (lanes, at) = self.lanes::<C>(place);
        cpu.fetch_part(&from[at..], lanes)
    }

    #[inline(always)]
    pub fn store<C: Lanes>(self, cpu: C, x: C::Reg, place: usize, to: &mut [[u8; 16]]) {
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

/// The ANDs of one register: from `place` on in a block, of which `part` is ours, from a lane of a gate on.
#[derive(Clone, Copy)]
struct Spot {
    gate: usize,
    lane: usize,
    /// Where this lane is among operands and results.
    places: [usize; 3],
    part: Part,
    place: usize,
}

impl Spot {
    #[inline(always)]
    fn load<C: Lanes>(self, cpu: C, from: &[Block], at: usize) -> C::Reg {
        self.part.fetch(cpu, self.place, bytemuck::cast_slice(&from[at..at + self.part.len]))
    }

    /// Both operands.
    #[inline(always)]
    fn operands<C: Lanes>(self, cpu: C, wires: &impl Wires) -> [C::Reg; 2] {
        [self.load(cpu, wires.a(), self.places[0]), self.load(cpu, wires.b(), self.places[1])]
    }

    /// Those of a whole block, row by row.
    #[inline(always)]
    fn block<C: Lanes>(self, cpu: C, wires: &impl Wires) -> Operands<C> {
        let a: &[Block; BLOCK] = wires.a()[self.places[0]..].first_chunk().expect("a whole block");
        let b: &[Block; BLOCK] = wires.b()[self.places[1]..].first_chunk().expect("a whole block");
        let row = |r: usize| [cpu.load(&a[4 * r..]), cpu.load(&b[4 * r..])];
        [row(0), row(1), row(2), row(3)]
    }

    #[inline(always)]
    fn store<C: Lanes>(self, cpu: C, x: C::Reg, wires: &mut impl Wires) {
        let (at, len) = (self.places[2], self.part.len);
        self.part.store(cpu, x, self.place, bytemuck::cast_slice_mut(&mut wires.out()[at..at + len]));
    }

    /// The ciphertexts, in two registers.
    #[inline(always)]
    fn load_pairs<C: Lanes>(self, cpu: C, from: &[&[Ciphertexts]]) -> [C::Reg; 2] {
        let row = from[self.gate];
        let (pairs, from) = (self.part.pairs(), row[self.lane..self.lane + self.part.len].as_flattened());
        [pairs.fetch(cpu, 2 * self.place, from), pairs.fetch(cpu, 2 * self.place + C::LANES, from)]
    }

    #[inline(always)]
    fn store_pairs<C: Lanes>(self, cpu: C, x: [C::Reg; 2], to: &mut [&mut [Ciphertexts]]) {
        let row = &mut to[self.gate];
        let (pairs, to) = (self.part.pairs(), row[self.lane..self.lane + self.part.len].as_flattened_mut());
        pairs.store(cpu, x[0], 2 * self.place, to);
        pairs.store(cpu, x[1], 2 * self.place + C::LANES, to);
    }
}

/// The operands of a register of ANDs.
type Pair<C> = [<C as Lanes>::Reg; 2];

/// H blocks of each AND of a register on their way, and what the label has of them besides.
type Encrypted<C, const H: usize> = ([<C as Lanes>::Reg; H], <C as Lanes>::Reg);

/// What a role does before and after H blocks of each AND of a register are encrypted.
trait Role<C: Lanes, const H: usize> {
    fn wires(&self) -> &impl Wires;
    /// The blocks, to which `begin` was done with the key.
    fn open(&self, cpu: C, spot: Spot, ab: Pair<C>, key: C::Reg) -> Encrypted<C, H>;
    /// Stores what comes of the encrypted blocks.
    fn close(&mut self, cpu: C, spot: Spot, ab: Pair<C>, y: Encrypted<C, H>);
}

/// What does not change from step to step.
///
/// Complements cost nothing. Let E₀, E₁ be the hashes of a and a ⊕ Δ as they come, F₀, F₁ of b and b ⊕ Δ, s and t
/// the lowest bits of a and b. With Δ added to a (f_a = 1) or b, T_G = E₀ ⊕ E₁ ⊕ (t ⊕ f_b)·Δ as without but for
/// f_b, with u = F₀ ⊕ F₁ ⊕ f_a·Δ we have T_E = u ⊕ a, and the label is E₀ ⊕ F₀ ⊕ s·T_G ⊕ t·u ⊕ f_a·f_b·Δ.
struct Garbler<'a, 'b, C: Lanes, W> {
    job: Garble<'a, 'b, W>,
    delta: C::Reg,
    sigma_delta: C::Reg,
    /// σ(Δ) ⊕ f·Δ: with f_b what the sum of two encryptions, E₀ and E₁, lacks, with f_a that of F₀ and F₁.
    sums: [C::Reg; 2],
    /// The difference of the halves' tweaks after σ, and f_a·f_b·Δ.
    labels: [C::Reg; 2],
}

impl<'a, 'b, C: Lanes, W: Wires> Garbler<'a, 'b, C, W> {
    #[inline(always)]
    fn new(cpu: C, job: Garble<'a, 'b, W>) -> Self {
        let (delta, tweak) = (job.delta, Block::new(1).sigma());
        Garbler {
            delta: cpu.splat(delta),
            sigma_delta: cpu.splat(delta.sigma()),
            sums: [cpu.splat(delta.sigma()), cpu.splat(delta.sigma() ^ delta)],
            labels: [cpu.splat(tweak), cpu.splat(tweak ^ delta)],
            job,
        }
    }
}

impl<S: Wires> Job for Garble<'_, '_, S> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, cpu: W, _: N) {
        let (key, course) = (self.key, self.wires.course());
        walk(cpu, &mut Garbler::new(cpu, self), key, course);
    }
}

impl<C: Lanes, W: Wires> Role<C, 4> for Garbler<'_, '_, C, W> {
    #[inline(always)]
    fn wires(&self) -> &impl Wires {
        &self.job.wires
    }

    #[inline(always)]
    fn open(&self, cpu: C, spot: Spot, [a, b]: Pair<C>, key: C::Reg) -> Encrypted<C, 4> {
        let [flip_a, flip_b] = self.job.wires.flips(spot.gate);
        let (a, b) = (cpu.sigma(a), cpu.sigma(b));
        let [of_a, of_b] = tweaks(cpu, spot.place / 4);
        let (a0, b0) = (cpu.begin(cpu.xor(a, of_a), key), cpu.begin(cpu.xor(b, of_b), key));
        let (a1, b1) = (cpu.xor(a0, self.sigma_delta), cpu.xor(b0, self.sigma_delta));
        ([a0, a1, b0, b1], cpu.xor3(a, b, self.labels[usize::from(flip_a & flip_b)]))
    }

    #[inline(always)]
    fn close(&mut self, cpu: C, spot: Spot, [a, b]: Pair<C>, (y, both): Encrypted<C, 4>) {
        let [flip_a, flip_b] = self.job.wires.flips(spot.gate);
        let (s, t) = (cpu.lsb(a), cpu.lsb(b));
        let table_g = cpu.xor_if(cpu.xor3(y[0], y[1], self.sums[usize::from(flip_b)]), t, self.delta);
        let u = cpu.xor3(y[2], y[3], self.sums[usize::from(flip_a)]);
        let label = cpu.xor_if(cpu.xor_if(cpu.xor3(y[0], y[2], both), s, table_g), t, u);
        spot.store(cpu, label, &mut self.job.wires);
        spot.store_pairs(cpu, cpu.zip(table_g, cpu.xor(u, a)), self.job.tables);
    }
}

/// Evaluates ANDs. Each gate has a row of tables.
pub(crate) struct Evaluate<'a, 'b, W> {
    pub key: Block,
    pub wires: W,
    pub tables: &'a [&'b [Ciphertexts]],
}

impl<S: Wires> Job for Evaluate<'_, '_, S> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(mut self, cpu: W, _: N) {
        let (key, course) = (self.key, self.wires.course());
        walk(cpu, &mut self, key, course);
    }
}

impl<C: Lanes, W: Wires> Role<C, 2> for Evaluate<'_, '_, W> {
    #[inline(always)]
    fn wires(&self) -> &impl Wires {
        &self.wires
    }

    #[inline(always)]
    fn open(&self, cpu: C, spot: Spot, [a, b]: Pair<C>, key: C::Reg) -> Encrypted<C, 2> {
        let (a, b) = (cpu.sigma(a), cpu.sigma(b));
        let [of_a, of_b] = tweaks(cpu, spot.place / 4);
        let x = [cpu.begin(cpu.xor(a, of_a), key), cpu.begin(cpu.xor(b, of_b), key)];
        (x, cpu.xor3(a, b, cpu.splat(Block::new(1).sigma())))
    }

    #[inline(always)]
    fn close(&mut self, cpu: C, spot: Spot, [a, b]: Pair<C>, (y, both): Encrypted<C, 2>) {
        let [table_g, table_e] = cpu.unzip(spot.load_pairs(cpu, self.tables));
        let label = cpu.xor_if(cpu.xor3(y[0], y[1], both), cpu.lsb(a), table_g);
        spot.store(cpu, cpu.xor3_if(label, cpu.lsb(b), table_e, a), &mut self.wires);
    }
}

/// All ANDs: whole blocks of one gate after the other in one stream, if a row fills a register, and the parts of blocks at
/// the ends.
#[inline(always)]
fn walk<C: Lanes, const H: usize>(cpu: C, role: &mut impl Role<C, H>, key: Block, mut course: Course) {
    let key = cpu.splat(key);
    while let Some(part) = course.part() {
        if part.len == BLOCK && C::LANES == 4 {
            stream(cpu, role, key, &mut course);
        } else {
            let (spot, bucket) = course.take(role, part);
            block(cpu, role, key, spot, bucket);
        }
    }
}

/// ANDs that are not done: of one gate after the other, lane by lane.
pub(crate) struct Course {
    gate: usize,
    lane: usize,
    pub gates: usize,
    pub lanes: usize,
    pub numbers: Numbers,
}

impl Course {
    #[inline(always)]
    fn new(gates: usize, lanes: usize, numbers: Numbers) -> Self {
        Course { gate: if lanes == 0 { gates } else { 0 }, lane: 0, gates, lanes, numbers }
    }

    /// The number of the next AND.
    #[inline(always)]
    fn number(&self) -> u64 {
        self.numbers.first.wrapping_add(self.gate as u64 * self.numbers.step).wrapping_add(self.lane as u64)
    }

    /// What is ours of the next block.
    #[inline(always)]
    fn part(&self) -> Option<Part> {
        (self.gate < self.gates).then(|| Part::new(self.number(), self.lanes - self.lane))
    }

    /// The next block, and its first bucket.
    #[inline(always)]
    fn take<C: Lanes, const H: usize>(&mut self, role: &impl Role<C, H>, part: Part) -> (Spot, u64) {
        let bucket = self.number() / BLOCK as u64 * 4;
        let places = role.wires().places(self.gate, self.lane);
        let spot = Spot { gate: self.gate, lane: self.lane, places, part, place: 0 };
        self.lane += part.len;
        if self.lane == self.lanes {
            (self.lane, self.gate) = (0, self.gate + 1);
        }
        (spot, bucket)
    }

    /// The next block, if it is a whole one.
    #[inline(always)]
    fn whole<C: Lanes, const H: usize>(&mut self, role: &impl Role<C, H>) -> Option<(Spot, u64)> {
        self.part().filter(|part| part.len == BLOCK).map(|_| self.take(role, Part::WHOLE))
    }
}

/// What is ours of a block.
#[inline(always)]
fn block<C: Lanes, const H: usize>(cpu: C, role: &mut impl Role<C, H>, key: C::Reg, spot: Spot, bucket: u64) {
    for column in (0..4).step_by(C::LANES).filter(|&column| spot.part.meets::<C>(column)) {
        let key = cpu.xor(key, cpu.count(bucket + column as u64));
        if spot.part.len == BLOCK {
            rows::<C, H, 4>(cpu, role, key, Spot { part: Part::WHOLE, place: column, ..spot });
        } else if let Some(row) = spot.part.row() {
            rows::<C, H, 1>(cpu, role, key, Spot { place: 4 * row + column, ..spot });
        } else {
            rows::<C, H, 4>(cpu, role, key, Spot { place: column, ..spot });
        }
    }
}

/// R rows of a block from a spot on, each a register.
#[inline(always)]
fn rows<C: Lanes, const H: usize, const R: usize>(cpu: C, role: &mut impl Role<C, H>, key: C::Reg, spot: Spot) {
    let (mut x, mut ab) = ([([key; H], key); R], [[key; 2]; R]);
    for r in 0..R {
        let spot = Spot { place: spot.place + 4 * r, ..spot };
        ab[r] = spot.operands(cpu, role.wires());
        x[r] = role.open(cpu, spot, ab[r], key);
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
        role.close(cpu, Spot { place: spot.place + 4 * r, ..spot }, ab[r], x[r]);
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
type Flight<C, const H: usize> = [Encrypted<C, H>; 4];

/// Their operands, which are looked up once: each look takes as many instructions as several rounds.
type Operands<C> = [Pair<C>; 4];

/// Round keys of block n in entry n modulo 4, scheduled during the block before.
type Ring<C> = [[<C as Lanes>::Reg; 11]; 4];

/// Whole blocks of registers of four.
#[inline(always)]
fn stream<C: Lanes, const H: usize>(cpu: C, role: &mut impl Role<C, H>, key: C::Reg, course: &mut Course) {
    let Some((mut here, bucket)) = course.whole(role) else { return };
    let (mut flight, mut keys): (Flight<C, H>, Ring<C>) = ([([key; H], key); 4], [[key; 11]; 4]);
    let mut ab: Operands<C> = [[key; 2]; 4];
    let mut next = cpu.xor(key, cpu.count(bucket));
    for (round, constant) in ROUND_CONSTANTS.iter().enumerate() {
        keys[0][round] = next;
        next = cpu.next_key(next, *constant);
    }
    keys[0][10] = next;
    let key_of = |block: Option<(Spot, u64)>| cpu.xor(key, cpu.count(block.map_or(0, |(_, bucket)| bucket)));
    let mut after = course.whole(role);
    turn::<C, H, FIRST>(cpu, role, &mut flight, &mut keys, key_of(after), [here; 2], 0, &mut ab);
    let mut n = 1;
    while let Some((spot, _)) = after {
        after = course.whole(role);
        turn::<C, H, BOTH>(cpu, role, &mut flight, &mut keys, key_of(after), [here, spot], n, &mut ab);
        (here, n) = (spot, n + 1);
    }
    turn::<C, H, LAST>(cpu, role, &mut flight, &mut keys, key, [here; 2], n, &mut ab);
}

/// Kinds of turns: no block ends, none begins, one of each.
const FIRST: u8 = 0;
const LAST: u8 = 1;
const BOTH: u8 = 2;

/// Row by row, the end of block n − 1 and the beginning of block n, at these spots.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn turn<C: Lanes, const H: usize, const KIND: u8>(
    cpu: C,
    role: &mut impl Role<C, H>,
    flight: &mut Flight<C, H>,
    keys: &mut Ring<C>,
    next: C::Reg,
    spots: [Spot; 2],
    n: usize,
    ab: &mut Operands<C>,
) {
    let fresh = spots[1].block(cpu, role.wires());
    let next = quarter::<C, H, KIND, 0>(cpu, role, flight, keys, next, spots, n, ab, fresh[0]);
    let next = quarter::<C, H, KIND, 1>(cpu, role, flight, keys, next, spots, n, ab, fresh[1]);
    let next = quarter::<C, H, KIND, 2>(cpu, role, flight, keys, next, spots, n, ab, fresh[2]);
    quarter::<C, H, KIND, 3>(cpu, role, flight, keys, next, spots, n, ab, fresh[3]);
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn quarter<C: Lanes, const H: usize, const KIND: u8, const Q: usize>(
    cpu: C,
    role: &mut impl Role<C, H>,
    flight: &mut Flight<C, H>,
    keys: &mut Ring<C>,
    mut next: C::Reg,
    [before, here]: [Spot; 2],
    n: usize,
    ab: &mut Operands<C>,
    fresh: Pair<C>,
) -> C::Reg {
    if KIND != FIRST {
        role.close(cpu, Spot { place: 4 * Q, ..before }, ab[Q], flight[Q]);
    }
    if KIND != LAST {
        ab[Q] = fresh;
        flight[Q] = role.open(cpu, Spot { place: 4 * Q, ..here }, fresh, keys[n % 4][0]);
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
