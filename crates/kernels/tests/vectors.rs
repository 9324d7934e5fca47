//! Published vectors, on every backend.

use duologue_kernels::aes::Aes128;
use duologue_kernels::{Backend, Block};

fn block(hex: &str) -> Block {
    let byte = |i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).expect("hexadecimal");
    Block::from_bytes(std::array::from_fn(byte))
}

fn encrypt(backend: Backend, key: &str, mut blocks: Vec<Block>) -> Vec<Block> {
    Aes128::with_backend(block(key), backend).encrypt(&mut blocks);
    blocks
}

/// FIPS 197, appendices B and C.1.
#[test]
fn fips_197() {
    for backend in Backend::available() {
        let key = "2b7e151628aed2a6abf7158809cf4f3c";
        let out = encrypt(backend, key, vec![block("3243f6a8885a308d313198a2e0370734")]);
        assert!(out == [block("3925841d02dc09fbdc118597196a0b32")], "{backend}");
        let key = "000102030405060708090a0b0c0d0e0f";
        let out = encrypt(backend, key, vec![block("00112233445566778899aabbccddeeff"); 70]);
        assert!(out == [block("69c4e0d86a7b0430d8cdb78070b4c55a"); 70], "{backend}");
    }
}

const KEY: &str = "2b7e151628aed2a6abf7158809cf4f3c";
const PLAIN: [&str; 4] = [
    "6bc1bee22e409f96e93d7e117393172a",
    "ae2d8a571e03ac9c9eb76fac45af8e51",
    "30c81c46a35ce411e5fbc1191a0a52ef",
    "f69f2445df4f9b17ad2b417be66c3710",
];

/// SP 800-38A, F.1.1: ECB-AES128.
#[test]
fn sp_800_38a_ecb() {
    let cipher = [
        "3ad77bb40d7a3660a89ecaf32466ef97",
        "f5d3d58503b9699de785895a96fdbaaf",
        "43b1cd7f598ece23881b00e3ed030688",
        "7b0c785e27e8ad3f8223207104725dd4",
    ];
    for backend in Backend::available() {
        assert!(encrypt(backend, KEY, PLAIN.map(block).to_vec()) == cipher.map(block), "{backend}");
    }
}

/// SP 800-38A, F.5.1: CTR-AES128, from its initial counter block.
#[test]
fn sp_800_38a_ctr() {
    let cipher = [
        "874d6191b620e3261bef6864990db6ce",
        "9806f66b7970fdff8617187bb9fffdff",
        "5ae4df3edbd5d35e5b4f09020db03eab",
        "1e031dda2fbe03d1792170a0f3009cee",
    ];
    let start = 0xf0f1_f2f3_f4f5_f6f7_f8f9_fafb_fcfd_feff_u128;
    let counters: Vec<_> = (0..4).map(|i| Block::from_bytes((start + i).to_be_bytes())).collect();
    for backend in Backend::available() {
        let stream = encrypt(backend, KEY, counters.clone());
        for i in 0..4 {
            assert!(stream[i] ^ block(PLAIN[i]) == block(cipher[i]), "{backend}, block {i}");
        }
    }
}
