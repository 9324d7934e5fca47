//! The peer: the keys by which the parties know one another, and the channel between them.

use crate::args::{Meeting, Peer};
use crate::config::{Config, PeerKey};
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::io::console::Console;
use crate::process::LISTENING;
use duologue::channel::{Canceller, Channel, Identity, Limits, Link, Listener, PublicKey, Security};
use duologue::circuit::program::Binding;
use duologue::{Options, Precomputation, Session};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A session with the peer. What needs no peer is computed before: for the first program, too, if there is one.
pub fn connect(
    args: &Peer,
    first: Option<(&Binding, &Options)>,
    security: &Security,
    config: &Config,
    console: &Console,
) -> Result<Session, Failure> {
    let mut precomputation = Precomputation::new()?;
    if let Some((binding, options)) = first {
        precomputation = precomputation.with_program(binding, options)?;
    }
    let channel = meet(&args.meeting, args.link, security, config, console)?;
    let mut session = Session::connect_with(channel, args.party, precomputation)?;
    session.register_all(&apps::calls());
    session.set_threads(args.threads.into());
    Ok(session)
}

/// The private key in a file.
pub fn identity(file: &Path) -> Result<Identity, Failure> {
    Identity::load(file).map_err(|why| match file.exists() {
        true => Failure::from(why),
        false => Failure::from(why).hint("`duologue keys new` makes one"),
    })
}

/// The key that the peer must have.
pub fn its_key(security: &Security) -> Option<PublicKey> {
    match security {
        Security::Tls { peer, .. } => Some(*peer),
        Security::PlaintextForBenchmarks => None,
    }
}

/// How the connection is protected; names of peers are looked up.
pub fn security(args: &Peer, config: &Config) -> Result<Security, Failure> {
    if args.security.insecure_plaintext {
        return Ok(Security::PlaintextForBenchmarks);
    }
    let peer = peer_key(args.security.peer_key.as_ref(), args.meeting.connect.as_deref(), config)?;
    let key = config.key(args.security.key.as_ref())?;
    let identity = Arc::new(identity(&key)?);
    Ok(Security::Tls { identity, peer })
}

/// The key that a flag names; without one, that of the peer by whose name we connect.
pub fn peer_key(flag: Option<&PeerKey>, connect: Option<&str>, config: &Config) -> Result<PublicKey, Failure> {
    match (flag, connect) {
        (Some(given), _) => config.peer_key(given),
        (None, Some(name)) if !name.contains(':') => config.address(name).and_then(|_| Ok(config.peer(name)?.key)),
        (None, _) => Err(Failure::new(Exit::CommandLine, "--peer-key is missing: whose key must the peer have?")
            .hint("--peer-key KEY or NAME, --connect NAME of a peer, or --insecure-plaintext")),
    }
}

/// Finds the peer.
pub fn meet(
    args: &Meeting,
    link: Option<Link>,
    security: &Security,
    config: &Config,
    console: &Console,
) -> Result<Channel, Failure> {
    let (limits, canceller) = (limits(args), interrupt::canceller()?);
    let channel = match (&args.listen, &args.connect) {
        (Some(address), _) => listen(address, security, &limits, &canceller, console)?,
        (None, address) => {
            let address = config.address(address.as_deref().unwrap_or_default())?;
            Channel::connect_with(address, security, &limits, &canceller)?
        }
    };
    shaped(channel, link)
}

/// The channel, over a simulated line if there is one.
pub fn shaped(channel: Channel, link: Option<Link>) -> Result<Channel, Failure> {
    match link {
        Some(link) => Ok(channel.shaped(link)?),
        None => Ok(channel),
    }
}

fn listen(
    address: &str,
    security: &Security,
    limits: &Limits,
    canceller: &Canceller,
    console: &Console,
) -> Result<Channel, Failure> {
    let mut listener = bind(address, console)?;
    let channel = listener.accept_with(security, limits, canceller)?;
    console.note("connected");
    Ok(channel)
}

/// Listens, and says where.
pub fn bind(address: &str, console: &Console) -> Result<Listener, Failure> {
    let listener = Listener::bind(address)?;
    let here = format!("{LISTENING}{}", listener.local_addr()?);
    // A port that the system chose is a result: nobody finds us without it.
    if address.ends_with(":0") {
        console.tell(here);
    } else {
        console.note(here);
    }
    Ok(listener)
}

fn limits(args: &Meeting) -> Limits {
    patient(Duration::from_secs(args.silence.max(1))).meet(Duration::from_secs(args.wait))
}

/// The limits towards a peer that may be silent for so long.
pub fn patient(silence: Duration) -> Limits {
    let usual = Limits::default();
    // A peer with the same limit of silence hears a heartbeat in time.
    let heartbeat = usual.heartbeat.min(silence / 4);
    usual.silence(silence).heartbeat(heartbeat).progress(usual.progress.max(silence))
}

/// An address of a host that is named without brackets.
pub fn address_of(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}
