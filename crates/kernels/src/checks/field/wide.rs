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

#[inline(always)]
fn lanes_sum<C: Lanes>(cpu: C, x: C::Reg) -> Block {
    let mut lanes = [Block::ZERO; 4];
    store(cpu, x, &mut lanes);
    lanes[0] ^ lanes[1] ^ lanes[2] ^ lanes[3]
}
