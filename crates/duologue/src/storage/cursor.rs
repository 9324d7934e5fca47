//! A cursor: how many of numbered things are used up.
//!
//! ```text
//! 0   8   "duo-curs"
//! 8   32  identity of the folder
//! 40  1   the party
//! 41  1   the content
//! 42  6   zero
//! 48  8n  used, of each of the n kinds of the content
//!     32  BLAKE3 of all that, under a key derived from the key of the data
//! ```
//!
//! It is written whole to another file, which then takes its name. Two slots written in turn would need one wait for
//! the disk instead of two; but there a slot that was damaged later looks like one whose writing was cut short, and the
//! older slot would be believed: things would be used twice. Of this file there is one, and it is right or refused.

use std::path::Path;

use zeroize::Zeroizing;

use super::fields::{FieldReader, Owner};
use super::files;
use super::seal::KEY;
use crate::Result;

/// Numbers that nobody reaches; sums of two stay far from overflow.
pub(crate) const LIMIT: u64 = 1 << 47;

const MAGIC: &[u8; 8] = b"duo-curs";

/// Bytes before the counters, and of the keyed hash.
const HEAD: usize = 48;
const MAC: usize = 32;

/// A cursor of `N` kinds of things.
pub(super) struct Cursor<const N: usize>;

impl<const N: usize> Cursor<N> {
    /// Bytes of the file.
    pub(super) const LEN: usize = HEAD + 8 * N + MAC;

    fn encode(owner: &Owner, used: &[u64; N], key: &[u8; KEY]) -> Vec<u8> {
        let mut bytes = [&MAGIC[..], &owner.encode(), &[0; 6]].concat();
        used.iter().for_each(|used| bytes.extend(used.to_le_bytes()));
        let mac = mac(&bytes, key);
        bytes.extend_from_slice(mac.as_bytes());
        bytes
    }

    /// Reads a cursor; whose it is comes with it.
    pub(super) fn decode(bytes: &[u8], content: u8, key: &[u8; KEY]) -> std::result::Result<(Owner, [u64; N]), String> {
        if bytes.len() != Self::LEN || !bytes.starts_with(MAGIC) {
            return Err(format!("it is not one of {} bytes", Self::LEN));
        }
        let (maced, digest) = bytes.split_at(Self::LEN - MAC);
        let mut reader = FieldReader(&maced[8..]);
        let owner = reader.owner(content)?;
        reader.zeros::<6>()?;
        let mut used = [0; N];
        for used in &mut used {
            *used = reader.number()?;
        }
        reader.end()?;
        if used.iter().any(|&used| used > LIMIT) {
            return Err(format!("it claims that {used:?} are used"));
        }
        // blake3::Hash compares in constant time.
        match mac(maced, key) == blake3::Hash::from_slice(digest).map_err(|error| error.to_string())? {
            true => Ok((owner, used)),
            false => Err("it is not what was written: damaged, or tampered with".into()),
        }
    }

    /// Writes it for good, before it returns.
    pub(super) fn save(folder: &Path, owner: &Owner, used: &[u64; N], key: &[u8; KEY]) -> Result<()> {
        files::replace(&folder.join("cursor"), &[&Self::encode(owner, used, key)])
    }

    pub(super) fn load(folder: &Path, owner: &Owner, key: &[u8; KEY]) -> Result<[u64; N]> {
        let path = folder.join("cursor");
        let bytes = files::read(&path, Self::LEN + 1)?;
        let decoded = Self::decode(&bytes, owner.content, key);
        let (whose, used) = decoded.map_err(|why| files::malformed(&path, why))?;
        whose.check(owner).map_err(|why| files::malformed(&path, why))?;
        Ok(used)
    }
}

fn mac(bytes: &[u8], key: &[u8; KEY]) -> blake3::Hash {
    let key = Zeroizing::new(blake3::derive_key("duologue 2 storage: key of the cursor", key));
    blake3::keyed_hash(&key, bytes)
}
