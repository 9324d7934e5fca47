//! The public half of a key pair, by which a party is known.
//!
//! It is written as `duo1`, then the base32 (RFC 4648, lower case) of its 32 bytes and a checksum of 3 bytes, so that a
//! typo is noticed.

use std::fmt;
use std::str::FromStr;

use curve25519_dalek::edwards::CompressedEdwardsY;
use data_encoding::BASE32_NOPAD;

use crate::error::{Error, Result};

const PREFIX: &str = "duo1";
const CHECKSUM: usize = 3;
/// Characters of a public key: the prefix, then 35 bytes of 5 bits a character.
const TEXT: usize = PREFIX.len() + (32 + CHECKSUM) * 8 / 5;

/// The public key of a party: what its peer pins.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    /// The key with these 32 bytes, if it is a point of large order: for the few others anybody
    /// can sign.
    pub fn from_bytes(bytes: [u8; 32]) -> Result<Self> {
        match CompressedEdwardsY(bytes).decompress() {
            Some(point) if !point.is_small_order() => Ok(PublicKey(bytes)),
            _ => Err(malformed("these 32 bytes are no Ed25519 public key")),
        }
    }

    /// The 32 bytes of RFC 8032.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = [&self.0[..], &checksum(&self.0)].concat();
        write!(f, "{PREFIX}{}", BASE32_NOPAD.encode(&bytes).to_ascii_lowercase())
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for PublicKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim().to_ascii_lowercase();
        let Some(body) = text.strip_prefix(PREFIX) else {
            return Err(malformed(format!("it must begin with '{PREFIX}'")));
        };
        if let Some((at, wrong)) = body.char_indices().find(|(_, c)| !matches!(c, 'a'..='z' | '2'..='7')) {
            let place = PREFIX.len() + at + 1;
            return Err(malformed(format!("character {place} is '{}', not a-z or 2-7", wrong.escape_debug())));
        }
        if text.len() != TEXT {
            return Err(malformed(format!("it has {} characters instead of {TEXT}", text.len())));
        }
        let bytes = BASE32_NOPAD.decode(body.to_ascii_uppercase().as_bytes()).map_err(|e| malformed(e.to_string()))?;
        match bytes.split_first_chunk::<32>() {
            Some((key, sum)) if sum == checksum(key) => PublicKey::from_bytes(*key),
            _ => Err(malformed("its checksum is wrong: look for a typo")),
        }
    }
}

fn malformed(why: impl Into<String>) -> Error {
    Error::Malformed { what: "public key".into(), why: why.into() }
}

fn checksum(key: &[u8; 32]) -> [u8; CHECKSUM] {
    let mut sum = [0; CHECKSUM];
    let hash = blake3::derive_key("duologue 1 public key checksum", key);
    sum.copy_from_slice(&hash[..CHECKSUM]);
    sum
}
