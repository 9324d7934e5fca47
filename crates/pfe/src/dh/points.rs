//! Points of ristretto255: the public ones of a wired function, and how points travel.
//!
//! All encodings are of doubles of points, for which there is one inversion for many. So the public points are doubles
//! of hashes too: K_j = 2·H_j, R = 2·H_R.

use blake3::Hasher;
use curve25519_dalek::ristretto::CompressedRistretto;
use curve25519_dalek::traits::IsIdentity;
use curve25519_dalek::{RistrettoPoint, Scalar};
use duologue::{Error, Result};
use kernels::generator::Generator;
use zeroize::Zeroizing;

/// Bytes of a point.
pub const POINT: usize = 32;

/// The hash into the group of one wired function.
#[derive(Clone)]
pub struct HashToGroup([u8; 32]);

impl HashToGroup {
    /// That of the function with this id.
    pub fn new(id: &[u8; 32]) -> Self {
        HashToGroup(blake3::derive_key("duologue v1 private function: points", id))
    }

    /// H_j, half of the point K_j of wire j.
    pub fn wire(&self, wire: u64) -> RistrettoPoint {
        self.hash(0, wire)
    }

    /// H_R, half of the point R of the offset between the two labels of any wire.
    pub fn offset(&self) -> RistrettoPoint {
        self.hash(1, 0)
    }

    fn hash(&self, kind: u8, number: u64) -> RistrettoPoint {
        let mut wide = [0; 64];
        let mut hasher = Hasher::new_keyed(&self.0);
        hasher.update(&[kind]).update(&number.to_le_bytes()).finalize_xof().fill(&mut wide);
        RistrettoPoint::from_uniform_bytes(&wide)
    }
}

/// A uniform number modulo the order of the group.
pub fn random_scalar(rng: &mut Generator) -> Scalar {
    let mut wide = Zeroizing::new([0; 64]);
    rng.fill(&mut *wide);
    Scalar::from_bytes_mod_order_wide(&wide)
}

/// A point, if these are the canonical bytes of one.
pub fn decode(bytes: &[u8; POINT]) -> Option<RistrettoPoint> {
    CompressedRistretto(*bytes).decompress()
}

/// The points of a message, each canonical and none the identity.
///
/// # Errors
/// [`Error::Peer`] that says what the points are, and not which one is wrong: that would be of the function.
pub fn decode_all(message: &[u8], what: &str) -> Result<Vec<RistrettoPoint>> {
    let (points, rest) = message.as_chunks::<POINT>();
    if !rest.is_empty() {
        return Err(Error::peer(format!("{what}: {} bytes are no points", message.len())));
    }
    let decoded = points.iter().map(|bytes| decode(bytes).filter(|point| !point.is_identity()));
    decoded
        .collect::<Option<_>>()
        .ok_or_else(|| Error::peer(format!("{what}: a point is not canonical, or the identity")))
}

/// Encodes the doubles of points, with one inversion for all of them.
pub fn double_and_encode(points: &[RistrettoPoint]) -> Zeroizing<Vec<[u8; POINT]>> {
    let encoded = Zeroizing::new(RistrettoPoint::double_and_compress_batch(points));
    Zeroizing::new(encoded.iter().map(CompressedRistretto::to_bytes).collect())
}
