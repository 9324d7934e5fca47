//! `duologue peers`: names for the keys of peers.

use crate::args::{AddPeer, Peers, PeersWhat};
use crate::config::{Change, Config, Known, PeerName};
use crate::failure::Failure;
use crate::io::console::{Console, table};
use crate::peer::identity;
use serde::Serialize;
use std::fmt;

pub fn run(args: &Peers, config: &Config, console: &Console) -> Result<(), Failure> {
    match &args.what {
        Some(PeersWhat::Add(args)) => add(args, config, console),
        Some(PeersWhat::Remove { name }) => remove(name, config, console),
        Some(PeersWhat::List) | None => list(config, console),
    }
}

fn add(args: &AddPeer, config: &Config, console: &Console) -> Result<(), Failure> {
    let AddPeer { name, key, address, replace } = args;
    if config.key(None).is_ok_and(|file| identity(&file).is_ok_and(|own| own.public() == *key)) {
        console.note("This is your own key: the peer's is what its `duologue keys` shows.");
    }
    let added = config.add_peer(name, Known { key: *key, address: address.clone() }, *replace)?;
    console.show(&Report { name: name.clone(), key: key.to_string(), change: added })
}

fn remove(name: &PeerName, config: &Config, console: &Console) -> Result<(), Failure> {
    let known = config.remove_peer(name)?;
    console.show(&Report { name: name.clone(), key: known.key.to_string(), change: Change::Removed })
}

fn list(config: &Config, console: &Console) -> Result<(), Failure> {
    let peers = config.peers().iter().map(|(name, known)| Listed { name: name.clone(), peer: known.clone() });
    let list = List { peers: peers.collect() };
    if list.peers.is_empty() && !console.json() {
        console.note("No peer has a name yet: `duologue peers add NAME KEY [ADDRESS]` gives one.");
        return Ok(());
    }
    console.show(&list)
}

#[derive(Serialize)]
struct Report {
    name: PeerName,
    key: String,
    change: Change,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { name, key, change } = self;
        match change {
            Change::New => writeln!(f, "--peer-key {name} now stands for {key}"),
            Change::Replaced => writeln!(f, "--peer-key {name} now stands for {key}, no longer for the key before"),
            Change::Address => writeln!(f, "--connect {name} now goes to its new address; its key is as before"),
            Change::Nothing => writeln!(f, "--peer-key {name} stands for {key} already"),
            Change::Removed => writeln!(f, "--peer-key {name} no longer stands for {key}"),
        }
    }
}

#[derive(Serialize)]
struct List {
    peers: Vec<Listed>,
}

#[derive(Serialize)]
struct Listed {
    name: PeerName,
    #[serde(flatten)]
    peer: Known,
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |one: &Listed| {
            let address = one.peer.address.clone().unwrap_or_default();
            vec![one.name.to_string(), one.peer.key.to_string(), address]
        };
        let head = ["NAME", "KEY", "ADDRESS"].map(String::from).to_vec();
        let rows: Vec<_> = [head].into_iter().chain(self.peers.iter().map(row)).collect();
        f.write_str(&table("lll", &rows))
    }
}
