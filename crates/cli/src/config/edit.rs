//! Changes of the file: comments and order stay, two commands at once lose nothing, and it is whole at every time.

use super::{Config, Known, PeerName, parse};
use crate::failure::Failure;
use crate::io::{output, paths};
use serde::Serialize;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;
use toml_edit::{DocumentMut, Item, Table, TableLike, value};

/// The first lines of a new file.
const HEAD: &str = "# duologue: peers by name, and defaults of flags. `duologue help peers` changes it.\n";

/// How a name changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    New,
    Replaced,
    Address,
    Nothing,
    Removed,
}

impl Config {
    /// Gives a key a name. The key of a name that is there changes only if `replace` says so; an address that is not
    /// given stays.
    pub fn add_peer(&self, name: &PeerName, mut peer: Known, replace: bool) -> Result<Change, Failure> {
        edit(self.path()?, |config, document| {
            let known = config.peers().get(name);
            let added = match known {
                Some(known) if known.key != peer.key && !replace => return Err(taken(name, known, &peer)),
                Some(known) if known.key != peer.key => Change::Replaced,
                Some(known) => {
                    peer.address = peer.address.or(known.address.clone());
                    if peer == *known { Change::Nothing } else { Change::Address }
                }
                None => Change::New,
            };
            write_peer(document, name, &peer);
            Ok(added)
        })
    }

    /// Forgets a name.
    pub fn remove_peer(&self, name: &PeerName) -> Result<Known, Failure> {
        edit(self.path()?, |config, document| {
            let known = config.peer(name.as_str())?.clone();
            if let Some(peers) = document.get_mut("peers").and_then(Item::as_table_like_mut) {
                peers.remove(name.as_str());
            }
            Ok(known)
        })
    }
}

fn taken(name: &PeerName, known: &Known, new: &Known) -> Failure {
    Failure::input(format!("'{name}' stands for another key, {}", known.key))
        .hint(format!("if the peer has a new key, `duologue peers add {name} {} --replace`", new.key))
}

fn write_peer(document: &mut DocumentMut, name: &PeerName, peer: &Known) {
    let mut all = Table::new();
    all.set_implicit(true);
    let Some(peers) = document.entry("peers").or_insert(Item::Table(all)).as_table_like_mut() else { return };
    let entry = peers.entry(name.as_str()).or_insert(Item::Table(Table::new()));
    let Some(entry) = entry.as_table_like_mut() else { return };
    set(entry, "key", Some(peer.key.to_string()));
    set(entry, "address", peer.address.clone());
}

/// The value keeps the comment behind it.
fn set(table: &mut dyn TableLike, field: &str, text: Option<String>) {
    let Some(text) = text else {
        table.remove(field);
        return;
    };
    let mut new = value(text);
    let old = table.get(field).and_then(Item::as_value).map(|old| old.decor().clone());
    if let (Some(old), Some(new)) = (old, new.as_value_mut()) {
        *new.decor_mut() = old;
    }
    table.insert(field, new);
}

/// Changes the file while no other command does.
fn edit<T>(path: &Path, change: impl FnOnce(&Config, &mut DocumentMut) -> Result<T, Failure>) -> Result<T, Failure> {
    // A link is followed, so that what it points to is replaced and not the link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    paths::make_folder(&path)?;
    let _lock = lock(&path)?;
    let old = match fs::read_to_string(&path) {
        Err(why) if why.kind() == ErrorKind::NotFound => HEAD.into(),
        read => read.map_err(Failure::io(format!("reading {}", path.display())))?,
    };
    let config = Config { content: parse(&old, &path)?, path: Some(path.clone()) };
    let mut document: DocumentMut = old.parse().map_err(|why| Failure::malformed(path.display(), why))?;
    let done = change(&config, &mut document)?;
    let new = document.to_string();
    // What cannot be read again is not written.
    parse(&new, &path)?;
    if new != old {
        replace(&path, new.as_bytes())?;
    }
    Ok(done)
}

/// The folder of the file, locked until it is dropped: the file itself is another one after a change.
fn lock(path: &Path) -> Result<File, Failure> {
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let locked = File::open(folder).and_then(|folder| folder.lock().map(|()| folder));
    locked.map_err(Failure::io(format!("locking {}", folder.display())))
}

/// Who may read the file stays; a new one is its owner's.
fn replace(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let file = output::write_beside(path, |to| to.write_all(bytes))?;
    if let Ok(there) = fs::metadata(path) {
        let kept = file.as_file().set_permissions(there.permissions());
        kept.map_err(Failure::io(format!("writing {}", path.display())))?;
    }
    output::rename(file, path)
}
