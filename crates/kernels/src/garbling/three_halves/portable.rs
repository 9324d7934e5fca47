//! Three-halves garbling, in the words of [its module](crate::garbling::three_halves).

use crate::Block;
use crate::cipher::portable::{Cipher, encrypt};
use crate::garbling::gates::Operand;
use crate::garbling::portable::gates;
use crate::garbling::three_halves::Table;

/// ς: σ on each half by itself.
fn sigma(x: Block) -> Block {
    let high_words = x.get() & 0xffff_ffff_0000_0000_ffff_ffff_0000_0000;
    let low_words = x.get() ^ high_words;
    Block::new(high_words ^ low_words << 32 ^ high_words >> 32)
}

/// H of a label and of the same ⊕ Δ, by the calls' tweak.
fn hash<const N: usize>(cipher: &Cipher, tweak: u128, x: [Block; N]) -> [Block; N] {
    let x = x.map(|x| sigma(x ^ Block::new(tweak)));
    let mut y = x;
    encrypt(cipher, &mut y);
    std::array::from_fn(|i| x[i] ^ y[i])
}

fn omega(x: Block) -> Block {
    x.sigma().sigma()
}

fn times(bit: bool, x: Block) -> Block {
    Block::mask(bit) & x
}

/// (c₂·ω² ⊕ c₁)·x.
fn scaled([c2, c1]: [bool; 2], x: Block) -> Block {
    times(c2, x.sigma()) ^ times(c1, x)
}

const LOW: Block = Block::new(u64::MAX as u128);

/// (x_L ‖ y_L).
fn highs(x: Block, y: Block) -> Block {
    (x & !LOW) ^ Block::new(y.get() >> 64)
}

/// (x_R ‖ y_R).
fn lows(x: Block, y: Block) -> Block {
    Block::new(x.get() << 64) ^ (y & LOW)
}

/// (s·x_L ‖ t·x_R).
fn each(s: bool, t: bool, x: Block) -> Block {
    (Block::mask(s) & !LOW & x) ^ (Block::mask(t) & LOW & x)
}

fn bit(x: Block, i: u32) -> bool {
    (x.get() >> i) as u8 & 1 == 1
}

/// The output label of an evaluator, from its labels, the hashes of A, B and A ⊕ B, (G₀ ‖ G₁), (G₂ ‖ G₂) and ρ.
fn label(a: Block, b: Block, [ha, hb, hx]: [Block; 3], [g01, g2]: [Block; 2], rho: [bool; 2]) -> Block {
    let (s, t) = (a.lsb(), b.lsb());
    let w = highs(a, a) ^ lows(b, b);
    let slices = highs(ha, hb) ^ highs(hx, hx) ^ each(s, t, g01) ^ times(s ^ t, g2);
    slices ^ scaled(rho, a ^ omega(b)) ^ each(t, s, w)
}

/// The hashes' control bits, corrected by z₀, z₁, z₂: what hides (r_L, r_R).
fn pads(a: Block, b: Block, h: [Block; 3], z: [bool; 3]) -> [bool; 2] {
    let (s, t) = (a.lsb(), b.lsb());
    let [ga, gb, gx] = [h[0].lsb() ^ (s & z[0]), h[1].lsb() ^ (t & z[1]), h[2].lsb() ^ ((s ^ t) & z[2])];
    [ga ^ gx, gb ^ gx]
}

pub(crate) fn garble(
    key: Block,
    first: u64,
    delta: Block,
    a: Operand,
    b: Operand,
    out: &mut [Block],
    tables: &mut [Table],
) {
    let [fa, fb] = [a.flip, b.flip];
    gates(key, first, out.len(), |k, bucket, row| {
        let (a, b, tweak) = (a.labels[k], b.labels[k], 2 * row.get());
        let both = |h: u128, x: Block| hash(bucket, tweak + h, [x, x ^ delta]);
        let ([ha, ha1], [hb, hb1], [hx, hx1]) = (both(0, a), both(1, b), both(2, a ^ b));
        let (s, t) = (a.lsb(), b.lsb());
        let (p, q) = (!s ^ fa, !t ^ fb);
        let (sum_a, sum_b, sum_x) = (ha ^ ha1, hb ^ hb1, hx ^ hx1);
        let rho = [bit(sum_a, 1), bit(sum_a, 2)];

        // y = p ⊕ ωq, in the basis ω², 1: ω²y = p·ω² ⊕ q, and ωy = (p ⊕ q)·ω² ⊕ p.
        let (u, w) = (a ^ omega(b), highs(a, a) ^ lows(b, b));
        let difference = highs(delta, delta) ^ lows(delta, delta);
        let g01 = highs(sum_a, sum_b)
            ^ scaled([p, q], u ^ delta.sigma())
            ^ scaled(rho, delta.sigma())
            ^ w
            ^ each(!t, !s, difference)
            ^ times(!(fa ^ fb), delta);
        let of_high = scaled([p ^ q, p], u ^ omega(delta)) ^ scaled(rho, omega(delta)) ^ times(fa, delta);
        let g2 = highs(sum_x, sum_x) ^ highs(of_high, of_high) ^ w ^ times(!t, lows(delta, delta));

        let z = [sum_a.lsb() ^ p, sum_b.lsb() ^ q, sum_x.lsb() ^ p ^ q];
        let pads = pads(a, b, [ha, hb, hx], z);
        let control = [rho[0] ^ pads[0], rho[1] ^ pads[1], z[0], z[1], z[2]];
        out[k] = label(a, b, [ha, hb, hx], [g01, g2], rho) ^ times(fa & fb, delta);
        tables[k][..16].copy_from_slice(&g01.to_bytes());
        tables[k][16..24].copy_from_slice(&g2.to_bytes()[..8]);
        tables[k][24] = (0..5).fold(0, |byte, i| byte | u8::from(control[i]) << i);
    });
}

pub(crate) fn evaluate(key: Block, first: u64, a: &[Block], b: &[Block], out: &mut [Block], tables: &[Table]) {
    gates(key, first, out.len(), |k, bucket, row| {
        let (a, b, tweak, table) = (a[k], b[k], 2 * row.get(), &tables[k]);
        let one = |h: u128, x: Block| hash(bucket, tweak + h, [x])[0];
        let h = [one(0, a), one(1, b), one(2, a ^ b)];
        let g01 = Block::from_bytes(std::array::from_fn(|i| table[i]));
        let g2 = Block::from_bytes(std::array::from_fn(|i| table[16 + i % 8]));
        let [zl, zr, z0, z1, z2] = std::array::from_fn(|i| table[24] >> i & 1 == 1);
        let pads = pads(a, b, h, [z0, z1, z2]);
        out[k] = label(a, b, h, [g01, g2], [zl ^ pads[0], zr ^ pads[1]]);
    });
}
