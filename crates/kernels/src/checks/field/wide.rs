//! Sums of carry-less products.

use crate::Block;
use crate::backend::lanes::{Kernel, Lanes, Step, Steps, Window, store};

/// Σ xᵢ·yᵢ of polynomials, not reduced: the coefficients of x⁰ and up, x⁶⁴ and up, x¹²⁸ and up.
pub(crate) struct Products<'a> {
    pub x: &'a [Block],
    pub y: &'a [Block],
}

impl Kernel for Products<'_> {
    type Output = [Block; 3];

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, narrow: N) -> [Block; 3] {
        let mut sum = [wide.splat(Block::ZERO); 3];
        let mut rest = [narrow.splat(Block::ZERO); 3];
        for Step { at, len } in Steps::new(self.x.len(), 4 * W::LANES) {
            let (x, y) = (&self.x[at..at + len], &self.y[at..at + len]);
            if len == 4 * W::LANES {
                products_step::<W>(wide, x, y, &mut sum);
            } else {
                products_step::<N>(narrow, x, y, &mut rest);
            }
        }
        std::array::from_fn(|i| lanes_sum(wide, sum[i]) ^ lanes_sum(narrow, rest[i]))
    }
}

#[inline(always)]
fn products_step<C: Lanes>(cpu: C, x: &[Block], y: &[Block], [low, middle, high]: &mut [C::Reg; 3]) {
    let window = Window::new::<C, 4>(0, x.len());
    for r in 0..4 {
        let Some(at) = window.place(r * C::LANES) else { continue };
        let (x, y) = (cpu.load(&x[at..]), cpu.load(&y[at..]));
        *low = cpu.xor(*low, cpu.carryless::<0x00>(x, y));
        *middle = cpu.xor3(*middle, cpu.carryless::<0x01>(x, y), cpu.carryless::<0x10>(x, y));
        *high = cpu.xor(*high, cpu.carryless::<0x11>(x, y));
    }
}

/// Adds Σⱼ yⱼ·xⱼᵢ, reduced, to every sum i; column j begins at j·`stride`.
pub(crate) struct AddProducts<'a> {
    pub factors: &'a [Block],
    pub columns: &'a [Block],
    pub stride: usize,
    pub sums: &'a mut [Block],
}

impl Kernel for AddProducts<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, narrow: N) {
        let Self { factors, columns, stride, sums } = self;
        for Step { at, len } in Steps::new(sums.len(), 4 * W::LANES) {
            let (columns, sums) = (columns.get(at..).unwrap_or_default(), &mut sums[at..at + len]);
            if len == 4 * W::LANES {
                add_products_step::<W>(wide, factors, columns, stride, sums);
            } else {
                add_products_step::<N>(narrow, factors, columns, stride, sums);
            }
        }
    }
}

#[inline(always)]
fn add_products_step<C: Lanes>(cpu: C, factors: &[Block], columns: &[Block], stride: usize, sums: &mut [Block]) {
    let window = Window::new::<C, 4>(0, sums.len());
    let zero = cpu.splat(Block::ZERO);
    for r in 0..4 {
        let Some(at) = window.place(r * C::LANES) else { continue };
        let [mut low, mut middle, mut high] = [zero; 3];
        for (j, &factor) in factors.iter().enumerate() {
            let (x, y) = (cpu.load(&columns[j * stride + at..]), cpu.splat(factor));
            low = cpu.xor(low, cpu.carryless::<0x00>(x, y));
            middle = cpu.xor3(middle, cpu.carryless::<0x01>(x, y), cpu.carryless::<0x10>(x, y));
            high = cpu.xor(high, cpu.carryless::<0x11>(x, y));
        }
        low = cpu.xor(low, cpu.lows(middle, zero));
        high = cpu.xor(high, cpu.highs(zero, middle));
        let sum = cpu.xor(cpu.load(&sums[at..]), reduce(cpu, low, high));
        store(cpu, sum, &mut sums[at..]);
    }
}

/// low + x¹²⁸·high, where x¹²⁸ = x⁷ + x² + x + 1; what the upper half of `high` gives above x¹²⁸ is reduced once more.
#[inline(always)]
fn reduce<C: Lanes>(cpu: C, low: C::Reg, high: C::Reg) -> C::Reg {
    let (zero, modulus) = (cpu.splat(Block::ZERO), cpu.splat(Block::new(0x87)));
    let upper = cpu.carryless::<0x01>(high, modulus);
    let lower = cpu.xor(cpu.carryless::<0x00>(high, modulus), cpu.lows(upper, zero));
    cpu.xor3(low, lower, cpu.carryless::<0x01>(upper, modulus))
}

#[inline(always)]
fn lanes_sum<C: Lanes>(cpu: C, x: C::Reg) -> Block {
    let mut lanes = [Block::ZERO; 4];
    store(cpu, x, &mut lanes);
    lanes[0] ^ lanes[1] ^ lanes[2] ^ lanes[3]
}
