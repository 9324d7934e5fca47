//! Ciphertexts as lanes of bits and as bytes of messages, and who is to blame for those that are none.

use super::Terms;
use duologue::circuit::BitMatrix;
use duologue::{Error, Result};
use he::Ciphertexts;
use he::paillier::PublicKey;
use kernels::generator::Generator;
use kernels::transpose::transpose_bits;

/// Bytes of a ciphertext of Paillier's.
pub(crate) fn bytes_of_ciphertext(terms: &Terms) -> usize {
    terms.key_bits as usize / 4
}

/// Numbers of ciphertexts, one after the other, as an argument of a call: a lane for each.
///
/// # Errors
/// [`Error::Usage`] if they are no whole number of ciphertexts of a key of so many bits.
pub fn lanes_of(numbers: &[u8], key_bits: u32) -> Result<BitMatrix> {
    let (width, each) = (2 * key_bits as usize, key_bits as usize / 4);
    if each == 0 || !each.is_multiple_of(8) || !numbers.len().is_multiple_of(each) {
        return Err(Error::usage(format!("{} bytes are no whole number of ciphertexts", numbers.len())));
    }
    let lanes = numbers.len() / each;
    let words: Vec<u64> = numbers.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)).collect();
    BitMatrix::from_words(width, lanes, transpose_bits(&words, lanes, width)).map_err(Error::from)
}

/// The lanes as numbers of ciphertexts, one after the other.
pub fn numbers_of(lanes: &BitMatrix) -> Vec<u8> {
    let words = transpose_bits(lanes.words(), lanes.rows(), lanes.lanes());
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The ciphertexts that this party handed in, of any Jacobi symbol or of 1 alone.
///
/// # Errors
/// [`Error::Usage`] that names the first which is none.
pub(super) fn own_ciphertexts(key: &PublicKey, lanes: &BitMatrix, any_symbol: bool) -> Result<Ciphertexts> {
    let numbers = numbers_of(lanes);
    let read = if any_symbol { key.read_numbers_of_any_symbol(&numbers) } else { key.read_numbers(&numbers) };
    read.map_err(own)
}

/// Ciphertexts as lanes of a result.
pub(super) fn to_lanes(key: &PublicKey, ciphertexts: &Ciphertexts) -> Result<BitMatrix> {
    lanes_of(&key.write_numbers(ciphertexts).map_err(own)?, key.size().bits())
}

/// What the peer sent is at fault.
pub(crate) fn of_peer(error: he::Error) -> Error {
    match error {
        he::Error::Random => random_failed(),
        he::Error::PlaintextOutOfRange { index } => {
            Error::peer(format!("the plaintext of its ciphertext {index} is larger than its slots"))
        }
        he::Error::OtherKey => Error::peer("it sent another public key than the one of the terms"),
        error => Error::peer(format!("in what it sent: {error}")),
    }
}

/// What this party handed in is at fault.
pub(crate) fn own(error: he::Error) -> Error {
    match error {
        he::Error::Random => random_failed(),
        error => Error::usage(error.to_string()),
    }
}

/// A generator that the operating system seeds.
pub(crate) fn random() -> Result<Generator> {
    Generator::from_os().map_err(|_| random_failed())
}

fn random_failed() -> Error {
    Error::io("random bytes")(std::io::Error::other("the system's random generator failed"))
}
