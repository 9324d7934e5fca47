//! The header: what a shelf is, written once.
//!
//! ```text
//! 0     8   "duo-shlf"
//! 8     2   version of the format, 1
//! 10    1   the party: 0 Alice, 1 Bob
//! 11    1   bit 0: sealed; bit 1: bound to keys
//! 12    4   bytes of the terms, n
//! 16    8   when it was made, in seconds since 1970
//! 24    32  identity of the shelf
//! 56    32  public key of Alice, zeros if it is bound to none
//! 88    32  public key of Bob
//! 120   n   the terms: a line for each name and value, as the parties agreed on them
//!       24  nonce
//!       32  sealed: the key of the data
//!       16  tag, which also holds for the first 120 + n bytes
//!       32  BLAKE3 of all that
//! ```

use crate::agreement;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::channel::PublicKey;
use crate::disk::owner::{Owner, Reader};
use crate::disk::seal::{KEY, NONCE, SealKey, TAG};
use crate::{Party, Result};

const MAGIC: &[u8; 8] = b"duo-shlf";
const VERSION: u16 = 1;

/// Bytes before the terms, after them, and the most of the whole.
const FIXED: usize = 120;
const REST: usize = NONCE + KEY + TAG + 32;
pub(super) const MOST: usize = FIXED + agreement::MOST_BYTES + REST;

const SEALED: u8 = 1;
const BOUND: u8 = 2;

/// What both parties agreed on when they made a shelf.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    /// Random and the same for both parties.
    pub identity: [u8; 32],
    /// Whose half this is.
    pub party: Party,
    /// The pinned keys of Alice and Bob; none if the shelf was made over a channel without keys.
    pub keys: Option<[PublicKey; 2]>,
    /// The program, its sizes, who garbles and so on: names and values.
    pub terms: Vec<(String, String)>,
}

impl Origin {
    pub(super) fn owner(&self) -> Owner {
        Owner { identity: self.identity, party: self.party }
    }

    /// The value of a term.
    pub fn term(&self, name: &str) -> Option<&str> {
        self.terms.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn encoded_terms(&self) -> Vec<u8> {
        self.terms.iter().flat_map(|(name, value)| format!("{name}\t{value}\n").into_bytes()).collect()
    }
}

/// All that a header says in clear.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Clear {
    pub origin: Origin,
    pub created: u64,
    pub sealed: bool,
}

/// The key of the data, which a header keeps for its owner.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(super) struct DataKey(pub [u8; KEY]);

impl Clear {
    fn encode(&self) -> Vec<u8> {
        let Clear { origin, created, sealed } = self;
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        let flags = flag(*sealed, SEALED) | flag(origin.keys.is_some(), BOUND);
        let [alice, bob] = origin.keys.map_or([[0; 32]; 2], |keys| keys.map(|key| *key.as_bytes()));
        let terms = origin.encoded_terms();
        let clear = [
            &MAGIC[..],
            &VERSION.to_le_bytes(),
            &[origin.party as u8, flags],
            &(terms.len() as u32).to_le_bytes(),
            &created.to_le_bytes(),
            &origin.identity,
            &alice,
            &bob,
            &terms,
        ];
        clear.concat()
    }

    /// The whole header, under a new nonce.
    pub(super) fn seal(&self, data: &DataKey, key: &SealKey) -> Result<Vec<u8>> {
        let mut text = zeroize::Zeroizing::new(data.0);
        key.seal_header(self.encode(), &mut text[..])
    }

    /// What a header says in clear, if it is undamaged.
    pub(super) fn decode(header: &[u8]) -> std::result::Result<Clear, String> {
        if !header.starts_with(MAGIC) {
            return Err("it does not begin as one".into());
        }
        let Some(clear) = header.len().checked_sub(REST).filter(|clear| *clear >= FIXED) else {
            return Err("it is too short".into());
        };
        if blake3::hash(&header[..header.len() - 32]).as_bytes()[..] != header[header.len() - 32..] {
            return Err("its digest is wrong: it is damaged".into());
        }
        let mut reader = Reader(&header[8..clear]);
        let version = u16::from_le_bytes(reader.take()?);
        if version != VERSION {
            return Err(format!("it has version {version}, but we only know {VERSION}"));
        }
        let party = reader.party()?;
        let [flags] = reader.take()?;
        if flags & !(SEALED | BOUND) != 0 {
            return Err(format!("it has unknown flags, {flags:#04x}"));
        }
        let length = u32::from_le_bytes(reader.take()?) as usize;
        let created = reader.number()?;
        let identity = reader.take()?;
        let keys = reader.keys(flags & BOUND != 0)?;
        if length != reader.0.len() || length > agreement::MOST_BYTES {
            return Err(format!("it claims {length} bytes of terms, and has {}", reader.0.len()));
        }
        let origin = Origin { identity, party, keys, terms: lines(reader.0)? };
        let decoded = Clear { origin, created, sealed: flags & SEALED != 0 };
        // Equal shelves have equal headers.
        (decoded.encode() == header[..clear]).then_some(decoded).ok_or("it is not written as we write it".into())
    }

    /// The key of the header that says this; `None` if the key is another, or somebody changed the header.
    pub(super) fn open(&self, header: &[u8], key: &SealKey) -> Option<DataKey> {
        key.open_header(header).map(|text| DataKey(*text))
    }
}

fn lines(bytes: &[u8]) -> std::result::Result<Vec<(String, String)>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "its terms are not text")?;
    let printable = |c: char| matches!(c, ' '..='~' | '\t');
    let line = |line: &str| {
        let (name, value) = line.split_once('\t').filter(|_| line.chars().all(printable))?;
        Some((name.to_owned(), value.to_owned()))
    };
    text.lines().map(line).collect::<Option<_>>().ok_or("its terms have no values".into())
}
