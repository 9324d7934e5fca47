//! The order in which the blocks of half-gates are encrypted: a block of sixteen ANDs at a time, or as a stream of whole
//! blocks that are a quarter of an encryption apart.

use super::Ciphertexts;
use super::columns::groups;
use crate::Block;
use crate::backend::lanes::{Lanes, ROUND_CONSTANTS};
use crate::garbling::wires::{AndCursor, BLOCK, Part, Wires};

/// The ANDs of one register: from `place` on in a block, of which `part` is ours, from a lane of a gate on.
#[derive(Clone, Copy)]
pub(super) struct Position {
    pub gate: usize,
    pub lane: usize,
    /// Where this lane is among operands and results.
    pub(super) places: [usize; 3],
    pub part: Part,
    pub place: usize,
}

impl Position {
    #[inline(always)]
    fn load<C: Lanes>(self, cpu: C, from: &[Block], at: usize) -> C::Reg {
        self.part.fetch(cpu, self.place, bytemuck::cast_slice(&from[at..at + self.part.len]))
    }

    /// Both operands.
    #[inline(always)]
    fn operands<C: Lanes>(self, cpu: C, wires: &impl Wires) -> [C::Reg; 2] {
        [self.load(cpu, wires.a(), self.places[0]), self.load(cpu, wires.b(), self.places[1])]
    }

    /// The operands of a whole block, row by row.
    #[inline(always)]
    fn block<C: Lanes>(self, cpu: C, wires: &impl Wires) -> Operands<C> {
        let a: &[Block; BLOCK] = wires.a()[self.places[0]..].first_chunk().expect("a whole block");
        let b: &[Block; BLOCK] = wires.b()[self.places[1]..].first_chunk().expect("a whole block");
        let row = |r: usize| [cpu.load(&a[4 * r..]), cpu.load(&b[4 * r..])];
        [row(0), row(1), row(2), row(3)]
    }

    #[inline(always)]
    pub fn store<C: Lanes>(self, cpu: C, x: C::Reg, wires: &mut impl Wires) {
        let (at, len) = (self.places[2], self.part.len);
        self.part.store(cpu, x, self.place, bytemuck::cast_slice_mut(&mut wires.out()[at..at + len]));
    }

    /// The ciphertexts, in two registers.
    #[inline(always)]
    pub fn load_pairs<C: Lanes>(self, cpu: C, from: &[&[Ciphertexts]]) -> [C::Reg; 2] {
        let row = from[self.gate];
        let (pairs, from) = (self.part.pairs(), row[self.lane..self.lane + self.part.len].as_flattened());
        [pairs.fetch(cpu, 2 * self.place, from), pairs.fetch(cpu, 2 * self.place + C::LANES, from)]
    }

    #[inline(always)]
    pub fn store_pairs<C: Lanes>(self, cpu: C, x: [C::Reg; 2], to: &mut [&mut [Ciphertexts]]) {
        let row = &mut to[self.gate];
        let (pairs, to) = (self.part.pairs(), row[self.lane..self.lane + self.part.len].as_flattened_mut());
        pairs.store(cpu, x[0], 2 * self.place, to);
        pairs.store(cpu, x[1], 2 * self.place + C::LANES, to);
    }
}

/// The operands of a register of ANDs.
pub(super) type Pair<C> = [<C as Lanes>::Reg; 2];

/// H blocks of each AND of a register on their way, and what the label has of them besides.
pub(super) type Encrypted<C, const H: usize> = ([<C as Lanes>::Reg; H], <C as Lanes>::Reg);

/// The steps of a role before and after H blocks of each AND of a register are encrypted.
pub(super) trait Role<C: Lanes, const H: usize> {
    fn wires(&self) -> &impl Wires;
    /// The blocks, to which `begin` was done with the key.
    fn open(&self, cpu: C, position: Position, ab: Pair<C>, key: C::Reg) -> Encrypted<C, H>;
    /// What stands in the place of the last round key, of a gate's blocks with this beside them.
    fn last(&self, cpu: C, gate: usize, both: C::Reg) -> [C::Reg; H];
    /// Stores what comes of the encrypted blocks.
    fn close(&mut self, cpu: C, position: Position, ab: Pair<C>, y: Encrypted<C, H>);
}

/// All ANDs: whole blocks of one gate after the other, in one stream if a row fills a register, else by columns; and the
/// parts of blocks at the ends.
#[inline(always)]
pub(super) fn walk<C: Lanes, const H: usize>(cpu: C, role: &mut impl Role<C, H>, key: Block, mut cursor: AndCursor) {
    let key = cpu.splat(key);
    while let Some(part) = cursor.part() {
        if part.len == BLOCK && C::LANES == 4 {
            stream(cpu, role, key, &mut cursor);
        } else if part.len == BLOCK {
            groups(cpu, role, key, &mut cursor);
        } else {
            let (position, bucket) = cursor.take(role, part);
            block(cpu, role, key, position, bucket);
        }
    }
}

impl AndCursor {
    /// The next block, and its first bucket.
    #[inline(always)]
    fn take<C: Lanes, const H: usize>(&mut self, role: &impl Role<C, H>, part: Part) -> (Position, u64) {
        let bucket = self.number() / BLOCK as u64 * 4;
        let places = role.wires().places(self.gate, self.lane);
        let position = Position { gate: self.gate, lane: self.lane, places, part, place: 0 };
        self.lane += part.len;
        if self.lane == self.lanes {
            (self.lane, self.gate) = (0, self.gate + 1);
        }
        (position, bucket)
    }

    /// The next block, if it is a whole one.
    #[inline(always)]
    pub(super) fn whole<C: Lanes, const H: usize>(&mut self, role: &impl Role<C, H>) -> Option<(Position, u64)> {
        self.part().filter(|part| part.len == BLOCK).map(|_| self.take(role, Part::WHOLE))
    }
}

/// Encrypts the part of a block that is to be done.
#[inline(always)]
fn block<C: Lanes, const H: usize>(cpu: C, role: &mut impl Role<C, H>, key: C::Reg, position: Position, bucket: u64) {
    for column in (0..4).step_by(C::LANES).filter(|&column| position.part.meets::<C>(column)) {
        let key = cpu.xor(key, cpu.count(bucket + column as u64));
        if position.part.len == BLOCK {
            rows::<C, H, 4>(cpu, role, key, Position { part: Part::WHOLE, place: column, ..position });
        } else if let Some(row) = position.part.row() {
            rows::<C, H, 1>(cpu, role, key, Position { place: 4 * row + column, ..position });
        } else {
            rows::<C, H, 4>(cpu, role, key, Position { place: column, ..position });
        }
    }
}

/// R rows of a block from a position on, each a register.
#[inline(always)]
fn rows<C: Lanes, const H: usize, const R: usize>(cpu: C, role: &mut impl Role<C, H>, key: C::Reg, position: Position) {
    let (mut x, mut ab) = ([([key; H], key); R], [[key; 2]; R]);
    for r in 0..R {
        let position = Position { place: position.place + 4 * r, ..position };
        ab[r] = position.operands(cpu, role.wires());
        x[r] = role.open(cpu, position, ab[r], key);
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
    for (x, both) in &mut x {
        let last = role.last(cpu, position.gate, *both);
        for h in 0..H {
            x[h] = cpu.end(x[h], before, last[h]);
        }
    }
    for r in 0..R {
        role.close(cpu, Position { place: position.place + 4 * r, ..position }, ab[r], x[r]);
    }
}

/// Rounds in each quarter of a step.
pub(super) const PACE: [usize; 4] = [3, 2, 3, 2];

/// Rounds that a row has behind it when a quarter begins: its first quarter is that of its number.
pub(super) const fn done(row: usize, quarter: usize) -> usize {
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

/// The operands of the blocks under way, loaded once: a second load would take as many instructions as several rounds.
type Operands<C> = [Pair<C>; 4];

/// Round keys of block n in entry n modulo 4, scheduled during the block before.
type Ring<C> = [[<C as Lanes>::Reg; 10]; 4];

/// Garbles or evaluates whole blocks, in registers of four lanes, as one stream.
#[inline(always)]
fn stream<C: Lanes, const H: usize>(cpu: C, role: &mut impl Role<C, H>, key: C::Reg, cursor: &mut AndCursor) {
    let Some((mut here, bucket)) = cursor.whole(role) else { return };
    let (mut flight, mut keys): (Flight<C, H>, Ring<C>) = ([([key; H], key); 4], [[key; 10]; 4]);
    let mut ab: Operands<C> = [[key; 2]; 4];
    let mut next = cpu.xor(key, cpu.count(bucket));
    keys[0][0] = next;
    for (round, constant) in ROUND_CONSTANTS[..9].iter().enumerate() {
        next = cpu.next_key(next, *constant);
        keys[0][round + 1] = next;
    }
    let key_of = |block: Option<(Position, u64)>| cpu.xor(key, cpu.count(block.map_or(0, |(_, bucket)| bucket)));
    let mut after = cursor.whole(role);
    stream_step::<C, H, FIRST>(cpu, role, &mut flight, &mut keys, key_of(after), [here; 2], 0, &mut ab);
    let mut n = 1;
    while let Some((position, _)) = after {
        after = cursor.whole(role);
        stream_step::<C, H, BOTH>(cpu, role, &mut flight, &mut keys, key_of(after), [here, position], n, &mut ab);
        (here, n) = (position, n + 1);
    }
    stream_step::<C, H, LAST>(cpu, role, &mut flight, &mut keys, key, [here; 2], n, &mut ab);
}

/// Kinds of steps of the stream: no block ends, none begins, one of each.
const FIRST: u8 = 0;
const LAST: u8 = 1;
const BOTH: u8 = 2;

/// Row by row, the end of block n − 1 and the beginning of block n, at these positions.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn stream_step<C: Lanes, const H: usize, const KIND: u8>(
    cpu: C,
    role: &mut impl Role<C, H>,
    flight: &mut Flight<C, H>,
    keys: &mut Ring<C>,
    next: C::Reg,
    positions: [Position; 2],
    n: usize,
    ab: &mut Operands<C>,
) {
    let fresh = positions[1].block(cpu, role.wires());
    let next = quarter::<C, H, KIND, 0>(cpu, role, flight, keys, next, positions, n, ab, fresh[0]);
    let next = quarter::<C, H, KIND, 1>(cpu, role, flight, keys, next, positions, n, ab, fresh[1]);
    let next = quarter::<C, H, KIND, 2>(cpu, role, flight, keys, next, positions, n, ab, fresh[2]);
    quarter::<C, H, KIND, 3>(cpu, role, flight, keys, next, positions, n, ab, fresh[3]);
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn quarter<C: Lanes, const H: usize, const KIND: u8, const Q: usize>(
    cpu: C,
    role: &mut impl Role<C, H>,
    flight: &mut Flight<C, H>,
    keys: &mut Ring<C>,
    mut next: C::Reg,
    [before, here]: [Position; 2],
    n: usize,
    ab: &mut Operands<C>,
    fresh: Pair<C>,
) -> C::Reg {
    if KIND != FIRST {
        role.close(cpu, Position { place: 4 * Q, ..before }, ab[Q], flight[Q]);
    }
    if KIND != LAST {
        ab[Q] = fresh;
        flight[Q] = role.open(cpu, Position { place: 4 * Q, ..here }, fresh, keys[n % 4][0]);
    }
    let gates = [before.gate, here.gate];
    next = slot::<C, H, KIND, Q, 0>(cpu, role, gates, flight, keys, next, n);
    next = slot::<C, H, KIND, Q, 1>(cpu, role, gates, flight, keys, next, n);
    if PACE[Q] == 3 {
        next = slot::<C, H, KIND, Q, 2>(cpu, role, gates, flight, keys, next, n);
    }
    next
}

/// One round of every row, and one of the next block's schedule.
#[inline(always)]
fn slot<C: Lanes, const H: usize, const KIND: u8, const Q: usize, const K: usize>(
    cpu: C,
    role: &impl Role<C, H>,
    gates: [usize; 2],
    flight: &mut Flight<C, H>,
    keys: &mut Ring<C>,
    mut next: C::Reg,
    n: usize,
) -> C::Reg {
    if KIND != LAST {
        let keys = &mut keys[(n + 1) % 4];
        keys[done(0, Q) + K] = next;
        if done(0, Q) + K < 9 {
            next = cpu.next_key(next, ROUND_CONSTANTS[done(0, Q) + K]);
        }
    }
    for row in 0..4 {
        let begun = row <= Q;
        if KIND == if begun { LAST } else { FIRST } {
            continue;
        }
        let keys = &keys[if begun { n % 4 } else { (n + 3) % 4 }];
        let round = done(row, Q) + K + 1;
        let (x, both) = &mut flight[row];
        let last = role.last(cpu, gates[usize::from(begun)], *both);
        for h in 0..H {
            let before = keys[round - 1];
            x[h] = if round == 10 { cpu.end(x[h], before, last[h]) } else { cpu.round(x[h], before, keys[round]) };
        }
    }
    next
}
