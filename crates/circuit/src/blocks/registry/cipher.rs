//! Ciphers and hashes.

use super::{BOTH, Block, ONE, block, parameter};
use crate::blocks::Goal;
use crate::blocks::cipher::aes::{self, RoundKeys};
use crate::blocks::cipher::sha2::{self, SHA224, SHA256, SHA384, SHA512, Sha2};
use crate::blocks::cipher::{chacha20, keccak};
use crate::builder::Builder;
use crate::graph::Circuit;
use crate::words::Bits;

pub(super) fn blocks() -> Vec<Block> {
    let fixed = |name, about, build| Block { parameters: Vec::new(), ..block(name, about, BOTH, build) };
    let of_message = |name, about, goals, build| Block {
        parameters: vec![parameter("bytes of the message", 0..=1 << 12, 32)],
        ..block(name, about, goals, build)
    };
    vec![
        fixed("aes128", "AES-128 encryption of one block, with its key schedule", |b, _, goal| {
            aes_of_key(b, 128, goal, aes::encrypt)
        }),
        fixed("aes192", "AES-192 encryption of one block, with its key schedule", |b, _, goal| {
            aes_of_key(b, 192, goal, aes::encrypt)
        }),
        fixed("aes256", "AES-256 encryption of one block, with its key schedule", |b, _, goal| {
            aes_of_key(b, 256, goal, aes::encrypt)
        }),
        fixed("aes128_decrypt", "AES-128 decryption of one block, with the key schedule", |b, _, goal| {
            aes_of_key(b, 128, goal, aes::decrypt)
        }),
        fixed("aes192_decrypt", "AES-192 decryption of one block, with the key schedule", |b, _, goal| {
            aes_of_key(b, 192, goal, aes::decrypt)
        }),
        fixed("aes256_decrypt", "AES-256 decryption of one block, with the key schedule", |b, _, goal| {
            aes_of_key(b, 256, goal, aes::decrypt)
        }),
        fixed("aes128_expand_key", "the eleven round keys of AES-128", |b, _, goal| aes_schedule(b, 128, goal)),
        fixed("aes192_expand_key", "the thirteen round keys of AES-192", |b, _, goal| aes_schedule(b, 192, goal)),
        fixed("aes256_expand_key", "the fifteen round keys of AES-256", |b, _, goal| aes_schedule(b, 256, goal)),
        fixed("aes128_encrypt_expanded", "AES-128 encryption of one block under expanded keys", |b, _, goal| {
            aes_of_round_keys(b, 11, goal, aes::encrypt)
        }),
        fixed("aes192_encrypt_expanded", "AES-192 encryption of one block under expanded keys", |b, _, goal| {
            aes_of_round_keys(b, 13, goal, aes::encrypt)
        }),
        fixed("aes256_encrypt_expanded", "AES-256 encryption of one block under expanded keys", |b, _, goal| {
            aes_of_round_keys(b, 15, goal, aes::encrypt)
        }),
        fixed("aes128_decrypt_expanded", "AES-128 decryption of one block under expanded keys", |b, _, goal| {
            aes_of_round_keys(b, 11, goal, aes::decrypt)
        }),
        fixed("aes192_decrypt_expanded", "AES-192 decryption of one block under expanded keys", |b, _, goal| {
            aes_of_round_keys(b, 13, goal, aes::decrypt)
        }),
        fixed("aes256_decrypt_expanded", "AES-256 decryption of one block under expanded keys", |b, _, goal| {
            aes_of_round_keys(b, 15, goal, aes::decrypt)
        }),
        fixed("sha256_compress", "SHA-256 compression of one block", |b, _, goal| sha2_compress(b, &SHA256, goal)),
        fixed("sha512_compress", "SHA-512 compression of one block", |b, _, goal| sha2_compress(b, &SHA512, goal)),
        of_message("sha256", "SHA-256 of a message of fixed length", BOTH, |b, size, goal| {
            hash(b, size, |c, message| sha2::hash(c, &SHA256, message, goal))
        }),
        of_message("sha384", "SHA-384 of a message of fixed length", BOTH, |b, size, goal| {
            hash(b, size, |c, message| sha2::hash(c, &SHA384, message, goal))
        }),
        of_message("sha512", "SHA-512 of a message of fixed length", BOTH, |b, size, goal| {
            hash(b, size, |c, message| sha2::hash(c, &SHA512, message, goal))
        }),
        of_message("sha3_256", "SHA3-256 of a message of fixed length", ONE, |b, size, _| {
            hash(b, size, |c, message| keccak::sha3(c, 256, message))
        }),
        Block { goals: ONE, ..fixed("keccak_f1600", "the permutation of Keccak and SHA-3", keccak_f1600) },
        fixed("chacha20_block", "64 bytes of the key stream of ChaCha20", chacha20_block),
        of_message("sha224", "SHA-224 of a message of fixed length", BOTH, |b, size, goal| {
            hash(b, size, |c, message| sha2::hash(c, &SHA224, message, goal))
        }),
        of_message("sha3_224", "SHA3-224 of a message of fixed length", ONE, |b, size, _| {
            hash(b, size, |c, message| keccak::sha3(c, 224, message))
        }),
        of_message("sha3_384", "SHA3-384 of a message of fixed length", ONE, |b, size, _| {
            hash(b, size, |c, message| keccak::sha3(c, 384, message))
        }),
        of_message("sha3_512", "SHA3-512 of a message of fixed length", ONE, |b, size, _| {
            hash(b, size, |c, message| keccak::sha3(c, 512, message))
        }),
    ]
}

type Cipher = fn(&mut Builder, &RoundKeys, &Bits, Goal) -> Bits;

fn aes_of_key(block: &Block, width: u32, goal: Goal, cipher: Cipher) -> Circuit {
    let mut c = Builder::new(block.name);
    let (key, text) = (c.bits("key", width), c.bits("block", 128));
    let keys = aes::expand_key(&mut c, &key, goal);
    let out = cipher(&mut c, &keys, &text, goal);
    c.output("out", &out);
    c.finish()
}

fn aes_schedule(block: &Block, width: u32, goal: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let key = c.bits("key", width);
    let keys = aes::expand_key(&mut c, &key, goal);
    c.output("round_keys", &keys.to_bits());
    c.finish()
}

fn aes_of_round_keys(block: &Block, count: u32, goal: Goal, cipher: Cipher) -> Circuit {
    let mut c = Builder::new(block.name);
    let (keys, text) = (c.bits("round_keys", 128 * count), c.bits("block", 128));
    let out = cipher(&mut c, &RoundKeys::from_bits(&keys), &text, goal);
    c.output("out", &out);
    c.finish()
}

fn sha2_compress(block: &Block, hash: &Sha2, goal: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let (state, text) = (c.bits("state", hash.state_bits()), c.bits("block", hash.block_bits()));
    let out = sha2::compress(&mut c, hash, &state, &text, goal);
    c.output("out", &out);
    c.finish()
}

fn hash(block: &Block, size: &[u32], hash: impl FnOnce(&mut Builder, &Bits) -> Bits) -> Circuit {
    let mut c = Builder::new(block.name);
    let message = if size[0] == 0 { Bits(Vec::new()) } else { c.bits("message", 8 * size[0]) };
    let out = hash(&mut c, &message);
    c.output("out", &out);
    c.finish()
}

fn keccak_f1600(block: &Block, _: &[u32], _: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let state = c.bits("state", 1600);
    let out = keccak::keccak_f1600(&mut c, &state);
    c.output("out", &out);
    c.finish()
}

fn chacha20_block(block: &Block, _: &[u32], goal: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let (key, counter, nonce) = (c.bits("key", 256), c.uint("counter", 32), c.bits("nonce", 96));
    let out = chacha20::chacha20_block(&mut c, &key, &counter, &nonce, goal);
    c.output("out", &out);
    c.finish()
}
