//! The systems against textbook writings of them on num-bigint, against vectors of python-phe, and under bad input.
//!
//! Keys are short, so that they are made quickly: all of them can be broken.

mod bad_input;
mod dgk;
mod linear;
mod nonces;
mod packing;
mod paillier;
mod textbook;

use std::sync::OnceLock;

use duologue_he::paillier::SecretKey;
use duologue_he::{KeySize, Plaintexts};
use kernels::Block;
use kernels::generator::Generator;
use num_bigint::BigUint;

pub fn size(bits: u32) -> KeySize {
    KeySize::even_if_it_can_be_broken(bits).expect("a length")
}

pub fn dice(seed: u128) -> Generator {
    Generator::from_seed(Block::new(seed))
}

/// One key of 512 bits for all tests.
pub fn key() -> &'static SecretKey {
    static KEY: OnceLock<SecretKey> = OnceLock::new();
    KEY.get_or_init(|| SecretKey::generate(size(512), &mut dice(1)).expect("a key"))
}

pub fn big(words: &[u64]) -> BigUint {
    BigUint::from_slice(&words.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]).collect::<Vec<_>>())
}

pub fn words(x: &BigUint, len: usize) -> Vec<u64> {
    let mut words = x.to_u64_digits();
    assert!(words.len() <= len, "a number of at most {len} words");
    words.resize(len, 0);
    words
}

pub fn hex(text: &str) -> BigUint {
    BigUint::parse_bytes(text.as_bytes(), 16).expect("a number")
}

pub fn plaintexts(values: &[BigUint], len: usize) -> Plaintexts {
    Plaintexts::from_words(&values.iter().flat_map(|x| words(x, len)).collect::<Vec<_>>(), len)
}

pub fn bigs(values: &Plaintexts) -> Vec<BigUint> {
    values.iter().map(big).collect()
}

pub fn random_below(n: &BigUint, seed: u128) -> BigUint {
    let mut all = vec![0; n.bits().div_ceil(64) as usize + 2];
    dice(seed).words(&mut all);
    big(&all) % n
}

/// The numbers in the bytes of ciphertexts, whose head has 44 bytes.
pub fn numbers(bytes: &[u8], len: usize) -> Vec<BigUint> {
    bytes[44..].chunks(len).map(BigUint::from_bytes_le).collect()
}

/// Bytes of ciphertexts with other numbers.
pub fn bytes_of(head: &[u8], numbers: &[BigUint], len: usize) -> Vec<u8> {
    let mut out = [&head[..40], &(numbers.len() as u32).to_le_bytes()].concat();
    for number in numbers {
        let mut bytes = number.to_bytes_le();
        bytes.resize(len, 0);
        out.extend(bytes);
    }
    out
}
