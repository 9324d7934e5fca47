//! Numbers modulo p = 2²⁵⁵ − 19, eight side by side, in five limbs of 51 bits.
//!
//! The processor multiplies numbers below 2⁵², so a limb has a bit to spare. An element has limbs below 2⁵¹ + 2¹⁵:
//! every operation takes such elements and ends with one step in which each limb hands what is above 51 bits to
//! the next, and the last one 19 times that to the first. A sum or difference has limbs below 2⁵³ before it; a column of a
//! product is below 5·2⁵² + 2·5·2⁵² and takes 19 times another one, so it is below 2⁶¹, and what it hands on below 2¹⁰.

use std::ops::{Add, Mul, Neg, Sub};

use crate::backend::limbs::{Limb, LimbLanes};

pub(crate) const LIMBS: usize = 5;
const BITS: u32 = 51;
const MASK: u64 = (1 << BITS) - 1;
/// Limbs of 2p, each above those of an element.
const TWICE_P: [u64; LIMBS] = [2 * (MASK - 18), 2 * MASK, 2 * MASK, 2 * MASK, 2 * MASK];

/// Eight numbers.
#[derive(Clone, Copy)]
pub(crate) struct Element<C: LimbLanes> {
    cpu: C,
    limbs: [C::Reg; LIMBS],
}

impl<C: LimbLanes> Element<C> {
    /// From the limb of each weight. Here and below a plain loop: what an array's own `map` is given may stay a function of
    /// its own, which is compiled without the processor's instructions.
    #[inline(always)]
    fn new(cpu: C, limb: impl Fn(usize) -> C::Reg) -> Self {
        let mut limbs = [cpu.splat(0); LIMBS];
        for k in 0..LIMBS {
            limbs[k] = limb(k);
        }
        Element { cpu, limbs }
    }

    #[inline(always)]
    pub fn load(cpu: C, from: &[Limb; LIMBS]) -> Self {
        Self::new(cpu, |k| cpu.load(&from[k]))
    }

    #[inline(always)]
    pub fn store(self, to: &mut [Limb; LIMBS]) {
        for k in 0..LIMBS {
            self.cpu.store(self.limbs[k], &mut to[k]);
        }
    }

    /// The same number in every lane.
    #[inline(always)]
    pub fn splat(cpu: C, limbs: &[u64; LIMBS]) -> Self {
        Self::new(cpu, |k| cpu.splat(limbs[k]))
    }

    #[inline(always)]
    pub fn small(cpu: C, x: u64) -> Self {
        Self::splat(cpu, &[x, 0, 0, 0, 0])
    }

    /// For each lane the number of a table that its index, below 16, names.
    #[inline(always)]
    pub fn look_up(cpu: C, table: &[[Limb; 2]; LIMBS], index: C::Reg) -> Self {
        Self::new(cpu, |k| cpu.look_up(&table[k], index))
    }

    /// `place` in the lanes of the mask, this element in the others.
    #[inline(always)]
    pub fn replace(self, mask: C::Mask, place: &[Limb; LIMBS]) -> Self {
        Self::new(self.cpu, |k| self.cpu.replace(self.limbs[k], mask, &place[k]))
    }

    /// `other` in the lanes of the mask, this element in the others.
    #[inline(always)]
    pub fn or(self, mask: C::Mask, other: Self) -> Self {
        self.each(other, |x, y| self.cpu.select(mask, x, y))
    }

    #[inline(always)]
    fn each(self, other: Self, f: impl Fn(C::Reg, C::Reg) -> C::Reg) -> Self {
        Self::new(self.cpu, |k| f(self.limbs[k], other.limbs[k]))
    }

    /// Hands what is above 51 bits of each limb, which is below 2⁶¹, to the next one.
    #[inline(always)]
    fn carried(self) -> Self {
        let (cpu, x) = (self.cpu, self.limbs);
        let (mask, low) = (cpu.splat(MASK), |x| cpu.shift_right::<BITS>(x));
        let mut limbs = Self::new(cpu, |k| cpu.and(x[k], mask)).limbs;
        limbs[0] = cpu.add_low(limbs[0], low(x[4]), cpu.splat(19));
        for k in 1..LIMBS {
            limbs[k] = cpu.add(limbs[k], low(x[k - 1]));
        }
        Element { limbs, ..self }
    }

    /// The element of columns of which `low` are of weight 2^(51k), and `high` of weight 2^(51k + 52).
    #[inline(always)]
    fn folded(cpu: C, low: [C::Reg; 9], high: [C::Reg; 9]) -> Self {
        let column = |k: usize| match k {
            0 => low[0],
            9 => cpu.add(high[8], high[8]),
            _ => cpu.add(low[k], cpu.add(high[k - 1], high[k - 1])),
        };
        let nineteen = cpu.splat(19);
        Self::new(cpu, |k| cpu.add(column(k), cpu.multiply(column(k + LIMBS), nineteen))).carried()
    }

    #[inline(always)]
    pub fn square(self) -> Self {
        let (cpu, x) = (self.cpu, self.limbs);
        let (mut low, mut high) = ([cpu.splat(0); 9], [cpu.splat(0); 9]);
        for i in 0..LIMBS {
            for j in i + 1..LIMBS {
                low[i + j] = cpu.add_low(low[i + j], x[i], x[j]);
                high[i + j] = cpu.add_high(high[i + j], x[i], x[j]);
            }
        }
        for k in 1..8 {
            (low[k], high[k]) = (cpu.add(low[k], low[k]), cpu.add(high[k], high[k]));
        }
        for i in 0..LIMBS {
            low[2 * i] = cpu.add_low(low[2 * i], x[i], x[i]);
            high[2 * i] = cpu.add_high(high[2 * i], x[i], x[i]);
        }
        Self::folded(cpu, low, high)
    }

    /// The number below p.
    #[inline(always)]
    fn canonical(self) -> [C::Reg; LIMBS] {
        let (cpu, mut x) = (self.cpu, self.limbs);
        let (mask, low) = (cpu.splat(MASK), |x| cpu.shift_right::<BITS>(x));
        // An element is less than 2p; it is not less than p if a carry leaves the top once 19 has been added.
        let mut over = cpu.splat(19 << BITS);
        for k in 0..LIMBS {
            over = cpu.add(x[k], low(over));
        }
        x[0] = cpu.add_low(x[0], low(over), cpu.splat(19));
        for k in 0..LIMBS - 1 {
            x[k + 1] = cpu.add(x[k + 1], low(x[k]));
        }
        Self::new(cpu, |k| cpu.and(x[k], mask)).limbs
    }

    /// The canonical form, as limbs.
    #[inline(always)]
    pub fn store_canonical(self, to: &mut [Limb; LIMBS]) {
        Element { limbs: self.canonical(), ..self }.store(to);
    }

    /// The lanes that are odd: what RFC 9496 calls negative.
    #[inline(always)]
    pub fn is_negative(self) -> C::Mask {
        let (cpu, one) = (self.cpu, self.cpu.splat(1));
        cpu.equal(cpu.and(self.canonical()[0], one), one)
    }

    #[inline(always)]
    pub fn is_zero(self) -> C::Mask {
        let (cpu, x) = (self.cpu, self.canonical());
        // Five limbs below 2⁵¹ have the sum zero only if all are.
        let sum = cpu.add(cpu.add(cpu.add(x[0], x[1]), cpu.add(x[2], x[3])), x[4]);
        cpu.equal(sum, cpu.splat(0))
    }

    #[inline(always)]
    pub fn equals(self, other: Self) -> C::Mask {
        (self - other).is_zero()
    }

    #[inline(always)]
    pub fn negated_where(self, mask: C::Mask) -> Self {
        self.or(mask, -self)
    }

    #[inline(always)]
    pub fn absolute(self) -> Self {
        self.negated_where(self.is_negative())
    }
}

impl<C: LimbLanes> Add for Element<C> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.each(other, |x, y| self.cpu.add(x, y)).carried()
    }
}

impl<C: LimbLanes> Sub for Element<C> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let raised = self.each(Self::splat(self.cpu, &TWICE_P), |x, y| self.cpu.add(x, y));
        raised.each(other, |x, y| self.cpu.subtract(x, y)).carried()
    }
}

impl<C: LimbLanes> Neg for Element<C> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::splat(self.cpu, &TWICE_P).each(self, |x, y| self.cpu.subtract(x, y)).carried()
    }
}

impl<C: LimbLanes> Mul for Element<C> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let (cpu, x, y) = (self.cpu, self.limbs, other.limbs);
        let (mut low, mut high) = ([cpu.splat(0); 9], [cpu.splat(0); 9]);
        for i in 0..LIMBS {
            for j in 0..LIMBS {
                low[i + j] = cpu.add_low(low[i + j], x[i], y[j]);
                high[i + j] = cpu.add_high(high[i + j], x[i], y[j]);
            }
        }
        Self::folded(cpu, low, high)
    }
}

/// Several elements at once, one after the other in each step: chains of squares then do not wait for themselves.
pub(crate) type Several<C, const N: usize> = [Element<C>; N];

#[inline(always)]
fn squares<C: LimbLanes, const N: usize>(mut x: Several<C, N>, times: usize) -> Several<C, N> {
    for _ in 0..times {
        for n in 0..N {
            x[n] = x[n].square();
        }
    }
    x
}

#[inline(always)]
fn products<C: LimbLanes, const N: usize>(mut x: Several<C, N>, y: Several<C, N>) -> Several<C, N> {
    for n in 0..N {
        x[n] = x[n] * y[n];
    }
    x
}

/// x^(2²⁵⁰ − 1) and x¹¹.
#[inline(always)]
fn powers<C: LimbLanes, const N: usize>(x: Several<C, N>) -> [Several<C, N>; 2] {
    let two = squares(x, 1);
    let nine = products(squares(two, 2), x);
    let eleven = products(nine, two);
    let mut ones = products(squares(eleven, 1), nine);
    // From 2^k − 1 to 2^(k + l) − 1 by the power 2^l − 1 of an earlier step.
    let five = ones;
    ones = products(squares(ones, 5), five);
    let ten = ones;
    ones = products(squares(ones, 10), ten);
    let twenty = ones;
    ones = products(squares(ones, 20), twenty);
    ones = products(squares(ones, 10), ten);
    let fifty = ones;
    ones = products(squares(ones, 50), fifty);
    let hundred = ones;
    ones = products(squares(ones, 100), hundred);
    [products(squares(ones, 50), fifty), eleven]
}

/// 1/x, and 0 of 0.
#[inline(always)]
pub(crate) fn inverses<C: LimbLanes, const N: usize>(x: Several<C, N>) -> Several<C, N> {
    let [ones, eleven] = powers(x);
    products(squares(ones, 5), eleven)
}

/// √(u/v), or √(√−1·u/v) where that is no square, even in both cases; and the lanes in which it is one (RFC 9496, section
/// 4.2: SQRT_RATIO_M1).
#[inline(always)]
pub(crate) fn square_roots<C: LimbLanes, const N: usize>(
    u: Several<C, N>,
    v: Several<C, N>,
) -> [(C::Mask, Element<C>); N] {
    let v3 = products(squares(v, 1), v);
    let uv7 = products(products(squares(v3, 1), v), u);
    let power = products(squares(powers(uv7)[0], 2), uv7);
    let r = products(products(u, v3), power);
    let mut roots = [(C::Mask::from(0), r[0]); N];
    for n in 0..N {
        roots[n] = square_root(u[n], v[n], r[n]);
    }
    roots
}

/// Of the candidates ±r and ±√−1·r the right one.
#[inline(always)]
fn square_root<C: LimbLanes>(u: Element<C>, v: Element<C>, r: Element<C>) -> (C::Mask, Element<C>) {
    let i = Element::splat(u.cpu, &super::constants::SQRT_M1);
    let check = v * r.square();
    let (correct, flipped, flipped_i) = (check.equals(u), (check + u).is_zero(), (check + u * i).is_zero());
    (correct | flipped, r.or(flipped | flipped_i, r * i).absolute())
}
