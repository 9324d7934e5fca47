//! Peers by name, and the search for what is wrong between them and us.

use crate::config::{PeerKey, PeerName};
use clap::Subcommand;
use duologue::channel::PublicKey;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Peers {
    #[command(subcommand)]
    pub what: Option<PeersWhat>,
}

#[derive(Subcommand)]
pub enum PeersWhat {
    /// Give a key a name
    Add(AddPeer),
    /// List the names, which is also done without a word
    List,
    /// Forget a name
    Remove {
        /// The name to forget
        name: PeerName,
    },
}

#[derive(clap::Args)]
pub struct AddPeer {
    /// The name: letters, digits, '-', '_' and '.'
    pub name: PeerName,
    /// The peer's public key, as its `duologue keys` shows it
    pub key: PublicKey,
    /// Where the peer listens, such as host:7000; --connect NAME then goes there
    #[arg(value_parser = address)]
    pub address: Option<String>,
    /// Give the name to this key although another one has it
    #[arg(long)]
    pub replace: bool,
}

/// `host:port`.
fn address(text: &str) -> Result<String, String> {
    let port = text.rsplit_once(':').filter(|(host, _)| !host.is_empty()).map(|(_, port)| port.parse::<u16>());
    match port {
        Some(Ok(1..)) => Ok(text.into()),
        Some(_) => Err("the port is a number from 1 to 65535".into()),
        None => Err("write host:port".into()),
    }
}

/// What a doctor of the peer's side says, and how one is called.
const DOCTORS: &str = "\
Without a peer it looks at this machine alone. With one, the peer runs it too, each with the address that its runs
have:
  alice$ duologue doctor bob --listen 0.0.0.0:7000
  bob$   duologue doctor alice --connect alice.example.org:7000
A peer that runs a program instead can be seen as well, but its run ends.

Lines begin with ok or FIX. The exit code is that of the first FIX, as a run would have it.";

#[derive(clap::Args)]
#[command(after_help = DOCTORS)]
pub struct Doctor {
    /// The peer: a name that `duologue peers` lists, or a key
    pub peer: Option<PeerKey>,
    /// Wait at this address for the peer's `duologue doctor --connect`; without a peer, try whether one can wait there
    #[arg(long, value_name = "ADDR", conflicts_with = "connect")]
    pub listen: Option<String>,
    /// Connect to the peer's `duologue doctor --listen` at this address; by default the one that its name has
    #[arg(long, value_name = "ADDR")]
    pub connect: Option<String>,
    /// How long to look for the peer
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub wait: u64,
    /// Your private key; by default the one that runs use
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// The peer's key or name, as runs take it
    #[arg(long, value_name = "KEY", conflicts_with = "peer")]
    pub peer_key: Option<PeerKey>,
}
