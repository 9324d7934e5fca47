//! Points of −x² + y² = 1 + d·x²y² modulo p, eight side by side, in extended coordinates (Hisil, Wong, Carter, Dawson,
//! *Twisted Edwards curves revisited*, ASIACRYPT 2008): x = X/Z, y = Y/Z, xy = T/Z. The formulas of addition (section 3.1)
//! are complete: they hold for all points of the curve, equal ones and neutral ones too.

use super::constants::TWICE_D;
use super::field::{Element, LIMBS};
use crate::backend::limbs::{Limb, LimbLanes};

/// Eight points in memory: X, Y, Z and T.
pub(crate) type Group = [[Limb; LIMBS]; 4];
/// Eight points that are added to others: Y + X, Y − X, 2Z and 2d·T.
pub(crate) type PreparedGroup = [[Limb; LIMBS]; 4];

pub(crate) const ZERO: Group = [[Limb::ZERO; LIMBS]; 4];

#[derive(Clone, Copy)]
pub(crate) struct Point<C: LimbLanes> {
    pub x: Element<C>,
    pub y: Element<C>,
    pub z: Element<C>,
    pub t: Element<C>,
}

/// Points that are added to others.
#[derive(Clone, Copy)]
pub(crate) struct Prepared<C: LimbLanes> {
    sum: Element<C>,
    difference: Element<C>,
    twice_z: Element<C>,
    twice_dt: Element<C>,
}

/// Points of which Z is one.
#[derive(Clone, Copy)]
pub(crate) struct Affine<C: LimbLanes> {
    pub sum: Element<C>,
    pub difference: Element<C>,
    pub twice_dt: Element<C>,
}

/// X = e·f, Y = g·h, Z = f·g, T = e·h: what a sum is before its last products.
#[derive(Clone, Copy)]
struct Factors<C: LimbLanes> {
    e: Element<C>,
    f: Element<C>,
    g: Element<C>,
    h: Element<C>,
}

impl<C: LimbLanes> Factors<C> {
    #[inline(always)]
    fn point(self) -> Point<C> {
        let Factors { e, f, g, h } = self;
        Point { x: e * f, y: g * h, z: f * g, t: e * h }
    }

    /// Of a point that is only doubled: T is not computed.
    #[inline(always)]
    fn without_t(self, t: Element<C>) -> Point<C> {
        let Factors { e, f, g, h } = self;
        Point { x: e * f, y: g * h, z: f * g, t }
    }
}

impl<C: LimbLanes> Point<C> {
    #[inline(always)]
    pub fn neutral(cpu: C) -> Self {
        let (zero, one) = (Element::small(cpu, 0), Element::small(cpu, 1));
        Point { x: zero, y: one, z: one, t: zero }
    }

    #[inline(always)]
    pub fn load(cpu: C, from: &Group) -> Self {
        let [x, y, z, t] = from;
        Point { x: Element::load(cpu, x), y: Element::load(cpu, y), z: Element::load(cpu, z), t: Element::load(cpu, t) }
    }

    #[inline(always)]
    pub fn store(self, to: &mut Group) {
        let [x, y, z, t] = to;
        self.x.store(x);
        self.y.store(y);
        self.z.store(z);
        self.t.store(t);
    }

    #[inline(always)]
    pub fn prepared(self, cpu: C) -> Prepared<C> {
        Prepared {
            sum: self.y + self.x,
            difference: self.y - self.x,
            twice_z: self.z + self.z,
            twice_dt: self.t * Element::splat(cpu, &TWICE_D),
        }
    }

    #[inline(always)]
    pub fn negated_where(self, mask: C::Mask) -> Self {
        Point { x: self.x.negated_where(mask), t: self.t.negated_where(mask), ..self }
    }

    /// The sum, or in the lanes of the mask the difference.
    #[inline(always)]
    pub fn add(self, other: Prepared<C>, negative: C::Mask) -> Self {
        self.sum(other.sum, other.difference, other.twice_dt, self.z * other.twice_z, negative).point()
    }

    /// The same, to be doubled next: T is not computed.
    #[inline(always)]
    pub fn add_before_doubling(self, other: Prepared<C>, negative: C::Mask) -> Self {
        self.sum(other.sum, other.difference, other.twice_dt, self.z * other.twice_z, negative).without_t(self.t)
    }

    /// The sum, or in the lanes of the mask the difference.
    #[inline(always)]
    pub fn add_affine(self, other: Affine<C>, negative: C::Mask) -> Self {
        self.sum(other.sum, other.difference, other.twice_dt, self.z + self.z, negative).point()
    }

    #[inline(always)]
    fn sum(
        self,
        sum: Element<C>,
        difference: Element<C>,
        twice_dt: Element<C>,
        d: Element<C>,
        negative: C::Mask,
    ) -> Factors<C> {
        // The negative of a point has sum and difference exchanged, and T negated, which exchanges f and g.
        let a = (self.y - self.x) * difference.or(negative, sum);
        let b = (self.y + self.x) * sum.or(negative, difference);
        let c = self.t * twice_dt;
        let (f, g) = (d - c, d + c);
        Factors { e: b - a, f: f.or(negative, g), g: g.or(negative, f), h: b + a }
    }

    #[inline(always)]
    fn double_factors(self) -> Factors<C> {
        let (a, b, c) = (self.x.square(), self.y.square(), self.z.square());
        let (g, h) = (a - b, a + b);
        Factors { e: h - (self.x + self.y).square(), f: c + c + g, g, h }
    }

    /// The point times 2^times; `times` is not zero.
    #[inline(always)]
    pub fn double(mut self, times: usize) -> Self {
        for _ in 1..times {
            self = self.double_factors().without_t(self.t);
        }
        self.double_factors().point()
    }
}

impl<C: LimbLanes> Prepared<C> {
    #[inline(always)]
    pub fn load(cpu: C, from: &PreparedGroup) -> Self {
        let [sum, difference, twice_z, twice_dt] = from;
        Prepared {
            sum: Element::load(cpu, sum),
            difference: Element::load(cpu, difference),
            twice_z: Element::load(cpu, twice_z),
            twice_dt: Element::load(cpu, twice_dt),
        }
    }

    #[inline(always)]
    pub fn store(self, to: &mut PreparedGroup) {
        let [sum, difference, twice_z, twice_dt] = to;
        self.sum.store(sum);
        self.difference.store(difference);
        self.twice_z.store(twice_z);
        self.twice_dt.store(twice_dt);
    }

    /// The points at `place` in the lanes of the mask, these in the others.
    #[inline(always)]
    pub fn replace(self, mask: C::Mask, place: &PreparedGroup) -> Self {
        let [sum, difference, twice_z, twice_dt] = place;
        Prepared {
            sum: self.sum.replace(mask, sum),
            difference: self.difference.replace(mask, difference),
            twice_z: self.twice_z.replace(mask, twice_z),
            twice_dt: self.twice_dt.replace(mask, twice_dt),
        }
    }
}
