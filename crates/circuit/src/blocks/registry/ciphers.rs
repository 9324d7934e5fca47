//! Ciphers and hashes.

use super::{BOTH, Block, block, parameter};
use crate::blocks::{Goal, aes, sha256};
use crate::builder::Builder;
use crate::graph::Circuit;
use crate::words::Bits;

pub(super) fn blocks() -> Vec<Block> {
    let fixed = |name, about, build| Block { parameters: Vec::new(), ..block(name, about, BOTH, build) };
    vec![
        fixed("aes128", "AES-128 encryption of one block, with its key schedule", aes128),
        fixed("sha256_compress", "SHA-256 compression of one block", sha256_compress),
        Block {
            parameters: vec![parameter("bytes of the message", 0..=1 << 12, 32)],
            ..block("sha256", "SHA-256 of a message of fixed length", BOTH, sha256_hash)
        },
    ]
}

fn aes128(block: &Block, _: &[u32], goal: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let (key, text) = (c.bits("key", 128), c.bits("block", 128));
    let keys = aes::expand_key(&mut c, &key, goal);
    let out = aes::encrypt(&mut c, &keys, &text, goal);
    c.output("out", &out);
    c.finish()
}

fn sha256_compress(block: &Block, _: &[u32], goal: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let (state, text) = (c.bits("state", 256), c.bits("block", 512));
    let out = sha256::compress(&mut c, &state, &text, goal);
    c.output("out", &out);
    c.finish()
}

fn sha256_hash(block: &Block, size: &[u32], goal: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let message = if size[0] == 0 { Bits(Vec::new()) } else { c.bits("message", 8 * size[0]) };
    let out = sha256::hash(&mut c, &message, goal);
    c.output("out", &out);
    c.finish()
}
