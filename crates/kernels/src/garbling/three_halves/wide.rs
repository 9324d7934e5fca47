//! Three-halves garbling, both roles, in the notation of [its module](crate::garbling::three_halves). ANDs go in blocks of sixteen
//! under four keys, as in half-gates; rows of a block follow one another, and the processor finds by itself what of them
//! to do at once.
//!
//! Of a tweak i the map ς leaves bits that are used nowhere (those above bit 31 of the low half), so it goes into the
//! cipher alone. ω is 1 ⊕ ω², and ω² is σ.

use crate::Block;
use crate::backend::lanes::{Kernel, Lanes, ROUND_CONSTANTS};
use crate::garbling::scheme::{Evaluate, Garble};
use crate::garbling::three_halves::{Table, ThreeHalvesScheme};
use crate::garbling::wires::{AndCursor, BLOCK, Part, Wires};

impl<S: Wires> Kernel for Garble<'_, '_, ThreeHalvesScheme, S> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, cpu: W, _: N) {
        let fixed = Fixed::new(cpu, self.delta, [false; 2]);
        walk::<W, 6>(cpu, self.key, &mut Garbler { job: self, fixed });
    }
}

impl<S: Wires> Kernel for Evaluate<'_, '_, ThreeHalvesScheme, S> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(mut self, cpu: W, _: N) {
        walk::<W, 3>(cpu, self.key, &mut self);
    }
}

/// The ANDs of a register: from `place` on in a block, of which `part` is ours, from a lane of a gate on.
#[derive(Clone, Copy)]
struct Position {
    gate: usize,
    lane: usize,
    part: Part,
    place: usize,
}

impl Position {
    #[inline(always)]
    fn operands<C: Lanes>(self, cpu: C, wires: &impl Wires) -> [C::Reg; 2] {
        let ([a, b, _], len) = (wires.places(self.gate, self.lane), self.part.len);
        let (a, b) = (&wires.a()[a..a + len], &wires.b()[b..b + len]);
        [
            self.part.fetch(cpu, self.place, bytemuck::cast_slice(a)),
            self.part.fetch(cpu, self.place, bytemuck::cast_slice(b)),
        ]
    }

    #[inline(always)]
    fn store<C: Lanes>(self, cpu: C, label: C::Reg, wires: &mut impl Wires) {
        let [.., out] = wires.places(self.gate, self.lane);
        let out = &mut wires.out()[out..out + self.part.len];
        self.part.store(cpu, label, self.place, bytemuck::cast_slice_mut(out));
    }
}

/// The steps of a role before and after H blocks of each AND of a register are encrypted.
trait Role<C: Lanes, const H: usize> {
    type Wires: Wires;
    fn wires(&self) -> &Self::Wires;
    /// From here on the positions are those of this gate.
    fn enter(&mut self, cpu: C, gate: usize);
    /// The blocks, to which `begin` was done with the key.
    fn open(&self, cpu: C, position: Position, key: C::Reg) -> [C::Reg; H];
    /// Stores what comes of the encrypted blocks.
    fn close(&mut self, cpu: C, position: Position, y: [C::Reg; H]);
}

/// Gate after gate, block after block.
#[inline(always)]
fn walk<C: Lanes, const H: usize>(cpu: C, key: Block, role: &mut impl Role<C, H>) {
    let (key, AndCursor { gates, lanes, numbers, .. }) = (cpu.splat(key), role.wires().cursor());
    for gate in 0..gates {
        role.enter(cpu, gate);
        let first = numbers.first.wrapping_add(gate as u64 * numbers.step);
        let mut lane = 0;
        while lane < lanes {
            let number = first.wrapping_add(lane as u64);
            let position = Position { gate, lane, part: Part::new(number, lanes - lane), place: 0 };
            for column in (0..4).step_by(C::LANES) {
                if position.part.meets::<C>(column) {
                    let key = cpu.xor(key, cpu.count(number / BLOCK as u64 * 4 + column as u64));
                    let position = Position { place: column, ..position };
                    match position.part.row() {
                        // Of a whole block the compiler knows that every register is full.
                        _ if position.part.len == BLOCK => {
                            block(cpu, role, key, Position { part: Part::WHOLE, ..position })
                        }
                        Some(row) => rows::<C, H, 1>(cpu, role, key, Position { place: column + 4 * row, ..position }),
                        None => rows::<C, H, 4>(cpu, role, key, position),
                    }
                }
            }
            lane += position.part.len;
        }
    }
}

/// Encrypts the ANDs of a whole block that are under the keys of one column.
#[inline(always)]
fn block<C: Lanes, const H: usize>(cpu: C, role: &mut impl Role<C, H>, key: C::Reg, position: Position) {
    if H * 4 <= 12 || C::LANES == 4 {
        rows::<C, H, 4>(cpu, role, key, position);
    } else {
        // Sixteen registers have no room for more than two rows of six.
        let mut keys = [key; 11];
        for round in 0..10 {
            keys[round + 1] = cpu.next_key(keys[round], ROUND_CONSTANTS[round]);
        }
        two_rows(cpu, role, &keys, position);
        two_rows(cpu, role, &keys, Position { place: position.place + 8, ..position });
    }
}

/// R rows of a block from a position on, each a register, and their keys as they are scheduled.
#[inline(always)]
fn rows<C: Lanes, const H: usize, const R: usize>(cpu: C, role: &mut impl Role<C, H>, key: C::Reg, position: Position) {
    let mut x = [[key; H]; R];
    for r in 0..R {
        x[r] = role.open(cpu, Position { place: position.place + 4 * r, ..position }, key);
    }
    let mut before = key;
    for constant in &ROUND_CONSTANTS[..9] {
        let after = cpu.next_key(before, *constant);
        for x in &mut x {
            for x in x {
                *x = cpu.round(*x, before, after);
            }
        }
        before = after;
    }
    let after = cpu.next_key(before, ROUND_CONSTANTS[9]);
    for r in 0..R {
        for x in &mut x[r] {
            *x = cpu.end(*x, before, after);
        }
        role.close(cpu, Position { place: position.place + 4 * r, ..position }, x[r]);
    }
}

#[inline(always)]
fn two_rows<C: Lanes, const H: usize>(cpu: C, role: &mut impl Role<C, H>, keys: &[C::Reg; 11], position: Position) {
    let positions = [position, Position { place: position.place + 4, ..position }];
    let mut x = [role.open(cpu, positions[0], keys[0]), role.open(cpu, positions[1], keys[0])];
    for round in 1..10 {
        for x in &mut x {
            for x in x {
                *x = cpu.round(*x, keys[round - 1], keys[round]);
            }
        }
    }
    for r in 0..2 {
        for x in &mut x[r] {
            *x = cpu.end(*x, keys[9], keys[10]);
        }
        role.close(cpu, positions[r], x[r]);
    }
}

/// ς of the three tweaks 4·row + h.
#[inline(always)]
fn tweaks<C: Lanes>(cpu: C, row: usize) -> [C::Reg; 3] {
    static TWEAKS: [[[Block; 4]; 3]; 4] = {
        let mut tweaks = [[[Block::ZERO; 4]; 3]; 4];
        let mut i = 0;
        while i < 12 {
            tweaks[i / 3][i % 3] = [Block::new(((4 * (i / 3) + i % 3) as u128) << 32); 4];
            i += 1;
        }
        tweaks
    };
    let tweaks = &TWEAKS[row];
    [cpu.load(&tweaks[0]), cpu.load(&tweaks[1]), cpu.load(&tweaks[2])]
}

/// The inputs of the ciphers of A, B and A ⊕ B, in both roles. The terms that the hashes of A and B add to the output and,
/// in bit 0 of each half, to the control bits depend on A and B alone.
#[inline(always)]
fn open<C: Lanes>(cpu: C, row: usize, a: C::Reg, b: C::Reg, key: C::Reg) -> [C::Reg; 3] {
    let [of_a, of_b, of_x] = tweaks(cpu, row);
    let (a, b) = (cpu.sigma_halves(a), cpu.sigma_halves(b));
    let x = cpu.xor3(a, b, of_x);
    [cpu.begin(cpu.xor(a, of_a), key), cpu.begin(cpu.xor(b, of_b), key), cpu.begin(x, key)]
}

/// Labels and what both roles make of them.
struct Labels<C: Lanes> {
    /// A ⊕ ω·B.
    u: C::Reg,
    /// (w ‖ w).
    w: C::Reg,
    /// The lowest bits: s for the high halves and t for the low ones, the other way round, and s ⊕ t for both.
    st: C::Bits,
    ts: C::Bits,
    x: C::Bits,
    /// (B_L ‖ A_L) after ς, and (B_R ‖ A_R): what labels add to the sums of the ciphers for (C_L ‖ C_R).
    high: C::Reg,
    low: C::Reg,
}

impl<C: Lanes> Labels<C> {
    #[inline(always)]
    fn new(cpu: C, a: C::Reg, b: C::Reg) -> Self {
        let low = cpu.lows(b, a);
        Labels {
            u: cpu.xor3(a, b, cpu.sigma(b)),
            w: cpu.xor(cpu.highs(a, a), cpu.lows(b, b)),
            st: cpu.odds(cpu.lows(a, b)),
            ts: cpu.odds(low),
            x: cpu.lsb(cpu.xor(a, b)),
            high: cpu.sigma_halves(cpu.highs(b, a)),
            low,
        }
    }

    /// The pads of (r_L ‖ r_R), in bit 0 of each half.
    #[inline(always)]
    fn pads(&self, cpu: C, [ya, yb, yx]: [C::Reg; 3], [z01, z2]: [C::Reg; 2]) -> C::Reg {
        // Bit 0 of ς(x) is bit 32 of x.
        let hashes = cpu.xor3(cpu.lows(ya, yb), cpu.lows(yx, yx), cpu.shr::<32>(self.low));
        cpu.xor_if(cpu.xor_if(hashes, self.st, z01), self.x, z2)
    }

    /// The evaluator's label of the output.
    #[inline(always)]
    fn output(&self, cpu: C, [ya, yb, yx]: [C::Reg; 3], [g01, g2]: [C::Reg; 2], [left, right]: [C::Bits; 2]) -> C::Reg {
        let hashes = cpu.xor3(cpu.highs(ya, yb), cpu.highs(yx, yx), self.high);
        let slices = cpu.xor_if(cpu.xor_if(hashes, self.st, g01), self.x, g2);
        let diced = cpu.xor_if(cpu.xor_if(slices, left, cpu.sigma(self.u)), right, self.u);
        cpu.xor_if(diced, self.ts, self.w)
    }
}

/// The values that stay from step to step.
struct Fixed<C: Lanes> {
    delta: C::Reg,
    /// ςΔ, ω²Δ, ωΔ.
    sigma_halves: C::Reg,
    omega_2: C::Reg,
    omega: C::Reg,
    /// (δ ‖ δ), (Δ_R ‖ Δ_R).
    difference: C::Reg,
    low: C::Reg,
    /// Bit 0 is what p and q have besides the lowest bits of the labels.
    p: C::Reg,
    q: C::Reg,
    pq: C::Reg,
    /// The terms of Δ in (G₀ ‖ G₁), G₂ and the label that are those of every row.
    of_g01: C::Reg,
    of_g2: C::Reg,
    of_label: C::Reg,
    /// The terms of bit 0 of each half of (z₀ ‖ z₁) and of z₂ besides the ciphers and the labels.
    of_z01: C::Reg,
    of_z2: C::Reg,
}

#[inline(always)]
fn times<C: Lanes>(cpu: C, bit: bool, x: C::Reg) -> C::Reg {
    cpu.and(cpu.splat(Block::mask(bit)), x)
}

impl<C: Lanes> Fixed<C> {
    #[inline(always)]
    fn new(cpu: C, delta: Block, [fa, fb]: [bool; 2]) -> Self {
        let delta = cpu.splat(delta);
        let (low, high) = (cpu.lows(delta, delta), cpu.highs(delta, delta));
        let sigma_halves = cpu.sigma_halves(delta);
        let [hash_high, hash_low] = [cpu.highs(sigma_halves, sigma_halves), cpu.lows(sigma_halves, sigma_halves)];
        let omega_2 = cpu.sigma(delta);
        let [p, q] = [cpu.splat(Block::new((!fa).into())), cpu.splat(Block::new((!fb).into()))];
        let pq = cpu.xor(p, q);
        let difference = cpu.xor(low, high);
        Fixed {
            delta,
            sigma_halves,
            omega_2,
            omega: cpu.xor(omega_2, delta),
            difference,
            low,
            p,
            q,
            pq,
            of_g01: cpu.xor3(hash_high, difference, times(cpu, !(fa ^ fb), delta)),
            of_g2: cpu.xor3(hash_high, low, times(cpu, fa, high)),
            of_label: times(cpu, fa & fb, delta),
            of_z01: cpu.xor(hash_low, cpu.lows(p, q)),
            of_z2: cpu.xor(hash_low, cpu.lows(pq, pq)),
        }
    }
}

struct Garbler<'a, 'b, C: Lanes, W> {
    job: Garble<'a, 'b, ThreeHalvesScheme, W>,
    fixed: Fixed<C>,
}

impl<C: Lanes, W: Wires> Role<C, 6> for Garbler<'_, '_, C, W> {
    type Wires = W;

    #[inline(always)]
    fn wires(&self) -> &W {
        &self.job.wires
    }

    #[inline(always)]
    fn enter(&mut self, cpu: C, gate: usize) {
        self.fixed = Fixed::new(cpu, self.job.delta, self.job.wires.flips(gate));
    }

    #[inline(always)]
    fn open(&self, cpu: C, position: Position, key: C::Reg) -> [C::Reg; 6] {
        let [a, b] = position.operands(cpu, &self.job.wires);
        let [a, b, x] = open(cpu, position.place / 4, a, b, key);
        let delta = self.fixed.sigma_halves;
        [a, cpu.xor(a, delta), b, cpu.xor(b, delta), x, cpu.xor(x, delta)]
    }

    #[inline(always)]
    fn close(&mut self, cpu: C, position: Position, y: [C::Reg; 6]) {
        let (fixed, one) = (&self.fixed, [y[0], y[2], y[4]]);
        let [a, b] = position.operands(cpu, &self.job.wires);
        let labels = Labels::new(cpu, a, b);
        let [sum_a, sum_b, sum_x] = [cpu.xor(y[0], y[1]), cpu.xor(y[2], y[3]), cpu.xor(y[4], y[5])];
        let [p, q] = [cpu.lsb(cpu.xor(a, fixed.p)), cpu.lsb(cpu.xor(b, fixed.q))];
        let pq = cpu.lsb(cpu.xor3(a, b, fixed.pq));

        let dice = cpu.xor(sum_a, fixed.sigma_halves);
        let dice = [cpu.shr::<1>(dice), cpu.shr::<2>(dice)];
        let [left, right] = [cpu.odds(cpu.lows(dice[0], dice[0])), cpu.odds(cpu.lows(dice[1], dice[1]))];

        let v = cpu.xor(labels.u, fixed.omega_2);
        let g01 = cpu.xor3(cpu.highs(sum_a, sum_b), labels.w, fixed.of_g01);
        let g01 = cpu.xor_if(cpu.xor_if(g01, p, cpu.sigma(v)), q, v);
        let g01 = cpu.xor_if(cpu.xor_if(g01, left, fixed.omega), right, fixed.omega_2);
        let g01 = cpu.xor_if(g01, labels.ts, fixed.difference);

        let v = cpu.xor(labels.u, fixed.omega);
        let of_high = cpu.xor_if(cpu.xor_if(sum_x, pq, cpu.sigma(v)), p, v);
        let of_high = cpu.xor_if(cpu.xor_if(of_high, left, fixed.delta), right, fixed.omega);
        let g2 = cpu.xor3(cpu.highs(of_high, of_high), labels.w, fixed.of_g2);
        let g2 = cpu.xor_if(g2, cpu.lsb(b), fixed.low);

        let z01 = cpu.xor(cpu.lows(cpu.xor(sum_a, a), cpu.xor(sum_b, b)), fixed.of_z01);
        let z2 = cpu.xor3(sum_x, a, b);
        let z2 = cpu.xor(cpu.lows(z2, z2), fixed.of_z2);
        let z = cpu.xor(labels.pads(cpu, one, [z01, z2]), cpu.lows(dice[0], dice[1]));

        let label = labels.output(cpu, one, [g01, g2], [left, right]);
        position.store(cpu, cpu.xor(label, fixed.of_label), &mut self.job.wires);
        store_tables(cpu, position, [g01, cpu.lows(packed(cpu, [z, z01, z2]), g2)], self.job.tables);
    }
}

impl<C: Lanes, W: Wires> Role<C, 3> for Evaluate<'_, '_, ThreeHalvesScheme, W> {
    type Wires = W;

    #[inline(always)]
    fn wires(&self) -> &W {
        &self.wires
    }

    #[inline(always)]
    fn enter(&mut self, _: C, _: usize) {}

    #[inline(always)]
    fn open(&self, cpu: C, position: Position, key: C::Reg) -> [C::Reg; 3] {
        let [a, b] = position.operands(cpu, &self.wires);
        open(cpu, position.place / 4, a, b, key)
    }

    #[inline(always)]
    fn close(&mut self, cpu: C, position: Position, y: [C::Reg; 3]) {
        let [a, b] = position.operands(cpu, &self.wires);
        let labels = Labels::new(cpu, a, b);
        let [g01, rest] = load_tables(cpu, position, self.tables);
        let (g2, byte) = (cpu.lows(rest, rest), cpu.highs(rest, rest));
        let z01 = cpu.lows(cpu.shr::<2>(byte), cpu.shr::<3>(byte));
        let pads = labels.pads(cpu, y, [z01, cpu.shr::<4>(byte)]);
        let row = cpu.xor(pads, cpu.lows(byte, cpu.shr::<1>(byte)));
        let row = [cpu.odds(cpu.highs(row, row)), cpu.odds(cpu.lows(row, row))];
        position.store(cpu, labels.output(cpu, y, [g01, g2], row), &mut self.wires);
    }
}

/// The control bits' byte in the low half, of bit 0 in each half of (z_L ‖ z_R), (z₀ ‖ z₁) and z₂.
#[inline(always)]
fn packed<C: Lanes>(cpu: C, [z, z01, z2]: [C::Reg; 3]) -> C::Reg {
    const ONE: u128 = 1 << 64 | 1;
    let (one, four, sixteen) =
        (cpu.splat(Block::new(ONE)), cpu.splat(Block::new(4 * ONE)), cpu.splat(Block::new(16 * ONE)));
    let byte = cpu.xor_masked(cpu.and(z, one), four, cpu.shl::<2>(z01));
    let last = cpu.and(cpu.shl::<4>(z2), sixteen);
    cpu.xor3(cpu.highs(byte, byte), cpu.shl::<1>(byte), last)
}

/// A register's lanes as tables: of each lane the first register is (G₀ ‖ G₁), the second begins with G₂ and has the
/// control bits in its high half.
#[inline(always)]
fn store_tables<C: Lanes>(cpu: C, position: Position, x: [C::Reg; 2], tables: &mut [&mut [Table]]) {
    let [mut first, mut second] = [[[0; 16]; 4]; 2];
    cpu.store(x[0], &mut first);
    cpu.store(x[1], &mut second);
    let (lanes, at) = position.part.lanes::<C>(position.place);
    for (table, lane) in tables[position.gate][position.lane + at..].iter_mut().zip(lanes) {
        table[..16].copy_from_slice(&first[lane]);
        table[16..].copy_from_slice(&second[lane][..9]);
    }
}

#[inline(always)]
fn load_tables<C: Lanes>(cpu: C, position: Position, tables: &[&[Table]]) -> [C::Reg; 2] {
    let [mut first, mut second] = [[[0; 16]; 4]; 2];
    let (lanes, at) = position.part.lanes::<C>(position.place);
    for (table, lane) in tables[position.gate][position.lane + at..].iter().zip(lanes) {
        first[lane].copy_from_slice(&table[..16]);
        second[lane][..9].copy_from_slice(&table[16..]);
    }
    [cpu.fetch(&first), cpu.fetch(&second)]
}
