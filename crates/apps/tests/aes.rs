//! AES under one key against the standards and another implementation, and its costs.

use crate::common::{GOALS, Random, assert_at_most};
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};
use apps::aes::{aes, aes_ctr, counters};
use duologue::circuit::blocks::Goal;
use duologue::circuit::program::reference::evaluate;
use duologue::circuit::{BitMatrix, Program};
use std::collections::BTreeMap;

#[test]
fn costs_at_most() {
    let bound = |program: Program, blocks| program.bind(&[("blocks", blocks)]).unwrap();
    for program in [aes, aes_ctr] {
        assert_at_most(&bound(program(128, Goal::Size), 4096), 1280 + 4096 * 5120, 120);
        assert_at_most(&bound(program(128, Goal::Depth), 4096), 1360 + 4096 * 5440, 80);
        assert_at_most(&bound(program(192, Goal::Size), 1), 1024 + 6144, 120);
        assert_at_most(&bound(program(256, Goal::Size), 1), 1664 + 7168, 162);
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(|digit| !digit.is_ascii_whitespace()).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn lanes(width: usize, bytes: &[u8]) -> Vec<Vec<bool>> {
    BitMatrix::from_byte_rows(width, bytes).unwrap().to_lanes()
}

/// The one output of a program on a key and whole blocks.
fn result(program: &Program, key: &[u8], port: &str, blocks: &[u8]) -> Vec<u8> {
    let job = program.bind(&[("blocks", blocks.len() as u64 / 16)]).unwrap();
    let key = lanes(8 * key.len(), key);
    let inputs = BTreeMap::from([("key".to_string(), key), (port.to_string(), lanes(128, blocks))]);
    let (_, cipher) = evaluate(&job, &inputs).pop_first().unwrap();
    BitMatrix::from_lanes(128, &cipher).to_byte_rows()
}

/// The key, the plaintext and the ciphertexts of FIPS 197, Appendix B and C.
#[test]
fn blocks_of_fips_197() {
    let text = "00112233445566778899aabbccddeeff";
    for (key, text, cipher) in [
        ("2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734", "3925841d02dc09fbdc118597196a0b32"),
        ("000102030405060708090a0b0c0d0e0f", text, "69c4e0d86a7b0430d8cdb78070b4c55a"),
        ("000102030405060708090a0b0c0d0e0f1011121314151617", text, "dda97ca4864cdfe06eaf70a0ec0d7191"),
        ("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", text, "8ea2b7ca516745bfeafc49904b496089"),
    ] {
        let key = bytes(key);
        for goal in GOALS {
            let program = aes(8 * key.len() as u32, goal);
            assert_eq!(result(&program, &key, "blocks", &bytes(text)), bytes(cipher), "{} bytes", key.len());
        }
    }
}

/// The four blocks of NIST SP 800-38A, Appendix F.
const TEXT: &str = "6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51 \
                    30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710";

/// Key, ECB (F.1.1, F.1.3, F.1.5) and CTR (F.5.1, F.5.3, F.5.5).
const MODES: [[&str; 3]; 3] = [
    [
        "2b7e151628aed2a6abf7158809cf4f3c",
        "3ad77bb40d7a3660a89ecaf32466ef97 f5d3d58503b9699de785895a96fdbaaf \
         43b1cd7f598ece23881b00e3ed030688 7b0c785e27e8ad3f8223207104725dd4",
        "874d6191b620e3261bef6864990db6ce 9806f66b7970fdff8617187bb9fffdff \
         5ae4df3edbd5d35e5b4f09020db03eab 1e031dda2fbe03d1792170a0f3009cee",
    ],
    [
        "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
        "bd334f1d6e45f25ff712a214571fa5cc 974104846d0ad3ad7734ecb3ecee4eef \
         ef7afd2270e2e60adce0ba2face6444e 9a4b41ba738d6c72fb16691603c18e0e",
        "1abc932417521ca24f2b0459fe7e6e0b 090339ec0aa6faefd5ccc2c6f4ce8e94 \
         1e36b26bd1ebc670d1bd1d665620abf7 4f78a7f6d29809585a97daec58c6b050",
    ],
    [
        "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
        "f3eed1bdb5d2a03c064b5a7e3db181f8 591ccb10d410ed26dc5ba74a31362870 \
         b6ed21b99ca6f4f9f153e7b1beafed1d 23304b7a39f9f3ff067d8d8f9e24ecc7",
        "601ec313775789a5b7a7f504bbf3d228 f443e3ca4d62b59aca84e990cacaf5c5 \
         2b0930daa23de94ce87017ba2d84988d dfc9c58db67aada613c2dd08457941a6",
    ],
];

#[test]
fn modes_of_sp_800_38a() {
    let first = bytes("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff").try_into().unwrap();
    let text = bytes(TEXT);
    for [key, ecb, ctr] in MODES {
        let key = bytes(key);
        let width = 8 * key.len() as u32;
        for goal in GOALS {
            assert_eq!(result(&aes(width, goal), &key, "blocks", &text), bytes(ecb), "ECB, {width} bits");
            let counters: Vec<u8> = counters(first, 4).flatten().collect();
            let stream = result(&aes_ctr(width, goal), &key, "counters", &counters);
            let cipher: Vec<u8> = stream.iter().zip(&text).map(|(a, b)| a ^ b).collect();
            assert_eq!(cipher, bytes(ctr), "CTR, {width} bits");
        }
    }
}

#[test]
fn counters_grow_over_all_bytes() {
    let last = |bytes: [u8; 16], blocks| counters(bytes, blocks).last().unwrap();
    assert_eq!(last([0xff; 16], 2), [0; 16]);
    let mut first = [0; 16];
    first[14..].fill(0xff);
    let mut next = [0; 16];
    next[13] = 1;
    assert_eq!(last(first, 2), next);
    assert_eq!(counters([7; 16], 1).collect::<Vec<_>>(), [[7; 16]]);
}

fn encrypted<C: KeyInit + BlockCipherEncrypt>(key: &[u8], blocks: &[u8]) -> Vec<u8> {
    let cipher = C::new_from_slice(key).unwrap();
    let block = |block: &[u8]| {
        let mut block = block.try_into().unwrap();
        cipher.encrypt_block(&mut block);
        block.to_vec()
    };
    blocks.chunks(C::block_size()).flat_map(block).collect()
}

/// Many blocks under random keys, as the crate `aes` has them.
#[test]
fn many_blocks_under_one_key() {
    let mut dice = Random(11);
    let mut random = |length: usize| -> Vec<u8> { (0..length).map(|_| dice.word() as u8).collect() };
    for blocks in [1, 2, 63, 64, 65, 300] {
        for goal in GOALS {
            let text = random(16 * blocks);
            let keys = [random(16), random(24), random(32)];
            let expected = [
                encrypted::<Aes128>(&keys[0], &text),
                encrypted::<Aes192>(&keys[1], &text),
                encrypted::<Aes256>(&keys[2], &text),
            ];
            for (key, expected) in keys.iter().zip(expected) {
                let width = 8 * key.len() as u32;
                assert_eq!(result(&aes(width, goal), key, "blocks", &text), expected, "{blocks} blocks, {width} bits");
                assert_eq!(result(&aes_ctr(width, goal), key, "counters", &text), expected, "{blocks} counters");
            }
        }
    }
}
