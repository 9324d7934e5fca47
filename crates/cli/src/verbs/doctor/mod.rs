//! `duologue doctor`: what would keep a run with a peer from starting, found in the order in which a run would meet it.

mod clock;
mod exchange;
mod findings;
mod meeting;

use crate::args::Doctor;
use crate::config::{CONFIG, Config, PeerKey};
use crate::failure::{Exit, Failure};
use crate::io::console::Console;
use crate::peer::identity;
use duologue::channel::{Identity, PublicKey};
use duologue::session::VERSION;
use findings::Findings;
use kernels::Backend;
use std::net::ToSocketAddrs;
use std::path::Path;
use std::sync::Arc;

pub fn run(args: &Doctor, config: Result<Config, Failure>, console: &Console) -> Result<(), Failure> {
    let mut findings = Findings::new(console);
    let (version, backend) = (env!("CARGO_PKG_VERSION"), Backend::detect().name());
    findings.ok(format!("duologue {version}, protocol version {VERSION}, instructions {backend}"));
    let config = configuration(config, &mut findings);
    let ours = own_key(args, &config, &mut findings);
    let peer = peer_key(args, &config, ours.as_deref(), &mut findings);
    let place = place(args, &config, &mut findings);
    match (ours, peer, place) {
        (Some(identity), Some(peer), Some(place)) => meeting::meet(place, identity, peer, args.wait, &mut findings),
        // Whose place it is cannot be asked without both keys.
        (_, _, Some(place)) => meeting::knock(place, args.wait, &mut findings),
        (Some(_), Some(_), None) if !findings.has_fixes() => {
            console.note("Whether the peer answers: --listen ADDR or --connect ADDR, and a doctor at its side too.");
        }
        _ => {}
    }
    findings.finish()
}

fn configuration(config: Result<Config, Failure>, findings: &mut Findings) -> Config {
    let config = match config {
        Ok(config) => config,
        Err(failure) => {
            findings.fix(failure);
            return Config::default();
        }
    };
    match config.path() {
        Ok(path) if !path.exists() => findings.ok(format!("no configuration file: {} is not there", path.display())),
        Ok(path) => findings.check(own_alone(path), |()| {
            let peers = config.peers().len();
            format!("configuration {}, names of peers: {peers}", path.display())
        }),
        Err(_) => findings.ok(format!("no configuration file: {CONFIG} is empty, or there is no home")),
    }
    config
}

/// Whoever else may write the file could give a name another key.
#[cfg(unix)]
fn own_alone(path: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt;
    let found = path.metadata().map_err(Failure::io(format!("reading {}", path.display())))?;
    match found.permissions().mode() & 0o022 {
        0 => Ok(()),
        _ => {
            Err(Failure::input(format!("others may write {}, and so say whose key a name stands for", path.display()))
                .hint(format!("chmod go-w {}", path.display())))
        }
    }
}

#[cfg(not(unix))]
fn own_alone(_: &Path) -> Result<(), Failure> {
    Ok(())
}

fn own_key(args: &Doctor, config: &Config, findings: &mut Findings) -> Option<Arc<Identity>> {
    let load = || {
        let file = config.key(args.key.as_ref())?;
        Ok((identity(&file)?, file))
    };
    let found = findings.check_some(load(), |(own, file)| format!("own key {} in {}", own.public(), file.display()));
    found.map(|(own, _)| Arc::new(own))
}

/// The peer as it was named: by its place on the command line, by a flag, or by where we connect.
fn named(args: &Doctor) -> Option<PeerKey> {
    let by_address = || args.connect.as_ref().filter(|name| !name.contains(':'))?.parse().ok();
    args.peer.clone().or_else(|| args.peer_key.clone()).or_else(by_address)
}

fn peer_key(args: &Doctor, config: &Config, ours: Option<&Identity>, findings: &mut Findings) -> Option<PublicKey> {
    let named = named(args)?;
    let found = config.peer_key(&named).and_then(|key| match ours {
        Some(ours) if ours.public() == key => Err(Failure::input("the key of the peer is your own")
            .hint("give the key that `duologue keys` shows at the peer's side")),
        _ => Ok(key),
    });
    findings.check_some(found, |key| match &named {
        PeerKey::Name(name) => format!("peer {name} stands for the key {key}"),
        PeerKey::Key(_) => match config.name_of(key) {
            Some(name) => format!("peer {key}, called {name}"),
            None => format!("peer {key}"),
        },
    })
}

/// Where the parties meet.
enum Place {
    Listen(String),
    Connect(String),
}

fn place(args: &Doctor, config: &Config, findings: &mut Findings) -> Option<Place> {
    if let Some(address) = &args.listen {
        return Some(Place::Listen(address.clone()));
    }
    let address = match (&args.connect, &args.peer) {
        (Some(given), _) => findings.take(config.address(given).map(str::to_string))?,
        (None, Some(PeerKey::Name(name))) => config.peer(name.as_str()).ok()?.address.clone()?,
        (None, _) => return None,
    };
    findings.check_some(resolve(&address), |found| format!("address {address} is {found}"))?;
    Some(Place::Connect(address))
}

/// The numbers that a name of a host stands for.
fn resolve(address: &str) -> Result<String, Failure> {
    let failed = |why: String| {
        Failure::new(Exit::Machine, format!("the address {address} is none: {why}"))
            .hint("look for a typo, and for the port; does `getent hosts` find the host?")
    };
    let found = address.to_socket_addrs().map_err(|why| failed(why.to_string()))?;
    let found: Vec<String> = found.map(|one| one.ip().to_string()).collect();
    if found.is_empty() { Err(failed("the name has no address".into())) } else { Ok(found.join(", ")) }
}
