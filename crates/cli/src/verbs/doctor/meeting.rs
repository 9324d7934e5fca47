//! The part of a doctor that needs the network: who answers, with which key, and what it says.

use super::Place;
use super::clock::{self, Clock};
use super::exchange::{self, Other};
use super::findings::Findings;
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::io::console::count;
use crate::peer;
use duologue::channel::{Canceller, Channel, Identity, Limits, Listener, PublicKey, Security, Stranger};
use duologue::session::VERSION;
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

/// How long a peer that has answered may be silent.
const SILENCE: Duration = Duration::from_secs(10);
/// How long an address may take to answer whom nobody knows.
const KNOCK: Duration = Duration::from_secs(10);

/// Looks whether an address can be used, by whomever.
pub fn knock(place: Place, wait: u64, findings: &mut Findings) {
    match place {
        Place::Listen(address) => {
            let console = findings.console();
            findings.check(peer::bind(&address, console), |_| format!("one can listen at {address}"));
        }
        Place::Connect(address) => {
            let wait = KNOCK.min(Duration::from_secs(wait.max(1)));
            findings.check(reach(&address, wait), |()| format!("somebody listens at {address}"));
        }
    }
}

fn reach(address: &str, wait: Duration) -> Result<(), Failure> {
    let failed = |why| {
        Failure::io(format!("no connection to {address}"))(why)
            .hint("is the peer listening there? a firewall may be in between")
    };
    let mut found = address.to_socket_addrs().map_err(failed)?;
    let mut last = None;
    let reached = found.any(|one| TcpStream::connect_timeout(&one, wait).map_err(|why| last = Some(why)).is_ok());
    match last {
        Some(why) if !reached => Err(failed(why)),
        _ => Ok(()),
    }
}

/// Meets the peer, and asks it all that it says.
pub fn meet(place: Place, identity: Arc<Identity>, peer: PublicKey, wait: u64, findings: &mut Findings) {
    let security = Security::Tls { identity, peer };
    let limits = Limits::default().meet(Duration::from_secs(wait)).silence(SILENCE);
    let we_ask_first = matches!(place, Place::Connect(_));
    let Some(canceller) = findings.take(interrupt::canceller()) else { return };
    let channel = match place {
        Place::Listen(address) => listen(&address, &security, &limits, &canceller, findings),
        Place::Connect(address) => {
            findings.console().note(format_args!("looking for the peer for {} at most", count(wait, "second")));
            findings.take(Channel::connect_with(&address, &security, &limits, &canceller).map_err(Failure::from))
        }
    };
    let Some(mut channel) = channel else { return };
    findings.ok("the peer answers over TLS, and has proved that the key is its own");
    let asked = ask(&mut channel, we_ask_first, findings);
    findings.take(asked);
}

fn listen(
    address: &str,
    security: &Security,
    limits: &Limits,
    canceller: &Canceller,
    findings: &mut Findings,
) -> Option<Channel> {
    let bound = peer::bind(address, findings.console());
    let mut listener = findings.check_some(bound, |_| format!("one can listen at {address}"))?;
    let wait = count(limits.meet.as_secs(), "second");
    findings.console().note(format_args!("waiting for the peer for {wait} at most"));
    let met = listener.accept_with(security, limits, canceller);
    findings.take(met.map_err(|why| stranger(&listener).unwrap_or_else(|| Failure::from(why))))
}

/// Whoever did connect and was turned away, last, is perhaps the peer.
fn stranger(listener: &Listener) -> Option<Failure> {
    let Stranger { from, why } = listener.turned_away().last()?;
    Some(
        Failure::new(Exit::Incompatible, format!("somebody from {} was turned away: {why}", from.ip()))
            .hint("if that is the peer: each party gives the key that the other's `duologue keys` shows"),
    )
}

fn ask(channel: &mut Channel, we_ask_first: bool, findings: &mut Findings) -> Result<(), Failure> {
    match exchange::greet(channel, VERSION, env!("CARGO_PKG_VERSION"))? {
        Other::Doctor { protocol, version } => {
            findings.check(same(protocol), |()| format!("it has duologue {version}, protocol version {protocol}"));
        }
        Other::Program { protocol } => {
            exchange::leave(channel);
            let what = format!("it runs a program, protocol version {protocol}; that run has ended now");
            findings.check(same(protocol), |()| what);
            findings.console().note("Its clock: run `duologue doctor` at its side too, then this again.");
            return Ok(());
        }
    }
    let sample = clock::compare(channel, &Clock::new(), we_ask_first)?;
    channel.finish()?;
    findings.ok(sample.to_string());
    Ok(())
}

fn same(protocol: u16) -> Result<(), Failure> {
    if protocol == VERSION {
        return Ok(());
    }
    let why = format!("its duologue speaks version {protocol} of the protocol, ours version {VERSION}");
    Err(Failure::new(Exit::Incompatible, why).hint("install the same version of duologue at both sides"))
}
