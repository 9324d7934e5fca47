//! What tests hash, and under which key.

use duologue_kernels::Block;
use duologue_kernels::generator::Generator;

pub const S: Block = Block::new(0xfedc_ba98_7654_3210_0f1e_2d3c_4b5a_6978);

pub fn random(len: usize, index: u64) -> Vec<Block> {
    let mut blocks = vec![Block::ZERO; len];
    Generator::from_seed(S).derive(b"testdata", index).fill_blocks(&mut blocks);
    blocks
}

pub fn random_delta() -> Block {
    random(1, 99)[0].with_lsb(true)
}
