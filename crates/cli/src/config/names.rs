//! Names of peers, and flags that take a key or a name.

use duologue::channel::PublicKey;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How a public key begins: so does no name.
const PREFIX: &str = "duo1";
/// The longest name.
const MOST: usize = 40;

/// A name that the user gave to a peer: letters, digits, `-`, `_` and `.`, so that it is neither a key nor an address.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct PeerName(String);

impl PeerName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for PeerName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let shown = text.escape_debug();
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if text.to_ascii_lowercase().starts_with(PREFIX) {
            return Err(format!("a name does not begin with '{PREFIX}', as keys do"));
        }
        if !text.starts_with(|c: char| c.is_ascii_alphanumeric()) || !text.chars().all(plain) {
            return Err(format!("'{shown}' is no name: it has letters a-z, digits, '-', '_' and '.'"));
        }
        if text.len() > MOST {
            return Err(format!("a name has at most {MOST} characters"));
        }
        Ok(PeerName(text.into()))
    }
}

impl TryFrom<String> for PeerName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for PeerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A peer's key on the command line: itself, or the name that it has in the configuration.
#[derive(Clone, Debug)]
pub enum PeerKey {
    Key(PublicKey),
    Name(PeerName),
}

impl FromStr for PeerKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim().to_ascii_lowercase().starts_with(PREFIX) {
            return text.parse().map(PeerKey::Key).map_err(|why: duologue::Error| why.to_string());
        }
        text.parse().map(PeerKey::Name).map_err(|why| format!("{why}; a key begins with '{PREFIX}'"))
    }
}
