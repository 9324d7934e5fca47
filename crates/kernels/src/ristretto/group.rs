//! Encodings of ristretto255, and its map from numbers to points, eight side by side (RFC 9496, section 4.3; the names of
//! the variables are those of the RFC).

use super::constants::*;
use super::edwards::{Group, Point};
use super::field::{Element, LIMBS, square_roots};
use crate::backend::limbs::{Limb, LimbLanes, LimbLoop};

/// Groups that are encoded or decoded together.
pub(crate) const TOGETHER: usize = 2;

/// Decodes numbers below p that are not negative; a bit is set in `refused` where they are no encoding.
pub(crate) struct Decode<'a, const N: usize> {
    pub s: &'a [[Limb; LIMBS]; N],
    pub out: &'a mut [Group; N],
    pub refused: &'a mut [u8; N],
}

impl<const N: usize> LimbLoop for Decode<'_, N> {
    #[inline(always)]
    fn run<C: LimbLanes>(self, cpu: C) {
        let one = Element::small(cpu, 1);
        let [mut s, mut u1, mut u2, mut v, mut product] = [[one; N]; 5];
        for n in 0..N {
            s[n] = Element::load(cpu, &self.s[n]);
            let ss = s[n].square();
            (u1[n], u2[n]) = (one - ss, one + ss);
            let u2_squared = u2[n].square();
            v[n] = -(Element::splat(cpu, &D) * u1[n].square()) - u2_squared;
            product[n] = v[n] * u2_squared;
        }
        let roots = square_roots([one; N], product);
        for n in 0..N {
            let (was_square, root) = roots[n];
            let den_x = root * u2[n];
            let den_y = root * den_x * v[n];
            let x = ((s[n] + s[n]) * den_x).absolute();
            let y = u1[n] * den_y;
            let t = x * y;
            Point { x, y, z: one, t }.store(&mut self.out[n]);
            self.refused[n] = (was_square ^ 0xff.into() | t.is_negative() | y.is_zero()).into();
        }
    }
}

pub(crate) struct Encode<'a> {
    pub points: &'a [Group; TOGETHER],
    pub out: &'a mut [[Limb; LIMBS]; TOGETHER],
}

impl LimbLoop for Encode<'_> {
    #[inline(always)]
    fn run<C: LimbLanes>(self, cpu: C) {
        let one = Element::small(cpu, 1);
        let mut points = [Point::neutral(cpu); TOGETHER];
        let [mut u1, mut u2, mut product] = [[one; TOGETHER]; 3];
        for n in 0..TOGETHER {
            points[n] = Point::load(cpu, &self.points[n]);
            let Point { x, y, z, .. } = points[n];
            (u1[n], u2[n]) = ((z + y) * (z - y), x * y);
            product[n] = u1[n] * u2[n].square();
        }
        let roots = square_roots([one; TOGETHER], product);
        for n in 0..TOGETHER {
            let Point { x, y, z, t } = points[n];
            let (den1, den2) = (roots[n].1 * u1[n], roots[n].1 * u2[n]);
            let z_inverse = den1 * den2 * t;
            let i = Element::splat(cpu, &SQRT_M1);
            let enchanted = den1 * Element::splat(cpu, &INVSQRT_A_MINUS_D);
            let rotate = (t * z_inverse).is_negative();
            let (x, y, den_inverse) = (x.or(rotate, y * i), y.or(rotate, x * i), den2.or(rotate, enchanted));
            let y = y.negated_where((x * z_inverse).is_negative());
            (den_inverse * (z - y)).absolute().store_canonical(&mut self.out[n]);
        }
    }
}

/// The sum of the points that two numbers are mapped to.
pub(crate) struct Map<'a> {
    pub numbers: &'a [[Limb; LIMBS]; 2],
    pub out: &'a mut Group,
}

impl LimbLoop for Map<'_> {
    #[inline(always)]
    fn run<C: LimbLanes>(self, cpu: C) {
        let one = Element::small(cpu, 1);
        let d = Element::splat(cpu, &D);
        let [mut t, mut r, mut u, mut v] = [[one; 2]; 4];
        for n in 0..2 {
            t[n] = Element::load(cpu, &self.numbers[n]);
            r[n] = Element::splat(cpu, &SQRT_M1) * t[n].square();
            u[n] = (r[n] + one) * Element::splat(cpu, &ONE_MINUS_D_SQUARED);
            v[n] = (-one - r[n] * d) * (r[n] + d);
        }
        let roots = square_roots(u, v);
        let mut points = [Point::neutral(cpu); 2];
        for n in 0..2 {
            let (was_square, root) = roots[n];
            let s = (-(root * t[n]).absolute()).or(was_square, root);
            let c = r[n].or(was_square, -one);
            let number = c * (r[n] - one) * Element::splat(cpu, &D_MINUS_ONE_SQUARED) - v[n];
            let w0 = (s + s) * v[n];
            let w1 = number * Element::splat(cpu, &SQRT_AD_MINUS_ONE);
            let (w2, w3) = (one - s.square(), one + s.square());
            points[n] = Point { x: w0 * w3, y: w2 * w1, z: w1 * w3, t: w0 * w2 };
        }
        points[0].add(points[1].prepared(cpu), 0.into()).store(self.out);
    }
}
