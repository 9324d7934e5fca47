//! Whole blocks in registers of one or two lanes: sixteen registers of the processor hold eight blocks of AES on their way and a
//! round key.
//!
//! As many blocks as a register has lanes are a *group*: their keys fill four registers, which are scheduled at once, during
//! the group before, into memory. Each of these key registers serves four rows of ANDs, of which there are so
//! many under way that eight blocks are.

use super::pipeline::{Pair, Position, Role, done};
use crate::Block;
use crate::backend::lanes::{Lanes, ROUND_CONSTANTS};
use crate::cipher::schedule::Schedules;
use crate::garbling::half_gates::pipeline::PACE;
use crate::garbling::wires::{AndCursor, BLOCK, Wires};

/// The blocks whose keys are scheduled together: one or two, with their first buckets.
#[derive(Clone, Copy)]
struct Group {
    blocks: [(Position, u64); 2],
    len: usize,
}

impl AndCursor {
    #[inline(always)]
    fn group<C: Lanes, const H: usize>(&mut self, role: &impl Role<C, H>) -> Option<Group> {
        let first = self.whole(role)?;
        let second = if C::LANES == 2 { self.whole(role) } else { None };
        Some(Group { blocks: [first, second.unwrap_or(first)], len: 1 + usize::from(second.is_some()) })
    }
}

impl Group {
    /// The keys: register j has those of columns j·LANES and up, counted through the blocks.
    #[inline(always)]
    fn keys<C: Lanes>(self, cpu: C, key: C::Reg) -> [C::Reg; 4] {
        let mut keys = [key; 4];
        for j in 0..4 {
            let (_, bucket) = self.blocks[j * C::LANES / 4];
            keys[j] = cpu.xor(key, cpu.count(bucket + (j * C::LANES % 4) as u64));
        }
        keys
    }
}

/// Blocks of AES on their way.
const ABREAST: usize = 8;

/// Round keys of the four key registers of a group.
type Keys<C> = [[<C as Lanes>::Reg; 4]; 10];

/// Garbles or evaluates whole blocks.
#[inline(always)]
pub(super) fn groups<C: Lanes, const H: usize>(
    cpu: C,
    role: &mut impl Role<C, H>,
    key: C::Reg,
    cursor: &mut AndCursor,
) {
    let Some(mut here) = cursor.group(role) else { return };
    let mut ring: [Keys<C>; 2] = [[[key; 4]; 10]; 2];
    ring[0][0] = here.keys(cpu, key);
    let mut schedules = Schedules::new(cpu, ring[0][0]);
    for round in 0..9 {
        ring[0][round + 1] = schedules.next(cpu, ROUND_CONSTANTS[round]);
    }
    let mut n = 0;
    loop {
        let after = cursor.group(role);
        let next = after.unwrap_or(here).keys(cpu, key);
        ring[(n + 1) % 2][0] = next;
        schedules = Schedules::new(cpu, next);
        column::<C, H, 0>(cpu, role, here, &mut ring, n, &mut schedules);
        column::<C, H, 1>(cpu, role, here, &mut ring, n, &mut schedules);
        if here.len == C::LANES {
            column::<C, H, 2>(cpu, role, here, &mut ring, n, &mut schedules);
            column::<C, H, 3>(cpu, role, here, &mut ring, n, &mut schedules);
        }
        let Some(group) = after else { return };
        (here, n) = (group, n + 1);
    }
}

/// The rows under key register J, and a quarter of the next group's schedule.
#[inline(always)]
fn column<C: Lanes, const H: usize, const J: usize>(
    cpu: C,
    role: &mut impl Role<C, H>,
    group: Group,
    ring: &mut [Keys<C>; 2],
    n: usize,
    schedules: &mut Schedules<C>,
) {
    let (block, _) = group.blocks[J * C::LANES / 4];
    let position = Position { place: J * C::LANES % 4, ..block };
    let from = done(0, J);
    if H == 4 {
        rows::<C, H, J, 2>(cpu, role, &ring[n % 2], position);
        ring[(n + 1) % 2][from + 1] = schedules.next(cpu, ROUND_CONSTANTS[from]);
        rows::<C, H, J, 2>(cpu, role, &ring[n % 2], Position { place: position.place + 8, ..position });
    } else {
        rows::<C, H, J, 4>(cpu, role, &ring[n % 2], position);
        ring[(n + 1) % 2][from + 1] = schedules.next(cpu, ROUND_CONSTANTS[from]);
    }
    for round in from + 1..9.min(from + PACE[J]) {
        ring[(n + 1) % 2][round + 1] = schedules.next(cpu, ROUND_CONSTANTS[round]);
    }
}

/// R rows, from a position on.
#[inline(always)]
fn rows<C: Lanes, const H: usize, const J: usize, const R: usize>(
    cpu: C,
    role: &mut impl Role<C, H>,
    keys: &Keys<C>,
    position: Position,
) {
    let key = keys[0][J];
    let [a, b] = position.whole(role.wires());
    let (mut x, mut both, mut ab): (_, _, [Pair<C>; R]) = ([key; ABREAST], [key; R], [[key; 2]; R]);
    for r in 0..R {
        let position = Position { place: position.place + 4 * r, ..position };
        ab[r] = [cpu.load(&a[position.place..]), cpu.load(&b[position.place..])];
        let begun = role.open(cpu, position, ab[r], key);
        x[r * H..][..H].copy_from_slice(&begun.0);
        both[r] = begun.1;
    }
    for round in 1..10 {
        x = cpu.abreast(x);
        for x in &mut x {
            *x = cpu.round(*x, keys[round - 1][J], keys[round][J]);
        }
    }
    x = cpu.abreast(x);
    for r in 0..R {
        let (mut y, last) = ([key; H], role.last(cpu, position.gate, both[r]));
        for h in 0..H {
            y[h] = cpu.end(x[r * H + h], keys[9][J], last[h]);
        }
        role.close(cpu, Position { place: position.place + 4 * r, ..position }, ab[r], (y, both[r]));
    }
}

impl Position {
    /// The operands of a whole block.
    #[inline(always)]
    fn whole(self, wires: &impl Wires) -> [&[Block; BLOCK]; 2] {
        let a = wires.a()[self.places[0]..].first_chunk().expect("a whole block");
        let b = wires.b()[self.places[1]..].first_chunk().expect("a whole block");
        [a, b]
    }
}
