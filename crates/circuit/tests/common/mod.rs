//! Bits of numbers and byte strings for tests.

pub mod checks;
pub mod lanes;
pub mod random;
pub mod softfloat;

/// The low `width` bits of a number, least significant first.
pub fn bits_of(value: u128, width: u32) -> Vec<bool> {
    (0..width).map(|i| i < 128 && (value >> i) & 1 == 1).collect()
}

/// The number with these bits.
pub fn number_of(bits: &[bool]) -> u128 {
    bits.iter().rev().fold(0, |value, &bit| (value << 1) | u128::from(bit))
}

/// The bits of a byte string.
pub fn bits_of_bytes(bytes: &[u8]) -> Vec<bool> {
    bytes.iter().flat_map(|&byte| bits_of(byte.into(), 8)).collect()
}

/// The byte string with these bits.
pub fn bytes_of(bits: &[bool]) -> Vec<u8> {
    bits.chunks(8).map(|byte| number_of(byte) as u8).collect()
}

/// Bytes written in hexadecimal.
pub fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().filter_map(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
    digits.chunks(2).map(|pair| (pair[0] << 4) | pair[1]).collect()
}
