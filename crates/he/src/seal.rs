//! Sealing of key files: XChaCha20-Poly1305 under a key that lies elsewhere, with a random nonce.
//!
//! A key file that is not sealed has the same form under a key that everybody has, so that a file that was cut short or
//! changed is found in either case. Folders of correlations are sealed in the same way.

use chacha20poly1305::aead::{AeadInOut, KeyInit, inout::InOutBuf};
use chacha20poly1305::{Tag, XChaCha20Poly1305, XNonce};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::error::{Error, KeyFault, Result};

const NONCE: usize = 24;
const TAG: usize = 16;
/// By so many bytes a file is longer than what begins it and its secret.
pub(crate) const MORE: usize = NONCE + TAG;

/// The key under which key files are sealed. It has no `Debug`.
///
/// ```compile_fail,E0277
/// fn print(key: &duologue_he::SealKey) {
///     println!("{key:?}");
/// }
/// ```
#[derive(ZeroizeOnDrop)]
pub struct SealKey([u8; 32]);

impl SealKey {
    /// The key made of these bytes, from 32 to 4,096, which nobody can guess.
    ///
    /// # Errors
    /// If they are fewer or more.
    pub fn new(bytes: &[u8]) -> Result<Self> {
        if !(32..=4096).contains(&bytes.len()) {
            return Err(Error::SealKey);
        }
        Ok(SealKey(blake3::derive_key("duologue 1 homomorphic encryption: key of key files", bytes)))
    }

    /// The key of a file that is not sealed. Everybody has it.
    fn public() -> Self {
        SealKey(blake3::derive_key("duologue 1 homomorphic encryption: no key", &[]))
    }
}

/// Whether a file is sealed, as it says, if and only if there is a key for that.
pub(crate) fn check(sealed: bool, key: Option<&SealKey>) -> Result<()> {
    match (sealed, key) {
        (true, None) => Err(Error::PrivateKey(KeyFault::Seal)),
        (false, Some(_)) => Err(Error::PrivateKey(KeyFault::NotSealed)),
        _ => Ok(()),
    }
}

/// A file: `head` in clear, the nonce, the secret, the tag.
pub(crate) fn seal(key: Option<&SealKey>, head: &[u8], secret: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    let mut nonce = [0; NONCE];
    getrandom::fill(&mut nonce).map_err(|_| Error::Random)?;
    let mut file = Zeroizing::new(Vec::with_capacity(head.len() + NONCE + secret.len() + TAG));
    file.extend_from_slice(head);
    file.extend_from_slice(&nonce);
    let at = file.len();
    file.extend_from_slice(secret);
    let sealed = cipher(key).encrypt_inout_detached(&XNonce::from(nonce), head, InOutBuf::from(&mut file[at..]));
    let tag = sealed.map_err(|_| Error::PrivateKey(KeyFault::Form))?;
    file.extend_from_slice(&tag);
    Ok(file)
}

/// The secret in a file that begins with `head`.
pub(crate) fn open(key: Option<&SealKey>, head: &[u8], file: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    let malformed = || Error::PrivateKey(KeyFault::Form);
    let rest = file.strip_prefix(head).ok_or_else(malformed)?;
    let (nonce, rest) = rest.split_first_chunk::<NONCE>().ok_or_else(malformed)?;
    let (secret, tag) = rest.split_last_chunk::<TAG>().ok_or_else(malformed)?;
    let mut secret = Zeroizing::new(secret.to_vec());
    let buffer = InOutBuf::from(&mut secret[..]);
    let opened = cipher(key).decrypt_inout_detached(&XNonce::from(*nonce), head, buffer, &Tag::from(*tag));
    opened.map_err(|_| Error::PrivateKey(KeyFault::Seal))?;
    Ok(secret)
}

fn cipher(key: Option<&SealKey>) -> XChaCha20Poly1305 {
    let public = SealKey::public();
    XChaCha20Poly1305::new(&key.unwrap_or(&public).0.into())
}
