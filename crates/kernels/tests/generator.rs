//! The generator against RustCrypto's AES, and where generators went wrong elsewhere: tails, alignment, copies.

use ::aes::cipher::{BlockCipherEncrypt, KeyInit};
use duologue_kernels::generator::Generator;
use duologue_kernels::{Backend, Block};

const SEED: [u8; 16] = *b"a seed of a test";

fn generator() -> Generator {
    Generator::from_seed(Block::from_bytes(SEED))
}

/// AES-128 of a block by RustCrypto.
fn aes(key: [u8; 16], block: [u8; 16]) -> [u8; 16] {
    let mut block = block.into();
    ::aes::Aes128::new(&key.into()).encrypt_block(&mut block);
    block.into()
}

/// The stream of a seed, as the documentation defines it.
fn stream(seed: [u8; 16], blocks: u128) -> Vec<u8> {
    let key = aes(seed, 0u128.to_le_bytes());
    (0..blocks).flat_map(|i| aes(key, i.to_be_bytes())).collect()
}

#[test]
fn the_stream_is_counter_mode() {
    for (backend, blocks) in
        Backend::available().into_iter().flat_map(|b| [1, 3, 4, 5, 31, 32, 33, 300].map(|n| (b, n)))
    {
        let mut out = vec![0; 16 * blocks as usize];
        Generator::with_backend(Block::from_bytes(SEED), backend).fill(&mut out);
        assert_eq!(out, stream(SEED, blocks), "{backend}");
    }
}

#[test]
fn children_are_the_documented_function_of_seed_label_and_index() {
    let key = aes(SEED, 1u128.to_le_bytes());
    let label = u64::from_le_bytes(*b"a label.");
    let seed = aes(key, (u128::from(label) | 77 << 64).to_le_bytes());
    let mut out = [0; 48];
    let mut parent = generator();
    parent.derive(b"a label.", 77).fill(&mut out);
    assert_eq!(out[..], stream(seed, 3));
    // However much the parent has given out, and whichever way the label is written.
    parent.fill(&mut [0; 1000]);
    let mut again = [0; 48];
    parent.derive(label, 77).fill(&mut again);
    assert_eq!(out, again);
    parent.derive(label, 78).fill(&mut again);
    assert_ne!(out, again);
}

#[test]
fn odd_lengths_and_misaligned_slices_are_filled_to_the_end() {
    for len in (0..200).chain([1000, 4095]) {
        for offset in [0, 1, 7, 8, 15] {
            let mut buffer = vec![0x55; offset + len + 16];
            let mut generator = generator();
            generator.fill(&mut buffer[offset..offset + len]);
            assert_eq!(buffer[offset..offset + len], stream(SEED, 256)[..len]);
            assert!(buffer[..offset].iter().all(|b| *b == 0x55), "written before the slice");
            assert!(buffer[offset + len..].iter().all(|b| *b == 0x55), "written past the slice");
            // A call rounds up to whole blocks.
            let used = len.div_ceil(16);
            let expected = &stream(SEED, 257)[16 * used..16 * used + 16];
            assert_eq!(generator.block().to_bytes(), expected);
        }
    }
}

#[test]
fn words_and_blocks_are_the_same_stream() {
    let expected = stream(SEED, 3);
    let mut words = [0; 5];
    generator().words(&mut words);
    for (word, bytes) in words.iter().zip(expected.chunks(8)) {
        assert_eq!(word.to_le_bytes(), bytes);
    }
    let mut blocks = [Block::ZERO; 3];
    generator().fill_blocks(&mut blocks);
    assert_eq!(bytemuck::cast_slice::<_, u8>(&blocks), expected);
}

#[test]
fn two_generators_of_the_operating_system_differ() {
    let block = || Generator::from_os().expect("randomness").block();
    assert!(block() != block());
}
