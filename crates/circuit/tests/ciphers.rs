//! AES-128 and SHA-256 against their standards and against independent implementations.

mod common;

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use circuit::blocks::{self, Goal};
use circuit::{Builder, Circuit};
use common::{bits_of, bits_of_bytes, bytes_of, hex, number_of};
use proptest::prelude::*;
use sha2::Digest;

const GOALS: [Goal; 2] = [Goal::Size, Goal::Depth];

fn build(name: &str, size: &[u32], goal: Goal) -> Circuit {
    blocks::find(name).unwrap().circuit(size, goal).unwrap()
}

fn encrypt(circuit: &Circuit, key: &[u8], block: &[u8]) -> Vec<u8> {
    bytes_of(&circuit.evaluate(&bits_of_bytes(&[key, block].concat())))
}

fn hash(message: &[u8], goal: Goal) -> Vec<u8> {
    let circuit = build("sha256", &[message.len() as u32], goal);
    bytes_of(&circuit.evaluate(&bits_of_bytes(message)))
}

/// The S-box by its definition: the inverse in GF(2^8), then the affine map.
fn sbox(x: u8) -> u8 {
    let times = |a: u8, b: u8| {
        (0..8).rev().fold(0u8, |sum, i| {
            let doubled = (sum << 1) ^ if sum & 0x80 == 0 { 0 } else { 0x1b };
            doubled ^ if (b >> i) & 1 == 1 { a } else { 0 }
        })
    };
    let inverse = (0..=255).find(|&y| times(x, y) == 1).unwrap_or(0);
    (1..5).fold(inverse ^ 0x63, |sum, i| sum ^ inverse.rotate_left(i))
}

#[test]
fn sbox_of_every_byte() {
    for (goal, cost) in [(Goal::Size, (32, 6)), (Goal::Depth, (34, 4))] {
        let mut c = Builder::new("sbox");
        let byte = c.bits("x", 8);
        let out = blocks::aes::sbox(&mut c, byte.0.try_into().unwrap(), goal);
        c.output("y", &circuit::Bits(out.to_vec()));
        let circuit = c.finish();
        assert_eq!((circuit.and_count(), circuit.depth()), cost);
        for x in 0..=255u8 {
            assert_eq!(number_of(&circuit.evaluate(&bits_of(x.into(), 8))), sbox(x).into());
        }
    }
}

#[test]
fn aes_of_the_standards() {
    let vectors = [
        // FIPS 197, appendices B and C.1.
        ("2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734", "3925841d02dc09fbdc118597196a0b32"),
        ("000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff", "69c4e0d86a7b0430d8cdb78070b4c55a"),
        // NIST SP 800-38A, F.1.1.
        ("2b7e151628aed2a6abf7158809cf4f3c", "6bc1bee22e409f96e93d7e117393172a", "3ad77bb40d7a3660a89ecaf32466ef97"),
        ("2b7e151628aed2a6abf7158809cf4f3c", "ae2d8a571e03ac9c9eb76fac45af8e51", "f5d3d58503b9699de785895a96fdbaaf"),
        ("2b7e151628aed2a6abf7158809cf4f3c", "30c81c46a35ce411e5fbc1191a0a52ef", "43b1cd7f598ece23881b00e3ed030688"),
        ("2b7e151628aed2a6abf7158809cf4f3c", "f69f2445df4f9b17ad2b417be66c3710", "7b0c785e27e8ad3f8223207104725dd4"),
    ];
    for goal in GOALS {
        let circuit = build("aes128", &[], goal);
        for (key, plain, cipher) in vectors {
            assert_eq!(encrypt(&circuit, &hex(key), &hex(plain)), hex(cipher), "{goal}");
        }
    }
}

#[test]
fn aes_costs() {
    let cost = |goal| {
        let circuit = build("aes128", &[], goal);
        (circuit.and_count(), circuit.depth())
    };
    assert_eq!(cost(Goal::Size), (6400, 60));
    assert_eq!(cost(Goal::Depth), (6800, 40));
}

#[test]
fn a_key_is_expanded_once_for_many_blocks() {
    let mut c = Builder::new("two blocks");
    let key = c.bits("key", 128);
    let keys = blocks::aes::expand_key(&mut c, &key, Goal::Size);
    for name in ["first", "second"] {
        let block = c.bits(name, 128);
        let out = blocks::aes::encrypt(&mut c, &keys, &block, Goal::Size);
        c.output(name, &out);
    }
    assert_eq!(c.finish().and_count(), 1280 + 2 * 5120);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..Default::default() })]

    #[test]
    fn aes_of_random_keys(key: [u8; 16], block: [u8; 16]) {
        let mut expected = block.into();
        aes::Aes128::new(&key.into()).encrypt_block(&mut expected);
        for goal in GOALS {
            prop_assert_eq!(encrypt(&build("aes128", &[], goal), &key, &block), expected.to_vec());
        }
    }
}

#[test]
fn sha256_of_the_standard() {
    let vectors = [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
        ),
    ];
    for (message, digest) in vectors {
        for goal in GOALS {
            assert_eq!(hash(message.as_bytes(), goal), hex(digest), "{message:?}, {goal}");
        }
    }
}

#[test]
fn sha256_of_every_padding() {
    // Lengths at which the padding just fits, just does not, and fills blocks of its own; and a long one.
    for length in [1, 54, 55, 57, 63, 64, 65, 119, 120, 1000] {
        let message: Vec<u8> = (0..length).map(|i: u32| (i * i * 31 + i * 7 + length) as u8).collect();
        for goal in GOALS {
            assert_eq!(hash(&message, goal), sha2::Sha256::digest(&message).to_vec(), "{length} bytes");
        }
    }
}

#[test]
fn sha256_costs() {
    // The circuit of the "Bristol Fashion" collection has 22,573 ANDs and depth 1,607.
    let cost = |goal| {
        let circuit = build("sha256_compress", &[], goal);
        (circuit.and_count(), circuit.depth())
    };
    assert_eq!(cost(Goal::Size), (22_271, 1607));
    assert_eq!(cost(Goal::Depth), (44_721, 426));
}
