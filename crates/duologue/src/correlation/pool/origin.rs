//! The description of a pool in its header.

use data_encoding::HEXLOWER;
use kernels::Block;
use zeroize::Zeroizing;

use crate::channel::PublicKey;
use crate::job::Part;
use crate::ot::Extension;
use crate::storage::fields::Owner;
use crate::storage::{self, Header, Terms, hex_of, printable};
use crate::{Error, Party};

/// The description on which both parties agreed when they made a pool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    /// Random and the same for both parties.
    pub identity: [u8; 32],
    /// Whose half this is.
    pub party: Party,
    /// The pinned keys of Alice and Bob; none if the pool was made over a channel without keys.
    pub keys: Option<[PublicKey; 2]>,
    /// The identity (a hash) of Alice's Δ and of Bob's.
    pub deltas: [[u8; 32]; 2],
    /// The maker of the correlations.
    pub extension: Extension,
    /// The attempt at a part of a job that made it, for the next one at that part alone; none if it is for any session.
    pub part: Option<Part>,
}

/// The name that a party gives its Δ: a hash of its 127 random bits, the pool and the party. Whoever knows it
/// can tell whether a guess is right, and has 2¹²⁷ to try.
pub(crate) fn delta_identity(identity: &[u8; 32], party: Party, delta: Block) -> [u8; 32] {
    let mut bytes = Zeroizing::new([0; 32 + 1 + 16]);
    bytes[..32].copy_from_slice(identity);
    bytes[32] = party as u8;
    bytes[33..].copy_from_slice(&delta.to_bytes());
    blake3::derive_key("duologue 1 pool: identity of delta", &bytes[..])
}

impl Origin {
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
        if let Some(part) = self.part {
            hasher.update(format!("\n{part}").as_bytes());
        }
        *hasher.finalize().as_bytes()
    }

    /// The terms of this pool's header; with a reason if Δ is destroyed.
    fn terms(&self, destroyed: Option<&str>) -> Terms {
        let [alice, bob] = self.deltas.map(|delta| hex_of(&delta));
        let names = [MAKER, "the identity of alice's delta", "the identity of bob's delta"];
        let values = [self.extension.to_string(), alice, bob];
        let part = self.part.map(|part| (PART, part.to_string()));
        let why = destroyed.map(|why| (DESTROYED, why.to_owned()));
        names.into_iter().zip(values).chain(part).chain(why).map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// As a folder is founded.
    pub(super) fn of_folder(&self) -> storage::Description {
        let Origin { identity, party, keys, .. } = *self;
        let keys = keys.map(|keys| keys.map(|key| *key.as_bytes()));
        storage::Description { identity, party, keys, bulk: false, terms: self.terms(None) }
    }

    /// Reads the description in the header of an open folder.
    pub(super) fn read(header: &Header) -> std::result::Result<Origin, String> {
        let Owner { identity, party, .. } = header.owner;
        let key = |bytes| PublicKey::from_bytes(bytes).map_err(|error| error.to_string());
        let keys = header.keys.map(|[alice, bob]| Ok::<_, String>([key(alice)?, key(bob)?])).transpose()?;
        let maker = header.term(MAKER).ok_or("it does not say what makes correlations")?;
        let extension = maker.parse().map_err(|error: Error| error.to_string())?;
        let delta = |at: usize| {
            let value = header.terms.get(at).map_or("", |(_, value)| value);
            HEXLOWER.decode(value.as_bytes()).ok()?.try_into().ok()
        };
        let deltas = delta(1).zip(delta(2)).map(|(alice, bob)| [alice, bob]).ok_or("it does not name both Δ")?;
        let part = header.term(PART).map(str::parse).transpose().map_err(|error: Error| error.to_string())?;
        let origin = Origin { identity, party, keys, deltas, extension, part };
        let same = origin.terms(why_destroyed(header)) == header.terms && !header.bulk;
        same.then_some(origin).ok_or("it is not written as we write it".into())
    }
}

/// The terms of a pool's header that are read by their names.
const MAKER: &str = "what makes correlations";
const PART: &str = "which part of which job made it";
const DESTROYED: &str = "why its delta is destroyed";

/// The most of a reason that is written down.
const REASON: usize = 160;

/// The term that says why Δ is destroyed.
pub(super) fn destroyed(why: &str) -> (String, String) {
    (DESTROYED.to_owned(), printable(why, REASON))
}

/// Why Δ is destroyed, if it is.
pub(super) fn why_destroyed(header: &Header) -> Option<&str> {
    header.term(DESTROYED).filter(|_| header.destroyed)
}
