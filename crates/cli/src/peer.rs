//! The peer: the keys by which the parties know one another, and the channel between them.

use crate::args::{self, Meeting, Peer};
use crate::failure::Failure;
use crate::interrupt;
use crate::io::console::Console;
use crate::io::paths;
use crate::process::LISTENING;
use duologue::channel::{Channel, Identity, Limits, Link, Listener, PublicKey, Security};
use duologue::{Party, Session};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A session with the peer.
pub fn connect(args: &Peer, security: &Security, console: &Console) -> Result<Session, Failure> {
    let mut session = Session::connect(meet(&args.meeting, args.link, security, console)?, args.party)?;
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

/// The keys by which the parties know one another, Alice's first.
pub fn known_keys(security: &Security, us: Party) -> Option<[PublicKey; 2]> {
    let Security::Tls { identity, peer } = security else { return None };
    Some(match us {
        Party::Alice => [identity.public(), *peer],
        Party::Bob => [*peer, identity.public()],
    })
}

pub fn security(args: &args::Security) -> Result<Security, Failure> {
    let Some(peer) = args.peer_key else {
        return Ok(Security::PlaintextForBenchmarks);
    };
    let key = args.key.clone().map_or_else(paths::key, Ok)?;
    let identity = Arc::new(identity(&key)?);
    Ok(Security::Tls { identity, peer })
}

/// Finds the peer.
pub fn meet(args: &Meeting, link: Option<Link>, security: &Security, console: &Console) -> Result<Channel, Failure> {
    let limits = limits(args);
    let channel = match (&args.listen, &args.connect) {
        (Some(address), _) => listen(address, security, &limits, console)?,
        (None, address) => Channel::connect(address.as_deref().unwrap_or_default(), security, &limits)?,
    };
    interrupt::stops(&channel)?;
    shaped(channel, link)
}

/// The channel, over a simulated line if there is one.
pub fn shaped(channel: Channel, link: Option<Link>) -> Result<Channel, Failure> {
    match link {
        Some(link) => Ok(channel.shaped(link)?),
        None => Ok(channel),
    }
}

fn listen(address: &str, security: &Security, limits: &Limits, console: &Console) -> Result<Channel, Failure> {
    let mut listener = Listener::bind(address)?;
    let here = format!("{LISTENING}{}", listener.local_addr()?);
    // A port that the system chose is a result: nobody finds us without it.
    if address.ends_with(":0") {
        console.tell(here);
    } else {
        console.note(here);
    }
    let channel = listener.accept(security, limits)?;
    console.note("connected");
    Ok(channel)
}

fn limits(args: &Meeting) -> Limits {
    let usual = Limits::default();
    let silence = Duration::from_secs(args.silence.max(1));
    Limits {
        meet: Duration::from_secs(args.wait),
        silence,
        // A peer with the same limit of silence hears a heartbeat in time.
        heartbeat: usual.heartbeat.min(silence / 4),
        progress: usual.progress.max(silence),
        ..usual
    }
}
