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
struct Garbler<'a, 'b, C: Lanes, W> {
    job: Garble<'a, 'b, HalfGatesScheme, W>,
    delta: C::Reg,
    sigma_delta: C::Reg,
    /// σ(Δ) ⊕ f·Δ: with f_b what the sum of two encryptions, E₀ and E₁, lacks, with f_a that of F₀ and F₁.
    sums: [C::Reg; 2],
    /// The difference of the halves' tweaks after σ, and f_a·f_b·Δ.
    labels: [C::Reg; 2],
}

impl<'a, 'b, C: Lanes, W: Wires> Garbler<'a, 'b, C, W> {
    #[inline(always)]
    fn new(cpu: C, job: Garble<'a, 'b, HalfGatesScheme, W>) -> Self {
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
        let [flip_a, flip_b] = self.job.wires.flips(position.gate);
        let (a, b) = (cpu.sigma(a), cpu.sigma(b));
        let [of_a, of_b] = tweaks(cpu, position.place / 4);
        let (a0, b0) = (cpu.begin(cpu.xor(a, of_a), key), cpu.begin(cpu.xor(b, of_b), key));
        let (a1, b1) = (cpu.xor(a0, self.sigma_delta), cpu.xor(b0, self.sigma_delta));
        ([a0, a1, b0, b1], cpu.xor3(a, b, self.labels[usize::from(flip_a & flip_b)]))
    }

    #[inline(always)]
    fn close(&mut self, cpu: C, position: Position, [a, b]: Pair<C>, (y, both): Encrypted<C, 4>) {
        let [flip_a, flip_b] = self.job.wires.flips(position.gate);
        let (s, t) = (cpu.lsb(a), cpu.lsb(b));
        let table_g = cpu.xor_if(cpu.xor3(y[0], y[1], self.sums[usize::from(flip_b)]), t, self.delta);
        let u = cpu.xor3(y[2], y[3], self.sums[usize::from(flip_a)]);
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
        (x, cpu.xor3(a, b, cpu.splat(Block::new(1).sigma())))
    }

    #[inline(always)]
    fn close(&mut self, cpu: C, position: Position, [a, b]: Pair<C>, (y, both): Encrypted<C, 2>) {
        let [table_g, table_e] = cpu.unzip(position.load_pairs(cpu, self.tables));
        let label = cpu.xor_if(cpu.xor3(y[0], y[1], both), cpu.lsb(a), table_g);
        position.store(cpu, cpu.xor3_if(label, cpu.lsb(b), table_e, a), &mut self.wires);
    }
}
