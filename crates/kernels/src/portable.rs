//! The kernels once more, plainly, on RustCrypto's `aes`: for processors without AES instructions
//! (WebAssembly), and the reference that the wide loops are tested against.

pub(crate) mod three_halves;

use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};

use crate::Block;
use crate::gates::Gate;
use crate::hash::{Ciphertexts, Operand};
use crate::planes::Ends;
use crate::rows::Strip;
use crate::tree::Patch;
use crate::wide::Several;
use std::ops::Range;

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
    let mut buckets: [Option<Cipher>; 4] = [const { None }; 4];
    for (k, number) in (0..len).zip(first..) {
        let (block, place) = (number / 16, number % 16);
        let bucket = &mut buckets[(place % 4) as usize];
        if place < 4 {
            *bucket = None;
        }
        let cipher = bucket.get_or_insert_with(|| numbered(key, 4 * block + place % 4));
        gate(k, cipher, Block::new((2 * (place / 4)).into()));
    }
}

pub(crate) fn garble(
    key: Block,
    first: u64,
    delta: Block,
    a: Operand,
    b: Operand,
    out: &mut [Block],
    tables: &mut [Ciphertexts],
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
        tables[k] = [table_g, table_e].map(Block::to_bytes);
    });
}

pub(crate) fn evaluate(key: Block, first: u64, a: &[Block], b: &[Block], out: &mut [Block], tables: &[Ciphertexts]) {
    gates(key, first, out.len(), |k, bucket, tweak| {
        let [ha, hb] = hash(bucket, [a[k] ^ tweak, b[k] ^ tweak ^ Block::new(1)]);
        let [table_g, table_e] = tables[k].map(Block::from_bytes);
        let (sa, sb) = (Block::mask(a[k].lsb()), Block::mask(b[k].lsb()));
        out[k] = ha ^ (sa & table_g) ^ hb ^ (sb & (table_e ^ a[k]));
    });
}

/// Lanes of gates, a few after the others: the gate, its operands there, and the number of the first AND.
fn pieces(several: Several, mut piece: impl FnMut(&Gate, [&[Block]; 2], &mut [Block], (usize, Range<usize>), u64)) {
    let Several { numbers, strip: Strip { blocks, len }, gates } = several;
    for (i, gate) in gates.iter().enumerate() {
        let first = numbers.first.wrapping_add(i as u64 * numbers.step);
        for lane in (0..len).step_by(16) {
            let (some, mut operands) = (lane..len.min(lane + 16), [[Block::ZERO; 16]; 2]);
            for (to, row) in operands.iter_mut().zip([gate.a, gate.b]) {
                to[..some.len()].copy_from_slice(&blocks[row as usize * len..][some.clone()]);
            }
            let out = &mut blocks[gate.out as usize * len..][some.clone()];
            let operands = operands.each_ref().map(|labels| &labels[..some.len()]);
            piece(gate, operands, out, (i, some), first.wrapping_add(lane as u64));
        }
    }
}

pub(crate) fn garble_gates(key: Block, delta: Block, wires: Several, tables: &mut [&mut [Ciphertexts]]) {
    pieces(wires, |gate, [a, b], out, (row, lanes), first| {
        let (a, b) = (Operand { labels: a, flip: gate.flips[0] }, Operand { labels: b, flip: gate.flips[1] });
        garble(key, first, delta, a, b, out, &mut tables[row][lanes]);
    });
}

pub(crate) fn evaluate_gates(key: Block, wires: Several, tables: &[&[Ciphertexts]]) {
    pieces(wires, |_, [a, b], out, (row, lanes), first| {
        evaluate(key, first, a, b, out, &tables[row][lanes]);
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

/// All ones if both are equal, without a branch.
fn equal(a: u64, b: u64) -> Block {
    let difference = std::hint::black_box(a ^ b);
    Block::new(u128::from((difference | difference.wrapping_neg()) >> 63).wrapping_sub(1))
}

fn patched(x: Block, place: usize, patch: Patch) -> Block {
    x ^ (equal(place as u64, patch.at) & patch.block)
}

pub(crate) fn grow(cipher: &Cipher, parents: &[Block], patch: Patch, children: &mut [Block]) -> Block {
    let mut sum = Block::ZERO;
    for (i, (&parent, pair)) in parents.iter().zip(children.chunks_exact_mut(2)).enumerate() {
        let parent = patched(parent, i, patch);
        let [left] = hash(cipher, [parent]);
        pair.copy_from_slice(&[left, left ^ parent]);
        sum ^= left;
    }
    sum
}

pub(crate) fn seal(leaves: &mut [Block], [one, two]: [Patch; 2]) {
    for (i, leaf) in leaves.iter_mut().enumerate() {
        *leaf = patched(patched(leaf.with_lsb(false), i, one), i, two);
    }
}

pub(crate) fn local(cipher: &Cipher, first: u64, table: &[Block], out: &mut [Block]) {
    let mut stream = vec![[0; 16]; out.len().div_ceil(2) * 3];
    counter(cipher, first / 2 * 3, &mut stream);
    let (words, _) = bytemuck::cast_slice::<_, u64>(&stream).as_chunks::<3>();
    for (out, words) in out.iter_mut().zip(words) {
        let tenth = words.iter().fold(0, |tenth, word| tenth << 7 | word >> 57);
        let others = words.iter().flat_map(|word| [0, 19, 38].map(|shift| word >> shift));
        others.chain([tenth]).for_each(|index| *out ^= table[index as usize % table.len()]);
    }
}

pub(crate) fn planes(keys: &[Cipher], first: u64, len: usize, rows: &mut [Block], stride: usize, mut ends: Ends) {
    const PIECE: usize = 16;
    let k = keys.len().trailing_zeros() as usize;
    for at in (0..len).step_by(PIECE) {
        let place = at..at + PIECE.min(len - at);
        rows.chunks_mut(stride).take(k).for_each(|row| row[place.clone()].fill(Block::ZERO));
        if let Ends::Sum(sum) = &mut ends {
            sum[place.clone()].fill(Block::ZERO);
        }
        let skipped = usize::from(matches!(ends, Ends::Correct { .. }));
        for (x, key) in keys.iter().enumerate().skip(skipped) {
            let mut stream: [Block; PIECE] =
                std::array::from_fn(|i| Block::new(first.wrapping_add((at + i) as u64).into()));
            encrypt(key, &mut stream);
            for j in (0..k).filter(|j| x >> j & 1 == 1) {
                xor_into(&mut rows[j * stride..][place.clone()], &stream);
            }
            if let Ends::Sum(sum) = &mut ends {
                xor_into(&mut sum[place.clone()], &stream);
            }
        }
        if let Ends::Correct { bits, values: Some(values) } = &ends {
            for j in 0..k {
                let mask = Block::mask(bits >> j & 1 == 1);
                let row = rows[j * stride..][place.clone()].iter_mut();
                row.zip(&values[place.clone()]).for_each(|(row, &value)| *row ^= value & mask);
            }
        }
    }
}

fn xor_into(to: &mut [Block], from: &[Block]) {
    to.iter_mut().zip(from).for_each(|(to, &from)| *to ^= from);
}

pub(crate) fn lowest_bits(blocks: &[Block], words: &mut [u64]) {
    for (blocks, word) in blocks.chunks(64).zip(words) {
        *word = blocks.iter().enumerate().fold(0, |word, (i, block)| word | u64::from(block.lsb()) << i);
    }
}

pub(crate) fn pair_bits(key: Block, first: u64, delta: Block, q: &[Block], m0: &mut [u64], differ: &mut [u64]) {
    let mut number = first;
    for (q, (m0, differ)) in q.chunks(64).zip(m0.iter_mut().zip(differ)) {
        let [mut zero, mut one] = [[Block::ZERO; 64]; 2];
        pairs(key, number, delta, q, &mut zero, &mut one);
        lowest_bits(&zero[..q.len()], std::slice::from_mut(m0));
        lowest_bits(&one[..q.len()], std::slice::from_mut(differ));
        *differ ^= *m0;
        number = number.wrapping_add(64);
    }
}

pub(crate) fn chosen_bits(key: Block, first: u64, t: &[Block], m: &mut [u64]) {
    let mut number = first;
    for (t, word) in t.chunks(64).zip(m) {
        let mut messages = [Block::ZERO; 64];
        chosen(key, number, t, &mut messages);
        lowest_bits(&messages[..t.len()], std::slice::from_mut(word));
        number = number.wrapping_add(64);
    }
}

pub(crate) fn xor_rows(strip: Strip, rows: &[[u32; 3]]) {
    let Strip { blocks, len } = strip;
    for row in rows {
        let [to, a, b] = row.map(|row| row as usize * len);
        for i in 0..len {
            blocks[to + i] = blocks[a + i] ^ blocks[b + i];
        }
    }
}
