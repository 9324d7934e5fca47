//! How two parties find each other: one listens, the other connects.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use mio::{Events, Interest, Poll, Token};

use super::tcp::{self, TcpPipe};
use super::tls::TlsPipe;
use super::{Channel, Identity, Limits, PublicKey};
use crate::error::{Error, Result};

/// How a connection is protected.
#[derive(Clone)]
pub enum Security {
    /// TLS 1.3 between two pinned keys.
    Tls {
        /// Our key.
        identity: Arc<Identity>,
        /// The key that the peer must hold.
        peer: PublicKey,
    },
    /// No encryption and no authentication: whoever is on the way reads and changes everything,
    /// and the protocols then promise nothing. For measurements on one machine.
    PlaintextForBenchmarks,
}

/// A socket that waits for the peer.
pub struct Listener {
    socket: mio::net::TcpListener,
}

impl Listener {
    /// Listens on an address such as `0.0.0.0:7000`, `[::]:7000` or `localhost:0`.
    pub fn bind(address: &str) -> Result<Self> {
        Ok(Listener { socket: tcp::listen(address)? })
    }

    /// The address with its real port.
    pub fn local_addr(&self) -> Result<SocketAddr> {
        self.socket.local_addr().map_err(Error::io("the listening socket"))
    }

    /// Waits for the peer. A stranger is turned away, with a warning in the log, and the listener
    /// goes on until [`Limits::meet`] is over. Without TLS whoever comes first is the peer.
    pub fn accept(&mut self, security: &Security, limits: &Limits) -> Result<Channel> {
        let mut door = Door::open(self, limits).map_err(Error::io("waiting for the peer"))?;
        let met = door.watch(&self.socket, security);
        let closed = door.poll.registry().deregister(&mut self.socket);
        closed.map_err(Error::io("waiting for the peer")).and(met)
    }
}

/// Connects to a listener.
pub(super) fn connect(address: &str, security: &Security, limits: &Limits) -> Result<Channel> {
    let until = Instant::now() + limits.meet;
    let tcp = TcpPipe::new(tcp::dial(address, limits.meet)?, None)
        .map_err(Error::io(format!("the connection to {address}")))?;
    match security {
        Security::PlaintextForBenchmarks => Ok(Channel::over(tcp, *limits)),
        Security::Tls { identity, peer } => {
            let mut tls = TlsPipe::client(tcp, identity, *peer)?;
            tls.meet(until)?;
            Ok(Channel::over(tls, *limits))
        }
    }
}

/// One wait for the peer: its deadline and the strangers at the door.
struct Door {
    poll: Poll,
    events: Events,
    until: Instant,
    limits: Limits,
    candidates: Vec<Candidate>,
    arrivals: usize,
}

/// Somebody who has connected and has not proved who it is.
struct Candidate {
    tls: TlsPipe<TcpPipe>,
    from: SocketAddr,
    until: Instant,
}

/// Handshakes at the same time; beyond it the oldest gives way, so that silent strangers cannot
/// shut the peer out.
const CROWD: usize = 64;

impl Door {
    fn open(listener: &mut Listener, limits: &Limits) -> io::Result<Self> {
        let poll = Poll::new()?;
        poll.registry().register(&mut listener.socket, Token(0), Interest::READABLE)?;
        Ok(Door {
            poll,
            events: Events::with_capacity(64),
            until: Instant::now() + limits.meet,
            limits: *limits,
            candidates: Vec::new(),
            arrivals: 0,
        })
    }

    fn watch(&mut self, socket: &mio::net::TcpListener, security: &Security) -> Result<Channel> {
        loop {
            while let Some((tcp, from)) = arrival(socket)? {
                match security {
                    Security::PlaintextForBenchmarks => return Ok(Channel::over(tcp, self.limits)),
                    Security::Tls { identity, peer } => {
                        self.welcome(TlsPipe::server(tcp, identity, *peer)?, from)?;
                    }
                }
            }
            if let Some(mut tls) = self.examine() {
                let registry = self.poll.registry();
                registry.deregister(tls.inner.stream()).map_err(Error::io("the connection"))?;
                return Ok(Channel::over(tls, self.limits));
            }
            self.sleep()?;
        }
    }

    fn welcome(&mut self, mut tls: TlsPipe<TcpPipe>, from: SocketAddr) -> Result<()> {
        self.arrivals += 1;
        let both = Interest::READABLE | Interest::WRITABLE;
        self.poll
            .registry()
            .register(tls.inner.stream(), Token(self.arrivals), both)
            .map_err(Error::io("waiting for the peer"))?;
        if self.candidates.len() == CROWD {
            let oldest = self.candidates.remove(0);
            tracing::warn!(from = %oldest.from, "turned away: too many unfinished handshakes");
        }
        let until = (Instant::now() + self.limits.silence).min(self.until);
        self.candidates.push(Candidate { tls, from, until });
        Ok(())
    }

    /// Goes on with every handshake; the first that succeeds is the peer's.
    fn examine(&mut self) -> Option<TlsPipe<TcpPipe>> {
        let mut i = 0;
        while i < self.candidates.len() {
            let candidate = &mut self.candidates[i];
            let late = Instant::now() >= candidate.until;
            match candidate.tls.advance() {
                Ok(true) => return Some(self.candidates.swap_remove(i).tls),
                Ok(false) if !late => i += 1,
                Ok(false) => self.turn_away(i, "it did not finish the TLS handshake in time"),
                Err(e) => self.turn_away(i, &e.to_string()),
            }
        }
        None
    }

    fn turn_away(&mut self, i: usize, why: &str) {
        let from = self.candidates.remove(i).from;
        tracing::warn!(%from, "turned a stranger away and still listening: {why}");
    }

    fn sleep(&mut self) -> Result<()> {
        let now = Instant::now();
        if now >= self.until {
            let seconds = self.limits.meet.as_secs();
            return Err(Error::Timeout { what: "connection", seconds });
        }
        let next = self.candidates.iter().map(|c| c.until).min().unwrap_or(self.until);
        let timeout = next.min(self.until).saturating_duration_since(now);
        match self.poll.poll(&mut self.events, Some(timeout)) {
            Err(e) if e.kind() != ErrorKind::Interrupted => Err(Error::io("waiting for the peer")(e)),
            _ => Ok(()),
        }
    }
}

/// The next connection, if there is one.
fn arrival(socket: &mio::net::TcpListener) -> Result<Option<(TcpPipe, SocketAddr)>> {
    loop {
        match socket.accept() {
            Ok((stream, from)) => return Ok(Some((TcpPipe::from_mio(stream), from))),
            Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(None),
            Err(e) if tcp::of_one_connection(&e) => {}
            Err(e) => return Err(Error::io("accepting a connection")(e)),
        }
    }
}
