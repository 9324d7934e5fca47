//! Points of ristretto255: the public ones of a wired function, and how points travel.
//!
//! All encodings are of doubles of points, for which there is one inversion for many. So the public points are doubles
//! of hashes too: K_j = 2·H_j, R = 2·H_R.

use blake3::Hasher;
use curve25519_dalek::Scalar;
use duologue::{Error, Result};
use kernels::generator::Generator;
use kernels::ristretto::{FixedBase, Points, Ristretto};
use std::ops::Range;
use std::sync::LazyLock;
use zeroize::Zeroizing;

/// Bytes of a point.
pub const POINT: usize = 32;

static BASE: LazyLock<FixedBase> = LazyLock::new(|| FixedBase::new(&group().generator()));

/// The group, on the instructions that this process uses.
pub fn group() -> Ristretto {
    Ristretto::detect()
}

/// The base point times each of these.
pub fn times_base(scalars: &[Scalar]) -> Points {
    BASE.multiply(scalars)
}

/// The hash into the group of one wired function.
#[derive(Clone)]
pub struct HashToGroup([u8; 32]);

impl HashToGroup {
    /// That of the function with this id.
    pub fn new(id: &[u8; 32]) -> Self {
        HashToGroup(blake3::derive_key("duologue v1 private function: points", id))
    }

    /// H_j, half of the point K_j, of each of these wires.
    pub fn wires(&self, wires: Range<u64>) -> Points {
        group().map(&wires.map(|wire| self.uniform(0, wire)).collect::<Vec<_>>())
    }

    /// H_R, half of the point R of the offset between the two labels of any wire.
    pub fn offset(&self) -> Points {
        group().map(&[self.uniform(1, 0)])
    }

    fn uniform(&self, kind: u8, number: u64) -> [u8; 64] {
        let mut wide = [0; 64];
        let mut hasher = Hasher::new_keyed(&self.0);
        hasher.update(&[kind]).update(&number.to_le_bytes()).finalize_xof().fill(&mut wide);
        wide
    }
}

/// A uniform number modulo the order of the group.
pub fn random_scalar(rng: &mut Generator) -> Scalar {
    let mut wide = Zeroizing::new([0; 64]);
    rng.fill(&mut *wide);
    Scalar::from_bytes_mod_order_wide(&wide)
}

/// As many times the one point of a batch.
pub fn repeated(point: &Points, count: usize) -> Points {
    point.pick((0..count).map(|_| 0))
}

/// Points, if each of these is the canonical encoding of one, and none the identity.
pub fn decode(encodings: &[[u8; POINT]]) -> Option<Points> {
    // Zeros are the one encoding of the identity.
    let identity = encodings.iter().any(|encoding| encoding.iter().fold(0, |any, byte| any | byte) == 0);
    group().decode(encodings).ok().filter(|_| !identity)
}

/// The encodings of a message.
///
/// # Errors
/// [`Error::Peer`] if there are not as many as there should be.
pub fn encodings<'a>(message: &'a [u8], count: usize, what: &str) -> Result<&'a [[u8; POINT]]> {
    match message.as_chunks() {
        (encodings, []) if encodings.len() == count => Ok(encodings),
        _ => Err(Error::peer(format!("{what}: {} bytes in place of {count} points", message.len()))),
    }
}

/// The points of a message, each canonical and none the identity.
///
/// # Errors
/// [`Error::Peer`] that says what the points are, and not which one is wrong: that would be of the function.
pub fn decode_all(encodings: &[[u8; POINT]], what: &str) -> Result<Points> {
    decode(encodings).ok_or_else(|| Error::peer(format!("{what}: a point is not canonical, or the identity")))
}
