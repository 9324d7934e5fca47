//! Hellos: the first bytes of a session, by which strangers, other versions and the same party are found out.

use crate::channel::Channel;
use crate::channel::frame::JOBS;
pub use crate::channel::frame::{DOCTOR, MAGIC};
use crate::{Error, Party, Result};
use curve25519_dalek::traits::IsIdentity;
use curve25519_dalek::{RistrettoPoint, Scalar, ristretto::CompressedRistretto};
use kernels::generator::Generator;
use std::time::Duration;
use zeroize::Zeroize;

/// The version of what travels; another one is refused by name.
pub const VERSION: u16 = 3;

/// Computational and statistical security in bits.
const SECURITY: [u8; 2] = [128, 40];

/// Bytes of a hello: magic and version, then party, security and point.
const HELLO_HEAD: usize = 10;
const HELLO_REST: usize = 1 + 2 + 32;

/// Who we are and what we speak, with a fresh point that serves as nonce and for a key that only the two parties know.
pub(super) struct Hello {
    pub bytes: Vec<u8>,
    secret: Scalar,
}

impl Hello {
    pub(super) fn new(party: Party, secrets: &Generator) -> Hello {
        let mut wide = [0; 64];
        secrets.derive(b"hello   ", 0).fill(&mut wide);
        let secret = Scalar::from_bytes_mod_order_wide(&wide);
        wide.zeroize();
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.push(party as u8);
        bytes.extend(SECURITY);
        bytes.extend(RistrettoPoint::mul_base(&secret).compress().as_bytes());
        Hello { bytes, secret }
    }

    /// The Diffie-Hellman key with whoever sent the other hello. It keeps what both parties derive from it from anyone
    /// who only listens, also on a plaintext channel; who the peer is, TLS alone tells.
    pub(super) fn key(mut self, theirs: &[u8]) -> Result<[u8; 32]> {
        let point =
            CompressedRistretto::from_slice(&theirs[HELLO_HEAD + 3..]).ok().and_then(|point| point.decompress());
        let point = point.filter(|point| !point.is_identity());
        let key = point.map(|point| (self.secret * point).compress().to_bytes());
        self.secret.zeroize();
        key.ok_or_else(|| Error::peer("the point of its hello is none"))
    }
}

/// Exchanges hellos, and does some work while the peer's is under way. The head tells a stranger from another version
/// before more is read. The peer's hello, and the time from sending ours to its first bytes.
pub(super) fn greet(channel: &mut Channel, hello: &[u8], meanwhile: impl FnOnce()) -> Result<(Vec<u8>, Duration)> {
    channel.send(hello)?;
    channel.flush()?;
    let sent = channel.clock().now();
    meanwhile();
    let mut theirs = channel.recv(HELLO_HEAD)?;
    let turn = channel.clock().now() - sent;
    check_head(&theirs)?;
    theirs.extend(channel.recv(HELLO_REST)?);
    check_hello(hello, &theirs)?;
    Ok((theirs, turn))
}

fn check_head(theirs: &[u8]) -> Result<()> {
    let others = [
        (DOCTOR, "to look at the connection, by `duologue doctor`"),
        (JOBS, "to drive a job, by `duologue job drive`"),
    ];
    if let Some((_, theirs)) = others.iter().find(|(magic, _)| theirs[..8] == **magic) {
        let (ours, theirs) = ("to run programs".into(), (*theirs).into());
        return Err(Error::Incompatible { what: "what to do", ours, theirs, place: None });
    }
    if theirs[..8] != *MAGIC {
        return Err(Error::peer("it does not speak duologue"));
    }
    let version = u16::from_le_bytes([theirs[8], theirs[9]]);
    if version != VERSION {
        let (ours, theirs) = (VERSION.to_string(), version.to_string());
        return Err(Error::Incompatible { what: "the version of the protocol", ours, theirs, place: None });
    }
    Ok(())
}

/// Checks the peer's hello against ours; both are complete.
pub fn check_hello(ours: &[u8], theirs: &[u8]) -> Result<()> {
    if theirs.len() != HELLO_HEAD + HELLO_REST {
        return Err(Error::peer("its hello has a wrong length"));
    }
    check_head(theirs)?;
    let party = |hello: &[u8]| match hello[HELLO_HEAD] {
        0 => Ok(Party::Alice),
        1 => Ok(Party::Bob),
        other => Err(Error::peer(format!("it is party {other}"))),
    };
    let (us, them) = (party(ours)?, party(theirs)?);
    if us == them {
        let what = "who is who (one must be alice, the other bob)";
        return Err(Error::Incompatible { what, ours: us.to_string(), theirs: them.to_string(), place: None });
    }
    let security = |hello: &[u8]| format!("{} and {} bits", hello[HELLO_HEAD + 1], hello[HELLO_HEAD + 2]);
    if security(ours) != security(theirs) {
        let (ours, theirs) = (security(ours), security(theirs));
        return Err(Error::Incompatible { what: "the security parameters", ours, theirs, place: None });
    }
    if ours[HELLO_HEAD + 3..] == theirs[HELLO_HEAD + 3..] {
        return Err(Error::peer("it sent our own hello back"));
    }
    Ok(())
}
