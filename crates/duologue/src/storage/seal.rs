//! Sealing: XChaCha20-Poly1305 under random keys and random nonces.
//!
//! So are headers and the keys of entries, each under a key that serves many. Nonces are drawn, not counted: a folder
//! that comes back from a backup would count again what it counted before. Of 192 random bits none comes twice.

use std::path::Path;

use chacha20poly1305::aead::{AeadInOut, KeyInit, inout::InOutBuf};
use chacha20poly1305::{Tag, XChaCha20Poly1305, XNonce};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::files;
use crate::{Error, Result};

pub(super) const NONCE: usize = 24;
pub(super) const TAG: usize = 16;
pub(super) const KEY: usize = 32;

/// The key under which the header of a folder is sealed: what is in a file that the user keeps elsewhere.
///
/// ```compile_fail,E0277
/// fn print(key: &duologue::correlation::pool::SealKey) {
///     println!("{key:?}");
/// }
/// ```
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct SealKey([u8; KEY]);

/// The fewest and the most bytes of a key file.
const KEY_FILE: std::ops::RangeInclusive<usize> = 32..=4096;

impl SealKey {
    /// The key in a file that nobody else may read, such as `openssl rand -out FILE 32` makes. It is taken as it is,
    /// every byte: a file of words that people choose can be guessed.
    ///
    /// # Errors
    /// If the file cannot be read, is open to others, or has less than 32 bytes or more than 4096.
    pub fn load(path: impl AsRef<Path>) -> Result<SealKey> {
        let path = path.as_ref();
        let bytes = Zeroizing::new(files::read(path, KEY_FILE.end() + 1)?);
        SealKey::from_bytes(&bytes).map_err(|error| Error::usage(format!("{}: {error}", path.display())))
    }

    /// The key made of these bytes, from 32 to 4096, which nobody can guess.
    ///
    /// # Errors
    /// If they are fewer or more.
    pub fn from_bytes(bytes: &[u8]) -> Result<SealKey> {
        if !KEY_FILE.contains(&bytes.len()) {
            return Err(Error::usage("a key that seals a folder has from 32 to 4096 random bytes"));
        }
        Ok(SealKey(blake3::derive_key("duologue 2 storage: key of the header", bytes)))
    }

    /// The key of a folder that is not sealed. Everybody has it.
    pub(super) fn public() -> SealKey {
        SealKey(blake3::derive_key("duologue 2 storage: no key", &[]))
    }

    /// A header that lost its seal was exchanged.
    pub(super) fn check_given(folder: &Path, sealed: bool, given: bool) -> Result<()> {
        match (sealed, given) {
            (true, false) => {
                Err(Error::usage(format!("{} is sealed: give the key it was made with", folder.display())))
            }
            (false, true) => Err(Error::usage(format!("{} is not sealed, but a key was given", folder.display()))),
            _ => Ok(()),
        }
    }

    /// A whole header, under a new nonce: what it says in clear, the text, which is sealed in place, and a digest.
    pub(super) fn seal_header(&self, clear: Vec<u8>, text: &mut [u8]) -> Result<Vec<u8>> {
        let (mut header, nonce) = (clear, random()?);
        let tag = seal(&self.0, &nonce, &header, text);
        header.extend([&nonce[..], text, &tag].concat());
        let digest = blake3::hash(&header);
        header.extend_from_slice(digest.as_bytes());
        Ok(header)
    }

    /// The text of a header; `None` if the key is another, or somebody changed the header.
    pub(super) fn open_header<const N: usize>(&self, header: &[u8]) -> Option<Zeroizing<[u8; N]>> {
        let clear = header.len().checked_sub(NONCE + N + TAG + blake3::OUT_LEN)?;
        let (clear, rest) = header.split_at(clear);
        let (nonce, rest) = rest.split_first_chunk()?;
        let (text, rest) = rest.split_first_chunk()?;
        let mut text = Zeroizing::new(*text);
        open(&self.0, nonce, clear, &mut text[..], *rest.first_chunk()?)?;
        Some(text)
    }
}

/// The key did not open the folder's header.
pub(super) fn not_opened(folder: &Path, sealed: bool) -> Error {
    match sealed {
        true => {
            Error::usage(format!("{} is sealed with another key, or its header was tampered with", folder.display()))
        }
        false => files::malformed(&folder.join("header"), "it is not what was written: tampered with"),
    }
}

/// Encrypts in place; the tag also holds for `context`.
pub(super) fn seal(key: &[u8; KEY], nonce: &[u8; NONCE], context: &[u8], text: &mut [u8]) -> [u8; TAG] {
    let cipher = XChaCha20Poly1305::new(key.into());
    let tag = cipher.encrypt_inout_detached(&XNonce::from(*nonce), context, InOutBuf::from(text));
    tag.expect("less than 256 GiB at a time").into()
}

/// Decrypts in place what [`seal`] made; `None`, and no text, if anything differs.
pub(super) fn open(
    key: &[u8; KEY],
    nonce: &[u8; NONCE],
    context: &[u8],
    text: &mut [u8],
    tag: [u8; TAG],
) -> Option<()> {
    let cipher = XChaCha20Poly1305::new(key.into());
    cipher.decrypt_inout_detached(&XNonce::from(*nonce), context, InOutBuf::from(text), &Tag::from(tag)).ok()
}

/// Random bytes of the operating system: a process that is forked or a machine that is resumed has others.
pub(super) fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|why| Error::io("the system's random generator")(std::io::Error::other(why)))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// draft-irtf-cfrg-xchacha-03, A.3.1.
    #[test]
    fn is_the_published_cipher() {
        let hex = |text: &str| data_encoding::HEXLOWER.decode(text.as_bytes()).unwrap();
        let key: Vec<u8> = (0x80..0xa0).collect();
        let nonce: Vec<u8> = (0x40..0x58).collect();
        let mut text = *b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, \
                          sunscreen would be it.";
        let context = hex("50515253c0c1c2c3c4c5c6c7");
        let (key, nonce) = (key.try_into().unwrap(), nonce.try_into().unwrap());
        let plain = text;
        let tag = seal(&key, &nonce, &context, &mut text);
        assert_eq!(text[..16], hex("bd6d179d3e83d43b9576579493c0e939")[..]);
        assert_eq!(tag[..], hex("c0875924c1c7987947deafd8780acf49")[..]);
        assert!(open(&key, &nonce, &context[1..], &mut text.clone(), tag).is_none());
        assert!(open(&key, &nonce, &context, &mut text, tag).is_some() && text == plain);
    }

    #[test]
    fn a_key_is_long_enough_and_is_no_default() {
        for len in [0, 31, 4097] {
            assert!(matches!(SealKey::from_bytes(&vec![7; len]), Err(Error::Usage(_))));
        }
        let keys = [&[7; 32][..], &[7; 33], &[8; 32]].map(|bytes| SealKey::from_bytes(bytes).unwrap().0);
        assert!(keys[0] != keys[1] && keys[0] != keys[2] && !keys.contains(&SealKey::public().0));
    }
}
