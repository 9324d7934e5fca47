//! Half-gates, both roles. ANDs go in blocks of sixteen under four keys: a row of four consecutive ANDs has one under
//! each key, so that lane l of every register is under key l, and round keys serve all rows as they are scheduled.

use super::HalfGatesScheme;
use super::pipeline::{Encrypted, Pair, Position, Role, walk};
use crate::Block;
use crate::backend::lanes::{Kernel, Lanes};
use crate::garbling::scheme::{Evaluate, Garble};
use crate::garbling::wires::Wires;

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

/// The values that stay from step to step.
///
/// Complements cost nothing. Let E₀, E₁ be the hashes of a and a ⊕ Δ as they come, F₀, F₁ of b and b ⊕ Δ, s and t
/// the lowest bits of a and b. With Δ added to a (f_a = 1) or b, T_G = E₀ ⊕ E₁ ⊕ (t ⊕ f_b)·Δ as without but for
/// f_b, with u = F₀ ⊕ F₁ ⊕ f_a·Δ we have T_E = u ⊕ a, and the label is E₀ ⊕ F₀ ⊕ s·T_G ⊕ t·u ⊕ f_a·f_b·Δ.
///
/// Each of these is a sum of two encryptions, so the last round key cancels, and is not made. Constants stand in its place:
/// what the sums lack beside the hash inputs of a and b, whose tweaks and keys cancel but for σ(1), as they should.
struct Garbler<'a, 'b, C: Lanes, W> {
    job: Garble<'a, 'b, HalfGatesScheme, W>,
    delta: C::Reg,
    sigma_delta: C::Reg,
    /// The last round keys of E₀, E₁, F₀ and F₁, for each pair of complements f_a + 2·f_b.
    last: [[C::Reg; 4]; 4],
}

impl<'a, 'b, C: Lanes, W: Wires> Garbler<'a, 'b, C, W> {
    #[inline(always)]
    fn new(cpu: C, job: Garble<'a, 'b, HalfGatesScheme, W>) -> Self {
        let (delta, sigma) = (job.delta, job.delta.sigma());
        let mut last = [[cpu.splat(Block::ZERO); 4]; 4];
        for (flips, last) in last.iter_mut().enumerate() {
            let [a, b] = [flips & 1 == 1, flips & 2 == 2].map(|flip| Block::mask(flip) & delta);
            let both = Block::mask(flips == 3) & delta;
            (last[1], last[2], last[3]) = (cpu.splat(sigma ^ b), cpu.splat(both), cpu.splat(sigma ^ a ^ both));
        }
        Garbler { delta: cpu.splat(delta), sigma_delta: cpu.splat(sigma), last, job }
    }
}

impl<S: Wires> Kernel for Garble<'_, '_, HalfGatesScheme, S> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, cpu: W, _: N) {
        let (key, cursor) = (self.key, self.wires.cursor());
        walk(cpu, &mut Garbler::new(cpu, self), key, cursor);
    }
}

impl<C: Lanes, W: Wires> Role<C, 4> for Garbler<'_, '_, C, W> {
    #[inline(always)]
    fn wires(&self) -> &impl Wires {
        &self.job.wires
    }

    #[inline(always)]
    fn open(&self, cpu: C, position: Position, [a, b]: Pair<C>, key: C::Reg) -> Encrypted<C, 4> {
        let (a, b) = (cpu.sigma(a), cpu.sigma(b));
        let [of_a, of_b] = tweaks(cpu, position.place / 4);
        let (a0, b0) = (cpu.begin(cpu.xor(a, of_a), key), cpu.begin(cpu.xor(b, of_b), key));
        let (a1, b1) = (cpu.xor(a0, self.sigma_delta), cpu.xor(b0, self.sigma_delta));
        ([a0, a1, b0, b1], cpu.xor(a0, b0))
    }

    #[inline(always)]
    fn last(&self, _: C, gate: usize, _: C::Reg) -> [C::Reg; 4] {
        let [flip_a, flip_b] = self.job.wires.flips(gate);
        self.last[usize::from(flip_a) + 2 * usize::from(flip_b)]
    }

    #[inline(always)]
    fn close(&mut self, cpu: C, position: Position, [a, b]: Pair<C>, (y, both): Encrypted<C, 4>) {
        let (s, t) = (cpu.lsb(a), cpu.lsb(b));
        let table_g = cpu.xor_if(cpu.xor(y[0], y[1]), t, self.delta);
        let u = cpu.xor(y[2], y[3]);
        let label = cpu.xor_if(cpu.xor_if(cpu.xor3(y[0], y[2], both), s, table_g), t, u);
        position.store(cpu, label, &mut self.job.wires);
        position.store_pairs(cpu, cpu.zip(table_g, cpu.xor(u, a)), self.job.tables);
    }
}

impl<S: Wires> Kernel for Evaluate<'_, '_, HalfGatesScheme, S> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(mut self, cpu: W, _: N) {
        let (key, cursor) = (self.key, self.wires.cursor());
        walk(cpu, &mut self, key, cursor);
    }
}

impl<C: Lanes, W: Wires> Role<C, 2> for Evaluate<'_, '_, HalfGatesScheme, W> {
    #[inline(always)]
    fn wires(&self) -> &impl Wires {
        &self.wires
    }

    #[inline(always)]
    fn open(&self, cpu: C, position: Position, [a, b]: Pair<C>, key: C::Reg) -> Encrypted<C, 2> {
        let (a, b) = (cpu.sigma(a), cpu.sigma(b));
        let [of_a, of_b] = tweaks(cpu, position.place / 4);
        let x = [cpu.begin(cpu.xor(a, of_a), key), cpu.begin(cpu.xor(b, of_b), key)];
        (x, cpu.xor(x[0], x[1]))
    }

    /// Of the sum of both encryptions the last round key cancels, and what it lacks stands in its place.
    #[inline(always)]
    fn last(&self, cpu: C, _: usize, both: C::Reg) -> [C::Reg; 2] {
        [both, cpu.splat(Block::ZERO)]
    }

    #[inline(always)]
    fn close(&mut self, cpu: C, position: Position, [a, b]: Pair<C>, (y, _): Encrypted<C, 2>) {
        let [table_g, table_e] = cpu.unzip(position.load_pairs(cpu, self.tables));
        let label = cpu.xor_if(cpu.xor(y[0], y[1]), cpu.lsb(a), table_g);
        position.store(cpu, cpu.xor3_if(label, cpu.lsb(b), table_e, a), &mut self.wires);
    }
}
