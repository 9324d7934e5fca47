//! What a party has of the key, and the key on its way from its owner to the holder of the ciphertexts.

use super::Terms;
use super::ciphertexts::{of_peer, own, random};
use duologue::{Error, Result};
use he::paillier::{PublicKey, SecretKey};
use he::{KeySize, Result as HeResult, dgk};
use std::sync::{Arc, Mutex, PoisonError};

/// What a party registers the protocols over ciphertexts with. The server needs none: the client's public key travels in
/// setup, and has to be the one of the terms.
///
/// ```compile_fail,E0277
/// fn print(keys: &apps::argmin::encrypted::Keys) {
///     println!("{keys:?}");
/// }
/// ```
#[derive(Clone, Default)]
pub struct Keys(Arc<Held>);

#[derive(Default)]
struct Held {
    secret: Option<Arc<SecretKey>>,
    breakable: bool,
    /// A public key that was checked, so that it is not checked for each phase.
    public: Mutex<Option<PublicKey>>,
    /// The client's keys of DGK, which `erkin` makes: it takes seconds. They are never stored.
    dgk: Mutex<Vec<Arc<dgk::SecretKey>>>,
    /// The client's public key of DGK, as it came, and checked.
    public_dgk: Mutex<Option<(Vec<u8>, dgk::PublicKey)>>,
}

impl Keys {
    /// No key: enough for the party that holds the ciphertexts, and for costs.
    pub fn none() -> Keys {
        Keys::default()
    }

    /// The private key of the party to whose key the ciphertexts are.
    pub fn of_client(secret: SecretKey) -> Keys {
        let held = Held { secret: Some(Arc::new(secret)), ..Held::default() };
        Keys(Arc::new(held))
    }

    /// The same; they, and a peer's keys, may be of fewer than 2,048 bits. For reproducing figures of others, and for tests.
    #[must_use]
    pub fn even_if_they_can_be_broken(self) -> Keys {
        let held = Held { secret: self.0.secret.clone(), breakable: true, ..Held::default() };
        Keys(Arc::new(held))
    }

    /// The private key that the terms are about.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is none, or another one.
    pub(super) fn secret(&self, terms: &Terms) -> Result<Arc<SecretKey>> {
        let Some(secret) = &self.0.secret else {
            return Err(Error::usage(format!("{} has the key of the ciphertexts, and gave none", terms.server.peer())));
        };
        let public = secret.public();
        match () {
            () if public.id() != terms.key || public.size().bits() != terms.key_bits => {
                Err(Error::usage("the ciphertexts are of another key than the one that was given"))
            }
            () => self.size(terms.key_bits).map(|_| secret.clone()).map_err(own),
        }
    }

    /// The client's public key, as it came: it has to be that of the terms, and well-formed.
    ///
    /// # Errors
    /// [`Error::Peer`] if it is not.
    pub(super) fn receive(&self, bytes: &[u8], terms: &Terms) -> Result<PublicKey> {
        self.public(bytes, terms, of_peer)
    }

    /// The same key, as this party stored it.
    pub(super) fn restore(&self, bytes: &[u8], terms: &Terms) -> Result<PublicKey> {
        self.public(bytes, terms, own)
    }

    fn public(&self, bytes: &[u8], terms: &Terms, blame: impl Fn(he::Error) -> Error) -> Result<PublicKey> {
        let size = self.size(terms.key_bits).map_err(own)?;
        let mut known = self.0.public.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = known.as_ref().filter(|key| key.id() == terms.key && key.to_bytes() == bytes) {
            return Ok(key.clone());
        }
        let key = PublicKey::from_bytes(bytes, size).map_err(&blame)?;
        if key.id() != terms.key {
            return Err(blame(he::Error::OtherKey));
        }
        *known = Some(key.clone());
        Ok(key)
    }

    /// The key of DGK of the client that has the key of the terms: one that fits, else a new one.
    pub(super) fn dgk(&self, terms: &Terms) -> Result<Arc<dgk::SecretKey>> {
        let size = self.secret(terms)?.public().size();
        let mut known = self.0.dgk.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |key: &dgk::PublicKey| key.size() == size && key.u() > 3 * u64::from(terms.bits) + 2;
        if let Some(key) = known.iter().find(|key| fits(key.public())) {
            return Ok(key.clone());
        }
        let key = Arc::new(dgk::SecretKey::generate(size, terms.bits, &mut random()?).map_err(own)?);
        known.push(key.clone());
        Ok(key)
    }

    /// The client's key of DGK, by the public key that setup stored.
    ///
    /// # Errors
    /// [`Error::Usage`] if these keys did not make it.
    pub(super) fn dgk_of(&self, public: &[u8]) -> Result<Arc<dgk::SecretKey>> {
        let known = self.0.dgk.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.iter().find(|key| key.public().to_bytes() == public).cloned();
        found.ok_or_else(|| {
            Error::usage(
                "the key of DGK that setup made is gone: setup and online of argmin-erkin belong in one session",
            )
        })
    }

    /// The client's public key of DGK, as it came or was stored.
    pub(super) fn public_dgk(&self, bytes: &[u8], terms: &Terms) -> HeResult<dgk::PublicKey> {
        let mut known = self.0.public_dgk.lock().unwrap_or_else(PoisonError::into_inner);
        let fits =
            |key: &dgk::PublicKey| key.size().bits() == terms.key_bits && key.u() > 3 * u64::from(terms.bits) + 2;
        if let Some((_, key)) = known.as_ref().filter(|(of, key)| of == bytes && fits(key)) {
            return Ok(key.clone());
        }
        let key = dgk::PublicKey::from_bytes(bytes, self.size(terms.key_bits)?, terms.bits)?;
        *known = Some((bytes.to_vec(), key.clone()));
        Ok(key)
    }

    fn size(&self, bits: u32) -> HeResult<KeySize> {
        if self.0.breakable { KeySize::even_if_it_can_be_broken(bits) } else { KeySize::new(bits) }
    }
}

/// Bytes of a public key of Paillier's.
pub(super) fn bytes_of_key(terms: &Terms) -> usize {
    12 + 2 * terms.key_bits as usize / 8
}
