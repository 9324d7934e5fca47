//! AES under a key of the other party: Bob has the key, Alice the data.
//!
//! Barni, Bernaschi, Lazzeretti, Pignata and Sabellico, "Parallel implementation of GC-based MPC protocols in the
//! semi-honest setting" (DPM 2013), §4.2, encrypt the 4,096 blocks of an image of 256 × 256 pixels. The key is expanded
//! once for all blocks.
//!
//! * [`aes`]: blocks as they are (ECB, NIST SP 800-38A §6.1). Equal blocks stay equal, and whoever chooses the blocks
//!   learns what the key makes of them.
//! * [`aes_ctr`]: the key stream of public counters (CTR, §6.5), which Alice adds to a file of any length by herself.
//!   Alice learns the key stream: a counter must never come twice under one key.

use duologue::circuit::blocks::Goal;
use duologue::circuit::blocks::aes::{RoundKeys, encrypt, expand_key};
use duologue::circuit::program::{Owner, Size, Value};
use duologue::circuit::{Builder, Circuit, Party, Program, bits};

/// Bits of a block.
pub const BLOCK: u32 = 128;

/// The most blocks of a run: 2 GB.
pub const MOST_BLOCKS: u64 = 1 << 27;

/// Blocks of Alice's under Bob's key of 128, 192 or 256 bits. Alice learns the ciphertexts.
///
/// With 128 bits the key takes 1,280 ANDs and a block 5,120, for depth 1,360 and 5,440; with 256 bits 1,664 and 7,168.
///
/// # Panics
/// If there are no such keys.
pub fn aes(key: u32, goal: Goal) -> Program {
    let mut p = Program::new("aes");
    let blocks = p.size("blocks", 1..=MOST_BLOCKS);
    let plain = p.input("blocks", Party::Alice, bits(BLOCK), blocks);
    let cipher = under_one_key(&mut p, (key, blocks), plain, goal);
    p.output("cipher", Party::Alice, cipher);
    p
}

/// The key stream of counters that both know, under Bob's key of 128, 192 or 256 bits. Alice learns it.
///
/// # Panics
/// If there are no such keys.
pub fn aes_ctr(key: u32, goal: Goal) -> Program {
    let mut p = Program::new("aes_ctr");
    let blocks = p.size("blocks", 1..=MOST_BLOCKS);
    let counters = p.input("counters", Owner::Public, bits(BLOCK), blocks);
    let stream = under_one_key(&mut p, (key, blocks), counters, goal);
    p.output("stream", Party::Alice, stream);
    p
}

/// So many counter blocks from the first one on, which is a big-endian number and grows modulo 2^128.
pub fn counters(first: [u8; 16], blocks: u64) -> impl Iterator<Item = [u8; 16]> {
    let first = u128::from_be_bytes(first);
    (0..blocks).map(move |block| first.wrapping_add(block.into()).to_be_bytes())
}

fn under_one_key(p: &mut Program, (key, blocks): (u32, Size), plain: Value, goal: Goal) -> Value {
    let secret = p.input("key", Party::Bob, bits(key), 1);
    let expanded = p.map(&schedule(key, goal), &[secret]);
    let expanded = p.repeat(expanded, blocks);
    p.map(&block(p.type_of(expanded).width, goal), &[expanded, plain])
}

/// The round keys of a key.
fn schedule(key: u32, goal: Goal) -> Circuit {
    let mut c = Builder::new("aes_schedule");
    let key = c.bits("key", key);
    let expanded = expand_key(&mut c, &key, goal).to_bits();
    c.output("round_keys", &expanded);
    c.finish()
}

/// A block under round keys of so many bits.
fn block(round_keys: u32, goal: Goal) -> Circuit {
    let mut c = Builder::new("aes_block");
    let keys = RoundKeys::from_bits(&c.bits("round_keys", round_keys));
    let plain = c.bits("plain", BLOCK);
    let cipher = encrypt(&mut c, &keys, &plain, goal);
    c.output("cipher", &cipher);
    c.finish()
}
