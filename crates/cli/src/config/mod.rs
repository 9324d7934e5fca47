//! The user's configuration: the own key's file, the peers that have names, and defaults of flags.
//!
//! It is a TOML file, `config.toml` in the configuration folder, or the one that `DUOLOGUE_CONFIG` names; if that is empty,
//! none is read. It holds nothing secret. A flag goes before the environment, the environment before this file.

mod defaults;
mod edit;
mod maker;
mod names;

use crate::args::Protocol;
use crate::failure::{Exit, Failure};
use crate::io::paths;
use duologue::Garbling;
use duologue::channel::PublicKey;
use kernels::Backend;
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::str::FromStr;

pub use edit::Change;
pub use maker::Maker;
pub use names::{PeerKey, PeerName};

/// The variable that names another file, or none if it is empty.
pub const CONFIG: &str = "DUOLOGUE_CONFIG";

/// The most threads of a party.
pub const MOST_THREADS: u16 = 256;

/// What the file says, and where it is.
#[derive(Default)]
pub struct Config {
    /// Its place, also if it is not there yet.
    path: Option<PathBuf>,
    content: Content,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Content {
    #[serde(deserialize_with = "key_file")]
    key: Option<PathBuf>,
    defaults: Defaults,
    peers: BTreeMap<PeerName, Known>,
}

/// Defaults of flags.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Defaults {
    #[serde(deserialize_with = "text")]
    protocol: Option<Protocol>,
    #[serde(deserialize_with = "text")]
    garbling: Option<Garbling>,
    #[serde(deserialize_with = "text")]
    pub correlations: Option<Maker>,
    #[serde(deserialize_with = "threads")]
    threads: Option<u32>,
    #[serde(deserialize_with = "backend")]
    backend: Option<Backend>,
}

/// A peer that has a name.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    #[serde(deserialize_with = "public_key", serialize_with = "shown")]
    pub key: PublicKey,
    /// Where the peer listens.
    #[serde(default)]
    pub address: Option<String>,
}

impl Config {
    /// Reads the file. One that is not there says nothing.
    pub fn load() -> Result<Config, Failure> {
        let Some(path) = paths::config_file() else { return Ok(Config::default()) };
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Config { content: parse(&text, &path)?, path: Some(path) }),
            Err(why) if why.kind() == ErrorKind::NotFound => Ok(Config { path: Some(path), ..Config::default() }),
            Err(why) => Err(Failure::io(format!("reading {}", path.display()))(why)),
        }
    }

    /// Where the file is, or would be.
    pub fn path(&self) -> Result<&Path, Failure> {
        self.path.as_deref().ok_or_else(|| {
            Failure::input("there is no place for a configuration file")
                .hint(format!("set {CONFIG}, XDG_CONFIG_HOME or HOME"))
        })
    }

    pub fn defaults(&self) -> &Defaults {
        &self.content.defaults
    }

    pub fn peers(&self) -> &BTreeMap<PeerName, Known> {
        &self.content.peers
    }

    /// The file of the own private key: the one of the flag, of this file, or the usual one.
    pub fn key(&self, flag: Option<&PathBuf>) -> Result<PathBuf, Failure> {
        match (flag, &self.content.key) {
            (Some(flag), _) => Ok(flag.clone()),
            (None, Some(key)) => Ok(self.beside(key)),
            (None, None) => paths::key(),
        }
    }

    /// A path in the file begins in its folder, or with `~/` at home.
    fn beside(&self, path: &Path) -> PathBuf {
        match (path.strip_prefix("~"), paths::home(), &self.path) {
            (Ok(rest), Some(home), _) => home.join(rest),
            (_, _, Some(file)) => file.with_file_name("").join(path),
            _ => path.into(),
        }
    }

    /// The name of whoever has this key, if it has one.
    pub fn name_of(&self, key: &PublicKey) -> Option<&PeerName> {
        self.peers().iter().find(|(_, known)| known.key == *key).map(|(name, _)| name)
    }

    /// The peer of this name.
    pub fn peer(&self, name: &str) -> Result<&Known, Failure> {
        let found = self.peers().iter().find(|(known, _)| known.as_str() == name);
        found
            .map(|(_, known)| known)
            .ok_or_else(|| Failure::input(format!("no peer is called '{}'", name.escape_debug())).hint(self.names()))
    }

    /// The key that a flag gives, itself or by a name.
    pub fn peer_key(&self, given: &PeerKey) -> Result<PublicKey, Failure> {
        match given {
            PeerKey::Key(key) => Ok(*key),
            PeerKey::Name(name) => Ok(self.peer(name.as_str())?.key),
        }
    }

    /// The address that a flag gives: `host:port`, or the name of a peer, which has no colon.
    pub fn address<'a>(&'a self, given: &'a str) -> Result<&'a str, Failure> {
        if given.contains(':') {
            return Ok(given);
        }
        let why = format!("'{}' has no port and is no peer's name", given.escape_debug());
        let unknown = || Failure::input(why).hint(format!("write host:port; {}", self.names()));
        let known = self.peer(given).map_err(|_| unknown())?;
        known.address.as_deref().ok_or_else(|| {
            Failure::input(format!("no address of '{given}' is known"))
                .hint(format!("`duologue peers add {given} {} ADDRESS`, or --connect ADDRESS", known.key))
        })
    }

    /// The names that there are, as a hint.
    fn names(&self) -> String {
        let names: Vec<&str> = self.peers().keys().map(PeerName::as_str).collect();
        match names[..] {
            [] => "`duologue peers add NAME KEY` gives a peer's key a name".into(),
            _ => format!("`duologue peers` lists the names: {}", names.join(", ")),
        }
    }
}

/// The content of a file; an error names its line.
fn parse(text: &str, path: &Path) -> Result<Content, Failure> {
    toml_edit::de::from_str(text).map_err(|why| {
        let before = why.span().map_or(&[][..], |span| &text.as_bytes()[..span.start.min(text.len())]);
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        let why = why.message().lines().collect::<Vec<_>>().join(", ").replace('`', "'");
        Failure::new(Exit::Malformed, format!("{}, line {line}: {why}", path.display()))
            .hint("docs/command.md says what the file may hold; `duologue peers` writes the peers")
    })
}

fn text<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(from: D) -> Result<Option<T>, D::Error> {
    String::deserialize(from)?.parse().map(Some).map_err(D::Error::custom)
}

fn backend<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Backend>, D::Error> {
    let name = String::deserialize(from)?;
    name.parse().map(Some).map_err(|why| D::Error::custom(format!("'{name}' is no set of instructions: {why}")))
}

fn public_key<'de, D: Deserializer<'de>>(from: D) -> Result<PublicKey, D::Error> {
    String::deserialize(from)?.parse().map_err(D::Error::custom)
}

fn shown<S: serde::Serializer>(key: &PublicKey, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(key)
}

fn key_file<'de, D: Deserializer<'de>>(from: D) -> Result<Option<PathBuf>, D::Error> {
    let path = String::deserialize(from)?;
    match path.contains("PRIVATE KEY") || path.starts_with("duo1") {
        true => Err(D::Error::custom("'key' names the file of your private key: no key stands here itself")),
        false => Ok(Some(path.into())),
    }
}

fn threads<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    let threads = u32::deserialize(from)?;
    match (1..=MOST_THREADS.into()).contains(&threads) {
        true => Ok(Some(threads)),
        false => Err(D::Error::custom(format!("threads are 1 to {MOST_THREADS}, not {threads}"))),
    }
}

#[cfg(test)]
mod tests;
