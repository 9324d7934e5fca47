//! Honest parties whose channels differ: one of TLS meets one in the open, one over a simulated link meets one without.
//!
//! Each knows the other by its first bytes, and says which of the two it is itself.

use super::{frame, shaped};
use crate::error::{Error, Result};

/// The term on which a party that speaks TLS and one that does not differ.
pub(super) const ENCRYPTION: &str = "encryption";

/// Fails if the first bytes that came to a party in the open, without a simulated link, are of a channel of another kind.
pub(super) fn refuse(bytes: &[u8]) -> Result<()> {
    match () {
        () if shaped::is_session(bytes) => Err(link(false)),
        () if frame::is_tls(bytes) => Err(encryption(false)),
        () => Ok(()),
    }
}

/// The error of a party that meets one that speaks TLS, or does not, unlike itself.
pub(super) fn encryption(ours: bool) -> Error {
    differ(ENCRYPTION, ours, ["TLS", "plaintext"])
}

/// The error of a party that meets one whose link is simulated, or is not, unlike its own.
pub(super) fn link(ours: bool) -> Error {
    differ("the link", ours, ["simulated", "as it is"])
}

fn differ(what: &'static str, ours: bool, words: [&str; 2]) -> Error {
    let [ours, theirs] = [ours, !ours].map(|first| if first { words[0] } else { words[1] }.to_string());
    Error::Incompatible { what, ours, theirs, place: None }
}
