//! The cursor: how many correlations of each kind are used up.
//!
//! ```text
//! 0   8   "duo-curs"
//! 8   32  identity of the pool
//! 40  1   the party
//! 41  7   zero
//! 48  24  used COTs by Alice, used COTs by Bob, used triples
//! 72  32  BLAKE3 of all that, keyed by the key of the data
//! ```
//!
//! It is written whole to another file, which then takes its name. Two slots written in turn would need one wait for
//! the disk instead of two; but there a slot that was damaged later looks like one whose writing was cut short, and the
//! older slot would be believed: correlations would be used twice. Of this file there is one, and it is right or refused.

use std::path::{Path, PathBuf};

use super::files;
use super::kind::{LIMIT, Owner, Reader};
use super::seal::KEY;
use crate::Result;

const MAGIC: &[u8; 8] = b"duo-curs";

pub(super) const LEN: usize = 104;
const MACED: usize = LEN - 32;

/// Used up, of each kind.
pub(super) type Used = [u64; 3];

fn encode(owner: &Owner, used: &Used, key: &[u8; KEY]) -> Vec<u8> {
    let mut bytes = [&MAGIC[..], &owner.identity, &[owner.party as u8, 0, 0, 0, 0, 0, 0, 0]].concat();
    used.iter().for_each(|used| bytes.extend(used.to_le_bytes()));
    let mac = mac(&bytes, key);
    bytes.extend_from_slice(mac.as_bytes());
    bytes
}

/// Reads a cursor; whose it is comes with it.
pub(super) fn decode(bytes: &[u8], key: &[u8; KEY]) -> std::result::Result<(Owner, Used), String> {
    if bytes.len() != LEN || !bytes.starts_with(MAGIC) {
        return Err(format!("it is not one of {LEN} bytes"));
    }
    let mut reader = Reader(&bytes[8..MACED]);
    let owner = Owner { identity: reader.take()?, party: reader.party()? };
    reader.zeros::<7>()?;
    let used = [reader.number()?, reader.number()?, reader.number()?];
    reader.end()?;
    if used.iter().any(|&used| used > LIMIT) {
        return Err(format!("it claims that {used:?} are used"));
    }
    // blake3::Hash compares in constant time.
    match mac(&bytes[..MACED], key) == blake3::Hash::from_slice(&bytes[MACED..]).map_err(|error| error.to_string())? {
        true => Ok((owner, used)),
        false => Err("it is not what was written: damaged, or tampered with".into()),
    }
}

fn mac(bytes: &[u8], key: &[u8; KEY]) -> blake3::Hash {
    let mut key = blake3::derive_key("duologue 1 pool: key of the cursor", key);
    let mac = blake3::keyed_hash(&key, bytes);
    zeroize::Zeroize::zeroize(&mut key);
    mac
}

pub(super) fn path(folder: &Path) -> PathBuf {
    folder.join("cursor")
}

/// Writes it for good, before it returns.
pub(super) fn save(folder: &Path, owner: &Owner, used: &Used, key: &[u8; KEY]) -> Result<()> {
    files::replace(&path(folder), &[&encode(owner, used, key)])
}

pub(super) fn load(folder: &Path, owner: &Owner, key: &[u8; KEY]) -> Result<Used> {
    let path = path(folder);
    let bytes = files::read(&path, LEN + 1)?;
    let (whose, used) = decode(&bytes, key).map_err(|why| files::malformed(&path, why))?;
    whose.check(owner).map_err(|why| files::malformed(&path, why))?;
    Ok(used)
}
