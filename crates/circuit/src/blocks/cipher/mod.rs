//! Ciphers and hashes.

pub mod aes;
pub mod chacha20;
pub mod keccak;
pub mod sha2;
