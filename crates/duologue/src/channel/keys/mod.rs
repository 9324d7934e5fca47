//! Who a party is: an Ed25519 key pair, pinned by the other side as an SSH server's key is.
//!
//! There are no certificates and no names: a party proves that it holds the key that its peer expects.

#[cfg(feature = "net")]
mod identity;
mod public;

#[cfg(feature = "net")]
pub use identity::Identity;
pub use public::PublicKey;
