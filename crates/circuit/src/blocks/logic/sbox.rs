//! The S-box of AES and its inverse.
//!
//! The two linear layers are those of Boyar and Peralta, "A new combinational logic minimization technique with
//! applications to cryptology" (SEA 2010); between them lies an inversion in GF(2^4), theirs with 5 ANDs or, for depth,
//! the one of 7 ANDs from "A small depth-16 circuit for the AES S-box" (SEC 2012). 32 ANDs of depth 6, or 34 ANDs of
//! depth 4.
//!
//! The S-box is an affine map A after the inversion in GF(2^8), so its inverse is the inversion after A⁻¹, which is
//! A⁻¹ · S-box · A⁻¹: the same nonlinear core between other linear layers.

use crate::blocks::Goal;
use crate::builder::Builder;
use crate::graph::Bit;

pub(crate) type Byte = [Bit; 8];

/// The S-box of one byte. Size: 32 ANDs, depth 6. Depth: 34 ANDs, depth 4.
pub fn sbox(c: &mut Builder, byte: [Bit; 8], goal: Goal) -> [Bit; 8] {
    let top = Top::new(c, byte);
    let folded = top.fold(c);
    let inverse = match goal {
        Goal::Size => invert_small(c, folded),
        Goal::Depth => invert_shallow(c, folded),
    };
    bottom(c, &top, inverse)
}

/// The inverse of the S-box; costs what [`sbox`] costs.
pub fn inverse_sbox(c: &mut Builder, byte: [Bit; 8], goal: Goal) -> [Bit; 8] {
    let inner = inverse_affine(c, byte);
    invert(c, inner, goal)
}

/// The inversion in GF(2^8), with zero for zero; costs what [`sbox`] costs.
pub(crate) fn invert(c: &mut Builder, byte: Byte, goal: Goal) -> Byte {
    let turned = sbox(c, byte, goal);
    inverse_affine(c, turned)
}

/// A⁻¹: the sum of three rotations, and 5.
fn inverse_affine(c: &mut Builder, byte: Byte) -> Byte {
    std::array::from_fn(|i| c.xor_all([2, 5, 7].map(|k| byte[(i + k) % 8])).flip(0x05 >> i & 1 == 1))
}

/// The upper linear layer: the 21 sums y₁ to y₂₁ of the input (index 0 is unused) and its lowest bit.
struct Top {
    y: [Bit; 22],
    low: Bit,
}

impl Top {
    fn new(c: &mut Builder, byte: Byte) -> Self {
        // The papers number bits from the most significant one.
        let x: [Bit; 8] = std::array::from_fn(|i| byte[7 - i]);
        let mut y = [Bit::FALSE; 22];
        y[14] = c.xor(x[3], x[5]);
        y[13] = c.xor(x[0], x[6]);
        y[9] = c.xor(x[0], x[3]);
        y[8] = c.xor(x[0], x[5]);
        let t0 = c.xor(x[1], x[2]);
        y[1] = c.xor(t0, x[7]);
        y[4] = c.xor(y[1], x[3]);
        y[12] = c.xor(y[13], y[14]);
        y[2] = c.xor(y[1], x[0]);
        y[5] = c.xor(y[1], x[6]);
        y[3] = c.xor(y[5], y[8]);
        let t1 = c.xor(x[4], y[12]);
        y[15] = c.xor(t1, x[5]);
        y[20] = c.xor(t1, x[1]);
        y[6] = c.xor(y[15], x[7]);
        y[10] = c.xor(y[15], t0);
        y[11] = c.xor(y[20], y[9]);
        y[7] = c.xor(x[7], y[11]);
        y[17] = c.xor(y[10], y[11]);
        y[19] = c.xor(y[10], y[8]);
        y[16] = c.xor(t0, y[11]);
        y[21] = c.xor(y[13], y[16]);
        y[18] = c.xor(x[0], y[16]);
        Top { y, low: x[7] }
    }

    /// From GF(2^8) to GF(2^4): the element to invert. 9 ANDs, depth 1.
    fn fold(&self, c: &mut Builder) -> [Bit; 4] {
        let y = &self.y;
        let t2 = c.and(y[12], y[15]);
        let t3 = c.and(y[3], y[6]);
        let t5 = c.and(y[4], self.low);
        let t7 = c.and(y[13], y[16]);
        let t8 = c.and(y[5], y[1]);
        let t10 = c.and(y[2], y[7]);
        let t12 = c.and(y[9], y[11]);
        let t13 = c.and(y[14], y[17]);
        let t15 = c.and(y[8], y[10]);
        let (t14, t16) = (c.xor(t13, t12), c.xor(t15, t12));
        [
            c.xor_all([t3, t2, y[20], t14]),
            c.xor_all([t5, t2, t16, y[19]]),
            c.xor_all([t8, t7, t14, y[21]]),
            c.xor_all([t10, t7, t16, y[18]]),
        ]
    }
}

/// The inverse (t₂₉, t₃₃, t₃₇, t₄₀) of the element (t₂₁, t₂₂, t₂₃, t₂₄) of GF(2^4). 5 ANDs, depth 4.
fn invert_small(c: &mut Builder, [t21, t22, t23, t24]: [Bit; 4]) -> [Bit; 4] {
    let t25 = c.xor(t21, t22);
    let t26 = c.and(t21, t23);
    let t27 = c.xor(t24, t26);
    let t28 = c.and(t25, t27);
    let t29 = c.xor(t28, t22);
    let t30 = c.xor(t23, t24);
    let t31 = c.xor(t22, t26);
    let t32 = c.and(t31, t30);
    let t33 = c.xor(t32, t24);
    let t34 = c.xor(t23, t33);
    let t35 = c.xor(t27, t33);
    let t36 = c.and(t24, t35);
    let t37 = c.xor(t36, t34);
    let t38 = c.xor(t27, t36);
    let t39 = c.and(t29, t38);
    let t40 = c.xor(t25, t39);
    [t29, t33, t37, t40]
}

/// The inverse of [`invert_small`] with less depth. 7 ANDs, depth 2.
fn invert_shallow(c: &mut Builder, [t21, t22, t23, t24]: [Bit; 4]) -> [Bit; 4] {
    let low = c.xor(t21, t22);
    let high = c.xor(t23, t24);
    let product = c.and(t21, t23);
    let a = c.xor(t24, product);
    let b = c.xor(t22, product);
    let (low_a, high_b) = (c.and(low, a), c.and(high, b));
    let t21_t24 = c.and(t21, t24);
    let low_cross = c.and(low, t21_t24);
    let t22_t23 = c.and(t22, t23);
    let high_cross = c.and(high, t22_t23);
    [
        c.xor(t22, low_a),
        c.xor(t24, high_b),
        c.xor_all([high_cross, high, product]),
        c.xor_all([low_cross, low, product]),
    ]
}

/// Back to GF(2^8), and the affine map: 18 ANDs, depth 1, and the lower linear layer.
fn bottom(c: &mut Builder, top: &Top, [t29, t33, t37, t40]: [Bit; 4]) -> Byte {
    let t41 = c.xor(t40, t37);
    let t42 = c.xor(t29, t33);
    let t43 = c.xor(t29, t40);
    let t44 = c.xor(t33, t37);
    let t45 = c.xor(t42, t41);
    let y = &top.y;
    let left = [t44, t37, t33, t43, t40, t29, t42, t45, t41];
    let first = [y[15], y[6], top.low, y[16], y[1], y[7], y[11], y[17], y[10]];
    let second = [y[12], y[3], y[4], y[13], y[5], y[2], y[9], y[14], y[8]];
    let z: [Bit; 18] = std::array::from_fn(|i| {
        let right = if i < 9 { first[i] } else { second[i - 9] };
        c.and(left[i % 9], right)
    });

    let tc1 = c.xor(z[15], z[16]);
    let tc2 = c.xor(z[10], tc1);
    let tc3 = c.xor(z[9], tc2);
    let tc4 = c.xor(z[0], z[2]);
    let tc5 = c.xor(z[1], z[0]);
    let tc6 = c.xor(z[3], z[4]);
    let tc7 = c.xor(z[12], tc4);
    let tc8 = c.xor(z[7], tc6);
    let tc9 = c.xor(z[8], tc7);
    let tc10 = c.xor(tc8, tc9);
    let tc11 = c.xor(tc6, tc5);
    let tc12 = c.xor(z[3], z[5]);
    let tc13 = c.xor(z[13], tc1);
    let tc14 = c.xor(tc4, tc12);
    let s3 = c.xor(tc3, tc11);
    let tc16 = c.xor(z[6], tc8);
    let tc17 = c.xor(z[14], tc10);
    let tc18 = c.xor(tc13, tc14);
    let s7 = !c.xor(z[12], tc18);
    let tc20 = c.xor(z[15], tc16);
    let tc21 = c.xor(tc2, z[11]);
    let s0 = c.xor(tc3, tc16);
    let s6 = !c.xor(tc10, tc18);
    let s4 = c.xor(tc14, s3);
    let s1 = !c.xor(s3, tc16);
    let tc26 = c.xor(tc17, tc20);
    let s2 = !c.xor(tc26, z[17]);
    let s5 = c.xor(tc21, tc17);
    [s7, s6, s5, s4, s3, s2, s1, s0]
}
