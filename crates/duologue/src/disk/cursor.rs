//! A cursor: how many of numbered things are used up.
//!
//! ```text
//! 0   8   which kind of folder it belongs to: "duo-curs" of a pool, "duo-scur" of a shelf
//! 8   32  identity of the folder
//! 40  1   the party
//! 41  7   zero
//! 48  8n  used, of each of n kinds: of a pool COTs by Alice, COTs by Bob, triples; of a shelf its runs
//!     32  BLAKE3 of all that, keyed by the key of the data
//! ```
//!
//! It is written whole to another file, which then takes its name. Two slots written in turn would need one wait for
//! the disk instead of two; but there a slot that was damaged later looks like one whose writing was cut short, and the
//! older slot would be believed: things would be used twice. Of this file there is one, and it is right or refused.

use std::path::{Path, PathBuf};

use super::files;
use super::owner::{LIMIT, Owner, Reader};
use super::seal::KEY;
use crate::Result;

/// Bytes before the counters, and of the keyed hash.
const HEAD: usize = 48;
const MAC: usize = 32;

/// The cursors of a kind of folder, which begin so and count `N` kinds of things.
pub(crate) struct Cursor<const N: usize>(pub &'static [u8; 8]);

impl<const N: usize> Cursor<N> {
    /// Bytes of the file.
    pub(crate) const LEN: usize = HEAD + 8 * N + MAC;

    fn encode(&self, owner: &Owner, used: &[u64; N], key: &[u8; KEY]) -> Vec<u8> {
        let mut bytes = [&self.0[..], &owner.identity, &[owner.party as u8, 0, 0, 0, 0, 0, 0, 0]].concat();
        used.iter().for_each(|used| bytes.extend(used.to_le_bytes()));
        let mac = mac(&bytes, key);
        bytes.extend_from_slice(mac.as_bytes());
        bytes
    }

    /// Reads a cursor; whose it is comes with it.
    pub(crate) fn decode(&self, bytes: &[u8], key: &[u8; KEY]) -> std::result::Result<(Owner, [u64; N]), String> {
        if bytes.len() != Self::LEN || !bytes.starts_with(self.0) {
            return Err(format!("it is not one of {} bytes", Self::LEN));
        }
        let (maced, digest) = bytes.split_at(Self::LEN - MAC);
        let mut reader = Reader(&maced[8..]);
        let owner = Owner { identity: reader.take()?, party: reader.party()? };
        reader.zeros::<7>()?;
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
    pub(crate) fn save(&self, folder: &Path, owner: &Owner, used: &[u64; N], key: &[u8; KEY]) -> Result<()> {
        files::replace(&path(folder), &[&self.encode(owner, used, key)])
    }

    pub(crate) fn load(&self, folder: &Path, owner: &Owner, key: &[u8; KEY]) -> Result<[u64; N]> {
        let path = path(folder);
        let bytes = files::read(&path, Self::LEN + 1)?;
        let (whose, used) = self.decode(&bytes, key).map_err(|why| files::malformed(&path, why))?;
        whose.check(owner).map_err(|why| files::malformed(&path, why))?;
        Ok(used)
    }
}

fn mac(bytes: &[u8], key: &[u8; KEY]) -> blake3::Hash {
    let mut key = blake3::derive_key("duologue 1 pool: key of the cursor", key);
    let mac = blake3::keyed_hash(&key, bytes);
    zeroize::Zeroize::zeroize(&mut key);
    mac
}

pub(crate) fn path(folder: &Path) -> PathBuf {
    folder.join("cursor")
}
