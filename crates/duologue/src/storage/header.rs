//! The header: what a folder is, written once; and once more if its secret is destroyed.
//!
//! ```text
//! 0     8   "duo-stor"
//! 8     2   version of the format, 2
//! 10    1   the party: 0 Alice, 1 Bob
//! 11    1   bit 0: sealed; bit 1: bound to keys; bit 2: the secret is destroyed; bit 3: entries have bulk
//! 12    1   what the folder holds: 0 a pool, 1 prepared runs, 2 runs of a private function
//! 13    3   zero
//! 16    8   when it was made, in seconds since 1970
//! 24    32  identity of the folder
//! 56    32  public key of Alice, zeros if it is bound to none
//! 88    32  public key of Bob
//! 120   4   bytes of the terms, n
//! 124   n   the terms: a line for each name and value
//!       24  nonce
//!       48  sealed: the key of the data, then the content's secret (zeros if it has none, or it is destroyed)
//!       16  tag, which also holds for the first 124 + n bytes
//!       32  BLAKE3 of all that: tells a damaged header from another key
//! ```
//!
//! Version 1 had one format for pools, "duo-pool", and one for prepared runs, "duo-shlf".

use std::fmt;

use data_encoding::HEXLOWER;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::fields::{FieldReader, Owner};
use super::seal::{KEY, NONCE, SealKey, TAG};
use crate::Result;

const MAGIC: &[u8; 8] = b"duo-stor";
const VERSION: u16 = 2;

/// The contents of folders, by their codes.
pub(super) const CONTENTS: [&str; 3] = ["a pool", "prepared runs", "runs of a private function"];

/// How headers of version 1 began, by the code of what they held.
const FIRST: [&[u8; 8]; 2] = [b"duo-pool", b"duo-shlf"];

/// The most bytes of terms.
const MOST_TERMS: usize = 1 << 17;

/// Bytes before the terms, after them, and the most of the whole.
const FIXED: usize = 124;
const TEXT: usize = KEY + 16;
const DIGEST: usize = blake3::OUT_LEN;
const REST: usize = NONCE + TEXT + TAG + DIGEST;
pub(super) const MOST: usize = FIXED + MOST_TERMS + REST;

const SEALED: u8 = 1;
const BOUND: u8 = 2;
const DESTROYED: u8 = 4;
const BULK: u8 = 8;

/// Names and values, which the content understands.
pub(crate) type Terms = Vec<(String, String)>;

/// All that a header says in clear.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Header {
    pub owner: Owner,
    /// The public keys of Alice and Bob to which it is bound.
    pub keys: Option<[[u8; 32]; 2]>,
    pub created: u64,
    pub sealed: bool,
    pub destroyed: bool,
    /// Whether entries have a file beside the secret one.
    pub bulk: bool,
    pub terms: Terms,
}

/// The secrets that a header keeps for its owner.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Secrets {
    pub key: [u8; KEY],
    pub secret: [u8; 16],
}

/// Why a header cannot be read.
#[derive(Debug)]
pub(crate) enum Unreadable {
    Damaged(String),
    /// It was written by another version: what of, as far as that is known.
    Version(u16, Option<u8>),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unreadable::Damaged(why) => f.write_str(why),
            Unreadable::Version(version, _) => write!(f, "it has version {version}, but we only know {VERSION}"),
        }
    }
}

impl From<String> for Unreadable {
    fn from(why: String) -> Self {
        Unreadable::Damaged(why)
    }
}

impl From<&str> for Unreadable {
    fn from(why: &str) -> Self {
        Unreadable::Damaged(why.into())
    }
}

impl Header {
    /// The value of a term.
    pub(crate) fn term(&self, name: &str) -> Option<&str> {
        self.terms.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Bytes of the whole.
    pub(super) fn len(&self) -> usize {
        FIXED + self.lines().len() + REST
    }

    fn lines(&self) -> Vec<u8> {
        self.terms.iter().flat_map(|(name, value)| format!("{name}\t{value}\n").into_bytes()).collect()
    }

    fn flags(&self) -> u8 {
        let bits =
            [(self.sealed, SEALED), (self.keys.is_some(), BOUND), (self.destroyed, DESTROYED), (self.bulk, BULK)];
        bits.iter().map(|&(set, bit)| if set { bit } else { 0 }).sum()
    }

    fn encode(&self) -> Vec<u8> {
        let (lines, keys) = (self.lines(), self.keys.unwrap_or_default());
        let clear = [
            &MAGIC[..],
            &VERSION.to_le_bytes(),
            &[self.owner.party as u8, self.flags(), self.owner.content, 0, 0, 0],
            &self.created.to_le_bytes(),
            &self.owner.identity,
            keys.as_flattened(),
            &(lines.len() as u32).to_le_bytes(),
            &lines,
        ];
        clear.concat()
    }

    /// The whole header, under a new nonce.
    pub(super) fn seal(&self, secrets: &Secrets, key: &SealKey) -> Result<Vec<u8>> {
        let mut text = Zeroizing::new([0; TEXT]);
        text[..KEY].copy_from_slice(&secrets.key);
        text[KEY..].copy_from_slice(&secrets.secret);
        key.seal_header(self.encode(), &mut text[..])
    }

    /// Reads the clear part of a header, if it is undamaged.
    pub(crate) fn decode(header: &[u8]) -> std::result::Result<Header, Unreadable> {
        if let Some(code) = FIRST.iter().position(|magic| header.starts_with(*magic)) {
            return Err(Unreadable::Version(1, Some(code as u8)));
        }
        if !header.starts_with(MAGIC) {
            return Err("it does not begin as one".into());
        }
        let Some(clear) = header.len().checked_sub(REST).filter(|clear| *clear >= FIXED) else {
            return Err("it is too short".into());
        };
        let (digested, digest) = header.split_at(header.len() - DIGEST);
        if blake3::hash(digested).as_bytes()[..] != *digest {
            return Err("its digest is wrong: it is damaged".into());
        }
        let mut reader = FieldReader(&header[8..clear]);
        match u16::from_le_bytes(reader.take()?) {
            VERSION => {}
            version => return Err(Unreadable::Version(version, None)),
        }
        let decoded = Header::fields(reader)?;
        // Equal folders have equal headers.
        (decoded.encode() == header[..clear]).then_some(decoded).ok_or("it is not written as we write it".into())
    }

    fn fields(mut reader: FieldReader<'_>) -> std::result::Result<Header, String> {
        let party = reader.party()?;
        let [flags, content] = reader.take()?;
        if flags & !(SEALED | BOUND | DESTROYED | BULK) != 0 {
            return Err(format!("it has unknown flags, {flags:#04x}"));
        }
        reader.zeros::<3>()?;
        let created = reader.number()?;
        let identity = reader.take()?;
        let keys = [reader.take()?, reader.take()?];
        let length = u32::from_le_bytes(reader.take()?) as usize;
        if length != reader.0.len() || length > MOST_TERMS {
            return Err(format!("it claims {length} bytes of terms, and has {}", reader.0.len()));
        }
        let is = |bit| flags & bit != 0;
        let (owner, keys) = (Owner { identity, party, content }, is(BOUND).then_some(keys));
        let (sealed, destroyed, bulk) = (is(SEALED), is(DESTROYED), is(BULK));
        Ok(Header { owner, keys, created, sealed, destroyed, bulk, terms: lines(reader.0)? })
    }

    /// The secrets of the header that says this; `None` if the key is another, or somebody changed the header.
    pub(super) fn open(header: &[u8], key: &SealKey) -> Option<Secrets> {
        let text = key.open_header::<TEXT>(header)?;
        Some(Secrets { key: *text.first_chunk()?, secret: *text.last_chunk()? })
    }

    /// The content of the folder whose header begins so, of any version.
    pub(super) fn content_of(header: &[u8]) -> Option<u8> {
        let first = FIRST.iter().position(|magic| header.starts_with(*magic)).map(|code| code as u8);
        first.or_else(|| header.get(12).copied().filter(|_| header.starts_with(MAGIC)))
    }
}

fn lines(bytes: &[u8]) -> std::result::Result<Terms, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "its terms are not text")?;
    let is_text = |c: char| matches!(c, ' '..='~' | '\t');
    let line = |line: &str| {
        let (name, value) = line.split_once('\t').filter(|_| line.chars().all(is_text))?;
        Some((name.to_owned(), value.to_owned()))
    };
    text.lines().map(line).collect::<Option<_>>().ok_or("its terms have no values".into())
}

/// At most `most` characters of text, fit for a term.
pub(crate) fn printable(text: &str, most: usize) -> String {
    text.chars().take(most).map(|c| if c == ' ' || c.is_ascii_graphic() { c } else { '?' }).collect()
}

/// Bytes as a term has them.
pub(crate) fn hex_of(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}
