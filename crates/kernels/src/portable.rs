//! The kernels once more, plainly, on RustCrypto's `aes`: for processors without AES instructions
//! (WebAssembly), and the reference that the wide loops are tested against.

use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};

use crate::Block;
use crate::hash::Operand;

pub(crate) type Cipher = aes::Aes128;

pub(crate) fn cipher(key: Block) -> Cipher {
    Cipher::new(&key.to_bytes().into())
}

pub(crate) fn encrypt(cipher: &Cipher, blocks: &mut [Block]) {
    cipher.encrypt_blocks(Array::cast_slice_from_core_mut(bytemuck::cast_slice_mut(blocks)));
}

pub(crate) fn counter(cipher: &Cipher, first: u64, out: &mut [[u8; 16]]) {
    for (i, block) in (first..).zip(out.iter_mut()) {
        *block = u128::from(i).to_be_bytes();
    }
    cipher.encrypt_blocks(Array::cast_slice_from_core_mut(out));
}

pub(crate) fn tree(cipher: &Cipher, input: &[Block], output: &mut [Block]) {
    for (x, y) in input.chunks(64).zip(output.chunks_mut(64)) {
        y.iter_mut().zip(x).for_each(|(y, x)| *y = x.sigma());
        encrypt(cipher, y);
        y.iter_mut().zip(x).for_each(|(y, x)| *y ^= x.sigma());
    }
}

/// H(x) = E(σ(x)) ⊕ σ(x) of a few blocks.
fn hash<const N: usize>(cipher: &Cipher, x: [Block; N]) -> [Block; N] {
    let mut y = [Block::ZERO; N];
    tree(cipher, &x, &mut y);
    y
}

/// The key of bucket or index `n`: S with the domain, XOR n.
fn numbered(key: Block, n: u64) -> Cipher {
    cipher(key ^ Block::new(n.into()))
}

/// AND numbers `first..first + len` with the cipher of each one's bucket and its first tweak.
fn gates(key: Block, first: u64, len: usize, mut gate: impl FnMut(usize, &Cipher, Block)) {
    let mut bucket = numbered(key, first / 4);
    for (k, number) in (0..len).zip(first..) {
        if k > 0 && number % 4 == 0 {
            bucket = numbered(key, number / 4);
        }
        gate(k, &bucket, Block::new((2 * (number % 4)).into()));
    }
}

pub(crate) fn garble(
    key: Block,
    first: u64,
    delta: Block,
    a: Operand,
    b: Operand,
    out: &mut [Block],
    tables: &mut [[Block; 2]],
) {
    gates(key, first, out.len(), |k, bucket, tweak| {
        let a0 = a.labels[k] ^ (Block::mask(a.flip) & delta);
        let b0 = b.labels[k] ^ (Block::mask(b.flip) & delta);
        let (g, e) = (tweak, tweak ^ Block::new(1));
        let [ha0, ha1, hb0, hb1] = hash(bucket, [a0 ^ g, a0 ^ delta ^ g, b0 ^ e, b0 ^ delta ^ e]);
        let (pa, pb) = (Block::mask(a0.lsb()), Block::mask(b0.lsb()));
        let table_g = ha0 ^ ha1 ^ (pb & delta);
        let table_e = hb0 ^ hb1 ^ a0;
        out[k] = ha0 ^ (pa & table_g) ^ hb0 ^ (pb & (table_e ^ a0));
        tables[k] = [table_g, table_e];
    });
}

pub(crate) fn evaluate(key: Block, first: u64, a: &[Block], b: &[Block], out: &mut [Block], tables: &[[Block; 2]]) {
    gates(key, first, out.len(), |k, bucket, tweak| {
        let [ha, hb] = hash(bucket, [a[k] ^ tweak, b[k] ^ tweak ^ Block::new(1)]);
        let [table_g, table_e] = tables[k];
        let (sa, sb) = (Block::mask(a[k].lsb()), Block::mask(b[k].lsb()));
        out[k] = ha ^ (sa & table_g) ^ hb ^ (sb & (table_e ^ a[k]));
    });
}

pub(crate) fn pairs(key: Block, first: u64, delta: Block, q: &[Block], m0: &mut [Block], m1: &mut [Block]) {
    for (k, j) in (0..q.len()).zip(first..) {
        [m0[k], m1[k]] = hash(&numbered(key, j), [q[k], q[k] ^ delta]);
    }
}

pub(crate) fn chosen(key: Block, first: u64, t: &[Block], m: &mut [Block]) {
    for (k, j) in (0..t.len()).zip(first..) {
        [m[k]] = hash(&numbered(key, j), [t[k]]);
    }
}

/// Σ xᵢ·yᵢ of polynomials, not reduced: the coefficients of x⁰ and up, x⁶⁴ and up, x¹²⁸ and up.
pub(crate) fn products(x: &[Block], y: &[Block]) -> [Block; 3] {
    let mut sum = [0; 3];
    for (x, y) in x.iter().zip(y) {
        let [(x0, x1), (y0, y1)] = [x, y].map(|x| (x.get() as u64, (x.get() >> 64) as u64));
        let (low, high) = (carryless_64(x0, y0), carryless_64(x1, y1));
        sum[0] ^= low;
        sum[1] ^= carryless_64(x0 ^ x1, y0 ^ y1) ^ low ^ high;
        sum[2] ^= high;
    }
    sum.map(Block::new)
}

/// Karatsuba's product of two polynomials of 64 coefficients.
fn carryless_64(x: u64, y: u64) -> u128 {
    let [(x0, x1), (y0, y1)] = [x, y].map(|x| (x & 0xffff_ffff, x >> 32));
    let (low, high) = (carryless_32(x0, y0), carryless_32(x1, y1));
    let middle = carryless_32(x0 ^ x1, y0 ^ y1) ^ low ^ high;
    u128::from(low) ^ u128::from(middle) << 32 ^ u128::from(high) << 64
}

/// Every fourth bit of x times every fourth bit of y as numbers: at most 8 ones meet at a place, so no carry
/// reaches the next place that counts, and the lowest bit of each sum is the coefficient.
fn carryless_32(x: u64, y: u64) -> u64 {
    const EVERY_FOURTH: u64 = 0x1111_1111_1111_1111;
    let cut = |x: u64| [0, 1, 2, 3].map(|i| x & EVERY_FOURTH << i);
    let (x, y) = (cut(x), cut(y));
    (0..4).fold(0, |product, place| {
        let sum = (0..4).fold(0, |sum, i| sum ^ x[i].wrapping_mul(y[(4 + place - i) % 4]));
        product | sum & EVERY_FOURTH << place
    })
}
