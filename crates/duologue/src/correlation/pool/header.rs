//! The header: what a pool is, written once; and once more if Δ is destroyed.
//!
//! ```text
//! 0    8   "duo-pool"
//! 8    2   version of the format, 1
//! 10   1   the party: 0 Alice, 1 Bob
//! 11   1   bit 0: sealed; bit 1: bound to keys; bit 2: Δ is destroyed
//! 12   4   zero
//! 16   8   when it was made, in seconds since 1970
//! 24   32  identity of the pool
//! 56   32  public key of Alice, zeros if it is bound to none
//! 88   32  public key of Bob
//! 120  32  identity of Alice's Δ
//! 152  32  identity of Bob's Δ
//! 184  32  the maker's name, then zeros
//! 216  160 why Δ is destroyed, then zeros
//! 376  24  nonce
//! 400  48  sealed: our Δ (zeros if it is destroyed), then the key of the data
//! 448  16  tag, which also holds for the first 376 bytes
//! 464  32  BLAKE3 of all that
//! ```

use kernels::Block;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::channel::PublicKey;
use crate::disk::owner::{Owner, Reader};
use crate::disk::seal::{KEY, SealKey};
use crate::ot::Extension;
use crate::{Error, Party, Result};

const MAGIC: &[u8; 8] = b"duo-pool";
const VERSION: u16 = 1;

/// Bytes of a header, up to the nonce, and up to the digest.
pub(super) const LEN: usize = 496;
const CLEAR: usize = 376;
const DIGESTED: usize = LEN - 32;

/// Bytes of the texts.
const NAME: usize = 32;
const REASON: usize = 160;

const SEALED: u8 = 1;
const BOUND: u8 = 2;
const DESTROYED: u8 = 4;

/// What both parties agreed on when they made a pool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    /// Random and the same for both parties.
    pub identity: [u8; 32],
    /// Whose half this is.
    pub party: Party,
    /// The pinned keys of Alice and Bob; none if the pool was made over a channel without keys.
    pub keys: Option<[PublicKey; 2]>,
    /// The [`delta_identity`] of Alice's Δ and of Bob's.
    pub deltas: [[u8; 32]; 2],
    /// What made the correlations.
    pub extension: Extension,
}

/// What a party says of its Δ instead of Δ: a hash of its 127 random bits, the pool and the party. Whoever knows it
/// can tell whether a guess is right, and has 2¹²⁷ to try.
pub fn delta_identity(identity: &[u8; 32], party: Party, delta: Block) -> [u8; 32] {
    let mut bytes = Zeroizing::new([0; 32 + 1 + 16]);
    bytes[..32].copy_from_slice(identity);
    bytes[32] = party as u8;
    bytes[33..].copy_from_slice(&delta.to_bytes());
    blake3::derive_key("duologue 1 pool: identity of delta", &bytes[..])
}

/// All that a header says in clear.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Clear {
    pub origin: Origin,
    pub created: u64,
    pub sealed: bool,
    pub destroyed: Option<String>,
}

/// What a header keeps for its owner.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(super) struct Secrets {
    /// Zero once it is destroyed.
    pub delta: Block,
    pub key: [u8; KEY],
}

impl Origin {
    /// The identity of the pool and whose half it is.
    pub(super) fn owner(&self) -> Owner {
        Owner { identity: self.identity, party: self.party }
    }

    /// The identity that `delta` must have.
    pub(super) fn has_delta(&self, delta: Block) -> bool {
        delta.lsb() && delta_identity(&self.identity, self.party, delta) == self.deltas[self.party as usize]
    }

    /// A digest of what both parties have alike.
    pub(super) fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("duologue 1 pool: origin");
        hasher.update(&self.identity);
        hasher.update(&[self.keys.is_some().into()]);
        for part in self.keys.iter().flatten().map(PublicKey::as_bytes).chain(&self.deltas) {
            hasher.update(part);
        }
        hasher.update(self.extension.to_string().as_bytes());
        *hasher.finalize().as_bytes()
    }
}

impl Clear {
    fn encode(&self) -> Vec<u8> {
        let Clear { origin, created, sealed, destroyed } = self;
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        let flags = flag(*sealed, SEALED) | flag(origin.keys.is_some(), BOUND) | flag(destroyed.is_some(), DESTROYED);
        let [alice, bob] = origin.keys.map_or([[0; 32]; 2], |keys| keys.map(|key| *key.as_bytes()));
        let clear = [
            &MAGIC[..],
            &VERSION.to_le_bytes(),
            &[origin.party as u8, flags, 0, 0, 0, 0],
            &created.to_le_bytes(),
            &origin.identity,
            &alice,
            &bob,
            &origin.deltas[0],
            &origin.deltas[1],
            &padded::<NAME>(&origin.extension.to_string()),
            &padded::<REASON>(destroyed.as_deref().unwrap_or_default()),
        ];
        clear.concat()
    }

    /// The whole header, under a new nonce.
    pub(super) fn seal(&self, secrets: &Secrets, key: &SealKey) -> Result<Vec<u8>> {
        let mut text = Zeroizing::new([0; 16 + KEY]);
        text[..16].copy_from_slice(&secrets.delta.to_bytes());
        text[16..].copy_from_slice(&secrets.key);
        key.seal_header(self.encode(), &mut text[..])
    }

    /// What a header says in clear, if it is undamaged.
    pub(super) fn decode(header: &[u8]) -> std::result::Result<Clear, String> {
        if !header.starts_with(MAGIC) {
            return Err("it does not begin as one".into());
        }
        if header.len() != LEN {
            return Err(format!("it has {} bytes instead of {LEN}", header.len()));
        }
        if blake3::hash(&header[..DIGESTED]).as_bytes()[..] != header[DIGESTED..] {
            return Err("its digest is wrong: it is damaged".into());
        }
        let mut reader = Reader(&header[8..CLEAR]);
        let version = u16::from_le_bytes(reader.take()?);
        if version != VERSION {
            return Err(format!("it has version {version}, but we only know {VERSION}"));
        }
        let party = reader.party()?;
        let [flags] = reader.take()?;
        if flags & !(SEALED | BOUND | DESTROYED) != 0 {
            return Err(format!("it has unknown flags, {flags:#04x}"));
        }
        reader.zeros::<4>()?;
        let created = reader.number()?;
        let identity = reader.take()?;
        let keys = reader.keys(flags & BOUND != 0)?;
        let deltas = [reader.take()?, reader.take()?];
        let name = text(&reader.take::<NAME>()?)?;
        let extension = name.parse().map_err(|error: Error| error.to_string())?;
        let reason = text(&reader.take::<REASON>()?)?;
        reader.end()?;
        let destroyed = (flags & DESTROYED != 0).then_some(reason);
        let origin = Origin { identity, party, keys, deltas, extension };
        let clear = Clear { origin, created, sealed: flags & SEALED != 0, destroyed };
        // Equal pools have equal headers.
        (clear.encode() == header[..CLEAR]).then_some(clear).ok_or("it is not written as we write it".into())
    }

    /// The secrets of the header that says this; `None` if the key is another, or somebody changed the header.
    pub(super) fn open(&self, header: &[u8; LEN], key: &SealKey) -> Option<Secrets> {
        let text = key.open_header::<{ 16 + KEY }>(header)?;
        let delta = Block::from_bytes(*text.first_chunk()?);
        Some(Secrets { delta, key: *text.last_chunk()? })
    }
}

/// Text in printable ASCII, cut to `N` bytes.
fn padded<const N: usize>(text: &str) -> [u8; N] {
    let mut bytes = [0; N];
    let printable = |c: char| if c == ' ' || c.is_ascii_graphic() { c as u8 } else { b'?' };
    bytes.iter_mut().zip(text.chars().map(printable)).for_each(|(byte, c)| *byte = c);
    bytes
}

fn text(bytes: &[u8]) -> std::result::Result<String, String> {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8(bytes[..end].to_vec()).map_err(|_| "it holds text that is none".into())
}
