//! AES in plain code, by RustCrypto's `aes`: for processors without AES instructions (WebAssembly), and the reference
//! that the wide loops are tested against.

use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};

use crate::Block;

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
pub(crate) fn hash<const N: usize>(cipher: &Cipher, x: [Block; N]) -> [Block; N] {
    let mut y = [Block::ZERO; N];
    tree(cipher, &x, &mut y);
    y
}

/// The key of bucket or index `n`: S with the domain, XOR n.
pub(crate) fn numbered(key: Block, n: u64) -> Cipher {
    cipher(key ^ Block::new(n.into()))
}
