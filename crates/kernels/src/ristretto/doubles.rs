//! Encodings of doubles of points, with one inversion for many: of 2P no square root is needed, since P halves it (Hamburg,
//! *Decaf*, CRYPTO 2015, section 7, for the group of RFC 9496).
//!
//! With e = 2XY, f = Z² + d·T², g = Y² + X², h = Z² − d·T² the double has the coordinates x = e/f and y = g/h, and the
//! inverse of e·f·g·h is all that its encoding takes. Products of all groups so far stand in each; of the last one the
//! inverse is computed, and those of the others follow backwards. Where e·f·g·h is zero, 2P is encoded as zeros.

use super::constants::*;
use super::edwards::{Group, Point};
use super::field::{Element, LIMBS, inverses};
use crate::backend::limbs::{Limb, LimbLanes, LimbLoop};

/// The most groups with one inversion: 256 points, of which intermediate values take 82 kB.
pub(crate) const TOGETHER: usize = 32;

/// What is kept of a group: e, f, g, h, e·g, f·h, e·f·g·h, and the product of the last of these over all groups before.
pub(crate) type Kept = [[Limb; LIMBS]; 8];
pub(crate) const NOTHING: Kept = [[Limb::ZERO; LIMBS]; 8];

pub(crate) struct EncodeDoubles<'a> {
    pub points: &'a [Group],
    /// Room, as much as there are points.
    pub kept: &'a mut [Kept],
    pub out: &'a mut [[Limb; LIMBS]],
}

impl LimbLoop for EncodeDoubles<'_> {
    #[inline(always)]
    fn run<C: LimbLanes>(self, cpu: C) {
        let EncodeDoubles { points, kept, out } = self;
        let mut all = Element::small(cpu, 1);
        for (group, kept) in points.iter().zip(kept.iter_mut()) {
            all = keep(cpu, group, kept, all);
        }
        let [mut inverse] = inverses([all]);
        for (kept, out) in kept.iter().zip(out).rev() {
            inverse = encode(cpu, kept, inverse, out);
        }
    }
}

/// Stores what is kept of a group, after the product of those before; returns the product with this one.
#[inline(always)]
fn keep<C: LimbLanes>(cpu: C, group: &Group, kept: &mut Kept, before: Element<C>) -> Element<C> {
    let Point { x, y, z, t } = Point::load(cpu, group);
    let (zz, dtt) = (z.square(), t.square() * Element::splat(cpu, &D));
    let (e, f, g, h) = (x * (y + y), zz + dtt, y.square() + x.square(), zz - dtt);
    let (eg, fh) = (e * g, f * h);
    let product = eg * fh;
    let values = [e, f, g, h, eg, fh, product, before];
    for k in 0..values.len() {
        values[k].store(&mut kept[k]);
    }
    before * product.or(product.is_zero(), Element::small(cpu, 1))
}

/// Encodes a group, from the inverse of the product up to it; returns that of the product before it.
#[inline(always)]
fn encode<C: LimbLanes>(cpu: C, kept: &Kept, inverse: Element<C>, out: &mut [Limb; LIMBS]) -> Element<C> {
    let (zero, one) = (Element::small(cpu, 0), Element::small(cpu, 1));
    let load = |k: usize| Element::load(cpu, &kept[k]);
    let (e, f, g, h, eg, fh, product, before) =
        (load(0), load(1), load(2), load(3), load(4), load(5), load(6), load(7));
    let neutral = product.is_zero();
    let own = inverse * before;
    let (z_inverse, t_inverse) = (eg * own, fh * own);
    let rotate = (eg * z_inverse).is_negative();
    let i = Element::splat(cpu, &SQRT_M1);
    let magic = Element::splat(cpu, &INVSQRT_A_MINUS_D).or(rotate, i);
    let (e, g, h) = (e.or(rotate, g), g.or(rotate, -e), h.or(rotate, f * i));
    let g = g.negated_where((h * e * z_inverse).is_negative());
    let s = (h - g) * (magic * (g * t_inverse));
    s.absolute().or(neutral, zero).store_canonical(out);
    inverse * product.or(neutral, one)
}
